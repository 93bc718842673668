/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which metrics stand together in a table for people. */
#ifndef HVSIM_RESULTS_REPORT_TABLES_H
#define HVSIM_RESULTS_REPORT_TABLES_H

#include "experiments/study/metrics.h"

struct report_table {
    const char *heading;
    enum subject_kind kind;
    bool compared;         /* shown by compare too */
    bool optional;         /* left out where there is nothing to say */
    const char *prefix[8]; /* metrics whose names begin like one of these */
};

extern const struct report_table report_tables[];
extern const size_t report_table_count;

bool report_table_lists(const struct report_table *t, const struct metric *m);

#endif
