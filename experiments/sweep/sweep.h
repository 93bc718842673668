/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep that was read and checked: its points, each a scenario of its own with a key.
 *
 * The key is a digest of the point's resolved scenario (without title, question, confidence and
 * number of replications, which change no replication), of the platform's text and of which figures
 * are kept. So results are found again whatever became of the sweep file: points that are the same
 * have the same key.
 */
#ifndef HVSIM_SWEEP_SWEEP_H
#define HVSIM_SWEEP_SWEEP_H

#include "experiments/study/study.h"
#include "experiments/sweep/figures.h"
#include "experiments/sweep/sweep_design.h"

struct point {
    uint64_t key;
    uint32_t set;          /* of figures: index of sweep.figures */
    uint32_t replications; /* wanted; with a stopping rule: at most */
    uint32_t platform;     /* index of sweep.platform */
    uint64_t fleet;        /* digest of its machines, for probing each fleet once */
    int64_t seed;          /* -1: the scenario's */
};

struct figure_set {
    struct figures figures;
    uint64_t key;
    int stop; /* index of the figure that the stopping rule is about; -1: none */
};

struct sweep_platform {
    char *file;
    uint64_t digest;
};

struct sweep {
    char *path;
    struct json *doc;
    struct sweep_spec spec;
    char *scenario, *dir; /* path of the scenario, and its directory */
    char *base;           /* its text */
    size_t base_size;
    struct design design;
    struct point *point;
    size_t points;
    struct figure_set *set;
    size_t sets;
    struct sweep_platform *platform;
    size_t platforms;
    double level; /* of intervals */
};

/* Read and check everything but the platforms. 0, or -1 with all errors; free in both cases. */
int sweep_open(struct sweep *s, const char *path, struct errors *e);
void sweep_free(struct sweep *s);

/* The scenario of a point; the caller frees it. */
struct json *sweep_scenario(const struct sweep *s, size_t point, struct errors *e);

/* "slice=5ms, scheduler=credit"; caller frees. */
char *sweep_point_name(const struct sweep *s, size_t point);

/* All changes of the scenario that make a point, in their order; free with sweep_changes_free. */
struct param_list sweep_changes(const struct sweep *s, size_t point);
void sweep_changes_free(struct param_list *l);

/* The command that runs a point alone, for a shell; caller frees. */
char *sweep_rerun(const struct sweep *s, size_t point, uint32_t replications);

/* Try each platform and each different fleet of machines in children; if all points have one
 * platform, it is then loaded into this process. 0, or -1 with errors. */
int sweep_prepare(const struct sweep *s, unsigned jobs, struct errors *e);

/* What a replication took: wall time, and time of a CPU. */
struct sweep_time {
    double wall, cpu; /* s */
};

/* In a child: simulate a replication of a point; `text` (which the caller frees) is what is kept of
 * it, *took the time spent on simulating it. `reached` is told how far it is. 0, or -1 with errors.
 */
int sweep_replicate(const struct sweep *s, size_t point, uint64_t replication, int64_t *reached,
                    char **text, struct sweep_time *took, struct errors *e);

#endif
