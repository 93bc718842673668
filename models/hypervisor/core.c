/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runstates, wake and block, choosing and switching, migration through the core, event channels.
 * The building of hosts is in build.c.
 */
#include "models/hypervisor/core.h"

#include "models/hypervisor/turns.h"

#include "sim/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* A vCPU that waits this long for a pCPU that goes idle was forgotten by its scheduler. */
static const sim_time FORGOTTEN_AFTER = 10 * NS_PER_S;

/* More decisions than any sane schedule has at one date. */
enum { DECISIONS_IN_INSTANT = 1000000 };

/* ---- observing ------------------------------------------------------------------------------ */

const struct observation_name observation_names[OBS_KINDS] = {
#define X(kind, text, a, b, c, d) [OBS_##kind] = {text, {a, b, c, d}},
    OBSERVATIONS(X)
#undef X
};

void host_see(struct host *h, enum observation_kind kind, struct vcpu *v, int64_t a, int64_t b,
              int64_t c, int64_t d)
{
    const struct observation obs = {
        .time = h->queue->now, .kind = kind, .pcpu = h->executing, .vcpu = v, .arg = {a, b, c, d}};

    for (struct observer *o = h->observers; o; o = o->next)
        if (o->kinds >> kind & 1 && !(h->in_switch && o->switched))
            o->see(o, h, &obs);
}

static void see_switch(struct host *h, struct context_switch *s)
{
    s->time = h->queue->now;
    s->pcpu = h->executing;
    h->in_switch = false;
    for (struct observer *o = h->observers; o; o = o->next)
        if (o->switched)
            o->switched(o, h, s);
}

/* What can only be said once a handler is done: who was moved, and the observers' own wishes. */
static void handler_done(struct host *h)
{
    for (struct observer *o = h->observers; o; o = o->next)
        if (o->handled)
            o->handled(o, h);
    if (!(h->observed >> OBS_MIGRATE & 1))
        return;
    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        struct vcpu *v = h->vcpu[i];

        if (v->processor != v->shadow_processor) {
            observe2(h, MIGRATE, v, v->shadow_processor, v->processor);
            v->shadow_processor = v->processor;
        }
    }
}

static void after_event(struct queue *q)
{
    handler_done(q->owner);
}

void host_observe(struct host *h, struct observer *o)
{
    struct observer **at = &h->observers;

    while (*at)
        at = &(*at)->next;
    o->next = NULL;
    *at = o;
    h->observed |= o->kinds;
    h->queue->owner = h;
    h->watched_switches |= o->switched != NULL;
    if (o->handled || o->kinds >> OBS_MIGRATE & 1) {
        h->queue->after = after_event;
        h->watched_handlers = true;
    }
    for (uint32_t i = 0; i < h->vcpu_count; i++)
        h->vcpu[i]->shadow_processor = h->vcpu[i]->processor;
}

void host_observe_less(struct host *h, struct observer *o, enum observation_kind kind)
{
    o->kinds &= ~(UINT64_C(1) << kind);
    h->observed = 0;
    for (const struct observer *each = h->observers; each; each = each->next)
        h->observed |= each->kinds;
}

/* ---- runstates ------------------------------------------------------------------------------ */

static void runstate_change(struct vcpu *v, enum runstate state, sim_time now)
{
    if (v->runstate == state)
        return;
    observe2(vcpu_host(v), RUNSTATE, v, v->runstate, state);
    if (now > v->runstate_entry) {
        v->runstate_time[v->runstate] += now - v->runstate_entry;
        v->runstate_entry = now;
    }
    v->runstate = state;
}

sim_time vcpu_runstate_time(const struct vcpu *v, enum runstate state)
{
    sim_time t = v->runstate_time[state], now = vcpu_host(v)->queue->now;

    if (v->runstate == state && now > v->runstate_entry)
        t += now - v->runstate_entry;
    return t;
}

/* ---- bursts: the guest's progress on a pCPU -------------------------------------------------- */

/* Time that `work` takes at the pCPU's present speed, rounded up. */
static sim_time work_to_time(const struct pcpu *p, sim_time work)
{
    if (p->speed_now == SPEED_ONE)
        return work;
    return (sim_time)(((int128)work * SPEED_ONE + p->speed_now - 1) / p->speed_now);
}

