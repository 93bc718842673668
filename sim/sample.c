/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/sample.h"

#include "sim/error.h"

#include <math.h>
#include <stdlib.h>

/* ---- Running moments ---- */

void running_add(struct running *r, double x)
{
    double before = x - r->mean;

    if (!r->count || x < r->min)
        r->min = x;
    if (!r->count || x > r->max)
        r->max = x;
    r->count++;
    r->mean += before / (double)r->count;
    r->m2 += before * (x - r->mean);
}

void running_merge(struct running *r, const struct running *from)
{
    double a = (double)r->count, b = (double)from->count, between = from->mean - r->mean;

    if (!from->count)
        return;
    if (!r->count) {
        *r = *from;
        return;
    }
    r->count += from->count;
    r->mean += between * (b / (a + b));
    r->m2 += from->m2 + between * between * (a * b / (a + b));
    r->min = from->min < r->min ? from->min : r->min;
    r->max = from->max > r->max ? from->max : r->max;
}

double running_variance(const struct running *r)
{
    return r->count < 2 ? NAN : r->m2 / (double)(r->count - 1);
}

double running_deviation(const struct running *r)
{
    return sqrt(running_variance(r));
}

/* ---- Averages over time ---- */

void time_average_start(struct time_average *a, sim_time now, double value)
{
    *a = (struct time_average){.from = now, .since = now, .value = value, .max = value};
}

void time_average_set(struct time_average *a, sim_time now, double value)
{
    BUG_ON(now < a->since);
    a->area += a->value * (double)(now - a->since);
    a->since = now;
    a->value = value;
    if (value > a->max)
        a->max = value;
}

void time_average_restart(struct time_average *a, sim_time now)
{
    time_average_start(a, now, a->value);
}

double time_average_mean(const struct time_average *a, sim_time now)
{
    BUG_ON(now < a->since);
    if (now == a->from)
        return a->value;
    return (a->area + a->value * (double)(now - a->since)) / (double)(now - a->from);
}

/* ---- Samples and quantiles ---- */

void samples_add(struct samples *s, double x)
{
    BUG_ON(x != x);
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 256;
        s->x = xrealloc(s->x, s->capacity * sizeof *s->x);
    }
    s->x[s->count++] = x;
    s->sorted = false;
}

void samples_free(struct samples *s)
{
    free(s->x);
    *s = (struct samples){0};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void sort_doubles(double *x, size_t n)
{
    if (n > 1)
        qsort(x, n, sizeof *x, by_value);
}

void samples_sort(struct samples *s)
{
    if (!s->sorted)
        sort_doubles(s->x, s->count);
    s->sorted = true;
}

double sorted_quantile(const double *sorted, size_t n, double q)
{
    double rank, share;
    size_t k;

    if (!n)
        return NAN;
    rank = q * (double)n + 0.5; /* 1-based */
    if (rank <= 1)
        return sorted[0];
    if (rank >= (double)n)
        return sorted[n - 1];
    k = (size_t)rank;
    share = rank - (double)k;
    if (share == 0 || sorted[k] == sorted[k - 1]) /* also keeps infinite neighbours apart */
        return sorted[k - 1];
    return sorted[k - 1] * (1 - share) + sorted[k] * share;
}

double samples_quantile(struct samples *s, double q)
{
    samples_sort(s);
    return sorted_quantile(s->x, s->count, q);
}

/*
 * q is rarely a binary fraction: 0.999 misses what was meant by up to 2^-54, so q n and (1 - q) n
 * miss a whole number by up to n 2^-54 and a rounding. Within n 2^-50 of a whole number, that is
 * meant.
 */
#define Q_ERROR 0x1p-50

static uint64_t round_up(double x, double error)
{
    uint64_t k = (uint64_t)x;

    return x - (double)k > error ? k + 1 : k;
}

static uint64_t round_down(double x, double error)
{
    uint64_t k = (uint64_t)x;

    return (double)(k + 1) - x <= error ? k + 1 : k;
}

uint64_t quantile_rank(double q, uint64_t n)
{
    uint64_t k = q <= 0 ? 0 : round_up(q * (double)n, (double)n * Q_ERROR);

    return k < 1 ? 1 : k > n ? n : k;
}

static double shorter_side(double q)
{
    return q < 0.5 ? q : 1 - q;
}

uint64_t quantile_beyond(double q, uint64_t n)
{
    if (q <= 0 || q >= 1)
        return 0;
    return round_down(shorter_side(q) * (double)n, (double)n * Q_ERROR);
}

uint64_t quantile_need(double q, uint64_t beyond)
{
    double side = shorter_side(q), need;

    if (q <= 0 || q >= 1)
        return 0;
    need = (double)beyond / side;
    return need < 0x1p62 ? round_up(need, need * (Q_ERROR / side)) : 0;
}

/* ---- Series ---- */

double mean_of(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : NAN;
}

double variance_of(const double *x, size_t n)
{
    double mean = mean_of(x, n), sum = 0;

    if (n < 2)
        return NAN;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (double)(n - 1);
}

double correlation_of(const double *x, const double *y, size_t n)
{
    double mx = mean_of(x, n), my = mean_of(y, n), xx = 0, yy = 0, xy = 0;

    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xx > 0 && yy > 0 ? xy / (sqrt(xx) * sqrt(yy)) : NAN;
}

double autocorrelation(const double *x, size_t n, size_t lag)
{
    double mean = mean_of(x, n), square = 0, product = 0;

    if (n <= lag)
        return NAN;
    for (size_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean);
    for (size_t i = 0; i + lag < n; i++)
        product += (x[i] - mean) * (x[i + lag] - mean);
    return square > 0 ? product / square : 0;
}

size_t batch_means(const double *x, size_t n, size_t batches, double *means)
{
    size_t size = batches ? n / batches : 0;

    x += n - size * batches;
    for (size_t b = 0; b < batches; b++)
        means[b] = mean_of(x + b * size, size);
    return size;
}

#define MSER_BATCH 5
#define MSER_LEAST 50 /* observations; assumed: below 10 batches the minimum is mostly noise */

/*
 * From the end backwards, with the moments of the batches seen so far: the statistic for dropping d
 * of k batches is (sum of squared deviations of the k - d others) / (k - d)^2.
 */
size_t warmup_mser5(const double *x, size_t n)
{
    size_t k = n / MSER_BATCH, best = 0;
    struct running tail = {0};
    double lowest = INFINITY;

    if (n < MSER_LEAST)
        return n;
    for (size_t d = k; d-- > 0;) {
        double size = (double)(k - d), statistic;

        running_add(&tail, mean_of(x + d * MSER_BATCH, MSER_BATCH));
        statistic = tail.m2 / (size * size);
        if (d <= k / 2 && statistic <= lowest) {
            lowest = statistic;
            best = d;
        }
    }
    return best == k / 2 ? n : best * MSER_BATCH;
}

/* ---- Fairness ---- */

double jain_index(const double *x, size_t n)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
    }
    return squares > 0 ? sum * sum / ((double)n * squares) : 1;
}

double largest_deviation(const double *x, const double *e, size_t n)
{
    double mean = mean_of(x, n), largest = 0;

    for (size_t i = 0; i < n; i++) {
        double entitled = e ? e[i] : mean, deviation;

        if (!(entitled > 0))
            continue;
        deviation = fabs(x[i] / entitled - 1);
        if (deviation > largest)
            largest = deviation;
    }
    return largest;
}
