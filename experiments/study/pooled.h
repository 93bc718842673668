/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A distribution over all replications together, of which each can be left out again: what
 * quantiles and means with jackknife intervals are computed from. Parts are kept sparse.
 */
#ifndef HVSIM_STUDY_POOLED_H
#define HVSIM_STUDY_POOLED_H

#include "sim/histogram.h"

#include <stdint.h>

struct pooled_cell {
    uint32_t bucket;
    uint32_t count;
};

struct pooled_part {
    struct pooled_cell *cell;
    uint32_t cells;
    uint64_t count, sum_low, sum_high;
};

struct pooled {
    struct histogram all; /* no buckets while it is empty */
    struct pooled_part *part;
    size_t parts;
};

void pooled_free(struct pooled *p);

/* The next replication; `h` may be without buckets: nothing was observed. */
void pooled_add(struct pooled *p, const struct histogram *h);

/* A quantile or (q < 0) the mean, in ns, of all parts, or of all but one. NAN without
 * observations. */
double pooled_figure(const struct pooled *p, double q);
/* The same of one part alone. */
double pooled_figure_of(const struct pooled *p, size_t part, double q);
double pooled_figure_without(struct pooled *p, size_t part, double q);

#endif
