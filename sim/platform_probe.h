/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sim/simgrid.c offers to sim/platform_probe.c, and to no one else. */
#ifndef HVSIM_SIM_PLATFORM_PROBE_H
#define HVSIM_SIM_PLATFORM_PROBE_H

#include "sim/simgrid.h"

#include <stdbool.h>

/* Load the platform; `loudly`: let SimGrid say on stderr what it dislikes before it aborts. */
void platform_load_loudly(const struct platform_options *o, bool loudly);

/* NULL, or PLATFORM_ASKING bytes in which platform_bind() notes what it is asking SimGrid, empty
 * in between: for the parent of a process that did not survive the question. */
#define PLATFORM_ASKING 512
extern char *platform_asking;

#endif
