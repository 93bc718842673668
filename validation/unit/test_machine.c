/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machines and fleets without SimGrid: order of running, windows, stopping, failing.
 */
#define _GNU_SOURCE
#include "validation/unit/gossip.h"

#include <check.h>
#include <string.h>

#define END (5 * NS_PER_MS)

/* ---- Plain machines ------------------------------------------------------------------------- */

struct clock {
    struct machine machine;
    struct timer timer;
    sim_time period;
    uint64_t ticks;
    int failures, reboots;
};

static struct clock *ran[64];
static size_t ran_count;

static void clock_tick(struct timer *t, sim_time now)
{
    struct clock *c = container_of(t, struct clock, timer);

    c->ticks++;
    if (ran_count < 64)
        ran[ran_count++] = c;
    queue_arm(&c->machine.queue, t, now + c->period);
}

static void clock_failed(struct machine *m, sim_time now)
{
    struct clock *c = m->model;

    ck_assert_int_eq(machine_now(m), now);
    ck_assert(!timer_armed(&c->timer));
    ck_assert(!m->up);
    c->failures++;
}

static void clock_rebooted(struct machine *m, sim_time now)
{
    struct clock *c = m->model;

    ck_assert(m->up);
    queue_arm(&m->queue, &c->timer, now + c->period);
    c->reboots++;
}

static const struct machine_ops clock_ops = {.failed = clock_failed, .rebooted = clock_rebooted};

static void clock_init(struct clock *c, sim_time first, sim_time period)
{
    *c = (struct clock){.period = period};
    machine_init(&c->machine, "h", &clock_ops, c);
    timer_init(&c->timer, clock_tick);
    queue_arm(&c->machine.queue, &c->timer, first);
}

static void clocks_free(struct clock *c, int n)
{
    for (int i = 0; i < n; i++)
        machine_free(&c[i].machine);
}

START_TEST(a_machine_runs_alone)
{
    struct clock c;

    clock_init(&c, 0, 10);
    ck_assert_uint_eq(queue_run(&c.machine.queue, 100), 10);
    ck_assert_int_eq(queue_next(&c.machine.queue), 100);
    ck_assert_ptr_eq(queue_machine(&c.machine.queue), &c.machine);
    machine_free(&c.machine);
}
END_TEST

START_TEST(fleets_run_in_order_of_next_events)
{
    struct clock c[5];
    struct fleet f;

    fleet_init(&f);
    for (int i = 0; i < 5; i++) {
        clock_init(&c[i], 50 - 10 * i, 1000);
        fleet_add(&f, &c[i].machine);
    }
    ran_count = 0;
    ck_assert_int_eq(fleet_next(&f), 10);
    fleet_run(&f, 45);
    ck_assert_uint_eq(ran_count, 4); /* strictly before 45 */
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_eq(ran[i], &c[4 - i]);
    ck_assert_int_eq(fleet_next(&f), 50);
    fleet_free(&f);
    clocks_free(c, 5);
}
END_TEST

START_TEST(equal_dates_go_by_id)
{
    struct clock c[9];
    struct fleet f;

    fleet_init(&f);
    for (int i = 0; i < 9; i++) {
        clock_init(&c[i], 7, 100);
        fleet_add(&f, &c[i].machine);
    }
    ran_count = 0;
    fleet_run(&f, 8);
    ck_assert_uint_eq(ran_count, 9);
    for (int i = 0; i < 9; i++)
        ck_assert_ptr_eq(ran[i], &c[i]);
    fleet_free(&f);
    for (int i = 0; i < 9; i++)
        machine_free(&c[i].machine);
    clocks_free(c, 9);
}
END_TEST

