/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What sensors, controllers and actuators say to each other, and how it travels in a packet.
 *
 * Every message carries a label: the number of the round whose measurement it is about, and the
 * date at which that was taken. So an actuator knows what a setpoint was caused by
 * (intentionality), and how old it is.
 */
#ifndef HVSIM_CONTROL_MESSAGE_H
#define HVSIM_CONTROL_MESSAGE_H

#include "models/net/packet.h"

enum control_kind {
    CONTROL_MEASUREMENT, /* sensor to replica */
    CONTROL_SETPOINT,    /* replica to actuator */
    CONTROL_HEARTBEAT,   /* primary to backups */
    CONTROL_RESTART,     /* detector to replica */
    CONTROL_QUERY,       /* agreement: asks for the measurements in `set` */
    CONTROL_ANSWER,      /* ... gives them */
    CONTROL_OFFER,       /* ... the sender's state is that after round `base` */
    CONTROL_STATE,       /* ... here it is */
    CONTROL_VOTE,        /* ... for computing with `set` from the state after `base` */
};

struct control_message {
    enum control_kind kind;
    uint8_t replica; /* who it is to, or from (setpoints, and what replicas say to each other) */
    uint8_t sensor;  /* measurements */
    uint64_t round;
    sim_time taken;
    uint64_t set; /* of measurements, by sensor */
    int64_t base;
};

/* The packet's own fields (ends, address, bytes) are the caller's. */
static inline void control_write(struct packet *p, const struct control_message *m)
{
    p->kind = PACKET_REQUEST;
    p->id = m->round;
    p->value[VALUE_DEMAND] = (int64_t)m->kind | m->replica << 8 | m->sensor << 16;
    p->value[VALUE_REPLY] = m->taken;
    p->value[VALUE_SLOT] = (int64_t)m->set;
    p->value[VALUE_LOST] = m->base;
}

static inline struct control_message control_read(const struct packet *p)
{
    int64_t head = p->value[VALUE_DEMAND];

    return (struct control_message){.kind = (enum control_kind)(head & 0xff),
                                    .replica = (uint8_t)(head >> 8),
                                    .sensor = (uint8_t)(head >> 16),
                                    .round = p->id,
                                    .taken = p->value[VALUE_REPLY],
                                    .set = (uint64_t)p->value[VALUE_SLOT],
                                    .base = p->value[VALUE_LOST]};
}

#endif
