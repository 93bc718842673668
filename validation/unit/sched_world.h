/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small world for tests of schedulers: one host with one pool, guests of one thread per vCPU, and
 * things that happen at given dates. All costs are zero unless the test sets them.
 */
#ifndef HVSIM_TEST_SCHED_WORLD_H
#define HVSIM_TEST_SCHED_WORLD_H

#include "experiments/traces/csv.h"
#include "models/guest/guest.h"
#include "models/schedulers/scheduler.h"
#include "sim/error.h"
#include "workloads/synthetic.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD_DOMAINS = 16, WORLD_VCPUS = 64, WORLD_SCRIPT = 8 };

#define US NS_PER_US
#define MS NS_PER_MS

struct world;

/* Something that happens once, or again and again if it returns a later date. */
struct world_act {
    struct timer timer;
    struct world *world;
    struct world_act *next;
    sim_time (*act)(struct world *w, struct vcpu *v, const void *arg, sim_time now);
    struct vcpu *vcpu;
    const void *arg;
    uint64_t key;
};

struct world_vcpu {
    struct vcpu *vcpu;
    struct thread *thread;
    struct evtchn channel;
    struct script_op script[WORLD_SCRIPT];
    sim_time created;
};

struct world {
    struct queue queue;
    struct host *host;
    struct cpupool *pool;
    struct guest *guest[WORLD_DOMAINS];
    uint32_t guests;
    struct world_vcpu vcpu[WORLD_VCPUS]; /* by vcpu->index */
    struct world_act *acts;
    uint64_t act_count;
    sim_time built;
    struct csv_trace trace; /* world_watch: rows as in the reference schedules, */
    char *rows;             /* each after a newline, and one more at the end */
    size_t rows_used;
};

static inline struct world *world_new(enum xen_version version, uint32_t pcpus, uint32_t threads,
                                      uint32_t cores_per_socket, uint32_t sockets_per_node)
{
    struct world *w = xcalloc(1, sizeof *w);

    queue_init(&w->queue);
    w->host = host_new(&w->queue, "xen", pcpus, threads, cores_per_socket, sockets_per_node);
    w->host->version = version;
    return w;
}

/* All pCPUs join one pool, 1 us apart, the first at `first`; then it is `built`. `change` may set
 * the scheduler's parameters. */
static inline void world_pool(struct world *w, const char *scheduler,
                              void (*change)(void *params, void *ctx), void *ctx, sim_time first,
                              sim_time built)
{
    const struct sched_ops *ops = scheduler_by_name(scheduler);
    const struct param_table *t = ops->params;
    void *params = t ? xcalloc(1, t->size) : NULL;

    if (t)
        params_defaults(t, params);
    if (change)
        change(params, ctx);
    w->pool = host_add_pool(w->host, "Pool-0", ops, params, t ? t->size : 0);
    free(params);
    for (uint32_t c = 0; c < w->host->pcpu_count; c++) {
        w->queue.now = first + c * US;
        pool_add_pcpu(w->pool, &w->host->pcpu[c]);
    }
    host_settle(w->host);
    w->queue.now = w->built = built;
    w->host->executing = 0;
}

static inline struct domain *world_domain_id(struct world *w, uint32_t id, uint32_t weight,
                                             uint32_t vcpus)
{
    struct domain *d = domain_create(w->pool, id, NULL, weight, 0);

    w->guest[w->guests++] = guest_new(d, vcpus);
    return d;
}

static inline struct domain *world_domain(struct world *w, uint32_t weight, uint32_t vcpus)
{
    return world_domain_id(w, w->guests + 1, weight, vcpus);
}

/* One that is absent until domain_appear(). */
static inline struct domain *world_domain_later(struct world *w, uint32_t weight, uint32_t vcpus)
{
    struct domain *d = domain_describe(w->pool, w->guests + 1, NULL, weight, 0);

    w->guest[w->guests++] = guest_new(d, vcpus);
    return d;
}

static inline struct guest *world_guest(const struct world *w, const struct domain *d)
{
    uint32_t i = 0;

    while (w->guest[i]->domain != d)
        i++;
    return w->guest[i];
}

static inline void world_event(struct evtchn *ch, sim_time now)
{
    struct world_vcpu *wv = container_of(ch, struct world_vcpu, channel);

    if (wv->thread->program->event)
        wv->thread->program->event(wv->thread, now, now);
}

/* The next vCPU of a domain, down; it runs a program. */
static inline struct vcpu *world_vcpu(struct world *w, struct domain *d,
                                      const struct program *program, const void *params)
{
    struct guest *g = world_guest(w, d);
    struct guest_vcpu *gv = &g->vcpu[d->vcpu_count];
    struct vcpu *v = guest_add_vcpu(g);
    struct world_vcpu *wv = &w->vcpu[v->index];

    wv->vcpu = v;
    wv->channel = (struct evtchn){.vcpu = v, .handler = world_event};
    wv->created = w->queue.now;
    wv->thread = guest_add_thread(gv, program, params, "test", CLASS_NORMAL, 0);
    return v;
}

static inline void world_act(struct timer *t, sim_time now)
{
    struct world_act *a = container_of(t, struct world_act, timer);
    sim_time again;

    a->world->host->executing = a->vcpu ? a->vcpu->processor : 0;
    again = a->act(a->world, a->vcpu, a->arg, now);
    if (again > now)
        queue_arm_key(&a->world->queue, t, again, RANK_EXTERNAL, a->key);
}

