/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A replicated control loop: what all who take part in it know.
 *
 *     sensors -> g replicas of a controller -> masker -> actuator -> plant
 *
 * Every `period` the sensors take a measurement and send it to all replicas; each computes a
 * setpoint and sends it to the actuator, whose masker lets pass the first valid one. Sensors,
 * masker and actuator are one process agent (agent.h), on a machine of its own or a program in a
 * domain; a replica (replica.h) is on a machine of its own (node.h) or a program in a domain
 * (workloads/controller.h).
 *
 * Sources: facts about Axo (IECON 2016), intentionality clocks (ICCPS 2018), Quarts (ETFA 2017),
 * iPRP (WFCS 2015) as far as their abstracts and a third party's simulation tell; see
 * docs/models/control.md.
 */
#ifndef HVSIM_CONTROL_LOOP_H
#define HVSIM_CONTROL_LOOP_H

#include "models/control/compute.h"
#include "models/control/message.h"

enum {
    CONTROL_REPLICAS = 16, /* at most */
    CONTROL_SENSORS = 64,
    CONTROL_PATHS = 4,
    CONTROL_AGENT = 255, /* in the place of a replica's number */
    CONTROL_AGENT_PORT = 5100,
};

enum control_mode {
    CONTROL_ACTIVE, /* all compute, the first valid setpoint counts */
    CONTROL_PASSIVE /* one computes; it is replaced when its heartbeats stay away */
};

enum control_order { CONTROL_FIXED, CONTROL_ROTATING };

enum control_accept {
    CONTROL_VALID, /* a setpoint within its validity, and newer than the last one */
    CONTROL_LATEST /* intentional: caused by the latest measurement, besides */
};

/* A way for messages besides what the simulated network does to them. */
struct control_path {
    int64_t loss;              /* chance for each message, 1e-9 */
    struct distribution delay; /* ns */
};

struct sensor_params {
    int64_t count;
    struct distribution jitter; /* of the date of sending, ns */
    int64_t loss;               /* chance that a measurement is not taken, for all replicas, 1e-9 */
};

struct agreement_params {
    bool on;
    sim_time receive, collect, vote; /* lengths of the phases */
};

struct detector_params {
    int64_t misses;   /* rounds in a row without a valid setpoint of a replica; 0: no detector */
    sim_time restart; /* time that a restart takes */
};

struct control_params {
    sim_time period;
    sim_time horizon; /* validity of a setpoint, from the sending of its measurement */
    int64_t give_up;  /* periods after which a setpoint counts as lost */
    int order, mode, accept;
    int64_t votes;      /* replicas that must have sent a setpoint before it counts */
    int64_t bytes;      /* of a message on the wire */
    sim_time heartbeat; /* passive: between two of them */
    int64_t missed;     /* passive: heartbeats missed before the next in line takes over */
    struct sensor_params sensors;
    struct agreement_params agreement;
    struct detector_params detector;
    const struct control_path *path; /* none: the network as it is */
    uint32_t paths;
};

extern const struct param_table control_path_table, sensor_table, agreement_table, detector_table;

/* Where someone receives. */
struct control_end {
    struct machine *machine;
    uint32_t address;
};

struct control_loop {
    const struct control_params *params; /* kept by reference */
    const char *name;                    /* key of random streams */
    uint64_t seed, replication;
    sim_time start;       /* date of round 0 */
    sim_time from, until; /* what is measured */
    uint32_t replicas;
    struct control_end agent, replica[CONTROL_REPLICAS];
};

/* The date at which round k's measurement is due. */
static inline sim_time control_date(const struct control_loop *l, uint64_t round)
{
    return l->start + (sim_time)round * l->params->period;
}

/* A packet for one of the loop's ends, not yet sent; a source port is the sender's to set. */
static inline struct packet *control_packet(const struct control_loop *l, struct machine *from,
                                            uint32_t to, const struct control_message *m)
{
    const struct control_end *end = to == CONTROL_AGENT ? &l->agent : &l->replica[to];
    struct packet *p = packet_new(from, end->machine);

    p->a = end->address;
    p->bytes = (uint32_t)l->params->bytes;
    control_write(p, m);
    return p;
}

#endif
