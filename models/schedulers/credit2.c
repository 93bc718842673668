/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Credit2, Xen's default scheduler since 4.12: fair shares without boosting.
 *
 * Design
 *   pCPUs share run queues (by default one per socket), ordered by credit. Running burns credit,
 * the faster the lower the weight; waiting and sleeping cost nothing. When the best one that wants
 * to run has none left, an epoch ends: everyone on the run queue, asleep or not, gets the same
 *   amount, and may carry over little. A vCPU that wakes is queued by its credit, and preempts the
 *   one that has least: latency comes from credit that was not spent, not from a priority.
 *   Load is balanced between run queues after a reset (credit2_load.c); caps are budgets of CPU
 *   time (credit2_cap.c).
 *
 * Rules
 *   Those of Xen 4.17; docs/models/credit2.md says them in words. What surprises most:
 *   - a preempted vCPU is queued only when it has been switched out, and then looks for another
 *     pCPU as if it had woken;
 *   - the reset looks at the better of the chosen vCPU and the head of the queue;
 *   - a run lasts at least the ratelimit, however little credit the vCPU has;
 *   - load balancing may ask the vCPU that was just chosen to move: it runs, though it is not
 *     runnable, until its pCPU decides again.
 *
 * Constants
 *   CREDIT_INIT       10 ms: what a reset adds, and what a new vCPU has.
 *   CREDIT_LEAST     -10 ms: nobody goes lower, so that one reset, or two at once, is enough.
 *   CREDIT_CARRYOVER 500 us: what may be kept beyond CREDIT_INIT; else sleepers would hoard.
 *   MIN_TIMER        500 us, MAX_TIMER 10 ms: bounds of a run.
 *   MIGRATE_COMPENSATION 50 us of credit for a vCPU that changes pCPUs, for its cold cache.
 *   RATELIMIT_TOLERANCE  50 us: a remote vCPU that has run for that much less than the ratelimit
 *                     counts as preemptable, since it will be when the IPI gets there.
 */
#include "models/schedulers/credit2.h"
#include "models/schedulers/schedulers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MIGRATE_COMPENSATION = 50 * NS_PER_US, RATELIMIT_TOLERANCE = 50 * NS_PER_US };

/* ---- the queue ------------------------------------------------------------------------------- */

/* Behind all that have as much credit. */
void c2_enqueue(struct credit2 *c, struct c2_vcpu *cv)
{
    struct list *head = &cv->rq->queue, *after = head->prev;
    int64_t position = 0;

    /* From the tail, where who has just run belongs. */
    while (after != head && container_of(after, struct c2_vcpu, queue)->credit < cv->credit)
        after = after->prev;
    list_insert_before(after->next, &cv->queue);
    if (c->sched->host->observed >> OBS_C2_RUNQ_POS & 1)
        for (; after != head; after = after->prev)
            position++;
    observe1(c->sched->host, C2_RUNQ_POS, cv->vcpu, position);
}

void c2_dequeue(struct c2_vcpu *cv)
{
    list_remove(&cv->queue);
}

/* ---- charging -------------------------------------------------------------------------------- */

static int64_t shown_budget(const struct c2_vcpu *cv)
{
    return c2_capped(cv) ? cv->budget : INT32_MIN;
}

/* Charge a running vCPU up to now. */
void c2_burn(struct credit2 *c, struct c2_vcpu *cv, sim_time now)
{
    sim_time delta = now - cv->start;

    if (cv->vcpu->idle)
        return;
    if (delta > 0) {
        int64_t amount = delta * cv->rq->max_weight + cv->residual;
        int64_t credit = cv->credit - amount / cv->weight;

        cv->credit = (int32_t)(credit > CREDIT_LEAST ? credit : CREDIT_LEAST);
        cv->residual = amount % cv->weight;
        if (c2_capped(cv))
            cv->budget -= delta;
        cv->start = now;
    }
    observe3(c->sched->host, C2_BURN, cv->vcpu, cv->credit, shown_budget(cv), delta);
}

/* ---- cores that are all idle ----------------------------------------------------------------- */

void c2_core_idles(const struct credit2 *c, struct c2_runq *rq, uint32_t cpu)
{
    const cpumask *siblings = &c2_pcpu(c2_cpu(c, cpu))->siblings;
    cpumask free = cpumask_andnot(&rq->idle, &rq->tickled);

    if (cpumask_subset(siblings, &free))
        rq->idle_cores = cpumask_or(&rq->idle_cores, siblings);
}

