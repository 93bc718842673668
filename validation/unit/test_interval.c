/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intervals against their definitions, with GSL's distributions as reference. How often they cover
 * the truth is tested in validation/theory/test_coverage.c.
 */
#include "sim/interval.h"

#include "sim/random.h"
#include "sim/sample.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rng stream;

static void setup(void)
{
    rng_init(&stream, 6, 0, "test", "interval");
}

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fmax(1e-3, fabs(y));
}

/* ---- Means ---- */

START_TEST(mean)
{
    static const double x[] = {4.1, 5.2, 3.9, 4.4, 4.9, 5.0, 4.2};
    struct interval i = interval_mean(x, 7, 0.95);
    double half = gsl_cdf_tdist_Pinv(0.975, 6) * gsl_stats_sd(x, 1, 7) / sqrt(7);

    ck_assert(interval_given(&i) && i.n == 7 && i.level == 0.95 && i.need == 0);
    ck_assert(near(i.estimate, gsl_stats_mean(x, 1, 7)));
    ck_assert(near(i.low, i.estimate - half) && near(i.high, i.estimate + half));
    ck_assert(near(interval_half(&i), half));
    i = interval_mean(x, 1, 0.95);
    ck_assert(!interval_given(&i) && i.none == INTERVAL_FEW_VALUES && i.need == 2);
    ck_assert(i.estimate == 4.1 && isnan(i.low) && isnan(i.high) && isnan(interval_half(&i)));
    ck_assert(strcmp(interval_reason(i.none), "too few values") == 0);
    ck_assert(strcmp(interval_reason(INTERVAL_GIVEN), "") == 0);
}
END_TEST

START_TEST(paired)
{
    static const double a[] = {10, 12, 15, 11}, b[] = {9, 11.5, 13, 10.5};
    static const double d[] = {1, 0.5, 2, 0.5};
    struct interval i = interval_paired_difference(a, b, 4, 0.9), j = interval_mean(d, 4, 0.9);

    ck_assert(i.estimate == j.estimate && i.low == j.low && i.high == j.high);
}
END_TEST

START_TEST(batches)
{
    static const double x[] = {99, 1, 2, 3, 4, 5, 6, 7, 8};
    static const double means[] = {1.5, 3.5, 5.5, 7.5};
    struct interval i = interval_batch_means(x, 9, 4, 0.95), j = interval_mean(means, 4, 0.95);

    ck_assert(i.estimate == j.estimate && i.low == j.low && i.n == 4);
    i = interval_batch_means(x, 3, 4, 0.95);
    ck_assert(i.none == INTERVAL_FEW_VALUES && i.need == 4);
    i = interval_batch_means(x, 9, 1, 0.95);
    ck_assert(i.none == INTERVAL_FEW_VALUES);
}
END_TEST

/* Fieller's ends are where the t statistic of a - r b is just critical. */
START_TEST(ratio)
{
    double a[12], b[12], d[12];

    for (int round = 0; round < 20; round++) {
        struct interval i;
        double ends[2];

        for (int k = 0; k < 12; k++) {
            double common = rng_normal(&stream);

            a[k] = 30 + 3 * common + rng_normal(&stream);
            b[k] = 10 + common;
        }
        i = interval_ratio(a, b, 12, 0.95);
        ends[0] = i.low;
        ends[1] = i.high;
        ck_assert(near(i.estimate, mean_of(a, 12) / mean_of(b, 12)));
        ck_assert(i.low < i.estimate && i.estimate < i.high);
        for (int e = 0; e < 2; e++) {
            for (int k = 0; k < 12; k++)
                d[k] = a[k] - ends[e] * b[k];
            ck_assert(near(fabs(mean_of(d, 12)) / sqrt(variance_of(d, 12) / 12),
                           gsl_cdf_tdist_Pinv(0.975, 11)));
        }
    }
    for (int k = 0; k < 12; k++)
        b[k] = rng_normal(&stream);
    ck_assert(interval_ratio(a, b, 12, 0.95).none == INTERVAL_NO_SPREAD);
    ck_assert(interval_ratio(a, b, 1, 0.95).none == INTERVAL_FEW_VALUES);
}
END_TEST

/* ---- Quantiles ---- */

