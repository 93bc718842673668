/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actions of reference schedules: weights, caps, affinities and parameters that change while it
 * runs, pauses, vCPUs that are unplugged. See docs/reference-schedules.md.
 */
#ifndef HVSIM_VALIDATE_SCHEDULE_ACTIONS_H
#define HVSIM_VALIDATE_SCHEDULE_ACTIONS_H

#include "experiments/validate/schedule_case.h"

/* Arm the "actions" of a file whose domains exist. They read the document while they run. -1 with
 * errors. */
int schedule_actions_read(struct schedule_world *w, struct json_value root, struct errors *e);

#endif
