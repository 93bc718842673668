/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Following Credit2. Its records show the credit of whoever is charged, woken, chosen or reset, so
 * the model always has Xen's own; a vCPU's credit counts as known once a record has shown it.
 */
#include "experiments/validate/driven_inside.h"

#include "models/schedulers/credit2.h"

#include <stdlib.h>

struct c2_follow {
    bool reset[MAX_PCPUS]; /* the decision under way on that pCPU has reset all credits */
};

struct c2_follow_vcpu {
    bool seen;
    bool was_reset; /* in the decision under way */
    int32_t after;  /* its credit then */
};

static struct credit2 *data_of(const struct pool_follow *pf)
{
    return c2_data(pf->pool->scheduler);
}

static struct c2_runq *runq_of_cpu(const struct driven *d, uint32_t cpu)
{
    return c2_pcpu(&d->host->pcpu[cpu])->rq;
}

/* ---- what records show ----------------------------------------------------------------------- */

/* It has this credit at this date. Its place in the queue is by its credit. */
static void show_credit(struct driven *d, struct pool_follow *pf, struct driven_vcpu *dv,
                        int32_t credit, sim_time at)
{
    struct c2_vcpu *cv = c2_vcpu(dv->vcpu);
    struct c2_follow_vcpu *fv = dv->of;
    bool moves = c2_queued(cv) && cv->credit != credit;

    (void)d;
    fv->seen = true;
    cv->credit = credit;
    cv->start = at;
    if (!moves)
        return;
    c2_dequeue(cv);
    c2_enqueue(data_of(pf), cv);
}

static void show_position(struct driven *d, struct driven_vcpu *dv, uint32_t position, sim_time at)
{
    struct c2_vcpu *cv = c2_vcpu(dv->vcpu);
    struct list *to;

    if (!c2_queued(cv) && !dv->vcpu->is_running) { /* unparked: its domain has budget again */
        struct c2_domain *cd = dv->vcpu->domain->sched;

        if (list_linked(&cv->parked)) {
            d->queue.now = at;
            driven_fire(d, &cd->replenish, at);
        }
        if (!c2_queued(cv))
            driven_wake(d, dv, at);
    }
    if (!c2_queued(cv))
        return;
    c2_dequeue(cv);
    to = cv->rq->queue.next;
    while (position-- && to != &cv->rq->queue)
        to = to->next;
    list_insert_before(to, &cv->queue);
}

static void show_reset(struct driven *d, struct pool_follow *pf, const struct follow_record *r)
{
    struct driven_vcpu *dv = driven_member(d, pf, r);
    struct c2_follow *cf = pf->of;

    cf->reset[r->pcpu] = true;
    if (!dv)
        return;
    ((struct c2_follow_vcpu *)dv->of)->was_reset = true;
    ((struct c2_follow_vcpu *)dv->of)->after = (int32_t)r->word[2];
}

static void record(struct driven *d, struct pool_follow *pf, const struct follow_record *r)
{
    struct driven_vcpu *dv = driven_member(d, pf, r);

    switch (r->event) {
    case XT_CSCHED2_SCHEDULE:
        ((struct c2_follow *)pf->of)->reset[r->pcpu] = false;
        break;
    case XT_CSCHED2_CREDIT_BURN:
        if (!dv)
            break;
        show_credit(d, pf, dv, (int32_t)r->word[1], r->at);
        if (c2_capped(c2_vcpu(dv->vcpu)) && (int32_t)r->word[2] != INT32_MIN)
            c2_vcpu(dv->vcpu)->budget = (int32_t)r->word[2];
        break;
    case XT_CSCHED2_TICKLE_NEW:
        if (dv)
            show_credit(d, pf, dv, (int32_t)r->word[2], r->at);
        break;
    case XT_CSCHED2_RUNQ_CANDIDATE:
        if (dv)
            show_credit(d, pf, dv, (int32_t)r->word[2], r->at);
        break;
    case XT_CSCHED2_RUNQ_POS:
        if (dv)
            show_position(d, dv, r->word[1], r->at);
        break;
    case XT_CSCHED2_CREDIT_RESET:
        show_reset(d, pf, r);
        break;
    case XT_CSCHED2_TICKLE:
        if (r->word[0] < d->host->pcpu_count)
            cpumask_set(&runq_of_cpu(d, r->word[0])->tickled, r->word[0]);
        break;
    case XT_CSCHED2_RATELIMIT:
        d->pcpu[r->pcpu].ratelimited = true;
        break;
    default:
        break;
    }
}