void c2_core_busy(const struct credit2 *c, struct c2_runq *rq, uint32_t cpu)
{
    rq->idle_cores = cpumask_andnot(&rq->idle_cores, &c2_pcpu(c2_cpu(c, cpu))->siblings);
}

/* ---- tickling -------------------------------------------------------------------------------- */

void c2_tickle_cpu(struct credit2 *c, struct c2_runq *rq, uint32_t cpu)
{
    cpumask_set(&rq->tickled, cpu);
    c2_core_busy(c, rq, cpu);
    pcpu_reschedule(c2_cpu(c, cpu));
}

/* Has the vCPU run for long enough that it may be preempted from afar? */
static bool preemptable(const struct credit2 *c, const struct vcpu *v, sim_time now)
{
    sim_time ratelimit = c2_params(c)->ratelimit;

    return ratelimit <= RATELIMIT_TOLERANCE || vcpu_ran(v, now) > ratelimit - RATELIMIT_TOLERANCE;
}

/* What a vCPU must gain by running on another pCPU than its own, for the cache it leaves behind. */
static sim_time resistance(const struct credit2 *c)
{
    return rule_off(c->sched, C2_RESIST) ? 0 : c2_params(c)->migrate_resist;
}

/* How much it is worth to preempt the vCPU that runs on p for cv; not at all if not positive. */
static int64_t score(struct credit2 *c, const struct c2_vcpu *cv, const struct pcpu *p,
                     sim_time now)
{
    struct c2_vcpu *cur = c2_vcpu(p->current);
    int64_t points;

    if (cur->vcpu->idle || !preemptable(c, cur->vcpu, now))
        return -1;
    c2_burn(c, cur, now);
    points = (int64_t)cv->credit - cur->credit;
    if (cv->vcpu->processor != p->id)
        points -= resistance(c);
    if (points > 0) {
        if (cpumask_test(&cv->vcpu->soft, p->id))
            points += CREDIT_INIT;
        if (!cpumask_test(&cur->vcpu->soft, p->id))
            points += CREDIT_INIT;
    }
    observe2(c->sched->host, C2_TICKLE_CHECK, cur->vcpu, cur->credit, points);
    return points;
}

static uint32_t here_or_next(const cpumask *m, uint32_t cpu)
{
    return cpumask_test(m, cpu) ? cpu : cpumask_cycle(cpu, m);
}

/* An idle pCPU that v may use: one of an idle core if there is any (with power savings: one of a
 * core that is busy), its own if possible. */
static uint32_t find_idle(const struct credit2 *c, const struct c2_vcpu *cv)
{
    const struct vcpu *v = cv->vcpu;
    const struct c2_runq *rq = cv->rq;

    if (cpumask_empty(&rq->idle))
        return CPU_NONE;
    for_each_affinity_step(step)
    {
        cpumask mask, able;
        uint32_t cpu;

        if (step == STEP_SOFT && !v->soft_effective)
            continue;
        mask = affinity_step_mask(v, step);
        mask = cpumask_and(&mask, &c->sched->pool->cpus);
        able = c2_params(c)->smt_power_savings ? cpumask_andnot(&rq->idle, &rq->idle_cores)
                                               : rq->idle_cores;
        able = cpumask_and(&able, &mask);
        cpu = here_or_next(&able, v->processor);
        if (cpu != CPU_NONE)
            return cpu;
        able = cpumask_andnot(&rq->idle, &rq->tickled);
        able = cpumask_and(&able, &mask);
        cpu = here_or_next(&able, v->processor);
        if (cpu != CPU_NONE)
            return cpu;
    }
    return CPU_NONE;
}

