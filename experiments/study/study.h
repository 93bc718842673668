/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A study: one scenario in one or several variants, each replicated with the same seeds, computed
 * by forked workers. `hvsim run` has one variant; compare has several.
 *
 *     study_add       for each variant: read and check it
 *     study_prepare   try the platform, look at its hosts, rehearse each world: all that can be
 *                     wrong with the input is found before anything runs or is written
 *     study_run       run; results so far are there even if it was interrupted
 */
#ifndef HVSIM_STUDY_STUDY_H
#define HVSIM_STUDY_STUDY_H

#include "experiments/study/outcome.h"

struct variant {
    char *label;       /* "credit, 30ms"; "" for a study's only one */
    char **assignment; /* "/hosts/0/scheduler=credit" */
    size_t assignments;
    struct json *doc;
    struct scenario *scenario;
    struct roster *roster;
    struct layout *layout;
    struct tally tally;
    uint32_t *replication; /* of each that was taken */
    int64_t first;         /* replication to compute: those before it are known from elsewhere */
};

/* A replication without result. */
struct lost_run {
    size_t variant, replication;
    char *reason;
    enum exit_code code; /* EXIT_SHORT: a scheduler broke a rule; EXIT_INTERNAL: crashed, ... */
};

struct study {
    char *path; /* of the scenario file */
    struct variant *variant;
    size_t variants;
    /* How it is computed; nothing of it can be seen in results. */
    unsigned jobs; /* 0: one for each CPU */
    bool lockstep; /* no lookahead */
    bool quiet;    /* no progress */
    char *trace;   /* of the first replication of the first variant; NULL: none */
    struct {
        sim_time from, until;
        char *dir; /* NULL: none */
    } timeline;    /* of the first replication of each variant */
    /* Told when a replication has been taken into its variant's tally, as the last one; may be
     * NULL. -1 (error added): end here. */
    int (*taken)(void *ctx, size_t variant, struct errors *e);
    void *ctx;
    /* What became of it. */
    bool interrupted;
    struct lost_run *lost;
    size_t losses;
    struct study_work *work; /* while it runs */
};

void study_init(struct study *s, const char *path);
void study_free(struct study *s);

/* Read the scenario with overrides: `base` as by --set, then `assignment` as by --vary. 0, or -1
 * with all errors. */
int study_add(struct study *s, const char *label, const struct param_list *base,
              const char *const *assignment, size_t assignments, struct errors *e);

/* The same from a document, which the study takes over; files that it names are in `dir`. */
int study_add_doc(struct study *s, const char *label, struct json *doc, const char *dir,
                  struct errors *e);

int study_prepare(struct study *s, struct errors *e);

/* The subject of this variant that is the same as one of another variant, or NULL. */
const struct subject *variant_subject(const struct variant *v, const struct subject *s);

/* 0 unless nothing came of it at all (errors were added). */
int study_run(struct study *s, struct errors *e);

/* Not all that was asked for is there: interrupted, or replications lost. */
bool study_partial(const struct study *s);

/* 0, EXIT_INTERRUPTED or EXIT_INTERNAL, for a study that ran. */
enum exit_code study_exit_code(const struct study *s);

#endif