static sim_time time_to_work(const struct pcpu *p, sim_time time)
{
    if (p->speed_now == SPEED_ONE)
        return time;
    return (sim_time)((int128)time * p->speed_now / SPEED_ONE);
}

static void burst_arm(struct pcpu *p, struct vcpu *v)
{
    if (v->burst_left != SIM_NEVER && !p->waits_turn)
        queue_arm_key(p->host->queue, &p->burst, v->burst_since + work_to_time(p, v->burst_left),
                      RANK_BURST, p->id);
}

/* Bring burst_left up to date; the burst timer is stopped. */
static void burst_pause(struct pcpu *p, struct vcpu *v, sim_time now)
{
    sim_time done;

    queue_cancel(p->host->queue, &p->burst);
    if (now <= v->burst_since)
        return;
    if (p->waits_turn) {
        v->burst_since = now;
        return;
    }
    done = time_to_work(p, now - v->burst_since);
    if (done > v->burst_left)
        done = v->burst_left;
    if (v->burst_left != SIM_NEVER)
        v->burst_left -= done;
    v->progress += done;
    v->burst_since = now;
}

static bool is_current(const struct vcpu *v)
{
    return vcpu_pcpu(v)->current == v;
}

void vcpu_compute(struct vcpu *v, sim_time work)
{
    struct pcpu *p = vcpu_pcpu(v);
    sim_time now = p->host->queue->now;

    if (!is_current(v)) {
        v->burst_left = work;
        return;
    }
    burst_pause(p, v, now);
    v->burst_left = work;
    burst_arm(p, v);
}

void vcpu_burst_stop(struct vcpu *v)
{
    if (is_current(v))
        burst_pause(vcpu_pcpu(v), v, vcpu_host(v)->queue->now);
    v->burst_left = 0;
}

static void burst_done(struct timer *t, sim_time now)
{
    struct pcpu *p = container_of(t, struct pcpu, burst);
    struct vcpu *v = p->current;

    p->host->executing = p->id;
    v->progress += v->burst_left;
    v->burst_left = 0;
    v->burst_since = now;
    v->guest->act(v, now);
    if (v->burst_left == 0 && !timer_armed(&p->burst) && !cpumask_test(&p->host->pending, p->id))
        BUG("domain %u vcpu %u neither computes nor gives up its pCPU", v->domain->id, v->id);
}

static void deliver_upcall(struct pcpu *p, struct vcpu *v, sim_time now)
{
    v->upcall_pending = false;
    if (v->guest->upcall)
        v->guest->upcall(v, now);
    if (!timer_armed(&p->burst))
        burst_arm(p, v);
}

/* The current vCPU goes on, or begins: deliver what is pending, see that its burst is timed. */
static void run_current(struct pcpu *p, sim_time now)
{
    struct vcpu *v = p->current;

    if (v->idle)
        return;
    if (v->upcall_pending)
        deliver_upcall(p, v, now);
    else if (!timer_armed(&p->burst))
        burst_arm(p, v);
}

/* ---- SMT: a busy sibling slows a thread down --------------------------------------------------
 */

static void set_speed(struct pcpu *p, uint32_t speed, sim_time now)
{
    if (p->speed_now == speed)
        return;
    if (!p->current->idle) {
        bool armed = timer_armed(&p->burst);

        burst_pause(p, p->current, now);
        p->speed_now = speed;
        if (armed)
            burst_arm(p, p->current);
    }
    p->speed_now = speed;
}

static bool thread_busy(const struct pcpu *p)
{
    return p->current && !p->current->idle;
}

/* After a switch on p: it and its siblings run at nominal speed alone, slower together. */
static void smt_update(struct pcpu *p, sim_time now)
{
    struct host *h = p->host;
    uint32_t busy = 0;

    if (h->costs.smt_factor == 100 || cpumask_single(&p->siblings))
        return;
    for_each_cpu(c, &p->siblings) busy += thread_busy(&h->pcpu[c]);
    for_each_cpu(c, &p->siblings)
    {
        struct pcpu *s = &h->pcpu[c];

        if (s->current)
            set_speed(s, busy > 1 ? (uint32_t)(s->speed * h->costs.smt_factor / 100) : s->speed,
                      now);
    }
}

/* ---- broken rules ---------------------------------------------------------------------------- */

