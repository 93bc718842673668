/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The "control" part of scenario files: replicated control loops. */
#ifndef HVSIM_SCENARIO_SCENARIO_CONTROL_H
#define HVSIM_SCENARIO_SCENARIO_CONTROL_H

#include "models/control/agent.h"
#include "models/control/node.h"
#include "sim/params.h"

enum replica_place { REPLICA_IN_DOMAIN, REPLICA_ON_NODE };

/* "type": "domain": an entry of a host's domains, or one domain, with a controller in it. */
struct replica_domain_spec {
    char *domain;
};

/* "type": "node": hosts of the platform. */
struct replica_node_spec {
    char *on;
    int64_t count;
    struct node_params node;
};

struct replica_spec {
    struct param_variant where;
};

struct loop_spec {
    char *name, *on, *in; /* agent: on a host of the platform, or in a domain */
    int64_t port;
    sim_time start, start_spread;
    struct control_params control; /* paths are filled in by the table's check */
    struct param_list path;        /* struct control_path */
    struct param_list replicas;    /* struct replica_spec */
    struct param_list deadlines;   /* sim_time; none: the horizon */
    struct param_variant plant;
};

extern const struct param_table loop_table;

static inline const struct replica_spec *loop_replica(const struct loop_spec *l, size_t i)
{
    return &((const struct replica_spec *)l->replicas.item)[i];
}

enum replica_place replica_place(const struct replica_spec *r);

#endif