/* The busy pCPU where v gains most; its own, if it gains there and prefers to be there. */
static uint32_t find_busy(struct credit2 *c, const struct c2_vcpu *cv, sim_time now)
{
    const struct vcpu *v = cv->vcpu;
    const struct c2_runq *rq = cv->rq;
    cpumask busy = cpumask_andnot(&rq->active, &rq->idle);
    uint32_t best = CPU_NONE;
    int64_t most = 0;

    busy = cpumask_andnot(&busy, &rq->tickled);
    busy = cpumask_and(&busy, &v->hard);
    busy = cpumask_and(&busy, &c->sched->pool->cpus);
    if (cpumask_test(&busy, v->processor)) {
        most = score(c, cv, c2_cpu(c, v->processor), now);
        if (most > 0) {
            best = v->processor;
            if (cpumask_test(&v->soft, best))
                return best;
        }
        cpumask_clear(&busy, v->processor);
    }
    for_each_cpu(cpu, &busy)
    {
        int64_t points = score(c, cv, c2_cpu(c, cpu), now);

        if (points > 0 && points > most) {
            most = points;
            best = cpu;
        }
    }
    return best;
}

static bool pinned_to_free(const struct c2_vcpu *cv)
{
    uint32_t cpu = cv->vcpu->processor;

    return cpumask_test(&cv->rq->idle, cpu) && !cpumask_test(&cv->rq->tickled, cpu) &&
           cpumask_single(&cv->vcpu->hard);
}

void c2_tickle(struct credit2 *c, struct c2_vcpu *cv, sim_time now)
{
    struct host *h = c->sched->host;
    uint32_t cpu;

    observe2(h, C2_TICKLE_NEW, cv->vcpu, cv->vcpu->processor, cv->credit);
    if (pinned_to_free(cv))
        cpu = cv->vcpu->processor;
    else
        cpu = find_idle(c, cv);
    if (cpu == CPU_NONE)
        cpu = find_busy(c, cv, now);
    if (cpu == CPU_NONE)
        return;
    observe1(h, TICKLE, NULL, cpu);
    c2_tickle_cpu(c, cv->rq, cpu);
    cv->tickled_cpu = cpu;
}

/* ---- the end of an epoch --------------------------------------------------------------------- */

/* Everybody gets the same, so the order in the queue stays. Those that run are charged first, and
 * told if that was the end of their budget. */
static void reset_credit(struct credit2 *c, struct c2_runq *rq, const struct c2_vcpu *next,
                         sim_time now)
{
    int32_t more = next->credit == CREDIT_LEAST ? 2 * CREDIT_INIT : CREDIT_INIT;
    int32_t most = CREDIT_INIT + (rule_off(c->sched, C2_CARRYOVER) ? 0 : CREDIT_CARRYOVER);

    for_each_member(cv, rq)
    {
        int32_t before;

        if (vcpu_pcpu(cv->vcpu)->current == cv->vcpu) {
            c2_burn(c, cv, now);
            if (cv->budget <= 0)
                c2_tickle_cpu(c, rq, cv->vcpu->processor);
        }
        before = cv->credit;
        cv->credit += more;
        if (cv->credit > most)
            cv->credit = most;
        cv->start = now;
        observe2(c->sched->host, RESET, cv->vcpu, before, cv->credit);
    }
}

/* ---- the decision ---------------------------------------------------------------------------- */

/* How long may next run? Until its credit is that of the first that waits. */
static sim_time slice_of(const struct credit2 *c, const struct c2_runq *rq,
                         const struct c2_vcpu *next, sim_time now)
{
    sim_time ratelimit = c2_params(c)->ratelimit, least = MIN_TIMER, time = 0;
    const struct c2_vcpu *head = c2_head(rq);
    int64_t credit = next->credit;

    if (ratelimit) {
        if (next->vcpu->is_running)
            ratelimit -= vcpu_ran(next->vcpu, now);
        if (ratelimit > least)
            least = ratelimit;
    }
    if (head && head->credit > 0)
        credit -= head->credit;
    if (credit > 0)
        time = credit * next->weight / rq->max_weight;
    if (c2_capped(next) && next->budget < time)
        time = next->budget;
    return time < least ? least : time > MAX_TIMER ? MAX_TIMER : time;
}

/* Does v run outside its soft affinity while a pCPU inside is free? Then it had better go there. */
static bool better_elsewhere(const struct credit2 *c, const struct c2_runq *rq,
                             const struct vcpu *v, uint32_t cpu)
{
    cpumask mask;

    if (!v->soft_effective)
        return false;
    mask = affinity_step_mask(v, STEP_SOFT);
    if (cpumask_test(&mask, cpu))
        return false;
    mask = cpumask_and(&mask, &rq->idle);
    mask = cpumask_andnot(&mask, &rq->tickled);
    return cpumask_intersects(&mask, &c->sched->pool->cpus);
}

