/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Captured runs of replicas on real Xen, and simulations of the same: the scenario that a NAME.json
 * describes, and the figures that both are held against each other by.
 */
#ifndef HVSIM_VALIDATE_REPLICATION_CAPTURE_H
#define HVSIM_VALIDATE_REPLICATION_CAPTURE_H

#include "experiments/validate/capture.h"
#include "sim/json.h"

enum { CAPTURE_DEADLINES = 4, CAPTURE_QUANTILES = 3 };

extern const double capture_deadlines_ms[CAPTURE_DEADLINES];
extern const double capture_quantiles[CAPTURE_QUANTILES];

/* Figures of one run; delays in ms. lift: P(all late) over what independence gives, -1: some
 * replica was never late. */
struct replication_figures {
    double quantile[CAPTURE_REPLICAS][CAPTURE_QUANTILES]; /* of setpoints that came */
    double late[CAPTURE_REPLICAS][CAPTURE_DEADLINES];     /* share of rounds, lost ones included */
    double all_late[CAPTURE_DEADLINES], lift[CAPTURE_DEADLINES];
};

/* From n rounds' delays in ns, -1 for lost: delay[round * replicas + replica]. */
void replication_figures(const sim_time *delay, size_t n, unsigned replicas,
                         struct replication_figures *f);

/* A scenario of the capture's run, on the machine that `machine` (experiments/library/
 * emulated-xen.json) describes, as a document; NULL with errors. */
struct json *replication_scenario(const struct capture *c, const struct json *machine,
                                  struct errors *e);

/* Replicas in the order of the log's columns. */
unsigned capture_replicas(const struct capture *c);

#endif
