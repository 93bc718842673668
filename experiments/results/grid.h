/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for people: aligned columns, the first to the left, the others to the right. */
#ifndef HVSIM_RESULTS_GRID_H
#define HVSIM_RESULTS_GRID_H

#include "sim/interval.h"

#include <stddef.h>
#include <stdio.h>

struct grid {
    char **cell;                /* rows * columns, owned; NULL: empty */
    size_t columns, rows, used; /* used: of the last row */
};

void grid_init(struct grid *g, size_t columns);
void grid_free(struct grid *g);

/* Begin a row, and put cells into it from left to right. */
void grid_row(struct grid *g);
void grid_put(struct grid *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A value as value_text() has it; "4.2 (1.1 to 13)", or the estimate alone, of an interval times
 * `scale`: for intervals that do not lie around their estimate. */
void grid_put_value(struct grid *g, double value);
void grid_put_range(struct grid *g, const struct interval *i, double scale);

void grid_print(const struct grid *g, FILE *out);

/* "59.4 ±2.1", as many digits as the interval supports; "59.4 *" when there is none but could be,
 * "-" for no value. `mark` (may be NULL) is set when a star was given. Caller frees. */
char *figure_text(const struct interval *i, bool *mark);

/* A value with about four significant digits. Caller frees. */
char *value_text(double value);

#endif