static void tickled(struct driven *d, struct pool_follow *pf, uint32_t cpu, bool told)
{
    struct c2_runq *rq = runq_of_cpu(d, cpu);

    if (told) {
        cpumask_set(&rq->tickled, cpu);
        c2_core_busy(data_of(pf), rq, cpu);
    } else {
        cpumask_clear(&rq->tickled, cpu);
        if (cpumask_test(&rq->idle, cpu))
            c2_core_idles(data_of(pf), rq, cpu);
    }
}

/* ---- decisions ------------------------------------------------------------------------------- */

static bool known(struct driven *d, struct pool_follow *pf)
{
    for_each_followed(dv, d, pf) if (vcpu_runnable(dv->vcpu) &&
                                     !((struct c2_follow_vcpu *)dv->of)->seen) return false;
    return true;
}

/* Once: the credit that Xen's choice must have had at least. Then: all that was in its way. */
static bool persuade(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                     unsigned attempt, sim_time at)
{
    struct c2_vcpu *cv = c2_vcpu(next);
    struct credit2_params *params = pf->pool->scheduler->params;

    (void)params;
    if (attempt > 2 || next->idle)
        return false;
    if (next == p->current) { /* as if it had only just begun */
        if (attempt == 0)
            next->last_switch = at;
        for_each_followed(dv, d, pf)
        {
            struct c2_vcpu *o = c2_vcpu(dv->vcpu);

            if (attempt && o != cv && c2_queued(o))
                o->credit = CREDIT_LEAST;
        }
        return true;
    }
    if (!c2_queued(cv))
        return false;
    if (next->processor != p->id)
        next->processor = p->id;
    cv->tickled_cpu = CPU_NONE;
    next->hard = attempt ? cpumask_all() : next->hard;
    c2_dequeue(cv);
    if (attempt)
        cv->credit = CREDIT_INIT + CREDIT_CARRYOVER;
    list_insert_head(&cv->rq->queue, &cv->queue);
    if (!p->current->idle) {
        p->current->last_switch = at - 10 * NS_PER_S; /* no ratelimit */
        if (attempt)
            c2_vcpu(p->current)->credit = CREDIT_LEAST;
    }
    return true;
}

static void decided(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                    sim_time at)
{
    struct c2_follow *cf = pf->of;
    bool told = cf->reset[p->id], model = false;

    (void)next;
    cf->reset[p->id] = false;
    for_each_followed(dv, d, pf)
    {
        struct c2_follow_vcpu *fv = dv->of;
        struct c2_vcpu *cv = c2_vcpu(dv->vcpu);

        if (!fv->was_reset)
            continue;
        model |= cv->credit == fv->after;
        cv->credit = fv->after;
        cv->start = at;
        fv->seen = true;
        fv->was_reset = false;
    }
    d->step.reset = told;
    d->step.reset_same = told && model;
}

/* ---- the beginning --------------------------------------------------------------------------- */

static void blocks(struct scheduler *s, void (*each)(void *ctx, void *block, size_t size),
                   void *ctx)
{
    for_each_runq(rq, c2_data(s)) each(ctx, rq, sizeof *rq);
}

const struct follower follower_credit2 = {
    .scheduler = "credit2",
    .pool_size = sizeof(struct c2_follow),
    .vcpu_size = sizeof(struct c2_follow_vcpu),
    .record = record,
    .known = known,
    .persuade = persuade,
    .decided = decided,
    .blocks = blocks,
    .tickled = tickled,
    .schedule_event = XT_CSCHED2_SCHEDULE,
};
