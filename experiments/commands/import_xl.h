/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim import xl FILE...: a scenario of a real host from what an operator can print on it:
 * xl info, xl vcpu-list, xl list -l, xl sched-credit, xl sched-credit2, xl cpupool-list [-c], in
 * any number of files and any order; each output is known by how it begins.
 *
 * What the guests do cannot be seen there: each gets a lookbusy of 20 %, to be replaced.
 */
#ifndef HVSIM_COMMANDS_IMPORT_XL_H
#define HVSIM_COMMANDS_IMPORT_XL_H

#include "sim/error.h"

#include <stdio.h>

/* Write the scenario to `out`. 0, or -1 with errors (nothing written). */
int import_xl(char *const *path, int count, FILE *out, struct errors *e);

#endif
