/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Distributions, drawn from random streams.
 *
 * A distribution is a tagged struct: a kind and its parameters, in the unit of the quantity (ns for
 * times, bytes for sizes). The table dist_kinds names and explains each kind and parameter; JSON
 * checks, schema and documentation are generated from it. Drawing is bit-identical everywhere.
 * All kinds but gamma draw by inversion of one uniform number (points: one more for the rest),
 * so that under common random numbers two scenarios differ only by what was changed.
 */
#ifndef HVSIM_SIM_DISTRIBUTION_H
#define HVSIM_SIM_DISTRIBUTION_H

#include "sim/error.h"
#include "sim/random.h"
#include "sim/time.h"

#include <stdbool.h>
#include <stddef.h>

enum dist_kind {
    DIST_CONSTANT,
    DIST_UNIFORM,
    DIST_EXPONENTIAL,
    DIST_NORMAL,
    DIST_LOGNORMAL,
    DIST_PARETO, /* generalised Pareto */
    DIST_GEV,    /* generalised extreme value */
    DIST_WEIBULL,
    DIST_GAMMA,
    DIST_HYPEREXPONENTIAL,
    DIST_BIMODAL,
    DIST_EMPIRICAL, /* table: piecewise linear inverse distribution function */
    DIST_POINTS,    /* table: point masses, and another distribution for the rest */
    DIST_KINDS
};

#define DIST_PARAMETERS 3

struct distribution {
    enum dist_kind kind;
    double p[DIST_PARAMETERS]; /* in the order of dist_kinds[kind].parameter */
    /* Table kinds only; owned. Empirical: cumulative probabilities, ascending, the last one 1, and
     * values, ascending. Points: cumulative probabilities of the points. */
    double *probability, *value;
    size_t points;
    struct distribution
        *rest; /* points: drawn with the probability left over; may be NULL; owned */
};

/* What a parameter is measured in. */
enum dist_dimension {
    DIST_QUANTITY,    /* the unit of the quantity drawn */
    DIST_NUMBER,      /* a plain number */
    DIST_PROBABILITY, /* 0 .. 1 */
};

struct dist_parameter {
    const char *name;
    enum dist_dimension dimension;
    double low, high; /* accepted: low <= x <= high; low < x if low_open */
    bool low_open;
    const char *meaning;
};

struct dist_kind_info {
    const char *name;    /* as in scenarios */
    const char *meaning; /* one sentence */
    const char *formula; /* quantile function or density, as text */
    const char *mean;    /* mean as text */
    bool table;          /* has "points": [[probability, value], ...] */
    struct dist_parameter parameter[DIST_PARAMETERS]; /* up to the first with name NULL */
};

extern const struct dist_kind_info dist_kinds[DIST_KINDS];

/* Kind by name, or -1. */
int dist_kind_by_name(const char *name);
size_t dist_parameters(enum dist_kind kind);

/* A distribution without table. Parameters in the order of dist_kinds, unused ones are ignored. */
struct distribution dist_make(enum dist_kind kind, double p0, double p1, double p2);

/* Table kinds. The arrays are copied, probability by probability: cumulative for empirical (see
 * above), of each point for points (they may sum to less than 1 if there is a rest, which is copied
 * too). Return 0, or -1 with the errors found. */
int dist_make_empirical(struct distribution *d, const double *cumulative, const double *value,
                        size_t n, struct errors *e);
int dist_make_points(struct distribution *d, const double *mass, const double *value, size_t n,
                     const struct distribution *rest, struct errors *e);

struct distribution dist_copy(const struct distribution *d); /* deep */
void dist_free(struct distribution *d);

/* Check all parameters against dist_kinds and against each other: 0, or -1 with the errors. */
int dist_check(const struct distribution *d, struct errors *e);

double dist_draw(const struct distribution *d, struct rng *r);

/* A duration: the draw rounded to the nearest nanosecond, 0 if negative, at most 2^53 (104 days).
 */
sim_time dist_draw_time(const struct distribution *d, struct rng *r);

/* Mean in closed form; INFINITY if it does not exist. */
double dist_mean(const struct distribution *d);

/* Multiply the quantity by `factor` > 0 (change of unit, rescaling to an asked mean). */
void dist_scale(struct distribution *d, double factor);

/* ---- Distributions with a source ---- */

struct dist_preset {
    const char *name;
    const char *meaning, *source;
    double unit; /* of the quantity: 1 for bytes, 1000 for ns of a source in us */
    void (*make)(struct distribution *d);
};

extern const struct dist_preset dist_presets[];
extern const size_t dist_preset_count;

/* By name; -1 if there is none of this name. */
int dist_make_preset(struct distribution *d, const char *name);

#endif
