/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The waker of the given captures: sleeps, computes, and after every so many cycles writes a line
 * on its console. For that dom0 is told, whose console daemon reads the line and tells the guest,
 * which has nothing to do for it. (The kit's waker writes nothing.)
 */
#ifndef HVSIM_VALIDATE_CAPTURE_WAKER_H
#define HVSIM_VALIDATE_CAPTURE_WAKER_H

#include "experiments/validate/capture.h"
#include "experiments/validate/capture_machine.h"
#include "models/guest/guest.h"

struct capture_waker;

/* A waker's thread in guest g, with its console in dom0; before g's vCPU is started. Free it after
 * the guests. */
struct capture_waker *capture_waker_start(struct guest *g, struct guest *dom0,
                                          const struct capture_guest *cg,
                                          const struct waker_costs *costs);
void capture_waker_free(struct capture_waker *w);

#endif
