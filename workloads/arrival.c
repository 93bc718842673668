/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/arrival.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct arrival_kind_info arrival_kinds[ARRIVAL_KINDS] = {
    [ARRIVAL_POISSON] = {"poisson", "independent of each other at a constant rate", "rate"},
    [ARRIVAL_RENEWAL] = {"renewal", "independent gaps of any distribution", "1 / mean gap"},
    [ARRIVAL_MMPP] = {"mmpp", "Poisson with a rate that follows the states of a Markov chain",
                      "sum of stationary probability x rate over the states"},
    [ARRIVAL_ON_OFF] = {"on-off",
                        "bursts: each begins with an arrival, more follow at gaps of one "
                        "distribution while it lasts, then silence",
                        "(1 + on / gap) / (on + off) of the means, if gaps are exponential"},
    [ARRIVAL_TRACE] = {"trace", "given dates, once or repeated", "dates / period"},
};

int arrival_kind_by_name(const char *name)
{
    for (int k = 0; k < ARRIVAL_KINDS; k++)
        if (strcmp(arrival_kinds[k].name, name) == 0)
            return k;
    return -1;
}

/* ---- Markov chains ---- */

/* States that can be reached from `from` along (or, backwards, against) the changes of state. */
static unsigned reachable(const struct arrival_process *p, size_t from, bool backwards)
{
    unsigned seen = 1u << from, before;

    do {
        before = seen;
        for (size_t i = 0; i < p->states; i++)
            for (size_t j = 0; j < p->states; j++)
                if (i != j && seen >> i & 1 && (backwards ? p->leave[j][i] : p->leave[i][j]) > 0)
                    seen |= 1u << j;
    } while (seen != before);
    return seen;
}

/*
 * Grassmann, Taksar, Heyman 1985: remove the states one by one from the last, giving the paths
 * through a removed state to the others. Without subtractions, so accurate for any rates.
 */
void mmpp_stationary(const struct arrival_process *p, double *probability)
{
    double a[MMPP_STATES][MMPP_STATES], total = 1;

    memcpy(a, p->leave, sizeof a);
    for (size_t k = p->states - 1; k > 0; k--) {
        double out = 0;

        for (size_t j = 0; j < k; j++)
            out += a[k][j];
        for (size_t i = 0; i < k; i++)
            a[i][k] /= out;
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++)
                if (i != j)
                    a[i][j] += a[i][k] * a[k][j];
    }
    probability[0] = 1;
    for (size_t k = 1; k < p->states; k++) {
        probability[k] = 0;
        for (size_t i = 0; i < k; i++)
            probability[k] += probability[i] * a[i][k];
        total += probability[k];
    }
    for (size_t k = 0; k < p->states; k++)
        probability[k] /= total;
}

/* ---- Checks and rates ---- */

static int check_mmpp(const struct arrival_process *p, struct errors *e)
{
    size_t first = e->count;
    bool some = false;

    if (p->states < 2 || p->states > MMPP_STATES)
        return error_add(e, EXIT_INPUT, "mmpp: %zu states; it takes 2 to %d", p->states,
                         MMPP_STATES);
    for (size_t i = 0; i < p->states; i++) {
        if (!(p->state_rate[i] >= 0) || !isfinite(p->state_rate[i]))
            error_add(e, EXIT_INPUT, "mmpp: the rate of state %zu is %g; it must be at least 0", i,
                      p->state_rate[i]);
        some = some || p->state_rate[i] > 0;
        for (size_t j = 0; j < p->states; j++)
            if (i != j && (!(p->leave[i][j] >= 0) || !isfinite(p->leave[i][j])))
                error_add(e, EXIT_INPUT,
                          "mmpp: the rate of changes from state %zu to %zu is %g; it must be at "
                          "least 0",
                          i, j, p->leave[i][j]);
    }
    if (!some)
        error_add(e, EXIT_INPUT, "mmpp: some state needs a rate above 0");
    if (e->count == first &&
        (reachable(p, 0, false) & reachable(p, 0, true)) != (1u << p->states) - 1)
        error_add(e, EXIT_INPUT, "mmpp: each state must be reachable from each other one");
    return e->count > first ? -1 : 0;
}

