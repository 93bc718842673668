/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Block bootstrap: the resampling itself, its rules, and the figures of association. */
#include "sim/bootstrap.h"

#include "sim/sample.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rng stream;

static void setup(void)
{
    rng_init(&stream, 9, 0, "test", "bootstrap");
}

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fmax(1, fabs(y));
}

static double mean_of_rows(const double *rows, size_t n, size_t width, void *context)
{
    (void)context;
    (void)width;
    return mean_of(rows, n);
}

static double mean_of_sums(const double *sums, size_t n, size_t width, void *context)
{
    (void)context;
    (void)width;
    return sums[0] / (double)n;
}

static void markov_rounds(double *x, size_t n, double enter, double leave)
{
    bool late = rng_bernoulli(&stream, enter / (enter + leave));

    for (size_t i = 0; i < n; i++) {
        x[i] = late;
        late = rng_bernoulli(&stream, late ? 1 - leave : enter);
    }
}

/* Both ways of computing draw the same resamples, for both kinds of blocks and any remainder. */
START_TEST(sums_and_rows_agree)
{
    static double x[1003];

    markov_rounds(x, 1003, 0.05, 0.3);
    for (size_t block = 1; block < 100; block = 3 * block + 1)
        for (int disjoint = 0; disjoint < 2; disjoint++) {
            struct bootstrap b = {
                .block = block, .resamples = 200, .disjoint = disjoint, .level = 0.95};
            struct rng one = stream, other = stream;
            struct interval i = bootstrap_interval(&b, x, 1003, 1, mean_of_rows, NULL, &one);
            struct interval j = bootstrap_sums(&b, x, 1003, 1, mean_of_sums, NULL, &other);

            ck_assert(interval_given(&i) && near(i.estimate, mean_of(x, 1003)));
            ck_assert(near(i.low, j.low) && near(i.high, j.high) && near(i.estimate, j.estimate));
            ck_assert(i.low < i.estimate && i.estimate < i.high);
            ck_assert_mem_eq(&one, &other, sizeof one);
        }
}
END_TEST

/* A resample must be made of whole blocks of consecutive rows, around the end if moving. */
struct seen {
    size_t block;
    bool disjoint, bad;
    double starts[100];
};

static double inspect(const double *rows, size_t n, size_t width, void *context)
{
    struct seen *seen = context;

    if (width != 2)
        seen->bad = true;
    for (size_t i = 0; i < n; i++) {
        double expected;

        if (rows[2 * i + 1] != -rows[2 * i])
            seen->bad = true; /* rows are kept together */
        if (i % seen->block == 0) {
            seen->starts[(size_t)rows[2 * i]]++;
            if (seen->disjoint && fmod(rows[2 * i], (double)seen->block) != 0)
                seen->bad = true;
            continue;
        }
        expected = fmod(rows[2 * i - 2] + 1, 100);
        if (rows[2 * i] != expected)
            seen->bad = true;
    }
    return rows[0];
}

START_TEST(blocks_are_whole)
{
    double rows[200];

    for (int i = 0; i < 100; i++) {
        rows[2 * i] = i;
        rows[2 * i + 1] = -i;
    }
    for (int disjoint = 0; disjoint < 2; disjoint++) {
        struct seen seen = {.block = 7, .disjoint = disjoint};
        struct bootstrap b = {.block = 7, .resamples = 2000, .disjoint = disjoint, .level = 0.9};
        double chi = 0, expected;

        bootstrap_interval(&b, rows, 100, 2, inspect, &seen, &stream);
        ck_assert(!seen.bad);
        if (disjoint)
            continue;
        seen.starts[0]--; /* the original series was inspected too */
        for (int i = 7; i < 100; i += 7)
            seen.starts[i]--;
        expected = 2000 * 15 / 100.0;
        for (int i = 0; i < 100; i++)
            chi += (seen.starts[i] - expected) * (seen.starts[i] - expected) / expected;
        ck_assert_msg(chi < 149, "chi-square %g", chi); /* 99 degrees of freedom, 0.1 % */
    }
}
END_TEST

