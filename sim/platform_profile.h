/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which profiles of its own (state_file, speed_file, trace_connect, ...) a SimGrid platform file
 * has. SimGrid's C interface does not tell, and hvsim must know: profiles change the platform at
 * dates that are not known ahead, so those of hosts force lockstep and those of links are refused.
 *
 * This is no XML parser: it finds tags and their attributes in a file that SimGrid accepts, and
 * says nothing about others.
 */
#ifndef HVSIM_SIM_PLATFORM_PROFILE_H
#define HVSIM_SIM_PLATFORM_PROFILE_H

#include "sim/error.h"

#include <stdbool.h>

struct platform_profiles {
    bool states;   /* some host goes on and off by a profile */
    bool speeds;   /* some host changes its speed by a profile */
    char **mortal; /* hosts with a state profile */
    size_t mortal_count;
};

/* Scan a file and what it includes. Each profile of a link is an error (EXIT_INPUT) with file and
 * line. A file that cannot be read is not: SimGrid will say so. Free by platform_profiles_free. */
int platform_profiles_scan(const char *file, struct platform_profiles *p, struct errors *e);
void platform_profiles_free(struct platform_profiles *p);

#endif
