/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a control loop did in the measured time, from the record of its rounds. */
#ifndef HVSIM_SCENARIO_CONTROL_MEASURES_H
#define HVSIM_SCENARIO_CONTROL_MEASURES_H

#include "models/control/agent.h"
#include "sim/histogram.h"
#include "sim/runs.h"

struct loop_measures {
    size_t rounds;
    uint32_t replicas;
    struct histogram delay[CONTROL_REPLICAS]; /* of setpoints that came */
    struct histogram service;                 /* from a round's start to its implementation */
    struct histogram gap;                     /* between implementations */
    struct runs late[CONTROL_REPLICAS];       /* rounds without a setpoint within the horizon */
    uint64_t lost[CONTROL_REPLICAS];          /* rounds without any */
    struct runs outage;                       /* rounds that implemented nothing in time */
    uint64_t all_late;
};

/* Of a closed agent. */
void loop_measures_init(struct loop_measures *m, const struct agent *a);
void loop_measures_free(struct loop_measures *m);

#endif
