/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pivot tables of a sweep: one metric, the values of one axis as rows and of another as columns. A
 * further axis makes pages, one for each of its values, unless it is held by a condition or says
 * nothing new (axes that advance together).
 */
#ifndef HVSIM_SWEEP_SWEEP_PIVOT_H
#define HVSIM_SWEEP_SWEEP_PIVOT_H

#include "experiments/sweep/sweep_results.h"

enum pivot_best { BEST_NONE, BEST_LEAST, BEST_MOST };

struct pivot_options {
    const char *rows, *cols;          /* axes; cols may be NULL: one column */
    const struct param_list *metrics; /* char *: at least one; several stand in columns, without
                                         cols and without a best */
    const struct param_list *where;   /* char *: "axis=value" */
    enum pivot_best best;
};

struct pivot_cell {
    bool there; /* a point is done */
    bool failed;
    size_t point;
    struct interval figure;
    double *x; /* pseudo-values of its replications */
    uint32_t n;
    bool winner, close; /* the best one; not significantly worse */
};

struct pivot_page {
    char *name;              /* "load=2k/s"; "" for the only one */
    struct pivot_cell *cell; /* [row * cols + col] */
    size_t compared;         /* cells that the best was compared with */
    uint32_t common;         /* ... over so many replications */
};

struct pivot {
    const struct index_axis *row_axis, *col_axis; /* col_axis NULL: one column */
    const struct metric *metric;                  /* the last of several */
    char *title;       /* "clients: latency_p99, ms"; of several "clients", if they are all its */
    char **row, **col; /* labels, in the order of their first points */
    size_t rows, cols;
    char **named; /* several metrics: "clients: latency_p99, ms" of each */
    struct pivot_page *page;
    size_t pages;
    enum pivot_best best;
};

int pivot_make(struct pivot *p, struct sweep_results *r, const struct pivot_options *o,
               struct errors *e);
void pivot_free(struct pivot *p);

void pivot_print(const struct pivot *p, FILE *out);

enum pivot_picture { PICTURE_AUTO, PICTURE_HEAT, PICTURE_LINES };

/* Pictures into a directory: DIR/NAME.svg and .png for each page. */
int pivot_plot(const struct pivot *p, enum pivot_picture kind, const char *dir, const char *name,
               bool quiet, struct errors *e);

#endif
