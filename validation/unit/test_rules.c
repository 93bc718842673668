/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules of the scheduling core and of Credit in small, each in a world made for it: those that no
 * reference schedule exercises (several sockets and nodes, power savings, later versions, changes
 * at run time), and defaults. What is expected was worked out by hand from the rules.
 */
#include "models/hypervisor/operate.h"
#include "models/hypervisor/turns.h"
#include "models/schedulers/credit.h"
#include "validation/unit/sched_world.h"

/* ---- the core ----------------------------------------------------------------------------------
 */

static struct world *one_pool(const char *scheduler, uint32_t pcpus)
{
    struct world *w = world_new(XEN_4_17, pcpus, 1, 0, 0);

    world_pool(w, scheduler, NULL, NULL, 137 * US, 1 * MS);
    return w;
}

static sim_time unblock(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    (void)w;
    (void)arg;
    (void)now;
    vcpu_unblock(v);
    return 0;
}

/* pCPU 0 does it. */
static sim_time start_from_0(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    (void)arg;
    (void)now;
    w->host->executing = 0;
    vcpu_start(v);
    return 0;
}

START_TEST(unblocking_what_is_not_blocked_does_nothing)
{
    struct world *w = one_pool("credit", 1);
    struct vcpu *v = world_pinned_hog(w, world_domain(w, 256, 1), 0, 2 * MS);

    world_watch(w);
    world_at(w, 3 * MS, unblock, v, NULL);
    world_run(w, 4 * MS);
    ck_assert_uint_eq(world_count(w, ",wake,"), 1);
    world_free(w);
}
END_TEST

/* Its timer is set to the present: it is handled only when the vCPU has been switched out. */
START_TEST(a_sleep_of_no_length_leaves_the_pcpu)
{
    struct world *w = one_pool("credit", 1);
    struct domain *d = world_domain(w, 256, 1);
    struct vcpu *v = world_sleeper(w, d, 1 * MS, 0, 2 * MS);

    world_run(w, 4500 * US);
    world_expect_on(v, 0);
    ck_assert_int_eq(v->last_switch, 4 * MS);
    ck_assert_int_eq(vcpu_runstate_time(v, RUNSTATE_RUNNING), 2500 * US);
    world_free(w);
}
END_TEST

/* Credit has parked it for its cap, which is none of the operator's business. */
START_TEST(unpausing_what_is_not_paused_does_nothing)
{
    struct world *w = one_pool("credit", 1);
    struct domain *d = world_domain(w, 256, 1);
    struct vcpu *v = world_pinned_hog(w, d, 0, 2 * MS);

    domain_set(d, 256, 50);
    world_run(w, 70 * MS);
    ck_assert_int_eq(v->pause_count, 1);
    domain_unpause(d);
    ck_assert_int_eq(v->pause_count, 1);
    ck_assert(!v->is_running);
    domain_pause(d);
    domain_pause(d);
    domain_unpause(d);
    world_run(w, 200 * MS); /* not parked any more, but paused once */
    ck_assert_int_eq(v->pause_count, 0);
    ck_assert(!v->is_running);
    domain_unpause(d);
    world_run(w, 201 * MS);
    world_expect_on(v, 0);
    world_free(w);
}
END_TEST

/* A pCPU that tells itself to reschedule takes its time, and another time for another pCPU. */
START_TEST(to_be_told_takes_time)
{
    struct world *w = one_pool("null", 2);
    struct domain *d = world_domain(w, 256, 2);

    w->host->costs.wake = 7 * US;
    w->host->costs.ipi = 11 * US;
    world_watch(w);
    world_at(w, 2 * MS, start_from_0, world_vcpu(w, d, &program_hog, NULL), NULL);
    world_at(w, 3 * MS, start_from_0, world_vcpu(w, d, &program_hog, NULL), NULL);
    world_run(w, 4 * MS);
    ck_assert_msg(world_has(w, "2000000,wake,"), "%s", w->rows);
    ck_assert_msg(world_has(w, "2007000,switch_in,0"), "%s", w->rows);
    ck_assert_msg(world_has(w, "3011000,switch_in,1"), "%s", w->rows);
    world_free(w);
}
END_TEST

/* ---- timers and turns --------------------------------------------------------------------------
 */

struct noted {
    struct timer timer;
    struct pcpu *pcpu;
    sim_time handled;
};

