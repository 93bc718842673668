/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why machines are taken from a heap: with a thousand of them and a window of some microseconds,
 * most have nothing to do in a window, and those must cost nothing.
 */
#include "sim/machine.h"

#include "sim/error.h"
#include "sim/wire.h"

#include <stdlib.h>
#include <string.h>

/* Windows when machines cannot reach each other; assumed: some milliseconds of wall time. */
#define WINDOW_ALONE NS_PER_S
#define WINDOW_APART (100 * NS_PER_MS)

/* SimGrid's dates may be 1 ns early, and the rounding of one to ns another: see sim/simgrid.c. */
#define WINDOW_GUARD 2

struct fleet_cell {
    sim_time next;
    struct machine *machine;
};

void machine_init(struct machine *m, const char *host, const struct machine_ops *ops, void *model)
{
    *m = (struct machine){.ops = ops,
                          .model = model,
                          .host = host ? xstrdup(host) : NULL,
                          .up = true,
                          .failed_at = -1,
                          .cores = 1};
    queue_init(&m->queue);
}

void machine_free(struct machine *m)
{
    queue_free(&m->queue);
    free(m->host);
    m->host = NULL;
}

/* Let the machine's clock be `now`, so that what is armed next is not taken for the past. */
static void advance(struct machine *m, sim_time now)
{
    if (m->queue.now < now)
        m->queue.now = now;
}

void machine_fail(struct machine *m, sim_time now)
{
    if (!m->up)
        return;
    advance(m, now);
    m->up = false;
    m->boots++;
    m->failed_at = machine_now(m);
    wire_machine_off(m);
    if (m->ops->failed)
        m->ops->failed(m, machine_now(m));
    fleet_touch(m);
}

void machine_reboot(struct machine *m, sim_time now)
{
    if (m->up)
        return;
    advance(m, now);
    m->up = true;
    if (m->ops->rebooted)
        m->ops->rebooted(m, machine_now(m));
    fleet_touch(m);
}

void machine_set_speed(struct machine *m, double speed, sim_time now)
{
    if (m->speed == speed)
        return;
    m->speed = speed;
    if (!m->up)
        return;
    advance(m, now);
    if (m->ops->speed_changed)
        m->ops->speed_changed(m, machine_now(m));
    fleet_touch(m);
}

/* ---- The heap of machines ------------------------------------------------------------------- */

void fleet_init(struct fleet *f)
{
    *f = (struct fleet){.latency = SIM_NEVER, .end = SIM_NEVER};
}

void fleet_free(struct fleet *f)
{
    wire_free(f);
    free(f->machine);
    free(f->heap);
    *f = (struct fleet){0};
}

void fleet_add(struct fleet *f, struct machine *m)
{
    BUG_ON(f->count == FLEET_MAX);
    if (f->count == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 16;
        f->machine = xrealloc(f->machine, f->capacity * sizeof(struct machine *));
        f->heap = xrealloc(f->heap, (f->capacity + 1) * sizeof *f->heap);
    }
    m->fleet = f;
    m->id = f->count;
    f->machine[f->count++] = m;
    f->ordered = false;
}

struct machine *fleet_find(const struct fleet *f, const char *host)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (f->machine[i]->host && strcmp(f->machine[i]->host, host) == 0)
            return f->machine[i];
    return NULL;
}

static inline bool before(const struct fleet_cell *a, const struct fleet_cell *b)
{
    return a->next < b->next || (a->next == b->next && a->machine->id < b->machine->id);
}

static inline void place(struct fleet *f, uint32_t slot, struct fleet_cell c)
{
    f->heap[slot] = c;
    c.machine->heap_slot = slot;
}

static void sift_down(struct fleet *f, uint32_t slot, struct fleet_cell c)
{
    for (;;) {
        uint32_t first = 4 * slot - 2, last = first + 3, best = first;

        if (first > f->count)
            break;
        if (last > f->count)
            last = f->count;
        for (uint32_t i = first + 1; i <= last; i++)
            if (before(&f->heap[i], &f->heap[best]))
                best = i;
        if (!before(&f->heap[best], &c))
            break;
        place(f, slot, f->heap[best]);
        slot = best;
    }
    place(f, slot, c);
}

static void settle(struct fleet *f, uint32_t slot, struct fleet_cell c)
{
    while (slot > 1) {
        uint32_t parent = (slot + 2) / 4;

        if (!before(&c, &f->heap[parent]))
            break;
        place(f, slot, f->heap[parent]);
        slot = parent;
    }
    sift_down(f, slot, c);
}

static void order(struct fleet *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        place(f, i + 1,
              (struct fleet_cell){.next = queue_next(&f->machine[i]->queue),
                                  .machine = f->machine[i]});
    for (uint32_t slot = f->count; slot > 0; slot--)
        sift_down(f, slot, f->heap[slot]);
    f->ordered = true;
}

void fleet_touch(struct machine *m)
{
    struct fleet *f = m->fleet;
    struct fleet_cell c = {.next = queue_next(&m->queue), .machine = m};

    if (f && f->ordered && f->heap[m->heap_slot].next != c.next)
        settle(f, m->heap_slot, c);
}

sim_time fleet_next(struct fleet *f)
{
    if (!f->ordered)
        order(f);
    return f->count ? f->heap[1].next : SIM_NEVER;
}

/* ---- Running -------------------------------------------------------------------------------- */

/* While a machine is run its own cell is out of date but stays the first: what it sends to others
 * is due at or after `until`. */
void fleet_run(struct fleet *f, sim_time until)
{
    while (fleet_next(f) < until) {
        struct machine *m = f->heap[1].machine;

        queue_run(&m->queue, until);
        fleet_touch(m);
        if (f->stopped && f->count == 1)
            return;
    }
}

sim_time fleet_window(const struct fleet *f)
{
    if (f->latency != SIM_NEVER)
        return f->latency > WINDOW_GUARD ? f->latency - WINDOW_GUARD : 1;
    return f->count > 1 ? WINDOW_APART : WINDOW_ALONE;
}

void fleet_stop(struct machine *m)
{
    struct fleet *f = m->fleet;
    sim_time end = machine_now(m) + 1;

    if (f && f->count > 1)
        end += fleet_window(f);
    else
        queue_stop(&m->queue);
    if (!f)
        return;
    f->stopped = true;
    if (f->end > end)
        f->end = end;
}

enum fleet_end fleet_run_to(struct fleet *f, sim_time end)
{
    for (;;) {
        sim_time next = fleet_next(f), window = fleet_window(f);
        sim_time limit = f->end < end ? f->end : end;

        if (f->interrupted && *f->interrupted)
            return FLEET_INTERRUPTED;
        if (next >= limit)
            break;
        fleet_run(f, next < limit - window ? next + window : limit);
    }
    if (f->stopped && f->end <= end)
        return FLEET_STOPPED;
    return fleet_next(f) == SIM_NEVER ? FLEET_IDLE : FLEET_DATE;
}