/* May this pCPU take cv rather than run `otherwise`? */
static bool may_take(const struct credit2 *c, const struct c2_runq *rq, const struct c2_vcpu *cv,
                     const struct c2_vcpu *otherwise, uint32_t cpu)
{
    if (!cpumask_test(&cv->vcpu->hard, cpu))
        return false;
    if (cv->tickled_cpu != CPU_NONE && cv->tickled_cpu != cpu &&
        cpumask_test(&rq->tickled, cv->tickled_cpu))
        return false; /* the pCPU that was told to take it is on its way */
    return cv->vcpu->processor == cpu || otherwise->credit + resistance(c) <= cv->credit;
}

static struct c2_vcpu *candidate(struct credit2 *c, struct c2_runq *rq, struct c2_vcpu *prev,
                                 const struct pcpu *p, sim_time now)
{
    struct host *h = c->sched->host;
    struct c2_vcpu *next = c2_vcpu(p->idle);
    bool yield = prev->yield, runnable = !prev->vcpu->idle && vcpu_runnable(prev->vcpu);
    struct list *at = rq->queue.next;

    prev->yield = false;
    if (!yield && runnable && !rule_off(c->sched, C2_RATELIMIT) && c2_params(c)->ratelimit &&
        vcpu_ran(prev->vcpu, now) < c2_params(c)->ratelimit) {
        c->sched->why = "ratelimit: it has run for less than the limit and is not preempted";
        observe1(h, RATELIMIT, prev->vcpu, vcpu_ran(prev->vcpu, now));
        return prev;
    }
    c->sched->why = "nobody who may run here waits in the run queue";
    if (runnable && !better_elsewhere(c, rq, prev->vcpu, p->id)) {
        next = prev;
        c->sched->why = "it goes on: nobody who may run here has more credit";
    }
    while (at != &rq->queue) {
        struct c2_vcpu *cv = container_of(at, struct c2_vcpu, queue);

        at = at->next; /* cv may be parked below */
        observe(h, C2_RUNQ_CAND_CHECK, cv->vcpu);
        if (!yield && cv->credit <= next->credit)
            break;
        if (may_take(c, rq, cv, next, p->id) && (!c2_capped(cv) || c2_cap_grab(c, cv, now))) {
            next = cv;
            c->sched->why = yield ? "the other one yielded: first in the queue that may run here"
                                  : "first in the queue, by credit, that may run here";
            break;
        }
    }
    observe2(h, C2_RUNQ_CANDIDATE, next->vcpu,
             next->tickled_cpu == CPU_NONE ? -1 : (int64_t)next->tickled_cpu, next->credit);
    return next;
}

/* next goes on, or begins, on p. */
static void take(struct credit2 *c, struct c2_runq *rq, struct c2_vcpu *prev, struct c2_vcpu *next,
                 struct pcpu *p, sim_time now)
{
    const struct c2_vcpu *head;
    int32_t top;

    if (next != prev) {
        c2_dequeue(next);
        next->scheduled = true;
    } else {
        c2_load(c, rq, next, 0, now);
    }
    if (cpumask_test(&rq->idle, p->id)) {
        cpumask_clear(&rq->idle, p->id);
        c2_core_busy(c, rq, p->id);
    }
    head = c2_head(rq);
    top = head && head->credit > next->credit ? head->credit : next->credit;
    if (top <= 0) {
        reset_credit(c, rq, next, now);
        c2_balance(c, rq, now);
    }
    next->start = now;
    next->tickled_cpu = CPU_NONE;
    if (next->vcpu->processor != p->id) {
        if (!rule_off(c->sched, C2_COMPENSATION))
            next->credit += MIGRATE_COMPENSATION;
        next->vcpu->processor = p->id;
    }
}

static void go_idle(struct credit2 *c, struct c2_runq *rq, struct pcpu *p, sim_time now)
{
    if (!cpumask_test(&rq->idle, p->id)) {
        cpumask_set(&rq->idle, p->id);
        c2_core_idles(c, rq, p->id);
    }
    c2_load(c, rq, NULL, 0, now);
}

static struct decision schedule(struct scheduler *s, struct pcpu *p, sim_time now)
{
    struct credit2 *c = c2_data(s);
    struct c2_runq *rq = c2_pcpu(p)->rq;
    struct c2_vcpu *prev = c2_vcpu(p->current), *next;
    bool tickled = cpumask_test(&rq->tickled, p->id);

