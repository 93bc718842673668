/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/results/control_report.h"

#include "models/control/importance.h"
#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK_ROUNDS = 50, CLUSTERS = 10, RESAMPLES = 2000, RARE_SAMPLES = 400000 };

#define POWER 0.8

const double loop_tail_levels[LOOP_TAILS] = {0.5, 0.9, 0.95, 0.99, 0.995, 0.999};

/* ---- rounds ---------------------------------------------------------------------------------- */

static double ms_of(sim_time t)
{
    return t < 0 ? INFINITY : (double)t / 1e6;
}

struct loop_rounds loop_rounds_of(const struct variant *v, size_t loop)
{
    const struct tally *t = &v->tally;
    const struct tally_rounds *part = &t->loop[loop * t->capacity];
    struct loop_rounds r = {.replicas = (uint32_t)v->roster->loop[loop].replicas,
                            .replications = t->count};
    size_t at = 0;

    for (size_t i = 0; i < t->count; i++)
        if (!i || part[i].rounds < r.each)
            r.each = part[i].rounds;
    r.rounds = r.each * r.replications;
    r.delay = xcalloc(r.rounds * r.replicas, sizeof *r.delay);
    r.accepted = xcalloc(r.rounds, sizeof *r.accepted);
    for (size_t i = 0; i < t->count; i++)
        for (size_t k = 0; k < r.each; k++, at++) {
            r.accepted[at] = ms_of(part[i].accepted[k]);
            for (uint32_t j = 0; j < r.replicas; j++)
                r.delay[at * r.replicas + j] = ms_of(part[i].delay[k * r.replicas + j]);
        }
    return r;
}

void loop_rounds_free(struct loop_rounds *r)
{
    free(r->delay);
    free(r->accepted);
}

/* ---- intervals ------------------------------------------------------------------------------- */

static struct bootstrap plan(const struct loop_rounds *r, double level)
{
    bool clusters = r->replications >= CLUSTERS && r->each;

    return (struct bootstrap){.block = clusters ? r->each : BLOCK_ROUNDS,
                              .resamples = RESAMPLES,
                              .disjoint = true,
                              .level = level};
}

static double mean_of_column(const double *sums, size_t n, size_t width, void *context)
{
    (void)width;
    (void)context;
    return sums[0] / (double)n;
}

/* Share of rounds for which the indicator is 1. Without enough variety for resampling: the interval
 * of a proportion as if rounds were independent. */
static struct interval share(const struct loop_rounds *r, const double *indicator, double level,
                             struct rng *rng)
{
    const struct bootstrap b = plan(r, level);
    struct interval i = bootstrap_sums(&b, indicator, r->rounds, 1, mean_of_column, NULL, rng);

    if (!interval_given(&i) && r->rounds) {
        double sum = 0;

        for (size_t k = 0; k < r->rounds; k++)
            sum += indicator[k];
        i = interval_proportion((uint64_t)sum, r->rounds, PROPORTION_JEFFREYS, level);
    }
    return i;
}

static double design_of(const struct interval *all_late, size_t rounds)
{
    double p = all_late->estimate, half = interval_half(all_late), variance;

    if (!interval_given(all_late) || !(p > 0) || p >= 1)
        return 1;
    half /= det_normal_quantile((1 + all_late->level) / 2);
    variance = half * half / (p * (1 - p) / (double)rounds);
    return variance > 1 ? variance : 1;
}

struct loop_deadline loop_deadline_of(const struct loop_rounds *r, double deadline, double level,
                                      uint64_t seed)
{
    const struct bootstrap b = plan(r, level);
    struct loop_deadline d = {.deadline = deadline, .design = 1, .smallest_lift = NAN};
    double *late = xcalloc(r->rounds, sizeof *late);
    struct rng rng;

    rng_init(&rng, seed, 0, "control report", "bootstrap");
    for (uint32_t j = 0; j < r->replicas; j++) {
        for (size_t i = 0; i < r->rounds; i++)
            late[i] = r->delay[i * r->replicas + j] > deadline;
        d.late[j] = share(r, late, level, &rng);
    }
    if (r->replicas > 1) {
        d.joint = association_of(&b, r->delay, r->rounds, r->replicas, deadline, &rng);
        d.design = design_of(&d.joint.all_late, r->rounds);
        d.smallest_lift =
            smallest_factor((double)r->rounds * d.joint.independent, d.design, level, POWER);
    }
    free(late);
    return d;
}

