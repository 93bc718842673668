/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How the arithmetic stays exact: a text is digits * 10^e * unit. Digits are gathered in 128 bits;
 * 10^e is split into 2^e * 5^e, and what is negative of it is cancelled against the factors 2 and 5
 * of digits and unit. If something is left to divide by, the value is no whole number.
 */
#include "sim/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

__extension__ typedef unsigned __int128 u128;

#define DIGITS_MAX 37     /* significant digits that fit in 128 bits, with one bit to spare */
#define EXPONENT_MAX 1000 /* of "1e30": beyond it nothing fits in 64 bits anyway */

struct unit {
    const char *name;
    int64_t factor;
    bool spelling; /* another spelling of a unit, read but never written */
};

#define KIB INT64_C(1024)

static const struct unit durations[] = {
    {"ns", 1, false},
    {"us", 1000, false},
    {"ms", 1000000, false},
    {"s", 1000000000, false},
    {"min", 60 * INT64_C(1000000000), false},
    {"h", 3600 * INT64_C(1000000000), false},
    {"d", 86400 * INT64_C(1000000000), false},
    {"\xc2\xb5s", 1000, true}, /* U+00B5, micro sign */
    {"\xce\xbcs", 1000, true}, /* U+03BC, Greek mu */
    {NULL, 0, false},
};

static const struct unit sizes[] = {
    {"B", 1, false},
    {"kB", 1000, false},
    {"KiB", KIB, false},
    {"MB", 1000000, false},
    {"MiB", KIB *KIB, false},
    {"GB", 1000000000, false},
    {"GiB", KIB *KIB *KIB, false},
    {"TB", INT64_C(1000000000000), false},
    {"TiB", KIB *KIB *KIB *KIB, false},
    {NULL, 0, false},
};

static const struct unit bitrates[] = {
    {"bps", 1, false},
    {"kbps", 1000, false},
    {"Mbps", 1000000, false},
    {"Gbps", 1000000000, false},
    {"Tbps", INT64_C(1000000000000), false},
    {"bit/s", 1, true},
    {"kbit/s", 1000, true},
    {"Mbit/s", 1000000, true},
    {"Gbit/s", 1000000000, true},
    {"B/s", 8, true},
    {"kB/s", 8000, true},
    {"MB/s", 8000000, true},
    {"GB/s", INT64_C(8000000000), true},
    {"KiB/s", 8 * KIB, true},
    {"MiB/s", 8 * KIB *KIB, true},
    {"GiB/s", 8 * KIB *KIB *KIB, true},
    {NULL, 0, false},
};

static const struct unit rates[] = {
    {"/s", RATE_PER_S, false},
    {"k/s", RATE_PER_S * 1000, false},
    {"M/s", RATE_PER_S * 1000000, false},
    {"mHz", RATE_PER_S / 1000, true},
    {"Hz", RATE_PER_S, true},
    {"kHz", RATE_PER_S * 1000, true},
    {"MHz", RATE_PER_S * 1000000, true},
    {"GHz", RATE_PER_S * 1000000000, true},
    {NULL, 0, false},
};

static const struct unit percents[] = {{"%", PERCENT_ALL / 100, false}, {NULL, 0, false}};

static const struct unit plain[] = {{"", 1, false}, {NULL, 0, false}};

static const struct {
    const char *name, *article, *example, *units, *pattern;
    const struct unit *unit;
} quantities[QUANTITY_COUNT] = {
    [QUANTITY_DURATION] = {"duration", "a", "30ms", "ns, us, ms, s, min, h, d",
                           "^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)? "
                           "?(ns|us|\xc2\xb5s|\xce\xbcs|ms|s|min|h|d)$|^0$",
                           durations},
    [QUANTITY_SIZE] = {"size", "a", "64KiB", "B, kB, KiB, MB, MiB, GB, GiB, TB, TiB",
                       "^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)? ?(B|kB|[MGT]B|[KMGT]iB)$|^0$",
                       sizes},
    [QUANTITY_BITRATE] = {"bitrate", "a", "10Gbps",
                          "bps, kbps, Mbps, Gbps, Tbps, B/s, kB/s, MB/s, GB/s, MiB/s",
                          "^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)? "
                          "?([kMGT]?bps|[kMG]?bit/s|[kMG]?B/s|[KMG]iB/s)$|^0$",
                          bitrates},
    [QUANTITY_RATE] = {"rate", "a", "250/s", "/s, k/s, M/s, mHz, Hz, kHz, MHz, GHz",
                       "^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)? ?([kM]?/s|[mkMG]?Hz)$|^0$", rates},
    [QUANTITY_PERCENT] = {"percentage", "a", "30%", "%",
                          "^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)? ?%$|^0$", percents},
    [QUANTITY_PLAIN] = {"whole number", "a", "4", "none", "^-?[0-9]+$", plain},
};

