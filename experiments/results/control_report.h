/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What only all rounds of all replications together tell of a control loop: how available it is,
 * how correlated its replicas' lateness is, and what independence would give.
 *
 * Intervals resample whole replications if there are at least 10 (phases and seeds differ from
 * replication to replication by more than a run tells), else blocks of 50 rounds.
 */
#ifndef HVSIM_RESULTS_CONTROL_REPORT_H
#define HVSIM_RESULTS_CONTROL_REPORT_H

#include "experiments/study/study.h"
#include "sim/bootstrap.h"
#include "sim/runs.h"

enum { LOOP_LAGS = 5, LOOP_TAILS = 6 };

/* All measured rounds, replication by replication, equally many of each. */
struct loop_rounds {
    size_t rounds, replications, each;
    uint32_t replicas;
    double *delay;    /* [round * replicas + replica], ms; INFINITY: lost */
    double *accepted; /* ms; INFINITY: nothing was implemented */
};

struct loop_rounds loop_rounds_of(const struct variant *v, size_t loop);
void loop_rounds_free(struct loop_rounds *r);

/* Lateness against one deadline. */
struct loop_deadline {
    double deadline; /* ms */
    struct interval late[CONTROL_REPLICAS];
    struct association joint; /* with more than one replica */
    double smallest_lift;     /* that would be found with 80 % power */
    double design;            /* the variance of P(all late) over that of independent rounds */
};
struct loop_deadline loop_deadline_of(const struct loop_rounds *r, double deadline, double level,
                                      uint64_t seed);

/* -log10 of it: 3 for 0.001; INFINITY for 0. */
double availability_nines(double unavailable);

struct loop_service {
    struct interval unavailable; /* share of rounds */
    double nines, nines_low, nines_high;
    double mttf, mttr; /* s; NAN: it never failed */
    struct runs outage;
};
struct loop_service loop_service_of(const struct loop_rounds *r, double period_s, double level);

/* The unavailability by importance sampling: false unless all replicas are on machines of their own
 * and rounds are independent (models/control/importance.h). */
bool loop_rare(const struct variant *v, size_t loop, struct interval *unavailable);

/* Autocorrelation of lateness at lags 1 .. LOOP_LAGS, mean over replicas; and correlation of one
 * replica's lateness with another's so many rounds later, mean over ordered pairs. */
void loop_lags(const struct loop_rounds *r, double deadline, double own[LOOP_LAGS],
               double other[LOOP_LAGS]);

/* The tails' levels, and the dependence of the pair (j, k) at each. */
extern const double loop_tail_levels[LOOP_TAILS];
void loop_tails(const struct loop_rounds *r, uint32_t j, uint32_t k, double level, uint64_t seed,
                struct interval tail[LOOP_TAILS]);

/* In results.json ("control"), on the terminal, and as files: rounds of each replication
 * (rounds-LOOP.csv) and a picture of lateness against the deadline (lateness-LOOP). */
void control_json(const struct variant *v, struct json_writer *w);
void control_print(const struct variant *v, FILE *out);
void control_files(const struct variant *v, const char *dir, bool quiet, struct errors *e);

/* The loops of all variants in one table, and control.csv: a row for each variant, loop and
 * deadline. */
void control_compare(const struct study *s, FILE *out);
void control_csv(const struct study *s, const char *dir, struct errors *e);

/* One loop: lateness-LOOP, lateness over the deadline; tails-LOOP, dependence in the upper tail. */
void control_pictures(const struct variant *v, size_t loop, const struct loop_rounds *r,
                      const char *dir, bool quiet, struct errors *e);

/* All variants, if they are few: lateness-LOOP, how often all replicas are late over the deadline.
 */
void control_compare_pictures(const struct study *s, const char *dir, bool quiet, struct errors *e);

/* ---- between the files that write reports ---------------------------------------------------- */

/* The horizon and the other deadlines in ascending order, ms, each once; caller frees. */
double *control_deadlines(const struct loop_spec *l, size_t *count);

#endif
