/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an operator does to a running host beyond weights, caps and affinity: destroy a domain, move
 * one to another cpupool, change a scheduler's parameters.
 *
 * Destroying and moving need the domain's vCPUs off their pCPUs. So they are paused first, and the
 * rest is done once none of them runs: at the same date, after its reschedules, unless interrupts
 * between pCPUs take time.
 */
#ifndef HVSIM_HYPERVISOR_OPERATE_H
#define HVSIM_HYPERVISOR_OPERATE_H

#include "models/hypervisor/hypervisor.h"

/* xl destroy: its vCPUs never run again. Harmless if it is not there. */
void domain_destroy(struct domain *d);

/* xl cpupool-migrate. As in Xen weight, cap and affinities go back to their defaults. The pool must
 * have pCPUs. Moving to its own pool does nothing. */
void domain_move(struct domain *d, struct cpupool *to);

/* xl sched-* -s: parameters of the type that the scheduler's table describes; copied. */
void pool_set_params(struct cpupool *pool, const void *params, size_t size);

#endif
