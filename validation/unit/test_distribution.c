/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Distributions against GSL: each sampler's moments against closed forms, and its draws against
 * GSL's distribution function by Kolmogorov and Smirnov. Seeds are fixed, so a pass stays a pass;
 * the limits are those of a test with 0.1 % false alarms.
 */
#include "sim/distribution.h"

#include "sim/sample.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 50000
#define KS_LIMIT 1.95 /* D sqrt(n) for a level of 0.1 % */

static struct rng stream;

static void setup(void)
{
    rng_init(&stream, 11, 0, "test", "distribution");
}

/* ---- Reference distribution functions ---- */

static double cdf_uniform(double x)
{
    return gsl_cdf_flat_P(x, 2, 5);
}

static double cdf_exponential(double x)
{
    return gsl_cdf_exponential_P(x, 3);
}

static double cdf_normal(double x)
{
    return gsl_cdf_gaussian_P(x - 10, 4);
}

static double cdf_lognormal(double x)
{
    return gsl_cdf_lognormal_P(x, log(20), 0.8);
}

/* Generalised Pareto with location = scale / shape is the plain one. */
static double cdf_pareto(double x)
{
    return gsl_cdf_pareto_P(x, 1 / 0.25, 8);
}

static double cdf_pareto_flat(double x) /* shape -1: uniform */
{
    return gsl_cdf_flat_P(x, 1, 3);
}

static double cdf_pareto_0(double x)
{
    return gsl_cdf_exponential_P(x - 1, 2);
}

/* Extreme values with location = scale / shape are Frechet's (GSL: Gumbel type 2). */
static double cdf_gev(double x)
{
    return gsl_cdf_gumbel2_P(x, 1 / 0.2, pow(10, 1 / 0.2));
}

static double cdf_gumbel(double x)
{
    return gsl_cdf_gumbel1_P(x, 1 / 2.0, exp(5 / 2.0));
}

static double cdf_weibull(double x)
{
    return gsl_cdf_weibull_P(x, 6, 1.7);
}

static double cdf_weibull_heavy(double x)
{
    return gsl_cdf_weibull_P(x, 6, 0.6);
}

static double cdf_gamma(double x)
{
    return gsl_cdf_gamma_P(x, 2.5, 3);
}

static double cdf_gamma_small(double x)
{
    return gsl_cdf_gamma_P(x, 0.4, 3);
}

static double cdf_gamma_large(double x)
{
    return gsl_cdf_gamma_P(x, 250, 0.1);
}

static double cdf_hyperexponential(double x)
{
    return 0.9 * gsl_cdf_exponential_P(x, 1) + 0.1 * gsl_cdf_exponential_P(x, 20);
}

static double square(double x)
{
    return x * x;
}

static double gev_variance(double k, double scale)
{
    return square(scale / k) * (tgamma(1 - 2 * k) - square(tgamma(1 - k)));
}

