/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Xen's split network driver: netback in dom0 (netback.c) and netfront in the guest (netfront.c),
 * joined by two shared rings and event channels. As in Linux:
 *
 * To the guest: the bridge puts packets on the vif's queue (bounded); a kernel thread of dom0,
 * scheduled by dom0 like any other, copies them into pages that the guest granted (cost
 * per packet and per page; up to `rx_batch` pages at a time) and sends the event, unless netfront
 * has not asked for one because it is polling or has not answered the last one. This event is the
 * network notification, the only one that TerrierTail marks.
 *
 * From the guest: netfront puts packets on the tx ring and sends an event unless netback is
 * polling; netback's NAPI poll in dom0's softirq copies or maps them, forwards them through the
 * bridge, and answers; the answer's event, an ordinary one, has netfront free the packets. A packet
 * that leaves the host and is longer than `tx_copy` is mapped, but for its head: it is answered
 * only when the NIC has sent it and a second kernel thread of dom0 has unmapped its pages. What
 * goes to dom0 or another guest is copied on the way and answered at once (Linux:
 * skb_orphan_frags).
 *
 * Ring places: a packet takes one for each page. The thread waits while the rx ring is full, and
 * the vif's queue fills; netfront's queue fills while the tx ring is full.
 *
 * A vif of a guest with several vCPUs has several queues, each with all of this: rings, events, a
 * thread. The packets of a flow go to one of them.
 */
#ifndef HVSIM_NET_NETBACK_H
#define HVSIM_NET_NETBACK_H

#include "models/net/bridge.h"

struct netback_params {
    int64_t queue;      /* bytes that may wait for the kernel thread, and then ... */
    int64_t backlog;    /* ... packets that wait before them (the vif's queueing discipline) */
    int64_t rx_batch;   /* pages copied by one hypercall */
    sim_time rx_packet; /* thread: per packet */
    sim_time rx_page;   /* thread: grant copy of a page */
    sim_time rx_flush;  /* thread: hypercall and bookkeeping of a batch */
    sim_time tx_poll;   /* softirq: per poll */
    sim_time tx_packet; /* softirq: per packet, with copying of headers and the answer */
    sim_time tx_page;   /* softirq: mapping or copying a page */
    sim_time notify;    /* event-channel hypercall */
    int64_t budget;     /* packets of one tx poll */
    int64_t tx_copy;    /* bytes; what is longer is mapped */
    sim_time tx_flush;  /* second thread: hypercall and bookkeeping of a batch */
    sim_time tx_unmap;  /* second thread: per page */
};
extern const struct param_table netback_table;

struct netfront_params {
    int64_t queues;           /* 0: as many as the guest or dom0 has vCPUs, at most 8 */
    int64_t rx_ring, tx_ring; /* places */
    int64_t budget;           /* packets of one poll */
    int64_t queue;            /* packets that may wait for the tx ring (txqueuelen) */
    sim_time interrupt;       /* handling of an event */
    sim_time poll;            /* softirq: per poll */
    sim_time rx_packet;       /* softirq: per packet, with its ring place and refill */
    sim_time rx_page;         /* softirq: per further page */
    sim_time tx_packet;       /* in the sender's context: grant, ring */
    sim_time tx_page;         /* per further page */
    sim_time tx_done;         /* interrupt: per answered place */
    sim_time notify;          /* event-channel hypercall */
};
extern const struct param_table netfront_table;

struct vif_counts {
    uint64_t to_guest, from_guest;   /* packets */
    uint64_t dropped_rx, dropped_tx; /* vif's queue full; netfront's queue full */
    uint64_t notifications;          /* events to the guest: packets received, ... */
    uint64_t completions;            /* ... packets sent */
    uint64_t tx_events, room_events; /* events to dom0: packets; room in the rx ring */
};

struct vif_queue {
    struct vif *vif;
    struct guest_vcpu *back, *front; /* whose interrupts and polls they are */

    /* To the guest. */
    struct packet_list queue; /* before the kernel thread */
    uint32_t backlog;         /* how many of them are beyond the bytes allowed */
    struct thread *thread;
    uint32_t copying;         /* packets of the batch under way, still on `queue` */
    struct packet_list rx;    /* in the ring, for netfront */
    uint32_t rx_used;         /* places */
    bool rx_wanted;           /* netfront has asked for an event */
    bool rx_starved;          /* the thread waits for room */
    struct evtchn rx_event;   /* to the guest */
    struct evtchn room_event; /* to dom0 */
    struct work front_poll;
    uint32_t front_batch;
    sim_time front_began;
    bool front_again;

    /* From the guest. */
    struct packet_list waiting; /* before the ring */
    struct packet_list tx;      /* in the ring, for netback */
    uint32_t tx_used;           /* places, until answered and freed */
    uint32_t answered;          /* places answered, not yet freed */
    struct thread *dealloc;     /* unmaps what was sent: places ... */
    uint32_t sent, unmapping;   /* ... not yet begun; under way */
    bool tx_wanted, answer_wanted;
    struct evtchn tx_event;     /* to dom0 */
    struct evtchn answer_event; /* to the guest */
    struct work back_poll;
    uint32_t back_batch;
    sim_time back_began;
    bool back_again;
};

struct vif {
    struct bridge *bridge;
    struct netback_params back;
    struct netfront_params front;
    uint32_t endpoint, queues;
    struct vif_queue *queue;
    struct vif_counts counts; /* of all queues */
    struct netdev device;     /* of the guest's stack */
    struct stack stack;       /* the guest's */
};

/* Plug a guest into the bridge as an endpoint. Interrupts, polls and threads of queue i are on
 * dom0's vCPU back_vcpu + i and on the guest's vCPU front_vcpu + i, modulo their numbers. params
 * are copied. */
struct vif *vif_new(struct bridge *b, uint32_t endpoint, struct guest *guest,
                    const struct netback_params *back, const struct netfront_params *front,
                    const struct stack_params *stack, uint32_t back_vcpu, uint32_t front_vcpu);
void vif_free(struct vif *v);

/* From the bridge, in gv's softirq: a packet for the guest. */
void vif_queue(struct vif *v, struct packet *p, struct guest_vcpu *gv, sim_time now);

/* From the bridge: the pages that a packet on its way out keeps; and when they are given back. */
struct nic_loan vif_loan(struct vif *v, const struct packet *p);
void vif_repay(struct nic_loan loan, sim_time now);

uint64_t vif_held(const struct vif *v); /* packets in its queues and rings */

/* ---- between the two halves ------------------------------------------------------------------ */

void netfront_init(struct vif_queue *q);
extern const struct netdev netfront_device;

/* The queue that a packet's flow goes to. */
static inline struct vif_queue *vif_queue_of(const struct vif *v, const struct packet *p)
{
    return &v->queue[v->queues > 1 ? packet_flow(p) % v->queues : 0];
}

/* Ring places of a packet, one at least. */
static inline uint32_t ring_places(const struct packet *p)
{
    uint32_t pages = packet_pages(p);

    return pages ? pages : 1;
}

#endif
