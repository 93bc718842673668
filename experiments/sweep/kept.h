/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is kept of a replication: its value of each figure, and the distributions that figures over
 * several replications are computed from; and those figures, the same as `hvsim run` gives.
 */
#ifndef HVSIM_SWEEP_KEPT_H
#define HVSIM_SWEEP_KEPT_H

#include "experiments/study/outcome.h"
#include "experiments/sweep/figures.h"
#include "sim/interval.h"
#include "sim/sparse.h"

struct kept {
    double *value;       /* by figure: of this replication alone; NAN: nothing to observe */
    struct sparse *pool; /* by pool */
};

void kept_free(struct kept *k, const struct figures *f);

/* Of a world that has run and was closed. */
void kept_take(struct kept *k, const struct figures *f, const struct layout *l,
               const struct world *w);

/* As text without newlines, and back: 0, or -1 if it is damaged. */
void kept_write(const struct kept *k, const struct figures *f, FILE *out);
int kept_read(struct kept *k, const struct figures *f, const char *text);

/* Several replications of one point; pools are summed up when they are first needed. */
struct kept_set {
    const struct figures *figures;
    const struct kept **item; /* borrowed */
    size_t count;
    struct sparse *sum; /* by pool */
    bool *summed;
};

void kept_set_init(struct kept_set *s, const struct figures *f, const struct kept *const *item,
                   size_t count);
void kept_set_free(struct kept_set *s);

/* A figure of all of them with its interval. */
struct interval kept_interval(struct kept_set *s, size_t figure, double level);

/* The figure as one value per replication, whose mean is the figure and whose spread gives its
 * interval: the replication's own value, or of a distribution the jackknife's pseudo-value (Tukey
 * 1958) around the figure of all, all - (n - 1) (without it - mean of these). Not around the
 * jackknife's own estimate: for a quantile that one jumps when a single replication is unlike the
 * others. What paired tests compare. NAN where there is nothing. */
void kept_pseudo_values(struct kept_set *s, size_t figure, double *x);

/* The fewest observations of a replication, behind a figure of a distribution; 0 for others. */
uint64_t kept_fewest(const struct kept_set *s, size_t figure);

#endif
