/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process agent on a machine of its own. */
#include "models/control/agent.h"
#include "models/control/late_watch.h"
#include "models/control/path.h"
#include "sim/error.h"

#include <stdlib.h>

struct sensor {
    struct timer timer;
    struct agent *agent;
    size_t round;
    uint32_t index;
};

struct agent_machine {
    struct timer round;
    struct agent *agent;
    struct sensor sensor[CONTROL_SENSORS];
};

/* ---- sending --------------------------------------------------------------------------------- */

static void send_now(struct timer *t, sim_time now)
{
    (void)now;
    packet_send(container_of(t, struct packet, timer));
}

static void send_copy(struct agent *a, uint32_t to, const struct control_message *m,
                      const struct control_path *path)
{
    struct packet *p;
    sim_time delay;

    if (path && path_loses(path, &a->path_out))
        return;
    p = control_packet(a->loop, a->machine, to, m);
    p->b = a->loop->agent.address;
    delay = path ? path_delay(path, &a->path_out) : 0;
    if (delay) {
        timer_init(&p->timer, send_now);
        queue_arm(&a->machine->queue, &p->timer, machine_now(a->machine) + delay);
    } else {
        packet_send(p);
    }
}

static void send(struct agent *a, uint32_t to, const struct control_message *m)
{
    const struct control_params *c = a->loop->params;

    if (!c->paths)
        send_copy(a, to, m, NULL);
    for (uint32_t i = 0; i < c->paths; i++)
        send_copy(a, to, m, &c->path[i]);
}

static void take_and_send(struct sensor *s)
{
    struct agent *a = s->agent;
    struct control_message m = {.kind = CONTROL_MEASUREMENT,
                                .sensor = (uint8_t)s->index,
                                .round = s->round,
                                .taken = a->record.sent[s->round]};
    int64_t loss = a->loop->params->sensors.loss;

    if (loss && rng_bernoulli(&a->loss[s->index], percent_fraction(loss)))
        return;
    for (uint32_t i = 0; i < a->loop->replicas; i++) {
        uint32_t to = agent_order(a, s->round, i);

        m.replica = (uint8_t)to;
        send(a, to, &m);
    }
}

static void sensor_fires(struct timer *t, sim_time now)
{
    (void)now;
    take_and_send(container_of(t, struct sensor, timer));
}

static void send_restarts(struct agent *a, size_t round)
{
    for (uint32_t i = 0; i < a->loop->replicas; i++)
        if (a->restart[i]) {
            struct control_message m = {
                .kind = CONTROL_RESTART, .replica = (uint8_t)i, .round = round};

            a->restart[i] = false;
            send(a, i, &m);
        }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void round_begins(struct timer *t, sim_time now)
{
    struct agent_machine *am = container_of(t, struct agent_machine, round);
    struct agent *a = am->agent;
    const struct control_params *c = a->loop->params;
    size_t k = a->record.rounds;

    agent_begin(a, now);
    if (a->watch)
        late_watch_round(a->watch, k, now);
    send_restarts(a, k);
    for (uint32_t i = 0; i < c->sensors.count; i++) {
        struct sensor *s = &am->sensor[i];
        sim_time jitter = dist_draw_time(&c->sensors.jitter, &a->jitter[i]);

        s->round = k;
        if (jitter >= c->period) /* it would be late for its own next measurement */
            jitter = c->period - 1;
        if (jitter > 0)
            queue_arm(&a->machine->queue, &s->timer, now + jitter);
        else
            take_and_send(s);
    }
    if (a->record.rounds < a->record.capacity)
        queue_arm(&a->machine->queue, &am->round, control_date(a->loop, a->record.rounds));
}

static void taken(struct agent *a, struct packet *p, sim_time now)
{
    struct control_message m = control_read(p);

    packet_free(p);
    agent_message(a, &m, now);
}

static void delayed(struct timer *t, sim_time now)
{
    struct packet *p = container_of(t, struct packet, timer);

    taken(p->to->model, p, now);
}

/* A setpoint comes on as many paths as a measurement goes; the first copy counts. */
static void arrival(struct machine *m, struct packet *p)
{
    struct agent *a = m->model;
    const struct control_params *c = a->loop->params;
    sim_time first = SIM_NEVER;

    if (a->issued && p->id < a->record.capacity)
        a->issued[p->id] = 1;
    if (!c->paths) {
        taken(a, p, machine_now(m));
        return;
    }
    for (uint32_t i = 0; i < c->paths; i++) {
        bool lost = path_loses(&c->path[i], &a->path_in);
        sim_time delay = path_delay(&c->path[i], &a->path_in);

        if (!lost && delay < first)
            first = delay;
    }
    if (first == SIM_NEVER) {
        packet_free(p);
        return;
    }
    timer_init(&p->timer, delayed);
    queue_arm(&m->queue, &p->timer, machine_now(m) + first);
}

static void rebooted(struct machine *m, sim_time now)
{
    struct agent *a = m->model;

    agent_skip(a, now);
    if (a->record.rounds < a->record.capacity)
        queue_arm(&m->queue, &a->on_machine->round, control_date(a->loop, a->record.rounds));
}

const struct machine_ops agent_machine_ops = {.arrival = arrival, .rebooted = rebooted};

void agent_on_machine(struct agent *a, struct machine *m)
{
    struct agent_machine *am = xcalloc(1, sizeof *am);

    a->machine = m;
    a->on_machine = am;
    m->model = a;
    am->agent = a;
    timer_init(&am->round, round_begins);
    for (uint32_t i = 0; i < CONTROL_SENSORS; i++) {
        am->sensor[i] = (struct sensor){.agent = a, .index = i};
        timer_init(&am->sensor[i].timer, sensor_fires);
    }
    queue_arm(&m->queue, &am->round, control_date(a->loop, 0));
}