static void note_handled(struct timer *t, sim_time now)
{
    struct noted *n = container_of(t, struct noted, timer);

    if (pcpu_defers(n->pcpu, t))
        return;
    n->pcpu->host->executing = n->pcpu->id;
    n->handled = now;
}

static void arm_noted(struct host *h, struct noted *n, uint32_t cpu, sim_time when)
{
    *n = (struct noted){.pcpu = &h->pcpu[cpu]};
    timer_init(&n->timer, note_handled);
    h->executing = cpu;
    host_arm(h, &n->timer, when);
}

/* Once a pCPU has handled timers, or set its timer, it is not interrupted for 50 us. */
START_TEST(timers_within_the_slop_wait)
{
    struct world *w = one_pool("null", 1);
    struct noted first, within, behind, far, near;

    w->host->costs.timer_slop = 50 * US;
    arm_noted(w->host, &first, 0, 2 * MS);
    arm_noted(w->host, &within, 0, 2 * MS + 20 * US);
    arm_noted(w->host, &behind, 0, 2 * MS + 60 * US);
    arm_noted(w->host, &far, 0, 3 * MS);
    world_run(w, 4 * MS);
    ck_assert_int_eq(first.handled, 2 * MS);
    ck_assert_int_eq(within.handled, 2 * MS + 50 * US);
    ck_assert_int_eq(behind.handled, 2 * MS + 100 * US);
    ck_assert_int_eq(far.handled, 3 * MS);
    w->queue.handling = RANK_SETTLE; /* a handler of something else sets it to what is too near */
    arm_noted(w->host, &near, 0, w->queue.now + 10 * US);
    world_run(w, 5 * MS);
    ck_assert_int_eq(near.handled - near.pcpu->timers_set, 0);
    ck_assert_int_ge(near.handled, 4 * MS);
    queue_cancel(&w->queue, &near.timer);
    world_free(w);
}
END_TEST

struct again {
    struct noted noted;
    sim_time work, before; /* before: handled the time before */
};

static void set_anew(struct timer *t, sim_time now)
{
    struct again *a = container_of(container_of(t, struct noted, timer), struct again, noted);
    sim_time before = a->noted.handled;

    note_handled(t, now);
    if (timer_armed(t))
        return; /* put off */
    a->before = before;
    host_rearm(a->noted.pcpu->host, t, now + 1 * MS, a->work);
}

static void arm_again(struct host *h, struct again *a, sim_time when, sim_time work)
{
    *a = (struct again){.work = work};
    arm_noted(h, &a->noted, 0, when);
    a->noted.timer.fire = set_anew;
}

/* Handlers run one after the other and take the present at their end: the second one's timer comes
 * behind the first one's, and then waits for the slop after it. */
START_TEST(handlers_follow_each_other)
{
    struct world *w = one_pool("null", 1);
    struct again first, second;

    w->host->costs.timer_slop = 50 * US;
    w->host->costs.timer_latency = 1 * US;
    arm_again(w->host, &first, 2 * MS, 2 * US);
    arm_again(w->host, &second, 2 * MS + 500, 1 * US);
    world_run(w, 4 * MS);
    ck_assert_int_eq(first.before, 2 * MS + 1 * US);
    ck_assert_int_eq(second.before, 2 * MS + 1 * US + 500);
    ck_assert_int_eq(first.noted.handled, 3 * MS + 4 * US);
    ck_assert_int_eq(second.noted.handled, 3 * MS + 57 * US);
    queue_cancel(&w->queue, &first.noted.timer);
    queue_cancel(&w->queue, &second.noted.timer);
    world_free(w);
}
END_TEST

static struct noted kick;

/* pCPU 0 sets its timer to 200 us from now. */
static sim_time set_timer(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    (void)v;
    (void)arg;
    arm_noted(w->host, &kick, 0, now + 200 * US);
    return 0;
}

/* Two pCPUs that compute without end, in turns; the emulator has a deadline each 800 us, at 100 us
 * past a whole ms and so on. */
static struct world *in_turns(void)
{
    struct world *w = world_new(XEN_4_17, 2, 1, 0, 0);
    struct domain *d;

