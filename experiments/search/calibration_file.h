/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A calibration as a file: for each unknown its value, interval, whether it is identified and its
 * profile; the data and command behind it; the residuals. Written whole; all keys are checked when
 * it is read.
 *
 * A file may hold several parts that were fitted one after the other (the testbed's base latency
 * and its loads): calibration_file_add() puts each one's unknowns and residuals beside the others.
 */
#ifndef HVSIM_SEARCH_CALIBRATION_FILE_H
#define HVSIM_SEARCH_CALIBRATION_FILE_H

#include "experiments/search/calibrate.h"
#include "sim/config.h"

struct calibration_file {
    char *kind;                 /* "testbed", "xentrace" */
    char *command;              /* that wrote it */
    struct param_list data;     /* char *: files */
    struct param_list parts;    /* struct calibration_part */
    struct param_list unknowns; /* struct calibrated */
    struct param_list residuals;
};

struct calibration_part {
    char *name;
    double loss; /* mean |log(simulated / measured)| */
    int64_t points, groups, simulations, refits;
    char *choices; /* "all combinations", "one after the other" */
};

struct calibrated {
    char *name, *unit, *meaning, *part;
    double value, low, high;
    int identified;            /* enum identified */
    struct param_list profile; /* struct profile_point */
};

extern const struct config_format calibration_format;

/* Zeroed, then: */
void calibration_file_add(struct calibration_file *f, const char *part,
                          const struct calibration_problem *p, const struct calibration_result *r);
/* An unknown that was not fitted, since the user knows it. */
void calibration_file_give(struct calibration_file *f, const struct unknown *u, double value);
/* "NAME=VALUE", as after --hold. 0, or -1 with an error. */
int calibration_held(const char *text, const struct unknown *unknown, size_t unknowns,
                     size_t *index, double *value, struct errors *e);
void calibration_file_free(struct calibration_file *f);

int calibration_file_write(const struct calibration_file *f, const char *path, struct errors *e);
/* Of this kind. NULL with errors; free what is returned with calibration_file_release. */
struct calibration_file *calibration_file_read(const char *path, const char *kind,
                                               struct errors *e);
void calibration_file_release(struct calibration_file *f);

/* The value of an unknown; NULL: not in it. */
const struct calibrated *calibration_find(const struct calibration_file *f, const char *name);

/* x[unknown] from the file, the start of those that it does not hold. An unknown in the file that
 * is not in the list, or a value that is no choice or out of range, is an error. */
int calibration_values(const struct calibration_file *f, const char *path,
                       const struct unknown *unknown, size_t unknowns, double *x, struct errors *e);

/* For people: unknowns with intervals and profiles in short; the worst residuals. */
void calibration_print(const struct calibration_file *f, FILE *out);

#endif
