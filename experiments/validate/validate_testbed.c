/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/validate_testbed.h"

#include "experiments/scenario/datadir.h"
#include "experiments/search/calibration_file.h"
#include "experiments/sweep/sweep_file.h"
#include "experiments/validate/testbed_data.h"
#include "experiments/validate/testbed_journal.h"
#include "sim/checks.h"
#include "sim/interval.h"
#include "sim/output.h"
#include "sim/sample.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 120 s: 24 VMs as the scripts say, 12 VMs assumed. */
enum { SIMULATIONS = 39, SECONDS = 120 };

static const char library_file[] = "testbed.calibration.json";
static const double LEVEL = 0.95;

/* What is counted over all points. */
struct account {
    double *error; /* relative */
    size_t errors, inside, rows;
    size_t gains, signs_right; /* pairs of a point under both schedulers */
    double worst;
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* Central 95 %; with fewer simulations than that takes, all that was simulated. */
static void take_band(const struct testbed_point *p, struct check *row)
{
    double *x = xcalloc(p->values + 1, sizeof *x);
    struct band band;

    memcpy(x, p->value, p->values * sizeof *x);
    band = simulation_band(x, p->values, p->published, LEVEL);
    row->low = band.need && p->values ? x[0] : band.low;
    row->high = band.need && p->values ? x[p->values - 1] : band.high;
    free(x);
}

static void add_row(struct checks *checks, const struct testbed_cell *c,
                    const struct testbed_point *p, struct account *a)
{
    struct check row = check_row(c->label, p->name);
    double off;
    char note[40];

    row.unit = testbed_unit(p->of);
    row.reference = p->published;
    row.simulated = testbed_median(p->value, p->values);
    if (p->values)
        take_band(p, &row);
    off = (row.simulated - p->published) / p->published;
    snprintf(note, sizeof note, "error %+.0f %%", 100 * off);
    row.tolerance_text = "central 95 % of the simulated runs";
    row.note = isnan(off) ? "not simulated" : note;
    row.verdict = isnan(row.simulated)                                  ? VERDICT_NONE
                  : p->published >= row.low && p->published <= row.high ? VERDICT_HOLDS
                                                                        : VERDICT_SHORT;
    a->rows++;
    a->inside += row.verdict == VERDICT_HOLDS;
    checks_add(checks, &row);
    if (isnan(off))
        return;
    a->error = xrealloc(a->error, (a->errors + 1) * sizeof *a->error);
    a->error[a->errors++] = fabs(off);
    a->worst = fmax(a->worst, fabs(off));
}

/* ---- gains ----------------------------------------------------------------------------------- */

/* Published and simulated share that TerrierTail takes off Credit's value. false: no such pair. */
static bool gain_of(const struct testbed_data *d, const struct testbed_cell *credit,
                    const struct testbed_point *p, double *published, double *simulated)
{
    const struct testbed_cell *other = testbed_other(d, credit);
    const struct testbed_point *q = other ? testbed_point_like(other, p) : NULL;

    if (strcmp(credit->run.scheduler, "credit") || !q || !p->values || !q->values)
        return false;
    *published = 1 - q->published / p->published;
    *simulated = 1 - testbed_median(q->value, q->values) / testbed_median(p->value, p->values);
    return true;
}

static void count_gains(const struct testbed_data *d, struct account *a)
{
    double published, simulated;

    for (size_t i = 0; i < d->cells; i++)
        for (size_t k = 0; k < d->cell[i].points; k++) {
            if (!gain_of(d, &d->cell[i], &d->cell[i].point[k], &published, &simulated))
                continue;
            a->gains++;
            a->signs_right += (published > 0) == (simulated > 0);
        }
}

/* "Up to 53 %" and "up to 50 %": p99.9 of 12 VMs with one server. */
static void print_headlines(const struct testbed_data *d, FILE *out)
{
    double published, simulated;

    for (size_t i = 0; i < d->cells; i++)
        for (size_t k = 0; k < d->cell[i].points; k++) {
            const struct testbed_cell *c = &d->cell[i];
            const struct testbed_point *p = &c->point[k];

            if (c->run.set == TESTBED_12VM && c->run.servers == 1 && p->of == LATENCY_MS &&
                p->q == 0.999 && gain_of(d, c, p, &published, &simulated))
                fprintf(out,
                        "headline gain of %s, 1 server of 12, p99.9: published %.0f %%, "
                        "simulated %.0f %%\n",
                        c->run.service == TESTBED_RPC ? "RPC" : "memcached", 100 * published,
                        100 * simulated);
        }
}

/* ---- the report ------------------------------------------------------------------------------ */

static enum exit_code report(const struct testbed_data *d, bool quiet, FILE *out)
{
    struct checks checks = CHECKS_NONE;
    struct account a = {0};
    double median;

