/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/world.h"

#include "experiments/scenario/actions.h"
#include "sim/wire.h"
#include "workloads/programs.h"

#include <stdlib.h>
#include <string.h>

/* Domains are created then, at the earliest; as in the reference schedules. */
#define UP_LEAST NS_PER_MS

/* ---- machines -------------------------------------------------------------------------------- */

static void add_hosts(struct world *w)
{
    const struct roster *r = w->roster;

    w->host = xcalloc(r->hosts, sizeof *w->host);
    w->domain = xcalloc(r->domains, sizeof *w->domain);
    for (size_t i = 0; i < r->hosts; i++) {
        struct world_host *wh = &w->host[i];

        wh->roster = &r->host[i];
        wh->world = w;
        wh->domain = &w->domain[wh->roster->first_domain];
        machine_init(&wh->machine, wh->roster->on, &world_host_ops, wh);
        wh->machine.line_rate = wh->roster->spec->line_rate;
        fleet_add(&w->fleet, &wh->machine);
    }
    for (size_t i = 0; i < r->domains; i++) {
        w->domain[i].roster = &r->domain[i];
        w->domain[i].host = &w->host[r->domain[i].host];
    }
}

/* Which domains are created by an action, and when. */
static void note_created(struct world *w)
{
    for (size_t i = 0; i < w->scenario->actions.count; i++) {
        const struct action_spec *a = scenario_action(w->scenario, i);
        const struct roster_domain *d;
        bool several;

        if (!a->act.choice || !action_creates(a->act.choice->user))
            continue;
        d = roster_find(w->roster, a->target, &several);
        if (d)
            w->domain[d - w->roster->domain].created = a->at;
    }
}

static struct world_load *load_on(struct world *w, const char *on)
{
    for (size_t i = 0; i < w->loads; i++)
        if (!strcmp(w->load[i].on, on))
            return &w->load[i];
    w->load[w->loads].on = on;
    return &w->load[w->loads++];
}

/* The port of the server that a client means. */
static uint16_t port_of(const struct client_spec *c, const struct domain_spec *d)
{
    for (size_t i = 0; i < d->programs.count && !c->port; i++) {
        const struct program_spec *p = domain_program(d, i);

        if (program_serves(p->run.choice->user))
            return (uint16_t)program_port(p);
    }
    return (uint16_t)c->port;
}

static void add_target(struct world *w, struct world_client *wc, const char *to)
{
    const struct client_spec *spec = wc->roster->spec;
    struct world_target *t = &wc->target[wc->targets++];
    bool several;

    t->server = &w->domain[roster_find(w->roster, to, &several) - w->roster->domain];
    t->port = spec->ping ? PORT_ECHO : port_of(spec, t->server->roster->spec);
    t->slot = t->server->connections;
    if (!spec->stream && !spec->ping)
        t->server->connections += (uint32_t)spec->load.connections;
}

static void add_clients(struct world *w)
{
    const struct roster *r = w->roster;

    w->client = xcalloc(r->clients, sizeof *w->client);
    w->load = xcalloc(r->clients, sizeof *w->load); /* at most; their addresses must not change */
    for (size_t i = 0; i < r->clients; i++) {
        struct world_client *wc = &w->client[i];
        const struct client_spec *spec = r->client[i].spec;

        wc->roster = &r->client[i];
        wc->load = load_on(w, wc->roster->on);
        wc->target = xcalloc(1 + spec->also.count, sizeof *wc->target);
        add_target(w, wc, spec->to);
        for (size_t k = 0; k < spec->also.count; k++)
            add_target(w, wc, *SPEC_AT(spec->also, char *, k));
    }
    for (size_t i = 0; i < w->loads; i++) {
        machine_init(&w->load[i].machine, w->load[i].on, &client_machine_ops, NULL);
        fleet_add(&w->fleet, &w->load[i].machine);
    }
    for (size_t i = 0; i < r->clients; i++)
        for (size_t k = 0; k < w->client[i].targets; k++) {
            struct machine *client = &w->client[i].load->machine;
            struct machine *server = &w->client[i].target[k].server->host->machine;

            fleet_connect(client, server);
            fleet_connect(server, client);
        }
}

static sim_time up_date(const struct scenario *s)
{
    sim_time up = UP_LEAST;

    for (size_t i = 0; i < s->hosts.count; i++)
        if (!s->exact && scenario_host(s, i)->boot_spread > up)
            up = scenario_host(s, i)->boot_spread;
    return up;
}

struct world *world_new(const struct scenario *s, const struct roster *r, uint64_t seed,
                        uint64_t replication)
{
    struct world *w = xcalloc(1, sizeof *w);

    w->scenario = s;
    w->roster = r;
    w->seed = seed;
    w->replication = replication;
    w->up = up_date(s);
    w->from = s->warmup;
    w->until = s->warmup + s->duration;
    w->end = w->until + (r->clients || r->loops ? s->drain : 0);
    fleet_init(&w->fleet);
    w->fleet.network = (enum fleet_network)s->network;
    timeline_init(&w->timeline);
    timeline_register(&w->timeline, domain_actions);
    add_hosts(w);
    note_created(w);
    add_clients(w);
    world_add_loops(w);
    return w;
}

/* ---- what lives on them ---------------------------------------------------------------------- */

