/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Per scheduler: how a reference schedule gives its parameters. */
#include "experiments/validate/json_fields.h"
#include "experiments/validate/schedule_case.h"
#include "models/schedulers/arinc653.h"
#include "models/schedulers/credit.h"
#include "models/schedulers/credit2.h"
#include "models/schedulers/rtds.h"
#include "sim/json.h"

#include <string.h>

/* Xen's RTDS_MIN_BUDGET, which its RTDS_MIN_PERIOD is as well. */
#define RTDS_LEAST (10 * NS_PER_US)

static sim_time micros(struct json_value root, const char *key, sim_time otherwise,
                       struct errors *e)
{
    return field_time(root, key, NS_PER_US, otherwise, e);
}

/* Set one parameter of a scheduler to a value given as text. */
static void set_by_name(const char *scheduler, const char *name, const char *value, void *params,
                        struct json_value v, struct errors *e)
{
    const struct param_table *t = scheduler_by_name(scheduler)->params;

    for (size_t i = 0; i < t->count; i++)
        if (!strcmp(t->row[i].name, name)) {
            char why[QUANTITY_WHY];

            if (param_parse(&t->row[i], value, (char *)params + t->row[i].offset, why))
                json_error(v, e, "%s", why);
        }
}

/* The same, of a parameter that has names as values and is called so in the file. */
static void set_choice(const char *scheduler, const char *name, void *params,
                       struct json_value root, const char *key, struct errors *e)
{
    struct json_value v = json_member(root, key);

    if (json_string(v))
        set_by_name(scheduler, name, json_string(v), params, v, e);
    else if (json_exists(v))
        json_error(v, e, "expected a text");
}

/* Boot options that Credit and Credit2 have in common with others, by hvsim's names. */
static void boot_option(const char *scheduler, const char *name, void *params,
                        struct json_value root, struct errors *e)
{
    struct json_value v = json_member(root, name);

    if (json_exists(v))
        set_by_name(scheduler, name, field_integer(root, name, 0, 1, 0, e) ? "true" : "false",
                    params, v, e);
}

static void credit_params(void *params, struct json_value root, struct errors *e)
{
    struct credit_params *p = params;
    int64_t ms = field_integer(root, "tslice_ms", INT32_MIN, INT32_MAX, -1, e);

    if (json_exists(json_member(root, "tslice_ms")))
        p->tslice = (ms < 1 || ms > 1000 ? 30 : ms) * NS_PER_MS; /* as Xen corrects it */
    p->ratelimit = micros(root, "ratelimit_us", p->ratelimit, e);
    p->migration_delay = micros(root, "migration_delay_us", p->migration_delay, e);
    if (p->migration_delay > 100 * NS_PER_MS)
        p->migration_delay = 0; /* as Xen corrects it */
    p->idle_ticks = field_integer(root, "idle_ticks", 0, 1, p->idle_ticks, e);
    boot_option("credit", "tickle_one_idle", params, root, e);
    boot_option("credit", "smt_power_savings", params, root, e);
}

/* credit_params come first in TerrierTail's parameters; the policy is set by its table. */
static void terriertail_params(void *params, struct json_value root, struct errors *e)
{
    credit_params(params, root, e);
    set_choice("terriertail", "policy", params, root, "policy", e);
}

static void credit2_params(void *params, struct json_value root, struct errors *e)
{
    struct credit2_params *p = params;

    p->ratelimit = micros(root, "ratelimit_us", p->ratelimit, e);
    boot_option("credit2", "smt_power_savings", params, root, e);
    set_choice("credit2", "runqueue", params, root, "credit2_runqueue", e);
}

/* "rtds" of the vCPU, or of its domain; Xen refuses budgets that are not within the period. */
static void rtds_vcpu(struct vcpu *v, struct json_value domain, struct json_value vcpu,
                      struct errors *e)
{
    const struct sched_ops *ops = scheduler_by_name("rtds");
    struct json_value j = json_member(vcpu, "rtds");
    size_t before = e->count;
    struct rtds_vcpu_params p;

    if (!json_exists(j))
        j = json_member(domain, "rtds");
    if (!json_exists(j))
        return;
    params_defaults(ops->vcpu_params, &p);
    p.period = micros(j, "period_us", p.period, e);
    p.budget = micros(j, "budget_us", p.budget, e);
    p.extratime = field_integer(j, "extratime", 0, 1, p.extratime, e);
    if (p.budget < RTDS_LEAST || p.budget > p.period)
        json_error(j, e, "expected a budget of at least 10 us, and not above the period");
    if (v && e->count == before)
        ops->adjust_vcpu(vcpu_scheduler(v), v, &p);
}

/* "arinc653": {major_frame_us, entries: [[domain, vcpu, us], ...]} */
static void arinc653_finish(struct scheduler *s, struct json_value root, struct errors *e)
{
    struct json_value table = json_member(root, "arinc653");
    struct json_value entries = json_member(table, "entries");
    struct arinc653_entry entry[ARINC653_ENTRIES];
    uint32_t count = 0;

    if (!json_exists(table))
        return;
    if (json_length(entries) > ARINC653_ENTRIES) {
        json_error(entries, e, "expected at most %d windows", ARINC653_ENTRIES);
        return;
    }
    JSON_FOR_EACH(row, entries)
    {
        int64_t domain, vcpu;

        if (json_integer(json_element(row, 0), &domain) || domain < 0 || domain > UINT16_MAX ||
            json_integer(json_element(row, 1), &vcpu) || vcpu < 0 || vcpu > UINT16_MAX) {
            json_error(row, e, "expected [domain, vcpu, us]");
            continue;
        }
        entry[count++] =
            (struct arinc653_entry){.id = (uint32_t)domain,
                                    .vcpu = (uint32_t)vcpu,
                                    .runtime = field_time_of(json_element(row, 2), NS_PER_US, e)};
    }
    arinc653_set_table(s, entry, count, micros(table, "major_frame_us", 0, e));
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
