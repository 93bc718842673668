/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A Xen host from boot to shutdown: pCPUs come up, pools and domains are made, vCPUs start.
 *
 * pCPUs come up at random dates within boot_spread of the boot, because the phase of their ticks
 * matters (slices and accounting are of equal length and lock in). With "exact" they come up as in
 * the reference schedules: at 137 us and each 1 us later.
 */
#include "experiments/scenario/affinity.h"
#include "experiments/scenario/world.h"
#include "models/hypervisor/turns.h"
#include "models/schedulers/plugin.h"
#include "workloads/programs.h"

#include <stdlib.h>
#include <string.h>

#define EXACT_BOOT (137 * NS_PER_US)
#define EXACT_STAGGER NS_PER_US

/* External events of one instant: wake lists in the order of the scenario, then starts. */
#define KEY_START (UINT64_C(1) << 40)

/* When a vCPU is brought up. */
struct vcpu_start {
    struct timer timer;
    struct vcpu *vcpu;
};

/* "xen1/web", and after the n-th reboot "xen1/web@n": the entity of random streams. */
static char *entity(const struct world_host *wh, const char *name)
{
    if (wh->machine.boots)
        return xasprintf("%s/%s@%u", wh->roster->name, name, wh->machine.boots);
    return xasprintf("%s/%s", wh->roster->name, name);
}

/* ---- pCPUs and pools ------------------------------------------------------------------------- */

static int by_date(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;

    return (x > y) - (x < y);
}

/* After a reboot all come up at once: the queue cannot be run ahead then. */
static void boot_dates(const struct world_host *wh, sim_time boot, uint32_t count, sim_time *date)
{
    const struct world *w = wh->world;
    uint64_t spread = boot ? 0 : (uint64_t)wh->roster->spec->boot_spread;
    char *name = entity(wh, "boot");
    struct rng rng;

    rng_init(&rng, w->seed, w->replication, name, "pCPUs");
    for (uint32_t c = 0; c < count; c++) {
        sim_time exact = boot ? 0 : EXACT_BOOT + c * EXACT_STAGGER;

        date[c] = boot + (w->scenario->exact ? exact : (sim_time)rng_below(&rng, spread + 1));
    }
    qsort(date, count, sizeof *date, by_date);
    free(name);
}

static struct cpupool *add_pool(struct host *h, const char *name,
                                const struct param_variant *scheduler)
{
    const struct sched_ops *ops = scheduler->choice->user;

    h->guard |= scheduler_is_plugin(ops);
    return host_add_pool(h, name, ops, scheduler->data, ops->params ? ops->params->size : 0);
}

/* The pool of each pCPU, NULL for those in none. */
static struct cpupool **add_pools(struct host *h, const struct host_spec *spec)
{
    struct cpupool **of = xcalloc(h->pcpu_count, sizeof(struct cpupool *));

    for (size_t i = 0; i < spec->pools.count; i++) {
        const struct pool_spec *p = host_pool(spec, i);
        struct cpupool *pool =
            add_pool(h, p->name, p->scheduler.choice ? &p->scheduler : &spec->scheduler);

        pool->overhead = h->costs.context_switch ? p->overhead : 0; /* none with "exact" */

        for_each_cpu(c, &p->cpus) if (c < h->pcpu_count) of[c] = pool;
    }
    if (!spec->pools.count) {
        struct cpupool *pool = add_pool(h, "Pool-0", &spec->scheduler);

        for (uint32_t c = 0; c < h->pcpu_count; c++)
            of[c] = pool;
    }
    return of;
}

static void set_speeds(struct host *h, const struct world_host *wh)
{
    const struct param_list *speeds = &wh->roster->spec->speeds;
    const int64_t *percent = speeds->item;
    double now = wh->machine.nominal_speed > 0 ? wh->machine.speed / wh->machine.nominal_speed : 1;

    for (uint32_t c = 0; c < h->pcpu_count; c++) {
        int64_t p = !speeds->count ? 100 : speeds->count == 1 ? percent[0] : percent[c];

        pcpu_set_speed(&h->pcpu[c], (uint32_t)(SPEED_ONE * (double)p / 100 * now));
    }
}

static void boot_pcpus(struct world_host *wh, sim_time boot)
{
    struct host *h = wh->host;
    struct queue *q = &wh->machine.queue;
    struct cpupool **pool = add_pools(h, wh->roster->spec);
    sim_time *date = xcalloc(h->pcpu_count, sizeof *date);

    boot_dates(wh, boot, h->pcpu_count, date);
    for (uint32_t c = 0; c < h->pcpu_count; c++) {
        if (!pool[c])
            continue;
        if (!wh->world->scenario->exact && !boot)
            queue_run(q, date[c]);
        q->now = date[c];
        pool_add_pcpu(pool[c], &h->pcpu[c]);
        if (wh->world->scenario->exact)
            h->pcpu[c].idle->last_switch = date[0]; /* all idle vCPUs exist by then */
    }
    host_settle(h);
    free(date);
    free(pool);
}

