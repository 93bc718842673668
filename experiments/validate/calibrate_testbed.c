/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/calibrate_testbed.h"

#include "experiments/sweep/sweep_file.h"
#include "experiments/validate/testbed_data.h"
#include "sim/progress.h"
#include "sim/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An experiment that was simulated: many settings differ in what others of them see. */
struct kept_run {
    uint64_t scenario; /* the hash of its text */
    double *median;    /* by point of the cell */
};

struct taken_cell {
    struct testbed_cell *cell;
    struct kept_run *kept;
    size_t count;
};

struct part {
    const struct testbed_calibration *o;
    const char *name;
    double *x;     /* of all unknowns: those of this part are replaced */
    size_t *index; /* in testbed_unknown, of this part's unknowns */
    size_t unknowns;
    struct unknown *unknown;
    struct taken_cell *taken;
    size_t cells;
    struct calibration_point *point;
    size_t points;
    struct progress progress;
};

static const size_t base_part[] = {OPEN_BASE_MEDIAN, OPEN_BASE_SIGMA};
static const size_t load_part[] = {
    OPEN_PCPUS,      OPEN_PCPUS_12,    OPEN_PCPUS_24, OPEN_PINNED,     OPEN_DOM0_APART,
    OPEN_DOM0_VCPUS, OPEN_DOM0_BOOST,  OPEN_VCPUS,    OPEN_OWN_12,     OPEN_BUSY_12,
    OPEN_BUSY_JOB,   OPEN_CLIENTS_RPC, OPEN_CLIENTS,  OPEN_IDLE_ENTER, OPEN_HOUSEKEEPING,
    OPEN_DOM0_COSTS, OPEN_DEMAND};
#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* ---- which experiments take part ------------------------------------------------------------- */

static bool same_series(const struct testbed_run *a, const struct testbed_run *b)
{
    return a->set == b->set && a->service == b->service && a->mixed == b->mixed &&
           !strcmp(a->scheduler, b->scheduler);
}

/* Points that tell much: tails and job times. */
static bool telling(const struct testbed_cell *c)
{
    for (size_t i = 0; i < c->points; i++)
        if (c->point[i].of != THROUGHPUT_RATIO && c->point[i].of != CALLS_PER_SECOND)
            return true;
    return false;
}

/* Its rank by servers in its series, and how many there are. */
static size_t rank_of(const struct testbed_data *d, const struct testbed_cell *c, size_t *count)
{
    size_t rank = 0;

    *count = 0;
    for (size_t i = 0; i < d->cells; i++) {
        if (!same_series(&d->cell[i].run, &c->run) || !telling(&d->cell[i]))
            continue;
        ++*count;
        rank += d->cell[i].run.servers < c->run.servers;
    }
    return rank;
}

/* Evenly spread: the first and the last, and those nearest to equal distances between them. */
static bool takes_part(const struct testbed_data *d, const struct testbed_cell *c, int runs)
{
    size_t count, rank = rank_of(d, c, &count), n = (size_t)runs;

    if (count <= n)
        return true;
    for (size_t i = 0; i < n; i++)
        if (rank == (n > 1 ? (i * (count - 1) + (n - 1) / 2) / (n - 1) : count / 2))
            return true;
    return false;
}

static void take_cell(struct part *p, struct testbed_cell *c, bool each_alone)
{
    c->run.replications = p->o->simulations;
    c->run.seconds = p->o->seconds;
    p->taken = xrealloc(p->taken, (p->cells + 1) * sizeof *p->taken);
    p->taken[p->cells] = (struct taken_cell){.cell = c};
    for (size_t i = 0; i < c->points; i++) {
        if (c->point[i].of == THROUGHPUT_RATIO)
            continue;
        p->point = xrealloc(p->point, (p->points + 1) * sizeof *p->point);
        p->point[p->points] =
            (struct calibration_point){.name = xasprintf("%s, %s", c->label, c->point[i].name),
                                       .measured = c->point[i].published,
                                       .group = each_alone ? p->points : p->cells};
        p->points++;
    }
    p->cells++;
}

