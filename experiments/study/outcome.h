/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a replication hands to its parent, and what the parent makes of all of them.
 *
 * The message is binary and private to one run of the program: samples in the order of the layout's
 * cells, then the histograms in the order of its pools, buckets that are empty left out, then for
 * each client subject its breakdown and counts. A tally takes messages in the order of the
 * replications, so its sums do not depend on who was ready first.
 */
#ifndef HVSIM_STUDY_OUTCOME_H
#define HVSIM_STUDY_OUTCOME_H

#include "experiments/study/metrics.h"
#include "experiments/study/pooled.h"

/* In the child. */
void outcome_write(const struct layout *l, const struct world *w, FILE *out);

/* The measured rounds of a control loop in one replication; ns from the start of the round, -1:
 * none came. */
struct tally_rounds {
    size_t rounds;
    sim_time *delay;                 /* [round * replicas + replica] */
    sim_time *accepted;              /* by the masker */
    sim_time wire[CONTROL_REPLICAS]; /* the network there and back, uncontended; -1: in a domain */
};

struct tally {
    const struct layout *layout;
    double level;
    struct sample *sample; /* [cell * capacity + replication taken] */
    size_t count, capacity;
    struct pooled *pool; /* in the order of the layout */
    struct tally_client {
        struct breakdown breakdown;
        struct client_counts counts;
    } * client;                /* by client subject: merged over replications */
    struct tally_rounds *loop; /* [loop * capacity + replication taken] */
};

/* Room for `replications` messages. */
void tally_init(struct tally *t, const struct layout *l, size_t replications, double level);
void tally_free(struct tally *t);

/* Take a message. -1 with an error if it is damaged. */
int tally_add(struct tally *t, const void *data, size_t size, struct errors *e);

/* Forget the distributions, breakdowns and rounds of what was taken so far: one who reads them one
 * replication at a time need not hold all. Samples stay. */
void tally_forget(struct tally *t);

static inline const struct sample *tally_samples(const struct tally *t, size_t cell)
{
    return &t->sample[cell * t->capacity];
}

/* The figure of a metric of a subject. Figures of distributions are of all replications together,
 * with jackknife intervals; there is none for a quantile unless each replication has 10
 * observations beyond it. */
struct interval tally_interval(const struct tally *t, const struct subject *s,
                               const struct metric *m);

/* The distribution behind a metric; NULL if it has none, or nothing was observed. */
struct pooled *tally_pool(const struct tally *t, const struct subject *s,
                          enum distribution_kind of);

/* Why a figure of a distribution has no interval; INTERVAL_GIVEN when it may have one. */
enum interval_none tally_obstacle(const struct tally *t, const struct subject *s,
                                  const struct metric *m, uint64_t *need);

/* A measured time per replication that would give an interval, when there is none for want of
 * observations; 0 if none would, or if it cannot be told. */
sim_time tally_duration_needed(const struct tally *t, const struct subject *s,
                               const struct metric *m, const struct interval *i, sim_time duration);

#endif
