/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Building hosts, pools, domains and vCPUs, at the start or at run time, and changing affinity,
 * weight and cap.
 */
#include "models/hypervisor/core.h"
#include "sim/error.h"

#include <stdlib.h>
#include <string.h>

static void *add_pointer(void *array, uint32_t *count, void *item, void ***out)
{
    void **a = xrealloc(array, (*count + 1) * sizeof *a);

    a[(*count)++] = item;
    *out = a;
    return item;
}

#define ADD(array, count, item)                                                                    \
    do {                                                                                           \
        void **grown;                                                                              \
        add_pointer(array, &(count), item, &grown);                                                \
        (array) = (void *)grown;                                                                   \
    } while (0)

static void set_topology(struct host *h, uint32_t threads, uint32_t cores, uint32_t sockets)
{
    for (uint32_t i = 0; i < h->pcpu_count; i++) {
        struct pcpu *p = &h->pcpu[i];

        p->core = i / threads;
        p->socket = cores ? p->core / cores : 0;
        p->node = sockets ? p->socket / sockets : 0;
    }
    for (uint32_t i = 0; i < h->pcpu_count; i++)
        for (uint32_t k = 0; k < h->pcpu_count; k++) {
            struct pcpu *p = &h->pcpu[i], *o = &h->pcpu[k];

            if (p->core == o->core)
                cpumask_set(&p->siblings, k);
            if (p->socket == o->socket)
                cpumask_set(&p->socket_cpus, k);
            if (p->node == o->node)
                cpumask_set(&p->node_cpus, k);
        }
}

struct host *host_new(struct queue *q, const char *name, uint32_t pcpu_count,
                      uint32_t threads_per_core, uint32_t cores_per_socket,
                      uint32_t sockets_per_node)
{
    struct host *h = xcalloc(1, sizeof *h);

    BUG_ON(pcpu_count < 1 || pcpu_count > MAX_PCPUS || threads_per_core < 1);
    h->queue = q;
    h->name = name;
    h->version = XEN_4_17;
    h->costs.smt_factor = 100;
    h->pcpu_count = pcpu_count;
    h->pcpu = xcalloc(pcpu_count, sizeof *h->pcpu);
    core_init_host(h);
    for (uint32_t i = 0; i < pcpu_count; i++) {
        struct pcpu *p = &h->pcpu[i];

        p->host = h;
        p->id = i;
        p->speed = p->speed_now = SPEED_ONE;
        core_init_pcpu(p);
    }
    set_topology(h, threads_per_core, cores_per_socket, sockets_per_node);
    h->idle_domain = xcalloc(1, sizeof *h->idle_domain);
    h->idle_domain->host = h;
    h->idle_domain->id = DOMAIN_IDLE;
    h->idle_domain->name = xstrdup("idle");
    return h;
}

static void vcpu_free(struct vcpu *v)
{
    queue_cancel(vcpu_host(v)->queue, &v->singleshot);
    free(v->sched);
    free(v);
}

static void domain_free(struct domain *d)
{
    queue_cancel(d->host->queue, &d->operation);
    for (uint32_t i = 0; i < d->vcpu_count; i++)
        vcpu_free(d->vcpu[i]);
    free(d->vcpu);
    free(d->name);
    free(d->sched);
    free(d);
}

void host_free(struct host *h)
{
    for (uint32_t i = 0; i < h->pool_count; i++) {
        struct scheduler *s = h->pool[i]->scheduler;

        if (s->ops->destroy)
            s->ops->destroy(s);
        free(s->params);
        free(s->data);
        free(s);
        free(h->pool[i]);
    }
    free(h->pool);
    for (uint32_t i = 0; i < h->domain_count; i++)
        domain_free(h->domain[i]);
    free(h->domain);
    free(h->vcpu);
    domain_free(h->idle_domain);
    for (uint32_t i = 0; i < h->pcpu_count; i++) {
        struct pcpu *p = &h->pcpu[i];

        queue_cancel(h->queue, &p->slice);
        queue_cancel(h->queue, &p->burst);
        queue_cancel(h->queue, &p->ipi);
        free(p->sched);
    }
    queue_cancel(h->queue, &h->settle);
    queue_cancel(h->queue, &h->turns.end);
    free(h->turns.own);
    if (h->queue->owner == h) { /* its observers go with it; the machine goes on */
        h->queue->owner = NULL;
        h->queue->after = NULL;
    }
    free(h->pcpu);
    free(h->fault);
    free(h);
}

struct cpupool *host_add_pool(struct host *h, const char *name, const struct sched_ops *ops,
                              const void *params, size_t params_size)
{
    struct cpupool *pool = xcalloc(1, sizeof *pool);
    struct scheduler *s = xcalloc(1, sizeof *s);

    pool->host = h;
    pool->name = name;
    pool->scheduler = s;
    s->ops = ops;
    s->pool = pool;
    s->host = h;
    s->data = xcalloc(1, ops->data_size);
    if (params) {
        s->params = xcalloc(1, params_size);
        memcpy(s->params, params, params_size);
    }
    ADD(h->pool, h->pool_count, pool);
    if (ops->create)
        ops->create(s);
    return pool;
}

static struct vcpu *vcpu_new(struct domain *d, struct scheduler *s, uint32_t processor)
{
    struct vcpu *v = xcalloc(1, sizeof *v);

