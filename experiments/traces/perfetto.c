/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chrome trace JSON, which Perfetto opens: a track per pCPU with who ran on it, a track per vCPU
 * with its runstates, arrows from each wake to the run that follows, and a counter of each vCPU's
 * credit.
 *
 * Stretches are written when they end ("X" events: start and length), so the file is a stream;
 * times are microseconds with three decimals.
 */
#include "experiments/traces/traces.h"
#include "sim/error.h"

#include <inttypes.h>
#include <stdlib.h>

/* Process ids of the groups of tracks. */
enum { GROUP_PCPUS = 1, GROUP_DOMAINS = 1000 };

struct stretch {
    sim_time since;
    const struct vcpu *vcpu;
};

struct vcpu_track {
    sim_time since;
    uint64_t flow; /* of the last wake that led to no run so far; 0: none */
    uint8_t state;
    bool seen;
};

struct perfetto {
    struct observer observer;
    FILE *out;
    struct stretch *pcpu;
    struct vcpu_track *vcpu; /* by index; grown as vCPUs appear */
    uint32_t vcpus;
    uint64_t flows;
    bool some;
};

static const char *const state_name[] = {"running", "runnable", "blocked", "offline"};

static void event(struct perfetto *p, const char *ph, uint32_t pid, uint32_t tid, sim_time ts)
{
    fprintf(p->out,
            "%s{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRId64
            ".%03" PRId64,
            p->some ? ",\n" : "", ph, pid, tid, ts / 1000, ts % 1000);
    p->some = true;
}

static void name_track(struct perfetto *p, const char *what, uint32_t pid, uint32_t tid,
                       const char *name)
{
    fprintf(p->out,
            "%s{\"ph\":\"M\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
            ",\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}",
            p->some ? ",\n" : "", pid, tid, what, name);
    p->some = true;
}

static void stretch(struct perfetto *p, uint32_t pid, uint32_t tid, sim_time from, sim_time to,
                    const char *name)
{
    if (to <= from)
        return;
    event(p, "X", pid, tid, from);
    fprintf(p->out, ",\"dur\":%" PRId64 ".%03" PRId64 ",\"name\":\"%s\"}", (to - from) / 1000,
            (to - from) % 1000, name);
}

static uint32_t group_of(const struct vcpu *v)
{
    return GROUP_DOMAINS + v->domain->id;
}

static struct vcpu_track *track_of(struct perfetto *p, const struct vcpu *v)
{
    char name[VCPU_NAME];
    struct vcpu_track *t;

    if (v->index >= p->vcpus) {
        p->vcpu = xrealloc(p->vcpu, (v->index + 1) * sizeof *p->vcpu);
        for (; p->vcpus <= v->index; p->vcpus++)
            p->vcpu[p->vcpus] = (struct vcpu_track){0};
    }
    t = &p->vcpu[v->index];
    if (!t->seen) {
        t->seen = true;
        t->state = v->runstate;
        name_track(p, "process_name", group_of(v), 0, *v->domain->name ? v->domain->name : "VM");
        name_track(p, "thread_name", group_of(v), v->id + 1, vcpu_name(v, name));
    }
    return t;
}

static void runstate(struct perfetto *p, const struct vcpu *v, int64_t old, int64_t new,
                     sim_time now)
{
    struct vcpu_track *t = track_of(p, v);

    if (old != RUNSTATE_OFFLINE)
        stretch(p, group_of(v), v->id + 1, t->since, now, state_name[old]);
    t->since = now;
    t->state = (uint8_t) new;
}

static void arrow(struct perfetto *p, const char *ph, uint32_t pid, uint32_t tid, sim_time ts,
                  uint64_t flow)
{
    event(p, ph, pid, tid, ts);
    fprintf(p->out, ",\"name\":\"wake\",\"cat\":\"wake\",\"id\":%" PRIu64 "%s}", flow,
            *ph == 'f' ? ",\"bp\":\"e\"" : "");
}

static void credit(struct perfetto *p, const struct vcpu *v, sim_time now)
{
    const struct scheduler *s = vcpu_scheduler(v);
    char name[VCPU_NAME];

    if (!s->ops->credit)
        return;
    event(p, "C", group_of(v), v->id + 1, now);
    fprintf(p->out, ",\"name\":\"credit of %s\",\"args\":{\"credit\":%" PRId64 "}}",
            vcpu_name(v, name), s->ops->credit(s, v));
}

static void end_run(struct perfetto *p, uint32_t pcpu, sim_time now)
{
    struct stretch *run = &p->pcpu[pcpu];
    char name[VCPU_NAME];

    if (run->vcpu)
        stretch(p, GROUP_PCPUS, pcpu + 1, run->since, now, vcpu_name(run->vcpu, name));
    run->vcpu = NULL;
}

static void see(struct observer *observer, struct host *h, const struct observation *o)
{
    struct perfetto *p = container_of(observer, struct perfetto, observer);
    const struct vcpu *v = o->vcpu;
    struct vcpu_track *t;

    (void)h;
    if (v->idle) {
        if (o->kind == OBS_SWITCH_IN)
            end_run(p, o->pcpu, o->time);
        return;
    }
    switch (o->kind) {
    case OBS_RUNSTATE:
        runstate(p, v, o->arg[0], o->arg[1], o->time);
        break;
    case OBS_SWITCH_OUT:
        end_run(p, o->pcpu, o->time);
        credit(p, v, o->time);
        break;
    case OBS_SWITCH_IN:
        p->pcpu[o->pcpu] = (struct stretch){o->time, v};
        t = track_of(p, v);
        if (t->flow)
            arrow(p, "f", GROUP_PCPUS, o->pcpu + 1, o->time, t->flow);
        t->flow = 0;
        break;
    default: /* a wake */
        t = track_of(p, v);
        if (v->runstate != RUNSTATE_BLOCKED || !vcpu_runnable(v))
            break;
        t->flow = ++p->flows;
        arrow(p, "s", group_of(v), v->id + 1, o->time, t->flow);
    }
}

void *perfetto_attach(struct host *h, FILE *out)
{
    struct perfetto *p = xcalloc(1, sizeof *p);

    p->out = out;
    p->pcpu = xcalloc(h->pcpu_count, sizeof *p->pcpu);
    p->observer.see = see;
    p->observer.kinds = UINT64_C(1) << OBS_SWITCH_OUT | UINT64_C(1) << OBS_SWITCH_IN |
                        UINT64_C(1) << OBS_WAKE | UINT64_C(1) << OBS_RUNSTATE;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
    name_track(p, "process_name", GROUP_PCPUS, 0, "pCPUs");
    for (uint32_t c = 0; c < h->pcpu_count; c++) {
        char name[32];

        snprintf(name, sizeof name, "pCPU %" PRIu32, c);
        name_track(p, "thread_name", GROUP_PCPUS, c + 1, name);
    }
    host_observe(h, &p->observer);
    return p;
}

int perfetto_finish(void *writer, struct host *h)
{
    struct perfetto *p = writer;
    sim_time now = h->queue->now;
    int failed;

    for (uint32_t c = 0; c < h->pcpu_count; c++)
        end_run(p, c, now);
    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];
        struct vcpu_track *t = track_of(p, v);

        if (t->state != RUNSTATE_OFFLINE)
            stretch(p, group_of(v), v->id + 1, t->since, now, state_name[t->state]);
    }
    fputs("\n]}\n", p->out);
    failed = ferror(p->out) ? -1 : 0;
    free(p->pcpu);
    free(p->vcpu);
    free(p);
    return failed;
}
