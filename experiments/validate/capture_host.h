/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A capture's settings as those of the model's schedulers. */
#ifndef HVSIM_VALIDATE_CAPTURE_HOST_H
#define HVSIM_VALIDATE_CAPTURE_HOST_H

#include "experiments/validate/capture.h"
#include "models/schedulers/scheduler.h"

/* The parameters of a scheduler in the guests' pool, or in dom0's (defaults: the captures set
 * parameters of the guests' pool only); NULL if it has none. The caller frees. */
void *capture_scheduler_params(const struct capture *c, const struct sched_ops *ops, bool guests);

/* What the capture sets for a vCPU of this guest (RTDS's period and budget). */
void capture_set_vcpu(const struct capture_guest *g, struct vcpu *v);

#endif
