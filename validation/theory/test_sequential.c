/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sequential decisions on closed forms: intervals cover although their own width decided when to
 * stop, and verdicts on bounds are right as often as promised.
 *
 * Stopping by an interval's width makes it cover less often than its level, because it stops rather
 * when the spread happens to look small; the level is reached only as the wanted width goes to 0
 * (Chow, Robbins, Annals of Mathematical Statistics 36(2), 1965). What the rule of sim/sequential.h
 * loses against a fixed number of replications is bounded here.
 */
#include "sim/jackknife.h"
#include "sim/random.h"
#include "sim/sample.h"
#include "sim/sequential.h"
#include "sim/sparse.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define LEVEL 0.95

enum { RUNS = 600, MOST = 200, OBSERVATIONS = 200 };

/* Coverage is counted over RUNS runs: three standard errors of a share near 0.95 are 0.027. */
static void ck_coverage(int covered, double loss, const char *what)
{
    double share = (double)covered / RUNS, error = 3 * sqrt(LEVEL * (1 - LEVEL) / RUNS);

    printf("%s: covered in %.1f %% of %d runs\n", what, share * 100, RUNS);
    ck_assert_msg(share >= LEVEL - loss - error, "%s: covered in %.3f", what, share);
    ck_assert_msg(share <= LEVEL + 0.02 + error, "%s: covered in %.3f", what, share);
}

START_TEST(looks_are_fixed)
{
    size_t n = 0, looks = 0, last = 0;

    for (; (n = look_after(n, 10, 100)); looks++) {
        ck_assert_uint_gt(n, last);
        ck_assert(last < 10 || n <= last + last / 10 || n == 100);
        last = n;
    }
    ck_assert_uint_eq(last, 100);
    ck_assert_uint_eq(looks, looks_until(10, 100));
    ck_assert_uint_eq(look_after(0, 3, 100), 10); /* never fewer than 10 */
    ck_assert_uint_eq(look_after(0, 25, 100), 25);
    ck_assert_uint_eq(look_after(0, 10, 10), 10);
    ck_assert_uint_eq(look_after(10, 10, 10), 0);
    ck_assert_uint_eq(look_after(7, 10, 100), 10); /* from anywhere */
    ck_assert_uint_eq(look_after(10, 10, 100), 11);
    ck_assert_uint_eq(look_after(99, 10, 100), 100);
}
END_TEST

/* Means of exponential variables: as skewed as replications get. */
START_TEST(stopped_means_cover)
{
    const double relative[] = {0.4, 0.25};
    const char *const what[] = {"mean within 40 %", "mean within 25 %"};

    for (int c = 0; c < 2; c++) {
        int covered = 0;
        double used = 0;

        for (uint64_t run = 0; run < RUNS; run++) {
            double x[MOST];
            struct stopping_state s = stopping_begin(10, MOST);
            struct interval i;
            struct rng rng;

            rng_init(&rng, 11, run, "test", what[c]);
            for (int k = 0; k < MOST; k++)
                x[k] = rng_exponential(&rng, 1);
            do
                i = interval_mean(x, s.n, LEVEL);
            while (!stopping_decide(&s, relative[c], &i, MOST));
            covered += i.low <= 1 && 1 <= i.high;
            used += (double)s.n / RUNS;
        }
        ck_assert_msg(used > 15 && used < MOST - 5, "it stops after %g on average", used);
        ck_coverage(covered, 0.03, what[c]);
    }
}
END_TEST

/* Quantiles of all replications together, with jackknife intervals: what sweeps stop by. The
 * replications differ from each other, as runs that lock into different patterns do. */
START_TEST(stopped_quantiles_cover)
{
    const double q = 0.9;
    double truth = 1;
    int covered = 0;

    /* P(X > x) = E exp(-x / S), S uniform on 0.7 .. 1.3: by bisection, by hand */
    for (double low = 0, high = 20; high - low > 1e-9;) {
        double sum = 0;

        truth = (low + high) / 2;
        for (int k = 0; k < 2000; k++)
            sum += exp(-truth / (0.7 + 0.6 * (k + 0.5) / 2000)) / 2000;
        *(sum > 1 - q ? &low : &high) = truth;
    }
    for (uint64_t run = 0; run < RUNS; run++) {
        struct sparse part[60], all = {0};
        const struct sparse *list[60];
        struct histogram h;
        struct stopping_state s = stopping_begin(10, 60);
        struct interval i;

        for (size_t k = 0; k < 60; k++) {
            struct rng rng;
            double scale;

            rng_init(&rng, run, k, "test", "quantiles");
            scale = (0.7 + 0.6 * rng_uniform(&rng)) * 1e6;
            histogram_init(&h, HISTOGRAM_2_DIGITS);
            for (int m = 0; m < OBSERVATIONS; m++)
                histogram_record(&h, (sim_time)rng_exponential(&rng, scale));
            part[k] = sparse_of(&h);
            list[k] = &part[k];
            histogram_free(&h);
        }
        do {
            double without[60];

            sparse_free(&all);
            all = sparse_sum(list, s.n);
            for (size_t k = 0; k < s.n; k++)
                without[k] = sparse_figure(&all, &part[k], q) / 1e6;
            i = interval_jackknife(sparse_figure(&all, NULL, q) / 1e6, without, s.n, LEVEL);
        } while (!stopping_decide(&s, 0.1, &i, 60));
        covered += i.low <= truth && truth <= i.high;
        for (size_t k = 0; k < 60; k++)
            sparse_free(&part[k]);
        sparse_free(&all);
    }
    ck_coverage(covered, 0.03, "p90 within 10 %");
}
END_TEST

