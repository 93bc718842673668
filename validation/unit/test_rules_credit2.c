/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Credit2's rules in small: those that no reference schedule exercises, and defaults. What is
 * expected was worked out by hand from the rules.
 */
#include "models/hypervisor/operate.h"
#include "models/schedulers/credit2.h"
#include "validation/unit/sched_world.h"

/* Changes to the parameters that a test wants. */
struct wish {
    int runqueue; /* enum c2_arrangement */
    int64_t max_cpus;
    bool power_savings;
};

static void grant(void *params, void *ctx)
{
    struct credit2_params *p = params;
    const struct wish *wish = ctx;

    p->runqueue = wish->runqueue;
    if (wish->max_cpus)
        p->max_cpus_runqueue = wish->max_cpus;
    p->smt_power_savings = wish->power_savings;
}

static struct world *host_of(uint32_t pcpus, uint32_t threads, struct wish wish)
{
    struct world *w = world_new(XEN_4_17, pcpus, threads, 0, 0);

    world_pool(w, "credit2", grant, &wish, 137 * US, 1 * MS);
    return w;
}

static struct world *plain(uint32_t pcpus)
{
    return host_of(pcpus, 1, (struct wish){.runqueue = RUNQUEUE_SOCKET});
}

static struct credit2 *data(const struct world *w)
{
    return c2_data(w->pool->scheduler);
}

