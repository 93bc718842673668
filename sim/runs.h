/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A series that is good or bad at each step, as alternating runs: how often it fails, for how long,
 * and how much of a coincidence can be told from chance.
 */
#ifndef HVSIM_SIM_RUNS_H
#define HVSIM_SIM_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero is empty. Series are independent of each other: a run ends with its series. */
struct runs {
    uint64_t steps, bad; /* in all */
    uint64_t failures;   /* bad runs that began within a series (a bad step after a good one) */
    uint64_t repairs;    /* ... that ended within it */
    uint64_t bad_runs;   /* bad runs, wherever they began */
    uint64_t longest;    /* of the bad runs */
    uint64_t series;
};

/* Add a series: bad[i * stride] for n steps. */
void runs_add(struct runs *r, const bool *bad, size_t n, size_t stride);

/* Mean number of good steps before a failure and of bad steps before a repair, by the maximum
 * likelihood of geometric runs (steps / ends, so that runs cut off at the ends of a series do not
 * count as ends). NaN if none ended. */
double runs_to_failure(const struct runs *r);
double runs_to_repair(const struct runs *r);

/* Mean length of bad runs as observed; NaN if there were none. */
double runs_mean(const struct runs *r);

/* The smallest factor by which a rare coincidence, expected `expected` times by chance, must happen
 * more often for a one-sided test of level (1 - level) / 2 to find it with the given power. Counts
 * are taken as Poisson, thinned by `design`: how much larger the variance is than for independent
 * steps (>= 1). INFINITY if nothing is expected. */
double smallest_factor(double expected, double design, double level, double power);

#endif
