/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simulating what a capture ran: the host and its pools, guests by their roles, dom0 with its
 * client, on a machine with given costs.
 *
 * Phases. Credit keeps the phase of its accounting, and what credits its vCPUs began with, for
 * ever, and two sleepers keep theirs for long. So each simulation has a history of its own, like
 * the captures' jobs: pools come up at random dates, guests boot one after the other and are
 * paused, then are let go one after the other, settle, and only then the trace begins.
 */
#ifndef HVSIM_VALIDATE_CAPTURE_WORLD_H
#define HVSIM_VALIDATE_CAPTURE_WORLD_H

#include "experiments/validate/capture.h"
#include "experiments/validate/capture_machine.h"

/* Run it once and fill value[capture_figure_count(c)] (capture_figures.h). 0, or -1 with errors. */
int capture_simulate(const struct capture *c, const struct capture_machine *m, uint64_t seed,
                     uint64_t replication, double *value, struct errors *e);

/* Can it be simulated? 0, or -1 with errors that say what is not understood. */
int capture_check(const struct capture *c, struct errors *e);

#endif
