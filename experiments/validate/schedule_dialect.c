/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Per scheduler: how a reference schedule gives its parameters. */
#include "experiments/validate/schedule_case.h"
#include "models/schedulers/arinc653.h"
#include "models/schedulers/credit.h"
#include "models/schedulers/credit2.h"
#include "models/schedulers/rtds.h"
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

/* Boot options that Credit and Credit2 have in common with others, by hvsim's names. */
static void boot_option(const char *scheduler, const char *name, void *params,
                        struct json_value root)
{
    struct json_value v = json_member(root, name);

    if (json_exists(v))
        set_by_name(scheduler, name, json_boolean(v) ? "true" : "false", params);
}

static void credit_params(void *params, struct json_value root)
{
    struct credit_params *p = params;
    int64_t ms, ticks;

    if (json_integer(json_member(root, "tslice_ms"), &ms) == 0)
        p->tslice = (ms < 1 || ms > 1000 ? 30 : ms) * NS_PER_MS; /* as Xen corrects it */
    p->ratelimit = micros(root, "ratelimit_us", p->ratelimit);
    p->migration_delay = micros(root, "migration_delay_us", p->migration_delay);
    if (p->migration_delay < 0 || p->migration_delay > 100 * NS_PER_MS)
        p->migration_delay = 0; /* as Xen corrects it */
    if (json_integer(json_member(root, "idle_ticks"), &ticks) == 0)
        p->idle_ticks = ticks != 0;
    boot_option("credit", "tickle_one_idle", params, root);
    boot_option("credit", "smt_power_savings", params, root);
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
    boot_option("credit2", "smt_power_savings", params, root);
    set_by_name("credit2", "runqueue", json_string(json_member(root, "credit2_runqueue")), params);
}

/* "rtds" of the vCPU, or of its domain. */
static void rtds_vcpu(struct vcpu *v, struct json_value domain, struct json_value vcpu)
{
    const struct sched_ops *ops = vcpu_scheduler(v)->ops;
    struct json_value j = json_member(vcpu, "rtds");
    struct rtds_vcpu_params p;
    int64_t extratime;

    if (!json_exists(j))
        j = json_member(domain, "rtds");
    if (!json_exists(j))
        return;
    params_defaults(ops->vcpu_params, &p);
    p.period = micros(j, "period_us", p.period);
    p.budget = micros(j, "budget_us", p.budget);
    if (json_integer(json_member(j, "extratime"), &extratime) == 0)
        p.extratime = extratime != 0;
    ops->adjust_vcpu(vcpu_scheduler(v), v, &p);
}

/* "arinc653": {major_frame_us, entries: [[domain, vcpu, us], ...]} */
static void arinc653_finish(struct scheduler *s, struct json_value root)
{
    struct json_value table = json_member(root, "arinc653");
    struct arinc653_entry entry[ARINC653_ENTRIES];
    uint32_t count = 0;

    if (!json_exists(table))
        return;
    JSON_FOR_EACH(row, json_member(table, "entries"))
    {
        int64_t number[3];

        for (size_t i = 0; i < 3; i++)
            if (json_integer(json_element(row, i), &number[i]))
                number[i] = 0;
        if (count < ARINC653_ENTRIES)
            entry[count++] = (struct arinc653_entry){.id = (uint32_t)number[0],
                                                     .vcpu = (uint32_t)number[1],
                                                     .runtime = number[2] * NS_PER_US};
    }
    arinc653_set_table(s, entry, count, micros(table, "major_frame_us", 0));
}

static const struct schedule_dialect dialects[] = {
    {.scheduler = "arinc653", .finish = arinc653_finish},
    {.scheduler = "credit", .params = credit_params},
    {.scheduler = "credit2", .weights_last = true, .params = credit2_params},
    {.scheduler = "rtds", .vcpu = rtds_vcpu},
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
