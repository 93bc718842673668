/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters of struct host_costs: defaults, ranges, sources. */
#ifndef HVSIM_HYPERVISOR_COSTS_H
#define HVSIM_HYPERVISOR_COSTS_H

#include "models/hypervisor/hypervisor.h"
#include "sim/params.h"

extern const struct param_table host_cost_params;

#endif
