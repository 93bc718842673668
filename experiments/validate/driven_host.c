/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The model host has no guests, no costs and no clock of its own: its queue's date is set to that
 * of the record at hand, its scheduler's operations are called as the trace says, and the timers
 * and requests to decide that they make are taken away again.
 */
#include "experiments/validate/capture_host.h"
#include "experiments/validate/driven_inside.h"
#include "experiments/validate/xen_version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 4 };

static const struct follower *const followers[] = {&follower_credit, &follower_credit2,
                                                   &follower_rtds, &follower_null};

/* ---- saving and restoring a scheduler's state ------------------------------------------------ */

struct block_copy {
    struct driven *d;
    size_t at;
    bool restore;
};

static void copy_block(void *ctx, void *block, size_t size)
{
    struct block_copy *b = ctx;
    struct driven *d = b->d;

    if (!b->restore && b->at + size > d->saved_room) {
        d->saved_room = 2 * (b->at + size);
        d->saved = xrealloc(d->saved, d->saved_room);
    }
    if (b->restore)
        memcpy(block, d->saved + b->at, size);
    else
        memcpy(d->saved + b->at, block, size);
    b->at += size;
}

static void copy_vcpu(struct block_copy *b, const struct sched_ops *ops, struct vcpu *v)
{
    copy_block(b, v, sizeof *v);
    if (ops->vcpu_size)
        copy_block(b, v->sched, ops->vcpu_size);
}

static void copy_state(struct driven *d, struct pool_follow *pf, bool restore)
{
    struct block_copy b = {d, 0, restore};
    struct scheduler *s = pf->pool->scheduler;
    const struct sched_ops *ops = s->ops;

    copy_block(&b, s->data, ops->data_size);
    for_each_cpu(cpu, &pf->pool->cpus)
    {
        struct pcpu *p = &d->host->pcpu[cpu];

        copy_block(&b, p->sched, ops->pcpu_size);
        copy_vcpu(&b, ops, p->idle);
    }
    for (uint32_t i = 0; i < d->host->domain_count; i++)
        if (d->host->domain[i]->pool == pf->pool && ops->domain_size)
            copy_block(&b, d->host->domain[i]->sched, ops->domain_size);
    for_each_followed(dv, d, pf) copy_vcpu(&b, ops, dv->vcpu);
    if (pf->ops->blocks)
        pf->ops->blocks(s, copy_block, &b);
}

static bool keep_none(struct timer *t, void *arg)
{
    (void)t;
    (void)arg;
    return false;
}

/* No timer of the model's own, no pending decision: the trace says when. */
static void settle(struct driven *d)
{
    if (queue_first(&d->queue))
        queue_cancel_unless(&d->queue, keep_none, NULL);
    d->host->pending = (cpumask){{0}};
}

void driven_restore(struct driven *d, struct pool_follow *pf)
{
    settle(d);
    copy_state(d, pf, true);
}

void driven_fire(struct driven *d, struct timer *t, sim_time at)
{
    queue_cancel(&d->queue, t);
    d->queue.now = at;
    t->fire(t, at);
    settle(d);
}

/* ---- waking and sleeping --------------------------------------------------------------------- */

static void set_runstate(struct vcpu *v, enum runstate state, sim_time at)
{
    v->runstate = state;
    v->runstate_entry = at;
}

void driven_wake(struct driven *d, struct driven_vcpu *dv, sim_time at)
{
    struct scheduler *s = vcpu_scheduler(dv->vcpu);

    d->queue.now = at;
    dv->vcpu->pause_flags = 0;
    dv->vcpu->pause_count = 0;
    if (dv->vcpu->runstate >= RUNSTATE_BLOCKED)
        set_runstate(dv->vcpu, RUNSTATE_RUNNABLE, at);
    s->ops->wake(s, dv->vcpu);
}