    w->host->costs.emulator_tick = 800 * US;
    turns_init(w->host, 100 * US);
    world_pool(w, "null", NULL, NULL, 137 * US, 1 * MS);
    d = world_domain(w, 256, 2);
    for (int i = 0; i < 2; i++)
        world_pinned_hog(w, d, (uint32_t)i, 2 * MS);
    return w;
}

static void expect_turn(struct world *w, sim_time from, sim_time until, uint32_t cpu)
{
    world_run(w, from + 1);
    ck_assert_uint_eq(w->host->turns.holder, cpu);
    world_run(w, until - 1);
    ck_assert_uint_eq(w->host->turns.holder, cpu);
}

/* Of 800 us each has 400; nothing else is due. */
START_TEST(a_pass_is_divided)
{
    struct world *w = in_turns();
    sim_time tick = 100 * US + 10 * 800 * US;

    expect_turn(w, tick, tick + 400 * US, 0);
    expect_turn(w, tick + 400 * US, tick + 800 * US, 1);
    expect_turn(w, tick + 800 * US, tick + 1200 * US, 0);
    world_free(w);
}
END_TEST

/* 100 us after the tick pCPU 0 sets a timer that is due before all others, in 200 us: pCPU 1 has
 * half of these, then they halve what is left. Its timer interrupts it, and a new pass begins. */
START_TEST(the_nearest_timer_kicks)
{
    struct world *w = in_turns();
    sim_time tick = 100 * US + 10 * 800 * US;

    world_at(w, tick + 100 * US, set_timer, NULL, NULL);
    expect_turn(w, tick, tick + 100 * US, 0);
    expect_turn(w, tick + 100 * US, tick + 200 * US, 1);
    expect_turn(w, tick + 200 * US, tick + 250 * US, 0);
    expect_turn(w, tick + 250 * US, tick + 275 * US, 1);
    expect_turn(w, tick + 300 * US, tick + 550 * US, 0);
    ck_assert_int_eq(kick.handled, tick + 300 * US);
    expect_turn(w, tick + 550 * US, tick + 800 * US, 1);
    world_free(w);
}
END_TEST

static struct noted later;

static sim_time set_later_timer(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    (void)v;
    (void)arg;
    arm_noted(w->host, &later, 0, now + 300 * US);
    return 0;
}

/* Half-way through the turn that pCPU 0 has after its first timer, it arms another one behind it:
 * the first date that it waits for is the same, and it keeps the turn. */
START_TEST(a_timer_behind_the_first_does_not_kick)
{
    struct world *w = in_turns();
    sim_time tick = 100 * US + 10 * 800 * US;

    world_at(w, tick + 100 * US, set_timer, NULL, NULL);
    world_at(w, tick + 225 * US, set_later_timer, NULL, NULL);
    expect_turn(w, tick + 200 * US, tick + 250 * US, 0);
    world_free(w);
}
END_TEST

/* QEMU 7.2: a turn is not divided, and when it is over the deadline takes the place of the other's.
 */
START_TEST(a_pass_is_not_divided)
{
    struct world *w = in_turns();
    sim_time tick = 100 * US + 10 * 800 * US;

    w->host->costs.emulator_whole = true;
    expect_turn(w, tick, tick + 800 * US, 0);
    expect_turn(w, tick + 800 * US, tick + 1600 * US, 0);
    world_free(w);
}
END_TEST

/* pCPU 0 is idle but for a timer, 200 us after a tick: it has the turn for the time that it takes
 * to go back to its idle loop, not for its budget. */
START_TEST(an_idle_pcpu_has_a_turn_for_its_timers_only)
{
    struct world *w = world_new(XEN_4_17, 2, 1, 0, 0);
    sim_time tick = 100 * US + 10 * 800 * US;

    w->host->costs.emulator_tick = 800 * US;
    w->host->costs.context_switch = 5 * US;
    turns_init(w->host, 100 * US);
    world_pool(w, "null", NULL, NULL, 137 * US, 1 * MS);
    world_pinned_hog(w, world_domain(w, 256, 1), 1, 2 * MS);
    world_at(w, tick, set_timer, NULL, NULL);
    expect_turn(w, tick + 100 * US, tick + 200 * US, 1);
    expect_turn(w, tick + 200 * US, tick + 205 * US, 0);
    ck_assert_int_eq(kick.handled, tick + 200 * US);
    expect_turn(w, tick + 205 * US, tick + 800 * US, 1);
    world_free(w);
}
END_TEST

