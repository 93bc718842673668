/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The index of a sweep's directory, DIR/sweep.jsonl: what its points are, for everyone who reads
 * results there without the sweep file and the scenario at hand. The first line describes the
 * sweep, each further one a point, in the order of their numbers.
 */
#ifndef HVSIM_SWEEP_SWEEP_INDEX_H
#define HVSIM_SWEEP_SWEEP_INDEX_H

#include "experiments/sweep/sweep.h"
#include "experiments/sweep/sweep_store.h"

struct index_axis {
    char *name;
    bool numeric;
    enum quantity quantity;
};

struct index_point {
    uint64_t key;
    uint32_t set, wanted;
    char **level;   /* by axis: its value as text */
    char *rerun;    /* the command that runs it alone */
    char *scenario; /* as JSON in one line */
};

struct sweep_index {
    char *title, *question, *scenario;
    double level; /* of intervals */
    bool common_seeds;
    bool stops; /* there is a stopping rule */
    double relative;
    uint32_t least;
    struct index_axis *axis;
    size_t axes;
    struct figure_set *set;
    size_t sets;
    struct index_point *point;
    size_t points;
};

/* Write it, unless it is there already. *known, *gone (may be NULL): points of the index that was
 * there before which are among the new ones, and which are not; both 0 if there was none. */
int index_write(const struct sweep *s, const char *dir, size_t *known, size_t *gone,
                struct errors *e);

/* 0, or -1 with errors (there is none; it is of another version). Free in both cases. */
int index_read(struct sweep_index *x, const char *dir, struct errors *e);
void index_free(struct sweep_index *x);

/* The stopping rule and number of replications of a point. */
struct entry_rule index_rule(const struct sweep_index *x, size_t point);
struct entry_rule sweep_rule(const struct sweep *s, size_t point);

/* Unit of an axis' numbers for the heading of a column: "ms", "per_s", "" for texts. */
const char *index_axis_unit(const struct index_axis *a);

/* Keys of all points, for store_init; caller frees. */
uint64_t *index_keys(const struct sweep_index *x);
uint64_t *sweep_keys(const struct sweep *s);

#endif