/* A figure exactly at its limit is the hardest: whatever the verdict, it is wrong. */
START_TEST(verdicts_err_as_rarely_as_promised)
{
    size_t looks = looks_until(10, MOST);
    int wrong = 0, right = 0;

    for (uint64_t run = 0; run < RUNS; run++) {
        enum bound_verdict at = BOUND_OPEN, below = BOUND_OPEN;
        double x[MOST];
        struct rng rng;

        rng_init(&rng, 12, run, "test", "verdicts");
        for (int k = 0; k < MOST; k++)
            x[k] = 10 + 2 * rng_normal(&rng);
        for (size_t n = 0; (n = look_after(n, 10, MOST));) {
            struct interval i = interval_mean(x, n, sequential_level(LEVEL, looks, 1));

            if (at == BOUND_OPEN)
                at = bound_verdict(&i, 10, true);
            if (below == BOUND_OPEN)
                below = bound_verdict(&i, 11, true);
        }
        wrong += at != BOUND_OPEN;
        right += below == BOUND_MET;
        wrong += below == BOUND_BROKEN;
    }
    printf("verdicts: %d of %d wrong, %d right\n", wrong, RUNS, right);
    ck_assert_msg(wrong <= RUNS * (1 - LEVEL), "%d wrong verdicts", wrong);
    ck_assert_msg(right >= RUNS * 0.99, "%d right verdicts", right);
}
END_TEST

/* Doubling, then a quarter at a time, and never past the end. */
START_TEST(stopping_doubles)
{
    struct interval wide = {.estimate = 10, .low = 5, .high = 15};
    struct interval good_for_twice = {.estimate = 10, .low = 8.9, .high = 11.1};
    struct interval narrow = {.estimate = 10, .low = 9.2, .high = 10.8};
    struct stopping_state s = stopping_begin(10, 1000);

    ck_assert(!stopping_decide(&s, 0.1, &wide, 1000) && s.n == 11 && !s.confirming);
    ck_assert(!stopping_decide(&s, 0.1, &good_for_twice, 1000) && s.n == 12 && !s.confirming);
    ck_assert(!stopping_decide(&s, 0.1, &narrow, 1000) && s.n == 24 && s.confirming);
    ck_assert(!stopping_decide(&s, 0.1, &good_for_twice, 1000) && s.n == 30 && s.confirming);
    ck_assert(stopping_decide(&s, 0.1, &narrow, 1000) && s.n == 30);
    s = stopping_begin(100, 120);
    ck_assert(!stopping_decide(&s, 0.1, &narrow, 120) && s.n == 120);
    ck_assert(stopping_decide(&s, 0.1, &wide, 120) && s.n == 120);
    s = stopping_begin(10, 10);
    ck_assert(stopping_decide(&s, 0.1, &wide, 10) && s.n == 10);
}
END_TEST

START_TEST(verdicts)
{
    struct interval i = {.estimate = 5, .low = 4, .high = 6};

    ck_assert_int_eq(bound_verdict(&i, 6, true), BOUND_MET);
    ck_assert_int_eq(bound_verdict(&i, 5.9, true), BOUND_OPEN);
    ck_assert_int_eq(bound_verdict(&i, 3.9, true), BOUND_BROKEN);
    ck_assert_int_eq(bound_verdict(&i, 4, false), BOUND_MET);
    ck_assert_int_eq(bound_verdict(&i, 4.1, false), BOUND_OPEN);
    ck_assert_int_eq(bound_verdict(&i, 6.1, false), BOUND_BROKEN);
    i.none = INTERVAL_FEW_VALUES;
    ck_assert_int_eq(bound_verdict(&i, 100, true), BOUND_OPEN);
    ck_assert(!stopping_reached(10, &i));
    ck_assert(fabs(sequential_level(0.95, 10, 5) - 0.999) < 1e-12);
}
END_TEST

Suite *suite_sequential(void)
{
    const TTest *const tests[] = {looks_are_fixed,
                                  stopped_means_cover,
                                  stopped_quantiles_cover,
                                  stopping_doubles,
                                  verdicts_err_as_rarely_as_promised,
                                  verdicts};
    Suite *s = suite_create("sequential");
    TCase *tc = tcase_create("decisions");

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(s, tc);
    return s;
}
