/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/study/explain.h"

#include "experiments/traces/traces.h"
#include "sim/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS = 240, VCPU_TEXT = 160 };

/* What is known of a pCPU's last decision, and of what has happened to it since. */
struct explain_pcpu {
    char reasons[REASONS]; /* since the last decision */
    /* the decision: */
    sim_time time, ran, slice;
    char why_now[REASONS];
    char prev[VCPU_TEXT], next[VCPU_TEXT];
    char queue[EXPLAIN_QUEUE];
    const char *rule;
    sim_time granted, granted_at; /* the slice before */
    bool same;
};

static const struct scheduler *scheduler_at(const struct host *h, uint32_t pcpu)
{
    return h->pcpu[pcpu].pool->scheduler;
}

/* "web/v0 (BOOST, 12)" */
static void describe(const struct host *h, uint32_t pcpu, const struct vcpu *v,
                     char text[VCPU_TEXT])
{
    const struct scheduler *s = scheduler_at(h, pcpu);
    char name[VCPU_NAME];
    const char *priority;

    vcpu_name(v, name);
    if (v->idle) {
        snprintf(text, VCPU_TEXT, "nobody (idle)");
        return;
    }
    priority = s->ops->priority ? s->ops->priority(s, v) : "-";
    if (!strcmp(priority, "-") && !s->ops->credit)
        snprintf(text, VCPU_TEXT, "%s", name);
    else if (!strcmp(priority, "-"))
        snprintf(text, VCPU_TEXT, "%s (%" PRId64 ")", name, s->ops->credit(s, v));
    else
        snprintf(text, VCPU_TEXT, "%s (%s, %" PRId64 ")", name, priority,
                 s->ops->credit ? s->ops->credit(s, v) : 0);
}

