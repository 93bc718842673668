/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/entitlement.h"

#include "experiments/scenario/world.h"

#include <stdlib.h>
#include <string.h>

/* ---- dividing ---------------------------------------------------------------------------------
 */

static double limit_of(const struct claim *c)
{
    return c->wants ? c->limit : c->got;
}

/* Water-filling of so many pCPUs among the claims that are `in`. */
static void fill(struct claim *claim, size_t claims, const bool *in, double capacity)
{
    bool *full = xcalloc(claims, sizeof *full), again = true;

    while (again) {
        double left = capacity, weight = 0;

        again = false;
        for (size_t i = 0; i < claims; i++) {
            if (in[i] && full[i])
                left -= limit_of(&claim[i]);
            else if (in[i])
                weight += claim[i].weight;
        }
        for (size_t i = 0; i < claims; i++) {
            if (!in[i] || full[i])
                continue;
            claim[i].share = left * claim[i].weight / weight;
            if (claim[i].share >= limit_of(&claim[i])) {
                full[i] = again = true;
                claim[i].share = limit_of(&claim[i]);
            }
        }
    }
    free(full);
}

/* Do the sets of all others that want more fit to this one? */
static bool fits(const struct claim *claim, size_t claims, size_t k)
{
    const cpumask *on = &claim[k].on;

    for (size_t i = 0; i < claims; i++) {
        const cpumask *other = &claim[i].on;

        if (!cpumask_intersects(on, other))
            continue;
        if (claim[i].wants ? !cpumask_equal(on, other) : !cpumask_subset(other, on))
            return false;
    }
    return true;
}

static void divide_set(struct claim *claim, size_t claims, const cpumask *on)
{
    bool *in = xcalloc(claims, sizeof *in);

    for (size_t i = 0; i < claims; i++)
        in[i] = cpumask_subset(&claim[i].on, on);
    fill(claim, claims, in, cpumask_weight(on));
    free(in);
}

int entitlement_divide(struct claim *claim, size_t claims)
{
    for (size_t i = 0; i < claims; i++) {
        if (claim[i].wants && !fits(claim, claims, i))
            return -1;
        claim[i].share = claim[i].got; /* on pCPUs that nobody wants more of */
    }
    for (size_t i = 0; i < claims; i++) {
        bool first = claim[i].wants;

        for (size_t k = 0; k < i && first; k++)
            first = !(claim[k].wants && cpumask_equal(&claim[k].on, &claim[i].on));
        if (first)
            divide_set(claim, claims, &claim[i].on);
    }
    return 0;
}

/* ---- of a host --------------------------------------------------------------------------------
 */

static cpumask pool_cpus(const struct host_spec *h, const struct domain_spec *d)
{
    for (size_t i = 0; i < h->pools.count; i++)
        if (!d->pool || !strcmp(host_pool(h, i)->name, d->pool))
            return host_pool(h, i)->cpus;
    return cpumask_first_n((uint32_t)h->pcpus);
}

/* Does no vCPU have pCPUs of its own? */
static bool vcpus_alike(const struct domain_spec *d)
{
    cpumask all = cpumask_all();

    for (size_t i = 0; i < d->per_vcpu.count; i++)
        if (!cpumask_equal(&domain_exception(d, i)->hard, &all))
            return false;
    return true;
}

static bool claim_of(const struct world_domain *wd, double seconds, struct claim *c)
{
    const struct world_host *wh = wd->host;
    const struct domain_spec *d = wd->roster->spec;
    const struct domain_use *use = &wh->meter.use[wd->roster->id];
    cpumask pool = pool_cpus(wh->roster->spec, d);
    double vcpus = (double)d->vcpus;
    double ready = (double)(use->running + use->wake_wait + use->preempt_wait) / 1e9 / seconds;

    c->on = cpumask_and(&d->hard, &pool);
    c->weight = (double)d->weight * vcpus;
    c->got = (double)use->running / 1e9 / seconds;
    c->wants = ready >= ENTITLEMENT_NEVER_BLOCKED * vcpus;
    c->limit = vcpus < cpumask_weight(&c->on) ? vcpus : cpumask_weight(&c->on);
    if (d->cap && (double)d->cap / 100 < c->limit)
        c->limit = (double)d->cap / 100;
    return vcpus_alike(d) && !wd->created && d->start < wh->world->from;
}

struct entitlement entitlement_of(const struct world_host *wh)
{
    size_t n = wh->roster->domains;
    double seconds = (double)(wh->world->until - wh->world->from) / 1e9;
    struct claim *claim = xcalloc(n, sizeof *claim);
    struct entitlement e = {.known = n > 0 && !wh->asleep && !wh->world->scenario->actions.count,
                            .first = wh->roster->first_domain};

    for (size_t i = 0; i < n && e.known; i++)
        e.known = claim_of(&wh->domain[i], seconds, &claim[i]);
    e.known = e.known && !entitlement_divide(claim, n);
    e.share = xcalloc(n, sizeof *e.share);
    e.got = xcalloc(n, sizeof *e.got);
    for (size_t i = 0; i < n; i++) {
        e.share[i] = claim[i].share;
        e.got[i] = claim[i].got;
    }
    free(claim);
    return e;
}

void entitlement_free(struct entitlement *e)
{
    free(e->share);
    free(e->got);
    e->share = e->got = NULL;
}
