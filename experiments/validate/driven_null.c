/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Following null. Its records show which vCPU a pCPU is assigned to at each decision, so that an
 * assignment that was made before the trace began is known from the pCPU's first decision on.
 */
#include "experiments/validate/driven_inside.h"

#include "models/schedulers/null.h"

struct null_follow {
    bool seen[MAX_PCPUS]; /* this pCPU's assignment was shown */
};

/* From now on this pCPU is for v, or for nobody. */
static void show_assignment(struct pool_follow *pf, struct pcpu *p, struct vcpu *v)
{
    struct null *data = null_data(pf->pool->scheduler);
    struct vcpu *holder = null_pcpu(p)->assigned;

    if (holder == v)
        return;
    if (holder) {
        null_pcpu(p)->assigned = NULL;
        cpumask_set(&data->free, p->id);
    }
    if (!v)
        return;
    if (null_pcpu(vcpu_pcpu(v))->assigned == v) {
        null_pcpu(vcpu_pcpu(v))->assigned = NULL;
        cpumask_set(&data->free, v->processor);
    }
    list_remove(&null_vcpu(v)->waiting);
    null_pcpu(p)->assigned = v;
    v->processor = p->id;
    cpumask_clear(&data->free, p->id);
}

static void record(struct driven *d, struct pool_follow *pf, const struct follow_record *r)
{
    struct driven_vcpu *dv = driven_member(d, pf, r);
    struct null_follow *f = pf->of;
    bool assign = r->event == XT_SNULL_UNIT_ASSIGN || r->event == XT_SNULL_SCHEDULE;
    uint32_t cpu = r->event == XT_SNULL_SCHEDULE ? r->pcpu : r->words > 1 ? r->word[1] : UINT32_MAX;

    if (cpu >= d->host->pcpu_count || d->host->pcpu[cpu].pool != pf->pool)
        return;
    if (assign && r->event == XT_SNULL_SCHEDULE && f->seen[cpu])
        return; /* the model's own is to be judged */
    if (assign && (dv || r->event == XT_SNULL_SCHEDULE)) {
        f->seen[cpu] = true;
        show_assignment(pf, &d->host->pcpu[cpu], dv ? dv->vcpu : NULL);
    } else if (r->event == XT_SNULL_UNIT_DEASSIGN) {
        show_assignment(pf, &d->host->pcpu[cpu], NULL);
    }
}

static bool known(struct driven *d, struct pool_follow *pf)
{
    const struct null_follow *f = pf->of;

    for_each_cpu(cpu, &pf->pool->cpus) if (!f->seen[cpu]) return false;
    (void)d;
    return true;
}

static bool persuade(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                     unsigned attempt, sim_time at)
{
    (void)d;
    (void)at;
    if (attempt)
        return false;
    show_assignment(pf, p, next->idle ? NULL : next);
    return true;
}

const struct follower follower_null = {
    .scheduler = "null",
    .pool_size = sizeof(struct null_follow),
    .vcpu_size = 1,
    .record = record,
    .known = known,
    .persuade = persuade,
    .schedule_event = XT_SNULL_SCHEDULE,
};