START_TEST(touch_tells_the_fleet_of_an_earlier_event)
{
    struct clock c[3];
    struct fleet f;

    fleet_init(&f);
    for (int i = 0; i < 3; i++) {
        clock_init(&c[i], 100 + i, 100);
        fleet_add(&f, &c[i].machine);
    }
    ck_assert_int_eq(fleet_next(&f), 100);
    queue_arm(&c[2].machine.queue, &c[2].timer, 5);
    fleet_touch(&c[2].machine);
    ck_assert_int_eq(fleet_next(&f), 5);
    queue_cancel(&c[2].machine.queue, &c[2].timer);
    fleet_touch(&c[2].machine);
    ck_assert_int_eq(fleet_next(&f), 100);
    fleet_free(&f);
    clocks_free(c, 3);
}
END_TEST

START_TEST(failing_cancels_and_rebooting_starts_anew)
{
    struct clock c;

    clock_init(&c, 0, 10);
    queue_run(&c.machine.queue, 25);
    machine_fail(&c.machine, 25);
    machine_fail(&c.machine, 26); /* harmless */
    ck_assert_int_eq(c.failures, 1);
    ck_assert_int_eq(c.machine.failed_at, 25);
    ck_assert_int_eq(queue_next(&c.machine.queue), SIM_NEVER);
    machine_reboot(&c.machine, 40);
    machine_reboot(&c.machine, 41);
    ck_assert_int_eq(c.reboots, 1);
    ck_assert_int_eq(queue_next(&c.machine.queue), 50);
    ck_assert_uint_eq(c.machine.boots, 1);
    machine_free(&c.machine);
}
END_TEST

static void clock_stop(struct timer *t, sim_time now)
{
    struct clock *c = container_of(t, struct clock, timer);

    clock_tick(t, now);
    if (c->ticks == 3)
        fleet_stop(&c->machine);
}

static void count(struct timer *t, sim_time now)
{
    struct clock *c = container_of(t, struct clock, timer);

    (void)now;
    c->ticks++;
}

START_TEST(a_machine_alone_stops_after_the_instant)
{
    struct clock c, same = {0}, later = {0};
    struct fleet f;

    clock_init(&c, 10, 10);
    fleet_init(&f);
    fleet_add(&f, &c.machine);
    c.timer.fire = clock_stop;
    timer_init(&same.timer, count);
    timer_init(&later.timer, count);
    queue_arm_key(&c.machine.queue, &same.timer, 30, RANK_SETTLE, 0);
    queue_arm(&c.machine.queue, &later.timer, 31);
    ck_assert_int_eq(fleet_run_to(&f, 1000), FLEET_STOPPED);
    ck_assert_int_eq(machine_now(&c.machine), 30);
    ck_assert_uint_eq(same.ticks, 1);
    ck_assert_uint_eq(later.ticks, 0);
    fleet_free(&f);
    machine_free(&c.machine);
}
END_TEST

START_TEST(runs_end_at_their_date_or_idle)
{
    struct clock c;
    struct fleet f;

    clock_init(&c, 0, 10);
    fleet_init(&f);
    fleet_add(&f, &c.machine);
    ck_assert_int_eq(fleet_run_to(&f, 100), FLEET_DATE);
    ck_assert_uint_eq(c.ticks, 10);
    ck_assert_int_eq(fleet_run_to(&f, 3 * NS_PER_S), FLEET_DATE); /* longer than a window */
    ck_assert_uint_eq(c.ticks, 3 * NS_PER_S / 10);
    queue_cancel(&c.machine.queue, &c.timer);
    fleet_touch(&c.machine);
    ck_assert_int_eq(fleet_run_to(&f, 4 * NS_PER_S), FLEET_IDLE);
    fleet_free(&f);
    machine_free(&c.machine);
}
END_TEST

START_TEST(an_interrupt_ends_between_windows)
{
    volatile sig_atomic_t flag = 1;
    struct clock c;
    struct fleet f;

    clock_init(&c, 0, 10);
    fleet_init(&f);
    fleet_add(&f, &c.machine);
    f.interrupted = &flag;
    ck_assert_int_eq(fleet_run_to(&f, 100), FLEET_INTERRUPTED);
    flag = 0;
    ck_assert_int_eq(fleet_run_to(&f, 100), FLEET_DATE);
    fleet_free(&f);
    machine_free(&c.machine);
}
END_TEST

/* ---- Worlds of several ---------------------------------------------------------------------- */