static void put_to_sleep(struct driven *d, struct driven_vcpu *dv, unsigned state, sim_time at)
{
    struct vcpu *v = dv->vcpu;
    struct scheduler *s = vcpu_scheduler(v);

    if (v->is_running)
        return; /* the switch will tell */
    d->queue.now = at;
    if (state == XT_BLOCKED)
        v->pause_flags |= PAUSE_BLOCKED;
    else if (!v->pause_count && !v->pause_flags)
        v->pause_count = 1;
    set_runstate(v, (enum runstate)state, at);
    s->ops->sleep(s, v);
    settle(d);
}

static void compare_tickles(struct driven *d, struct pool_follow *pf, int told, bool known)
{
    bool same = true;

    for_each_cpu(cpu, &pf->pool->cpus)
    {
        bool yes = (int)cpu == told;

        if (yes == cpumask_test(&d->host->pending, cpu))
            continue;
        same = false;
        if (pf->ops->tickled)
            pf->ops->tickled(d, pf, cpu, yes);
    }
    d->step.woke = known && pf->ops->tickled; /* else no record says whom it told */
    d->step.woke_same = d->step.woke && same;
}

static void wakes(struct driven *d, struct driven_vcpu *dv, const struct follow_record *r)
{
    struct pool_follow *pf = driven_pool_of(d, dv->vcpu->domain->pool);
    bool known;

    if (!pf->ops)
        return;
    if (dv->vcpu->is_running) {
        d->resyncs++;
        return;
    }
    if (vcpu_runnable(dv->vcpu))
        return; /* the model has woken it itself (unparked) */
    known = pf->ops->known(d, pf);
    d->host->executing = r->pcpu;
    if (pf->ops->wakes)
        pf->ops->wakes(d, pf, dv, r);
    driven_wake(d, dv, r->at);
    d->step.pool = (uint32_t)(pf - d->pool);
    compare_tickles(d, pf, r->told, known);
    settle(d);
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* Everything that a switch changes in the core's objects. `woken`: prev had blocked, and was woken
 * after the decision. */
static void switch_to(struct driven *d, struct pcpu *p, struct vcpu *next, unsigned prev_to,
                      bool woken, sim_time at)
{
    struct scheduler *s = p->pool->scheduler;
    struct vcpu *prev = p->current;

    p->current = next;
    next->last_switch = at;
    set_runstate(prev, prev->idle ? RUNSTATE_RUNNABLE : (enum runstate)prev_to, at);
    set_runstate(next, RUNSTATE_RUNNING, at);
    next->is_running = true;
    prev->is_running = false;
    prev->last_switch = at;
    if (woken)
        driven_wake(d, &d->vcpu[prev->index], at);
    if (s->ops->context_saved)
        s->ops->context_saved(s, prev);
    settle(d);
}

/* How many vCPUs could this pCPU have run? */
static unsigned candidates(struct driven *d, const struct pool_follow *pf, const struct pcpu *p)
{
    unsigned n = 0;

    for_each_followed(dv, d, pf)
    {
        const struct vcpu *v = dv->vcpu;

        n += vcpu_runnable(v) && cpumask_test(&v->hard, p->id) &&
             (!v->is_running || p->current == v);
    }
    return n;
}

static const char *vcpu_text(const struct vcpu *v, char *text, size_t size)
{
    if (v->idle)
        snprintf(text, size, "idle");
    else
        snprintf(text, size, "%s#%" PRIu32 "/v%" PRIu32, v->domain->name, v->domain->id, v->id);
    return text;
}

static char *explain(const struct driven *d, const struct pcpu *p, const struct vcpu *model,
                     const struct vcpu *next, const char *why, const char *queue, sim_time at)
{
    char a[96], b[96], c[96];
    const struct vcpu *prev = p->current;

    return xasprintf(
        "%.6f s, pCPU %" PRIu32 ", after %s (ran %.1f us%s%s): Xen %s, model %s: %s; queue: %s",
        (double)(at - TRACE_BEGIN) / NS_PER_S, p->id, vcpu_text(prev, a, sizeof a),
        (double)(at - prev->last_switch) / NS_PER_US,
        prev->idle || vcpu_runnable(prev) ? "" : ", no longer runnable",
        d->pcpu[p->id].ratelimited ? ", ratelimited" : "", vcpu_text(next, b, sizeof b),
        vcpu_text(model, c, sizeof c), why ? why : "no reason given", *queue ? queue : "empty");
}

static struct vcpu *ask(struct driven *d, struct pcpu *p, sim_time at)
{
    struct scheduler *s = p->pool->scheduler;
    struct vcpu *next;

    d->queue.now = at;
    d->host->executing = p->id;
    s->why = NULL;
    next = s->ops->schedule(s, p, at).next;
    settle(d);
    return next;
}

/* Insist until the scheduler chooses whom Xen chose. False: it cannot be brought to it. */
static bool insist(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                   sim_time at)
{
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        driven_restore(d, pf);
        if (!pf->ops->persuade(d, pf, p, next, attempt, at))
            break;
        if (ask(d, p, at) == next)
            return true;
    }
    driven_restore(d, pf);
    return false;
}

