/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Histogram of durations in nanoseconds with buckets of equal relative width, after
 * HdrHistogram (G. Tene): within each power of two the values are split linearly.
 *
 * Fixed memory, allocated once by histogram_init; recording is O(1) and allocates nothing.
 * Count, minimum, maximum and sum are exact; a quantile is off by at most a bucket, whose width
 * is below 2^(1 - bits) of its values (bits = 11: 0.1 %, HdrHistogram's "3 significant digits").
 * The range is 0 ns .. 2^42 - 1 ns (73 minutes); longer values are counted in the last bucket and
 * in `clipped`, and still enter maximum and sum exactly. Negative values are a caller's bug.
 */
#ifndef HVSIM_SIM_HISTOGRAM_H
#define HVSIM_SIM_HISTOGRAM_H

#include "sim/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define HISTOGRAM_RANGE_BITS 42
#define HISTOGRAM_3_DIGITS 11 /* bits for 0.1 %: 33,792 buckets, 264 KiB */
#define HISTOGRAM_2_DIGITS 8  /* bits for 0.8 %: 4,608 buckets, 36 KiB */

struct histogram {
    uint64_t *bucket;
    uint32_t buckets;
    unsigned bits; /* of a value are kept */
    uint64_t count, clipped;
    sim_time min, max;          /* exact; SIM_NEVER and 0 when empty */
    uint64_t sum_low, sum_high; /* exact sum, 128 bits */
};

/* bits in 3 .. 16. */
void histogram_init(struct histogram *h, unsigned bits);
void histogram_free(struct histogram *h);
void histogram_reset(struct histogram *h); /* forget all values, keep the memory */

void histogram_record(struct histogram *h, sim_time value);
void histogram_record_many(struct histogram *h, sim_time value, uint64_t times);

/* Add all of `from` to h; both must have the same bits. Merging is exact: the order of merges
 * cannot be seen in the result. */
void histogram_merge(struct histogram *h, const struct histogram *from);

double histogram_mean(const struct histogram *h); /* exact up to one rounding; NaN when empty */

/* Standard deviation of the recorded values taken at the middle of their buckets. */
double histogram_deviation(const struct histogram *h);

/* HdrHistogram's percentile: the highest value equivalent to the one of rank ceil(q count), but
 * never above the exact maximum (minimum for q = 0). 0 <= q <= 1. Returns 0 when empty. */
sim_time histogram_quantile(const struct histogram *h, double q);

/* The same quantile as an estimate to compute intervals from: rank q count + 1/2 (Hazen), linear
 * between the values of the neighbouring ranks. NaN when empty. See sorted_quantile in
 * sim/sample.h. */
double histogram_estimate(const struct histogram *h, double q);

/* Recorded values above `value` (its own bucket is not counted). */
uint64_t histogram_above(const struct histogram *h, sim_time value);

/* Bucket arithmetic: index of a value, and the lowest and highest value of an index. */
uint32_t histogram_index(const struct histogram *h, sim_time value);
sim_time histogram_lowest(const struct histogram *h, uint32_t index);
sim_time histogram_highest(const struct histogram *h, uint32_t index);

/* The percentile table in HdrHistogram's own text format (.hgrm), `ticks` lines per halving of
 * the distance to 100 % (HdrHistogram's usual 5), values divided by `unit` (1000 for microseconds).
 * Returns 0, or -1 when writing failed. */
int histogram_write_hgrm(const struct histogram *h, FILE *out, int ticks, double unit);

#endif
