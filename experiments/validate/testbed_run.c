/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulating experiments of the testbed. */
#include "experiments/study/study.h"
#include "experiments/validate/testbed_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Length of a simulated job against the published one: 218 s would be slow to simulate. */
static const double job_scale = 218.0 / 2.0;

static const struct subject *subject_named(const struct layout *l, enum subject_kind kind,
                                           const char *name)
{
    for (size_t i = 0; i < l->subjects; i++)
        if (l->subject[i].kind == kind && !strcmp(l->subject[i].name, name))
            return &l->subject[i];
    return NULL;
}

/* A metric in each replication. NULL: there is no such subject. */
static double *samples_of(const struct variant *v, enum subject_kind kind, const char *name,
                          const char *metric, double scale)
{
    const struct subject *s = subject_named(v->layout, kind, name);
    double *value = s ? xcalloc(v->tally.count + 1, sizeof *value) : NULL;

    for (size_t r = 0; s && r < v->tally.count; r++)
        value[r] =
            tally_samples(&v->tally, layout_cell(s, metric_by_name(metric)))[r].value * scale;
    return value;
}

static double *latencies_of(const struct variant *v, const struct testbed_point *p)
{
    const struct subject *s = subject_named(v->layout, SUBJECT_CLIENT, "measured");
    const struct pooled *pool = s ? tally_pool(&v->tally, s, OF_LATENCY) : NULL;
    double *value = xcalloc(v->tally.count + 1, sizeof *value);

    for (size_t r = 0; r < v->tally.count; r++)
        value[r] = pool ? pooled_figure_of(pool, r, p->q) / (p->of == LATENCY_MS ? 1e6 : 1e3) : NAN;
    return value;
}

/* Values that are there only. */
static size_t drop_missing(double *value, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; value && i < n; i++)
        if (!isnan(value[i]))
            value[kept++] = value[i];
    return kept;
}

static void take(struct testbed_cell *c, const struct variant *v)
{
    free(c->throughput);
    c->throughput = samples_of(v, SUBJECT_CLIENT, "measured", "throughput", 1);
    c->throughputs = c->throughput ? v->tally.count : 0;
    for (size_t k = 0; k < c->points; k++) {
        struct testbed_point *p = &c->point[k];

        if (p->of == THROUGHPUT_RATIO)
            continue;
        free(p->value);
        p->value = p->of == JOB_SECONDS
                       ? samples_of(v, SUBJECT_GROUP, "xen/sysbench", "job_time", job_scale)
                   : p->of == CALLS_PER_SECOND
                       ? samples_of(v, SUBJECT_CLIENT, "measured", "throughput", 1)
                       : latencies_of(v, p);
        p->values = drop_missing(p->value, v->tally.count);
    }
}

/* The same random numbers under both schedulers, so replications make pairs. */
void testbed_ratios(struct testbed_data *d)
{
    for (size_t i = 0; i < d->cells; i++) {
        struct testbed_cell *c = &d->cell[i];
        const struct testbed_cell *other = testbed_other(d, c);

        for (size_t k = 0; k < c->points; k++) {
            struct testbed_point *p = &c->point[k];

            if (p->of != THROUGHPUT_RATIO || !other)
                continue;
            free(p->value);
            p->value = xcalloc(c->throughputs + 1, sizeof *p->value);
            p->values = 0;
            for (size_t r = 0; r < c->throughputs && r < other->throughputs; r++)
                p->value[p->values++] = c->throughput[r] / other->throughput[r];
        }
    }
}

int testbed_simulate(struct testbed_cell *const *cell, size_t cells, const double *x, unsigned jobs,
                     bool quiet, struct errors *e)
{
    /* A process can load the platform once; all scenarios have the same one. */
    static bool prepared;
    struct study s;
    int status = 0;

    study_init(&s, "(testbed)");
    s.quiet = quiet;
    s.jobs = jobs;
    for (size_t i = 0; i < cells && !status; i++) {
        char *text = testbed_scenario(x, &cell[i]->run);
        struct json *doc = json_parse("(testbed)", text, strlen(text), e);

        status = doc ? study_add_doc(&s, cell[i]->label, doc, ".", e) : -1;
        free(text);
    }
    if (!status && !prepared)
        status = study_prepare(&s, e);
    prepared = prepared || !status;
    if (!status)
        status = study_run(&s, e);
    if (!status && study_partial(&s))
        status = s.losses ? error_add(e, study_exit_code(&s), "%zu simulations were lost: %s",
                                      s.losses, s.lost[0].reason)
                          : error_add(e, EXIT_INTERRUPTED, "interrupted");
    for (size_t i = 0; i < cells && (!status || s.interrupted); i++)
        take(cell[i], &s.variant[i]); /* of an interrupted study, what there is */
    study_free(&s);
    return status;
}
