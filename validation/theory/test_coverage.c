/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often does each interval hold the truth? Counted on models whose truth is known in closed
 * form.
 *
 * An exact method must cover with its level: the count of R trials is then binomial, and must lie
 * within 4 standard deviations (a false alarm in 16,000; and seeds are fixed, so a pass stays a
 * pass). Methods that are right only in the limit get a lower bound with its reason beside it: so
 * much less than the level is known, documented and accepted, and a mistake in the code shows as
 * less.
 */
#include "sim/stats.h"

#include "sim/random.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.95

static struct rng stream;

static void setup(void)
{
    rng_init(&stream, 1, 0, "test", "coverage");
}

/* ---- Counting ---- */

struct tally {
    const char *what;
    unsigned trials, covered, none;
    double width;
};

static void tally(struct tally *t, const struct interval *i, double truth)
{
    if (!interval_given(i)) {
        t->none++;
        return;
    }
    t->trials++;
    t->covered += i->low <= truth && truth <= i->high;
    t->width += i->high - i->low;
}

/* Coverage between two shares, each with 4 standard deviations of grace for the count. */
static void expect(const struct tally *t, double least, double most)
{
    double n = t->trials, share = t->covered / n;
    double below = 4 * sqrt(least * (1 - least) / n), above = 4 * sqrt(most * (1 - most) / n);

    if (getenv("COVERAGE"))
        printf("  %-60s %.4f  [%.4f, %.4f]  (%u of %u, %u none, mean width %.4g)\n", t->what, share,
               least - below, most + above, t->covered, t->trials, t->none, t->width / n);
    ck_assert_msg(share >= least - below && share <= most + above,
                  "%s: covered %.4f, expected %.4f to %.4f", t->what, share, least, most);
}

/* ---- Means of independent values ---- */

START_TEST(mean_of_normal_values)
{
    for (size_t n = 2; n <= 30; n = 2 * n + 1) {
        struct tally t = {.what = "mean of normal values, t"};
        double x[32];

        for (int r = 0; r < 10000; r++) {
            struct interval i;

            for (size_t k = 0; k < n; k++)
                x[k] = 7 + 3 * rng_normal(&stream);
            i = interval_mean(x, n, LEVEL);
            tally(&t, &i, 7);
        }
        expect(&t, LEVEL, LEVEL);
    }
}
END_TEST

/* Replications whose results are means of 100 exponential values: their skewness is 0.2, so the
 * t interval is off by less than half a percent. */
START_TEST(mean_over_replications)
{
    struct tally t = {.what = "mean over 10 replications of 100 exponential values"};
    double x[10];

    for (int r = 0; r < 5000; r++) {
        struct interval i;

        for (int k = 0; k < 10; k++) {
            x[k] = 0;
            for (int j = 0; j < 100; j++)
                x[k] += rng_exponential(&stream, 5) / 100;
        }
        i = interval_mean(x, 10, LEVEL);
        tally(&t, &i, 5);
    }
    expect(&t, 0.945, LEVEL);
}
END_TEST

/* Common random numbers: the shared part cancels, and the interval of the difference is exact; so
 * is Fieller's for the ratio of normal pairs. */
START_TEST(pairs)
{
    struct tally difference = {.what = "difference of normal pairs"},
                 ratio = {.what = "ratio of normal pairs"};
    struct tally unpaired = {.what = "(the same without pairing)"};
    double a[12], b[12], c[12];

    for (int r = 0; r < 10000; r++) {
        struct interval i;

        for (int k = 0; k < 12; k++) {
            double common = 4 * rng_normal(&stream), other = 4 * rng_normal(&stream);

            a[k] = 33 + common + rng_normal(&stream);
            b[k] = 30 + common + rng_normal(&stream);
            c[k] = 30 + other + rng_normal(&stream);
        }
        i = interval_paired_difference(a, b, 12, LEVEL);
        tally(&difference, &i, 3);
        i = interval_paired_difference(a, c, 12, LEVEL);
        tally(&unpaired, &i, 3);
        i = interval_ratio(a, b, 12, LEVEL);
        tally(&ratio, &i, 1.1);
    }
    expect(&difference, LEVEL, LEVEL);
    expect(&ratio, LEVEL, LEVEL);
    ck_assert(difference.width < 0.4 * unpaired.width);
}
END_TEST

