/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What domains get of a host's CPUs, counted while the host runs: time in each runstate, waiting
 * split by its cause, wake-to-run times, runs, moves between pCPUs. One observer per host, called
 * at changes of runstate only; it allocates nothing but a histogram per group of domains, the
 * first time one of them wakes.
 */
#ifndef HVSIM_SCENARIO_METER_H
#define HVSIM_SCENARIO_METER_H

#include "models/hypervisor/hypervisor.h"
#include "sim/histogram.h"

/* Of one domain, within the measured time. */
struct domain_use {
    sim_time running;
    sim_time wake_wait;    /* runnable since it woke, not yet run */
    sim_time preempt_wait; /* runnable since it was preempted or yielded */
    uint64_t runs;         /* times that a vCPU was switched in */
    uint64_t moves;        /* ... on another pCPU than the time before */
    uint32_t group;        /* index of meter.wake_to_run */
};

struct vcpu_mark {
    uint32_t last_pcpu; /* CPU_NONE: never ran */
    bool woken;         /* its present wait began with a wake-up */
};

struct meter {
    struct observer observer;
    struct domain_use *use; /* by domain id */
    uint32_t domains;
    struct histogram *wake_to_run; /* by group */
    struct histogram *disk;        /* by group: recorded by its disks (meter_disk()) */
    uint32_t groups;
    struct vcpu_mark *mark; /* by vcpu->index */
    uint32_t vcpus;
    sim_time from, until; /* what is measured */
};

void meter_init(struct meter *m, uint32_t domains, uint32_t groups, sim_time from, sim_time until);
void meter_free(struct meter *m);

/* The histogram of a domain's group for what its disk's requests take. */
struct histogram *meter_disk(struct meter *m, uint32_t domain);

/* Watch a host whose vCPUs are all created. May be called again for its successor after a reboot,
 * when meter_close() was called for the one before. */
void meter_attach(struct meter *m, struct host *h);

/* The host ends now (its queue's date): count what is still going on. */
void meter_close(struct meter *m, struct host *h);

#endif
