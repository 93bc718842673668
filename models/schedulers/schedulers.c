/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry: one row per scheduler. */
#include "models/schedulers/schedulers.h"

#include "models/schedulers/plugin.h"

#include <string.h>

static const struct sched_ops *const schedulers[] = {
    &sched_credit,      &sched_credit2, &sched_rtds,    &sched_null,    &sched_arinc653,
    &sched_terriertail, &sched_rr,      &sched_vslicer, &sched_tableau,
};

enum { BUILT_IN = sizeof schedulers / sizeof *schedulers, PLUGINS_MAX = 16 };

static const struct sched_ops *plugin[PLUGINS_MAX];
static size_t plugins;

int scheduler_register(const struct sched_ops *ops)
{
    if (plugins == PLUGINS_MAX)
        return -1;
    plugin[plugins++] = ops;
    return 0;
}

const struct sched_ops *scheduler_nth(size_t i)
{
    if (i < BUILT_IN)
        return schedulers[i];
    return i - BUILT_IN < plugins ? plugin[i - BUILT_IN] : NULL;
}

const struct sched_ops *scheduler_by_name(const char *name)
{
    const struct sched_ops *ops;

    for (size_t i = 0; (ops = scheduler_nth(i)); i++)
        if (!strcmp(ops->name, name))
            return ops;
    return NULL;
}

bool scheduler_is_plugin(const struct sched_ops *ops)
{
    for (size_t i = 0; i < plugins; i++)
        if (plugin[i] == ops)
            return true;
    return false;
}
