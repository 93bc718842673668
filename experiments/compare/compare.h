/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Variants of a scenario held against each other: every --vary gives values for one place of the
 * file, and each combination of values is a variant. All variants see the same random numbers, so
 * replication i of one is paired with replication i of another, and differences are known far
 * better than the variants' own figures.
 */
#ifndef HVSIM_COMPARE_COMPARE_H
#define HVSIM_COMPARE_COMPARE_H

#include "experiments/sweep/sweep.h"

/* One --vary: "/json/pointer=a,b,c". Commas inside brackets or quotes do not separate. */
struct variation {
    char *pointer;
    char **value;
    size_t values;
};

struct variations {
    struct variation *item;
    size_t count;
};

/* Read the options' texts. 0, or -1 with errors; free in both cases. */
int variations_read(struct variations *v, const struct param_list *texts, struct errors *e);
void variations_free(struct variations *v);

/* Add a variant to the study for each combination, the first --vary changing slowest. */
int compare_add(struct study *s, const struct variations *v, const struct param_list *base,
                struct errors *e);

/* Is it the name of a sweep file (NAME.sweep.json)? */
bool compare_is_sweep(const char *path);

/* Add a variant for each point of the sweep that keeps all of `where` (char *: "axis=value"), in
 * their order, with the sweep's number of replications; `base` is set last. */
int compare_add_sweep(struct study *s, const struct sweep *sweep, const struct param_list *where,
                      const struct param_list *base, struct errors *e);

/* A metric of a variant against the same of the study's first one, over the replications that both
 * have. No interval: `none` says why. */
struct comparison {
    struct interval difference, ratio;
};
struct comparison compare_figures(const struct variant *first, const struct variant *other,
                                  const struct subject *s, const struct metric *m);

void compare_json(const struct study *s, const struct variations *v, FILE *out);
void compare_print(const struct study *s, FILE *out);

/* results.json, CSV, and a picture of each client's latency tails; tells on stderr when there is no
 * gnuplot to draw it. */
int compare_write(const struct study *s, const struct variations *v, const char *dir, bool quiet,
                  struct errors *e);

/* compare_plot.c */
int compare_plot(const struct study *s, const char *dir, bool quiet, struct errors *e);

#endif
