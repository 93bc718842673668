/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/schedule_behaviour.h"

#include "experiments/validate/json_fields.h"

#include <stdlib.h>
#include <string.h>

/* ---- events ---------------------------------------------------------------------------------- */

static void event_channel(struct evtchn *ch, sim_time now)
{
    struct event_source *s = container_of(ch, struct event_source, channel);

    if (s->thread && s->thread->program->event)
        s->thread->program->event(s->thread, s->since, now);
}

static sim_time source_date(const struct event_source *s, uint64_t i)
{
    return s->date ? s->date[i] : s->first + (sim_time)i * s->period;
}

static void event_fire(struct timer *t, sim_time now)
{
    struct event_source *s = container_of(t, struct event_source, timer);

    s->host->executing = s->irq_pcpu >= 0 ? (uint32_t)s->irq_pcpu : s->channel.vcpu->processor;
    if (++s->next < s->count)
        queue_arm_key(s->host->queue, t, source_date(s, s->next), RANK_EXTERNAL, s->key);
    if (!s->channel.pending)
        s->since = now;
    evtchn_send(&s->channel, s->network);
}

uint32_t schedule_events_due(const struct timer *t)
{
    const struct event_source *s = container_of(t, struct event_source, timer);
    uint32_t n = 0;

    if (t->fire != event_fire)
        return 0;
    for (uint64_t i = s->next; i < s->count && source_date(s, i) == t->when; i++)
        n++;
    return n;
}

static int by_date(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;

    return (x > y) - (x < y);
}

static void read_dates(struct event_source *s, struct json_value list, struct errors *e)
{
    s->date = xcalloc(json_length(list) + 1, sizeof *s->date);
    JSON_FOR_EACH(t, list)
    s->date[s->count++] = field_time_of(t, NS_PER_US, e);
    qsort(s->date, s->count, sizeof *s->date, by_date);
}

/* {period_us, first_us} or {times_us}, irq_pcpu. */
static void read_source(struct schedule_world *w, struct json_value v, bool network,
                        struct thread *thread, struct vcpu *vcpu, sim_time start, struct errors *e)
{
    struct event_source *s = &w->source[w->source_count];
    struct json_value times = json_member(v, "times_us");

    timer_init(&s->timer, event_fire);
    s->channel = (struct evtchn){.vcpu = vcpu, .handler = event_channel};
    s->thread = thread;
    s->host = w->host;
    s->network = field_integer(v, "network", 0, 1, network, e);
    s->irq_pcpu = field_integer(v, "irq_pcpu", -1, w->host->pcpu_count - 1, -1, e);
    s->key = w->source_count;
    s->period = field_time(v, "period_us", NS_PER_US, 0, e);
    s->first = field_time(v, "first_us", NS_PER_US, start, e);
    if (json_exists(times))
        read_dates(s, times, e);
    else if (s->period > 0 && s->first < w->duration)
        s->count = (uint64_t)((w->duration - s->first + s->period - 1) / s->period);
    if (s->count)
        queue_arm_key(&w->queue, &s->timer, source_date(s, 0), RANK_EXTERNAL, s->key);
    w->source_count++;
}

/* ---- behaviours ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum script_kind kind;
    bool time;
} script_names[] = {
    {"compute_us", SCRIPT_COMPUTE, true}, {"sleep_us", SCRIPT_SLEEP, true},
    {"period_us", SCRIPT_PERIOD, true},   {"wait", SCRIPT_WAIT, false},
    {"yield", SCRIPT_YIELD, false},       {"jump", SCRIPT_JUMP, false},
};

/* Does it come to something that takes time? Jumps always jump, so it goes round for ever. */
static bool takes_time(const struct script_op *op, uint32_t count)
{
    uint32_t at = 0;

    for (uint32_t step = 0; step < 2 * count; step++) {
        if (step >= count && /* in what it repeats */
            (op[at].kind == SCRIPT_WAIT || op[at].kind == SCRIPT_PERIOD ||
             ((op[at].kind == SCRIPT_COMPUTE || op[at].kind == SCRIPT_SLEEP) && op[at].arg > 0)))
            return true;
        at = op[at].kind == SCRIPT_JUMP ? (uint32_t)op[at].arg : (at + 1) % count;
    }
    return false;
}

/* ["compute_us", 100] */
static struct script_op read_op(struct json_value v, size_t count, struct errors *e)
{
    const char *name = json_string(json_element(v, 0));
    struct json_value arg = json_element(v, 1);
    struct script_op op = {.kind = SCRIPT_YIELD};
    int64_t to;

