/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The registry of what can run in a guest: one row per program in programs.c. */
#ifndef HVSIM_WORKLOADS_PROGRAMS_H
#define HVSIM_WORKLOADS_PROGRAMS_H

#include "models/guest/guest.h"

/* NULL past the last, or if unknown. */
const struct program *program_nth(size_t i);
const struct program *program_by_name(const char *name);

#endif
