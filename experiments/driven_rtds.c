/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Following RTDS. Its records show budgets, levels and deadlines; a vCPU's are known once one has
 * shown them all. Deadlines are dates of Xen's clock: the difference to the trace's follows from
 * replenishments, none of which comes before the period it opens.
 */
#include "experiments/driven_inside.h"

#include "models/schedulers/rtds.h"

struct rt_follow {
    sim_time offset; /* Xen's clock less the model host's */
};

struct rt_follow_vcpu {
    bool budget, deadline; /* seen */
};

static int64_t long_word(const struct follow_record *r, int at)
{
    return (int64_t)((uint64_t)r->word[at] | (uint64_t)r->word[at + 1] << 32);
}

/* ---- what records show ----------------------------------------------------------------------- */

static bool before(const struct rt_vcpu *a, const struct rt_vcpu *b)
{
    return a->level != b->level ? a->level < b->level : a->deadline < b->deadline;
}

/* Its place in the queues, after its level, budget or deadline changed. */
static void requeue(struct pool_follow *pf, struct rt_vcpu *rv)
{
    struct rtds *r = rt_data(pf->pool->scheduler);
    struct list *at = r->runq.next;

    if (!rt_queued(rv))
        return;
    list_remove(&rv->queue);
    if (!rv->params.extratime && rv->budget <= 0) {
        list_insert_head(&r->depleted, &rv->queue);
        return;
    }
    while (at != &r->runq && !before(rv, container_of(at, struct rt_vcpu, queue)))
        at = at->next;
    list_insert_before(at, &rv->queue);
}

static void show_replenishment(struct driven *d, struct pool_follow *pf, struct driven_vcpu *dv,
                               const struct follow_record *r)
{
    struct rt_vcpu *rv = rt_vcpu(dv->vcpu);
    struct rt_follow_vcpu *fv = dv->of;

    (void)d;
    rv->level = r->word[1];
    rv->deadline = long_word(r, 2) - ((struct rt_follow *)pf->of)->offset;
    rv->budget = long_word(r, 4);
    rv->depleted = false;
    if (!dv->vcpu->is_running)
        rv->start = r->at;
    fv->budget = fv->deadline = true;
    requeue(pf, rv);
}

static void record(struct driven *d, struct pool_follow *pf, const struct follow_record *r)
{
    struct driven_vcpu *dv = driven_member(d, pf, r);
    struct rt_vcpu *rv = dv ? rt_vcpu(dv->vcpu) : NULL;

    if (r->event == XT_RTDS_TICKLE && r->word[0] < d->host->pcpu_count)
        cpumask_set(&rt_data(pf->pool->scheduler)->tickled, r->word[0]);
    if (!dv)
        return;
    switch (r->event) {
    case XT_RTDS_BUDGET_BURN:
        rv->budget = long_word(r, 1);
        rv->level = r->word[4];
        rv->start = r->at;
        ((struct rt_follow_vcpu *)dv->of)->budget = true;
        break;
    case XT_RTDS_BUDGET_REPLENISH:
        show_replenishment(d, pf, dv, r);
        break;
    case XT_RTDS_RUNQ_PICK:
        rv->deadline = long_word(r, 1) - ((struct rt_follow *)pf->of)->offset;
        ((struct rt_follow_vcpu *)dv->of)->deadline = true;
        break;
    default:
        break;
    }
}

static void tickled(struct driven *d, struct pool_follow *pf, uint32_t cpu, bool told)
{
    struct rtds *r = rt_data(pf->pool->scheduler);

    (void)d;
    if (told)
        cpumask_set(&r->tickled, cpu);
    else
        cpumask_clear(&r->tickled, cpu);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static bool known(struct driven *d, struct pool_follow *pf)
{
    for_each_followed(dv, d, pf)
    {
        const struct rt_follow_vcpu *fv = dv->of;

        if (vcpu_runnable(dv->vcpu) && !(fv->budget && fv->deadline))
            return false;
    }
    return true;
}

/* The best of all, and what runs the worst. */
static bool persuade(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                     unsigned attempt, sim_time at)
{
    struct rt_vcpu *rv = rt_vcpu(next);

    (void)at;
    if (attempt > 0 || next->idle)
        return false;
    if (next == p->current) {
        rv->level = 0;
        rv->deadline = 0;
        if (rv->budget <= 0)
            rv->budget = 1;
        return true;
    }
    if (!rt_queued(rv))
        return false;
    next->processor = p->id;
    rv->level = 0;
    rv->deadline = 0;
    if (rv->budget <= 0)
        rv->budget = 1;
    requeue(pf, rv);
    for_each_followed(dv, d, pf) if (rt_vcpu(dv->vcpu) != rv && rt_vcpu(dv->vcpu)->level == 0 &&
                                     rt_vcpu(dv->vcpu)->deadline <= 0) rt_vcpu(dv->vcpu)
        ->deadline = 1;
    return true;
}

static void begin(struct driven *d, struct pool_follow *pf, struct rng *rng)
{
    const struct follow_trace *t = d->trace;
    struct rt_follow *rf = pf->of;
    bool any = false;

    (void)rng;
    for (size_t i = 0; i < t->recs; i++) {
        const struct follow_record *r = &t->rec[i];
        struct driven_vcpu *dv =
            r->event == XT_RTDS_BUDGET_REPLENISH ? driven_member(d, pf, r) : NULL;
        sim_time least;

        if (!dv)
            continue;
        least = long_word(r, 2) - rt_vcpu(dv->vcpu)->params.period - r->at;
        if (!any || least > rf->offset)
            rf->offset = least;
        any = true;
    }
}

const struct follower follower_rtds = {
    .scheduler = "rtds",
    .pool_size = sizeof(struct rt_follow),
    .vcpu_size = sizeof(struct rt_follow_vcpu),
    .begin = begin,
    .record = record,
    .known = known,
    .persuade = persuade,
    .tickled = tickled,
    .schedule_event = XT_RTDS_SCHEDULE,
};
