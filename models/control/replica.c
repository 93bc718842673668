/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/control/replica.h"

#include "sim/error.h"

/* How long a backup waits for a heartbeat. */
static sim_time patience(const struct replica *r)
{
    const struct control_params *p = r->loop->params;

    return (p->missed + r->index) * p->heartbeat;
}

void replica_init(struct replica *r, const struct control_loop *loop, uint32_t index,
                  const struct compute_params *compute, struct replica_counts *counts,
                  const char *entity, sim_time start)
{
    uint32_t sensors = (uint32_t)loop->params->sensors.count;

    *r = (struct replica){.loop = loop, .index = index, .counts = counts};
    BUG_ON(sensors < 1 || sensors > CONTROL_SENSORS);
    r->all = sensors == 64 ? UINT64_MAX : (UINT64_C(1) << sensors) - 1;
    r->restarting = -1;
    r->primary = loop->params->mode == CONTROL_ACTIVE || index == 0;
    r->beat_at = start;
    r->watch_until = start + patience(r);
    compute_init(&r->compute, compute, entity, loop->seed, loop->replication, start);
    compute_measure(&r->compute, loop->from, loop->until);
    agreement_init(r);
}

/* ---- sending --------------------------------------------------------------------------------- */

void replica_send(struct replica *r, uint32_t to, enum control_kind kind, uint64_t round,
                  sim_time taken, uint64_t set, int64_t base)
{
    struct replica_act *a = &r->out[(r->out_first + r->outs) % REPLICA_OUT];

    if (r->outs == REPLICA_OUT) {
        r->counts->dropped++;
        return;
    }
    r->outs++;
    *a = (struct replica_act){.kind = REPLICA_SEND,
                              .to = to,
                              .message = {.kind = kind,
                                          .replica = (uint8_t)r->index,
                                          .round = round,
                                          .taken = taken,
                                          .set = set,
                                          .base = base}};
}

void replica_send_all(struct replica *r, enum control_kind kind, uint64_t round, sim_time taken,
                      uint64_t set, int64_t base)
{
    for (uint32_t i = 0; i < r->loop->replicas; i++)
        if (i != r->index)
            replica_send(r, i, kind, round, taken, set, base);
}

/* ---- computing ------------------------------------------------------------------------------- */

void replica_add_job(struct replica *r, uint64_t round, sim_time taken, sim_time time)
{
    if (r->jobs == REPLICA_JOBS) {
        r->job_first = (r->job_first + 1) % REPLICA_JOBS;
        r->jobs--;
        r->counts->dropped++;
    }
    r->job[(r->job_first + r->jobs++) % REPLICA_JOBS] = (struct replica_job){round, taken, time};
}

static struct replica_act begin_job(struct replica *r)
{
    r->current = r->job[r->job_first];
    r->job_first = (r->job_first + 1) % REPLICA_JOBS;
    r->jobs--;
    r->computing = true;
    return (struct replica_act){.kind = REPLICA_COMPUTE, .time = r->current.time};
}

static void finish_job(struct replica *r)
{
    r->computing = false;
    r->counts->computed++;
    replica_send(r, CONTROL_AGENT, CONTROL_SETPOINT, r->current.round, r->current.taken, 0, 0);
}

/* ---- measurements ---------------------------------------------------------------------------- */

static void take_measurement(struct replica *r, const struct control_message *m)
{
    struct replica_round *k = &r->round[m->round % REPLICA_WINDOW];

    if (k->used && k->number > m->round)
        return; /* long past */
    if (!k->used || k->number < m->round)
        *k = (struct replica_round){.number = m->round, .taken = m->taken, .used = true};
    k->got |= UINT64_C(1) << m->sensor;
    if (k->got != r->all || k->started)
        return; /* a second copy, or not complete */
    k->started = true;
    if (!r->primary)
        return;
    if (compute_fails(&r->compute, m->round))
        r->counts->faulty++;
    else
        replica_add_job(r, m->round, k->taken, compute_time(&r->compute, m->round));
}

