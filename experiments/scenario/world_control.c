/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/world.h"

#include <stdlib.h>
#include <string.h>

static const struct roster_replica *replica_of(const struct world_loop *wl, const struct roster *r,
                                               uint32_t i)
{
    return &r->replica[wl->roster->first_replica + i];
}

static struct machine *replica_machine(struct world *w, struct world_loop *wl, uint32_t i)
{
    const struct roster_replica *p = replica_of(wl, w->roster, i);

    return p->domain == SIZE_MAX ? &wl->node[i].machine : &w->domain[p->domain].host->machine;
}

static struct machine *agent_machine(struct world *w, struct world_loop *wl)
{
    return wl->roster->on ? &wl->machine : &w->domain[wl->roster->domain].host->machine;
}

/* ---- machines -------------------------------------------------------------------------------- */

static void connect_both(struct machine *a, struct machine *b)
{
    if (a == b)
        return;
    fleet_connect(a, b);
    fleet_connect(b, a);
}

static void connect_loop(struct world *w, struct world_loop *wl)
{
    const struct control_params *c = &wl->roster->spec->control;
    uint32_t g = (uint32_t)wl->roster->replicas;

    for (uint32_t i = 0; i < g; i++)
        connect_both(agent_machine(w, wl), replica_machine(w, wl, i));
    if (!c->agreement.on && c->mode != CONTROL_PASSIVE)
        return;
    for (uint32_t i = 0; i < g; i++)
        for (uint32_t k = i + 1; k < g; k++)
            connect_both(replica_machine(w, wl, i), replica_machine(w, wl, k));
}

static void add_loop(struct world *w, struct world_loop *wl)
{
    if (wl->roster->on) {
        machine_init(&wl->machine, wl->roster->on, &agent_machine_ops, NULL);
        fleet_add(&w->fleet, &wl->machine);
    }
    wl->node = xcalloc(wl->roster->replicas, sizeof *wl->node);
    for (uint32_t i = 0; i < wl->roster->replicas; i++) {
        const struct roster_replica *p = replica_of(wl, w->roster, i);

        if (p->domain != SIZE_MAX)
            continue;
        machine_init(&wl->node[i].machine, p->name, &control_node_ops, NULL);
        fleet_add(&w->fleet, &wl->node[i].machine);
    }
    connect_loop(w, wl);
}

void world_add_loops(struct world *w)
{
    const struct roster *r = w->roster;

    w->loop = xcalloc(r->loops, sizeof *w->loop);
    for (size_t i = 0; i < r->loops; i++) {
        w->loop[i].roster = &r->loop[i];
        add_loop(w, &w->loop[i]);
    }
}

/* ---- what lives on them ---------------------------------------------------------------------- */

/* The date of its first round. */
static sim_time start_of(const struct world *w, const struct loop_spec *spec)
{
    sim_time start = spec->start > w->up ? spec->start : w->up;
    struct rng rng;

    rng_init(&rng, w->seed, w->replication, spec->name, "start");
    return start + (sim_time)rng_below(&rng, (uint64_t)spec->start_spread + 1);
}

void world_prepare_loops(struct world *w)
{
    const struct roster *r = w->roster;

    w->site = xcalloc(r->domains, sizeof *w->site);
    for (size_t i = 0; i < r->loops; i++) {
        struct world_loop *wl = &w->loop[i];
        const struct loop_spec *spec = wl->roster->spec;

        wl->loop = (struct control_loop){.params = &spec->control,
                                         .name = spec->name,
                                         .seed = w->seed,
                                         .replication = w->replication,
                                         .start = start_of(w, spec),
                                         .from = w->from,
                                         .until = w->until,
                                         .replicas = (uint32_t)wl->roster->replicas};
        if (spec->plant.data)
            wl->plant = *(const struct plant_params *)spec->plant.data;
        wl->plant.kind = plant_choice_kind(spec->plant.choice);
        for (uint32_t k = 0; k < wl->roster->replicas; k++) {
            size_t domain = replica_of(wl, r, k)->domain;

            if (domain != SIZE_MAX)
                w->site[domain] = (struct controller_site){&wl->loop, k, &wl->counts[k]};
        }
    }
}

