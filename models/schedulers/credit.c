/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Credit, Xen's original proportional-share scheduler.
 *
 * Design
 *   Every pCPU has a run queue ordered by priority: BOOST before UNDER before OVER. Running burns
 *   credits; an accounting once per slice hands out new ones by weight and makes a vCPU UNDER or
 * OVER. A vCPU that wakes while UNDER is boosted until a tick catches it running. A pCPU with
 * nothing better than OVER at the head of its queue looks for work in others' queues.
 *
 * Rules
 *   Those of Xen 4.17, with the differences of other versions as switches (struct credit_rules);
 *   docs/models/credit.md says them in words. The trap that surprises most: what a tick or an
 *   accounting changes in place reschedules nobody and re-sorts no queue before the next tick.
 *
 * Constants
 *   CREDITS_PER_MS      10: one credit is 100 us of run time.
 *   TICKS_PER_TSLICE     3: but one tick per slice if that is shorter than 3 ms.
 *   MIN_RATELIMIT_REARM  100 ns: Xen's comment says microseconds, its code says nanoseconds.
 */
#include "models/schedulers/credit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TICKS_PER_TSLICE = 3, MIN_RATELIMIT_REARM = 100 };

/* ---- versions ------------------------------------------------------------------------------- */

struct credit_rules credit_rules_of(enum xen_version version)
{
    if (version >= XEN_4_17)
        return (struct credit_rules){.tickle_takes_idler = true,
                                     .pinned_shortcut = true,
                                     .runnable_count = true,
                                     .tick_stops_on_idle = true,
                                     .yield_until_dequeue = version >= XEN_4_18,
                                     .balance_ratelimit = version >= XEN_4_18};
    return (struct credit_rules){.boost_migrated = version < XEN_4_7_0,
                                 .kick = true,
                                 .kick_always = version < XEN_4_7_0,
                                 .tickle_any_idler = version < XEN_4_7_1,
                                 .ratelimit_whole = version < XEN_4_7_1,
                                 .ratelimit_yields = true,
                                 .unpark_boosts = true};
}

/* ---- run queues ------------------------------------------------------------------------------ */

static struct credit_pcpu *queue_of(const struct credit_vcpu *cv)
{
    return credit_pcpu(vcpu_pcpu(cv->vcpu));
}

/* Behind all of the same or higher priority, up to the first lower one. A yielding vCPU goes one
 * place further back, past that one lower element, unless it is the idle vCPU. */
void runq_insert(struct credit_vcpu *cv)
{
    struct credit_pcpu *cp = queue_of(cv);
    const struct credit *c = credit_data(cp->pcpu->pool->scheduler);
    struct list *at = cp->runq.next;

    while (at != &cp->runq && container_of(at, struct credit_vcpu, runq)->pri >= cv->pri)
        at = at->next;
    if (cv->yield && at != &cp->runq &&
        container_of(at, struct credit_vcpu, runq)->pri > PRI_IDLE &&
        !(c->rules.yield_until_dequeue && at->next == &cp->runq))
        at = at->next;
    list_insert_before(at, &cv->runq);
}

void runq_remove(struct credit *c, struct credit_vcpu *cv)
{
    list_remove(&cv->runq);
    if (c->rules.yield_until_dequeue)
        cv->yield = false;
}

/* After an accounting: UNDER and better before OVER, otherwise in the order as it stands. BOOST is
 * not sorted before UNDER. False: there was none. */
static bool runq_sort(struct credit *c, struct credit_pcpu *cp)
{
    struct list *last_under = &cp->runq, *at = cp->runq.next;

    if (cp->sort_epoch == c->sort_epoch || rule_off(c->sched, RULE_SORT))
        return false;
    cp->sort_epoch = c->sort_epoch;
    while (at != &cp->runq) {
        struct credit_vcpu *cv = container_of(at, struct credit_vcpu, runq);

        at = at->next;
        if (cv->pri >= PRI_UNDER) {
            list_remove(&cv->runq);
            list_insert_before(last_under->next, &cv->runq);
            last_under = &cv->runq;
        }
    }
    return true;
}

/* ---- charging -------------------------------------------------------------------------------- */

/* The origin moves by whole credits only and the residual is kept as well, so what is left over
 * enters the next sum twice; Xen does so, and credits match only if this is kept. */
