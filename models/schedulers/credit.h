/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Credit's data and the rules that differ between its versions; shared with TerrierTail, which is
 * Credit of Xen 4.7 with another way to choose (terriertail.c). No other scheduler includes this;
 * experiments/validate/driven_credit.c does, to follow real traces.
 */
#ifndef HVSIM_SCHEDULERS_CREDIT_H
#define HVSIM_SCHEDULERS_CREDIT_H

#include "models/schedulers/scheduler.h"

/* Priorities, high to low. */
enum { PRI_BOOST = 0, PRI_UNDER = -1, PRI_OVER = -2, PRI_IDLE = -64 };

struct credit_params {
    sim_time tslice;
    sim_time ratelimit;
    sim_time migration_delay;
    sim_time load_balance_ratelimit; /* 4.18 and later */
    bool tickle_one_idle;
    bool smt_power_savings;
    bool idle_ticks; /* before 4.17: ticks go on while a pCPU is idle */
};

/* Rules that hvsim explain --without can switch off; credit_rule_table names them. */
enum credit_rule {
    RULE_BOOST,
    RULE_UNBOOST,
    RULE_RATELIMIT,
    RULE_STEAL,
    RULE_MIGRATE,
    RULE_SORT,
    RULE_CAP
};
extern const struct sched_rule credit_rule_table[];

/* What differs between versions, as switches (docs/models/credit.md says what each means). */
struct credit_rules {
    bool boost_migrated;      /* a wake that ends a migration may boost */
    bool kick_always;         /* a waker kicks the running vCPU away even if no idler can take it */
    bool kick;                /* ... only if an idler can take it */
    bool tickle_takes_idler;  /* a tickled pCPU leaves the idlers at once */
    bool tickle_any_idler;    /* the idler told need not be allowed for the woken vCPU */
    bool pinned_shortcut;     /* a vCPU with one allowed pCPU, if that is idle: told directly */
    bool ratelimit_whole;     /* a rate-limited run goes on for a whole ratelimit */
    bool ratelimit_yields;    /* a yield is held back by the ratelimit too */
    bool unpark_boosts;       /* unparking may boost */
    bool runnable_count;      /* stealing skips peers with at most one, and starts past a bias */
    bool tick_stops_on_idle;  /* by the decision; else by the C-state driver (idle_ticks) */
    bool yield_until_dequeue; /* YIELD stays while queued */
    bool balance_ratelimit;
};

struct credit_vcpu {
    struct list runq;   /* in its pCPU's queue */
    struct list active; /* in its domain's list of active vCPUs */
    struct vcpu *vcpu;
    sim_time start_time; /* charge origin; relative to now while not running */
    sim_time last_sched; /* last descheduled */
    int64_t residual;    /* of charging, below one credit */
    int32_t credit;
    int16_t pri;
    bool yield, parked, migrating;
    /* TerrierTail */
    uint8_t color;
    bool red_served, blue_served;
    uint8_t phase; /* in which it was picked last */
};

struct credit_pcpu {
    struct list runq;
    struct timer tick;
    struct pcpu *pcpu;
    uint32_t sort_epoch;
    uint32_t idle_bias;
    uint32_t nr_runnable;
    sim_time last_balance;
    /* TerrierTail */
    uint8_t state;
    bool no_migration;
};

struct credit_domain {
    struct list active_vcpus; /* newest first */
    struct list active;       /* in the list of active domains */
    struct domain *domain;
    uint32_t active_count;
};

struct credit {
    struct scheduler *sched;
    struct credit_rules rules;
    struct timer acct;
    cpumask idlers;
    struct list active_domains;
    uint32_t sort_epoch;
    uint32_t ncpus, master;
    int64_t weight;  /* of all active vCPUs */
    int64_t balance; /* of credits, after the last accounting */
    int64_t credits_per_tslice;
    sim_time tslice, tick_period, ratelimit, migration_delay;
    struct credit_params params;   /* in force: boot options stay what they were */
    uint32_t node_bias[MAX_PCPUS]; /* steal bias per NUMA node */
    /* TerrierTail's part; all NULL for Credit. */
    bool (*may_boost)(const struct credit_vcpu *cv);
    struct decision (*choose)(struct credit *c, struct credit_pcpu *cp, struct vcpu *prev,
                              struct credit_vcpu *head, sim_time now);
    void (*stopped)(struct credit *c, struct credit_vcpu *cv); /* prev is not runnable */
};

enum { CREDITS_PER_MS = 10, NS_PER_CREDIT = NS_PER_MS / CREDITS_PER_MS };

static inline struct credit_vcpu *credit_vcpu(const struct vcpu *v)
{
    return v->sched;
}

static inline struct credit_pcpu *credit_pcpu(const struct pcpu *p)
{
    return p->sched;
}

static inline struct credit *credit_data(const struct scheduler *s)
{
    return s->data;
}

static inline struct credit_vcpu *runq_first(const struct credit_pcpu *cp)
{
    return container_of(cp->runq.next, struct credit_vcpu, runq);
}

#define for_each_queued(cv, cp)                                                                    \
    for (struct credit_vcpu *cv = runq_first(cp); &cv->runq != &(cp)->runq;                        \
         cv = container_of(cv->runq.next, struct credit_vcpu, runq))

void runq_insert(struct credit_vcpu *cv);
void runq_remove(struct credit *c, struct credit_vcpu *cv);

/* The stock choice for this pCPU: head if it is better than OVER, else the best that another
 * pCPU's queue has, else head. The chosen one is dequeued. */
struct credit_vcpu *credit_choose(struct credit *c, struct credit_pcpu *cp,
                                  struct credit_vcpu *head, sim_time now);

