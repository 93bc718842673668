/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The check registry: judges, tables, pages. */
#include "sim/checks.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(judges)
{
    static const struct {
        double reference, simulated, tolerance;
        enum verdict absolute, relative;
    } cases[] = {
        {100, 100, 0, VERDICT_HOLDS, VERDICT_HOLDS},
        {100, 105, 0.05, VERDICT_SHORT, VERDICT_HOLDS},
        {100, 95, 5, VERDICT_HOLDS, VERDICT_HOLDS},
        {100, 106, 0.05, VERDICT_SHORT, VERDICT_SHORT},
        {-100, -104, 0.05, VERDICT_SHORT, VERDICT_HOLDS},
        {0, 0, 0, VERDICT_HOLDS, VERDICT_HOLDS},
        {0, 1, 2, VERDICT_HOLDS, VERDICT_SHORT},
        {NAN, 1, 1, VERDICT_NONE, VERDICT_NONE},
        {1, NAN, 1, VERDICT_NONE, VERDICT_NONE},
        {1, 1, NAN, VERDICT_NONE, VERDICT_NONE},
        {1, INFINITY, 1, VERDICT_SHORT, VERDICT_SHORT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(judge_absolute(cases[i].reference, cases[i].simulated, cases[i].tolerance),
                         cases[i].absolute);
        ck_assert_int_eq(judge_relative(cases[i].reference, cases[i].simulated, cases[i].tolerance),
                         cases[i].relative);
    }
}
END_TEST

START_TEST(judges_of_intervals)
{
    static const struct {
        double low, high;
        enum verdict verdict;
    } cases[] = {
        {95, 105, VERDICT_HOLDS},  {90, 110, VERDICT_HOLDS}, {90, 111, VERDICT_NONE},
        {111, 120, VERDICT_SHORT}, {50, 89, VERDICT_SHORT},  {50, 150, VERDICT_NONE},
        {NAN, 100, VERDICT_NONE},  {100, NAN, VERDICT_NONE}, {105, 95, VERDICT_NONE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(judge_interval_absolute(100, cases[i].low, cases[i].high, 10),
                         cases[i].verdict);
        ck_assert_int_eq(judge_interval_relative(100, cases[i].low, cases[i].high, 0.1),
                         cases[i].verdict);
    }
}
END_TEST

/* Rows of all kinds. */
static struct checks sample(void)
{
    struct checks c = CHECKS_NONE;
    struct check row = check_row("trace", "p99 <wake|run>");
    char name[32] = "mean";

    checks_relative(&c, "M/M/1", name, "us", 100, 103, 0.05, "20 runs");
    strcpy(name, "gone"); /* texts are copied */
    checks_absolute(&c, "M/M/1", "throughput", NULL, 0, 3, 1, NULL);
    row.unit = "us";
    row.reference = 5;
    row.simulated = 5.5;
    row.low = 4;
    row.high = 7;
    row.tolerance = 0.1;
    row.tolerance_text = "10 %";
    row.verdict = judge_interval_relative(5, 4, 7, 0.1);
    row.note = "a longer run would tell";
    checks_add(&c, &row);
    row = check_row("trace", "c01_two_equal_hogs");
    row.reference_text = "1234 rows";
    row.simulated_text = "identical";
    row.verdict = VERDICT_HOLDS;
    checks_add(&c, &row);
    return c;
}

static char *text_of(void (*print)(const struct checks *c, FILE *out))
{
    struct checks c = sample();
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    print(&c, out);
    fclose(out);
    checks_free(&c);
    return text;
}

static void print_for_people(const struct checks *c, FILE *out)
{
    checks_print(c, out, "schedules: {holds} identical, {short} differ, {none} open of {rows} {x}");
}

START_TEST(table_for_people)
{
    char *text = text_of(print_for_people);

    ck_assert_str_eq(
        text,
        "  check               reference  simulated  interval  error  tolerance      verdict      "
        "note\n"
        "M/M/1\n"
        "  mean                   100 us     103 us             +3 %  5 % (20 runs)  holds\n"
        "  throughput                  0          3               +3  1              falls short\n"
        "trace\n"
        "  p99 <wake|run>           5 us     5.5 us    4 to 7  +10 %  10 %           no verdict   "
        "a longer run would tell\n"
        "  c01_two_equal_hogs  1234 rows  identical                                  holds\n"
        "schedules: 2 identical, 1 differ, 1 open of 4 {x}\n");
    free(text);
}
END_TEST

START_TEST(counts_and_exit_code)
{
    struct checks c = sample(), none = CHECKS_NONE;

    ck_assert_uint_eq(checks_count(&c, VERDICT_HOLDS), 2);
    ck_assert_uint_eq(checks_count(&c, VERDICT_SHORT), 1);
    ck_assert_uint_eq(checks_count(&c, VERDICT_NONE), 1);
    ck_assert_int_eq(checks_exit_code(&c), EXIT_SHORT);
    ck_assert_int_eq(checks_exit_code(&none), EXIT_OK);
    ck_assert_str_eq(verdict_name(VERDICT_SHORT), "falls short");
    checks_free(&c);
    ck_assert_uint_eq(c.count, 0);
}
END_TEST

static void print_nothing(const struct checks *c, FILE *out)
{
    struct checks none = CHECKS_NONE;

    (void)c;
    checks_print(&none, out, NULL);
}

START_TEST(no_rows)
{
    char *text = text_of(print_nothing);

    ck_assert_str_eq(text, "checks: 0 hold, 0 fall short, 0 without verdict\n");
    free(text);
}
END_TEST

static void print_json(const struct checks *c, FILE *out)
{
    struct json_writer w = json_writer(out, JSON_COMPACT);

    checks_json(c, &w, NULL);
}

START_TEST(json)
{
    char *text = text_of(print_json);
    struct errors e = ERRORS_NONE;
    struct json *doc = json_parse("checks", text, strlen(text), &e);

    ck_assert_ptr_nonnull(doc);
    ck_assert_msg(strstr(text,
                         "{\"group\":\"trace\",\"name\":\"p99 <wake|run>\",\"unit\":\"us\","
                         "\"reference\":5,\"simulated\":5.5,\"low\":4,\"high\":7,\"tolerance\":0.1,"
                         "\"tolerance_text\":\"10 %\",\"verdict\":\"no verdict\","
                         "\"note\":\"a longer run would tell\"}") != NULL,
                  "%s", text);
    ck_assert_msg(strstr(text, "\"reference\":\"1234 rows\"") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "\"holds\":2,\"short\":1,\"none\":1}") != NULL, "%s", text);
    json_free(doc);
    free(text);
}
END_TEST

START_TEST(pages)
{
    char *markdown = text_of(checks_markdown), *html = text_of(checks_html);

    ck_assert_msg(strstr(markdown, "| trace: p99 \\<wake\\|run> | 5 us | 5.5 us | 4 to 7 | +10 % | "
                                   "10 % | no verdict | a longer run would tell |\n") != NULL,
                  "%s", markdown);
    ck_assert_msg(strstr(markdown, "|---|---:|---:|---:|---:|---|---|---|\n") != NULL, "%s",
                  markdown);
    ck_assert_msg(strstr(html, "<tr class=\"none\"><td>p99 &lt;wake|run&gt;</td>"
                               "<td class=\"number\">5 us</td>") != NULL,
                  "%s", html);
    ck_assert_msg(strstr(html, "<tr class=\"group\"><th colspan=\"8\">M/M/1</th></tr>") != NULL,
                  "%s", html);
    ck_assert_msg(strstr(html, "<tr class=\"short\">") != NULL, "%s", html);
    free(markdown);
    free(html);
}
END_TEST

Suite *suite_checks(void);

Suite *suite_checks(void)
{
    Suite *s = suite_create("checks");
    TCase *tc = tcase_create("checks");

    tcase_add_test(tc, judges);
    tcase_add_test(tc, judges_of_intervals);
    tcase_add_test(tc, table_for_people);
    tcase_add_test(tc, counts_and_exit_code);
    tcase_add_test(tc, no_rows);
    tcase_add_test(tc, json);
    tcase_add_test(tc, pages);
    suite_add_tcase(s, tc);
    return s;
}
