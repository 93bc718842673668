/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RTDS, Xen's real-time scheduler: global earliest deadline first, each vCPU a deferrable server.
 *
 * Design
 *   A vCPU may run for its budget in each period; the deadline is the end of the period. One queue
 *   for all pCPUs is ordered by deadline. Who has used up its budget waits in a second queue for
 * its replenishment; with extra time it goes on instead, one priority level lower, below everybody
 * of a better level, and with a fresh budget. Unused budget is kept until the deadline and no
 *   longer. A third queue holds the replenishments to come, with one timer for the first of them.
 *
 * Rules
 *   Those of Xen 4.17; docs/models/rtds.md says them in words. What surprises most:
 *   - the queue of replenishments is ordered by level before deadline, like the run queue. An event
 *     that is due may stand behind one that is not, and is then handled late;
 *   - the timer is set to the first event's deadline even if that has passed: it fires at once;
 *   - a vCPU that runs across its deadline gets its fresh budget without a decision, and its slice
 *     still ends when the old budget would have;
 *   - there is no ratelimit, and yielding does nothing to a vCPU whose deadline is strictly first.
 *
 * Constants
 *   PERIOD 10 ms, BUDGET 4 ms, with extra time: what a new vCPU gets. Deadlines start at 0, so
 * those of vCPUs that were never changed are multiples of the period since boot.
 */
#include "models/schedulers/rtds.h"

#include "models/schedulers/schedulers.h"

#include <inttypes.h>
#include <stdio.h>

static const struct rtds_vcpu_params defaults = {10 * NS_PER_MS, 4 * NS_PER_MS, true};

/* ---- priorities ------------------------------------------------------------------------------ */

/* Is a strictly better than b? */
static bool better(const struct rt_vcpu *a, const struct rt_vcpu *b)
{
    return a->level != b->level ? a->level < b->level : a->deadline < b->deadline;
}

/* The run queue and the replenishments are in the same order: before the first that is worse. */
static inline void insert_by_priority(struct list *head, struct list *e, const struct rt_vcpu *rv,
                                      struct rt_vcpu *(*owner)(struct list *))
{
    struct list *at = head->next;

    while (at != head && !better(rv, owner(at)))
        at = at->next;
    list_insert_before(at, e);
}

/* The same where everybody in the list is in order. New deadlines are mostly the last. */
static inline void insert_from_tail(struct list *head, struct list *e, const struct rt_vcpu *rv,
                                    struct rt_vcpu *(*owner)(struct list *))
{
    struct list *after = head->prev;

    while (after != head && better(rv, owner(after)))
        after = after->prev;
    list_insert_before(after->next, e);
}

static struct rt_vcpu *queue_owner(struct list *e)
{
    return container_of(e, struct rt_vcpu, queue);
}

static struct rt_vcpu *replen_owner(struct list *e)
{
    return container_of(e, struct rt_vcpu, replen);
}

void rtds_enqueue(struct rtds *r, struct rt_vcpu *rv)
{
    if (rv->params.extratime || rv->budget > 0)
        insert_from_tail(&r->runq, &rv->queue, rv, queue_owner);
    else
        list_insert_head(&r->depleted, &rv->queue);
}

/* ---- replenishments
 * ------------------------------------------------------------------------------ */

static void set_timer(struct rtds *r)
{
    struct host *h = r->sched->host;

    if (list_empty(&r->replenishments))
        queue_cancel(h->queue, &r->timer);
    else
        host_arm(h, &r->timer, replen_owner(r->replenishments.next)->deadline);
}

static bool first_replenishment(const struct rtds *r, const struct rt_vcpu *rv)
{
    return r->replenishments.next == &rv->replen;
}

/* Its event does not stand in the order of the others. */
static void misplace(struct rtds *r, struct rt_vcpu *rv)
{
    r->misplaced += !rv->misplaced;
    rv->misplaced = true;
}

/* Who has gone down a level since its event was inserted stands out of order, and so may those that
 * came to stand before it since. All others are in order. */
static void replen_link(struct rtds *r, struct rt_vcpu *rv)
{
    struct list *head = &r->replenishments;

    if (!r->misplaced) {
        insert_from_tail(head, &rv->replen, rv, replen_owner);
        return;
    }
    insert_by_priority(head, &rv->replen, rv, replen_owner);
    if (rv->replen.next != head && replen_owner(rv->replen.next)->misplaced)
        misplace(r, rv);
}

static void replen_unlink(struct rtds *r, struct rt_vcpu *rv)
{
    list_remove(&rv->replen);
    r->misplaced -= rv->misplaced;
    rv->misplaced = false;
}

static void replen_insert(struct rtds *r, struct rt_vcpu *rv)
{
    replen_link(r, rv);
    if (first_replenishment(r, rv))
        set_timer(r);
}

