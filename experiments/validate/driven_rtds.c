/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Following RTDS. Its records show deadline, budget and level whenever a budget is replenished, and
 * at each decision for how long a vCPU is charged and what is left of its budget then.
 * Replenishments and these times are the trace's; what is left, the change of level when a budget
 * is used up, and the decision are the model's own, and are set to the trace's figures afterwards.
 * A vCPU's state counts as known once a replenishment has shown it.
 *
 * Deadlines are dates of Xen's clock, records have those of the TSC. The two differ by a constant:
 * a fresh deadline lies less than a period ahead of the clock, and just a period when a timer has
 * brought it about, so the largest difference seen is the constant, less the timer's lateness.
 */
#include "experiments/validate/driven_inside.h"

#include "models/schedulers/rtds.h"

#include <inttypes.h>
#include <stdlib.h>

struct rt_follow {
    sim_time ahead; /* of Xen's clock before the model host's */
    cpumask told;   /* pCPUs that were told to decide and have not done so */
    uint64_t charges, charges_same;
};

struct rt_follow_vcpu {
    bool seen;
    bool charged, persuaded; /* in the decision under way: */
    uint32_t level;          /* Xen's figures after it was charged, */
    sim_time budget;
    uint32_t own_level; /* or the state before it was changed to be chosen */
    sim_time own_deadline, own_budget;
};

/* A damaged one is 0: sums of a few stay far from the end of sim_time. */
static sim_time wide(const struct follow_record *r, unsigned word)
{
    sim_time t = (sim_time)((uint64_t)r->word[word + 1] << 32 | r->word[word]);

    return t > INT64_MAX / 4 || t < INT64_MIN / 4 ? 0 : t;
}

/* Of a replenishment: its second word is the level, which records up to Xen 4.9 do not have. */
static unsigned deadline_at(const struct follow_record *r)
{
    return r->words >= 6 ? 2 : 1;
}

/* ---- what records show ----------------------------------------------------------------------- */

static void show_replenishment(struct driven *d, struct pool_follow *pf, struct driven_vcpu *dv,
                               const struct follow_record *r)
{
    const struct rt_follow *f = pf->of;
    struct rtds *data = rt_data(pf->pool->scheduler);
    struct rt_vcpu *rv = rt_vcpu(dv->vcpu);
    bool queued = rt_queued(rv);

    (void)d;
    ((struct rt_follow_vcpu *)dv->of)->seen = true;
    rv->deadline = wide(r, deadline_at(r)) - f->ahead;
    rv->budget = wide(r, deadline_at(r) + 2);
    rv->level = 0;
    rv->start = r->at;
    rv->depleted = false;
    if (queued) {
        list_remove(&rv->queue);
        rtds_enqueue(data, rv);
    }
}

/* For how long it is charged is taken from the record, whose date is some us off; what comes of it
 * is the model's. */
static void show_charge(struct driven *d, struct driven_vcpu *dv, const struct follow_record *r)
{
    struct rt_follow_vcpu *fv = dv->of;

    if (d->pcpu[r->pcpu].open)
        rt_vcpu(dv->vcpu)->start = d->pcpu[r->pcpu].decision - (sim_time)r->word[3];
    fv->charged = true;
    fv->budget = wide(r, 1);
    fv->level = r->words >= 5 ? r->word[4] : 0;
}

static void record(struct driven *d, struct pool_follow *pf, const struct follow_record *r)
{
    struct driven_vcpu *dv = driven_member(d, pf, r);
    struct rt_follow *f = pf->of;

    if (r->event == XT_RTDS_SCHEDULE)
        cpumask_clear(&f->told, r->pcpu);
    else if (r->event == XT_RTDS_TICKLE && r->word[0] < d->host->pcpu_count)
        cpumask_set(&f->told, r->word[0]);
    else if (dv && r->event == XT_RTDS_BUDGET_REPLENISH && r->words >= 5)
        show_replenishment(d, pf, dv, r);
    else if (dv && r->event == XT_RTDS_BUDGET_BURN && r->words >= 4)
        show_charge(d, dv, r);
    rt_data(pf->pool->scheduler)->tickled = f->told;
}

