/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one header that a scheduler includes: the objects and calls it may use (hypervisor.h), the
 * operations it provides (struct sched_ops), its parameter table (sim/params.h), and helpers that
 * Xen's schedulers share. A scheduler is registered by one row in schedulers.c.
 */
#ifndef HVSIM_SCHEDULERS_SCHEDULER_H
#define HVSIM_SCHEDULERS_SCHEDULER_H

#include "models/hypervisor/hypervisor.h"
#include "sim/error.h"
#include "sim/params.h"

/* The two steps of Xen's affinity loops: first the pCPUs that v prefers, then all that it may use.
 * The soft step is skipped for vCPUs without effective soft affinity. */
enum affinity_step { STEP_SOFT, STEP_HARD, STEPS };

#define for_each_affinity_step(step) for (int step = STEP_SOFT; step < STEPS; step++)

/* Mask of a step: soft and hard (hard if that is empty), or hard. */
static inline cpumask affinity_step_mask(const struct vcpu *v, int step)
{
    if (step == STEP_SOFT) {
        cpumask m = cpumask_and(&v->soft, &v->hard);

        if (!cpumask_empty(&m))
            return m;
    }
    return v->hard;
}

/* All schedulers, for look-up by name and for tables; NULL past the last, or if unknown. */
const struct sched_ops *scheduler_nth(size_t i);
const struct sched_ops *scheduler_by_name(const char *name);

#endif
