/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/actions.h"

#include "experiments/scenario/affinity.h"
#include "experiments/scenario/scenario.h"
#include "experiments/scenario/world.h"
#include "models/hypervisor/operate.h"

#include <string.h>

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

struct pool_arguments {
    char *pool;
};

static const struct param move_rows[] = {
    {PARAM("pool", NAME, struct pool_arguments, pool), .refers = "pool",
     .meaning = "The pool it goes to."},
};
static const struct param_table move_table =
    PARAM_TABLE("move", struct pool_arguments, move_rows, .meaning = "Moves a domain to a pool.");

struct vcpu_arguments {
    int64_t vcpu;
};

static const struct param vcpu_rows[] = {
    {PARAM("vcpu", INTEGER, struct vcpu_arguments, vcpu), .min = "0", .max = "255",
     .meaning = "Which of its vCPUs."},
};
static const struct param_table vcpu_table =
    PARAM_TABLE("vcpu", struct vcpu_arguments, vcpu_rows, .meaning = "Names a vCPU of a domain.");

struct scheduler_arguments {
    char *pool;
    struct param_variant scheduler;
};

static const struct param scheduler_rows[] = {
    {PARAM("pool", NAME, struct scheduler_arguments, pool), .refers = "pool", .optional = true,
     .meaning = "Whose scheduler; the first pool's if it is not given."},
    {PARAM("scheduler", VARIANT, struct scheduler_arguments, scheduler),
     .choices = &scheduler_choices,
     .meaning = "The parameters from then on, of the same kind. What is not given goes to its "
                "default; what is a boot option in Xen stays what it was (of Credit all but "
                "tslice, ratelimit and migration_delay, of Credit2 all but the ratelimit)."},
};
static const struct param_table scheduler_table =
    PARAM_TABLE("set-scheduler", struct scheduler_arguments, scheduler_rows,
                .meaning = "Changes the parameters of a scheduler.");

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

/* xl knows no domain of that name: nothing is done. */
static bool missing(const struct action *a)
{
    return domain_gone(target(a));
}

static void set_weight(struct action *a)
{
    const struct number_arguments *args = a->arguments;

    if (missing(a))
        return;
    domain_set(target(a), (uint32_t)args->value, target(a)->cap);
}

static void set_cap(struct action *a)
{
    const struct number_arguments *args = a->arguments;

    if (missing(a))
        return;
    domain_set(target(a), target(a)->weight, (uint32_t)args->value);
}

static void each_vcpu(const struct action *a, void (*act)(struct vcpu *v))
{
    struct domain *d = target(a);

    for (uint32_t i = 0; !missing(a) && i < d->vcpu_count; i++)
        act(d->vcpu[i]);
}

static void pause_domain(struct action *a)
{
    if (!missing(a))
        domain_pause(target(a));
}

static void unpause_domain(struct action *a)
{
    if (!missing(a))
        domain_unpause(target(a));
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

    for (uint32_t i = 0; !missing(a) && i < d->vcpu_count; i++)
        vcpu_set_affinity(d->vcpu[i], &args->hard, &args->soft);
}

static struct cpupool *pool_by_name(struct host *h, const char *name)
{
    for (uint32_t i = 0; i < h->pool_count; i++)
        if (!name || !strcmp(h->pool[i]->name, name))
            return h->pool[i];
    return NULL;
}

static void create(struct action *a)
{
    world_domain_create(a->object);
}

static void destroy(struct action *a)
{
    domain_destroy(target(a));
}

static void move(struct action *a)
{
    const struct pool_arguments *args = a->arguments;
    struct domain *d = target(a);
    struct cpupool *to = pool_by_name(d->host, args->pool);

    if (to)
        domain_move(d, to);
}

static int bind_move(struct action *a, struct errors *e)
{
    const struct pool_arguments *args = a->arguments;
    const struct world_domain *wd;

    if (bind_domain(a, e))
        return -1;
    wd = a->object;
    if (wd->host->host && !pool_by_name(wd->host->host, args->pool))
        return error_add(e, EXIT_INPUT, "move: host %s has no pool \"%s\"", wd->host->roster->name,
                         args->pool);
    return 0;
}