static void replen_remove(struct rtds *r, struct rt_vcpu *rv)
{
    bool first = first_replenishment(r, rv);

    replen_unlink(r, rv);
    if (first)
        set_timer(r);
}

/* Its deadline has changed. */
static void replen_move(struct rtds *r, struct rt_vcpu *rv)
{
    bool first = first_replenishment(r, rv);

    replen_unlink(r, rv);
    replen_link(r, rv);
    if (first || first_replenishment(r, rv))
        set_timer(r);
}

/* ---- budgets --------------------------------------------------------------------------------- */

/* The deadline has passed: a new one after now, and a full budget. */
static void renew(struct rtds *r, struct rt_vcpu *rv, sim_time now)
{
    sim_time period = rv->params.period;

    rv->deadline += ((now - rv->deadline) / period + 1) * period;
    rv->budget = rv->params.budget;
    rv->level = 0;
    rv->start = now;
    observe3(r->sched->host, REPLENISH, rv->vcpu, rv->level, rv->deadline, rv->budget);
}

static void burn(struct rtds *r, struct rt_vcpu *rv, sim_time now)
{
    sim_time delta = now - rv->start;

    if (rv->vcpu->idle)
        return;
    rv->budget -= delta;
    rv->start = now;
    if (rv->budget <= 0) {
        if (rv->params.extratime) {
            rv->level++;
            if (list_linked(&rv->replen))
                misplace(r, rv);
            rv->budget = rv->params.budget;
        } else {
            rv->budget = 0;
            rv->depleted = true;
        }
    }
    observe4(r->sched->host, RT_BUDGET_BURN, rv->vcpu, rv->budget, delta, rv->level,
             rv->params.extratime);
}

/* ---- tickling -------------------------------------------------------------------------------- */

/* An idle pCPU that rv may use, its own first; else the one that runs the worst, if that is worse
 * than rv. CPU_NONE: nobody. */
static uint32_t find_cpu(const struct rtds *r, const struct rt_vcpu *rv)
{
    const struct host *h = r->sched->host;
    cpumask able = cpumask_and(&rv->vcpu->hard, &r->sched->pool->cpus);
    const struct rt_vcpu *worst = NULL;
    uint32_t cpu = rv->vcpu->processor;

    able = cpumask_andnot(&able, &r->tickled);
    if (!cpumask_test(&able, cpu))
        cpu = cpumask_cycle(cpu, &able);
    while (cpu != CPU_NONE) {
        const struct vcpu *cur = h->pcpu[cpu].current;

        if (cur->idle)
            return cpu;
        if (!worst || better(worst, rt_vcpu(cur)))
            worst = rt_vcpu(cur);
        cpumask_clear(&able, cpu);
        cpu = cpumask_cycle(cpu, &able);
    }
    return worst && better(rv, worst) ? worst->vcpu->processor : CPU_NONE;
}

static void tickle(struct rtds *r, const struct rt_vcpu *rv)
{
    struct host *h = r->sched->host;
    uint32_t cpu = find_cpu(r, rv);

    if (cpu == CPU_NONE)
        return;
    observe1(h, TICKLE, NULL, cpu);
    cpumask_set(&r->tickled, cpu);
    pcpu_reschedule(&h->pcpu[cpu]);
}

/* ---- the timer of replenishments
 * ------------------------------------------------------------------ */

/* Those from the front that are due, the last one first. */
static void renew_due(struct rtds *r, struct list *renewed, sim_time now)
{
    while (!list_empty(&r->replenishments)) {
        struct rt_vcpu *rv = replen_owner(r->replenishments.next);

        if (rv->deadline > now)
            break;
        replen_unlink(r, rv);
        renew(r, rv, now);
        list_insert_head(renewed, &rv->replen);
        if (rt_queued(rv)) { /* perhaps in the wrong queue now, or at the wrong place */
            list_remove(&rv->queue);
            rtds_enqueue(r, rv);
        }
    }
}

/* A renewed vCPU: does it have to give way, or may it run again? */
static void tickle_renewed(struct rtds *r, struct rt_vcpu *rv)
{
    bool depleted = rv->depleted;

    if (vcpu_pcpu(rv->vcpu)->current == rv->vcpu && !list_empty(&r->runq)) {
        const struct rt_vcpu *head = queue_owner(r->runq.next);

        if (better(head, rv))
            tickle(r, head);
        return;
    }
    rv->depleted = false;
    if (depleted && rt_queued(rv))
        tickle(r, rv);
}

static void replenish(struct timer *t, sim_time now)
{
    struct rtds *r = container_of(t, struct rtds, timer);
    struct host *h = r->sched->host;
    uint32_t cpu = cpumask_first(&r->sched->pool->cpus);
    struct list renewed;

    if (pcpu_defers(&h->pcpu[cpu], t))
        return;
    h->executing = cpu;
    list_init(&renewed);
    renew_due(r, &renewed, now);
    while (!list_empty(&renewed)) {
        struct rt_vcpu *rv = replen_owner(renewed.next);

        tickle_renewed(r, rv);
        list_remove(&rv->replen);
        replen_link(r, rv);
    }
    set_timer(r);
}

