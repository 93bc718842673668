/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A replica on a machine of its own: no hypervisor, but an operating system whose jitter delays
 * each round's computation. A failure of the host takes the replica with it; after a reboot it
 * begins anew.
 */
#ifndef HVSIM_CONTROL_NODE_H
#define HVSIM_CONTROL_NODE_H

#include "models/control/replica.h"

struct node_params {
    struct compute_params compute;
    struct distribution jitter; /* from the measurement's arrival to the computation's start, ns */
};

extern const struct param_table node_table;

struct control_node {
    struct machine *machine;
    const struct control_loop *loop;
    const struct node_params *params;
    char *name;
    uint32_t index;
    struct replica_counts *counts;
    struct replica replica;
    struct timer work, wait;
    bool busy;
    sim_time off; /* its host went off then; -1: it is up */
    struct rng jitter, path;
};

/* Becomes m->model; m's ops must be control_node_ops. The rest is kept by reference, name copied.
 * `start`: the date from which it is up. */
struct control_node *control_node_new(struct machine *m, const struct control_loop *loop,
                                      uint32_t index, const struct node_params *params,
                                      struct replica_counts *counts, const char *name,
                                      sim_time start);

/* The run is over. */
void control_node_close(struct control_node *n, sim_time now);
void control_node_free(struct control_node *n);
extern const struct machine_ops control_node_ops;

#endif
