/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/validate_replication.h"

#include "experiments/scenario/datadir.h"
#include "experiments/scenario/world.h"
#include "experiments/validate/replication_capture.h"
#include "sim/interval.h"
#include "sim/pool.h"
#include "sim/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Simulations of each captured run, with phases and seeds of their own. */
enum { SIMULATIONS = 100 };

#define LEVEL 0.95
#define NEVER (-1.0) /* a lift that has no value: some replica was never late */

static const char machine_file[] = "emulated-xen.json";

/* ---- simulating a capture -------------------------------------------------------------------- */

struct task {
    const struct capture *capture;
    struct scenario *scenario;
    struct roster *roster;
    struct replication_figures *figures;
    size_t done;
    struct errors *e;
};

static int simulate(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct task *t = ctx;
    struct world *w = world_new(t->scenario, t->roster, 1, index);
    struct replication_figures f;
    const struct control_record *r;
    size_t n = (size_t)t->capture->client.requests;
    int status = world_build(w, e);

    if (!status) {
        timeline_run(&w->timeline, &w->fleet, w->end);
        status = world_close(w, e);
    }
    if (!status) {
        r = &w->loop[0].agent.record;
        replication_figures(r->delay, n < r->rounds ? n : r->rounds, r->replicas, &f);
        fwrite(&f, sizeof f, 1, out);
    }
    world_free(w);
    return status;
}