/* ---- the decision ---------------------------------------------------------------------------- */

/* The best in the run queue that may run on this pCPU; its idle vCPU if there is none. */
static struct rt_vcpu *best_for(const struct rtds *r, const struct pcpu *p)
{
    for (struct list *at = r->runq.next; at != &r->runq; at = at->next) {
        struct rt_vcpu *rv = queue_owner(at);

        if (cpumask_test(&rv->vcpu->hard, p->id)) {
            observe2(r->sched->host, RT_RUNQ_PICK, rv->vcpu, rv->deadline, rv->budget);
            return rv;
        }
    }
    return rt_vcpu(p->idle);
}

static struct decision schedule(struct scheduler *s, struct pcpu *p, sim_time now)
{
    struct rtds *r = rt_data(s);
    struct vcpu *prev = p->current;
    struct rt_vcpu *cur = rt_vcpu(prev), *next;
    bool runnable = !prev->idle && vcpu_runnable(prev);

    observe2(s->host, DECIDE, prev, prev->idle, cpumask_test(&r->tickled, p->id));
    cpumask_clear(&r->tickled, p->id);
    burn(r, cur, now);
    next = best_for(r, p);
    s->why = next->vcpu->idle ? "nobody who may run here waits"
                              : "the best level and earliest deadline of those that may run here";
    if (runnable && cur->budget > 0 && (next->vcpu->idle || better(cur, next))) {
        next = cur;
        s->why = "it goes on: its level and deadline are better than all that may run here";
    }
    if (next != cur && runnable)
        cur->delayed_add = true;
    next->start = now;
    if (next->vcpu->idle)
        return (struct decision){next->vcpu, -1};
    if (next != cur) {
        list_remove(&next->queue);
        next->scheduled = true;
    }
    next->vcpu->processor = p->id;
    return (struct decision){next->vcpu, next->budget};
}

static void context_saved(struct scheduler *s, struct vcpu *v)
{
    struct rtds *r = rt_data(s);
    struct rt_vcpu *rv = rt_vcpu(v);
    bool add = rv->delayed_add;

    rv->scheduled = rv->delayed_add = false;
    if (v->idle)
        return;
    if (add && vcpu_runnable(v)) {
        rtds_enqueue(r, rv);
        tickle(r, rv);
    } else {
        replen_remove(r, rv);
    }
}

/* ---- waking and sleeping --------------------------------------------------------------------- */

static void wake(struct scheduler *s, struct vcpu *v)
{
    struct rtds *r = rt_data(s);
    struct rt_vcpu *rv = rt_vcpu(v);
    sim_time now = s->host->queue->now;
    bool missed = now >= rv->deadline;

    if (vcpu_pcpu(v)->current == v || rt_queued(rv))
        return;
    if (missed)
        renew(r, rv, now);
    if (rv->scheduled) {
        rv->delayed_add = true;
        if (missed)
            replen_move(r, rv);
        return;
    }
    replen_insert(r, rv);
    rtds_enqueue(r, rv);
    tickle(r, rv);
}

static void sleep_vcpu(struct scheduler *s, struct vcpu *v)
{
    struct rtds *r = rt_data(s);
    struct rt_vcpu *rv = rt_vcpu(v);

    if (vcpu_pcpu(v)->current == v) {
        pcpu_reschedule(vcpu_pcpu(v));
    } else if (rt_queued(rv)) {
        list_remove(&rv->queue);
        replen_remove(r, rv);
    } else {
        rv->delayed_add = false;
    }
}

