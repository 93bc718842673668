/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a 4-ary heap: half the levels of a binary one, and the four children of a cell share one or
 * two cache lines. Why copies of the keys in the cells: sifting then touches the timers themselves
 * only to note their new slot. A calendar queue would be O(1) but needs tuning to the spread of
 * dates and is no faster below some thousand pending events, which is what a machine has.
 *
 * Nearly half of all timers are armed for the date at which they are (a host's reschedules), one at
 * a time: such a one waits beside the heap, where it is compared with the heap's first.
 */
#include "sim/queue.h"

#include "sim/error.h"

#include <stdlib.h>

/* The slot of the timer that waits beside the heap. */
#define SLOT_SOON UINT32_MAX

static inline bool before(const struct queue_entry *a, const struct queue_entry *b)
{
    return a->when < b->when || (a->when == b->when && a->order < b->order);
}

void queue_init(struct queue *q)
{
    *q = (struct queue){.capacity = 64};
    q->heap = xcalloc(q->capacity + 1, sizeof *q->heap);
}

void queue_free(struct queue *q)
{
    free(q->heap);
    *q = (struct queue){0};
}

/* A cell that is on its way is passed in its parts: in registers, which a struct of three words is
 * not. */
static inline bool comes_before(sim_time when, uint64_t order, const struct queue_entry *b)
{
    return when < b->when || (when == b->when && order < b->order);
}

static inline void put(struct queue *q, uint32_t slot, sim_time when, uint64_t order,
                       struct timer *t)
{
    struct queue_entry *e = &q->heap[slot];

    e->when = when;
    e->order = order;
    e->timer = t;
    t->slot = slot;
}

static inline void move(struct queue *q, uint32_t to, uint32_t from)
{
    const struct queue_entry *e = &q->heap[from];

    put(q, to, e->when, e->order, e->timer);
}

static void sift_up(struct queue *q, uint32_t slot, sim_time when, uint64_t order, struct timer *t)
{
    while (slot > 1) {
        uint32_t parent = (slot + 2) / 4;

        if (!comes_before(when, order, &q->heap[parent]))
            break;
        move(q, slot, parent);
        slot = parent;
    }
    put(q, slot, when, order, t);
}

static void sift_down(struct queue *q, uint32_t slot, sim_time when, uint64_t order,
                      struct timer *t)
{
    for (;;) {
        uint32_t first = 4 * slot - 2, last = first + 3, best;

        if (first > q->count)
            break;
        if (last > q->count)
            last = q->count;
        best = first;
        for (uint32_t c = first + 1; c <= last; c++)
            if (before(&q->heap[c], &q->heap[best]))
                best = c;
        if (comes_before(when, order, &q->heap[best]))
            break;
        move(q, slot, best);
        slot = best;
    }
    put(q, slot, when, order, t);
}

static void settle(struct queue *q, uint32_t slot, sim_time when, uint64_t order, struct timer *t)
{
    if (slot > 1 && comes_before(when, order, &q->heap[(slot + 2) / 4]))
        sift_up(q, slot, when, order, t);
    else
        sift_down(q, slot, when, order, t);
}

static inline void forget_soon(struct queue *q)
{
    q->soon.timer->slot = 0;
    q->soon.timer = NULL;
}

/* The first event; NULL if there is none. */
static inline const struct queue_entry *first(const struct queue *q)
{
    if (q->soon.timer && (!q->count || before(&q->soon, &q->heap[1])))
        return &q->soon;
    return q->count ? &q->heap[1] : NULL;
}

static inline uint64_t order_of(enum rank rank, uint64_t key)
{
    return (uint64_t)rank << 60 | (key & ((UINT64_C(1) << 60) - 1));
}

void queue_arm_key(struct queue *q, struct timer *t, sim_time when, enum rank rank, uint64_t key)
{
    uint64_t order = order_of(rank, key);

    if (when < q->now)
        when = q->now;
    t->when = when;
    t->order = order;
    if (t->slot == SLOT_SOON)
        forget_soon(q);
    if (t->slot) {
        settle(q, t->slot, when, order, t);
        return;
    }
    if (when == q->now && !q->soon.timer) {
        q->soon.when = when;
        q->soon.order = order;
        q->soon.timer = t;
        t->slot = SLOT_SOON;
        return;
    }
    if (q->count == q->capacity) {
        q->capacity *= 2;
        q->heap = xrealloc(q->heap, (q->capacity + 1) * sizeof *q->heap);
    }
    q->count++;
    sift_up(q, q->count, when, order, t);
}

void queue_arm(struct queue *q, struct timer *t, sim_time when)
{
    queue_arm_key(q, t, when, RANK_TIMER, ++q->armed);
}

/* The later `when`, the larger the key; for the same one the arming number decides. */
void queue_arm_late(struct queue *q, struct timer *t, sim_time when)
{
    const uint64_t most = (UINT64_C(1) << 30) - 1;
    uint64_t past = (uint64_t)(q->now - when), number = ++q->armed & most;

    q->lates++;
    queue_arm_key(q, t, q->now, RANK_LATE, (most - (past < most ? past : most)) << 30 | number);
}

static void remove_at(struct queue *q, uint32_t slot)
{
    const struct queue_entry *last = &q->heap[q->count--];

    if (slot <= q->count)
        settle(q, slot, last->when, last->order, last->timer);
}

void queue_cancel(struct queue *q, struct timer *t)
{
    uint32_t slot = t->slot;

    if (!slot)
        return;
    if (slot == SLOT_SOON) {
        forget_soon(q);
        return;
    }
    t->slot = 0;
    remove_at(q, slot);
}

void queue_cancel_unless(struct queue *q, bool (*keep)(struct timer *t, void *arg), void *arg)
{
    uint32_t kept = 0;

    if (q->soon.timer && !keep(q->soon.timer, arg))
        forget_soon(q);
    for (uint32_t slot = 1; slot <= q->count; slot++) {
        struct timer *t = q->heap[slot].timer;

        if (keep(t, arg))
            move(q, ++kept, slot);
        else
            t->slot = 0;
    }
    q->count = kept;
    for (uint32_t slot = kept; slot > 0; slot--) /* children before parents: a heap again */
        sift_down(q, slot, q->heap[slot].when, q->heap[slot].order, q->heap[slot].timer);
}

const struct timer *queue_first(const struct queue *q)
{
    const struct queue_entry *e = first(q);

    return e ? e->timer : NULL;
}

sim_time queue_next(const struct queue *q)
{
    const struct queue_entry *e = first(q);

    return e && !q->stopped ? e->when : SIM_NEVER;
}

sim_time queue_next_of(const struct queue *q, uint32_t owner)
{
    sim_time least = SIM_NEVER;

    if (q->soon.timer && q->soon.timer->owner == owner)
        least = q->soon.when;
    for (uint32_t i = 1; i <= q->count; i++)
        if (q->heap[i].timer->owner == owner && q->heap[i].when < least)
            least = q->heap[i].when;
    return least;
}

static void note_owner(const struct queue_entry *e, sim_time *next, uint32_t owners)
{
    uint32_t owner = e->timer->owner;

    if (owner < owners && e->when < next[owner])
        next[owner] = e->when;
}

void queue_next_by_owner(const struct queue *q, sim_time *next, uint32_t owners)
{
    for (uint32_t i = 0; i < owners; i++)
        next[i] = SIM_NEVER;
    if (q->soon.timer)
        note_owner(&q->soon, next, owners);
    for (uint32_t i = 1; i <= q->count; i++)
        note_owner(&q->heap[i], next, owners);
}

void queue_due(const struct queue *q, sim_time when, void (*each)(const struct timer *t, void *ctx),
               void *ctx)
{
    if (q->soon.timer && q->soon.when == when)
        each(q->soon.timer, ctx);
    for (uint32_t i = 1; i <= q->count; i++)
        if (q->heap[i].when == when)
            each(q->heap[i].timer, ctx);
}

/* The first of the late ones is being handled: it begins an instant, whose timers are all of them.
 */
static void begin_late(struct queue *q)
{
    uint32_t lates = q->lates;

    q->lates = 0;
    if (lates < 2)
        return;
    if (q->soon.timer && timer_rank(q->soon.timer) == RANK_LATE)
        q->soon.order = q->soon.timer->order = order_of(RANK_TIMER, q->soon.order);
    for (uint32_t slot = 1; slot <= q->count; slot++) {
        struct timer *t = q->heap[slot].timer;

        if (timer_rank(t) != RANK_LATE)
            continue;
        t->order = order_of(RANK_TIMER, t->order);
        sift_up(q, slot, t->when, t->order, t);
    }
}

static inline void fire(struct queue *q, const struct queue_entry *e)
{
    struct timer *t = e->timer;

    q->now = e->when;
    if (e == &q->soon) {
        forget_soon(q);
    } else {
        t->slot = 0;
        remove_at(q, 1);
    }
    q->fired++;
    q->handling = timer_rank(t);
    if (q->handling == RANK_LATE)
        begin_late(q);
    t->fire(t, q->now);
    if (q->after)
        q->after(q);
}

void queue_step(struct queue *q)
{
    fire(q, first(q));
}

uint64_t queue_run(struct queue *q, sim_time until)
{
    uint64_t before_run = q->fired;

    q->until = until;
    for (const struct queue_entry *e; (e = first(q)) && e->when < q->until;)
        fire(q, e);
    return q->fired - before_run;
}