/* With few blocks the interval must be as wide as Student's t would have it, not as the normal. */
START_TEST(as_wide_as_t)
{
    struct running ratio = {0};
    double x[12];

    for (int r = 0; r < 200; r++) {
        struct bootstrap b = {.block = 1, .resamples = 1000, .level = 0.95};
        struct interval i, t;

        for (int k = 0; k < 12; k++)
            x[k] = rng_normal(&stream);
        i = bootstrap_sums(&b, x, 12, 1, mean_of_sums, NULL, &stream);
        t = interval_mean(x, 12, 0.95);
        running_add(&ratio, interval_half(&i) / interval_half(&t));
    }
    ck_assert_msg(fabs(ratio.mean - 1) < 0.02, "%g", ratio.mean);
}
END_TEST

static double never(const double *rows, size_t n, size_t width, void *context)
{
    (void)rows;
    (void)n;
    (void)width;
    (void)context;
    return NAN;
}

START_TEST(rules)
{
    static double x[1000];
    struct bootstrap b = {.block = 101, .level = 0.95};
    struct interval i;

    markov_rounds(x, 1000, 0.1, 0.5);
    i = bootstrap_interval(&b, x, 1000, 1, mean_of_rows, NULL, &stream);
    ck_assert(i.none == INTERVAL_FEW_VALUES && i.need == 1010 && isnan(i.low));
    ck_assert(near(i.estimate, mean_of(x, 1000)));
    i = bootstrap_sums(&b, x, 1000, 1, mean_of_sums, NULL, &stream);
    ck_assert(i.none == INTERVAL_FEW_VALUES && i.need == 1010);
    b.block = 5;
    ck_assert(bootstrap_interval(&b, x, 1000, 1, never, NULL, &stream).none == INTERVAL_NO_SPREAD);
    memset(x, 0, sizeof x);
    ck_assert(bootstrap_interval(&b, x, 1000, 1, mean_of_rows, NULL, &stream).none ==
              INTERVAL_NO_SPREAD);
    b.block = 0; /* a random walk: the right block is most of the series */
    for (int k = 1; k < 1000; k++)
        x[k] = x[k - 1] + rng_normal(&stream);
    i = bootstrap_sums(&b, x, 1000, 1, mean_of_sums, NULL, &stream);
    ck_assert(i.none == INTERVAL_FEW_VALUES && i.need > 1000);
}
END_TEST

START_TEST(block_length)
{
    static double x[10000];
    struct running length = {0};

    for (int r = 0; r < 20; r++) {
        x[0] = rng_normal(&stream);
        for (int i = 1; i < 10000; i++)
            x[i] = 0.7 * x[i - 1] + rng_normal(&stream);
        running_add(&length, (double)bootstrap_block(x, 10000));
    }
    /* (6 n)^(1/3) (0.7 / 0.51)^(2/3) = 48.4 */
    ck_assert_msg(fabs(length.mean - 48.4) < 1.5, "%g", length.mean);
    for (int i = 0; i < 10000; i++)
        x[i] = i % 2; /* negative correlation */
    ck_assert_uint_eq(bootstrap_block(x, 10000), 1);
    ck_assert_uint_eq(bootstrap_block(x, 2), 1);
}
END_TEST

/* Two replicas: 1000 rounds of which 40 late in the first, 50 in the second, 20 in both. */
START_TEST(association_figures)
{
    static double delay[2000];
    struct bootstrap b = {.block = 1, .level = 0.95};
    struct association a;
    double p1 = 0.04, p2 = 0.05, both = 0.02;

    for (int i = 0; i < 1000; i++) {
        delay[2 * i] = i % 50 < 2 ? 9 : 1;
        delay[2 * i + 1] = i % 100 < 2 ? INFINITY : i % 100 >= 97 ? 9 : 8; /* 8 is the deadline */
    }
    a = association_of(&b, delay, 1000, 2, 8, &stream);
    ck_assert_uint_eq(a.joint, 20);
    ck_assert(near(a.independent, p1 * p2));
    ck_assert(near(a.all_late.estimate, both));
    ck_assert(near(a.lift.estimate, both / (p1 * p2)));
    ck_assert(near(a.conditional.estimate, (both / p1 + both / p2) / 2));
    ck_assert(near(a.phi.estimate, (both - p1 * p2) / sqrt(p1 * (1 - p1) * p2 * (1 - p2))));
    ck_assert(interval_given(&a.lift) && a.lift.low > 1 && a.lift.high > a.lift.estimate);
    ck_assert(interval_given(&a.all_late) && interval_given(&a.conditional) &&
              interval_given(&a.phi));
}
END_TEST

