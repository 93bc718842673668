/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the time of a vCPU goes: kernel time (upcall, switching), interrupt work, the current
 * thread.
 *
 * The hypervisor's burst is always for one of these (guest_vcpu.doing). An upcall interrupts the
 * burst, notes what is left of it, and only marks what is to be done; the doing itself always
 * starts from `act`, so that everything that is due at one instant is seen before the next step is
 * chosen.
 *
 * CFS in short (Linux up to 6.5, kernel/sched/fair.c; values for one CPU): the runnable thread with
 * the least virtual run time runs; a turn lasts latency/n but at least min_granularity; a thread
 * that slept is placed at most half a latency behind the others, and preempts the current one if it
 * is behind it by more than wakeup_granularity.
 */
#include "models/guest/guest.h"

#include "sim/error.h"

#include <stdio.h>
#include <stdlib.h>

enum { DOING_NOTHING, DOING_KERNEL, DOING_WORK, DOING_THREAD };

/* kernel/sched/fair.c, unscaled for one CPU. */
static const sim_time cfs_latency = 6 * NS_PER_MS;
static const sim_time cfs_min_granularity = 750 * NS_PER_US;
static const sim_time cfs_wakeup_granularity = 1 * NS_PER_MS;

enum { STEPS_WITHOUT_TIME = 1000000 };

static const struct param guest_cost_rows[] = {
    {PARAM("upcall", DURATION, struct guest_costs, upcall), .def = "1us", .max = "1ms",
     .meaning = "Entry and exit of the guest's event-channel upcall.", .status = STATUS_ASSUMED},
    {PARAM("timer", DURATION, struct guest_costs, timer), .def = "2us", .max = "1ms",
     .meaning = "Timer interrupt: expiry of sleeping threads.", .status = STATUS_ASSUMED},
    {PARAM("thread_switch", DURATION, struct guest_costs, thread_switch), .def = "2us",
     .max = "1ms", .meaning = "Switch between threads of the guest.",
     .source = "Li, Ding, Shen 2007 report 3.8 us direct cost on a 2 GHz machine of 2004",
     .status = STATUS_CITED},
    {PARAM("idle_enter", DURATION, struct guest_costs, idle_enter), .def = "4us", .max = "1ms",
     .meaning = "Going idle: return from the last system call, the guest's scheduler, stopping its "
                "tick, setting the timer, until SCHEDOP_block.",
     .status = STATUS_ASSUMED},
    {PARAM("idle_exit", DURATION, struct guest_costs, idle_exit), .def = "1us", .max = "1ms",
     .meaning = "Leaving the guest's idle loop after a block.", .status = STATUS_ASSUMED},
    {PARAM("softirq_limit", DURATION, struct guest_costs, softirq_limit), .def = "2ms", .max = "1s",
     .word = "never", .word_value = 0,
     .meaning =
         "Interrupt work that has gone on for this long without a break, while threads wait, "
         "is left to a thread (ksoftirqd).",
     .source = "Linux: MAX_SOFTIRQ_TIME", .status = STATUS_CITED},
    {PARAM("jitter", PERCENT, struct guest_costs, jitter), .def = "50%", .max = "100%",
     .meaning = "By how much each cost of the kernel's own varies, uniformly, up and down (caches, "
                "timers, branches): it decides races between vCPUs by chance, not for ever.",
     .status = STATUS_ASSUMED},
    {PARAM("tick", DURATION, struct guest_costs, tick), .def = "4ms", .min = "1ms", .max = "10ms",
     .meaning = "Period of the guest's scheduler tick (preemption between its threads).",
     .source = "Debian's kernels: HZ=250", .status = STATUS_CITED},
    {PARAM("idle_tick", BOOLEAN, struct guest_costs, idle_tick), .def = "false",
     .meaning =
         "One tick more comes after the vCPU has gone idle, and wakes it (Linux's dynamic ticks "
         "stop only then).",
     .status = STATUS_ASSUMED},
    {PARAM("busy_tick", BOOLEAN, struct guest_costs, busy_tick), .def = "false",
     .range = PARAM_NO_RANGE,
     .meaning = "The tick interrupts the vCPU while it is not idle, as Linux's does; the guest's "
                "own idea of its CPU time (/proc/stat) is the number of ticks that found a thread. "
                "One that comes late, since the vCPU had no pCPU, counts like any other.",
     .status = STATUS_ASSUMED},
    {PARAM("tick_work", DURATION, struct guest_costs, tick_work), .def = "0",
     .range = PARAM_NO_RANGE, .max = "1ms",
     .meaning =
         "With busy_tick: what a tick does beyond its interrupt (accounting, the scheduler's "
         "tick, the softirqs that it raises).",
     .status = STATUS_ASSUMED},
    {PARAM("tick_restart", DURATION, struct guest_costs, tick_restart), .def = "0",
     .range = PARAM_NO_RANGE, .max = "1ms",
     .meaning = "With busy_tick: what it costs more to leave idle for a thread when the tick has "
                "stopped (time is brought up to date, the tick's timer set).",
     .status = STATUS_ASSUMED},
};

