/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/schedule_case.h"

#include "experiments/validate/json_fields.h"
#include "experiments/validate/schedule_actions.h"
#include "experiments/validate/schedule_behaviour.h"
#include "experiments/validate/xen_version.h"
#include "models/schedulers/credit.h"
#include "sim/json.h"

#include <stdlib.h>
#include <string.h>

/* Keys of the external events of one instant: events in file order, then starts in file order. */
#define KEY_START (UINT64_C(1) << 40)

/* ---- members --------------------------------------------------------------------------------- */

uint32_t schedule_weight(struct json_value object, uint32_t otherwise, struct errors *e)
{
    return (uint32_t)field_integer(object, "weight", 1, UINT16_MAX, otherwise, e);
}

uint32_t schedule_cap(struct json_value object, uint32_t otherwise, struct errors *e)
{
    return (uint32_t)field_integer(object, "cap", 0, UINT16_MAX, otherwise, e);
}

struct cpupool *schedule_pool(const struct host *h, struct json_value object, struct errors *e)
{
    size_t before = e->count;
    int64_t number = field_integer(object, "pool", 0, UINT16_MAX, 0, e);

    if (number < h->pool_count)
        return e->count > before ? NULL : h->pool[number];
    json_error(json_member(object, "pool"), e, "the host has no such pool");
    return NULL;
}

static bool mask(struct json_value list, cpumask *m)
{
    if (!json_exists(list) || json_kind(list) != JSON_ARRAY)
        return false;
    *m = (cpumask){{0}};
    JSON_FOR_EACH(v, list)
    {
        int64_t cpu;

        if (json_integer(v, &cpu) == 0 && cpu >= 0 && cpu < MAX_PCPUS)
            cpumask_set(m, (uint32_t)cpu);
    }
    return true;
}

/* ---- the host -------------------------------------------------------------------------------- */

static enum xen_version version_of(struct json_value root)
{
    const char *version = json_string(json_member(root, "xen_version"));
    const char *scheduler = json_string(json_member(root, "scheduler"));

    if (version)
        return xen_version_of(version);
    return scheduler && !strcmp(scheduler, "terriertail") ? XEN_4_7_0 : XEN_4_17;
}

void schedule_set_affinity(struct vcpu *v, struct json_value domain, struct json_value vcpu)
{
    cpumask m;

    if ((mask(json_member(vcpu, "hard_affinity"), &m) ||
         mask(json_member(domain, "hard_affinity"), &m)) &&
        cpumask_intersects(&m, &v->domain->pool->cpus)) /* else Xen refuses it */
        vcpu_set_affinity(v, &m, NULL);
    if (mask(json_member(vcpu, "soft_affinity"), &m) ||
        mask(json_member(domain, "soft_affinity"), &m))
        vcpu_set_affinity(v, NULL, &m);
}

static const struct schedule_dialect *dialect_of(const struct cpupool *pool)
{
    return schedule_dialect(pool->scheduler->ops->name);
}

static void start_fire(struct timer *t, sim_time now)
{
    struct vcpu_start *s = container_of(t, struct vcpu_start, timer);

    (void)now;
    vcpu_host(s->vcpu)->executing = s->vcpu->processor;
    vcpu_start(s->vcpu);
}

static void read_vcpu(struct schedule_world *w, struct guest *g, struct json_value d,
                      struct json_value jv, struct errors *e)
{
    const struct schedule_dialect *dialect = dialect_of(g->domain->pool);
    struct vcpu *v = guest_add_vcpu(g);
    sim_time start = field_integer(jv, "start_ns", 0, FIELD_TIME_MOST, w->queue.now, e);
    struct vcpu_start *s = &w->start[v->index];
    struct json_value behaviour = json_member(jv, "behaviour");

    schedule_set_affinity(v, d, jv);
    if (dialect->vcpu)
        dialect->vcpu(v, d, jv, e);
    if (json_kind(behaviour) == JSON_OBJECT)
        schedule_read_behaviour(&(struct behaviour){
            .world = w, .json = behaviour, .gv = &g->vcpu[v->id], .start = start, .e = e});
    else
        json_error_in(jv, "behaviour", e, "expected an object with a \"type\"");
    timer_init(&s->timer, start_fire);
    s->vcpu = v;
    queue_arm_key(&w->queue, &s->timer, start, RANK_EXTERNAL, KEY_START + v->index);
}