void host_fault(struct host *h, const char *fmt, ...)
{
    char text[512];
    const struct pcpu *p = &h->pcpu[h->executing];
    va_list ap;

    if (h->fault)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    h->fault = xasprintf("scheduler %s at %" PRId64 " ns: %s",
                         p->pool ? p->pool->scheduler->ops->name : "?", h->queue->now, text);
    h->queue->stopped = true;
}

void pcpu_set_speed(struct pcpu *p, uint32_t speed)
{
    sim_time now = p->host->queue->now;

    p->speed = speed;
    if (!p->current)
        p->speed_now = speed;
    else if (p->host->costs.smt_factor == 100 || cpumask_single(&p->siblings))
        set_speed(p, speed, now);
    else
        smt_update(p, now);
}

/* ---- choosing and switching ------------------------------------------------------------------ */

void host_vary(struct host *h, uint64_t seed, uint64_t replication, const char *entity)
{
    rng_init(&h->rng, seed, replication, entity, "timers");
    h->varies = true;
}

/* A slice ends so much later. Not other timers: what is set by a handler before the decision that
 * follows it comes first. */
static sim_time jitter(struct host *h)
{
    if (!h->varies || !h->costs.timer_jitter)
        return 0;
    return (sim_time)rng_below(&h->rng, (uint64_t)h->costs.timer_jitter);
}

/* Xen's timer_slop: t is the first of its pCPU's timers now, or was, so that the pCPU sets its
 * hardware anew, to a date that is not nearer than the slop. */
static sim_time set_hardware(struct pcpu *p, const struct timer *t, sim_time when)
{
    sim_time now = p->host->queue->now, first = queue_next_of(p->host->queue, p->id + 1);

    if (when >= first && !(timer_armed(t) && t->when == first))
        return when;
    p->timers_begun = p->timers_set = now;
    return when > now + p->host->costs.timer_slop ? when : now + p->host->costs.timer_slop;
}

/* So long after that no timer interrupts it: one that is due before is put off. Not one that was
 * due when the others were handled, but is handled by its own date here. */
static bool put_off(struct pcpu *p, struct timer *t)
{
    struct host *h = p->host;
    sim_time now = h->queue->now;
    sim_time date = p->timers_set + h->costs.timer_slop + h->costs.timer_latency;

    if (p->lates || now <= p->timers_begun || now < p->timers_begun + h->costs.timer_latency ||
        now >= date)
        return false;
    queue_arm(h->queue, t, date);
    return true;
}

bool pcpu_defers(struct pcpu *p, struct timer *t)
{
    struct host *h = p->host;

    if (p->in_late)
        return false;
    if (h->costs.timer_slop > 0 && put_off(p, t))
        return true;
    if (turns_defer(p, t))
        return true;
    if (h->queue->now >= p->timers_begun + h->costs.timer_latency)
        p->timers_begun = h->queue->now;
    if (h->queue->now > p->timers_set)
        p->timers_set = h->queue->now;
    return false;
}

static void arm_on(struct host *h, uint32_t cpu, struct timer *t, sim_time when)
{
    bool among_timers = h->queue->handling == RANK_TIMER || h->queue->handling == RANK_LATE;

    if (h->costs.timer_slop > 0 && !among_timers)
        when = set_hardware(&h->pcpu[cpu], t, when);
    t->owner = cpu + 1;
    if (when <= h->queue->now && !among_timers) {
        queue_arm_late(h->queue, t, when);
        return;
    }
    if (when > h->queue->now)
        when += h->costs.timer_latency;
    queue_arm(h->queue, t, when);
    turns_timer_set(&h->pcpu[cpu]);
}

void host_arm(struct host *h, struct timer *t, sim_time when)
{
    arm_on(h, h->executing, t, when);
}

void host_rearm(struct host *h, struct timer *t, sim_time when, sim_time work)
{
    struct pcpu *p = &h->pcpu[h->executing];
    sim_time now = h->queue->now, begun = p->timers_set > now ? p->timers_set : now;

    if (work)
        p->timers_set = begun + work;
    host_arm(h, t, when + (work ? begun - now + work : 0));
}

static void settle_arm(struct host *h)
{
    if (!timer_armed(&h->settle))
        queue_arm_key(h->queue, &h->settle, h->queue->now, RANK_SETTLE, 0);
}

static void raise_here(struct pcpu *p)
{
    if (!turns_hold(p)) {
        p->asked = true;
        return;
    }
    cpumask_set(&p->host->pending, p->id);
    settle_arm(p->host);
}

