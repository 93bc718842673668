/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/capture_world.h"

#include "experiments/traces/xentrace_write.h"
#include "experiments/validate/capture_figures.h"
#include "experiments/validate/capture_host.h"
#include "experiments/validate/capture_waker.h"
#include "experiments/validate/xen_version.h"
#include "models/hypervisor/turns.h"
#include "workloads/lookbusy.h"
#include "workloads/prober.h"
#include "workloads/programs.h"
#include "workloads/rpc.h"
#include "workloads/synthetic.h"

#include <stdlib.h>
#include <string.h>

/* History: see the jobs in validation/xen/capture. */
#define POOL_SPREAD (100 * NS_PER_MS) /* pools come up at random dates within this */
#define BOOT_TIME (300 * NS_PER_MS)   /* a guest boots, with the pCPU to itself, for up to this */
#define PAUSED_TIME NS_PER_S          /* all are paused for so long */
#define XL_TIME (60 * NS_PER_MS)      /* from letting one go to the next, on average */
#define SETTLE_TIME (1500 * NS_PER_MS)
#define JOB_TIME (200 * NS_PER_S) /* a job has been going on for up to so long */
#define RUN_BEFORE (2 * NS_PER_S) /* its last run lasted so long, or up to twice as long */

/* Guests that are there but not in the capture (numbers before others' are missing): so many at
 * most are simulated. */
enum { OTHERS_MOST = 4 };

/* How many simulations are of captures that were not their job's first, and how many of the guests
 * took part in the run before. */
static const double NOT_FIRST = 0.75, TAKES_PART = 0.5;

/* dom0's own work beside the client's: the daemon that empties the trace buffers, whose runs take
 * 72 us (of which work is what is left without what it costs to wake and to block), and something
 * that runs 128 us once a second. Read off t5_c1 of credit-1pcpu-pool-det, and the same in the
 * others. */
#define TRACER_PERIOD (100 * NS_PER_MS)
#define TRACER_WORK (30 * NS_PER_US)
#define DAEMON_PERIOD NS_PER_S
#define DAEMON_WORK (85 * NS_PER_US)

#define TRACE_KHZ 1000000 /* a cycle is a nanosecond */
#define FRAMING 42        /* Ethernet, IP and UDP around a payload */

struct capture_world {
    const struct capture *capture;
    const struct capture_machine *machine_costs;
    uint64_t seed, replication;
    struct fleet fleet;
    struct machine machine;
    struct host *host;
    struct cpupool *dom0_pool, *guest_pool;
    struct guest **guest; /* dom0, the capture's, then others that are there */
    size_t guests;        /* without dom0 */
    bool *runs;           /* ... of them: is let go */
    struct capture_waker **waker;
    size_t wakers;
    struct host_net *net;
    struct prober *prober;
    uint32_t server; /* endpoint of the guest that the client asks */
    sim_time server_demand;
    struct rng rng;
    sim_time begin, end; /* of the trace */
    struct xentrace_writer writer;
    char *trace;
    size_t trace_size;
};

int capture_check(const struct capture *c, struct errors *e)
{
    size_t before = e->count;

    if (!scheduler_by_name(c->scheduler))
        error_add(e, EXIT_INPUT, "%s.json: scheduler \"%s\" is not known", c->name, c->scheduler);
    if (!scheduler_by_name(c->dom0_scheduler))
        error_add(e, EXIT_INPUT, "%s.json: dom0's scheduler \"%s\" is not known", c->name,
                  c->dom0_scheduler);
    if (!c->guests)
        error_add(e, EXIT_INPUT, "%s.json: no guests", c->name);
    if (c->client.loop != CLIENT_NONE && !capture_has(c, CAPTURE_ECHO))
        error_add(e, EXIT_INPUT, "%s.json: a client, but no guest that answers", c->name);
    if (c->log && c->client.loop == CLIENT_NONE)
        error_add(e, EXIT_INPUT, "%s.json: \"client\" is needed: it should say who measured %s",
                  c->name, c->log);
    else if (!c->duration && c->client.loop == CLIENT_NONE)
        error_add(e, EXIT_INPUT, "%s.json: \"seconds\" is needed without a client", c->name);
    return e->count > before ? -1 : 0;
}

/* Do guests get something to do for this capture only? Where the client's load can be chosen they
 * do, else their programs begin with them. */
