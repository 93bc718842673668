/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/rpc.h"

#include "models/net/socket.h"
#include "sim/error.h"
#include "workloads/program_start.h"

struct rpc {
    struct rpc_params params;
    struct socket *socket;
    struct packet *serving; /* NULL: none */
    uint64_t served;
};

static void rpc_init(struct thread *t, const void *params)
{
    struct rpc *s = t->state;

    s->params = *(const struct rpc_params *)params;
}

static struct guest_op rpc_next(struct thread *t, sim_time now)
{
    struct rpc *s = t->state;
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
    return (struct guest_op){OP_COMPUTE, socket_receive_cost(s->socket, p) + s->params.overhead +
                                             p->value[VALUE_DEMAND] +
                                             socket_send_cost(s->socket, reply)};
}

static struct thread *add_worker(const struct rpc_params *params, const struct program_site *site,
                                 uint32_t i, struct socket *socket)
{
    struct guest_vcpu *gv = site_vcpu(site, i);
    struct thread *t =
        guest_add_thread(gv, &program_rpc, params, site->entity, site->class, site->priority);

    ((struct rpc *)t->state)->socket = socket;
    socket_attach(socket, t);
    return t;
}

struct thread *rpc_start(const void *params, const struct program_site *site)
{
    const struct rpc_params *c = params;
    uint32_t connections = site->connections ? site->connections : 1;
    uint32_t threads = c->threads ? (uint32_t)c->threads : connections;
    struct socket *socket, *sub = NULL;
    struct thread *first = NULL;

    BUG_ON(!site->stack);
    socket = socket_open(site->stack, (uint16_t)c->port, site->connections);
    if (!c->threads)
        sub = socket_split(socket, connections);
    for (uint32_t i = 0; i < threads; i++) {
        struct thread *t = add_worker(c, site, i, sub ? &sub[i] : socket);

        if (first)
            thread_join(first, t);
        else
            first = t;
    }
    return first;
}

struct program_counts rpc_counts(const struct thread *first)
{
    struct program_counts c = {0};

    for (const struct thread *t = first; t; t = t->sibling)
        c.served += ((const struct rpc *)t->state)->served;
    return c;
}

static const struct param rpc_rows[] = {
    {PARAM("port", INTEGER, struct rpc_params, port), .def = "9090", .min = "1", .max = "65535",
     .meaning = "Port it listens on.", .source = "Apache Thrift's tutorial",
     .status = STATUS_CITED},
    {PARAM("threads", INTEGER, struct rpc_params, threads), .def = "per_connection", .min = "1",
     .max = "4096", .word = "per_connection", .word_value = 0,
     .meaning = "Threads that serve: one for each connection, or so many on one queue.",
     .source = "TerrierTail's RPC server: Thrift's TThreadedServer", .status = STATUS_CITED},
    {PARAM("overhead", DURATION, struct rpc_params, overhead), .def = "0", .max = "1s",
     .meaning = "CPU time of each request on top of what it demands.", .status = STATUS_ASSUMED},
};
static const struct param_table rpc_table =
    PARAM_TABLE("rpc", struct rpc_params, rpc_rows,
                .meaning = "Serves requests that bring their own demand for CPU time.");

const struct program program_rpc = {.name = "rpc",
                                    .meaning = "Receives a request, computes, replies.",
                                    .params = &rpc_table,
                                    .state_size = sizeof(struct rpc),
                                    .init = rpc_init,
                                    .next = rpc_next};