/* ---- Long dependent series: the waiting times of M/M/1 ---- */

/* Waiting times in the queue (Lindley's recursion), service 1, in the steady state from the start:
 * an arrival waits with probability rho, and then for an exponential time of mean 1 / (1 - rho). */
static void waiting_times(double *w, size_t n, double rho)
{
    w[0] = 0;
    if (rng_bernoulli(&stream, rho))
        w[0] = rng_exponential(&stream, 1 / (1 - rho));
    for (size_t i = 1; i < n; i++) {
        double service = rng_exponential(&stream, 1), gap = rng_exponential(&stream, 1 / rho);
        double next = w[i - 1] + service - gap;

        w[i] = next > 0 ? next : 0;
    }
}

/* 20 batches of 1000 at rho = 0.5 (relaxation within some 12 customers): nearly independent, nearly
 * normal. At 0.8 (some 180) a batch of 2000 leaves a visible correlation: a few percent less. */
START_TEST(batch_means_of_waiting_times)
{
    static double w[40000];
    struct tally light = {.what = "batch means, M/M/1 at 0.5"},
                 heavy = {.what = "batch means, M/M/1 at 0.8"};

    for (int r = 0; r < 600; r++) {
        struct interval i;

        waiting_times(w, 20000, 0.5);
        i = interval_batch_means(w, 20000, 20, LEVEL);
        tally(&light, &i, 1);
        waiting_times(w, 40000, 0.8);
        i = interval_batch_means(w, 40000, 20, LEVEL);
        tally(&heavy, &i, 4);
    }
    expect(&light, 0.94, LEVEL);
    expect(&heavy, 0.91, LEVEL);
}
END_TEST

/* MSER-5 after a start far from the steady state, then batch means of the rest. */
START_TEST(warmup_is_removed)
{
    static double x[4000];
    struct tally with = {.what = "batch means after MSER-5"};
    struct running bias = {0}, without = {0};

    for (int r = 0; r < 1500; r++) {
        double state = 40;
        size_t cut;
        struct interval i;

        for (int k = 0; k < 4000; k++) {
            state = 0.97 * state + rng_normal(&stream);
            x[k] = state;
        }
        cut = warmup_mser5(x, 4000);
        if (cut >= 4000)
            ck_abort_msg("no steady state seen");
        i = interval_batch_means(x + cut, 4000 - cut, 10, LEVEL);
        tally(&with, &i, 0);
        running_add(&bias, i.estimate);
        running_add(&without, mean_of(x, 4000));
    }
    expect(&with, 0.90, LEVEL);
    ck_assert(fabs(without.mean - 40 * 0.97 / 0.03 / 4000) <
              0.1); /* the bias if nothing is dropped */
    ck_assert_msg(fabs(bias.mean) < 0.05, "bias %g", bias.mean);
}
END_TEST

/* ---- Quantiles ---- */

static double exponential_value(void)
{
    return rng_exponential(&stream, 1e6);
}

static double lognormal_value(void)
{
    return 1e5 * det_exp(rng_normal(&stream));
}

static double pareto_value(void) /* tail index 3: infinite third moment */
{
    return 1e5 * det_pow(rng_uniform(&stream), -1.0 / 3);
}

static const struct {
    const char *name;
    double (*draw)(void);
    double p90, p99;
} tails[] = {
    {"exponential", exponential_value, 2302585.0929940457, 4605170.1859880914},
    {"lognormal", lognormal_value, 360222.44796, 1024047.36348},
    {"Pareto, tail index 3", pareto_value, 215443.46900318837, 464158.88336127789},
};

/* 10 observations beyond the quantile in each of 10 replications: the least that is allowed. The
 * estimates are skewed, and biased for tails other than exponential ones: some percent less. */