static void burn(struct credit_vcpu *cv, sim_time now)
{
    int64_t delta = now - cv->start_time, amount, credits;

    if (delta <= 0)
        return;
    amount = delta * CREDITS_PER_MS + cv->residual;
    credits = amount / NS_PER_MS;
    cv->residual = amount % NS_PER_MS;
    cv->credit -= (int32_t)credits;
    cv->start_time += credits * NS_PER_CREDIT;
}

/* ---- the active lists -------------------------------------------------------------------------
 */

static struct credit_domain *credit_domain_of(const struct credit_vcpu *cv)
{
    return cv->vcpu->domain->sched;
}

static bool active(const struct credit_vcpu *cv)
{
    return list_linked(&cv->active);
}

static void activate(struct credit *c, struct credit_vcpu *cv)
{
    struct credit_domain *cd = credit_domain_of(cv);

    cd->active_count++;
    list_insert_head(&cd->active_vcpus, &cv->active);
    c->weight += cd->domain->weight;
    if (!list_linked(&cd->active))
        list_insert_head(&c->active_domains, &cd->active);
    observe1(c->sched->host, ACCT_START, cv->vcpu, cd->active_count);
}

static void deactivate(struct credit *c, struct credit_vcpu *cv)
{
    struct credit_domain *cd = credit_domain_of(cv);

    cd->active_count--;
    list_remove(&cv->active);
    c->weight -= cd->domain->weight;
    if (list_empty(&cd->active_vcpus))
        list_remove(&cd->active);
    observe1(c->sched->host, ACCT_STOP, cv->vcpu, cd->active_count);
}

/* ---- picking a pCPU -------------------------------------------------------------------------- */

static bool queue_has_work(const struct credit_pcpu *cp)
{
    return !list_empty(&cp->runq) && !runq_first(cp)->vcpu->idle;
}

/* Of the idle candidates, prefer one whose core (or, from elsewhere, whose socket) has more idle
 * threads. `commit` moves the bias that spreads such choices. */
static uint32_t pick(struct credit *c, struct vcpu *v, bool commit)
{
    struct host *h = c->sched->host;
    const struct credit_params *params = c->sched->params;
    struct credit_pcpu *spread = NULL;
    uint32_t cand = v->processor;

    for_each_affinity_step(step)
    {
        cpumask allowed = affinity_step_mask(v, step), cpus, idlers = c->idlers;

        cpus = cpumask_and(&allowed, &c->sched->pool->cpus);
        if (step == STEP_SOFT && (!v->soft_effective || cpumask_empty(&cpus)))
            continue;
        BUG_ON(cpumask_empty(&cpus));
        cand =
            cpumask_test(&cpus, v->processor) ? v->processor : cpumask_cycle(v->processor, &cpus);
        if (cand == v->processor && !queue_has_work(credit_pcpu(&h->pcpu[cand])))
            cpumask_set(&idlers, cand);
        cpus = cpumask_and(&cpus, &idlers);
        if (!cpumask_test(&cpus, cand) && !cpumask_empty(&cpus))
            cand = cpumask_cycle(cand, &cpus);
        cpumask_clear(&cpus, cand);
        while (!cpumask_empty(&cpus)) {
            uint32_t next = cpumask_cycle(cand, &cpus), factor;
            const struct pcpu *pc = &h->pcpu[cand], *pn = &h->pcpu[next];
            cpumask here, there;
            uint32_t weight_here, weight_there;

            if (pc->socket == pn->socket) {
                factor = 1;
                here = cpumask_and(&idlers, &pc->siblings);
                there = cpumask_and(&idlers, &pn->siblings);
            } else {
                factor = 2;
                here = cpumask_and(&idlers, &pc->socket_cpus);
                there = cpumask_and(&idlers, &pn->socket_cpus);
            }
            weight_here = cpumask_weight(&here);
            weight_there = cpumask_weight(&there);
            if (params->smt_power_savings ? weight_here > weight_there
                                          : weight_here * factor < weight_there) {
                cpumask in = cpumask_and(&there, &cpus);

                spread = credit_pcpu(pn);
                cand = cpumask_cycle(spread->idle_bias, &in);
                cpus = cpumask_andnot(&cpus, &h->pcpu[cand].siblings);
            } else {
                cpus = cpumask_andnot(&cpus, &there);
            }
        }
        if (cpumask_test(&idlers, cand))
            break;
    }
    if (commit && spread)
        spread->idle_bias = cand;
    observe1(h, PICKED_CPU, v, cand);
    return cand;
}

