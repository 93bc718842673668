/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rr, the smallest scheduler: round robin on each pCPU.
 *
 * Design
 *   Every pCPU has a queue, first in first out. The head runs for a slice, then goes to the tail. A
 *   vCPU that wakes goes to the tail and preempts nobody. vCPUs stay on the pCPU they were created
 *   on, unless their affinity forbids it. No priorities, weights or caps.
 *
 * Who should use it: readers who want to see what a scheduler must provide, before they read
 * credit.c; experiments that ask what cleverness buys. No rule is taken from Xen; all are assumed.
 */
#include "models/schedulers/schedulers.h"

struct rr_params {
    sim_time slice;
};

struct rr_vcpu {
    struct list queue;
    struct vcpu *vcpu;
};

struct rr_pcpu {
    struct list queue;
};

static struct rr_vcpu *rr_vcpu(const struct vcpu *v)
{
    return v->sched;
}

static struct rr_pcpu *rr_pcpu(const struct pcpu *p)
{
    return p->sched;
}

static void enqueue(struct vcpu *v)
{
    list_insert_tail(&rr_pcpu(vcpu_pcpu(v))->queue, &rr_vcpu(v)->queue);
}

static void pcpu_join(struct scheduler *s, struct pcpu *p)
{
    (void)s;
    list_init(&rr_pcpu(p)->queue);
}

static void vcpu_create(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    rr_vcpu(v)->vcpu = v;
    list_init(&rr_vcpu(v)->queue);
}

static uint32_t pick_cpu(struct scheduler *s, struct vcpu *v)
{
    cpumask allowed = cpumask_and(&v->hard, &s->pool->cpus);

    return cpumask_test(&allowed, v->processor) ? v->processor
                                                : cpumask_cycle(v->processor, &allowed);
}

static void insert(struct scheduler *s, struct vcpu *v)
{
    v->processor = pick_cpu(s, v);
}

static void remove_vcpu(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    list_remove(&rr_vcpu(v)->queue);
}

static void wake(struct scheduler *s, struct vcpu *v)
{
    struct pcpu *p = vcpu_pcpu(v);

    (void)s;
    if (p->current == v || list_linked(&rr_vcpu(v)->queue))
        return;
    enqueue(v);
    if (p->current->idle)
        pcpu_reschedule(p);
}

static void sleep_vcpu(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    if (vcpu_pcpu(v)->current == v)
        pcpu_reschedule(vcpu_pcpu(v));
    else
        list_remove(&rr_vcpu(v)->queue);
}

static struct decision schedule(struct scheduler *s, struct pcpu *p, sim_time now)
{
    const struct rr_params *params = s->params;
    struct list *queue = &rr_pcpu(p)->queue, *first;

    (void)now;
    if (!p->current->idle && vcpu_runnable(p->current))
        enqueue(p->current);
    s->why = list_empty(queue) ? "nothing to run" : "its turn: first in the queue";
    if (list_empty(queue))
        return (struct decision){p->idle, -1};
    first = queue->next;
    list_remove(first);
    return (struct decision){container_of(first, struct rr_vcpu, queue)->vcpu, params->slice};
}

static const struct param rows[] = {
    {PARAM("slice", DURATION, struct rr_params, slice), .def = "30ms", .range = PARAM_NO_RANGE,
     .min = "1us", .max = "10s", .meaning = "A vCPU's turn.", .status = STATUS_ASSUMED},
};

static const struct param_table table =
    PARAM_TABLE("rr", struct rr_params, rows, .meaning = "Round robin on each pCPU.");

const struct sched_ops sched_rr = {
    .abi = SCHEDULER_ABI,
    .name = "rr",
    .title = "Round robin on each pCPU: the smallest example",
    .trace_id = -1,
    .params = &table,
    .pcpu_size = sizeof(struct rr_pcpu),
    .vcpu_size = sizeof(struct rr_vcpu),
    .pcpu_join = pcpu_join,
    .vcpu_create = vcpu_create,
    .insert = insert,
    .remove = remove_vcpu,
    .sleep = sleep_vcpu,
    .wake = wake,
    .pick_cpu = pick_cpu,
    .schedule = schedule,
};
