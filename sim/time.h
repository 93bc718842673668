/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simulated time: signed 64-bit nanoseconds since the boot of the simulated world.
 *
 * Every model computes in these integers. SimGrid's double seconds appear in sim/simgrid.c only
 * and are never read back as the truth.
 */
#ifndef HVSIM_SIM_TIME_H
#define HVSIM_SIM_TIME_H

#include <stdint.h>

typedef int64_t sim_time;

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

/* For products of two times or of a time and a ratio. */
__extension__ typedef __int128 int128;

/* "No date": later than any event. Sums with it are the caller's mistake. */
#define SIM_NEVER INT64_MAX

#endif
