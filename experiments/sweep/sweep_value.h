/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of axes, bounds and conditions as numbers: "30ms", "250/s", "64KiB", "30%", 12, 0.5. What
 * has no such form is a text ("credit", "poisson(100/s)").
 */
#ifndef HVSIM_SWEEP_SWEEP_VALUE_H
#define HVSIM_SWEEP_SWEEP_VALUE_H

#include "sim/units.h"

#include <stdbool.h>

struct value {
    bool numeric;
    enum quantity quantity; /* QUANTITY_PLAIN: a number without unit, maybe with a fraction */
    double number;          /* in the unit that people read: see value_unit() */
    bool whole;             /* `exact` is it, in the base unit of sim/units.h */
    int64_t exact;
};

/* Without the quotes of JSON. */
struct value value_read(const char *text);

/* From a number of that unit, or of the base unit. `whole`: a fraction would be wrong. */
struct value value_of_exact(enum quantity q, int64_t exact);
struct value value_of_number(double number);

/* Text that a scenario file accepts ("1.5ms", "0.25"); caller frees. For numeric values only. */
char *value_format(const struct value *v);

/* Unit of `number`: "ms", "1/s", "B", "bit/s", "%", "". */
const char *value_unit(enum quantity q);

/* Rounded to so many significant decimal digits. */
struct value value_round(const struct value *v, int digits);

#endif
