/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A guest's network stack and its sockets: what programs use.
 *
 * Incoming: a device's poll hands packets to the stack (cost per packet; with GRO per run of
 * packets of one flow), which puts them on the queue of the socket of their port and wakes a thread
 * that waits there. Outgoing: socket_send hands a packet to the device. Port 0 is the echo of ICMP:
 * requests to it are answered in the softirq, by no program.
 *
 * A program (models/guest) pays for its system calls within its own computing:
 *
 *     struct packet *p = socket_receive(s, t, now);
 *     if (!p)
 *         return socket_wait(s, t);                         (OP_WAIT; asked again when woken)
 *     return COMPUTE(socket_receive_cost(s, p) + work + socket_send_cost(s, p, bytes));
 *     ... and when that is done:
 *     socket_reply(s, t, p, bytes, now);
 *
 * Retransmissions (PACKET_AGAIN) are looked at as a transport would: a request that was received
 * before is dropped, and if it was answered already the answer is sent again, without waking the
 * program. For that the socket remembers the last 64 requests of each connection.
 */
#ifndef HVSIM_NET_SOCKET_H
#define HVSIM_NET_SOCKET_H

#include "models/guest/guest.h"
#include "models/net/packet.h"

struct stack_params {
    sim_time rx_packet; /* softirq: IP, transport, socket look-up, per packet after GRO */
    sim_time rx_merged; /* the same for a packet that GRO merged with the one before */
    sim_time wakeup;    /* waking the thread, part of the softirq */
    sim_time receive;   /* recv system call */
    sim_time send;      /* send system call, transport, IP, queueing discipline */
    sim_time ack;       /* sending an acknowledgement */
    sim_time kibibyte;  /* copying between kernel and program, per KiB */
    bool gro;
    int64_t queue; /* bytes on a socket's queue */
};
extern const struct param_table stack_table;

#define PORT_ECHO 0

struct stack;

/* A device that a stack sends through. */
struct netdev {
    void (*send)(struct netdev *d, struct packet *p, struct guest_vcpu *gv, sim_time now);
    /* What that costs the sender for a packet of so many bytes from endpoint to p's sender. */
    sim_time (*send_cost)(const struct netdev *d, uint32_t bytes);
};

struct socket_counts {
    uint64_t received, sent;
    uint64_t dropped;    /* the queue was full */
    uint64_t duplicates; /* retransmissions of what was received before */
};

/* What is remembered of a connection: bit i of the masks is request number last - i. */
struct socket_slot {
    uint64_t last, seen, answered;
};

struct socket {
    struct stack *stack;
    struct packet_list queue;
    struct thread **waiting; /* a ring: the thread that has waited longest is woken first, as with
                                Linux's exclusive waits */
    uint32_t wait_first, wait_count, threads;
    struct guest_vcpu *gv; /* whose waiting counts for queued packets: its first thread's */
    uint16_t port;
    uint32_t in_hand; /* packets that programs hold */
    struct socket_counts counts;
    /* A protocol's own look at each packet, in the softirq; true: it has taken the packet. */
    bool (*input)(struct socket *s, struct packet *p, struct guest_vcpu *gv, sim_time now);
    void *input_data;
    int64_t limit;         /* bytes on its queue; 0: the stack's */
    struct socket *parent; /* of a sub-socket */
    struct socket *sub;    /* by connection (thread per connection); NULL without */
    uint32_t subs;
    struct socket_slot *slot; /* NULL: duplicates are not looked for */
    uint32_t slots;
    struct socket *next; /* in its chain of by_port */
};

enum { PORT_HASH = 16 };

struct stack {
    struct guest *guest;
    struct netdev *device;
    struct machine *machine;
    uint32_t endpoint; /* its address on this machine */
    struct stack_params params;
    struct socket *by_port[PORT_HASH];
    uint64_t echoes;
    uint64_t unreachable; /* packets to ports without socket, dropped */
};

/* params is copied. */
void stack_init(struct stack *st, struct guest *g, struct machine *m, uint32_t endpoint,
                struct netdev *device, const struct stack_params *params);
void stack_release(struct stack *st); /* frees its sockets and what is on them */

/* For devices: the stack as the upper layer of a poll (see nic.h). */
sim_time stack_cost(void *stack, const struct packet *first, uint32_t count);
void stack_input(void *stack, struct packet *p, struct guest_vcpu *gv, sim_time now);

/* A socket on a port, which may be opened once. `slots`: connections it will have (their packets
 * carry VALUE_SLOT below it); 0: unknown, duplicates are served again. */
struct socket *socket_open(struct stack *st, uint16_t port, uint32_t slots);

/* One sub-socket for each of n connections: packets go to the sub-socket VALUE_SLOT modulo n.
 * Returns the array. */
struct socket *socket_split(struct socket *s, uint32_t n);

/* The thread will receive from this socket (a sub-socket, if it is split). */
void socket_attach(struct socket *s, struct thread *t);

struct packet *socket_receive(struct socket *s, struct thread *t, sim_time now); /* or NULL */
struct guest_op socket_wait(struct socket *s, struct thread *t);
/* The same until a date at the latest. */
struct guest_op socket_wait_until(struct socket *s, struct thread *t, sim_time date);

/* Answer a request with the packet that brought it; it is the device's from then on. */
void socket_reply(struct socket *s, struct thread *t, struct packet *p, uint32_t bytes,
                  sim_time now);

/* Send a packet of the program's own: p->from, to, a and bytes are set; the source port is s's. */
void socket_send(struct socket *s, struct thread *t, struct packet *p, sim_time now);

/* The program has no further use for a packet. */
void socket_discard(struct socket *s, struct packet *p);

sim_time socket_receive_cost(const struct socket *s, const struct packet *p);
sim_time socket_send_cost(const struct socket *s, uint32_t bytes);

struct socket_counts stack_counts(const struct stack *st); /* of all its sockets */
uint64_t stack_held(const struct stack *st); /* packets on its sockets and in programs' hands */

#endif
