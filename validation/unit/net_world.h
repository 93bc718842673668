/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small world for tests and benchmarks of the packet path, without SimGrid: one Xen machine with
 * dom0 and guests, one client machine, a wire between them. All costs are zero unless the caller
 * sets them (world.net, world.vif, ...) before world_start().
 */
#ifndef HVSIM_VALIDATION_NET_WORLD_H
#define HVSIM_VALIDATION_NET_WORLD_H

#include "models/hypervisor/costs.h"
#include "models/net/net.h"
#include "models/schedulers/scheduler.h"
#include "sim/error.h"
#include "workloads/client.h"
#include "workloads/lookbusy.h"
#include "workloads/programs.h"
#include "workloads/rpc.h"
#include "workloads/synthetic.h"

#include <stdlib.h>
#include <string.h>

enum { WORLD_GUESTS = 32 };

struct net_world {
    struct fleet fleet;
    struct machine xen, clients;
    struct host *host;
    struct host_net *net;
    struct client_host *client_host;
    struct guest *dom0, *guest[WORLD_GUESTS];
    uint32_t guests;
    bool exact; /* all costs zero */
    uint64_t seed;
    struct net_params net_params;
    struct vif_params vif_params;
    struct guest_costs guest_costs, dom0_costs;
};

static inline void world_arrival(struct machine *m, struct packet *p)
{
    struct net_world *w = m->model;

    host_net_receive(w->net, p);
}

static const struct machine_ops world_xen_ops = {.arrival = world_arrival};

/* Zero all costs of a parameter table: its durations, in nested objects too, but for those whose
 * name is an interval. */
static inline void world_zero_costs(const struct param_table *t, void *params)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct param *p = &t->row[i];
        char *field = (char *)params + p->offset;

        if (p->kind == PARAM_OBJECT)
            world_zero_costs(p->table, field);
        else if (p->kind == PARAM_DURATION)
            memset(field, 0, p->size);
    }
}

/* Machines, host, scheduler "credit" or another; dom0 of so many vCPUs comes with world_dom0. */
static inline void world_init(struct net_world *w, bool exact, const char *scheduler,
                              uint32_t pcpus)
{
    const struct sched_ops *ops = scheduler_by_name(scheduler);
    void *params = xcalloc(1, ops->params->size);
    struct cpupool *pool;

    memset(w, 0, sizeof *w);
    w->exact = exact;
    w->seed = 1;
    params_defaults(&net_table, &w->net_params);
    params_defaults(&vif_table, &w->vif_params);
    params_defaults(&guest_cost_table, &w->guest_costs);
    if (exact) {
        world_zero_costs(&net_table, &w->net_params);
        world_zero_costs(&vif_table, &w->vif_params);
        world_zero_costs(&guest_cost_table, &w->guest_costs);
        w->net_params.nic.moderation = MODERATION_NONE;
    }
    w->guest_costs.tick = 4 * NS_PER_MS;
    w->dom0_costs = w->guest_costs;
    fleet_init(&w->fleet);
    machine_init(&w->xen, NULL, &world_xen_ops, w);
    machine_init(&w->clients, NULL, &client_machine_ops, NULL);
    fleet_add(&w->fleet, &w->xen);
    fleet_add(&w->fleet, &w->clients);
    w->client_host = client_host_new(&w->clients);
    w->host = host_new(&w->xen.queue, "xen", pcpus, 1, 0, 0);
    if (!exact) {
        params_defaults(&host_cost_params, &w->host->costs);
        w->xen.line_rate = w->clients.line_rate = 1000000000;
    }
    params_defaults(ops->params, params);
    pool = host_add_pool(w->host, "Pool-0", ops, params, ops->params->size);
    free(params);
    for (uint32_t i = 0; i < pcpus; i++)
        pool_add_pcpu(pool, &w->host->pcpu[i]);
    host_settle(w->host);
}

static inline struct guest *world_domain(struct net_world *w, uint32_t id, const char *name,
                                         uint32_t vcpus, const struct guest_costs *costs)
{
    struct guest *g =
        guest_new(domain_create(w->host->pool[0], id, name, DEFAULT_WEIGHT, 0), vcpus);

    g->costs = *costs;
    for (uint32_t i = 0; i < vcpus; i++)
        guest_add_vcpu(g);
    return g;
}

/* dom0 and the network, after w->net_params are as wanted. */
static inline void world_dom0(struct net_world *w, uint32_t vcpus)
{
    w->dom0 = world_domain(w, 0, "dom0", vcpus, &w->dom0_costs);
    w->net = host_net_new(&w->xen, w->dom0, &w->net_params);
}

/* A guest with a network as vif_params say. */
static inline struct stack *world_guest(struct net_world *w, uint32_t vcpus)
{
    struct guest *g = world_domain(w, w->guests + 1, "guest", vcpus, &w->guest_costs);

    w->guest[w->guests++] = g;
    return host_net_add_guest(w->net, g, &w->vif_params);
}

static inline struct thread *world_program(struct stack *st, struct guest *g, const char *name,
                                           const char *setting, uint32_t connections)
{
    const struct program *program = program_by_name(name);
    struct program_site site = {.guest = g,
                                .class = CLASS_NORMAL,
                                .entity = name,
                                .seed = 1,
                                .stack = st,
                                .connections = connections};
    struct errors e = ERRORS_NONE;
    struct json *doc = json_parse(name, setting, strlen(setting), &e);
    struct thread *t;
    void *params;

    if (!doc || !program)
        BUG("%s: %s", name, e.count ? e.item[0].text : "no such program");
    params = program->params ? xcalloc(1, program->params->size) : NULL;
    if (params && params_read(program->params, json_root(doc), params, &e))
        BUG("%s", e.item[0].text);
    t = program_start(program, params, &site);
    if (params)
        params_free(program->params, params);
    free(params);
    json_free(doc);
    return t;
}

/* A client with the parameters of a JSON object; *params must live as long as the client. */
static inline struct client *world_client(struct net_world *w, struct client_params *params,
                                          const char *text, const char *entity, struct stack *st,
                                          uint16_t port)
{
    struct errors e = ERRORS_NONE;
    struct json *doc = json_parse(entity, text, strlen(text), &e);
    struct client *c;

    if (!doc || params_read(&client_table, json_root(doc), params, &e))
        BUG("%s", e.item[0].text);
    json_free(doc);
    c = client_new(w->client_host, params, entity, w->seed, 0);
    client_target(c, &w->xen, st->endpoint, port, 0);
    return c;
}

static inline void world_start(struct net_world *w, sim_time latency)
{
    path_set(fleet_connect(&w->xen, &w->clients), latency, 0);
    path_set(fleet_connect(&w->clients, &w->xen), latency, 0);
    fleet_rewire(&w->fleet);
    for (uint32_t i = 0; i < w->host->vcpu_count; i++)
        vcpu_start(w->host->vcpu[i]);
    host_settle(w->host);
}

static inline void world_free(struct net_world *w)
{
    host_net_free(w->net);
    client_host_free(w->client_host);
    guest_free(w->dom0);
    for (uint32_t i = 0; i < w->guests; i++)
        guest_free(w->guest[i]);
    host_free(w->host);
    fleet_free(&w->fleet);
    machine_free(&w->xen);
    machine_free(&w->clients);
}

#endif
