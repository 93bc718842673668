/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The design of a sweep: from axes to a numbered list of points.
 *
 * Axes that advance together (`with`, sampled ranges) are one factor; factors are crossed, the last
 * one changing fastest, and combinations that break a condition are left out. All of it depends
 * on the sweep file and the scenario's text alone.
 */
#ifndef HVSIM_SWEEP_SWEEP_DESIGN_H
#define HVSIM_SWEEP_SWEEP_DESIGN_H

#include "experiments/sweep/sweep_file.h"
#include "experiments/sweep/sweep_value.h"

#define DESIGN_MOST UINT64_C(10000000) /* combinations looked at */

struct level {
    char *text; /* "5ms", "credit", a setting's label */
    struct value value;
    char **set; /* "/json/pointer=JSON" */
    size_t sets;
};

struct axis {
    const char *name; /* the spec's */
    bool numeric;     /* all levels are, of one quantity */
    enum quantity quantity;
    struct level *level;
    size_t levels, factor;
};

struct design {
    struct axis *axis;
    size_t axes;
    size_t *factor; /* levels of each */
    size_t factors;
    uint32_t *combination; /* by point: its number among all combinations */
    size_t points;
};

/* `scenario` (the document that will be changed) tells which places hold whole numbers. 0, or -1
 * with all errors; free in both cases. */
int design_init(struct design *d, const struct sweep_spec *s, const struct json *sweep,
                const struct json *scenario, struct errors *e);
void design_free(struct design *d);

/* The level of an axis at a point. */
const struct level *design_level(const struct design *d, size_t point, size_t axis);

/* Unit of an axis' numbers, "" if they have none. */
static inline const char *axis_unit(const struct axis *a)
{
    return a->numeric ? value_unit(a->quantity) : "";
}

/* The axis of that name, or NULL. */
const struct axis *design_axis(const struct design *d, const char *name);

/* ---- between the files of the design ------------------------------------------------------------
 */

/* Numbers in (0, 1) for `dimensions` axes: u[point * dimensions + axis]. */
int design_sample(const struct sampling_spec *s, size_t dimensions, double *u, struct errors *e);

/* A condition such as "ratelimit <= slice and scheduler != credit2". NULL with an error. */
struct condition;
struct condition *condition_parse(const struct design *d, const char *text, struct errors *e);
bool condition_holds(const struct condition *c, const struct level *const *level /* by axis */);
void condition_free(struct condition *c);

#endif