/* ---- simulating a setting -------------------------------------------------------------------- */

static uint64_t scenario_of(const struct part *p, const struct testbed_cell *c)
{
    char *text = testbed_scenario(p->x, &c->run);
    uint64_t hash = hash_bytes(0, 0, text, strlen(text));

    free(text);
    return hash;
}

static struct kept_run *find_kept(const struct taken_cell *t, uint64_t scenario)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->kept[i].scenario == scenario)
            return &t->kept[i];
    return NULL;
}

static void keep_run(struct taken_cell *t, uint64_t scenario)
{
    struct kept_run *k;

    t->kept = xrealloc(t->kept, (t->count + 1) * sizeof *t->kept);
    k = &t->kept[t->count++];
    *k = (struct kept_run){scenario, xcalloc(t->cell->points + 1, sizeof *k->median)};
    for (size_t i = 0; i < t->cell->points; i++)
        k->median[i] = testbed_median(t->cell->point[i].value, t->cell->point[i].values);
}

static int simulate(void *ctx, const double *x, double *simulated, struct errors *e)
{
    struct part *p = ctx;
    struct testbed_cell **cell = xcalloc(p->cells + 1, sizeof *cell);
    uint64_t *scenario = xcalloc(p->cells + 1, sizeof *scenario);
    size_t missing = 0, n = 0;
    int status = 0;

    for (size_t i = 0; i < p->unknowns; i++)
        p->x[p->index[i]] = x[i];
    for (size_t i = 0; i < p->cells; i++) {
        scenario[i] = scenario_of(p, p->taken[i].cell);
        if (!find_kept(&p->taken[i], scenario[i]))
            cell[missing++] = p->taken[i].cell;
    }
    if (missing)
        status = testbed_simulate(cell, missing, p->x,
                                  &(struct testbed_work){.jobs = p->o->jobs, .quiet = true}, e);
    for (size_t i = 0; i < p->cells; i++) {
        struct taken_cell *t = &p->taken[i];
        struct kept_run *k = status ? NULL : find_kept(t, scenario[i]);

        if (!status && !k) {
            keep_run(t, scenario[i]);
            k = &t->kept[t->count - 1];
        }
        for (size_t j = 0; j < t->cell->points && k; j++)
            if (t->cell->point[j].of != THROUGHPUT_RATIO)
                simulated[n++] = k->median[j];
    }
    free(scenario);
    free(cell);
    return status;
}

static void tell(void *ctx, size_t spent, double best)
{
    struct part *p = ctx;
    char note[48];

    snprintf(note, sizeof note, "loss %.3f", best);
    progress_update(&p->progress, (double)spent, note);
}

/* ---- a part ---------------------------------------------------------------------------------- */

static void free_part(struct part *p)
{
    for (size_t i = 0; i < p->cells; i++) {
        for (size_t k = 0; k < p->taken[i].count; k++)
            free(p->taken[i].kept[k].median);
        free(p->taken[i].kept);
    }
    for (size_t i = 0; i < p->points; i++)
        free(p->point[i].name);
    free(p->index);
    free(p->point);
    free(p->taken);
    free(p->unknown);
}

/* Fit the part, leave its values in p->x; into the file, if there is one. */
static int fit(struct part *p, size_t budget, const char *journal, struct calibration_file *f,
               struct errors *e)
{
    const double sizes[] = {p->o->seconds, p->o->simulations};
    struct calibration_options o = {
        .budget = budget,
        .profile = p->o->profile,
        .journal = journal,
        .how = calibration_how(p->x, OPEN_COUNT, p->index, p->unknowns, sizes, 2),
        .tell = tell};
    struct calibration_problem problem = {.unknowns = p->unknowns,
                                          .point = p->point,
                                          .points = p->points,
                                          .ctx = p,
                                          .simulate = simulate};
    struct calibration_result r;
    int status;

