/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities as text with units: exact both ways, and clear about what is wrong. */
#include "sim/units.h"

#include <check.h>
#include <inttypes.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum quantity q;
    const char *text;
    int64_t value;
} good[] = {
    {QUANTITY_DURATION, "30ms", 30000000},
    {QUANTITY_DURATION, "1.5us", 1500},
    {QUANTITY_DURATION, "250ns", 250},
    {QUANTITY_DURATION, "2s", INT64_C(2000000000)},
    {QUANTITY_DURATION, "1min", INT64_C(60000000000)},
    {QUANTITY_DURATION, "0.5h", INT64_C(1800000000000)},
    {QUANTITY_DURATION, "1d", INT64_C(86400000000000)},
    {QUANTITY_DURATION, "30 ms", 30000000},
    {QUANTITY_DURATION, "7\xc2\xb5s", 7000},
    {QUANTITY_DURATION, "7\xce\xbcs", 7000},
    {QUANTITY_DURATION, "0", 0},
    {QUANTITY_DURATION, "0s", 0},
    {QUANTITY_DURATION, "-0ns", 0},
    {QUANTITY_DURATION, "0.000000001s", 1},
    {QUANTITY_DURATION, "0.1s", 100000000},
    {QUANTITY_DURATION, "0.3s", 300000000}, /* 0.3 is no double */
    {QUANTITY_DURATION, "1.000000000000000000000000000000000000000000000us", 1000},
    {QUANTITY_DURATION, "000000000000000000000000000000000000000000000001us", 1000},
    {QUANTITY_DURATION, "9223372036854775807ns", INT64_MAX},
    {QUANTITY_DURATION, "9223372036.854775807s", INT64_MAX},
    {QUANTITY_DURATION, "-9223372036854775808ns", INT64_MIN},
    {QUANTITY_DURATION, "-5us", -5000},
    {QUANTITY_DURATION, "1.5e-05s", 15000},
    {QUANTITY_DURATION, "2E+3us", 2000000},
    {QUANTITY_DURATION, "100.05us", 100050},
    {QUANTITY_SIZE, "64KiB", 65536},
    {QUANTITY_SIZE, "1500B", 1500},
    {QUANTITY_SIZE, "1MB", 1000000},
    {QUANTITY_SIZE, "0.0009765625KiB", 1}, /* 5^10 * 10^-10 * 2^10 */
    {QUANTITY_SIZE, "1.5TiB", INT64_C(1649267441664)},
    {QUANTITY_SIZE, "1e3B", 1000},
    {QUANTITY_BITRATE, "10Gbps", INT64_C(10000000000)},
    {QUANTITY_BITRATE, "100Mbps", 100000000},
    {QUANTITY_BITRATE, "100 Mbit/s", 100000000},
    {QUANTITY_BITRATE, "125MB/s", 1000000000},
    {QUANTITY_BITRATE, "1KiB/s", 8192},
    {QUANTITY_RATE, "250/s", 250000000},
    {QUANTITY_RATE, "1kHz", 1000000000},
    {QUANTITY_RATE, "0.5/s", 500000},
    {QUANTITY_RATE, "20k/s", INT64_C(20000000000)},
    {QUANTITY_RATE, "3.4GHz", INT64_C(3400000000000000)},
    {QUANTITY_RATE, "1mHz", 1000},
    {QUANTITY_PERCENT, "30%", 300000000},
    {QUANTITY_PERCENT, "99.999 %", 999990000},
    {QUANTITY_PERCENT, "250%", INT64_C(2500000000)},
    {QUANTITY_PLAIN, "42", 42},
    {QUANTITY_PLAIN, "-7", -7},
    {QUANTITY_PLAIN, "1e3", 1000},
    {QUANTITY_PLAIN, "1.0", 1},
    {QUANTITY_PLAIN, "9223372036854775807", INT64_MAX},
};

