/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where latency was spent, by range of latencies: table, CSV, JSON, stacked picture. */
#ifndef HVSIM_RESULTS_BREAKDOWN_REPORT_H
#define HVSIM_RESULTS_BREAKDOWN_REPORT_H

#include "experiments/study/study.h"

/* "Of the requests above p99.9, 71 % of the time is vCPU wait": a table of each client of the first
 * variant, a row for each range and variant. */
void breakdown_print(const struct study *s, FILE *out);

/* "breakdown_ms": [...], of one client. */
void breakdown_put(const struct breakdown *b, struct json_writer *w);

/* breakdown.csv; with a column for the variant if there are labels. */
void breakdown_csv(const struct study *s, bool labels, FILE *out);

/* parts.svg and .png (with several clients parts-NAME): a stacked bar for each range and variant.
 * None for clients of which nothing was measured, nor for more than 16. 0, or -1 with errors. */
int breakdown_plot(const struct study *s, const char *dir, bool quiet, struct errors *e);

#endif
