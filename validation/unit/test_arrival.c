/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrival processes: rates and the index of dispersion (variance of the count in a window over its
 * mean) against closed forms. Seeds are fixed; limits are 4 standard errors.
 */
#include "workloads/arrival.h"

#include "sim/sample.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counts of arrivals in consecutive windows. */
static void count(const struct arrival_process *p, sim_time window, size_t windows, double *counts)
{
    struct arrival a;
    sim_time now = 0;

    memset(counts, 0, windows * sizeof *counts);
    arrival_start(&a, p, 0, 5, 0, "client", "arrivals");
    for (;;) {
        sim_time next = arrival_next(&a, now);

        if (next < now) /* asserting each time would cost more than the test */
            ck_abort_msg("the next arrival is before the last one");
        if (next >= (sim_time)windows * window)
            return;
        counts[next / window]++;
        now = next;
    }
}

static void check_counts(const struct arrival_process *p, sim_time window, size_t windows,
                         double rate, double dispersion)
{
    double *counts = calloc(windows, sizeof *counts), mean, expected, variance;
    double n = (double)windows;
    struct errors e = ERRORS_NONE;

    ck_assert_int_eq(arrival_check(p, &e), 0);
    count(p, window, windows, counts);
    mean = mean_of(counts, windows);
    variance = variance_of(counts, windows);
    expected = rate * (double)window / NS_PER_S;
    /* windows are correlated in bursty processes: as many as the dispersion says count as one */
    ck_assert_msg(fabs(mean - expected) < 4 * sqrt(fmax(dispersion, 0.01) * expected / n) * 1.5,
                  "%g arrivals per window, not %g", mean, expected);
    ck_assert_msg(fabs(variance / mean - dispersion) <
                      4 * 1.5 * fmax(dispersion, 0.05) * sqrt(2 / n),
                  "index of dispersion %g, not %g", variance / mean, dispersion);
    free(counts);
}

START_TEST(poisson)
{
    struct arrival_process p = {.kind = ARRIVAL_POISSON, .rate = 20000};

    ck_assert(arrival_rate(&p) == 20000);
    check_counts(&p, NS_PER_MS, 20000, 20000, 1);
}
END_TEST

START_TEST(poisson_without_rate)
{
    struct arrival_process p = {.kind = ARRIVAL_POISSON, .rate = 0};
    struct arrival a;

    arrival_start(&a, &p, 0, 1, 0, "client", "arrivals");
    ck_assert(arrival_next(&a, 0) == SIM_NEVER);
}
END_TEST

/* In long windows a renewal process has the squared coefficient of variation of its gap. */
START_TEST(renewal)
{
    struct arrival_process p = {.kind = ARRIVAL_RENEWAL};

    p.gap = dist_make(DIST_CONSTANT, 50000, 0, 0);
    ck_assert(fabs(arrival_rate(&p) - 20000) < 1e-9);
    check_counts(&p, NS_PER_MS, 1000, 20000, 0);
    p.gap = dist_make(DIST_GAMMA, 12500, 4, 0); /* Erlang-4 */
    check_counts(&p, 20 * NS_PER_MS, 5000, 20000, 0.25);
    p.gap = dist_make(DIST_HYPEREXPONENTIAL, 25000, 275000, 0.1); /* mean 50,000 */
    check_counts(&p, 100 * NS_PER_MS, 3000, 20000, 2 * (0.9 * 0.25 + 0.1 * 5.5 * 5.5) - 1);
}
END_TEST

/* Gaps below a nanosecond: dates are whole, the rate is kept. */
START_TEST(rounding_is_carried_on)
{
    struct arrival_process p = {.kind = ARRIVAL_RENEWAL,
                                .gap = dist_make(DIST_CONSTANT, 0.3, 0, 0)};
    struct arrival a;
    sim_time now = 0;

    arrival_start(&a, &p, 0, 1, 0, "client", "arrivals");
    for (int i = 0; i < 1000000; i++)
        now = arrival_next(&a, now);
    ck_assert(llabs(now - 300000) <= 1);
}
END_TEST

static struct arrival_process two_states(double r0, double r1, double leave0, double leave1)
{
    struct arrival_process p = {.kind = ARRIVAL_MMPP, .states = 2};

    p.state_rate[0] = r0;
    p.state_rate[1] = r1;
    p.leave[0][1] = leave0;
    p.leave[1][0] = leave1;
    return p;
}

/* Heffes, Lucantoni 1986, for two states and a window of t seconds. */
static double mmpp_dispersion(const struct arrival_process *p, double t)
{
    double r0 = p->leave[0][1], r1 = p->leave[1][0], sum = r0 + r1;
    double apart = p->state_rate[0] - p->state_rate[1];
    double weight = p->state_rate[0] * r1 + p->state_rate[1] * r0;

    return 1 +
           2 * apart * apart * r0 * r1 / (sum * sum * weight) * (1 + expm1(-sum * t) / (sum * t));
}

