/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/controller.h"

#include "models/control/path.h"
#include "models/net/socket.h"
#include "sim/error.h"
#include "workloads/program_start.h"

enum doing { DOING_NOTHING, DOING_RECEIVE, DOING_COMPUTE, DOING_SEND };

struct controller {
    struct controller_params params; /* distributions by reference */
    struct replica replica;
    bool joined; /* it has a loop */
    struct socket *socket;
    enum doing doing;
    struct packet *received;
    struct replica_act act;
    struct rng path;
};

static void controller_init(struct thread *t, const void *params)
{
    struct controller *s = t->state;

    s->params = *(const struct controller_params *)params;
}

/* What replicas say to each other takes the loop's first path; the agent sees to its own. */
static bool lost_under_way(struct controller *s, const struct control_message *m)
{
    const struct control_params *c = s->replica.loop->params;

    return c->paths && m->kind != CONTROL_MEASUREMENT && m->kind != CONTROL_RESTART &&
           path_loses(&c->path[0], &s->path);
}

/* Finish what the last operation was for. */
static void finish(struct controller *s, struct thread *t, sim_time now)
{
    const struct control_loop *l = s->replica.loop;

    if (s->doing == DOING_RECEIVE) {
        struct control_message m = control_read(s->received);

        socket_discard(s->socket, s->received);
        if (!lost_under_way(s, &m))
            replica_message(&s->replica, &m, now);
    } else if (s->doing == DOING_SEND) {
        socket_send(s->socket, t,
                    control_packet(l, s->socket->stack->machine, s->act.to, &s->act.message), now);
    }
    s->doing = DOING_NOTHING;
}

static struct guest_op controller_next(struct thread *t, sim_time now)
{
    struct controller *s = t->state;

    if (!s->joined)
        return (struct guest_op){OP_WAIT, 0};
    finish(s, t, now);
    s->act = replica_next(&s->replica, now);
    if (s->act.kind == REPLICA_SEND) {
        s->doing = DOING_SEND;
        return (struct guest_op){
            OP_COMPUTE, socket_send_cost(s->socket, (uint32_t)s->replica.loop->params->bytes)};
    }
    if (s->act.kind == REPLICA_COMPUTE) {
        s->doing = DOING_COMPUTE;
        return (struct guest_op){OP_COMPUTE, s->act.time};
    }
    s->received = socket_receive(s->socket, t, now);
    if (s->received) {
        s->doing = DOING_RECEIVE;
        return (struct guest_op){OP_COMPUTE, socket_receive_cost(s->socket, s->received)};
    }
    return s->act.time == SIM_NEVER ? socket_wait(s->socket, t)
                                    : socket_wait_until(s->socket, t, s->act.time);
}

struct thread *controller_start(const void *params, const struct program_site *site)
{
    struct thread *t = guest_add_thread(site_vcpu(site, 0), &program_controller, params,
                                        site->entity, site->class, site->priority);
    struct controller *s = t->state;

    if (!site->control || !site->stack)
        return t;
    s->joined = true;
    replica_init(&s->replica, site->control->loop, site->control->index, &s->params.compute,
                 site->control->counts, site->entity, vcpu_host(t->gv->vcpu)->queue->now);
    s->socket = socket_open(site->stack, (uint16_t)s->params.port, 0);
    socket_attach(s->socket, t);
    rng_init(&s->path, site->seed, site->replication, site->entity, "path");
    return t;
}

const struct replica *controller_replica(const struct thread *t)
{
    const struct controller *s = t->state;

    return t->program == &program_controller && s->joined ? &s->replica : NULL;
}

void controller_close(struct guest *g, sim_time now)
{
    for (struct thread *t = g->threads; t; t = t->next)
        if (controller_replica(t))
            replica_close(&((struct controller *)t->state)->replica, now);
}

struct program_counts controller_counts(const struct thread *first)
{
    const struct replica *r = controller_replica(first);

    return (struct program_counts){.jobs = r ? r->counts->computed : 0};
}

static const struct param controller_rows[] = {
    {PARAM("port", INTEGER, struct controller_params, port), .def = "5101", .range = PARAM_NO_RANGE,
     .min = "1", .max = "65535", .meaning = "Port it listens on.", .status = STATUS_ASSUMED},
    {PARAM("compute", OBJECT, struct controller_params, compute), .def = "{}",
     .table = &compute_table, .meaning = "How long it computes, and when it fails to."},
};
static const struct param_table controller_table =
    PARAM_TABLE("controller", struct controller_params, controller_rows,
                .meaning = "A replica of a control loop's controller.");

const struct program program_controller = {
    .name = "controller",
    .meaning = "A controller replica: waits for measurements, computes, sends setpoints.",
    .params = &controller_table,
    .state_size = sizeof(struct controller),
    .init = controller_init,
    .next = controller_next};