static bool blocked_at_once;

static void act_and_block(struct vcpu *v, sim_time now)
{
    (void)now;
    v->upcall_pending = true; /* an event that came in just now */
    blocked_at_once = vcpu_block(v);
    v->upcall_pending = false;
    vcpu_compute(v, SIM_NEVER);
}

START_TEST(a_pending_event_ends_a_block)
{
    static const struct guest_ops ops = {.act = act_and_block};
    struct world *w = one_pool("credit", 1);
    struct domain *d = domain_create(w->pool, 1, NULL, 256, 0);
    struct vcpu *v = domain_add_vcpu(d, &ops, NULL);

    vcpu_start(v);
    world_watch(w);
    blocked_at_once = true;
    world_run(w, 2 * MS);
    ck_assert(!blocked_at_once);
    ck_assert_uint_eq(world_count(w, ",block,"), 0);
    world_expect_on(v, 0);
    world_free(w);
}
END_TEST

START_TEST(soft_affinity_counts_only_as_a_restriction)
{
    struct world *w = one_pool("credit", 4);
    struct vcpu *v = world_vcpu(w, world_domain(w, 256, 1), &program_hog, NULL);
    cpumask pool = cpumask_first_n(4);

    world_hard(v, 0, 1);
    world_soft(v, 1, 1);
    ck_assert(v->soft_effective);
    world_soft(v, 2, 3); /* does not meet hard affinity */
    ck_assert(!v->soft_effective);
    world_soft(v, 0, 1); /* contains hard affinity */
    ck_assert(!v->soft_effective);
    v->hard = cpumask_all();
    vcpu_set_affinity(v, NULL, &pool); /* contains the pool */
    ck_assert(!v->soft_effective);
    world_soft(v, 2, 3);
    ck_assert(v->soft_effective);
    world_free(w);
}
END_TEST

/* ---- Credit: numbers ---------------------------------------------------------------------------
 */

static void change_tslice(void *params, void *ctx)
{
    const sim_time *to = ctx;
    struct credit_params *p = params;

    p->tslice = to[0];
    p->ratelimit = to[1];
}

/* Hard and soft affinity at once are two migrations: the first finds a pCPU without regard to the
 * second, and each ends with a wake. */
START_TEST(affinities_are_set_one_after_the_other)
{
    struct world *w = world_new(XEN_4_17, 4, 1, 0, 0);
    struct vcpu *v;
    cpumask hard, soft;

    world_pool(w, "credit", NULL, NULL, 137 * US, 1 * MS);
    v = world_vcpu(w, world_domain(w, 256, 1), &program_hog, NULL);
    hard = cpumask_andnot(&w->pool->cpus, &(cpumask){{1}});
    soft = cpumask_of(3);
    world_watch(w);
    vcpu_set_affinity(v, &hard, &soft);
    ck_assert_uint_eq(world_count(w, ",wake,"), 2);
    world_expect(w, "1000000,wake,0,1,0,1,"); /* first to the next allowed one */
    world_expect(w, "1000000,wake,0,1,0,3,");
    world_free(w);
}
END_TEST

START_TEST(credit_defaults)
{
    struct credit_params p;

    params_defaults(&credit_param_table, &p);
    ck_assert_int_eq(p.tslice, 30 * MS);
    ck_assert_int_eq(p.ratelimit, 1 * MS);
    ck_assert_int_eq(p.migration_delay, 0);
    ck_assert_int_eq(p.load_balance_ratelimit, 1 * MS);
    ck_assert(p.tickle_one_idle);
    ck_assert(!p.smt_power_savings);
    params_free(&credit_param_table, &p);
}
END_TEST

START_TEST(credit_ratelimit_is_at_most_the_slice)
{
    sim_time boot[] = {1 * MS, 5 * MS}, refused[] = {5 * MS, 10 * MS}, taken[] = {5 * MS, 5 * MS};
    struct world *w = world_new(XEN_4_17, 1, 1, 0, 0);
    struct scheduler *s;

    world_pool(w, "credit", change_tslice, boot, 137 * US, 1 * MS);
    s = w->pool->scheduler;
    ck_assert_int_eq(credit_data(s)->ratelimit, 1 * MS);
    change_tslice(s->params, refused);
    s->ops->adjust_global(s);
    ck_assert_int_eq(credit_data(s)->tslice, 1 * MS);
    ck_assert_int_eq(credit_data(s)->ratelimit, 1 * MS);
    change_tslice(s->params, taken);
    s->ops->adjust_global(s);
    ck_assert_int_eq(credit_data(s)->tslice, 5 * MS);
    ck_assert_int_eq(credit_data(s)->ratelimit, 5 * MS);
    world_free(w);
}
END_TEST

