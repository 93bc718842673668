/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operation tables of the built-in schedulers. */
#ifndef HVSIM_SCHEDULERS_SCHEDULERS_H
#define HVSIM_SCHEDULERS_SCHEDULERS_H

#include "models/schedulers/scheduler.h"

extern const struct sched_ops sched_credit;
extern const struct sched_ops sched_credit2;
extern const struct sched_ops sched_rtds;
extern const struct sched_ops sched_null;
extern const struct sched_ops sched_arinc653;
extern const struct sched_ops sched_terriertail;
extern const struct sched_ops sched_rr;
extern const struct sched_ops sched_vslicer;
extern const struct sched_ops sched_tableau;

/* Add one at run time; -1 when there is no room. For plugin.c. */
int scheduler_register(const struct sched_ops *ops);

#endif
