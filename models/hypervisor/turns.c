/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/hypervisor/turns.h"

#include "sim/error.h"

#define NOBODY UINT32_MAX

/* What is left before a deadline goes to one pCPU if it is shorter than this: the emulator divides
 * it on, down to single instructions. */
static const sim_time LEAST = NS_PER_US;

static bool wants(const struct pcpu *p)
{
    return p->asked || p->lates || cpumask_test(&p->host->pending, p->id) ||
           (p->current && !p->current->idle);
}

static bool other_wants(const struct host *h)
{
    for (uint32_t i = 0; i < h->pcpu_count; i++)
        if (i != h->turns.holder && wants(&h->pcpu[i]))
            return true;
    return false;
}

static void kick_all(struct host *h, bool kicked)
{
    for (uint32_t i = 0; i < h->pcpu_count; i++)
        h->pcpu[i].kicked = kicked;
}

/* ---- deadlines ------------------------------------------------------------------------------- */

/* The emulator's periodic timer: its first date after `now`. */
static sim_time tick_after(const struct host *h, sim_time now)
{
    sim_time period = h->costs.emulator_tick, tick = h->turns.tick;

    return tick > now ? tick : tick + ((now - tick) / period + 1) * period;
}

/* What each pCPU has set its own timer to. While it has not handled the last interrupt: to
 * nothing. */
static const sim_time *own_deadlines(struct host *h)
{
    struct turns *t = &h->turns;

    queue_next_by_owner(h->queue, t->own, h->pcpu_count + 1);
    for (uint32_t i = 0; i < h->pcpu_count; i++)
        if (h->pcpu[i].lates)
            t->own[i + 1] = SIM_NEVER;
    return t->own + 1;
}

/* The first of all deadlines but those of one pCPU (or of none: NOBODY). */
static sim_time deadline_but(const struct host *h, const sim_time *own, uint32_t cpu, sim_time now)
{
    sim_time date = tick_after(h, now);

    for (uint32_t i = 0; i < h->pcpu_count; i++)
        if (i != cpu && own[i] < date)
            date = own[i];
    return date;
}

/* How long the emulator can run before it must see to a timer. */
static sim_time limit(struct host *h, sim_time now)
{
    struct turns *t = &h->turns;

    if (t->limit_at != now || t->limit_armed != h->queue->armed) {
        sim_time date = deadline_but(h, own_deadlines(h), NOBODY, now);

        t->limit = date > now ? date - now : 1;
        t->limit_at = now;
        t->limit_armed = h->queue->armed;
    }
    return t->limit;
}

