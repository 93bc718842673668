/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/synthetic.h"

#include "sim/error.h"

#define COMPUTE(time) ((struct guest_op){OP_COMPUTE, time})
#define SLEEP_UNTIL(date) ((struct guest_op){OP_SLEEP, date})
#define WAIT ((struct guest_op){OP_WAIT, 0})
#define YIELD ((struct guest_op){OP_YIELD, 0})

/* The first start + k * period strictly after now. */
static sim_time next_period(sim_time start, sim_time period, sim_time now)
{
    if (now < start)
        return start;
    return start + ((now - start) / period + 1) * period;
}

/* ---- hog ------------------------------------------------------------------------------------- */

static struct guest_op hog_next(struct thread *t, sim_time now)
{
    (void)t;
    (void)now;
    return COMPUTE(SIM_NEVER);
}

const struct program program_hog = {
    .name = "hog", .meaning = "Computes without end.", .next = hog_next};

/* ---- burst and sleep ------------------------------------------------------------------------- */

struct burst_sleep {
    struct burst_sleep_params params;
    bool slept;
};

static void burst_sleep_init(struct thread *t, const void *params)
{
    struct burst_sleep *s = t->state;

    s->params = *(const struct burst_sleep_params *)params;
    s->slept = true;
}

static struct guest_op burst_sleep_next(struct thread *t, sim_time now)
{
    struct burst_sleep *s = t->state;

    s->slept = !s->slept;
    return s->slept ? SLEEP_UNTIL(now + s->params.sleep) : COMPUTE(s->params.compute);
}

static const struct param burst_sleep_rows[] = {
    {PARAM("compute", DURATION, struct burst_sleep_params, compute), .def = "1ms",
     .range = PARAM_NO_RANGE, .meaning = "CPU time of each burst.", .status = STATUS_ASSUMED},
    {PARAM("sleep", DURATION, struct burst_sleep_params, sleep), .def = "9ms",
     .range = PARAM_NO_RANGE, .meaning = "Sleep after each burst, counted from its end.",
     .status = STATUS_ASSUMED},
};
static const struct param_table burst_sleep_table =
    PARAM_TABLE("burst_sleep", struct burst_sleep_params, burst_sleep_rows,
                .meaning = "Computes, sleeps, and so on.");

const struct program program_burst_sleep = {.name = "burst_sleep",
                                            .meaning = "Computes, sleeps, and so on.",
                                            .params = &burst_sleep_table,
                                            .state_size = sizeof(struct burst_sleep),
                                            .init = burst_sleep_init,
                                            .next = burst_sleep_next};

/* ---- periodic -------------------------------------------------------------------------------- */

struct periodic {
    struct periodic_params params;
    bool slept;
};

static void periodic_init(struct thread *t, const void *params)
{
    struct periodic *s = t->state;

    s->params = *(const struct periodic_params *)params;
    s->slept = true;
}

static struct guest_op periodic_next(struct thread *t, sim_time now)
{
    struct periodic *s = t->state;

    s->slept = !s->slept;
    if (!s->slept)
        return COMPUTE(s->params.compute);
    return (struct guest_op){s->params.deferrable ? OP_DEFER : OP_SLEEP,
                             next_period(s->params.start + s->params.phase, s->params.period, now)};
}

static const struct param periodic_rows[] = {
    {PARAM("compute", DURATION, struct periodic_params, compute), .def = "1ms",
     .range = PARAM_NO_RANGE, .meaning = "CPU time of each job.", .status = STATUS_ASSUMED},
    {PARAM("period", DURATION, struct periodic_params, period), .def = "20ms",
     .range = PARAM_NO_RANGE, .min = "1us", .meaning = "Time between two starts.",
     .status = STATUS_ASSUMED},
    {PARAM("phase", DURATION, struct periodic_params, phase), .def = "0", .range = PARAM_NO_RANGE,
     .meaning = "Offset of the starts.", .status = STATUS_ASSUMED},
    {PARAM("start", DURATION, struct periodic_params, start), .def = "0", .range = PARAM_NO_RANGE,
     .meaning = "Date from which the starts are counted.", .status = STATUS_ASSUMED},
    {PARAM("deferrable", BOOLEAN, struct periodic_params, deferrable), .def = "false",
     .range = PARAM_NO_RANGE,
     .meaning = "A start waits for the next tick of the guest's that comes anyway, as Linux's "
                "deferrable timers do, which wake no idle CPU (see the guest's idle_tick and "
                "busy_tick; without them it does not wait).",
     .status = STATUS_ASSUMED},
};
static const struct param_table periodic_table =
    PARAM_TABLE("periodic", struct periodic_params, periodic_rows,
                .meaning = "One job every period; a late job delays none but the one it overruns.");

const struct program program_periodic = {.name = "periodic",
                                         .meaning = "One job every period.",
                                         .params = &periodic_table,
                                         .state_size = sizeof(struct periodic),
                                         .init = periodic_init,
                                         .next = periodic_next};