    for (size_t i = 0; i < d->cells; i++)
        for (size_t k = 0; k < d->cell[i].points; k++)
            add_row(&checks, &d->cell[i], &d->cell[i].point[k], &a);
    count_gains(d, &a);
    median = testbed_median(a.error, a.errors);
    if (quiet)
        checks_last_line(&checks, out, "{holds} of {rows} points inside the central 95 %");
    else
        checks_print(&checks, out, "{holds} of {rows} points inside the central 95 %");
    if (a.gains)
        fprintf(out, "sign of the gain right at %zu of %zu pairs of points\n", a.signs_right,
                a.gains);
    print_headlines(d, out);
    fprintf(out, "testbed: %zu points, median |error| %.0f %%, worst %.0f %%\n", a.errors,
            100 * median, 100 * a.worst);
    checks_free(&checks);
    free(a.error);
    return a.inside == a.rows ? EXIT_OK : EXIT_SHORT;
}

/* *calibrated: are there values of a calibration? */
static int read_values(const char *given, double x[OPEN_COUNT], bool *calibrated, FILE *out,
                       struct errors *e)
{
    char *own = given ? NULL : data_file("library", library_file);
    const char *path = given ? given : own;
    struct calibration_file *f = path ? calibration_file_read(path, "testbed", e) : NULL;
    int status = 0;

    for (size_t i = 0; i < OPEN_COUNT; i++)
        x[i] = testbed_unknown[i].start;
    if (f)
        status = calibration_values(f, path, testbed_unknown, OPEN_COUNT, x, e);
    else if (path)
        status = -1;
    if (!status && path)
        fprintf(out, "what is not published is calibrated: %s\n", path);
    else if (!status)
        fputs("what is not published is assumed: no calibration\n", out);
    *calibrated = f != NULL;
    calibration_file_release(f);
    free(own);
    return status;
}

/* "12vm-rpc-1-credit" */
static char *experiment_name(const struct testbed_run *r)
{
    static const char *const set[] = {[TESTBED_12VM] = "12vm", [TESTBED_24VM] = "24vm"};

    if (r->set == TESTBED_JOB)
        return xasprintf("job-%d-%s", r->servers, r->scheduler);
    return xasprintf("%s-%s%s-%d-%s", set[r->set], r->service == TESTBED_RPC ? "rpc" : "memcached",
                     r->mixed ? "-mixed" : "", r->servers, r->scheduler);
}

static int write_scenarios(const struct testbed_data *d, const double *x, const char *dir,
                           FILE *out, struct errors *e)
{
    int status = output_directory(dir, e);

    for (size_t i = 0; i < d->cells && !status; i++) {
        char *text = testbed_scenario(x, &d->cell[i].run), *name = experiment_name(&d->cell[i].run);
        char *file = xasprintf("%s.json", name), *path = output_path(dir, file);

        status = output_write(path, text, strlen(text), e);
        free(path);
        free(file);
        free(name);
        free(text);
    }
    if (!status)
        fprintf(out, "%zu scenarios are in %s\n", d->cells, dir);
    return status;
}

static bool wanted(const struct testbed_cell *c, const struct param_list *only)
{
    char *name = experiment_name(&c->run);
    bool match = !only || !only->count;

    for (size_t i = 0; only && i < only->count && !match; i++)
        match = !fnmatch(list_text(only, i), name, 0);
    free(name);
    return match;
}

/* Leave out what is not wanted. */
static int take_only(struct testbed_data *d, const struct param_list *only, struct errors *e)
{
    size_t kept = 0;

    for (size_t i = 0; i < d->cells; i++) {
        struct testbed_cell c = d->cell[i];

        if (!wanted(&c, only))
            continue;
        d->cell[i] = d->cell[kept];
        d->cell[kept++] = c;
    }
    if (d->cells && !kept) {
        char *name = experiment_name(&d->cell[0].run);

        error_add(e, EXIT_INPUT,
                  "--only: no experiment has such a name; the first is called \"%s\", and * stands "
                  "for anything",
                  name);
        free(name);
        return -1;
    }
    testbed_forget(d, kept);
    return 0;
}

static int simulate(struct testbed_data *d, const double *x, const struct testbed_validation *o,
                    struct errors *e)
{
    struct testbed_work work = {.jobs = o->jobs, .quiet = o->quiet};
    struct testbed_cell **cell;
    int status;

    if (o->journal && !(work.journal = testbed_journal_open(o->journal, e)))
        return -1;
    cell = xcalloc(d->cells + 1, sizeof *cell);
    for (size_t i = 0; i < d->cells; i++)
        cell[i] = &d->cell[i];
    status = testbed_simulate(cell, d->cells, x, &work, e);
    testbed_ratios(d);
    free(cell);
    return testbed_journal_close(work.journal, e) || status ? -1 : 0;
}

enum exit_code validate_testbed(const char *dir, const struct testbed_validation *o, FILE *out,
                                struct errors *e)
{
    double x[OPEN_COUNT];
    struct testbed_data d;
    enum exit_code code = EXIT_INPUT;
    bool calibrated, ready = !testbed_read(dir, false, &d, e) && !take_only(&d, o->only, e) &&
                             !read_values(o->calibration, x, &calibrated, out, e);

    for (size_t i = 0; i < d.cells && ready; i++) {
        d.cell[i].run.replications = o->simulations ? o->simulations : SIMULATIONS;
        d.cell[i].run.seconds = SECONDS;
        d.cell[i].run.calibrated = calibrated;
    }
    if (ready && o->scenarios)
        code = write_scenarios(&d, x, o->scenarios, out, e) ? EXIT_INPUT : EXIT_OK;
    else if (ready && (!simulate(&d, x, o, e) || errors_exit_code(e) == EXIT_INTERRUPTED))
        code = report(&d, o->quiet, out); /* interrupted: of what there is */
    testbed_free(&d);
    return e->count ? errors_exit_code(e) : code;
}
