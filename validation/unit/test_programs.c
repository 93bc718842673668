/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs in guests, alone on a pCPU: how much they compute and when; threads of one guest. */
#include "validation/unit/net_world.h"

#include <check.h>

static struct net_world w;

static void setup(void)
{
    world_init(&w, true, "credit", 1);
    world_dom0(&w, 1);
}

static void teardown(void)
{
    world_free(&w);
}

static struct thread *start(const char *name, const char *text, uint32_t vcpus)
{
    world_guest(&w, vcpus);
    return world_program(NULL, w.guest[w.guests - 1], name, text, 0);
}

static void run(sim_time end)
{
    world_start(&w, NS_PER_US);
    fleet_run_to(&w.fleet, end);
}

static sim_time ran(uint32_t guest)
{
    return vcpu_runstate_time(w.guest[guest]->domain->vcpu[0], RUNSTATE_RUNNING);
}

START_TEST(test_lookbusy_alone)
{
    struct thread *t =
        start("lookbusy", "{\"busy\": \"30%\", \"slack\": \"0\", \"random_phase\": false}", 1);

    run(10 * NS_PER_S);
    ck_assert_int_eq(ran(0), 3 * NS_PER_S);
    ck_assert_uint_eq(program_counts(t).jobs, 100);
}
END_TEST

START_TEST(test_lookbusy_phase)
{
    start("lookbusy", "{\"busy\": \"30%\"}", 1);
    run(10 * NS_PER_S);
    ck_assert_int_gt(ran(0), 29 * NS_PER_S / 10);
    ck_assert_int_le(ran(0), 3 * NS_PER_S);
}
END_TEST

/* The sleep counts from the end of the burst: a cycle that is held up is longer. */
START_TEST(test_lookbusy_held_up)
{
    for (int i = 0; i < 2; i++)
        start("lookbusy", "{\"busy\": \"80%\", \"random_phase\": false, \"feedback\": false}", 1);
    run(20 * NS_PER_S);
    /* 160 ms of work and 20 ms of sleep that partly overlap: more than 100 ms, at most 180 */
    ck_assert_int_lt(ran(0), 12 * NS_PER_S);
    ck_assert_int_gt(ran(0), 8 * NS_PER_S);
    ck_assert_int_lt(ran(0) + ran(1), 20 * NS_PER_S);
}
END_TEST

/* Against a hog, 30 ms of work take some 45 ms. The correction makes up for it. */
START_TEST(test_lookbusy_feedback)
{
    start("lookbusy", "{\"busy\": \"30%\"}", 1);
    start("hog", "{}", 1);
    run(60 * NS_PER_S);
    ck_assert_int_gt(ran(0), 60 * NS_PER_S * 28 / 100);
    ck_assert_int_lt(ran(0), 60 * NS_PER_S * 32 / 100);
}
END_TEST

/* Bursts of 4 ms are seen as none or one tick of 10 ms, and still come out right. */
START_TEST(test_lookbusy_small)
{
    start("lookbusy", "{\"busy\": \"4%\"}", 1);
    run(100 * NS_PER_S);
    ck_assert_int_gt(ran(0), 100 * NS_PER_S * 36 / 1000);
    ck_assert_int_lt(ran(0), 100 * NS_PER_S * 44 / 1000);
}
END_TEST

/* What cannot be had: three want 60 % of one pCPU. In the end they do nothing but compute. */
/* What /proc/stat shows: with a pCPU of its own a guest's ticks count what it runs, and none while
 * it sleeps. */
START_TEST(test_busy_ticks)
{
    start("lookbusy", "{\"busy\": \"30%\", \"feedback\": false}", 1);
    w.guest[0]->costs.busy_tick = true;
    run(100 * NS_PER_S);
    ck_assert_int_gt(guest_busy_time(w.guest[0]), ran(0) * 98 / 100);
    ck_assert_int_lt(guest_busy_time(w.guest[0]), ran(0) * 102 / 100);
}
END_TEST

/* Slices of 30 ms in turn: 7 ticks of 4 ms fall into each, and one has come due before it: 32 ms
 * for 30. */
START_TEST(test_busy_ticks_late)
{
    for (int i = 0; i < 2; i++) {
        start("hog", "{}", 1);
        w.guest[i]->costs.busy_tick = true;
    }
    run(30 * NS_PER_S);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_gt(guest_busy_time(w.guest[i]), ran(i) * 106 / 100);
        ck_assert_int_lt(guest_busy_time(w.guest[i]), ran(i) * 107 / 100);
    }
}
END_TEST