/* The other end of a stream runs beside the domain's programs. */
static void build_stream(struct world_client *wc, sim_time start)
{
    struct world_domain *server = wc->target->server;
    const struct world *w = server->host->world;
    struct program_site site = {.guest = server->guest,
                                .class = CLASS_NORMAL,
                                .entity = wc->roster->name,
                                .seed = w->seed,
                                .replication = w->replication,
                                .stack = server->stack};

    wc->stream = stream_new(wc->load->host, wc->roster->spec->stream, &server->host->machine,
                            server->stack->endpoint);
    stream_serve(wc->stream, &site);
    stream_start(wc->stream, start, w->from, w->until);
}

static void build_client(struct world_client *wc)
{
    struct world *w = wc->target->server->host->world;
    const struct client_spec *spec = wc->roster->spec;
    sim_time start = spec->start > w->up ? spec->start : w->up;
    struct client_params load = spec->load;
    struct rng rng;

    if (!wc->load->host)
        wc->load->host = client_host_new(&wc->load->machine);
    if (spec->ping)
        load = ping_client(spec->ping);
    wc->client = client_new(wc->load->host, &load, wc->roster->name, w->seed, w->replication);
    rng_init(&rng, w->seed, w->replication, wc->roster->name, "start");
    start += (sim_time)rng_below(&rng, (uint64_t)spec->start_spread + 1);
    if (spec->stream) { /* the client itself then does nothing, and has measured nothing */
        build_stream(wc, start);
        return;
    }
    for (size_t i = 0; i < wc->targets; i++) {
        const struct world_target *t = &wc->target[i];

        client_target(wc->client, &t->server->host->machine, t->server->stack->endpoint, t->port,
                      t->slot);
    }
    client_start(wc->client, start, w->from, w->until);
}

static int add_actions(struct world *w, struct errors *e)
{
    const struct scenario *s = w->scenario;
    size_t before = e->count;

    for (size_t i = 0; i < s->actions.count; i++) {
        const struct action_spec *a = scenario_action(s, i);

        for (sim_time at = a->at; at == a->at || at < w->until; at += a->every) {
            timeline_add(&w->timeline, at, a->act.choice->name, a->target, a->act.data, e);
            if (!a->every || e->count > before)
                break;
        }
    }
    for (size_t i = 0; i < s->outages.count; i++) {
        const struct outage_spec *o = scenario_outage(s, i);
        const struct renewal r = {o->mttf, o->mttr, o->up_shape, o->down_shape};

        timeline_draw_outages(&w->timeline, o->host, &r, w->seed, w->replication, w->until, e);
    }
    return e->count > before ? -1 : timeline_bind(&w->timeline, &w->fleet, w, e);
}

/* Groups of a host are consecutive in the roster; the meter numbers them from 0. */
static void init_meter(struct world_host *wh)
{
    const struct roster_host *h = wh->roster;
    size_t first = h->domains ? wh->domain[0].roster->group : 0;
    size_t last = h->domains ? wh->domain[h->domains - 1].roster->group : 0;
    uint32_t ids = h->domains ? wh->domain[h->domains - 1].roster->id + 1 : 1;

    meter_init(&wh->meter, ids, (uint32_t)(last - first + 1), wh->world->from, wh->world->until);
    for (size_t i = 0; i < h->domains; i++)
        wh->meter.use[wh->domain[i].roster->id].group =
            (uint32_t)(wh->domain[i].roster->group - first);
}

int world_build(struct world *w, struct errors *e)
{
    world_prepare_loops(w);
    for (size_t i = 0; i < w->roster->hosts; i++) {
        init_meter(&w->host[i]);
        world_host_boot(&w->host[i], 0);
    }
    for (size_t i = 0; i < w->roster->clients; i++)
        build_client(&w->client[i]);
    world_build_loops(w);
    return add_actions(w, e);
}

int world_close(struct world *w, struct errors *e)
{
    size_t before = e->count;

    world_close_loops(w);
    for (size_t i = 0; i < w->roster->hosts; i++) {
        struct world_host *wh = &w->host[i];

        wh->machine.queue.now = w->end;
        world_host_shutdown(wh);
        if (wh->fault)
            error_add(e, EXIT_SHORT, "host %s: %s", wh->roster->name, wh->fault);
    }
    return e->count > before ? -1 : 0;
}

void world_free(struct world *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->roster->hosts; i++) {
        world_host_shutdown(&w->host[i]);
        meter_free(&w->host[i].meter);
        free(w->host[i].fault);
    }
    for (size_t i = 0; i < w->loads; i++)
        if (w->load[i].host)
            client_host_free(w->load[i].host);
    world_free_loops(w);
    fleet_free(&w->fleet);
    for (size_t i = 0; i < w->roster->hosts; i++)
        machine_free(&w->host[i].machine);
    for (size_t i = 0; i < w->loads; i++)
        machine_free(&w->load[i].machine);
    for (size_t i = 0; i < w->roster->loops; i++) {
        if (w->loop[i].roster->on)
            machine_free(&w->loop[i].machine);
        for (size_t k = 0; k < w->roster->loop[i].replicas; k++)
            if (w->roster->replica[w->roster->loop[i].first_replica + k].domain == SIZE_MAX)
                machine_free(&w->loop[i].node[k].machine);
        free(w->loop[i].node);
    }
    free(w->loop);
    free(w->site);
    timeline_free(&w->timeline); /* its timers were in the machines' queues */
    free(w->host);
    free(w->domain);
    free(w->load);
    for (size_t i = 0; i < w->roster->clients; i++)
        free(w->client[i].target);
    free(w->client);
    free(w);
}

struct world_host *world_find_host(struct world *w, const char *name)
{
    for (size_t i = 0; i < w->roster->hosts; i++)
        if (!name || !strcmp(w->host[i].roster->name, name))
            return &w->host[i];
    return NULL;
}
