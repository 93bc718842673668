/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * null, Xen's scheduler for hosts with no more vCPUs than pCPUs: it schedules nothing.
 *
 * Design
 *   A vCPU is assigned to a pCPU for as long as it is online, and a pCPU to one vCPU at most, which
 *   runs whenever it is runnable. vCPUs that found no free pCPU wait in a queue, first come first
 *   served, until an assigned one goes offline or moves away. A blocked vCPU keeps its pCPU, so
 *   those that wait starve, however idle the host is.
 *
 * Rules
 *   Those of Xen 4.17; docs/models/null.md says them in words. There are no slices, no ratelimit,
 *   weights or caps; yielding does nothing. A pause is not offline: the pCPU stays assigned.
 *   A choice among several free pCPUs takes the lowest; Xen takes any if all are taken. And Xen
 *   loses a vCPU that goes offline and comes back before its pCPU has switched it out (its wake
 *   hook sees it as running); here it is assigned anew.
 *
 * Constants: none.
 */
#include "models/schedulers/null.h"

#include "models/schedulers/schedulers.h"

static bool online(const struct vcpu *v)
{
    return !(v->pause_flags & PAUSE_DOWN);
}

static bool assigned(const struct vcpu *v)
{
    return null_pcpu(vcpu_pcpu(v))->assigned == v;
}

static cpumask step_cpus(const struct scheduler *s, const struct vcpu *v, int step)
{
    cpumask mask = affinity_step_mask(v, step);

    return cpumask_and(&mask, &s->pool->cpus);
}

static bool allowed(const struct scheduler *s, const struct vcpu *v, int step, uint32_t cpu)
{
    cpumask mask = step_cpus(s, v, step);

    return cpumask_test(&mask, cpu);
}

/* ---- assigning ------------------------------------------------------------------------------- */

static void assign(struct scheduler *s, struct vcpu *v, uint32_t cpu)
{
    null_pcpu(&s->host->pcpu[cpu])->assigned = v;
    v->processor = cpu;
    cpumask_clear(&null_data(s)->free, cpu);
    observe1(s->host, NULL_ASSIGN, v, cpu);
}

static void wait_in_queue(struct scheduler *s, struct vcpu *v)
{
    if (!list_linked(&null_vcpu(v)->waiting))
        list_insert_tail(&null_data(s)->waiting, &null_vcpu(v)->waiting);
}

/* The first in the wait queue that prefers this pCPU, or else that may use it, gets it. `decides`:
 * one that has come from this very pCPU comes last (Xen cannot take its lock, which it has). */
static struct vcpu *assign_waiting(struct scheduler *s, uint32_t cpu, bool decides)
{
    struct null *n = null_data(s);
    struct vcpu *own = NULL;

    for_each_affinity_step(step) for (struct list *at = n->waiting.next; at != &n->waiting;
                                      at = at->next)
    {
        struct vcpu *v = container_of(at, struct null_vcpu, waiting)->vcpu;

        if ((step == STEP_SOFT && !v->soft_effective) || !allowed(s, v, step, cpu))
            continue;
        if (decides && v->processor == cpu) {
            own = own ? own : v;
            continue;
        }
        list_remove(at);
        assign(s, v, cpu);
        return v;
    }
    if (own) {
        list_remove(&null_vcpu(own)->waiting);
        assign(s, own, cpu);
    }
    return own;
}

/* v gives up its pCPU. True: somebody who waited has got it. */
static bool deassign(struct scheduler *s, struct vcpu *v)
{
    struct pcpu *p = vcpu_pcpu(v);

    null_pcpu(p)->assigned = NULL;
    cpumask_set(&null_data(s)->free, p->id);
    observe1(s->host, NULL_DEASSIGN, v, p->id);
    if (!assign_waiting(s, p->id, false))
        return false;
    pcpu_reschedule(p);
    return true;
}

/* Its own pCPU if that is free or its own, else the lowest free one: where it prefers to be, then
 * where it may be; if all are taken, the lowest it may use. */
