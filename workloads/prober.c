/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/prober.h"

#include "models/net/socket.h"
#include "sim/error.h"

#include <stdlib.h>

static void note(struct prober *p, sim_time sent)
{
    if (p->rows == p->room) {
        p->room = p->room ? 2 * p->room : 1024;
        p->row = xrealloc(p->row, p->room * sizeof *p->row);
    }
    p->row[p->rows++] = (struct prober_row){.sent = sent, .delay = -1};
}

static sim_time gap(struct prober *p)
{
    return (sim_time)rng_exponential(&p->rng, (double)p->params.period);
}

/* A request or its answer is dealt with: when is the next one due? */
static void plan(struct prober *p, sim_time now)
{
    switch (p->params.loop) {
    case PROBER_INTERVAL:
        p->next += p->params.period;
        if (p->next < now)
            p->next = now;
        break;
    case PROBER_CLOSED:
        p->next = now + gap(p);
        break;
    case PROBER_OPEN:
        p->next += gap(p);
        break;
    }
}

static void send_one(struct prober *p, struct thread *t, sim_time now)
{
    const struct prober_params *c = &p->params;
    struct packet *q = packet_new(p->stack->machine, p->stack->machine);

    q->kind = PACKET_REQUEST;
    q->id = p->rows;
    q->a = net_address(c->endpoint, c->port);
    q->bytes = c->bytes;
    q->value[VALUE_DEMAND] = c->demand;
    q->value[VALUE_REPLY] = c->bytes;
    hop_stamp(q, HOP_SEND, p->row[p->rows - 1].sent);
    socket_send(p->socket, t, q, now);
    if (c->loop == PROBER_OPEN)
        plan(p, now);
    else
        p->awaits = true;
}

static void receive_one(struct prober *p, sim_time now)
{
    size_t number = (size_t)p->received->id - 1;

    socket_discard(p->socket, p->received);
    if (number >= p->rows || p->row[number].delay >= 0)
        return;
    p->row[number].delay = now - p->row[number].sent;
    if (p->params.loop == PROBER_OPEN || number + 1 < p->rows)
        return;
    p->awaits = false;
    plan(p, now);
}

static bool over(const struct prober *p)
{
    return p->next >= p->params.until || (p->params.requests && p->rows >= p->params.requests);
}

static struct guest_op prober_next(struct thread *t, sim_time now)
{
    struct prober *p = t->user_data;

    if (p->doing == PROBER_SENDING)
        send_one(p, t, now);
    else if (p->doing == PROBER_RECEIVING)
        receive_one(p, now);
    p->doing = PROBER_IDLE;
    if (p->awaits && now >= p->row[p->rows - 1].sent + p->params.timeout) {
        p->awaits = false;
        plan(p, now);
    }
    if (!p->awaits && !over(p) && now >= p->next) {
        note(p, now);
        p->doing = PROBER_SENDING;
        return (struct guest_op){OP_COMPUTE, socket_send_cost(p->socket, p->params.bytes)};
    }
    p->received = socket_receive(p->socket, t, now);
    if (p->received) {
        p->doing = PROBER_RECEIVING;
        return (struct guest_op){OP_COMPUTE, socket_receive_cost(p->socket, p->received)};
    }
    if (p->awaits)
        return socket_wait_until(p->socket, t, p->row[p->rows - 1].sent + p->params.timeout);
    return over(p) ? socket_wait(p->socket, t) : socket_wait_until(p->socket, t, p->next);
}

static const struct program program_prober = {
    .name = "prober", .meaning = "A client inside the host.", .next = prober_next};

struct prober *prober_start(struct guest_vcpu *gv, struct stack *stack, uint16_t port,
                            const struct prober_params *params, uint64_t seed, uint64_t replication,
                            const char *entity)
{
    struct prober *p = xcalloc(1, sizeof *p);
    struct thread *t = guest_add_thread(gv, &program_prober, NULL, "prober", CLASS_NORMAL, 0);

    p->params = *params;
    p->stack = stack;
    p->socket = socket_open(stack, port, 0);
    rng_init(&p->rng, seed, replication, entity, "gaps");
    p->next = params->start;
    if (params->loop != PROBER_INTERVAL)
        p->next += gap(p);
    t->user_data = p;
    socket_attach(p->socket, t);
    return p;
}

void prober_free(struct prober *p)
{
    free(p->row);
    free(p);
}
