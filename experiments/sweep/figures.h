/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Figures of a scenario by name: "latency_p99.9", or "clients:latency_p99.9" when several subjects
 * have that metric. Subjects are named as in results ("clients", "xen", "xen/hog", "xen/hog3");
 * "*" stands for any text.
 */
#ifndef HVSIM_SWEEP_FIGURES_H
#define HVSIM_SWEEP_FIGURES_H

#include "experiments/study/metrics.h"

/* One figure of results. */
struct figure {
    enum subject_kind kind;
    char *subject; /* owned */
    const struct metric *metric;
    size_t cell; /* in the layout it was found in */
    size_t pool; /* of the distribution that it is computed from; FIGURE_PLAIN: none */
};

#define FIGURE_PLAIN SIZE_MAX

struct figures {
    struct figure *item;
    size_t count;
    size_t pools; /* distributions that they need */
};

void figures_free(struct figures *f);

/* All figures that one of the names means, in the layout's order; single domains only if named with
 * their subject. No names: all of clients, hosts and groups. seen[i] (may be NULL) is set if name i
 * means any. */
struct figures figures_select(const struct layout *l, const char *const *names, size_t count,
                              bool *seen);

/* The one figure that a name means: its index in `f`, or -1 with an error that says what there is.
 * `what` names the place of the name in messages ("--minimise"). */
int figures_find(const struct figures *f, const char *name, const char *what, struct errors *e);

/* Why a name means nothing: an error with the nearest names. Returns -1. */
int figures_unknown(const char *name, const char *what, struct errors *e);

/* "clients:latency_p99.9"; caller frees. */
char *figure_name(const struct figure *f);

/* A bound on a figure: "latency_p99<=5ms", "xen/hog:cpu_share>=30%", "failed<1". */
struct bound {
    char *name;   /* of the figure; owned */
    bool least;   /* the figure shall be at least the limit, else at most */
    double limit; /* in the metric's unit */
    char *text;   /* "5ms"; owned */
};

/* The limit is checked against the metric's unit. 0, or -1 with an error. Free in both cases. */
int bound_read(struct bound *b, const char *text, const char *what, struct errors *e);
void bound_free(struct bound *b);

/* How much the figure is beyond the limit: above 0 if the bound is broken. */
static inline double bound_excess(const struct bound *b, double value)
{
    return b->least ? b->limit - value : value - b->limit;
}

#endif
