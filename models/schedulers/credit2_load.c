/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Credit2's run queues: which pCPUs share one, how loaded each is, where a vCPU is placed, and how
 * load is balanced between them.
 *
 * Rules
 *   Load is the number of vCPUs that run or wait. Its average over a window decays exponentially,
 *   in granules of 2^10 ns and with a fixed number of binary digits after the point. bavg is the
 *   average that also knows of planned migrations: a vCPU brings its own average with it.
 *   A vCPU is placed on the run queue with the least bavg (one that its soft affinity reaches, if
 *   there is any), on the next allowed pCPU after the one picked last.
 *   After a reset of credits a run queue compares itself with the one that differs most in bavg;
 *   if that is much, it pushes, pulls or swaps the vCPUs that bring the two closest together.
 *
 * Quirks that are kept, since schedules depend on them
 *   - Whether the difference is much is judged by the load of the last run queue in the list, not
 *     of the one that was found.
 *   - The position that is read and moved when a vCPU is placed is that of the least loaded run
 *     queue, even if another one is chosen for the sake of soft affinity.
 *   - A vCPU that changes run queues moves the position of its new one a second time.
 *   - A new vCPU does not consider the run queue of its initial pCPU (its lock is held).
 *
 * Constants: see the parameter table in credit2.c.
 */
#include "models/schedulers/credit2.h"

#include <stdlib.h>

static int precision(const struct credit2 *c)
{
    return (int)c2_params(c)->load_precision_shift;
}

static int window(const struct credit2 *c)
{
    return (int)c2_params(c)->load_window_shift - GRANULE_SHIFT;
}

static struct c2_runq *runq_of(const struct credit2 *c, uint32_t cpu)
{
    return c2_pcpu(c2_cpu(c, cpu))->rq;
}

/* ---- averages -------------------------------------------------------------------------------- */

/* The average a time `delta` later, with that much load all the while. The two shifts are taken
 * separately: their roundings do not cancel. */
static int64_t later(const struct credit2 *c, int64_t avg, int64_t load, int64_t delta)
{
    int64_t full = load << precision(c);

    return avg + (delta * full >> window(c)) - (delta * avg >> window(c));
}

static bool outdated(const struct credit2 *c, int64_t updated, int64_t granule)
{
    return updated + (INT64_C(1) << window(c)) < granule;
}

static void runq_load(struct credit2 *c, struct c2_runq *rq, int change, sim_time now)
{
    int64_t granule = c2_granule(now);

    if (outdated(c, rq->updated, granule)) {
        rq->avg = rq->bavg = rq->load << precision(c);
    } else {
        rq->avg = later(c, rq->avg, rq->load, granule - rq->updated);
        rq->bavg = later(c, rq->bavg, rq->load, granule - rq->updated);
    }
    rq->load += change;
    rq->updated = granule;
    observe3(c->sched->host, C2_RUNQ_LOAD, NULL, rq->avg, rq->bavg,
             (rq->load & 0xffff) | (int64_t)rq->id << 16 | (int64_t)precision(c) << 24);
}

static void vcpu_load(struct credit2 *c, struct c2_vcpu *cv, int change, sim_time now)
{
    int64_t granule = c2_granule(now);
    int64_t load = change > 0 ? 0 : change < 0 ? 1 : vcpu_runnable(cv->vcpu);

    if (outdated(c, cv->updated, granule))
        cv->avg = load << precision(c);
    else
        cv->avg = later(c, cv->avg, load, granule - cv->updated);
    cv->updated = granule;
    observe2(c->sched->host, C2_UNIT_LOAD, cv->vcpu, cv->avg, precision(c));
}

void c2_load(struct credit2 *c, struct c2_runq *rq, struct c2_vcpu *cv, int change, sim_time now)
{
    observe(c->sched->host, C2_UPDATE_LOAD, NULL);
    runq_load(c, rq, change, now);
    if (cv)
        vcpu_load(c, cv, change, now);
}

