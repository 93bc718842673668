/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The roster: every host, domain and client of a scenario by its final name, "count" carried out.
 * Its order (that of the scenario; dom0 before a host's other domains) is that of machines in the
 * fleet, of domain ids and of results.
 */
#ifndef HVSIM_SCENARIO_ROSTER_H
#define HVSIM_SCENARIO_ROSTER_H

#include "experiments/scenario/scenario.h"

struct roster_host {
    const struct host_spec *spec;
    char *name, *on;
    size_t spec_index;
    size_t first_domain, domains; /* in roster.domain */
};

struct roster_domain {
    const struct domain_spec *spec;
    char *name; /* "dom0" for dom0 */
    size_t host;
    size_t spec_index; /* in the host's list; SIZE_MAX: dom0 */
    uint32_t id;       /* 0: dom0 */
    size_t group;      /* roster.group: all of one spec on one host */
};

/* Domains that one entry of a host's list stands for. */
struct roster_group {
    const char *name; /* of the entry */
    size_t host, first, domains;
};

struct roster_client {
    const struct client_spec *spec;
    char *name, *on;
    size_t spec_index;
};

/* One replica of a control loop. */
struct roster_replica {
    size_t loop;
    uint32_t index; /* in its loop */
    char *name;     /* "xen/f1", or the node's host */
    size_t domain;  /* SIZE_MAX: it is on a node */
    const struct node_params *node;
    size_t spec_index; /* in the loop's list */
};

struct roster_loop {
    const struct loop_spec *spec;
    const char *on; /* NULL: in a domain */
    size_t domain;  /* SIZE_MAX: on a machine of its own, or not found */
    size_t spec_index;
    size_t first_replica, replicas; /* in roster.replica */
};

struct roster {
    struct roster_host *host;
    struct roster_domain *domain;
    struct roster_group *group;
    struct roster_client *client;
    struct roster_loop *loop;
    struct roster_replica *replica;
    size_t hosts, domains, groups, clients, loops, replicas;
    uint32_t *by_name; /* domains sorted by name, then by number */
};

/* Entries without a name (not read because of errors) are left out. */
struct roster *roster_new(const struct scenario *s);
void roster_free(struct roster *r);

/* The domain that "domain" or "host/domain" names. NULL: there is none (*several false), or more
 * than one host has it (*several true). */
const struct roster_domain *roster_find(const struct roster *r, const char *text, bool *several);

/* The domains that "entry" or "host/entry", or a domain's own name, means. 0: none; *several:
 * entries of more than one host. */
size_t roster_find_group(const struct roster *r, const char *text, size_t *first, bool *several);

/* roster_loops.c, for roster_new and roster_free. Replicas that are not found are left out. */
void roster_add_loops(struct roster *r, const struct scenario *s);
void roster_free_loops(struct roster *r);

/* Machines in the platform, in the order of the fleet: hosts, clients (which may share one), agents
 * of loops, nodes. `pointer` is where the file names it (caller frees). */
size_t roster_machines(const struct roster *r);
const char *roster_machine(const struct roster *r, size_t i, char **pointer);

/* scenario_check_control.c, for scenario_check. */
int scenario_check_loops(const struct scenario *s, const struct roster *r, const struct json *doc,
                         struct errors *e);

#endif
