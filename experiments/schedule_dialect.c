/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Per scheduler: how a reference schedule gives its parameters. */
#include "experiments/schedule_case.h"
#include "models/schedulers/credit.h"
#include "sim/json.h"

#include <string.h>

static sim_time micros(struct json_value root, const char *key, sim_time otherwise)
{
    int64_t us;

    return json_integer(json_member(root, key), &us) == 0 ? us * NS_PER_US : otherwise;
}

static void credit_params(void *params, struct json_value root)
{
    struct credit_params *p = params;
    int64_t ms, ticks;

    if (json_integer(json_member(root, "tslice_ms"), &ms) == 0)
        p->tslice = ms * NS_PER_MS;
    p->ratelimit = micros(root, "ratelimit_us", p->ratelimit);
    p->migration_delay = micros(root, "migration_delay_us", p->migration_delay);
    if (json_integer(json_member(root, "idle_ticks"), &ticks) == 0)
        p->idle_ticks = ticks != 0;
}

/* credit_params come first in TerrierTail's parameters; the policy is set by its table. */
static void terriertail_params(void *params, struct json_value root)
{
    const char *policy = json_string(json_member(root, "policy"));
    const struct param_table *t = scheduler_by_name("terriertail")->params;

    credit_params(params, root);
    for (size_t i = 0; policy && i < t->count; i++)
        if (!strcmp(t->row[i].name, "policy")) {
            char why[QUANTITY_WHY];

            param_parse(&t->row[i], policy, (char *)params + t->row[i].offset, why);
        }
}

static const struct schedule_dialect dialects[] = {
    {.scheduler = "credit", .params = credit_params},
    {.scheduler = "terriertail", .params = terriertail_params},
};

const struct schedule_dialect *schedule_dialect(const char *scheduler)
{
    static const struct schedule_dialect none;

    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        if (!strcmp(dialects[i].scheduler, scheduler))
            return &dialects[i];
    return &none;
}
