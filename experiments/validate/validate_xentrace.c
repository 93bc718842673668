/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/validate_xentrace.h"

#include "experiments/validate/calibrate_xentrace.h"
#include "experiments/validate/capture_figures.h"
#include "experiments/validate/capture_world.h"
#include "experiments/validate/driven.h"
#include "sim/checks.h"
#include "sim/interval.h"
#include "sim/pool.h"
#include "sim/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Simulations of each capture; the central 95 % needs 39, asked for are 50. */
enum { SIMULATIONS = 50, EXPLAINED = 3 };

static const double LEVEL = 0.95;
static const double DECISIONS_WANTED = 95; /* per cent of them the same */

/* Where the simulations' spread does not hold the captured figure, it may be off by so much:
 * shares by a percentage point, times by 10 % or 50 us (what Xen's own path and a wake cost at
 * 500 MIPS), counts by 10 % or 3. */
static double tolerance(enum figure_kind kind, double captured)
{
    double tenth = fabs(captured) / 10;

    switch (kind) {
    case FIGURE_SHARE:
        return 1;
    case FIGURE_TIME:
        return tenth > 50 * NS_PER_US ? tenth : (double)(50 * NS_PER_US);
    default:
        return tenth > 3 ? tenth : 3;
    }
}

/* ---- driven ---------------------------------------------------------------------------------- */

static void add_decisions(struct checks *checks, const struct capture *c,
                          const struct driven_pool *p)
{
    const struct driven_counts *n = &p->counts;
    char *name = xasprintf("driven, %s: decisions as Xen's", p->name);
    struct check row = check_row(c->capture, name);
    char *note;

    if (!p->followed)
        note = xasprintf("scheduler %s cannot be followed", p->scheduler);
    else
        note =
            xasprintf("%s: %llu of %llu judged; %llu of %llu between several; %llu of %llu wakes "
                      "tell the same pCPU%s%s",
                      p->scheduler, (unsigned long long)n->judged, (unsigned long long)n->decisions,
                      (unsigned long long)n->choices_same, (unsigned long long)n->choices,
                      (unsigned long long)n->wakes_same, (unsigned long long)n->wakes,
                      p->inference ? "; " : "", p->inference ? p->inference : "");
    row.unit = "%";
    row.reference = 100;
    row.simulated = n->judged ? 100 * (double)n->same / (double)n->judged : NAN;
    row.tolerance = 100 - DECISIONS_WANTED;
    row.tolerance_text = "5 points: credits are not in the trace";
    row.verdict = !n->judged                          ? VERDICT_NONE
                  : row.simulated >= DECISIONS_WANTED ? VERDICT_HOLDS
                                                      : VERDICT_SHORT;
    row.note = note;
    checks_add(checks, &row);
    free(name);
    free(note);
}

static void check_driven(const struct capture *c, bool quiet, FILE *out, struct checks *checks,
                         struct errors *e)
{
    struct driven_report r;

    if (driven_follow(c, &r, e))
        return;
    for (size_t i = 0; i < r.pools; i++)
        add_decisions(checks, c, &r.pool[i]);
    for (size_t i = 0; !quiet && i < r.differences && i < EXPLAINED; i++)
        fprintf(out, "%s: differs at %s\n", c->capture, r.difference[i].text);
    for (size_t i = 0; i < r.remarks; i++)
        fprintf(out, "%s: %s\n", c->capture, r.remark[i]);
    if (r.lost)
        fprintf(out, "%s: %llu records are missing in the trace\n", c->capture,
                (unsigned long long)r.lost);
    if (r.resyncs)
        fprintf(out, "%s: %llu times the trace could not be followed\n", c->capture,
                (unsigned long long)r.resyncs);
    driven_free_report(&r);
}

/* ---- modelled -------------------------------------------------------------------------------- */

struct task {
    const struct capture *capture;
    const struct capture_machine *machine;
    size_t figures;
    double *value; /* [simulation * figures + figure] */
    size_t done;
    struct errors *e;
};

static int simulate(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct task *t = ctx;
    double *value = xcalloc(t->figures, sizeof *value);
    int status;

    for (size_t i = 0; i < t->figures; i++)
        value[i] = NAN;
    status = capture_simulate(t->capture, t->machine, 1, index, value, e);
    if (!status)
        fwrite(value, sizeof *value, t->figures, out);
    free(value);
    return status;
}

static int take(void *ctx, const struct pool_result *r)
{
    struct task *t = ctx;
    size_t size = t->figures * sizeof *t->value;

    if (r->outcome == POOL_DONE && r->size == size)
        memcpy(&t->value[t->done++ * t->figures], r->data, size);
    else
        error_add(t->e, EXIT_INTERNAL, "%s: a simulation was lost: %s", t->capture->capture,
                  r->reason ? r->reason : "no result");
    return 0;
}

