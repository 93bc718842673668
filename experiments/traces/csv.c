/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/traces/csv.h"

#include "sim/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char csv_header[] = "time_ns,event,pcpu,dom,vcpu,vproc,prio,credit,arg";

#define BIT(kind) (UINT64_C(1) << OBS_##kind)

/* Kinds that the reference schedules show; the others are for other traces. */
static const uint64_t shown = BIT(PLACED) | BIT(START) | BIT(WAKE) | BIT(BLOCK) | BIT(YIELD) |
                              BIT(SLEEP) | BIT(EVENT) | BIT(NETEVENT) | BIT(SWITCH_OUT) |
                              BIT(SWITCH_IN) | BIT(CONT) | BIT(MIGRATE) | BIT(DONE) | BIT(TICKLE) |
                              BIT(TICK) | BIT(BOOST) | BIT(UNBOOST) | BIT(PARK) | BIT(UNPARK) |
                              BIT(RATELIMIT) | BIT(ACCT) | BIT(ACCT_START) | BIT(ACCT_STOP) |
                              BIT(STEAL) | BIT(RESET) | BIT(RQ_MIGRATE) | BIT(REPLENISH);

/* Kinds whose numbers are not shown. */
static const uint64_t without_arguments = BIT(EVENT) | BIT(NETEVENT) | BIT(REPLENISH);

static const struct scheduler *scheduler_of(const struct host *h, const struct vcpu *v)
{
    return v->idle ? h->pcpu[v->id].pool->scheduler : vcpu_scheduler(v);
}

static const char *vcpu_state(const struct vcpu *v)
{
    if (vcpu_pcpu(v)->current == v)
        return "running";
    if (v->pause_flags & PAUSE_BLOCKED)
        return "blocked";
    return vcpu_runnable(v) ? "queued" : "paused";
}

static int head(char *row, size_t size, const struct host *h, sim_time time, const char *event,
                uint32_t pcpu, const struct vcpu *v)
{
    const struct scheduler *s;

    if (!v)
        return snprintf(row, size, "%" PRId64 ",%s,%" PRIu32 ",,,,,,", time, event, pcpu);
    s = scheduler_of(h, v);
    return snprintf(
        row, size, "%" PRId64 ",%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s,%" PRId64 ",",
        time, event, pcpu, v->domain->id, v->id, v->processor,
        v->idle            ? "IDLE"
        : s->ops->priority ? s->ops->priority(s, v)
                           : "-",
        s->ops->credit && !v->idle ? s->ops->credit(s, v) : 0);
}

static void arguments(char *row, size_t size, const struct observation *o)
{
    const struct observation_name *name = &observation_names[o->kind];
    const char *blank = "";

    for (int i = 0; i < 4 && name->arg[i]; i++) {
        size_t used = strlen(row);

        snprintf(row + used, size - used, "%s%s=%" PRId64, blank, name->arg[i], o->arg[i]);
        blank = " ";
    }
}

static void account_rows(struct csv_trace *t, const struct host *h, const struct observation *o)
{
    char row[CSV_ROW];

    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];
        const struct scheduler *s = vcpu_scheduler(v);
        int n;

        if (v->pause_flags & PAUSE_DOWN || !s->ops->account_state)
            continue;
        n = head(row, sizeof row, h, o->time, "acct_v", o->pcpu, v);
        snprintf(row + n, sizeof row - (size_t)n, "%s", s->ops->account_state(v));
        t->row(t->ctx, row);
    }
}

static void see(struct observer *observer, struct host *h, const struct observation *o)
{
    struct csv_trace *t = container_of(observer, struct csv_trace, observer);
    const struct scheduler *s = o->vcpu ? scheduler_of(h, o->vcpu) : NULL;
    char row[CSV_ROW];
    size_t used;

    if (o->kind == OBS_CONT && o->vcpu->idle)
        return;
    used = (size_t)head(row, sizeof row, h, o->time, observation_names[o->kind].name, o->pcpu,
                        o->vcpu);
    if (o->kind == OBS_EVENT || o->kind == OBS_NETEVENT)
        snprintf(row + used, sizeof row - used, "%s", vcpu_state(o->vcpu));
    else if (!(without_arguments >> o->kind & 1))
        arguments(row, sizeof row, o);
    used = strlen(row);
    if (s && s->ops->annotate)
        s->ops->annotate(s, o, row + used, sizeof row - used);
    t->row(t->ctx, row);
    if (o->kind == OBS_ACCT)
        account_rows(t, h, o);
}

/* Colours that the handler changed. */
static void handled(struct observer *observer, struct host *h)
{
    struct csv_trace *t = container_of(observer, struct csv_trace, observer);

    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];
        char now = vcpu_scheduler(v)->ops->color(v), row[CSV_ROW];
        int n;

        if (now == t->color[i])
            continue;
        n = head(row, sizeof row, h, h->queue->now, "color", h->executing, v);
        snprintf(row + n, sizeof row - (size_t)n, "%c>%c", t->color[i], now);
        t->row(t->ctx, row);
        t->color[i] = now;
    }
}

void csv_trace_attach(struct csv_trace *t, struct host *h, void (*row)(void *ctx, const char *text),
                      void *ctx)
{
    *t = (struct csv_trace){.observer = {.kinds = shown, .see = see}, .row = row, .ctx = ctx};
    if (h->vcpu_count && vcpu_scheduler(h->vcpu[0])->ops->color) {
        t->color = xcalloc(h->vcpu_count, 1);
        for (uint32_t i = 0; i < h->vcpu_count; i++)
            t->color[i] = vcpu_scheduler(h->vcpu[i])->ops->color(h->vcpu[i]);
        t->observer.handled = handled;
    }
    host_observe(h, &t->observer);
}

void csv_trace_free(struct csv_trace *t)
{
    free(t->color);
}

static void row_of(struct csv_trace *t, struct host *h, const char *event, const struct vcpu *v,
                   const char *arg)
{
    char row[CSV_ROW];
    int n = head(row, sizeof row, h, h->queue->now, event, h->executing, v);

    snprintf(row + n, sizeof row - (size_t)n, "%s", arg);
    t->row(t->ctx, row);
}

void csv_trace_placed(struct csv_trace *t, struct host *h)
{
    for (uint32_t i = 0; i < h->vcpu_count; i++)
        row_of(t, h, "placed", h->vcpu[i], "");
}

void csv_trace_end(struct csv_trace *t, struct host *h, uint64_t instants, uint64_t ties)
{
    char arg[160];

    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];

        snprintf(arg, sizeof arg,
                 "running=%" PRId64 " runnable=%" PRId64 " blocked=%" PRId64 " offline=%" PRId64,
                 vcpu_runstate_time(v, RUNSTATE_RUNNING), vcpu_runstate_time(v, RUNSTATE_RUNNABLE),
                 vcpu_runstate_time(v, RUNSTATE_BLOCKED), vcpu_runstate_time(v, RUNSTATE_OFFLINE));
        row_of(t, h, "final", v, arg);
    }
    snprintf(arg, sizeof arg, "instants=%" PRIu64 " with_ties=%" PRIu64, instants, ties);
    row_of(t, h, "end", NULL, arg);
}
