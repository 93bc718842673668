/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a study share with each other, and with no one else. */
#ifndef HVSIM_STUDY_STUDY_INSIDE_H
#define HVSIM_STUDY_STUDY_INSIDE_H

#include "experiments/study/study.h"

/* In a child: one replication, its result to `out`. `trace` (NULL: none) is the file for its trace;
 * `reached` is told how far it is. 0, or -1 with errors. */
int study_replicate(const struct study *s, const struct variant *v, uint64_t replication,
                    const char *trace, int64_t *reached, FILE *out, struct errors *e);

/* In a child: a world bound to the platform, ready to run; NULL with errors. */
struct world *study_world(const struct study *s, const struct variant *v, uint64_t replication,
                          struct errors *e);

/* In a child, once: run such a world up to a date (events at it are not run). 0, or -1. */
int study_run_world(const struct study *s, const struct variant *v, struct world *w, sim_time end,
                    struct errors *e);

/* In a child, once: a replication's world after its run, closed, for those who take from it what
 * they need; NULL with errors. */
struct world *study_simulate(const struct study *s, const struct variant *v, uint64_t replication,
                             int64_t *reached, struct errors *e);

/* In a child: build a variant's first world and bind it, to find what is wrong. */
int study_rehearse(const struct study *s, const struct variant *v, struct errors *e);

/* In a child, for a study that was not prepared there: load the platform of its only variant,
 * unless it is loaded, and take from it what the scenario leaves open. 0, or -1 with errors. */
int study_settle(struct study *s, struct errors *e);

/* The one platform of all variants was loaded into this process. */
bool study_loaded(const struct study *s);

#endif