static uint32_t pick_cpu(struct scheduler *s, struct vcpu *v)
{
    const struct vcpu *holder = null_pcpu(vcpu_pcpu(v))->assigned;
    uint32_t cpu = CPU_NONE;
    cpumask cpus;

    for_each_affinity_step(step)
    {
        cpumask able;

        if (cpu != CPU_NONE || (step == STEP_SOFT && !v->soft_effective))
            continue;
        cpus = step_cpus(s, v, step);
        able = cpumask_and(&cpus, &null_data(s)->free);
        if ((!holder || holder == v) && cpumask_test(&cpus, v->processor))
            cpu = v->processor;
        else
            cpu = cpumask_first(&able);
    }
    if (cpu == CPU_NONE)
        cpu = cpumask_first(&cpus);
    observe1(s->host, PICKED_CPU, v, cpu);
    return cpu;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void insert(struct scheduler *s, struct vcpu *v)
{
    if (!online(v))
        return;
    v->processor = pick_cpu(s, v);
    if (null_pcpu(vcpu_pcpu(v))->assigned)
        wait_in_queue(s, v);
    else
        assign(s, v, v->processor);
}

static void remove_vcpu(struct scheduler *s, struct vcpu *v)
{
    if (list_linked(&null_vcpu(v)->waiting))
        list_remove(&null_vcpu(v)->waiting);
    else if (assigned(v))
        deassign(s, v);
}

static void wake(struct scheduler *s, struct vcpu *v)
{
    struct pcpu *p = vcpu_pcpu(v);
    cpumask free;

    if (list_linked(&null_vcpu(v)->waiting) || (p->current == v && assigned(v)))
        return;
    if (assigned(v)) {
        pcpu_reschedule(p);
        return;
    }
    if (!null_pcpu(p)->assigned && allowed(s, v, STEP_HARD, p->id) &&
        (!v->soft_effective || allowed(s, v, STEP_SOFT, p->id))) {
        assign(s, v, p->id);
        pcpu_reschedule(p);
        return;
    }
    wait_in_queue(s, v); /* for the first free pCPU that decides */
    free = step_cpus(s, v, STEP_HARD);
    free = cpumask_and(&free, &null_data(s)->free);
    for_each_cpu(cpu, &free) pcpu_reschedule(&s->host->pcpu[cpu]);
}

static void sleep_vcpu(struct scheduler *s, struct vcpu *v)
{
    struct pcpu *p = vcpu_pcpu(v);
    bool told = false;

    if (!online(v)) {
        if (list_linked(&null_vcpu(v)->waiting))
            list_remove(&null_vcpu(v)->waiting);
        else if (assigned(v))
            told = deassign(s, v);
    }
    if (!told && p->current == v)
        pcpu_reschedule(p);
}

static void migrate(struct scheduler *s, struct vcpu *v, uint32_t cpu)
{
    if (v->processor == cpu)
        return;
    observe1(s->host, NULL_MIGRATE, v, v->processor | (int64_t)cpu << 16);
    if (assigned(v))
        deassign(s, v);
    if (!online(v)) {
        list_remove(&null_vcpu(v)->waiting);
    } else if (!null_pcpu(&s->host->pcpu[cpu])->assigned && allowed(s, v, STEP_HARD, cpu)) {
        list_remove(&null_vcpu(v)->waiting);
        assign(s, v, cpu);
    } else {
        wait_in_queue(s, v);
    }
    v->processor = cpu;
}

static struct decision schedule(struct scheduler *s, struct pcpu *p, sim_time now)
{
    struct vcpu *v = null_pcpu(p)->assigned;

    (void)now;
    observe(s->host, NULL_SCHEDULE, v);
    s->why = "the vCPU that has this pCPU for itself";
    if (!v) {
        v = assign_waiting(s, p->id, true);
        s->why = v ? "the pCPU was free: first in the wait queue that may run here"
                   : "the pCPU is free, and nobody waits who may run here";
    } else if (!vcpu_runnable(v)) {
        s->why = "the vCPU that has this pCPU for itself does not want to run";
    }
    return (struct decision){v && vcpu_runnable(v) ? v : p->idle, -1};
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static void create(struct scheduler *s)
{
    list_init(&null_data(s)->waiting);
}

static void pcpu_join(struct scheduler *s, struct pcpu *p)
{
    cpumask_set(&null_data(s)->free, p->id);
}

static void pcpu_leave(struct scheduler *s, struct pcpu *p)
{
    BUG_ON(null_pcpu(p)->assigned);
    cpumask_clear(&null_data(s)->free, p->id);
}

static void create_vcpu(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    null_vcpu(v)->vcpu = v;
    list_init(&null_vcpu(v)->waiting);
}

const struct sched_ops sched_null = {
    .abi = SCHEDULER_ABI,
    .name = "null",
    .title = "null: each vCPU keeps a pCPU for itself",
    .trace_id = 5,
    .data_size = sizeof(struct null),
    .pcpu_size = sizeof(struct null_pcpu),
    .vcpu_size = sizeof(struct null_vcpu),
    .create = create,
    .pcpu_join = pcpu_join,
    .pcpu_leave = pcpu_leave,
    .vcpu_create = create_vcpu,
    .insert = insert,
    .remove = remove_vcpu,
    .sleep = sleep_vcpu,
    .wake = wake,
    .pick_cpu = pick_cpu,
    .migrate = migrate,
    .schedule = schedule,
};
