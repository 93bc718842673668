/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Members of the JSON objects that references come with (schedules, captures): numbers in ranges,
 * each with a value that stands for it when it is not there or null. These files were written by
 * other programs: other members are nobody's mistake and are passed over.
 *
 * What is there and wrong is an error that names its place, and the value for "not there" is
 * returned: a reader goes on and reports all that is wrong at once.
 */
#ifndef HVSIM_VALIDATE_JSON_FIELDS_H
#define HVSIM_VALIDATE_JSON_FIELDS_H

#include "sim/error.h"
#include "sim/json.h"
#include "sim/time.h"

#include <stdint.h>

/* No time of a reference is longer: sums of a few stay far from the end of sim_time. */
#define FIELD_TIME_MOST (1000 * INT64_C(86400) * NS_PER_S)

/* A whole number from least to most; true and false are 1 and 0. */
int64_t field_integer(struct json_value object, const char *key, int64_t least, int64_t most,
                      int64_t absent, struct errors *e);

/* A number from 0 to 1e15. */
double field_number(struct json_value object, const char *key, double absent, struct errors *e);

/* A time from 0 to FIELD_TIME_MOST that is given in units of so many ns; rounded to ns. */
sim_time field_time(struct json_value object, const char *key, sim_time unit, sim_time absent,
                    struct errors *e);

/* A time of a list; truncated to ns. 0 with an error. */
sim_time field_time_of(struct json_value v, sim_time unit, struct errors *e);

#endif