static void read_domain(struct schedule_world *w, struct json_value d, struct errors *e)
{
    struct json_value vcpus = json_member(d, "vcpus");
    struct cpupool *pool = schedule_pool(w->host, d, e);
    uint32_t weight = schedule_weight(d, DEFAULT_WEIGHT, e), cap = schedule_cap(d, 0, e);
    uint32_t id = (uint32_t)field_integer(d, "id", 0, UINT16_MAX, 0, e);
    bool weights_last;
    struct guest *g;

    if (!pool)
        return;
    if (!json_length(vcpus) || json_kind(vcpus) != JSON_ARRAY) {
        json_error_in(d, "vcpus", e, "expected a list of at least one vCPU");
        return;
    }
    if (cpumask_empty(&pool->cpus)) {
        json_error(d, e, "its cpupool has no pCPU");
        return;
    }
    weights_last = dialect_of(pool)->weights_last;
    g = guest_new(domain_create(pool, id, NULL, DEFAULT_WEIGHT, 0), (uint32_t)json_length(vcpus));
    w->guest[w->guest_count++] = g;
    if (!weights_last)
        domain_set(g->domain, weight, cap);
    JSON_FOR_EACH(jv, vcpus)
    read_vcpu(w, g, d, jv, e);
    if (weights_last)
        domain_set(g->domain, weight, cap);
}

static size_t count_vcpus(struct json_value domains)
{
    size_t n = 0;

    JSON_FOR_EACH(d, domains)
    n += json_length(json_member(d, "vcpus"));
    return n;
}

/* A pool whose scheduler `v` names; the other parameters are boot options, the same for all. */
static int add_pool(struct host *h, struct json_value root, struct json_value v, struct errors *e)
{
    const char *name = json_string(json_member(v, "scheduler"));
    const struct sched_ops *ops = name ? scheduler_by_name(name) : NULL;
    const struct schedule_dialect *dialect;
    void *params;

    if (!ops)
        return json_error(json_member(v, "scheduler"), e, "unknown scheduler \"%s\"",
                          name ? name : "");
    dialect = schedule_dialect(name);
    params = xcalloc(1, ops->params ? ops->params->size : 1);
    if (ops->params)
        params_defaults(ops->params, params);
    if (dialect->params)
        dialect->params(params, root, e);
    host_add_pool(h, name, ops, params, ops->params ? ops->params->size : 0);
    free(params);
    return 0;
}

static int add_pools(struct host *h, struct json_value root, struct errors *e)
{
    if (add_pool(h, root, root, e))
        return -1;
    JSON_FOR_EACH(v, json_member(root, "pools"))
    if (add_pool(h, root, v, e))
        return -1;
    return 0;
}

/* The pool that has this pCPU in its list, or else the first, which has none. */
static struct cpupool *pool_of(struct host *h, struct json_value root, uint32_t cpu)
{
    uint32_t k = 0;

    JSON_FOR_EACH(v, json_member(root, "pools"))
    {
        cpumask cpus;

        k++;
        if (mask(json_member(v, "pcpus"), &cpus) && cpumask_test(&cpus, cpu))
            return h->pool[k];
    }
    return h->pool[0];
}

/* The empty host: pCPUs in their pools. -1 with errors. */
static int build_host(struct schedule_world *w, struct json_value root,
                      void (*watch)(void *ctx, struct host *h), void *ctx, struct errors *e)
{
    size_t before = e->count;
    sim_time init = field_integer(root, "pool_init_ns", 0, FIELD_TIME_MOST, 137000, e);
    sim_time stagger = field_integer(root, "stagger_ns", 0, NS_PER_S, 1000, e);
    uint32_t pcpus = (uint32_t)field_integer(root, "pcpus", 1, MAX_PCPUS, 1, e);
    uint32_t threads = (uint32_t)field_integer(root, "threads_per_core", 1, MAX_PCPUS, 1, e);
    uint32_t cores = (uint32_t)field_integer(root, "cores_per_socket", 0, MAX_PCPUS, 0, e);
    uint32_t sockets = (uint32_t)field_integer(root, "sockets_per_node", 0, MAX_PCPUS, 0, e);

    w->host = host_new(&w->queue, "xen", pcpus, threads, cores, sockets);
    w->host->version = version_of(root);
    if (watch)
        watch(ctx, w->host);
    if (add_pools(w->host, root, e) || e->count > before)
        return -1;
    for (uint32_t c = 0; c < pcpus; c++) {
        w->queue.now = init + c * stagger;
        pool_add_pcpu(pool_of(w->host, root, c), &w->host->pcpu[c]);
        w->host->pcpu[c].idle->last_switch = init; /* idle vCPUs are all created at once */
    }
    host_settle(w->host);
    return 0;
}

