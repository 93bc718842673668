/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paired tests against GSL, Holm's adjustment on known cases, races. */
#include "sim/compare.h"

#include "sim/random.h"
#include "sim/sample.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

static struct rng stream;

static void setup(void)
{
    rng_init(&stream, 2, 0, "test", "compare");
}

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fmax(1e-3, fabs(y));
}

START_TEST(t_test)
{
    double a[15], b[15], d[15], t;

    for (int i = 0; i < 15; i++) {
        a[i] = 3 + rng_normal(&stream);
        b[i] = 2.5 + rng_normal(&stream);
        d[i] = a[i] - b[i];
    }
    t = gsl_stats_mean(d, 1, 15) / (gsl_stats_sd(d, 1, 15) / sqrt(15));
    ck_assert(near(paired_t_test(a, b, 15, GREATER), gsl_cdf_tdist_Q(t, 14)));
    ck_assert(near(paired_t_test(a, b, 15, LESS), gsl_cdf_tdist_P(t, 14)));
    ck_assert(near(paired_t_test(a, b, 15, TWO_SIDED), 2 * gsl_cdf_tdist_Q(fabs(t), 14)));
    ck_assert(near(paired_t_test(b, a, 15, LESS), paired_t_test(a, b, 15, GREATER)));
    ck_assert(isnan(paired_t_test(a, b, 1, TWO_SIDED)));
    ck_assert(paired_t_test(a, a, 15, TWO_SIDED) == 1 && paired_t_test(a, a, 15, LESS) == 1);
    for (int i = 0; i < 15; i++)
        b[i] = 3;
    for (int i = 0; i < 15; i++)
        a[i] = 4; /* always better by the same: certain */
    ck_assert(paired_t_test(a, b, 15, GREATER) == 0 && paired_t_test(a, b, 15, LESS) == 1 &&
              paired_t_test(a, b, 15, TWO_SIDED) == 0);
}
END_TEST

START_TEST(sign_test)
{
    for (unsigned n = 1; n <= 40; n++)
        for (unsigned k = 0; k <= n; k++) {
            double a[41], b[41] = {0}, at_least;

            for (unsigned i = 0; i < n; i++)
                a[i] = i < k ? 1 : -1;
            a[n] = 0; /* a tie counts for nothing */
            at_least = k ? gsl_cdf_binomial_Q(k - 1, 0.5, n) : 1;
            if (!near(paired_sign_test(a, b, n + 1, GREATER), at_least) ||
                !near(paired_sign_test(a, b, n + 1, LESS), gsl_cdf_binomial_P(k, 0.5, n)) ||
                !near(paired_sign_test(a, b, n + 1, TWO_SIDED),
                      fmin(1, 2 * fmin(at_least, gsl_cdf_binomial_P(k, 0.5, n)))))
                ck_abort_msg("%u of %u", k, n);
        }
    ck_assert(paired_sign_test((double[]){1, 2}, (double[]){1, 2}, 2, TWO_SIDED) == 1);
}
END_TEST

START_TEST(holm)
{
    /* the example of many textbooks: 0.01 0.04 0.03 0.005 -> 0.03 0.06 0.06 0.02 */
    double p[] = {0.01, 0.04, 0.03, 0.005}, out[4];

    holm_adjust(p, out, 4);
    ck_assert(near(out[0], 0.03) && near(out[1], 0.06) && near(out[2], 0.06) && near(out[3], 0.02));
    holm_adjust(p, p, 4); /* in place */
    ck_assert(near(p[0], 0.03) && near(p[3], 0.02));
    p[0] = 0.7;
    holm_adjust(p, p, 1);
    ck_assert(p[0] == 0.7);
    p[0] = p[1] = 0.8;
    holm_adjust(p, p, 2);
    ck_assert(p[0] == 1 && p[1] == 1);
    holm_adjust(p, p, 0);
}
END_TEST

enum { VARIANTS = 6, REPLICATIONS = 60 };

static double scores[VARIANTS][REPLICATIONS];
static const double *score[VARIANTS];

/* Common random numbers: a large part of the noise is shared. */
static void draw_scores(double step)
{
    for (int i = 0; i < REPLICATIONS; i++) {
        double common = 5 * rng_normal(&stream);

        for (int v = 0; v < VARIANTS; v++)
            scores[v][i] = 100 + step * v + common + rng_normal(&stream);
    }
    for (int v = 0; v < VARIANTS; v++)
        score[v] = scores[v];
}

START_TEST(race_drops_the_worse)
{
    struct race r = {.alpha = 0.05, .first = 10, .looks = 5};
    bool alive[VARIANTS] = {true, true, true, true, true, true};

    draw_scores(2);
    ck_assert_uint_eq(race_look(&r, score, alive, VARIANTS, 9), 0);
    ck_assert_uint_eq(race_look(&r, score, alive, VARIANTS, 60), VARIANTS - 1);
    ck_assert(alive[0]);
    ck_assert_uint_eq(race_best(&r, score, alive, VARIANTS, 60), 0);
    ck_assert_uint_eq(race_look(&r, score, alive, VARIANTS, 60), 0); /* never the last */
    for (int v = 0; v < VARIANTS; v++)
        alive[v] = true;
    r.larger_is_better = true;
    r.test = RACE_SIGN;
    ck_assert_uint_eq(race_look(&r, score, alive, VARIANTS, 60), VARIANTS - 1);
    ck_assert(alive[VARIANTS - 1]);
}
END_TEST

/* All equal: hardly ever is any particular one, which might be the best, dropped. */
START_TEST(race_spares_equals)
{
    struct race r = {.alpha = 0.05, .first = 10, .looks = 6};
    int lost = 0;

    for (int round = 0; round < 400; round++) {
        bool alive[VARIANTS] = {true, true, true, true, true, true};

        draw_scores(0);
        for (size_t n = 10; n <= REPLICATIONS; n += 10)
            race_look(&r, score, alive, VARIANTS, n);
        lost += !alive[2];
    }
    ck_assert_msg(lost <= 34, "lost %d of 400", lost); /* binomial(400, 0.05), 0.2 % */
}
END_TEST

START_TEST(race_of_deterministic_scores)
{
    struct race r = {.alpha = 0.05, .first = 5, .looks = 1};
    bool alive[2] = {true, true};
    static const double a[] = {1, 1, 1, 1, 1}, b[] = {2, 2, 2, 2, 2};
    const double *pair[] = {a, b}, *equal[] = {a, a};

    ck_assert_uint_eq(race_look(&r, equal, alive, 2, 5), 0);
    ck_assert_uint_eq(race_look(&r, pair, alive, 2, 5), 1);
    ck_assert(alive[0] && !alive[1]);
}
END_TEST

Suite *suite_compare(void);

Suite *suite_compare(void)
{
    Suite *s = suite_create("compare");
    TCase *tc = tcase_create("tests");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, t_test);
    tcase_add_test(tc, sign_test);
    tcase_add_test(tc, holm);
    tcase_add_test(tc, race_drops_the_worse);
    tcase_add_test(tc, race_spares_equals);
    tcase_add_test(tc, race_of_deterministic_scores);
    suite_add_tcase(s, tc);
    return s;
}
