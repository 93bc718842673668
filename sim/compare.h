/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests and races: comparing variants on the same replications (common random numbers).
 *
 * A small p-value says "different"; a large one says nothing (use interval_effect for "no
 * difference that matters").
 */
#ifndef HVSIM_SIM_COMPARE_H
#define HVSIM_SIM_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

enum alternative {
    TWO_SIDED,
    GREATER, /* the mean (median) of a - b is above 0 */
    LESS,
};

/* p-value of the paired t-test on a[i] - b[i]. NaN for n < 2; if all differences are equal, 1 if
 * they are 0, else 0 or 1 as their sign says. */
double paired_t_test(const double *a, const double *b, size_t n, enum alternative alternative);

/* p-value of the sign test: no assumption on the shape. Ties are left out; 1 if nothing is left. */
double paired_sign_test(const double *a, const double *b, size_t n, enum alternative alternative);

/* Holm's step-down adjustment (1979) of m p-values, in the order given: reject those with
 * adjusted[i] <= alpha and the chance of any false rejection is at most alpha. `adjusted` may be
 * `p`. */
void holm_adjust(const double *p, double *adjusted, size_t m);

/* ---- A race: stop simulating variants that are significantly worse ---- */

enum race_test { RACE_T, RACE_SIGN };

#define RACE_LEAST 5 /* replications before any variant can be dropped */

struct race {
    double alpha; /* chance that the race ever drops the best variant */
    size_t first; /* replications before the first look, at least RACE_LEAST */
    size_t looks; /* looks planned: each spends alpha / looks */
    enum race_test test;
    bool larger_is_better;
};

/* One look after n replications. score[v][i] is variant v in replication i; alive[v] says which
 * still run; those that are significantly worse than the alive one with the best mean are cleared.
 * Never drops the last one, nor any before `first` replications. Returns the number dropped. */
size_t race_look(const struct race *r, const double *const *score, bool *alive, size_t variants,
                 size_t n);

/* The same against a variant of the caller's choice, instead of the best: the best of those that
 * may win, for instance. The bound holds whatever the choice is. */
size_t race_against(const struct race *r, const double *const *score, bool *alive, size_t variants,
                    size_t n, size_t reference);

/* Index of the alive variant with the best mean (lowest index among equals). */
size_t race_best(const struct race *r, const double *const *score, const bool *alive,
                 size_t variants, size_t n);

#endif
