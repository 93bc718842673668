/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/interval.h"

#include "sim/detmath.h"
#include "sim/error.h"
#include "sim/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct interval none(double estimate, double level, enum interval_none why, uint64_t n,
                            uint64_t need)
{
    return (struct interval){estimate, NAN, NAN, level, why, n, need};
}

static struct interval given(double estimate, double low, double high, double level, uint64_t n)
{
    return (struct interval){estimate, low, high, level, INTERVAL_GIVEN, n, 0};
}

const char *interval_reason(enum interval_none reason)
{
    static const char *const text[] = {
        [INTERVAL_GIVEN] = "",
        [INTERVAL_FEW_VALUES] = "too few values",
        [INTERVAL_FEW_BEYOND] = "fewer than 10 observations beyond the quantile",
        [INTERVAL_FEW_EVENTS] = "fewer than 10 of the events counted",
        [INTERVAL_MAXIMUM] = "an extreme of the sample has no interval",
        [INTERVAL_NO_SPREAD] = "the values allow no interval",
    };

    return text[reason];
}

/* Two-sided critical values. */
static double t_critical(double level, size_t df)
{
    return det_t_quantile((1 + level) / 2, (double)df);
}

static double z_critical(double level)
{
    return det_normal_quantile((1 + level) / 2);
}

/* ---- Means ---- */

struct interval interval_mean(const double *x, size_t n, double level)
{
    double mean = mean_of(x, n), half;

    if (n < 2)
        return none(mean, level, INTERVAL_FEW_VALUES, n, 2);
    half = t_critical(level, n - 1) * sqrt(variance_of(x, n) / (double)n);
    return given(mean, mean - half, mean + half, level, n);
}

struct interval interval_batch_means(const double *x, size_t n, size_t batches, double level)
{
    double *means;
    struct interval i;

    if (batches < 2 || n < batches)
        return none(mean_of(x, n), level, INTERVAL_FEW_VALUES, n, batches < 2 ? 2 : batches);
    means = xcalloc(batches, sizeof *means);
    batch_means(x, n, batches, means);
    i = interval_mean(means, batches, level);
    free(means);
    return i;
}

struct interval interval_paired_difference(const double *a, const double *b, size_t n, double level)
{
    double *difference = xcalloc(n, sizeof *difference);
    struct interval i;

    for (size_t k = 0; k < n; k++)
        difference[k] = a[k] - b[k];
    i = interval_mean(difference, n, level);
    free(difference);
    return i;
}

/*
 * Fieller: the ratios r for which the mean of a - r b does not differ significantly from 0. These
 * are the solutions of r^2 (B^2 - t^2 vbb) - 2 r (A B - t^2 vab) + (A^2 - t^2 vaa) <= 0, where A, B
 * are the means and v.. the (co)variances of the means. They form an interval if B^2 > t^2 vbb.
 */
struct interval interval_ratio(const double *a, const double *b, size_t n, double level)
{
    double ma = mean_of(a, n), mb = mean_of(b, n), ratio = ma / mb;
    double vaa = 0, vbb = 0, vab = 0, t, tt, square, middle, constant, root, pairs;

    if (n < 2)
        return none(ratio, level, INTERVAL_FEW_VALUES, n, 2);
    for (size_t k = 0; k < n; k++) {
        vaa += (a[k] - ma) * (a[k] - ma);
        vbb += (b[k] - mb) * (b[k] - mb);
        vab += (a[k] - ma) * (b[k] - mb);
    }
    pairs = (double)n * (double)(n - 1);
    t = t_critical(level, n - 1);
    tt = t * t / pairs;
    square = mb * mb - tt * vbb;
    middle = ma * mb - tt * vab;
    constant = ma * ma - tt * vaa;
    if (!(square > 0))
        return none(ratio, level, INTERVAL_NO_SPREAD, n, 0);
    root = middle * middle - square * constant;
    root = sqrt(root > 0 ? root : 0); /* not below 0 but by rounding */
    return given(ratio, (middle - root) / square, (middle + root) / square, level, n);
}

/* ---- Quantiles ---- */

struct interval interval_quantile_replications(const double *estimate, const uint64_t *observations,
                                               size_t n, double q, double level)
{
    double mean = mean_of(estimate, n);

    if (q <= 0 || q >= 1)
        return none(mean, level, INTERVAL_MAXIMUM, n, 0);
    for (size_t i = 0; i < n; i++)
        if (quantile_beyond(q, observations[i]) < INTERVAL_BEYOND)
            return none(mean, level, INTERVAL_FEW_BEYOND, n, quantile_need(q, INTERVAL_BEYOND));
    return interval_mean(estimate, n, level);
}

