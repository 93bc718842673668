/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/meter.h"

#include "sim/error.h"

#include <stdlib.h>

enum { WAIT_BITS = HISTOGRAM_2_DIGITS }; /* a host may have hundreds of groups */

static sim_time measured(const struct meter *m, const struct vcpu *v, sim_time now)
{
    sim_time since = v->runstate_entry > m->from ? v->runstate_entry : m->from;
    sim_time end = now < m->until ? now : m->until;

    return end > since ? end - since : 0;
}

/* v has been in this state until now. */
static void count_time(struct meter *m, const struct vcpu *v, enum runstate state, sim_time now)
{
    struct domain_use *use = &m->use[v->domain->id];
    sim_time time = measured(m, v, now);

    if (state == RUNSTATE_RUNNING)
        use->running += time;
    else if (state == RUNSTATE_RUNNABLE && m->mark[v->index].woken)
        use->wake_wait += time;
    else if (state == RUNSTATE_RUNNABLE)
        use->preempt_wait += time;
}

static void record_wake(struct meter *m, const struct domain_use *use, sim_time waited)
{
    struct histogram *h = &m->wake_to_run[use->group];

    if (!h->bucket)
        histogram_init(h, WAIT_BITS);
    histogram_record(h, waited);
}

static void switched_in(struct meter *m, const struct vcpu *v, enum runstate old, sim_time now)
{
    struct domain_use *use = &m->use[v->domain->id];
    struct vcpu_mark *mark = &m->mark[v->index];

    if (now >= m->from && now < m->until) {
        use->runs++;
        use->moves += mark->last_pcpu != CPU_NONE && mark->last_pcpu != v->processor;
        if (old == RUNSTATE_RUNNABLE && mark->woken)
            record_wake(m, use, now - v->runstate_entry);
    }
    mark->last_pcpu = v->processor;
    mark->woken = false;
}

static void see(struct observer *o, struct host *h, const struct observation *obs)
{
    struct meter *m = container_of(o, struct meter, observer);
    const struct vcpu *v = obs->vcpu;
    enum runstate old = (enum runstate)obs->arg[0], new = (enum runstate)obs->arg[1];

    (void)h;
    if (v->idle)
        return;
    if (obs->time > m->from)
        count_time(m, v, old, obs->time);
    if (new == RUNSTATE_RUNNING)
        switched_in(m, v, old, obs->time);
    else if (new == RUNSTATE_RUNNABLE)
        m->mark[v->index].woken = old != RUNSTATE_RUNNING;
}

void meter_init(struct meter *m, uint32_t domains, uint32_t groups, sim_time from, sim_time until)
{
    *m = (struct meter){.domains = domains, .groups = groups, .from = from, .until = until};
    m->use = xcalloc(domains, sizeof *m->use);
    m->wake_to_run = xcalloc(groups, sizeof *m->wake_to_run);
    m->disk = xcalloc(groups, sizeof *m->disk);
}

struct histogram *meter_disk(struct meter *m, uint32_t domain)
{
    struct histogram *h = &m->disk[m->use[domain].group];

    if (!h->bucket)
        histogram_init(h, WAIT_BITS);
    return h;
}

void meter_free(struct meter *m)
{
    for (uint32_t i = 0; i < m->groups; i++) {
        if (m->wake_to_run[i].bucket)
            histogram_free(&m->wake_to_run[i]);
        if (m->disk[i].bucket)
            histogram_free(&m->disk[i]);
    }
    free(m->wake_to_run);
    free(m->disk);
    free(m->use);
    free(m->mark);
}

void meter_attach(struct meter *m, struct host *h)
{
    free(m->mark);
    m->vcpus = h->vcpu_count;
    m->mark = xcalloc(m->vcpus, sizeof *m->mark);
    for (uint32_t i = 0; i < m->vcpus; i++)
        m->mark[i].last_pcpu = CPU_NONE;
    m->observer = (struct observer){.kinds = UINT64_C(1) << OBS_RUNSTATE, .see = see};
    host_observe(h, &m->observer);
}

void meter_close(struct meter *m, struct host *h)
{
    for (uint32_t i = 0; i < m->vcpus; i++)
        count_time(m, h->vcpu[i], h->vcpu[i]->runstate, h->queue->now);
}
