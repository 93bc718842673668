/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Per scheduler: how a reference schedule gives its parameters. */
#include "experiments/schedule_case.h"
#include "models/schedulers/credit.h"
#include "models/schedulers/credit2.h"
#include "sim/json.h"

#include <string.h>

static sim_time micros(struct json_value root, const char *key, sim_time otherwise)
{
    int64_t us;

    return json_integer(json_member(root, key), &us) == 0 ? us * NS_PER_US : otherwise;
}

/* Set one parameter of a scheduler to a value given as text, if it is given. */
static void set_by_name(const char *scheduler, const char *name, const char *value, void *params)
{
    const struct param_table *t = scheduler_by_name(scheduler)->params;

    for (size_t i = 0; value && i < t->count; i++)
        if (!strcmp(t->row[i].name, name)) {
            char why[QUANTITY_WHY];

            param_parse(&t->row[i], value, (char *)params + t->row[i].offset, why);
        }
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
    credit_params(params, root);
    set_by_name("terriertail", "policy", json_string(json_member(root, "policy")), params);
}

static void credit2_params(void *params, struct json_value root)
{
    struct credit2_params *p = params;

    p->ratelimit = micros(root, "ratelimit_us", p->ratelimit);
    set_by_name("credit2", "runqueue", json_string(json_member(root, "credit2_runqueue")), params);
}

static const struct schedule_dialect dialects[] = {
    {.scheduler = "credit", .params = credit_params},
    {.scheduler = "credit2", .weights_last = true, .params = credit2_params},
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
