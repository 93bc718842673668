/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedulers from shared objects. A plug-in defines
 *
 *     const struct sched_ops *hvsim_scheduler(void);
 *
 * and is built against the installed header hvsim/scheduler.h. Once loaded, its name can be used in
 * scenarios like a built-in one.
 */
#ifndef HVSIM_SCHEDULERS_PLUGIN_H
#define HVSIM_SCHEDULERS_PLUGIN_H

#include "models/schedulers/scheduler.h"

/* Load and register. NULL with errors: no such file, no entry point, wrong version, a missing
 * required operation, a name that is taken. It stays loaded for the life of the process. */
const struct sched_ops *scheduler_load(const char *path, struct errors *e);

/* Is this one from a plug-in? Hosts that run it are guarded (host->guard). */
bool scheduler_is_plugin(const struct sched_ops *ops);

#endif