static struct c2_runq *runq_of(const struct world *w, uint32_t cpu)
{
    return c2_pcpu(&w->host->pcpu[cpu])->rq;
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

START_TEST(defaults)
{
    const struct param_table *t = scheduler_by_name("credit2")->params;
    struct credit2_params p;

    params_defaults(t, &p);
    ck_assert_int_eq(p.ratelimit, 1 * MS);
    ck_assert_int_eq(p.migrate_resist, 500 * US);
    ck_assert_int_eq(p.cap_period, 10 * MS);
    ck_assert_int_eq(p.runqueue, RUNQUEUE_SOCKET);
    ck_assert_int_eq(p.max_cpus_runqueue, 16);
    ck_assert_int_eq(p.load_precision_shift, 18);
    ck_assert_int_eq(p.load_window_shift, 30);
    ck_assert_int_eq(p.balance_under, 0);
    ck_assert_int_eq(p.balance_over, -3);
    ck_assert(!p.smt_power_savings);
    params_free(t, &p);
}
END_TEST

/* ---- run queues --------------------------------------------------------------------------------
 */

START_TEST(siblings_share_a_run_queue)
{
    /* three cores; at most 4 pCPUs, so 3 each: the core of 2 and 3 is kept together */
    struct world *w = host_of(6, 2, (struct wish){.runqueue = RUNQUEUE_ALL, .max_cpus = 4});

    ck_assert_uint_eq(runq_of(w, 0)->id, 0);
    ck_assert_ptr_eq(runq_of(w, 3), runq_of(w, 2));
    ck_assert_ptr_eq(runq_of(w, 3), runq_of(w, 0));
    ck_assert_ptr_ne(runq_of(w, 4), runq_of(w, 0));
    ck_assert_ptr_eq(runq_of(w, 5), runq_of(w, 4));
    world_free(w);
}
END_TEST

START_TEST(pcpus_are_spread_evenly)
{
    struct world *w = host_of(6, 1, (struct wish){.runqueue = RUNQUEUE_ALL, .max_cpus = 4});

    ck_assert_uint_eq(runq_of(w, 0)->cpus, 3);
    ck_assert_uint_eq(runq_of(w, 5)->cpus, 3);
    ck_assert_ptr_ne(runq_of(w, 3), runq_of(w, 0));
    world_free(w);
}
END_TEST

/* The share is rounded down: 5 pCPUs, 4 at most in a queue, 2 queues at least: 2 for each, and the
 * last one is left over. Cores are counted whole: where 3 pCPUs are allowed only one core of two
 * threads has room, unless one queue for all is wanted. */
START_TEST(what_is_left_over_gets_one_more_run_queue)
{
    struct world *w = host_of(5, 1, (struct wish){.runqueue = RUNQUEUE_SOCKET, .max_cpus = 4});

    ck_assert_uint_eq(runq_of(w, 0)->cpus, 2);
    ck_assert_uint_eq(runq_of(w, 3)->cpus, 2);
    ck_assert_uint_eq(runq_of(w, 4)->cpus, 1);
    ck_assert_uint_eq(runq_of(w, 4)->id, 2);
    world_free(w);
    w = host_of(6, 2, (struct wish){.runqueue = RUNQUEUE_SOCKET, .max_cpus = 4});
    for (uint32_t cpu = 0; cpu < 6; cpu++)
        ck_assert_uint_eq(runq_of(w, cpu)->id, cpu / 2);
    world_free(w);
}
END_TEST

/* It is the host's pCPUs that are counted, not those of the socket. */
START_TEST(the_share_is_of_the_whole_host)
{
    struct wish wish = {.runqueue = RUNQUEUE_SOCKET, .max_cpus = 3};
    struct world *w = world_new(XEN_4_17, 10, 1, 5, 0); /* 2 sockets of 5 */

    world_pool(w, "credit2", grant, &wish, 137 * US, 1 * MS);
    /* 10 pCPUs, 3 at most: 4 queues, 2 for each; 5 in a socket: 2 and 2 and 1 */
    ck_assert_uint_eq(runq_of(w, 4)->cpus, 1);
    ck_assert_uint_eq(runq_of(w, 9)->cpus, 1);
    ck_assert_uint_eq(runq_of(w, 9)->id, 5);
    world_free(w);
}
END_TEST

START_TEST(arrangements)
{
    static const uint32_t queues[] = {[RUNQUEUE_CPU] = 8,
                                      [RUNQUEUE_CORE] = 4,
                                      [RUNQUEUE_SOCKET] = 2,
                                      [RUNQUEUE_NODE] = 1,
                                      [RUNQUEUE_ALL] = 1};

    for (int a = RUNQUEUE_CPU; a <= RUNQUEUE_ALL; a++) {
        struct wish wish = {.runqueue = a};
        struct world *w = world_new(XEN_4_17, 8, 2, 2, 2); /* 2 threads, 2 cores, 2 sockets */

        world_pool(w, "credit2", grant, &wish, 137 * US, 1 * MS);
        ck_assert_uint_eq(runq_of(w, 7)->id, queues[a] - 1);
        ck_assert_uint_eq(runq_of(w, 0)->cpus, 8 / queues[a]);
        world_free(w);
    }
}
END_TEST

START_TEST(only_the_ratelimit_changes_at_run_time)
{
    struct world *w = plain(2);
    struct credit2_params p = *(const struct credit2_params *)w->pool->scheduler->params;

    p.ratelimit = 5 * MS;
    p.cap_period = 20 * MS;
    p.migrate_resist = 0;
    pool_set_params(w->pool, &p, sizeof p);
    ck_assert_int_eq(c2_params(data(w))->ratelimit, 5 * MS);
    ck_assert_int_eq(c2_params(data(w))->cap_period, 10 * MS);
    ck_assert_int_eq(c2_params(data(w))->migrate_resist, 500 * US);
    world_free(w);
}
END_TEST

/* ---- charging, load ----------------------------------------------------------------------------
 */

/* 1 ns of a vCPU with weight 7 beside one with weight 10 costs 10/7 credits. */
START_TEST(fractions_of_credits_are_kept)
{
    struct world *w = plain(1);
    struct vcpu *v = world_vcpu(w, world_domain(w, 7, 1), &program_hog, NULL);
    struct c2_vcpu *cv = c2_vcpu(v);

    world_vcpu(w, world_domain(w, 10, 1), &program_hog, NULL);
    cv->start = 1000;
    for (int ns = 1; ns <= 7; ns++)
        c2_burn(data(w), cv, 1000 + ns);
    ck_assert_int_eq(cv->credit, CREDIT_INIT - 10);
    ck_assert_int_eq(cv->residual, 0);
    world_free(w);
}
END_TEST

START_TEST(after_a_window_the_average_is_the_load)
{
    struct world *w = plain(1);
    struct vcpu *v = world_sleeper(w, world_domain(w, 256, 1), 100 * MS, 2000 * MS, 2 * MS);

    world_run(w, 102 * MS);
    ck_assert_int_gt(runq_of(w, 0)->avg, 0);
    world_run(w, 2102 * MS);
    ck_assert(v->is_running);
    ck_assert_int_eq(runq_of(w, 0)->avg, 0);
    ck_assert_int_eq(runq_of(w, 0)->bavg, 0);
    ck_assert_int_eq(c2_vcpu(v)->avg, 0);
    world_free(w);
}
END_TEST

/* The least credit, and a reset that must add twice as much. */
START_TEST(a_reset_is_enough_even_from_the_least_credit)
{
    struct world *w = plain(1);
    struct vcpu *v = world_vcpu(w, world_domain(w, 1, 1), &program_hog, NULL);

    world_vcpu(w, world_domain(w, 65535, 1), &program_hog, NULL);
    world_start(w, v, 2 * MS);
    world_watch(w);
    world_run(w, 3 * MS);
    world_expect(w, "3000000,reset,0,1,0,0,-,10000000,from=-10000000 to=10000000");
    world_free(w);
}
END_TEST

/* ---- who is told -------------------------------------------------------------------------------
 */

/* pCPU 0 is busy. A vCPU of pCPU 1, whose sibling is busy, wakes: to the idle core, or not. */
static uint32_t told_of_smt(bool power_savings)
{
    struct world *w =
        host_of(4, 2, (struct wish){.runqueue = RUNQUEUE_ALL, .power_savings = power_savings});
    struct domain *d = world_domain(w, 256, 2);
    struct vcpu *v;
    uint32_t cpu;

    world_pinned_hog(w, d, 0, 2 * MS);
    v = world_server(w, d, 1 * MS, 3 * MS);
    ck_assert_uint_eq(v->processor, 1);
    world_run(w, 3 * MS);
    cpu = c2_vcpu(v)->vcpu->processor;
    world_free(w);
    return cpu;
}

START_TEST(idle_cores_come_first_or_last)
{
    ck_assert_uint_eq(told_of_smt(false), 2);
    ck_assert_uint_eq(told_of_smt(true), 1);
}
END_TEST

/* Three pinned hogs; those on pCPUs 1 and 2 began when given. At 5 ms a fourth vCPU wakes, with all
 * its credit. Who is told? */
static uint32_t told_of_busy(sim_time one, sim_time two, const cpumask *waker_soft,
                             const cpumask *soft_of_1)
{
    struct world *w = plain(3);
    struct domain *d = world_domain(w, 256, 4);
    struct vcpu *v = world_server(w, d, 1 * MS, 2 * MS), *on_1;
    uint32_t told = CPU_NONE;

    ck_assert_uint_eq(v->processor, 0);
    vcpu_set_affinity(v, NULL, waker_soft);
    on_1 = world_pinned_hog(w, d, 1, one);
    if (soft_of_1)
        vcpu_set_affinity(on_1, NULL, soft_of_1);
    world_pinned_hog(w, d, 2, two);
    world_run(w, 2 * MS); /* v blocks, on pCPU 0 */
    v->processor = 0;
    world_pinned_hog(w, d, 0, 2500 * US);
    world_send(w, v, 5 * MS);
    world_watch(w);
    world_run(w, 5 * MS);
    for (uint32_t cpu = 0; cpu < 3; cpu++) {
        char row[64];

        snprintf(row, sizeof row, "5000000,tickle,0,,,,,,cpu=%u", cpu);
        if (world_has(w, row))
            told = cpu;
    }
    world_free(w);
    return told;
}

START_TEST(the_best_score_is_told)
{
    cpumask only_2 = cpumask_of(2), both = cpumask_of(1), only_0 = cpumask_of(0);

    cpumask_set(&both, 2);
    /* pCPU 1's hog has least credit, but the waker prefers pCPU 2 */
    ck_assert_uint_eq(told_of_busy(2 * MS, 3 * MS, &only_2, NULL), 2);
    /* it prefers both, and pCPU 2's hog has less credit, ... */
    ck_assert_uint_eq(told_of_busy(3 * MS, 2 * MS, &both, NULL), 2);
    /* ... but pCPU 1's would rather be elsewhere */
    ck_assert_uint_eq(told_of_busy(3 * MS, 2 * MS, &both, &only_0), 1);
    /* equal: the first */
    ck_assert_uint_eq(told_of_busy(2 * MS, 2 * MS, &both, NULL), 1);
    /* the own pCPU, if it prefers that: at once */
    ck_assert_uint_eq(told_of_busy(2 * MS, 2 * MS, &only_0, NULL), 0);
}
END_TEST

/* ---- the decision ------------------------------------------------------------------------------
 */

START_TEST(a_yield_is_one_decisions)
{
    static const struct script_op script[] = {
        {SCRIPT_COMPUTE, 2 * MS}, {SCRIPT_YIELD, 0}, {SCRIPT_COMPUTE, SIM_NEVER / 2}};
    struct script_params p = {.op = script, .count = 3};
    struct world *w = plain(1);
    struct vcpu *v = world_vcpu(w, world_domain(w, 256, 1), &program_script, &p);

    world_start(w, v, 2 * MS);
    world_watch(w);
    world_run(w, 5 * MS);
    world_expect(w, "4000000,yield,");
    ck_assert(!c2_vcpu(v)->yield);
    world_free(w);
}
END_TEST

/* A vCPU runs outside its soft affinity, since the pCPU inside is busy until 15 ms. */
START_TEST(who_runs_outside_its_soft_affinity_makes_way)
{
    struct world *w = plain(2);
    struct domain *d = world_domain(w, 256, 2);
    struct vcpu *worker = world_sleeper(w, d, 13 * MS, 1000 * MS, 2 * MS);
    struct vcpu *v = world_vcpu(w, d, &program_hog, NULL);

    world_hard(worker, 1, 1);
    world_soft(v, 1, 1);
    world_start(w, v, 3 * MS);
    world_run(w, 14 * MS);
    world_expect_on(v, 0);
    world_run(w, 40 * MS);
    world_expect_on(v, 1);
    world_expect_idle(w, 0);
    world_free(w);
}
END_TEST

/* ---- caps --------------------------------------------------------------------------------------
 */

START_TEST(the_least_quota)
{
    struct world *w = plain(1);
    struct domain *d = world_domain(w, 256, 8);
    struct vcpu *v = NULL;

    for (int i = 0; i < 8; i++)
        v = world_vcpu(w, d, &program_hog, NULL);
    domain_set(d, 256, 20); /* 2 ms per 10 ms, an eighth of it for each: 250 us */
    ck_assert_int_eq(c2_vcpu(v)->quota, 500 * US);
    domain_set(d, 256, 80);
    ck_assert_int_eq(c2_vcpu(v)->quota, 1 * MS);
    world_free(w);
}
END_TEST

/* 1 %: 100 us per 10 ms. Each run is as long as the ratelimit, 1 ms: nine periods' debt. */
START_TEST(a_pool_in_debt_waits)
{
    struct world *w = plain(1);
    struct domain *d = world_domain(w, 256, 1);
    struct vcpu *v = world_vcpu(w, d, &program_hog, NULL);

    domain_set(d, 256, 1); /* at 1 ms: replenished at 11, 21, ... ms */
    world_start(w, v, 2 * MS);
    world_watch(w);
    world_run(w, 95 * MS);
    world_expect(w, "3000000,switch_out,0,1,0,");
    ck_assert_uint_eq(world_count(w, ",switch_in,0,1,0,"), 1);
    ck_assert_uint_eq(world_count(w, ",tickle,"), 1);
    ck_assert(v->pause_flags & PAUSE_PARKED);
    ck_assert_int_eq(v->runstate, RUNSTATE_OFFLINE);
    world_run(w, 101 * MS);
    world_expect(w, "101000000,switch_in,0,1,0,0,-,");
    world_free(w);
}
END_TEST

static sim_time cap_now(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    (void)w;
    (void)now;
    domain_set(v->domain, v->domain->weight, *(const uint32_t *)arg);
    return 0;
}

START_TEST(a_new_cap_counts_at_once)
{
    static const uint32_t half = 50, none = 0;
    struct world *w = plain(1);
    struct domain *d = world_domain(w, 256, 1);
    struct vcpu *v = world_vcpu(w, d, &program_hog, NULL);

    world_start(w, v, 2 * MS);
    world_at(w, 5 * MS, cap_now, v, &half);
    world_at(w, 12 * MS, cap_now, v, &none);
    world_watch(w);
    world_run(w, 11 * MS);
    world_expect(w, "5000000,cont,0,1,0,0,-,7000000,ran=3000000 slice=5000000");
    world_expect(w, "10000000,switch_out,0,1,0,");
    world_expect_idle(w, 0);
    world_run(w, 12 * MS); /* without a cap nobody is parked */
    world_expect_on(v, 0);
    ck_assert_int_eq(c2_vcpu(v)->budget, SIM_NEVER);
    world_free(w);
}
END_TEST

START_TEST(a_cap_above_100_per_vcpu_is_refused)
{
    struct world *w = plain(2);
    struct domain *d = world_domain(w, 256, 1);
    struct vcpu *v = world_vcpu(w, d, &program_hog, NULL);

    domain_set(d, 256, 101);
    ck_assert_uint_eq(d->cap, 0);
    ck_assert_int_eq(c2_vcpu(v)->budget, SIM_NEVER);
    domain_set(d, 256, 100);
    ck_assert_uint_eq(d->cap, 100);
    ck_assert_int_eq(c2_vcpu(v)->budget, 0);
    world_free(w);
}
END_TEST

/* A capped domain gets what its cap says, over many periods, with debts and quotas of all sizes. */
START_TEST(caps_hold)
{
    static const uint32_t caps[] = {5, 37, 50, 100, 150, 250};

    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        struct world *w = plain(4);
        struct domain *d = world_domain(w, 256, 3);
        sim_time ran = 0;

        for (int k = 0; k < 3; k++)
            world_start(w, world_vcpu(w, d, &program_hog, NULL), 1 * MS + k);
        domain_set(d, 256, caps[i]);
        world_run(w, 1001 * MS); /* 100 periods */
        for (int k = 0; k < 3; k++)
            ran += vcpu_runstate_time(d->vcpu[k], RUNSTATE_RUNNING);
        ck_assert_int_ge(ran, (sim_time)caps[i] * 10 * MS * 97 / 100);
        ck_assert_int_le(ran, (sim_time)caps[i] * 10 * MS + 5 * MS);
        world_free(w);
    }
}
END_TEST

