/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registries as choices of scenario variants: a scheduler, program or action that is registered can
 * be named in scenarios, with no further line here.
 */
#include "experiments/scenario/actions.h"
#include "experiments/scenario/scenario.h"
#include "models/schedulers/scheduler.h"
#include "workloads/programs.h"

#include <string.h>

enum { MOST = 64 };

/* The choice made of the i-th entry of a registry, made once. */
typedef bool fill_fn(size_t i, struct param_choice *c);

static const struct param_choice *choice(struct param_choice made[MOST], size_t i, fill_fn *fill)
{
    BUG_ON(i >= MOST);
    if (!made[i].name && !fill(i, &made[i]))
        return NULL;
    return &made[i];
}

/* ---- schedulers -------------------------------------------------------------------------------*/

static bool scheduler_fill(size_t i, struct param_choice *c)
{
    const struct sched_ops *ops = scheduler_nth(i);

    if (ops)
        *c = (struct param_choice){ops->name, ops->params, ops->title, ops};
    return ops;
}

static const struct param_choice *scheduler_choice(size_t i)
{
    static struct param_choice made[MOST];

    return choice(made, i, scheduler_fill);
}

const struct param_choices scheduler_choices = {.tag = "type", .nth = scheduler_choice};

static bool scheduler_domain_fill(size_t i, struct param_choice *c)
{
    const struct sched_ops *ops = scheduler_nth(i);

    if (ops)
        *c = (struct param_choice){ops->name, ops->domain_params, ops->title, ops};
    return ops;
}

static const struct param_choice *scheduler_domain_choice(size_t i)
{
    static struct param_choice made[MOST];

    return choice(made, i, scheduler_domain_fill);
}

const struct param_choices scheduler_domain_choices = {.tag = "scheduler",
                                                       .nth = scheduler_domain_choice};

static bool scheduler_vcpu_fill(size_t i, struct param_choice *c)
{
    const struct sched_ops *ops = scheduler_nth(i);

    if (ops)
        *c = (struct param_choice){ops->name, ops->vcpu_params, ops->title, ops};
    return ops;
}

static const struct param_choice *scheduler_vcpu_choice(size_t i)
{
    static struct param_choice made[MOST];

    return choice(made, i, scheduler_vcpu_fill);
}

const struct param_choices scheduler_vcpu_choices = {.tag = "scheduler",
                                                     .nth = scheduler_vcpu_choice};

/* ---- programs ---------------------------------------------------------------------------------*/

static bool program_fill(size_t i, struct param_choice *c)
{
    const struct program *p = program_nth(i);

    if (p)
        *c = (struct param_choice){p->name, p->params, p->meaning, p};
    return p;
}

static const struct param_choice *program_choice(size_t i)
{
    static struct param_choice made[MOST];

    return choice(made, i, program_fill);
}

const struct param_choices program_choices = {.tag = "type", .nth = program_choice};

/* ---- actions ----------------------------------------------------------------------------------*/

static const struct action_kind *action_nth(size_t i)
{
    const struct action_kind *const *const tables[] = {platform_actions, domain_actions};

    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t k = 0; tables[t][k]; k++)
            if (i-- == 0)
                return tables[t][k];
    return NULL;
}

static bool action_fill(size_t i, struct param_choice *c)
{
    const struct action_kind *k = action_nth(i);

    if (k)
        *c = (struct param_choice){k->name, k->parameters, k->meaning, k};
    return k;
}

static const struct param_choice *action_choice(size_t i)
{
    static struct param_choice made[MOST];

    return choice(made, i, action_fill);
}

const struct param_choices action_choices = {.tag = "action", .nth = action_choice};