static const struct row {
    const char *name;
    enum dist_kind kind;
    double p[3];
    double (*cdf)(double x);
    double mean, variance; /* filled in below where they need functions */
} rows[] = {
    {"uniform", DIST_UNIFORM, {2, 5}, cdf_uniform, 3.5, 0.75},
    {"exponential", DIST_EXPONENTIAL, {3}, cdf_exponential, 3, 9},
    {"normal", DIST_NORMAL, {10, 4}, cdf_normal, 10, 16},
    {"lognormal", DIST_LOGNORMAL, {20, 0.8}, cdf_lognormal, 0, 0},
    {"pareto", DIST_PARETO, {8, 2, 0.25}, cdf_pareto, 8 + 2 / 0.75, 4 / (0.75 * 0.75 * 0.5)},
    {"pareto, shape -1", DIST_PARETO, {1, 2, -1}, cdf_pareto_flat, 2, 1.0 / 3},
    {"pareto, shape 0", DIST_PARETO, {1, 2, 0}, cdf_pareto_0, 3, 4},
    {"gev", DIST_GEV, {10, 2, 0.2}, cdf_gev, 0, 0},
    {"gev, shape 0", DIST_GEV, {5, 2, 0}, cdf_gumbel, 5 + 2 * 0.57721566490153286, 6.5797362673929},
    {"weibull", DIST_WEIBULL, {6, 1.7}, cdf_weibull, 0, 0},
    {"weibull, shape 0.6", DIST_WEIBULL, {6, 0.6}, cdf_weibull_heavy, 0, 0},
    {"gamma", DIST_GAMMA, {3, 2.5}, cdf_gamma, 7.5, 22.5},
    {"gamma, shape 0.4", DIST_GAMMA, {3, 0.4}, cdf_gamma_small, 1.2, 3.6},
    {"gamma, shape 250", DIST_GAMMA, {0.1, 250}, cdf_gamma_large, 25, 2.5},
    {"hyperexponential",
     DIST_HYPEREXPONENTIAL,
     {1, 20, 0.1},
     cdf_hyperexponential,
     2.9,
     2 * (0.9 + 40) - 2.9 * 2.9},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void closed_moments(const struct row *r, double *mean, double *variance)
{
    const double *p = r->p;

    *mean = r->mean;
    *variance = r->variance;
    if (r->kind == DIST_LOGNORMAL) {
        *mean = p[0] * exp(p[1] * p[1] / 2);
        *variance = square(*mean) * expm1(p[1] * p[1]);
    } else if (r->kind == DIST_GEV && p[2] != 0) {
        *mean = p[0] + p[1] * (tgamma(1 - p[2]) - 1) / p[2];
        *variance = gev_variance(p[2], p[1]);
    } else if (r->kind == DIST_WEIBULL) {
        *mean = p[0] * tgamma(1 + 1 / p[1]);
        *variance = square(p[0]) * tgamma(1 + 2 / p[1]) - square(*mean);
    }
}

static double kolmogorov(const double *sorted, size_t n, double (*cdf)(double))
{
    double largest = 0;

    for (size_t i = 0; i < n; i++) {
        double f = cdf(sorted[i]);

        largest = fmax(largest, fmax(f - (double)i / (double)n, (double)(i + 1) / (double)n - f));
    }
    return largest * sqrt((double)n);
}

START_TEST(agrees_with_gsl)
{
    static double x[N];
    const struct row *row = &rows[_i];
    struct distribution d = dist_make(row->kind, row->p[0], row->p[1], row->p[2]);
    struct errors e = ERRORS_NONE;
    double mean, variance, ks, fourth = 0, m, v;

    closed_moments(row, &mean, &variance);
    ck_assert_int_eq(dist_check(&d, &e), 0);
    ck_assert_msg(fabs(dist_mean(&d) - mean) < 1e-12 * fabs(mean), "%s: dist_mean %.17g, not %.17g",
                  row->name, dist_mean(&d), mean);
    for (int i = 0; i < N; i++)
        x[i] = dist_draw(&d, &stream);
    m = mean_of(x, N);
    v = variance_of(x, N);
    for (int i = 0; i < N; i++)
        fourth += square(square(x[i] - m) - v) / N;
    ck_assert_msg(fabs(m - mean) < 4 * sqrt(variance / N), "%s: mean %g, not %g", row->name, m,
                  mean);
    ck_assert_msg(fabs(v - variance) < 5 * sqrt(fourth / N), "%s: variance %g, not %g", row->name,
                  v, variance);
    sort_doubles(x, N);
    ks = kolmogorov(x, N, row->cdf);
    ck_assert_msg(ks < KS_LIMIT, "%s: D sqrt(n) = %g", row->name, ks);
}
END_TEST

/* The test can fail: a rate off by 3 % is seen. */
START_TEST(test_has_power)
{
    static double x[N];

    for (int i = 0; i < N; i++)
        x[i] = rng_exponential(&stream, 3.09);
    sort_doubles(x, N);
    ck_assert(kolmogorov(x, N, cdf_exponential) > KS_LIMIT);
}
END_TEST

/* ---- Kinds without density ---- */

START_TEST(constant_and_bimodal)
{
    struct distribution c = dist_make(DIST_CONSTANT, 42, 0, 0);
    struct distribution b = dist_make(DIST_BIMODAL, 500, 500000, 0.005);
    double others = 0, usual = 0, constant = 0;

    for (int i = 0; i < N; i++) {
        double x = dist_draw(&b, &stream);

        constant += dist_draw(&c, &stream) == 42;
        usual += x == 500;
        others += x == 500000;
    }
    ck_assert(constant == N && usual + others == N);
    ck_assert(fabs(others - N * 0.005) < 4 * sqrt(N * 0.005));
    ck_assert(dist_mean(&c) == 42);
    ck_assert(fabs(dist_mean(&b) - (0.995 * 500 + 2500)) < 1e-9);
}
END_TEST

static double cdf_empirical(double x)
{
    if (x < 10) /* the first probability, 0.1, is a point mass at 10 */
        return 0;
    if (x <= 20)
        return 0.1 + 0.4 * (x - 10) / 10;
    if (x < 50) /* no mass between 20 and 50 */
        return 0.5;
    return x >= 100 ? 1 : 0.5 + 0.5 * (x - 50) / 50;
}

START_TEST(empirical)
{
    static double x[N];
    static const double probability[] = {0.1, 0.5, 0.5, 1}, value[] = {10, 20, 50, 100};
    struct distribution d, copy;
    struct errors e = ERRORS_NONE;
    double at_10 = 0;

    ck_assert_int_eq(dist_make_empirical(&d, probability, value, 4, &e), 0);
    copy = dist_copy(&d);
    dist_free(&d);
    for (int i = 0; i < N; i++) {
        x[i] = dist_draw(&copy, &stream);
        at_10 += x[i] == 10;
    }
    ck_assert(fabs(at_10 - 0.1 * N) < 4 * sqrt(0.09 * N));
    ck_assert(fabs(dist_mean(&copy) - (1 + 0.4 * 15 + 0.5 * 75)) < 1e-12);
    ck_assert(fabs(mean_of(x, N) - dist_mean(&copy)) < 4 * sqrt(variance_of(x, N) / N));
    sort_doubles(x, N);
    ck_assert(x[0] == 10);
    for (size_t k = (size_t)at_10; k < N;
         k++) /* beyond the point mass the function is continuous */
        if (!(fabs((double)k / N - cdf_empirical(x[k])) < KS_LIMIT / sqrt(N)))
            ck_abort_msg("%g has rank %zu", x[k], k);
    dist_free(&copy);
}
END_TEST

/* Facebook's ETC pool in mutilate: masses at 0 .. 14 bytes, a generalised Pareto tail above. */
START_TEST(facebook_etc)
{
    struct distribution value, gap, key;
    double seen[16] = {0}, chi = 0, whole = 0, mean = 0.55845 * (15 + 214.476 / (1 - 0.348238));
    static const double mass[] = {.00536, .00047, .17820, .09239, .00018, .02740, .00065, .00606,
                                  .00023, .00837, .00837, .08989, .00092, .00326, .01980, .55845};

    ck_assert_int_eq(dist_make_preset(&value, "facebook-etc-value-size"), 0);
    ck_assert_int_eq(dist_make_preset(&gap, "facebook-etc-gap"), 0);
    ck_assert_int_eq(dist_make_preset(&key, "facebook-etc-key-size"), 0);
    ck_assert_int_eq(dist_make_preset(&key, "facebook"), -1);
    ck_assert(fabs(dist_mean(&gap) - 18968.8) < 1); /* 18.97 us */
    ck_assert(fabs(dist_mean(&key) - (30.7984 + 8.20449 * (tgamma(1 - 0.078688) - 1) / 0.078688)) <
              1e-9);
    for (int i = 0; i < N; i++) {
        double x = dist_draw(&value, &stream);

        whole += x < 15 ? x == floor(x) : 1;
        seen[x < 15 ? (int)x : 15]++;
    }
    ck_assert(whole == N);
    for (int i = 0; i < 16; i++)
        chi += square(seen[i] - N * mass[i]) / (N * mass[i]);
    ck_assert_msg(gsl_cdf_chisq_Q(chi, 15) > 1e-3, "chi-square %g", chi);
    for (int i = 0; i < 15; i++)
        mean += mass[i] * i;
    ck_assert(fabs(dist_mean(&value) - mean) < 1e-9);
    dist_scale(&gap, 2);
    ck_assert(fabs(dist_mean(&gap) - 2 * 18968.8) < 2);
    dist_free(&value);
}
END_TEST

/* ---- Table, checks, scaling ---- */

START_TEST(every_kind_is_described)
{
    for (int k = 0; k < DIST_KINDS; k++) {
        ck_assert(dist_kinds[k].name && dist_kinds[k].meaning && dist_kinds[k].formula &&
                  dist_kinds[k].mean);
        ck_assert_int_eq(dist_kind_by_name(dist_kinds[k].name), k);
        ck_assert(dist_kinds[k].table == (dist_parameters((enum dist_kind)k) == 0));
        for (size_t i = 0; i < dist_parameters((enum dist_kind)k); i++)
            ck_assert(dist_kinds[k].parameter[i].meaning);
    }
    ck_assert_int_eq(dist_kind_by_name("exponentil"), -1);
}
END_TEST

START_TEST(bad_parameters)
{
    static const struct {
        struct distribution d;
        const char *says;
    } bad[] = {
        {{.kind = DIST_EXPONENTIAL, .p = {0}}, "exponential: mean is 0; it must be above 0"},
        {{.kind = DIST_EXPONENTIAL, .p = {-1}}, "above 0"},
        {{.kind = DIST_EXPONENTIAL, .p = {NAN}}, "above 0"},
        {{.kind = DIST_CONSTANT, .p = {INFINITY}}, "finite"},
        {{.kind = DIST_NORMAL, .p = {1, -1}}, "deviation is -1; it must be at least 0"},
        {{.kind = DIST_UNIFORM, .p = {3, 2}}, "low is 3, above high, which is 2"},
        {{.kind = DIST_BIMODAL, .p = {1, 2, 1.5}}, "p_other is 1.5; it must be 0 to 1"},
        {{.kind = DIST_WEIBULL, .p = {1, 0}}, "shape is 0; it must be 0.05 to 1000"},
        {{.kind = DIST_EMPIRICAL}, "at least one point"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct errors e = ERRORS_NONE;

        ck_assert_int_eq(dist_check(&bad[i].d, &e), -1);
        ck_assert_uint_eq(e.count, 1);
        ck_assert_msg(strstr(e.item[0].text, bad[i].says) != NULL, "%s", e.item[0].text);
        ck_assert_int_eq(e.item[0].code, EXIT_INPUT);
        errors_free(&e);
    }
}
END_TEST

START_TEST(bad_tables)
{
    static const double falling[] = {0.5, 0.2, 1}, short_of_1[] = {0, 0.5, 0.9};
    static const double value[] = {1, 2, 3}, falling_value[] = {3, 2, 1}, p[] = {0, 0.5, 1};
    static const double third[] = {0.3, 0.3, 0.3}, half[] = {0.5, 0.5, 0.5};
    struct distribution d, bad_rest = dist_make(DIST_EXPONENTIAL, -1, 0, 0);
    struct errors e = ERRORS_NONE;

    ck_assert_int_eq(dist_make_empirical(&d, falling, value, 3, &e), -1);
    dist_free(&d);
    ck_assert_int_eq(dist_make_empirical(&d, short_of_1, value, 3, &e), -1);
    dist_free(&d);
    ck_assert_int_eq(dist_make_empirical(&d, p, falling_value, 3, &e), -1);
    dist_free(&d);
    ck_assert_int_eq(dist_make_points(&d, third, value, 3, NULL, &e), -1);
    dist_free(&d);
    ck_assert_int_eq(dist_make_points(&d, half, value, 3, NULL, &e), -1);
    dist_free(&d);
    ck_assert_int_eq(dist_make_points(&d, third, value, 3, &bad_rest, &e), -1);
    dist_free(&d);
    errors_free(&e);
}
END_TEST

START_TEST(infinite_means)
{
    struct distribution p = dist_make(DIST_PARETO, 0, 1, 1), g = dist_make(DIST_GEV, 0, 1, 1.5);

    ck_assert(dist_mean(&p) == INFINITY && dist_mean(&g) == INFINITY);
}
END_TEST

/* Same stream: a scaled distribution draws scaled values (common random numbers). */
START_TEST(scaling)
{
    for (int i = 0; i < ROWS; i++) {
        struct distribution d = dist_make(rows[i].kind, rows[i].p[0], rows[i].p[1], rows[i].p[2]);
        struct distribution s = dist_copy(&d);

        dist_scale(&s, 8);
        for (int k = 0; k < 100; k++) {
            struct rng same = stream;
            double x = dist_draw(&d, &same), y = dist_draw(&s, &stream);

            ck_assert_msg(fabs(y - 8 * x) <= 1e-12 * fabs(y), "%s", rows[i].name);
        }
    }
}
END_TEST

START_TEST(durations)
{
    struct distribution negative = dist_make(DIST_CONSTANT, -5, 0, 0);
    struct distribution half = dist_make(DIST_CONSTANT, 2.5, 0, 0);
    struct distribution huge = dist_make(DIST_CONSTANT, 1e30, 0, 0);

    ck_assert_int_eq(dist_draw_time(&negative, &stream), 0);
    ck_assert_int_eq(dist_draw_time(&half, &stream), 3);
    ck_assert_int_eq(dist_draw_time(&huge, &stream), INT64_C(1) << 53);
}
END_TEST

/* The very bits of 2,000 draws of each row, recorded with gcc 12 -O2: every compiler, level and
 * processor must reproduce them. */
START_TEST(same_bits_everywhere)
{
    static double x[2000 * ROWS];
    uint64_t hash;

    for (int i = 0; i < ROWS; i++) {
        struct distribution d = dist_make(rows[i].kind, rows[i].p[0], rows[i].p[1], rows[i].p[2]);

        for (int k = 0; k < 2000; k++)
            x[i * 2000 + k] = dist_draw(&d, &stream);
    }
    hash = hash_bytes(0, 0, x, sizeof x);
    ck_assert_msg(hash == UINT64_C(0x32af5d6280113412), "0x%016llx", (unsigned long long)hash);
}
END_TEST

Suite *suite_distribution(void);

Suite *suite_distribution(void)
{
    Suite *s = suite_create("distribution");
    TCase *tc = tcase_create("draws");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(tc, agrees_with_gsl, 0, ROWS);
    tcase_add_test(tc, test_has_power);
    tcase_add_test(tc, constant_and_bimodal);
    tcase_add_test(tc, empirical);
    tcase_add_test(tc, facebook_etc);
    tcase_add_test(tc, scaling);
    tcase_add_test(tc, durations);
    tcase_add_test(tc, same_bits_everywhere);
    suite_add_tcase(s, tc);
    tc = tcase_create("table");
    tcase_add_test(tc, every_kind_is_described);
    tcase_add_test(tc, bad_parameters);
    tcase_add_test(tc, bad_tables);
    tcase_add_test(tc, infinite_means);
    suite_add_tcase(s, tc);
    return s;
}
