/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A client that is a program of a domain, dom0 usually, as in the recorded captures: it sends
 * requests to servers of the same host through the bridge and notes how long each reply takes, from
 * just before the system call that sends to the return of the one that receives. Unlike a client
 * machine (client.h) it competes for its vCPU: what it waits for that vCPU before it sends is not
 * in its round trips.
 */
#ifndef HVSIM_WORKLOADS_PROBER_H
#define HVSIM_WORKLOADS_PROBER_H

#include "models/guest/guest.h"
#include "sim/random.h"

struct stack;

enum prober_loop {
    PROBER_INTERVAL, /* closed: every `period`, or at once when late */
    PROBER_CLOSED,   /* thinks for an exponential time of mean `period` after each reply */
    PROBER_OPEN      /* exponential gaps of mean `period`, whatever became of the ones before */
};

struct prober_params {
    enum prober_loop loop;
    sim_time period;
    sim_time start;    /* date of the first request at the earliest */
    sim_time until;    /* no new requests from here on */
    uint64_t requests; /* nor after so many; 0: any number */
    sim_time timeout;  /* of a closed loop: then the reply is given up */
    sim_time demand;   /* CPU time that a request asks of the server */
    uint32_t bytes;    /* of requests and replies on the wire */
    uint32_t endpoint; /* the server's */
    uint16_t port;
};

struct prober_row {
    sim_time sent, delay; /* delay -1: no reply */
};

struct prober {
    struct prober_params params;
    struct prober_row *row;
    size_t rows, room;
    struct rng rng;
    struct socket *socket;
    struct stack *stack;
    struct packet *received;
    sim_time next; /* date of the next request */
    enum { PROBER_IDLE, PROBER_SENDING, PROBER_RECEIVING } doing;
    bool awaits; /* closed loops: a reply is due */
};

/* Start it on a vCPU of a domain with that stack, on that local port. The caller frees, after the
 * run. entity: key of its random stream. */
struct prober *prober_start(struct guest_vcpu *gv, struct stack *stack, uint16_t port,
                            const struct prober_params *params, uint64_t seed, uint64_t replication,
                            const char *entity);
void prober_free(struct prober *p);

#endif