START_TEST(mmpp)
{
    struct arrival_process p = two_states(2000, 30000, 100, 400);

    ck_assert(fabs(arrival_rate(&p) - (0.8 * 2000 + 0.2 * 30000)) < 1e-9);
    check_counts(&p, 2 * NS_PER_MS, 40000, 7600, mmpp_dispersion(&p, 2e-3));
    check_counts(&p, 100 * NS_PER_MS, 3000, 7600, mmpp_dispersion(&p, 0.1));
    p = two_states(0, 10000, 50, 50); /* an interrupted Poisson process */
    check_counts(&p, 5 * NS_PER_MS, 20000, 5000, mmpp_dispersion(&p, 5e-3));
}
END_TEST

/* Three states round in a ring, and the balance equations of a full chain. */
START_TEST(stationary)
{
    struct arrival_process p = {.kind = ARRIVAL_MMPP, .states = 3, .state_rate = {1, 0, 0}};
    double pi[MMPP_STATES];

    p.leave[0][1] = 1;
    p.leave[1][2] = 2;
    p.leave[2][0] = 4;
    mmpp_stationary(&p, pi);
    ck_assert(fabs(pi[0] - 4.0 / 7) + fabs(pi[1] - 2.0 / 7) + fabs(pi[2] - 1.0 / 7) < 1e-15);
    p.states = 5;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            p.leave[i][j] = i == j ? 99 : 1 + (i * 7 + j * 3) % 11; /* the diagonal is not read */
    mmpp_stationary(&p, pi);
    for (int j = 0; j < 5; j++) {
        double in = 0, out = 0;

        for (int i = 0; i < 5; i++)
            if (i != j) {
                in += pi[i] * p.leave[i][j];
                out += pi[j] * p.leave[j][i];
            }
        ck_assert(fabs(in - out) < 1e-14);
    }
}
END_TEST

/* Each burst begins with an arrival, then as many as a Poisson process has during it. */
START_TEST(on_off)
{
    struct arrival_process p = {
        .kind = ARRIVAL_ON_OFF,
        .gap = dist_make(DIST_EXPONENTIAL, 10000, 0, 0),
        .on = dist_make(DIST_EXPONENTIAL, 200000, 0, 0),
        .off = dist_make(DIST_EXPONENTIAL, 800000, 0, 0),
    };
    /* A cycle has 1 + G arrivals, G geometric with mean 20: mean 21, variance 20 21. Cycles of mean
     * 1 ms and variance 0.04 + 0.64. In the long run counts have the variance of a cycle's N - (21
     * / 1 ms) T, per cycle (renewal reward); cov(N, T) = 20 / 0.2 0.04. */
    double variance = 420 + 441 * 0.68 - 2 * 21 * (20 / 0.2 * 0.04);

    ck_assert(fabs(arrival_rate(&p) - 21000) < 1e-9);
    check_counts(&p, 100 * NS_PER_MS, 4000, 21000, variance / 21);
}
END_TEST

/* Stationary from the start: over many replications, the first moments have the long-run rate. */
START_TEST(stationary_from_the_start)
{
    struct arrival_process bursts = {
        .kind = ARRIVAL_ON_OFF,
        .gap = dist_make(DIST_EXPONENTIAL, 10000, 0, 0),
        .on = dist_make(DIST_EXPONENTIAL, 200000, 0, 0),
        .off = dist_make(DIST_EXPONENTIAL, 800000, 0, 0),
    };
    struct arrival_process states = two_states(2000, 30000, 100, 400);
    const struct arrival_process *process[] = {&bursts, &states};

    for (int p = 0; p < 2; p++) {
        struct running seen = {0};
        double expected = arrival_rate(process[p]) * 1e-4;

        for (uint64_t r = 0; r < 20000; r++) {
            struct arrival a;
            sim_time now = 0;
            double n = -1;

            arrival_start(&a, process[p], 0, 1, r, "client", "arrivals");
            for (; now < 100000; n++)
                now = arrival_next(&a, now);
            running_add(&seen, n);
        }
        ck_assert_msg(fabs(seen.mean - expected) < 4 * running_deviation(&seen) / sqrt(20000),
                      "%g in the first 100 us, not %g", seen.mean, expected);
    }
}
END_TEST

START_TEST(on_off_regular)
{
    struct arrival_process p = {
        .kind = ARRIVAL_ON_OFF,
        .gap = dist_make(DIST_CONSTANT, 10, 0, 0),
        .on = dist_make(DIST_CONSTANT, 35, 0, 0),
        .off = dist_make(DIST_CONSTANT, 65, 0, 0),
    };
    struct arrival a;
    sim_time now, first;

    arrival_start(&a, &p, 0, 5, 0, "client", "arrivals");
    ck_assert(isnan(arrival_rate(&p)));
    for (now = 0; a.state == 0 || now < 100;) /* into a burst begun within the run */
        now = arrival_next(&a, now);
    while (now + 10 == (first = arrival_next(&a, now)))
        now = first;
    for (int burst = 0; burst < 3; burst++) {
        for (int i = 0; i < 3; i++) {
            now = arrival_next(&a, first + 10 * i);
            ck_assert_int_eq(now, first + 10 * (i + 1));
        }
        now = arrival_next(&a, now);
        ck_assert_int_eq(now, first + 100);
        first = now;
    }
}
END_TEST