/* ---- Credit: who is told -----------------------------------------------------------------------
 */

/* A vCPU that may run on pCPU 0 only wakes and is better than the hog there: it preempts, although
 * another pCPU idles, since that one cannot take it. */
START_TEST(credit_preempts_if_no_idler_can_take_it)
{
    struct world *w = one_pool("credit", 2);
    struct domain *d = world_domain(w, 256, 2);
    struct vcpu *server;

    world_pinned_hog(w, d, 0, 2 * MS);
    server = world_server(w, d, 100 * US, 2 * MS);
    world_hard(server, 0, 0);
    world_watch(w);
    world_send(w, server, 50 * MS); /* its first wake came to an end long ago: this one boosts */
    world_run(w, 50 * MS);
    world_expect(w, "50000000,boost,");
    world_expect(w, "50000000,tickle,0,,,,,,cpu=0");
    world_expect_on(server, 0);
    world_expect_idle(w, 1);
    world_free(w);
}
END_TEST

static void tickle_all(void *params, void *ctx)
{
    (void)ctx;
    ((struct credit_params *)params)->tickle_one_idle = false;
}

static unsigned idlers_told(bool all)
{
    struct world *w = world_new(XEN_4_17, 4, 1, 0, 0);
    struct domain *d;
    struct vcpu *server;
    unsigned told;

    world_pool(w, "credit", all ? tickle_all : NULL, NULL, 137 * US, 1 * MS);
    d = world_domain(w, 256, 1);
    server = world_server(w, d, 100 * US, 2 * MS);
    world_pinned_hog(w, world_domain(w, 256, 1), 0, 3 * MS);
    world_watch(w);
    world_send(w, server, 50 * MS);
    world_run(w, 50 * MS);
    told = world_count(w, "\n50000000,tickle,");
    world_free(w);
    return told;
}

START_TEST(credit_tells_one_idler_or_all)
{
    ck_assert_uint_eq(idlers_told(false), 1);
    ck_assert_uint_eq(idlers_told(true), 3);
}
END_TEST

/* ---- Credit: stealing --------------------------------------------------------------------------
 */

/* Two vCPUs wake on the idle pCPU 1 at the instant at which pCPU 0 runs out of work and looks for
 * some. pCPU 1 is about to decide, so nothing is stolen from it. */
START_TEST(credit_does_not_steal_from_one_about_to_decide)
{
    struct world *w = one_pool("credit", 2);
    struct domain *d = world_domain(w, 256, 3);
    struct vcpu *worker = world_sleeper(w, d, 10 * MS, 1000 * MS, 10 * MS);
    struct vcpu *a = world_server(w, d, 5 * MS, 2 * MS), *b = world_server(w, d, 5 * MS, 2 * MS);

    world_hard(worker, 0, 0);
    world_hard(a, 1, 1);
    world_hard(b, 1, 1);
    world_run(w, 15 * MS);
    world_watch(w);
    a->hard = b->hard = cpumask_all(); /* may be stolen, if somebody tries */
    world_send(w, a, 20 * MS);
    world_send(w, b, 20 * MS);
    world_run(w, 20 * MS);
    world_expect_idle(w, 0);
    world_expect_not(w, "20000000,steal,");
    world_expect_on(a, 1);
    world_free(w);
}
END_TEST

static void delay_5ms(void *params, void *ctx)
{
    (void)ctx;
    ((struct credit_params *)params)->migration_delay = 5 * MS;
}

/* Two hogs share pCPU 0; one is preempted at its slice's end, 32 ms. pCPU 1 runs out of work after
 * exactly, or one ns less than, the migration delay: cold, or hot. */
