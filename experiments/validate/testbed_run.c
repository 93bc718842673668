/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulating experiments of the testbed. */
#include "experiments/study/study.h"
#include "experiments/validate/testbed_data.h"
#include "experiments/validate/testbed_journal.h"

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

/* A metric in the replication taken last; NAN if there is no such subject. */
static double last_of(const struct variant *v, enum subject_kind kind, const char *name,
                      const char *metric)
{
    const struct subject *s = subject_named(v->layout, kind, name);

    return s ? tally_samples(&v->tally, layout_cell(s, metric_by_name(metric)))[v->tally.count - 1]
                   .value
             : NAN;
}

static double last_latency(const struct variant *v, const struct testbed_point *p)
{
    const struct subject *s = subject_named(v->layout, SUBJECT_CLIENT, "measured");
    const struct pooled *pool = s ? tally_pool(&v->tally, s, OF_LATENCY) : NULL;

    return pool ? pooled_figure_of(pool, pool->parts - 1, p->q) / (p->of == LATENCY_MS ? 1e6 : 1e3)
                : NAN;
}

static double last_value(const struct variant *v, const struct testbed_point *p)
{
    if (p->of == JOB_SECONDS)
        return last_of(v, SUBJECT_GROUP, "xen/sysbench", "job_time") * job_scale;
    if (p->of == CALLS_PER_SECOND)
        return last_of(v, SUBJECT_CLIENT, "measured", "throughput");
    return last_latency(v, p);
}

/* Room for the values of all simulations, none of them known. */
static double *unknown_values(double *old, size_t n)
{
    double *value = xrealloc(old, (n + 1) * sizeof *value);

    for (size_t i = 0; i < n; i++)
        value[i] = NAN;
    return value;
}

static void begin_cell(struct testbed_cell *c)
{
    size_t n = (size_t)c->run.replications;

    c->throughput = unknown_values(c->throughput, n);
    c->throughputs = n;
    for (size_t k = 0; k < c->points; k++)
        if (c->point[k].of != THROUGHPUT_RATIO) {
            c->point[k].value = unknown_values(c->point[k].value, n);
            c->point[k].values = n;
        }
}

/* Values that are there only. */
static void end_cell(struct testbed_cell *c)
{
    for (size_t k = 0; k < c->points; k++) {
        struct testbed_point *p = &c->point[k];
        size_t n = p->values;

        if (p->of == THROUGHPUT_RATIO)
            continue;
        p->values = 0;
        for (size_t i = 0; i < n; i++)
            if (!isnan(p->value[i]))
                p->value[p->values++] = p->value[i];
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
            for (size_t r = 0; r < c->throughputs && r < other->throughputs; r++) {
                double ratio = c->throughput[r] / other->throughput[r];

                if (!isnan(ratio))
                    p->value[p->values++] = ratio;
            }
        }
    }
}

/* The cells that the study's variants are of. */
struct simulated {
    struct study study;
    struct testbed_cell **cell;
    const double *x;
    const struct testbed_work *work;
};

static int taken(void *ctx, size_t variant, struct errors *e)
{
    struct simulated *s = ctx;
    struct variant *v = &s->study.variant[variant];
    struct testbed_cell *c = s->cell[variant];
    size_t r = v->replication[v->tally.count - 1];

    c->throughput[r] = last_of(v, SUBJECT_CLIENT, "measured", "throughput");
    for (size_t k = 0; k < c->points; k++)
        if (c->point[k].of != THROUGHPUT_RATIO)
            c->point[k].value[r] = last_value(v, &c->point[k]);
    tally_forget(&v->tally);
    return s->work->journal ? testbed_journal_add(s->work->journal, c, s->x, r, e) : 0;
}

/* A variant for the cell, unless all of it is known. */
static int add_cell(struct simulated *s, struct testbed_cell *c, struct errors *e)
{
    size_t known = 0;
    struct json *doc;
    char *text;
    int status;

    begin_cell(c);
    if (s->work->journal)
        known = testbed_journal_fill(s->work->journal, c, s->x);
    if (known == (size_t)c->run.replications)
        return 0;
    text = testbed_scenario(s->x, &c->run);
    doc = json_parse("(testbed)", text, strlen(text), e);
    free(text);
    status = doc ? study_add_doc(&s->study, c->label, doc, ".", e) : -1;
    if (status)
        return status;
    s->study.variant[s->study.variants - 1].first = (int64_t)known;
    s->cell[s->study.variants - 1] = c;
    return 0;
}

static int simulate_study(struct study *s, struct errors *e)
{
    /* A process can load the platform once; all scenarios have the same one. */
    static bool prepared;

    if (!prepared && study_prepare(s, e))
        return -1;
    prepared = true;
    if (study_run(s, e))
        return -1;
    if (!study_partial(s))
        return e->count ? -1 : 0;
    return s->losses ? error_add(e, study_exit_code(s), "%zu simulations were lost: %s", s->losses,
                                 s->lost[0].reason)
                     : error_add(e, EXIT_INTERRUPTED, "interrupted");
}

int testbed_simulate(struct testbed_cell *const *cell, size_t cells, const double *x,
                     const struct testbed_work *work, struct errors *e)
{
    struct simulated s = {.cell = xcalloc(cells + 1, sizeof *cell), .x = x, .work = work};
    int status = 0;

    study_init(&s.study, "(testbed)");
    s.study.quiet = work->quiet;
    s.study.jobs = work->jobs;
    s.study.taken = taken;
    s.study.ctx = &s;
    for (size_t i = 0; i < cells && !status; i++)
        status = add_cell(&s, cell[i], e);
    if (!status && s.study.variants)
        status = simulate_study(&s.study, e);
    for (size_t i = 0; i < cells; i++)
        end_cell(cell[i]); /* of an interrupted study, what there is */
    study_free(&s.study);
    free(s.cell);
    return status;
}