double availability_nines(double unavailable)
{
    return unavailable > 0 ? -det_log(unavailable) / det_log(10) : INFINITY;
}

struct loop_service loop_service_of(const struct loop_rounds *r, double period_s, double level)
{
    struct loop_service s = {0};
    double *out = xcalloc(r->rounds, sizeof *out);
    bool *bad = xcalloc(r->rounds, sizeof *bad);
    struct rng rng;

    rng_init(&rng, 0, 0, "control report", "availability");
    for (size_t i = 0; i < r->rounds; i++) {
        bad[i] = isinf(r->accepted[i]);
        out[i] = bad[i];
    }
    for (size_t k = 0; k < r->replications; k++)
        runs_add(&s.outage, bad + k * r->each, r->each, 1);
    s.unavailable = share(r, out, level, &rng);
    s.nines = availability_nines(s.unavailable.estimate);
    s.nines_low = availability_nines(s.unavailable.high);
    s.nines_high = availability_nines(s.unavailable.low);
    s.mttf = runs_to_failure(&s.outage) * period_s;
    s.mttr = runs_to_repair(&s.outage) * period_s;
    free(out);
    free(bad);
    return s;
}

bool loop_rare(const struct variant *v, size_t loop, struct interval *unavailable)
{
    const struct roster_loop *l = &v->roster->loop[loop];
    const struct control_params *c = &l->spec->control;
    const struct tally_rounds *part = &v->tally.loop[loop * v->tally.capacity];
    struct importance_replica replica[CONTROL_REPLICAS];

    if (!importance_applies(c) || !v->tally.count)
        return false;
    for (size_t i = 0; i < l->replicas; i++) {
        const struct roster_replica *p = &v->roster->replica[l->first_replica + i];

        if (!p->node)
            return false;
        replica[i] = (struct importance_replica){p->node, part->wire[i]};
    }
    *unavailable = importance_unavailable(c, replica, (uint32_t)l->replicas, RARE_SAMPLES, true,
                                          (uint64_t)v->scenario->seed,
                                          percent_fraction(v->scenario->confidence));
    return true;
}

/* ---- dependence over time and in the tail ---------------------------------------------------- */

/* Correlation of late[i] of one replica and late[i + lag] of another, within replications. */
static double lagged(const struct loop_rounds *r, double deadline, uint32_t j, uint32_t k,
                     size_t lag)
{
    double n = 0, a = 0, b = 0, ab = 0;

    for (size_t p = 0; p < r->replications; p++)
        for (size_t i = 0; i + lag < r->each; i++) {
            size_t at = p * r->each + i;
            bool x = r->delay[at * r->replicas + j] > deadline;
            bool y = r->delay[(at + lag) * r->replicas + k] > deadline;

            n++;
            a += x;
            b += y;
            ab += x && y;
        }
    return (n * ab - a * b) /
           (sqrt(a * (n - a)) * sqrt(b * (n - b))); /* NAN: never, or always late */
}

void loop_lags(const struct loop_rounds *r, double deadline, double own[LOOP_LAGS],
               double other[LOOP_LAGS])
{
    for (size_t lag = 1; lag <= LOOP_LAGS; lag++) {
        double same = 0, cross = 0;
        uint32_t g = r->replicas;

        for (uint32_t j = 0; j < g; j++)
            for (uint32_t k = 0; k < g; k++) {
                double c = lagged(r, deadline, j, k, lag);

                if (j == k)
                    same += c;
                else
                    cross += c;
            }
        own[lag - 1] = same / g;
        other[lag - 1] = g > 1 ? cross / (g * (g - 1)) : NAN;
    }
}

void loop_tails(const struct loop_rounds *r, uint32_t j, uint32_t k, double level, uint64_t seed,
                struct interval tail[LOOP_TAILS])
{
    const struct bootstrap b = plan(r, level);
    struct rng rng;

    rng_init(&rng, seed, 0, "control report", "tails");
    for (size_t i = 0; i < LOOP_TAILS; i++)
        tail[i] =
            tail_dependence(&b, r->delay, r->rounds, r->replicas, j, k, loop_tail_levels[i], &rng);
}
