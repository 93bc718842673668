/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The largest load at which bounds are still kept, by bisection. The bounds are taken to hold below
 * some load and to break above it.
 *
 * A load is replicated until the intervals of all bounded figures lie on one side of their limits,
 * or up to a number of replications: then it stays open. The level of the intervals is raised for
 * the looks and loads planned, so that all verdicts hold together with the wanted confidence. So
 * the answer is an interval: the largest load known to keep the bounds, the smallest known to
 * break one, and what is open between them.
 */
#ifndef HVSIM_SEARCH_CAPACITY_H
#define HVSIM_SEARCH_CAPACITY_H

#include "sim/error.h"
#include "sim/sequential.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capacity_problem {
    double low, high;
    double step;          /* > 0: values are low + i step */
    double tolerance;     /* else: loads closer than this share of the larger are one */
    bool log;             /* halve by ratio */
    double level;         /* of all verdicts together */
    uint32_t first, most; /* replications */
    void *ctx;
    /* Bring this load to n replications and judge it with intervals of that level. -1 with errors.
     */
    int (*judge)(void *ctx, double load, uint32_t n, double level, enum bound_verdict *verdict,
                 struct errors *e);
};

struct capacity_try {
    double load;
    uint32_t n;
    enum bound_verdict verdict;
};

struct capacity_result {
    struct capacity_try *item; /* in the order they were made */
    size_t tries;
    double met, broken; /* NAN: none was found */
    double level;       /* of each interval */
};

int capacity_search(const struct capacity_problem *p, struct capacity_result *r, struct errors *e);
void capacity_result_free(struct capacity_result *r);

#endif
