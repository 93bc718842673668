/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Distributions as parameters (PARAM_CUSTOM, sim/params.h); fields are struct distribution.
 *
 *     "60us"                                     always
 *     "exponential(60us)"                        parameters in the order of dist_kinds
 *     "facebook-etc-value-size"                  a preset with a source (dist_presets)
 *     {"type": "pareto", "location": "0", "scale": "16us", "shape": 0.15}     parameters by name
 *     {"type": "empirical", "points": [[0.5, "100us"], [1, "2ms"]]}           cumulative
 *     {"type": "points", "points": [[0.9, "1KiB"]], "rest": "uniform(2KiB, 4KiB)"}
 */
#ifndef HVSIM_SIM_DISTRIBUTION_PARAMS_H
#define HVSIM_SIM_DISTRIBUTION_PARAMS_H

#include "sim/distribution.h"
#include "sim/params.h"

extern const struct param_type dist_time_type; /* of durations: ns */
extern const struct param_type dist_size_type; /* of sizes: bytes */

/* ---- for other types that are made of distributions ------------------------------------------ */

/* A distribution of durations or sizes; *d must be zero before, and freed in any case. */
int dist_read(enum quantity q, struct json_value v, struct distribution *d, struct errors *e);
void dist_write(enum quantity q, const struct distribution *d, struct json_writer *w,
                const char *key);

/* Text to a number in the base unit, not necessarily a whole one: 0, or -1 with the reason. */
int amount_parse(enum quantity q, const char *text, double *x, char why[QUANTITY_WHY]);

/* A number that reads back to the same bits, with its unit; caller frees. */
char *amount_text(enum quantity q, double x);
char *number_with_unit(double x, const char *unit);

/* "found X: WHY; write ACCEPTS". Returns -1. */
int refuse_value(struct json_value v, const char *why, const char *accepts, struct errors *e);

/* Errors without a place, said of a value; frees them. Returns -1 if there were any. */
int pass_on_errors(struct errors *found, struct json_value v, struct errors *e);

/* An error for each member of the object that has none of these names. */
int only_members(struct json_value v, const char *const *names, size_t count, struct errors *e);

/* Schema of what is written as a text or as an object with "type". */
void text_or_typed_schema(const struct param *p, struct json_writer *w, const char *key);

#endif
