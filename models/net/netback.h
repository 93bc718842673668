/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Xen's split network driver: netback in dom0 and netfront in the guest, joined by two shared rings
 * and two event channels. As in Linux:
 *
 * To the guest: the bridge puts packets on the vif's queue (bounded); a kernel thread of dom0, one
 * per queue, scheduled by dom0 like any other, copies them into pages that the guest granted
 * (cost per packet and per page; up to `rx_batch` pages at a time) and sends the event, unless
 * netfront has not asked for one because it is polling or has not answered the last one. This event
 * is the network notification, the only one that TerrierTail marks.
 *
 * From the guest: netfront puts packets on the tx ring and sends an event unless netback is
 * polling; netback's NAPI poll in dom0's softirq grants, copies, and forwards them through the
 * bridge, and answers; the answer's event, an ordinary one, has netfront free the packets.
 *
 * Ring places: a packet takes one for each page. The thread waits while the rx ring is full, and
 * the vif's queue fills; netfront's queue fills while the tx ring is full.
 */
#ifndef HVSIM_NET_NETBACK_H
#define HVSIM_NET_NETBACK_H

#include "models/net/bridge.h"

struct netback_params {
    int64_t queue;      /* packets that may wait for the kernel thread */
    int64_t rx_batch;   /* pages copied by one hypercall */
    sim_time rx_packet; /* thread: per packet */
    sim_time rx_page;   /* thread: grant copy of a page */
    sim_time rx_flush;  /* thread: hypercall and bookkeeping of a batch */
    sim_time tx_poll;   /* softirq: per poll */
    sim_time tx_packet; /* softirq: per packet, with copying of headers and the answer */
    sim_time tx_page;   /* softirq: mapping or copying a page */
    sim_time notify;    /* event-channel hypercall */
    int64_t budget;     /* packets of one tx poll */
};
extern const struct param_table netback_table;

struct netfront_params {
    int64_t rx_ring, tx_ring; /* places */
    int64_t budget;           /* packets of one poll */
    int64_t queue;            /* packets that may wait for the tx ring (txqueuelen) */
    sim_time poll;            /* softirq: per poll */
    sim_time rx_packet;       /* softirq: per packet, with its ring place and refill */
    sim_time rx_page;         /* softirq: per further page */
    sim_time tx_packet;       /* in the sender's context: grant, ring */
    sim_time tx_page;         /* per further page */
    sim_time tx_done;         /* interrupt: per answered packet */
    sim_time notify;          /* event-channel hypercall */
};
extern const struct param_table netfront_table;

struct vif_counts {
    uint64_t to_guest, from_guest;       /* packets */
    uint64_t dropped_rx, dropped_tx;     /* vif's queue full; netfront's queue full */
    uint64_t notifications, completions; /* events to the guest: packets; answers */
    uint64_t tx_events, ring_waits;      /* events to dom0: packets; room in the rx ring */
};

struct vif {
    struct bridge *bridge;
    struct guest *guest;
    struct guest_vcpu *back, *front; /* whose interrupts and polls they are */
    struct netback_params back_params;
    struct netfront_params front_params;
    uint32_t endpoint;
    struct vif_counts counts;

    /* To the guest. */
    struct packet_list queue; /* before the kernel thread */
    struct thread *thread;
    uint32_t copying;         /* packets of the batch under way, still on `queue` */
    struct packet_list rx;    /* in the ring, for netfront */
    uint32_t rx_used;         /* places */
    bool rx_wanted;           /* netfront asked for an event */
    bool rx_starved;          /* netback waits for room */
    struct evtchn rx_event;   /* to the guest */
    struct evtchn room_event; /* to dom0 */
    struct work front_poll;
    uint32_t front_batch;

    /* From the guest. */
    struct packet_list waiting; /* before the ring */
    struct packet_list tx;      /* in the ring, for netback */
    uint32_t tx_used;           /* places, until answered and freed */
    uint32_t answered;          /* places answered, not yet freed by netfront */
    bool tx_wanted, answer_wanted;
    struct evtchn tx_event;     /* to dom0 */
    struct evtchn answer_event; /* to the guest */
    struct work back_poll;
    uint32_t back_batch;
    sim_time back_began;

    struct netdev device; /* of the guest's stack */
    struct stack stack;   /* the guest's */
};

/* Plug a guest into the bridge as the endpoint. Netback's interrupts, polls and thread are on
 * dom0's vCPU back_vcpu, netfront's on the guest's vCPU front_vcpu. */
struct vif *vif_new(struct bridge *b, uint32_t endpoint, struct guest *guest,
                    const struct netback_params *back, const struct netfront_params *front,
                    const struct stack_params *stack, struct guest_vcpu *back_vcpu,
                    struct guest_vcpu *front_vcpu);
void vif_free(struct vif *v);

/* From the bridge: a packet for the guest. */
void vif_queue(struct vif *v, struct packet *p, sim_time now);

uint64_t vif_held(const struct vif *v); /* packets in queues, rings and sockets */

#endif