/* ---- balancing and placement -------------------------------------------------------------------
 */

/* Two run queues of one pCPU each. Four vCPUs, all of them down, on the first, with these average
 * loads; nobody on the second. */
static struct world *unbalanced(struct vcpu *v[4], const int64_t avg[4])
{
    struct world *w = host_of(2, 1, (struct wish){.runqueue = RUNQUEUE_CPU});
    struct domain *d = world_domain(w, 256, 4);
    struct credit2 *c = data(w);
    struct c2_runq *rq[2] = {runq_of(w, 0), runq_of(w, 1)};

    for (int i = 0; i < 4; i++) {
        v[i] = world_vcpu(w, d, &program_hog, NULL);
        c2_deassign(c, c2_vcpu(v[i]));
    }
    rq[0]->bavg = rq[1]->bavg = 0;
    for (int i = 0; i < 4; i++) {
        v[i]->processor = 0;
        c2_vcpu(v[i])->avg = avg[i];
        c2_vcpu(v[i])->updated = c2_granule(w->queue.now);
        c2_assign(c, c2_vcpu(v[i]), rq[0]);
    }
    rq[0]->updated = rq[1]->updated = c2_granule(w->queue.now);
    return w;
}

static const int64_t ONE = INT64_C(1) << 18; /* the load of a vCPU that never sleeps */

