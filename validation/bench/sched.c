/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast is the scheduling core? bench_sched CASE [SCHEDULER [PCPUS [VCPUS_PER_PCPU [SECONDS]]]]
 * runs one host without SimGrid and prints one line: events, decisions and switches per wall
 * second. Cases: hogs (never block) and wakers (200 us bursts, 300 us sleeps).
 */
#include "models/guest/guest.h"
#include "models/schedulers/scheduler.h"
#include "workloads/synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start_vcpus(struct host *h)
{
    for (uint32_t i = 0; i < h->vcpu_count; i++)
        vcpu_start(h->vcpu[i]);
}

/* Time that vCPUs have waited for a pCPU, all together: per time, how many did. */
static double waiting(const struct host *h)
{
    double sum = 0;

    for (uint32_t i = 0; i < h->vcpu_count; i++)
        sum += (double)vcpu_runstate_time(h->vcpu[i], RUNSTATE_RUNNABLE);
    return sum;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "hogs";
    const struct sched_ops *ops = scheduler_by_name(argc > 2 ? argv[2] : "credit");
    uint32_t pcpus = argc > 3 ? (uint32_t)atoi(argv[3]) : 8;
    uint32_t per_pcpu = argc > 4 ? (uint32_t)atoi(argv[4]) : 4;
    sim_time duration = argc > 5 ? (sim_time)(atof(argv[5]) * 1e9) : 60 * NS_PER_S;
    bool wakers = !strcmp(name, "wakers");
    struct burst_sleep_params p = {200 * NS_PER_US, 300 * NS_PER_US};
    struct guest **guest = xcalloc(pcpus * per_pcpu, sizeof *guest);
    struct cpupool *pool;
    struct queue q;
    struct host *h;
    void *params;
    double began, took;

    if (!ops || (!wakers && strcmp(name, "hogs"))) {
        fprintf(stderr,
                "usage: sched hogs|wakers [SCHEDULER [PCPUS [VCPUS_PER_PCPU [SECONDS]]]]\n");
        return 2;
    }
    queue_init(&q);
    h = host_new(&q, "bench", pcpus, 1, 0, 0);
    params = xcalloc(1, ops->params ? ops->params->size : 1);
    if (ops->params)
        params_defaults(ops->params, params);
    pool = host_add_pool(h, "Pool-0", ops, params, ops->params ? ops->params->size : 0);
    for (uint32_t c = 0; c < pcpus; c++)
        pool_add_pcpu(pool, &h->pcpu[c]);
    for (uint32_t i = 0; i < pcpus * per_pcpu; i++) {
        struct domain *d = domain_create(pool, i + 1, "bench", 0, 0);

        guest[i] = guest_new(d, 1);
        guest_add_vcpu(guest[i]);
        guest_add_thread(&guest[i]->vcpu[0], wakers ? &program_burst_sleep : &program_hog, &p,
                         "bench", CLASS_NORMAL, 0);
        p.sleep += 1009; /* different phases and periods */
    }
    start_vcpus(h);
    began = wall();
    queue_run(&q, duration);
    took = wall() - began;
    printf("%s %s %u pCPUs %u vCPUs: %.2f M events/s, %.2f M decisions/s, %.2f M switches/s, "
           "%.0f ns per event, %.0f ns per decision, %.0f times real time, %.1f waiting\n",
           name, ops->name, pcpus, pcpus * per_pcpu, (double)q.fired / took / 1e6,
           (double)h->decisions / took / 1e6, (double)h->switches / took / 1e6,
           took * 1e9 / (double)q.fired, took * 1e9 / (double)h->decisions,
           (double)duration / 1e9 / took, waiting(h) / (double)duration);
    host_free(h);
    for (uint32_t i = 0; i < pcpus * per_pcpu; i++)
        guest_free(guest[i]);
    free(guest);
    free(params);
    queue_free(&q);
    return 0;
}