START_TEST(test_lookbusy_overload)
{
    for (int i = 0; i < 3; i++)
        start("lookbusy", "{\"busy\": \"60%\"}", 1);
    world_start(&w, NS_PER_US);
    fleet_run_to(&w.fleet, 60 * NS_PER_S);
    for (uint32_t i = 0; i < 3; i++) {
        sim_time blocked = vcpu_runstate_time(w.guest[i]->domain->vcpu[0], RUNSTATE_BLOCKED);

        fleet_run_to(&w.fleet, (70 + 10 * i) * NS_PER_S);
        ck_assert_int_lt(vcpu_runstate_time(w.guest[i]->domain->vcpu[0], RUNSTATE_BLOCKED) -
                             blocked,
                         NS_PER_S / 2);
    }
}
END_TEST

START_TEST(test_lookbusy_full)
{
    start("lookbusy", "{\"busy\": \"100%\", \"random_phase\": false}", 1);
    run(NS_PER_S);
    ck_assert_int_ge(ran(0), NS_PER_S * 99 / 100); /* as of the last event */
}
END_TEST

/* Two hogs of one guest share its vCPU by CFS: equal shares. */
START_TEST(test_threads_share)
{
    struct thread *a = start("hog", "{}", 1), *b;

    b = world_program(NULL, w.guest[0], "hog", "{}", 0);
    run(NS_PER_S);
    ck_assert_int_gt(a->cpu_time, NS_PER_S * 48 / 100);
    ck_assert_int_gt(b->cpu_time, NS_PER_S * 48 / 100);
    ck_assert_int_le(a->cpu_time + b->cpu_time, NS_PER_S);
}
END_TEST

/* A thread that is woken by a thread of another vCPU runs at once, through an IPI. */
static struct thread *waiter;

static struct guest_op wake_next(struct thread *t, sim_time now)
{
    bool *woke = t->state;

    *woke = !*woke;
    if (*woke) {
        thread_wake(waiter, now);
        return (struct guest_op){OP_COMPUTE, NS_PER_MS};
    }
    return (struct guest_op){OP_SLEEP, now + 9 * NS_PER_MS};
}

static struct guest_op wait_next(struct thread *t, sim_time now)
{
    bool *waited = t->state;

    (void)now;
    *waited = !*waited;
    return *waited ? (struct guest_op){OP_WAIT, 0} : (struct guest_op){OP_COMPUTE, 100 * NS_PER_US};
}

START_TEST(test_wake_across_vcpus)
{
    static const struct program waker = {.name = "waker",
                                         .state_size = sizeof(bool),
                                         .next = wake_next},
                                sleeper = {.name = "sleeper",
                                           .state_size = sizeof(bool),
                                           .next = wait_next};
    struct guest *g;

    teardown();
    world_init(&w, true, "credit", 2);
    world_dom0(&w, 1);
    world_guest(&w, 2);
    g = w.guest[0];
    waiter = guest_add_thread(&g->vcpu[1], &sleeper, NULL, "sleeper", CLASS_NORMAL, 0);
    guest_add_thread(&g->vcpu[0], &waker, NULL, "waker", CLASS_NORMAL, 0);
    run(NS_PER_S);
    ck_assert_int_ge(waiter->cpu_time, 99 * 100 * NS_PER_US);
    ck_assert_int_le(waiter->cpu_time, 100 * 100 * NS_PER_US);
    /* it did not wait for the waker to end its burst */
    ck_assert_int_eq(vcpu_runstate_time(g->domain->vcpu[1], RUNSTATE_RUNNABLE), 0);
}
END_TEST

/* Kernel time is charged to nobody's program but takes time from it. */
START_TEST(test_kernel_costs)
{
    struct thread *t;

    teardown();
    world_init(&w, true, "credit", 1);
    w.guest_costs.upcall = 3 * NS_PER_US;
    w.guest_costs.timer = 5 * NS_PER_US;
    w.guest_costs.idle_exit = 7 * NS_PER_US;
    w.guest_costs.thread_switch = 11 * NS_PER_US;
    world_dom0(&w, 1);
    t = start("burst_sleep", "{\"compute\": \"1ms\", \"sleep\": \"9ms\"}", 1);
    run(NS_PER_S);
    /* the first burst has no interrupt before it, only the switch to its thread; every further one
     * has all four */
    ck_assert_int_eq(t->cpu_time, 100 * NS_PER_MS);
    ck_assert_int_eq(ran(0), 100 * NS_PER_MS + 11 * NS_PER_US + 99 * 26 * NS_PER_US);
}
END_TEST

/* The tick interrupts a guest while it is busy, and once more when it has gone idle. */
START_TEST(test_ticks)
{
    teardown();
    world_init(&w, true, "credit", 1);
    w.guest_costs.timer = 5 * NS_PER_US;
    w.guest_costs.tick_work = 2 * NS_PER_US;
    w.guest_costs.idle_tick = w.guest_costs.busy_tick = true;
    world_dom0(&w, 1);
    start("job", "{\"work\": \"10ms\"}", 1);
    run(NS_PER_S);
    /* after 4 and 8 ms busy, after 12 ms idle */
    ck_assert_int_eq(ran(0), 10 * NS_PER_MS + 2 * 7 * NS_PER_US + 5 * NS_PER_US);
}
END_TEST