static int take(void *ctx, const struct pool_result *r)
{
    struct task *t = ctx;

    if (r->outcome != POOL_DONE || r->size != sizeof *t->figures)
        return error_add(t->e, EXIT_INTERNAL, "%s: a simulation was lost: %s", t->capture->capture,
                         r->reason ? r->reason : "no result"),
               0;
    memcpy(&t->figures[t->done++], r->data, r->size);
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct rows {
    struct checks *checks;
    const char *group;
    const struct replication_figures *simulated, *captured;
    size_t n;
};

static double at(const struct replication_figures *f, size_t offset)
{
    return *(const double *)(const void *)((const char *)f + offset);
}

static void add_row(const struct rows *r, size_t offset, const char *unit, const char *name)
{
    double *x = xcalloc(r->n, sizeof *x), observed = at(r->captured, offset);
    struct check row = check_row(r->group, name);
    struct band band;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        if (!isnan(at(&r->simulated[i], offset)))
            x[n++] = at(&r->simulated[i], offset);
    band = simulation_band(x, n, observed, LEVEL);
    row.unit = unit;
    row.reference = observed;
    row.simulated = sorted_quantile(x, n, 0.5);
    row.low = band.low;
    row.high = band.high;
    row.verdict = band.need ? VERDICT_NONE : band.inside ? VERDICT_HOLDS : VERDICT_SHORT;
    row.tolerance_text = "inside the central 95 % of simulations";
    if (observed == NEVER)
        row.reference_text = "never late";
    checks_add(r->checks, &row);
    free(x);
}

#define ROW(r, offset, unit, ...)                                                                  \
    do {                                                                                           \
        char *name_ = xasprintf(__VA_ARGS__);                                                      \
        add_row(r, offset, unit, name_);                                                           \
        free(name_);                                                                               \
    } while (0)
#define FIGURE(member) offsetof(struct replication_figures, member)

static void add_rows(const struct rows *r, unsigned replicas)
{
    for (unsigned j = 0; j < replicas; j++)
        for (size_t k = 0; k < CAPTURE_QUANTILES; k++)
            ROW(r, FIGURE(quantile[0][0]) + (j * CAPTURE_QUANTILES + k) * sizeof(double), "ms",
                "delay p%g, replica %u", 100 * capture_quantiles[k], j + 1);
    for (size_t d = 0; d < CAPTURE_DEADLINES; d++) {
        for (unsigned j = 0; j < replicas; j++)
            ROW(r, FIGURE(late[0][0]) + (j * CAPTURE_DEADLINES + d) * sizeof(double), NULL,
                "P(late) at %g ms, replica %u", capture_deadlines_ms[d], j + 1);
        if (replicas < 2)
            continue;
        ROW(r, FIGURE(all_late[0]) + d * sizeof(double), NULL, "P(all late) at %g ms",
            capture_deadlines_ms[d]);
        ROW(r, FIGURE(lift[0]) + d * sizeof(double), NULL, "lift at %g ms",
            capture_deadlines_ms[d]);
    }
}

/* ---- captures -------------------------------------------------------------------------------- */

static int captured_figures(const struct capture *c, struct replication_figures *f,
                            struct errors *e)
{
    struct capture_log log = {0};
    sim_time *delay;
    unsigned replicas = capture_replicas(c);

    if (capture_read_log(c, &log, e))
        return -1;
    delay = xcalloc(log.rows * replicas, sizeof *delay);
    for (size_t i = 0; i < log.rows; i++)
        for (unsigned j = 0; j < replicas; j++)
            delay[i * replicas + j] = j < log.delays ? log.row[i].delay[j] : -1;
    replication_figures(delay, log.rows, replicas, f);
    free(delay);
    capture_free_log(&log);
    return 0;
}

static int check_capture(const struct capture *c, const struct json *machine, unsigned jobs,
                         struct checks *checks, struct errors *e)
{
    struct json *doc = replication_scenario(c, machine, e);
    struct task t = {.capture = c, .e = e};
    struct replication_figures captured;
    size_t before = e->count;

    if (!doc)
        return -1;
    t.scenario = scenario_read(doc, ".", e);
    if (t.scenario && !captured_figures(c, &captured, e)) {
        struct pool pool = {
            .tasks = SIMULATIONS, .jobs = jobs, .ctx = &t, .work = simulate, .in_order = take};

        t.roster = roster_new(t.scenario);
        t.figures = xcalloc(SIMULATIONS, sizeof *t.figures);
        if (pool_run(&pool, e) == POOL_INTERRUPTED)
            error_add(e, EXIT_INTERRUPTED, "interrupted");
        if (t.done == SIMULATIONS)
            add_rows(&(struct rows){checks, c->capture, t.figures, &captured, t.done},
                     capture_replicas(c));
        free(t.figures);
        roster_free(t.roster);
    }
    scenario_free(t.scenario);
    json_free(doc);
    return e->count > before ? -1 : 0;
}

int replication_check_captures(const char *dir, unsigned jobs, struct checks *checks,
                               struct errors *e)
{
    char *path = data_file("library", machine_file), **list;
    struct json *machine = path ? json_read(path, e) : NULL;
    size_t before = e->count, found = 0;

    if (!path)
        error_add(e, EXIT_INPUT, "%s is not in hvsim's library", machine_file);
    free(path);
    if (!machine)
        return -1;
    list = capture_list(dir, e);
    for (size_t i = 0; list && list[i]; i++) {
        struct capture *c = capture_read(list[i], e);

        if (c && c->log && c->client.loop == CLIENT_ROUNDS && capture_replicas(c)) {
            check_capture(c, machine, jobs, checks, e);
            found++;
        }
        capture_free(c);
    }
    if (list && !found && e->count == before)
        error_add(e, EXIT_INPUT, "%s: no captured run of replicas (NAME.json with NAME.csv[.gz])",
                  dir);
    capture_free_list(list);
    json_free(machine);
    return e->count > before ? -1 : 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum exit_code validate_replication(const char *dir, bool quiet, FILE *out, struct errors *e)
{
    static const char last[] = "replication: {holds} hold, {short} do not";
    struct checks checks = CHECKS_NONE;
    enum exit_code code;

    if (dir) { /* before anything takes its time */
        char **list = capture_list(dir, e);

        if (!list)
            return errors_exit_code(e);
        capture_free_list(list);
    }
    replication_check_theory(0, &checks, e);
    replication_check_study(0, &checks, e);
    if (dir)
        replication_check_captures(dir, 0, &checks, e);
    code = checks_exit_code(&checks);
    if (quiet)
        checks_print_short(&checks, out, last);
    else
        checks_print(&checks, out, last);
    checks_free(&checks);
    return e->count ? errors_exit_code(e) : code;
}
