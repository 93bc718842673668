/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Credit2's data, shared by its three files: credit2.c (who runs), credit2_load.c (which run queue:
 * arrangement, load averages, placement, balancing) and credit2_cap.c (budgets of capped domains).
 * No other scheduler includes this; experiments/validate/driven_credit2.c does, to follow real
 * traces.
 */
#ifndef HVSIM_SCHEDULERS_CREDIT2_H
#define HVSIM_SCHEDULERS_CREDIT2_H

#include "models/schedulers/scheduler.h"

/* Credits of a vCPU with the highest weight in its run queue are nanoseconds of run time. */
enum {
    CREDIT_INIT = 10 * NS_PER_MS,
    CREDIT_LEAST = -CREDIT_INIT,
    CREDIT_IDLE = CREDIT_LEAST - 1,
    CREDIT_CARRYOVER = 500 * NS_PER_US,
    MIN_TIMER = 500 * NS_PER_US,
    MAX_TIMER = 10 * NS_PER_MS,
};

enum c2_arrangement { RUNQUEUE_CPU, RUNQUEUE_CORE, RUNQUEUE_SOCKET, RUNQUEUE_NODE, RUNQUEUE_ALL };

struct credit2_params {
    sim_time ratelimit;
    sim_time migrate_resist;
    sim_time cap_period;
    int runqueue; /* enum c2_arrangement */
    int64_t max_cpus_runqueue;
    int64_t load_precision_shift;
    int64_t load_window_shift;
    int64_t balance_under, balance_over;
    bool smt_power_savings;
};

/* Rules that hvsim explain --without can switch off; their names are in credit2.c. */
enum c2_rule { C2_RATELIMIT, C2_RESIST, C2_COMPENSATION, C2_CARRYOVER, C2_BALANCE };

/* A run queue, shared by its pCPUs. */
struct c2_runq {
    struct list link;  /* of all run queues, by id */
    struct list queue; /* vCPUs that wait, most credit first */
    struct list vcpus; /* all that are assigned to it, in order of assignment */
    uint32_t id;
    uint32_t cpus;
    uint32_t max_weight; /* of the assigned ones; 1 if there are none */
    uint32_t pick_bias;  /* the pCPU that was picked last */
    cpumask active;      /* its pCPUs */
    cpumask idle;        /* those whose last decision was to idle */
    cpumask tickled;     /* those told to decide that have not done so yet */
    cpumask idle_cores;  /* those all of whose siblings in this queue are idle and not tickled */
    int64_t load;        /* vCPUs that run or wait */
    int64_t avg, bavg;   /* average load; the same with planned migrations */
    int64_t updated;     /* date of the averages, in granules */
};

struct c2_pcpu {
    struct c2_runq *rq;
    cpumask siblings; /* threads of its core in the same run queue, itself included */
};

struct c2_vcpu {
    struct list queue;  /* in its run queue, while it waits */
    struct list member; /* in its run queue's vcpus */
    struct list parked; /* in its domain's parked */
    struct vcpu *vcpu;
    struct c2_runq *rq;
    struct c2_runq *migrate_to; /* with migrate_request */
    uint32_t weight;
    uint32_t tickled_cpu; /* the pCPU that was told to take it; CPU_NONE */
    int32_t credit;
    int64_t residual; /* of charging, in units of 1/weight credit */
    sim_time start;   /* charged up to here */
    sim_time budget;  /* left of what it took from its domain; SIM_NEVER: no cap */
    sim_time quota;   /* takes so much at a time */
    int64_t avg;      /* average load */
    int64_t updated;
    bool scheduled;   /* runs, or is being switched out */
    bool delayed_add; /* to be queued when it has been switched out */
    bool migrate_request, yield;
};

struct c2_domain {
    struct domain *domain;
    struct list parked; /* vCPUs without budget, parked last first */
    struct timer replenish;
    sim_time total;  /* budget of a period */
    sim_time budget; /* what is left for its vCPUs to take; negative: a debt */
    sim_time next;   /* date of the next replenishment */
    uint32_t cap;    /* in force; 0 none */
    uint32_t vcpus;
};

struct credit2 {
    struct scheduler *sched;
    struct credit2_params params; /* in force */
    struct list runqs;
};

static inline struct c2_vcpu *c2_vcpu(const struct vcpu *v)
{
    return v->sched;
}

static inline struct c2_pcpu *c2_pcpu(const struct pcpu *p)
{
    return p->sched;
}

static inline struct credit2 *c2_data(const struct scheduler *s)
{
    return s->data;
}

