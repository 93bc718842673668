/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast is the scheduling core? sched CASE [SCHEDULER [PCPUS [VCPUS_PER_PCPU [SECONDS
 * [TRACE]]]]] runs one host without SimGrid and prints one line: events, decisions and switches per
 * wall second. Cases: hogs (never block) and wakers (200 us bursts, 300 us sleeps).
 *
 * With TRACE, a file whose suffix names a format, the host runs again with a trace written, and a
 * third time to count what the trace's writer was shown; the line then says what each of these
 * observations cost.
 */
#include "experiments/traces/traces.h"
#include "models/guest/guest.h"
#include "models/schedulers/scheduler.h"
#include "workloads/synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench {
    bool wakers;
    const struct sched_ops *ops;
    uint32_t pcpus, vcpus;
    sim_time duration;
    struct queue queue;
    struct host *host;
    struct guest **guest;
};

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void build(struct bench *b)
{
    struct burst_sleep_params p = {200 * NS_PER_US, 300 * NS_PER_US};
    const struct param_table *table = b->ops->params;
    void *params = xcalloc(1, table ? table->size : 1);
    struct cpupool *pool;

    queue_init(&b->queue);
    b->host = host_new(&b->queue, "bench", b->pcpus, 1, 0, 0);
    if (table)
        params_defaults(table, params);
    pool = host_add_pool(b->host, "Pool-0", b->ops, params, table ? table->size : 0);
    free(params);
    for (uint32_t c = 0; c < b->pcpus; c++)
        pool_add_pcpu(pool, &b->host->pcpu[c]);
    b->guest = xcalloc(b->vcpus, sizeof(struct guest *));
    for (uint32_t i = 0; i < b->vcpus; i++) {
        struct domain *d = domain_create(pool, i + 1, "bench", 0, 0);

        b->guest[i] = guest_new(d, 1);
        guest_add_vcpu(b->guest[i]);
        guest_add_thread(&b->guest[i]->vcpu[0], b->wakers ? &program_burst_sleep : &program_hog, &p,
                         "bench", CLASS_NORMAL, 0);
        p.sleep += 1009; /* different phases and periods */
    }
    for (uint32_t i = 0; i < b->host->vcpu_count; i++)
        vcpu_start(b->host->vcpu[i]);
}

static void take_down(struct bench *b)
{
    host_free(b->host);
    for (uint32_t i = 0; i < b->vcpus; i++)
        guest_free(b->guest[i]);
    free(b->guest);
    queue_free(&b->queue);
}

/* CPU seconds for it all. */
static double run(struct bench *b)
{
    double began = cpu_seconds();

    queue_run(&b->queue, b->duration);
    return cpu_seconds() - began;
}

/* Time that vCPUs have waited for a pCPU, all together: per time, how many did. */
static double waiting(const struct host *h)
{
    double sum = 0;

    for (uint32_t i = 0; i < h->vcpu_count; i++)
        sum += (double)vcpu_runstate_time(h->vcpu[i], RUNSTATE_RUNNABLE);
    return sum;
}

static void print(const struct bench *b, double took)
{
    const struct host *h = b->host;
    double events = (double)b->queue.fired, decisions = (double)h->decisions;

    printf("%s %s %u pCPUs %u vCPUs: %.2f M events/s, %.2f M decisions/s, %.2f M switches/s, "
           "%.0f ns per event, %.0f ns per decision, %.0f times real time, %.1f waiting",
           b->wakers ? "wakers" : "hogs", b->ops->name, b->pcpus, b->vcpus, events / took / 1e6,
           decisions / took / 1e6, (double)h->switches / took / 1e6, took * 1e9 / events,
           took * 1e9 / decisions, (double)b->duration / 1e9 / took,
           waiting(h) / (double)b->duration);
}

/* ---- the cost of a trace --------------------------------------------------------------------- */

static uint64_t seen;

static void count(struct observer *o, struct host *h, const struct observation *obs)
{
    (void)o;
    (void)h;
    (void)obs;
    seen++;
}

static int trace(struct bench *b, const char *path, double plain)
{
    const struct trace_format *format = trace_format_of(path);
    FILE *out = format ? fopen(path, "w") : NULL;
    struct observer counter = {.see = count};
    double took;
    void *writer;

    if (!out)
        return 2;
    setvbuf(out, NULL, _IOFBF, 1 << 20);
    build(b);
    writer = format->attach(b->host, out);
    counter.kinds = b->host->observed;
    if (b->host->watched_switches) /* all told at once, but counted as for the others */
        counter.kinds |= UINT64_C(1) << OBS_SWITCH_OUT | UINT64_C(1) << OBS_SWITCH_IN;
    took = run(b);
    format->finish(writer, b->host);
    printf(", trace %s: %.1f MB", format->suffix, (double)ftell(out) / 1e6);
    fclose(out);
    take_down(b);
    build(b);
    host_observe(b->host, &counter);
    run(b);
    take_down(b);
    printf(", %.1f ns per observation, %.0f %% of the time without",
           (took - plain) * 1e9 / (double)seen, 100 * (took - plain) / plain);
    return 0;
}

int main(int argc, char **argv)
{
    struct bench b = {
        .wakers = argc > 1 && !strcmp(argv[1], "wakers"),
        .ops = scheduler_by_name(argc > 2 ? argv[2] : "credit"),
        .pcpus = argc > 3 ? (uint32_t)atoi(argv[3]) : 8,
        .duration = argc > 5 ? (sim_time)(atof(argv[5]) * 1e9) : 60 * NS_PER_S,
    };
    double took;
    int status = 0;

    b.vcpus = b.pcpus * (argc > 4 ? (uint32_t)atoi(argv[4]) : 4);
    if (!b.ops || (argc > 1 && !b.wakers && strcmp(argv[1], "hogs"))) {
        fprintf(
            stderr,
            "usage: sched hogs|wakers [SCHEDULER [PCPUS [VCPUS_PER_PCPU [SECONDS [TRACE]]]]]\n");
        return 2;
    }
    build(&b);
    took = run(&b);
    print(&b, took);
    take_down(&b);
    if (argc > 6)
        status = trace(&b, argv[6], took);
    putchar('\n');
    return status;
}