/* ---- passive replication --------------------------------------------------------------------- */

static void hear_heartbeat(struct replica *r, const struct control_message *m, sim_time now)
{
    if (m->replica > r->index)
        return;
    r->primary = false;
    r->watch_until = now + patience(r);
}

/* Heartbeats that are due, and taking over. Returns the next date. */
static sim_time watch(struct replica *r, sim_time now)
{
    const struct control_params *p = r->loop->params;

    if (p->mode != CONTROL_PASSIVE)
        return SIM_NEVER;
    if (!r->primary && r->index && now >= r->watch_until) {
        r->primary = true;
        r->counts->takeovers++;
        r->beat_at = now;
    }
    if (!r->primary)
        return r->watch_until;
    if (now >= r->beat_at) {
        replica_send_all(r, CONTROL_HEARTBEAT, 0, now, 0, 0);
        r->beat_at += ((now - r->beat_at) / p->heartbeat + 1) * p->heartbeat;
    }
    return r->beat_at;
}

/* ---- being down ------------------------------------------------------------------------------ */

static void forget(struct replica *r, sim_time now)
{
    r->jobs = r->outs = 0;
    r->computing = false;
    for (uint32_t i = 0; i < REPLICA_WINDOW; i++)
        r->round[i].used = false;
    r->primary = r->loop->params->mode == CONTROL_ACTIVE || r->index == 0;
    r->beat_at = now;
    r->watch_until = now + patience(r);
    agreement_init(r);
}

/* Time in [from, until) that counts as measured. */
static sim_time measured(const struct control_loop *l, sim_time from, sim_time until)
{
    from = from > l->from ? from : l->from;
    until = until < l->until ? until : l->until;
    return until > from ? until - from : 0;
}

static void restart(struct replica *r, sim_time now)
{
    r->counts->restarts++;
    r->restarting = now + r->loop->params->detector.restart;
    r->counts->down += measured(r->loop, now, r->restarting);
    compute_restart(&r->compute, r->restarting);
    forget(r, r->restarting);
}

/* Until when it is down; -1: it is up. */
static sim_time down_until(struct replica *r, sim_time now)
{
    uint32_t crashes = r->compute.crashes;
    bool down;

    if (now < r->restarting)
        return r->restarting;
    down = compute_crashed(&r->compute, now);
    if (crashes != r->compute.crashes)
        forget(r, down ? r->compute.changes : now);
    return down ? r->compute.changes : -1;
}

void replica_close(struct replica *r, sim_time now)
{
    if (now >= r->restarting)
        compute_crashed(&r->compute, now);
    r->counts->down += r->compute.down_time;
    r->compute.down_time = 0;
}

/* ---- the reactor ----------------------------------------------------------------------------- */

void replica_message(struct replica *r, const struct control_message *m, sim_time now)
{
    if (m->kind == CONTROL_RESTART) { /* whatever watches it restarts it even if it hangs */
        restart(r, now);
        return;
    }
    if (down_until(r, now) >= 0)
        return;
    if (m->kind == CONTROL_HEARTBEAT)
        hear_heartbeat(r, m, now);
    else if (r->loop->params->agreement.on)
        agreement_message(r, m, now);
    else if (m->kind == CONTROL_MEASUREMENT)
        take_measurement(r, m);
}

struct replica_act replica_next(struct replica *r, sim_time now)
{
    sim_time down = down_until(r, now), next;
    struct replica_act act;

    if (down >= 0)
        return (struct replica_act){.kind = REPLICA_WAIT, .time = down};
    if (r->computing)
        finish_job(r);
    next = watch(r, now);
    if (r->loop->params->agreement.on) {
        sim_time due = agreement_next(r, now);

        next = due < next ? due : next;
    }
    if (r->outs) {
        act = r->out[r->out_first];
        r->out_first = (r->out_first + 1) % REPLICA_OUT;
        r->outs--;
        return act;
    }
    if (r->jobs)
        return begin_job(r);
    return (struct replica_act){.kind = REPLICA_WAIT, .time = next};
}
