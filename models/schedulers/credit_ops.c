/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Credit's parameters and operation table; the rules are in credit.c. */
#include "models/schedulers/credit.h"
#include "models/schedulers/schedulers.h"

static const struct param credit_rows[] = {
    {PARAM("tslice", DURATION, struct credit_params, tslice), .def = "30ms", .min = "1ms",
     .max = "1s", .meaning = "Slice, and period of accounting; whole milliseconds.",
     .source = "Xen: sched_credit_tslice_ms", .status = STATUS_EXACT},
    {PARAM("ratelimit", DURATION, struct credit_params, ratelimit), .def = "1ms", .max = "500ms",
     .meaning = "A vCPU that has run for less is not preempted; 0: off.",
     .source = "Xen: sched_ratelimit_us", .status = STATUS_EXACT},
    {PARAM("migration_delay", DURATION, struct credit_params, migration_delay), .def = "0",
     .max = "100ms",
     .meaning = "A vCPU that ran less than this ago is not stolen (its cache is hot).",
     .source = "Xen: vcpu_migration_delay", .status = STATUS_EXACT},
    {PARAM("load_balance_ratelimit", DURATION, struct credit_params, load_balance_ratelimit),
     .def = "1ms", .max = "1s",
     .meaning = "Shortest time between two searches for work in other queues (Xen 4.18 and later).",
     .source = "Xen 4.18: load_balance_ratelimit_us", .status = STATUS_EXACT},
    {PARAM("tickle_one_idle", BOOLEAN, struct credit_params, tickle_one_idle), .def = "true",
     .meaning = "A wake-up tells one idle pCPU, not all of them.",
     .source = "Xen: tickle_one_idle_cpu", .status = STATUS_EXACT},
    {PARAM("smt_power_savings", BOOLEAN, struct credit_params, smt_power_savings), .def = "false",
     .meaning = "Fill cores that are busy already before idle ones.",
     .source = "Xen: sched_smt_power_savings", .status = STATUS_EXACT},
    {PARAM("idle_ticks", BOOLEAN, struct credit_params, idle_ticks), .def = "false",
     .meaning = "Before Xen 4.17: ticks go on while a pCPU is idle (no C-state driver).",
     .source = "Xen 4.7: the C-state driver stops them, x86 default", .status = STATUS_EXACT},
};

static int check_whole_ms(void *target, struct json_value v, struct errors *e)
{
    const struct credit_params *p = target;

    if (p->tslice % NS_PER_MS)
        return json_error(json_member(v, "tslice"), e,
                          "Credit's slice is a whole number of milliseconds; round it");
    return 0;
}

const struct param_table credit_param_table =
    PARAM_TABLE("credit", struct credit_params, credit_rows,
                .meaning = "Xen's Credit scheduler.", .check = check_whole_ms);

const struct sched_ops sched_credit = {
    .abi = SCHEDULER_ABI,
    .name = "credit",
    .title = "Credit: proportional shares, BOOST for vCPUs that wake",
    .trace_id = 0,
    .params = &credit_param_table,
    .data_size = sizeof(struct credit),
    .pcpu_size = sizeof(struct credit_pcpu),
    .vcpu_size = sizeof(struct credit_vcpu),
    .domain_size = sizeof(struct credit_domain),
    .create = credit_create,
    .destroy = credit_destroy,
    .pcpu_join = credit_pcpu_join,
    .pcpu_leave = credit_pcpu_leave,
    .domain_create = credit_domain_create,
    .domain_destroy = credit_domain_destroy,
    .vcpu_create = credit_vcpu_create,
    .insert = credit_insert,
    .remove = credit_remove,
    .adjust = credit_adjust,
    .adjust_global = credit_adjust_global,
    .sleep = credit_sleep,
    .wake = credit_wake,
    .yield = credit_yield,
    .pick_cpu = credit_pick_cpu,
    .schedule = credit_schedule,
    .priority = credit_priority,
    .credit = credit_credit,
    .is_tick = credit_is_tick,
    .account_state = credit_account_state,
};