const char *quantity_name(enum quantity q)
{
    return quantities[q].name;
}

const char *quantity_example(enum quantity q)
{
    return quantities[q].example;
}

const char *quantity_units(enum quantity q)
{
    return quantities[q].units;
}

const char *quantity_pattern(enum quantity q)
{
    return quantities[q].pattern;
}

/* A number in decimal: digits * 10^exponent. */
struct decimal {
    u128 digits;
    long exponent;
    bool negative;
};

enum fault { FAULT_NONE, FAULT_NO_NUMBER, FAULT_DIGITS, FAULT_INEXACT, FAULT_RANGE };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Take the digits of one side of the point. Zeros at the end cost no room: they are held back until
 * a digit follows. */
static enum fault take_digits(const char **s, struct decimal *d, int *taken, int *zeros, bool after)
{
    for (; is_digit(**s); (*s)++) {
        if (after)
            d->exponent--;
        if (**s == '0') {
            ++*zeros;
            continue;
        }
        for (; *zeros > 0 && *taken > 0; --*zeros) {
            if (++*taken > DIGITS_MAX)
                return FAULT_DIGITS;
            d->digits *= 10;
        }
        *zeros = 0;
        if (++*taken > DIGITS_MAX)
            return FAULT_DIGITS;
        d->digits = d->digits * 10 + (unsigned)(**s - '0');
    }
    return FAULT_NONE;
}

/* The number at the start of *s; *s moves behind it. */
static enum fault take_decimal(const char **s, struct decimal *d)
{
    const char *p = *s;
    int taken = 0, zeros = 0;
    enum fault fault;

    *d = (struct decimal){0};
    if (*p == '-') {
        d->negative = true;
        p++;
    }
    if (!is_digit(*p))
        return FAULT_NO_NUMBER;
    fault = take_digits(&p, d, &taken, &zeros, false);
    if (fault)
        return fault;
    if (*p == '.') {
        p++;
        if (!is_digit(*p))
            return FAULT_NO_NUMBER;
        fault = take_digits(&p, d, &taken, &zeros, true);
        if (fault)
            return fault;
    }
    if (taken)
        d->exponent += zeros; /* those at the very end were never multiplied in */
    if ((*p == 'e' || *p == 'E') &&
        (is_digit(p[1]) || ((p[1] == '-' || p[1] == '+') && is_digit(p[2])))) {
        long exponent = 0;
        bool down = p[1] == '-';

        for (p += is_digit(p[1]) ? 1 : 2; is_digit(*p); p++)
            if (exponent <= EXPONENT_MAX)
                exponent = 10 * exponent + (*p - '0');
        d->exponent += down ? -exponent : exponent;
    }
    *s = p;
    return FAULT_NONE;
}

/* Divide by `prime` as often as `power` is negative; false when something is left to divide by. */
static bool cancel(u128 *digits, int64_t *factor, long *power, unsigned prime)
{
    for (; *power < 0; ++*power) {
        if (*digits % prime == 0)
            *digits /= prime;
        else if (*factor % prime == 0)
            *factor /= prime;
        else
            return false;
    }
    return true;
}

static bool multiply(u128 *product, u128 by)
{
    return !__builtin_mul_overflow(*product, by, product) && *product <= (u128)INT64_MAX + 1;
}

static enum fault scale(struct decimal d, int64_t factor, int64_t *value)
{
    long twos = d.exponent, fives = d.exponent;

    *value = 0;
    if (d.digits == 0)
        return FAULT_NONE;
    if (!cancel(&d.digits, &factor, &twos, 2) || !cancel(&d.digits, &factor, &fives, 5))
        return FAULT_INEXACT;
    if (!multiply(&d.digits, (u128)factor))
        return FAULT_RANGE;
    for (; twos > 0; twos--)
        if (!multiply(&d.digits, 2))
            return FAULT_RANGE;
    for (; fives > 0; fives--)
        if (!multiply(&d.digits, 5))
            return FAULT_RANGE;
    if (d.digits > (u128)INT64_MAX + d.negative)
        return FAULT_RANGE;
    *value = d.negative ? (int64_t)(0 - (uint64_t)d.digits) : (int64_t)d.digits;
    return FAULT_NONE;
}

static const struct unit *find_unit(enum quantity q, const char *name)
{
    for (const struct unit *u = quantities[q].unit; u->name; u++)
        if (strcmp(u->name, name) == 0)
            return u;
    return NULL;
}

static int refuse(enum quantity q, char why[QUANTITY_WHY], const char *what)
{
    if (q == QUANTITY_PLAIN)
        snprintf(why, QUANTITY_WHY, "%s; a whole number without unit is wanted, such as %s", what,
                 quantities[q].example);
    else
        snprintf(why, QUANTITY_WHY, "%s; %s %s is wanted: a number and a unit (%s), such as \"%s\"",
                 what, quantities[q].article, quantities[q].name, quantities[q].units,
                 quantities[q].example);
    return -1;
}