struct interval interval_quantile_batches(const double *x, size_t n, size_t batches, double q,
                                          double level)
{
    size_t size = batches ? n / batches : 0;
    double *sorted = xcalloc(n, sizeof *sorted), *estimate = xcalloc(batches, sizeof *estimate);
    uint64_t *observations = xcalloc(batches, sizeof *observations);
    struct interval i;

    memcpy(sorted, x, n * sizeof *sorted);
    for (size_t b = 0; b < batches; b++) {
        double *batch = sorted + (n - size * batches) + b * size;

        sort_doubles(batch, size);
        estimate[b] = sorted_quantile(batch, size, q);
        observations[b] = size;
    }
    i = interval_quantile_replications(estimate, observations, batches, q, level);
    if (!interval_given(&i)) { /* then the whole series still gives the better estimate */
        sort_doubles(sorted, n);
        i.estimate = sorted_quantile(sorted, n, q);
    }
    free(sorted);
    free(estimate);
    free(observations);
    return i;
}

/* P(at most k of n below the q-quantile): the binomial distribution function. */
static double binomial_cdf(uint64_t k, uint64_t n, double q)
{
    return k >= n ? 1 : 1 - det_beta_cdf(q, (double)k + 1, (double)(n - k));
}

/*
 * The number K of values below the q-quantile is binomial. From above: rank h is at or above the
 * quantile unless K >= h. So the lowest h with P(K <= h - 1) >= 1 - a/2, and the highest l with
 * P(K <= l - 1) <= a/2.
 */
struct interval interval_quantile_iid(const double *sorted, size_t n, double q, double level)
{
    double estimate = sorted_quantile(sorted, n, q), tail = (1 - level) / 2;
    uint64_t low = 0, high, above = n;

    if (q <= 0 || q >= 1)
        return none(estimate, level, INTERVAL_MAXIMUM, n, 0);
    if (quantile_beyond(q, n) < INTERVAL_BEYOND)
        return none(estimate, level, INTERVAL_FEW_BEYOND, n, quantile_need(q, INTERVAL_BEYOND));
    while (above - low > 1) { /* P(K <= low - 1) <= tail holds, for above it does not */
        uint64_t middle = low + (above - low) / 2;

        if (binomial_cdf(middle - 1, n, q) <= tail)
            low = middle;
        else
            above = middle;
    }
    high = low;
    for (uint64_t beyond = n + 1; beyond - high > 1;) { /* does not hold for high, holds beyond */
        uint64_t middle = high + (beyond - high) / 2;

        if (binomial_cdf(middle - 1, n, q) >= 1 - tail)
            beyond = middle;
        else
            high = middle;
    }
    high++;
    if (low < 1 || high > n)
        return none(estimate, level, INTERVAL_FEW_VALUES, n, 2 * (uint64_t)n);
    return given(estimate, sorted[low - 1], sorted[high - 1], level, n);
}

/* ---- Proportions ---- */

static struct interval wilson(double k, double n, double level)
{
    double z = z_critical(level), zz = z * z, share = k / n;
    double centre = (share + zz / (2 * n)) / (1 + zz / n);
    double half = z / (1 + zz / n) * sqrt(share * (1 - share) / n + zz / (4 * n * n));

    return given(share, k == 0 ? 0 : centre - half, k == n ? 1 : centre + half, level, 0);
}

/* Both other methods are quantiles of beta distributions: at each end the outcome that lies towards
 * it counts `towards` more, the other outcome `away` more. */
static struct interval beta_interval(double k, double n, double towards, double away, double level)
{
    double tail = (1 - level) / 2, low = 0, high = 1;

    if (k > 0)
        low = det_beta_quantile(tail, k + away, n - k + towards);
    if (k < n)
        high = det_beta_quantile(1 - tail, k + towards, n - k + away);
    return given(k / n, low, high, level, 0);
}

struct interval interval_proportion(uint64_t k, uint64_t n, enum proportion_method method,
                                    double level)
{
    struct interval i;

    BUG_ON(k > n);
    if (!n)
        return none(NAN, level, INTERVAL_FEW_VALUES, 0, 1);
    switch (method) {
    case PROPORTION_WILSON:
        i = wilson((double)k, (double)n, level);
        break;
    case PROPORTION_EXACT: /* low: Beta(k, n - k + 1); high: Beta(k + 1, n - k) */
        i = beta_interval((double)k, (double)n, 1, 0, level);
        break;
    default:
        i = beta_interval((double)k, (double)n, 0.5, 0.5, level);
    }
    i.n = n;
    return i;
}

