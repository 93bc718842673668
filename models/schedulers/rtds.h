/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RTDS's data. Its own, but for those who set a vCPU's parameters (struct rtds_vcpu_params) and for
 * tests that look inside.
 */
#ifndef HVSIM_SCHEDULERS_RTDS_H
#define HVSIM_SCHEDULERS_RTDS_H

#include "models/schedulers/scheduler.h"

struct rtds_vcpu_params {
    sim_time period, budget;
    bool extratime;
};

struct rt_vcpu {
    /* What insertion looks at is in one place: queues may be long. */
    struct list queue;  /* in runq or depleted */
    struct list replen; /* in replenishments */
    sim_time deadline;
    uint32_t level; /* 0: within its budget; then how often it has been used up in this period */
    bool depleted, scheduled, delayed_add;
    bool misplaced;  /* its event does not stand in order */
    sim_time budget; /* left */
    struct vcpu *vcpu;
    struct rtds_vcpu_params params; /* a changed budget or period counts from the next deadline */
    sim_time start;                 /* charged up to here */
};

struct rtds {
    struct scheduler *sched;
    struct list runq, depleted;
    struct list replenishments; /* of vCPUs that run, wait or are depleted */
    uint32_t misplaced;         /* how many of the events are */
    struct timer timer;
    cpumask tickled; /* pCPUs told to decide that have not done so yet */
};

static inline struct rt_vcpu *rt_vcpu(const struct vcpu *v)
{
    return v->sched;
}

static inline struct rtds *rt_data(const struct scheduler *s)
{
    return s->data;
}

static inline bool rt_queued(const struct rt_vcpu *rv)
{
    return list_linked(&rv->queue);
}

/* Put it in the run queue by its priority, or with the depleted ones. */
void rtds_enqueue(struct rtds *r, struct rt_vcpu *rv);

#endif