/* ---- membership ------------------------------------------------------------------------------ */

/* A member's weight changed; 0 stands for one that comes or goes. */
static void update_max_weight(struct credit2 *c, struct c2_runq *rq, uint32_t now, uint32_t before)
{
    if (now > rq->max_weight) {
        rq->max_weight = now;
    } else if (before == rq->max_weight) {
        rq->max_weight = 1;
        for_each_member(cv, rq) if (cv->weight > rq->max_weight) rq->max_weight = cv->weight;
    }
    observe1(c->sched->host, C2_MAX_WEIGHT, NULL, rq->id | (int64_t)rq->max_weight << 16);
}

void c2_assign(struct credit2 *c, struct c2_vcpu *cv, struct c2_runq *rq)
{
    cv->rq = rq;
    list_insert_tail(&rq->vcpus, &cv->member);
    update_max_weight(c, rq, cv->weight, 0);
    rq->bavg += cv->avg;
    observe1(c->sched->host, C2_RUNQ_ASSIGN, cv->vcpu, rq->id);
}

void c2_deassign(struct credit2 *c, struct c2_vcpu *cv)
{
    struct c2_runq *rq = cv->rq;

    list_remove(&cv->member);
    update_max_weight(c, rq, 0, cv->weight);
    rq->bavg = rq->bavg > cv->avg ? rq->bavg - cv->avg : 0;
    cv->rq = NULL;
}

void c2_set_weight(struct credit2 *c, struct c2_vcpu *cv, uint32_t weight)
{
    uint32_t before = cv->weight;

    cv->weight = weight;
    update_max_weight(c, cv->rq, weight, before);
}

/* ---- placement ------------------------------------------------------------------------------- */

static cpumask allowed_in_pool(const struct credit2 *c, const struct c2_vcpu *cv)
{
    return cpumask_and(&cv->vcpu->hard, &c->sched->pool->cpus);
}

/* The next of `cpus` after the run queue's position, which moves there. */
static uint32_t next_cpu(struct c2_runq *rq, const cpumask *cpus)
{
    return rq->pick_bias = cpumask_cycle(rq->pick_bias, cpus);
}

/* What the load would be with the vCPU: its own share of its own queue is not counted twice. */
static int64_t load_for(const struct c2_runq *rq, const struct c2_vcpu *cv)
{
    if (rq != cv->rq)
        return rq->bavg;
    return rq->bavg > cv->avg ? rq->bavg - cv->avg : 0;
}

struct placement {
    struct c2_runq *best, *best_soft;
    int64_t load, load_soft;
};

static struct placement find_placement(const struct credit2 *c, const struct c2_vcpu *cv,
                                       const cpumask *allowed)
{
    struct placement p = {.load = INT64_MAX, .load_soft = INT64_MAX};
    const struct c2_runq *skip = cv->rq ? NULL : runq_of(c, cv->vcpu->processor);

    for_each_runq(rq, c)
    {
        cpumask cpus = cpumask_and(allowed, &rq->active);
        int64_t load;

        if (cpumask_empty(&cpus) || rq == skip)
            continue;
        load = load_for(rq, cv);
        if (cv->vcpu->soft_effective && load < p.load_soft &&
            cpumask_intersects(&cpus, &cv->vcpu->soft)) {
            p.load_soft = load;
            p.best_soft = rq;
        }
        if (load < p.load) {
            p.load = load;
            p.best = rq;
        }
    }
    return p;
}

/* When no run queue could be looked at: stay if that is possible, else move as little as possible.
 */
