/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/bootstrap.h"

#include "sim/detmath.h"
#include "sim/error.h"
#include "sim/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_BLOCKS 10
#define DEFAULT_RESAMPLES 1000
#define LEAST_EVENTS 10

static double block_factor(double r)
{
    double f = r / (1 - r * r);

    return 6 * f * f; /* its cube root times that of n is the length */
}

size_t bootstrap_block(const double *x, size_t n)
{
    double r = autocorrelation(x, n, 1), length;

    if (n < 3 || !(r > 0))
        return 1;
    if (r > 1 - 1e-9)
        return n;
    length = det_pow(block_factor(r) * (double)n, 1.0 / 3) + 0.5;
    return length < 1 ? 1 : length > (double)n ? n : (size_t)length;
}

static size_t widest_block(const double *rows, size_t n, size_t width)
{
    double *column = xcalloc(n, sizeof *column);
    size_t widest = 1;

    for (size_t c = 0; c < width; c++) {
        size_t block;

        for (size_t i = 0; i < n; i++)
            column[i] = rows[i * width + c];
        block = bootstrap_block(column, n);
        widest = block > widest ? block : widest;
    }
    free(column);
    return widest;
}

/* Rounds that would make LEAST_BLOCKS blocks, given that an automatic block grows with the cube
 * root of n: n' = (LEAST_BLOCKS block n^(-1/3))^(3/2). */
static uint64_t rounds_needed(const struct bootstrap *b, size_t n, size_t block)
{
    double c = LEAST_BLOCKS * (double)block;

    if (b->block || n < 3)
        return (uint64_t)c;
    return (uint64_t)det_pow(c / det_pow((double)n, 1.0 / 3), 1.5) + 1;
}

/* What both kinds share: the plan of resampling, and the interval from the resamples' values. */
struct plan {
    size_t block, blocks, resamples, size; /* blocks per resample; rows per resample */
    bool disjoint;
    double level;
    struct interval none; /* filled in when there are too few blocks */
};

static struct plan make_plan(const struct bootstrap *b, const double *rows, size_t n, size_t width)
{
    struct plan p = {.disjoint = b->disjoint, .level = b->level};

    p.resamples = b->resamples ? b->resamples : DEFAULT_RESAMPLES;
    p.block = b->block ? b->block : widest_block(rows, n, width);
    p.none = (struct interval){.low = NAN, .high = NAN, .level = b->level, .n = n};
    if (n / p.block < LEAST_BLOCKS) {
        p.none.none = INTERVAL_FEW_VALUES;
        p.none.need = rounds_needed(b, n, p.block);
    }
    p.blocks = p.disjoint ? n / p.block : (n + p.block - 1) / p.block;
    p.size = p.disjoint ? p.blocks * p.block : n;
    return p;
}

static size_t draw_start(const struct plan *p, size_t n, struct rng *rng)
{
    if (p->disjoint)
        return p->block * rng_below(rng, n / p->block);
    return rng_below(rng, n);
}

static struct interval interval_of(const struct plan *p, double estimate, double *value, size_t n)
{
    struct interval i = p->none;
    size_t valid = 0;
    double blocks = (double)(n / p->block), tail;

    for (size_t k = 0; k < p->resamples; k++)
        if (value[k] == value[k])
            value[valid++] = value[k];
    sort_doubles(value, valid);
    i.estimate = estimate;
    i.none = INTERVAL_NO_SPREAD;
    if (estimate != estimate || (double)valid < 0.95 * (double)p->resamples ||
        value[0] == value[valid - 1])
        return i;
    tail = det_normal_cdf(sqrt(blocks / (blocks - 1)) *
                          det_t_quantile((1 - p->level) / 2, blocks - 1));
    i.none = INTERVAL_GIVEN;
    i.low = sorted_quantile(value, valid, tail);
    i.high = sorted_quantile(value, valid, 1 - tail);
    return i;
}

struct interval bootstrap_interval(const struct bootstrap *b, const double *rows, size_t n,
                                   size_t width, statistic_fn *statistic, void *context,
                                   struct rng *rng)
{
    struct plan p = make_plan(b, rows, n, width);
    double estimate = statistic(rows, n, width, context), *value, *resample;
    struct interval i;

