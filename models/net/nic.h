/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The physical NIC of a Xen host, and its driver.
 *
 * A NIC has functions: the physical one, which dom0 drives, and one for each guest that is given a
 * part of the NIC (passthrough.h). A function has rx queues, each with a ring, an interrupt (an
 * event channel to one vCPU of the function's owner) and a NAPI poll in that vCPU's softirq:
 *
 *   packet in the ring -> interrupt, unless polling or held back by moderation -> poll: up to
 *   `budget` packets, costs below -> the next layer (bridge, or a stack); again while the ring is
 *   not empty; then interrupts are on again.
 *
 * A packet larger than a frame stands for the frames that the sender's NIC cut it into (TSO) and
 * that the driver puts together again (GRO): they take a place and a cost each.
 *
 * Packets of a flow go to one queue (hash of source and destination). A poll takes what is in the
 * ring when it begins, hands it on when it is done, and the ring's places are free from then on.
 * Line rate and the waiting before the line are the machine's (sim/wire.h); the tx ring holds what
 * has not left yet. Packets for other functions of the same NIC take no line: its switch passes
 * them on at once.
 *
 * Cleaning up after a packet that was sent is part of tx_packet, unless the packet keeps memory
 * that somebody waits for (a loan: pages that netback has mapped). Then the NIC raises the
 * interrupt of the physical function's first queue when the packet has left, moderated as always,
 * and the poll gives back what has been sent by then (as e1000e does, whose vector is for both
 * directions).
 */
#ifndef HVSIM_NET_NIC_H
#define HVSIM_NET_NIC_H

#include "models/guest/guest.h"
#include "models/net/packet.h"

enum nic_moderation {
    MODERATION_NONE,    /* an interrupt for each packet that finds interrupts on */
    MODERATION_FIXED,   /* at least `interval` between two interrupts of a queue */
    MODERATION_ADAPTIVE /* the same, but the interval follows the load, from interval_min */
};

struct nic_params {
    int64_t queues;                /* of the physical function */
    int64_t rx_ring, tx_ring;      /* descriptors: frames received, packets sent */
    int64_t budget;                /* frames of one poll */
    int moderation;                /* enum nic_moderation */
    sim_time interval;             /* fixed moderation; the longest of adaptive moderation */
    sim_time interval_min;         /* the shortest of adaptive moderation */
    sim_time interrupt, poll;      /* cost of an interrupt; of a poll, however many packets */
    sim_time rx_packet, tx_packet; /* driver's cost per frame received, per packet sent */
    int64_t queue_length;          /* packets that wait for the tx ring */
};
extern const struct param_table nic_table;

/* What a packet keeps until it is sent; 0 places: nothing. */
struct nic_loan {
    void *lender;
    uint32_t places;
};

struct nic_lent {
    sim_time leaves; /* date at which the packet has been sent */
    struct nic_loan loan;
};

/* What the packets of a poll go to. */
struct net_upper {
    void *owner;
    /* What the layers above will need for these packets, linked by next. */
    sim_time (*cost)(void *owner, const struct packet *first, uint32_t count);
    void (*input)(void *owner, struct packet *p, struct guest_vcpu *gv, sim_time now);
    /* Of the physical function; NULL: packets keep nothing. The packet was sent or dropped. */
    struct nic_loan (*loan)(void *owner, const struct packet *p);
    void (*repay)(struct nic_loan loan, sim_time now);
};

struct nic_counts {
    uint64_t received, interrupts, polls;
    uint64_t dropped_rx; /* the ring was full, or its owner is not there */
    uint64_t dropped_tx; /* ring and queue before it were full */
    uint64_t sent;
};

struct nic_queue {
    struct nic_function *function;
    struct guest_vcpu *gv;
    struct evtchn irq;
    struct work poll;
    struct timer moderation; /* armed: an interrupt is held back */
    struct packet_list ring;
    uint32_t frames;   /* in the ring */
    sim_time raised;   /* date of the last interrupt */
    sim_time interval; /* until the next, at least */
    sim_time began;    /* date of the poll under way */
    uint32_t batch;    /* its packets */
    uint32_t burst;    /* frames since the last interrupt (adaptive) */
    bool polling;      /* interrupts are off */
    bool again;        /* the poll continues another */
};

struct nic_function {
    struct nic *nic;
    struct net_upper upper;
    struct nic_queue *queue;
    uint32_t queues;
    struct nic_counts counts;
    struct nic_function *next;
};

enum { ENDPOINTS = 256 }; /* on a host: dom0 and 255 guests */

struct nic {
    struct machine *machine;
    struct nic_params params;
    struct nic_function *functions;              /* all; the physical one is the last */
    struct nic_function *physical;               /* gets what no other function does */
    struct nic_function *by_endpoint[ENDPOINTS]; /* NULL: the physical one */
    /* Transmission: a ring of the dates at which the last tx_ring packets leave; a queue behind. */
    sim_time *leaves;
    uint32_t next_leave;
    struct packet_list waiting;
    struct timer room;
    /* A ring of loans, at most tx_ring, in the order in which their packets leave. */
    struct nic_lent *lent;
    uint32_t lent_first, lent_count;
    struct timer clean; /* armed: the first of them has not left yet */
};

/* A NIC of that machine; the physical function's interrupts go to vCPUs irq_vcpu, irq_vcpu + 1, ...
 * (modulo) of `owner`. params is copied. */
struct nic *nic_new(struct machine *m, const struct nic_params *params, struct guest *owner,
                    uint32_t irq_vcpu, const struct net_upper *upper);
void nic_free(struct nic *n);

/* A further function, with one queue, for an endpoint. */
struct nic_function *nic_add_function(struct nic *n, uint32_t endpoint, struct guest *owner,
                                      uint32_t irq_vcpu, const struct net_upper *upper);

/* A packet has come in from the wire (machine_ops.arrival of the host's machine). */
void nic_receive(struct nic *n, struct packet *p, sim_time now);

/* Send p (its cost, params.tx_packet, is the caller's to pay); dropped and counted when full. */
void nic_transmit(struct nic_function *f, struct packet *p, sim_time now);

/* Packets held in rings and queues. */
uint64_t nic_held(const struct nic *n);

#endif
