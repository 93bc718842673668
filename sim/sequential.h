/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decisions after each of a growing number of replications: when to stop, and whether a bound is
 * met. All are made on the prefix of replications in the order of their index, at looks fixed
 * beforehand, so they do not depend on which worker was faster.
 */
#ifndef HVSIM_SIM_SEQUENTIAL_H
#define HVSIM_SIM_SEQUENTIAL_H

#include "sim/interval.h"

/* Looks: after `least` replications (at least 10), then each time a tenth has been added, and after
 * `most`. The first look after n replications; 0 if there is none. */
size_t look_after(size_t n, size_t least, size_t most);

/* Number of looks up to `most`. */
size_t looks_until(size_t least, size_t most);

/* Is the half-width at most the wanted share of the estimate? As stopping_prefix() compares, with
 * relative / (1 + relative), for figures of which the interval is known but no series (jackknife).
 */
bool stopping_reached(double relative, const struct interval *i);

/*
 * When to stop for a relative half-width. An interval whose own width ends the run covers too
 * rarely: it ends rather when the spread happens to look small (measured for p90s of unlike
 * replications: 87 % instead of the 93.5 % that a fixed number gives). So the looks only tell how
 * many replications will do: when the width is good enough for twice as many, those are added
 * without a look, and what decides is mostly new (91 %). Only if that was not enough, a quarter is
 * added at a time.
 */
struct stopping_state {
    size_t n;        /* replications at which the next decision is due */
    bool confirming; /* it was reached by doubling */
};

/* Begin: n is `least` (at least 10), or `most` if that is less. */
struct stopping_state stopping_begin(size_t least, size_t most);

/* The decision at s->n, from the interval there: true to stop; else s->n is the next one's. */
bool stopping_decide(struct stopping_state *s, double relative, const struct interval *i,
                     size_t most);

/* Does a figure keep a bound? */
enum bound_verdict {
    BOUND_OPEN, /* the interval holds the limit, or there is none */
    BOUND_MET,  /* all of it is within the limit */
    BOUND_BROKEN
};

/* `most`: the limit is the largest value allowed, else the smallest. */
enum bound_verdict bound_verdict(const struct interval *i, double limit, bool most);

/* Level for intervals of which one is looked at after each of `looks` looks at each of `settings`
 * settings, so that with probability `level` all hold together (Bonferroni). */
double sequential_level(double level, size_t looks, size_t settings);

#endif