uint32_t credit_pick_cpu(struct scheduler *s, struct vcpu *v)
{
    struct credit *c = credit_data(s);

    if (!c->rules.boost_migrated)
        credit_vcpu(v)->migrating = true;
    return pick(c, v, true);
}

/* ---- waking ---------------------------------------------------------------------------------- */

static void tickle_pcpu(struct credit *c, uint32_t cpu)
{
    struct host *h = c->sched->host;

    if (c->rules.tickle_takes_idler)
        cpumask_clear(&c->idlers, cpu);
    observe1(h, TICKLE, NULL, cpu);
    pcpu_reschedule(&h->pcpu[cpu]);
}

/* v outranks the running vCPU and nobody else can take v: may the running one go elsewhere? */
static void kick_away(struct credit *c, struct credit_pcpu *cp, struct vcpu *cur, int step)
{
    cpumask mask = affinity_step_mask(cur, step);

    if (!c->rules.kick || cp->no_migration)
        return;
    if (c->rules.kick_always || cpumask_intersects(&mask, &c->idlers))
        cur->pause_flags |= PAUSE_MIGRATING;
}

static void tickle_idlers(struct credit *c, struct credit_pcpu *cp, struct credit_vcpu *cv,
                          const cpumask *idlers)
{
    struct host *h = c->sched->host;
    const struct credit_params *params = c->sched->params;
    struct vcpu *v = cv->vcpu, *cur = cp->pcpu->current;

    for_each_affinity_step(step)
    {
        cpumask mask = affinity_step_mask(v, step), able;
        struct pcpu *mine = &h->pcpu[h->executing]; /* maybe of another pool and scheduler */

        if (step == STEP_SOFT && !v->soft_effective)
            continue;
        able = cpumask_and(&mask, idlers);
        if (cpumask_empty(&able)) {
            if (step == STEP_SOFT)
                continue;
            if (cv->pri > credit_vcpu(cur)->pri) {
                kick_away(c, cp, cur, step);
                tickle_pcpu(c, cp->pcpu->id);
            }
        } else if (params->tickle_one_idle) {
            mine->last_tickled =
                cpumask_cycle(mine->last_tickled, c->rules.tickle_any_idler ? idlers : &able);
            tickle_pcpu(c, mine->last_tickled);
            return;
        } else {
            for_each_cpu(cpu, &able) tickle_pcpu(c, cpu);
            return;
        }
    }
}

static void tickle(struct credit *c, struct credit_vcpu *cv)
{
    struct credit_pcpu *cp = queue_of(cv);
    const struct credit_vcpu *cur = credit_vcpu(cp->pcpu->current);
    cpumask idlers = cpumask_and(&c->idlers, &c->sched->pool->cpus);
    uint32_t cpu = cp->pcpu->id;

    if (c->rules.pinned_shortcut && cpumask_test(&idlers, cpu) && cpumask_single(&cv->vcpu->hard))
        tickle_pcpu(c, cpu);
    else if (cur->pri == PRI_IDLE || (cpumask_empty(&idlers) && cv->pri > cur->pri))
        tickle_pcpu(c, cpu);
    else if (!cpumask_empty(&idlers))
        tickle_idlers(c, cp, cv, &idlers);
}

void credit_wake(struct scheduler *s, struct vcpu *v)
{
    struct credit *c = credit_data(s);
    struct credit_vcpu *cv = credit_vcpu(v);
    struct pcpu *p = vcpu_pcpu(v);
    bool migrating = cv->migrating;

    if (p->current == v || list_linked(&cv->runq))
        return;
    cv->migrating = false;
    if (!migrating && cv->pri == PRI_UNDER && !cv->parked && !rule_off(s, RULE_BOOST) &&
        (!c->may_boost || c->may_boost(cv))) {
        observe(s->host, BOOST, v);
        cv->pri = PRI_BOOST;
    }
    runq_insert(cv);
    credit_pcpu(p)->nr_runnable++;
    tickle(c, cv);
}

void credit_sleep(struct scheduler *s, struct vcpu *v)
{
    struct credit_vcpu *cv = credit_vcpu(v);
    struct pcpu *p = vcpu_pcpu(v);

    if (p->current == v) {
        pcpu_reschedule(p);
    } else if (list_linked(&cv->runq)) {
        credit_pcpu(p)->nr_runnable--;
        runq_remove(credit_data(s), cv);
    }
}

void credit_yield(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    credit_vcpu(v)->yield = true;
}

/* ---- the tick -------------------------------------------------------------------------------- */

