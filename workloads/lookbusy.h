/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lookbusy -c P (D. Carraway): spins for P % of a cycle of about 100 ms, then sleeps for the rest,
 * counted from the end of the spinning; a preempted burst therefore makes the cycle longer. The
 * sleep keeps its length for ever. The burst is an amount of computing, and with `feedback` it is
 * corrected after each cycle as lookbusy does:
 *
 *     seen = whole part of 100 x (the guest's own CPU time) / (wall time of the cycle)
 *     burst = burst x (1 + (P - seen) / 100 / vCPUs)
 *
 * The guest's CPU time, all its programs included, is known to a clock tick of 10 ms, and counted
 * as the kernel does (guest_busy_time: with costs.busy_tick by its ticks, which on a crowded host
 * count more than it has had). Mind that a share which cannot be had makes the bursts grow without
 * end: on a host that is overloaded lookbusy turns into a CPU hog within some ten seconds. The
 * first cycle begins after a random part of one.
 */
#ifndef HVSIM_WORKLOADS_LOOKBUSY_H
#define HVSIM_WORKLOADS_LOOKBUSY_H

#include "models/guest/guest.h"

struct lookbusy_params {
    int64_t busy; /* per cent, in units of sim/units.h's percent */
    sim_time cycle, slack;
    bool feedback;
    bool random_phase;
};
extern const struct program program_lookbusy;

#endif
