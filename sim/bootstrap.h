/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Block bootstrap for dependent rounds, and the association of late indicators.
 *
 * Rounds of a control loop, or requests of one client, are dependent: a stall makes several of
 * them late. Resampling blocks of consecutive rounds keeps that dependence (Kuensch 1989; blocks
 * wrap around at the end: Politis, Romano 1992, so that each round is as likely as any other). The
 * interval is the percentile interval of the resamples, widened as Student's t would for the
 * number of blocks (Hesterberg, The American Statistician 69(4), 2015).
 */
#ifndef HVSIM_SIM_BOOTSTRAP_H
#define HVSIM_SIM_BOOTSTRAP_H

#include "sim/interval.h"
#include "sim/random.h"

/* A statistic of n rows of `width` values each (row i begins at rows[i * width]). NaN: it has
 * no value for these rows. */
typedef double statistic_fn(const double *rows, size_t n, size_t width, void *context);

/* A statistic of the sums of each column over n rows. */
typedef double sums_fn(const double *sums, size_t n, size_t width, void *context);

struct bootstrap {
    size_t block;     /* rows per block; 0: the longest bootstrap_block of the columns */
    size_t resamples; /* 0: 1000 */
    bool disjoint;    /* draw from the n / block disjoint blocks instead of all n moving ones */
    double level;
};

/* Interval of a statistic of n consecutive rounds. None if there are fewer than 10 blocks (need =
 * rounds), or if more than 5 % of the resamples have no value, or all have the same one. `rng`
 * fixes the resamples. Takes and gives back memory for one resample; time: resamples x n x width.
 */
struct interval bootstrap_interval(const struct bootstrap *b, const double *rows, size_t n,
                                   size_t width, statistic_fn *statistic, void *context,
                                   struct rng *rng);

/* The same for statistics that need the columns' sums only (means, counts, ratios of them), from
 * running sums: time resamples x n / block x width. Gives the same interval as bootstrap_interval
 * would, up to rounding. */
struct interval bootstrap_sums(const struct bootstrap *b, const double *rows, size_t n,
                               size_t width, sums_fn *statistic, void *context, struct rng *rng);

/* The block length that minimises the error of the variance of the mean if the series were AR(1)
 * with its lag-1 autocorrelation r: (6 n)^(1/3) (r / (1 - r^2))^(2/3) (Politis, White 2004, for
 * circular blocks). At least 1, at most n. Long rare stalls need longer blocks than r tells: give
 * one. */
size_t bootstrap_block(const double *x, size_t n);

/* ---- Association of late indicators ---- */

/* How correlated the late rounds of g replicas are. Each figure with its interval. */
struct association {
    struct interval all_late;    /* P(all g late): unavailability as it is */
    double independent;          /* prod P(late_i): unavailability that independence predicts */
    struct interval lift;        /* all_late / independent; 1 if independent */
    struct interval conditional; /* P(second late | first late), mean over ordered pairs */
    struct interval phi;         /* phi coefficient (Pearson of indicators), mean over pairs */
    uint64_t joint;              /* rounds with all late */
};

/* From the delays of n rounds of g >= 2 replicas, delay[i * g + j], against a deadline (late: above
 * it). A crashed replica's delay is INFINITY. Figures about joint lateness have no interval with
 * fewer than 10 rounds in which all (for lift and all_late) or some pair (for the others) are late
 * together. */
struct association association_of(const struct bootstrap *b, const double *delay, size_t n,
                                  size_t g, double deadline, struct rng *rng);

/* Upper-tail dependence of replicas j and k at level q: P(j above its own q-quantile | k above its
 * own), which tends to the tail coefficient as q -> 1 and is 1 - q if independent. Give it several
 * q to see the limit. None with fewer than 10 rounds in which both are. */
struct interval tail_dependence(const struct bootstrap *b, const double *delay, size_t n, size_t g,
                                size_t j, size_t k, double q, struct rng *rng);

#endif