    p.none.estimate = estimate;
    if (!interval_given(&p.none))
        return p.none;
    value = xcalloc(p.resamples, sizeof *value);
    resample = xcalloc(p.size * width, sizeof *resample);
    for (size_t k = 0; k < p.resamples; k++) {
        for (size_t filled = 0; filled < p.size;) {
            size_t start = draw_start(&p, n, rng), length = p.block, before_end;

            length = length < p.size - filled ? length : p.size - filled;
            before_end = length < n - start ? length : n - start;
            memcpy(resample + filled * width, rows + start * width,
                   before_end * width * sizeof *rows);
            memcpy(resample + (filled + before_end) * width, rows,
                   (length - before_end) * width * sizeof *rows);
            filled += length;
        }
        value[k] = statistic(resample, p.size, width, context);
    }
    i = interval_of(&p, estimate, value, n);
    free(value);
    free(resample);
    return i;
}

/* Running sums over the rows: sum[i * width + c] of column c over rows 0 .. i - 1. */
static double *running_sums(const double *rows, size_t n, size_t width)
{
    double *sum = xcalloc((n + 1) * width, sizeof *sum);

    for (size_t i = 0; i < n * width; i++)
        sum[i + width] = sum[i] + rows[i];
    return sum;
}

/* Add the sums over `length` rows from `start` on, around the end if need be. */
static void add_block(double *total, const double *sum, size_t n, size_t width, size_t start,
                      size_t length)
{
    size_t end = start + length, wrapped = end > n ? end - n : 0;

    end = end > n ? n : end;
    for (size_t c = 0; c < width; c++)
        total[c] += (sum[end * width + c] - sum[start * width + c]) + sum[wrapped * width + c];
}

struct interval bootstrap_sums(const struct bootstrap *b, const double *rows, size_t n,
                               size_t width, sums_fn *statistic, void *context, struct rng *rng)
{
    struct plan p = make_plan(b, rows, n, width);
    double *sum = running_sums(rows, n, width), *total = xcalloc(width, sizeof *total), *value;
    struct interval i;

    p.none.estimate = statistic(sum + n * width, n, width, context);
    i = p.none;
    if (interval_given(&p.none)) {
        value = xcalloc(p.resamples, sizeof *value);
        for (size_t k = 0; k < p.resamples; k++) {
            memset(total, 0, width * sizeof *total);
            for (size_t filled = 0; filled < p.size;) {
                size_t start = draw_start(&p, n, rng), length = p.block;

                length = length < p.size - filled ? length : p.size - filled;
                add_block(total, sum, n, width, start, length);
                filled += length;
            }
            value[k] = statistic(total, p.size, width, context);
        }
        i = interval_of(&p, p.none.estimate, value, n);
        free(value);
    }
    free(sum);
    free(total);
    return i;
}

/* ---- Association ---- */

/* Columns of indicators: late_0 .. late_{g-1}, the pairs in order (0,1), (0,2), .. (1,2), .., all.
 */
static size_t association_width(size_t g)
{
    return g + g * (g - 1) / 2 + 1;
}

static double ratio_or_none(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static double independent_share(const double *sums, size_t n, size_t g)
{
    double product = 1;

    for (size_t j = 0; j < g; j++)
        product *= sums[j] / (double)n;
    return product;
}

static double all_late(const double *sums, size_t n, size_t width, void *context)
{
    (void)context;
    return sums[width - 1] / (double)n;
}

static double lift(const double *sums, size_t n, size_t width, void *context)
{
    const size_t *g = context;

    return ratio_or_none(sums[width - 1] / (double)n, independent_share(sums, n, *g));
}

static double conditional(const double *sums, size_t n, size_t width, void *context)
{
    size_t g = *(const size_t *)context, pair = g;
    double total = 0;

    (void)n;
    (void)width;
    for (size_t j = 0; j < g; j++)
        for (size_t k = j + 1; k < g; k++, pair++)
            total += ratio_or_none(sums[pair], sums[j]) + ratio_or_none(sums[pair], sums[k]);
    return total / (double)(g * (g - 1));
}

static double phi(const double *sums, size_t n, size_t width, void *context)
{
    size_t g = *(const size_t *)context, pair = g;
    double rows = (double)n, total = 0;

    (void)width;
    for (size_t j = 0; j < g; j++)
        for (size_t k = j + 1; k < g; k++, pair++) {
            double a = sums[j] * (rows - sums[j]), b = sums[k] * (rows - sums[k]);

            total += ratio_or_none(sums[pair] * rows - sums[j] * sums[k], sqrt(a) * sqrt(b));
        }
    return total / (double)(g * (g - 1) / 2);
}

static double *late_indicators(const double *delay, size_t n, size_t g, double deadline)
{
    size_t width = association_width(g);
    double *rows = xcalloc(n * width, sizeof *rows);

    for (size_t i = 0; i < n; i++) {
        const double *d = delay + i * g;
        double *row = rows + i * width;
        size_t pair = g;
        bool all = true;

        for (size_t j = 0; j < g; j++) {
            row[j] = d[j] > deadline;
            all = all && d[j] > deadline;
            for (size_t k = j + 1; k < g; k++)
                row[pair++] = d[j] > deadline && d[k] > deadline;
        }
        row[width - 1] = all;
    }
    return rows;
}

static double column_sum(const double *rows, size_t n, size_t width, size_t column)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += rows[i * width + column];
    return sum;
}