static uint32_t fallback(const struct credit2 *c, const struct c2_vcpu *cv)
{
    const struct vcpu *v = cv->vcpu;
    const struct c2_runq *rq = runq_of(c, v->processor);

    for_each_affinity_step(step)
    {
        cpumask cpus = affinity_step_mask(v, step), near;

        if (step == STEP_SOFT && !v->soft_effective)
            continue;
        cpus = cpumask_and(&cpus, &c->sched->pool->cpus);
        if (cpumask_test(&cpus, v->processor))
            return v->processor;
        near = cpumask_and(&cpus, &rq->active);
        if (!cpumask_empty(&near))
            return cpumask_first(&near);
        if (step == STEP_HARD && !cpumask_empty(&cpus))
            return cpumask_first(&cpus);
    }
    return v->processor;
}

/* The pCPU of a balancing migration that could not be carried out at once; CPU_NONE: there is none,
 * or affinity has changed since. */
static uint32_t requested_cpu(struct c2_vcpu *cv, const cpumask *allowed)
{
    cpumask cpus;

    if (!cv->migrate_request)
        return CPU_NONE;
    cv->migrate_request = false;
    cpus = cpumask_and(allowed, &cv->migrate_to->active);
    return cpumask_empty(&cpus) ? CPU_NONE : next_cpu(cv->migrate_to, &cpus);
}

/* As the trace has it. */
#define NO_RUNQ UINT32_C(0xffff)

uint32_t c2_pick_cpu(struct scheduler *s, struct vcpu *v)
{
    struct credit2 *c = c2_data(s);
    struct c2_vcpu *cv = c2_vcpu(v);
    cpumask allowed = allowed_in_pool(c, cv);
    uint32_t cpu = requested_cpu(cv, &allowed), rq = NO_RUNQ;
    int64_t load = INT64_MAX; /* what a migration that was asked for records */

    if (cpu == CPU_NONE) {
        struct placement p = find_placement(c, cv, &allowed);

        if (p.best_soft) {
            allowed = cpumask_and(&allowed, &v->soft);
            allowed = cpumask_and(&allowed, &p.best_soft->active);
        } else if (p.best) {
            allowed = cpumask_and(&allowed, &p.best->active);
        }
        if (p.best) { /* recorded even where the best by soft affinity is taken */
            cpu = next_cpu(p.best, &allowed);
            rq = p.best->id;
            load = p.load;
        } else {
            cpu = fallback(c, cv);
            rq = runq_of(c, cpu)->id;
            load = runq_of(c, cpu)->bavg;
        }
    }
    observe2(s->host, C2_PICKED_CPU, v, load, rq | (int64_t)cpu << 16);
    return cpu;
}

/* ---- balancing ------------------------------------------------------------------------------- */

static bool can_move(const struct credit2 *c, const struct c2_vcpu *cv, const struct c2_runq *to)
{
    cpumask allowed = allowed_in_pool(c, cv);

    return !cv->migrate_request && cpumask_intersects(&allowed, &to->active);
}

void c2_migrate(struct credit2 *c, struct c2_vcpu *cv, struct c2_runq *to, sim_time now)
{
    struct vcpu *v = cv->vcpu;
    bool queued = c2_queued(cv);
    cpumask cpus;

    observe2(c->sched->host, RQ_MIGRATE, v, cv->rq->id, to->id);
    if (cv->scheduled) { /* it moves when it has been switched out */
        cv->migrate_to = to;
        cv->migrate_request = true;
        v->pause_flags |= PAUSE_MIGRATING;
        c2_tickle_cpu(c, cv->rq, v->processor);
        return;
    }
    if (queued) {
        c2_dequeue(cv);
        c2_load(c, cv->rq, NULL, -1, now);
    }
    c2_deassign(c, cv);
    cpus = allowed_in_pool(c, cv);
    cpus = cpumask_and(&cpus, &to->active);
    v->processor = next_cpu(to, &cpus);
    c2_assign(c, cv, to);
    if (queued) {
        c2_load(c, to, NULL, 1, now);
        c2_enqueue(c, cv);
        c2_tickle(c, cv, now);
    }
}

struct balance {
    struct c2_runq *l, *o;
    int64_t delta; /* the least difference so far */
    struct c2_vcpu *push, *pull;
};

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

