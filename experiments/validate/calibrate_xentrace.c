/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/calibrate_xentrace.h"

#include "experiments/scenario/datadir.h"
#include "experiments/sweep/sweep_file.h"
#include "experiments/validate/capture_figures.h"
#include "experiments/validate/capture_world.h"
#include "sim/pool.h"
#include "sim/progress.h"
#include "sim/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char machine_file[] = "emulated-xen.json";

/* Names are pointers into the machine's file. us. Ranges: from nothing to several times what was
 * read off single traces. */
static const struct unknown unknowns[] = {
    {.name = "/host/costs/context_switch",
     .unit = "us",
     .low = 0.5,
     .high = 30,
     .start = 6,
     .log = true},
    {.name = "/host/costs/ipi", .unit = "us", .low = 0.5, .high = 30, .start = 5, .log = true},
    {.name = "/host/costs/wake", .unit = "us", .low = 0.5, .high = 30, .start = 5, .log = true},
    {.name = "/guest/costs/timer", .unit = "us", .low = 3, .high = 120, .start = 27, .log = true},
    {.name = "/guest/costs/idle_enter",
     .unit = "us",
     .low = 3,
     .high = 120,
     .start = 28,
     .log = true},
    {.name = "/guest/costs/thread_switch",
     .unit = "us",
     .low = 0.5,
     .high = 40,
     .start = 3,
     .log = true},
};
enum { UNKNOWNS = sizeof unknowns / sizeof *unknowns };