static inline void world_at(struct world *w, sim_time date,
                            sim_time (*act)(struct world *, struct vcpu *, const void *, sim_time),
                            struct vcpu *v, const void *arg)
{
    struct world_act *a = xcalloc(1, sizeof *a);

    timer_init(&a->timer, world_act);
    a->world = w;
    a->act = act;
    a->vcpu = v;
    a->arg = arg;
    a->key = w->act_count++;
    a->next = w->acts;
    w->acts = a;
    queue_arm_key(&w->queue, &a->timer, date, RANK_EXTERNAL, a->key);
}

static inline sim_time world_do_start(struct world *w, struct vcpu *v, const void *arg,
                                      sim_time now)
{
    (void)w;
    (void)arg;
    (void)now;
    if (v->pause_flags & PAUSE_DOWN)
        vcpu_start(v);
    return 0;
}

static inline void world_start(struct world *w, struct vcpu *v, sim_time date)
{
    world_at(w, date, world_do_start, v, NULL);
}

/* A vCPU that computes without end, from `start` on, on one pCPU only. */
static inline struct vcpu *world_pinned_hog(struct world *w, struct domain *d, uint32_t cpu,
                                            sim_time start)
{
    struct vcpu *v = world_vcpu(w, d, &program_hog, NULL);
    cpumask m = cpumask_of(cpu);

    vcpu_set_affinity(v, &m, NULL);
    world_start(w, v, start);
    return v;
}

/* A vCPU that computes, then sleeps, and so on. */
static inline struct vcpu *world_sleeper(struct world *w, struct domain *d, sim_time compute,
                                         sim_time sleep, sim_time start)
{
    struct burst_sleep_params p = {compute, sleep};
    struct vcpu *v = world_vcpu(w, d, &program_burst_sleep, &p);

    world_start(w, v, start);
    return v;
}

/* A vCPU that waits for events, and computes for each. */
static inline struct vcpu *world_server(struct world *w, struct domain *d, sim_time compute,
                                        sim_time start)
{
    struct server_params p = {compute, false};
    struct vcpu *v = world_vcpu(w, d, &program_server, &p);

    world_start(w, v, start);
    return v;
}

static inline void world_hard(struct vcpu *v, uint32_t cpu, uint32_t other)
{
    cpumask m = cpumask_of(cpu);

    cpumask_set(&m, other);
    vcpu_set_affinity(v, &m, NULL);
}

static inline void world_soft(struct vcpu *v, uint32_t cpu, uint32_t other)
{
    cpumask m = cpumask_of(cpu);

    cpumask_set(&m, other);
    vcpu_set_affinity(v, NULL, &m);
}

static inline sim_time world_do_send(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    (void)arg;
    (void)now;
    evtchn_send(&w->vcpu[v->index].channel, false);
    return 0;
}

static inline void world_send(struct world *w, struct vcpu *v, sim_time date)
{
    world_at(w, date, world_do_send, v, NULL);
}

static inline void world_row(void *ctx, const char *text)
{
    struct world *w = ctx;
    size_t n = strlen(text);

    w->rows = xrealloc(w->rows, w->rows_used + n + 3);
    memcpy(w->rows + w->rows_used, text, n);
    w->rows_used += n;
    strcpy(w->rows + w->rows_used, "\n");
    w->rows_used++;
}

/* Collect rows from now on; not before the last vCPU is there. */
static inline void world_watch(struct world *w)
{
    world_row(w, "");
    csv_trace_attach(&w->trace, w->host, world_row, w);
}

/* Is there a row that begins like this? The time, the event, the executing pCPU, ... */
static inline bool world_has(const struct world *w, const char *start)
{
    char *text = xasprintf("\n%s", start);
    bool has = strstr(w->rows, text) != NULL;

    free(text);
    return has;
}

static inline void world_expect(const struct world *w, const char *start)
{
    if (!world_has(w, start))
        ck_abort_msg("no row \"%s\" in:%s", start, w->rows);
}

static inline void world_expect_not(const struct world *w, const char *start)
{
    if (world_has(w, start))
        ck_abort_msg("row \"%s\" should not be in:%s", start, w->rows);
}

/* How many rows contain this? */
static inline unsigned world_count(const struct world *w, const char *part)
{
    unsigned n = 0;

    for (const char *at = w->rows; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static inline void world_expect_on(const struct vcpu *v, uint32_t cpu)
{
    ck_assert_msg(v->is_running && v->processor == cpu, "domain %u vcpu %u: %s on pCPU %u, not %u",
                  v->domain->id, v->id, v->is_running ? "runs" : "does not run", v->processor, cpu);
}

static inline void world_expect_idle(const struct world *w, uint32_t cpu)
{
    ck_assert_msg(w->host->pcpu[cpu].current->idle, "pCPU %u does not idle", cpu);
}

/* Everything up to and including `until`. */
static inline void world_run(struct world *w, sim_time until)
{
    queue_run(&w->queue, until + 1);
    w->queue.now = until;
}

static inline void world_free(struct world *w)
{
    for (struct world_act *a = w->acts; a; a = a->next)
        queue_cancel(&w->queue, &a->timer);
    while (w->acts) {
        struct world_act *a = w->acts;

        w->acts = a->next;
        free(a);
    }
    csv_trace_free(&w->trace);
    free(w->rows);
    host_free(w->host);
    for (uint32_t i = 0; i < w->guests; i++)
        guest_free(w->guest[i]);
    queue_free(&w->queue);
    free(w);
}

#endif