static inline const struct credit2_params *c2_params(const struct credit2 *c)
{
    return c->sched->params;
}

static inline struct pcpu *c2_cpu(const struct credit2 *c, uint32_t cpu)
{
    return &c->sched->host->pcpu[cpu];
}

static inline bool c2_queued(const struct c2_vcpu *cv)
{
    return list_linked(&cv->queue);
}

static inline bool c2_capped(const struct c2_vcpu *cv)
{
    return cv->budget != SIM_NEVER;
}

/* First in the queue, NULL if it is empty. */
static inline struct c2_vcpu *c2_head(const struct c2_runq *rq)
{
    return list_empty(&rq->queue) ? NULL : container_of(rq->queue.next, struct c2_vcpu, queue);
}

/* Walk all run queues, or the vCPUs assigned to one, by position. */
#define for_each_runq(rq, c)                                                                       \
    for (struct c2_runq *rq = container_of((c)->runqs.next, struct c2_runq, link);                 \
         &rq->link != &(c)->runqs; rq = container_of(rq->link.next, struct c2_runq, link))

#define for_each_member(cv, rq)                                                                    \
    for (struct c2_vcpu *cv = container_of((rq)->vcpus.next, struct c2_vcpu, member);              \
         &cv->member != &(rq)->vcpus; cv = container_of(cv->member.next, struct c2_vcpu, member))

/* Averages of load count time in granules of 1,024 ns, so that their products fit into 64 bits. */
enum { GRANULE_SHIFT = 10 };

static inline int64_t c2_granule(sim_time t)
{
    return t >> GRANULE_SHIFT;
}

/* ---- credit2.c ------------------------------------------------------------------------------- */

void c2_burn(struct credit2 *c, struct c2_vcpu *cv, sim_time now);
void c2_enqueue(struct credit2 *c, struct c2_vcpu *cv);
void c2_dequeue(struct c2_vcpu *cv);
/* Find a pCPU for a queued vCPU and tell it to decide. */
void c2_tickle(struct credit2 *c, struct c2_vcpu *cv, sim_time now);
/* Tell a pCPU of this run queue to decide. */
void c2_tickle_cpu(struct credit2 *c, struct c2_runq *rq, uint32_t cpu);
/* After cpu went idle, or came to decide: is its core all idle? */
void c2_core_idles(const struct credit2 *c, struct c2_runq *rq, uint32_t cpu);
void c2_core_busy(const struct credit2 *c, struct c2_runq *rq, uint32_t cpu);

/* ---- credit2_load.c -------------------------------------------------------------------------- */

/* Bring the averages of a run queue, and of a vCPU unless NULL, up to date; then the load changes
 * by `change` (1: cv begins to run or wait, -1: it stops, 0). */
void c2_load(struct credit2 *c, struct c2_runq *rq, struct c2_vcpu *cv, int change, sim_time now);
void c2_assign(struct credit2 *c, struct c2_vcpu *cv, struct c2_runq *rq);
void c2_deassign(struct credit2 *c, struct c2_vcpu *cv);
void c2_set_weight(struct credit2 *c, struct c2_vcpu *cv, uint32_t weight);
void c2_migrate(struct credit2 *c, struct c2_vcpu *cv, struct c2_runq *to, sim_time now);
void c2_balance(struct credit2 *c, struct c2_runq *rq, sim_time now);
uint32_t c2_pick_cpu(struct scheduler *s, struct vcpu *v);
void c2_pcpu_join(struct scheduler *s, struct pcpu *p);
void c2_pcpu_leave(struct scheduler *s, struct pcpu *p);

/* ---- credit2_cap.c --------------------------------------------------------------------------- */

void c2_cap_init(struct c2_domain *cd, struct domain *d);
void c2_cap_release(struct c2_domain *cd);
/* A vCPU joins its domain, or leaves it. */
void c2_cap_join(struct credit2 *c, struct c2_vcpu *cv);
void c2_cap_leave(struct c2_vcpu *cv);
/* Set the cap to d->cap; one above 100 per vCPU is refused (d->cap is put back). */
void c2_cap_set(struct credit2 *c, struct c2_domain *cd, sim_time now);
/* Take budget from the domain if it has none left. False: there is none, cv was parked. */
bool c2_cap_grab(struct credit2 *c, struct c2_vcpu *cv, sim_time now);
/* Give back what is left. True: its parked siblings can have it, call c2_cap_unpark. */
bool c2_cap_return(struct c2_vcpu *cv);
void c2_cap_unpark(struct credit2 *c, struct c2_domain *cd, sim_time now);

#endif
