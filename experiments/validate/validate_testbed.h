/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim validate testbed DIR: every published point of the TerrierTail testbed that the CSV files
 * of DIR hold (testbed_data.h), simulated as its authors measured it: many runs of the same length,
 * each giving one value of the same statistic.
 *
 * A point holds if it lies inside the central 95 % of the simulated values. The relative error of
 * their median is shown beside it, and all misses stay visible.
 */
#ifndef HVSIM_VALIDATE_VALIDATE_TESTBED_H
#define HVSIM_VALIDATE_VALIDATE_TESTBED_H

#include "sim/error.h"
#include "sim/params.h"

#include <stdbool.h>
#include <stdio.h>

struct testbed_validation {
    const char *calibration; /* file; NULL: the library's, or none if there is none */
    int simulations;         /* of each experiment; 0: 39, the fewest with a central 95 % */
    unsigned jobs;           /* 0: one for each CPU */
    const char *scenarios;   /* a directory: write each experiment as a scenario, and that is all */
    const char *journal;     /* a file that keeps each simulation; NULL: none */
    const struct param_list *only; /* patterns of names as of written scenarios; empty: all */
    bool quiet;
};

enum exit_code validate_testbed(const char *dir, const struct testbed_validation *o, FILE *out,
                                struct errors *e);

#endif
