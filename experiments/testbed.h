/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The published TerrierTail testbed as scenarios: what the authors' scripts say, and what they
 * leave open as a struct of choices, one for each set of experiments, none per point.
 *
 * Known: 12 or 24 VMs; which are servers and which run lookbusy; closed-loop clients with one
 * outstanding request and exponential thinking at a given rate; 24 VMs: lookbusy 3 % in the
 * measured VM, 4 % in the others, 120 s. Not known: pCPUs, dom0's vCPUs and placement, the 12-VM
 * runs' hogs.
 */
#ifndef HVSIM_EXPERIMENTS_TESTBED_H
#define HVSIM_EXPERIMENTS_TESTBED_H

#include "sim/error.h"
#include "sim/json.h"

#include <stdbool.h>

enum testbed_service { TESTBED_RPC, TESTBED_MEMCACHED };

/* What the publication leaves open. */
struct testbed_choices {
    int pcpus; /* of the guests; dom0 shares them unless it has its own */
    int dom0_vcpus;
    bool dom0_apart; /* on one pCPU more, alone */
    int busy;        /* per cent, of the 12-VM hogs */
    bool feedback;   /* do lookbusy's corrections of its bursts take effect? */
    int idle_enter;  /* us until a guest that has nothing to do blocks */
    int seconds;     /* measured in each replication */
};

extern const struct testbed_choices testbed_12vm, testbed_24vm;

/* `servers` of the VMs serve; scheduler is "credit" or "terriertail". */
struct json *testbed_12vm_scenario(const struct testbed_choices *c, enum testbed_service service,
                                   int servers, const char *scheduler, int replications,
                                   struct errors *e);
struct json *testbed_24vm_scenario(const struct testbed_choices *c, enum testbed_service service,
                                   int servers, const char *scheduler, int replications,
                                   struct errors *e);

/* One VM with a CPU-bound job beside `hogs` lookbusy VMs; the job is `seconds` of CPU time long. */
struct json *testbed_job_scenario(const struct testbed_choices *c, int hogs, const char *scheduler,
                                  int replications, struct errors *e);

#endif