static bool stolen_after(sim_time away)
{
    struct world *w = world_new(XEN_4_17, 2, 1, 0, 0);
    struct domain *d;
    struct vcpu *first, *worker;
    bool stolen;

    world_pool(w, "credit", delay_5ms, NULL, 137 * US, 1 * MS);
    d = world_domain(w, 256, 3);
    worker = world_sleeper(w, d, 30 * MS + away, 1000 * MS, 2 * MS);
    world_hard(worker, 1, 1);
    first = world_pinned_hog(w, d, 0, 2 * MS);
    world_pinned_hog(w, d, 0, 3 * MS);
    world_run(w, 20 * MS);
    first->hard = cpumask_all();
    world_watch(w);
    world_run(w, 32 * MS + away);
    world_expect(w, "32000000,switch_out,0,1,1,");
    stolen = first->is_running && first->processor == 1;
    world_free(w);
    return stolen;
}

START_TEST(credit_steals_what_is_cold)
{
    ck_assert(!stolen_after(5 * MS - 1));
    ck_assert(stolen_after(5 * MS));
}
END_TEST

/* pCPU 2 runs out of work. Both nodes' other pCPUs have a vCPU that waits: its own node's is
 * taken. */
START_TEST(credit_steals_in_its_own_node_first)
{
    struct world *w = world_new(XEN_4_17, 4, 1, 2, 1);
    struct domain *d;
    struct vcpu *far, *near, *worker;

    world_pool(w, "credit", NULL, NULL, 137 * US, 1 * MS);
    ck_assert_uint_eq(w->host->pcpu[2].node, 1);
    ck_assert_uint_eq(credit_data(w->pool->scheduler)->node_bias[0], 0);
    ck_assert_uint_eq(credit_data(w->pool->scheduler)->node_bias[1], 2);
    d = world_domain(w, 256, 6);
    world_pinned_hog(w, d, 0, 2 * MS);
    world_pinned_hog(w, d, 1, 2 * MS);
    world_pinned_hog(w, d, 3, 2 * MS);
    worker = world_sleeper(w, d, 10 * MS, 1000 * MS, 2 * MS);
    world_hard(worker, 2, 2);
    far = world_pinned_hog(w, d, 0, 3 * MS);
    near = world_pinned_hog(w, d, 3, 3 * MS);
    world_run(w, 4 * MS);
    far->hard = near->hard = cpumask_all();
    world_run(w, 12 * MS);
    world_expect_on(near, 2);
    ck_assert_uint_eq(far->processor, 0);
    world_free(w);
}
END_TEST

/* ---- Credit: picking a pCPU --------------------------------------------------------------------
 */

/* Where a new vCPU is placed that would begin on pCPU 0, while these pCPUs are busy. */
static uint32_t placed_with_busy(uint32_t pcpus, uint32_t threads, uint32_t cores, cpumask busy,
                                 void (*change)(void *params, void *ctx))
{
    struct world *w = world_new(XEN_4_17, pcpus, threads, cores, 0);
    struct domain *d;
    struct vcpu *v;
    uint32_t cpu;

    world_pool(w, "credit", change, NULL, 137 * US, 1 * MS);
    d = world_domain(w, 256, pcpus);
    for_each_cpu(c, &busy) world_pinned_hog(w, d, c, 2 * MS);
    world_run(w, 3 * MS);
    v = world_vcpu(w, world_domain(w, 256, 1), &program_hog, NULL);
    cpu = v->processor;
    world_free(w);
    return cpu;
}

static void power_savings(void *params, void *ctx)
{
    (void)ctx;
    ((struct credit_params *)params)->smt_power_savings = true;
}

START_TEST(credit_other_sockets_need_more_than_twice_the_idlers)
{
    /* sockets {0, 1} and {2, 3}: one idler against two is not enough */
    ck_assert_uint_eq(placed_with_busy(4, 1, 2, cpumask_of(1), NULL), 0);
}
END_TEST

START_TEST(credit_counts_all_idlers_of_another_socket)
{
    cpumask busy = cpumask_first_n(4);

    /* sockets {0 .. 3} and {4 .. 7}: one idler against four */
    cpumask_clear(&busy, 0);
    ck_assert_uint_eq(placed_with_busy(8, 1, 4, busy, NULL), 4);
}
END_TEST