START_TEST(trace)
{
    static sim_time date[] = {5, 5, 40};
    struct arrival_process p = {.kind = ARRIVAL_TRACE, .date = date, .dates = 3};
    struct arrival a;

    arrival_start(&a, &p, 1000, 1, 0, "client", "arrivals");
    ck_assert_int_eq(arrival_next(&a, 1000), 1005);
    ck_assert_int_eq(arrival_next(&a, 1005), 1005);
    ck_assert_int_eq(arrival_next(&a, 1005), 1040);
    ck_assert(arrival_next(&a, 1040) == SIM_NEVER && arrival_next(&a, 1040) == SIM_NEVER);
    ck_assert(isnan(arrival_rate(&p)));
    p.period = 100;
    ck_assert(arrival_rate(&p) == 3e7);
    arrival_start(&a, &p, 1000, 1, 0, "client", "arrivals");
    for (int i = 0; i < 3; i++)
        arrival_next(&a, 1000);
    ck_assert_int_eq(arrival_next(&a, 1040), 1105);
    ck_assert_int_eq(arrival_next(&a, 1120), 1120); /* the caller is late: never before now */
    ck_assert_int_eq(arrival_next(&a, 1120), 1140);
    ck_assert_int_eq(arrival_next(&a, 1140), 1205);
}
END_TEST

START_TEST(checks)
{
    static sim_time falling[] = {5, 4};
    struct arrival_process p[] = {
        {.kind = ARRIVAL_POISSON, .rate = -1},
        {.kind = ARRIVAL_RENEWAL, .gap = {.kind = DIST_CONSTANT}},
        {.kind = ARRIVAL_RENEWAL, .gap = {.kind = DIST_EXPONENTIAL, .p = {-3}}},
        two_states(0, 0, 1, 1),
        two_states(1, 1, 1, 0),
        {.kind = ARRIVAL_MMPP, .states = 1},
        {.kind = ARRIVAL_MMPP, .states = 9},
        {.kind = ARRIVAL_ON_OFF,
         .gap = {.kind = DIST_CONSTANT},
         .on = {.kind = DIST_CONSTANT, .p = {1}},
         .off = {.kind = DIST_CONSTANT, .p = {1}}},
        {.kind = ARRIVAL_ON_OFF,
         .gap = {.kind = DIST_CONSTANT, .p = {1}},
         .on = {.kind = DIST_CONSTANT},
         .off = {.kind = DIST_CONSTANT}},
        {.kind = ARRIVAL_TRACE, .date = falling, .dates = 2},
        {.kind = ARRIVAL_TRACE, .date = falling, .dates = 1, .period = 4},
    };

    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        struct errors e = ERRORS_NONE;

        ck_assert_msg(arrival_check(&p[i], &e) == -1, "process %zu", i);
        ck_assert(e.count > 0);
        errors_free(&e);
    }
    for (int k = 0; k < ARRIVAL_KINDS; k++)
        ck_assert_int_eq(arrival_kind_by_name(arrival_kinds[k].name), k);
    ck_assert_int_eq(arrival_kind_by_name("posson"), -1);
}
END_TEST

/* Replications differ, the same key repeats. */
START_TEST(keys)
{
    struct arrival_process p = two_states(1000, 5000, 10, 10);
    struct arrival a, b, c;
    sim_time ta = 0, tb = 0, tc = 0;

    arrival_start(&a, &p, 0, 1, 0, "client", "arrivals");
    arrival_start(&b, &p, 0, 1, 0, "client", "arrivals");
    arrival_start(&c, &p, 0, 1, 1, "client", "arrivals");
    for (int i = 0; i < 1000; i++) {
        ta = arrival_next(&a, ta);
        tb = arrival_next(&b, tb);
        tc = arrival_next(&c, tc);
        ck_assert_int_eq(ta, tb);
        ck_assert_int_ne(ta, tc);
    }
}
END_TEST

Suite *suite_arrival(void);

Suite *suite_arrival(void)
{
    Suite *s = suite_create("arrival");
    TCase *tc = tcase_create("processes");

    tcase_add_test(tc, poisson);
    tcase_add_test(tc, poisson_without_rate);
    tcase_add_test(tc, renewal);
    tcase_add_test(tc, rounding_is_carried_on);
    tcase_add_test(tc, mmpp);
    tcase_add_test(tc, stationary);
    tcase_add_test(tc, on_off);
    tcase_add_test(tc, stationary_from_the_start);
    tcase_add_test(tc, on_off_regular);
    tcase_add_test(tc, trace);
    tcase_add_test(tc, checks);
    tcase_add_test(tc, keys);
    suite_add_tcase(s, tc);
    return s;
}