START_TEST(quantile_over_replications)
{
    struct tally t = {.what = tails[_i].name}, coarse = {.what = "(from a histogram of 2 digits)"};
    double x[1000], estimate[10], rough[10];
    uint64_t n[10];
    struct histogram h;

    histogram_init(&h, HISTOGRAM_2_DIGITS);
    for (int r = 0; r < 1000; r++) {
        struct interval i;

        for (int k = 0; k < 10; k++) {
            histogram_reset(&h);
            for (int j = 0; j < 1000; j++) {
                x[j] = tails[_i].draw();
                histogram_record(&h, (sim_time)(x[j] + 0.5));
            }
            sort_doubles(x, 1000);
            estimate[k] = sorted_quantile(x, 1000, 0.99);
            rough[k] = histogram_estimate(&h, 0.99);
            n[k] = 1000;
        }
        i = interval_quantile_replications(estimate, n, 10, 0.99, LEVEL);
        tally(&t, &i, tails[_i].p99);
        i = interval_quantile_replications(rough, n, 10, 0.99, LEVEL);
        tally(&coarse, &i, tails[_i].p99);
    }
    expect(&t, 0.92, LEVEL);
    expect(&coarse, 0.92, LEVEL);
    histogram_free(&h);
}
END_TEST

/* With many replications the interval shrinks and a bias would show. Exponential tails have none.
 */
START_TEST(quantile_bias)
{
    struct tally t = {.what = "p99 of exponential values over 100 replications"};
    double x[1000], estimate[100];
    uint64_t n[100];

    for (int r = 0; r < 400; r++) {
        struct interval i;

        for (int k = 0; k < 100; k++) {
            for (int j = 0; j < 1000; j++)
                x[j] = exponential_value();
            sort_doubles(x, 1000);
            estimate[k] = sorted_quantile(x, 1000, 0.99);
            n[k] = 1000;
        }
        i = interval_quantile_replications(estimate, n, 100, 0.99, LEVEL);
        tally(&t, &i, tails[0].p99);
    }
    expect(&t, 0.94, LEVEL);
}
END_TEST

START_TEST(quantile_in_batches)
{
    struct tally t = {.what = "p90 of M/M/1 waiting times at 0.5, batches"};
    static double w[20000];

    for (int r = 0; r < 500; r++) {
        struct interval i;

        waiting_times(w, 20000, 0.5);
        i = interval_quantile_batches(w, 20000, 20, 0.9, LEVEL);
        tally(&t, &i, 2 * log(0.5 / 0.1)); /* P(W > w) = rho exp(-(1 - rho) w) */
    }
    expect(&t, 0.93, LEVEL);
}
END_TEST

/* Conservative by construction, but not by more than its discreteness: at n = 400, p90 the rank
 * steps move the coverage by some 2 % in all. */
START_TEST(quantile_by_order_statistics)
{
    struct tally t = {.what = "p90 of 400 independent values, order statistics"};
    double x[400];

    for (int r = 0; r < 8000; r++) {
        struct interval i;

        for (int j = 0; j < 400; j++)
            x[j] = tails[_i].draw();
        sort_doubles(x, 400);
        i = interval_quantile_iid(x, 400, 0.9, LEVEL);
        tally(&t, &i, tails[_i].p90);
    }
    expect(&t, LEVEL, 0.97);
}
END_TEST

/* ---- Proportions: summed up exactly, nothing drawn ---- */

static double proportion_coverage(const struct interval *i, unsigned n, double p)
{
    double sum = 0, term = det_pow(1 - p, n);

    for (unsigned k = 0; k <= n; k++) {
        if (i[k].low <= p && p <= i[k].high)
            sum += term;
        term *= (double)(n - k) / (k + 1) * p / (1 - p);
    }
    return sum;
}

/* Clopper, Pearson cover at least the level wherever the truth is; Jeffreys and Wilson on average
 * over the truth, with dips (Brown, Cai, DasGupta 2001) that 0.90 and, near 0 and 1, 0.83 bound. */
