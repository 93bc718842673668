/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/request_server.h"

#include "models/net/socket.h"
#include "sim/error.h"

struct guest_op request_server_next(struct thread *t, sim_time now)
{
    struct request_server *s = t->state;
    struct packet *p = s->serving;
    uint32_t reply;

    if (p) {
        s->served++;
        socket_reply(s->socket, t, p, (uint32_t)p->value[VALUE_REPLY], now);
    }
    p = s->serving = socket_receive(s->socket, t, now);
    if (!p)
        return socket_wait(s->socket, t);
    reply = (uint32_t)p->value[VALUE_REPLY];
    return (struct guest_op){OP_COMPUTE, socket_receive_cost(s->socket, p) + s->overhead +
                                             p->value[VALUE_DEMAND] +
                                             socket_send_cost(s->socket, reply)};
}

struct thread *request_server_start(const struct program *program, const void *params,
                                    const struct program_site *site, uint16_t port,
                                    uint32_t threads, enum server_queue queue, sim_time overhead)
{
    struct socket *socket, *sub;
    struct thread *first = NULL;

    BUG_ON(!site->stack);
    socket = socket_open(site->stack, port, site->connections);
    sub = queue == QUEUE_PER_THREAD ? socket_split(socket, threads) : NULL;
    for (uint32_t i = 0; i < threads; i++) {
        struct thread *t = guest_add_thread(site_vcpu(site, i), program, params, site->entity,
                                            site->class, site->priority);
        struct request_server *s = t->state;

        s->socket = sub ? &sub[i] : socket;
        s->overhead = overhead;
        socket_attach(s->socket, t);
        if (first)
            thread_join(first, t);
        else
            first = t;
    }
    return first;
}

struct program_counts request_server_counts(const struct thread *first)
{
    struct program_counts c = {0};

    for (const struct thread *t = first; t; t = t->sibling)
        c.served += ((const struct request_server *)t->state)->served;
    return c;
}
