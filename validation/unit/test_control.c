/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "validation/unit/control_world.h"

#include <check.h>
#include <math.h>

#define ONE_WAY CW_LATENCY
#define DELAY (NS_PER_MS + 2 * ONE_WAY) /* of an undisturbed replica */

static struct control_world w;

/* ---- computing ------------------------------------------------------------------------------- */

static struct compute_params plain(void)
{
    return (struct compute_params){.time = dist_make(DIST_EXPONENTIAL, 1e6, 0, 0),
                                   .slow = cw_constant(50 * NS_PER_MS),
                                   .repair = cw_constant(NS_PER_S)};
}

START_TEST(slow_phases_have_their_share_and_length)
{
    struct compute_params p = plain();
    struct compute c;
    uint64_t slow = 0, phases = 0;
    bool before = false;

    p.slow_enter = PERCENT_ALL / 100;
    p.slow_leave = PERCENT_ALL / 10;
    compute_init(&c, &p, "a", 1, 0, 0);
    for (uint64_t k = 0; k < 200000; k++) {
        bool now = compute_time(&c, k) == 50 * NS_PER_MS;

        slow += now;
        phases += now && !before;
        before = now;
    }
    ck_assert_double_eq_tol((double)slow / 200000, 0.01 / 0.11, 0.006);
    ck_assert_double_eq_tol((double)slow / (double)phases, 10, 0.6);
}
END_TEST

START_TEST(base_times_do_not_depend_on_slow_phases_or_skipped_rounds)
{
    struct compute_params p = plain(), q = plain();
    struct compute a, b, c;

    q.slow_enter = PERCENT_ALL / 10;
    q.slow_leave = PERCENT_ALL / 2;
    compute_init(&a, &p, "a", 1, 0, 0);
    compute_init(&b, &q, "a", 1, 0, 0);
    compute_init(&c, &p, "a", 1, 0, 0);
    for (uint64_t k = 0; k < 1000; k++) {
        sim_time x = compute_time(&a, k), y = compute_time(&b, k);

        ck_assert(y == x || y == 50 * NS_PER_MS);
        if (k % 3 == 0)
            ck_assert_int_eq(compute_time(&c, k), x);
    }
}
END_TEST

START_TEST(crashes_alternate_with_repairs)
{
    struct compute_params p = plain();
    struct compute c;
    uint64_t down = 0, n = 2000000;

    p.mttf = 9 * NS_PER_S;
    compute_init(&c, &p, "a", 1, 0, 0);
    for (uint64_t k = 0; k < n; k++)
        down += compute_crashed(&c, (sim_time)k * 10 * NS_PER_MS);
    ck_assert_double_eq_tol((double)down / (double)n, 0.1, 0.01);
    ck_assert_double_eq_tol((double)c.down_time / ((double)n * 1e7), (double)down / (double)n,
                            1e-3);
}
END_TEST

START_TEST(a_restart_ends_a_crash)
{
    struct compute_params p = plain();
    sim_time now = 0, before;
    struct compute c;

    p.mttf = NS_PER_S;
    compute_init(&c, &p, "a", 1, 0, 0);
    while (!compute_crashed(&c, now))
        now += NS_PER_MS;
    before = c.down_time;
    compute_restart(&c, now);
    ck_assert(!compute_crashed(&c, now));
    ck_assert_int_lt(c.down_time, before);
}
END_TEST

/* ---- plants ---------------------------------------------------------------------------------- */

START_TEST(plants_follow_their_exact_solutions)
{
    struct plant_params first = {.kind = PLANT_FIRST_ORDER, .growth = 2, .gain = 1};
    struct plant_params pole = {.kind = PLANT_PENDULUM, .length = 9.80665, .gain = 1, .rate = 1};
    struct plant p;

    plant_init(&p, &first, "p", 1, 0, 0);
    p.x = 1;
    p.u = 3;
    plant_advance(&p, NS_PER_S / 2);
    ck_assert_double_eq_tol(p.x, exp(1) * (1 + 1.5) - 1.5, 1e-12);
    plant_init(&p, &pole, "p", 1, 0, 0); /* w = 1 */
    p.x = 0.1;
    p.u = -0.3;
    plant_advance(&p, NS_PER_S);
    ck_assert_double_eq_tol(p.x, (0.1 - 0.3) * cosh(1) + 0.3, 1e-12);
    ck_assert_double_eq_tol(p.v, (0.1 - 0.3) * sinh(1), 1e-12);
}
END_TEST

