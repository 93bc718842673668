/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * With bits = m, values below 2^m have a bucket each (indices 0 .. 2^m - 1). A larger value with
 * its highest bit at position m - 1 + s (s >= 1) keeps its m highest bits: v >> s lies in 2^(m-1)
 * .. 2^m - 1, and its index is that plus s 2^(m-1). So indices are contiguous, and each power of
 * two above 2^m adds 2^(m-1) buckets. This is HdrHistogram's layout with a lowest discernible value
 * of 1.
 */
#include "sim/histogram.h"

#include "sim/error.h"
#include "sim/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

#define LARGEST ((INT64_C(1) << HISTOGRAM_RANGE_BITS) - 1)

static inline uint32_t half_count(const struct histogram *h)
{
    return UINT32_C(1) << (h->bits - 1);
}

static inline unsigned shift_of(const struct histogram *h, uint64_t value)
{
    unsigned width = 64 - (unsigned)__builtin_clzll(value | 1);

    return width > h->bits ? width - h->bits : 0;
}

uint32_t histogram_index(const struct histogram *h, sim_time value)
{
    uint64_t v = value > LARGEST ? LARGEST : (uint64_t)value;
    unsigned s = shift_of(h, v);

    return (uint32_t)(v >> s) + s * half_count(h);
}

static unsigned index_shift(const struct histogram *h, uint32_t index)
{
    return index < 2 * half_count(h) ? 0 : index / half_count(h) - 1;
}

sim_time histogram_lowest(const struct histogram *h, uint32_t index)
{
    unsigned s = index_shift(h, index);

    return (sim_time)(index - s * half_count(h)) << s;
}

sim_time histogram_highest(const struct histogram *h, uint32_t index)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): index >= 2 half_count */
    return histogram_lowest(h, index) + (INT64_C(1) << index_shift(h, index)) - 1;
}

void histogram_init(struct histogram *h, unsigned bits)
{
    BUG_ON(bits < 3 || bits > 16);
    *h = (struct histogram){.bits = bits, .min = SIM_NEVER};
    h->buckets = histogram_index(h, LARGEST) + 1;
    h->bucket = xcalloc(h->buckets, sizeof *h->bucket);
}

void histogram_free(struct histogram *h)
{
    free(h->bucket);
    *h = (struct histogram){0};
}

void histogram_reset(struct histogram *h)
{
    uint64_t *bucket = h->bucket;

    memset(bucket, 0, h->buckets * sizeof *bucket);
    *h = (struct histogram){
        .bucket = bucket, .buckets = h->buckets, .bits = h->bits, .min = SIM_NEVER};
}

static void add_sum(struct histogram *h, uint128 more)
{
    uint128 sum = ((uint128)h->sum_high << 64 | h->sum_low) + more;

    h->sum_low = (uint64_t)sum;
    h->sum_high = (uint64_t)(sum >> 64);
}

void histogram_record_many(struct histogram *h, sim_time value, uint64_t times)
{
    BUG_ON(value < 0);
    if (!times)
        return;
    h->bucket[histogram_index(h, value)] += times;
    h->count += times;
    add_sum(h, (uint128)value * times);
    if (value > LARGEST)
        h->clipped += times;
    if (value < h->min)
        h->min = value;
    if (value > h->max)
        h->max = value;
}

void histogram_record(struct histogram *h, sim_time value)
{
    histogram_record_many(h, value, 1);
}

void histogram_merge(struct histogram *h, const struct histogram *from)
{
    BUG_ON(h->bits != from->bits);
    for (uint32_t i = 0; i < h->buckets; i++)
        h->bucket[i] += from->bucket[i];
    h->count += from->count;
    h->clipped += from->clipped;
    add_sum(h, (uint128)from->sum_high << 64 | from->sum_low);
    if (from->min < h->min)
        h->min = from->min;
    if (from->max > h->max)
        h->max = from->max;
}

double histogram_mean(const struct histogram *h)
{
    uint128 sum = (uint128)h->sum_high << 64 | h->sum_low;
    uint64_t whole;

    if (!h->count)
        return NAN;
    whole = (uint64_t)(sum / h->count); /* below 2^63: a mean of int64 values */
    return (double)whole + (double)(uint64_t)(sum % h->count) / (double)h->count;
}

double histogram_deviation(const struct histogram *h)
{
    double mean = histogram_mean(h), sum = 0;

    for (uint32_t i = 0; i < h->buckets; i++)
        if (h->bucket[i]) {
            double middle = ((double)histogram_lowest(h, i) + (double)histogram_highest(h, i)) / 2;

            sum += (double)h->bucket[i] * (middle - mean) * (middle - mean);
        }
    return sqrt(sum / (double)h->count);
}

