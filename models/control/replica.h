/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One replica of a controller, wherever it runs: a machine that is told of messages and asked what
 * to do next. Whoever hosts it (a node's event handlers, a guest's thread) spends the time and
 * sends the packets.
 *
 *     replica_message(r, &m, now);                          a message has come in
 *     switch ((act = replica_next(r, now)).kind) {          called until it says WAIT
 *     case REPLICA_COMPUTE: spend act.time, then call replica_next again
 *     case REPLICA_SEND:    send act.message to act.to, then call replica_next again
 *     case REPLICA_WAIT:    for messages, until the date act.time at the latest
 *     }
 *
 * Active replication, and a passive one's primary: the round is computed once the measurements of
 * all sensors are there; rounds one after the other, in the order in which they are complete.
 *
 * Passive replication: the primary sends heartbeats. A backup that has heard none from any replica
 * before it in line for (missed + its distance from the first) heartbeats takes over; a heartbeat
 * from one before it makes it a backup again. (Fail-back; two may be primaries for a while, which
 * the masker's dropping of duplicates makes harmless.)
 *
 * Agreement: see agreement.c.
 */
#ifndef HVSIM_CONTROL_REPLICA_H
#define HVSIM_CONTROL_REPLICA_H

#include "models/control/loop.h"

enum replica_act_kind { REPLICA_WAIT, REPLICA_COMPUTE, REPLICA_SEND };

struct replica_act {
    enum replica_act_kind kind;
    sim_time time;
    uint32_t to; /* a replica, or CONTROL_AGENT */
    struct control_message message;
};

enum {
    REPLICA_WINDOW = 8, /* rounds whose measurements are being gathered */
    REPLICA_JOBS = 256, /* rounds that wait to be computed; the oldest is dropped then */
    REPLICA_OUT = 64    /* messages that wait to be sent */
};

struct replica_round {
    uint64_t number, got; /* measurements, by sensor */
    sim_time taken;
    bool used, started;
};

struct replica_job {
    uint64_t round;
    sim_time taken, time;
};

struct replica_counts {
    uint64_t computed, dropped, faulty, restarts, takeovers;
    sim_time down; /* measured time for which it was crashed or being restarted */
};

/* Where it is in agreeing on the measurements of a round. */
enum agreement_phase { AGREE_IDLE, AGREE_RECEIVE, AGREE_COLLECT, AGREE_VOTE };

enum { AGREE_INBOX = 128 };

struct agreement_vote {
    bool here;
    int64_t base;
    uint64_t set;
};

struct agreement {
    enum agreement_phase phase;
    uint64_t round;
    sim_time taken, ends; /* of the phase */
    uint64_t got;
    int64_t base; /* the round whose result its state is; -1: the initial one */
    struct agreement_vote vote[CONTROL_REPLICAS];
    struct control_message inbox[AGREE_INBOX]; /* in the order in which they came */
    uint32_t waiting;
    uint64_t agreed, failed; /* rounds */
};

struct replica {
    const struct control_loop *loop;
    uint32_t index;
    struct compute compute;
    uint64_t all; /* set of all sensors */
    struct replica_round round[REPLICA_WINDOW];
    struct replica_job job[REPLICA_JOBS], current;
    uint32_t job_first, jobs;
    bool computing;
    struct replica_act out[REPLICA_OUT];
    uint32_t out_first, outs;
    sim_time restarting; /* until then it is being restarted */
    /* Passive. */
    bool primary;
    sim_time beat_at, watch_until; /* next heartbeat to send; takes over then */
    struct agreement agreement;
    struct replica_counts *counts;
};

/* loop, compute and counts (which go on through reboots) are kept by reference, entity is not.
 * `start`: the date from which it is up. */
void replica_init(struct replica *r, const struct control_loop *loop, uint32_t index,
                  const struct compute_params *compute, struct replica_counts *counts,
                  const char *entity, sim_time start);

/* The run is over, or its host went off. */
void replica_close(struct replica *r, sim_time now);

void replica_message(struct replica *r, const struct control_message *m, sim_time now);
struct replica_act replica_next(struct replica *r, sim_time now);

/* ---- for agreement.c ------------------------------------------------------------------------- */

void replica_send(struct replica *r, uint32_t to, enum control_kind kind, uint64_t round,
                  sim_time taken, uint64_t set, int64_t base);
void replica_send_all(struct replica *r, enum control_kind kind, uint64_t round, sim_time taken,
                      uint64_t set, int64_t base);
void replica_add_job(struct replica *r, uint64_t round, sim_time taken, sim_time time);

void agreement_init(struct replica *r);
void agreement_message(struct replica *r, const struct control_message *m, sim_time now);
/* What is due by now; returns the date of what is next. */
sim_time agreement_next(struct replica *r, sim_time now);

#endif