START_TEST(the_first_of_equal_moves_is_made)
{
    const int64_t avg[4] = {ONE, ONE, ONE, ONE};
    struct vcpu *v[4];
    struct world *w = unbalanced(v, avg);

    c2_balance(data(w), runq_of(w, 0), w->queue.now);
    ck_assert_uint_eq(v[0]->processor, 1);
    for (int i = 1; i < 4; i++)
        ck_assert_uint_eq(v[i]->processor, 0);
    ck_assert_int_eq(runq_of(w, 0)->bavg, 3 * ONE);
    ck_assert_int_eq(runq_of(w, 1)->bavg, ONE);
    world_free(w);
}
END_TEST

START_TEST(the_move_that_evens_out_best_is_made)
{
    const int64_t avg[4] = {ONE, ONE / 4, 2 * ONE - 10, ONE};
    struct vcpu *v[4];
    struct world *w = unbalanced(v, avg);

    c2_balance(data(w), runq_of(w, 0), w->queue.now); /* 4.25 against 0: 2 is nearest to a half */
    ck_assert_uint_eq(v[2]->processor, 1);
    ck_assert_uint_eq(v[0]->processor, 0);
    world_free(w);
}
END_TEST

START_TEST(who_was_asked_or_may_not_is_left_alone)
{
    const int64_t avg[4] = {ONE, ONE, ONE, ONE};
    struct vcpu *v[4];
    struct world *w = unbalanced(v, avg);

    c2_vcpu(v[0])->migrate_request = true;
    c2_vcpu(v[0])->migrate_to = runq_of(w, 1);
    v[1]->hard = cpumask_of(0);
    c2_balance(data(w), runq_of(w, 0), w->queue.now);
    ck_assert_uint_eq(v[0]->processor, 0);
    ck_assert_uint_eq(v[1]->processor, 0);
    ck_assert_uint_eq(v[2]->processor, 1);
    world_free(w);
}
END_TEST

