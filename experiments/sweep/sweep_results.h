/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of a sweep's directory, point by point: for gather and show. */
#ifndef HVSIM_SWEEP_SWEEP_RESULTS_H
#define HVSIM_SWEEP_SWEEP_RESULTS_H

#include "experiments/sweep/sweep_index.h"

struct sweep_results {
    struct sweep_index index;
    struct store store;
};

/* 0, or -1 with errors; free in both cases. A sweep that is still running may be read. */
int sweep_results_open(struct sweep_results *r, const char *dir, struct errors *e);
void sweep_results_free(struct sweep_results *r);

struct point_result {
    enum entry_state state; /* ENTRY_MORE: not finished */
    uint32_t n;         /* done: replications; failed: the one that failed; else: there so far */
    const char *reason; /* failed */
    struct kept *item;  /* done: its replications */
    struct kept_set set;
    const struct figures *figures;
};

int sweep_result(struct sweep_results *r, size_t point, struct point_result *p, struct errors *e);
void point_result_free(struct point_result *p);

/* ---- gather ------------------------------------------------------------------------------------
 */

struct gather_counts {
    size_t points, done, failed, rows;
};

/* points.csv, results.csv, replications.csv and sweep.sqlite into the directory. */
int sweep_gather(struct sweep_results *r, struct gather_counts *counts, struct errors *e);

#endif