/* A tick that comes on the way to the halt is no idle one: another follows. */
START_TEST(test_tick_before_halt)
{
    teardown();
    world_init(&w, true, "credit", 1);
    w.guest_costs.timer = 5 * NS_PER_US;
    w.guest_costs.idle_enter = 20 * NS_PER_US;
    w.guest_costs.idle_tick = w.guest_costs.busy_tick = true;
    world_dom0(&w, 1);
    start("job", "{\"work\": \"3990us\"}", 1);
    run(NS_PER_S);
    /* one in the 20 us after 3,990 us, one idle, after which the kernel goes idle again */
    ck_assert_int_eq(ran(0), 3990 * NS_PER_US + 2 * 20 * NS_PER_US + 2 * 5 * NS_PER_US);
}
END_TEST

/* Leaving idle costs more once the tick has stopped: not the first time, and not 3 ms after the
 * last work, when the idle tick is still to come. */
START_TEST(test_tick_restart)
{
    static const struct {
        const char *period;
        sim_time times, restarts;
    } runs[] = {{"50ms", 20, 19}, {"4ms", 250, 0}};

    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char params[100];

        teardown();
        world_init(&w, true, "credit", 1);
        w.guest_costs.tick_restart = 7 * NS_PER_US;
        w.guest_costs.idle_tick = w.guest_costs.busy_tick = true;
        world_dom0(&w, 1);
        snprintf(params, sizeof params, "{\"compute\": \"1ms\", \"period\": \"%s\"}",
                 runs[i].period);
        start("periodic", params, 1);
        run(NS_PER_S - 1);
        ck_assert_int_eq(ran(0), runs[i].times * NS_PER_MS + runs[i].restarts * 7 * NS_PER_US);
    }
}
END_TEST

/* Deferrable timers wait for a tick that comes anyway, and wake no idle vCPU. */
START_TEST(test_deferrable)
{
    static const char *const of[] = {"false", "true"};

    for (int deferrable = 0; deferrable < 2; deferrable++) {
        char params[120];

        teardown();
        world_init(&w, true, "credit", 1);
        w.guest_costs.idle_tick = w.guest_costs.busy_tick = true;
        world_dom0(&w, 1);
        snprintf(params, sizeof params,
                 "{\"compute\": \"100us\", \"period\": \"50ms\", \"deferrable\": %s}",
                 of[deferrable]);
        start("periodic", params, 1);
        run(NS_PER_S - 1);
        /* after its first time an idle tick comes, and then none */
        ck_assert_int_eq(ran(0), (deferrable ? 1 : 20) * 100 * NS_PER_US);
    }
}
END_TEST

START_TEST(test_job)
{
    struct thread *t = start("job", "{\"work\": \"300ms\"}", 1);

    start("hog", "{}", 1);
    run(2 * NS_PER_S);
    ck_assert_int_eq(ran(0), 300 * NS_PER_MS);
    ck_assert_uint_eq(program_counts(t).jobs, 1);
    /* with half a pCPU, in turns of 30 ms */
    ck_assert_int_ge(program_counts(t).finished, 540 * NS_PER_MS);
    ck_assert_int_le(program_counts(t).finished, 660 * NS_PER_MS);
}
END_TEST

/* Threads that are done with a job wait for the others before they begin the next. */
START_TEST(test_job_again)
{
    struct thread *t;

    teardown();
    world_init(&w, true, "credit", 2);
    world_dom0(&w, 1);
    t = start("job", "{\"work\": \"30ms\", \"threads\": 3, \"repeat\": true}", 2);
    run(NS_PER_S);
    /* two threads on one vCPU, one on the other: 20 ms a job */
    ck_assert_uint_ge(program_counts(t).jobs, 49);
    ck_assert_uint_le(program_counts(t).jobs, 50);
    ck_assert_int_eq(program_counts(t).job_time, (sim_time)program_counts(t).jobs * 20 * NS_PER_MS);
}
END_TEST

Suite *suite_programs(void)
{
    const TTest *const tests[] = {test_lookbusy_alone,
                                  test_lookbusy_phase,
                                  test_lookbusy_held_up,
                                  test_lookbusy_feedback,
                                  test_lookbusy_full,
                                  test_lookbusy_small,
                                  test_lookbusy_overload,
                                  test_busy_ticks,
                                  test_busy_ticks_late,
                                  test_threads_share,
                                  test_job,
                                  test_job_again,
                                  test_wake_across_vcpus,
                                  test_kernel_costs,
                                  test_ticks,
                                  test_tick_before_halt,
                                  test_deferrable,
                                  test_tick_restart};
    Suite *s = suite_create("programs");
    TCase *tc = tcase_create("programs");

    tcase_add_checked_fixture(tc, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(s, tc);
    return s;
}
