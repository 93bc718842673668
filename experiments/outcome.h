/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a replication hands to its parent, and what the parent makes of all of them.
 *
 * The message is binary and private to one run of the program: samples in the order of the layout's
 * cells, then for each client subject its histograms and breakdown, buckets that are empty left
 * out. A tally takes messages in the order of the replications, so its sums do not depend on
 * who was ready first.
 */
#ifndef HVSIM_EXPERIMENTS_OUTCOME_H
#define HVSIM_EXPERIMENTS_OUTCOME_H

#include "experiments/metrics.h"

/* In the child. */
void outcome_write(const struct layout *l, const struct world *w, FILE *out);

struct tally {
    const struct layout *layout;
    double level;
    struct sample *sample; /* [cell * capacity + replication taken] */
    size_t count, capacity;
    struct client_results *client; /* by client subject: merged over replications */
};

/* Room for `replications` messages. */
void tally_init(struct tally *t, const struct layout *l, size_t replications, double level);
void tally_free(struct tally *t);

/* Take a message. -1 with an error if it is damaged. */
int tally_add(struct tally *t, const void *data, size_t size, struct errors *e);

static inline const struct sample *tally_samples(const struct tally *t, size_t cell)
{
    return &t->sample[cell * t->capacity];
}

/* The figure of a metric of a subject. Without an interval a quantile is that of all replications
 * together. */
struct interval tally_interval(const struct tally *t, const struct subject *s,
                               const struct metric *m);

/* A measured time per replication that would give an interval, when there is none for want of
 * observations; 0 if none would, or if it cannot be told. */
sim_time tally_duration_needed(const struct tally *t, const struct subject *s,
                               const struct metric *m, const struct interval *i, sim_time duration);

#endif
