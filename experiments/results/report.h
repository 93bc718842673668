/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reports: one page of HTML that holds everything it shows, from directories that run, compare and
 * sweep have written. Here the data is gathered and put into the page; what is made of it is the
 * work of experiments/library/report/page.js, in the reader's browser.
 */
#ifndef HVSIM_RESULTS_REPORT_H
#define HVSIM_RESULTS_REPORT_H

#include "sim/error.h"

#include <stddef.h>

/* Write the page. `title` NULL: the first directory's own. 0, or -1 with errors. */
int report_write(const char *const *dir, size_t dirs, const char *title, const char *path,
                 struct errors *e);

#endif
