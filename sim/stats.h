/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All statistics in one include: every estimator, interval, test and race decision of hvsim.
 *
 *   sim/histogram.h  log-linear histogram of nanoseconds, percentile table
 *   sim/sample.h     moments, averages over time, exact quantiles, warm-up, fairness
 *   sim/interval.h   intervals, equivalence, sequential stopping, simulated bands
 *   sim/jackknife.h  intervals of figures made of all replications together
 *   sim/bootstrap.h  block bootstrap, association of late replicas
 *   sim/compare.h    paired tests, multiple comparisons, races
 *   sim/sequential.h decisions on a growing number of replications
 */
#ifndef HVSIM_SIM_STATS_H
#define HVSIM_SIM_STATS_H

#include "sim/bootstrap.h"
#include "sim/compare.h"
#include "sim/histogram.h"
#include "sim/interval.h"
#include "sim/jackknife.h"
#include "sim/sample.h"
#include "sim/sequential.h"

#endif
