/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calibration: what a model leaves open, fitted to what was measured. One set of values for all
 * points; nothing is fitted per point.
 *
 * Discrete unknowns are enumerated: all combinations while they are at most a third of the budget,
 * else one unknown after the other until none changes any more. From the best combinations GSL's
 * simplex of Nelder and Mead moves the continuous ones. The simulator is asked with common random
 * numbers, so that two settings differ by what was changed.
 *
 * Loss of a point: |log(simulated / measured)|, at most CALIBRATION_WORST (a tail that is off
 * by more teaches no more, and must not drown the others); the loss is the mean over groups of
 * points (those of one run) of their means.
 *
 * Profile of an unknown: it is held at some values (all choices), the other continuous ones are
 * fitted again as far as the budget goes. A value is acceptable if its loss is not significantly
 * higher than the best's: paired differences over groups, one-sided Student t at 5 %. The
 * acceptable values make the interval. An unknown whose whole range is acceptable is not
 * identified; one with an end of its range acceptable is a bound.
 *
 * Nothing here knows of simulations: the simulator is the caller's. The search is deterministic;
 * with a journal each evaluation is kept, so that a search that was stopped goes on where it was.
 */
#ifndef HVSIM_SEARCH_CALIBRATE_H
#define HVSIM_SEARCH_CALIBRATE_H

#include "sim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALIBRATION_WORST 3.0 /* a factor of 20 */

struct unknown {
    const char *name, *unit, *meaning;
    const double *choice; /* discrete: its values; NULL: continuous */
    size_t choices;
    double low, high; /* of a continuous one */
    double start;     /* of discrete ones a value, too */
    bool log;         /* moved by ratio */
};

struct calibration_point {
    char *name;
    double measured;
    size_t group; /* points of one run */
};

struct calibration_problem {
    const struct unknown *unknown;
    size_t unknowns;
    const struct calibration_point *point;
    size_t points;
    void *ctx;
    /* What the model gives for all points; NAN: nothing. -1: give up, with errors. */
    int (*simulate)(void *ctx, const double *x, double *simulated, struct errors *e);
};

struct calibration_options {
    size_t budget;       /* simulations of all points */
    size_t profile;      /* values of a continuous unknown in its profile; 0: 5 */
    const char *journal; /* a file to keep them in; NULL: none */
    uint64_t how;        /* a hash of all else that they depend on; others in the journal stay */
    void (*tell)(void *ctx, size_t spent, double best); /* progress; may be NULL */
};

/* calibration_options.how: of x[all] without the unknowns that are fitted (their places in x), and
 * of `count` sizes, such as the number of simulations. */
uint64_t calibration_how(const double *x, size_t all, const size_t *fitted, size_t unknowns,
                         const double *sizes, size_t count);

enum identified {
    IDENTIFIED_NOT,     /* all of its range does as well */
    IDENTIFIED_BOUNDED, /* one end of its range does as well */
    IDENTIFIED_WITHIN,  /* several choices, or an interval inside the range */
    IDENTIFIED_VALUE,   /* a choice that all others do significantly worse than */
    IDENTIFIED_GIVEN,   /* not fitted: the user knows it */
    IDENTIFIED_COUNT
};

struct profile_point {
    double value, loss;
    bool acceptable;
};

struct unknown_result {
    double value, low, high;
    enum identified identified;
    struct profile_point *profile; /* by value */
    size_t points;
};

struct calibration_result {
    double *x;
    double loss;
    double *simulated; /* at x, by point */
    struct unknown_result *unknown;
    size_t spent, refits; /* simulations; those per profile point */
    bool all_combinations;
};

/* Fit. 0, or -1 with errors; free in both cases. */
int calibrate(const struct calibration_problem *p, const struct calibration_options *o,
              struct calibration_result *r, struct errors *e);
void calibration_result_free(struct calibration_result *r, size_t unknowns);

/* Of one point, and of all. */
double calibration_point_loss(double measured, double simulated);
double calibration_loss(const struct calibration_problem *p, const double *simulated);

const char *identified_name(enum identified i); /* "not identified", "bound", ... */

#endif
