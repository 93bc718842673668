/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Between the files that follow a trace:
 *
 *     driven_trace.c   the records in memory, with what is looked up around them
 *     driven_host.c    one model host in the trace's state: takes records, asks, is set back
 *     driven.c         a number of such hosts (several where some state is not in the trace), the
 *                      counts, the words
 *     driven_credit.c, driven_credit2.c, driven_rtds.c, driven_null.c
 *                      what is particular to a scheduler
 */
#ifndef HVSIM_VALIDATE_DRIVEN_INSIDE_H
#define HVSIM_VALIDATE_DRIVEN_INSIDE_H

#include "experiments/traces/xentrace_events.h"
#include "experiments/validate/driven.h"
#include "models/schedulers/scheduler.h"
#include "sim/random.h"

/* ---- the trace ------------------------------------------------------------------------------- */

/* The trace begins at this date of the model host, so that there are dates before it. */
#define TRACE_BEGIN (1000 * NS_PER_S)

enum { VCPU_NONE = -1, VCPU_IDLE = -2 };

/* A record of the scheduler class. */
struct follow_record {
    sim_time at; /* on the model host's clock */
    uint32_t event;
    uint32_t word[XT_WORDS_MAX];
    uint16_t pcpu;
    int16_t vcpu; /* whom it names: index of the followed vCPUs, or VCPU_NONE, VCPU_IDLE */
    int16_t told; /* a wake: the pCPU that it made decide; -1: none */
    uint8_t words;
    bool boosted; /* a wake: made BOOST by it */
};

struct follow_vcpu {
    uint32_t domain, vcpu;
    bool seen;     /* in the trace */
    uint8_t state; /* runstate at the beginning */
    uint16_t pcpu; /* where it was then, or came to be first */
    bool active;   /* Credit: on the active list at the beginning */
};

struct follow_trace {
    struct follow_record *rec;
    size_t recs;
    struct follow_vcpu *vcpu; /* dom0's, the guests' in the capture's order, then strangers' */
    size_t vcpus, described;  /* the first ones are in the capture's description */
    uint64_t lost;
};

/* 0, or -1 with errors. */
int follow_read(const struct capture *c, struct follow_trace *t, struct errors *e);
void follow_free(struct follow_trace *t);

static inline bool follow_is_runstate(const struct follow_record *r)
{
    return (r->event & 0xfffff00f) == XT_RUNSTATE_CHANGE && r->words;
}

static inline unsigned follow_from(const struct follow_record *r)
{
    return r->event >> 8 & 3;
}

static inline unsigned follow_to(const struct follow_record *r)
{
    return r->event >> 4 & 3;
}

/* ---- one model host -------------------------------------------------------------------------- */

struct driven;

struct driven_pcpu {
    bool open;         /* a decision has begun */
    sim_time decision; /* its date */
    struct vcpu *prev; /* who was seen to be switched out; NULL: nobody yet */
    uint8_t prev_to;   /* and the runstate it went to */
    struct vcpu *gone; /* blocked before the decision, and was not woken before it; NULL: nobody */
    bool ratelimited;
};

struct driven_vcpu {
    struct vcpu *vcpu;
    bool ran; /* since the trace began */
    void *of; /* the follower's */
};

struct pool_follow {
    const struct follower *ops; /* NULL: nobody knows how to follow its scheduler */
    struct cpupool *pool;
    void *of; /* the follower's */
};

/* What a record led to. */
struct driven_step {
    bool decided, judged, choice, same;
    bool woke, woke_same, boost, boost_same, reset, reset_same;
    int16_t answer; /* of a decision: the model's vCPU, or VCPU_IDLE */
    uint32_t pool;
    char *text; /* of a decision that differs; owned; NULL: none, or not asked for */
};

struct driven {
    const struct capture *capture;
    const struct follow_trace *trace;
    struct queue queue;
    struct host *host;
    struct guest_ops guest;
    struct driven_pcpu *pcpu;
    struct driven_vcpu *vcpu;
    struct pool_follow pool[2];
    bool speaks;             /* explains what differs */
    struct driven_step step; /* of the last record */
    uint64_t resyncs;
    double score; /* of disagreement, of late */
    /* Copy of a scheduler's state. */
    char *saved;
    size_t saved_room;
};

