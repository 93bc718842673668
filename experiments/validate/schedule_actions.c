/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an operator does while a reference schedule runs. */
#include "experiments/validate/schedule_actions.h"

#include "experiments/validate/json_fields.h"
#include "models/hypervisor/operate.h"
#include "sim/json.h"

#include <stdlib.h>
#include <string.h>

/* Of the external events of one instant, actions are the last. */
#define KEY_ACTION (UINT64_C(1) << 41)

struct schedule_action {
    struct timer timer;
    const struct action_name *name;
    struct schedule_world *world;
    struct json_value json; /* of world->document */
    uint32_t pcpu;          /* which executes it */
    struct cpupool *pool;
    struct domain *domain;
    struct vcpu *vcpu;
};

/* ---- what they do ---------------------------------------------------------------------------- */

static void set(struct schedule_action *a, struct errors *e)
{
    struct domain *d = a->domain;

    domain_set(d, schedule_weight(a->json, d->weight, e), schedule_cap(a->json, d->cap, e));
}

static void affinity(struct schedule_action *a, struct errors *e)
{
    (void)e;
    schedule_set_affinity(a->vcpu, JSON_NONE, a->json);
}

static void pause_domain(struct schedule_action *a, struct errors *e)
{
    (void)e;
    domain_pause(a->domain);
}

static void unpause_domain(struct schedule_action *a, struct errors *e)
{
    (void)e;
    domain_unpause(a->domain);
}

static void unplug(struct schedule_action *a, struct errors *e)
{
    (void)e;
    vcpu_stop(a->vcpu);
}

static void plug(struct schedule_action *a, struct errors *e)
{
    (void)e;
    vcpu_start(a->vcpu);
}

static void vcpu_params(struct schedule_action *a, struct errors *e)
{
    const struct schedule_dialect *dialect = schedule_dialect(vcpu_scheduler(a->vcpu)->ops->name);

    if (dialect->vcpu)
        dialect->vcpu(a->vcpu, JSON_NONE, a->json, e);
}

static void scheduler_params(struct schedule_action *a, struct errors *e)
{
    const struct sched_ops *ops = a->pool->scheduler->ops;
    const struct schedule_dialect *dialect = schedule_dialect(ops->name);
    void *params;

    if (!ops->params || !dialect->params)
        return;
    params = xcalloc(1, ops->params->size);
    memcpy(params, a->pool->scheduler->params, ops->params->size);
    dialect->params(params, a->json, e);
    pool_set_params(a->pool, params, ops->params->size);
    free(params);
}

static void move(struct schedule_action *a, struct errors *e)
{
    (void)e;
    if (!cpumask_empty(&a->pool->cpus)) /* else Xen refuses it */
        domain_move(a->domain, a->pool);
}

enum names { NOTHING, DOMAIN, VCPU };

static const struct action_name {
    const char *name;
    enum names what;
    void (*act)(struct schedule_action *a, struct errors *e);
} actions[] = {
    {"set", DOMAIN, set},
    {"affinity", VCPU, affinity},
    {"pause", DOMAIN, pause_domain},
    {"unpause", DOMAIN, unpause_domain},
    {"unplug", VCPU, unplug},
    {"plug", VCPU, plug},
    {"vcpu", VCPU, vcpu_params},
    {"scheduler", NOTHING, scheduler_params},
    {"move", DOMAIN, move},
};

/* ---- reading --------------------------------------------------------------------------------- */

static void fire(struct timer *t, sim_time now)
{
    struct schedule_action *a = container_of(t, struct schedule_action, timer);

    (void)now;
    a->world->host->executing = a->pcpu;
    a->name->act(a, &a->world->late);
    BUG_ON(a->world->late.count); /* check_values() has refused it */
}

static const struct action_name *action_name(const char *text)
{
    for (size_t i = 0; text && i < sizeof actions / sizeof *actions; i++)
        if (!strcmp(actions[i].name, text))
            return &actions[i];
    return NULL;
}

static int find_target(struct schedule_action *a, struct errors *e)
{
    const struct host *h = a->world->host;
    int64_t id = field_integer(a->json, "domain", 0, UINT16_MAX, -1, e),
            vcpu = field_integer(a->json, "vcpu", 0, UINT16_MAX, 0, e);

    a->pcpu = (uint32_t)field_integer(a->json, "pcpu", 0, h->pcpu_count - 1, 0, e);
    a->pool = schedule_pool(h, a->json, e);
    if (!a->pool)
        return -1;
    if (a->name->what == NOTHING)
        return 0;
    for (uint32_t i = 0; i < h->domain_count; i++)
        if (h->domain[i]->id == id)
            a->domain = h->domain[i];
    if (!a->domain)
        return json_error(a->json, e, "no domain with this id");
    if (vcpu >= a->domain->vcpu_count)
        return json_error(a->json, e, "the domain has no such vCPU");
    a->vcpu = a->domain->vcpu[vcpu];
    return 0;
}

/* They read the document when they act: what they will find there has to be right. */
static int check_values(const struct schedule_action *a, struct errors *e)
{
    size_t before = e->count;

    schedule_weight(a->json, 1, e);
    schedule_cap(a->json, 0, e);
    for (uint32_t i = 0; i < a->world->host->pool_count; i++) {
        const struct sched_ops *ops = a->world->host->pool[i]->scheduler->ops;
        const struct schedule_dialect *dialect = schedule_dialect(ops->name);

        if (dialect->vcpu)
            dialect->vcpu(NULL, JSON_NONE, a->json, e);
        if (ops->params && dialect->params) {
            void *params = xcalloc(1, ops->params->size);

            dialect->params(params, a->json, e);
            free(params);
        }
    }
    return e->count > before ? -1 : 0;
}

int schedule_actions_read(struct schedule_world *w, struct json_value root, struct errors *e)
{
    struct json_value list = json_member(root, "actions");
    uint64_t k = 0;

    w->action = xcalloc(json_length(list) + 1, sizeof *w->action);
    JSON_FOR_EACH(v, list)
    {
        struct schedule_action *a = &w->action[k];
        a->name = action_name(json_string(json_member(v, "action")));
        a->world = w;
        a->json = v;
        if (!a->name)
            return json_error(v, e, "no such \"action\"");
        if (!json_exists(json_member(v, "at_us")))
            return json_error(v, e, "an action needs its \"at_us\"");
        if (find_target(a, e) || check_values(a, e))
            return -1;
        timer_init(&a->timer, fire);
        queue_arm_key(&w->queue, &a->timer, field_time(v, "at_us", NS_PER_US, 0, e), RANK_EXTERNAL,
                      KEY_ACTION + k++);
    }
    return 0;
}
