/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The null scheduler's data: its own, but for tests that look inside. */
#ifndef HVSIM_SCHEDULERS_NULL_H
#define HVSIM_SCHEDULERS_NULL_H

#include "models/schedulers/scheduler.h"

struct null_pcpu {
    struct vcpu *assigned;
};

struct null_vcpu {
    struct list waiting; /* in the wait queue */
    struct vcpu *vcpu;
};

struct null {
    struct list waiting;
    cpumask free; /* pCPUs without an assigned vCPU */
};

static inline struct null *null_data(const struct scheduler *s)
{
    return s->data;
}

static inline struct null_vcpu *null_vcpu(const struct vcpu *v)
{
    return v->sched;
}

static inline struct null_pcpu *null_pcpu(const struct pcpu *p)
{
    return p->sched;
}

#endif