static const struct {
    enum quantity q;
    const char *text, *says;
} bad[] = {
    {QUANTITY_DURATION, "", "no number"},
    {QUANTITY_DURATION, "ms", "no number"},
    {QUANTITY_DURATION, "30", "no unit"},
    {QUANTITY_DURATION, "30 ", "unknown unit"},
    {QUANTITY_DURATION, " 30ms", "no number"},
    {QUANTITY_DURATION, "30ms ", "unknown unit"},
    {QUANTITY_DURATION, "30  ms", "unknown unit"},
    {QUANTITY_DURATION, "30msx", "unknown unit"},
    {QUANTITY_DURATION, "30MS", "did you mean \"ms\"?"},
    {QUANTITY_DURATION, "30KiB", "this is a size"},
    {QUANTITY_DURATION, "30%", "this is a percentage"},
    {QUANTITY_DURATION, "1ks", "ns, us, ms, s, min, h, d"},
    {QUANTITY_DURATION, "0.3ns", "not a whole number of nanoseconds"},
    {QUANTITY_DURATION, "1.0000000001s", "not a whole number of nanoseconds"},
    {QUANTITY_DURATION, "1e-10s", "not a whole number"},
    {QUANTITY_DURATION, "1e-999999999999999999999s", "not a whole number"},
    {QUANTITY_DURATION, "9223372036854775808ns", "out of range"},
    {QUANTITY_DURATION, "9223372036.854775808s", "out of range"},
    {QUANTITY_DURATION, "-9223372036854775809ns", "out of range"},
    {QUANTITY_DURATION, "1e30s", "out of range"},
    {QUANTITY_DURATION, "1e999999999999999999999s", "out of range"},
    {QUANTITY_DURATION, "12345678901234567890123456789012345678901s", "digits"},
    {QUANTITY_DURATION, "1.s", "no number"},
    {QUANTITY_DURATION, ".5s", "no number"},
    {QUANTITY_DURATION, "+5s", "no number"},
    {QUANTITY_DURATION, "--5s", "no number"},
    {QUANTITY_DURATION, "nans", "no number"},
    {QUANTITY_DURATION, "infs", "no number"},
    {QUANTITY_DURATION, "0x10s", "unknown unit"},
    {QUANTITY_DURATION, "1,5s", "unknown unit"},
    {QUANTITY_DURATION, "1es", "unknown unit"},
    {QUANTITY_SIZE, "30ms", "this is a duration"},
    {QUANTITY_SIZE, "30KB", "did you mean \"kB\"?"},
    {QUANTITY_SIZE, "0.3B", "not a whole number of bytes"},
    {QUANTITY_SIZE, "1MB/s", "this is a bitrate"},
    {QUANTITY_BITRATE, "10GB", "this is a size"},
    {QUANTITY_BITRATE, "10gbps", "did you mean \"Gbps\"?"},
    {QUANTITY_RATE, "10ms", "this is a duration"},
    {QUANTITY_PERCENT, "0.3", "no unit"},
    {QUANTITY_PLAIN, "1.5", "not whole"},
    {QUANTITY_PLAIN, "30ms", "this is a duration"},
    {QUANTITY_PLAIN, "9223372036854775808", "out of range"},
};

START_TEST(text_to_value)
{
    char why[QUANTITY_WHY];
    int64_t value = 1;

    ck_assert_msg(quantity_parse(good[_i].q, good[_i].text, &value, why) == 0, "\"%s\": %s",
                  good[_i].text, why);
    ck_assert_msg(value == good[_i].value, "\"%s\" gave %" PRId64, good[_i].text, value);
}
END_TEST

START_TEST(bad_text_is_refused_with_a_reason)
{
    char why[QUANTITY_WHY] = "";
    int64_t value = 1;

    ck_assert_msg(quantity_parse(bad[_i].q, bad[_i].text, &value, why) == -1,
                  "\"%s\" gave %" PRId64, bad[_i].text, value);
    ck_assert_msg(strstr(why, bad[_i].says) != NULL, "\"%s\": \"%s\" does not say \"%s\"",
                  bad[_i].text, why, bad[_i].says);
}
END_TEST

/* A text of a million characters is looked at once, not copied into a fixed buffer. */
START_TEST(endless_texts_are_refused)
{
    size_t size = 1000000;
    char *text = malloc(size + 1), why[QUANTITY_WHY];
    const char *fill = "9.0eZms";
    int64_t value;

    for (; *fill; fill++) {
        memset(text, *fill, size);
        text[size] = '\0';
        text[0] = '1';
        ck_assert_int_eq(quantity_parse(QUANTITY_DURATION, text, &value, why), -1);
        ck_assert_uint_lt(strlen(why), QUANTITY_WHY);
    }
    free(text);
}
END_TEST

