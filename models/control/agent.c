/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/control/agent.h"

#include "sim/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- rounds ---------------------------------------------------------------------------------- */

uint32_t agent_order(const struct agent *a, size_t round, uint32_t i)
{
    uint32_t g = a->loop->replicas;

    return a->loop->params->order == CONTROL_ROTATING ? (uint32_t)((i + round) % g) : i;
}

/* What was measured so far does not count any more, or: from now on it does not. */
static void switch_measuring(struct agent *a, sim_time date)
{
    if (!a->measuring && date >= a->from && date < a->until) {
        a->measuring = true;
        a->cost_before = a->plant.cost;
        a->falls_before = a->plant.falls;
        a->record.first = a->record.rounds;
    }
    if (a->measuring && !a->closed && date >= a->until) {
        a->closed = true;
        a->record.end = a->record.rounds;
        a->cost = a->plant.cost - a->cost_before;
        a->falls = a->plant.falls - a->falls_before;
    }
}

/* Rounds whose setpoints can no longer be valid are judged, once each. */
static void detect(struct agent *a, size_t round, sim_time now)
{
    const struct control_params *p = a->loop->params;
    size_t age = (size_t)((p->horizon + p->period - 1) / p->period), judged;

    if (!p->detector.misses || round < age)
        return;
    judged = round - age;
    for (uint32_t i = 0; i < a->loop->replicas; i++) {
        sim_time delay = a->record.delay[judged * a->loop->replicas + i];

        if (judged < a->lenient[i])
            continue;
        a->missed[i] = delay >= 0 && delay <= p->horizon ? 0 : a->missed[i] + 1;
        if (a->missed[i] < p->detector.misses)
            continue;
        a->missed[i] = 0;
        a->restart[i] = true;
        a->restarts++;
        a->lenient[i] = round + 1 + (size_t)(p->detector.restart / p->period + 1);
    }
    (void)now;
}

void agent_begin(struct agent *a, sim_time now)
{
    struct control_record *r = &a->record;
    size_t k = r->rounds;
    double u = plant_measure(&a->plant, now);

    BUG_ON(k >= r->capacity);
    switch_measuring(a, control_date(a->loop, k));
    r->rounds++;
    r->sent[k] = now;
    a->setpoint[k] = u;
    if (!a->plant.params.hold && now - a->last_change > a->loop->params->horizon)
        plant_apply(&a->plant, 0, now);
    detect(a, k, now);
}

void agent_skip(struct agent *a, sim_time now)
{
    while (a->record.rounds < a->record.capacity && control_date(a->loop, a->record.rounds) < now)
        agent_begin(a, control_date(a->loop, a->record.rounds));
}

static void implement(struct agent *a, size_t round, uint32_t replica, sim_time now)
{
    a->record.accepted[round] = now - a->record.sent[round];
    a->record.by[round] = (uint8_t)replica;
    a->implemented = round + 1;
    a->last_change = now;
    plant_apply(&a->plant, a->setpoint[round], now);
}

static uint32_t bits(uint32_t set)
{
    return (uint32_t)__builtin_popcount(set);
}

static void mask(struct agent *a, size_t round, uint32_t replica, sim_time now)
{
    const struct control_params *p = a->loop->params;

    if (round < a->implemented)
        return; /* a duplicate, or the actuator is further than that */
    if (p->accept == CONTROL_LATEST && round + 1 != a->record.rounds)
        return;
    a->votes[round] |= UINT32_C(1) << replica;
    if (bits(a->votes[round]) >= p->votes)
        implement(a, round, replica, now);
}

void agent_message(struct agent *a, const struct control_message *m, sim_time now)
{
    const struct control_params *p = a->loop->params;
    struct control_record *r = &a->record;
    sim_time *delay, took;

    if (m->kind != CONTROL_SETPOINT || m->round >= r->rounds || m->replica >= r->replicas)
        return;
    delay = &r->delay[m->round * r->replicas + m->replica];
    took = now - r->sent[m->round];
    if (*delay >= 0 || took > p->give_up * p->period)
        return; /* a second copy; too late to be of interest */
    *delay = took;
    if (took <= p->horizon)
        mask(a, m->round, m->replica, now);
}

/* ---- building -------------------------------------------------------------------------------- */

static sim_time *nothing(size_t n)
{
    sim_time *t = xcalloc(n, sizeof *t);

    memset(t, 0xff, n * sizeof *t); /* -1 */
    return t;
}

static struct rng *sensor_streams(const struct control_loop *l, const char *purpose)
{
    struct rng *r = xcalloc((size_t)l->params->sensors.count, sizeof *r);

    for (int64_t i = 0; i < l->params->sensors.count; i++) {
        char *entity = xasprintf("%s/sensor%lld", l->name, (long long)i + 1);

        rng_init(&r[i], l->seed, l->replication, entity, purpose);
        free(entity);
    }
    return r;
}

void agent_init(struct agent *a, const struct control_loop *loop, const struct plant_params *plant,
                sim_time from, sim_time until, sim_time end)
{
    size_t n = (size_t)((end > loop->start ? end - loop->start : 0) / loop->params->period) + 2;

    *a = (struct agent){.loop = loop, .from = from, .until = until};
    a->record = (struct control_record){.replicas = loop->replicas,
                                        .capacity = n,
                                        .sent = nothing(n),
                                        .delay = nothing(n * loop->replicas),
                                        .accepted = nothing(n),
                                        .by = xcalloc(n, 1)};
    a->setpoint = xcalloc(n, sizeof *a->setpoint);
    a->votes = xcalloc(n, sizeof *a->votes);
    a->jitter = sensor_streams(loop, "jitter");
    a->loss = sensor_streams(loop, "loss");
    rng_init(&a->path_out, loop->seed, loop->replication, loop->name, "paths out");
    rng_init(&a->path_in, loop->seed, loop->replication, loop->name, "paths in");
    a->last_change = loop->start;
    plant_init(&a->plant, plant, loop->name, loop->seed, loop->replication, loop->start);
}

void agent_close(struct agent *a, sim_time now)
{
    agent_skip(a, now);
    plant_advance(&a->plant, now);
    switch_measuring(a, SIM_NEVER);
    a->seconds = (double)(a->until - a->from) / 1e9;
}

void agent_free(struct agent *a)
{
    free(a->record.sent);
    free(a->record.delay);
    free(a->record.accepted);
    free(a->record.by);
    free(a->setpoint);
    free(a->votes);
    free(a->jitter);
    free(a->loss);
    free(a->on_machine);
    free(a->in_guest);
}
