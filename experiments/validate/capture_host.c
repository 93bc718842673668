/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/capture_host.h"

#include "models/schedulers/rtds.h"

#include <string.h>

/* Set the parameter of that name, if the scheduler has one. */
static void set_duration(const struct param_table *t, void *params, const char *name,
                         sim_time value)
{
    if (value < 0)
        return;
    for (size_t i = 0; i < t->count; i++)
        if (t->row[i].kind == PARAM_DURATION && !strcmp(t->row[i].name, name))
            memcpy((char *)params + t->row[i].offset, &value, sizeof value);
}

void *capture_scheduler_params(const struct capture *c, const struct sched_ops *ops, bool guests)
{
    void *params;

    if (!ops->params)
        return NULL;
    params = xcalloc(1, ops->params->size);
    params_defaults(ops->params, params);
    if (guests) {
        set_duration(ops->params, params, "ratelimit", c->ratelimit);
        set_duration(ops->params, params, "tslice", c->tslice);
    }
    return params;
}

void capture_set_vcpu(const struct capture_guest *g, struct vcpu *v)
{
    struct scheduler *s = vcpu_scheduler(v);
    const struct rtds_vcpu_params p = {
        .period = g->rtds_period, .budget = g->rtds_budget, .extratime = g->rtds_extratime};

    if (g->rtds_period && s->ops->adjust_vcpu && !strcmp(s->ops->name, "rtds"))
        s->ops->adjust_vcpu(s, v, &p);
}
