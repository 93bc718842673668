/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often a control loop has no setpoint in time, by multilevel splitting (sim/splitting.h):
 * whenever a round has gone without a valid setpoint for the time of a level, the whole simulation
 * goes on in several copies until the round is decided. For lateness that comes from scheduling,
 * which draws its random numbers on the way; not for what is drawn when a round begins (a
 * computing time): for that see models/control/importance.h.
 */
#ifndef HVSIM_STUDY_RARE_RUN_H
#define HVSIM_STUDY_RARE_RUN_H

#include "experiments/study/study.h"
#include "sim/splitting.h"

struct rare_plan {
    size_t loop;                      /* of the roster */
    sim_time level[SPLITTING_LEVELS]; /* ascending */
    uint32_t levels, copies;          /* 1 copy: plain runs */
};

struct rare_level {
    struct interval share; /* of rounds, over the replications */
    uint64_t reached;      /* in all copies of all replications */
};

struct rare_outcome {
    size_t replications;
    uint64_t rounds, made, lost; /* rounds of the originals; copies; copies that came to nothing */
    struct rare_level level[SPLITTING_LEVELS];
};

/* Run all replications of a study's first variant, which was prepared. 0, or -1 with errors. */
int rare_run(const struct study *s, const struct rare_plan *p, struct rare_outcome *r,
             struct errors *e);

#endif
