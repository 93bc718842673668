/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lookbusy -c P: spins for P % of a cycle of about 100 ms, then sleeps for the rest, counted from
 * the end of the spinning; a preempted burst therefore makes the cycle longer. The spinning is a
 * fixed amount of computing. With `feedback` its length is corrected slowly so that the share of
 * wall time comes out, as lookbusy does: each cycle by `gain` times the difference between the
 * wanted and the seen share. The first cycle begins after a random part of a cycle.
 */
#ifndef HVSIM_WORKLOADS_LOOKBUSY_H
#define HVSIM_WORKLOADS_LOOKBUSY_H

#include "models/guest/guest.h"

struct lookbusy_params {
    int64_t busy; /* per cent, in units of sim/units.h's percent */
    sim_time cycle;
    bool feedback;
    int64_t gain; /* per cent, likewise */
    bool random_phase;
};
extern const struct program program_lookbusy;

#endif