static int build(struct schedule_world *w, struct json_value root,
                 void (*watch)(void *ctx, struct host *h), void *ctx, struct errors *e)
{
    struct json_value domains = json_member(root, "domains");
    size_t before = e->count, vcpus = count_vcpus(domains);

    w->duration =
        field_integer(root, "duration_ms", 0, FIELD_TIME_MOST / NS_PER_MS, 0, e) * NS_PER_MS;
    w->done_rows = version_of(root) < XEN_4_17;
    if (build_host(w, root, watch, ctx, e))
        return -1;
    w->guest = xcalloc(json_length(domains) + 1, sizeof *w->guest);
    w->source = xcalloc(2 * vcpus + 1, sizeof *w->source);
    w->start = xcalloc(vcpus + 1, sizeof *w->start);
    w->queue.now = field_integer(root, "create_ns", 0, FIELD_TIME_MOST, NS_PER_MS, e);
    w->host->executing = 0;
    JSON_FOR_EACH(d, domains)
    read_domain(w, d, e);
    for (uint32_t i = 0; i < w->host->pool_count; i++) {
        const struct schedule_dialect *dialect = dialect_of(w->host->pool[i]);

        if (dialect->finish)
            dialect->finish(w->host->pool[i]->scheduler, root, e);
    }
    return schedule_actions_read(w, root, e) || e->count > before ? -1 : 0;
}

struct schedule_world *schedule_world_load(const char *path,
                                           void (*watch)(void *ctx, struct host *h), void *ctx,
                                           struct errors *e)
{
    struct json *doc = json_read(path, e);
    struct schedule_world *w;

    if (!doc)
        return NULL;
    w = xcalloc(1, sizeof *w);
    queue_init(&w->queue);
    w->document = doc;
    if (!build(w, json_root(doc), watch, ctx, e))
        return w;
    schedule_world_free(w);
    return NULL;
}

void schedule_world_free(struct schedule_world *w)
{
    if (w->host)
        host_free(w->host);
    for (uint32_t i = 0; i < w->guest_count; i++)
        guest_free(w->guest[i]);
    free(w->guest);
    for (size_t i = 0; i < w->script_count; i++)
        free(w->script[i]);
    free(w->script);
    free(w->action);
    if (w->document)
        json_free(w->document);
    free(w->start);
    /* Last, for their timers are still in the queue while the host takes its own out. */
    for (size_t i = 0; i < w->source_count; i++)
        free(w->source[i].date);
    free(w->source);
    queue_free(&w->queue);
    free(w);
}

/* ---- running --------------------------------------------------------------------------------- */

struct causes {
    struct host *host;
    uint32_t ticks, others;
};

static bool is_tick(const struct host *h, const struct timer *t)
{
    for (uint32_t i = 0; i < h->pool_count; i++) {
        const struct sched_ops *ops = h->pool[i]->scheduler->ops;

        if (ops->is_tick && ops->is_tick(t))
            return true;
    }
    return false;
}

static void count_cause(const struct timer *t, void *ctx)
{
    struct causes *c = ctx;

    if (is_tick(c->host, t)) {
        c->ticks++;
    } else if (schedule_events_due(t)) {
        c->others += schedule_events_due(t);
    } else {
        c->others++;
    }
}

struct schedule_counts schedule_world_run(struct schedule_world *w)
{
    struct schedule_counts n = {0};
    struct queue *q = &w->queue;

    while (queue_next(q) <= w->duration) {
        struct causes c = {.host = w->host};
        sim_time now = queue_next(q);

        queue_due(q, now, count_cause, &c);
        n.instants++;
        n.ties += (c.ticks > 0) + c.others > 1;
        while (queue_next(q) == now) {
            if (timer_rank(queue_first(q)) == RANK_LATE)
                n.instants++; /* of its own, though at the same date */
            queue_step(q);
        }
    }
    q->now = w->duration;
    for (uint32_t c = 0; c < w->host->pcpu_count; c++)
        if (!w->host->pcpu[c].current->idle)
            w->host->executing = c; /* the guests are looked at last, pCPUs ascending */
    return n;
}