/* A unit nobody knows here: is it one of another quantity, or one in wrong capitals? */
static int refuse_unit(enum quantity q, const char *unit, char why[QUANTITY_WHY])
{
    char what[64];

    for (const struct unit *u = quantities[q].unit; u->name; u++)
        if (strcasecmp(u->name, unit) == 0) {
            snprintf(what, sizeof what, "no unit \"%s\": did you mean \"%s\"", unit, u->name);
            return refuse(q, why, strcat(what, "?"));
        }
    for (int other = 0; *unit && other < QUANTITY_COUNT; other++)
        if ((enum quantity)other != q && find_unit((enum quantity)other, unit)) {
            snprintf(what, sizeof what, "this is %s %s", quantities[other].article,
                     quantities[other].name);
            return refuse(q, why, what);
        }
    return refuse(q, why, *unit ? "unknown unit" : "no unit");
}

static int refuse_number(enum quantity q, enum fault fault, char why[QUANTITY_WHY])
{
    static const char *const base[QUANTITY_COUNT] = {
        [QUANTITY_DURATION] = "nanoseconds",       [QUANTITY_SIZE] = "bytes",
        [QUANTITY_BITRATE] = "bits per second",    [QUANTITY_RATE] = "millionths per second",
        [QUANTITY_PERCENT] = "billionths of 100%", [QUANTITY_PLAIN] = "units",
    };

    if (fault == FAULT_INEXACT && q == QUANTITY_PLAIN)
        return refuse(q, why, "not whole");
    if (fault == FAULT_INEXACT) {
        snprintf(why, QUANTITY_WHY, "not a whole number of %s; round it", base[q]);
    } else if (fault == FAULT_RANGE) {
        char most[QUANTITY_TEXT];

        snprintf(why, QUANTITY_WHY, "out of range; at most %s (2^63 - 1 %s)",
                 quantity_format(q, INT64_MAX, most), base[q]);
    } else if (fault == FAULT_DIGITS) {
        snprintf(why, QUANTITY_WHY, "more than %d digits; round it", DIGITS_MAX);
    } else {
        return refuse(q, why, "no number");
    }
    return -1;
}

int quantity_parse(enum quantity q, const char *text, int64_t *value, char why[QUANTITY_WHY])
{
    const char *rest = text;
    const struct unit *unit;
    struct decimal d;
    enum fault fault = take_decimal(&rest, &d);

    *value = 0;
    if (fault == FAULT_NO_NUMBER)
        return refuse_number(q, fault, why);
    if (*rest == ' ' && rest[1] && q != QUANTITY_PLAIN)
        rest++;
    unit = find_unit(q, rest);
    if (!unit && strcmp(text, "0") == 0)
        return 0;
    if (!fault && !unit)
        return refuse_unit(q, strlen(rest) < 16 ? rest : "?", why);
    if (!fault)
        fault = scale(d, unit->factor, value);
    if (fault)
        return refuse_number(q, fault, why);
    return 0;
}

/* |value| in units of `factor` as text, if the fraction ends within 18 digits. */
static bool write_in(uint64_t value, uint64_t factor, char out[QUANTITY_TEXT])
{
    uint64_t rest = value % factor;
    int length = snprintf(out, QUANTITY_TEXT, "%" PRIu64, value / factor);

    if (rest)
        out[length++] = '.';
    for (int digit = 0; rest; digit++) {
        u128 next = (u128)rest * 10;

        if (digit == 18)
            return false;
        out[length++] = (char)('0' + (int)(next / factor));
        rest = (uint64_t)(next % factor);
    }
    out[length] = '\0';
    return true;
}

/* The shortest text wins; at equal length the smaller unit ("1500B", not "1.5kB"). Units larger
 * than the value are left out ("100ms", not "0.1s"). */
char *quantity_format(enum quantity q, int64_t value, char out[QUANTITY_TEXT])
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char best[QUANTITY_TEXT] = "";

    for (const struct unit *u = quantities[q].unit; u->name; u++) {
        char number[QUANTITY_TEXT];
        size_t length;

        if (u->spelling)
            continue;
        /* The smallest unit with a fraction of its own (a rate, a percentage) takes what is below.
         */
        if (u != quantities[q].unit && magnitude < (uint64_t)u->factor)
            continue;
        if (!write_in(magnitude, (uint64_t)u->factor, number))
            continue;
        length = strlen(number);
        strcpy(number + length, u->name);
        if (!*best || strlen(number) < strlen(best))
            strcpy(best, number);
    }
    strcpy(out, value < 0 ? "-" : "");
    return strcat(out, best);
}
