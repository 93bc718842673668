/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/hypervisor/turns.h"

#define NOBODY UINT32_MAX

/* Shorter turns than this are not told apart. */
static const sim_time LEAST = NS_PER_US;

static bool wants(const struct pcpu *p)
{
    return p->asked || p->lates || (p->current && !p->current->idle);
}

/* What each pCPU may use in a pass that begins at `now`. */
static sim_time budget_at(struct host *h, sim_time now)
{
    struct turns *t = &h->turns;
    sim_time period = h->costs.emulator_tick, deadline = t->deadline, budget;

    if (deadline <= now)
        deadline += ((now - deadline) / period + 1) * period;
    t->deadline = deadline;
    if (t->timer > now && t->timer < deadline)
        deadline = t->timer;
    budget = (deadline - now) / h->pcpu_count;
    return budget >= LEAST ? budget : deadline - now < LEAST ? deadline - now : LEAST;
}

static void begin_pass(struct host *h, sim_time now)
{
    struct turns *t = &h->turns;

    queue_cancel(h->queue, &t->end); /* no deadline of the machine's */
    t->timer = queue_next_rank(h->queue, RANK_TIMER);
    t->budget = budget_at(h, now);
}

/* Another pCPU wants the turn: end the holder's. As long as nobody did, its passes were not
 * followed one by one; what timers went off meanwhile is not known any more. */
static void find_end(struct host *h, sim_time now)
{
    struct turns *t = &h->turns;
    sim_time date = t->since + t->budget;

    if (timer_armed(&t->end))
        return;
    t->timer = queue_next_rank(h->queue, RANK_TIMER);
    if (date <= now) {
        sim_time past = (now - t->deadline) / h->costs.emulator_tick * h->costs.emulator_tick;

        if (now >= t->deadline && t->deadline + past > date) {
            t->deadline += past;
            date = t->deadline; /* a pass began at the last tick of the clock */
        }
        while (date <= now)
            date += budget_at(h, date);
    }
    queue_arm(h->queue, &t->end, date);
}

static bool other_wants(const struct host *h)
{
    for (uint32_t i = 0; i < h->pcpu_count; i++)
        if (i != h->turns.holder && wants(&h->pcpu[i]))
            return true;
    return false;
}

/* The holder's turn begins, or goes on. */
static void begin_turn(struct host *h, sim_time now)
{
    struct turns *t = &h->turns;

    t->since = now;
    if (other_wants(h))
        queue_arm(h->queue, &t->end, now + t->budget);
    else
        queue_cancel(h->queue, &t->end);
}

static void give(struct host *h, uint32_t cpu, sim_time now)
{
    h->turns.holder = cpu;
    begin_turn(h, now);
    core_turn_won(&h->pcpu[cpu], now);
}

/* To the next that wants it, in order; the one that had it comes last. */
static void pass_on(struct host *h, sim_time now)
{
    struct turns *t = &h->turns;
    uint32_t from = t->holder;

    for (uint32_t i = 1; i <= h->pcpu_count; i++) {
        uint32_t cpu = (from + i) % h->pcpu_count;

        if (!wants(&h->pcpu[cpu]))
            continue;
        if (cpu <= from)
            begin_pass(h, now);
        if (cpu == from) {
            begin_turn(h, now);
            return;
        }
        core_turn_lost(&h->pcpu[from], now);
        give(h, cpu, now);
        return;
    }
    core_turn_lost(&h->pcpu[from], now);
    queue_cancel(h->queue, &t->end);
    t->holder = NOBODY;
}

static void turn_over(struct timer *timer, sim_time now)
{
    pass_on(container_of(timer, struct host, turns.end), now);
}

void turns_init(struct host *h, sim_time phase)
{
    timer_init(&h->turns.end, turn_over);
    h->turns.holder = NOBODY;
    h->turns.deadline = phase;
    for (uint32_t i = 0; i < h->pcpu_count; i++)
        h->pcpu[i].waits_turn = h->costs.emulator_tick > 0;
}

bool turns_hold(struct pcpu *p)
{
    struct host *h = p->host;
    sim_time now = h->queue->now;

    if (!p->waits_turn)
        return true;
    if (h->turns.holder != NOBODY) {
        find_end(h, now);
        return false;
    }
    begin_pass(h, now);
    give(h, p->id, now);
    return true;
}

/* The first pCPU that wants the turn. */
static uint32_t first_wanting(const struct host *h)
{
    uint32_t i = 0;

    while (!wants(&h->pcpu[i]))
        i++;
    return i;
}

/* Timers go off between two passes: the next pass begins with the first pCPU that is busy or has a
 * timer to handle, whoever had the turn. */
bool pcpu_defers(struct pcpu *p, struct timer *t)
{
    struct host *h = p->host;
    sim_time now = h->queue->now;
    uint32_t first;

    if (!h->costs.emulator_tick || p->in_late || p->lates == LATE_TIMERS)
        return false;
    p->late[p->lates++] = t;
    first = first_wanting(h);
    if (first == p->id && h->turns.holder == first) {
        p->lates--;
        return false;
    }
    begin_pass(h, now);
    if (h->turns.holder == first) {
        begin_turn(h, now);
        return true;
    }
    if (h->turns.holder != NOBODY)
        core_turn_lost(&h->pcpu[h->turns.holder], now);
    give(h, first, now);
    return true;
}

void turns_idle(struct pcpu *p)
{
    struct host *h = p->host;

    if (h->costs.emulator_tick && h->turns.holder == p->id)
        queue_arm(h->queue, &h->turns.end, h->queue->now + h->costs.context_switch);
}
