/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A guest's network stack and its sockets: what programs use.
 *
 * Incoming: a device's poll hands packets to the stack (cost per packet; with GRO per run of
 * packets of one flow), which puts them on the queue of the socket of their port and wakes a thread
 * that waits there. Outgoing: socket_send hands a packet to the device.
 *
 * A program (models/guest) pays for its system calls within its own computing:
 *
 *     struct packet *p = socket_receive(s, now);
 *     if (!p)
 *         return socket_wait(s, t);                         (OP_WAIT; asked again when woken)
 *     return COMPUTE(socket_receive_cost(s, p) + work + socket_send_cost(s, bytes));
 *     ... and when that is done:
 *     net_turn(p); p->kind = PACKET_REPLY; p->bytes = bytes; socket_send(s, p, now);
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
    sim_time kibibyte;  /* copying between kernel and program, per KiB */
    bool gro;
    int64_t queue; /* bytes on a socket's queue */
};
extern const struct param_table stack_table;

struct stack;

/* A device that a stack sends through. */
struct netdev {
    void (*send)(struct netdev *d, struct packet *p, struct guest_vcpu *gv, sim_time now);
    sim_time (*send_cost)(const struct netdev *d, uint32_t bytes);
};

struct socket_counts {
    uint64_t received, sent, dropped; /* dropped: the queue was full */
};

struct socket {
    struct stack *stack;
    struct packet_list queue;
    struct thread **waiting; /* threads in socket_wait, last in first out (as Linux's accept and
                                epoll do with exclusive waiters; assumed for recv) */
    uint32_t waiters, threads, waiting_capacity;
    struct guest_vcpu *gv; /* whose waiting counts for queued packets: of its first thread */
    uint16_t port;
    struct socket_counts counts;
    /* Sub-sockets by connection (thread per connection); NULL without. */
    struct socket *sub;
    uint32_t subs;
    struct socket *next;
};

struct stack {
    struct guest *guest;
    struct netdev *device;
    struct machine *machine;
    uint32_t endpoint; /* its address on this machine */
    struct stack_params params;
    struct socket *sockets;
    struct socket *by_port[64]; /* hash by port: first of a chain by `next` */
    uint64_t unreachable;       /* packets to ports without socket, dropped */
};

void stack_init(struct stack *st, struct guest *g, struct machine *m, uint32_t endpoint,
                struct netdev *device, const struct stack_params *params);
void stack_release(struct stack *st); /* frees its sockets and what is on them */

/* For devices: an upper layer of nic.h. */
sim_time stack_cost(void *stack, const struct packet *first, uint32_t count);
void stack_input(void *stack, struct packet *p, uint32_t more, struct guest_vcpu *gv, sim_time now);

/* A socket on a port; a port may be opened once. */
struct socket *socket_open(struct stack *st, uint16_t port);

/* One sub-socket for each of n connections: packets go to the sub-socket VALUE_SLOT modulo n. */
void socket_split(struct socket *s, uint32_t n);

/* The thread will receive from this socket (a sub-socket, if it is split). */
void socket_attach(struct socket *s, struct thread *t);

struct packet *socket_receive(struct socket *s, sim_time now); /* NULL: nothing there */
struct guest_op socket_wait(struct socket *s, struct thread *t);

/* Send through the stack's device, from a program on thread t. The packet's source is p->b. */
void socket_send(struct socket *s, struct thread *t, struct packet *p, sim_time now);

sim_time socket_receive_cost(const struct socket *s, const struct packet *p);
sim_time socket_send_cost(const struct socket *s, uint32_t bytes);

uint64_t stack_held(const struct stack *st); /* packets on sockets */

#endif
