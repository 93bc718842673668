/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Metrics as a table: what is measured, of whom, in which unit, and how replications become one
 * figure with an interval. A new metric is a row in metrics.c.
 *
 * Subjects are what metrics are about, in an order that the roster decides: entries of clients,
 * hosts, entries of domains ("groups"), and the domains of groups that have several. So a
 * replication's result is a plain array of samples, one for each cell (subject, metric).
 */
#ifndef HVSIM_STUDY_METRICS_H
#define HVSIM_STUDY_METRICS_H

#include "experiments/scenario/world.h"
#include "sim/interval.h"

enum subject_kind {
    SUBJECT_CLIENT,
    SUBJECT_HOST,
    SUBJECT_GROUP,
    SUBJECT_DOMAIN,
    SUBJECT_LOOP,
    SUBJECT_REPLICA,
    SUBJECT_KINDS
};

extern const char *const subject_kind_names[SUBJECT_KINDS]; /* "client", "host", ... */

struct subject {
    enum subject_kind kind;
    char *name;     /* "web clients' entry", "xen", "xen/hog" */
    size_t index;   /* of the client entry, host, group, domain, loop or replica (roster.replica) */
    size_t members; /* clients, domains or replicas it stands for */
    size_t cell;    /* its first */
    size_t pool;    /* its first pooled distribution: see layout_pool() */
};

enum estimate {
    ESTIMATE_MEAN,     /* of a distribution: of all observations; else of replications' values */
    ESTIMATE_QUANTILE, /* of all observations of a distribution */
    ESTIMATE_MAXIMUM   /* the largest of all */
};

/* Distributions that are kept, and pooled over replications. */
enum distribution_kind {
    OF_NONE,
    OF_LATENCY,  /* clients */
    OF_INTENDED, /* clients */
    OF_WAKING,   /* groups */
    OF_DISK,     /* groups with disks */
    OF_SERVICE,  /* loops: from a round's start to its implementation */
    OF_GAP,      /* loops: between implementations */
    OF_DELAY     /* replicas */
};

struct view;

/* A value and how many observations it rests on; NAN: there was nothing to observe. */
struct sample {
    double value;
    uint64_t n;
};

struct metric {
    const char *name;    /* in results: "latency_p99.9" */
    const char *unit;    /* "ms", "%", "1/s", or "" */
    const char *heading; /* in tables */
    const char *meaning;
    unsigned subjects; /* bits 1 << SUBJECT_x */
    enum estimate estimate;
    double q; /* of a quantile; -1 for means */
    enum distribution_kind of;
    struct sample (*read)(const struct view *v, const struct metric *m);
};

extern const struct metric metrics[];
extern const size_t metric_count;

/* The metric of that name, or NULL. */
const struct metric *metric_by_name(const char *name);

struct layout {
    const struct roster *roster;
    struct subject *subject;
    size_t subjects, cells, pools;
    size_t clients; /* subjects of that kind, which come first */
};

struct layout *layout_new(const struct scenario *s, const struct roster *r);
void layout_free(struct layout *l);

/* The cell of a metric of a subject, or SIZE_MAX. */
size_t layout_cell(const struct subject *s, const struct metric *m);

/* The pooled distribution of a subject, or SIZE_MAX. Of a world: its histogram, NULL: nothing was
 * observed. */
size_t layout_pool(const struct subject *s, enum distribution_kind of);

/* What a metric is read from: one subject at the end of a run. */
struct view {
    const struct world *world;
    const struct subject *subject;
    double seconds; /* measured */
    /* Clients: all of the entry together. */
    const struct client_results *client;
    /* Hosts, groups and domains: all of it together. */
    struct domain_use use;
    const struct histogram *wake_to_run;  /* groups; NULL: nobody woke */
    const struct histogram *disk_latency; /* groups; NULL: no disk */
    uint32_t pcpus;                       /* hosts */
    struct program_counts work;           /* groups and domains: of their programs, all together */
    uint64_t disk_bytes;                  /* groups and domains */
    bool disk;                            /* groups and domains: do they have one? */
    double stream_rate;                   /* clients: bit/s of their streams; NAN: none */
    const struct world_loop *loop;        /* loops and replicas */
    uint32_t replica;                     /* replicas: in its loop */
};

/* All samples of a world that was closed, in the order of cells. merged[i] takes the results of all
 * clients of client subject i. */
void metrics_read(const struct layout *l, const struct world *w, struct client_results *merged,
                  struct sample *samples);

void client_counts_add(struct client_counts *to, const struct client_counts *from);

/* All histograms of a closed world in the order of pools; entries may be without buckets. `merged`
 * as metrics_read() left it. */
void metrics_distributions(const struct layout *l, const struct world *w,
                           const struct client_results *merged, const struct histogram **pools);

/* A figure of n replications' samples, for metrics that are of no distribution. */
struct interval metric_interval(const struct metric *m, const struct sample *samples, size_t n,
                                double level);

#endif
