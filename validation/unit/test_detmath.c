/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deterministic mathematics: accuracy against glibc and GSL, and the very bits against recorded
 * fingerprints. The fingerprints must hold under every compiler, level and processor; to see
 * that they do not depend on fused multiply-add:
 *   GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2_Usable,-AVX2 build/unit detmath
 */
#include "sim/detmath.h"
#include "sim/random.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DRAWS 200000

static struct rng stream;

static void setup(void)
{
    rng_init(&stream, 1, 0, "test", "detmath");
}

static double between(double low, double high)
{
    return low + (high - low) * rng_uniform(&stream);
}

/* A positive double of any size, subnormals included. */
static double any_positive(void)
{
    double mantissa = between(0.5, 1); /* first: C leaves the order of arguments open */

    return ldexp(mantissa, (int)rng_below(&stream, 2090) - 1070);
}

static double relative(double x, double reference)
{
    if (x == reference)
        return 0;
    return fabs(x - reference) / fabs(reference);
}

/* Asserting only what fails: Check notes each assertion, at more than the cost of the test. */
#define ck_cheap(condition)                                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            ck_abort_msg("%s", #condition);                                                        \
    } while (0)

#define ck_close(x, reference, tolerance)                                                          \
    do {                                                                                           \
        double x_ = (x), r_ = (reference);                                                         \
        if (!(relative(x_, r_) <= (tolerance)))                                                    \
            ck_abort_msg("%s: %.17g, reference %.17g, error %.3g", #x, x_, r_, relative(x_, r_));  \
    } while (0)

START_TEST(log_agrees)
{
    for (int i = 0; i < DRAWS; i++) {
        double x = any_positive(), near = between(0.4, 2.5);
        double close = 1 + (rng_bernoulli(&stream, 0.5) ? 1 : -1) * ldexp(1, -(i % 53));

        ck_close(det_log(x), log(x), 1e-15);
        ck_close(det_log(near), log(near), 2e-15);
        if (close > 0)
            ck_close(det_log(close), log(close), 2e-15);
    }
    ck_assert(det_log(1) == 0);
    ck_assert(det_log(0) == -INFINITY && det_log(INFINITY) == INFINITY);
    ck_assert(isnan(det_log(-1)) && isnan(det_log(NAN)));
    ck_close(det_log(5e-324), log(5e-324), 1e-15);
}
END_TEST

START_TEST(exp_agrees)
{
    for (int i = 0; i < DRAWS; i++) {
        double x = between(-708, 709.7), small = between(-1, 1);
        double tiny = between(-1, 1) * ldexp(1, -(i % 300));

        ck_close(det_exp(x), exp(x), 1e-15);
        ck_close(det_exp(small), exp(small), 1e-15);
        ck_close(det_expm1(small), expm1(small), 3e-15);
        ck_close(det_expm1(tiny), expm1(tiny), 3e-15);
        ck_close(det_expm1(x), expm1(x), 3e-15);
    }
    ck_assert(det_exp(0) == 1 && det_expm1(0) == 0);
    ck_assert(det_exp(709.8) == INFINITY && det_exp(1e300) == INFINITY);
    ck_assert(det_exp(-745.2) == 0 && det_exp(-INFINITY) == 0);
    ck_assert(isnan(det_exp(NAN)));
    ck_assert_msg(fabs(det_exp(-740) - exp(-740)) <= 5e-324, "subnormal result");
}
END_TEST

START_TEST(pow_agrees)
{
    for (int i = 0; i < DRAWS; i++) {
        double x = any_positive(), y = between(-700, 700) / (fabs(log(x)) + 1e-3);
        double base = between(0.5, 2), power = between(-900, 900);

        ck_close(det_pow(x, y), pow(x, y), 5e-15);
        ck_close(det_pow(base, power), pow(base, power), 5e-15);
    }
    ck_close(det_pow(1 + 0x1p-52, 3e18), pow(1 + 0x1p-52, 3e18), 5e-15);
    ck_assert(det_pow(0, 0) == 1 && det_pow(INFINITY, 0) == 1 && det_pow(1, 1e300) == 1);
    ck_assert(det_pow(0, 2) == 0 && det_pow(0, -2) == INFINITY);
    ck_assert(det_pow(INFINITY, -1) == 0 && det_pow(INFINITY, 2) == INFINITY);
    ck_assert(det_pow(2, 1024) == INFINITY && det_pow(2, -1080) == 0);
    ck_assert(isnan(det_pow(-1, 2)) && isnan(det_pow(NAN, 2)) && isnan(det_pow(2, NAN)));
    ck_close(det_pow(2, 10), 1024, 1e-15);
}
END_TEST

START_TEST(gamma_agrees)
{
    for (int i = 0; i < DRAWS / 10; i++) {
        double x = between(1e-3, 171), large = between(1, 1e9);

        ck_close(det_gamma(x), gsl_sf_gamma(x), 1e-13);
        ck_cheap(fabs(det_log_gamma(x) - lgamma(x)) <= 1e-13 * fmax(1, fabs(lgamma(x))));
        ck_cheap(fabs(det_log_gamma(large) - lgamma(large)) <= 1e-13 * fmax(1, lgamma(large)));
    }
    for (double x = 1, factorial = 1; x < 20; factorial *= x, x += 1)
        ck_close(det_gamma(x), factorial, 5e-15);
    ck_assert(det_gamma(172.5) == INFINITY && isnan(det_gamma(-1)) && isnan(det_log_gamma(0)));
}
END_TEST

START_TEST(normal_agrees)
{
    for (int i = 0; i < DRAWS / 4; i++) {
        double p = rng_uniform(&stream), tail = pow(10, -between(1, 300)), z = between(-8, 8);

        ck_close(det_normal_quantile(p), gsl_cdf_ugaussian_Pinv(p), 1e-14);
        ck_close(det_normal_quantile(tail), gsl_cdf_ugaussian_Pinv(tail), 1e-14);
        ck_cheap(fabs(det_normal_cdf(z) - gsl_cdf_ugaussian_P(z)) < 1e-14);
    }
    ck_assert(det_normal_quantile(0.5) == 0);
    ck_assert(det_normal_quantile(0) == -INFINITY && det_normal_quantile(1) == INFINITY);
    ck_assert(isnan(det_normal_quantile(-0.1)) && isnan(det_normal_cdf(NAN)));
    ck_assert(det_normal_cdf(-50) == 0 && det_normal_cdf(50) == 1 && det_normal_cdf(0) == 0.5);
}
END_TEST

START_TEST(beta_agrees)
{
    for (int i = 0; i < DRAWS / 10; i++) {
        double a = pow(10, between(-1, 3)), b = pow(10, between(-1, 3));
        double x = det_beta_quantile(rng_uniform(&stream), a, b);
        double p = gsl_cdf_beta_P(x, a, b), q = gsl_cdf_beta_Q(x, a, b);

        if (p < 0.5)
            ck_close(det_beta_cdf(x, a, b), p, 1e-10);
        else
            ck_cheap(fabs(1 - det_beta_cdf(x, a, b) - q) < 1e-11); /* GSL's own error */
    }
    ck_assert(det_beta_cdf(-1, 2, 3) == 0 && det_beta_cdf(2, 2, 3) == 1);
    ck_assert(isnan(det_beta_cdf(0.5, 0, 1)) && isnan(det_beta_quantile(2, 1, 1)));
}
END_TEST

/* Closed forms that hold where GSL does not reach: k = 0 of very many trials. */
START_TEST(beta_closed_forms)
{
    for (double n = 1; n < 1e12; n *= 10) {
        ck_close(det_beta_quantile(0.025, 1, n), -expm1(log1p(-0.025) / n), 1e-11);
        ck_close(det_beta_cdf(1 / n, 1, n), -expm1(n * log1p(-1 / n)), 1e-11);
    }
    for (double a = 0.5; a < 1e10; a *= 7)
        ck_close(det_beta_cdf(0.5, a, a), 0.5, 1e-9);
    for (double p = 0.01; p < 1; p += 0.01) /* arcsine law */
        ck_close(det_beta_quantile(p, 0.5, 0.5), pow(sin(M_PI / 2 * p), 2), 1e-12);
}
END_TEST

START_TEST(beta_inverts)
{
    for (int i = 0; i < 2000; i++) {
        double k = (double)rng_below(&stream, 50), n = k + pow(10, between(0, 9));
        double p = between(0.001, 0.999), x = det_beta_quantile(p, k + 0.5, n - k + 0.5);

        ck_cheap(x > 0 && x < 1);
        ck_assert_msg(fabs(det_beta_cdf(x, k + 0.5, n - k + 0.5) - p) < 1e-9,
                      "k %g n %g p %g: x %g gives %g", k, n, p, x,
                      det_beta_cdf(x, k + 0.5, n - k + 0.5));
    }
}
END_TEST

START_TEST(t_agrees)
{
    static const double p[] = {1e-6, 0.005, 0.025, 0.05, 0.3, 0.5, 0.6, 0.9, 0.975, 0.995, 0.9999};

    for (double df = 1; df < 3e6; df = df < 50 ? df + 1 : df * 1.7)
        for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
            double t = det_t_quantile(p[i], df);

            ck_assert_msg(fabs(t - gsl_cdf_tdist_Pinv(p[i], df)) < 1e-9 * (1 + fabs(t)),
                          "df %g p %g: %.17g, GSL %.17g", df, p[i], t,
                          gsl_cdf_tdist_Pinv(p[i], df));
            ck_close(det_t_cdf(t, df), p[i], 1e-10);
            ck_close(det_t_cdf(t, df), gsl_cdf_tdist_P(t, df), 1e-10);
        }
    for (double q = 0.51; q < 1; q += 0.01) /* Cauchy; and df = 2 */
        ck_close(det_t_quantile(q, 1), tan(M_PI * (q - 0.5)), 1e-12);
    for (double q = 0.51; q < 1; q += 0.01)
        ck_close(det_t_quantile(q, 2), (2 * q - 1) / sqrt(2 * q * (1 - q)), 1e-12);
    ck_assert(det_t_quantile(0, 5) == -INFINITY && det_t_quantile(1, 5) == INFINITY);
    ck_assert(det_t_cdf(0, 3) == 0.5 && isnan(det_t_cdf(1, 0)));
    ck_close(det_t_quantile(1e-12, 0.5), -det_t_quantile(1 - 1e-12, 0.5), 1e-3);
}
END_TEST