START_TEST(proportions)
{
    static const unsigned sizes[] = {10, 40, 200};
    struct interval i[3][201];

    for (size_t s = 0; s < 3; s++) {
        unsigned n = sizes[s];
        double mean[3] = {0}, least[3] = {1, 1, 1};

        for (unsigned k = 0; k <= n; k++)
            for (int m = 0; m < 3; m++)
                i[m][k] = interval_proportion(k, n, (enum proportion_method)m, LEVEL);
        for (int step = 1; step <= 500; step++) /* by symmetry as well from 0.5 to 1 */
            for (int m = 0; m < 3; m++) {
                double c = proportion_coverage(i[m], n, step / 1000.0);

                mean[m] += c / 500;
                least[m] = c < least[m] ? c : least[m];
            }
        if (getenv("COVERAGE"))
            for (int m = 0; m < 3; m++)
                printf("  proportion, n %3u, method %d: mean %.4f, least %.4f\n", n, m, mean[m],
                       least[m]);
        ck_assert(least[PROPORTION_EXACT] >= LEVEL - 1e-9);
        ck_assert(fabs(mean[PROPORTION_JEFFREYS] - LEVEL) < 0.01);
        ck_assert(fabs(mean[PROPORTION_WILSON] - LEVEL) < 0.01);
        ck_assert(least[PROPORTION_JEFFREYS] > 0.83 && least[PROPORTION_WILSON] > 0.83);
    }
}
END_TEST

/* ---- Dependent rounds: block bootstrap ---- */

static double mean_of_sums(const double *sums, size_t n, size_t width, void *context)
{
    (void)context;
    (void)width;
    return sums[0] / (double)n;
}

/* AR(1) with mean 0. The bootstrap sees too little variance, by about r / ((1 - r^2) block) (blocks
 * are cut from their neighbours) and as it is itself an estimate: 2 to 5 percent less. The plain
 * interval, which takes the values as independent, must fail clearly. */
static void check_ar1(double r, size_t n, double least)
{
    static double x[4000];
    struct tally moving = {.what = "block bootstrap, AR(1)"},
                 disjoint = {.what = "the same, disjoint blocks"};
    struct tally plain = {.what = "(taken as independent)"};

    for (int round = 0; round < 1000; round++) {
        struct bootstrap b = {.resamples = 400, .level = LEVEL};
        struct interval i;

        x[0] = rng_normal(&stream) / sqrt(1 - r * r);
        for (size_t k = 1; k < n; k++)
            x[k] = r * x[k - 1] + rng_normal(&stream);
        i = bootstrap_sums(&b, x, n, 1, mean_of_sums, NULL, &stream);
        tally(&moving, &i, 0);
        b.disjoint = true;
        i = bootstrap_sums(&b, x, n, 1, mean_of_sums, NULL, &stream);
        tally(&disjoint, &i, 0);
        i = interval_mean(x, n, LEVEL);
        tally(&plain, &i, 0);
    }
    expect(&moving, least, LEVEL);
    expect(&disjoint, least, LEVEL);
    expect(&plain, 0, 0.85);
}

START_TEST(bootstrap_of_ar1)
{
    check_ar1(0.5, 1000, 0.92);
    check_ar1(0.8, 4000, 0.92);
}
END_TEST

/* Without dependence it must do as well as the t interval nearly does. */
START_TEST(bootstrap_of_independent_values)
{
    double x[200];
    struct tally t = {.what = "block bootstrap, independent values"};

    for (int round = 0; round < 2000; round++) {
        struct bootstrap b = {.block = 1, .resamples = 400, .level = LEVEL};
        struct interval i;

        for (int k = 0; k < 200; k++)
            x[k] = rng_normal(&stream);
        i = bootstrap_sums(&b, x, 200, 1, mean_of_sums, NULL, &stream);
        tally(&t, &i, 0);
    }
    expect(&t, 0.94, LEVEL);
}
END_TEST

/*
 * Replicas on one machine: a two-state chain (stalled or not) common to both makes each late with
 * probability a when stalled, b when not, independently given the state. With share s of stalled
 * rounds: P(late) = s a + (1 - s) b, P(both) = s a^2 + (1 - s) b^2.
 */
static void stalled_rounds(double *delay, size_t n, double enter, double leave, double a, double b)
{
    bool stalled = rng_bernoulli(&stream, enter / (enter + leave));

    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < 2; j++)
            delay[2 * i + j] = rng_bernoulli(&stream, stalled ? a : b) ? 2 : 0;
        stalled = rng_bernoulli(&stream, stalled ? 1 - leave : enter);
    }
}