/* An emulator's clock has any phase. */
static void begin_turns(struct world_host *wh, sim_time boot)
{
    sim_time tick = wh->host->costs.emulator_tick;
    char *name = entity(wh, "emulator");
    struct rng rng;

    rng_init(&rng, wh->world->seed, wh->world->replication, name, "clock");
    if (tick > 0)
        turns_init(wh->host, boot + (sim_time)rng_below(&rng, (uint64_t)tick));
    free(name);
    name = entity(wh, "timers");
    host_vary(wh->host, wh->world->seed, wh->world->replication, name);
    free(name);
}

/* ---- domains --------------------------------------------------------------------------------- */

static void start_fire(struct timer *t, sim_time now)
{
    struct vcpu_start *s = container_of(t, struct vcpu_start, timer);

    (void)now;
    vcpu_host(s->vcpu)->executing = s->vcpu->processor;
    vcpu_start(s->vcpu);
}

static struct cpupool *pool_named(const struct host *h, const char *name)
{
    for (uint32_t i = 0; name && i < h->pool_count; i++)
        if (!strcmp(h->pool[i]->name, name))
            return h->pool[i];
    return h->pool[0];
}

static void set_affinity(struct vcpu *v, const cpumask *hard, const cpumask *soft)
{
    const cpumask *new_hard = cpu_list_is_all(hard) ? NULL : hard;
    const cpumask *new_soft = cpu_list_is_all(soft) ? NULL : soft;

    if (new_hard || new_soft)
        vcpu_set_affinity(v, new_hard, new_soft);
}

static void set_parameters(struct vcpu *v, const struct param_variant *set)
{
    struct scheduler *s = vcpu_scheduler(v);

    if (set->choice && set->choice->user == s->ops && s->ops->adjust_vcpu && set->data)
        s->ops->adjust_vcpu(s, v, set->data);
}

/* The domain that the vCPU is the first of. */
static void set_domain_parameters(struct vcpu *v, const struct param_variant *set)
{
    struct scheduler *s = vcpu_scheduler(v);

    if (set->choice && set->choice->user == s->ops && s->ops->adjust_domain && set->data)
        s->ops->adjust_domain(s, v->domain, set->data);
}

/* What the scenario says of a vCPU that was created now. */
static void set_up_vcpu(const struct world_domain *wd, struct vcpu *v)
{
    const struct domain_spec *spec = wd->roster->spec;

    if (v->id == 0)
        set_domain_parameters(v, &spec->set);
    set_affinity(v, &spec->hard, &spec->soft);
    for (size_t i = 0; i < spec->per_vcpu.count; i++) {
        const struct vcpu_spec *exception = domain_exception(spec, i);

        if (v->id >= MAX_PCPUS ? !cpu_list_is_all(&exception->vcpus)
                               : !cpumask_test(&exception->vcpus, v->id))
            continue;
        set_affinity(v, &exception->hard, &exception->soft);
        set_parameters(v, &exception->set);
    }
}

/* A string that lives as long as the host. */
static const char *keep(struct world_host *wh, char *text)
{
    wh->text = xrealloc(wh->text, (wh->texts + 1) * sizeof *wh->text);
    return wh->text[wh->texts++] = text;
}

static void keep_wakes(struct world_host *wh, struct wake_list *w)
{
    wh->wake = xrealloc(wh->wake, (wh->wakes + 1) * sizeof *wh->wake);
    wh->wake[wh->wakes++] = w;
}

static void start_program(struct world_domain *wd, const struct program_spec *p, uint32_t vcpu,
                          char *name)
{
    const struct program *program = p->run.choice->user;
    const struct world *w = wd->host->world;
    char *below = xasprintf("%s/%s", wd->roster->name, name);
    struct program_site site = {.guest = wd->guest,
                                .vcpu = vcpu,
                                .class = (enum thread_class)p->class,
                                .priority = (uint8_t)p->priority,
                                .entity = keep(wd->host, entity(wd->host, below)),
                                .seed = w->seed,
                                .replication = w->replication,
                                .stack = wd->stack,
                                .connections = wd->connections,
                                .vbd = wd->vbd,
                                .control = world_controller_site(w, (size_t)(wd - w->domain))};
    struct thread *t;

    t = program_start(program, p->run.data, &site);
    wd->program = xrealloc(wd->program, (wd->programs + 1) * sizeof(struct thread *));
    wd->program[wd->programs++] = t;
    for (size_t i = 0; i < p->events.count; i++)
        keep_wakes(wd->host,
                   wake_list_start(SPEC_AT(p->events, struct wake_spec, i), t, wd->host->wakes));
    free(below);
    free(name);
}

