/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the vCPUs of reference schedules do, and the events that are sent to them. See
 * docs/reference-schedules.md. */
#ifndef HVSIM_VALIDATE_SCHEDULE_BEHAVIOUR_H
#define HVSIM_VALIDATE_SCHEDULE_BEHAVIOUR_H

#include "experiments/validate/schedule_case.h"

/* A vCPU's behaviour, as it is given. */
struct behaviour {
    struct schedule_world *world;
    struct json_value json;
    struct guest_vcpu *gv;
    sim_time start; /* date */
    struct errors *e;
};

/* Add its programs and arm its events; what is wrong is left out, with errors. */
void schedule_read_behaviour(const struct behaviour *b);

/* How many events a timer that is armed for `when` sends then; 0: it is not one that sends events.
 */
uint32_t schedule_events_due(const struct timer *t);

#endif
