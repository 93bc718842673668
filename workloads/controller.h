/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A controller replica in a guest: waits for measurements, computes, sends setpoints; what it does
 * when is models/control/replica.h's affair. It pays for its system calls, and its computing is
 * done by the domain's vCPU, so that it is late when that vCPU has to wait.
 *
 * A controller that belongs to no loop waits for ever.
 */
#ifndef HVSIM_WORKLOADS_CONTROLLER_H
#define HVSIM_WORKLOADS_CONTROLLER_H

#include "models/control/replica.h"
#include "models/guest/guest.h"

struct controller_params {
    int64_t port;
    struct compute_params compute;
};
extern const struct program program_controller;

/* Whose replica a controller is. */
struct controller_site {
    const struct control_loop *loop;
    uint32_t index;
    struct replica_counts *counts;
};

/* The replica behind its thread, NULL if it belongs to no loop. */
const struct replica *controller_replica(const struct thread *t);

/* The end of the run, or of its host. */
void controller_close(struct guest *g, sim_time now);

#endif
