/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/schedulers/plugin.h"

#include "models/schedulers/schedulers.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Operations that every scheduler must have. */
static const struct {
    const char *name;
    size_t offset;
} required[] = {
    {"sleep", offsetof(struct sched_ops, sleep)},
    {"wake", offsetof(struct sched_ops, wake)},
    {"pick_cpu", offsetof(struct sched_ops, pick_cpu)},
    {"schedule", offsetof(struct sched_ops, schedule)},
};

static int check(const char *path, const struct sched_ops *ops, struct errors *e)
{
    size_t before = e->count;

    if (!ops)
        return error_add(e, EXIT_INPUT, "%s: hvsim_scheduler() returned NULL", path);
    if (ops->abi != SCHEDULER_ABI) /* nothing else of it can be trusted */
        return error_add(e, EXIT_INPUT,
                         "%s: was built for version %u of the scheduler interface, this hvsim has "
                         "version %d; build it again with this hvsim's header",
                         path, ops->abi, SCHEDULER_ABI);
    if (!ops->name || !*ops->name)
        error_add(e, EXIT_INPUT, "%s: the scheduler has no name", path);
    else if (scheduler_by_name(ops->name))
        error_add(e, EXIT_INPUT, "%s: there is a scheduler \"%s\" already; choose another name",
                  path, ops->name);
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        void (*op)(void);

        memcpy(&op, (const char *)ops + required[i].offset, sizeof op);
        if (!op)
            error_add(e, EXIT_INPUT, "%s: operation \"%s\" is NULL; a scheduler must have it", path,
                      required[i].name);
    }
    if (ops->params)
        params_check_table(ops->params, e);
    return e->count > before ? -1 : 0;
}

const struct sched_ops *scheduler_load(const char *path, struct errors *e)
{
    /* a name without a slash would be searched in the library path */
    char *file = strchr(path, '/') ? xstrdup(path) : xasprintf("./%s", path);
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const struct sched_ops *(*entry)(void);
    const struct sched_ops *ops;
    void *symbol;

    free(file);
    if (!object) {
        error_add(e, EXIT_INPUT, "scheduler plug-in: %s", dlerror());
        return NULL;
    }
    symbol = dlsym(object, "hvsim_scheduler");
    if (!symbol) {
        error_add(e, EXIT_INPUT,
                  "%s: no function hvsim_scheduler() in it; see `hvsim new scheduler NAME` for a "
                  "skeleton",
                  path);
        dlclose(object);
        return NULL;
    }
    memcpy(&entry, &symbol, sizeof entry);
    ops = entry();
    if (check(path, ops, e)) {
        dlclose(object);
        return NULL;
    }
    if (scheduler_register(ops)) {
        error_add(e, EXIT_INPUT, "%s: too many plug-ins", path);
        return NULL;
    }
    return ops;
}
