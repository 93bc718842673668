/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/commands/watch.h"

#include "experiments/traces/traces.h"
#include "models/schedulers/scheduler.h"
#include "sim/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* CPU shares are those of the last complete window. */
static const sim_time WINDOW = 100 * NS_PER_MS;

enum { LINE = 512 };

/* "20.6 ms": for reading along, not for calculating. */
static const char *rounded(sim_time t, char text[32])
{
    static const struct {
        sim_time ns;
        const char *name;
    } unit[] = {{NS_PER_S, "s"}, {NS_PER_MS, "ms"}, {NS_PER_US, "us"}, {1, "ns"}};
    size_t u = 0;

    while (u < 3 && t < unit[u].ns)
        u++;
    snprintf(text, 32, "%.3g %s", (double)t / (double)unit[u].ns, unit[u].name);
    return text;
}

static void roll_window(struct watch *w, sim_time now)
{
    struct host *h = w->host;

    if (!w->vcpus) { /* the first frame */
        w->window_from = now - WINDOW;
        w->window = 0;
    }
    if (h->vcpu_count > w->vcpus) {
        w->had = xrealloc(w->had, h->vcpu_count * sizeof *w->had);
        w->had_before = xrealloc(w->had_before, h->vcpu_count * sizeof *w->had_before);
        for (uint32_t i = w->vcpus; i < h->vcpu_count; i++)
            w->had[i] = w->had_before[i] = 0;
        w->vcpus = h->vcpu_count;
    }
    if (now - w->window_from < WINDOW)
        return;
    for (uint32_t i = 0; i < w->vcpus; i++) {
        sim_time had = vcpu_runstate_time(h->vcpu[i], RUNSTATE_RUNNING);

        w->had_before[i] = had - w->had[i];
        w->had[i] = had;
    }
    w->window = now - w->window_from;
    w->window_from = now;
}

static void fire(struct timer *t, sim_time now)
{
    struct watch *w = container_of(t, struct watch, timer);

    roll_window(w, now);
    w->frame(w);
    if (!w->host->queue->stopped)
        queue_arm_key(w->host->queue, t, now + w->every, RANK_PLATFORM, UINT64_C(1) << 50);
}

static bool decided(void *ctx, struct explainer *x, const struct decided *d)
{
    struct watch *w = ctx;

    (void)x;
    w->decision_pcpu = d->pcpu;
    w->any_decision = true;
    if (w->decided && d->time >= w->from)
        w->decided(w);
    return false;
}

void watch_attach(struct watch *w)
{
    w->explainer = (struct explainer){.until = SIM_NEVER, .pcpu = -1, .decided = decided, .ctx = w};
    explainer_attach(&w->explainer, w->host);
    w->window_from = w->host->queue->now;
    timer_init(&w->timer, fire);
    queue_arm_key(w->host->queue, &w->timer, w->from, RANK_PLATFORM, UINT64_C(1) << 50);
}

void watch_free(struct watch *w)
{
    explainer_free(&w->explainer);
    free(w->had);
    free(w->had_before);
}

void watch_stop(struct watch *w)
{
    w->host->queue->stopped = true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void pcpu_line(const struct host *h, const struct pcpu *p, char line[LINE])
{
    const struct scheduler *s = p->pool ? p->pool->scheduler : NULL;
    char name[VCPU_NAME], ran[32], queue[EXPLAIN_QUEUE] = "";
    sim_time now = h->queue->now;

    if (!s) {
        snprintf(line, LINE, "%4" PRIu32 "  in no pool", p->id);
        return;
    }
    if (s->ops->queue_text)
        s->ops->queue_text(s, p, queue, sizeof queue);
    snprintf(line, LINE, "%4" PRIu32 "  %-12s %-16s %9s  %.420s", p->id, s->ops->name,
             p->current->idle ? "-" : vcpu_name(p->current, name),
             rounded(now - p->current->runstate_entry, ran), queue);
}

static void vcpu_line(const struct watch *w, const struct vcpu *v, char line[LINE])
{
    static const char *const state[] = {"running", "runnable", "blocked", "offline"};
    const struct scheduler *s = vcpu_scheduler(v);
    char name[VCPU_NAME], since[32], share[16] = "-", credit[24] = "-";

    if (w->window)
        snprintf(share, sizeof share, "%.1f",
                 100 * (double)w->had_before[v->index] / (double)w->window);
    if (s->ops->credit && !domain_gone(v->domain))
        snprintf(credit, sizeof credit, "%" PRId64, s->ops->credit(s, v));
    snprintf(line, LINE, "%-16s %-8s %9s  %4" PRIu32 "  %6s  %-8s %10s", vcpu_name(v, name),
             domain_gone(v->domain) ? "gone" : state[v->runstate],
             rounded(w->host->queue->now - v->runstate_entry, since), v->processor, share,
             s->ops->priority && !domain_gone(v->domain) ? s->ops->priority(s, v) : "-", credit);
}

static void put_decision(const struct watch *w, void (*put)(void *ctx, const char *line), void *ctx)
{
    char *text = NULL, *line, *rest;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        BUG("no memory stream");
    explainer_print(&w->explainer, w->host, w->decision_pcpu, memory);
    fclose(memory);
    for (rest = text; (line = strsep(&rest, "\n")) && *line;)
        put(ctx, line);
    free(text);
}

void watch_print(const struct watch *w, void (*put)(void *ctx, const char *line), void *ctx)
{
    const struct host *h = w->host;
    char line[LINE];

    put(ctx, "pCPU  scheduler    has it                 for  waiting");
    for (uint32_t i = 0; i < h->pcpu_count; i++) {
        pcpu_line(h, &h->pcpu[i], line);
        put(ctx, line);
    }
    put(ctx, "");
    if (w->any_decision)
        put_decision(w, put, ctx);
    put(ctx, "");
    put(ctx, "vCPU             is             for  pCPU   CPU %  priority     credit");
    for (uint32_t i = 0; i < w->vcpus && i < h->vcpu_count; i++) {
        vcpu_line(w, h->vcpu[i], line);
        put(ctx, line);
    }
}
