/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What simulations of the testbed gave, kept in a file of lines (sim/line_file.h), one for each
 * simulation of an experiment, so that a validation that was stopped goes on, and more simulations
 * add to those there are. A line belongs to the scenario it was simulated from: after another
 * calibration the others do not count, and stay. It does not know whether hvsim itself has changed.
 */
#ifndef HVSIM_VALIDATE_TESTBED_JOURNAL_H
#define HVSIM_VALIDATE_TESTBED_JOURNAL_H

#include "experiments/validate/testbed_data.h"

struct testbed_journal;

/* Open or create. NULL with errors. */
struct testbed_journal *testbed_journal_open(const char *path, struct errors *e);
int testbed_journal_close(struct testbed_journal *j, struct errors *e);

/* Fill the values of the cell's simulations 0, 1, ... as far as they are known, at most
 * run.replications: their number. The arrays are there. */
size_t testbed_journal_fill(const struct testbed_journal *j, struct testbed_cell *c,
                            const double *x);

/* Keep the cell's values of a simulation. */
int testbed_journal_add(struct testbed_journal *j, const struct testbed_cell *c, const double *x,
                        size_t simulation, struct errors *e);

#endif