/* A distribution of times with its name, as part of a process. */
static void check_part(const struct distribution *d, const char *name, struct errors *e)
{
    size_t first = e->count;

    if (dist_check(d, e))
        error_context(e, first, "%s", name);
    else if (!(dist_mean(d) >= 0))
        error_add(e, EXIT_INPUT, "%s: the mean is %g; it must not be negative", name, dist_mean(d));
}

static int check_on_off(const struct arrival_process *p, struct errors *e)
{
    size_t first = e->count;

    check_part(&p->gap, "gap", e);
    check_part(&p->on, "on", e);
    check_part(&p->off, "off", e);
    if (e->count > first)
        return -1;
    if (!(dist_mean(&p->gap) > 0))
        return error_add(e, EXIT_INPUT, "on-off: the mean gap is 0: infinitely many arrivals");
    if (!(dist_mean(&p->on) + dist_mean(&p->off) > 0))
        return error_add(e, EXIT_INPUT, "on-off: bursts without length and without pause between");
    if (!isfinite(dist_mean(&p->on) + dist_mean(&p->off)))
        return error_add(e, EXIT_INPUT, "on-off: on and off need finite means");
    return 0;
}

static int check_trace(const struct arrival_process *p, struct errors *e)
{
    for (size_t i = 0; i < p->dates; i++)
        if (p->date[i] < (i ? p->date[i - 1] : 0))
            return error_add(e, EXIT_INPUT, "trace: date %zu lies before the one before", i);
    if (p->period && (!p->dates || p->period < p->date[p->dates - 1]))
        return error_add(e, EXIT_INPUT, "trace: the period must not end before the last date");
    return 0;
}

int arrival_check(const struct arrival_process *p, struct errors *e)
{
    size_t first = e->count;

    switch (p->kind) {
    case ARRIVAL_POISSON:
        if (!(p->rate >= 0) || !isfinite(p->rate))
            return error_add(e, EXIT_INPUT, "poisson: rate is %g; it must be at least 0", p->rate);
        return 0;
    case ARRIVAL_RENEWAL:
        check_part(&p->gap, "gap", e);
        if (e->count == first && !(dist_mean(&p->gap) > 0))
            error_add(e, EXIT_INPUT, "renewal: the mean gap is 0: infinitely many arrivals");
        return e->count > first ? -1 : 0;
    case ARRIVAL_MMPP:
        return check_mmpp(p, e);
    case ARRIVAL_ON_OFF:
        return check_on_off(p, e);
    default:
        return check_trace(p, e);
    }
}

void arrival_process_free(struct arrival_process *p)
{
    dist_free(&p->gap);
    dist_free(&p->on);
    dist_free(&p->off);
    free(p->date);
    p->date = NULL;
    p->dates = 0;
}

double arrival_rate(const struct arrival_process *p)
{
    double probability[MMPP_STATES], rate = 0;

    switch (p->kind) {
    case ARRIVAL_POISSON:
        return p->rate;
    case ARRIVAL_RENEWAL:
        return NS_PER_S / dist_mean(&p->gap);
    case ARRIVAL_MMPP:
        mmpp_stationary(p, probability);
        for (size_t i = 0; i < p->states; i++)
            rate += probability[i] * p->state_rate[i];
        return rate;
    case ARRIVAL_ON_OFF:
        if (p->gap.kind != DIST_EXPONENTIAL)
            return NAN;
        return NS_PER_S * (1 + dist_mean(&p->on) / dist_mean(&p->gap)) /
               (dist_mean(&p->on) + dist_mean(&p->off));
    default:
        return p->period ? (double)NS_PER_S * (double)p->dates / (double)p->period : NAN;
    }
}

/* ---- Realisations ---- */

/* `from` and a time, SIM_NEVER from 2^62 on (146 years). */
static sim_time later(sim_time from, double time)
{
    if (!(time < 0x1p62) || from > (INT64_C(1) << 62))
        return SIM_NEVER;
    return from + (sim_time)(time + 0.5);
}

/* The date a gap after `from`, carrying on the rounding. */
static sim_time after_gap(struct arrival *a, sim_time from, double gap)
{
    double exact = a->carry + (gap > 0 ? gap : 0);
    sim_time date = later(from, exact);

    a->carry = date == SIM_NEVER ? 0 : exact - (double)(date - from);
    return date;
}

static double exponential_gap(struct arrival *a, double per_second)
{
    return rng_exponential(&a->rng, (double)NS_PER_S / per_second);
}