    if (tickled) {
        cpumask_clear(&rq->tickled, p->id);
        c2_core_idles(c, rq, p->id);
    }
    observe2(s->host, C2_SCHEDULE, NULL, p->id | (int64_t)rq->id << 16,
             (int64_t)prev->vcpu->idle << 8 | (int64_t)cpumask_test(&rq->idle_cores, p->id) << 16 |
                 (int64_t)tickled << 24);
    c2_burn(c, prev, now);
    if (prev->budget <= 0)
        c2_cap_grab(c, prev, now);
    next = candidate(c, rq, prev, p, now);
    if (next != prev && !prev->vcpu->idle && vcpu_runnable(prev->vcpu))
        prev->delayed_add = true;
    if (next->vcpu->idle) {
        go_idle(c, rq, p, now);
        return (struct decision){next->vcpu, -1};
    }
    take(c, rq, prev, next, p, now);
    return (struct decision){next->vcpu, slice_of(c, rq, next, now)};
}

static void context_saved(struct scheduler *s, struct vcpu *v)
{
    struct credit2 *c = c2_data(s);
    struct c2_vcpu *cv = c2_vcpu(v);
    sim_time now = s->host->queue->now;
    bool add = cv->delayed_add, unpark;

    cv->scheduled = cv->delayed_add = false;
    if (v->idle)
        return;
    unpark = c2_capped(cv) && cv->budget > 0 && c2_cap_return(cv);
    if (add && vcpu_runnable(v)) {
        c2_enqueue(c, cv);
        c2_tickle(c, cv, now);
    } else {
        c2_load(c, cv->rq, cv, -1, now);
    }
    if (unpark)
        c2_cap_unpark(c, v->domain->sched, now);
}

/* ---- waking and sleeping --------------------------------------------------------------------- */

static void wake(struct scheduler *s, struct vcpu *v)
{
    struct credit2 *c = c2_data(s);
    struct c2_vcpu *cv = c2_vcpu(v);
    sim_time now = s->host->queue->now;

    if (vcpu_pcpu(v)->current == v || c2_queued(cv))
        return;
    if (cv->scheduled) {
        cv->delayed_add = true;
        return;
    }
    c2_load(c, cv->rq, cv, 1, now);
    c2_enqueue(c, cv);
    c2_tickle(c, cv, now);
}

static void sleep_vcpu(struct scheduler *s, struct vcpu *v)
{
    struct credit2 *c = c2_data(s);
    struct c2_vcpu *cv = c2_vcpu(v);

    if (vcpu_pcpu(v)->current == v) {
        c2_tickle_cpu(c, cv->rq, v->processor);
    } else if (c2_queued(cv)) {
        c2_load(c, cv->rq, cv, -1, s->host->queue->now);
        c2_dequeue(cv);
    } else {
        cv->delayed_add = false;
    }
}

static void yield(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    c2_vcpu(v)->yield = true;
}