void core_turn_lost(struct pcpu *p, sim_time now)
{
    if (p->current && !p->current->idle)
        burst_pause(p, p->current, now);
    p->waits_turn = true;
    if (cpumask_test(&p->host->pending, p->id)) {
        cpumask_clear(&p->host->pending, p->id);
        p->asked = true;
    }
}

void core_turn_won(struct pcpu *p, sim_time now)
{
    p->waits_turn = false;
    p->host->executing = p->id;
    if (p->current && p->current->burst_since < now)
        p->current->burst_since = now;
    p->in_late = true;
    for (uint32_t i = 0; i < p->lates; i++)
        if (!timer_armed(p->late[i]))
            p->late[i]->fire(p->late[i], now);
    p->in_late = false;
    if (p->lates) {
        p->lates = 0;
        p->timers_begun = now;
        if (p->timers_set < now)
            p->timers_set = now;
        p->deadline = -1; /* it sets its timer anew, whatever the date */
        turns_timer_set(p);
    }
    if (p->asked) {
        p->asked = false;
        if (!timer_armed(&p->ipi)) /* no deadline of the emulator's: it would end the turn first */
            queue_arm_key(p->host->queue, &p->ipi, now + p->host->costs.ipi, RANK_EXTERNAL, p->id);
    }
    if (!p->current)
        return;
    run_current(p, now);
    if (p->current->idle && !timer_armed(&p->ipi) && !cpumask_test(&p->host->pending, p->id))
        turns_idle(p); /* its timers were all */
}

static void ipi_fire(struct timer *t, sim_time now)
{
    (void)now;
    raise_here(container_of(t, struct pcpu, ipi));
}

void pcpu_reschedule(struct pcpu *p)
{
    struct host *h = p->host;
    bool here = p->id == h->executing;
    sim_time delay = here ? h->costs.wake : h->costs.ipi;

    if (delay <= 0)
        raise_here(p);
    else if (!timer_armed(&p->ipi)) /* its own softirq is no deadline of the emulator's */
        queue_arm_key(h->queue, &p->ipi, h->queue->now + delay, here ? RANK_EXTERNAL : RANK_TIMER,
                      p->id);
}

static void slice_end(struct timer *t, sim_time now)
{
    struct pcpu *p = container_of(t, struct pcpu, slice);

    if (pcpu_defers(p, t))
        return;
    p->host->executing = p->id;
    if (!p->host->costs.slice_latency)
        raise_here(p);
    else if (!timer_armed(&p->ipi))
        queue_arm_key(p->host->queue, &p->ipi, now + p->host->costs.slice_latency, RANK_EXTERNAL,
                      p->id);
}

/* Work that a vCPU loses to a cold cache: all of it after cache_lifetime of others' running,
 * proportionally less before. (A linear loss is assumed.) */
static sim_time cache_refill(const struct host *h, const struct vcpu *v, sim_time now)
{
    sim_time away = now - v->last_switch;

    if (!h->costs.cache_refill || away <= 0)
        return 0;
    if (away >= h->costs.cache_lifetime)
        return h->costs.cache_refill;
    return (sim_time)((int128)h->costs.cache_refill * away / h->costs.cache_lifetime);
}

static void context_saved(struct scheduler *s, struct vcpu *v, sim_time now)
{
    v->is_running = false;
    v->last_switch = now;
    if (s->ops->context_saved)
        s->ops->context_saved(s, v);
    if (v->pause_flags & PAUSE_MIGRATING && !v->is_running)
        vcpu_migrate_finish(v);
}

/* The runstate of one that is switched out. */
static enum runstate state_after(const struct vcpu *v)
{
    return v->pause_flags & PAUSE_BLOCKED ? RUNSTATE_BLOCKED
           : vcpu_runnable(v)             ? RUNSTATE_RUNNABLE
                                          : RUNSTATE_OFFLINE;
}

