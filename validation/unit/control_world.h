/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A control loop of nodes and an agent on wires of a fixed latency, for tests. */
#ifndef HVSIM_VALIDATION_CONTROL_WORLD_H
#define HVSIM_VALIDATION_CONTROL_WORLD_H

#include "models/control/agent.h"
#include "models/control/node.h"
#include "sim/error.h"
#include "sim/units.h"
#include "sim/wire.h"

#include <stdlib.h>
#include <string.h>

#define CW_LATENCY (10 * NS_PER_US)

struct control_world {
    struct control_params params;
    struct control_path path[CONTROL_PATHS];
    struct node_params node[CONTROL_REPLICAS];
    struct plant_params plant;
    struct control_loop loop;
    struct fleet fleet;
    struct machine field, machine[CONTROL_REPLICAS];
    struct agent agent;
    struct control_node *replica[CONTROL_REPLICAS];
    struct replica_counts counts[CONTROL_REPLICAS];
    char name[CONTROL_REPLICAS][16];
};

static inline struct distribution cw_constant(sim_time t)
{
    return dist_make(DIST_CONSTANT, (double)t, 0, 0);
}

/* Period 10 ms, valid for 5 ms, computing for 1 ms, no jitter; nothing runs yet. */
static inline void cw_init(struct control_world *w, uint32_t replicas)
{
    memset(w, 0, sizeof *w);
    w->params = (struct control_params){.period = 10 * NS_PER_MS,
                                        .horizon = 5 * NS_PER_MS,
                                        .give_up = 5,
                                        .votes = 1,
                                        .bytes = 125,
                                        .heartbeat = 10 * NS_PER_MS,
                                        .missed = 2,
                                        .sensors = {.count = 1, .jitter = cw_constant(0)}};
    w->plant.hold = true;
    w->loop = (struct control_loop){
        .params = &w->params, .name = "loop", .seed = 1, .start = NS_PER_MS, .replicas = replicas};
    for (uint32_t i = 0; i < replicas; i++) {
        w->node[i] = (struct node_params){.compute = {.time = cw_constant(NS_PER_MS),
                                                      .slow = cw_constant(0),
                                                      .repair = cw_constant(NS_PER_S)},
                                          .jitter = cw_constant(0)};
        snprintf(w->name[i], sizeof w->name[i], "node%u", i + 1);
    }
}

/* Build for so many rounds, all of them measured. */
static inline void cw_build(struct control_world *w, size_t rounds)
{
    sim_time end = w->loop.start + (sim_time)rounds * w->params.period;

    w->params.path = w->path;
    w->loop.until = end;
    fleet_init(&w->fleet);
    machine_init(&w->field, "field", &agent_machine_ops, NULL);
    fleet_add(&w->fleet, &w->field);
    w->loop.agent.machine = &w->field;
    for (uint32_t i = 0; i < w->loop.replicas; i++) {
        machine_init(&w->machine[i], w->name[i], &control_node_ops, NULL);
        fleet_add(&w->fleet, &w->machine[i]);
        w->loop.replica[i].machine = &w->machine[i];
    }
    fleet_connect_all(&w->fleet);
    for (uint32_t i = 0; i < w->fleet.count; i++)
        for (uint32_t k = 0; k < w->fleet.count; k++)
            if (i != k)
                path_set(machine_path(w->fleet.machine[i], w->fleet.machine[k]), CW_LATENCY, 0);
    fleet_rewire(&w->fleet);
    agent_init(&w->agent, &w->loop, &w->plant, 0, end, end + 6 * w->params.period);
    agent_on_machine(&w->agent, &w->field);
    for (uint32_t i = 0; i < w->loop.replicas; i++)
        w->replica[i] = control_node_new(&w->machine[i], &w->loop, i, &w->node[i], &w->counts[i],
                                         w->name[i], 0);
}

static inline void cw_run(struct control_world *w, size_t rounds)
{
    sim_time end = w->loop.start + (sim_time)(rounds + 5) * w->params.period;

    fleet_run_to(&w->fleet, end);
    agent_close(&w->agent, end);
}

static inline void cw_free(struct control_world *w)
{
    agent_free(&w->agent);
    for (uint32_t i = 0; i < w->loop.replicas; i++)
        control_node_free(w->replica[i]);
    fleet_free(&w->fleet);
    machine_free(&w->field);
    for (uint32_t i = 0; i < w->loop.replicas; i++)
        machine_free(&w->machine[i]);
}

static inline sim_time cw_delay(const struct control_world *w, size_t round, uint32_t replica)
{
    return w->agent.record.delay[round * w->loop.replicas + replica];
}

/* Measured rounds without an implemented setpoint. */
static inline size_t cw_unavailable(const struct control_world *w)
{
    const struct control_record *r = &w->agent.record;
    size_t n = 0;

    for (size_t k = r->first; k < r->end; k++)
        n += r->accepted[k] < 0;
    return n;
}

#endif