/* What each pCPU may use of it. */
static sim_time share(struct host *h, sim_time now)
{
    sim_time left = limit(h, now);

    return left < LEAST || h->costs.emulator_whole || h->pcpu_count < 2 ? left
                                                                        : left / h->pcpu_count;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void watch_end(struct host *h)
{
    struct turns *t = &h->turns;

    if (other_wants(h))
        queue_arm(h->queue, &t->end, t->until);
    else
        queue_cancel(h->queue, &t->end);
}

static void give(struct host *h, uint32_t cpu, sim_time now)
{
    struct turns *t = &h->turns;
    sim_time left = limit(h, now);
    uint32_t last = t->holder;
    bool goes_on = cpu == last && !h->pcpu[cpu].lates;

    t->until = now + (t->budget < left ? t->budget : left);
    t->holder = cpu;
    if (last != NOBODY && !goes_on)
        core_turn_lost(&h->pcpu[last], now);
    watch_end(h);
    if (!goes_on)
        core_turn_won(&h->pcpu[cpu], now);
}

/* On to the next pCPU that has something to do, from this one on. */
static void go_on(struct host *h, uint32_t next, sim_time now)
{
    struct turns *t = &h->turns;
    bool any = other_wants(h) || (t->holder != NOBODY && wants(&h->pcpu[t->holder]));

    while (any) {
        for (; next < h->pcpu_count && !h->pcpu[next].kicked; next++)
            if (wants(&h->pcpu[next])) {
                give(h, next, now);
                return;
            }
        if (next < h->pcpu_count)
            h->pcpu[next].kicked = false;
        else
            next = 0;
        t->budget = share(h, now);
    }
    if (t->holder != NOBODY)
        core_turn_lost(&h->pcpu[t->holder], now);
    queue_cancel(h->queue, &t->end);
    t->holder = NOBODY;
}

/* Timers go off: all pCPUs are kicked. They are seen to at the end of a pass, or else in place of
 * the turn of the one that comes next. */
static uint32_t deadline_passed(struct host *h, uint32_t next)
{
    bool instead = h->turns.holder != NOBODY && next < h->pcpu_count && !h->pcpu[next].kicked;

    kick_all(h, true);
    if (!instead)
        return next;
    h->pcpu[next].kicked = !wants(&h->pcpu[next]);
    return next + 1;
}

static void turn_over(struct timer *timer, sim_time now)
{
    struct host *h = container_of(timer, struct host, turns.end);
    struct turns *t = &h->turns;
    uint32_t next = t->holder == NOBODY ? 0 : t->holder + 1;
    bool due = t->due || now >= t->tick;

    t->due = false;
    t->tick = tick_after(h, now);
    if (due) {
        next = deadline_passed(h, next);
    } else if (now < t->until && t->holder != NOBODY && wants(&h->pcpu[t->holder])) {
        watch_end(h); /* it went idle, but only for a moment */
        return;
    }
    go_on(h, next, now);
}

/* Another pCPU wants the turn. As long as nobody did, the holder's passes were not followed one by
 * one: where is it now? */
static void catch_up(struct host *h, sim_time now)
{
    struct turns *t = &h->turns;

    if (timer_armed(&t->end))
        return;
    if (now >= t->tick) {
        sim_time last = tick_after(h, now) - h->costs.emulator_tick;

        t->tick = last + h->costs.emulator_tick;
        for (uint32_t i = 0; i < h->pcpu_count; i++)
            h->pcpu[i].kicked = i > t->holder;
        t->until = last + share(h, last);
    }
    while (t->until <= now) {
        kick_all(h, false);
        t->budget = share(h, t->until);
        t->until += t->budget;
    }
}

/* ---- the core's questions -------------------------------------------------------------------- */

void turns_init(struct host *h, sim_time phase)
{
    timer_init(&h->turns.end, turn_over);
    h->turns.holder = NOBODY;
    h->turns.tick = phase;
    h->turns.limit_at = -1;
    h->turns.own = xcalloc(h->pcpu_count + 1, sizeof *h->turns.own);
    for (uint32_t i = 0; i < h->pcpu_count; i++)
        h->pcpu[i].waits_turn = h->costs.emulator_tick > 0;
}

bool turns_hold(struct pcpu *p)
{
    struct host *h = p->host;
    struct turns *t = &h->turns;
    sim_time now = h->queue->now;

    if (!p->waits_turn)
        return true;
    if (t->holder != NOBODY) {
        catch_up(h, now);
        if (!timer_armed(&t->end))
            queue_arm(h->queue, &t->end, t->until);
        return false;
    }
    t->tick = tick_after(h, now);
    t->budget = share(h, now);
    give(h, p->id, now);
    return true;
}

bool turns_defer(struct pcpu *p, struct timer *t)
{
    struct host *h = p->host;

    if (!h->costs.emulator_tick || p->lates == LATE_TIMERS)
        return false;
    if (h->turns.holder != NOBODY)
        catch_up(h, h->queue->now);
    p->late[p->lates++] = t;
    if (!h->turns.due) {
        h->turns.due = true;
        queue_arm(h->queue, &h->turns.end, h->queue->now);
    }
    return true;
}

void turns_idle(struct pcpu *p)
{
    struct host *h = p->host;
    struct turns *t = &h->turns;
    sim_time date = h->queue->now + h->costs.context_switch;

    if (!h->costs.emulator_tick || t->holder != p->id || t->due)
        return;
    catch_up(h, h->queue->now);
    queue_arm(h->queue, &t->end, date < t->until ? date : t->until);
}

void turns_timer_set(struct pcpu *p)
{
    struct host *h = p->host;
    struct turns *t = &h->turns;
    sim_time now = h->queue->now;
    const sim_time *own;

    if (!h->costs.emulator_tick || t->holder != p->id || t->due || p->in_late)
        return;
    own = own_deadlines(h);
    if (own[p->id] == p->deadline)
        return;
    p->deadline = own[p->id];
    if (p->deadline >= deadline_but(h, own, p->id, now))
        return;
    kick_all(h, true);
    p->kicked = false;
    t->until = now;
    queue_arm(h->queue, &t->end, now);
}