    v->domain = d;
    v->id = d->vcpu_count;
    v->processor = processor;
    v->runstate_entry = d->host->queue->now;
    v->hard = v->soft = cpumask_all();
    v->sched = xcalloc(1, s->ops->vcpu_size);
    core_init_vcpu(v);
    ADD(d->vcpu, d->vcpu_count, v);
    return v;
}

void pool_add_pcpu(struct cpupool *pool, struct pcpu *p)
{
    struct host *h = pool->host;
    struct scheduler *s = pool->scheduler;
    struct vcpu *idle = vcpu_new(h->idle_domain, s, p->id);

    BUG_ON(p->pool);
    p->pool = pool;
    p->sched = xcalloc(1, s->ops->pcpu_size);
    cpumask_set(&pool->cpus, p->id);
    idle->id = p->id; /* whatever the order of joining */
    idle->idle = true;
    idle->is_running = true;
    idle->runstate = RUNSTATE_RUNNING;
    idle->last_switch = h->queue->now;
    idle->runstate_entry = 0; /* they exist from boot */
    idle->hard = cpumask_of(p->id);
    p->idle = p->current = idle;
    h->executing = p->id;
    if (s->ops->vcpu_create)
        s->ops->vcpu_create(s, idle);
    if (s->ops->pcpu_join)
        s->ops->pcpu_join(s, p);
    pcpu_reschedule(p);
}

struct domain *domain_describe(struct cpupool *pool, uint32_t id, const char *name, uint32_t weight,
                               uint32_t cap)
{
    struct domain *d = xcalloc(1, sizeof *d);

    d->host = pool->host;
    d->pool = pool;
    d->id = id;
    d->name = xstrdup(name ? name : "");
    d->weight = weight ? weight : DEFAULT_WEIGHT;
    d->cap = cap;
    d->absent = true;
    d->sched = xcalloc(1, pool->scheduler->ops->domain_size);
    ADD(d->host->domain, d->host->domain_count, d);
    return d;
}

void domain_appear(struct domain *d)
{
    struct scheduler *s = d->pool->scheduler;

    BUG_ON(!d->absent);
    d->absent = false;
    observe1(d->host, DOM_ADD, NULL, d->id);
    if (s->ops->domain_create)
        s->ops->domain_create(s, d);
}

struct domain *domain_create(struct cpupool *pool, uint32_t id, const char *name, uint32_t weight,
                             uint32_t cap)
{
    struct domain *d = domain_describe(pool, id, name, weight, cap);

    domain_appear(d);
    return d;
}

/* The pool's pCPUs by turns, from where the vCPU before is by now. */
static uint32_t initial_processor(const struct domain *d, uint32_t id)
{
    return id ? cpumask_cycle(d->vcpu[id - 1]->processor, &d->pool->cpus)
              : cpumask_first(&d->pool->cpus);
}

void vcpu_appear(struct vcpu *v)
{
    struct scheduler *s = vcpu_scheduler(v);

    v->processor = initial_processor(v->domain, v->id);
    v->runstate_entry = vcpu_host(v)->queue->now;
    if (s->ops->vcpu_create)
        s->ops->vcpu_create(s, v);
    if (s->ops->insert)
        s->ops->insert(s, v);
}

struct vcpu *domain_add_vcpu(struct domain *d, const struct guest_ops *guest, void *guest_data)
{
    struct host *h = d->host;
    struct vcpu *v = vcpu_new(d, d->pool->scheduler, initial_processor(d, d->vcpu_count));

    v->index = h->vcpu_count;
    v->runstate = RUNSTATE_OFFLINE;
    v->pause_flags = PAUSE_DOWN;
    v->guest = guest;
    v->guest_data = guest_data;
    v->shadow_processor = v->processor;
    ADD(h->vcpu, h->vcpu_count, v);
    if (!d->absent)
        vcpu_appear(v);
    return v;
}

void vcpu_update_soft_effective(struct vcpu *v)
{
    struct host *h = vcpu_host(v);

    h->soft_vcpus -= v->soft_effective;
    v->soft_effective = !cpumask_subset(&v->hard, &v->soft) &&
                        cpumask_intersects(&v->hard, &v->soft) &&
                        !cpumask_subset(&v->domain->pool->cpus, &v->soft);
    h->soft_vcpus += v->soft_effective;
}

static void set_mask(struct vcpu *v, cpumask *mask, const cpumask *to)
{
    struct scheduler *s = vcpu_scheduler(v);

    *mask = *to;
    vcpu_update_soft_effective(v);
    if (s->ops->affinity)
        s->ops->affinity(s, v);
    vcpu_migrate_start(v);
    vcpu_migrate_finish(v);
}

/* Each of the two is a change of its own, with its own migration and wake. */
void vcpu_set_affinity(struct vcpu *v, const cpumask *hard, const cpumask *soft)
{
    if (hard)
        set_mask(v, &v->hard, hard);
    if (soft)
        set_mask(v, &v->soft, soft);
}

void domain_set(struct domain *d, uint32_t weight, uint32_t cap)
{
    struct scheduler *s = d->pool->scheduler;
    uint32_t old_weight = d->weight, old_cap = d->cap;

    d->weight = weight;
    d->cap = cap;
    if (!s->ops->adjust)
        return; /* the scheduler knows neither */
    s->ops->adjust(s, d, old_weight, old_cap);
    if (d->cap == cap) /* else the scheduler has refused it */
        observe1(d->host, ADJDOM, NULL, d->id);
}