static void check_association(double a, double b, size_t block, double least)
{
    enum { N = 20000 };
    static double delay[2 * N];
    const double s = 0.02 / 0.22, late = s * a + (1 - s) * b, both = s * a * a + (1 - s) * b * b;
    struct tally all = {.what = "P(all late)"}, lift = {.what = "lift"},
                 conditional = {.what = "P(2 late | 1 late)"};
    struct tally phi = {.what = "phi"};

    for (int r = 0; r < 400; r++) {
        struct bootstrap plan = {.block = block, .resamples = 400, .level = LEVEL};
        struct association f;

        stalled_rounds(delay, N, 0.02, 0.2, a, b);
        f = association_of(&plan, delay, N, 2, 1, &stream);
        tally(&all, &f.all_late, both);
        tally(&lift, &f.lift, both / (late * late));
        tally(&conditional, &f.conditional, both / late);
        tally(&phi, &f.phi, (both - late * late) / (late * (1 - late)));
    }
    expect(&all, least, LEVEL);
    expect(&lift, least, LEVEL);
    expect(&conditional, least, LEVEL);
    expect(&phi, least, LEVEL);
}

/* Some 200 rounds with both late in bursts: 2 percent less than the level. */
START_TEST(association_of_co_located_replicas)
{
    check_association(0.3, 0.01, 40, 0.93);
    check_association(0.3, 0.01, 0, 0.93); /* the automatic block */
}
END_TEST

/* No association: lift 1, phi 0. Some 160 joint rounds. */
START_TEST(association_of_independent_replicas)
{
    check_association(0.09, 0.09, 40, 0.93);
}
END_TEST

/* ---- Sequential stopping, simultaneous intervals, equivalence, bands ---- */

/* Stopping when the interval happens to be short favours values with too little spread seen: a
 * known loss of some percent at 10 replications, which the floor of 10 bounds. */
START_TEST(sequential_stopping)
{
    struct tally t = {.what = "mean at the stop, normal"},
                 skewed = {.what = "mean at the stop, exponential"};
    static double x[2000];
    const double *series[] = {x};
    struct stopping rule = {.relative = 0.1, .level = LEVEL};

    for (int r = 0; r < 3000; r++) {
        struct interval i;
        size_t stop;

        for (int k = 0; k < 200; k++)
            x[k] = 10 + 2.5 * rng_normal(&stream);
        stop = stopping_prefix(&rule, series, 1, 200);
        ck_assert(stop > 0);
        i = interval_mean(x, stop, LEVEL);
        if (!(interval_half(&i) <= 0.1 * i.estimate))
            ck_abort_msg("stopped with a half-width of %g of %g", interval_half(&i), i.estimate);
        tally(&t, &i, 10);
    }
    for (int r = 0; r < 1000; r++) {
        struct interval i;
        size_t stop;

        for (int k = 0; k < 2000; k++)
            x[k] = rng_exponential(&stream, 10);
        stop = stopping_prefix(&rule, series, 1, 2000);
        ck_assert(stop > 0);
        i = interval_mean(x, stop, LEVEL);
        tally(&skewed, &i, 10);
    }
    expect(&t, 0.92, LEVEL);
    expect(&skewed, 0.92, LEVEL);
}
END_TEST

/* Bonferroni: five correlated metrics, all intervals right at once. */
START_TEST(simultaneous_intervals)
{
    unsigned all = 0;
    const unsigned rounds = 4000;
    struct tally t = {.what = "five metrics at once, Bonferroni"};

    for (unsigned r = 0; r < rounds; r++) {
        double x[5][10];
        bool right = true;

        for (int k = 0; k < 10; k++) {
            double common = rng_normal(&stream);

            for (int m = 0; m < 5; m++)
                x[m][k] = 0.5 * common + rng_normal(&stream);
        }
        for (int m = 0; m < 5; m++) {
            struct interval i = interval_mean(x[m], 10, bonferroni_level(LEVEL, 5));

            right = right && i.low <= 0 && i.high >= 0;
        }
        all += right;
    }
    t.trials = rounds;
    t.covered = all;
    expect(&t, LEVEL, 0.97);
}
END_TEST

