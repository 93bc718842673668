/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/actions.h"

#include "experiments/affinity.h"
#include "experiments/world.h"

struct number_arguments {
    int64_t value;
};

struct pin_arguments {
    cpumask hard, soft;
};

static const struct param weight_rows[] = {
    {PARAM("weight", INTEGER, struct number_arguments, value), .min = "1", .max = "65535",
     .meaning = "The new weight."},
};
static const struct param_table weight_table = PARAM_TABLE(
    "set-weight", struct number_arguments, weight_rows, .meaning = "Changes a domain's weight.");

static const struct param cap_rows[] = {
    {PARAM("cap", INTEGER, struct number_arguments, value), .min = "0", .max = "102400",
     .meaning = "The new cap, in per cent of a pCPU; 0: none."},
};
static const struct param_table cap_table =
    PARAM_TABLE("set-cap", struct number_arguments, cap_rows, .meaning = "Changes a domain's cap.");

static const struct param pin_rows[] = {
    {PARAM_CPU_LIST("hard_affinity", struct pin_arguments, hard), .def = "all",
     .meaning = "pCPUs its vCPUs may run on.", .source = "Xen's default", .status = STATUS_EXACT},
    {PARAM_CPU_LIST("soft_affinity", struct pin_arguments, soft), .def = "all",
     .meaning = "pCPUs they rather run on.", .source = "Xen's default", .status = STATUS_EXACT},
};
static const struct param_table pin_table = PARAM_TABLE(
    "pin", struct pin_arguments, pin_rows, .meaning = "Changes the affinity of a domain's vCPUs.");

/* Found by name once; the domain itself may be another one after a reboot of its host. */
static int bind_domain(struct action *a, struct errors *e)
{
    struct world *w = a->timeline->world;
    bool several;
    const struct roster_domain *d = roster_find(w->roster, a->target, &several);

    if (!d)
        return error_add(e, EXIT_INPUT, "%s: no domain \"%s\"", a->kind->name, a->target);
    a->object = &w->domain[d - w->roster->domain];
    a->machine = &w->domain[d - w->roster->domain].host->machine;
    return 0;
}

static struct domain *target(const struct action *a)
{
    return ((struct world_domain *)a->object)->domain;
}

static void set_weight(struct action *a)
{
    const struct number_arguments *args = a->arguments;

    domain_set(target(a), (uint32_t)args->value, target(a)->cap);
}

static void set_cap(struct action *a)
{
    const struct number_arguments *args = a->arguments;

    domain_set(target(a), target(a)->weight, (uint32_t)args->value);
}

static void each_vcpu(const struct action *a, void (*act)(struct vcpu *v))
{
    struct domain *d = target(a);

    for (uint32_t i = 0; i < d->vcpu_count; i++)
        act(d->vcpu[i]);
}

static void pause_domain(struct action *a)
{
    each_vcpu(a, vcpu_pause);
}

static void unpause_one(struct vcpu *v)
{
    if (v->pause_count > 0)
        vcpu_unpause(v);
}

static void unpause_domain(struct action *a)
{
    each_vcpu(a, unpause_one);
}

static void shut_down(struct action *a)
{
    each_vcpu(a, vcpu_stop);
}

static void start(struct action *a)
{
    each_vcpu(a, vcpu_start);
}

static void pin(struct action *a)
{
    const struct pin_arguments *args = a->arguments;
    struct domain *d = target(a);

    for (uint32_t i = 0; i < d->vcpu_count; i++)
        vcpu_set_affinity(d->vcpu[i], &args->hard, &args->soft);
}

#define DOMAIN_ACTION(id, name_, table, function, meaning_)                                        \
    static const struct action_kind id = {.name = (name_),                                         \
                                          .target = "domain",                                      \
                                          .meaning = (meaning_),                                   \
                                          .parameters = (table),                                   \
                                          .bind = bind_domain,                                     \
                                          .act = (function)}

DOMAIN_ACTION(kind_set_weight, "set-weight", &weight_table, set_weight,
              "Changes a domain's weight (xl sched-credit -w).");
DOMAIN_ACTION(kind_set_cap, "set-cap", &cap_table, set_cap,
              "Changes a domain's cap (xl sched-credit -c).");
DOMAIN_ACTION(kind_pin, "pin", &pin_table, pin,
              "Changes the affinity of all of a domain's vCPUs (xl vcpu-pin).");
DOMAIN_ACTION(kind_pause, "pause", NULL, pause_domain, "Pauses a domain (xl pause).");
DOMAIN_ACTION(kind_unpause, "unpause", NULL, unpause_domain,
              "Lets a paused domain go on (xl unpause).");
DOMAIN_ACTION(kind_stop, "stop-vcpus", NULL, shut_down, "Takes all of a domain's vCPUs down.");
DOMAIN_ACTION(kind_start, "start-vcpus", NULL, start, "Brings a domain's vCPUs up again.");

const struct action_kind *const domain_actions[] = {
    &kind_set_weight, &kind_set_cap, &kind_pin,   &kind_pause,
    &kind_unpause,    &kind_stop,    &kind_start, NULL,
};