/* Mark this pCPU as idle or not, after the choice. */
void credit_update_idlers(struct credit *c, struct credit_pcpu *cp, const struct credit_vcpu *next);

struct credit_rules credit_rules_of(enum xen_version version);

/* The operations, for TerrierTail's table. */
void credit_create(struct scheduler *s);
void credit_destroy(struct scheduler *s);
void credit_pcpu_join(struct scheduler *s, struct pcpu *p);
void credit_pcpu_leave(struct scheduler *s, struct pcpu *p);
void credit_domain_create(struct scheduler *s, struct domain *d);
void credit_domain_destroy(struct scheduler *s, struct domain *d);
void credit_vcpu_create(struct scheduler *s, struct vcpu *v);
void credit_insert(struct scheduler *s, struct vcpu *v);
void credit_remove(struct scheduler *s, struct vcpu *v);
void credit_adjust(struct scheduler *s, struct domain *d, uint32_t old_weight, uint32_t old_cap);
void credit_adjust_global(struct scheduler *s);
void credit_sleep(struct scheduler *s, struct vcpu *v);
void credit_wake(struct scheduler *s, struct vcpu *v);
void credit_yield(struct scheduler *s, struct vcpu *v);
uint32_t credit_pick_cpu(struct scheduler *s, struct vcpu *v);
struct decision credit_schedule(struct scheduler *s, struct pcpu *p, sim_time now);
const char *credit_priority(const struct scheduler *s, const struct vcpu *v);
int64_t credit_credit(const struct scheduler *s, const struct vcpu *v);
void credit_queue_text(const struct scheduler *s, const struct pcpu *p, char *text, size_t size);
bool credit_is_tick(const struct timer *t);
const char *credit_account_state(const struct vcpu *v);

/* The rows of Credit's parameters, for tables of structs that hold a struct credit_params: `prefix`
 * is the member followed by a dot, or nothing. */
#define CREDIT_PARAM_ROWS(type, prefix)                                                            \
    {PARAM("tslice", DURATION, type, prefix tslice),                                               \
     .def = "30ms",                                                                                \
     .min = "1ms",                                                                                 \
     .max = "1s",                                                                                  \
     .meaning = "Slice, and period of accounting; whole milliseconds.",                            \
     .source = "Xen: sched_credit_tslice_ms",                                                      \
     .status = STATUS_EXACT},                                                                      \
        {PARAM("ratelimit", DURATION, type, prefix ratelimit),                                     \
         .def = "1ms",                                                                             \
         .max = "500ms",                                                                           \
         .meaning = "A vCPU that has run for less is not preempted; 0: off.",                      \
         .source = "Xen: sched_ratelimit_us",                                                      \
         .status = STATUS_EXACT},                                                                  \
        {PARAM("migration_delay", DURATION, type, prefix migration_delay),                         \
         .def = "0",                                                                               \
         .max = "100ms",                                                                           \
         .meaning = "A vCPU that ran less than this ago is not stolen (its cache is hot).",        \
         .source = "Xen: vcpu_migration_delay",                                                    \
         .status = STATUS_EXACT},                                                                  \
        {PARAM("load_balance_ratelimit", DURATION, type, prefix load_balance_ratelimit),           \
         .def = "1ms",                                                                             \
         .max = "1s",                                                                              \
         .meaning = "Shortest time between two searches for work in other queues (Xen 4.18 and "   \
                    "later).",                                                                     \
         .source = "Xen 4.18: load-balance-ratelimit",                                             \
         .status = STATUS_EXACT},                                                                  \
        {PARAM("tickle_one_idle", BOOLEAN, type, prefix tickle_one_idle), .def = "true",           \
         .meaning = "A wake-up tells one idle pCPU, not all of them.",                             \
         .source = "Xen: tickle_one_idle_cpu", .status = STATUS_EXACT},                            \
        {PARAM("smt_power_savings", BOOLEAN, type, prefix smt_power_savings), .def = "false",      \
         .meaning = "Fill cores that are busy already before idle ones.",                          \
         .source = "Xen: sched_smt_power_savings", .status = STATUS_EXACT},                        \
    {                                                                                              \
        PARAM("idle_ticks", BOOLEAN, type, prefix idle_ticks),                                     \
            .def = "false",                                                                        \
            .meaning = "Before Xen 4.17: ticks go on while a pCPU is idle (no C-state driver).",   \
            .source = "Xen 4.7: the C-state driver stops them, x86 default",                       \
            .status = STATUS_EXACT                                                                 \
    }

int credit_params_check(void *target, struct json_value v, struct errors *e);

extern const struct param_table credit_param_table;

/* What all schedulers have that are Credit with something of their own, in a struct sched_ops. */
#define CREDIT_OPERATIONS                                                                          \
    .abi = SCHEDULER_ABI, .trace_id = 0, .data_size = sizeof(struct credit),                       \
    .pcpu_size = sizeof(struct credit_pcpu), .vcpu_size = sizeof(struct credit_vcpu),              \
    .destroy = credit_destroy, .pcpu_join = credit_pcpu_join, .pcpu_leave = credit_pcpu_leave,     \
    .domain_create = credit_domain_create, .domain_destroy = credit_domain_destroy,                \
    .vcpu_create = credit_vcpu_create, .insert = credit_insert, .remove = credit_remove,           \
    .adjust = credit_adjust, .adjust_global = credit_adjust_global, .sleep = credit_sleep,         \
    .wake = credit_wake, .yield = credit_yield, .pick_cpu = credit_pick_cpu,                       \
    .schedule = credit_schedule, .priority = credit_priority, .credit = credit_credit,             \
    .queue_text = credit_queue_text, .rules = credit_rule_table, .is_tick = credit_is_tick,        \
    .account_state = credit_account_state

#endif