static void wire_up(struct gossip *g, sim_time latency)
{
    for (uint32_t i = 0; i < g->count; i++) {
        g->node[i].machine.line_rate = 1000000000;
        for (uint32_t k = 0; k < g->count; k++)
            if (k != i) /* asymmetric, and different for each pair */
                path_set(machine_path(&g->node[i].machine, &g->node[k].machine),
                         latency + 1000 * (sim_time)(i + 3 * k), 0);
    }
    fleet_rewire(&g->fleet);
}

/* Run in windows of the given length. */
static char *gossip_in_windows(uint32_t nodes, uint64_t seed, sim_time window, uint64_t stop_at)
{
    struct gossip g;
    sim_time next;

    gossip_init(&g, nodes, seed);
    wire_up(&g, 20 * NS_PER_US);
    g.node[0].stop_at = stop_at;
    g.node[1].stop_at = stop_at;
    g.fleet.end = END;
    if (!window)
        window = fleet_window(&g.fleet);
    while (next = fleet_next(&g.fleet), next < g.fleet.end)
        fleet_run(&g.fleet, next + window < g.fleet.end ? next + window : g.fleet.end);
    return gossip_end(&g);
}

START_TEST(results_do_not_depend_on_windows)
{
    static const sim_time windows[] = {1, 999, 7777, 20 * NS_PER_US};
    char *longest = gossip_in_windows(7, (uint64_t)_i, 0, 0);

    ck_assert(strstr(longest, "arrival"));
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        char *other = gossip_in_windows(7, (uint64_t)_i, windows[i], 0);

        ck_same_logs(longest, other);
        free(other);
    }
    free(longest);
}
END_TEST

/* Windows longer than the latency must give something else, or the test above tests nothing. */
START_TEST(too_long_windows_are_noticed)
{
    char *right = gossip_in_windows(7, 1, 0, 0);
    char *wrong = gossip_in_windows(7, 1, 300 * NS_PER_US, 0);

    ck_assert_int_ne(strcmp(right, wrong), 0);
    free(right);
    free(wrong);
}
END_TEST

START_TEST(stopping_does_not_depend_on_windows)
{
    char *longest = gossip_in_windows(5, 3, 0, 50);
    char *step = gossip_in_windows(5, 3, 1, 50);
    char *whole = gossip_in_windows(5, 3, 0, 0);

    ck_same_logs(longest, step);
    ck_assert_uint_lt(strlen(longest), strlen(whole));
    free(longest);
    free(step);
    free(whole);
}
END_TEST

START_TEST(packets_are_recycled)
{
    struct gossip g;
    uint32_t blocks;

    gossip_init(&g, 4, 9);
    wire_up(&g, 20 * NS_PER_US);
    fleet_run_to(&g.fleet, END);
    blocks = g.fleet.block_count;
    fleet_run_to(&g.fleet, 10 * END);
    ck_assert_uint_le(g.fleet.block_count, blocks + 1);
    free(gossip_end(&g));
}
END_TEST

Suite *suite_machine(void)
{
    Suite *s = suite_create("machine");
    TCase *tc = tcase_create("machine");

    tcase_add_test(tc, a_machine_runs_alone);
    tcase_add_test(tc, fleets_run_in_order_of_next_events);
    tcase_add_test(tc, equal_dates_go_by_id);
    tcase_add_test(tc, touch_tells_the_fleet_of_an_earlier_event);
    tcase_add_test(tc, failing_cancels_and_rebooting_starts_anew);
    tcase_add_test(tc, a_machine_alone_stops_after_the_instant);
    tcase_add_test(tc, runs_end_at_their_date_or_idle);
    tcase_add_test(tc, an_interrupt_ends_between_windows);
    tcase_add_loop_test(tc, results_do_not_depend_on_windows, 0, 5);
    tcase_add_test(tc, too_long_windows_are_noticed);
    tcase_add_test(tc, stopping_does_not_depend_on_windows);
    tcase_add_test(tc, packets_are_recycled);
    suite_add_tcase(s, tc);
    return s;
}
