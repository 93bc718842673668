/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs written in the scenario: a list of operations, repeated for ever (workloads/synthetic.h
 * runs them).
 *
 *     "ops": [["wait"], ["compute", "100us"], ["sleep", "2ms"], ["period", "10ms"], ["yield"],
 *             ["jump", 0]]
 */
#ifndef HVSIM_WORKLOADS_SCRIPT_H
#define HVSIM_WORKLOADS_SCRIPT_H

#include "workloads/programs.h"
#include "workloads/synthetic.h"

struct script_list {
    struct script_op *op; /* owned */
    uint32_t count;
};

struct script_config {
    struct script_list ops;
    sim_time start;
};

extern const struct program program_list;
struct thread *script_start(const void *params, const struct program_site *site);

#endif
