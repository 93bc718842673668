/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the models use the fields that sim/wire's packets leave to them: addresses, hops, and the
 * waiting of vCPUs on a packet's behalf.
 *
 * Addresses. Every machine numbers its endpoints: on a Xen host 0 is dom0's own stack and 1, 2, ...
 * are guests in the order in which they were given a network; on a client machine they are its
 * clients. p->a is the destination, p->b the source: endpoint << 16 | port. A client's port is the
 * number of one of its connections. A packet whose `to` is its own machine stays on the bridge.
 *
 * Hops. A request stamps its way, and the reply goes on stamping the same packet (packet_turn).
 * Stamps of hops that are not on its way (no netback under passthrough) stay 0.
 *
 * Waiting. A vCPU waits while it is runnable, or paused, but not running. Along the way the time so
 * lost by the vCPU that had to act next is added up (wait_begin, wait_end), whether it was lost
 * before the vCPU began or because it was preempted in the middle. What remains of a segment is
 * work, of this packet or of others before it.
 */
#ifndef HVSIM_NET_PACKET_H
#define HVSIM_NET_PACKET_H

#include "models/hypervisor/hypervisor.h"
#include "sim/wire.h"

enum packet_kind {
    PACKET_REQUEST, /* answered by a reply */
    PACKET_REPLY,
    PACKET_DATA, /* one-way: bulk streams */
    PACKET_ACK,
};

enum packet_flag {
    PACKET_RECORDED = 1, /* sent within the time that is measured */
    PACKET_AGAIN = 2,    /* a retransmission */
    PACKET_GAP = 4,      /* acknowledgement of a chunk that was not the next one */
    /* The upper byte is the number of the target, of a request to several servers. */
    PACKET_TARGET_SHIFT = 8,
};

/* X(name, what has just happened) */
#define HOP_TABLE(X)                                                                               \
    X(INTENDED, "the client meant to send")                                                        \
    X(SEND, "the client's program sends")                                                          \
    X(WIRE, "handed to the client's NIC")                                                          \
    X(NIC, "complete in the host's NIC")                                                           \
    X(DRIVER, "the poll that takes it has begun (dom0; passthrough: the guest)")                   \
    X(VIF, "on the vif's queue")                                                                   \
    X(NETBACK, "netback's thread has taken it")                                                    \
    X(NOTIFY, "in the guest's ring, event sent unless it was not needed")                          \
    X(NETFRONT, "the guest's poll that takes it has begun")                                        \
    X(SOCKET, "on the socket's queue")                                                             \
    X(START, "a thread has taken it: service begins")                                              \
    X(END, "service is over, the reply is in the guest's tx ring")                                 \
    X(BACK_NETBACK, "dom0's poll that takes the reply has begun")                                  \
    X(BACK_NIC, "handed to the host's NIC")                                                        \
    X(BACK, "complete in the client's NIC")                                                        \
    X(DONE, "the client's program has the reply")

enum hop {
#define X(name, ...) HOP_##name,
    HOP_TABLE(X)
#undef X
        HOPS
};

_Static_assert(HOPS <= PACKET_STAMPS, "a packet has a stamp for each hop");

/* What travels with a request besides: indices of packet->value. */
enum packet_value {
    VALUE_DEMAND,       /* CPU time of its service, ns; drawn at its birth */
    VALUE_REPLY,        /* bytes of the reply on the wire */
    VALUE_SLOT,         /* connection, numbered densely over all clients of the server */
    VALUE_MARK,         /* waiting of the vCPU in charge so far, at the last mark */
    VALUE_NIC_WAIT,     /* in the ring until the interrupt was raised (moderation) */
    VALUE_DOM0_WAIT,    /* dom0's vCPUs, NIC to NOTIFY */
    VALUE_VCPU_WAIT,    /* the guest's vCPUs, NOTIFY to START */
    VALUE_SERVICE_WAIT, /* the guest's vCPU, START to END */
    VALUE_BACK_WAIT,    /* dom0's vCPUs, END to BACK_NIC */
    VALUE_LOST,         /* from the first copy's sending to this one's */
    VALUES
};

_Static_assert(VALUES <= PACKET_VALUES, "a packet has room for each value");

