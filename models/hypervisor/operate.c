/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/hypervisor/operate.h"

#include "models/hypervisor/core.h"
#include "sim/error.h"

#include <stdlib.h>
#include <string.h>

/* Until then vCPUs that are told by interrupt may go on running. */
static const sim_time again_after = 1 * NS_PER_US;

static bool some_runs(const struct domain *d)
{
    for (uint32_t i = 0; i < d->vcpu_count; i++)
        if (d->vcpu[i]->is_running)
            return true;
    return false;
}

/* Nothing of it is heard of any more. */
static void silence(struct domain *d)
{
    for (uint32_t i = 0; i < d->vcpu_count; i++)
        vcpu_set_timer(d->vcpu[i], SIM_NEVER);
}

static void take_out(struct domain *d)
{
    struct scheduler *s = d->pool->scheduler;

    for (uint32_t i = 0; i < d->vcpu_count; i++) {
        struct vcpu *v = d->vcpu[i];

        if (s->ops->remove)
            s->ops->remove(s, v);
        v->pause_flags &= (uint8_t) ~(PAUSE_PARKED | PAUSE_MIGRATING);
    }
    if (s->ops->domain_destroy)
        s->ops->domain_destroy(s, d);
}

static void put_in(struct domain *d, struct cpupool *pool)
{
    struct scheduler *s = pool->scheduler;
    uint32_t cpu = CPU_NONE;

    d->pool = pool;
    d->weight = DEFAULT_WEIGHT;
    d->cap = 0;
    free(d->sched);
    d->sched = xcalloc(1, s->ops->domain_size);
    if (s->ops->domain_create)
        s->ops->domain_create(s, d);
    for (uint32_t i = 0; i < d->vcpu_count; i++) {
        struct vcpu *v = d->vcpu[i];

        cpu = cpumask_cycle(cpu, &pool->cpus); /* wherever the one before was put */
        free(v->sched);
        v->sched = xcalloc(1, s->ops->vcpu_size);
        v->processor = v->timer_pcpu = cpu;
        v->hard = v->soft = cpumask_all();
        vcpu_update_soft_effective(v);
        if (s->ops->vcpu_create)
            s->ops->vcpu_create(s, v);
        if (s->ops->insert)
            s->ops->insert(s, v);
    }
}

static void finish(struct timer *t, sim_time now)
{
    struct domain *d = container_of(t, struct domain, operation);
    struct host *h = d->host;

    if (some_runs(d)) {
        queue_arm(h->queue, t, now + again_after);
        return;
    }
    take_out(d);
    if (d->destroyed) {
        silence(d);
        observe1(h, DOM_REM, NULL, d->id);
        return;
    }
    put_in(d, d->move_to);
    if (--d->pause_count)
        return;
    for (uint32_t i = 0; i < d->vcpu_count; i++) {
        h->executing = d->vcpu[i]->processor;
        vcpu_wake(d->vcpu[i]);
    }
}

static void begin(struct domain *d)
{
    struct queue *q = d->host->queue;

    if (timer_armed(&d->operation))
        return; /* paused already */
    domain_pause(d);
    timer_init(&d->operation, finish);
    queue_arm_key(q, &d->operation, q->now, RANK_SETTLE, 1); /* after the reschedules */
}

void domain_destroy(struct domain *d)
{
    if (domain_gone(d))
        return;
    begin(d);
    d->destroyed = true;
}

void domain_move(struct domain *d, struct cpupool *to)
{
    BUG_ON(cpumask_empty(&to->cpus));
    if (domain_gone(d) || (d->pool == to && !timer_armed(&d->operation)))
        return;
    begin(d);
    d->move_to = to;
}

void pool_set_params(struct cpupool *pool, const void *params, size_t size)
{
    struct scheduler *s = pool->scheduler;

    memcpy(s->params, params, size);
    if (s->ops->adjust_global)
        s->ops->adjust_global(s);
}