/* ---- The bits ---- */

static double f_log(void)
{
    return det_log(any_positive());
}

static double f_exp(void)
{
    return det_exp(between(-745, 709));
}

static double f_expm1(void)
{
    return det_expm1(between(-2, 2));
}

static double f_pow(void)
{
    double x = any_positive();

    return det_pow(x, between(-2, 2));
}

static double f_gamma(void)
{
    return det_gamma(between(0.01, 171));
}

static double f_log_gamma(void)
{
    return det_log_gamma(any_positive());
}

static double f_normal(void)
{
    return det_normal_cdf(det_normal_quantile(rng_uniform(&stream)));
}

static double f_beta(void)
{
    double a = between(0.5, 300), b = between(0.5, 30);

    return det_beta_quantile(rng_uniform(&stream), a, b);
}

static double f_t(void)
{
    double p = rng_uniform(&stream);

    return det_t_cdf(det_t_quantile(p, between(1, 100)), 7);
}

/* What 5,000 results of each give when hashed, recorded with gcc 12 -O2. */
static const struct {
    const char *name;
    double (*draw)(void);
    uint64_t fingerprint;
} functions[] = {
    {"log", f_log, UINT64_C(0xb3866361a80a5e45)},
    {"exp", f_exp, UINT64_C(0x361893ac71b08945)},
    {"expm1", f_expm1, UINT64_C(0x166f95df7b29454d)},
    {"pow", f_pow, UINT64_C(0xff6bbbf1e53aa4fc)},
    {"gamma", f_gamma, UINT64_C(0xb74591ae5a1a6a3b)},
    {"log_gamma", f_log_gamma, UINT64_C(0x743c19616226bc6b)},
    {"normal", f_normal, UINT64_C(0x0f71a2a2f4e21ec7)},
    {"beta", f_beta, UINT64_C(0x3ecc5b51b5028530)},
    {"t", f_t, UINT64_C(0xd027a9f3a1461abc)},
};

