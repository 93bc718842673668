/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Observations and what describes them: running moments, averages over time, exact quantiles,
 * autocorrelation, warm-up, fairness. Estimates only; intervals are in sim/interval.h.
 *
 * All functions use + - * / and sqrt in a fixed order: bit-identical everywhere, provided that
 * the observations come in a fixed order (merge replications by index, not by completion).
 */
#ifndef HVSIM_SIM_SAMPLE_H
#define HVSIM_SIM_SAMPLE_H

#include "sim/time.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Running moments (Welford 1962; merging: Chan, Golub, LeVeque 1979). Zero is empty. ---- */

struct running {
    uint64_t count;
    double mean, m2; /* m2: sum of squared deviations from the mean */
    double min, max; /* meaningless while count is 0 */
};

void running_add(struct running *r, double x);
void running_merge(struct running *r, const struct running *from);
double running_variance(const struct running *r); /* divided by n - 1; NaN below 2 values */
double running_deviation(const struct running *r);

/* ---- Average over time of a quantity that changes in steps (queue length, busy pCPUs) ---- */

struct time_average {
    sim_time from, since; /* start of the average; date of the last change */
    double value;         /* since then */
    double area;          /* integral up to `since`, in value x ns */
    double max;
};

void time_average_start(struct time_average *a, sim_time now, double value);
void time_average_set(struct time_average *a, sim_time now, double value);
/* Forget the past (end of the warm-up), keep the value. */
void time_average_restart(struct time_average *a, sim_time now);
double time_average_mean(const struct time_average *a,
                         sim_time now); /* the value if no time passed */

/* ---- A growable vector of observations, for exact quantiles. Zero is empty. ---- */

struct samples {
    double *x;
    size_t count, capacity;
    bool sorted;
};

void samples_add(struct samples *s, double x); /* x must not be NaN */
void samples_free(struct samples *s);
void samples_sort(struct samples *s);

/* Quantile of n values in ascending order, 0 <= q <= 1. Rank q n + 1/2, linear between
 * neighbours (Hazen; type 5 of Hyndman, Fan 1996). Chosen because it is unbiased for exponential
 * tails, so that averaging it over batches converges to the truth; plain order statistics
 * with 10 values beyond them are low by a third of their deviation. NaN for n = 0. */
double sorted_quantile(const double *sorted, size_t n, double q);
double samples_quantile(struct samples *s, double q); /* sorts if needed */
void sort_doubles(double *x, size_t n);

/* The smallest rank (1 .. n) whose share of n is at least q: ceil(q n), but immune to the
 * binary representation of q (0.999 of 1000 is rank 999). */
uint64_t quantile_rank(double q, uint64_t n);

/* Observations beyond the quantile, on its shorter side: min(q, 1 - q) n, rounded down with the
 * same care. */
uint64_t quantile_beyond(double q, uint64_t n);

/* Observations needed so that `beyond` of them lie beyond the quantile; 0 if no number is enough
 * (q is 0 or 1). */
uint64_t quantile_need(double q, uint64_t beyond);

/* ---- Series ---- */

double mean_of(const double *x, size_t n);     /* NaN for n = 0 */
double variance_of(const double *x, size_t n); /* divided by n - 1, two passes; NaN for n < 2 */
double correlation_of(const double *x, const double *y,
                      size_t n); /* Pearson; NaN if one is constant */

/* Autocorrelation at a lag, deviations from the common mean, divided by n (so that |result| <= 1).
 * 0 for a constant series; NaN if n <= lag. */
double autocorrelation(const double *x, size_t n, size_t lag);

/* Means of `batches` consecutive batches of n / batches values; the rest at the start is left out
 * (it is the part nearest to the warm-up). Returns the size of a batch. */
size_t batch_means(const double *x, size_t n, size_t batches, double *means);

/* Warm-up by MSER-5 (White, Cobb, Spratt, WSC 2000): the number of leading observations to drop,
 * a multiple of 5, that minimises the squared standard error of the mean of the rest. Candidates
 * up to half of the series; returns n, "no steady state seen", if the minimum is at the end of them
 * or n < 50. */
size_t warmup_mser5(const double *x, size_t n);

/* ---- Fairness of shares ---- */

/* Jain's index (sum x)^2 / (n sum x^2): 1 if all are equal, 1/n if one has everything. Give
 * it shares divided by entitlements. 1 for n = 0 or all zero. */
double jain_index(const double *x, size_t n);

/* Largest |x_i / e_i - 1| over entitlements e_i > 0; with e NULL, over the mean of x. */
double largest_deviation(const double *x, const double *e, size_t n);

#endif