START_TEST(the_cost_does_not_depend_on_the_steps)
{
    struct plant_params c = {.kind = PLANT_FIRST_ORDER, .growth = 1, .gain = 1, .effort = 0.5};
    struct plant a, b;

    plant_init(&a, &c, "p", 1, 0, 0);
    plant_init(&b, &c, "p", 1, 0, 0);
    a.x = b.x = 1;
    a.u = b.u = -1.5;
    plant_advance(&a, 20 * NS_PER_MS);
    for (int i = 1; i <= 20; i++)
        plant_advance(&b, i * NS_PER_MS);
    ck_assert_double_eq_tol(a.x, b.x, 1e-12);
    ck_assert_double_eq_tol(a.cost, b.cost, 1e-8);
}
END_TEST

START_TEST(feedback_keeps_a_pendulum_up_and_late_setpoints_let_it_fall)
{
    static const sim_time time[] = {NS_PER_MS, 9 * NS_PER_MS};
    double cost[2];
    uint64_t falls[2];

    for (int i = 0; i < 2; i++) {
        cw_init(&w, 1);
        w.plant = (struct plant_params){
            .kind = PLANT_PENDULUM, .length = 0.25, .noise = 2, .limit = 0.5, .hold = true};
        w.node[0].compute.time = cw_constant(time[i]);
        cw_build(&w, 2000);
        cw_run(&w, 2000);
        cost[i] = w.agent.cost;
        falls[i] = w.agent.falls;
        cw_free(&w);
    }
    ck_assert_int_eq(falls[0], 0);
    ck_assert_int_gt(falls[1], 10); /* its setpoints are never valid */
    ck_assert_double_gt(cost[1], 100 * cost[0]);
}
END_TEST

/* ---- rounds ---------------------------------------------------------------------------------- */

START_TEST(an_undisturbed_round_takes_both_ways_and_the_computation)
{
    cw_init(&w, 2);
    cw_build(&w, 100);
    cw_run(&w, 100);
    ck_assert_int_eq(w.agent.record.end - w.agent.record.first, 100);
    for (size_t k = 0; k < 100; k++) {
        ck_assert_int_eq(w.agent.record.sent[k], control_date(&w.loop, k));
        ck_assert_int_eq(cw_delay(&w, k, 0), DELAY);
        ck_assert_int_eq(cw_delay(&w, k, 1), DELAY);
        ck_assert_int_eq(w.agent.record.accepted[k], DELAY);
    }
    cw_free(&w);
}
END_TEST

START_TEST(the_masker_drops_what_is_late)
{
    cw_init(&w, 2);
    w.node[0].compute.time = cw_constant(6 * NS_PER_MS); /* later than the horizon */
    w.node[1].compute.time = cw_constant(4 * NS_PER_MS);
    cw_build(&w, 50);
    cw_run(&w, 50);
    for (size_t k = 0; k < 50; k++) {
        ck_assert_int_eq(cw_delay(&w, k, 0), 6 * NS_PER_MS + 2 * ONE_WAY);
        ck_assert_int_eq(w.agent.record.accepted[k], 4 * NS_PER_MS + 2 * ONE_WAY);
        ck_assert_int_eq(w.agent.record.by[k], 1);
    }
    cw_free(&w);
}
END_TEST

START_TEST(votes_wait_for_the_last_that_is_needed)
{
    cw_init(&w, 3);
    w.params.votes = 2;
    for (uint32_t i = 0; i < 3; i++)
        w.node[i].compute.time = cw_constant((sim_time)(i + 1) * NS_PER_MS);
    cw_build(&w, 20);
    cw_run(&w, 20);
    for (size_t k = 0; k < 20; k++)
        ck_assert_int_eq(w.agent.record.accepted[k], 2 * NS_PER_MS + 2 * ONE_WAY);
    cw_free(&w);
}
END_TEST

/* A computation longer than the period: rounds queue up, and setpoints of old measurements come
 * within a horizon that is longer than a period. */
START_TEST(intentionality_refuses_setpoints_of_old_measurements)
{
    size_t available[2];

    for (int i = 0; i < 2; i++) {
        cw_init(&w, 1);
        w.params.horizon = 30 * NS_PER_MS;
        w.params.accept = i ? CONTROL_LATEST : CONTROL_VALID;
        w.node[0].compute.time = dist_make(DIST_UNIFORM, 0, 18e6, 0);
        cw_build(&w, 500);
        cw_run(&w, 500);
        available[i] = 500 - cw_unavailable(&w);
        cw_free(&w);
    }
    ck_assert_int_gt(available[0], available[1] + 50);
    ck_assert_int_gt(available[1], 0);
}
END_TEST