/* It stays, or goes to the next pCPU where it may run. */
static uint32_t pick_cpu(struct scheduler *s, struct vcpu *v)
{
    cpumask allowed = cpumask_and(&v->hard, &s->pool->cpus);

    return cpumask_test(&allowed, v->processor) ? v->processor
                                                : cpumask_cycle(v->processor, &allowed);
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static void create(struct scheduler *s)
{
    struct rtds *r = rt_data(s);

    r->sched = s;
    list_init(&r->runq);
    list_init(&r->depleted);
    list_init(&r->replenishments);
    timer_init(&r->timer, replenish);
}

static void destroy(struct scheduler *s)
{
    queue_cancel(s->host->queue, &rt_data(s)->timer);
}

static void pcpu_leave(struct scheduler *s, struct pcpu *p)
{
    cpumask_clear(&rt_data(s)->tickled, p->id);
}

static void create_vcpu(struct scheduler *s, struct vcpu *v)
{
    struct rt_vcpu *rv = rt_vcpu(v);

    (void)s;
    rv->vcpu = v;
    list_init(&rv->queue);
    list_init(&rv->replen);
    rv->params = defaults;
}

static void insert(struct scheduler *s, struct vcpu *v)
{
    struct rtds *r = rt_data(s);
    struct rt_vcpu *rv = rt_vcpu(v);
    sim_time now = s->host->queue->now;

    v->processor = pick_cpu(s, v);
    if (now >= rv->deadline)
        renew(r, rv, now);
    if (!rt_queued(rv) && vcpu_runnable(v)) {
        replen_insert(r, rv);
        if (!v->is_running)
            rtds_enqueue(r, rv);
    }
}

static void remove_vcpu(struct scheduler *s, struct vcpu *v)
{
    struct rtds *r = rt_data(s);
    struct rt_vcpu *rv = rt_vcpu(v);

    list_remove(&rv->queue);
    if (list_linked(&rv->replen))
        replen_remove(r, rv);
}

static void adjust_vcpu(struct scheduler *s, struct vcpu *v, const void *params)
{
    rt_vcpu(v)->params = *(const struct rtds_vcpu_params *)params;
    observe1(s->host, ADJDOM, NULL, v->domain->id);
}

/* ---- for observers
 * ------------------------------------------------------------------------------- */

static const char *priority(const struct scheduler *s, const struct vcpu *v)
{
    static char text[16];

    (void)s;
    snprintf(text, sizeof text, "L%" PRIu32, rt_vcpu(v)->level);
    return text;
}

static void queue_text(const struct scheduler *s, const struct pcpu *p, char *text, size_t size)
{
    const struct rtds *r = rt_data(s);
    const char *comma = "";
    size_t used = 0;

    *text = 0;
    for (struct list *at = r->runq.next; at != &r->runq && used < size; at = at->next) {
        const struct rt_vcpu *rv = queue_owner(at);
        const struct domain *d = rv->vcpu->domain;

        if (!cpumask_test(&rv->vcpu->hard, p->id))
            continue;
        used += (size_t)snprintf(text + used, size - used,
                                 "%s%s%s%" PRIu32 "/v%" PRIu32 " L%" PRIu32 " deadline %" PRId64
                                 " budget %" PRId64,
                                 comma, d->name, *d->name ? "#" : "d", d->id, rv->vcpu->id,
                                 rv->level, rv->deadline, rv->budget);
        comma = ", ";
    }
}

static int64_t budget(const struct scheduler *s, const struct vcpu *v)
{
    (void)s;
    return rt_vcpu(v)->budget;
}

/* ---- parameters and operations
 * ------------------------------------------------------------------- */

static const struct param rows[] = {
    {PARAM("period", DURATION, struct rtds_vcpu_params, period), .def = "10ms", .min = "10us",
     .meaning = "Budgets are replenished once per period.", .source = "Xen: xl sched-rtds -p",
     .status = STATUS_EXACT},
    {PARAM("budget", DURATION, struct rtds_vcpu_params, budget), .def = "4ms", .min = "10us",
     .meaning = "CPU time per period; at most the period.", .source = "Xen: xl sched-rtds -b",
     .status = STATUS_EXACT},
    {PARAM("extratime", BOOLEAN, struct rtds_vcpu_params, extratime), .def = "true",
     .meaning = "Without budget it goes on at a lower priority, in time that others leave.",
     .source = "Xen: xl sched-rtds -e", .status = STATUS_EXACT},
};

static int check(void *target, struct json_value v, struct errors *e)
{
    const struct rtds_vcpu_params *p = target;

    if (p->budget > p->period)
        return json_error(json_member(v, "budget"), e,
                          "RTDS's budget is at most the period; lower it or raise the period");
    return 0;
}

static const struct param_table vcpu_table =
    PARAM_TABLE("rtds vcpu", struct rtds_vcpu_params, rows,
                .meaning = "A vCPU's reservation under RTDS.", .check = check);

const struct sched_ops sched_rtds = {
    .abi = SCHEDULER_ABI,
    .name = "rtds",
    .title = "RTDS: earliest deadline first, a budget per period",
    .trace_id = 4,
    .vcpu_params = &vcpu_table,
    .data_size = sizeof(struct rtds),
    .vcpu_size = sizeof(struct rt_vcpu),
    .create = create,
    .destroy = destroy,
    .pcpu_leave = pcpu_leave,
    .vcpu_create = create_vcpu,
    .insert = insert,
    .remove = remove_vcpu,
    .adjust_vcpu = adjust_vcpu,
    .sleep = sleep_vcpu,
    .wake = wake,
    .pick_cpu = pick_cpu,
    .schedule = schedule,
    .context_saved = context_saved,
    .priority = priority,
    .credit = budget,
    .queue_text = queue_text,
};
