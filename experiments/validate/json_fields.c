/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/json_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* "PLACE: found X: expected a ..." */
static void refuse(struct json_value v, struct errors *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void refuse(struct json_value v, struct errors *e, const char *fmt, ...)
{
    char *shown = json_show(v), wanted[96];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(wanted, sizeof wanted, fmt, ap);
    va_end(ap);
    json_error(v, e, "found %s: expected %s", shown, wanted);
    free(shown);
}

static bool absent_or_null(struct json_value v)
{
    return !json_exists(v) || json_kind(v) == JSON_NULL;
}

/* "1e3" and "40.0" are whole numbers, too. */
static bool whole(struct json_value v, int64_t *value)
{
    double d;

    if (json_kind(v) == JSON_BOOLEAN) {
        *value = json_boolean(v);
        return true;
    }
    if (json_integer(v, value) == 0)
        return true;
    if (json_double(v, &d) || d != floor(d) || fabs(d) > 0x1p53)
        return false;
    *value = (int64_t)d;
    return true;
}

int64_t field_integer(struct json_value object, const char *key, int64_t least, int64_t most,
                      int64_t absent, struct errors *e)
{
    struct json_value v = json_member(object, key);
    int64_t value;

    if (absent_or_null(v))
        return absent;
    if (whole(v, &value) && value >= least && value <= most)
        return value;
    refuse(v, e, "a whole number from %" PRId64 " to %" PRId64, least, most);
    return absent;
}

double field_number(struct json_value object, const char *key, double absent, struct errors *e)
{
    struct json_value v = json_member(object, key);
    double d;

    if (absent_or_null(v))
        return absent;
    if (json_double(v, &d) == 0 && d >= 0 && d <= 1e15)
        return d;
    refuse(v, e, "a number from 0 to 1e15");
    return absent;
}

/* The time in ns, not yet whole; -1 with an error. */
static double time_in(struct json_value v, sim_time unit, struct errors *e)
{
    double d;

    if (json_double(v, &d) == 0 && d >= 0 && d * (double)unit <= (double)FIELD_TIME_MOST)
        return d * (double)unit;
    refuse(v, e, "a number from 0 to %" PRId64 " (1000 days)", FIELD_TIME_MOST / unit);
    return -1;
}

sim_time field_time(struct json_value object, const char *key, sim_time unit, sim_time absent,
                    struct errors *e)
{
    struct json_value v = json_member(object, key);
    double ns = absent_or_null(v) ? -1 : time_in(v, unit, e);

    return ns < 0 ? absent : llround(ns);
}

sim_time field_time_of(struct json_value v, sim_time unit, struct errors *e)
{
    double ns = time_in(v, unit, e);

    return ns < 0 ? 0 : (sim_time)ns;
}
