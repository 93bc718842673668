/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/control/node.h"

#include "models/control/path.h"
#include "sim/distribution_params.h"
#include "sim/error.h"

#include <stdlib.h>

static const struct param node_rows[] = {
    {PARAM("compute", OBJECT, struct node_params, compute), .def = "{}", .table = &compute_table,
     .meaning = "How long it computes, and when it fails to."},
    {PARAM("jitter", CUSTOM, struct node_params, jitter), .def = "exponential(60us)",
     .range = "exponential(30us)..exponential(120us)", .type = &dist_time_type,
     .meaning = "From the arrival of the measurement to the start of the computation: the network "
                "stack, waking up, other work of the operating system.",
     .status = STATUS_ASSUMED},
};
const struct param_table node_table = PARAM_TABLE("node", struct node_params, node_rows,
                                                  .meaning = "A replica on a machine of its own.");

/* Let the replica do what it has to, until it computes or waits. */
static void go_on(struct control_node *n, sim_time now)
{
    struct queue *q = &n->machine->queue;

    n->busy = false;
    for (;;) {
        struct replica_act act = replica_next(&n->replica, now);
        struct packet *p;

        if (act.kind == REPLICA_COMPUTE) {
            n->busy = true;
            queue_arm(q, &n->work, now + dist_draw_time(&n->params->jitter, &n->jitter) + act.time);
            return;
        }
        if (act.kind == REPLICA_WAIT) {
            if (act.time == SIM_NEVER)
                queue_cancel(q, &n->wait);
            else
                queue_arm(q, &n->wait, act.time);
            return;
        }
        p = control_packet(n->loop, n->machine, act.to, &act.message);
        p->b = n->loop->replica[n->index].address;
        packet_send(p);
    }
}

static void work_done(struct timer *t, sim_time now)
{
    go_on(container_of(t, struct control_node, work), now);
}

static void wait_over(struct timer *t, sim_time now)
{
    struct control_node *n = container_of(t, struct control_node, wait);

    if (!n->busy)
        go_on(n, now);
}

static void take(struct control_node *n, struct packet *p, sim_time now)
{
    struct control_message m = control_read(p);

    packet_free(p);
    replica_message(&n->replica, &m, now);
    if (!n->busy)
        go_on(n, now);
}

static void delayed(struct timer *t, sim_time now)
{
    struct packet *p = container_of(t, struct packet, timer);

    take(p->to->model, p, now);
}

/* What replicas say to each other takes the loop's first path; the agent sees to its own. */
static void arrival(struct machine *m, struct packet *p)
{
    struct control_node *n = m->model;
    const struct control_params *c = n->loop->params;
    enum control_kind kind = control_read(p).kind;
    sim_time delay;

    if (kind == CONTROL_MEASUREMENT || kind == CONTROL_RESTART || !c->paths) {
        take(n, p, machine_now(m));
        return;
    }
    if (path_loses(&c->path[0], &n->path)) {
        packet_free(p);
        return;
    }
    delay = path_delay(&c->path[0], &n->path);
    timer_init(&p->timer, delayed);
    queue_arm(&m->queue, &p->timer, machine_now(m) + delay);
}

static void begin(struct control_node *n, sim_time now)
{
    char *entity =
        n->machine->boots ? xasprintf("%s@%u", n->name, n->machine->boots) : xstrdup(n->name);

    replica_init(&n->replica, n->loop, n->index, &n->params->compute, n->counts, entity, now);
    rng_init(&n->jitter, n->loop->seed, n->loop->replication, entity, "jitter");
    rng_init(&n->path, n->loop->seed, n->loop->replication, entity, "path");
    timer_init(&n->work, work_done);
    timer_init(&n->wait, wait_over);
    free(entity);
    n->busy = false;
    if (n->loop->params->mode == CONTROL_PASSIVE)
        queue_arm(&n->machine->queue, &n->wait, now);
}

/* The time that its host was off, as far as it is measured, counts as crashed. */
static void count_off(struct control_node *n, sim_time now)
{
    const struct control_loop *l = n->loop;
    sim_time from = n->off > l->from ? n->off : l->from;
    sim_time until = now < l->until ? now : l->until;

    if (n->off >= 0 && until > from)
        n->counts->down += until - from;
    n->off = -1;
}

static void rebooted(struct machine *m, sim_time now)
{
    count_off(m->model, now);
    begin(m->model, now);
}

static void failed(struct machine *m, sim_time now)
{
    struct control_node *n = m->model;

    replica_close(&n->replica, now);
    n->off = now;
}

void control_node_close(struct control_node *n, sim_time now)
{
    if (n->machine->up)
        replica_close(&n->replica, now);
    count_off(n, now);
}

const struct machine_ops control_node_ops = {
    .arrival = arrival, .failed = failed, .rebooted = rebooted};

struct control_node *control_node_new(struct machine *m, const struct control_loop *loop,
                                      uint32_t index, const struct node_params *params,
                                      struct replica_counts *counts, const char *name,
                                      sim_time start)
{
    struct control_node *n = xcalloc(1, sizeof *n);

    n->machine = m;
    n->loop = loop;
    n->params = params;
    n->index = index;
    n->counts = counts;
    n->name = xstrdup(name);
    n->off = -1;
    m->model = n;
    begin(n, start);
    return n;
}

void control_node_free(struct control_node *n)
{
    free(n->name);
    free(n);
}