static void tick_vcpu(struct credit *c, struct credit_pcpu *cp, struct credit_vcpu *cv,
                      sim_time now)
{
    struct vcpu *v = cv->vcpu;

    if (cv->pri == PRI_BOOST && !rule_off(c->sched, RULE_UNBOOST)) {
        cv->pri = PRI_UNDER;
        observe(c->sched->host, UNBOOST, v);
    }
    burn(cv, now);
    if (!active(cv)) {
        activate(c, cv);
    } else if (pick(c, v, false) != cp->pcpu->id && !rule_off(c->sched, RULE_MIGRATE)) {
        if (!cp->no_migration)
            v->pause_flags |= PAUSE_MIGRATING;
        pcpu_reschedule(cp->pcpu);
    }
}

static void tick(struct timer *t, sim_time now)
{
    struct credit_pcpu *cp = container_of(t, struct credit_pcpu, tick);
    struct pcpu *p = cp->pcpu;
    struct credit *c = credit_data(p->pool->scheduler);
    sim_time work = p->host->costs.timer_rearm;

    if (pcpu_defers(p, t))
        return;
    p->host->executing = p->id;
    if (!p->current->idle)
        tick_vcpu(c, cp, credit_vcpu(p->current), now);
    if (runq_sort(c, cp))
        work += p->host->costs.tick_sort;
    host_rearm(p->host, &cp->tick, now + c->tick_period, work);
    observe(p->host, TICK, p->current);
}

static void tick_stop(struct credit_pcpu *cp)
{
    queue_cancel(cp->pcpu->host->queue, &cp->tick);
}

/* Ticks resume at the next absolute multiple of the period: on machines that were once idle they
 * are aligned, and simultaneous on all pCPUs. */
static void tick_resume(struct credit *c, struct credit_pcpu *cp, sim_time now)
{
    host_arm(cp->pcpu->host, &cp->tick, now + c->tick_period - now % c->tick_period);
}

/* ---- accounting ------------------------------------------------------------------------------ */

/* All of accounting is in 32 bits, as in Xen: with a weight of 65535, a slice of 1 s and more than
 * 6 pCPUs it overflows, and schedules are what they are then. */
static uint32_t ceil_div(uint32_t a, uint32_t b)
{
    return (a + (b - 1)) / b;
}

static void account_overrun(struct credit *c, struct credit_vcpu *cv, uint32_t cap,
                            uint32_t cap_per_vcpu)
{
    cv->pri = PRI_OVER;
    if (cap && cv->credit < -(int64_t)cap_per_vcpu && !cv->parked &&
        !rule_off(c->sched, RULE_CAP)) {
        cv->parked = true;
        observe(c->sched->host, PARK, cv->vcpu);
        vcpu_pause(cv->vcpu);
    }
    if (cv->credit < -c->credits_per_tslice)
        cv->credit = (int32_t)-c->credits_per_tslice;
}

static void account_within(struct credit *c, struct credit_vcpu *cv)
{
    cv->pri = PRI_UNDER;
    if (cv->parked) {
        observe(c->sched->host, UNPARK, cv->vcpu);
        if (c->rules.unpark_boosts)
            cv->parked = false;
        vcpu_unpause(cv->vcpu); /* while still marked as parked: no boost */
        cv->parked = false;
    }
    if (cv->credit > c->credits_per_tslice) {
        deactivate(c, cv);
        cv->credit /= 2;
    }
}

struct account {
    uint32_t weight_total, weight_left, credit_total;
    bool xtra; /* somebody before in the list could have had more */
};

static int64_t account_domain(struct credit *c, struct credit_domain *cd, struct account *a)
{
    uint32_t n = cd->active_count, weight = cd->domain->weight, cap = cd->domain->cap;
    uint32_t tslice = (uint32_t)c->credits_per_tslice;
    uint32_t peak = n * tslice, cap_per_vcpu = 0, fair, share;
    struct list *at = cd->active_vcpus.next;
    int64_t sum = 0;

    a->weight_left -= weight * n;
    if (c->balance < 0)
        peak += ceil_div((uint32_t)-c->balance * weight * n, a->weight_total);
    if (cap) {
        uint32_t cap_credits = ceil_div(cap * tslice, 100);

        if (cap_credits < peak)
            peak = cap_credits;
        cap_per_vcpu = ceil_div(cap_credits, n);
    }
    fair = ceil_div(a->credit_total * weight * n, a->weight_total);
    if (fair < peak) {
        a->xtra = true;
    } else {
        if (a->weight_left)
            a->credit_total += ceil_div((fair - peak) * a->weight_total, a->weight_left);
        if (a->xtra) { /* those before it missed the surplus: it goes first next time */
            list_remove(&cd->active);
            list_insert_head(&c->active_domains, &cd->active);
        }
        fair = peak;
    }
    share = ceil_div(fair, n);
    while (at != &cd->active_vcpus) {
        struct credit_vcpu *cv = container_of(at, struct credit_vcpu, active);

        at = at->next;
        cv->credit += (int32_t)share;
        if (cv->credit < 0)
            account_overrun(c, cv, cap, cap_per_vcpu);
        else
            account_within(c, cv);
        sum += cv->credit;
    }
    return sum;
}