static void plug(struct action *a)
{
    const struct vcpu_arguments *args = a->arguments;

    if (!missing(a))
        vcpu_start(target(a)->vcpu[args->vcpu]);
}

static void unplug(struct action *a)
{
    const struct vcpu_arguments *args = a->arguments;

    if (!missing(a))
        vcpu_stop(target(a)->vcpu[args->vcpu]);
}

static int bind_vcpu(struct action *a, struct errors *e)
{
    const struct vcpu_arguments *args = a->arguments;
    const struct world_domain *wd;

    if (bind_domain(a, e))
        return -1;
    wd = a->object;
    if (args->vcpu >= wd->roster->spec->vcpus)
        return error_add(e, EXIT_INPUT, "%s: %s has no vCPU %d", a->kind->name, a->target,
                         (int)args->vcpu);
    return 0;
}

static int bind_host(struct action *a, struct errors *e)
{
    const struct scheduler_arguments *args = a->arguments;
    struct world *w = a->timeline->world;

    for (size_t i = 0; i < w->roster->hosts; i++) {
        struct world_host *wh = &w->host[i];
        const struct cpupool *pool;

        if (strcmp(wh->roster->name, a->target))
            continue;
        a->object = wh;
        a->machine = &wh->machine;
        pool = wh->host ? pool_by_name(wh->host, args->pool) : NULL;
        if (wh->host && !pool)
            return error_add(e, EXIT_INPUT, "set-scheduler: host %s has no pool \"%s\"", a->target,
                             args->pool);
        if (pool && pool->scheduler->ops != args->scheduler.choice->user)
            return error_add(
                e, EXIT_INPUT,
                "set-scheduler: pool %s of host %s runs %s; a pool keeps its scheduler", pool->name,
                a->target, pool->scheduler->ops->name);
        return 0;
    }
    return error_add(e, EXIT_INPUT, "set-scheduler: no host \"%s\"", a->target);
}

static void set_scheduler(struct action *a)
{
    const struct scheduler_arguments *args = a->arguments;
    struct world_host *wh = a->object;
    struct cpupool *pool = pool_by_name(wh->host, args->pool);

    if (pool && args->scheduler.data)
        pool_set_params(pool, args->scheduler.data, args->scheduler.choice->table->size);
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

DOMAIN_ACTION(kind_create, "create", NULL, create,
              "Creates a domain (xl create). It is described with the others, but is not there "
              "before: packets and events to it are lost. Its \"start\" and \"start_spread\" count "
              "from then on. A domain is created once.");
DOMAIN_ACTION(kind_destroy, "destroy", NULL, destroy,
              "Destroys a domain (xl destroy): its vCPUs never run again, packets to it are lost.");

static const struct action_kind kind_move = {
    .name = "move",
    .target = "domain",
    .meaning = "Moves a domain to another cpupool (xl cpupool-migrate); its weight, cap and "
               "affinities go back to the defaults.",
    .parameters = &move_table,
    .bind = bind_move,
    .act = move,
};

static const struct action_kind kind_plug = {
    .name = "plug-vcpu",
    .target = "domain",
    .meaning = "Brings one vCPU up (xl vcpu-set).",
    .parameters = &vcpu_table,
    .bind = bind_vcpu,
    .act = plug,
};

static const struct action_kind kind_unplug = {
    .name = "unplug-vcpu",
    .target = "domain",
    .meaning = "Takes one vCPU down (xl vcpu-set).",
    .parameters = &vcpu_table,
    .bind = bind_vcpu,
    .act = unplug,
};

static const struct action_kind kind_set_scheduler = {
    .name = "set-scheduler",
    .target = "Xen host",
    .meaning = "Changes the parameters of a pool's scheduler (xl sched-credit -s).",
    .parameters = &scheduler_table,
    .bind = bind_host,
    .act = set_scheduler,
};

const struct action_kind *const domain_actions[] = {
    &kind_set_weight, &kind_set_cap, &kind_pin,           &kind_pause,   &kind_unpause,
    &kind_stop,       &kind_start,   &kind_create,        &kind_destroy, &kind_move,
    &kind_plug,       &kind_unplug,  &kind_set_scheduler, NULL,
};

bool action_creates(const struct action_kind *kind)
{
    return kind == &kind_create;
}
