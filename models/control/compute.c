/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/control/compute.h"

#include "sim/distribution_params.h"
#include "sim/units.h"

static const struct param compute_rows[] = {
    {PARAM("time", CUSTOM, struct compute_params, time), .def = "1ms", .type = &dist_time_type,
     .meaning = "CPU time of the computation of a round.", .status = STATUS_ASSUMED},
    {PARAM("slow_enter", PERCENT, struct compute_params, slow_enter), .def = "0%",
     .range = PARAM_NO_RANGE, .max = "100%",
     .meaning = "Chance a round that a slow phase begins (Gilbert-Elliott); 0%: there are none.",
     .status = STATUS_ASSUMED},
    {PARAM("slow_leave", PERCENT, struct compute_params, slow_leave), .def = "10%",
     .range = PARAM_NO_RANGE, .min = "0.01%", .max = "100%",
     .meaning = "Chance a round that a slow phase ends.", .status = STATUS_ASSUMED},
    {PARAM("slow", CUSTOM, struct compute_params, slow), .def = "10ms", .range = PARAM_NO_RANGE,
     .type = &dist_time_type, .meaning = "CPU time of the computation of a round in a slow phase.",
     .status = STATUS_ASSUMED},
    {PARAM("fault", PERCENT, struct compute_params, fault), .def = "0%", .range = PARAM_NO_RANGE,
     .max = "100%", .meaning = "Chance a round that it takes no part in it, whatever the reason.",
     .status = STATUS_ASSUMED},
    {PARAM("mttf", DURATION, struct compute_params, mttf), .def = "never", .min = "1ms",
     .word = "never", .word_value = 0,
     .meaning = "Mean time to a crash of the controller (exponential).", .status = STATUS_ASSUMED},
    {PARAM("repair", CUSTOM, struct compute_params, repair), .def = "1s", .range = PARAM_NO_RANGE,
     .type = &dist_time_type, .meaning = "Time from a crash until it is up again.",
     .status = STATUS_ASSUMED},
};
const struct param_table compute_table =
    PARAM_TABLE("computing", struct compute_params, compute_rows,
                .meaning = "How long a controller computes, and when it fails to.");

static void next_crash(struct compute *c, sim_time now)
{
    double up;

    c->down = false;
    c->changes = SIM_NEVER;
    if (!c->params->mttf)
        return;
    up = rng_exponential(&c->crash_rng, (double)c->params->mttf);
    if (up < 4e18 - (double)now)
        c->changes = now + (sim_time)up + 1;
}

void compute_init(struct compute *c, const struct compute_params *params, const char *entity,
                  uint64_t seed, uint64_t replication, sim_time start)
{
    *c = (struct compute){.params = params, .until = SIM_NEVER};
    rng_init(&c->time_rng, seed, replication, entity, "computing time");
    rng_init(&c->phase_rng, seed, replication, entity, "slow phases");
    rng_init(&c->fault_rng, seed, replication, entity, "faults");
    rng_init(&c->crash_rng, seed, replication, entity, "crashes");
    next_crash(c, start);
}

void compute_measure(struct compute *c, sim_time from, sim_time until)
{
    c->from = from;
    c->until = until;
}

/* The part of an outage that counts. */
static sim_time measured(const struct compute *c, sim_time from, sim_time until)
{
    from = from > c->from ? from : c->from;
    until = until < c->until ? until : c->until;
    return until > from ? until - from : 0;
}

static void draw_round(struct compute *c)
{
    const struct compute_params *p = c->params;
    struct rng slow_time;
    int64_t chance = c->slow ? p->slow_leave : p->slow_enter;

    if (p->slow_enter && rng_bernoulli(&c->phase_rng, percent_fraction(chance)))
        c->slow = !c->slow;
    /* One stream for both distributions: the base time does not depend on the phases before. */
    slow_time = c->time_rng;
    c->time = dist_draw_time(&p->time, &c->time_rng);
    if (c->slow)
        c->time = dist_draw_time(&p->slow, &slow_time);
    c->fault = p->fault && rng_bernoulli(&c->fault_rng, percent_fraction(p->fault));
    c->round++;
}

static void draw_until(struct compute *c, uint64_t round)
{
    while (c->round <= round)
        draw_round(c);
}

sim_time compute_time(struct compute *c, uint64_t round)
{
    draw_until(c, round);
    return c->time;
}

bool compute_fails(struct compute *c, uint64_t round)
{
    draw_until(c, round);
    return c->fault;
}

bool compute_crashed(struct compute *c, sim_time now)
{
    while (c->changes <= now) {
        if (c->down) {
            next_crash(c, c->changes);
        } else {
            sim_time repair = dist_draw_time(&c->params->repair, &c->crash_rng);

            c->crashes++;
            repair = repair > 0 ? repair : 1;
            c->down = true;
            c->down_time += measured(c, c->changes, c->changes + repair);
            c->changes += repair;
        }
    }
    return c->down;
}

void compute_restart(struct compute *c, sim_time now)
{
    c->slow = false;
    if (!compute_crashed(c, now))
        return;
    c->down_time -= measured(c, now, c->changes);
    next_crash(c, now);
}