sim_time histogram_quantile(const struct histogram *h, double q)
{
    uint64_t rank = quantile_rank(q, h->count), seen = 0;

    if (!h->count)
        return 0;
    if (q <= 0)
        return h->min;
    for (uint32_t i = 0; i < h->buckets; i++) {
        seen += h->bucket[i];
        if (seen >= rank && h->bucket[i]) {
            sim_time highest = histogram_highest(h, i);

            return highest > h->max || i == h->buckets - 1 ? h->max : highest;
        }
    }
    return h->max;
}

/* The value of a rank (1 .. count): those of a bucket are taken as spread evenly over it, within
 * the exact extremes. `bucket` and `seen` (values before it) walk on from rank to rank. */
static double value_of_rank(const struct histogram *h, uint64_t rank, uint32_t *bucket,
                            uint64_t *seen)
{
    double low, high;

    while (*seen + h->bucket[*bucket] < rank)
        *seen += h->bucket[(*bucket)++];
    low = (double)histogram_lowest(h, *bucket);
    if (index_shift(h, *bucket) == 0)
        return low; /* a bucket of one value */
    high = (double)histogram_highest(h, *bucket) + 1;
    low = low < (double)h->min ? (double)h->min : low;
    high = high > (double)h->max || *bucket == h->buckets - 1 ? (double)h->max : high;
    return low + (high - low) * ((double)(rank - *seen) - 0.5) / (double)h->bucket[*bucket];
}

double histogram_estimate(const struct histogram *h, double q)
{
    double rank = q * (double)h->count + 0.5, first, second, share;
    uint64_t k, seen = 0;
    uint32_t bucket = 0;

    if (!h->count)
        return NAN;
    if (rank <= 1)
        return (double)h->min;
    if (rank >= (double)h->count)
        return (double)h->max;
    k = (uint64_t)rank;
    share = rank - (double)k;
    first = value_of_rank(h, k, &bucket, &seen);
    second = value_of_rank(h, k + 1, &bucket, &seen);
    return first + (second - first) * share;
}

uint64_t histogram_above(const struct histogram *h, sim_time value)
{
    uint64_t above = 0;

    for (uint32_t i = value < 0 ? 0 : histogram_index(h, value) + 1; i < h->buckets; i++)
        above += h->bucket[i];
    return above;
}

/* Significant decimal digits that the bits are good for: 10^digits <= 2^(bits - 1). */
static int digits_of(unsigned bits)
{
    int digits = 0;

    for (uint32_t ten = 10; ten <= UINT32_C(1) << (bits - 1); ten *= 10)
        digits++;
    return digits;
}

/* Powers of two that HdrHistogram would count as buckets. */
static int octaves(const struct histogram *h)
{
    return HISTOGRAM_RANGE_BITS - (int)h->bits + 1;
}

/* Level number i: between 1 - 2^-k and 1 - 2^-(k+1) there are `ticks` of them, evenly spaced. */
static double level_of(int i, int ticks)
{
    double rest = 1;

    for (; i >= ticks; i -= ticks)
        rest /= 2;
    return (1 - rest) + i * (rest / 2) / ticks;
}

/* HdrHistogram has one line per level, with the first value at or above it and the number of values
 * up to that one; when all are counted one more level, and then the line of the maximum. */
int histogram_write_hgrm(const struct histogram *h, FILE *out, int ticks, double unit)
{
    uint64_t seen = 0;
    int digits = digits_of(h->bits), level = 0;

    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
            "1/(1-Percentile)");
    for (uint32_t i = 0; i < h->buckets && seen < h->count; i++) {
        double highest = (double)histogram_highest(h, i);

        if (!h->bucket[i])
            continue;
        seen += h->bucket[i];
        if (highest > (double)h->max || seen == h->count)
            highest = (double)h->max;
        for (;; level++) {
            double q = level_of(level, ticks);

            if (quantile_rank(q, h->count) > seen)
                break;
            fprintf(out, "%12.*f %14.12f %10llu %14.2f\n", digits, highest / unit, q,
                    (unsigned long long)seen, 1 / (1 - q));
            if (seen == h->count)
                break;
        }
    }
    if (h->count)
        fprintf(out, "%12.*f %14.12f %10llu\n", digits, (double)h->max / unit, 1.0,
                (unsigned long long)h->count);
    fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n",
            h->count ? histogram_mean(h) / unit : 0, h->count ? histogram_deviation(h) / unit : 0);
    fprintf(out, "#[Max     = %12.3f, Total count    = %12llu]\n", (double)h->max / unit,
            (unsigned long long)h->count);
    fprintf(out, "#[Buckets = %12d, SubBuckets     = %12u]\n", octaves(h), 2 * half_count(h));
    return ferror(out) ? -1 : 0;
}
