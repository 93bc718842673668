/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process agent as a program in a domain, dom0 usually: a loop that sends at the dates of the
 * rounds and meanwhile receives. A round that is due while it cannot run begins late.
 */
#include "models/control/agent.h"
#include "models/control/path.h"
#include "models/net/socket.h"
#include "sim/error.h"

#include <stdlib.h>

enum doing { DOING_NOTHING, DOING_SEND, DOING_RECEIVE };

struct agent_thread {
    struct agent *agent;
    struct socket *socket;
    enum doing doing;
    struct packet *received;
    uint32_t sensor, to, copy; /* what is sent next in the present round */
    bool sending;
};

static sim_time send_cost(const struct agent_thread *s)
{
    return socket_send_cost(s->socket, (uint32_t)s->agent->loop->params->bytes);
}

/* Set out for the next message of the round; false: it has no more. */
static bool next_send(struct agent_thread *s)
{
    const struct control_params *c = s->agent->loop->params;

    if (++s->copy < (c->paths ? c->paths : 1))
        return true;
    s->copy = 0;
    if (++s->to < s->agent->loop->replicas)
        return true;
    s->to = 0;
    return ++s->sensor < c->sensors.count;
}

static void send_one(struct agent_thread *s, struct thread *t, sim_time now)
{
    struct agent *a = s->agent;
    const struct control_params *c = a->loop->params;
    size_t round = a->record.rounds - 1;
    uint32_t to = agent_order(a, round, s->to);
    struct control_message m = {.kind = a->restart[to] ? CONTROL_RESTART : CONTROL_MEASUREMENT,
                                .replica = (uint8_t)to,
                                .sensor = (uint8_t)s->sensor,
                                .round = round,
                                .taken = a->record.sent[round]};
    struct packet *p;

    a->restart[to] = false;
    if (c->sensors.loss && rng_bernoulli(&a->loss[s->sensor], percent_fraction(c->sensors.loss)))
        return;
    if (c->paths && path_loses(&c->path[s->copy], &a->path_out))
        return;
    p = control_packet(a->loop, a->machine, to, &m);
    socket_send(s->socket, t, p, now);
}

static void receive_one(struct agent_thread *s, sim_time now)
{
    struct agent *a = s->agent;
    const struct control_params *c = a->loop->params;
    struct control_message m = control_read(s->received);
    bool lost = c->paths > 0;

    socket_discard(s->socket, s->received);
    for (uint32_t i = 0; i < c->paths; i++)
        lost &= path_loses(&c->path[i], &a->path_in);
    if (!lost)
        agent_message(a, &m, now);
}

static struct guest_op agent_next(struct thread *t, sim_time now)
{
    struct agent_thread *s = t->user_data;
    struct agent *a = s->agent;
    sim_time due;

    if (s->doing == DOING_SEND) {
        send_one(s, t, now);
        s->sending = next_send(s);
    } else if (s->doing == DOING_RECEIVE) {
        receive_one(s, now);
    }
    s->doing = DOING_NOTHING;
    due = control_date(a->loop, a->record.rounds);
    if (!s->sending && now >= due && a->record.rounds < a->record.capacity) {
        agent_begin(a, now);
        s->sending = true;
        s->sensor = s->to = s->copy = 0;
    }
    if (s->sending) {
        s->doing = DOING_SEND;
        return (struct guest_op){OP_COMPUTE, send_cost(s)};
    }
    s->received = socket_receive(s->socket, t, now);
    if (s->received) {
        s->doing = DOING_RECEIVE;
        return (struct guest_op){OP_COMPUTE, socket_receive_cost(s->socket, s->received)};
    }
    if (a->record.rounds >= a->record.capacity)
        return socket_wait(s->socket, t);
    return socket_wait_until(s->socket, t, due);
}

static const struct program program_agent = {.name = "agent",
                                             .meaning =
                                                 "Sensors, masker and actuator of a control loop.",
                                             .next = agent_next};

void agent_in_guest(struct agent *a, struct guest_vcpu *gv, struct stack *stack, uint16_t port)
{
    struct agent_thread *s = xcalloc(1, sizeof *s);
    struct thread *t = guest_add_thread(gv, &program_agent, NULL, "agent", CLASS_NORMAL, 0);

    agent_skip(a, machine_now(stack->machine));
    free(a->in_guest); /* of before a reboot */
    a->machine = stack->machine;
    a->in_guest = s;
    s->agent = a;
    s->socket = socket_open(stack, port, 0);
    t->user_data = s;
    socket_attach(s->socket, t);
}
