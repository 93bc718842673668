/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scenario files: what is simulated, by whom asked and for how long. One table per kind of object
 * (scenario.c, scenario_host.c); reading, all checks, resolved output, JSON Schema and
 * documentation come from them. What concerns more than one object is checked in scenario_check.c.
 *
 * Names. Hosts and clients have names of their own; domains have names within their host. "count"
 * makes NAME1, NAME2, ...: each is one like any other, with random streams of its own.
 */
#ifndef HVSIM_SCENARIO_SCENARIO_H
#define HVSIM_SCENARIO_SCENARIO_H

#include "experiments/scenario/scenario_control.h"
#include "experiments/scenario/wake_list.h"
#include "models/block/block.h"
#include "models/guest/guest.h"
#include "models/hypervisor/hypervisor.h"
#include "models/net/net.h"
#include "sim/config.h"
#include "sim/machine.h"
#include "workloads/client.h"
#include "workloads/ping.h"
#include "workloads/stream.h"

/* ---- what a file says ---------------------------------------------------------------------- */

struct program_spec {
    struct param_variant run; /* choice->user: const struct program * */
    char *name;               /* NULL: the program's */
    int vcpu;                 /* -1: one thread on each */
    int class, priority;
    struct param_list events; /* struct wake_spec */
};

/* Exceptions for some vCPUs of a domain. */
struct vcpu_spec {
    cpumask vcpus, hard, soft;
    struct param_variant set; /* choice->user: const struct sched_ops *; used if it is the pool's */
};

struct domain_spec {
    char *name;
    int64_t count, vcpus, weight, cap;
    cpumask hard, soft;
    char *pool; /* NULL: the first */
    sim_time start, start_spread;
    struct guest_costs costs;
    struct vif_params *network; /* NULL: none */
    struct vbd_params *disk;    /* NULL: none */
    struct param_list programs; /* struct program_spec */
    struct param_list per_vcpu; /* struct vcpu_spec */
    struct param_variant set; /* choice->user: const struct sched_ops *; used if it is the pool's */
};

struct pool_spec {
    char *name;
    cpumask cpus;
    struct param_variant scheduler; /* no choice: the host's */
    sim_time overhead;
};

struct host_spec {
    char *name, *on; /* on: host of the platform; NULL: the same name */
    int64_t count;
    int xen;       /* index of xen_versions */
    int64_t pcpus; /* 0: as many as the platform's host has cores */
    int64_t threads_per_core, cores_per_socket, sockets_per_node;
    struct param_list speeds; /* int64_t per cent: none, one for all, or one each */
    sim_time boot_spread;
    struct host_costs costs;
    struct param_variant scheduler; /* choice->user: const struct sched_ops * */
    struct param_list pools;        /* struct pool_spec; none: Pool-0 of all pCPUs */
    int64_t line_rate;              /* of its NIC; 0: what the platform's links say */
    struct net_params network;
    struct block_params block;
    struct domain_spec *dom0;  /* NULL: none */
    struct param_list domains; /* struct domain_spec */
};

struct client_spec {
    char *name, *on; /* on: host of the platform; NULL: the same name */
    int64_t count;
    char *to;               /* "host/domain" or "domain" */
    int64_t port;           /* 0: of the domain's only server */
    struct param_list also; /* char *: further domains, for fan-out */
    sim_time start, start_spread;
    struct client_params load;
    struct stream_params *stream; /* instead of the load; NULL: none */
    struct ping_params *ping;     /* likewise */
};

struct action_spec {
    sim_time at, every;       /* every 0: once */
    struct param_variant act; /* choice->user: const struct action_kind * */
    char *target;
};

/* Random failures of a host: an alternating renewal process. */
struct outage_spec {
    char *host; /* of the platform */
    sim_time mttf, mttr;
    double up_shape, down_shape;
};

struct scenario {
    char *title, *question;
    int64_t seed, replications;
    int64_t confidence; /* percent, 1e-9 */
    sim_time warmup, duration, drain;
    char *platform; /* as written */
    int network;    /* enum fleet_network */
    bool exact;
    struct param_list hosts;      /* struct host_spec */
    struct param_list clients;    /* struct client_spec */
    struct param_list loops;      /* struct loop_spec */
    struct param_list actions;    /* struct action_spec */
    struct param_list outages;    /* struct outage_spec */
    struct param_list calibrated; /* char *: pointers into the scenario */

    /* Found while reading. */
    char *platform_file; /* a path that can be opened */
};

extern const struct config_format scenario_format;
extern const enum xen_version xen_versions[];

/* ---- reading ------------------------------------------------------------------------------- */

/* A document (which is only read) as a scenario. `dir` is where files it names are looked for. NULL
 * with all errors found, syntax apart. */
struct scenario *scenario_read(const struct json *doc, const char *dir, struct errors *e);
void scenario_free(struct scenario *s);

/* Directory of a path, "." if it has none; caller frees. */
char *directory_of(const char *path);

/* Check what concerns several objects; called by scenario_read. `doc` must be what was read. */
int scenario_check(const struct scenario *s, const struct json *doc, struct errors *e);

/* Number of pCPUs is known only once the platform is: checks that need it, for hosts without
 * "pcpus". */
int scenario_check_pcpus(const struct scenario *s, const struct json *doc, struct errors *e);

/* With "exact": refuse costs that are given; set all of them to zero. */
int scenario_check_exact(const struct scenario *s, const struct json *doc, struct errors *e);
void scenario_apply_exact(struct scenario *s);

/* ---- elements ------------------------------------------------------------------------------ */

#define SPEC_AT(list, type, i) (&((type *)(list).item)[i])

static inline struct host_spec *scenario_host(const struct scenario *s, size_t i)
{
    return SPEC_AT(s->hosts, struct host_spec, i);
}

static inline struct domain_spec *host_domain(const struct host_spec *h, size_t i)
{
    return SPEC_AT(h->domains, struct domain_spec, i);
}

static inline struct pool_spec *host_pool(const struct host_spec *h, size_t i)
{
    return SPEC_AT(h->pools, struct pool_spec, i);
}

static inline struct program_spec *domain_program(const struct domain_spec *d, size_t i)
{
    return SPEC_AT(d->programs, struct program_spec, i);
}

static inline struct vcpu_spec *domain_exception(const struct domain_spec *d, size_t i)
{
    return SPEC_AT(d->per_vcpu, struct vcpu_spec, i);
}

static inline struct client_spec *scenario_client(const struct scenario *s, size_t i)
{
    return SPEC_AT(s->clients, struct client_spec, i);
}

static inline struct loop_spec *scenario_loop(const struct scenario *s, size_t i)
{
    return SPEC_AT(s->loops, struct loop_spec, i);
}

static inline struct outage_spec *scenario_outage(const struct scenario *s, size_t i)
{
    return SPEC_AT(s->outages, struct outage_spec, i);
}

static inline struct action_spec *scenario_action(const struct scenario *s, size_t i)
{
    return SPEC_AT(s->actions, struct action_spec, i);
}

/* The k-th of `count` things of that name; caller frees. */
char *counted_name(const char *name, int64_t count, int64_t k);

/* The port of a program that serves. */
int64_t program_port(const struct program_spec *p);

/* ---- tables used by others ------------------------------------------------------------------ */

extern const struct param_table host_table;
extern const struct param_choices scheduler_choices, scheduler_domain_choices,
    scheduler_vcpu_choices, program_choices, action_choices;

#endif