static void add_figure(struct checks *checks, const struct task *t, size_t i, double captured)
{
    struct figure_name f = capture_figure_name(t->capture, i);
    double *x = xcalloc(t->done + 1, sizeof *x), unit = f.kind == FIGURE_TIME ? NS_PER_US : 1;
    char *name = xasprintf("modelled, %s", f.name);
    struct check row = check_row(t->capture->capture, name);
    struct band band;
    size_t n = 0;

    for (size_t k = 0; k < t->done; k++)
        if (!isnan(t->value[k * t->figures + i]))
            x[n++] = t->value[k * t->figures + i] / unit;
    captured /= unit;
    band = simulation_band(x, n, captured, LEVEL);
    row.unit = f.kind == FIGURE_TIME ? "us" : f.kind == FIGURE_SHARE ? "%" : NULL;
    row.reference = captured;
    row.simulated = n ? sorted_quantile(x, n, 0.5) : NAN;
    row.low = band.low;
    row.high = band.high;
    row.tolerance = tolerance(f.kind, captured * unit) / unit;
    row.tolerance_text = f.kind == FIGURE_SHARE  ? "central 95 % or 1 point"
                         : f.kind == FIGURE_TIME ? "central 95 %, 10 % or 50 us"
                                                 : "central 95 %, 10 % or 3";
    row.verdict = !n                                                               ? VERDICT_SHORT
                  : band.inside || fabs(row.simulated - captured) <= row.tolerance ? VERDICT_HOLDS
                                                                                   : VERDICT_SHORT;
    if (!n)
        row.note = "too few of these in the simulations";
    checks_add(checks, &row);
    free(name);
    free(x);
}

static void check_modelled(const struct capture *c, const struct capture_machine *m,
                           struct checks *checks, struct errors *e)
{
    struct task t = {.capture = c, .machine = m, .figures = capture_figure_count(c), .e = e};
    struct pool pool = {.tasks = SIMULATIONS, .ctx = &t, .work = simulate, .in_order = take};
    double *captured = xcalloc(t.figures, sizeof *captured);

    if (!capture_check(c, e) && !figures_captured(c, captured, e)) {
        t.value = xcalloc(SIMULATIONS * t.figures, sizeof *t.value);
        if (pool_run(&pool, e) == POOL_INTERRUPTED)
            error_add(e, EXIT_INTERRUPTED, "interrupted");
        for (size_t i = 0; i < t.figures; i++)
            if (!isnan(captured[i]))
                add_figure(checks, &t, i, captured[i]);
        free(t.value);
    }
    free(captured);
}

/* ---- captures -------------------------------------------------------------------------------- */

/* The library's machine, with the costs of a calibration. */
static int read_machine(struct capture_machine *m, const char *calibration, FILE *out,
                        struct errors *e)
{
    struct calibration_file *f =
        calibration ? calibration_file_read(calibration, "xentrace", e) : NULL;
    int status = calibration && !f ? -1 : machine_of_captures(m, e);

    if (!status && f)
        status = calibrate_machine(m, f, calibration, e);
    if (!status && f)
        fprintf(out, "costs are calibrated: %s\n", calibration);
    calibration_file_release(f);
    return status;
}

/* A capture that costs were calibrated on does not judge them. */
static void check_capture(const char *json, const struct capture_machine *m, bool calibrated,
                          bool quiet, FILE *out, struct checks *checks, struct errors *e)
{
    struct capture *c = capture_read(json, e);

    if (!c)
        return;
    if (c->trace)
        check_driven(c, quiet, out, checks, e);
    if (calibrated && capture_calibrates(c->capture))
        fprintf(out, "%s: costs were calibrated on it: modelled mode does not judge it\n",
                c->capture);
    else if (c->client.loop != CLIENT_ROUNDS && !capture_has(c, CAPTURE_REPLICA))
        check_modelled(c, m, checks, e);
    capture_free(c);
}

static void print_short(const struct checks *checks, FILE *out)
{
    struct checks some = CHECKS_NONE;

    for (size_t i = 0; i < checks->count; i++)
        if (checks->row[i].verdict == VERDICT_SHORT)
            checks_add(&some, &checks->row[i]);
    if (some.count)
        checks_print(&some, out, "{rows} rows fall short");
    checks_free(&some);
}

enum exit_code validate_xentrace(const char *dir, const char *calibration, bool quiet, FILE *out,
                                 struct errors *e)
{
    static const char last[] = "xentrace: {holds} within tolerance, {short} outside";
    struct checks checks = CHECKS_NONE;
    struct capture_machine m;
    enum exit_code code;
    char **list;

    if (read_machine(&m, calibration, out, e))
        return errors_exit_code(e);
    list = capture_list(dir, e);
    if (!list)
        return errors_exit_code(e);
    for (size_t i = 0; list[i] && errors_exit_code(e) != EXIT_INTERRUPTED; i++)
        check_capture(list[i], &m, calibration != NULL, quiet, out, &checks, e);
    capture_free_list(list);
    if (quiet) {
        print_short(&checks, out);
        checks_last_line(&checks, out, last);
    } else {
        checks_print(&checks, out, last);
    }
    code = checks_exit_code(&checks);
    checks_free(&checks);
    return e->count ? errors_exit_code(e) : code;
}