/* prev stops running, into this state: what the scheduler will find when asked. */
static void mark_prev(struct vcpu *prev, unsigned to)
{
    if (prev->idle)
        return;
    if (to == XT_BLOCKED) {
        prev->pause_flags |= PAUSE_BLOCKED;
    } else if (to == XT_OFFLINE) {
        if (!prev->pause_count && !prev->pause_flags)
            prev->pause_count = 1;
    } else {
        prev->pause_flags = 0;
        prev->pause_count = 0;
    }
}

static void decide(struct driven *d, struct pcpu *p, unsigned prev_to, struct vcpu *next,
                   sim_time at, bool judge)
{
    struct pool_follow *pf = driven_pool_of(d, p->pool);
    struct scheduler *s = p->pool->scheduler;
    struct vcpu *prev = p->current, *model;
    bool woken = prev_to == XT_RUNNABLE && prev != next && d->pcpu[p->id].gone == prev;
    char queue[512] = "";

    if (!next->idle && next != prev && !vcpu_runnable(next)) {
        d->resyncs++;
        driven_wake(d, &d->vcpu[next->index], at);
        settle(d);
    }
    mark_prev(prev, woken ? XT_BLOCKED : prev_to);
    d->step.pool = (uint32_t)(pf - d->pool);
    d->step.decided = true;
    d->step.judged = judge && pf->ops->known(d, pf);
    d->step.choice = candidates(d, pf, p) > 1;
    if (s->ops->queue_text && d->speaks)
        s->ops->queue_text(s, p, queue, sizeof queue);
    copy_state(d, pf, false);
    model = ask(d, p, at);
    d->step.same = model == next;
    d->step.answer = model->idle ? VCPU_IDLE : (int16_t)model->index;
    if (model != next) {
        if (d->speaks && d->step.judged) {
            free(d->step.text);
            d->step.text = explain(d, p, model, next, s->why, queue, at);
        }
        if (!insist(d, pf, p, next, at)) {
            d->resyncs++;
            if (!next->idle && next != prev) /* out of the queue with it */
                s->ops->sleep(s, next);
            settle(d);
        }
    }
    if (next != prev)
        switch_to(d, p, next, prev_to, woken, at);
    if (!next->idle)
        d->vcpu[next->index].ran = true;
    if (pf->ops->decided)
        pf->ops->decided(d, pf, p, next, at);
}

/* ---- records --------------------------------------------------------------------------------- */

static struct vcpu *vcpu_of(struct driven *d, const struct follow_record *r)
{
    uint32_t number = r->word[0] & 0xffff;

    if (r->vcpu == VCPU_IDLE) /* each pCPU has its own; else the record is damaged */
        return number == r->pcpu ? d->host->pcpu[number].idle : NULL;
    return r->vcpu >= 0 ? d->vcpu[r->vcpu].vcpu : NULL;
}

static void on_switched_in(struct driven *d, const struct follow_record *r, struct vcpu *v)
{
    struct driven_pcpu *dp = &d->pcpu[r->pcpu];
    struct pcpu *p = &d->host->pcpu[r->pcpu];
    bool fits = dp->prev == p->current;

    if (p->current == v)
        return;
    d->resyncs += !fits;
    if (!v->idle && v->is_running) { /* on another pCPU, says the model: records were lost */
        d->resyncs++;
        return;
    }
    if (!v->idle && v->domain->pool != p->pool)
        return;
    decide(d, p, fits ? dp->prev_to : XT_RUNNABLE, v, dp->open ? dp->decision : r->at,
           fits && dp->open);
}

