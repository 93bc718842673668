/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * vSlicer on Credit: latency-sensitive vCPUs run more often, for shorter slices.
 * (C. Xu et al., "vSlicer: latency-aware virtual machine scheduling via differentiated-frequency
 * CPU slicing", HPDC 2012.)
 *
 * Design
 *   Sourced (abstract): latency-sensitive VMs are scheduled more often, each time for a
 *   proportionally smaller micro-slice, at the same total share; the others keep the long slice.
 *   Assumed: after each turn of another vCPU, the first latency-sensitive one in the queue that is
 * no worse than the head goes first, for `micro_slice`; credits keep the shares. The micro-slice of
 *   5 ms is the value common in descriptions of the system, not read in the paper.
 */
#include "models/schedulers/credit.h"
#include "models/schedulers/schedulers.h"

struct vslicer_params {
    struct credit_params credit; /* first: Credit's functions read it */
    sim_time micro_slice;
};

struct vslicer_domain {
    struct credit_domain credit; /* first */
    bool latency_sensitive;
};

struct vslicer_domain_params {
    bool latency_sensitive;
};

static bool sensitive(const struct credit_vcpu *cv)
{
    const struct vslicer_domain *vd = cv->vcpu->domain->sched;

    return !cv->vcpu->idle && vd->latency_sensitive;
}

static struct credit_vcpu *first_sensitive(struct credit_pcpu *cp, int16_t least)
{
    for_each_queued(cv, cp) if (cv->pri >= least && cv->pri > PRI_IDLE && sensitive(cv)) return cv;
    return NULL;
}

static struct decision choose(struct credit *c, struct credit_pcpu *cp, struct vcpu *prev,
                              struct credit_vcpu *head, sim_time now)
{
    const struct vslicer_params *p = c->sched->params;
    struct credit_vcpu *next = NULL;

    if (!prev->idle && !sensitive(credit_vcpu(prev)))
        next = first_sensitive(cp, head->pri);
    if (next) {
        runq_remove(c, next);
        c->sched->why = "latency-sensitive: first of its kind in the queue, after another's turn";
    } else {
        next = credit_choose(c, cp, head, now);
    }
    credit_update_idlers(c, cp, next);
    return (struct decision){next->vcpu, sensitive(next) ? p->micro_slice : c->tslice};
}

static void create(struct scheduler *s)
{
    credit_create(s);
    credit_data(s)->choose = choose;
}

static void adjust_domain(struct scheduler *s, struct domain *d, const void *params)
{
    const struct vslicer_domain_params *p = params;

    (void)s;
    ((struct vslicer_domain *)d->sched)->latency_sensitive = p->latency_sensitive;
}

static const struct param rows[] = {
    {PARAM("micro_slice", DURATION, struct vslicer_params, micro_slice), .def = "5ms",
     .min = "100us", .max = "1s", .meaning = "Slice of a latency-sensitive vCPU.",
     .status = STATUS_ASSUMED},
    CREDIT_PARAM_ROWS(struct vslicer_params, credit.),
};
static const struct param_table table =
    PARAM_TABLE("vslicer", struct vslicer_params, rows, .meaning = "vSlicer on Credit.",
                .check = credit_params_check);

static const struct param domain_rows[] = {
    {PARAM("latency_sensitive", BOOLEAN, struct vslicer_domain_params, latency_sensitive),
     .def = "false", .range = PARAM_NO_RANGE,
     .meaning = "The domain's vCPUs run often and briefly.", .status = STATUS_ASSUMED},
};
static const struct param_table domain_table =
    PARAM_TABLE("vslicer domain", struct vslicer_domain_params, domain_rows,
                .meaning = "How vSlicer treats a domain.");

const struct sched_ops sched_vslicer = {
    CREDIT_OPERATIONS,
    .name = "vslicer",
    .title = "vSlicer on Credit: latency-sensitive vCPUs run more often, more briefly",
    .params = &table,
    .domain_params = &domain_table,
    .domain_size = sizeof(struct vslicer_domain),
    .create = create,
    .adjust_domain = adjust_domain,
};
