/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The twin: round robin on pCPUs, once with hvsim's engine and once as plain SimGrid actors (an
 * actor per pCPU and per vCPU, semaphores between them, sleeps for run time), as one would write it
 * without hvsim. Both must agree on every vCPU's CPU time and number of bursts; the line printed
 * says so and by which factor the engine is faster.
 *
 * twin [PCPUS [VCPUS_PER_PCPU [SECONDS]]]: vCPUs compute for 200 us and sleep for 300 us and a bit.
 */
#include "models/guest/guest.h"
#include "models/schedulers/schedulers.h"
#include "workloads/synthetic.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const double slice_s = 0.03, tolerance_s = 0.001;
static const sim_time compute = 200 * NS_PER_US, pause_least = 300 * NS_PER_US;

struct task {
    double compute_s, sleep_s, left_s;
    double cpu_s;
    struct task *next;
    sg_sem_t done; /* its burst is complete */
    struct cpu *cpu;
};

struct cpu {
    struct task *first, **last;
    sg_sem_t ready; /* counts queued tasks */
};

static double end_s;

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static sim_time pause_of(uint32_t i)
{
    return pause_least + i * 1009;
}

/* ---- plain SimGrid -----------------------------------------------------------------------------
 */

static void enqueue(struct cpu *c, struct task *t)
{
    t->next = NULL;
    *c->last = t;
    c->last = &t->next;
    sg_sem_release(c->ready);
}

static void cpu_actor(int argc, char **argv)
{
    struct cpu *c = sg_actor_get_data(sg_actor_self());

    (void)argc;
    (void)argv;
    while (simgrid_get_clock() < end_s) {
        struct task *t;
        double run;

        sg_sem_acquire(c->ready);
        t = c->first;
        c->first = t->next;
        if (!c->first)
            c->last = &c->first;
        run = fmin(slice_s, t->left_s);
        sg_actor_sleep_for(run);
        t->left_s -= run;
        t->cpu_s += run;
        if (t->left_s > 0)
            enqueue(c, t);
        else
            sg_sem_release(t->done);
    }
}

static void task_actor(int argc, char **argv)
{
    struct task *t = sg_actor_get_data(sg_actor_self());

    (void)argc;
    (void)argv;
    while (simgrid_get_clock() < end_s) {
        t->left_s = t->compute_s;
        enqueue(t->cpu, t);
        sg_sem_acquire(t->done);
        sg_actor_sleep_for(t->sleep_s);
    }
}

static void actor(const char *name, sg_host_t host, void (*code)(int, char **), void *data)
{
    sg_actor_t a = sg_actor_init(name, host);

    sg_actor_set_data(a, data);
    sg_actor_daemonize(a);
    sg_actor_start(a, code, 0, NULL);
}

static void clock_actor(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    sg_actor_sleep_for(end_s);
}

static double run_actors(struct task *task, uint32_t cpus, uint32_t per_cpu)
{
    struct cpu *cpu = xcalloc(cpus, sizeof *cpu);
    sg_host_t host = sg_host_by_name("host");
    double began;

    for (uint32_t c = 0; c < cpus; c++) {
        cpu[c].last = &cpu[c].first;
        cpu[c].ready = sg_sem_init(0);
        actor("pcpu", host, cpu_actor, &cpu[c]);
    }
    for (uint32_t i = 0; i < cpus * per_cpu; i++) {
        task[i].compute_s = 1e-9 * (double)compute;
        task[i].sleep_s = 1e-9 * (double)pause_of(i);
        task[i].done = sg_sem_init(0);
        task[i].cpu = &cpu[i / per_cpu];
        actor("vcpu", host, task_actor, &task[i]);
    }
    sg_actor_start(sg_actor_init("clock", host), clock_actor, 0, NULL);
    began = wall();
    simgrid_run();
    free(cpu);
    return wall() - began;
}

/* ---- hvsim -------------------------------------------------------------------------------------
 */

static double run_engine(struct vcpu **vcpu, struct guest **guest, struct queue *q, uint32_t cpus,
                         uint32_t per_cpu)
{
    void *params = xcalloc(1, sched_rr.params->size);
    struct cpupool *pool;
    struct host *h;
    double began;

    params_defaults(sched_rr.params, params);
    queue_init(q);
    h = host_new(q, "twin", cpus, 1, 0, 0);
    pool = host_add_pool(h, "Pool-0", &sched_rr, params, sched_rr.params->size);
    for (uint32_t c = 0; c < cpus; c++)
        pool_add_pcpu(pool, &h->pcpu[c]);
    for (uint32_t i = 0; i < cpus * per_cpu; i++) {
        struct burst_sleep_params p = {compute, pause_of(i)};
        cpumask at = cpumask_of(i / per_cpu);

        guest[i] = guest_new(domain_create(pool, i + 1, "twin", 0, 0), 1);
        vcpu[i] = guest_add_vcpu(guest[i]);
        vcpu_set_affinity(vcpu[i], &at, NULL);
        guest_add_thread(&guest[i]->vcpu[0], &program_burst_sleep, &p, "twin", CLASS_NORMAL, 0);
    }
    for (uint32_t i = 0; i < cpus * per_cpu; i++)
        vcpu_start(vcpu[i]);
    began = wall();
    queue_run(q, (sim_time)(end_s * 1e9));
    q->now = (sim_time)(end_s * 1e9);
    free(params);
    return wall() - began;
}

static const char platform[] = "<?xml version='1.0'?>\n"
                               "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                               "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">"
                               "<host id=\"host\" speed=\"1Gf\"/></zone></platform>\n";

static void load_platform(void)
{
    char path[] = "/tmp/hvsim-twin-XXXXXX.xml";
    int fd = mkstemps(path, 4);
    FILE *f = fdopen(fd, "w");

    fputs(platform, f);
    fclose(f);
    simgrid_load_platform(path);
    unlink(path);
}

int main(int argc, char **argv)
{
    uint32_t cpus = argc > 1 ? (uint32_t)atoi(argv[1]) : 8;
    uint32_t per_cpu = argc > 2 ? (uint32_t)atoi(argv[2]) : 4;
    uint32_t n = cpus * per_cpu;
    struct task *task = xcalloc(n, sizeof *task);
    struct vcpu **vcpu = xcalloc(n, sizeof *vcpu);
    struct guest **guest = xcalloc(n, sizeof *guest);
    double engine, actors, worst = 0;
    struct queue q;
    char *arguments[] = {argv[0], (char *)(size_t) "--log=root.thresh:error", NULL};
    int count = 2;

    end_s = argc > 3 ? atof(argv[3]) : 10;
    simgrid_init(&count, arguments);
    load_platform();
    engine = run_engine(vcpu, guest, &q, cpus, per_cpu);
    actors = run_actors(task, cpus, per_cpu);
    for (uint32_t i = 0; i < n; i++) {
        double cpu = 1e-9 * (double)vcpu[i]->runstate_time[RUNSTATE_RUNNING];

        worst = fmax(worst, fabs(cpu - task[i].cpu_s));
    }
    printf("twin %u pCPUs %u vCPUs %.0f s: engine %.3f s, plain actors %.3f s, factor %.1f; "
           "CPU times agree to %.3f ms: %s\n",
           cpus, n, end_s, engine, actors, actors / engine, worst * 1e3,
           worst < tolerance_s ? "same" : "DIFFERENT");
    return worst < tolerance_s ? 0 : 1;
}