/* A migration through the core ends. */
static void migrate(struct scheduler *s, struct vcpu *v, uint32_t cpu)
{
    struct credit2 *c = c2_data(s);
    struct c2_vcpu *cv = c2_vcpu(v);
    struct c2_runq *to = c2_pcpu(c2_cpu(c, cpu))->rq;

    if (to == cv->rq)
        v->processor = cpu;
    else
        c2_migrate(c, cv, to, s->host->queue->now);
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static void create(struct scheduler *s)
{
    struct credit2 *c = c2_data(s);

    c->sched = s;
    c->params = *(const struct credit2_params *)s->params;
    list_init(&c->runqs);
}

/* All but the ratelimit are boot options. */
static void adjust_global(struct scheduler *s)
{
    struct credit2 *c = c2_data(s);
    struct credit2_params *wanted = s->params;

    c->params.ratelimit = wanted->ratelimit;
    *wanted = c->params;
}

static void destroy(struct scheduler *s)
{
    struct credit2 *c = c2_data(s);
    const struct host *h = s->host;

    for (uint32_t i = 0; i < h->domain_count; i++)
        if (h->domain[i]->pool == s->pool && !domain_gone(h->domain[i]))
            c2_cap_release(h->domain[i]->sched);
    while (!list_empty(&c->runqs)) {
        struct list *first = c->runqs.next;

        list_remove(first); /* NOLINT: what was freed is not in the list any more */
        free(container_of(first, struct c2_runq, link));
    }
}

static void create_domain(struct scheduler *s, struct domain *d)
{
    (void)s;
    c2_cap_init(d->sched, d);
}

static void destroy_domain(struct scheduler *s, struct domain *d)
{
    (void)s;
    c2_cap_release(d->sched);
}

static void vcpu_create(struct scheduler *s, struct vcpu *v)
{
    const struct credit2 *c = c2_data(s);
    struct c2_vcpu *cv = c2_vcpu(v);

    cv->vcpu = v;
    list_init(&cv->queue);
    list_init(&cv->member);
    list_init(&cv->parked);
    cv->tickled_cpu = CPU_NONE;
    cv->budget = SIM_NEVER;
    cv->credit = CREDIT_IDLE;
    if (v->idle)
        return;
    cv->credit = CREDIT_INIT;
    cv->weight = v->domain->weight;
    cv->avg = INT64_C(1) << (c2_params(c)->load_precision_shift - 1);
    cv->updated = c2_granule(s->host->queue->now);
}

static void insert(struct scheduler *s, struct vcpu *v)
{
    struct credit2 *c = c2_data(s);
    struct c2_vcpu *cv = c2_vcpu(v);

    v->processor = c2_pick_cpu(s, v);
    c2_assign(c, cv, c2_pcpu(c2_cpu(c, v->processor))->rq);
    c2_cap_join(c, cv);
}

static void remove_vcpu(struct scheduler *s, struct vcpu *v)
{
    struct credit2 *c = c2_data(s);
    struct c2_vcpu *cv = c2_vcpu(v);

    if (c2_queued(cv)) {
        c2_load(c, cv->rq, cv, -1, s->host->queue->now);
        c2_dequeue(cv);
    }
    c2_cap_leave(cv);
    c2_deassign(c, cv);
}

static void adjust(struct scheduler *s, struct domain *d, uint32_t old_weight, uint32_t old_cap)
{
    struct credit2 *c = c2_data(s);

    (void)old_weight;
    (void)old_cap;
    for (uint32_t i = 0; i < d->vcpu_count; i++)
        if (c2_vcpu(d->vcpu[i])->rq) /* else its domain was destroyed */
            c2_set_weight(c, c2_vcpu(d->vcpu[i]), d->weight);
    c2_cap_set(c, d->sched, s->host->queue->now);
}

static int64_t credit(const struct scheduler *s, const struct vcpu *v)
{
    (void)s;
    return c2_vcpu(v)->credit;
}

static void queue_text(const struct scheduler *s, const struct pcpu *p, char *text, size_t size)
{
    const struct c2_runq *rq = c2_pcpu(p)->rq;
    const char *comma = "";
    size_t used = 0;

    (void)s;
    *text = 0;
    for (struct list *at = rq->queue.next; at != &rq->queue && used < size; at = at->next) {
        const struct c2_vcpu *cv = container_of(at, struct c2_vcpu, queue);
        const struct domain *d = cv->vcpu->domain;

        used +=
            (size_t)snprintf(text + used, size - used, "%s%s%s%" PRIu32 "/v%" PRIu32 " %" PRId32,
                             comma, d->name, *d->name ? "#" : "d", d->id, cv->vcpu->id, cv->credit);
        comma = ", ";
    }
}

static const struct sched_rule rules[] = {
    [C2_RATELIMIT] = {"ratelimit", "who has run for less than the ratelimit is not preempted"},
    [C2_RESIST] = {"resist", "another pCPU's vCPU is taken over only if that gains enough credit"},
    [C2_COMPENSATION] = {"compensation", "who changes pCPUs gets some credit for it"},
    [C2_CARRYOVER] = {"carryover", "some credit is kept beyond what a reset adds"},
    [C2_BALANCE] = {"balance", "run queues exchange vCPUs after a reset"},
    {NULL, NULL},
};

/* ---- parameters and operations --------------------------------------------------------------- */

static const char *const arrangements[] = {"cpu", "core", "socket", "node", "all", NULL};

static const struct param rows[] = {
    {PARAM("ratelimit", DURATION, struct credit2_params, ratelimit), .def = "1ms", .max = "500ms",
     .meaning = "A vCPU that has run for less is not preempted, and gets at least so long; 0: off.",
     .source = "Xen: sched_ratelimit_us", .status = STATUS_EXACT},
    {PARAM("migrate_resist", DURATION, struct credit2_params, migrate_resist), .def = "500us",
     .max = "100ms", .meaning = "Credit that another pCPU's vCPU must have more to be taken over.",
     .source = "Xen: sched_credit2_migrate_resist", .status = STATUS_EXACT},
    {PARAM("cap_period", DURATION, struct credit2_params, cap_period), .def = "10ms", .min = "1ms",
     .max = "10s", .meaning = "Period in which a capped domain's budget is replenished.",
     .source = "Xen: credit2_cap_period_ms", .status = STATUS_EXACT},
    {PARAM("runqueue", ENUM, struct credit2_params, runqueue), .def = "socket",
     .names = arrangements, .meaning = "Which pCPUs share a run queue.",
     .source = "Xen: credit2_runqueue", .status = STATUS_EXACT},
    {PARAM("max_cpus_runqueue", INTEGER, struct credit2_params, max_cpus_runqueue), .def = "16",
     .min = "1", .max = "256", .meaning = "Most pCPUs of a run queue.",
     .source = "Xen: sched_credit2_max_cpus_runqueue", .status = STATUS_EXACT},
    {PARAM("load_precision_shift", INTEGER, struct credit2_params, load_precision_shift),
     .def = "18", .min = "8", .max = "24", .meaning = "Binary digits of load averages.",
     .source = "Xen: credit2_load_precision_shift", .status = STATUS_EXACT},
    {PARAM("load_window_shift", INTEGER, struct credit2_params, load_window_shift), .def = "30",
     .min = "20", .max = "40",
     .meaning = "The window of load averages is 2 to this power, in nanoseconds.",
     .source = "Xen: credit2_load_window_shift", .status = STATUS_EXACT},
    {PARAM("balance_under", INTEGER, struct credit2_params, balance_under), .def = "0", .min = "-8",
     .max = "8",
     .meaning = "With capacity to spare, run queues balance a difference of 2 to this power vCPUs.",
     .source = "Xen: credit2_balance_under", .status = STATUS_EXACT},
    {PARAM("balance_over", INTEGER, struct credit2_params, balance_over), .def = "-3", .min = "-8",
     .max = "8", .meaning = "The same without capacity to spare.",
     .source = "Xen: credit2_balance_over", .status = STATUS_EXACT},
    {PARAM("smt_power_savings", BOOLEAN, struct credit2_params, smt_power_savings), .def = "false",
     .meaning = "Fill cores that are busy already before idle ones.",
     .source = "Xen: sched_smt_power_savings", .status = STATUS_EXACT},
};

static int check(void *target, struct json_value v, struct errors *e)
{
    const struct credit2_params *p = target;

    if (p->ratelimit && p->ratelimit < 100 * NS_PER_US)
        return json_error(json_member(v, "ratelimit"), e,
                          "the ratelimit is 0 (off) or from 100us to 500ms");
    return 0;
}

static const struct param_table table = PARAM_TABLE(
    "credit2", struct credit2_params, rows, .meaning = "Xen's Credit2 scheduler.", .check = check);

const struct sched_ops sched_credit2 = {
    .abi = SCHEDULER_ABI,
    .name = "credit2",
    .title = "Credit2: fair shares in shared run queues, latency from unspent credit",
    .trace_id = 1,
    .params = &table,
    .data_size = sizeof(struct credit2),
    .pcpu_size = sizeof(struct c2_pcpu),
    .vcpu_size = sizeof(struct c2_vcpu),
    .domain_size = sizeof(struct c2_domain),
    .ghosts = true, /* balancing may ask the chosen one to move */
    .create = create,
    .destroy = destroy,
    .pcpu_join = c2_pcpu_join,
    .pcpu_leave = c2_pcpu_leave,
    .domain_create = create_domain,
    .domain_destroy = destroy_domain,
    .vcpu_create = vcpu_create,
    .insert = insert,
    .remove = remove_vcpu,
    .adjust = adjust,
    .adjust_global = adjust_global,
    .sleep = sleep_vcpu,
    .wake = wake,
    .yield = yield,
    .pick_cpu = c2_pick_cpu,
    .migrate = migrate,
    .schedule = schedule,
    .context_saved = context_saved,
    .credit = credit,
    .queue_text = queue_text,
    .rules = rules,
};
