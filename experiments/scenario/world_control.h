/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control loops in a world: their machines, their programs, how they find each other. */
#ifndef HVSIM_SCENARIO_WORLD_CONTROL_H
#define HVSIM_SCENARIO_WORLD_CONTROL_H

#include "experiments/scenario/control_measures.h"
#include "experiments/scenario/roster.h"
#include "workloads/controller.h"

struct world;
struct world_host;

struct world_node {
    struct machine machine;
    struct control_node *node; /* NULL: this replica is in a domain */
};

struct world_loop {
    const struct roster_loop *roster;
    struct control_loop loop;
    struct plant_params plant;
    struct agent agent;
    bool agent_there;
    struct machine machine;  /* of an agent on its own */
    struct world_node *node; /* by replica */
    struct replica_counts counts[CONTROL_REPLICAS];
    struct loop_measures measures; /* once the world is closed */
};

/* Machines and who sends to whom; in world_new, after hosts and clients. */
void world_add_loops(struct world *w);

/* Loops' dates, before hosts boot; and what lives on their machines, after. */
void world_prepare_loops(struct world *w);
void world_build_loops(struct world *w);

/* Whose controller a domain is; NULL: nobody's. */
const struct controller_site *world_controller_site(const struct world *w, size_t domain);

/* A host is up again: agents that are programs on it begin anew. */
void world_loops_host_up(struct world_host *wh);

void world_close_loops(struct world *w);
void world_free_loops(struct world *w);

#endif
