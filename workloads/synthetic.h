/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that only use the CPU, sleep, wait for events and yield: CPU hogs, lookbusy, periodic
 * tasks, and the behaviours of the reference schedules (docs/models/workloads.md).
 */
#ifndef HVSIM_WORKLOADS_SYNTHETIC_H
#define HVSIM_WORKLOADS_SYNTHETIC_H

#include "models/guest/guest.h"

/* Computes without end. Events sent to it change nothing. */
extern const struct program program_hog;

/* Computes, sleeps, and so on for ever. */
struct burst_sleep_params {
    sim_time compute, sleep;
};
extern const struct program program_burst_sleep;

/* Computes, then sleeps until the next start + phase + k * period strictly after now. */
struct periodic_params {
    sim_time compute, period, phase, start;
    bool deferrable; /* ... and then until the guest's next tick */
};
extern const struct program program_periodic;

/* Waits for an event (a flag, not a counter: consumed when the wait returns), computes. */
struct server_params {
    sim_time compute;
    bool observe_done; /* make a DONE record at the end of each service */
};
extern const struct program program_server;

/* Computes, yields its pCPU, and so on for ever. */
struct yielder_params {
    sim_time compute;
};
extern const struct program program_yielder;

/* A list of operations, for ever. SCRIPT_PERIOD sleeps until the next start + k * arg. */
enum script_kind {
    SCRIPT_COMPUTE,
    SCRIPT_SLEEP,
    SCRIPT_PERIOD,
    SCRIPT_WAIT,
    SCRIPT_YIELD,
    SCRIPT_JUMP
};
struct script_op {
    enum script_kind kind;
    sim_time arg; /* SCRIPT_JUMP: index of the next operation */
};
struct script_params {
    const struct script_op *op; /* the caller's, kept */
    uint32_t count;
    sim_time start;
    bool observe_done; /* a DONE record at the end of the first compute after each wait */
};
extern const struct program program_script;

#endif