/* A true effect just at the margin is called negligible in at most (1 - level) / 2 of the cases; no
 * effect at all, seen precisely enough, nearly always. */
START_TEST(equivalence)
{
    unsigned wrong = 0, right = 0, relevant = 0;
    const unsigned rounds = 8000;

    for (unsigned r = 0; r < rounds; r++) {
        double at_margin[20], no_effect[20];
        struct interval i;

        for (int k = 0; k < 20; k++) {
            at_margin[k] = 1 + rng_normal(&stream);
            no_effect[k] = rng_normal(&stream);
        }
        i = interval_mean(at_margin, 20, LEVEL);
        wrong += interval_effect(&i, 0, 1, 1) == EFFECT_NEGLIGIBLE;
        relevant += interval_effect(&i, 0, 1, 1) == EFFECT_RELEVANT;
        i = interval_mean(no_effect, 20, LEVEL);
        right += interval_effect(&i, 0, 1, 1) == EFFECT_NEGLIGIBLE;
    }
    ck_assert(fabs(wrong - 0.025 * rounds) < 4 * sqrt(0.025 * rounds));
    ck_assert(fabs(relevant - 0.025 * rounds) < 4 * sqrt(0.025 * rounds));
    ck_assert(right > 0.95 * rounds);
}
END_TEST

/* An observation from the simulator itself lies in the band as often as promised; one from a law
 * shifted by two deviations mostly not. */
START_TEST(band_of_simulations)
{
    struct tally t = {.what = "band of 39 simulations"}, u = {.what = "band of 199 simulations"};
    struct tally shifted = {.what = "(the observation shifted by 2 deviations)"};
    double x[199];
    unsigned small_p = 0;

    for (int r = 0; r < 5000; r++) {
        struct band b;

        for (int k = 0; k < 199; k++)
            x[k] = rng_exponential(&stream, 1);
        b = simulation_band(x, 39, rng_exponential(&stream, 1), LEVEL);
        t.trials++;
        t.covered += b.inside;
        for (int k = 0; k < 199; k++)
            x[k] = rng_exponential(&stream, 1);
        b = simulation_band(x, 199, rng_exponential(&stream, 1), LEVEL);
        u.trials++;
        u.covered += b.inside;
        small_p += b.p <= 0.05;
        for (int k = 0; k < 199; k++)
            x[k] = rng_normal(&stream);
        b = simulation_band(x, 199, 2 + rng_normal(&stream), LEVEL);
        shifted.trials++;
        shifted.covered += b.inside;
    }
    expect(&t, LEVEL, LEVEL);
    expect(&u, LEVEL, LEVEL);
    expect(&shifted, 0, 0.55);
    ck_assert(fabs(small_p - 250.0) < 4 * sqrt(250 * 0.95));
}
END_TEST

Suite *suite_coverage(void);

Suite *suite_coverage(void)
{
    Suite *s = suite_create("coverage");
    TCase *tc = tcase_create("independent");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, mean_of_normal_values);
    tcase_add_test(tc, mean_over_replications);
    tcase_add_test(tc, pairs);
    tcase_add_test(tc, proportions);
    tcase_add_loop_test(tc, quantile_by_order_statistics, 0, 3);
    suite_add_tcase(s, tc);
    tc = tcase_create("decisions");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, sequential_stopping);
    tcase_add_test(tc, simultaneous_intervals);
    tcase_add_test(tc, equivalence);
    tcase_add_test(tc, band_of_simulations);
    suite_add_tcase(s, tc);
    tc = tcase_create("dependent");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, batch_means_of_waiting_times);
    tcase_add_test(tc, warmup_is_removed);
    tcase_add_test(tc, quantile_in_batches);
    tcase_add_test(tc, bootstrap_of_ar1);
    tcase_add_test(tc, bootstrap_of_independent_values);
    suite_add_tcase(s, tc);
    tc = tcase_create("slow coverage");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(tc, quantile_over_replications, 0, 3);
    tcase_add_test(tc, quantile_bias);
    tcase_add_test(tc, association_of_co_located_replicas);
    tcase_add_test(tc, association_of_independent_replicas);
    suite_add_tcase(s, tc);
    return s;
}