/* ---- server ---------------------------------------------------------------------------------- */

struct server {
    struct server_params params;
    sim_time pending_since, serving_since;
    bool pending, serving;
};

static void server_init(struct thread *t, const void *params)
{
    struct server *s = t->state;

    s->params = *(const struct server_params *)params;
}

static struct guest_op server_next(struct thread *t, sim_time now)
{
    struct server *s = t->state;

    if (s->serving && s->params.observe_done)
        observe1(vcpu_host(thread_vcpu(t)), DONE, thread_vcpu(t), now - s->serving_since);
    s->serving = s->pending;
    if (!s->pending)
        return WAIT;
    s->pending = false;
    s->serving_since = s->pending_since;
    return COMPUTE(s->params.compute);
}

static void server_event(struct thread *t, sim_time since, sim_time now)
{
    struct server *s = t->state;

    if (!s->pending)
        s->pending_since = since;
    s->pending = true;
    thread_wake(t, now);
}

static const struct param server_rows[] = {
    {PARAM("compute", DURATION, struct server_params, compute), .def = "100us",
     .range = PARAM_NO_RANGE, .meaning = "CPU time of each service.", .status = STATUS_ASSUMED},
};
static const struct param_table server_table = PARAM_TABLE(
    "server", struct server_params, server_rows, .meaning = "Waits for an event, computes.");

const struct program program_server = {.name = "server",
                                       .meaning = "Waits for an event, computes.",
                                       .params = &server_table,
                                       .state_size = sizeof(struct server),
                                       .init = server_init,
                                       .next = server_next,
                                       .event = server_event};

/* ---- yielder --------------------------------------------------------------------------------- */

struct yielder {
    struct yielder_params params;
    bool yielded;
};

static void yielder_init(struct thread *t, const void *params)
{
    struct yielder *s = t->state;

    s->params = *(const struct yielder_params *)params;
    s->yielded = true;
}

static struct guest_op yielder_next(struct thread *t, sim_time now)
{
    struct yielder *s = t->state;

    (void)now;
    s->yielded = !s->yielded;
    return s->yielded ? YIELD : COMPUTE(s->params.compute);
}

static const struct param yielder_rows[] = {
    {PARAM("compute", DURATION, struct yielder_params, compute), .def = "1ms",
     .range = PARAM_NO_RANGE, .min = "1ns", .meaning = "CPU time between two yields.",
     .status = STATUS_ASSUMED},
};
static const struct param_table yielder_table = PARAM_TABLE(
    "yielder", struct yielder_params, yielder_rows, .meaning = "Computes and yields its pCPU.");

const struct program program_yielder = {.name = "yielder",
                                        .meaning = "Computes and yields its pCPU, and so on.",
                                        .params = &yielder_table,
                                        .state_size = sizeof(struct yielder),
                                        .init = yielder_init,
                                        .next = yielder_next};

/* ---- script ---------------------------------------------------------------------------------- */

struct script {
    struct script_params params;
    sim_time pending_since, serving_since;
    uint32_t at;
    bool pending;
    bool serving; /* from a wait to the end of the compute after it */
};

static void script_init(struct thread *t, const void *params)
{
    struct script *s = t->state;

    s->params = *(const struct script_params *)params;
}

static struct guest_op script_next(struct thread *t, sim_time now)
{
    struct script *s = t->state;

    if (s->serving && t->op.kind == OP_COMPUTE) {
        s->serving = false;
        if (s->params.observe_done)
            observe1(vcpu_host(thread_vcpu(t)), DONE, thread_vcpu(t), now - s->serving_since);
    }
    for (uint32_t steps = 0; steps <= s->params.count; steps++) {
        const struct script_op *op = &s->params.op[s->at];

        if (op->kind == SCRIPT_WAIT && !s->pending)
            return WAIT; /* and look here again */
        s->at = (s->at + 1) % s->params.count;
        switch (op->kind) {
        case SCRIPT_COMPUTE:
            return COMPUTE(op->arg);
        case SCRIPT_SLEEP:
            return SLEEP_UNTIL(now + op->arg);
        case SCRIPT_PERIOD:
            return SLEEP_UNTIL(next_period(s->params.start, op->arg, now));
        case SCRIPT_WAIT:
            s->pending = false;
            s->serving = true;
            s->serving_since = s->pending_since;
            break;
        case SCRIPT_YIELD:
            return YIELD;
        case SCRIPT_JUMP:
            s->at = (uint32_t)op->arg % s->params.count;
            break;
        }
    }
    return COMPUTE(SIM_NEVER); /* nothing in it uses time */
}

static void script_event(struct thread *t, sim_time since, sim_time now)
{
    struct script *s = t->state;

    if (!s->pending)
        s->pending_since = since;
    s->pending = true;
    thread_wake(t, now);
}

const struct program program_script = {.name = "script",
                                       .meaning = "A list of operations, for ever.",
                                       .state_size = sizeof(struct script),
                                       .init = script_init,
                                       .next = script_next,
                                       .event = script_event};
