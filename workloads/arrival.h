/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrival processes: when the next request, packet or wake-up comes, whatever became of the ones
 * before (open loop).
 *
 * A struct arrival_process is what a scenario describes, and may be shared; a struct arrival is
 * one realisation with its own random stream. Dates are rounded to the nearest nanosecond; the
 * rounding error is carried on from gap to gap, so rates hold in the long run at any rate.
 */
#ifndef HVSIM_WORKLOADS_ARRIVAL_H
#define HVSIM_WORKLOADS_ARRIVAL_H

#include "sim/distribution.h"

enum arrival_kind {
    ARRIVAL_POISSON, /* rate */
    ARRIVAL_RENEWAL, /* independent gaps of any distribution */
    ARRIVAL_MMPP,    /* Markov-modulated Poisson: a rate per state of a Markov chain */
    ARRIVAL_ON_OFF,  /* bursts: each begins with an arrival, more follow while it lasts */
    ARRIVAL_TRACE,   /* given dates */
    ARRIVAL_KINDS
};

#define MMPP_STATES 8 /* at most */

struct arrival_process {
    enum arrival_kind kind;
    double rate;                    /* Poisson: arrivals per second */
    struct distribution gap;        /* renewal, on-off: ns; owned */
    struct distribution on, off;    /* on-off: lengths of the periods, ns; owned */
    size_t states;                  /* MMPP: 2 .. MMPP_STATES */
    double state_rate[MMPP_STATES]; /* arrivals per second in each state */
    /* MMPP: changes per second from state i to state j; [i][i] is not used */
    double leave[MMPP_STATES][MMPP_STATES];
    sim_time *date; /* trace: ascending, relative to the start; owned */
    size_t dates;
    sim_time period; /* trace: begin again after this time; 0: once */
};

struct arrival_kind_info {
    const char *name, *meaning;
    const char *mean_rate; /* as text */
};

extern const struct arrival_kind_info arrival_kinds[ARRIVAL_KINDS];
int arrival_kind_by_name(const char *name);

/* Check, 0 or -1 with errors. A renewal needs a mean gap above 0, an MMPP an irreducible chain and
 * a rate above 0 in some state. */
int arrival_check(const struct arrival_process *p, struct errors *e);
void arrival_process_free(struct arrival_process *p);

/* Long-run arrivals per second in closed form; NaN where there is none (on-off with gaps that are
 * not exponential; a trace without period). */
double arrival_rate(const struct arrival_process *p);

/* Stationary distribution of an MMPP's states. */
void mmpp_stationary(const struct arrival_process *p, double *probability);

struct arrival {
    const struct arrival_process *process;
    struct rng rng;
    double carry;       /* rounding carried on to the next gap, ns */
    sim_time phase_end; /* MMPP, on-off: end of the current state */
    uint32_t state;     /* MMPP: state; on-off: 1 while on */
    size_t next;        /* trace: index */
    sim_time start;
};

/* Start a realisation at a date; its stream is (seed, replication, entity, purpose). The state of
 * an MMPP or on-off process is drawn with its long-run shares and begins a period; so exponential
 * ones are stationary from the start. A renewal begins with a whole gap. */
void arrival_start(struct arrival *a, const struct arrival_process *p, sim_time start,
                   uint64_t seed, uint64_t replication, const char *entity, const char *purpose);

/* Date of the next arrival after `now`, which is the date of the last one (or the start). Never
 * before `now`; several arrivals can have the same date. SIM_NEVER when there is none any more. */
sim_time arrival_next(struct arrival *a, sim_time now);

#endif
