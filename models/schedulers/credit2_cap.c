/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Credit2's caps: a capped domain has a budget of CPU time that is replenished every period.
 *
 * Rules
 *   A vCPU that is to run takes a quota from its domain's budget; what it overran before is taken
 *   off first. If the domain has nothing left the vCPU is parked: it is not runnable. A vCPU that
 *   is switched out gives back what it has left, and a replenishment adds the period's budget:
 *   either unparks all parked vCPUs of the domain, the last parked first.
 *   Unparking is no wake: the runstate stays what it was (offline, if it was switched out).
 *
 * Constants
 *   The least quota is MIN_TIMER, since nobody runs for less anyway.
 */
#include "models/schedulers/credit2.h"

static struct c2_domain *domain_of(const struct c2_vcpu *cv)
{
    return cv->vcpu->domain->sched;
}

/* ---- parking --------------------------------------------------------------------------------- */

static void park(struct credit2 *c, struct c2_vcpu *cv, sim_time now)
{
    cv->vcpu->pause_flags |= PAUSE_PARKED;
    if (c2_queued(cv)) {
        c2_dequeue(cv);
        c2_load(c, cv->rq, cv, -1, now);
    } /* else it runs, and its load goes when it has been switched out */
    list_insert_head(&domain_of(cv)->parked, &cv->parked);
}

static void unpark(struct credit2 *c, struct c2_vcpu *cv, sim_time now)
{
    cv->vcpu->pause_flags &= (uint8_t)~PAUSE_PARKED;
    if (cv->scheduled) {
        cv->delayed_add = true;
    } else if (vcpu_runnable(cv->vcpu)) {
        c2_load(c, cv->rq, cv, 1, now);
        c2_enqueue(c, cv);
        c2_tickle(c, cv, now);
    }
}

void c2_cap_unpark(struct credit2 *c, struct c2_domain *cd, sim_time now)
{
    while (!list_empty(&cd->parked)) {
        struct c2_vcpu *cv = container_of(cd->parked.next, struct c2_vcpu, parked);

        list_remove(&cv->parked);
        unpark(c, cv, now);
    }
}

/* ---- budgets --------------------------------------------------------------------------------- */

bool c2_cap_grab(struct credit2 *c, struct c2_vcpu *cv, sim_time now)
{
    struct c2_domain *cd = domain_of(cv);

    if (cv->budget > 0)
        return true;
    cd->budget += cv->budget; /* a debt */
    if (cd->budget > 0) {
        cv->budget = cv->quota < cd->budget ? cv->quota : cd->budget;
        cd->budget -= cv->budget;
        return true;
    }
    cv->budget = 0;
    park(c, cv, now);
    return false;
}

bool c2_cap_return(struct c2_vcpu *cv)
{
    struct c2_domain *cd = domain_of(cv);

    cd->budget += cv->budget;
    cv->budget = 0;
    return cd->budget > 0;
}

static void replenish(struct timer *t, sim_time now)
{
    struct c2_domain *cd = container_of(t, struct c2_domain, replenish);
    struct scheduler *s = cd->domain->pool->scheduler;
    struct credit2 *c = c2_data(s);
    uint32_t cpu = cpumask_first(&s->pool->cpus);

    if (pcpu_defers(&s->host->pcpu[cpu], t))
        return;
    s->host->executing = cpu;
    do {
        cd->next += c2_params(c)->cap_period;
        cd->budget += cd->total;
    } while (cd->next <= now);
    if (cd->budget > 0) {
        if (cd->budget > cd->total)
            cd->budget = cd->total;
        c2_cap_unpark(c, cd, now);
    }
    host_arm(s->host, &cd->replenish, cd->next);
}

/* ---- setting a cap --------------------------------------------------------------------------- */

static void set_quotas(struct c2_domain *cd)
{
    for (uint32_t i = 0; i < cd->domain->vcpu_count; i++) {
        struct c2_vcpu *cv = c2_vcpu(cd->domain->vcpu[i]);
        sim_time quota = cd->total / cd->vcpus;

        if (cv && cv->rq)
            cv->quota = quota > MIN_TIMER ? quota : MIN_TIMER;
    }
}

/* From now on its run time counts; whoever runs must take budget at once. */
static void begin(struct credit2 *c, struct c2_vcpu *cv, sim_time now)
{
    struct vcpu *v = cv->vcpu;

    if (v->is_running) {
        c2_burn(c, cv, now); /* not against the budget yet */
        c2_tickle_cpu(c, cv->rq, v->processor);
    }
    cv->budget = 0;
}

static void cap_off(struct credit2 *c, struct c2_domain *cd, sim_time now)
{
    queue_cancel(cd->domain->host->queue, &cd->replenish);
    for (uint32_t i = 0; i < cd->domain->vcpu_count; i++) {
        struct c2_vcpu *cv = c2_vcpu(cd->domain->vcpu[i]);

        cv->budget = SIM_NEVER;
        cv->quota = 0;
    }
    cd->cap = 0;
    c2_cap_unpark(c, cd, now);
}

void c2_cap_set(struct credit2 *c, struct c2_domain *cd, sim_time now)
{
    struct domain *d = cd->domain;

    if (d->cap > 100 * cd->vcpus) {
        d->cap = cd->cap;
        return;
    }
    if (!d->cap) {
        if (cd->cap)
            cap_off(c, cd, now);
        return;
    }
    cd->total = c2_params(c)->cap_period * d->cap / 100;
    set_quotas(cd);
    if (!cd->cap) {
        cd->budget = cd->total;
        cd->next = now + c2_params(c)->cap_period;
        host_arm(d->host, &cd->replenish, cd->next);
        for (uint32_t i = 0; i < d->vcpu_count; i++)
            begin(c, c2_vcpu(d->vcpu[i]), now);
    }
    cd->cap = d->cap;
}

void c2_cap_init(struct c2_domain *cd, struct domain *d)
{
    cd->domain = d;
    list_init(&cd->parked);
    timer_init(&cd->replenish, replenish);
}

void c2_cap_release(struct c2_domain *cd)
{
    queue_cancel(cd->domain->host->queue, &cd->replenish);
}

/* A vCPU that joins a domain with a cap is capped too, as if the cap were set again (assumed: Xen
 * leaves that to the toolstack). */
void c2_cap_join(struct credit2 *c, struct c2_vcpu *cv)
{
    struct c2_domain *cd = domain_of(cv);

    cd->vcpus++;
    if (cd->cap) {
        set_quotas(cd);
        cv->budget = 0;
    } else if (cd->domain->cap && cd->domain->cap <= 100 * cd->vcpus) {
        c2_cap_set(c, cd, c->sched->host->queue->now);
    }
}

void c2_cap_leave(struct c2_vcpu *cv)
{
    struct c2_domain *cd = domain_of(cv);

    if (list_linked(&cv->parked)) {
        list_remove(&cv->parked);
        cv->vcpu->pause_flags &= (uint8_t)~PAUSE_PARKED;
    }
    if (c2_capped(cv)) {
        cd->budget += cv->budget;
        cv->budget = SIM_NEVER;
    }
    cd->vcpus--;
    if (cd->cap && cd->vcpus)
        set_quotas(cd);
}