static void reason(struct explain_pcpu *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void reason(struct explain_pcpu *p, const char *fmt, ...)
{
    size_t used = strlen(p->reasons);
    va_list ap;

    if (used + 3 >= sizeof p->reasons)
        return;
    if (used)
        used += (size_t)snprintf(p->reasons + used, sizeof p->reasons - used, "; ");
    va_start(ap, fmt);
    vsnprintf(p->reasons + used, sizeof p->reasons - used, fmt, ap);
    va_end(ap);
}

static void before(struct explainer *x, const struct host *h, const struct observation *o)
{
    struct explain_pcpu *p = &x->state[o->pcpu];
    const struct scheduler *s = scheduler_at(h, o->pcpu);

    p->time = o->time;
    p->ran = vcpu_ran(o->vcpu, o->time);
    if (!*p->reasons && p->granted >= 0 && o->time - p->granted_at >= p->granted)
        reason(p, "its slice is over");
    snprintf(p->why_now, sizeof p->why_now, "%s", *p->reasons ? p->reasons : "asked to reschedule");
    *p->reasons = 0;
    describe(h, o->pcpu, o->vcpu, p->prev);
    *p->queue = 0;
    if (s->ops->queue_text)
        s->ops->queue_text(s, &h->pcpu[o->pcpu], p->queue, sizeof p->queue);
}

static void after(struct explainer *x, struct host *h, const struct observation *o, bool same)
{
    struct explain_pcpu *p = &x->state[o->pcpu];
    struct decided d = {
        .time = o->time, .pcpu = o->pcpu, .domain = o->vcpu->domain->id, .vcpu = o->vcpu->id};

    p->same = same;
    p->rule = scheduler_at(h, o->pcpu)->why;
    p->slice = p->granted = o->arg[1];
    p->granted_at = o->time;
    describe(h, o->pcpu, o->vcpu, p->next);
    if (x->out && o->time >= x->from && o->time < x->until &&
        (x->pcpu < 0 || (uint32_t)x->pcpu == o->pcpu)) {
        explainer_print(x, h, o->pcpu, x->out);
        x->explained++;
    }
    if (x->decided && x->decided(x->ctx, x, &d))
        h->queue->stopped = true;
}

static void see(struct observer *observer, struct host *h, const struct observation *o)
{
    struct explainer *x = container_of(observer, struct explainer, observer);
    struct explain_pcpu *p = &x->state[o->pcpu];
    char name[VCPU_NAME];

    switch (o->kind) {
    case OBS_DECISION:
        before(x, h, o);
        break;
    case OBS_SWITCH_IN:
        after(x, h, o, false);
        break;
    case OBS_CONT:
        after(x, h, o, true);
        break;
    case OBS_BLOCK:
        reason(p, "%s blocks", vcpu_name(o->vcpu, name));
        break;
    case OBS_YIELD:
        reason(p, "%s yields", vcpu_name(o->vcpu, name));
        break;
    case OBS_SLEEP:
        if (h->pcpu[o->vcpu->processor].current == o->vcpu)
            reason(&x->state[o->vcpu->processor], "%s is paused", vcpu_name(o->vcpu, name));
        break;
    case OBS_WAKE:
        reason(&x->state[o->vcpu->processor], "%s woke up", vcpu_name(o->vcpu, name));
        break;
    case OBS_TICKLE:
        if (o->arg[0] < x->pcpus)
            reason(&x->state[o->arg[0]], "told that there is work");
        break;
    default:
        break;
    }
}

void explainer_attach(struct explainer *x, struct host *h)
{
    static const uint64_t kinds = UINT64_C(1) << OBS_DECISION | UINT64_C(1) << OBS_SWITCH_IN |
                                  UINT64_C(1) << OBS_CONT | UINT64_C(1) << OBS_BLOCK |
                                  UINT64_C(1) << OBS_YIELD | UINT64_C(1) << OBS_SLEEP |
                                  UINT64_C(1) << OBS_WAKE | UINT64_C(1) << OBS_TICKLE;

    x->observer = (struct observer){.kinds = kinds, .see = see};
    x->pcpus = h->pcpu_count;
    x->state = xcalloc(h->pcpu_count, sizeof *x->state);
    for (uint32_t c = 0; c < h->pcpu_count; c++)
        x->state[c].granted = -1;
    host_observe(h, &x->observer);
}

void explainer_free(struct explainer *x)
{
    free(x->state);
}

bool explainer_continued(const struct explainer *x, uint32_t pcpu)
{
    return x->state[pcpu].same;
}

/* "20.584136 ms": all digits, in the unit that a reader has a feeling for. */
static const char *spelled(sim_time t, char text[40])
{
    static const struct {
        sim_time ns;
        int digits;
        const char *name;
    } unit[] = {{NS_PER_S, 9, "s"}, {NS_PER_MS, 6, "ms"}, {NS_PER_US, 3, "us"}, {1, 0, "ns"}};
    size_t u = 0;
    int n;

    while (u < 3 && t < unit[u].ns)
        u++;
    n = snprintf(text, 40, "%" PRId64 ".%0*" PRId64, t / unit[u].ns, unit[u].digits,
                 t % unit[u].ns);
    while (text[n - 1] == '0' && text[n - 2] != '.')
        n--;
    if (text[n - 1] == '0')
        n -= 2; /* a whole number */
    snprintf(text + n, 40 - (size_t)n, " %s", unit[u].name);
    return text;
}

void explainer_print(const struct explainer *x, const struct host *h, uint32_t pcpu, FILE *out)
{
    const struct explain_pcpu *p = &x->state[pcpu];
    char text[40];

    fprintf(out, "%" PRId64 ".%09" PRId64 " s  pCPU %" PRIu32 "  %s\n", p->time / NS_PER_S,
            p->time % NS_PER_S, pcpu, p->why_now);
    fprintf(out, "    has it:  %s, for %s so far\n", p->prev, spelled(p->ran, text));
    if (scheduler_at(h, pcpu)->ops->queue_text)
        fprintf(out, "    waiting: %s\n", *p->queue ? p->queue : "nobody");
    fprintf(out, "    chosen:  %s%s", p->next, p->same ? ", again" : "");
    if (p->slice >= 0)
        fprintf(out, ", for at most %s", spelled(p->slice, text));
    fprintf(out, "\n");
    if (p->rule)
        fprintf(out, "    because: %s\n", p->rule);
}