    for (size_t i = 0; name && i < sizeof script_names / sizeof *script_names; i++) {
        if (strcmp(script_names[i].name, name))
            continue;
        op.kind = script_names[i].kind;
        if (script_names[i].time)
            op.arg = field_time_of(json_exists(arg) ? arg : v, NS_PER_US, e);
        if (op.kind == SCRIPT_PERIOD && op.arg < 1)
            json_error(v, e, "a period must be at least 0.001 us");
        if (op.kind != SCRIPT_JUMP)
            return op;
        if (json_integer(arg, &to) || to < 0 || to >= (int64_t)count)
            json_error(v, e, "a jump needs the number of an operation, 0 to %zu", count - 1);
        else
            op.arg = to;
        return op;
    }
    json_error(
        v, e, "unknown operation; known are compute_us, sleep_us, period_us, wait, yield and jump");
    return op;
}

static int read_script(struct schedule_world *w, struct json_value list, struct script_params *p,
                       struct errors *e)
{
    size_t before = e->count, count = json_length(list);
    struct script_op *op = xcalloc(count + 1, sizeof *op);

    w->script = xrealloc(w->script, (w->script_count + 1) * sizeof *w->script);
    w->script[w->script_count++] = op;
    p->op = op;
    JSON_FOR_EACH(v, list)
    op[p->count++] = read_op(v, count, e);
    if (!p->count)
        return json_error(list, e, "an empty program");
    if (e->count == before && !takes_time(op, p->count))
        return json_error(list, e, "a program that goes round for ever without taking any time");
    return e->count > before ? -1 : 0;
}

static const char *type_of(const struct behaviour *b)
{
    return json_string(json_member(b->json, "type"));
}

static sim_time given(const struct behaviour *b, const char *key)
{
    return field_time(b->json, key, NS_PER_US, 0, b->e);
}

/* The same; 0 is an error, since the program would go round without taking any time. */
static sim_time above_0(const struct behaviour *b, const char *key)
{
    sim_time t = given(b, key);

    if (t <= 0)
        json_error_in(b->json, key, b->e, "expected a time above 0");
    return t;
}

static struct thread *add(const struct behaviour *b, const struct program *p, const void *params)
{
    return guest_add_thread(b->gv, p, params, type_of(b), CLASS_NORMAL, 0);
}

static struct thread *add_hog(const struct behaviour *b)
{
    return add(b, &program_hog, NULL);
}

static struct thread *add_burst_sleep(const struct behaviour *b)
{
    struct burst_sleep_params p = {given(b, "compute_us"), given(b, "sleep_us")};

    if (p.compute + p.sleep <= 0)
        json_error(b->json, b->e, "expected a compute_us or a sleep_us above 0");
    return add(b, &program_burst_sleep, &p);
}

static struct thread *add_periodic(const struct behaviour *b)
{
    struct periodic_params p = {given(b, "compute_us"), above_0(b, "period_us"),
                                given(b, "phase_us"), b->start, false};

    return add(b, &program_periodic, &p);
}

static struct thread *add_server(const struct behaviour *b)
{
    struct server_params p = {given(b, "compute_us"), b->world->done_rows};

    return add(b, &program_server, &p);
}

static struct thread *add_lookbusy_server(const struct behaviour *b)
{
    struct server_params p = {given(b, "service_us"), b->world->done_rows};

    add_burst_sleep(b);
    return guest_add_thread(b->gv, &program_server, &p, type_of(b), CLASS_FIFO, 1);
}

static struct thread *add_yielder(const struct behaviour *b)
{
    struct yielder_params p = {above_0(b, "compute_us")};

    return add(b, &program_yielder, &p);
}

static struct thread *add_program(const struct behaviour *b)
{
    struct script_params p = {.start = b->start, .observe_done = b->world->done_rows};

    if (read_script(b->world, json_member(b->json, "ops"), &p, b->e))
        return NULL;
    return add(b, &program_script, &p);
}

static const struct {
    const char *type;
    struct thread *(*add)(const struct behaviour *b);
} behaviours[] = {
    {"burst_sleep", add_burst_sleep},
    {"hog", add_hog},
    {"lookbusy_server", add_lookbusy_server},
    {"mixed", add_hog},
    {"periodic", add_periodic},
    {"program", add_program},
    {"server", add_server},
    {"yielder", add_yielder},
};

void schedule_read_behaviour(const struct behaviour *b)
{
    struct json_value events = json_member(b->json, "events");
    struct json_value net = json_member(b->json, "net_events");
    const char *type = type_of(b);
    struct thread *t;

    for (size_t i = 0; type && i < sizeof behaviours / sizeof *behaviours; i++)
        if (!strcmp(type, behaviours[i].type)) {
            t = behaviours[i].add(b);
            if (json_exists(events))
                read_source(b->world, events, false, t, b->gv->vcpu, b->start, b->e);
            if (json_exists(net))
                read_source(b->world, net, true, t, b->gv->vcpu, b->start, b->e);
            return;
        }
    json_error_in(b->json, "type", b->e,
                  "expected burst_sleep, hog, lookbusy_server, mixed, periodic, program, server or "
                  "yielder");
}
