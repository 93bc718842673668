/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rare events by importance sampling: what is drawn is drawn more often from where the event is
 * likely, and each sample is weighted by the ratio of the two densities, so that the mean of weight
 * times indicator is the true probability (Kahn, Marshall 1953).
 *
 * Two kinds of draws are biased. An event of chance p happens with chance q instead. A uniform
 * number, from which a distribution is drawn by inversion (which may put large values at either
 * end), comes with chance `share` from a tail near 0 or 1: of the size given, or of ten times
 * that. It is a mixture, so that weights are
 * bounded by 1 / (1 - share) and no part of the distribution is left out.
 */
#ifndef HVSIM_SIM_RARE_H
#define HVSIM_SIM_RARE_H

#include "sim/interval.h"
#include "sim/random.h"

struct biased {
    struct rng *rng;
    double weight; /* of the sample under way; begins at 1 */
};

/* Did an event of chance p happen? It is made to with chance q, 0 < q < 1. */
bool biased_event(struct biased *b, double p, double q);

/* A uniform number from the mixture. 0 <= share < 1, 0 < tail. */
double biased_uniform(struct biased *b, double share, double tail);

/* A stream whose next uniform number is (nearest to) u: for drawing by inversion. */
struct rng rng_yielding(double u);

/* The mean of weighted indicators from the sums of batches of equal size: an interval by Student's
 * t over at least 10 batches, cut off at 0. */
struct interval interval_weighted(const double *batch_mean, size_t batches, double level);

#endif
