/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intervals: how far an estimate may be from the truth.
 *
 * An interval that would be wrong is not given. Instead `none` says why, and `need` how many
 * observations (or replications) would give one: for a quantile with fewer than 10 observations
 * beyond it in each batch or replication, for fewer than two values, for a maximum at all times.
 *
 * `level` is the confidence, 0.95 for instance. Coverage of each kind is tested on closed forms
 * in validation/theory/test_coverage.c. The critical values come from sim/detmath.h, not
 * from GSL, so all ends are bit-identical everywhere and need no rounding before they are written
 * to results; GSL is their reference in the tests.
 */
#ifndef HVSIM_SIM_INTERVAL_H
#define HVSIM_SIM_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum interval_none {
    INTERVAL_GIVEN = 0,
    INTERVAL_FEW_VALUES, /* fewer values than the method needs; need = values */
    INTERVAL_FEW_BEYOND, /* fewer than 10 observations beyond the quantile;
                            need = observations per replication or batch */
    INTERVAL_FEW_EVENTS, /* fewer than 10 of the events that it is about; need = rounds */
    INTERVAL_MAXIMUM,    /* q = 0 or 1: no number of observations is enough */
    INTERVAL_NO_SPREAD,  /* a ratio whose denominator may be 0; a bootstrap whose resamples
                            have no value or no spread */
};

struct interval {
    double estimate;
    double low, high; /* NaN when there is none */
    double level;
    enum interval_none none;
    uint64_t n;    /* values, batches or observations it rests on */
    uint64_t need; /* when none: how many it would take, 0 if no number or not known */
};

/* Observations that must lie beyond a quantile in each batch. */
#define INTERVAL_BEYOND 10

static inline bool interval_given(const struct interval *i)
{
    return i->none == INTERVAL_GIVEN;
}

/* Half the width, NaN when there is none. */
static inline double interval_half(const struct interval *i)
{
    return (i->high - i->low) / 2;
}

/* "fewer than 10 observations beyond the quantile" and so on; "" when there is an interval. */
const char *interval_reason(enum interval_none reason);

/* ---- Means ---- */

/* Mean of n independent values (one per replication), by Student's t. */
struct interval interval_mean(const double *x, size_t n, double level);

/* Mean of one long, dependent series by non-overlapping batch means and Student's t. */
struct interval interval_batch_means(const double *x, size_t n, size_t batches, double level);

/* Mean of a[i] - b[i] (common random numbers: a and b of the same replication). */
struct interval interval_paired_difference(const double *a, const double *b, size_t n,
                                           double level);

/* mean(a) / mean(b) of pairs, by Fieller's theorem (1954). None (INTERVAL_NO_SPREAD) if the
 * denominator is not significantly different from 0. */
struct interval interval_ratio(const double *a, const double *b, size_t n, double level);

/* ---- Quantiles ---- */

/* From one estimate of the quantile per replication, by Student's t. `observations[i]` is the
 * number behind estimate[i]; each must have 10 beyond the quantile. The estimate returned is
 * the mean of estimates. Use histogram_estimate or sorted_quantile for them. */
struct interval interval_quantile_replications(const double *estimate, const uint64_t *observations,
                                               size_t n, double q, double level);

/* From one long series, in its order in time, cut into batches; each must have 10 beyond. */
struct interval interval_quantile_batches(const double *x, size_t n, size_t batches, double q,
                                          double level);

/* From one sample of n independent observations in ascending order, by order statistics (the
 * binomial distribution, no assumption on the shape). */
struct interval interval_quantile_iid(const double *sorted, size_t n, double q, double level);

/* ---- Proportions: k of n independent trials ---- */

enum proportion_method {
    PROPORTION_JEFFREYS, /* Beta(k + 1/2, n - k + 1/2); 0 or 1 as an end for k = 0 or n */
    PROPORTION_EXACT,    /* Clopper, Pearson 1934: covers at least `level`, always */
    PROPORTION_WILSON,   /* Wilson 1927 */
};

struct interval interval_proportion(uint64_t k, uint64_t n, enum proportion_method method,
                                    double level);

/* ---- Deciding from intervals ---- */

/* "No effect" needs an interval that excludes a relevant effect, never a large p-value. */
enum effect {
    EFFECT_UNDECIDED,  /* no interval, or it holds both no effect and a relevant one */
    EFFECT_NEGLIGIBLE, /* the whole interval is within the margin of the reference */
    EFFECT_PRESENT,    /* excludes the reference, but may be smaller than the margin */
    EFFECT_RELEVANT,   /* the whole interval is beyond the margin, on one side */
};

/* The effect shown by an interval around a reference (0 for differences, 1 for ratios), where
 * values in [reference - below, reference + above] would not matter. */
enum effect interval_effect(const struct interval *i, double reference, double below, double above);
const char *effect_name(enum effect e);

/* Level to use for each of m intervals that shall all hold together (Bonferroni). */
double bonferroni_level(double level, size_t m);

/* ---- Sequential stopping ---- */

struct stopping {
    double relative; /* wanted half-width as a share of the mean, > 0 */
    double level;
    size_t least; /* replications before the first decision; raised to 10 if lower */
};

/* The smallest prefix of replications, in index order, after which each of `metrics` series has
 * the wanted half-width; 0 if n are not enough. Depends on no value after the prefix, so the
 * answer is the same in whatever order replications complete. x[m][i] is metric m of replication
 * i. The rule compares with relative / (1 + relative), because the mean is itself an estimate
 * (Law, Simulation Modeling and Analysis, section 9.4). */
size_t stopping_prefix(const struct stopping *s, const double *const *x, size_t metrics, size_t n);

/* Replications that the half-width seen after n suggests; for progress messages. */
size_t stopping_forecast(const struct stopping *s, const double *x, size_t n);

/* ---- Is an observed figure consistent with the simulator? ---- */

/* The central `level` of what many simulations gave, and where an observed value lies. */
struct band {
    double low, high; /* NaN with fewer simulations than the level can resolve (39 for 95 %) */
    double p;         /* two-sided Monte Carlo p-value of `observed`, (1 + r) / (n + 1) based */
    bool inside;      /* low <= observed <= high; false if there is no band */
    uint64_t need;    /* simulations needed when there is no band, else 0 */
};

/* `simulated` is sorted in place. */
struct band simulation_band(double *simulated, size_t n, double observed, double level);

#endif
