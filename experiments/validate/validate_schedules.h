/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim validate schedules DIR: simulate every reference schedule (NAME.json with NAME.csv or
 * NAME.csv.gz) of a directory and compare every row and column; where there is a NAME.xentrace[.gz]
 * too, compare every record that a xentrace of the simulated run has.
 */
#ifndef HVSIM_VALIDATE_VALIDATE_SCHEDULES_H
#define HVSIM_VALIDATE_VALIDATE_SCHEDULES_H

#include "sim/error.h"

#include <stdbool.h>
#include <stdio.h>

/* Prints one line per schedule ("NAME: identical", or the first difference with rows around it) and
 * at the end "schedules: N identical, M differ". EXIT_OK, EXIT_SHORT, or EXIT_INPUT with errors. */
enum exit_code validate_schedules(const char *dir, bool quiet, FILE *out, struct errors *e);

#endif
