/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The published figures of the TerrierTail testbed, from CSV files of any names: columns are found
 * by name, blanks are skipped. Points of one experiment stand together in a cell, which is
 * simulated once.
 *
 *     workload,server_vms,scheduler,q0.99,...        tails of 12 VMs, ms
 *     server_vms,rpc_credit,memcached_credit,...     12 VMs: calls per second of one client; of
 *                                                    memcached a total over an unstated time, so
 *                                                    that only TerrierTail over Credit can be held
 *                                                    against anything
 *     server_vms,thrift_credit,memcached_mixed_terriertail,...   24 VMs: p99.9, us
 *     lookbusy_vms,credit,terriertail                seconds of a CPU-bound job
 *     run,rtt_us,count                               [.gz] round trips, counted: the base latency,
 *                                                    from the run with the least p99
 */
#ifndef HVSIM_VALIDATE_TESTBED_DATA_H
#define HVSIM_VALIDATE_TESTBED_DATA_H

#include "experiments/validate/testbed.h"

/* What a published value is a statistic of. RATIO: TerrierTail's throughput over Credit's, in the
 * cell of TerrierTail. */
enum testbed_statistic { LATENCY_MS, LATENCY_US, CALLS_PER_SECOND, THROUGHPUT_RATIO, JOB_SECONDS };

struct testbed_point {
    char *name;
    enum testbed_statistic of;
    double q; /* of a latency */
    double published;
    double *value; /* of each simulation; NULL before */
    size_t values; /* those that are not NAN stand first */
};

struct testbed_cell {
    char *label;
    struct testbed_run run;
    struct testbed_point *point;
    size_t points;
    double *throughput; /* of each simulation; NAN: it was not simulated, or has no client */
    size_t throughputs;
};

struct testbed_data {
    struct testbed_cell *cell;
    size_t cells;
    char **file; /* that were read */
    size_t files;
};

/* All CSV files in `dir`. 0, or -1 with errors; free in both cases. `base`: the round trips, too.
 */
int testbed_read(const char *dir, bool base, struct testbed_data *d, struct errors *e);
void testbed_free(struct testbed_data *d);

/* Keep the first so many cells. */
void testbed_forget(struct testbed_data *d, size_t keep);

/* The cell of the same experiment under the other scheduler; NULL: none. */
struct testbed_cell *testbed_other(const struct testbed_data *d, const struct testbed_cell *c);
const struct testbed_point *testbed_point_like(const struct testbed_cell *c,
                                               const struct testbed_point *p);

/* How cells are simulated. */
struct testbed_work {
    unsigned jobs;
    bool quiet;
    struct testbed_journal *journal; /* has what is known already, keeps the others; NULL: none */
};

/* Simulate these cells, and fill the values of their points. Ratios are taken when the cell of the
 * other scheduler has been simulated. -1: errors; if it was interrupted, with what there is. */
int testbed_simulate(struct testbed_cell *const *cell, size_t cells, const double *x,
                     const struct testbed_work *work, struct errors *e);
void testbed_ratios(struct testbed_data *d);

/* Median of n values, in order; NAN without. */
double testbed_median(const double *value, size_t n);

const char *testbed_unit(enum testbed_statistic of);

#endif