const struct param_table guest_cost_table =
    PARAM_TABLE("guest costs", struct guest_costs, guest_cost_rows,
                .meaning = "What the guest kernel's own work costs.");

/* ---- costs that vary ------------------------------------------------------------------------- */

void guest_vary(struct guest *g, uint64_t seed, uint64_t replication, const char *entity)
{
    for (uint32_t i = 0; i < g->domain->vcpu_count; i++) {
        char purpose[40];

        snprintf(purpose, sizeof purpose, "kernel costs of vcpu %u", i);
        rng_init(&g->vcpu[i].rng, seed, replication, entity, purpose);
        if (g->costs.busy_tick) {
            struct rng r;

            snprintf(purpose, sizeof purpose, "tick of vcpu %u", i);
            rng_init(&r, seed, replication, entity, purpose);
            g->vcpu[i].tick_phase = (sim_time)rng_below(&r, (uint64_t)g->costs.tick);
        }
    }
    g->varies = true;
}

/* A cost of the kernel's own, this time: uniform around its mean. */
static sim_time vary(struct guest_vcpu *gv, sim_time cost)
{
    double spread;

    if (!gv->guest->varies || !gv->guest->costs.jitter || !cost)
        return cost;
    spread = percent_fraction(gv->guest->costs.jitter) * (2 * rng_uniform(&gv->rng) - 1);
    return cost + (sim_time)((double)cost * spread);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Does a run before b? Ties: the one that became runnable first. */
static bool runs_before(const struct thread *a, const struct thread *b)
{
    if (a->class != b->class)
        return a->class < b->class;
    if (a->class == CLASS_FIFO)
        return a->priority > b->priority;
    return a->vruntime < b->vruntime;
}

static void enqueue(struct guest_vcpu *gv, struct thread *t)
{
    struct list *at = gv->runq.next;

    while (at != &gv->runq && !runs_before(t, container_of(at, struct thread, run)))
        at = at->next;
    list_insert_before(at, &t->run);
    gv->runnable++;
}

static struct thread *first_queued(const struct guest_vcpu *gv)
{
    return list_empty(&gv->runq) ? NULL : container_of(gv->runq.next, struct thread, run);
}

static void place_woken(struct guest_vcpu *gv, struct thread *t)
{
    sim_time least = gv->min_vruntime - cfs_latency / 2;

    if (t->vruntime < least)
        t->vruntime = least;
}

static bool preempts(const struct guest_vcpu *gv, const struct thread *t)
{
    const struct thread *cur = gv->current;

    if (!cur)
        return true;
    if (t->class != cur->class)
        return t->class < cur->class;
    if (t->class == CLASS_FIFO)
        return t->priority > cur->priority;
    return cur->vruntime - t->vruntime > cfs_wakeup_granularity;
}

static sim_time turn_length(const struct guest_vcpu *gv)
{
    sim_time turn = cfs_latency / (gv->runnable + 1);
    sim_time tick = gv->guest->costs.tick;

    if (turn < cfs_min_granularity)
        turn = cfs_min_granularity;
    if (tick > 0) /* noticed at the guest's tick only */
        turn = (turn + tick - 1) / tick * tick;
    return turn;
}

static void make_ready(struct thread *t, sim_time now)
{
    struct guest_vcpu *gv = t->gv;

    (void)now;
    t->ready = true;
    if (gv->current == t || list_linked(&t->run))
        return;
    place_woken(gv, t);
    enqueue(gv, t);
    if (!gv->inside && preempts(gv, t)) /* the wake comes from another vCPU */
        evtchn_send(&gv->ipi, false);
}

/* The current thread ran for this long. */
static void charge_thread(struct guest_vcpu *gv, sim_time ran)
{
    struct thread *t = gv->current;
    const struct thread *first = first_queued(gv);
    sim_time least;

    t->cpu_time += ran;
    t->vruntime += ran;
    gv->slice_left -= ran;
    if (t->left != SIM_NEVER)
        t->left -= ran;
    least = first && first->class == t->class && first->vruntime < t->vruntime ? first->vruntime
                                                                               : t->vruntime;
    if (least > gv->min_vruntime)
        gv->min_vruntime = least;
}

/* ---- the timer ------------------------------------------------------------------------------- */

static void program_timer(struct guest_vcpu *gv)
{
    sim_time first = list_empty(&gv->sleepers)
                         ? SIM_NEVER
                         : container_of(gv->sleepers.next, struct thread, sleep)->wake_at;

    if (gv->tick_at < first)
        first = gv->tick_at;
    if (first == gv->timer_set)
        return;
    gv->timer_set = first;
    vcpu_set_timer(gv->vcpu, first);
}

static void insert_sleeper(struct list *sleepers, struct thread *t)
{
    struct list *at = sleepers->next;

    while (at != sleepers && container_of(at, struct thread, sleep)->wake_at <= t->wake_at)
        at = at->next;
    list_insert_before(at, &t->sleep);
}

static void add_sleeper(struct guest_vcpu *gv, struct thread *t)
{
    insert_sleeper(&gv->sleepers, t);
    program_timer(gv);
}

static void defer(struct guest_vcpu *gv, struct thread *t)
{
    if (gv->guest->costs.idle_tick || gv->guest->costs.busy_tick)
        insert_sleeper(&gv->lazy, t);
    else
        add_sleeper(gv, t);
}

/* The vCPU has something to do after having been idle: its tick begins again. */
static void tick_restart(struct guest_vcpu *gv, sim_time now)
{
    const struct guest_costs *c = &gv->guest->costs;
    sim_time period = c->tick, past;

    if (!(c->idle_tick || c->busy_tick) || period <= 0 || gv->tick_at != SIM_NEVER)
        return;
    if (gv->tick_phase < 0)
        gv->tick_phase = now;
    past = (now - gv->tick_phase) % period;
    gv->tick_at = now - past + (past < 0 ? 0 : period);
}

static bool busy(const struct guest_vcpu *gv)
{
    return gv->working || gv->work_first || gv->runnable || (gv->current && gv->current->ready);
}

/* The tick of a vCPU, with busy_tick: whom it finds has had this tick, says the kernel. Softirqs
 * are not counted (they have a column of their own). */
static void tick_found(struct guest_vcpu *gv, sim_time now)
{
    if (gv->current && gv->current->ready && !gv->working)
        gv->busy_ticks++;
    /* With idle_tick the one that finds the vCPU halted, and nothing to do, is the last; one that
     * comes before, be it on the way to the halt, is followed by another. */
    if (gv->guest->costs.idle_tick ? gv->halted && !busy(gv) : gv->idling)
        return;
    tick_restart(gv, now);
    gv->kernel_left += vary(gv, gv->guest->costs.tick_work);
}

sim_time guest_busy_time(const struct guest *g)
{
    sim_time sum = 0;

    for (uint32_t i = 0; i < g->domain->vcpu_count; i++)
        sum += g->costs.busy_tick ? (sim_time)g->vcpu[i].busy_ticks * g->costs.tick
                                  : vcpu_runstate_time(g->vcpu[i].vcpu, RUNSTATE_RUNNING);
    return sum;
}

static void wake_those_due(struct guest_vcpu *gv, struct list *sleepers, sim_time now)
{
    while (!list_empty(sleepers)) {
        struct thread *t = container_of(sleepers->next, struct thread, sleep);

        if (t->wake_at > now)
            break;
        list_remove(&t->sleep);
        make_ready(t, now);
        tick_restart(gv, now);
    }
}

static void timer_interrupt(struct evtchn *ch, sim_time now)
{
    struct guest_vcpu *gv = ch->vcpu->guest_data;

    gv->timer_set = SIM_NEVER; /* it has fired */
    if (gv->tick_at <= now) {
        gv->tick_at = SIM_NEVER;
        if (gv->guest->costs.busy_tick)
            tick_found(gv, now);
        wake_those_due(gv, &gv->lazy, now);
    }
    gv->kernel_left += vary(gv, gv->guest->costs.timer);
    wake_those_due(gv, &gv->sleepers, now);
    program_timer(gv);
}

void thread_wake(struct thread *t, sim_time now)
{
    if (t->op.kind != OP_WAIT || t->ready)
        return;
    if (list_linked(&t->sleep)) {
        list_remove(&t->sleep);
        program_timer(t->gv);
    }
    make_ready(t, now);
}

/* It goes idle, and the next tick will wake it: one that is due but has not come yet, or, where
 * ticks do not interrupt, the first one from now on. */
static void tick_keep(struct guest_vcpu *gv, sim_time now)
{
    if (gv->tick_phase < 0)
        gv->tick_phase = now;
    if (gv->tick_at <= now && !gv->guest->costs.busy_tick) {
        gv->tick_at = SIM_NEVER;
        tick_restart(gv, now);
    }
    program_timer(gv);
}

/* ---- interrupt work -------------------------------------------------------------------------- */

void guest_raise(struct guest_vcpu *gv, struct work *w)
{
    if (w->queued)
        return;
    w->queued = true;
    w->next = NULL;
    *gv->work_last = w;
    gv->work_last = &w->next;
    if (!gv->inside)
        evtchn_send(&gv->ipi, false);
}

/* Another vCPU has something for this one: the upcall itself is all that is needed. */
static void ipi_interrupt(struct evtchn *ch, sim_time now)
{
    (void)ch;
    (void)now;
}

static struct work *take_work(struct guest_vcpu *gv)
{
    struct work *w = gv->work_first;

    gv->work_first = w->next;
    if (!gv->work_first)
        gv->work_last = &gv->work_first;
    w->queued = false;
    return w;
}

static sim_time work_cost(struct guest_vcpu *gv, struct work *w)
{
    return w->cost ? vary(gv, w->cost(w, gv)) : 0;
}

static void begin_work(struct guest_vcpu *gv)
{
    gv->working = take_work(gv);
    gv->working_left = work_cost(gv, gv->working);
}

struct ksoftirqd {
    struct work *working;
};

static struct guest_op ksoftirqd_next(struct thread *t, sim_time now)
{
    struct ksoftirqd *s = t->state;
    struct guest_vcpu *gv = t->gv;
    struct work *w = s->working;

    s->working = NULL;
    if (w)
        w->run(w, gv, now);
    if (!gv->work_first) {
        gv->deferred = false;
        gv->work_time = 0;
        return (struct guest_op){OP_WAIT, 0};
    }
    s->working = take_work(gv);
    return (struct guest_op){OP_COMPUTE, work_cost(gv, s->working)};
}

static const struct program program_ksoftirqd = {.name = "ksoftirqd",
                                                 .meaning = "Interrupt work that went on too long.",
                                                 .state_size = sizeof(struct ksoftirqd),
                                                 .next = ksoftirqd_next};

/* Is it time to leave interrupt work to a thread? */
static bool work_is_too_long(const struct guest_vcpu *gv)
{
    sim_time limit = gv->guest->costs.softirq_limit;

    return limit > 0 && gv->work_time >= limit &&
           (gv->runnable || (gv->current && gv->current->ready));
}

static void defer_work(struct guest_vcpu *gv, sim_time now)
{
    struct thread *t = gv->ksoftirqd;

    gv->deferred = true;
    if (!t)
        t = gv->ksoftirqd =
            guest_add_sleeper(gv, &program_ksoftirqd, NULL, "ksoftirqd", CLASS_NORMAL, 0);
    thread_wake(t, now);
}

static void finish_work(struct guest_vcpu *gv, sim_time now)
{
    struct work *w = gv->working;

    gv->working = NULL;
    w->run(w, gv, now);
}

/* ---- what to do next ------------------------------------------------------------------------- */

/* Kernel time that is due is paid first, in the same burst as what follows it. */
static void burst(struct guest_vcpu *gv, uint8_t doing, sim_time time)
{
    gv->doing = doing;
    vcpu_compute(gv->vcpu, time == SIM_NEVER ? time : gv->kernel_left + time);
}

/* The burst was interrupted or is complete: book what was done of it. */
static void book(struct guest_vcpu *gv)
{
    sim_time ran = gv->vcpu->progress - gv->progress;
    sim_time kernel = ran < gv->kernel_left ? ran : gv->kernel_left;

    gv->progress = gv->vcpu->progress;
    if (gv->doing == DOING_NOTHING)
        return;
    gv->kernel_left -= kernel;
    ran -= kernel;
    switch (gv->doing) {
    case DOING_WORK:
        gv->working_left -= ran;
        gv->work_time += ran;
        break;
    case DOING_THREAD:
        charge_thread(gv, ran);
        break;
    default:
        break;
    }
    gv->doing = DOING_NOTHING;
}

static void set_current(struct guest_vcpu *gv, struct thread *t)
{
    if (gv->current && gv->current != t && gv->current->ready)
        enqueue(gv, gv->current);
    list_remove(&t->run);
    gv->runnable--;
    gv->current = t;
    gv->slice_left = turn_length(gv);
    gv->kernel_left += vary(gv, gv->guest->costs.thread_switch);
}

/* Who should have the vCPU now? NULL: nobody is ready. */
static struct thread *choose_thread(struct guest_vcpu *gv)
{
    struct thread *cur = gv->current, *first = first_queued(gv);

    if (cur && !cur->ready)
        cur = gv->current = NULL;
    if (!first)
        return cur;
    if (!cur || preempts(gv, first) ||
        (gv->slice_left <= 0 && cur->class != CLASS_FIFO && !runs_before(cur, first)))
        set_current(gv, first);
    else if (gv->slice_left <= 0)
        gv->slice_left = turn_length(gv);
    return gv->current;
}

/* The current thread begins its next operation. True: it gave up the vCPU or the pCPU. */
static bool begin_op(struct guest_vcpu *gv, struct thread *t, sim_time now)
{
    t->op = t->program->next(t, now);
    switch (t->op.kind) {
    case OP_COMPUTE:
        t->left = t->op.arg;
        return false;
    case OP_SLEEP:
        t->ready = false;
        t->wake_at = t->op.arg;
        add_sleeper(gv, t);
        return false;
    case OP_DEFER:
        t->ready = false;
        t->wake_at = t->op.arg;
        defer(gv, t);
        return false;
    case OP_WAIT:
        t->ready = false;
        if (t->op.arg > 0) {
            t->wake_at = t->op.arg;
            add_sleeper(gv, t);
        }
        return false;
    case OP_YIELD:
        vcpu_yield(gv->vcpu);
        return true;
    case OP_EXIT:
        t->ready = false;
        return false;
    }
    BUG("program %s: no such operation", t->program->name);
}

static void run_thread(struct guest_vcpu *gv, struct thread *t)
{
    sim_time time = t->left;

    if (gv->runnable && t->class != CLASS_FIFO) {
        if (gv->slice_left < time)
            time = gv->slice_left;
    }
    burst(gv, DOING_THREAD, time);
}

static void take_events(struct guest_vcpu *gv, sim_time now)
{
    for (struct evtchn *ch; (ch = evtchn_take(gv->vcpu));) {
        if (ch != &gv->vcpu->timer_virq)
            tick_restart(gv, now);
        ch->handler(ch, now);
    }
}

/* One step. True: the vCPU has a burst, or has given up its pCPU. */
static bool step(struct guest_vcpu *gv, sim_time now)
{
    struct thread *t;

    if (gv->working) {
        if (gv->kernel_left + gv->working_left > 0) {
            burst(gv, DOING_WORK, gv->working_left);
            return true;
        }
        finish_work(gv, now);
        return false;
    }
    if (gv->work_first && !gv->deferred) {
        if (work_is_too_long(gv))
            defer_work(gv, now);
        else
            begin_work(gv);
        return false;
    }
    gv->work_time = 0;
    t = choose_thread(gv);
    if (t) {
        gv->idling = false;
        if (gv->tick_stopped) {
            gv->tick_stopped = false;
            gv->kernel_left += vary(gv, gv->guest->costs.tick_restart);
        }
        if (gv->guest->costs.busy_tick) {
            tick_restart(gv, now);
            program_timer(gv);
        }
        if (t->op.kind == OP_COMPUTE && t->left > 0) {
            run_thread(gv, t);
            return true;
        }
        return begin_op(gv, t, now);
    }
    if (!gv->idling) {
        gv->idling = true;
        gv->kernel_left += vary(gv, gv->guest->costs.idle_enter);
    }
    if (gv->kernel_left > 0) {
        burst(gv, DOING_KERNEL, 0);
        return true;
    }
    gv->idling = false;
    vcpu_burst_stop(gv->vcpu); /* an upcall in the midst of `act` may have left one armed */
    if (gv->guest->costs.idle_tick) {
        tick_keep(gv, now);
    } else if (gv->tick_at != SIM_NEVER) {
        gv->tick_at = SIM_NEVER;
        program_timer(gv);
    }
    gv->tick_stopped = gv->guest->costs.busy_tick && gv->tick_at == SIM_NEVER;
    gv->halted = vcpu_block(gv->vcpu);
    if (gv->halted) {
        gv->kernel_left += vary(gv, gv->guest->costs.idle_exit);
        return true;
    }
    take_events(gv, now); /* they came in meanwhile */
    return false;
}

static void act(struct vcpu *v, sim_time now)
{
    struct guest_vcpu *gv = v->guest_data;

    book(gv);
    gv->inside = true;
    for (int steps = 0; !step(gv, now); steps++)
        if (steps >= STEPS_WITHOUT_TIME)
            BUG("domain %u vcpu %u: a program goes round without using time", v->domain->id, v->id);
    gv->inside = false;
}

/* After an upcall that costs time, go on at once where this runs no program and finishes no work:
 * it saves an event. (Both may send events to other vCPUs, whose upcalls may send some here.) */
static void go_on(struct guest_vcpu *gv)
{
    struct thread *t;

    bool too_long = false;

    if (!gv->working && gv->work_first && !gv->deferred) {
        too_long = work_is_too_long(gv);
        if (!too_long)
            begin_work(gv);
    }
    if (gv->working) {
        burst(gv, DOING_WORK, gv->working_left);
        return;
    }
    t = too_long ? NULL : choose_thread(gv);
    if (t && t->op.kind == OP_COMPUTE && t->left > 0)
        run_thread(gv, t);
    else
        burst(gv, DOING_KERNEL, 0);
}

/* The upcall interrupts whatever the vCPU was at; it goes on from `act` at this instant. */
static void upcall(struct vcpu *v, sim_time now)
{
    struct guest_vcpu *gv = v->guest_data;

    if (gv->inside) { /* it sent this event to itself */
        gv->kernel_left += vary(gv, gv->guest->costs.upcall);
        take_events(gv, now);
        return;
    }
    vcpu_burst_stop(v);
    book(gv);
    gv->kernel_left += vary(gv, gv->guest->costs.upcall);
    gv->inside = true;
    take_events(gv, now);
    gv->halted = false;
    if (gv->kernel_left > 0)
        go_on(gv);
    gv->inside = false;
}

const struct guest_ops guest_ops = {.act = act, .upcall = upcall};

/* ---- building -------------------------------------------------------------------------------- */

struct guest *guest_new(struct domain *d, uint32_t vcpus)
{
    struct guest *g = xcalloc(1, sizeof *g);

    g->domain = d;
    g->vcpu = xcalloc(vcpus, sizeof *g->vcpu);
    return g;
}

struct vcpu *guest_add_vcpu(struct guest *g)
{
    struct guest_vcpu *gv = &g->vcpu[g->domain->vcpu_count];

    gv->guest = g;
    gv->timer_set = gv->tick_at = SIM_NEVER;
    gv->tick_phase = -1;
    list_init(&gv->runq);
    list_init(&gv->sleepers);
    list_init(&gv->lazy);
    gv->work_last = &gv->work_first;
    gv->vcpu = domain_add_vcpu(g->domain, &guest_ops, gv);
    gv->vcpu->timer_virq.handler = timer_interrupt;
    gv->ipi = (struct evtchn){.vcpu = gv->vcpu, .handler = ipi_interrupt};
    return gv->vcpu;
}

void guest_free(struct guest *g)
{
    while (g->threads) {
        struct thread *t = g->threads;

        g->threads = t->next;
        if (t->program->release)
            t->program->release(t);
        free(t->state);
        free(t);
    }
    free(g->vcpu);
    free(g);
}

struct thread *guest_add_sleeper(struct guest_vcpu *gv, const struct program *program,
                                 const void *params, const char *name, enum thread_class class,
                                 uint8_t priority)
{
    struct thread *t = xcalloc(1, sizeof *t);

    t->gv = gv;
    t->program = program;
    t->name = name;
    t->class = class;
    t->priority = priority;
    t->state = xcalloc(1, program->state_size);
    t->op.kind = OP_WAIT;
    list_init(&t->run);
    list_init(&t->sleep);
    t->next = gv->guest->threads;
    gv->guest->threads = t;
    if (program->init)
        program->init(t, params);
    return t;
}

struct thread *guest_add_thread(struct guest_vcpu *gv, const struct program *program,
                                const void *params, const char *name, enum thread_class class,
                                uint8_t priority)
{
    struct thread *t = guest_add_sleeper(gv, program, params, name, class, priority);

    t->ready = true;
    enqueue(gv, t);
    return t;
}
