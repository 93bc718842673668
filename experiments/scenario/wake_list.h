/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events for a program at dates that the scenario lists, with no device behind them: what tests of
 * a scheduler need. As in the reference schedules, an event that finds one pending is lost in it.
 */
#ifndef HVSIM_SCENARIO_WAKE_LIST_H
#define HVSIM_SCENARIO_WAKE_LIST_H

#include "models/guest/guest.h"
#include "sim/params.h"

struct wake_spec {
    struct param_list times; /* sim_time, ascending; or: */
    sim_time first, period;  /* period 0: the first only */
    bool network;            /* marked as netback's notification of received packets */
    int pcpu;                /* that takes the interrupt; -1: where the vCPU is */
};

extern const struct param_table wake_table;

struct wake_list;

/* Arm it: `number` orders the events of one date. `spec` is kept by reference. */
struct wake_list *wake_list_start(const struct wake_spec *spec, struct thread *t, uint64_t number);

/* Before the host is freed. */
void wake_list_free(struct wake_list *w);

#endif
