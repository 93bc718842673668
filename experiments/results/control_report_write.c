/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A control loop's report as JSON, on the terminal, and as files. */
#include "experiments/results/control_report.h"
#include "experiments/results/grid.h"
#include "experiments/results/results.h"
#include "sim/sample.h"

#include <math.h>
#include <stdlib.h>

static double level_of(const struct variant *v)
{
    return percent_fraction(v->scenario->confidence);
}

static double ms(sim_time t)
{
    return (double)t / 1e6;
}

double *control_deadlines(const struct loop_spec *l, size_t *count)
{
    double *d = xcalloc(l->deadlines.count + 1, sizeof *d);
    size_t n = 0, kept = 0;

    d[n++] = ms(l->control.horizon);
    for (size_t i = 0; i < l->deadlines.count; i++)
        d[n++] = ms(((const sim_time *)l->deadlines.item)[i]);
    sort_doubles(d, n);
    for (size_t i = 0; i < n; i++)
        if (!kept || d[i] != d[kept - 1])
            d[kept++] = d[i];
    *count = kept;
    return d;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_interval(struct json_writer *w, const char *key, const struct interval *i)
{
    json_begin_inline(w, key, '{');
    results_put_interval(w, i);
    json_end(w);
}

static void put_deadline(struct json_writer *w, const struct loop_rounds *r,
                         const struct loop_deadline *d)
{
    json_begin(w, NULL, '{');
    json_put_number(w, "deadline_ms", d->deadline);
    json_begin(w, "late", '[');
    for (uint32_t j = 0; j < r->replicas; j++)
        put_interval(w, NULL, &d->late[j]);
    json_end(w);
    if (r->replicas > 1) {
        put_interval(w, "all_late", &d->joint.all_late);
        json_put_integer(w, "rounds_all_late", (int64_t)d->joint.joint);
        json_put_number(w, "if_independent", d->joint.independent);
        put_interval(w, "lift", &d->joint.lift);
        json_put_number(w, "smallest_lift_found", d->smallest_lift);
        json_put_number(w, "design_effect", d->design);
        put_interval(w, "second_late_if_first", &d->joint.conditional);
        put_interval(w, "phi", &d->joint.phi);
    }
    json_end(w);
}

static void put_service(struct json_writer *w, const struct loop_service *s)
{
    put_interval(w, "unavailable", &s->unavailable);
    json_begin_inline(w, "nines", '{');
    json_put_number(w, "value", s->nines);
    json_put_number(w, "low", s->nines_low);
    json_put_number(w, "high", s->nines_high);
    json_end(w);
    json_put_number(w, "mttf_s", s->mttf);
    json_put_number(w, "mttr_s", s->mttr);
    json_put_integer(w, "outages", (int64_t)s->outage.bad_runs);
    json_put_integer(w, "longest_outage_rounds", (int64_t)s->outage.longest);
}

static void put_numbers(struct json_writer *w, const char *key, const double *x, size_t n)
{
    json_begin_inline(w, key, '[');
    for (size_t i = 0; i < n; i++)
        json_put_number(w, NULL, x[i]);
    json_end(w);
}

static void put_correlation(struct json_writer *w, const struct variant *v, size_t loop,
                            const struct loop_rounds *r, double horizon)
{
    double own[LOOP_LAGS], other[LOOP_LAGS];
    struct interval tail[LOOP_TAILS];
    const struct roster_loop *l = &v->roster->loop[loop];

    loop_lags(r, horizon, own, other);
    put_numbers(w, "lag_correlation_own", own, LOOP_LAGS);
    if (r->replicas < 2)
        return;
    put_numbers(w, "lag_correlation_other", other, LOOP_LAGS);
    json_begin(w, "tail_dependence", '[');
    for (uint32_t j = 0; j < r->replicas; j++)
        for (uint32_t k = j + 1; k < r->replicas; k++) {
            loop_tails(r, j, k, level_of(v), (uint64_t)v->scenario->seed, tail);
            json_begin(w, NULL, '{');
            json_put_string(w, "of", v->roster->replica[l->first_replica + j].name);
            json_put_string(w, "and", v->roster->replica[l->first_replica + k].name);
            json_begin(w, "at", '[');
            for (size_t i = 0; i < LOOP_TAILS; i++) {
                json_begin_inline(w, NULL, '{');
                json_put_number(w, "quantile", loop_tail_levels[i]);
                results_put_interval(w, &tail[i]);
                json_end(w);
            }
            json_end(w);
            json_end(w);
        }
    json_end(w);
}

static void put_loop(const struct variant *v, size_t loop, struct json_writer *w)
{
    const struct roster_loop *l = &v->roster->loop[loop];
    const struct control_params *c = &l->spec->control;
    struct loop_rounds r = loop_rounds_of(v, loop);
    struct loop_service s = loop_service_of(&r, (double)c->period / 1e9, level_of(v));
    struct interval rare;
    size_t count;
    double *deadline = control_deadlines(l->spec, &count);

    json_begin(w, NULL, '{');
    json_put_string(w, "name", l->spec->name);
    json_put_integer(w, "rounds", (int64_t)r.rounds);
    json_begin_inline(w, "replicas", '[');
    for (size_t i = 0; i < l->replicas; i++)
        json_put_string(w, NULL, v->roster->replica[l->first_replica + i].name);
    json_end(w);
    put_service(w, &s);
    if (loop_rare(v, loop, &rare))
        put_interval(w, "unavailable_by_importance_sampling", &rare);
    json_begin(w, "lateness", '[');
    for (size_t i = 0; i < count; i++) {
        struct loop_deadline d =
            loop_deadline_of(&r, deadline[i], level_of(v), (uint64_t)v->scenario->seed);

        put_deadline(w, &r, &d);
    }
    json_end(w);
    put_correlation(w, v, loop, &r, ms(c->horizon));
    json_end(w);
    free(deadline);
    loop_rounds_free(&r);
}

void control_json(const struct variant *v, struct json_writer *w)
{
    if (!v->roster->loops || !v->tally.count)
        return;
    json_begin(w, "control", '[');
    for (size_t i = 0; i < v->roster->loops; i++)
        put_loop(v, i, w);
    json_end(w);
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_service(const struct roster_loop *l, const struct loop_rounds *r,
                          const struct loop_service *s, FILE *out)
{
    fprintf(out, "\n%s: %zu replicas, %zu rounds of %.4g ms, setpoints valid for %.4g ms\n",
            l->spec->name, l->replicas, r->rounds, ms(l->spec->control.period),
            ms(l->spec->control.horizon));
    if (s->outage.bad)
        fprintf(
            out,
            "  available %.6f %% of the rounds: %.2f nines (%.2f to %.2f); mean time to failure "
            "%.3g s, to repair %.3g s\n",
            100 * (1 - s->unavailable.estimate), s->nines, s->nines_low, s->nines_high, s->mttf,
            s->mttr);
    else
        fprintf(out, "  available in all rounds: at least %.2f nines\n", s->nines_low);
}

/* Correlation of lateness at the horizon with that of so many rounds later. */
static void print_lags(const struct loop_rounds *r, double horizon, FILE *out)
{
    double own[LOOP_LAGS], other[LOOP_LAGS];

    loop_lags(r, horizon, own, other);
    if (isnan(own[0]))
        return; /* never late, or always */
    fprintf(out, "  correlation with lateness 1 to %d rounds later: its own", LOOP_LAGS);
    for (int i = 0; i < LOOP_LAGS; i++)
        fprintf(out, " %.2f", own[i]);
    if (r->replicas > 1 && !isnan(other[0])) {
        fputs("; another's", out);
        for (int i = 0; i < LOOP_LAGS; i++)
            fprintf(out, " %.2f", other[i]);
    }
    fputc('\n', out);
}

static void print_loop(const struct variant *v, size_t loop, FILE *out)
{
    const struct roster_loop *l = &v->roster->loop[loop];
    struct loop_rounds r = loop_rounds_of(v, loop);
    struct loop_service s = loop_service_of(&r, (double)l->spec->control.period / 1e9, level_of(v));
    size_t count;
    double *deadline = control_deadlines(l->spec, &count);
    struct interval rare;
    struct grid g;

    print_service(l, &r, &s, out);
    if (loop_rare(v, loop, &rare)) {
        fprintf(out,
                "  unavailable by importance sampling: %.3g of the rounds (%.3g to %.3g), %.2f "
                "nines\n",
                rare.estimate, rare.low, rare.high, availability_nines(rare.estimate));
    }
    grid_init(&g, r.replicas > 1 ? 8 : 2);
    grid_row(&g);
    grid_put(&g, "  late after, ms");
    grid_put(&g, "one of them, %%");
    if (r.replicas > 1) {
        grid_put(&g, "all, %%");
        grid_put(&g, "if independent");
        grid_put(&g, "lift");
        grid_put(&g, "found from");
        grid_put(&g, "P(2nd|1st)");
        grid_put(&g, "phi");
    }
    for (size_t i = 0; i < count; i++) {
        struct loop_deadline d =
            loop_deadline_of(&r, deadline[i], level_of(v), (uint64_t)v->scenario->seed);
        double mean = 0;

        for (uint32_t j = 0; j < r.replicas; j++)
            mean += d.late[j].estimate / r.replicas;
        grid_row(&g);
        grid_put(&g, "  %.4g", d.deadline);
        grid_put_value(&g, 100 * mean);
        if (r.replicas < 2)
            continue;
        grid_put_range(&g, &d.joint.all_late, 100);
        grid_put_value(&g, 100 * d.joint.independent);
        grid_put_range(&g, &d.joint.lift, 1);
        grid_put_value(&g, d.smallest_lift);
        grid_put_range(&g, &d.joint.conditional, 1);
        grid_put_range(&g, &d.joint.phi, 1);
    }
    grid_print(&g, out);
    grid_free(&g);
    print_lags(&r, ms(l->spec->control.horizon), out);
    free(deadline);
    loop_rounds_free(&r);
}

void control_print(const struct variant *v, FILE *out)
{
    for (size_t i = 0; i < v->roster->loops && v->tally.count; i++)
        print_loop(v, i, out);
    if (v->roster->loops)
        fputs("  lift: how much more often all are late together than if they were independent; "
              "\"found from\": the\n  smallest that these rounds would find with 80 % power.\n",
              out);
}

/* ---- files ----------------------------------------------------------------------------------- */

struct file {
    const struct variant *variant;
    size_t loop;
};

static void put_us(sim_time t, FILE *out)
{
    if (t < 0)
        fputs(",-1", out);
    else
        fprintf(out, ",%lld.%03lld", (long long)(t / 1000), (long long)(t % 1000));
}

/* As the logs of captures: delays in us, -1 for none. */
static void write_rounds(const void *ctx, FILE *out)
{
    const struct file *f = ctx;
    const struct tally *t = &f->variant->tally;
    size_t g = f->variant->roster->loop[f->loop].replicas;

    fputs("replication,round", out);
    for (size_t j = 0; j < g; j++)
        fprintf(out, ",d%zu_us", j + 1);
    fputs(",implemented_us\n", out);
    for (size_t i = 0; i < t->count; i++) {
        const struct tally_rounds *r = &t->loop[f->loop * t->capacity + i];

        for (size_t k = 0; k < r->rounds; k++) {
            fprintf(out, "%u,%zu", f->variant->replication[i], k);
            for (size_t j = 0; j < g; j++)
                put_us(r->delay[k * g + j], out);
            put_us(r->accepted[k], out);
            fputc('\n', out);
        }
    }
}

void control_files(const struct variant *v, const char *dir, bool quiet, struct errors *e)
{
    for (size_t i = 0; i < v->roster->loops; i++) {
        const char *name = v->roster->loop[i].spec->name;
        struct loop_rounds r = loop_rounds_of(v, i);
        char *csv = xasprintf("rounds-%s.csv", name);
        struct file f = {v, i};

        results_file(dir, csv, write_rounds, &f, e);
        if (r.rounds)
            control_pictures(v, i, &r, dir, quiet, e);
        free(csv);
        loop_rounds_free(&r);
    }
}