static void on_runstate(struct driven *d, const struct follow_record *r)
{
    struct driven_pcpu *dp = &d->pcpu[r->pcpu];
    struct vcpu *v = vcpu_of(d, r);
    unsigned from = follow_from(r), to = follow_to(r);

    if (!v)
        return;
    if (from == XT_RUNNING) {
        dp->prev = v;
        dp->prev_to = (uint8_t)to;
    } else if (to == XT_RUNNING) {
        on_switched_in(d, r, v);
        *dp = (struct driven_pcpu){0};
    } else if (!v->idle && to == XT_RUNNABLE) {
        wakes(d, &d->vcpu[v->index], r);
    } else if (!v->idle) {
        put_to_sleep(d, &d->vcpu[v->index], to, r->at);
    }
}

static void on_continue(struct driven *d, const struct follow_record *r)
{
    struct driven_pcpu *dp = &d->pcpu[r->pcpu];
    struct pcpu *p = &d->host->pcpu[r->pcpu];
    struct vcpu *v = vcpu_of(d, r);

    if (v && !v->idle && v->domain->pool != p->pool)
        v = NULL; /* it is being moved */
    if (v && v == p->current && dp->open) {
        decide(d, p, XT_RUNNABLE, v, dp->decision, true);
    } else if (v && v != p->current && !v->is_running) {
        d->resyncs++;
        decide(d, p, XT_RUNNABLE, v, r->at, false);
    }
    *dp = (struct driven_pcpu){0};
}

/* Who has blocked may be woken before it is switched out: its runstate goes from running to
 * runnable then, and it depends on the order whether the scheduler found it blocked. */
static void on_block_or_wake(struct driven *d, const struct follow_record *r)
{
    struct driven_vcpu *dv = driven_named(d, r);

    if (!dv)
        return;
    for (uint32_t i = 0; i < d->host->pcpu_count; i++) {
        struct driven_pcpu *dp = &d->pcpu[i];

        if (d->host->pcpu[i].current != dv->vcpu)
            continue;
        if (r->event == XT_BLOCK)
            dp->gone = dv->vcpu;
        else if (!dp->open)
            dp->gone = NULL;
    }
}

/* The pool that a record is about: that of the vCPU or pCPU that it names, if it names one; dom0
 * may wake a guest of another pool, and all that this leads to happens on dom0's pCPU. */
static struct pool_follow *concerned(struct driven *d, const struct follow_record *r)
{
    bool tickle =
        r->event == XT_CSCHED_TICKLE || r->event == XT_CSCHED2_TICKLE || r->event == XT_RTDS_TICKLE;
    uint32_t cpu = tickle && r->words ? r->word[0] : r->pcpu;
    const struct driven_vcpu *dv = driven_named(d, r);

    if (dv)
        return driven_pool_of(d, dv->vcpu->domain->pool);
    return cpu < d->host->pcpu_count && d->host->pcpu[cpu].pool
               ? driven_pool_of(d, d->host->pcpu[cpu].pool)
               : NULL;
}

void driven_take(struct driven *d, size_t i)
{
    const struct follow_record *r = &d->trace->rec[i];
    struct pool_follow *pf = concerned(d, r);

    free(d->step.text);
    d->step = (struct driven_step){0};
    if (r->event == XT_BLOCK || r->event == XT_WAKE)
        on_block_or_wake(d, r);
    if (!pf || !pf->ops || r->pcpu >= d->host->pcpu_count)
        return;
    for (int k = 0; k < 2; k++)
        if (d->pool[k].ops && d->pool[k].ops->advance)
            d->pool[k].ops->advance(d, &d->pool[k], r);
    if (follow_is_runstate(r)) {
        on_runstate(d, r);
    } else if (r->event == XT_CONTINUE_RUNNING) {
        on_continue(d, r);
    } else {
        if (r->event == pf->ops->schedule_event)
            d->pcpu[r->pcpu] = (struct driven_pcpu){
                .open = true, .decision = r->at, .gone = d->pcpu[r->pcpu].gone};
        pf->ops->record(d, pf, r);
    }
    settle(d);
}

