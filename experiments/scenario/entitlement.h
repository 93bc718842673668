/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What domains are entitled to: the CPU time that a fair division by weights would have given them.
 *
 * Each domain has a weight (times its vCPUs: Xen's weights are per vCPU) and a limit; time is
 * divided by water-filling: everybody gets the same per weight, nobody more than its limit, and
 * what that leaves goes to the others (weighted max-min fairness; D. Bertsekas, R. Gallager, Data
 * Networks, section 6.5.2). A domain whose vCPUs were never blocked wanted all it could get: its
 * limit is its number of vCPUs, or its cap. Of others it is what they used: who sleeps of its own
 * accord is owed nothing more.
 *
 * What pCPUs a domain may use matters: those of domains that were never blocked must be the same
 * or have none in common, and those of others must lie within such a set or beside all of them.
 * Otherwise, and when domains or hosts were not there all the time, nothing is known.
 */
#ifndef HVSIM_SCENARIO_ENTITLEMENT_H
#define HVSIM_SCENARIO_ENTITLEMENT_H

#include "models/hypervisor/cpumask.h"

#include <stdbool.h>
#include <stddef.h>

/* Time in pCPUs: 0.5 is half of one. */
struct claim {
    double weight; /* > 0, of all its vCPUs together */
    double limit;  /* of a domain that was never blocked: vCPUs or cap; else ignored */
    double got;
    cpumask on;
    bool wants;   /* never blocked */
    double share; /* found */
};

/* 0 with all shares, or -1: the sets of pCPUs overlap. */
int entitlement_divide(struct claim *claim, size_t claims);

/* Part of the time a domain must have been runnable to count as never blocked. */
#define ENTITLEMENT_NEVER_BLOCKED 0.99

/* Of all domains of a host after a run, in the order of the roster. */
struct entitlement {
    bool known;
    size_t first; /* index of its first domain in the roster */
    double *share, *got;
};

struct world_host;
struct entitlement entitlement_of(const struct world_host *wh);
void entitlement_free(struct entitlement *e); /* `known` stays */

#endif
