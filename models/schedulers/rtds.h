/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RTDS's parameters of a vCPU, for whoever sets them. */
#ifndef HVSIM_SCHEDULERS_RTDS_H
#define HVSIM_SCHEDULERS_RTDS_H

#include "sim/time.h"

#include <stdbool.h>

struct rtds_vcpu_params {
    sim_time period, budget;
    bool extratime;
};

#endif