START_TEST(a_setpoint_needs_all_sensors)
{
    size_t lost;

    cw_init(&w, 1);
    w.params.sensors.count = 10;
    w.params.sensors.loss = PERCENT_ALL / 100;
    cw_build(&w, 20000);
    cw_run(&w, 20000);
    lost = cw_unavailable(&w);
    ck_assert_double_eq_tol((double)lost / 20000, 1 - pow(0.99, 10), 0.008);
    cw_free(&w);
}
END_TEST

START_TEST(two_paths_lose_what_both_lose)
{
    size_t lost[2];

    for (uint32_t paths = 1; paths <= 2; paths++) {
        cw_init(&w, 1);
        w.params.paths = paths;
        w.path[0] = w.path[1] = (struct control_path){PERCENT_ALL / 10, cw_constant(0)};
        cw_build(&w, 20000);
        cw_run(&w, 20000);
        lost[paths - 1] = cw_unavailable(&w);
        cw_free(&w);
    }
    ck_assert_double_eq_tol((double)lost[0] / 20000, 1 - 0.9 * 0.9, 0.01);
    ck_assert_double_eq_tol((double)lost[1] / 20000, 1 - 0.99 * 0.99, 0.004);
}
END_TEST

START_TEST(the_first_to_be_sent_to_rotates)
{
    cw_init(&w, 3);
    w.params.order = CONTROL_ROTATING;
    ck_assert_int_eq(agent_order(&(struct agent){.loop = &w.loop}, 0, 0), 0);
    ck_assert_int_eq(agent_order(&(struct agent){.loop = &w.loop}, 1, 0), 1);
    ck_assert_int_eq(agent_order(&(struct agent){.loop = &w.loop}, 5, 2), 1);
    w.params.order = CONTROL_FIXED;
    ck_assert_int_eq(agent_order(&(struct agent){.loop = &w.loop}, 5, 2), 2);
}
END_TEST

START_TEST(jitter_of_sensors_delays_their_measurements)
{
    cw_init(&w, 1);
    w.params.sensors.jitter = cw_constant(300 * NS_PER_US);
    cw_build(&w, 10);
    cw_run(&w, 10);
    ck_assert_int_eq(cw_delay(&w, 3, 0), DELAY + 300 * NS_PER_US);
    cw_free(&w);
}
END_TEST

/* ---- failures -------------------------------------------------------------------------------- */

START_TEST(a_host_that_goes_off_takes_its_replica_along)
{
    cw_init(&w, 2);
    cw_build(&w, 100);
    fleet_run_to(&w.fleet, 500 * NS_PER_MS);
    machine_fail(&w.machine[0], 500 * NS_PER_MS);
    fleet_run_to(&w.fleet, 700 * NS_PER_MS);
    machine_reboot(&w.machine[0], 700 * NS_PER_MS);
    cw_run(&w, 100);
    for (size_t k = 51; k < 69; k++) {
        ck_assert_int_eq(cw_delay(&w, k, 0), -1);
        ck_assert_int_eq(w.agent.record.by[k], 1);
    }
    ck_assert_int_eq(cw_delay(&w, 71, 0), DELAY);
    ck_assert_int_eq(cw_unavailable(&w), 0);
    cw_free(&w);
}
END_TEST

START_TEST(the_detector_restarts_a_slow_replica)
{
    size_t late[2];

    for (int on = 0; on < 2; on++) {
        cw_init(&w, 1);
        w.node[0].compute.slow = cw_constant(8 * NS_PER_MS);
        w.node[0].compute.slow_enter = PERCENT_ALL / 200;
        w.node[0].compute.slow_leave = PERCENT_ALL / 1000;
        w.params.detector.misses = on ? 3 : 0;
        w.params.detector.restart = 50 * NS_PER_MS;
        cw_build(&w, 20000);
        cw_run(&w, 20000);
        late[on] = cw_unavailable(&w);
        if (on) {
            ck_assert_int_gt(w.counts[0].restarts, 20);
            ck_assert_int_eq(w.counts[0].restarts, w.agent.restarts);
            ck_assert_int_eq(w.counts[0].down, (sim_time)w.agent.restarts * 50 * NS_PER_MS);
        }
        cw_free(&w);
    }
    ck_assert_double_gt((double)late[0], 0.6 * 20000);
    ck_assert_double_lt((double)late[1], 0.1 * 20000);
}
END_TEST