START_TEST(quantile_rules)
{
    static const double estimate[] = {5, 6, 7};
    uint64_t observations[] = {10000, 10000, 9999};
    struct interval i;

    i = interval_quantile_replications(estimate, observations, 3, 0.999, 0.95);
    ck_assert(i.none == INTERVAL_FEW_BEYOND && i.need == 10000 && i.estimate == 6);
    ck_assert(isnan(i.low) && isnan(i.high));
    observations[2] = 10000;
    i = interval_quantile_replications(estimate, observations, 3, 0.999, 0.95);
    ck_assert(interval_given(&i) && i.low == interval_mean(estimate, 3, 0.95).low);
    i = interval_quantile_replications(estimate, observations, 3, 1, 0.95);
    ck_assert(i.none == INTERVAL_MAXIMUM && i.need == 0);
    i = interval_quantile_replications(estimate, observations, 1, 0.5, 0.95);
    ck_assert(i.none == INTERVAL_FEW_VALUES);
}
END_TEST

START_TEST(quantile_batches)
{
    static double x[1000];
    double estimate[10], part[100];
    struct interval i, j;

    for (int k = 0; k < 1000; k++)
        x[k] = rng_exponential(&stream, 1);
    for (int b = 0; b < 10; b++) {
        memcpy(part, x + 100 * b, sizeof part);
        sort_doubles(part, 100);
        estimate[b] = sorted_quantile(part, 100, 0.9);
    }
    i = interval_quantile_batches(x, 1000, 10, 0.9, 0.95);
    j = interval_mean(estimate, 10, 0.95);
    ck_assert(i.estimate == j.estimate && i.low == j.low && i.high == j.high);
    i = interval_quantile_batches(x, 1000, 10, 0.95, 0.95);
    ck_assert(i.none == INTERVAL_FEW_BEYOND && i.need == 200);
    sort_doubles(x, 1000);
    ck_assert(i.estimate == sorted_quantile(x, 1000, 0.95));
}
END_TEST

/* The ranks against the binomial distribution: equal tails, each as full as it can be. */
START_TEST(quantile_order_statistics)
{
    static double x[3000];
    static const double q[] = {0.01, 0.1, 0.5, 0.9, 0.99};
    static const unsigned sizes[] = {20, 57, 100, 1000, 1001, 3000};

    for (int k = 0; k < 3000; k++)
        x[k] = k + 1; /* the value is the rank */
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof q / sizeof *q; k++) {
            unsigned n = sizes[s], l, h;
            struct interval i = interval_quantile_iid(x, n, q[k], 0.95);

            if (quantile_beyond(q[k], n) < 10) {
                ck_assert(i.none == INTERVAL_FEW_BEYOND &&
                          i.need == quantile_need(q[k], INTERVAL_BEYOND));
                continue;
            }
            ck_assert(interval_given(&i) && i.n == n);
            l = (unsigned)i.low;
            h = (unsigned)i.high;
            ck_assert(gsl_cdf_binomial_P(l - 1, q[k], n) <= 0.025);
            ck_assert(gsl_cdf_binomial_P(l, q[k], n) > 0.025);
            ck_assert(gsl_cdf_binomial_P(h - 1, q[k], n) >= 0.975);
            ck_assert(gsl_cdf_binomial_P(h - 2, q[k], n) < 0.975);
        }
    ck_assert(interval_quantile_iid(x, 3000, 1, 0.95).none == INTERVAL_MAXIMUM);
    ck_assert(interval_quantile_iid(x, 20, 0.5, 0.999999999).none == INTERVAL_FEW_VALUES);
}
END_TEST

/* ---- Proportions ---- */

START_TEST(proportions_agree_with_gsl)
{
    static const unsigned n = 60;

    for (unsigned k = 0; k <= n; k++) {
        struct interval j = interval_proportion(k, n, PROPORTION_JEFFREYS, 0.95);
        struct interval e = interval_proportion(k, n, PROPORTION_EXACT, 0.95);
        struct interval w = interval_proportion(k, n, PROPORTION_WILSON, 0.95);
        double z = gsl_cdf_ugaussian_Pinv(0.975), p;

        ck_assert(j.estimate == (double)k / n && e.n == n && w.n == n);
        if (k > 0) {
            ck_assert(near(j.low, gsl_cdf_beta_Pinv(0.025, k + 0.5, n - k + 0.5)));
            ck_assert(near(e.low, gsl_cdf_beta_Pinv(0.025, k, n - k + 1)));
            p = w.low; /* where the score test is just critical */
            ck_assert(near((w.estimate - p) / sqrt(p * (1 - p) / n), z));
        } else {
            ck_assert(j.low == 0 && e.low == 0 && w.low == 0);
        }
        if (k < n) {
            ck_assert(near(j.high, gsl_cdf_beta_Pinv(0.975, k + 0.5, n - k + 0.5)));
            ck_assert(near(e.high, gsl_cdf_beta_Pinv(0.975, k + 1, n - k)));
            p = w.high;
            ck_assert(near((p - w.estimate) / sqrt(p * (1 - p) / n), z));
        } else {
            ck_assert(j.high == 1 && e.high == 1 && w.high == 1);
        }
    }
    ck_assert(interval_proportion(0, 0, PROPORTION_JEFFREYS, 0.95).none == INTERVAL_FEW_VALUES);
}
END_TEST

