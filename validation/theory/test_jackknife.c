/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jackknife intervals of pooled figures cover the truth as often as they say, where replications
 * differ from each other: each has exponential latencies with a rate of its own, drawn from a gamma
 * distribution; all together are then Lomax (Pareto II) distributed, whose quantiles and mean are
 * known:
 *
 *     rate ~ Gamma(shape k, scale 1)  =>  P(X > x) = (1 + x)^-k,  q-quantile (1-q)^(-1/k) - 1,
 *     mean 1 / (k - 1).
 *
 * The mean of the replications' own quantiles is far from that: the last test shows it.
 */
#include "experiments/study/pooled.h"
#include "sim/error.h"
#include "sim/random.h"
#include "sim/stats.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { REPLICATIONS = 40, OBSERVATIONS = 400, TRIALS = 400, SHAPE = 12 };
#define UNIT 1e9 /* of histograms */

/* Gamma of a whole shape: a sum of exponentials. */
static double gamma_draw(struct rng *r)
{
    double sum = 0;

    for (int i = 0; i < SHAPE; i++)
        sum += rng_exponential(r, 1);
    return sum;
}

static void draw(double *x, struct rng *r)
{
    for (int i = 0; i < REPLICATIONS; i++) {
        double mean = 1 / gamma_draw(r);

        for (int k = 0; k < OBSERVATIONS; k++)
            x[i * OBSERVATIONS + k] = rng_exponential(r, mean);
    }
}

static double coverage(double q, double truth, double level)
{
    double *x = xcalloc(REPLICATIONS * OBSERVATIONS, sizeof *x);
    double without[REPLICATIONS];
    struct histogram h;
    int covered = 0;

    histogram_init(&h, HISTOGRAM_3_DIGITS);
    for (int t = 0; t < TRIALS; t++) {
        struct pooled p = {0};
        struct interval i;
        struct rng r;

        rng_init(&r, 20, (uint64_t)t, "jackknife", "latency");
        draw(x, &r);
        for (int k = 0; k < REPLICATIONS; k++) {
            histogram_reset(&h);
            for (int n = 0; n < OBSERVATIONS; n++)
                histogram_record(&h, (sim_time)(x[k * OBSERVATIONS + n] * UNIT));
            pooled_add(&p, &h);
        }
        for (int k = 0; k < REPLICATIONS; k++)
            without[k] = pooled_figure_without(&p, (size_t)k, q) / UNIT;
        i = interval_jackknife(pooled_figure(&p, q) / UNIT, without, REPLICATIONS, level);
        ck_assert(interval_given(&i));
        covered += i.low <= truth && truth <= i.high;
        pooled_free(&p);
    }
    histogram_free(&h);
    free(x);
    return (double)covered / TRIALS;
}

static double truth_of(double q)
{
    return q < 0 ? 1.0 / (SHAPE - 1) : pow(1 - q, -1.0 / SHAPE) - 1;
}

/* 400 trials of 0.95 have a standard deviation of 0.011. */
static void covers(double q)
{
    double c = coverage(q, truth_of(q), 0.95);

    ck_assert_msg(c > 0.91 && c < 0.985, "coverage of q = %g is %.3f", q, c);
}

START_TEST(covers_the_mean)
{
    covers(-1);
}
END_TEST

START_TEST(covers_the_median)
{
    covers(0.5);
}
END_TEST

START_TEST(covers_p95)
{
    covers(0.95);
}
END_TEST

START_TEST(few_values_have_none)
{
    double one = 1, with_nan[] = {1, NAN, 2};
    struct interval i = interval_jackknife(1, &one, 1, 0.95);

    ck_assert_int_eq(i.none, INTERVAL_FEW_VALUES);
    ck_assert_uint_eq(i.need, 2);
    i = interval_jackknife(1, with_nan, 3, 0.95);
    ck_assert_int_eq(i.none, INTERVAL_FEW_VALUES);
    i = interval_jackknife(NAN, with_nan, 1, 0.95);
    ck_assert_int_eq(i.none, INTERVAL_FEW_VALUES);
}
END_TEST

/* Of a mean of replications' means it is Student's interval. */
START_TEST(is_students_for_means)
{
    static const double x[] = {3, 1, 4, 1, 5, 9, 2, 6};
    enum { N = sizeof x / sizeof *x };
    double without[N], sum = 0;
    struct interval student = interval_mean(x, N, 0.9), jackknife;

    for (int k = 0; k < N; k++)
        sum += x[k];
    for (int k = 0; k < N; k++)
        without[k] = (sum - x[k]) / (N - 1);
    jackknife = interval_jackknife(sum / N, without, N, 0.9);
    ck_assert_double_eq_tol(jackknife.low, student.low, 1e-12);
    ck_assert_double_eq_tol(jackknife.high, student.high, 1e-12);
}
END_TEST

/* Why figures are pooled: the mean of replications' p95 is not the p95 of all. */
START_TEST(the_mean_of_quantiles_is_another_figure)
{
    double *x = xcalloc(REPLICATIONS * OBSERVATIONS, sizeof *x);
    double sum = 0, truth = truth_of(0.99);
    int trials = 50;

    for (int t = 0; t < trials; t++) {
        struct rng r;

        rng_init(&r, 21, (uint64_t)t, "jackknife", "latency");
        draw(x, &r);
        for (int i = 0; i < REPLICATIONS; i++) {
            sort_doubles(x + i * OBSERVATIONS, OBSERVATIONS);
            sum += sorted_quantile(x + i * OBSERVATIONS, OBSERVATIONS, 0.99);
        }
    }
    ck_assert_double_lt(sum / (trials * REPLICATIONS), 0.95 * truth);
    free(x);
}
END_TEST

Suite *suite_jackknife(void)
{
    Suite *s = suite_create("jackknife");
    TCase *c = tcase_create("jackknife");

    tcase_add_test(c, covers_the_mean);
    tcase_add_test(c, covers_the_median);
    tcase_add_test(c, covers_p95);
    tcase_add_test(c, few_values_have_none);
    tcase_add_test(c, is_students_for_means);
    tcase_add_test(c, the_mean_of_quantiles_is_another_figure);
    suite_add_tcase(s, c);
    return s;
}