static void consider(struct balance *b, struct c2_vcpu *push, struct c2_vcpu *pull)
{
    int64_t l = b->l->bavg, o = b->o->bavg, delta;

    if (push) {
        l -= push->avg;
        o += push->avg;
    }
    if (pull) {
        l += pull->avg;
        o -= pull->avg;
    }
    delta = distance(l, o);
    if (delta < b->delta) {
        b->delta = delta;
        b->push = push;
        b->pull = pull;
    }
}

/* The other run queue with the largest difference in load; all are brought up to date. */
static struct c2_runq *find_furthest(struct credit2 *c, struct balance *b, sim_time now)
{
    struct c2_runq *furthest = NULL;

    for_each_runq(o, c)
    {
        int64_t delta;

        if (o == b->l)
            continue;
        runq_load(c, o, 0, now);
        delta = distance(b->l->bavg, o->bavg);
        if (delta > b->delta) {
            b->delta = delta;
            furthest = o;
        }
    }
    return furthest;
}

/* Is a difference this large worth a migration? While there is capacity to spare it takes a whole
 * vCPU's worth, otherwise an eighth. */
static bool worth_moving(const struct credit2 *c, const struct balance *b)
{
    const struct c2_runq *last = container_of(c->runqs.prev, struct c2_runq, link);
    int64_t load = b->l->bavg > last->bavg ? b->l->bavg : last->bavg;
    int64_t cpus = b->l->cpus > last->cpus ? b->l->cpus : last->cpus;
    int64_t tolerance =
        load < cpus << precision(c) ? c2_params(c)->balance_under : c2_params(c)->balance_over;

    observe2(c->sched->host, C2_LOAD_CHECK, NULL, b->l->id | (int64_t)last->id << 16, b->delta);
    return b->delta >= INT64_C(1) << (precision(c) + tolerance);
}

/* All pairs of one to push and one to pull, then each to push alone, then each to pull alone. */
static void find_moves(struct credit2 *c, struct balance *b, sim_time now)
{
    bool updated = false;

    for_each_member(push, b->l)
    {
        vcpu_load(c, push, 0, now);
        if (!can_move(c, push, b->o))
            continue;
        for_each_member(pull, b->o)
        {
            if (!updated)
                vcpu_load(c, pull, 0, now);
            if (can_move(c, pull, b->l))
                consider(b, push, pull);
        }
        updated = true;
        consider(b, push, NULL);
    }
    for_each_member(pull, b->o) if (can_move(c, pull, b->l)) consider(b, NULL, pull);
}

void c2_balance(struct credit2 *c, struct c2_runq *rq, sim_time now)
{
    struct balance b = {.l = rq};

    if (rule_off(c->sched, C2_BALANCE))
        return;
    runq_load(c, rq, 0, now);
    b.o = find_furthest(c, &b, now);
    if (!b.o || !worth_moving(c, &b))
        return;
    observe3(c->sched->host, C2_LOAD_BALANCE, NULL, b.l->bavg, b.o->bavg,
             b.l->id | (int64_t)b.o->id << 16);
    find_moves(c, &b, now);
    if (b.push)
        c2_migrate(c, b.push, b.o, now);
    if (b.pull)
        c2_migrate(c, b.pull, b.l, now);
}

/* ---- arrangement ----------------------------------------------------------------------------- */

static bool belongs_together(const struct credit2 *c, const struct pcpu *a, const struct pcpu *b)
{
    switch (c2_params(c)->runqueue) {
    case RUNQUEUE_CORE:
        return a->core == b->core;
    case RUNQUEUE_SOCKET:
        return a->socket == b->socket;
    case RUNQUEUE_NODE:
        return a->node == b->node;
    case RUNQUEUE_ALL:
        return true;
    default:
        return false;
    }
}