START_TEST(credit_prefers_an_idle_core_or_saves_power)
{
    /* cores {0, 1} and {2, 3} */
    ck_assert_uint_eq(placed_with_busy(4, 2, 0, cpumask_of(1), NULL), 2);
    ck_assert_uint_eq(placed_with_busy(4, 2, 0, cpumask_of(3), NULL), 0);
    ck_assert_uint_eq(placed_with_busy(4, 2, 0, cpumask_of(3), power_savings), 2);
}
END_TEST

/* ---- Credit of Xen 4.18 ------------------------------------------------------------------------
 */

/* A vCPU on pCPU 0 yields to a hog; then pCPU 1 runs out of work. */
static bool yielder_is_stolen(enum xen_version version)
{
    static const struct script_op script[] = {
        {SCRIPT_COMPUTE, 10 * MS}, {SCRIPT_YIELD, 0}, {SCRIPT_COMPUTE, SIM_NEVER / 2}};
    struct script_params p = {.op = script, .count = 3};
    struct world *w = world_new(version, 2, 1, 0, 0);
    struct domain *d;
    struct vcpu *worker, *yielder;
    bool stolen;

    world_pool(w, "credit", NULL, NULL, 137 * US, 1 * MS);
    d = world_domain(w, 256, 3);
    worker = world_sleeper(w, d, 13 * MS, 1000 * MS, 2 * MS);
    world_hard(worker, 1, 1);
    yielder = world_vcpu(w, d, &program_script, &p);
    world_hard(yielder, 0, 0);
    world_start(w, yielder, 2 * MS);
    world_pinned_hog(w, d, 0, 3 * MS);
    world_run(w, 10 * MS);
    yielder->hard = cpumask_all();
    world_run(w, 13 * MS);
    ck_assert(!yielder->is_running);
    world_run(w, 15 * MS);
    stolen = yielder->is_running;
    if (version >= XEN_4_18) { /* until its turn comes: then YIELD is over */
        ck_assert(credit_vcpu(yielder)->yield);
        world_run(w, 100 * MS);
        ck_assert(!credit_vcpu(yielder)->yield);
    }
    world_free(w);
    return stolen;
}

START_TEST(credit_yield_lasts_while_queued_since_4_18)
{
    ck_assert(yielder_is_stolen(XEN_4_17));
    ck_assert(!yielder_is_stolen(XEN_4_18));
}
END_TEST

/* pCPU 1 has looked for work in vain at 12 ms. At 12.3 ms a vCPU wakes behind a hog on pCPU 0. */
static bool looks_again_after(enum xen_version version, sim_time gap)
{
    struct world *w = world_new(version, 2, 1, 0, 0);
    struct domain *d;
    struct vcpu *worker, *server;
    bool taken;

    world_pool(w, "credit", NULL, NULL, 137 * US, 1 * MS);
    d = world_domain(w, 256, 3);
    server = world_server(w, d, 5 * MS, 2 * MS); /* blocks at once */
    world_hard(server, 0, 0);
    world_pinned_hog(w, d, 0, 2 * MS + 1);
    worker = world_sleeper(w, d, 10 * MS, 1000 * MS, 2 * MS);
    world_hard(worker, 1, 1);
    world_run(w, 5 * MS);
    server->hard = cpumask_all();
    world_send(w, server, 12 * MS + gap);
    world_run(w, 12 * MS + gap);
    taken = server->is_running && server->processor == 1;
    world_free(w);
    return taken;
}

START_TEST(credit_looks_elsewhere_at_most_once_per_ms_since_4_18)
{
    ck_assert(looks_again_after(XEN_4_17, 300 * US));
    ck_assert(!looks_again_after(XEN_4_18, 300 * US));
    ck_assert(!looks_again_after(XEN_4_18, 1 * MS));
    ck_assert(looks_again_after(XEN_4_18, 1 * MS + 1));
}
END_TEST

static void slice_of_1s(void *params, void *ctx)
{
    (void)ctx;
    ((struct credit_params *)params)->tslice = 1000 * MS;
}

/* 8 pCPUs, 10000 credits in a slice, two vCPUs of weight 65535: 80000 * 65535 does not fit into 32
 * bits; (that modulo 2^32, 947832704, + 131069) / 131070 = 7232, where 10000 would be fair. */
