/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The job of the nearest peer, George Dunlap's sched-sim (github.com/gwd/sched-sim, 2010): five VMs
 * of one vCPU on two pCPUs, each a list of runs and blocks for ever, its built-in workload "N2s2",
 * under its third draft of Credit2. Here under Credit2 as it became, or any other scheduler, while
 * wake-to-run times are recorded in a histogram, which sched-sim does not do.
 *
 *   bench_sched_sim [SCHEDULER [MILLION_UNITS]]
 *
 * A unit of its time is taken as 20 us: then its initial credit (500) and shortest run (50) are
 * Credit2's (10 ms; 1 ms of ratelimit). Its events are blocks, wakes and expiries of its slice
 * timer (one for each pCPU). The same are counted here; hvsim's own count has its other timers,
 * too.
 *
 * Measured beside it on one machine (sched-sim with -O2 and its prints defined away, 200 million
 * units, 24.2 million events): 1.63 s, 14.8 million events/s; hvsim: 39.9 million events in 2.4 s,
 * 16.7 million/s. So hvsim handles an event faster, but has more of them for the same job: what
 * sched-sim leaves out are the guest with its timer and interrupts, load tracking, and a pCPU's
 * reschedule as an event of its own.
 */
#include "experiments/scenario/meter.h"
#include "models/guest/guest.h"
#include "models/schedulers/scheduler.h"
#include "sim/error.h"
#include "workloads/synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNIT (20 * NS_PER_US)

enum { VMS = 5, PCPUS = 2, PHASES = 8 };

/* Run, block, run, block, ... */
static const struct {
    uint32_t count;
    int units[PHASES];
    uint32_t weight;
} vms[VMS] = {
    {8, {15, 5, 16, 6, 14, 4, 87, 30}, 70},
    {8, {13, 10, 17, 7, 15, 5, 30, 2}, 100},
    {8, {66, 30, 5, 50, 70, 42, 80, 41}, 100},
    {6, {1250, 10, 10, 5, 10, 5}, 100},
    {6, {850, 5, 7, 5, 9, 5}, 200},
};

static double cpu_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_vm(struct cpupool *pool, struct guest **guest, uint32_t i)
{
    static struct script_op op[VMS][PHASES];
    const struct script_params p = {.op = op[i], .count = vms[i].count};

    for (uint32_t k = 0; k < vms[i].count; k++)
        op[i][k] =
            (struct script_op){k % 2 ? SCRIPT_SLEEP : SCRIPT_COMPUTE, vms[i].units[k] * UNIT};
    *guest = guest_new(domain_create(pool, i + 1, "vm", vms[i].weight, 0), 1);
    guest_add_vcpu(*guest);
    guest_add_thread(&(*guest)->vcpu[0], &program_script, &p, "phases", CLASS_NORMAL, 0);
}

int main(int argc, char **argv)
{
    const struct sched_ops *ops = scheduler_by_name(argc > 1 ? argv[1] : "credit2");
    sim_time duration = (argc > 2 ? atoi(argv[2]) : 200) * INT64_C(1000000) * UNIT;
    struct guest *guest[VMS];
    struct cpupool *pool;
    struct meter meter;
    struct queue q;
    struct host *h;
    void *params;
    uint64_t wakes, same;
    double took;

    if (!ops) {
        fprintf(stderr, "usage: sched_sim [SCHEDULER [MILLION_UNITS]]\n");
        return 2;
    }
    queue_init(&q);
    h = host_new(&q, "bench", PCPUS, 1, 0, 0);
    params = xcalloc(1, ops->params ? ops->params->size : 1);
    if (ops->params)
        params_defaults(ops->params, params);
    pool = host_add_pool(h, "Pool-0", ops, params, ops->params ? ops->params->size : 0);
    for (uint32_t c = 0; c < PCPUS; c++)
        pool_add_pcpu(pool, &h->pcpu[c]);
    for (uint32_t i = 0; i < VMS; i++)
        add_vm(pool, &guest[i], i);
    meter_init(&meter, VMS + 1, 1, 0, duration);
    meter_attach(&meter, h);
    for (uint32_t i = 0; i < VMS; i++)
        vcpu_start(h->vcpu[i]);
    took = -cpu_time();
    queue_run(&q, duration);
    took += cpu_time();
    q.now = duration;
    meter_close(&meter, h);
    wakes = meter.wake_to_run[0].count;
    same = h->decisions + wakes; /* each decision has one cause of: block, wake, end of a slice */
    printf(
        "sched-sim's job: %.1f M events/s while recording latencies (%.1f M events in %.2f s, %s; "
        "of those that sched-sim counts %.1f M/s; %.2f M wakes, wake-to-run p99 %.0f us)\n",
        (double)q.fired / took / 1e6, (double)q.fired / 1e6, took, ops->name,
        (double)same / took / 1e6, (double)wakes / 1e6,
        (double)histogram_quantile(&meter.wake_to_run[0], 0.99) / 1e3);
    host_free(h);
    meter_free(&meter);
    for (uint32_t i = 0; i < VMS; i++)
        guest_free(guest[i]);
    free(params);
    queue_free(&q);
    return 0;
}
