/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Multilevel splitting is unbiased: against the closed form of a random walk, whose copies go other
 * ways, and against that of a control loop whose copies cannot.
 */
#include "sim/splitting.h"

#include "models/control/late_watch.h"
#include "sim/interval.h"
#include "validation/unit/control_world.h"

#include <check.h>
#include <math.h>

/* ---- a random walk: from 1, up with chance 0.3, until it is at 0 or at `top` -------------------
 */

#define UP 0.3

static double ruin(double top) /* the gambler's: P(at `top` before 0) */
{
    double odds = (1 - UP) / UP;

    return (odds - 1) / (pow(odds, top) - 1);
}

/* Levels at 3, 5, 7, ... */
static void walk(struct splitting *s, struct rng *r)
{
    uint32_t level = 0;
    int at = 1;

    while (at && level < s->levels) {
        at += rng_bernoulli(r, UP) ? 1 : -1;
        if (at == 3 + 2 * (int)level) {
            splitting_reach(s, level, 0);
            level++;
        }
    }
    splitting_end(s);
}

static void mean_of_walks(uint32_t levels, uint32_t copies, int walks, struct interval *i)
{
    enum { BATCHES = 20 };
    double mean[BATCHES] = {0};

    for (int b = 0; b < BATCHES; b++)
        for (int n = 0; n < walks / BATCHES; n++) {
            struct splitting s;
            struct rng r;

            rng_init(&r, (uint64_t)b, (uint64_t)n, "walk", "steps");
            splitting_init(&s, levels, copies);
            walk(&s, &r);
            ck_assert_uint_eq(s.lost, 0);
            mean[b] += splitting_count(&s, levels - 1) / (walks / BATCHES);
        }
    *i = interval_mean(mean, BATCHES, 0.999);
}

START_TEST(a_walk_reaches_its_top_as_often_as_the_closed_form_says)
{
    struct interval i;

    mean_of_walks(6, 5, 1000, &i); /* at 13: once in 45,000 walks */
    ck_assert_double_le(i.low, ruin(13));
    ck_assert_double_ge(i.high, ruin(13));
    ck_assert_double_lt(interval_half(&i), ruin(13)); /* 1,000 plain walks would see none */
}
END_TEST

START_TEST(plain_walks_agree)
{
    struct interval i;

    mean_of_walks(2, 1, 20000, &i);
    ck_assert_double_le(i.low, ruin(5));
    ck_assert_double_ge(i.high, ruin(5));
}
END_TEST

START_TEST(copies_count_for_less)
{
    struct splitting s;

    splitting_init(&s, 3, 4);
    s.reached[0] = 2;
    s.reached[2] = 8;
    ck_assert_double_eq(splitting_count(&s, 0), 2);
    ck_assert_double_eq(splitting_count(&s, 2), 0.5);
}
END_TEST

START_TEST(a_copy_goes_another_way)
{
    struct splitting s;
    struct rng r, same;
    uint64_t plain;

    rng_init(&r, 1, 0, "a", "b");
    same = r;
    plain = rng_u64(&same);
    splitting_init(&s, 2, 8);
    splitting_reach(&s, 0, 7);
    if (s.copy) {
        if (rng_u64(&r) != plain && s.pursued == 7)
            splitting_reach(&s, 1, 7);
        splitting_end(&s);
    }
    ck_assert_uint_eq(rng_u64(&r), plain); /* the original goes on as it would have */
    ck_assert_uint_eq(s.reached[1], 7);
    ck_assert_uint_eq(s.made, 7);
}
END_TEST

/* ---- a control loop ---------------------------------------------------------------------------
 */

static struct control_world w;

static void reached(struct late_watch *k, uint64_t round, uint32_t level)
{
    struct splitting *s = k->ctx;

    if (!s->copy || s->pursued == round)
        splitting_reach(s, level, round);
}

static void decided(struct late_watch *k, uint64_t round)
{
    struct splitting *s = k->ctx;

    if (s->copy && s->pursued == round)
        splitting_end(s);
}

/* One replica that computes for exponential(1 ms): without a setpoint for d with chance e^-(d less
 * the way there and back). Its time is drawn before the first level, so that copies do the same. */
static double rounds_late(uint32_t copies, uint32_t level, sim_time wire)
{
    enum { ROUNDS = 4000 };
    struct late_watch k = {.level = {NS_PER_MS + wire, 2 * NS_PER_MS + wire},
                           .levels = 2,
                           .reached = reached,
                           .decided = decided};
    struct splitting s;

    cw_init(&w, 1);
    w.params.period = 20 * NS_PER_MS;
    w.node[0].compute.time = dist_make(DIST_EXPONENTIAL, 1e6, 0, 0);
    cw_build(&w, ROUNDS);
    splitting_init(&s, 2, copies);
    k.ctx = &s;
    late_watch_attach(&k, &w.agent);
    cw_run(&w, ROUNDS);
    splitting_end(&s);
    cw_free(&w);
    return splitting_count(&s, level) / ROUNDS;
}

START_TEST(a_loop_is_late_as_often_as_the_closed_form_says)
{
    sim_time wire = 2 * CW_LATENCY; /* lines of infinite rate */

    ck_assert_double_eq_tol(rounds_late(1, 0, wire), exp(-1), 0.03);
    ck_assert_double_eq_tol(rounds_late(1, 1, wire), exp(-2), 0.02);
    ck_assert_double_eq(rounds_late(2, 1, wire), rounds_late(1, 1, wire));
}
END_TEST

START_TEST(votes_count)
{
    struct late_watch k = {
        .level = {3 * NS_PER_MS}, .levels = 1, .reached = reached, .decided = decided};
    struct splitting s;

    cw_init(&w, 2);
    w.params.votes = 2;
    w.node[1].compute.time = cw_constant(4 * NS_PER_MS);
    cw_build(&w, 10);
    splitting_init(&s, 1, 1);
    k.ctx = &s;
    late_watch_attach(&k, &w.agent);
    cw_run(&w, 10);
    cw_free(&w);
    ck_assert_uint_eq(s.reached[0], 10); /* one setpoint of two is not enough */
}
END_TEST

Suite *suite_splitting(void);

Suite *suite_splitting(void)
{
    Suite *s = suite_create("splitting");
    TCase *t = tcase_create("multilevel splitting");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_walk_reaches_its_top_as_often_as_the_closed_form_says);
    tcase_add_test(t, plain_walks_agree);
    tcase_add_test(t, copies_count_for_less);
    tcase_add_test(t, a_copy_goes_another_way);
    tcase_add_test(t, a_loop_is_late_as_often_as_the_closed_form_says);
    tcase_add_test(t, votes_count);
    suite_add_tcase(s, t);
    return s;
}