/* ---- Deciding from intervals ---- */

enum effect interval_effect(const struct interval *i, double reference, double below, double above)
{
    if (!interval_given(i))
        return EFFECT_UNDECIDED;
    if (i->low >= reference - below && i->high <= reference + above)
        return EFFECT_NEGLIGIBLE;
    if (i->high < reference - below || i->low > reference + above)
        return EFFECT_RELEVANT;
    if (i->high < reference || i->low > reference)
        return EFFECT_PRESENT;
    return EFFECT_UNDECIDED;
}

const char *effect_name(enum effect e)
{
    static const char *const name[] = {
        [EFFECT_UNDECIDED] = "undecided",
        [EFFECT_NEGLIGIBLE] = "negligible",
        [EFFECT_PRESENT] = "present",
        [EFFECT_RELEVANT] = "relevant",
    };

    return name[e];
}

double bonferroni_level(double level, size_t m)
{
    return m ? 1 - (1 - level) / (double)m : level;
}

/* ---- Sequential stopping ---- */

#define LEAST_REPLICATIONS 10

size_t stopping_prefix(const struct stopping *s, const double *const *x, size_t metrics, size_t n)
{
    size_t least = s->least < LEAST_REPLICATIONS ? LEAST_REPLICATIONS : s->least;
    double wanted = s->relative / (1 + s->relative);
    struct running *moments = xcalloc(metrics, sizeof *moments);
    size_t answer = 0;

    for (size_t i = 0; i < n && !answer; i++) {
        bool enough = i + 1 >= least;
        double t = enough ? t_critical(s->level, i) : 0;

        for (size_t m = 0; m < metrics; m++) {
            double half;

            running_add(&moments[m], x[m][i]);
            half = t * sqrt(running_variance(&moments[m]) / (double)(i + 1));
            if (enough && !(half <= wanted * fabs(moments[m].mean)))
                enough = false;
        }
        if (enough)
            answer = i + 1;
    }
    free(moments);
    return answer;
}

/* Half-widths shrink as 1 / sqrt(n); the t quantile's own shrinking is left out, a small excess. */
size_t stopping_forecast(const struct stopping *s, const double *x, size_t n)
{
    struct interval i = interval_mean(x, n, s->level);
    double wanted = s->relative / (1 + s->relative) * fabs(i.estimate), ratio, need;

    if (!interval_given(&i) || !(wanted > 0))
        return 0;
    ratio = interval_half(&i) / wanted;
    need = (double)n * ratio * ratio;
    if (need < LEAST_REPLICATIONS || need < (double)s->least)
        return s->least < LEAST_REPLICATIONS ? LEAST_REPLICATIONS : s->least;
    return need < 0x1p53 ? (size_t)need + 1 : 0;
}

/* ---- Simulated bands ---- */

/*
 * Of n simulations and one more draw from the same law, each rank is equally likely. Cutting k from
 * each end leaves (n + 1 - 2 k) / (n + 1) of the ranks inside: the largest k with at least `level`
 * of them.
 */
struct band simulation_band(double *simulated, size_t n, double observed, double level)
{
    struct band b = {.low = NAN, .high = NAN, .p = NAN};
    double cut = (1 - level) / 2 * (double)(n + 1);
    size_t k = (size_t)(cut * (1 + 0x1p-40)), at_or_below = 0, at_or_above = 0;
    double smaller;

    sort_doubles(simulated, n);
    for (size_t i = 0; i < n; i++) {
        at_or_below += simulated[i] <= observed;
        at_or_above += simulated[i] >= observed;
    }
    smaller = (double)(at_or_below < at_or_above ? at_or_below : at_or_above);
    b.p = 2 * (1 + smaller) / (double)(n + 1);
    b.p = b.p > 1 ? 1 : b.p;
    if (k < 1) {
        double need = 2 / (1 - level) * (1 - 0x1p-40);

        b.need = need < 0x1p62 ? (uint64_t)need : 0; /* ceil(2 / (1 - level)) - 1 */
        return b;
    }
    b.low = simulated[k - 1];
    b.high = simulated[n - k];
    b.inside = b.low <= observed && observed <= b.high;
    return b;
}