START_TEST(small_differences_stay)
{
    const int64_t idle[4] = {ONE / 2, ONE / 2 - 1, 0, 0}, busy[4] = {ONE / 8, ONE, ONE, ONE};
    struct vcpu *v[4];
    struct world *w = unbalanced(v, idle);

    /* capacity to spare, and less than one vCPU's load */
    c2_balance(data(w), runq_of(w, 0), w->queue.now);
    ck_assert_uint_eq(v[0]->processor, 0);
    runq_of(w, 0)->bavg += 1; /* exactly one */
    c2_balance(data(w), runq_of(w, 0), w->queue.now);
    ck_assert_uint_eq(v[0]->processor, 1);
    world_free(w);

    w = unbalanced(v, busy);
    /* no capacity to spare: an eighth is enough */
    runq_of(w, 1)->bavg = 3 * ONE + 1;
    c2_balance(data(w), runq_of(w, 0), w->queue.now);
    ck_assert_uint_eq(v[0]->processor, 0);
    runq_of(w, 1)->bavg = 3 * ONE - ONE / 8;
    c2_balance(data(w), runq_of(w, 0), w->queue.now);
    ck_assert_uint_eq(v[0]->processor, 1);
    world_free(w);
}
END_TEST

/* Whether there is capacity is judged by the last run queue of the list: here a third one. */
START_TEST(capacity_is_that_of_the_last_run_queue)
{
    struct world *w = host_of(3, 1, (struct wish){.runqueue = RUNQUEUE_CPU});
    struct domain *d = world_domain(w, 256, 1);
    struct vcpu *v = world_vcpu(w, d, &program_hog, NULL);
    struct credit2 *c = data(w);

    c2_deassign(c, c2_vcpu(v));
    v->processor = 0;
    c2_vcpu(v)->avg = ONE / 4;
    c2_assign(c, c2_vcpu(v), runq_of(w, 0));
    for (uint32_t cpu = 0; cpu < 3; cpu++)
        runq_of(w, cpu)->updated = c2_granule(w->queue.now);
    c2_vcpu(v)->updated = c2_granule(w->queue.now);
    runq_of(w, 0)->bavg = ONE / 2;
    runq_of(w, 1)->bavg = 0;
    runq_of(w, 2)->bavg = ONE - 1;
    c2_balance(c, runq_of(w, 0), w->queue.now); /* there is capacity: half a vCPU is not enough */
    ck_assert_uint_eq(v->processor, 0);
    runq_of(w, 2)->bavg = ONE;
    runq_of(w, 1)->bavg = -1; /* the one that differs most, by a little */
    c2_balance(c, runq_of(w, 0), w->queue.now);
    ck_assert_uint_eq(v->processor, 1);
    world_free(w);
}
END_TEST