const struct controller_site *world_controller_site(const struct world *w, size_t domain)
{
    return w->site[domain].loop ? &w->site[domain] : NULL;
}

/* The port of a domain's controller. */
static uint32_t controller_port(const struct domain_spec *d)
{
    for (size_t i = 0; i < d->programs.count; i++)
        if (domain_program(d, i)->run.choice->user == &program_controller)
            return (uint32_t)program_port(domain_program(d, i));
    BUG("a replica's domain has no controller");
}

static struct control_end replica_end(struct world *w, struct world_loop *wl, uint32_t i)
{
    const struct roster_replica *p = replica_of(wl, w->roster, i);
    struct control_end end = {.machine = replica_machine(w, wl, i)};

    if (p->domain != SIZE_MAX) {
        const struct world_domain *wd = &w->domain[p->domain];

        end.address = net_address(wd->stack->endpoint, controller_port(wd->roster->spec));
    }
    return end;
}

static void attach_agent(struct world *w, struct world_loop *wl)
{
    struct world_domain *wd = &w->domain[wl->roster->domain];

    agent_in_guest(&wl->agent, &wd->guest->vcpu[0], wd->stack, (uint16_t)wl->roster->spec->port);
}

static void build_loop(struct world *w, struct world_loop *wl)
{
    struct control_loop *l = &wl->loop;

    l->agent.machine = agent_machine(w, wl);
    if (!wl->roster->on)
        l->agent.address = net_address(w->domain[wl->roster->domain].stack->endpoint,
                                       (uint32_t)wl->roster->spec->port);
    for (uint32_t i = 0; i < l->replicas; i++)
        l->replica[i] = replica_end(w, wl, i);
    agent_init(&wl->agent, l, &wl->plant, w->from, w->until, w->end);
    wl->agent_there = true;
    if (wl->roster->on)
        agent_on_machine(&wl->agent, &wl->machine);
    else
        attach_agent(w, wl);
    for (uint32_t i = 0; i < l->replicas; i++) {
        const struct roster_replica *p = replica_of(wl, w->roster, i);

        if (p->domain == SIZE_MAX)
            wl->node[i].node = control_node_new(&wl->node[i].machine, l, i, p->node, &wl->counts[i],
                                                p->name, w->up);
    }
}

void world_build_loops(struct world *w)
{
    for (size_t i = 0; i < w->roster->loops; i++)
        build_loop(w, &w->loop[i]);
}

void world_loops_host_up(struct world_host *wh)
{
    struct world *w = wh->world;

    for (size_t i = 0; i < w->roster->loops; i++) {
        struct world_loop *wl = &w->loop[i];

        if (wl->agent_there && !wl->roster->on && w->domain[wl->roster->domain].host == wh)
            attach_agent(w, wl);
    }
}

void world_close_loops(struct world *w)
{
    for (size_t i = 0; i < w->roster->loops; i++) {
        struct world_loop *wl = &w->loop[i];

        agent_close(&wl->agent, w->end);
        loop_measures_init(&wl->measures, &wl->agent);
        for (uint32_t k = 0; k < wl->loop.replicas; k++)
            if (wl->node[k].node)
                control_node_close(wl->node[k].node, w->end);
    }
}

void world_free_loops(struct world *w)
{
    for (size_t i = 0; i < w->roster->loops; i++) {
        struct world_loop *wl = &w->loop[i];

        loop_measures_free(&wl->measures);
        if (wl->agent_there)
            agent_free(&wl->agent);
        for (uint32_t k = 0; k < wl->roster->replicas; k++)
            if (wl->node[k].node)
                control_node_free(wl->node[k].node);
    }
}
