/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a controller computes, and when it does not: the computing time of each round, phases in
 * which it is slow, rounds in which it fails, crashes.
 *
 * The time of a round is drawn from a base distribution. A Gilbert-Elliott process may add slow
 * phases (a third-party library that collects its garbage, say): before each round a good replica
 * becomes slow with one probability and a slow one good with another, and while it is slow times
 * come from another distribution. Gilbert 1960, Elliott 1963.
 *
 * A fault is a round in which the replica takes no part (a delay fault beyond all deadlines). A
 * crash makes it deaf and mute until it is repaired: an alternating renewal process with
 * exponential times up.
 *
 * Each replica has streams of its own, keyed by its name, with one draw a round: rounds that it
 * never saw are drawn too, so that two scenarios under the same key see the same times.
 */
#ifndef HVSIM_CONTROL_COMPUTE_H
#define HVSIM_CONTROL_COMPUTE_H

#include "sim/distribution.h"
#include "sim/params.h"

struct compute_params {
    struct distribution time;   /* of a round, ns */
    int64_t slow_enter;         /* chance a round that a slow phase begins, 1e-9; 0: none */
    int64_t slow_leave;         /* ... that it ends */
    struct distribution slow;   /* of a round in a slow phase, ns */
    int64_t fault;              /* chance of a fault a round, 1e-9 */
    sim_time mttf;              /* mean time to a crash; 0: never */
    struct distribution repair; /* of a crash, ns */
};

extern const struct param_table compute_table;

struct compute {
    const struct compute_params *params;
    uint64_t round; /* the first that was not drawn yet */
    bool slow;
    sim_time time; /* of the last one that was */
    bool fault;
    bool down;        /* crashed, as of `changes` before it changes */
    sim_time changes; /* date of the next crash or repair */
    uint32_t crashes;
    sim_time from, until, down_time; /* what is measured; time of it that it was crashed */
    struct rng time_rng, phase_rng, fault_rng, crash_rng;
};

/* params is kept by reference. `start`: the date from which on it may crash. */
void compute_init(struct compute *c, const struct compute_params *params, const char *entity,
                  uint64_t seed, uint64_t replication, sim_time start);

/* Count the time for which it is crashed between these dates (all of it if not called). */
void compute_measure(struct compute *c, sim_time from, sim_time until);

/* What it computes in a round (numbered from 0, each not before the last one asked for). */
sim_time compute_time(struct compute *c, uint64_t round);
bool compute_fails(struct compute *c, uint64_t round);

/* Is it crashed at that date? Dates must not go back. */
bool compute_crashed(struct compute *c, sim_time now);

/* It is restarted: out of a slow phase or a crash. */
void compute_restart(struct compute *c, sim_time now);

#endif