static void account(struct timer *t, sim_time now)
{
    struct credit *c = container_of(t, struct credit, acct);
    struct host *h = c->sched->host;
    struct account a = {.weight_total = (uint32_t)c->weight,
                        .weight_left = (uint32_t)c->weight,
                        .credit_total = c->ncpus * (uint32_t)c->credits_per_tslice};
    struct list *at = c->active_domains.next;
    int64_t sum = 0;
    sim_time work = h->costs.account;

    if (pcpu_defers(&h->pcpu[c->master], t))
        return;
    h->executing = c->master;
    if (c->balance < 0)
        a.credit_total += (uint32_t)-c->balance;
    if (!c->weight) {
        c->balance = 0;
    } else {
        while (at != &c->active_domains) {
            struct credit_domain *cd = container_of(at, struct credit_domain, active);

            at = at->next;
            work += cd->active_count * h->costs.account_vcpu;
            sum += account_domain(c, cd, &a);
        }
        c->balance = (int32_t)sum;
        c->sort_epoch++;
    }
    host_rearm(h, &c->acct, now + c->tslice, work);
    observe3(h, ACCT, NULL, c->balance, c->weight, c->ncpus * c->credits_per_tslice);
}

/* ---- stealing -------------------------------------------------------------------------------- */

static bool hot(const struct credit *c, const struct credit_vcpu *cv, sim_time now)
{
    sim_time last = c->rules.runnable_count ? cv->last_sched : cv->vcpu->last_switch;

    return c->migration_delay && now - last < c->migration_delay;
}

/* The first of the peer's queue that is better than `pri` and may come here, already ours. */
static struct credit_vcpu *steal_from(struct credit *c, struct credit_pcpu *me,
                                      struct credit_pcpu *peer, int16_t pri, int step, sim_time now)
{
    uint32_t cpu = me->pcpu->id;

    if (peer->pcpu->current->idle || peer->no_migration)
        return NULL;
    for_each_queued(cv, peer)
    {
        struct vcpu *v = cv->vcpu;
        cpumask allowed;

        if (cv->pri <= pri)
            break;
        if (v->is_running || (step == STEP_SOFT && !v->soft_effective) ||
            (c->rules.yield_until_dequeue && cv->yield))
            continue;
        allowed = affinity_step_mask(v, step);
        if (hot(c, cv, now) || !cpumask_test(&allowed, cpu))
            continue;
        observe1(c->sched->host, STEAL, v, peer->pcpu->id);
        peer->nr_runnable--;
        runq_remove(c, cv);
        v->processor = cpu;
        me->nr_runnable++;
        return cv;
    }
    return NULL;
}

static struct credit_vcpu *steal_in_node(struct credit *c, struct credit_pcpu *me,
                                         const cpumask *node, uint32_t node_id, int16_t pri,
                                         int step, sim_time now)
{
    struct host *h = c->sched->host;
    cpumask workers = cpumask_andnot(&c->sched->pool->cpus, &c->idlers);
    uint32_t peer, first;

    workers = cpumask_and(&workers, node);
    cpumask_clear(&workers, me->pcpu->id);
    if (cpumask_empty(&workers))
        return NULL;
    peer = first = c->rules.runnable_count ? cpumask_cycle(c->node_bias[node_id], &workers)
                                           : cpumask_first(&workers);
    do {
        struct credit_pcpu *pp = credit_pcpu(&h->pcpu[peer]);
        bool look = !c->rules.runnable_count || pp->nr_runnable > 1;
        struct credit_vcpu *cv = NULL;

        observe2(h, STEAL_CHECK, NULL, peer, look);
        if (look)
            cv = steal_from(c, me, pp, pri, step, now);
        if (cv) {
            c->node_bias[node_id] = peer;
            return cv;
        }
        peer = cpumask_cycle(peer, &workers);
    } while (peer != first);
    return NULL;
}