static void switch_to(struct pcpu *p, struct scheduler *s, struct vcpu *prev, struct vcpu *next,
                      sim_time slice, sim_time now)
{
    struct host *h = p->host;
    struct context_switch whole;
    sim_time since = h->version < XEN_4_17 ? next->runstate_entry : next->last_switch;
    sim_time overhead = 0, waited;

    if (!prev->idle) {
        burst_pause(p, prev, now);
        if (prev->guest->preempted)
            prev->guest->preempted(prev, now);
    }
    if (!next->idle)
        overhead = h->costs.context_switch + p->pool->overhead + cache_refill(h, next, now);
    h->switches++;
    p->current = next;
    waited = next->runstate == RUNSTATE_RUNNABLE ? now - since : 0;
    observe1(h, SWITCH_OUT, prev, vcpu_ran(prev, now));
    observe2(h, SWITCH_IN, next, waited, slice);
    if (h->watched_switches) {
        whole = (struct context_switch){.prev = prev,
                                        .next = next,
                                        .prev_to = (uint8_t)state_after(prev),
                                        .next_from = (uint8_t)next->runstate,
                                        .ran = vcpu_ran(prev, now),
                                        .waited = waited,
                                        .slice = slice};
        h->in_switch = true;
    }
    next->last_switch = now;
    runstate_change(prev, state_after(prev), now);
    runstate_change(next, RUNSTATE_RUNNING, now);
    if (h->watched_switches)
        see_switch(h, &whole);
    next->is_running = true;
    next->burst_since = now + overhead;
    smt_update(p, now);
    context_saved(s, prev, now);
}

static sim_time waiting_since(const struct vcpu *v)
{
    return v->runstate == RUNSTATE_RUNNABLE ? v->runstate_entry : SIM_NEVER;
}

void host_check_forgotten(struct host *h, sim_time limit)
{
    sim_time now = h->queue->now;

    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];

        if (waiting_since(v) < now - limit)
            host_fault(h,
                       "domain %u (%s) vcpu %u has been runnable since %" PRId64
                       " ns and was not run: a vCPU that wakes must be queued, and found again",
                       v->domain->id, v->domain->name, v->id, waiting_since(v));
    }
}

/* The pCPU goes idle: nobody who may run here may have been waiting for it for long. */
static void check_idling(struct pcpu *p, sim_time now)
{
    struct host *h = p->host;

    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];

        if (v->processor == p->id && waiting_since(v) < now - FORGOTTEN_AFTER)
            host_fault(h,
                       "pCPU %u goes idle, but domain %u (%s) vcpu %u, runnable since %" PRId64
                       " ns, belongs to it: a vCPU that wakes must be queued, and found again",
                       p->id, v->domain->id, v->domain->name, v->id, waiting_since(v));
    }
}

/* The rules of a decision. NULL: kept. */
static const char *broken_rule(const struct pcpu *p, const struct sched_ops *ops,
                               const struct decision *d)
{
    const struct vcpu *v = d->next;

    if (!v)
        return "schedule must return a vCPU: the pCPU's idle vCPU when there is nothing to run";
    if (d->slice < -1)
        return "a slice is a time, or -1 for no limit";
    if (v == p->idle)
        return NULL;
    if (v->idle)
        return "it is another pCPU's idle vCPU";
    if (v->processor != p->id)
        return "it is assigned to another pCPU: set v->processor when taking it over";
    if (v->is_running && v != p->current)
        return "it is running on another pCPU";
    if (!vcpu_runnable(v) && !ops->ghosts)
        return "it is not runnable: take vCPUs out of the queue in sleep";
    if (v != p->current && !cpumask_test(&v->hard, p->id))
        return "its hard affinity does not allow this pCPU";
    return NULL;
}

static void check_decision(struct pcpu *p, const struct sched_ops *ops, struct decision *d,
                           sim_time now)
{
    struct host *h = p->host;
    const char *rule = broken_rule(p, ops, d);

    if (h->instant != now) {
        h->instant = now;
        h->in_instant = 0;
    }
    if (!rule && ++h->in_instant > DECISIONS_IN_INSTANT)
        rule = "it decides again and again without time passing (a slice of 0?)";
    if (rule && d->next)
        host_fault(h, "pCPU %u chose domain %u (%s) vcpu %u: %s", p->id, d->next->domain->id,
                   d->next->domain->name, d->next->id, rule);
    else if (rule)
        host_fault(h, "pCPU %u: %s", p->id, rule);
    else if (h->guard && d->next->idle)
        check_idling(p, now);
    if (rule)
        *d = (struct decision){p->idle, -1};
}

