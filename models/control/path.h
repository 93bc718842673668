/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a loop's own paths do to a message, on top of the simulated network. */
#ifndef HVSIM_CONTROL_PATH_H
#define HVSIM_CONTROL_PATH_H

#include "models/control/loop.h"
#include "sim/units.h"

static inline bool path_loses(const struct control_path *p, struct rng *r)
{
    return p->loss && rng_bernoulli(r, percent_fraction(p->loss));
}

static inline sim_time path_delay(const struct control_path *p, struct rng *r)
{
    return dist_draw_time(&p->delay, r);
}

#endif
