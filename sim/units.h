/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantities as text with units ("30ms", "10Gbps", "64KiB", "250/s", "30%") and back.
 *
 * Exact both ways: text becomes a 64-bit integer by decimal arithmetic, never through a double, and
 * a text that is no whole number of the base unit ("0.3ns") or out of range is refused. What each
 * quantity is counted in:
 *
 *   duration   nanoseconds            (sim_time)
 *   size       bytes
 *   bitrate    bits per second
 *   rate       millionths per second  (so "0.5/s" and "3GHz" are both exact)
 *   percent    billionths of one      ("30%" is 300000000)
 */
#ifndef HVSIM_SIM_UNITS_H
#define HVSIM_SIM_UNITS_H

#include <stddef.h>
#include <stdint.h>

enum quantity {
    QUANTITY_DURATION,
    QUANTITY_SIZE,
    QUANTITY_BITRATE,
    QUANTITY_RATE,
    QUANTITY_PERCENT,
    QUANTITY_PLAIN, /* a whole number without unit; "1e3" and "1.0" are whole */
    QUANTITY_COUNT
};

#define RATE_PER_S INT64_C(1000000)     /* "1/s" */
#define PERCENT_ALL INT64_C(1000000000) /* "100%" */

/* Room for any text quantity_format() writes, and for any reason quantity_parse() gives. */
#define QUANTITY_TEXT 48
#define QUANTITY_WHY 256

/* Text to value. Returns 0, or -1 with the reason and the remedy in `why` (a phrase that can follow
 * "found X: "). One blank is allowed between number and unit; "0" needs no unit. */
int quantity_parse(enum quantity q, const char *text, int64_t *value, char why[QUANTITY_WHY]);

/* Value to the shortest exact text: 1500000 ns is "1.5ms", 65536 bytes "64KiB". Parses back to the
 * same value. Returns `out`. */
char *quantity_format(enum quantity q, int64_t value, char out[QUANTITY_TEXT]);

/* The word for messages ("duration"), an example ("30ms"), the units ("ns, us, ms, s, min, h, d")
 * and a regular expression for JSON Schema (ECMA 262). The texts are constants of the program. */
const char *quantity_name(enum quantity q);
const char *quantity_example(enum quantity q);
const char *quantity_units(enum quantity q);
const char *quantity_pattern(enum quantity q);

/* Ratios and rates as numbers: one correctly rounded division. */
static inline double percent_fraction(int64_t percent)
{
    return (double)percent / (double)PERCENT_ALL;
}

static inline double rate_per_second(int64_t rate)
{
    return (double)rate / (double)RATE_PER_S;
}

#endif