/* Nodes in order from our own, cyclically. */
static struct credit_vcpu *steal(struct credit *c, struct credit_pcpu *me, int16_t pri,
                                 sim_time now)
{
    struct host *h = c->sched->host;
    uint32_t nodes = h->pcpu[h->pcpu_count - 1].node + 1;
    bool soft = h->soft_vcpus || h->observed >> OBS_STEAL_CHECK & 1; /* else it finds nothing */

    for_each_affinity_step(step) for (uint32_t i = 0; i < nodes; i++)
    {
        uint32_t node = (me->pcpu->node + i) % nodes;
        cpumask cpus = {{0}};
        struct credit_vcpu *cv;

        if (step == STEP_SOFT && !soft)
            break;
        if (nodes == 1)
            cpus = c->sched->pool->cpus;
        else
            for (uint32_t k = 0; k < h->pcpu_count; k++)
                if (h->pcpu[k].node == node)
                    cpumask_set(&cpus, k);
        cv = steal_in_node(c, me, &cpus, node, pri, step, now);
        if (cv)
            return cv;
    }
    return NULL;
}

/* ---- the decision ---------------------------------------------------------------------------- */

struct credit_vcpu *credit_choose(struct credit *c, struct credit_pcpu *cp,
                                  struct credit_vcpu *head, sim_time now)
{
    const struct credit_params *params = c->sched->params;
    struct credit_vcpu *stolen = NULL;

    if (head->pri <= PRI_OVER && !rule_off(c->sched, RULE_STEAL)) {
        if (!c->rules.balance_ratelimit) {
            stolen = steal(c, cp, head->pri, now);
        } else if (now - cp->last_balance > params->load_balance_ratelimit) {
            cp->last_balance = now;
            stolen = steal(c, cp, head->pri, now);
        }
    }
    if (stolen) {
        c->sched->why = "stolen: the head of the own queue is no better than OVER, and another "
                        "queue had something better";
        return stolen;
    }
    c->sched->why = head->pri == PRI_IDLE  ? "nothing to run here, nothing to steal elsewhere"
                    : head->pri > PRI_OVER ? "first in the queue of this pCPU"
                                           : "first in the queue of this pCPU; it is OVER, but no "
                                             "other queue had anything better";
    runq_remove(c, head);
    return head;
}

void credit_update_idlers(struct credit *c, struct credit_pcpu *cp, const struct credit_vcpu *next)
{
    if (next->pri == PRI_IDLE)
        cpumask_set(&c->idlers, cp->pcpu->id);
    else
        cpumask_clear(&c->idlers, cp->pcpu->id);
}

static bool ratelimited(const struct credit *c, const struct credit_vcpu *prev, sim_time ran)
{
    return c->ratelimit && !rule_off(c->sched, RULE_RATELIMIT) && !prev->vcpu->idle &&
           vcpu_runnable(prev->vcpu) && ran < c->ratelimit &&
           (c->rules.ratelimit_yields || !prev->yield);
}

static void follow_idle(struct credit *c, struct credit_pcpu *cp, const struct vcpu *prev,
                        const struct vcpu *next, sim_time now)
{
    const struct credit_params *params = c->sched->params;

    if (prev->idle == next->idle || (!c->rules.tick_stops_on_idle && params->idle_ticks))
        return;
    if (next->idle)
        tick_stop(cp);
    else
        tick_resume(c, cp, now);
}

struct decision credit_schedule(struct scheduler *s, struct pcpu *p, sim_time now)
{
    struct credit *c = credit_data(s);
    struct credit_pcpu *cp = credit_pcpu(p);
    struct vcpu *prev = p->current;
    struct credit_vcpu *cv = credit_vcpu(prev), *head, *next;
    sim_time ran = vcpu_ran(prev, now);
    struct decision d;

