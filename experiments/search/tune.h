/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search for the setting that makes an objective least while constraints hold, when all that
 * can be had are noisy replications.
 *
 * Candidates race on the same replications (common random numbers). After each of a growing number
 * of replications a candidate is dropped if it breaks a constraint, or if it is worse than the best
 * one that is known to keep all of them: by one-sided t tests, of which all together err with
 * probability `alpha`. Look k spends alpha / (k (k + 1)), shared between constraints and objective,
 * and each by the union bound over its candidates.
 *
 * A space that is small enough is raced as a whole. Otherwise races alternate with sampling around
 * the best so far, ever closer (iterated racing: Lopez-Ibanez, Dubois-Lacoste, Perez Caceres,
 * Birattari, Stuetzle, Operations Research Perspectives 3, 2016).
 *
 * Nothing here knows of simulations: the evaluator is the caller's. The same seed and evaluator
 * give the same search, in whatever order or number replications are computed.
 */
#ifndef HVSIM_SEARCH_TUNE_H
#define HVSIM_SEARCH_TUNE_H

#include "sim/error.h"
#include "sim/interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum variable_kind { VARIABLE_CHOICE, VARIABLE_WHOLE, VARIABLE_REAL };

struct variable {
    enum variable_kind kind;
    size_t choices;   /* CHOICE: 0 .. choices - 1 */
    double low, high; /* WHOLE, REAL */
    double step;      /* of WHOLE: values are low + i step; of REAL unused */
    bool log;         /* sampled evenly by ratio */
};

/* One replication of one candidate, to be computed. */
struct tune_job {
    size_t candidate;
    const double *x; /* its setting, by variable */
    uint32_t replication;
};

struct tune_problem {
    const struct variable *variable;
    size_t variables, constraints;
    bool first_given; /* `first` is a setting to begin with: what the user has now */
    const double *first;
    void *ctx;
    /* Compute these, in any order; candidates come with growing replications, without a gap.
     * failed[i] is set for jobs that have no result. -1: give up, with errors. */
    int (*evaluate)(void *ctx, const struct tune_job *job, size_t jobs, bool *failed,
                    struct errors *e);
    /* The first n replications of a candidate as n values each: of the objective (less is better),
     * and by constraint how far it is beyond its limit (above 0: broken), excess[c * n + i]. */
    void (*values)(void *ctx, size_t candidate, uint32_t n, double *objective, double *excess);
};

struct tune_options {
    uint64_t seed;
    uint64_t budget; /* replications */
    double alpha;    /* chance of any wrong decision; 0.05 */
    uint32_t first;  /* replications before the first look; at least 5 */
    uint32_t most;   /* replications of one candidate; 0: as the budget allows */
    void (*tell)(void *ctx, uint64_t spent, size_t alive); /* progress; may be NULL */
};

enum candidate_fate {
    FATE_WINNER,
    FATE_CLOSE,  /* not significantly worse than the winner, and no constraint is known broken */
    FATE_OPEN,   /* looks better than the winner, but it is open whether it keeps a constraint */
    FATE_BREAKS, /* breaks a constraint */
    FATE_WORSE,  /* significantly worse than the best at the time */
    FATE_LEFT,   /* left behind when a race ended: it did not look good enough to go on */
    FATE_FAILED, /* a replication had no result */
    FATE_OUTSIDE /* no setting was found that keeps the constraints: this one comes nearest */
};

struct candidate {
    double *x;
    uint32_t n;       /* replications */
    double objective; /* its mean */
    double *excess;   /* means, by constraint */
    enum candidate_fate fate;
    uint32_t constraint; /* FATE_BREAKS: which */
    bool feasible;       /* known to keep all constraints */
    bool alive;
};

struct tune_result {
    struct candidate *candidate;
    size_t candidates;
    size_t winner; /* SIZE_MAX: none (all failed) */
    uint64_t spent;
    size_t races;
    bool whole_space; /* every setting was tried */
};

int tune_search(const struct tune_problem *p, const struct tune_options *o, struct tune_result *r,
                struct errors *e);
void tune_result_free(struct tune_result *r);

const char *candidate_fate_name(enum candidate_fate f);

/* ---- between the files of the search ------------------------------------------------------------
 */

struct rng;

/* Number of settings; 0 if they cannot be counted or are more than `most`. */
size_t space_size(const struct variable *v, size_t variables, size_t most);
/* The i-th of them. */
void space_setting(const struct variable *v, size_t variables, size_t i, double *x);
/* At random, or around a setting: `spread` is the deviation as a share of the range. */
void space_sample(const struct variable *v, size_t variables, struct rng *rng, double *x);
void space_near(const struct variable *v, size_t variables, const double *center, double spread,
                struct rng *rng, double *x);

#endif
