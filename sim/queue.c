/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a 4-ary heap: half the levels of a binary one, and the four children of a cell share one or
 * two cache lines. Why copies of the keys in the cells: sifting then touches the timers themselves
 * only to note their new slot. A calendar queue would be O(1) but needs tuning to the spread of
 * dates and is no faster below some thousand pending events, which is what a machine has.
 */
#include "sim/queue.h"

#include "sim/error.h"

#include <stdlib.h>

struct queue_entry {
    sim_time when;
    uint64_t order;
    struct timer *timer;
};

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

static inline void place(struct queue *q, uint32_t slot, struct queue_entry e)
{
    q->heap[slot] = e;
    e.timer->slot = slot;
}

static void sift_up(struct queue *q, uint32_t slot, struct queue_entry e)
{
    while (slot > 1) {
        uint32_t parent = (slot + 2) / 4;

        if (!before(&e, &q->heap[parent]))
            break;
        place(q, slot, q->heap[parent]);
        slot = parent;
    }
    place(q, slot, e);
}

static void sift_down(struct queue *q, uint32_t slot, struct queue_entry e)
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
        if (!before(&q->heap[best], &e))
            break;
        place(q, slot, q->heap[best]);
        slot = best;
    }
    place(q, slot, e);
}

static void settle(struct queue *q, uint32_t slot, struct queue_entry e)
{
    if (slot > 1 && before(&e, &q->heap[(slot + 2) / 4]))
        sift_up(q, slot, e);
    else
        sift_down(q, slot, e);
}

void queue_arm_key(struct queue *q, struct timer *t, sim_time when, enum rank rank, uint64_t key)
{
    struct queue_entry e;

    if (when < q->now)
        when = q->now;
    t->when = when;
    t->order = (uint64_t)rank << 60 | key;
    e = (struct queue_entry){.when = when, .order = t->order, .timer = t};
    if (t->slot) {
        settle(q, t->slot, e);
        return;
    }
    if (q->count == q->capacity) {
        q->capacity *= 2;
        q->heap = xrealloc(q->heap, (q->capacity + 1) * sizeof *q->heap);
    }
    q->count++;
    sift_up(q, q->count, e);
}

void queue_arm(struct queue *q, struct timer *t, sim_time when)
{
    queue_arm_key(q, t, when, RANK_TIMER, ++q->armed);
}

static void remove_at(struct queue *q, uint32_t slot)
{
    struct queue_entry last = q->heap[q->count--];

    if (slot <= q->count)
        settle(q, slot, last);
}

void queue_cancel(struct queue *q, struct timer *t)
{
    uint32_t slot = t->slot;

    if (!slot)
        return;
    t->slot = 0;
    remove_at(q, slot);
}

void queue_cancel_unless(struct queue *q, bool (*keep)(struct timer *t, void *arg), void *arg)
{
    uint32_t kept = 0;

    for (uint32_t slot = 1; slot <= q->count; slot++) {
        struct queue_entry e = q->heap[slot];

        if (keep(e.timer, arg))
            place(q, ++kept, e);
        else
            e.timer->slot = 0;
    }
    q->count = kept;
    for (uint32_t slot = kept; slot > 0; slot--) /* children before parents: a heap again */
        sift_down(q, slot, q->heap[slot]);
}

const struct timer *queue_first(const struct queue *q)
{
    return q->count ? q->heap[1].timer : NULL;
}

sim_time queue_next(const struct queue *q)
{
    return q->count && !q->stopped ? q->heap[1].when : SIM_NEVER;
}

sim_time queue_next_rank(const struct queue *q, enum rank rank)
{
    sim_time first = SIM_NEVER;

    for (uint32_t i = 1; i <= q->count; i++)
        if (timer_rank(q->heap[i].timer) == rank && q->heap[i].when < first)
            first = q->heap[i].when;
    return first;
}

void queue_due(const struct queue *q, sim_time when, void (*each)(const struct timer *t, void *ctx),
               void *ctx)
{
    for (uint32_t i = 1; i <= q->count; i++)
        if (q->heap[i].when == when)
            each(q->heap[i].timer, ctx);
}

void queue_step(struct queue *q)
{
    struct timer *t = q->heap[1].timer;

    q->now = q->heap[1].when;
    t->slot = 0;
    remove_at(q, 1);
    q->fired++;
    t->fire(t, q->now);
    if (q->after)
        q->after(q);
}

uint64_t queue_run(struct queue *q, sim_time until)
{
    uint64_t before_run = q->fired;

    q->until = until;
    while (q->count && q->heap[1].when < q->until)
        queue_step(q);
    return q->fired - before_run;
}
