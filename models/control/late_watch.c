/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/control/late_watch.h"

#include "sim/error.h"

/* Too few setpoints of the round by now? */
static bool wanting(const struct agent *a, uint64_t round)
{
    const struct control_record *r = &a->record;
    int64_t came = 0;

    for (uint32_t i = 0; i < r->replicas; i++)
        came += r->delay[round * r->replicas + i] >= 0;
    return came < a->loop->params->votes;
}

static void look(struct timer *t, sim_time now)
{
    struct round_watch *k = container_of(t, struct round_watch, timer);
    struct late_watch *w = k->watch;

    (void)now;
    if (!wanting(w->agent, k->round)) {
        w->decided(w, k->round);
        return;
    }
    w->reached(w, k->round, k->level);
    k->level++;
    if (k->level == w->levels)
        w->decided(w, k->round);
    else
        queue_arm(&w->agent->machine->queue, t,
                  w->agent->record.sent[k->round] + w->level[k->level]);
}

void late_watch_round(struct late_watch *w, uint64_t round, sim_time now)
{
    struct round_watch *k = &w->round[round % LATE_WATCH_ROUNDS];

    if (now < w->agent->from || now >= w->agent->until)
        return;
    k->round = round;
    k->level = 0;
    queue_arm(&w->agent->machine->queue, &k->timer, now + w->level[0]);
}

void late_watch_attach(struct late_watch *w, struct agent *a)
{
    BUG_ON(!w->levels || w->levels > LATE_WATCH_LEVELS || !a->on_machine);
    BUG_ON(w->level[w->levels - 1] > (LATE_WATCH_ROUNDS - 2) * a->loop->params->period);
    w->agent = a;
    for (uint32_t i = 0; i < LATE_WATCH_ROUNDS; i++) {
        w->round[i].watch = w;
        timer_init(&w->round[i].timer, look);
    }
    a->watch = w;
}
