/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole distributions (latencies, waits, delays) of a study as one CSV file: the value that a share
 * of the observations of all replications is above, for shares down to a single observation; 0: the
 * largest. What curves of percentiles are drawn from.
 */
#ifndef HVSIM_RESULTS_DISTRIBUTIONS_H
#define HVSIM_RESULTS_DISTRIBUTIONS_H

#include <stdio.h>

/* ctx: const struct study *; a results_fn. */
void distributions_csv(const void *ctx, FILE *out);

#endif
