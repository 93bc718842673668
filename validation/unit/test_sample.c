/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates from observations, against numbers worked out by hand and against GSL. */
#include "sim/sample.h"

#include "sim/random.h"

#include <check.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rng stream;

static void setup(void)
{
    rng_init(&stream, 4, 0, "test", "sample");
}

static bool close_to(double x, double y)
{
    return fabs(x - y) <= 1e-12 * fmax(1, fabs(y));
}

START_TEST(running_moments)
{
    static double x[5000];
    struct running all = {0}, part[4] = {0}, merged = {0};

    for (int i = 0; i < 5000; i++) {
        x[i] = 1e9 + rng_normal(&stream); /* a naive sum of squares loses this variance */
        running_add(&all, x[i]);
        running_add(&part[i < 100 ? 0 : i < 3000 ? 1 : 2], x[i]);
    }
    ck_assert(fabs(running_variance(&all) - gsl_stats_variance(x, 1, 5000)) < 1e-6);
    ck_assert(close_to(all.mean, gsl_stats_mean(x, 1, 5000)));
    for (int p = 0; p < 4; p++) /* the last one is empty */
        running_merge(&merged, &part[p]);
    ck_assert(merged.count == 5000 && close_to(merged.mean, all.mean));
    ck_assert(fabs(running_variance(&merged) - running_variance(&all)) < 1e-6);
    ck_assert(merged.min == all.min && merged.max == all.max);
    ck_assert(all.min == gsl_stats_min(x, 1, 5000) && all.max == gsl_stats_max(x, 1, 5000));
    ck_assert(isnan(running_variance(&(struct running){.count = 1, .mean = 3})));
    ck_assert(close_to(variance_of(x, 5000), gsl_stats_variance(x, 1, 5000)) ||
              fabs(variance_of(x, 5000) - gsl_stats_variance(x, 1, 5000)) < 1e-6);
}
END_TEST

START_TEST(averages_over_time)
{
    struct time_average a;

    time_average_start(&a, 100, 2);
    ck_assert(time_average_mean(&a, 100) == 2);
    time_average_set(&a, 200, 6); /* 2 for 100 ns */
    time_average_set(&a, 200, 4); /* 6 for none */
    ck_assert(time_average_mean(&a, 300) == 3);
    ck_assert(a.max == 6);
    time_average_restart(&a, 300);
    ck_assert(time_average_mean(&a, 300) == 4 && time_average_mean(&a, 900) == 4 && a.max == 4);
}
END_TEST

START_TEST(quantiles)
{
    static const double x[] = {10, 20, 30, 40};
    struct samples s = {0};

    /* Hazen: the i-th of n values is the quantile at (i - 1/2) / n */
    for (int i = 0; i < 4; i++)
        ck_assert(close_to(sorted_quantile(x, 4, (i + 0.5) / 4), x[i]));
    ck_assert(close_to(sorted_quantile(x, 4, 0.5), 25));
    ck_assert(sorted_quantile(x, 4, 0) == 10 && sorted_quantile(x, 4, 1) == 40);
    ck_assert(isnan(sorted_quantile(x, 0, 0.5)));
    ck_assert(sorted_quantile((double[]){1, INFINITY, INFINITY}, 3, 0.8) == INFINITY);
    for (int i = 999; i >= 0; i--)
        samples_add(&s, i);
    ck_assert(close_to(samples_quantile(&s, 0.9), 899.5));
    samples_add(&s, -1);
    ck_assert(samples_quantile(&s, 0) == -1);
    samples_free(&s);
}
END_TEST

/* The reason for Hazen's rule: the mean of the estimate for an exponential tail is the quantile. */
START_TEST(quantile_is_unbiased_for_exponential_tails)
{
    static double x[1000];
    struct running estimate = {0}, order = {0};

    for (int r = 0; r < 4000; r++) {
        for (int i = 0; i < 1000; i++)
            x[i] = rng_exponential(&stream, 1);
        sort_doubles(x, 1000);
        running_add(&estimate, sorted_quantile(x, 1000, 0.99));
        running_add(&order, x[quantile_rank(0.99, 1000) - 1]);
    }
    ck_assert(fabs(estimate.mean - -log(0.01)) < 4 * running_deviation(&estimate) / sqrt(4000));
    ck_assert(order.mean < -log(0.01) - 0.03); /* as a plain order statistic is not */
}
END_TEST

START_TEST(ranks)
{
    for (uint64_t k = 1; k <= 1000; k++) { /* 0.001 k of 1000 is k, whatever binary makes of it */
        ck_assert_uint_eq(quantile_rank((double)k / 1000, 1000), k);
        ck_assert_uint_eq(quantile_rank((double)k / 1000 + 1e-9, 1000), k < 1000 ? k + 1 : k);
    }
    ck_assert_uint_eq(quantile_rank(0.999, 1000), 999);
    ck_assert_uint_eq(quantile_rank(0.9999, 1000), 1000);
    ck_assert_uint_eq(quantile_rank(0, 1000), 1);
    ck_assert_uint_eq(quantile_rank(0.5, 1), 1);
    ck_assert_uint_eq(quantile_beyond(0.999, 10000), 10);
    ck_assert_uint_eq(quantile_beyond(0.999, 9999), 9);
    ck_assert_uint_eq(quantile_beyond(0.99999, 1000000), 10);
    ck_assert_uint_eq(quantile_beyond(0.01, 1000), 10);
    ck_assert_uint_eq(quantile_beyond(1, 1000), 0);
    ck_assert_uint_eq(quantile_need(0.999, 10), 10000);
    ck_assert_uint_eq(quantile_need(0.99, 10), 1000);
    ck_assert_uint_eq(quantile_need(0.05, 10), 200);
    ck_assert_uint_eq(quantile_need(0.3, 10), 34);
    ck_assert_uint_eq(quantile_need(1, 10), 0);
    for (double q = 0.5; q < 0.99999; q += 0.0007)
        if (quantile_beyond(q, quantile_need(q, 10)) < 10 ||
            quantile_beyond(q, quantile_need(q, 10) - 1) >= 10)
            ck_abort_msg("q = %g: need %llu", q, (unsigned long long)quantile_need(q, 10));
}
END_TEST

