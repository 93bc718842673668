/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/* Xen's core.c, and what the harness needs of its insides. The one cpupool is here. */
#include "validation/xen/differential/shim.h"

#include <core.c>

#include "validation/xen/differential/glue.h"

static struct cpupool pools[MAX_POOLS];

int shim_set_soft_affinity(struct vcpu *v, const cpumask_t *m)
{
    return vcpu_set_soft_affinity(v, m);
}

void shim_cpu_up(unsigned int cpu)
{
    if (cpu_schedule_callback(&cpu_schedule_nfb, CPU_UP_PREPARE, (void *)(unsigned long)cpu))
        BUG();
}

void shim_select(const char *name)
{
    snprintf(opt_sched, sizeof opt_sched, "%s", name);
}

const char *shim_scheduler_of(const struct domain *d)
{
    return d->cpupool->sched->opt_name;
}

/* record: as the hypercall does, in the trace. */
int shim_adjust(struct domain *d, struct xen_domctl_scheduler_op *op, bool record)
{
    int status;

    op->sched_id = dom_scheduler(d)->sched_id;
    status = sched_adjust_dom(dom_scheduler(d), d, op);
    if (!status && record)
        TRACE_1D(TRC_SCHED_ADJDOM, d->domain_id);
    return status;
}

const char *shim_pool_scheduler(unsigned int pool)
{
    return pools[pool].sched->opt_name;
}

int shim_adjust_pool(unsigned int pool, struct xen_sysctl_scheduler_op *op)
{
    op->sched_id = pools[pool].sched->sched_id;
    return sched_adjust_cpupool(pools[pool].sched, op);
}

void shim_pool_init(unsigned int pool, const char *name)
{
    struct cpupool *p = &pools[pool];

    p->sched =
        pool ? scheduler_alloc((unsigned int)sched_get_id_by_name(name)) : scheduler_get_default();
    if (IS_ERR(p->sched))
        BUG();
    p->cpupool_id = pool;
    p->gran = SCHED_GRAN_cpu;
    p->sched_gran = 1;
    p->sched->cpupool = p;
}

void shim_pool_add(unsigned int pool, unsigned int cpu)
{
    struct cpupool *p = &pools[pool];

    if (schedule_cpu_add(cpu, p))
        BUG();
    cpumask_clear_cpu(cpu, &cpupool_free_cpus);
    cpumask_set_cpu(cpu, p->cpu_valid);
    cpumask_and(p->res_valid, p->cpu_valid, &sched_res_mask);
}

int cpupool_add_domain(struct domain *d, unsigned int id)
{
    d->cpupool = &pools[id];
    pools[id].n_dom++;
    return 0;
}

/* The rest of a move once nobody runs. */
void shim_move(struct domain *d, unsigned int pool)
{
    if (d->cpupool != &pools[pool] && sched_move_domain(d, &pools[pool]))
        BUG();
}

void cpupool_rm_domain(struct domain *d)
{
    d->cpupool = NULL;
}

unsigned int cpupool_get_granularity(const struct cpupool *c)
{
    return c ? c->sched_gran : 1;
}