    observe1(s->host, DECIDE, prev, prev->idle);
    if (prev->idle) {
        cv->pri = PRI_IDLE;
    } else {
        burn(cv, now);
        cv->start_time -= now;
        cv->last_sched = now;
    }
    if (ratelimited(c, cv, ran)) {
        cv->start_time += now;
        s->why = "ratelimit: it has run for less than the limit and is not preempted";
        observe1(s->host, RATELIMIT, prev, ran);
        return (struct decision){prev, c->rules.ratelimit_whole    ? c->ratelimit
                                       : ran < MIN_RATELIMIT_REARM ? MIN_RATELIMIT_REARM
                                                                   : c->ratelimit - ran};
    }
    if (vcpu_runnable(prev)) {
        if (!list_linked(&cv->runq)) /* TerrierTail leaves it queued while it runs */
            runq_insert(cv);
    } else {
        cp->nr_runnable--;
        if (c->stopped)
            c->stopped(c, cv);
    }
    head = runq_first(cp);
    if (!c->rules.yield_until_dequeue)
        cv->yield = false;
    if (c->choose) {
        d = c->choose(c, cp, prev, head, now);
    } else {
        next = credit_choose(c, cp, head, now);
        credit_update_idlers(c, cp, next);
        d = (struct decision){next->vcpu, c->tslice};
    }
    if (d.next->idle)
        d.slice = -1;
    else
        credit_vcpu(d.next)->start_time += now;
    follow_idle(c, cp, prev, d.next, now);
    return d;
}

/* ---- life cycle ------------------------------------------------------------------------------ */

static void set_timing(struct credit *c)
{
    const struct credit_params *params = &c->params;
    int64_t ms = params->tslice / NS_PER_MS;
    int64_t ticks = ms < TICKS_PER_TSLICE ? 1 : TICKS_PER_TSLICE;

    c->tslice = ms * NS_PER_MS;
    c->tick_period = 1000 * ms / ticks * NS_PER_US;
    c->credits_per_tslice = CREDITS_PER_MS * ms;
    c->ratelimit = params->ratelimit;
    c->migration_delay = params->migration_delay;
}

void credit_create(struct scheduler *s)
{
    struct credit *c = credit_data(s);

    c->sched = s;
    c->rules = credit_rules_of(s->host->version);
    list_init(&c->active_domains);
    timer_init(&c->acct, account);
    c->params = *(const struct credit_params *)s->params;
    if (c->params.ratelimit > c->params.tslice) /* at boot; a run-time change is refused instead */
        c->params.ratelimit = c->params.tslice;
    set_timing(c);
}

void credit_destroy(struct scheduler *s)
{
    struct host *h = s->host;

    queue_cancel(h->queue, &credit_data(s)->acct);
    for_each_cpu(cpu, &s->pool->cpus) tick_stop(credit_pcpu(&h->pcpu[cpu]));
}

void credit_adjust_global(struct scheduler *s)
{
    struct credit *c = credit_data(s);
    struct credit_params *wanted = s->params;

    if (wanted->ratelimit <= wanted->tslice) { /* else refused, all of it */
        c->params.tslice = wanted->tslice;
        c->params.ratelimit = wanted->ratelimit;
        c->params.migration_delay = wanted->migration_delay;
    }
    *wanted = c->params; /* the rest are boot options */
    set_timing(c);
}

void credit_pcpu_join(struct scheduler *s, struct pcpu *p)
{
    struct credit *c = credit_data(s);
    struct credit_pcpu *cp = credit_pcpu(p);
    const struct credit_params *params = s->params;
    cpumask in_node = cpumask_and(&s->pool->cpus, &p->node_cpus);
    sim_time now = s->host->queue->now;

    cp->pcpu = p;
    list_init(&cp->runq);
    timer_init(&cp->tick, tick);
    cp->idle_bias = s->host->pcpu_count - 1;
    cp->last_balance = now;
    cp->sort_epoch = c->sort_epoch;
    if (cpumask_single(&in_node))
        c->node_bias[p->node] = p->id;
    if (c->ncpus++ == 0) {
        c->master = p->id;
        host_arm(s->host, &c->acct, now + c->tslice);
    }
    if (c->rules.tick_stops_on_idle || params->idle_ticks)
        host_arm(s->host, &cp->tick, now + c->tick_period);
    cpumask_set(&c->idlers, p->id);
}

void credit_pcpu_leave(struct scheduler *s, struct pcpu *p)
{
    struct credit *c = credit_data(s);
    struct credit_pcpu *cp = credit_pcpu(p);
    cpumask rest = s->pool->cpus, in_node;

    tick_stop(cp);
    cpumask_clear(&c->idlers, p->id);
    cpumask_clear(&rest, p->id);
    c->ncpus--;
    if (!c->ncpus)
        queue_cancel(s->host->queue, &c->acct);
    else if (c->master == p->id)
        c->master = cpumask_first(&rest);
    in_node = cpumask_and(&rest, &p->node_cpus);
    if (c->node_bias[p->node] == p->id && !cpumask_empty(&in_node))
        c->node_bias[p->node] = cpumask_first(&in_node);
}