START_TEST(credit_accounts_in_32_bits)
{
    struct world *w = world_new(XEN_4_17, 8, 1, 0, 0);
    const struct credit_vcpu *cv;
    int32_t before;

    world_pool(w, "credit", slice_of_1s, NULL, 137 * US, 1 * MS);
    cv = credit_vcpu(world_pinned_hog(w, world_domain(w, 65535, 1), 0, 2 * MS));
    world_pinned_hog(w, world_domain(w, 65535, 1), 1, 2 * MS);
    world_run(w, 1000 * MS + 100 * US);
    before = cv->credit;
    world_run(w, 1000 * MS + 200 * US);
    ck_assert_int_eq(cv->credit - before, 7232);
    world_free(w);
}
END_TEST

/* Out of range together: nothing of it counts. */
START_TEST(credit_refuses_a_ratelimit_above_the_slice)
{
    struct world *w = world_new(XEN_4_17, 1, 1, 0, 0);
    struct credit_params p;

    world_pool(w, "credit", NULL, NULL, 137 * US, 1 * MS);
    p = *(const struct credit_params *)w->pool->scheduler->params;
    p.tslice = 5 * MS;
    p.ratelimit = 6 * MS;
    p.migration_delay = 7 * MS;
    pool_set_params(w->pool, &p, sizeof p);
    ck_assert_int_eq(credit_data(w->pool->scheduler)->tslice, 30 * MS);
    ck_assert_int_eq(credit_data(w->pool->scheduler)->ratelimit, 1 * MS);
    ck_assert_int_eq(credit_data(w->pool->scheduler)->migration_delay, 0);
    p.ratelimit = 5 * MS;
    p.tickle_one_idle = false; /* a boot option */
    pool_set_params(w->pool, &p, sizeof p);
    ck_assert_int_eq(credit_data(w->pool->scheduler)->tslice, 5 * MS);
    ck_assert_int_eq(credit_data(w->pool->scheduler)->migration_delay, 7 * MS);
    ck_assert(((const struct credit_params *)w->pool->scheduler->params)->tickle_one_idle);
    world_free(w);
}
END_TEST

Suite *suite_rules(void)
{
    Suite *suite = suite_create("rules");
    TCase *core = tcase_create("core"), *credit = tcase_create("Credit");

    tcase_add_test(core, unblocking_what_is_not_blocked_does_nothing);
    tcase_add_test(core, a_sleep_of_no_length_leaves_the_pcpu);
    tcase_add_test(core, unpausing_what_is_not_paused_does_nothing);
    tcase_add_test(core, to_be_told_takes_time);
    tcase_add_test(core, timers_within_the_slop_wait);
    tcase_add_test(core, handlers_follow_each_other);
    tcase_add_test(core, a_pass_is_divided);
    tcase_add_test(core, a_pass_is_not_divided);
    tcase_add_test(core, a_timer_behind_the_first_does_not_kick);
    tcase_add_test(core, an_idle_pcpu_has_a_turn_for_its_timers_only);
    tcase_add_test(core, the_nearest_timer_kicks);
    tcase_add_test(core, a_pending_event_ends_a_block);
    tcase_add_test(core, soft_affinity_counts_only_as_a_restriction);
    tcase_add_test(core, affinities_are_set_one_after_the_other);
    suite_add_tcase(suite, core);
    tcase_add_test(credit, credit_defaults);
    tcase_add_test(credit, credit_ratelimit_is_at_most_the_slice);
    tcase_add_test(credit, credit_preempts_if_no_idler_can_take_it);
    tcase_add_test(credit, credit_tells_one_idler_or_all);
    tcase_add_test(credit, credit_does_not_steal_from_one_about_to_decide);
    tcase_add_test(credit, credit_steals_what_is_cold);
    tcase_add_test(credit, credit_steals_in_its_own_node_first);
    tcase_add_test(credit, credit_other_sockets_need_more_than_twice_the_idlers);
    tcase_add_test(credit, credit_counts_all_idlers_of_another_socket);
    tcase_add_test(credit, credit_prefers_an_idle_core_or_saves_power);
    tcase_add_test(credit, credit_yield_lasts_while_queued_since_4_18);
    tcase_add_test(credit, credit_looks_elsewhere_at_most_once_per_ms_since_4_18);
    tcase_add_test(credit, credit_accounts_in_32_bits);
    tcase_add_test(credit, credit_refuses_a_ratelimit_above_the_slice);
    suite_add_tcase(suite, credit);
    return suite;
}