START_TEST(a_requested_move_is_carried_out)
{
    const int64_t avg[4] = {ONE, 0, 0, 0};
    struct vcpu *v[4];
    struct world *w = unbalanced(v, avg);
    struct c2_vcpu *cv = c2_vcpu(v[0]);

    runq_of(w, 1)->bavg = 5 * ONE; /* not where it would go by itself */
    cv->migrate_request = true;
    cv->migrate_to = runq_of(w, 1);
    ck_assert_uint_eq(c2_pick_cpu(w->pool->scheduler, v[0]), 1);
    ck_assert(!cv->migrate_request);
    ck_assert_uint_eq(c2_pick_cpu(w->pool->scheduler, v[0]), 0);
    world_free(w);
}
END_TEST

/* Cores {0, 1} and {2, 3}, each a run queue. A vCPU prefers the second core; the first is less
 * loaded, and it is that one's position that is read and moved. */
START_TEST(the_position_is_that_of_the_least_loaded)
{
    struct world *w = host_of(4, 2, (struct wish){.runqueue = RUNQUEUE_CORE});
    struct vcpu *v = world_vcpu(w, world_domain(w, 256, 1), &program_hog, NULL);
    cpumask prefers = cpumask_of(2);

    cpumask_set(&prefers, 3);
    v->soft = prefers;
    vcpu_update_soft_effective(v);
    runq_of(w, 0)->bavg = 0;
    runq_of(w, 0)->pick_bias = 0;
    runq_of(w, 2)->bavg = ONE;
    runq_of(w, 2)->pick_bias = 2;
    ck_assert_uint_eq(c2_pick_cpu(w->pool->scheduler, v), 2);
    ck_assert_uint_eq(runq_of(w, 0)->pick_bias, 2);
    ck_assert_uint_eq(runq_of(w, 2)->pick_bias, 2);
    ck_assert_uint_eq(c2_pick_cpu(w->pool->scheduler, v), 3);
    world_free(w);
}
END_TEST