void credit_domain_create(struct scheduler *s, struct domain *d)
{
    struct credit_domain *cd = d->sched;

    (void)s;
    cd->domain = d;
    list_init(&cd->active_vcpus);
    list_init(&cd->active);
}

void credit_domain_destroy(struct scheduler *s, struct domain *d)
{
    struct credit_domain *cd = d->sched;

    (void)s;
    BUG_ON(cd->active_count);
}

void credit_vcpu_create(struct scheduler *s, struct vcpu *v)
{
    struct credit_vcpu *cv = credit_vcpu(v);

    (void)s;
    cv->vcpu = v;
    cv->pri = v->idle ? PRI_IDLE : PRI_UNDER;
    list_init(&cv->runq);
    list_init(&cv->active);
}

void credit_insert(struct scheduler *s, struct vcpu *v)
{
    struct credit_vcpu *cv = credit_vcpu(v);

    v->processor = credit_pick_cpu(s, v);
    if (!list_linked(&cv->runq) && vcpu_runnable(v) && !v->is_running) {
        runq_insert(cv);
        queue_of(cv)->nr_runnable++;
    }
}

void credit_remove(struct scheduler *s, struct vcpu *v)
{
    struct credit *c = credit_data(s);
    struct credit_vcpu *cv = credit_vcpu(v);

    if (cv->parked) {
        cv->parked = false;
        vcpu_unpause(v); /* its domain is paused */
    }
    if (list_linked(&cv->runq)) {
        queue_of(cv)->nr_runnable--;
        runq_remove(c, cv);
    }
    if (active(cv))
        deactivate(c, cv);
}

void credit_adjust(struct scheduler *s, struct domain *d, uint32_t old_weight, uint32_t old_cap)
{
    struct credit *c = credit_data(s);
    struct credit_domain *cd = d->sched;

    (void)old_cap;
    if (list_linked(&cd->active))
        c->weight += ((int64_t)d->weight - old_weight) * cd->active_count;
}

/* ---- for observers ----------------------------------------------------------------------------
 */

const char *credit_priority(const struct scheduler *s, const struct vcpu *v)
{
    (void)s;
    switch (credit_vcpu(v)->pri) {
    case PRI_BOOST:
        return "BOOST";
    case PRI_UNDER:
        return "UNDER";
    case PRI_OVER:
        return "OVER";
    default:
        return "IDLE";
    }
}

int64_t credit_credit(const struct scheduler *s, const struct vcpu *v)
{
    (void)s;
    return credit_vcpu(v)->credit;
}

const struct sched_rule credit_rule_table[] = {
    [RULE_BOOST] = {"boost", "a vCPU that wakes while UNDER becomes BOOST"},
    [RULE_UNBOOST] = {"unboost", "a tick that finds a BOOST vCPU running makes it UNDER"},
    [RULE_RATELIMIT] = {"ratelimit", "who has run for less than the ratelimit is not preempted"},
    [RULE_STEAL] = {"steal", "a pCPU without anything better than OVER takes from other queues"},
    [RULE_MIGRATE] = {"migrate", "a tick may move the running vCPU to a better pCPU"},
    [RULE_SORT] = {"sort", "after an accounting queues are sorted at the next tick"},
    [RULE_CAP] = {"cap", "a domain above its cap is parked"},
    {NULL, NULL},
};

void credit_queue_text(const struct scheduler *s, const struct pcpu *p, char *text, size_t size)
{
    const char *comma = "";
    size_t used = 0;

    *text = 0;
    for_each_queued(cv, credit_pcpu(p))
    {
        const struct vcpu *v = cv->vcpu;

        if (v->idle || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%" PRIu32 "/v%" PRIu32 " %s %d",
                                 comma, v->domain->name, *v->domain->name ? "#" : "d",
                                 v->domain->id, v->id, credit_priority(s, v), cv->credit);
        comma = ", ";
    }
}

bool credit_is_tick(const struct timer *t)
{
    return t->fire == tick;
}

const char *credit_account_state(const struct vcpu *v)
{
    const struct credit_vcpu *cv = credit_vcpu(v);

    return cv->parked ? "parked" : active(cv) ? "active" : "inactive";
}
