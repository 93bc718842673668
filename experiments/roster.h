/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The roster: every host, domain and client of a scenario by its final name, "count" carried out.
 * Its order (that of the scenario; dom0 before a host's other domains) is that of machines in the
 * fleet, of domain ids and of results.
 */
#ifndef HVSIM_EXPERIMENTS_ROSTER_H
#define HVSIM_EXPERIMENTS_ROSTER_H

#include "experiments/scenario.h"

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

struct roster {
    struct roster_host *host;
    struct roster_domain *domain;
    struct roster_group *group;
    struct roster_client *client;
    size_t hosts, domains, groups, clients;
    uint32_t *by_name; /* domains sorted by name, then by number */
};

/* Entries without a name (not read because of errors) are left out. */
struct roster *roster_new(const struct scenario *s);
void roster_free(struct roster *r);

/* The domain that "domain" or "host/domain" names. NULL: there is none (*several false), or more
 * than one host has it (*several true). */
const struct roster_domain *roster_find(const struct roster *r, const char *text, bool *several);

#endif