/* How many pCPUs a run queue may have: those of the whole host, whatever belongs together, spread
 * over as few queues as the limit allows, rounded down. What is left over gets one more queue. */
static uint32_t even_share(const struct credit2 *c)
{
    uint32_t max = (uint32_t)c2_params(c)->max_cpus_runqueue, n = c->sched->host->pcpu_count;

    return n / ((n - 1) / max + 1);
}

/* Would p and all its siblings find room beside the cores that are there, counted whole? With one
 * arrangement nobody asks. */
static bool room_for_core(const struct credit2 *c, const struct c2_runq *rq, const struct pcpu *p,
                          uint32_t share)
{
    cpumask cores = p->siblings;

    if (c2_params(c)->runqueue == RUNQUEUE_ALL)
        return true;
    for_each_cpu(cpu, &rq->active) cores = cpumask_or(&cores, &c2_cpu(c, cpu)->siblings);
    return cpumask_weight(&cores) <= share;
}

/* Where p goes: to its siblings; else to the emptiest that has room. NULL: to a new one. */
static struct c2_runq *find_runq(const struct credit2 *c, const struct pcpu *p)
{
    uint32_t share = even_share(c);
    struct c2_runq *found = NULL;

    for_each_runq(rq, c)
    {
        if (!belongs_together(c, p, c2_cpu(c, cpumask_first(&rq->active))))
            continue;
        if (cpumask_intersects(&rq->active, &p->siblings))
            return rq;
        if (rq->cpus < share && room_for_core(c, rq, p, share) &&
            (!found || rq->cpus < found->cpus))
            found = rq;
    }
    return found;
}

/* With the lowest number that is free. */
static struct c2_runq *add_runq(struct credit2 *c)
{
    struct c2_runq *rq = xcalloc(1, sizeof *rq);
    struct list *at = c->runqs.next;

    while (at != &c->runqs && container_of(at, struct c2_runq, link)->id == rq->id) {
        rq->id++;
        at = at->next;
    }
    list_insert_before(at, &rq->link);
    list_init(&rq->queue);
    list_init(&rq->vcpus);
    rq->max_weight = 1;
    return rq;
}

void c2_pcpu_join(struct scheduler *s, struct pcpu *p)
{
    struct credit2 *c = c2_data(s);
    struct c2_pcpu *cp = c2_pcpu(p);
    struct c2_runq *rq = find_runq(c, p);

    if (!rq)
        rq = add_runq(c);
    cp->rq = rq;
    if (!rq->cpus++)
        rq->pick_bias = p->id;
    cpumask_set(&rq->active, p->id);
    cpumask_set(&rq->idle, p->id);
    cp->siblings = cpumask_and(&p->siblings, &rq->active);
    for_each_cpu(cpu, &cp->siblings) cpumask_set(&c2_pcpu(c2_cpu(c, cpu))->siblings, p->id);
    c2_core_idles(c, rq, p->id);
}

void c2_pcpu_leave(struct scheduler *s, struct pcpu *p)
{
    struct credit2 *c = c2_data(s);
    struct c2_runq *rq = c2_pcpu(p)->rq;

    for_each_cpu(cpu, &c2_pcpu(p)->siblings)
        cpumask_clear(&c2_pcpu(c2_cpu(c, cpu))->siblings, p->id);
    cpumask_clear(&rq->active, p->id);
    cpumask_clear(&rq->idle, p->id);
    cpumask_clear(&rq->tickled, p->id);
    cpumask_clear(&rq->idle_cores, p->id);
    c2_pcpu(p)->rq = NULL;
    if (--rq->cpus) {
        if (rq->pick_bias == p->id)
            rq->pick_bias = cpumask_first(&rq->active);
        return;
    }
    BUG_ON(!list_empty(&rq->vcpus));
    list_remove(&rq->link);
    for_each_runq(other, c)
    {
        for_each_member(cv, other) if (cv->migrate_to == rq) cv->migrate_request = false;
    }
    free(rq);
}