/* One instance on each vCPU, or on the one that is given. A server has threads of its own for the
 * others. */
static void add_program(struct world_domain *wd, const struct program_spec *p, size_t index)
{
    const struct program *program = p->run.choice->user;
    const char *name = p->name ? p->name : program->name;
    uint32_t vcpus = wd->domain->vcpu_count;
    bool all = p->vcpu < 0 && !program_serves(program);

    if (!all) {
        start_program(wd, p, p->vcpu < 0 ? 0 : (uint32_t)p->vcpu, xasprintf("%s.%zu", name, index));
        return;
    }
    for (uint32_t i = 0; i < vcpus; i++)
        start_program(wd, p, i, xasprintf("%s.%zu.%u", name, index, i));
}

/* Its vCPUs start together, at its date and a random time later. */
static void arm_start(struct world_domain *wd, sim_time boot)
{
    const struct domain_spec *spec = wd->roster->spec;
    struct world_host *wh = wd->host;
    const struct world *w = wh->world;
    char *name = entity(wh, wd->roster->name);
    sim_time start = spec->start, now = wh->machine.queue.now;
    struct rng rng;

    rng_init(&rng, w->seed, w->replication, name, "start");
    if (boot || start < now)
        start = now;
    start += (sim_time)rng_below(&rng, (uint64_t)spec->start_spread + 1);
    wd->start = xcalloc(wd->domain->vcpu_count, sizeof *wd->start);
    for (uint32_t i = 0; i < wd->domain->vcpu_count; i++) {
        struct vcpu_start *s = &wd->start[i];

        timer_init(&s->timer, start_fire);
        s->vcpu = wd->domain->vcpu[i];
        queue_arm_key(&wh->machine.queue, &s->timer, start, RANK_EXTERNAL,
                      KEY_START + s->vcpu->index);
    }
    free(name);
}

/* dom0 comes first and brings the host's network. */
static void add_network(struct world_domain *wd)
{
    struct world_host *wh = wd->host;
    const struct domain_spec *spec = wd->roster->spec;

    if (!wd->roster->id && wh->roster->spec->dom0 &&
        (wh->world->loads || wh->world->roster->loops)) {
        wh->net = host_net_new(&wh->machine, wd->guest, &wh->roster->spec->network);
        wd->stack = host_net_dom0(wh->net);
    } else if (spec->network && wh->net) {
        wd->stack = host_net_add_guest(wh->net, wd->guest, spec->network);
    }
}

/* The host's disk comes with the first domain that has one. */
static void add_disk(struct world_domain *wd)
{
    struct world_host *wh = wd->host;
    const struct world *w = wh->world;
    char *name;

    if (!wd->roster->spec->disk)
        return;
    if (!wh->block) {
        wh->block = host_block_new(wh->domain->guest, &wh->roster->spec->block);
        host_block_measure(wh->block, w->from, w->until);
    }
    name = entity(wh, wd->roster->name);
    wd->vbd =
        host_block_add(wh->block, wd->guest, wd->roster->spec->disk, name, w->seed, w->replication);
    wd->vbd->latency = meter_disk(&wh->meter, wd->roster->id);
    free(name);
}

/* The host goes off: what its programs have done is noted, they are freed with their guests. */
static void end_programs(struct world_domain *wd)
{
    for (size_t i = 0; i < wd->programs; i++) {
        struct program_counts c = program_counts(wd->program[i]);

        wd->work.served += c.served;
        wd->work.jobs += c.jobs;
        wd->work.job_time += c.job_time;
        wd->work.bytes += c.bytes;
        if (c.finished > wd->work.finished)
            wd->work.finished = c.finished;
    }
    free(wd->program);
    wd->program = NULL;
    wd->programs = 0;
    if (wd->vbd)
        wd->disk_bytes += wd->vbd->counts.bytes_measured;
    wd->vbd = NULL;
}

static void vary_costs(struct world_domain *wd)
{
    const struct world *w = wd->host->world;
    char *name = entity(wd->host, wd->roster->name);

    guest_vary(wd->guest, w->seed, w->replication, name);
    free(name);
}

/* Guest, network and programs of a domain that an action creates later are made now, too: they do
 * nothing before its vCPUs run, and everybody finds them in the order of the scenario. */