/* Availability studies: a handful of losses in very many cycles. */
START_TEST(proportions_of_rare_events)
{
    struct interval i = interval_proportion(0, 1000000000, PROPORTION_EXACT, 0.95);

    ck_assert(fabs(i.high * 1e9 + log(0.025)) < 1e-6);
    i = interval_proportion(3, 1000000000, PROPORTION_EXACT, 0.95); /* Poisson limits, chi-square */
    ck_assert(fabs(i.low * 1e9 - gsl_cdf_chisq_Pinv(0.025, 6) / 2) < 1e-6);
    ck_assert(fabs(i.high * 1e9 - gsl_cdf_chisq_Pinv(0.975, 8) / 2) < 1e-6);
}
END_TEST

/* ---- Deciding ---- */

static struct interval around(double low, double high)
{
    return (struct interval){.estimate = (low + high) / 2, .low = low, .high = high};
}

START_TEST(effects)
{
    static const struct {
        double low, high;
        enum effect effect;
    } cases[] = {
        {-1, 1, EFFECT_NEGLIGIBLE},  {0.5, 1.5, EFFECT_NEGLIGIBLE}, {-1.5, 2, EFFECT_NEGLIGIBLE},
        {-2, 1, EFFECT_UNDECIDED},   {-1, 3, EFFECT_UNDECIDED},     {-9, 9, EFFECT_UNDECIDED},
        {0.1, 3, EFFECT_PRESENT},    {-3, -0.1, EFFECT_PRESENT},    {2.1, 3, EFFECT_RELEVANT},
        {-4, -1.6, EFFECT_RELEVANT},
    };
    struct interval none = {.none = INTERVAL_FEW_VALUES, .low = NAN, .high = NAN}, i;

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        i = around(cases[k].low, cases[k].high);
        ck_assert_int_eq(interval_effect(&i, 0, 1.5, 2), cases[k].effect);
        i = around(cases[k].low + 10, cases[k].high + 10);
        ck_assert_int_eq(interval_effect(&i, 10, 1.5, 2), cases[k].effect);
    }
    ck_assert_int_eq(interval_effect(&none, 0, 1, 1), EFFECT_UNDECIDED);
    ck_assert_str_eq(effect_name(EFFECT_RELEVANT), "relevant");
    ck_assert(near(bonferroni_level(0.95, 5), 0.99) && bonferroni_level(0.95, 0) == 0.95);
}
END_TEST

/* ---- Stopping ---- */

START_TEST(stopping)
{
    static double x[500], y[500];
    const double *series[] = {x, y};
    struct stopping s = {.relative = 0.05, .level = 0.95};
    size_t stop, both;

    for (int i = 0; i < 500; i++) {
        x[i] = 10 + 2 * rng_normal(&stream);
        y[i] = 10 + 4 * rng_normal(&stream);
    }
    stop = stopping_prefix(&s, series, 1, 500);
    ck_assert(stop >= 10 && stop < 200);
    for (size_t n = 10; n <= stop; n++) { /* the first prefix that satisfies, by definition */
        struct interval i = interval_mean(x, n, 0.95);

        ck_assert((interval_half(&i) <= 0.05 / 1.05 * i.estimate) == (n == stop));
    }
    for (size_t n = 0; n < 500; n++) /* nothing after the prefix matters */
        ck_assert_uint_eq(stopping_prefix(&s, series, 1, n), n < stop ? 0 : stop);
    both = stopping_prefix(&s, series, 2, 500);
    ck_assert(both > stop);
    s.least = 300;
    ck_assert_uint_eq(stopping_prefix(&s, series, 1, 500), 300);
    s.least = 3; /* raised to 10, though a constant needs no more than 2 */
    for (int i = 0; i < 500; i++)
        x[i] = 7;
    ck_assert_uint_eq(stopping_prefix(&s, series, 1, 500), 10);
}
END_TEST