/* ---- building -------------------------------------------------------------------------------- */

static struct cpupool *add_pool(struct driven *d, const char *name, const char *scheduler,
                                bool guests, cpumask cpus)
{
    const struct sched_ops *ops = scheduler_by_name(scheduler);
    void *params = capture_scheduler_params(d->capture, ops, guests);
    struct cpupool *pool =
        host_add_pool(d->host, name, ops, params, ops->params ? ops->params->size : 0);

    for_each_cpu(cpu, &cpus) pool_add_pcpu(pool, &d->host->pcpu[cpu]);
    free(params);
    settle(d);
    return pool;
}

static const struct capture_guest *guest_of(const struct capture *c, uint32_t domain)
{
    for (size_t i = 0; i < c->guests; i++)
        if (c->guest[i].domain == domain)
            return &c->guest[i];
    return NULL;
}

static cpumask affinity(const struct capture *c, const struct capture_guest *g, uint32_t domain)
{
    if (!domain)
        return c->dom0_cpus;
    if (!g)
        return cpumask_all();
    return c->placement == PLACED_PINNED ? cpumask_and(&g->pinned, &c->guest_cpus) : g->pinned;
}

/* vCPU i of the trace's list; the list has all of a domain one after the other, but strangers
 * may have grown. */
static void add_vcpu(struct driven *d, size_t i, struct cpupool *dom0, struct cpupool *guests)
{
    const struct follow_vcpu *f = &d->trace->vcpu[i];
    const struct capture_guest *g = guest_of(d->capture, f->domain);
    cpumask hard = affinity(d->capture, g, f->domain);
    struct domain *dom = NULL;
    struct vcpu *v;

    for (uint32_t k = 0; k < d->host->domain_count; k++)
        if (d->host->domain[k]->id == f->domain)
            dom = d->host->domain[k];
    if (!dom)
        dom = domain_create(f->domain ? guests : dom0, f->domain,
                            !f->domain ? "dom0"
                            : g        ? g->name
                                       : "d",
                            g ? g->weight : 0, 0);
    v = domain_add_vcpu(dom, &d->guest, NULL);
    d->vcpu[i].vcpu = v;
    if (!cpumask_subset(&dom->pool->cpus, &hard))
        vcpu_set_affinity(v, &hard, NULL);
    if (g) {
        if (g->cap && v->id + 1 == g->vcpus)
            domain_set(dom, g->weight, g->cap);
        capture_set_vcpu(g, v);
    }
    settle(d);
}

static void place(struct vcpu *v, uint32_t pcpu)
{
    struct scheduler *s = vcpu_scheduler(v);

    if (v->processor == pcpu || pcpu >= MAX_PCPUS || !cpumask_test(&v->domain->pool->cpus, pcpu))
        return;
    if (s->ops->migrate)
        s->ops->migrate(s, v, pcpu);
    else
        v->processor = pcpu;
}

/* Runs before the others wait: with nobody else about the scheduler takes it. */
static void begin_running(struct driven *d, struct driven_vcpu *dv, uint32_t pcpu)
{
    struct pcpu *p = &d->host->pcpu[pcpu];

    driven_wake(d, dv, TRACE_BEGIN);
    settle(d);
    if (ask(d, p, TRACE_BEGIN) == dv->vcpu) {
        switch_to(d, p, dv->vcpu, XT_RUNNABLE, false, TRACE_BEGIN);
        dv->ran = true;
    } else {
        d->resyncs++;
    }
}