static void add_domain(struct world_domain *wd, sim_time boot)
{
    const struct domain_spec *spec = wd->roster->spec;
    struct host *h = wd->host->host;
    struct domain *(*make)(struct cpupool *, uint32_t, const char *, uint32_t, uint32_t) =
        wd->created > boot ? domain_describe : domain_create;

    wd->domain = make(pool_named(h, spec->pool), wd->roster->id, wd->roster->name,
                      (uint32_t)spec->weight, (uint32_t)spec->cap);
    wd->guest = guest_new(wd->domain, (uint32_t)spec->vcpus);
    wd->guest->costs = spec->costs;
    if (wd->host->world->scenario->exact)
        wd->guest->costs = (struct guest_costs){0}; /* the tick too */
    for (int64_t i = 0; i < spec->vcpus; i++) {
        struct vcpu *v = guest_add_vcpu(wd->guest);

        if (!wd->domain->absent)
            set_up_vcpu(wd, v);
    }
    vary_costs(wd);
    add_network(wd);
    add_disk(wd);
    for (size_t i = 0; i < spec->programs.count; i++)
        add_program(wd, domain_program(spec, i), i);
    if (!wd->domain->absent)
        arm_start(wd, boot);
}

void world_domain_create(struct world_domain *wd)
{
    if (!wd->domain || !wd->domain->absent)
        return;
    wd->host->host->executing = 0;
    domain_appear(wd->domain);
    for (uint32_t i = 0; i < wd->domain->vcpu_count; i++) {
        vcpu_appear(wd->domain->vcpu[i]);
        set_up_vcpu(wd, wd->domain->vcpu[i]);
    }
    arm_start(wd, 0);
}

/* ---- the host -------------------------------------------------------------------------------- */

void world_host_boot(struct world_host *wh, sim_time boot)
{
    const struct host_spec *spec = wh->roster->spec;
    struct queue *q = &wh->machine.queue;

    wh->host =
        host_new(q, wh->roster->name, (uint32_t)spec->pcpus, (uint32_t)spec->threads_per_core,
                 (uint32_t)spec->cores_per_socket, (uint32_t)spec->sockets_per_node);
    wh->host->version = xen_versions[spec->xen];
    wh->host->costs = spec->costs;
    begin_turns(wh, boot);
    boot_pcpus(wh, boot);
    if (!boot) {
        if (!wh->world->scenario->exact)
            queue_run(q, wh->world->up);
        q->now = wh->world->up;
    }
    wh->host->executing = 0;
    for (size_t i = 0; i < wh->roster->domains; i++)
        add_domain(&wh->domain[i], boot);
    if (boot)
        world_loops_host_up(wh);
    set_speeds(wh->host, wh);
    meter_attach(&wh->meter, wh->host);
}

void world_host_shutdown(struct world_host *wh)
{
    if (!wh->host)
        return;
    if (wh->host->guard)
        host_check_forgotten(wh->host, 10 * NS_PER_S);
    if (wh->host->fault && !wh->fault)
        wh->fault = xstrdup(wh->host->fault);
    meter_close(&wh->meter, wh->host);
    for (size_t i = 0; i < wh->roster->domains; i++) {
        struct world_domain *wd = &wh->domain[i];

        for (uint32_t k = 0; wd->start && k < wd->domain->vcpu_count; k++)
            queue_cancel(&wh->machine.queue, &wd->start[k].timer);
        if (wd->guest)
            controller_close(wd->guest, wh->machine.queue.now);
        end_programs(wd);
        free(wd->start);
        wd->start = NULL;
    }
    for (size_t i = 0; i < wh->wakes; i++)
        wake_list_free(wh->wake[i]);
    free(wh->wake);
    wh->wake = NULL;
    wh->wakes = 0;
    if (wh->net)
        host_net_free(wh->net);
    wh->net = NULL;
    if (wh->block)
        host_block_free(wh->block);
    wh->block = NULL;
    host_free(wh->host);
    wh->host = NULL;
    for (size_t i = 0; i < wh->roster->domains; i++) {
        guest_free(wh->domain[i].guest);
        wh->domain[i].guest = NULL;
        wh->domain[i].domain = NULL;
        wh->domain[i].stack = NULL;
    }
    for (size_t i = 0; i < wh->texts; i++)
        free(wh->text[i]);
    free(wh->text);
    wh->text = NULL;
    wh->texts = 0;
}

/* ---- what the machine tells ------------------------------------------------------------------ */

static void arrival(struct machine *m, struct packet *p)
{
    struct world_host *wh = m->model;

    if (wh->net)
        host_net_receive(wh->net, p);
    else
        packet_free(p);
}

static void failed(struct machine *m, sim_time now)
{
    (void)now;
    world_host_shutdown(m->model);
}

static void rebooted(struct machine *m, sim_time now)
{
    world_host_boot(m->model, now);
}

static void speed_changed(struct machine *m, sim_time now)
{
    struct world_host *wh = m->model;

    (void)now;
    if (wh->host)
        set_speeds(wh->host, wh);
}

const struct machine_ops world_host_ops = {
    .arrival = arrival, .failed = failed, .rebooted = rebooted, .speed_changed = speed_changed};