bool capture_calibrates(const char *capture)
{
    uint32_t hash = 2166136261U;

    for (const char *at = capture; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619U;
    return hash % 4 == 0;
}

/* ---- the machine ----------------------------------------------------------------------------- */

int machine_of_captures(struct capture_machine *m, struct errors *e)
{
    char *path = data_file("library", machine_file);
    struct json *doc = path ? json_read(path, e) : NULL;
    int status = -1;

    if (!path)
        error_add(e, EXIT_INPUT, "%s is not in hvsim's library", machine_file);
    if (doc)
        status = capture_machine_read(m, doc, e);
    json_free(doc);
    free(path);
    return status;
}

static void set_values(struct capture_machine *m, const double *x)
{
    for (size_t i = 0; i < UNKNOWNS; i++) {
        sim_time *at = capture_machine_duration(m, unknowns[i].name);

        BUG_ON(!at);
        *at = (sim_time)(x[i] * NS_PER_US);
    }
}

int calibrate_machine(struct capture_machine *m, const struct calibration_file *f, const char *path,
                      struct errors *e)
{
    double x[UNKNOWNS];

    if (calibration_values(f, path, unknowns, UNKNOWNS, x, e))
        return -1;
    set_values(m, x);
    return 0;
}

/* ---- points ---------------------------------------------------------------------------------- */

struct taken {
    struct capture *capture;
    size_t figures;
    size_t *figure; /* of its points */
    size_t points;
};

struct fit {
    const struct xentrace_calibration *o;
    struct capture_machine machine;
    double x[UNKNOWNS];               /* of all */
    size_t index[UNKNOWNS], unknowns; /* that are fitted */
    struct taken *taken;
    size_t captures;
    struct calibration_point *point;
    size_t points;
    struct progress progress;
    /* While a setting is simulated. */
    double **value; /* by capture: [simulation * figures + figure] */
    struct errors *e;
};

/* Times that were captured. */
static int take_capture(struct fit *t, struct capture *c, struct errors *e)
{
    size_t figures = capture_figure_count(c);
    double *value = xcalloc(figures + 1, sizeof *value);
    int status = capture_check(c, e) ? -1 : figures_captured(c, value, e);
    struct taken *k;

    t->taken = xrealloc(t->taken, (t->captures + 1) * sizeof *t->taken);
    k = &t->taken[t->captures++];
    *k = (struct taken){
        .capture = c, .figures = figures, .figure = xcalloc(figures + 1, sizeof *k->figure)};
    for (size_t i = 0; i < figures && !status; i++) {
        struct figure_name n = capture_figure_name(c, i);

        if (n.kind != FIGURE_TIME || isnan(value[i]) || value[i] <= 0)
            continue;
        t->point = xrealloc(t->point, (t->points + 1) * sizeof *t->point);
        t->point[t->points++] =
            (struct calibration_point){.name = xasprintf("%s, %s (us)", c->capture, n.name),
                                       .measured = value[i] / NS_PER_US,
                                       .group = t->captures - 1};
        k->figure[k->points++] = i;
    }
    free(value);
    return status;
}

static int take_captures(struct fit *t, const char *dir, struct calibration_file *f,
                         struct errors *e)
{
    char **list = capture_list(dir, e);
    int status = list ? 0 : -1;

    f->data.item = xcalloc(1, sizeof(char *));
    for (size_t i = 0; list && list[i] && !status; i++) {
        struct capture *c = capture_read(list[i], e);

        if (!c) {
            status = -1;
        } else if (!capture_calibrates(c->capture) || capture_has(c, CAPTURE_REPLICA) ||
                   c->client.loop == CLIENT_ROUNDS) {
            capture_free(c);
        } else {
            f->data.item = xrealloc(f->data.item, (f->data.count + 1) * sizeof(char *));
            ((char **)f->data.item)[f->data.count++] = xstrdup(c->capture);
            status = take_capture(t, c, e);
        }
    }
    if (list)
        capture_free_list(list);
    if (!status && !t->points)
        status =
            error_add(e, EXIT_INPUT,
                      "%s: none of its captures is one to calibrate on (one in four is, by its "
                      "name); name a directory with more of them",
                      dir);
    return status;
}

/* ---- simulating ------------------------------------------------------------------------------ */

static int work(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct fit *t = ctx;
    const struct taken *k = &t->taken[index % t->captures];
    double *value = xcalloc(k->figures + 1, sizeof *value);
    int status;

    for (size_t i = 0; i < k->figures; i++)
        value[i] = NAN;
    status = capture_simulate(k->capture, &t->machine, 1, index / t->captures, value, e);
    if (!status)
        fwrite(value, sizeof *value, k->figures, out);
    free(value);
    return status;
}

static int take(void *ctx, const struct pool_result *r)
{
    struct fit *t = ctx;
    size_t c = r->index % t->captures, n = t->taken[c].figures;

    if (r->outcome != POOL_DONE || r->size != n * sizeof(double)) {
        error_add(t->e, EXIT_INTERNAL, "%s: a simulation was lost: %s",
                  t->taken[c].capture->capture, r->reason ? r->reason : "no result");
        return 1;
    }
    memcpy(&t->value[c][r->index / t->captures * n], r->data, r->size);
    return 0;
}

static double median_of(const struct fit *t, size_t capture, size_t figure)
{
    size_t n = 0;
    double *x = xcalloc((size_t)t->o->simulations, sizeof *x), median;

    for (size_t k = 0; k < (size_t)t->o->simulations; k++) {
        double v = t->value[capture][k * t->taken[capture].figures + figure];

        if (!isnan(v))
            x[n++] = v;
    }
    sort_doubles(x, n);
    median = n ? (x[(n - 1) / 2] + x[n / 2]) / 2 / NS_PER_US : NAN;
    free(x);
    return median;
}

static int simulate(void *ctx, const double *x, double *simulated, struct errors *e)
{
    struct fit *t = ctx;
    size_t runs = (size_t)t->o->simulations, before = e->count, n = 0;
    struct pool pool = {
        .tasks = runs * t->captures, .jobs = t->o->jobs, .ctx = t, .work = work, .in_order = take};

    for (size_t i = 0; i < t->unknowns; i++)
        t->x[t->index[i]] = x[i];
    set_values(&t->machine, t->x);
    t->e = e;
    t->value = xcalloc(t->captures, sizeof *t->value);
    for (size_t c = 0; c < t->captures; c++)
        t->value[c] = xcalloc(runs * t->taken[c].figures + 1, sizeof **t->value);
    if (pool_run(&pool, e) == POOL_INTERRUPTED)
        error_add(e, EXIT_INTERRUPTED, "interrupted");
    for (size_t c = 0; c < t->captures; c++) {
        for (size_t i = 0; i < t->taken[c].points; i++)
            simulated[n++] = median_of(t, c, t->taken[c].figure[i]);
        free(t->value[c]);
    }
    free(t->value);
    return e->count > before ? -1 : 0;
}

static void tell(void *ctx, size_t spent, double best)
{
    struct fit *t = ctx;
    char note[48];

    snprintf(note, sizeof note, "loss %.3f", best);
    progress_update(&t->progress, (double)spent, note);
}

/* Those that are not held, which get their value. */
static int take_unknowns(struct fit *t, struct unknown own[UNKNOWNS], struct calibration_problem *p,
                         struct calibration_file *f, struct errors *e)
{
    bool held[UNKNOWNS] = {false};

    for (size_t i = 0; i < UNKNOWNS; i++)
        t->x[i] = unknowns[i].start;
    for (size_t i = 0; t->o->hold && i < t->o->hold->count; i++) {
        size_t at;
        double value;

        if (calibration_held(list_text(t->o->hold, i), unknowns, UNKNOWNS, &at, &value, e))
            return -1;
        t->x[at] = value;
        if (!held[at])
            calibration_file_give(f, &unknowns[at], value);
        held[at] = true;
    }
    for (size_t i = 0; i < UNKNOWNS; i++) {
        if (held[i])
            continue;
        own[p->unknowns] = unknowns[i];
        own[p->unknowns].meaning = capture_machine_meaning(unknowns[i].name);
        t->index[p->unknowns++] = i;
    }
    t->unknowns = p->unknowns;
    return 0;
}

/* ---- calibrating ----------------------------------------------------------------------------- */

int calibrate_xentrace(const char *dir, const struct xentrace_calibration *o,
                       struct calibration_file *f, struct errors *e)
{
    struct fit t = {.o = o};
    struct unknown own[UNKNOWNS];
    struct calibration_options options = {
        .budget = o->budget, .profile = o->profile, .journal = o->journal, .tell = tell};
    struct calibration_problem p = {.unknown = own, .ctx = &t, .simulate = simulate};
    struct calibration_result r;
    int status = machine_of_captures(&t.machine, e) ? -1 : take_captures(&t, dir, f, e);

    p.point = t.point;
    p.points = t.points;
    if (!status)
        status = take_unknowns(&t, own, &p, f, e);
    if (!status && p.unknowns) {
        const double simulations = o->simulations;

        options.how = calibration_how(t.x, UNKNOWNS, t.index, t.unknowns, &simulations, 1);
        progress_begin(&t.progress, "calibrating", "settings", (double)o->budget, o->quiet);
        status = calibrate(&p, &options, &r, e);
        progress_end(&t.progress);
        if (!status)
            calibration_file_add(f, "costs", &p, &r);
        calibration_result_free(&r, p.unknowns);
    }
    for (size_t i = 0; i < t.points; i++)
        free(t.point[i].name);
    for (size_t i = 0; i < t.captures; i++) {
        free(t.taken[i].figure);
        capture_free(t.taken[i].capture);
    }
    free(t.point);
    free(t.taken);
    return status;
}
