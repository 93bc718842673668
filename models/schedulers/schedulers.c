/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry: one row per scheduler. */
#include "models/schedulers/schedulers.h"

#include <string.h>

static const struct sched_ops *const schedulers[] = {
    &sched_credit,
    &sched_terriertail,
    &sched_rr,
    &sched_vslicer,
    &sched_tableau,
};

const struct sched_ops *scheduler_nth(size_t i)
{
    return i < sizeof schedulers / sizeof *schedulers ? schedulers[i] : NULL;
}

const struct sched_ops *scheduler_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++)
        if (!strcmp(schedulers[i]->name, name))
            return schedulers[i];
    return NULL;
}
