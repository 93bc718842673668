/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intervals for estimates that are made of all replications together: a quantile of all requests
 * of all runs, a mean over all of them, a difference or ratio of such figures.
 *
 * Why together: runs of a deterministic system can lock into different patterns (the phases of
 * guests that sleep and wake in step with the scheduler's slices), and then the mean of the runs'
 * p99.9 is not the p99.9 of what a client sees on a host at a random time. The estimate from all
 * together is; how far it may be off is seen by leaving out one run at a time (the delete-a-group
 * jackknife: Quenouille 1956, Tukey 1958; for quantiles of clustered observations: Shao, Wu,
 * Annals of Statistics 17(3), 1989, a cluster must hold many observations).
 */
#ifndef HVSIM_SIM_JACKKNIFE_H
#define HVSIM_SIM_JACKKNIFE_H

#include "sim/interval.h"

/* `estimate` is that of all n replications, without[i] that of all but the i-th. Half-width by
 * Student's t with n - 1 degrees of freedom. INTERVAL_FEW_VALUES for n < 2 or a NAN among them. */
struct interval interval_jackknife(double estimate, const double *without, size_t n, double level);

#endif