START_TEST(series)
{
    static double x[1000], y[1000];
    double means[3];

    for (int i = 0; i < 1000; i++) {
        x[i] = rng_normal(&stream) + (i ? 0.7 * x[i - 1] : 0);
        y[i] = x[i] + rng_normal(&stream);
    }
    ck_assert(close_to(correlation_of(x, y, 1000), gsl_stats_correlation(x, 1, y, 1, 1000)));
    ck_assert(isnan(correlation_of((double[]){1, 1}, (double[]){1, 2}, 2)));
    ck_assert(fabs(autocorrelation(x, 1000, 1) - gsl_stats_lag1_autocorrelation(x, 1, 1000)) <
              0.01);
    ck_assert(close_to(autocorrelation((double[]){1, 2, 3, 4}, 4, 1), 0.25));
    ck_assert(autocorrelation((double[]){2, 2, 2}, 3, 1) == 0);
    ck_assert(isnan(autocorrelation(x, 3, 3)));
    ck_assert_uint_eq(batch_means((double[]){9, 1, 2, 3, 4, 5, 6}, 7, 3, means), 2);
    ck_assert(means[0] == 1.5 && means[1] == 3.5 && means[2] == 5.5);
    ck_assert(isnan(mean_of(x, 0)) && isnan(variance_of(x, 1)));
}
END_TEST

/* By the definition, for each candidate anew. */
static size_t mser5_by_definition(const double *x, size_t n)
{
    size_t k = n / 5, best = 0;
    double lowest = INFINITY;

    for (size_t d = 0; d <= k / 2; d++) {
        double mean = 0, sum = 0, m = (double)(k - d);

        for (size_t j = d; j < k; j++)
            mean += mean_of(x + 5 * j, 5) / m;
        for (size_t j = d; j < k; j++)
            sum += (mean_of(x + 5 * j, 5) - mean) * (mean_of(x + 5 * j, 5) - mean);
        if (sum / (m * m) < lowest) {
            lowest = sum / (m * m);
            best = d;
        }
    }
    return best == k / 2 ? n : 5 * best;
}

START_TEST(warmup)
{
    static double x[2000];
    struct running cut = {0};

    for (int r = 0; r < 50; r++) {
        for (int i = 0; i < 2000; i++)
            x[i] = 10 + rng_normal(&stream) + 20 * exp(-i / 40.0);
        ck_assert_uint_eq(warmup_mser5(x, 2000), mser5_by_definition(x, 2000));
        running_add(&cut, (double)warmup_mser5(x, 2000));
    }
    /* where 20 exp(-i / 40) has sunk to somewhere below the noise of a mean: 50 to 400 */
    ck_assert(cut.mean > 80 && cut.mean < 400);
    for (int i = 0; i < 2000; i++)
        x[i] = i; /* a trend has no steady state */
    ck_assert_uint_eq(warmup_mser5(x, 2000), 2000);
    ck_assert_uint_eq(warmup_mser5(x, 49), 49);
    for (int i = 0; i < 2000; i++)
        x[i] = 3;
    ck_assert_uint_eq(warmup_mser5(x, 2000), 0);
}
END_TEST

START_TEST(fairness)
{
    static const double equal[] = {3, 3, 3, 3}, one[] = {8, 0, 0, 0}, shares[] = {2, 1, 1};
    static const double entitled[] = {0.5, 0.25, 0.25}, half[] = {1, 1, 1};

    ck_assert(jain_index(equal, 4) == 1);
    ck_assert(jain_index(one, 4) == 0.25);
    ck_assert(close_to(jain_index(shares, 3), 16.0 / 18));
    ck_assert(jain_index(shares, 0) == 1);
    ck_assert(largest_deviation(equal, NULL, 4) == 0);
    ck_assert(close_to(largest_deviation(shares, NULL, 3), 0.5));
    ck_assert(close_to(largest_deviation(shares, half, 3), 1));
    ck_assert(close_to(largest_deviation((double[]){0.52, 0.24, 0.24}, entitled, 3), 0.04));
    ck_assert(largest_deviation((double[]){7}, (double[]){0}, 1) == 0);
}
END_TEST

Suite *suite_sample(void);

Suite *suite_sample(void)
{
    Suite *s = suite_create("sample");
    TCase *tc = tcase_create("estimates");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, running_moments);
    tcase_add_test(tc, averages_over_time);
    tcase_add_test(tc, quantiles);
    tcase_add_test(tc, quantile_is_unbiased_for_exponential_tails);
    tcase_add_test(tc, ranks);
    tcase_add_test(tc, series);
    tcase_add_test(tc, warmup);
    tcase_add_test(tc, fairness);
    suite_add_tcase(s, tc);
    return s;
}