/* ---- passive replication --------------------------------------------------------------------- */

START_TEST(a_backup_takes_over_and_gives_back)
{
    size_t taken_over;

    cw_init(&w, 2);
    w.params.mode = CONTROL_PASSIVE;
    cw_build(&w, 100);
    fleet_run_to(&w.fleet, 500 * NS_PER_MS);
    machine_fail(&w.machine[0], 500 * NS_PER_MS);
    fleet_run_to(&w.fleet, 700 * NS_PER_MS);
    machine_reboot(&w.machine[0], 700 * NS_PER_MS);
    cw_run(&w, 100);
    ck_assert_int_eq(cw_delay(&w, 10, 0), DELAY);
    ck_assert_int_eq(cw_delay(&w, 10, 1), -1); /* the backup does not compute */
    taken_over = cw_unavailable(&w);
    ck_assert_int_ge(taken_over, 2); /* missed + distance heartbeats of 10 ms */
    ck_assert_int_le(taken_over, 5);
    ck_assert_int_eq(cw_delay(&w, 60, 1), DELAY);
    ck_assert_int_eq(cw_delay(&w, 75, 0), DELAY);
    ck_assert_int_eq(cw_delay(&w, 75, 1), -1);
    ck_assert_int_eq(w.counts[1].takeovers, 1);
    cw_free(&w);
}
END_TEST

/* ---- agreement ------------------------------------------------------------------------------- */

static struct replica replicas[3];
static struct compute_params nothing_computed;
static struct replica_counts counts[3];

static void agree_init(uint32_t n, int64_t sensors)
{
    cw_init(&w, n);
    w.params.sensors.count = sensors;
    w.params.agreement =
        (struct agreement_params){true, NS_PER_MS / 2, NS_PER_MS, 3 * NS_PER_MS / 2};
    nothing_computed = (struct compute_params){
        .time = cw_constant(0), .slow = cw_constant(0), .repair = cw_constant(0)};
    memset(counts, 0, sizeof counts);
    for (uint32_t i = 0; i < n; i++)
        replica_init(&replicas[i], &w.loop, i, &nothing_computed, &counts[i], w.name[i], 0);
}

static void measure(uint32_t to, uint64_t round, uint64_t sensors)
{
    for (uint8_t s = 0; sensors >> s; s++) {
        struct control_message m = {CONTROL_MEASUREMENT,          (uint8_t)to, s, round,
                                    control_date(&w.loop, round), 0,           0};

        if (sensors >> s & 1)
            replica_message(&replicas[to], &m, m.taken);
    }
}

/* Let all replicas act at `now`, messages between them taking no time; those of `cut` reach nobody.
 * Returns the set of replicas that sent a setpoint. */
static uint32_t act(uint32_t n, sim_time now, uint32_t cut)
{
    uint32_t sent = 0;
    bool busy = true;

    while (busy) {
        busy = false;
        for (uint32_t i = 0; i < n; i++) {
            struct replica_act a = replica_next(&replicas[i], now);

            busy |= a.kind != REPLICA_WAIT;
            if (a.kind != REPLICA_SEND)
                continue;
            if (a.to == CONTROL_AGENT)
                sent |= 1u << i;
            else if (!(cut >> i & 1))
                replica_message(&replicas[a.to], &a.message, now);
        }
    }
    return sent;
}

START_TEST(all_compute_who_have_everything)
{
    agree_init(2, 3);
    measure(0, 0, 7);
    measure(1, 0, 7);
    ck_assert_int_eq(act(2, NS_PER_MS + NS_PER_MS / 4, 0), 0); /* still receiving */
    ck_assert_int_eq(act(2, NS_PER_MS + NS_PER_MS / 2, 0), 3);
    ck_assert_int_eq(replicas[0].agreement.base, 0);
}
END_TEST

START_TEST(what_is_missing_is_got_from_the_other)
{
    agree_init(2, 3);
    measure(0, 0, 3);
    measure(1, 0, 5);
    ck_assert_int_eq(act(2, NS_PER_MS + NS_PER_MS / 2, 0), 3);
}
END_TEST

