/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unavailability of a loop whose replicas are all on machines of their own, by importance
 * sampling of the faults of a single round: crashes, slow phases, faults, computing times, jitter,
 * losses and delays of paths.
 *
 * It holds for active replication without agreement, detector and overload: then a round depends on
 * its own draws and on whether replicas are crashed or slow, whose long-run chances are known.
 * (Computations that queue behind those of the round before are not seen: their mean load must be
 * low.)
 */
#ifndef HVSIM_CONTROL_IMPORTANCE_H
#define HVSIM_CONTROL_IMPORTANCE_H

#include "models/control/node.h"
#include "sim/interval.h"

struct importance_replica {
    const struct node_params *node;
    sim_time wire; /* there and back, of an uncontended network */
};

/* Can it be used? */
bool importance_applies(const struct control_params *p);

/* P(fewer than `votes` valid setpoints in a round) from `samples` samples in 20 batches. Taking
 * `biased` false gives plain sampling of the same model, to check it against. */
struct interval importance_unavailable(const struct control_params *p,
                                       const struct importance_replica *replica, uint32_t replicas,
                                       uint64_t samples, bool biased, uint64_t seed, double level);

#endif
