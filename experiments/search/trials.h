/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings of one scenario tried out: any number of them, any replications, figures of any prefix.
 * What tune and capacity decide from. Everything stays in memory.
 */
#ifndef HVSIM_SEARCH_TRIALS_H
#define HVSIM_SEARCH_TRIALS_H

#include "experiments/study/study.h"
#include "experiments/sweep/kept.h"

struct setting {
    char **set; /* "/json/pointer=value" */
    size_t sets;
    struct figures figures; /* those with the names of the trials */
    int *figure;            /* by name: index in `figures` */
    struct kept *rep;
    uint32_t reps;
    char *reason; /* a replication failed; NULL: none */
};

struct trials {
    char *path, *dir, *text;
    size_t text_size;
    const struct param_list *base; /* char *: changes for all settings */
    const char *const *name;       /* of figures */
    size_t names;
    unsigned jobs;
    struct setting *setting;
    size_t settings;
    char *platform;
    bool prepared, interrupted;
    double level; /* of intervals, as the scenario says */
    void (*tick)(void *ctx);
    void *tick_ctx;
};

/* Read the scenario. 0, or -1 with errors; free in both cases. */
int trials_open(struct trials *t, const char *path, const struct param_list *base,
                const char *const *name, size_t names, unsigned jobs, struct errors *e);
void trials_free(struct trials *t);

/* The scenario with further changes; NULL with errors. */
struct json *trials_document(const struct trials *t, const char *const *set, size_t sets,
                             struct errors *e);

/* Did two settings give the same in a replication that both have: the same distributions and
 * values behind all figures, to the last bit? */
bool trials_same(const struct trials *t, size_t a, size_t b, uint32_t replication);

/* A setting, checked: its index, or -1 with errors. Takes copies. */
int64_t trials_add(struct trials *t, const char *const *set, size_t sets, struct errors *e);

struct trial_job {
    size_t setting;
    uint32_t replication;
};

/* Compute replications, in workers. What fails gives its setting a reason. -1: interrupted, or
 * nothing can be run (errors). */
int trials_run(struct trials *t, const struct trial_job *job, size_t jobs, struct errors *e);

/* The figure of a name over a setting's first n replications. */
struct interval trials_interval(const struct trials *t, size_t setting, size_t name, uint32_t n,
                                double level);
void trials_values(const struct trials *t, size_t setting, size_t name, uint32_t n, double *x);

/* The command that runs it alone; caller frees. */
char *trials_command(const struct trials *t, size_t setting, uint32_t replications);

#endif
