/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The published TerrierTail testbed as scenarios: what the authors' scripts say, and what they
 * leave open as one set of unknowns for all experiments, none per point.
 *
 * Known: 12 or 24 VMs; which are servers and which run lookbusy; closed-loop clients with one
 * outstanding request and exponential thinking at a given rate; 24 VMs: lookbusy 3 % in the
 * measured VM, 4 % in the others, 120 s. lookbusy corrects its bursts by what its kernel counts, as
 * its source says: ticks that found it running. Not known: the rows of testbed_unknown.
 */
#ifndef HVSIM_VALIDATE_TESTBED_H
#define HVSIM_VALIDATE_TESTBED_H

#include "experiments/search/calibrate.h"
#include <stdbool.h>

enum testbed_service { TESTBED_RPC, TESTBED_MEMCACHED };

/* What the publication leaves open. */
enum testbed_index {
    /* The machine. */
    OPEN_PCPUS,    /* of the host, at least as many as it takes: the others add to the credits */
    OPEN_PCPUS_12, /* that the guests may use */
    OPEN_PCPUS_24,
    OPEN_PINNED,     /* how many of them each guest has, in turn; 0: all */
    OPEN_DOM0_APART, /* 1: dom0 is alone on one pCPU; 2: it shares the first; 0: it has all */
    OPEN_DOM0_VCPUS,
    OPEN_DOM0_BOOST, /* TerrierTail's filter lets dom0 pass */
    OPEN_VCPUS,      /* of a guest */
    /* The loads. */
    OPEN_OWN_12,      /* %, lookbusy in the measured VM of 12 */
    OPEN_BUSY_12,     /* %, lookbusy of the other VMs of 12 */
    OPEN_BUSY_JOB,    /* %, lookbusy beside the CPU-bound job */
    OPEN_CLIENTS_RPC, /* of each server of 12 VMs */
    OPEN_CLIENTS,     /* ... with memcached */
    /* The kernels. */
    OPEN_IDLE_ENTER,   /* us until a guest with nothing to do blocks */
    OPEN_HOUSEKEEPING, /* ms between two timers of a serving guest's kernel and daemons */
    OPEN_DOM0_COSTS,   /* netback's costs, as a multiple of the models' */
    /* The base latency. */
    OPEN_DEMAND,      /* us of CPU for a request */
    OPEN_BASE_MEDIAN, /* us, client and network beyond what the models have: lognormal */
    OPEN_BASE_SIGMA,
    OPEN_COUNT
};

extern const struct unknown testbed_unknown[OPEN_COUNT];

/* An experiment. */
enum testbed_set { TESTBED_12VM, TESTBED_24VM, TESTBED_JOB, TESTBED_IDLE };

struct testbed_run {
    enum testbed_set set;
    enum testbed_service service;
    int servers;           /* that serve; JOB: the lookbusy VMs beside it */
    bool mixed;            /* servers keep their lookbusy */
    const char *scheduler; /* "credit" or "terriertail" */
    int replications, seconds;
    bool calibrated; /* results shall say so of what is open */
};

/* The scenario's text; x is by testbed_index. IDLE: one server, nobody else. Caller frees. */
char *testbed_scenario(const double *x, const struct testbed_run *run);

#endif
