/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/runs.h"

#include "sim/random.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

static struct runs of(const char *text)
{
    struct runs r = {0};
    bool bad[64];
    size_t n = 0;

    for (; text[n]; n++)
        bad[n] = text[n] == 'x';
    runs_add(&r, bad, n, 1);
    return r;
}

START_TEST(runs_are_counted_by_where_they_begin_and_end)
{
    struct runs r = of("xx..xxx...x..xx");

    ck_assert_int_eq(r.steps, 15);
    ck_assert_int_eq(r.bad, 8);
    ck_assert_int_eq(r.bad_runs, 4);
    ck_assert_int_eq(r.failures, 3); /* the first was bad from the start */
    ck_assert_int_eq(r.repairs, 3);  /* the last never ended */
    ck_assert_int_eq(r.longest, 3);
    ck_assert_double_eq(runs_to_failure(&r), 7. / 3);
    ck_assert_double_eq(runs_to_repair(&r), 8. / 3);
    ck_assert_double_eq(runs_mean(&r), 2);
}
END_TEST

START_TEST(series_are_apart)
{
    struct runs r = of("..x");
    bool bad[] = {true, false, false};

    runs_add(&r, bad, 3, 1);
    ck_assert_int_eq(r.bad_runs, 2);
    ck_assert_int_eq(r.longest, 1);
    ck_assert_int_eq(r.series, 2);
}
END_TEST

START_TEST(nothing_bad_has_no_means)
{
    struct runs r = of("....");

    ck_assert(isnan(runs_to_failure(&r)));
    ck_assert(isnan(runs_to_repair(&r)));
    ck_assert(isnan(runs_mean(&r)));
}
END_TEST

START_TEST(means_are_those_of_a_markov_chain)
{
    enum { STEPS = 400000 };
    static bool bad[STEPS];
    struct runs r = {0};
    struct rng rng;
    bool now = false;

    rng_init(&rng, 1, 0, "runs", "chain");
    for (int i = 0; i < STEPS; i++) {
        now = rng_bernoulli(&rng, now ? 0.75 : 0.02); /* 4 bad steps, 50 good ones */
        bad[i] = now;
    }
    runs_add(&r, bad, STEPS, 1);
    ck_assert_double_eq_tol(runs_to_failure(&r), 50, 2);
    ck_assert_double_eq_tol(runs_to_repair(&r), 4, 0.2);
}
END_TEST

/* Against GSL's Poisson distribution: the test's level is kept, and its power is as asked. */
START_TEST(the_smallest_factor_has_the_power_it_promises)
{
    static const double expected[] = {0.01, 0.5, 3, 20, 100, 400};

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        double factor = smallest_factor(expected[i], 1, 0.95, 0.8);
        unsigned critical = 1;

        while (gsl_cdf_poisson_Q(critical - 1, expected[i]) > 0.025)
            critical++;
        ck_assert_double_eq_tol(gsl_cdf_poisson_Q(critical - 1, expected[i] * factor), 0.8, 1e-6);
        ck_assert_double_gt(factor, 1);
        ck_assert_double_lt(factor, smallest_factor(expected[i], 4, 0.95, 0.8));
    }
    ck_assert(isinf(smallest_factor(0, 1, 0.95, 0.8)));
    /* With many expected: the normal distribution's (1.96 + 0.84) / sqrt(n). */
    ck_assert_double_eq_tol(smallest_factor(730, 1, 0.95, 0.8), 1 + 2.8 / sqrt(730), 0.01);
    ck_assert_double_eq_tol(smallest_factor(5000, 1, 0.95, 0.8), 1 + 2.8 / sqrt(5000), 0.003);
}
END_TEST

Suite *suite_runs(void);

Suite *suite_runs(void)
{
    Suite *s = suite_create("runs");
    TCase *t = tcase_create("runs");

    tcase_add_test(t, runs_are_counted_by_where_they_begin_and_end);
    tcase_add_test(t, series_are_apart);
    tcase_add_test(t, nothing_bad_has_no_means);
    tcase_add_test(t, means_are_those_of_a_markov_chain);
    tcase_add_test(t, the_smallest_factor_has_the_power_it_promises);
    suite_add_tcase(s, t);
    return s;
}