static bool programs_begin_anew(const struct capture *c)
{
    return c->client.loop != CLIENT_NONE && c->client.loop != CLIENT_INTERVAL;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void run_until(struct capture_world *w, sim_time date)
{
    queue_run(&w->machine.queue, date);
    w->machine.queue.now = date;
}

static sim_time now(const struct capture_world *w)
{
    return w->machine.queue.now;
}

/* A random time below `most`. */
static sim_time some(struct capture_world *w, sim_time most)
{
    return (sim_time)rng_below(&w->rng, (uint64_t)most);
}

/* ---- the host -------------------------------------------------------------------------------- */

static void arrival(struct machine *m, struct packet *p)
{
    (void)m;
    packet_free(p);
}

static const struct machine_ops machine_ops = {.arrival = arrival};

static struct cpupool *add_pool(struct capture_world *w, const char *name, const char *scheduler,
                                bool guests, cpumask cpus)
{
    const struct sched_ops *ops = scheduler_by_name(scheduler);
    void *params = capture_scheduler_params(w->capture, ops, guests);
    struct cpupool *pool =
        host_add_pool(w->host, name, ops, params, ops->params ? ops->params->size : 0);

    free(params);
    pool->overhead = capture_machine_overhead(w->machine_costs, scheduler);
    for_each_cpu(cpu, &cpus)
    {
        run_until(w, now(w) + 1 + some(w, POOL_SPREAD));
        pool_add_pcpu(pool, &w->host->pcpu[cpu]);
        host_settle(w->host);
    }
    return pool;
}

static void add_host(struct capture_world *w)
{
    const struct capture *c = w->capture;
    cpumask all = cpumask_first_n(c->pcpus), rest = cpumask_andnot(&all, &c->guest_cpus);
    cpumask mine = cpumask_and(&all, &c->guest_cpus);
    sim_time tick = w->machine_costs->host.emulator_tick;

    w->host = host_new(&w->machine.queue, "xen", c->pcpus, 1, 0, 0);
    w->host->version = xen_version_of(c->xen);
    w->host->costs = w->machine_costs->host;
    w->host->costs.smt_factor = 100;
    host_vary(w->host, w->seed, w->replication, "host");
    if (c->pcpus == 1 || c->tsc_hz != 1000000000) /* nothing to take turns with; real threads */
        w->host->costs.emulator_tick = tick = 0;
    if (tick && !capture_interleaved(c)) {
        w->host->costs.emulator_whole = true;
        w->host->costs.emulator_tick = tick = w->machine_costs->emulator.kick;
    }
    if (tick)
        turns_init(w->host, some(w, tick));
    if (c->placement == PLACED_POOL && !cpumask_empty(&rest)) {
        w->dom0_pool = add_pool(w, "Pool-0", c->dom0_scheduler, false, rest);
        w->guest_pool = add_pool(w, "P1", c->scheduler, true, mine);
    } else {
        w->dom0_pool = w->guest_pool = add_pool(w, "Pool-0", c->scheduler, true, all);
    }
}

/* ---- domains --------------------------------------------------------------------------------- */

static struct guest *add_domain(struct capture_world *w, struct cpupool *pool, uint32_t id,
                                const char *name, uint32_t vcpus, uint32_t weight, cpumask hard,
                                const struct guest_costs *costs)
{
    struct guest *g = guest_new(domain_create(pool, id, name, weight, 0), vcpus);

    g->costs = *costs;
    for (uint32_t i = 0; i < vcpus; i++) {
        struct vcpu *v = guest_add_vcpu(g);

        if (!cpumask_subset(&pool->cpus, &hard))
            vcpu_set_affinity(v, &hard, NULL);
    }
    guest_vary(g, w->seed, w->replication, name);
    return g;
}

static void add_program(struct capture_world *w, struct guest *g, const char *name,
                        const void *params, enum thread_class class, struct stack *stack)
{
    const struct program_site site = {.guest = g,
                                      .class = class,
                                      .entity = g->domain->name,
                                      .seed = w->seed,
                                      .replication = w->replication,
                                      .stack = stack,
                                      .connections = 1};

    program_start(program_by_name(name), params, &site);
}

/* Computes, then sleeps; from a random phase of its cycle. */
static void add_periodic(struct capture_world *w, struct guest *g, sim_time period, sim_time work)
{
    const struct periodic_params p = {
        .compute = work, .period = period, .phase = some(w, period), .start = now(w)};

    add_program(w, g, "periodic", &p, CLASS_NORMAL, NULL);
}

static void add_kernel_timers(struct capture_world *w, struct guest *g)
{
    sim_time tick = g->costs.tick, phase = g->vcpu[0].tick_phase;

    for (size_t i = 0; i < CAPTURE_KERNEL_TIMERS; i++) {
        const struct capture_kernel_timer *k = &capture_kernel_timers[i];
        const struct periodic_params p = {.compute = k->work,
                                          .period = k->period,
                                          .phase = some(w, k->period / tick) * tick,
                                          .start = phase < 0 ? 0 : phase,
                                          .deferrable = k->deferrable};

        add_program(w, g, "periodic", &p, CLASS_NORMAL, NULL);
    }
}

static void add_dom0(struct capture_world *w)
{
    const struct capture *c = w->capture;
    struct guest *g = add_domain(w, w->dom0_pool, 0, "dom0", c->dom0_vcpus, 0, c->dom0_cpus,
                                 &w->machine_costs->dom0);

    w->guest[0] = g;
    add_periodic(w, g, TRACER_PERIOD, TRACER_WORK);
    add_periodic(w, g, DAEMON_PERIOD, DAEMON_WORK);
    w->net = host_net_new(&w->machine, g, &w->machine_costs->network);
    for (uint32_t i = 0; i < c->dom0_vcpus; i++)
        vcpu_start(g->vcpu[i].vcpu);
}

static void add_programs(struct capture_world *w, struct guest *g, const struct capture_guest *cg,
                         struct stack *stack)
{
    const struct rpc_params rpc = {.port = RPC_PORT,
                                   .threads = 1,
                                   .overhead = w->machine_costs->echo.overhead +
                                               (cg->compute ? 0 : w->machine_costs->echo.plain)};
    /* 29.5 ms and the guest's ticks fit into a slice of 30 ms, 30 ms and ticks do not. */
    sim_time burst = capture_burst(w->capture, cg->lookbusy_burst);
    sim_time cycle = burst + cg->lookbusy_sleep;
    const struct lookbusy_params lookbusy = {
        .busy = cycle ? (int64_t)((int128)burst * PERCENT_ALL / cycle) : 0,
        .cycle = cycle,
        .random_phase = true};

    add_kernel_timers(w, g);
    if (cg->programs & CAPTURE_ECHO)
        add_program(w, g, "rpc", &rpc, CLASS_NORMAL, stack);
    if (cg->programs & CAPTURE_WAKER)
        w->waker[w->wakers++] = capture_waker_start(g, w->guest[0], cg, &w->machine_costs->waker);
    if (cg->programs & CAPTURE_LOOKBUSY)
        add_program(w, g, "lookbusy", &lookbusy, CLASS_NORMAL, NULL);
    if (cg->programs & CAPTURE_HOG)
        add_program(w, g, "hog", NULL, CLASS_NORMAL, NULL);
    if (cg->programs & CAPTURE_IDLE_HOG)
        add_program(w, g, "hog", NULL, CLASS_IDLE, NULL);
}

/* A guest boots, with the others paused, and is paused. */
static void add_guest(struct capture_world *w, const struct capture_guest *cg)
{
    const struct capture *c = w->capture;
    cpumask hard =
        c->placement == PLACED_PINNED ? cpumask_and(&cg->pinned, &c->guest_cpus) : cg->pinned;
    struct guest *g = add_domain(w, w->guest_pool, cg->domain, cg->name, cg->vcpus, cg->weight,
                                 hard, &w->machine_costs->guest);
    struct stack *stack = NULL;

    w->guest[++w->guests] = g;
    if (cg->cap)
        domain_set(g->domain, cg->weight, cg->cap);
    if (cg->programs & CAPTURE_ECHO) {
        stack = host_net_add_guest(w->net, g, &w->machine_costs->vif);
        if (!w->server) {
            w->server = stack->endpoint;
            w->server_demand = cg->compute;
        }
    }
    add_programs(w, g, cg, stack);
    for (uint32_t k = 0; k < cg->vcpus; k++) {
        capture_set_vcpu(cg, g->domain->vcpu[k]);
        w->host->executing = w->guest[0]->vcpu[0].vcpu->processor;
        vcpu_start(g->domain->vcpu[k]);
    }
    host_settle(w->host);
    run_until(w, now(w) + BOOT_TIME / 10 + some(w, BOOT_TIME));
    for (uint32_t k = 0; k < cg->vcpus; k++) {
        w->host->executing = w->guest[0]->vcpu[0].vcpu->processor;
        vcpu_pause(g->domain->vcpu[k]);
        host_settle(w->host);
    }
}

/* Others of the same job: those whose numbers are missing before the last one's. */
static void add_others(struct capture_world *w)
{
    const struct capture *c = w->capture;
    struct capture_guest other = {.name = "other",
                                  .vcpus = 1,
                                  .weight = DEFAULT_WEIGHT,
                                  .programs = CAPTURE_HOG,
                                  .pinned = cpumask_all()};
    uint32_t last = 0;

    for (size_t i = 0; i < c->guests; i++)
        if (c->guest[i].domain > last)
            last = c->guest[i].domain;
    for (uint32_t id = 1; id < last && w->guests < c->guests + OTHERS_MOST; id++) {
        bool named = false;

        for (size_t i = 0; i < c->guests; i++)
            named |= c->guest[i].domain == id;
        other.domain = id;
        if (!named)
            add_guest(w, &other);
    }
}

/* Pause it, or let it go: by a command of dom0's. */
static void let(struct capture_world *w, size_t i, bool run)
{
    struct domain *d = w->guest[i + 1]->domain;

    if (w->runs[i] == run)
        return;
    w->runs[i] = run;
    for (uint32_t k = 0; k < d->vcpu_count; k++) {
        w->host->executing = w->guest[0]->vcpu[0].vcpu->processor;
        if (run)
            vcpu_unpause(d->vcpu[k]);
        else
            vcpu_pause(d->vcpu[k]);
        host_settle(w->host);
    }
    run_until(w, now(w) + XL_TIME / 2 + some(w, XL_TIME));
}

/* In the order of their numbers, others between those of the capture. */
static size_t next_by_number(const struct capture_world *w, uint32_t *last)
{
    size_t next = SIZE_MAX;

    for (size_t i = 0; i < w->guests; i++)
        if (w->guest[i + 1]->domain->id > *last &&
            (next == SIZE_MAX || w->guest[i + 1]->domain->id < w->guest[next + 1]->domain->id))
            next = i;
    if (next != SIZE_MAX)
        *last = w->guest[next + 1]->domain->id;
    return next;
}

/* Who never blocks: the first by number; SIZE_MAX: nobody. */
static size_t first_hog(const struct capture_world *w)
{
    const struct capture *c = w->capture;
    uint32_t last = 0;
    size_t i;

    while (i = next_by_number(w, &last), i != SIZE_MAX)
        if (i >= c->guests || c->guest[i].programs & (CAPTURE_HOG | CAPTURE_IDLE_HOG))
            break;
    return i;
}

/* Captures of a job follow each other. One of its hogs runs all the time, so that the pCPU was not
 * idle since the job began, and its ticks, accountings and slices have long found to each other.
 * Whoever ran in the last capture and does in this one goes on, with the credits that it has;
 * others are paused, or let go. */
static void run_others_before(struct capture_world *w)
{
    size_t hog = first_hog(w);
    uint32_t last = 0;

    if (hog == SIZE_MAX)
        return;
    let(w, hog, true);
    run_until(w, now(w) + some(w, JOB_TIME));
    for (size_t i; i = next_by_number(w, &last), i != SIZE_MAX;)
        if (rng_bernoulli(&w->rng, TAKES_PART))
            let(w, i, true);
    run_until(w, now(w) + RUN_BEFORE + some(w, RUN_BEFORE));
}

static void let_go(struct capture_world *w)
{
    uint32_t last = 0;

    run_until(w, now(w) + PAUSED_TIME + some(w, PAUSED_TIME));
    if (!programs_begin_anew(w->capture) && rng_bernoulli(&w->rng, NOT_FIRST))
        run_others_before(w);
    for (size_t i; i = next_by_number(w, &last), i != SIZE_MAX;)
        let(w, i, i < w->capture->guests);
    run_until(w, now(w) + SETTLE_TIME);
}

/* ---- the client ------------------------------------------------------------------------------ */

static void start_client(struct capture_world *w)
{
    static const enum prober_loop loop[] = {[CLIENT_INTERVAL] = PROBER_INTERVAL,
                                            [CLIENT_CLOSED] = PROBER_CLOSED,
                                            [CLIENT_OPEN] = PROBER_OPEN};
    const struct capture_client *k = &w->capture->client;
    struct prober_params p = {.loop = loop[k->loop],
                              .period = k->period,
                              .start = now(w) + 20 * NS_PER_MS,
                              .until = SIM_NEVER,
                              .requests = k->requests,
                              .timeout = 2 * NS_PER_S,
                              .demand = w->server_demand,
                              .bytes = k->bytes + FRAMING,
                              .endpoint = w->server,
                              .port = RPC_PORT};

    if (k->loop == CLIENT_NONE || k->loop == CLIENT_ROUNDS)
        return;
    if (k->loop != CLIENT_INTERVAL)
        p.period = (sim_time)(1e9 / k->rate);
    if (w->capture->duration && !k->requests)
        p.until = p.start + w->capture->duration;
    w->prober = prober_start(&w->guest[0]->vcpu[0], host_net_dom0(w->net), 40000, &p, w->seed,
                             w->replication, "client");
}

/* The client is through with all its requests, or the trace as long as it should be. */
static void run_trace(struct capture_world *w)
{
    const struct capture *c = w->capture;
    const struct prober *p = w->prober;
    sim_time until = now(w) + (c->duration ? c->duration : 0);

    w->begin = now(w);
    if (!p) {
        run_until(w, until);
        return;
    }
    if (c->duration)
        run_until(w, until + 20 * NS_PER_MS);
    /* What is still under way; a closed loop may be late with its last requests. */
    for (sim_time limit = now(w) + 600 * NS_PER_S; now(w) < limit;) {
        bool enough = c->duration || p->rows >= c->client.requests;

        if (enough && !p->awaits &&
            (p->params.loop != PROBER_OPEN || now(w) > until + 2 * NS_PER_S))
            break;
        run_until(w, now(w) + 10 * NS_PER_MS);
    }
}

/* ---- figures --------------------------------------------------------------------------------- */

static void read_trace(struct capture_world *w, double *value)
{
    struct xentrace_reader *r = xentrace_open_memory(w->trace, w->trace_size);
    struct xentrace_summary *s = xentrace_summary_new();
    struct xentrace_record rec;

    while (xentrace_next(r, &rec))
        xentrace_summary_record(s, &rec);
    xentrace_summary_end(s);
    figures_of_trace(w->capture, s, (uint64_t)TRACE_KHZ * 1000, value);
    xentrace_summary_free(s);
    xentrace_close(r);
}

static void read_trips(struct capture_world *w, double *value)
{
    const struct prober *p = w->prober;
    sim_time *delay = xcalloc(p->rows + 1, sizeof *delay);

    for (size_t i = 0; i < p->rows; i++)
        delay[i] = p->row[i].delay;
    figures_of_trips(w->capture, delay, p->rows, value);
    free(delay);
}

static void tear_down(struct capture_world *w)
{
    host_net_free(w->net);
    if (w->prober)
        prober_free(w->prober);
    host_free(w->host);
    for (size_t i = 0; i <= w->guests; i++)
        guest_free(w->guest[i]);
    free(w->guest);
    free(w->runs);
    for (size_t i = 0; i < w->wakers; i++)
        capture_waker_free(w->waker[i]);
    free(w->waker);
    fleet_free(&w->fleet);
    machine_free(&w->machine);
    free(w->trace);
}

int capture_simulate(const struct capture *c, const struct capture_machine *m, uint64_t seed,
                     uint64_t replication, double *value, struct errors *e)
{
    struct capture_world w = {
        .capture = c, .machine_costs = m, .seed = seed, .replication = replication};
    FILE *out = open_memstream(&w.trace, &w.trace_size);
    int status = 0;

    if (!out)
        BUG("no memory stream");
    rng_init(&w.rng, seed, replication, "capture", "phases");
    w.guest = xcalloc(c->guests + OTHERS_MOST + 1, sizeof *w.guest);
    w.runs = xcalloc(c->guests + OTHERS_MOST, sizeof *w.runs);
    w.waker = xcalloc(c->guests + 1, sizeof *w.waker);
    fleet_init(&w.fleet);
    machine_init(&w.machine, NULL, &machine_ops, &w);
    fleet_add(&w.fleet, &w.machine);
    add_host(&w);
    add_dom0(&w);
    for (size_t i = 0; i < c->guests; i++)
        add_guest(&w, &c->guest[i]);
    if (!programs_begin_anew(c))
        add_others(&w);
    let_go(&w);
    xentrace_writer_attach(&w.writer, w.host, out, TRACE_KHZ);
    start_client(&w);
    run_trace(&w);
    if (w.host->fault)
        status = error_add(e, EXIT_INTERNAL, "%s: %s", c->capture, w.host->fault);
    xentrace_writer_finish(&w.writer);
    fclose(out);
    read_trace(&w, value);
    if (w.prober)
        read_trips(&w, value);
    tear_down(&w);
    return status;
}