static void pcpu_schedule(struct pcpu *p, sim_time now)
{
    struct host *h = p->host;
    struct scheduler *s = p->pool->scheduler;
    struct vcpu *prev = p->current;
    struct decision d;

    h->executing = p->id;
    h->decisions++;
    observe(h, DECISION, prev);
    d = s->ops->schedule(s, p, now);
    check_decision(p, s->ops, &d, now);
    p->slice_granted = d.slice;
    if (d.slice >= 0) /* in place of that of the last decision */
        host_arm(h, &p->slice, now + d.slice + (d.slice > 0 ? jitter(h) : 0));
    else
        queue_cancel(h->queue, &p->slice);
    if (d.next == prev) {
        observe2(h, CONT, prev, vcpu_ran(prev, now), d.slice);
        run_current(p, now);
    } else {
        switch_to(p, s, prev, d.next, d.slice, now);
        if (!d.next->idle && d.next->guest->resumed)
            d.next->guest->resumed(d.next, now);
        run_current(p, now);
    }
    if (p->current->idle)
        turns_idle(p);
    if (h->watched_handlers)
        handler_done(h);
}

/* All pending reschedules of the instant: pCPUs ascending, each until it has none pending. */
static void settle(struct timer *t, sim_time now)
{
    struct host *h = container_of(t, struct host, settle);
    uint32_t c = cpumask_first(&h->pending);

    while (c != CPU_NONE) {
        cpumask_clear(&h->pending, c);
        pcpu_schedule(&h->pcpu[c], now);
        c = cpumask_from(&h->pending, c);
        if (c == CPU_NONE)
            c = cpumask_first(&h->pending);
    }
    queue_cancel(h->queue, &h->settle);
}

/* ---- entry points ---------------------------------------------------------------------------- */

void vcpu_wake(struct vcpu *v)
{
    struct host *h = vcpu_host(v);
    struct scheduler *s = vcpu_scheduler(v);
    sim_time now = h->queue->now;

    observe(h, WAKE, v);
    if (vcpu_runnable(v)) {
        if (v->runstate >= RUNSTATE_BLOCKED)
            runstate_change(v, RUNSTATE_RUNNABLE, now);
        s->ops->wake(s, v);
    } else if (!(v->pause_flags & PAUSE_BLOCKED) && v->runstate == RUNSTATE_BLOCKED) {
        runstate_change(v, RUNSTATE_OFFLINE, now);
    }
}

/* Something made v stop: if it is thereby not runnable, out of the queue with it. */
static void sleep_nosync(struct vcpu *v)
{
    struct scheduler *s = vcpu_scheduler(v);

    if (vcpu_runnable(v))
        return;
    if (v->runstate == RUNSTATE_RUNNABLE)
        runstate_change(v, RUNSTATE_OFFLINE, vcpu_host(v)->queue->now);
    s->ops->sleep(s, v);
}

void vcpu_start(struct vcpu *v)
{
    v->pause_flags &= (uint8_t)~PAUSE_DOWN;
    observe(vcpu_host(v), START, v);
    vcpu_wake(v);
}

void vcpu_stop(struct vcpu *v)
{
    v->pause_flags |= PAUSE_DOWN;
    observe(vcpu_host(v), SLEEP, v);
    sleep_nosync(v);
}

void vcpu_unblock(struct vcpu *v)
{
    if (!(v->pause_flags & PAUSE_BLOCKED))
        return;
    v->pause_flags &= (uint8_t)~PAUSE_BLOCKED;
    vcpu_wake(v);
}

void vcpu_pause(struct vcpu *v)
{
    v->pause_count++;
    observe(vcpu_host(v), SLEEP, v);
    sleep_nosync(v);
}

void vcpu_unpause(struct vcpu *v)
{
    BUG_ON(v->pause_count <= 0);
    if (--v->pause_count == 0)
        vcpu_wake(v);
}

void domain_pause(struct domain *d)
{
    d->pause_count++;
    for (uint32_t i = 0; i < d->vcpu_count; i++) {
        observe(d->host, SLEEP, d->vcpu[i]);
        sleep_nosync(d->vcpu[i]);
    }
}

void domain_unpause(struct domain *d)
{
    if (!d->pause_count || --d->pause_count)
        return;
    for (uint32_t i = 0; i < d->vcpu_count; i++)
        vcpu_wake(d->vcpu[i]);
}

void vcpu_migrate_start(struct vcpu *v)
{
    v->pause_flags |= PAUSE_MIGRATING;
    sleep_nosync(v);
}

