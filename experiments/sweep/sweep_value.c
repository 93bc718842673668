/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/sweep_value.h"

#include "sim/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Base units to the unit that people read. */
static const struct {
    const char *unit;
    double base; /* base units in one */
} units[QUANTITY_COUNT] = {
    [QUANTITY_DURATION] = {"ms", 1e6},
    [QUANTITY_SIZE] = {"B", 1},
    [QUANTITY_BITRATE] = {"bit/s", 1},
    [QUANTITY_RATE] = {"1/s", (double)RATE_PER_S},
    [QUANTITY_PERCENT] = {"%", (double)PERCENT_ALL / 100},
    [QUANTITY_PLAIN] = {"", 1},
};

const char *value_unit(enum quantity q)
{
    return units[q].unit;
}

struct value value_of_exact(enum quantity q, int64_t exact)
{
    return (struct value){.numeric = true,
                          .quantity = q,
                          .number = (double)exact / units[q].base,
                          .whole = true,
                          .exact = exact};
}

struct value value_of_number(double number)
{
    return (struct value){.numeric = true, .quantity = QUANTITY_PLAIN, .number = number};
}

/* A number as JSON has it: no blanks, hexadecimals, infinities. */
static bool plain_number(const char *text, double *number)
{
    char *end;

    if (strspn(text, "+-.0123456789eE") != strlen(text) || !strpbrk(text, "0123456789"))
        return false;
    *number = strtod(text, &end);
    return !*end && isfinite(*number);
}

struct value value_read(const char *text)
{
    char why[QUANTITY_WHY];
    int64_t exact;
    double number;

    if (!quantity_parse(QUANTITY_PLAIN, text, &exact, why))
        return value_of_exact(QUANTITY_PLAIN, exact);
    if (plain_number(text, &number))
        return value_of_number(number);
    for (enum quantity q = 0; q < QUANTITY_PLAIN; q++)
        if (!quantity_parse(q, text, &exact, why))
            return value_of_exact(q, exact);
    return (struct value){0};
}

char *value_format(const struct value *v)
{
    char text[QUANTITY_TEXT];

    if (v->whole)
        return xstrdup(quantity_format(v->quantity, v->exact, text));
    return xasprintf("%.12g", v->number);
}

struct value value_round(const struct value *v, int digits)
{
    char text[64];

    if (!v->whole) {
        snprintf(text, sizeof text, "%.*g", digits, v->number);
        return value_of_number(strtod(text, NULL));
    }
    snprintf(text, sizeof text, "%.*e", digits - 1, (double)v->exact);
    return value_of_exact(v->quantity, (int64_t)strtod(text, NULL));
}
