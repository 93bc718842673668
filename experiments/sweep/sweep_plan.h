/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a sweep would do: how many points, about how long, and the first few of them. */
#ifndef HVSIM_SWEEP_SWEEP_PLAN_H
#define HVSIM_SWEEP_SWEEP_PLAN_H

#include "experiments/sweep/sweep.h"

struct plan_options {
    unsigned jobs;
    size_t first; /* points to list */
    bool pilot;   /* simulate a few for some seconds, to tell the time */
    bool json, quiet;
};

/* Print it. 0, or -1 with errors. */
int sweep_plan(const struct sweep *s, const struct plan_options *o, FILE *out, struct errors *e);

#endif