static void begin_vcpu(struct driven *d, size_t i)
{
    const struct follow_vcpu *f = &d->trace->vcpu[i];
    struct vcpu *v = d->vcpu[i].vcpu;
    bool blocked = f->seen && f->state == XT_BLOCKED;

    v->pause_flags = blocked ? PAUSE_BLOCKED : 0;
    v->pause_count = !blocked;
    set_runstate(v, blocked ? RUNSTATE_BLOCKED : RUNSTATE_OFFLINE, TRACE_BEGIN);
    if (f->seen)
        place(v, f->pcpu);
}

static void begin_state(struct driven *d)
{
    const struct follow_trace *t = d->trace;
    bool *waiting = xcalloc(t->vcpus + 1, sizeof *waiting);

    d->queue.now = TRACE_BEGIN;
    for (size_t i = 0; i < t->vcpus; i++)
        begin_vcpu(d, i);
    for (size_t i = 0; i < t->vcpus; i++) {
        const struct follow_vcpu *f = &t->vcpu[i];

        waiting[i] = f->seen && f->state == XT_RUNNABLE;
        if (f->seen && f->state == XT_RUNNING && f->pcpu < d->host->pcpu_count &&
            d->host->pcpu[f->pcpu].pool == d->vcpu[i].vcpu->domain->pool &&
            d->host->pcpu[f->pcpu].current->idle)
            begin_running(d, &d->vcpu[i], f->pcpu);
    }
    /* Those that wait, in the order in which they will be taken. */
    for (size_t k = 0; k < t->recs; k++) {
        const struct follow_record *r = &t->rec[k];

        if (!follow_is_runstate(r) || r->vcpu < 0 || !waiting[r->vcpu])
            continue;
        waiting[r->vcpu] = false;
        driven_wake(d, &d->vcpu[r->vcpu], TRACE_BEGIN);
        settle(d);
    }
    free(waiting);
}

static const struct follower *follower_of(const struct cpupool *pool)
{
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++)
        if (!strcmp(followers[i]->scheduler, pool->scheduler->ops->name))
            return followers[i];
    return NULL;
}

static void prepare_followers(struct driven *d)
{
    for (uint32_t i = 0; i < d->host->pool_count; i++) {
        struct pool_follow *pf = &d->pool[i];

        pf->pool = d->host->pool[i];
        pf->ops = follower_of(pf->pool);
        if (!pf->ops)
            continue;
        pf->of = xcalloc(1, pf->ops->pool_size);
        for_each_followed(dv, d, pf) dv->of = xcalloc(1, pf->ops->vcpu_size);
    }
}

void driven_build(struct driven *d, const struct capture *c, const struct follow_trace *t)
{
    cpumask all = cpumask_first_n(c->pcpus), rest = cpumask_andnot(&all, &c->guest_cpus);
    cpumask mine = cpumask_and(&all, &c->guest_cpus);
    struct cpupool *dom0, *guests;

    *d = (struct driven){.capture = c, .trace = t};
    queue_init(&d->queue);
    d->host = host_new(&d->queue, "traced", c->pcpus, 1, 0, 0);
    d->host->version = xen_version_of(c->xen);
    d->pcpu = xcalloc(c->pcpus, sizeof *d->pcpu);
    d->vcpu = xcalloc(t->vcpus + 1, sizeof *d->vcpu);
    if (c->placement == PLACED_POOL && !cpumask_empty(&rest)) {
        dom0 = add_pool(d, "Pool-0", c->dom0_scheduler, false, rest);
        guests = add_pool(d, "P1", c->scheduler, true, mine);
    } else {
        dom0 = guests = add_pool(d, "Pool-0", c->scheduler, true, all);
    }
    for (size_t i = 0; i < t->vcpus; i++)
        add_vcpu(d, i, dom0, guests);
    begin_state(d);
    settle(d);
    prepare_followers(d);
}

void driven_free(struct driven *d)
{
    for (int i = 0; i < 2; i++)
        free(d->pool[i].of);
    for (size_t i = 0; i < d->trace->vcpus; i++)
        free(d->vcpu[i].of);
    settle(d);
    host_free(d->host);
    queue_free(&d->queue);
    free(d->pcpu);
    free(d->vcpu);
    free(d->saved);
    free(d->step.text);
}
