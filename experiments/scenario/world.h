/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a scenario to a world that can run: machines on a fleet, hosts, pools, domains, guests,
 * programs, clients, the timeline. Everything in it is named by the roster and every random stream
 * is keyed by such a name, so a world depends on scenario, seed and replication alone.
 *
 *     world_new     machines and who sends to whom: enough for platform_probe()
 *     platform_bind (or path_set, without SimGrid)
 *     world_build   everything that lives on the machines
 *     ... run ...
 *     world_close   ends the measurements
 */
#ifndef HVSIM_SCENARIO_WORLD_H
#define HVSIM_SCENARIO_WORLD_H

#include "experiments/scenario/meter.h"
#include "experiments/scenario/roster.h"
#include "experiments/scenario/world_control.h"
#include "sim/faults.h"
#include "workloads/programs.h"

struct world;
struct world_host;

struct world_domain {
    const struct roster_domain *roster;
    struct world_host *host;
    struct domain *domain; /* NULL while the host is off */
    struct guest *guest;
    struct stack *stack;     /* NULL: no network */
    struct vbd *vbd;         /* NULL: no disk */
    struct thread **program; /* the first of each */
    size_t programs;
    struct program_counts work; /* of programs that have ended with their host, all together */
    uint64_t disk_bytes;        /* read and written in the measured time, likewise */
    struct vcpu_start *start;   /* NULL before it is created */
    uint32_t connections;       /* of all clients it serves */
    sim_time created;           /* when an action creates it; 0: it is there from the beginning */
};

struct world_host {
    const struct roster_host *roster;
    struct world *world;
    struct machine machine;
    struct host *host; /* NULL while it is off */
    struct host_net *net;
    struct host_block *block;
    struct world_domain *domain; /* the first of its domains */
    struct meter meter;
    char **text; /* names that others keep */
    size_t texts;
    struct wake_list **wake;
    size_t wakes;
    char *fault;     /* a rule that its scheduler broke; NULL: none */
    sim_time asleep; /* measured time during which it was off */
};

/* A machine that clients share. */
struct world_load {
    const char *on;
    struct machine machine;
    struct client_host *host;
};

/* A server of a client. */
struct world_target {
    struct world_domain *server;
    uint16_t port;
    uint32_t slot; /* the client's first connection's number there */
};

struct world_client {
    const struct roster_client *roster;
    struct world_load *load;
    struct client *client;
    struct stream *stream; /* NULL: it sends requests */
    struct world_target *target;
    size_t targets;
};

struct world {
    const struct scenario *scenario;
    const struct roster *roster;
    uint64_t seed, replication;
    sim_time up;          /* hosts are up and domains created */
    sim_time from, until; /* measured */
    sim_time end;         /* of the run */
    struct fleet fleet;
    struct timeline timeline;
    struct world_host *host;
    struct world_domain *domain;
    struct world_load *load;
    size_t loads;
    struct world_client *client;
    struct world_loop *loop;
    struct controller_site *site; /* by domain */
};

struct world *world_new(const struct scenario *s, const struct roster *r, uint64_t seed,
                        uint64_t replication);

/* 0, or -1 with errors (actions whose target is not there). */
int world_build(struct world *w, struct errors *e);

/* The run is over, at w->end. 0, or -1 when a scheduler broke a rule. */
int world_close(struct world *w, struct errors *e);

void world_free(struct world *w);

/* By name; without one the first. NULL: none of that name. */
struct world_host *world_find_host(struct world *w, const char *name);

/* ---- between the files of the world --------------------------------------------------------- */

/* Bring the Xen host up on its machine: at the start (boot 0), or after a reboot at that date. */
void world_host_boot(struct world_host *wh, sim_time boot);
void world_host_shutdown(struct world_host *wh);

/* xl create: now, unless it is there or was. Its vCPUs start as they do after a boot. */
void world_domain_create(struct world_domain *wd);
extern const struct machine_ops world_host_ops;

#endif
