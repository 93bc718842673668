/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A histogram (sim/histogram.h) of which only the filled buckets are kept: what is stored of a
 * replication, and what figures of many of them are computed from. All figures are the same to the
 * last bit as those of the histogram itself.
 */
#ifndef HVSIM_SIM_SPARSE_H
#define HVSIM_SIM_SPARSE_H

#include "sim/histogram.h"

struct sparse_cell {
    uint32_t bucket;
    uint64_t count;
};

struct sparse {
    struct sparse_cell *cell; /* by bucket */
    uint32_t cells;
    unsigned bits; /* 0: empty, of no histogram */
    uint64_t count, clipped;
    sim_time min, max;
    uint64_t sum_low, sum_high;
};

void sparse_free(struct sparse *s);

/* Of a histogram, which may be without buckets. */
struct sparse sparse_of(const struct histogram *h);

/* All of n together; empty ones are passed over, the others must have the same bits. */
struct sparse sparse_sum(const struct sparse *const *part, size_t n);

/* A quantile (0 <= q <= 1, as histogram_estimate) or the mean (q < 0), in ns, of `all`; without
 * those of `part`, one of its summands, unless that is NULL. Extremes stay those of `all`. NAN
 * without observations. */
double sparse_figure(const struct sparse *all, const struct sparse *part, double q);

/* As text without blanks, and back: 0 and *text behind it, or -1 if it is none. */
void sparse_write(const struct sparse *s, FILE *out);
int sparse_read(struct sparse *s, const char **text);

#endif