START_TEST(forecast)
{
    static double x[400];
    const double *series[] = {x};
    struct stopping s = {.relative = 0.02, .level = 0.95};
    size_t actual, forecast;

    for (int i = 0; i < 400; i++)
        x[i] = 10 + rng_normal(&stream);
    actual = stopping_prefix(&s, series, 1, 400);
    forecast = stopping_forecast(&s, x, 30);
    ck_assert(actual > 50 && forecast > actual / 2 && forecast < 2 * actual);
    ck_assert_uint_eq(stopping_forecast(&s, x, 1), 0);
}
END_TEST

/* ---- Bands ---- */

START_TEST(bands)
{
    double x[99];
    struct band b;

    for (int i = 0; i < 99; i++)
        x[i] = 99 - i; /* 1 .. 99, unsorted */
    b = simulation_band(x, 99, 50, 0.9);
    ck_assert(b.low == 5 && b.high == 95 && b.inside && b.need == 0 && b.p == 1);
    b = simulation_band(x, 99, 0.5, 0.9);
    ck_assert(!b.inside && near(b.p, 0.02));
    b = simulation_band(x, 99, 95, 0.9);
    ck_assert(b.inside && near(b.p, 0.12));
    b = simulation_band(x, 99, 96, 0.9);
    ck_assert(!b.inside && near(b.p, 0.1));
    b = simulation_band(x, 38, 5, 0.95);
    ck_assert(isnan(b.low) && !b.inside && b.need == 39);
    b = simulation_band(x, 39, 5, 0.95);
    ck_assert(b.low == 1 && b.high == 39 && b.inside);
    b = simulation_band(x, 18, 5, 0.9);
    ck_assert(isnan(b.low) && b.need == 19);
}
END_TEST

/* ---- The bits ---- */

/* All ends of intervals of each kind from 200 samples, recorded with gcc 12 -O2: they are written
 * to results, so every compiler, level and processor must reproduce them. */
START_TEST(same_bits_everywhere)
{
    static struct interval all[200][8];
    static double bits[200 * 8 * 3];
    size_t n = 0;
    uint64_t hash;

    for (size_t r = 0; r < 200; r++) {
        double a[60], b[60];
        uint64_t k;

        for (int i = 0; i < 60; i++) {
            a[i] = rng_exponential(&stream, 10);
            b[i] = a[i] + rng_normal(&stream) + 5;
        }
        k = rng_below(&stream, 1001);
        all[r][0] = interval_mean(a, 3 + r % 50, 0.95);
        all[r][1] = interval_paired_difference(a, b, 3 + r % 50, 0.99);
        all[r][2] = interval_ratio(a, b, 3 + r % 50, 0.9);
        all[r][3] = interval_batch_means(a, 60, 7, 0.95);
        all[r][4] = interval_proportion(k, 1000, PROPORTION_JEFFREYS, 0.95);
        all[r][5] = interval_proportion(k, 1000, PROPORTION_WILSON, 0.95);
        all[r][6] = interval_quantile_batches(a, 60, 2, 0.5, 0.95);
        sort_doubles(a, 60);
        all[r][7] = interval_quantile_iid(a, 60, 0.8, 0.95);
    }
    for (size_t i = 0; i < 200 * 8; i++) {
        const struct interval *v = &all[i / 8][i % 8];

        if (!interval_given(v))
            continue;
        bits[n++] = v->estimate;
        bits[n++] = v->low;
        bits[n++] = v->high;
    }
    ck_assert(n > 4500);
    hash = hash_bytes(0, 0, bits, sizeof bits);
    ck_assert_msg(hash == UINT64_C(0x5222a0c2caba02bd), "0x%016llx", (unsigned long long)hash);
}
END_TEST

Suite *suite_interval(void);

Suite *suite_interval(void)
{
    Suite *s = suite_create("interval");
    TCase *tc = tcase_create("definitions");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, mean);
    tcase_add_test(tc, paired);
    tcase_add_test(tc, batches);
    tcase_add_test(tc, ratio);
    tcase_add_test(tc, quantile_rules);
    tcase_add_test(tc, quantile_batches);
    tcase_add_test(tc, quantile_order_statistics);
    tcase_add_test(tc, proportions_agree_with_gsl);
    tcase_add_test(tc, proportions_of_rare_events);
    tcase_add_test(tc, same_bits_everywhere);
    suite_add_tcase(s, tc);
    tc = tcase_create("decisions");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, effects);
    tcase_add_test(tc, stopping);
    tcase_add_test(tc, forecast);
    tcase_add_test(tc, bands);
    suite_add_tcase(s, tc);
    return s;
}
