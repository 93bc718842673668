/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sensitivity of a figure to what is only assumed: each default of a scenario whose status is
 * "assumed" is varied over its range (sim/params.h), one at a time, under the same random numbers,
 * and parameters are ranked by how far the figure moves.
 *
 * Two replications of every value come first. A parameter none of whose values changed anything in
 * them (the distribution or value that the figure is computed from, to the last bit) is left at
 * that: typically nothing in the scenario uses it. All others get the same number of replications,
 * at most the scenario's, as many as the budget allows.
 */
#ifndef HVSIM_SEARCH_SENSITIVITY_H
#define HVSIM_SEARCH_SENSITIVITY_H

#include "experiments/search/trials.h"
#include "sim/progress.h"

enum factor_fate {
    FACTOR_COMPARED,
    FACTOR_SAME, /* no value changed anything in the first replications */
    FACTOR_FAILED
};

/* A parameter: all its places in the scenario that rest on the same default. */
struct factor {
    char *pattern; /* "/hosts/-/costs/ipi" */
    char *choice;  /* "credit", of a variant; NULL: none */
    char *standard;
    char **pointer;
    size_t pointers;
    const struct param *p;
    struct param_list other; /* char *: values instead of the default */
    size_t *setting;         /* by value, among the trials */
    enum factor_fate fate;
    char *reason; /* FAILED */
    double swing; /* COMPARED: the largest change of the figure, without sign */
};

/* What a value makes of the figure. */
struct influence {
    struct interval figure, difference, ratio; /* against the defaults */
    bool distinct; /* the difference is none of chance even if all values are looked at together */
};

struct sensitivity {
    const char *path;
    const struct param_list *set;   /* char *: changes of the scenario */
    const struct param_list *only;  /* char *: patterns to vary; none: all */
    const struct param_list *range; /* char *: "PATTERN=LOW..HIGH", also of values that are given */
    const char *metric;
    uint64_t budget;       /* replications in all */
    uint32_t replications; /* of each value; 0: the scenario's */
    unsigned jobs;
    bool quiet;

    /* Found. */
    char *title;
    struct factor *factor;            /* compared ones first, by swing; then the others */
    size_t factors, compared, values; /* values: of those compared */
    uint32_t n;                       /* replications of each */
    uint64_t spent;
    struct trials trials;
    struct progress progress;
};

enum { SENSITIVITY_SCREEN = 2, SENSITIVITY_LEAST = 5 };

/* 0, or -1 with errors; free in both cases. */
int sensitivity_run(struct sensitivity *s, struct errors *e);
void sensitivity_free(struct sensitivity *s);

/* The figure with all defaults, and the effect of a factor's i-th value. */
struct interval sensitivity_base(const struct sensitivity *s);
struct influence sensitivity_effect(const struct sensitivity *s, const struct factor *f, size_t i);
const char *sensitivity_unit(const struct sensitivity *s);

/* sensitivity_report.c */
void sensitivity_print(const struct sensitivity *s, size_t rows, FILE *out);
void sensitivity_json(const struct sensitivity *s, FILE *out);

/* sensitivity.json, sensitivity.csv, and a picture. */
int sensitivity_write(const struct sensitivity *s, const char *dir, struct errors *e);

#endif