static void tickled(struct driven *d, struct pool_follow *pf, uint32_t cpu, bool told)
{
    (void)d;
    (void)cpu;
    (void)told;
    rt_data(pf->pool->scheduler)->tickled = ((struct rt_follow *)pf->of)->told;
}

/* ---- decisions ------------------------------------------------------------------------------- */

static bool known(struct driven *d, struct pool_follow *pf)
{
    for_each_followed(dv, d, pf) if (vcpu_runnable(dv->vcpu) &&
                                     !((struct rt_follow_vcpu *)dv->of)->seen) return false;
    return true;
}

/* For this decision it has the best level and a deadline before everybody's. */
static bool persuade(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                     unsigned attempt, sim_time at)
{
    struct rtds *data = rt_data(pf->pool->scheduler);
    struct rt_vcpu *rv = rt_vcpu(next);
    struct rt_follow_vcpu *fv;

    if (attempt || next->idle)
        return false;
    fv = d->vcpu[next->index].of;
    if (!fv->persuaded) {
        fv->persuaded = true;
        fv->own_level = rv->level;
        fv->own_deadline = rv->deadline;
        fv->own_budget = rv->budget;
    }
    rv->level = 0;
    rv->deadline = INT64_MIN / 2;
    rv->budget = rv->params.budget;
    if (next == p->current)
        rv->start = at;
    else if (rt_queued(rv))
        list_remove(&rv->queue), rtds_enqueue(data, rv);
    return true;
}

/* After the decision everybody concerned has the trace's figures, or those from before. */
static void decided(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                    sim_time at)
{
    struct rtds *data = rt_data(pf->pool->scheduler);
    struct rt_follow *f = pf->of;

    (void)p;
    (void)next;
    (void)at;
    for_each_followed(dv, d, pf)
    {
        struct rt_follow_vcpu *fv = dv->of;
        struct rt_vcpu *rv = rt_vcpu(dv->vcpu);

        if (!fv->charged && !fv->persuaded)
            continue;
        if (fv->persuaded) {
            rv->level = fv->own_level;
            rv->deadline = fv->own_deadline;
            rv->budget = fv->own_budget;
        } else if (fv->seen) {
            f->charges++;
            f->charges_same += rv->level == fv->level && rv->budget == fv->budget;
        }
        if (fv->charged) {
            rv->level = fv->level;
            rv->budget = fv->budget;
        }
        fv->charged = fv->persuaded = false;
        if (rt_queued(rv)) {
            list_remove(&rv->queue);
            rtds_enqueue(data, rv);
        }
    }
    data->tickled = f->told;
}

/* ---- the beginning --------------------------------------------------------------------------- */

static void begin(struct driven *d, struct pool_follow *pf, struct rng *rng)
{
    struct rt_follow *f = pf->of;
    bool found = false;

    (void)rng;
    for (size_t i = 0; i < d->trace->recs; i++) {
        const struct follow_record *r = &d->trace->rec[i];
        const struct driven_vcpu *dv = driven_member(d, pf, r);
        sim_time ahead;

        if (!dv || r->event != XT_RTDS_BUDGET_REPLENISH || r->words < 5)
            continue;
        ahead = wide(r, deadline_at(r)) - rt_vcpu(dv->vcpu)->params.period - r->at;
        if (!found || ahead > f->ahead)
            f->ahead = ahead;
        found = true;
    }
}

static char *inference(struct driven *d, struct pool_follow *pf)
{
    const struct rt_follow *f = pf->of;

    (void)d;
    return xasprintf("%" PRIu64 " of %" PRIu64 " charges leave the same level and budget",
                     f->charges_same, f->charges);
}

const struct follower follower_rtds = {
    .scheduler = "rtds",
    .pool_size = sizeof(struct rt_follow),
    .vcpu_size = sizeof(struct rt_follow_vcpu),
    .begin = begin,
    .record = record,
    .known = known,
    .persuade = persuade,
    .decided = decided,
    .tickled = tickled,
    .inference = inference,
    .schedule_event = XT_RTDS_SCHEDULE,
};