void driven_build(struct driven *d, const struct capture *c, const struct follow_trace *t);
void driven_free(struct driven *d);

/* Take record i; d->step says what came of it. */
void driven_take(struct driven *d, size_t i);

static inline struct pool_follow *driven_pool_of(struct driven *d, const struct cpupool *pool)
{
    return &d->pool[d->pool[0].pool != pool];
}

/* The vCPU of a record; NULL: none, or an idle one. */
static inline struct driven_vcpu *driven_named(struct driven *d, const struct follow_record *r)
{
    return r->vcpu >= 0 ? &d->vcpu[r->vcpu] : NULL;
}

/* The same of a pool only. */
static inline struct driven_vcpu *driven_member(struct driven *d, const struct pool_follow *pf,
                                                const struct follow_record *r)
{
    struct driven_vcpu *dv = driven_named(d, r);

    return dv && dv->vcpu->domain->pool == pf->pool ? dv : NULL;
}

#define for_each_followed(dv, d, pf)                                                               \
    for (struct driven_vcpu *dv = (d)->vcpu; dv < (d)->vcpu + (d)->trace->vcpus; dv++)             \
        if (dv->vcpu->domain->pool == (pf)->pool)

/* Put the saved state back (as it was just before the scheduler was asked). */
void driven_restore(struct driven *d, struct pool_follow *pf);

/* Let a timer of the scheduler fire now, whatever it is set to. */
void driven_fire(struct driven *d, struct timer *t, sim_time at);

/* Wake a vCPU that is runnable from now on. */
void driven_wake(struct driven *d, struct driven_vcpu *dv, sim_time at);

/* ---- what is particular to a scheduler ------------------------------------------------------- */

struct follower {
    const char *scheduler;
    size_t pool_size, vcpu_size; /* of pool_follow.of and driven_vcpu.of, zeroed */
    bool guesses; /* part of the state is hidden: several hosts with different guesses follow */
    /* The model host stands in the state of the trace's beginning. `rng` for guesses. */
    void (*begin)(struct driven *d, struct pool_follow *pf, struct rng *rng);
    /* Take over the state of a host that has done better, with slightly other guesses, or with new
     * ones of all that is hidden. */
    void (*inherit)(struct driven *d, struct pool_follow *pf, struct driven *from,
                    struct pool_follow *pf_from, bool afresh, struct rng *rng);
    /* Before record r: what left no record of its own and was due. */
    void (*advance)(struct driven *d, struct pool_follow *pf, const struct follow_record *r);
    /* A record that is no change of runstate. */
    void (*record)(struct driven *d, struct pool_follow *pf, const struct follow_record *r);
    /* dv is about to wake, by record r. */
    void (*wakes)(struct driven *d, struct pool_follow *pf, struct driven_vcpu *dv,
                  const struct follow_record *r);
    /* Is everything known that decisions of this pool depend on? */
    bool (*known)(struct driven *d, struct pool_follow *pf);
    /* Change the state so that `next` is chosen on p. The more attempts were made, the cruder.
     * False: out of ideas. */
    bool (*persuade)(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                     unsigned attempt, sim_time at);
    /* The decision for `next` was made. */
    void (*decided)(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                    sim_time at);
    /* The pCPU was (not) made to decide, says the trace, unlike the model. */
    void (*tickled)(struct driven *d, struct pool_follow *pf, uint32_t cpu, bool told);
    /* State that lives outside the core's objects. */
    void (*blocks)(struct scheduler *s, void (*each)(void *ctx, void *block, size_t size),
                   void *ctx);
    /* How what is not in the trace was found; NULL: nothing had to be. */
    char *(*inference)(struct driven *d, struct pool_follow *pf);
    uint32_t schedule_event; /* begins a decision */
};

extern const struct follower follower_credit, follower_credit2, follower_rtds, follower_null;

#endif