START_TEST(value_to_shortest_text)
{
    static const struct {
        enum quantity q;
        int64_t value;
        const char *text;
    } cases[] = {
        {QUANTITY_DURATION, 0, "0ns"},
        {QUANTITY_DURATION, 1, "1ns"},
        {QUANTITY_DURATION, 1500, "1.5us"},
        {QUANTITY_DURATION, 30000000, "30ms"},
        {QUANTITY_DURATION, 100000000, "100ms"},
        {QUANTITY_DURATION, INT64_C(90000000000), "90s"},
        {QUANTITY_DURATION, INT64_C(3600000000000), "1h"},
        {QUANTITY_DURATION, 1234567, "1234567ns"},
        {QUANTITY_DURATION, -1500, "-1.5us"},
        {QUANTITY_DURATION, INT64_MAX, "9223372036854775807ns"},
        {QUANTITY_DURATION, INT64_MIN, "-9223372036854775808ns"},
        {QUANTITY_SIZE, 65536, "64KiB"},
        {QUANTITY_SIZE, 1500, "1500B"},
        {QUANTITY_SIZE, 1000000, "1MB"},
        {QUANTITY_BITRATE, INT64_C(10000000000), "10Gbps"},
        {QUANTITY_BITRATE, 8000, "8kbps"},
        {QUANTITY_RATE, 250000000, "250/s"},
        {QUANTITY_RATE, 500000, "0.5/s"},
        {QUANTITY_RATE, 1, "0.000001/s"},
        {QUANTITY_PERCENT, 300000000, "30%"},
        {QUANTITY_PERCENT, 1, "0.0000001%"},
        {QUANTITY_PLAIN, -7, "-7"},
    };
    char text[QUANTITY_TEXT];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(quantity_format(cases[i].q, cases[i].value, text), cases[i].text);
}
END_TEST

/* Any value written reads back to itself. */
START_TEST(round_trip)
{
    uint64_t state = 88172645463325252u;
    char text[QUANTITY_TEXT], why[QUANTITY_WHY];

    for (int i = 0; i < 20000; i++) {
        enum quantity q = (enum quantity)(i % QUANTITY_COUNT);
        int64_t value, back;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(&value, &state, sizeof value);
        value >>= i % 64; /* of all magnitudes */
        quantity_format(q, value, text);
        ck_assert_msg(quantity_parse(q, text, &back, why) == 0, "%s: %s", text, why);
        ck_assert_int_eq(value, back);
    }
}
END_TEST

/* The pattern that goes into the JSON Schema takes what the reader takes. */
START_TEST(patterns_agree_with_the_reader)
{
    char why[QUANTITY_WHY] = "";
    int64_t value;

    for (int q = 0; q < QUANTITY_PLAIN; q++) {
        regex_t pattern;

        ck_assert_int_eq(
            regcomp(&pattern, quantity_pattern((enum quantity)q), REG_EXTENDED | REG_NOSUB), 0);
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            bool reads = !quantity_parse((enum quantity)q, good[i].text, &value, why);
            bool out_of_range = strstr(why, "out of range") || strstr(why, "not a whole");
            bool matches = !regexec(&pattern, good[i].text, 0, NULL, 0);

            ck_assert_msg(reads == matches || (matches && out_of_range), "%s \"%s\": %d, %d",
                          quantity_name((enum quantity)q), good[i].text, reads, matches);
        }
        regfree(&pattern);
    }
}
END_TEST

START_TEST(examples_are_examples)
{
    char why[QUANTITY_WHY];
    int64_t value;

    for (int q = 0; q < QUANTITY_COUNT; q++)
        ck_assert_msg(
            quantity_parse((enum quantity)q, quantity_example((enum quantity)q), &value, why) == 0,
            "%s", why);
    ck_assert(percent_fraction(300000000) == 0.3);
    ck_assert(rate_per_second(500000) == 0.5);
}
END_TEST

Suite *suite_units(void);

Suite *suite_units(void)
{
    Suite *s = suite_create("units");
    TCase *tc = tcase_create("quantities");

    tcase_add_loop_test(tc, text_to_value, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(tc, bad_text_is_refused_with_a_reason, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tc, endless_texts_are_refused);
    tcase_add_test(tc, value_to_shortest_text);
    tcase_add_test(tc, round_trip);
    tcase_add_test(tc, patterns_agree_with_the_reader);
    tcase_add_test(tc, examples_are_examples);
    suite_add_tcase(s, tc);
    return s;
}
