/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/wake_list.h"

#include "sim/error.h"

#include <stdlib.h>

static const struct param time_element = {PARAM_ELEMENT(DURATION, sim_time)};

static const struct param rows[] = {
    {PARAM("times", LIST, struct wake_spec, times), .def = "[]", .of = &time_element,
     .meaning = "Their dates, ascending; or give \"first\" and \"period\"."},
    {PARAM("first", DURATION, struct wake_spec, first), .def = "0", .range = PARAM_NO_RANGE,
     .max = "1000d", .meaning = "Date of the first.", .status = STATUS_ASSUMED},
    {PARAM("period", DURATION, struct wake_spec, period), .def = "0", .range = PARAM_NO_RANGE,
     .max = "1000d", .meaning = "Time from one to the next; 0: the dates in \"times\" only.",
     .status = STATUS_ASSUMED},
    {PARAM("network", BOOLEAN, struct wake_spec, network), .def = "false", .range = PARAM_NO_RANGE,
     .meaning = "They are marked as netback's notifications of received packets.",
     .status = STATUS_ASSUMED},
    {PARAM("pcpu", INTEGER, struct wake_spec, pcpu), .def = "own", .min = "0", .max = "255",
     .word = "own", .word_value = -1,
     .meaning = "The pCPU that takes their interrupt; \"own\": where the vCPU is.",
     .status = STATUS_ASSUMED},
};

static int check(void *target, struct json_value v, struct errors *e)
{
    const struct wake_spec *w = target;
    const sim_time *time = w->times.item;

    if (!w->times.count && !w->period)
        return json_error(v, e, "no events: give \"times\", or \"first\" and \"period\"");
    if (w->times.count && w->period)
        return json_error_in(v, "period", e, "either \"times\" or \"period\", not both");
    for (size_t i = 1; i < w->times.count; i++)
        if (time[i] < time[i - 1])
            return json_error_in(v, "times", e, "dates must ascend");
    return 0;
}

const struct param_table wake_table =
    PARAM_TABLE("events", struct wake_spec, rows,
                .meaning = "Events for a program at given dates, for tests.", .check = check);

struct wake_list {
    struct timer timer;
    struct evtchn channel;
    const struct wake_spec *spec;
    struct thread *thread;
    uint64_t number;
    size_t next;    /* of spec->times */
    sim_time since; /* when the pending event was first sent */
};

static void handler(struct evtchn *ch, sim_time now)
{
    struct wake_list *w = container_of(ch, struct wake_list, channel);

    if (w->thread->program->event)
        w->thread->program->event(w->thread, w->since, now);
}

/* Date of the next event after the one at `now`. */
static sim_time next_date(struct wake_list *w, sim_time now)
{
    const struct wake_spec *s = w->spec;

    if (s->period)
        return now + s->period;
    return ++w->next < s->times.count ? ((const sim_time *)s->times.item)[w->next] : SIM_NEVER;
}

static void fire(struct timer *t, sim_time now)
{
    struct wake_list *w = container_of(t, struct wake_list, timer);
    struct vcpu *v = w->channel.vcpu;
    struct host *h = vcpu_host(v);
    sim_time next = next_date(w, now);

    h->executing = w->spec->pcpu >= 0 ? (uint32_t)w->spec->pcpu : v->processor;
    if (next != SIM_NEVER)
        queue_arm_key(h->queue, t, next, RANK_EXTERNAL, w->number);
    if (!w->channel.pending)
        w->since = now;
    evtchn_send(&w->channel, w->spec->network);
}

struct wake_list *wake_list_start(const struct wake_spec *spec, struct thread *t, uint64_t number)
{
    struct wake_list *w = xcalloc(1, sizeof *w);
    struct host *h = vcpu_host(thread_vcpu(t));
    const sim_time *time = spec->times.item;
    sim_time first = spec->first;

    timer_init(&w->timer, fire);
    w->spec = spec;
    w->thread = t;
    w->number = number;
    w->channel = (struct evtchn){.vcpu = thread_vcpu(t), .handler = handler};
    if (spec->times.count)
        first = time[0];
    while (spec->period && first < h->queue->now) /* after a reboot */
        first += spec->period;
    if (spec->period || first >= h->queue->now)
        queue_arm_key(h->queue, &w->timer, first, RANK_EXTERNAL, number);
    return w;
}

void wake_list_free(struct wake_list *w)
{
    queue_cancel(vcpu_host(w->channel.vcpu)->queue, &w->timer);
    free(w);
}