START_TEST(a_lone_vote_decides_for_the_full_digest_only)
{
    agree_init(2, 3);
    measure(0, 0, 7);
    ck_assert_int_eq(act(2, NS_PER_MS + NS_PER_MS / 2, 0), 1);
    agree_init(2, 3);
    measure(0, 0, 3);
    ck_assert_int_eq(act(2, NS_PER_MS + NS_PER_MS / 2, 0), 0);
    ck_assert_int_eq(act(2, NS_PER_MS + 3 * NS_PER_MS / 2, 0), 0); /* collecting is over */
    ck_assert_int_eq(act(2, NS_PER_MS + 3 * NS_PER_MS, 0), 0);     /* and so is the vote */
    ck_assert_int_eq(replicas[0].agreement.failed, 1);
}
END_TEST

START_TEST(votes_that_differ_are_settled_by_the_greater_digest)
{
    agree_init(2, 3);
    measure(0, 0, 3); /* neither hears the other's queries, but then votes get through */
    measure(1, 0, 5);
    act(2, NS_PER_MS + NS_PER_MS / 2, 3);
    ck_assert_int_eq(act(2, NS_PER_MS + 3 * NS_PER_MS / 2, 0), 1); /* sensor 1 before sensor 2 */
    ck_assert_int_eq(replicas[1].agreement.failed, 1);
    ck_assert_int_eq(replicas[1].agreement.base, -1);
}
END_TEST

START_TEST(who_is_behind_is_given_the_state)
{
    agree_init(2, 3);
    measure(0, 0, 7);
    act(2, NS_PER_MS + NS_PER_MS / 2, 0); /* the second saw nothing of round 0 */
    ck_assert_int_eq(replicas[1].agreement.base, -1);
    measure(0, 1, 3);
    measure(1, 1, 7);
    ck_assert_int_eq(act(2, 11 * NS_PER_MS + NS_PER_MS / 2, 0), 3);
    ck_assert_int_eq(replicas[1].agreement.base, 1);
}
END_TEST

START_TEST(three_replicas_follow_the_majority)
{
    agree_init(3, 3);
    measure(0, 0, 3);
    measure(1, 0, 3);
    measure(2, 0, 5);
    act(3, NS_PER_MS + NS_PER_MS / 2, 7);
    ck_assert_int_eq(act(3, NS_PER_MS + 3 * NS_PER_MS / 2, 0), 3);
}
END_TEST

/* ---- all --------------------------------------------------------------------------------------
 */

Suite *suite_control(void);

Suite *suite_control(void)
{
    Suite *s = suite_create("control");
    TCase *t = tcase_create("computing");

    tcase_add_test(t, slow_phases_have_their_share_and_length);
    tcase_add_test(t, base_times_do_not_depend_on_slow_phases_or_skipped_rounds);
    tcase_add_test(t, crashes_alternate_with_repairs);
    tcase_add_test(t, a_restart_ends_a_crash);
    suite_add_tcase(s, t);
    t = tcase_create("plants");
    tcase_add_test(t, plants_follow_their_exact_solutions);
    tcase_add_test(t, the_cost_does_not_depend_on_the_steps);
    tcase_add_test(t, feedback_keeps_a_pendulum_up_and_late_setpoints_let_it_fall);
    suite_add_tcase(s, t);
    t = tcase_create("rounds");
    tcase_add_test(t, an_undisturbed_round_takes_both_ways_and_the_computation);
    tcase_add_test(t, the_masker_drops_what_is_late);
    tcase_add_test(t, votes_wait_for_the_last_that_is_needed);
    tcase_add_test(t, intentionality_refuses_setpoints_of_old_measurements);
    tcase_add_test(t, a_setpoint_needs_all_sensors);
    tcase_add_test(t, two_paths_lose_what_both_lose);
    tcase_add_test(t, the_first_to_be_sent_to_rotates);
    tcase_add_test(t, jitter_of_sensors_delays_their_measurements);
    suite_add_tcase(s, t);
    t = tcase_create("failures");
    tcase_add_test(t, a_host_that_goes_off_takes_its_replica_along);
    tcase_add_test(t, the_detector_restarts_a_slow_replica);
    tcase_add_test(t, a_backup_takes_over_and_gives_back);
    suite_add_tcase(s, t);
    t = tcase_create("agreement");
    tcase_add_test(t, all_compute_who_have_everything);
    tcase_add_test(t, what_is_missing_is_got_from_the_other);
    tcase_add_test(t, a_lone_vote_decides_for_the_full_digest_only);
    tcase_add_test(t, votes_that_differ_are_settled_by_the_greater_digest);
    tcase_add_test(t, who_is_behind_is_given_the_state);
    tcase_add_test(t, three_replicas_follow_the_majority);
    suite_add_tcase(s, t);
    return s;
}