START_TEST(same_bits_everywhere)
{
    static double result[5000];
    uint64_t hash;

    for (size_t i = 0; i < sizeof result / sizeof *result; i++)
        result[i] = functions[_i].draw();
    hash = hash_bytes(0, 0, result, sizeof result);
    ck_assert_msg(hash == functions[_i].fingerprint, "{\"%s\", f_%s, UINT64_C(0x%016llx)},",
                  functions[_i].name, functions[_i].name, (unsigned long long)hash);
}
END_TEST

Suite *suite_detmath(void);

Suite *suite_detmath(void)
{
    Suite *s = suite_create("detmath");
    TCase *tc = tcase_create("accuracy");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, log_agrees);
    tcase_add_test(tc, exp_agrees);
    tcase_add_test(tc, pow_agrees);
    tcase_add_test(tc, gamma_agrees);
    tcase_add_test(tc, normal_agrees);
    tcase_add_test(tc, beta_agrees);
    tcase_add_test(tc, beta_closed_forms);
    tcase_add_test(tc, beta_inverts);
    tcase_add_test(tc, t_agrees);
    suite_add_tcase(s, tc);
    tc = tcase_create("bits");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(tc, same_bits_everywhere, 0, (int)(sizeof functions / sizeof *functions));
    suite_add_tcase(s, tc);
    return s;
}
