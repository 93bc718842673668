/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/* Xen's core.c, and what the harness needs of its insides. The one cpupool is here. */
#include "validation/xen/differential/shim.h"

#include <core.c>

#include "validation/xen/differential/glue.h"

static struct cpupool pool0;

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

unsigned int shim_sched_id(void)
{
    return scheduler_get_default()->sched_id;
}

/* record: as the hypercall does, in the trace. */
int shim_adjust(struct domain *d, struct xen_domctl_scheduler_op *op, bool record)
{
    int status;

    op->sched_id = shim_sched_id();
    status = sched_adjust_dom(scheduler_get_default(), d, op);
    if (!status && record)
        TRACE_1D(TRC_SCHED_ADJDOM, d->domain_id);
    return status;
}

int shim_adjust_pool(struct xen_sysctl_scheduler_op *op)
{
    return sched_adjust_cpupool(scheduler_get_default(), op);
}

void shim_pool_init(void)
{
    pool0.sched = scheduler_get_default();
    pool0.gran = SCHED_GRAN_cpu;
    pool0.sched_gran = 1;
    pool0.sched->cpupool = &pool0;
}

void shim_pool_add(unsigned int cpu)
{
    if (schedule_cpu_add(cpu, &pool0))
        BUG();
    cpumask_clear_cpu(cpu, &cpupool_free_cpus);
    cpumask_set_cpu(cpu, pool0.cpu_valid);
    cpumask_and(pool0.res_valid, pool0.cpu_valid, &sched_res_mask);
}

int cpupool_add_domain(struct domain *d, unsigned int id)
{
    (void)id;
    d->cpupool = &pool0;
    pool0.n_dom++;
    return 0;
}

void cpupool_rm_domain(struct domain *d)
{
    d->cpupool = NULL;
}

unsigned int cpupool_get_granularity(const struct cpupool *c)
{
    return c ? c->sched_gran : 1;
}
