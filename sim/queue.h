/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event queue of one machine: an implicit 4-ary heap of timers that are embedded in the model
 * objects, so arming, moving and cancelling allocate nothing.
 *
 * Order of events at equal times: (time, rank, key). The ranks are those of one instant of a Xen
 * host (see models/hypervisor/core.c); the key is the arming number for timers, chosen by
 * the caller for the other ranks (queue_arm_key).
 */
#ifndef HVSIM_SIM_QUEUE_H
#define HVSIM_SIM_QUEUE_H

#include "sim/time.h"

#include <stdbool.h>
#include <stddef.h>

enum rank {
    RANK_PLATFORM, /* host failure, reboot, link change: before everything else at its date */
    RANK_TIMER,    /* hypervisor and guest timers, by arming number */
    RANK_ARRIVAL,  /* packets from wires, by (source, source's number) */
    RANK_EXTERNAL, /* events from outside, in the order of the scenario */
    RANK_BURST,    /* the running vCPU's burst is complete, by pCPU */
    RANK_SETTLE,   /* pending reschedules */
    RANK_LATE, /* timers set, after the timers of this date, to a date that is not ahead: once all
                * else of this date is done they are the timers of an instant of its own */
};

struct timer;
typedef void timer_fn(struct timer *t, sim_time now);

/* Embed one per thing that can be due; recover the owner with container_of. Zero and set `fire`
 * before first use (timer_init). `slot` is 0 exactly while the timer is not armed. */
struct timer {
    sim_time when;
    uint64_t order; /* rank and key */
    timer_fn *fire;
    uint32_t slot;
    uint32_t owner; /* whose it is, for queue_next_by_owner; 0: nobody's. Kept while not armed. */
};

/* Heap cell: a copy of (when, order) beside the pointer, for locality. */
struct queue_entry {
    sim_time when;
    uint64_t order;
    struct timer *timer;
};

struct queue {
    struct queue_entry *heap; /* 1-based */
    uint32_t count, capacity; /* of the heap */
    struct queue_entry soon;  /* one timer armed for the present date, spared the heap; or none */
    uint64_t armed;           /* arming numbers given so far */
    uint64_t fired;           /* events handled so far */
    uint32_t lates;           /* armed as RANK_LATE since the last one was handled, at most */
    enum rank handling;       /* of the event being handled, or of the last one */
    sim_time now;             /* date of the event being handled, or of the last one */
    bool stopped;             /* for good: no event is handled or shown any more */
    sim_time until;           /* queue_run handles nothing at or after this date */
    void (*after)(struct queue *q); /* called after each event when not NULL: observers */
    void *owner;                    /* for `after` */
};

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline void timer_init(struct timer *t, timer_fn *fire)
{
    *t = (struct timer){.fire = fire};
}

static inline bool timer_armed(const struct timer *t)
{
    return t->slot != 0;
}

void queue_init(struct queue *q);
void queue_free(struct queue *q);

/* Arm (or move) a timer as RANK_TIMER with the next arming number. A date in the past fires at
 * queue.now. O(log4 n). */
void queue_arm(struct queue *q, struct timer *t, sim_time when);

/* The same with a given rank and key (key < 2^60). */
void queue_arm_key(struct queue *q, struct timer *t, sim_time when, enum rank rank, uint64_t key);

/* Arm (or move) a timer as RANK_LATE, for the present date: of those, the one with the earliest
 * `when` (not above queue.now) is handled first, and then at once the others, before all else. */
void queue_arm_late(struct queue *q, struct timer *t, sim_time when);

/* Cancel; harmless if not armed. */
void queue_cancel(struct queue *q, struct timer *t);

/* Date of the first event, SIM_NEVER when empty. */
sim_time queue_next(const struct queue *q);

/* The first event; NULL when empty. */
const struct timer *queue_first(const struct queue *q);

/* Date of the owner's first event; SIM_NEVER: none is armed. O(n). */
sim_time queue_next_of(const struct queue *q, uint32_t owner);

/* Fill next[owner], for all below `owners`, with the date of the owner's first event (SIM_NEVER:
 * none is armed). O(n). */
void queue_next_by_owner(const struct queue *q, sim_time *next, uint32_t owners);

/* Cancel every timer that `keep` does not want to keep. O(n). */
void queue_cancel_unless(struct queue *q, bool (*keep)(struct timer *t, void *arg), void *arg);

/* Handle all events strictly before `until`, in order, including those armed meanwhile.
 * Returns the number handled. */
uint64_t queue_run(struct queue *q, sim_time until);

/* From a handler: let queue_run return once all events of the present date are handled. */
static inline void queue_stop(struct queue *q)
{
    if (q->until > q->now + 1)
        q->until = q->now + 1;
}

/* Call `each` for every timer armed for exactly this date, in no particular order. O(n). */
void queue_due(const struct queue *q, sim_time when, void (*each)(const struct timer *t, void *ctx),
               void *ctx);

/* Handle the first event; the queue must not be empty. */
void queue_step(struct queue *q);

static inline enum rank timer_rank(const struct timer *t)
{
    return (enum rank)(t->order >> 60);
}

#endif