void vcpu_migrate_finish(struct vcpu *v)
{
    struct scheduler *s = vcpu_scheduler(v);
    uint32_t cpu;

    if (v->is_running)
        return;
    cpu = s->ops->pick_cpu(s, v);
    v->pause_flags &= (uint8_t)~PAUSE_MIGRATING;
    if (cpu != v->processor)
        vcpu_host(v)->migrations++;
    if (s->ops->migrate)
        s->ops->migrate(s, v, cpu);
    else
        v->processor = cpu;
    vcpu_wake(v);
}

/* ---- event channels and the guest's timer -----------------------------------------------------
 */

static void evtchn_raise(struct evtchn *ch)
{
    struct vcpu *v = ch->vcpu;
    bool blocked = v->pause_flags & PAUSE_BLOCKED;

    if (ch->pending)
        return;
    ch->pending = true;
    if (ch->masked)
        return;
    ch->next = NULL;
    *v->pending_last = ch;
    v->pending_last = &ch->next;
    if (v->upcall_pending)
        return;
    v->upcall_pending = true;
    if (blocked) {
        vcpu_unblock(v);
    } else if (v->runstate == RUNSTATE_RUNNING && is_current(v) && !vcpu_pcpu(v)->waits_turn) {
        deliver_upcall(vcpu_pcpu(v), v, vcpu_host(v)->queue->now);
    }
}

void evtchn_send(struct evtchn *ch, bool network)
{
    struct vcpu *v = ch->vcpu;
    struct host *h = vcpu_host(v);
    struct scheduler *s = vcpu_scheduler(v);

    if (domain_gone(v->domain))
        return;
    if (network) {
        if (s->ops->network_event)
            s->ops->network_event(s, v);
        observe(h, NETEVENT, v);
    } else {
        observe(h, EVENT, v);
    }
    evtchn_raise(ch);
}

struct evtchn *evtchn_take(struct vcpu *v)
{
    struct evtchn *ch = v->pending_first;

    if (!ch)
        return NULL;
    v->pending_first = ch->next;
    if (!v->pending_first)
        v->pending_last = &v->pending_first;
    ch->pending = false;
    return ch;
}

static void singleshot_fire(struct timer *t, sim_time now)
{
    struct vcpu *v = container_of(t, struct vcpu, singleshot);

    (void)now;
    if (pcpu_defers(&vcpu_host(v)->pcpu[v->timer_pcpu], t))
        return;
    vcpu_host(v)->executing = v->timer_pcpu;
    evtchn_raise(&v->timer_virq);
}

void vcpu_set_timer(struct vcpu *v, sim_time when)
{
    struct host *h = vcpu_host(v);

    if (when == SIM_NEVER) {
        queue_cancel(h->queue, &v->singleshot);
        return;
    }
    v->timer_pcpu = v->processor;
    arm_on(h, v->timer_pcpu, &v->singleshot, when + h->costs.guest_timer);
}

bool vcpu_block(struct vcpu *v)
{
    struct pcpu *p = vcpu_pcpu(v);

    BUG_ON(p->current != v);
    v->pause_flags |= PAUSE_BLOCKED;
    if (v->upcall_pending) { /* the guest sees to it */
        v->upcall_pending = false;
        v->pause_flags &= (uint8_t)~PAUSE_BLOCKED;
        return false;
    }
    observe(p->host, BLOCK, v);
    raise_here(p);
    return true;
}

void vcpu_yield(struct vcpu *v)
{
    struct pcpu *p = vcpu_pcpu(v);
    struct scheduler *s = vcpu_scheduler(v);

    BUG_ON(p->current != v);
    if (s->ops->yield)
        s->ops->yield(s, v);
    observe(p->host, YIELD, v);
    raise_here(p);
}

void core_init_pcpu(struct pcpu *p)
{
    timer_init(&p->slice, slice_end);
    timer_init(&p->burst, burst_done);
    timer_init(&p->ipi, ipi_fire);
}

void core_init_vcpu(struct vcpu *v)
{
    timer_init(&v->singleshot, singleshot_fire);
    v->timer_virq.vcpu = v;
    v->pending_last = &v->pending_first;
}

void core_init_host(struct host *h)
{
    timer_init(&h->settle, settle);
}

void host_settle(struct host *h)
{
    settle(&h->settle, h->queue->now);
}