    p->unknown = xrealloc(p->unknown, p->unknowns * sizeof *p->unknown);
    for (size_t i = 0; i < p->unknowns; i++) {
        p->unknown[i] = testbed_unknown[p->index[i]];
        if (!p->unknown[i].choice)
            p->unknown[i].start = p->x[p->index[i]];
    }
    problem.unknown = p->unknown;
    progress_begin(&p->progress, p->name, "settings", (double)budget, p->o->quiet);
    status = calibrate(&problem, &o, &r, e);
    progress_end(&p->progress);
    for (size_t i = 0; i < p->unknowns && !status; i++)
        p->x[p->index[i]] = r.x[i];
    if (!status && f)
        calibration_file_add(f, p->name, &problem, &r);
    calibration_result_free(&r, p->unknowns);
    return status;
}

static char *journal_of(const struct testbed_calibration *o, const char *part)
{
    return o->journal ? xasprintf("%s.%s", o->journal, part) : NULL;
}

static int fit_both(struct part *base, struct part *load, struct calibration_file *f,
                    struct errors *e)
{
    size_t budget = load->o->budget, small = budget / 2 > 20 ? budget / 2 : 20;
    char *first = journal_of(load->o, "base1"), *second = journal_of(load->o, "loads");
    char *last = journal_of(load->o, "base2");
    int status = 0;

    if (base->cells && base->unknowns && load->cells && load->unknowns)
        status = fit(base, small, first, NULL, e);
    if (!status && load->cells && load->unknowns)
        status = fit(load, budget, second, f, e);
    if (!status && base->cells && base->unknowns)
        status = fit(base, small, last, f, e);
    free(first);
    free(second);
    free(last);
    return status;
}

/* Those of the list that are not held. */
static void take_unknowns(struct part *p, const size_t *list, size_t count,
                          const bool held[OPEN_COUNT])
{
    p->index = xcalloc(count, sizeof *p->index);
    for (size_t i = 0; i < count; i++)
        if (!held[list[i]])
            p->index[p->unknowns++] = list[i];
}

static int take_held(const struct testbed_calibration *o, double x[OPEN_COUNT],
                     bool held[OPEN_COUNT], struct calibration_file *f, struct errors *e)
{
    int status = 0;

    for (size_t i = 0; i < OPEN_COUNT; i++)
        x[i] = testbed_unknown[i].start;
    for (size_t i = 0; o->hold && i < o->hold->count; i++) {
        double value;
        size_t at;

        if (calibration_held(list_text(o->hold, i), testbed_unknown, OPEN_COUNT, &at, &value, e)) {
            status = -1;
            continue;
        }
        x[at] = value;
        if (!held[at])
            calibration_file_give(f, &testbed_unknown[at], value);
        held[at] = true;
    }
    return status;
}

int calibrate_testbed(const char *dir, const struct testbed_calibration *o,
                      struct calibration_file *f, struct errors *e)
{
    double x[OPEN_COUNT];
    bool held[OPEN_COUNT] = {false};
    struct part base = {.o = o, .name = "base latency", .x = x};
    struct part load = {.o = o, .name = "loads and machine", .x = x};
    struct testbed_data d;
    int status = testbed_read(dir, true, &d, e);

    status |= take_held(o, x, held, f, e);
    take_unknowns(&base, base_part, LENGTH(base_part), held);
    take_unknowns(&load, load_part, LENGTH(load_part), held);
    for (size_t i = 0; i < d.cells && !status; i++) {
        struct testbed_cell *c = &d.cell[i];

        if (c->run.set == TESTBED_IDLE)
            take_cell(&base, c, true);
        else if (!c->run.mixed && telling(c) && takes_part(&d, c, o->runs))
            take_cell(&load, c, false);
    }
    if (!status && !base.cells && !load.cells)
        status = error_add(e, EXIT_INPUT, "%s: nothing in it that can be calibrated on", dir);
    if (!status)
        status = fit_both(&base, &load, f, e);
    f->data.item = xcalloc(d.files + 1, sizeof(char *));
    for (size_t i = 0; i < d.files; i++)
        ((char **)f->data.item)[f->data.count++] = xstrdup(d.file[i]);
    free_part(&base);
    free_part(&load);
    testbed_free(&d);
    return status;
}