static inline uint32_t net_address(uint32_t endpoint, uint32_t port)
{
    return endpoint << 16 | port;
}

static inline uint32_t address_endpoint(uint32_t address)
{
    return address >> 16;
}

static inline uint32_t address_port(uint32_t address)
{
    return address & 0xffff;
}

/* Exchange source and destination, machines included. */
static inline void net_turn(struct packet *p)
{
    uint32_t a = p->a;

    packet_turn(p);
    p->a = p->b;
    p->b = a;
}

static inline void hop_stamp(struct packet *p, enum hop hop, sim_time now)
{
    p->stamp[hop] = now;
}

/* The same for a hop that has begun at `began`, if the packet was there by then. */
static inline void hop_stamp_began(struct packet *p, enum hop hop, enum hop before, sim_time began)
{
    p->stamp[hop] = began > p->stamp[before] ? began : p->stamp[before];
}

/* Time for which a vCPU wanted a pCPU and had none, since it was created. */
static inline sim_time vcpu_waited(const struct vcpu *v, sim_time now)
{
    sim_time waited = v->runstate_time[RUNSTATE_RUNNABLE] + v->runstate_time[RUNSTATE_OFFLINE];

    if (v->runstate == RUNSTATE_RUNNABLE || v->runstate == RUNSTATE_OFFLINE)
        waited += now - v->runstate_entry;
    return waited;
}

/* From now on the packet depends on v. */
static inline void wait_begin(struct packet *p, const struct vcpu *v, sim_time now)
{
    p->value[VALUE_MARK] = vcpu_waited(v, now);
}

/* Add what v has waited since the last mark to a value, and mark anew. */
static inline void wait_end(struct packet *p, const struct vcpu *v, enum packet_value value,
                            sim_time now)
{
    sim_time waited = vcpu_waited(v, now);

    p->value[value] += waited - p->value[VALUE_MARK];
    p->value[VALUE_MARK] = waited;
}

/* Which of several queues a packet's flow goes to: mixes the bits of its source and destination
 * with the finaliser of MurmurHash3 (A. Appleby, public domain). */
static inline uint32_t packet_flow(const struct packet *p)
{
    uint32_t h = p->a * 0x9e3779b1u ^ p->b ^ p->from->id << 20;

    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

/* Pages that a packet occupies: slots of a ring, units of copying. */
static inline uint32_t packet_pages(const struct packet *p)
{
    return (p->bytes + 4095) / 4096;
}

/* Ethernet frames that it is on the wire: a large packet is cut by the sending NIC (TSO) and put
 * together by the receiver's driver (GRO). */
static inline uint32_t packet_frames(const struct packet *p)
{
    return p->bytes <= 1514 ? 1 : (p->bytes + 1513) / 1514;
}

/* Bytes on the wire of a message of TCP: each frame adds Ethernet's preamble, header, check
 * sequence and gap (38), IPv4 (20) and TCP with time stamps (32). */
enum { FRAME_OVERHEAD = 90, FRAME_PAYLOAD = 1448 };

static inline uint32_t packet_framed(uint32_t payload)
{
    return payload + FRAME_OVERHEAD * (1 + (payload ? (payload - 1) / FRAME_PAYLOAD : 0));
}

/* A queue of packets, linked through packet->next. */
struct packet_list {
    struct packet *first, **last;
    uint32_t count;
    uint32_t bytes;
};

static inline void packets_init(struct packet_list *l)
{
    *l = (struct packet_list){.last = &l->first};
}

static inline void packets_add(struct packet_list *l, struct packet *p)
{
    p->next = NULL;
    *l->last = p;
    l->last = &p->next;
    l->count++;
    l->bytes += p->bytes;
}

/* The first packet, taken off; NULL if there is none. */
static inline struct packet *packets_take(struct packet_list *l)
{
    struct packet *p = l->first;

    if (!p)
        return NULL;
    l->first = p->next;
    if (!l->first)
        l->last = &l->first;
    l->count--;
    l->bytes -= p->bytes;
    return p;
}

static inline void packets_drop(struct packet_list *l)
{
    for (struct packet *p; (p = packets_take(l));)
        packet_free(p);
}

#endif
