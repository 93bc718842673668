/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/hypervisor/turns.h"

enum { NOBODY = UINT32_MAX };

/* Shorter turns than this are not told apart. */
static const sim_time LEAST = NS_PER_US;

static bool wants(const struct pcpu *p)
{
    return p->asked || (p->current && !p->current->idle);
}

/* A new pass begins: what each pCPU may use. */
static void begin_pass(struct host *h, sim_time now)
{
    struct turns *t = &h->turns;
    sim_time period = h->costs.emulator_tick, deadline, timer;

    while (t->deadline <= now)
        t->deadline += period;
    queue_cancel(h->queue, &t->end); /* no deadline of the machine's */
    timer = queue_next_rank(h->queue, RANK_TIMER);
    deadline = timer > now && timer < t->deadline ? timer : t->deadline;
    t->budget = (deadline - now) / h->pcpu_count;
    if (t->budget < LEAST)
        t->budget = deadline - now < LEAST ? deadline - now : LEAST;
}

static void give(struct host *h, uint32_t cpu, sim_time now)
{
    struct turns *t = &h->turns;

    t->holder = cpu;
    queue_arm(h->queue, &t->end, now + t->budget);
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
            queue_arm(h->queue, &t->end, now + t->budget);
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
    if (h->turns.holder != NOBODY)
        return false;
    begin_pass(h, now);
    give(h, p->id, now);
    return true;
}

void turns_idle(struct pcpu *p)
{
    struct host *h = p->host;

    if (h->costs.emulator_tick && h->turns.holder == p->id)
        queue_arm(h->queue, &h->turns.end, h->queue->now + h->costs.context_switch);
}