Suite *suite_rules_credit2(void)
{
    Suite *suite = suite_create("rules_credit2");
    TCase *tc = tcase_create("Credit2");

    tcase_add_test(tc, defaults);
    tcase_add_test(tc, siblings_share_a_run_queue);
    tcase_add_test(tc, pcpus_are_spread_evenly);
    tcase_add_test(tc, what_is_left_over_gets_one_more_run_queue);
    tcase_add_test(tc, the_share_is_of_the_whole_host);
    tcase_add_test(tc, arrangements);
    tcase_add_test(tc, only_the_ratelimit_changes_at_run_time);
    tcase_add_test(tc, fractions_of_credits_are_kept);
    tcase_add_test(tc, after_a_window_the_average_is_the_load);
    tcase_add_test(tc, a_reset_is_enough_even_from_the_least_credit);
    tcase_add_test(tc, idle_cores_come_first_or_last);
    tcase_add_test(tc, the_best_score_is_told);
    tcase_add_test(tc, a_yield_is_one_decisions);
    tcase_add_test(tc, who_runs_outside_its_soft_affinity_makes_way);
    tcase_add_test(tc, the_least_quota);
    tcase_add_test(tc, a_pool_in_debt_waits);
    tcase_add_test(tc, a_new_cap_counts_at_once);
    tcase_add_test(tc, a_cap_above_100_per_vcpu_is_refused);
    tcase_add_test(tc, caps_hold);
    tcase_add_test(tc, the_first_of_equal_moves_is_made);
    tcase_add_test(tc, the_move_that_evens_out_best_is_made);
    tcase_add_test(tc, who_was_asked_or_may_not_is_left_alone);
    tcase_add_test(tc, small_differences_stay);
    tcase_add_test(tc, capacity_is_that_of_the_last_run_queue);
    tcase_add_test(tc, a_requested_move_is_carried_out);
    tcase_add_test(tc, the_position_is_that_of_the_least_loaded);
    suite_add_tcase(suite, tc);
    return suite;
}
