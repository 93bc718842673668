/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrival processes as parameters (PARAM_CUSTOM, sim/params.h); fields are struct arrival_process.
 *
 *     "poisson(500/s)"
 *     {"type": "renewal", "gap": DISTRIBUTION}                  see sim/distribution_params.h
 *     {"type": "mmpp", "rates": ["100/s", "5000/s"], "leave": [[0, 1], [10, 0]]}   per second
 *     {"type": "on-off", "gap": D, "on": D, "off": D}
 *     {"type": "trace", "dates": ["1ms", "2.5ms"], "period": "1s"}
 */
#ifndef HVSIM_WORKLOADS_ARRIVAL_PARAMS_H
#define HVSIM_WORKLOADS_ARRIVAL_PARAMS_H

#include "sim/params.h"
#include "workloads/arrival.h"

extern const struct param_type arrival_type;

#endif
