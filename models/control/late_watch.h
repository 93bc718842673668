/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far rounds are on their way to being late: for rare events (sim/splitting.h).
 *
 * A round is at level k when so much time has passed since it began that it would be late for
 * deadline k, and too few replicas' setpoints have come. It is decided when it fails to reach a
 * level, or has reached the last one.
 */
#ifndef HVSIM_CONTROL_LATE_WATCH_H
#define HVSIM_CONTROL_LATE_WATCH_H

#include "models/control/agent.h"

enum { LATE_WATCH_LEVELS = 16, LATE_WATCH_ROUNDS = 64 };

struct late_watch {
    struct agent *agent;
    sim_time level[LATE_WATCH_LEVELS]; /* ascending, from a round's start */
    uint32_t levels;
    void (*reached)(struct late_watch *w, uint64_t round, uint32_t level);
    void (*decided)(struct late_watch *w, uint64_t round);
    void *ctx;
    struct round_watch {
        struct timer timer;
        struct late_watch *watch;
        uint64_t round;
        uint32_t level;
    } round[LATE_WATCH_ROUNDS]; /* by number, modulo */
};

/* The agent, which must be on a machine of its own, tells w of each round that begins in the
 * measured time. w's levels and functions are set; the last level is at most LATE_WATCH_ROUNDS - 2
 * periods. */
void late_watch_attach(struct late_watch *w, struct agent *a);

/* agent_machine.c's: a round has begun. */
void late_watch_round(struct late_watch *w, uint64_t round, sim_time now);

#endif
