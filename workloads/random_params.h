/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Distributions and arrival processes as parameters (PARAM_CUSTOM, sim/params.h).
 *
 *     "60us"                                     always
 *     "exponential(60us)"                        parameters in the order of dist_kinds
 *     "facebook-etc-value-size"                  a preset with a source (dist_presets)
 *     {"type": "pareto", "location": "0", "scale": "16us", "shape": 0.15}     parameters by name
 *     {"type": "empirical", "points": [[0.5, "100us"], [1, "2ms"]]}           cumulative
 *     {"type": "points", "points": [[0.9, "1KiB"]], "rest": "uniform(2KiB, 4KiB)"}
 *
 *     "poisson(500/s)"
 *     {"type": "renewal", "gap": DISTRIBUTION}
 *     {"type": "mmpp", "rates": ["100/s", "5000/s"], "leave": [[0, 1], [10, 0]]}   per second
 *     {"type": "on-off", "gap": D, "on": D, "off": D}
 *     {"type": "trace", "dates": ["1ms", "2.5ms"], "period": "1s"}
 *
 * Fields are struct distribution and struct arrival_process.
 */
#ifndef HVSIM_WORKLOADS_RANDOM_PARAMS_H
#define HVSIM_WORKLOADS_RANDOM_PARAMS_H

#include "sim/params.h"
#include "workloads/arrival.h"

extern const struct param_type dist_time_type; /* of durations: ns */
extern const struct param_type dist_size_type; /* of sizes: bytes */
extern const struct param_type arrival_type;

#endif