static double leave_rate(const struct arrival_process *p, uint32_t state)
{
    double sum = 0;

    for (size_t j = 0; j < p->states; j++)
        if (j != state)
            sum += p->leave[state][j];
    return sum;
}

static void enter_mmpp_state(struct arrival *a, sim_time now, uint32_t state)
{
    a->state = state;
    a->phase_end = later(now, exponential_gap(a, leave_rate(a->process, state)));
}

static uint32_t next_mmpp_state(struct arrival *a)
{
    const struct arrival_process *p = a->process;
    double u = rng_uniform(&a->rng) * leave_rate(p, a->state);
    uint32_t next = a->state;

    for (uint32_t j = 0; j < p->states; j++) {
        if (j == a->state || !(p->leave[a->state][j] > 0))
            continue;
        next = j; /* the last one possible if rounding leaves u above all */
        u -= p->leave[a->state][j];
        if (u < 0)
            break;
    }
    return next;
}

static sim_time mmpp_next(struct arrival *a, sim_time now)
{
    while (now != SIM_NEVER) {
        double rate = a->process->state_rate[a->state];

        if (a->phase_end > now && rate > 0) {
            sim_time date = after_gap(a, now, exponential_gap(a, rate));

            if (date <= a->phase_end)
                return date;
        }
        now = a->phase_end > now ? a->phase_end : now;
        a->carry = 0;
        enter_mmpp_state(a, now, next_mmpp_state(a)); /* memoryless: the gap can be drawn anew */
    }
    return SIM_NEVER;
}

static void enter_period(struct arrival *a, sim_time now, uint32_t on)
{
    const struct distribution *length = on ? &a->process->on : &a->process->off;

    a->state = on;
    a->phase_end = later(now, (double)dist_draw_time(length, &a->rng));
}

static sim_time on_off_next(struct arrival *a, sim_time now)
{
    if (a->state) {
        sim_time date = after_gap(a, now, dist_draw(&a->process->gap, &a->rng));

        if (date <= a->phase_end)
            return date;
        enter_period(a, a->phase_end, 0);
    }
    now = a->phase_end > now ? a->phase_end : now;
    if (now == SIM_NEVER)
        return SIM_NEVER;
    a->carry = 0;
    enter_period(a, now, 1);
    return now;
}

static sim_time trace_next(struct arrival *a, sim_time now)
{
    const struct arrival_process *p = a->process;
    sim_time date;

    if (a->next == p->dates && p->period) {
        a->next = 0;
        a->start += p->period;
    }
    if (a->next >= p->dates)
        return SIM_NEVER;
    date = a->start + p->date[a->next++];
    return date > now ? date : now;
}

static uint32_t draw_stationary(struct arrival *a)
{
    double probability[MMPP_STATES], u = rng_uniform(&a->rng);
    uint32_t state = 0;

    mmpp_stationary(a->process, probability);
    while (state + 1 < a->process->states && u >= probability[state])
        u -= probability[state++];
    return state;
}

void arrival_start(struct arrival *a, const struct arrival_process *p, sim_time start,
                   uint64_t seed, uint64_t replication, const char *entity, const char *purpose)
{
    *a = (struct arrival){.process = p, .start = start, .phase_end = SIM_NEVER};
    rng_init(&a->rng, seed, replication, entity, purpose);
    if (p->kind == ARRIVAL_MMPP) {
        uint32_t state = draw_stationary(a);

        enter_mmpp_state(a, start, state);
    } else if (p->kind == ARRIVAL_ON_OFF) {
        double on = dist_mean(&p->on), off = dist_mean(&p->off);
        uint32_t state = rng_bernoulli(&a->rng, on / (on + off));

        enter_period(a, start, state);
    }
}

sim_time arrival_next(struct arrival *a, sim_time now)
{
    const struct arrival_process *p = a->process;

    switch (p->kind) {
    case ARRIVAL_POISSON:
        return p->rate > 0 ? after_gap(a, now, exponential_gap(a, p->rate)) : SIM_NEVER;
    case ARRIVAL_RENEWAL:
        return after_gap(a, now, dist_draw(&p->gap, &a->rng));
    case ARRIVAL_MMPP:
        return mmpp_next(a, now);
    case ARRIVAL_ON_OFF:
        return on_off_next(a, now);
    default:
        return trace_next(a, now);
    }
}