START_TEST(association_needs_events)
{
    static double delay[3000];
    struct bootstrap b = {.block = 1, .level = 0.95};
    struct association a;

    for (int i = 0; i < 3000; i++)
        delay[i] = 1;
    for (int i = 0; i < 5; i++) /* 5 rounds with all three late */
        delay[300 * i] = delay[300 * i + 1] = delay[300 * i + 2] = 9;
    for (int i = 0; i < 20; i++) /* 20 more with the first two late */
        delay[30 + 60 * i] = delay[30 + 60 * i + 1] = 9;
    a = association_of(&b, delay, 1000, 3, 8, &stream);
    ck_assert_uint_eq(a.joint, 5);
    ck_assert(a.lift.none == INTERVAL_FEW_EVENTS && a.lift.need == 2001 && isnan(a.lift.low));
    ck_assert(a.all_late.none == INTERVAL_FEW_EVENTS);
    ck_assert(near(a.lift.estimate, 0.005 / (0.025 * 0.025 * 0.005)));
    ck_assert(interval_given(&a.phi));
    ck_assert(near(a.conditional.estimate, (1 + 1 + 2 * (5.0 / 25 + 5.0 / 5)) / 6));
    ck_assert(near(a.phi.estimate, (1 + 2 * (5 * 1000 - 25 * 5) / sqrt(25.0 * 975 * 5 * 995)) / 3));
    for (int i = 0; i < 3000; i++)
        delay[i] = 1;
    a = association_of(&b, delay, 1000, 3, 8, &stream);
    ck_assert(a.lift.none == INTERVAL_FEW_EVENTS && a.lift.need == 0 && isnan(a.lift.estimate));
    ck_assert(a.all_late.estimate == 0);
}
END_TEST

/* Comonotone delays have a tail dependence of 1, independent ones of 1 - q. */
START_TEST(tail)
{
    enum { N = 20000 };
    static double delay[2 * N];
    struct bootstrap b = {.block = 1, .level = 0.95};
    struct interval i;

    for (int k = 0; k < N; k++) {
        delay[2 * k] = rng_exponential(&stream, 1);
        delay[2 * k + 1] = rng_exponential(&stream, 7);
    }
    i = tail_dependence(&b, delay, N, 2, 0, 1, 0.9, &stream);
    ck_assert(interval_given(&i) && i.low < 0.1 && i.high > 0.1 && i.high - i.low < 0.05);
    for (int k = 0; k < N; k++)
        delay[2 * k + 1] = 3 * delay[2 * k];
    i = tail_dependence(&b, delay, N, 2, 0, 1, 0.99, &stream);
    ck_assert(i.estimate == 1 && i.none == INTERVAL_NO_SPREAD); /* certain in every resample */
    i = tail_dependence(&b, delay, N, 2, 0, 1, 0.9999, &stream);
    ck_assert(i.none == INTERVAL_FEW_EVENTS);
}
END_TEST

Suite *suite_bootstrap(void);

Suite *suite_bootstrap(void)
{
    Suite *s = suite_create("bootstrap");
    TCase *tc = tcase_create("resampling");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, sums_and_rows_agree);
    tcase_add_test(tc, blocks_are_whole);
    tcase_add_test(tc, as_wide_as_t);
    tcase_add_test(tc, rules);
    tcase_add_test(tc, block_length);
    suite_add_tcase(s, tc);
    tc = tcase_create("association");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, association_figures);
    tcase_add_test(tc, association_needs_events);
    tcase_add_test(tc, tail);
    suite_add_tcase(s, tc);
    return s;
}
