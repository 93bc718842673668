/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Following a real trace, one step ahead: the scheduler under test stands in the state that the
 * trace shows; wakes, blocks and pauses are the trace's; at each switch the scheduler is asked whom
 * it would run. If it names another vCPU than Xen did, that is counted and explained, and it is set
 * back to what Xen did. Nothing is simulated ahead, so an error does not grow.
 *
 * What Xen's traces do not show is inferred:
 *   Credit   credits and priorities: bounds on each vCPU's credit follow from whom Xen chose
 *            (driven_credit.c). Dates of ticks are those of the records they make; dates of
 *            accountings those of ACCOUNT_STOP, parking and unparking, or else fitted: one phase
 *            per pool, on the first part of the trace.
 *   Credit2  nothing: its records show credits.
 *   RTDS     the difference between Xen's clock, which deadlines are dates of, and the TSC.
 *   null     nothing.
 *
 * Not judged are decisions before the state is known: under Credit until each of the vCPUs
 * concerned was accounted once and ran once, else until a record has shown it.
 */
#ifndef HVSIM_VALIDATE_DRIVEN_H
#define HVSIM_VALIDATE_DRIVEN_H

#include "experiments/validate/capture.h"

struct driven_counts {
    uint64_t decisions; /* all that the trace shows */
    uint64_t judged, same;
    uint64_t choices, choices_same; /* of the judged ones: between several that could run */
    uint64_t wakes, wakes_same;     /* whether a wake made a pCPU decide, and which */
    uint64_t boosts, boosts_same;   /* Credit: wakes and ticks by whether they changed BOOST */
    uint64_t resets, resets_same;   /* Credit2: decisions by whether they reset all credits */
};

struct driven_pool {
    char *name, *scheduler;
    bool followed; /* false: nobody knows how to follow this scheduler */
    struct driven_counts counts;
    char *inference; /* how what is not in the trace was found; NULL: nothing had to be */
};

/* A decision that differs. */
struct driven_difference {
    uint32_t pool;
    char *text; /* complete, one line */
};

enum { DRIVEN_SHOWN = 20 };

struct driven_report {
    struct driven_pool *pool;
    size_t pools;
    struct driven_difference difference[DRIVEN_SHOWN]; /* the first ones */
    size_t differences;
    uint64_t lost;    /* records that are missing in the trace */
    uint64_t resyncs; /* times the followed state did not fit the trace and was set anew */
    char **remark;    /* what of the trace was not understood */
    size_t remarks;
};

/* 0, or -1 with errors. */
int driven_follow(const struct capture *c, struct driven_report *r, struct errors *e);
void driven_free_report(struct driven_report *r);

#endif