/* Take the interval away if it rests on fewer than LEAST_EVENTS events. */
static void require_events(struct interval *i, double events, size_t n)
{
    if (events >= LEAST_EVENTS || i->none == INTERVAL_FEW_VALUES)
        return;
    i->none = INTERVAL_FEW_EVENTS;
    i->low = i->high = NAN;
    i->need = events > 0 ? (uint64_t)((double)n * (LEAST_EVENTS / events)) + 1 : 0;
}

struct association association_of(const struct bootstrap *b, const double *delay, size_t n,
                                  size_t g, double deadline, struct rng *rng)
{
    size_t width = association_width(g);
    double *rows = late_indicators(delay, n, g, deadline), *sums = xcalloc(width, sizeof *sums);
    double pairs = 0;
    struct association a;

    for (size_t c = 0; c < width; c++)
        sums[c] = column_sum(rows, n, width, c);
    for (size_t c = g; c < width - 1; c++)
        pairs = sums[c] > pairs ? sums[c] : pairs;
    a.joint = (uint64_t)sums[width - 1];
    a.independent = n ? independent_share(sums, n, g) : NAN;
    a.all_late = bootstrap_sums(b, rows, n, width, all_late, &g, rng);
    a.lift = bootstrap_sums(b, rows, n, width, lift, &g, rng);
    a.conditional = bootstrap_sums(b, rows, n, width, conditional, &g, rng);
    a.phi = bootstrap_sums(b, rows, n, width, phi, &g, rng);
    require_events(&a.all_late, sums[width - 1], n);
    require_events(&a.lift, sums[width - 1], n);
    require_events(&a.conditional, pairs, n);
    require_events(&a.phi, pairs, n);
    free(rows);
    free(sums);
    return a;
}

static double own_quantile(const double *delay, size_t n, size_t g, size_t j, double q)
{
    double *own = xcalloc(n, sizeof *own), value;

    for (size_t i = 0; i < n; i++)
        own[i] = delay[i * g + j];
    sort_doubles(own, n);
    value = n ? own[quantile_rank(q, n) - 1] : NAN;
    free(own);
    return value;
}

static double second_given_first(const double *sums, size_t n, size_t width, void *context)
{
    (void)n;
    (void)width;
    (void)context;
    return ratio_or_none(sums[1], sums[0]);
}

struct interval tail_dependence(const struct bootstrap *b, const double *delay, size_t n, size_t g,
                                size_t j, size_t k, double q, struct rng *rng)
{
    double *rows = xcalloc(n * 2, sizeof *rows); /* k above; both above */
    double limit_j = own_quantile(delay, n, g, j, q), limit_k = own_quantile(delay, n, g, k, q);
    struct interval i;

    BUG_ON(j >= g || k >= g);
    for (size_t r = 0; r < n; r++) {
        rows[2 * r] = delay[r * g + k] > limit_k;
        rows[2 * r + 1] = rows[2 * r] > 0 && delay[r * g + j] > limit_j;
    }
    i = bootstrap_sums(b, rows, n, 2, second_given_first, NULL, rng);
    require_events(&i, column_sum(rows, n, 2, 1), n);
    free(rows);
    return i;
}
