/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors as values, and memory that never fails quietly. */
#include "sim/error.h"

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(add_formats_and_returns_failure)
{
    struct errors e = ERRORS_NONE;

    ck_assert_int_eq(error_add(&e, EXIT_INPUT, "%s:%d: bad \"%s\"", "a.json", 3, "weigth"), -1);
    ck_assert_uint_eq(e.count, 1);
    ck_assert_str_eq(e.item[0].text, "a.json:3: bad \"weigth\"");
    ck_assert_int_eq(e.item[0].code, EXIT_INPUT);
    errors_free(&e);
}
END_TEST

START_TEST(list_grows_and_keeps_order)
{
    struct errors e = ERRORS_NONE;
    char text[16];

    for (int i = 0; i < 100; i++)
        error_add(&e, EXIT_SHORT, "%d", i);
    ck_assert_uint_eq(e.count, 100);
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "%d", i);
        ck_assert_str_eq(e.item[i].text, text);
    }
    errors_free(&e);
    ck_assert_uint_eq(e.count, 0);
    error_add(&e, EXIT_SHORT, "usable again");
    ck_assert_uint_eq(e.count, 1);
    errors_free(&e);
}
END_TEST

START_TEST(context_goes_before_the_later_ones)
{
    struct errors e = ERRORS_NONE;

    error_add(&e, EXIT_INPUT, "zero");
    error_add(&e, EXIT_INPUT, "one");
    error_add(&e, EXIT_INPUT, "two");
    ck_assert_int_eq(error_context(&e, 1, "file %s", "b.json"), -1);
    ck_assert_str_eq(e.item[0].text, "zero");
    ck_assert_str_eq(e.item[1].text, "file b.json: one");
    ck_assert_str_eq(e.item[2].text, "file b.json: two");
    error_context(&e, 3, "nothing that late");
    ck_assert_str_eq(e.item[2].text, "file b.json: two");
    errors_free(&e);
}
END_TEST

static const struct {
    enum exit_code code[3], worst;
} mixes[] = {
    {{EXIT_SHORT, EXIT_INPUT, EXIT_INTERNAL}, EXIT_INTERNAL},
    {{EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_SHORT}, EXIT_INTERNAL},
    {{EXIT_SHORT, EXIT_INPUT, EXIT_INTERRUPTED}, EXIT_INPUT},
    {{EXIT_SHORT, EXIT_INTERRUPTED, EXIT_SHORT}, EXIT_INTERRUPTED},
    {{EXIT_SHORT, EXIT_SHORT, EXIT_SHORT}, EXIT_SHORT},
};

START_TEST(worst_exit_code)
{
    struct errors e = ERRORS_NONE;

    ck_assert_int_eq(errors_exit_code(&e), EXIT_OK);
    for (int i = 0; i < 3; i++)
        error_add(&e, mixes[_i].code[i], "x");
    ck_assert_int_eq(errors_exit_code(&e), mixes[_i].worst);
    errors_free(&e);
}
END_TEST

START_TEST(bug_aborts)
{
    BUG("at %d", 1);
}
END_TEST

START_TEST(bug_on_aborts_when_true)
{
    BUG_ON(_i >= 0);
}
END_TEST

START_TEST(bug_on_passes_when_false)
{
    int evaluated = 0;

    BUG_ON(evaluated++ != 0);
    ck_assert_int_eq(evaluated, 1);
}
END_TEST

START_TEST(memory)
{
    unsigned char *zeroed = xcalloc(7, 3), *none = xcalloc(0, 8);
    char *copy = xstrdup("copy"), *text = xasprintf("%s-%03d", "x", 7);

    for (int i = 0; i < 21; i++)
        ck_assert_uint_eq(zeroed[i], 0);
    ck_assert_ptr_nonnull(none);
    ck_assert_str_eq(copy, "copy");
    ck_assert_str_eq(text, "x-007");
    copy = xrealloc(copy, 1000);
    ck_assert_str_eq(copy, "copy");
    none = xrealloc(none, 0);
    ck_assert_ptr_nonnull(none);
    free(zeroed);
    free(none);
    free(copy);
    free(text);
}
END_TEST

static volatile size_t huge = SIZE_MAX / 4;

START_TEST(calloc_out_of_memory)
{
    free(xcalloc(huge, 1));
}
END_TEST

START_TEST(calloc_overflow)
{
    free(xcalloc(huge, 64));
}
END_TEST

START_TEST(realloc_out_of_memory)
{
    free(xrealloc(NULL, huge));
}
END_TEST

Suite *suite_error(void)
{
    Suite *s = suite_create("error");
    TCase *list = tcase_create("list"), *bug = tcase_create("bug"), *mem = tcase_create("memory");

    suite_add_tcase(s, list);
    tcase_add_test(list, add_formats_and_returns_failure);
    tcase_add_test(list, list_grows_and_keeps_order);
    tcase_add_test(list, context_goes_before_the_later_ones);
    tcase_add_loop_test(list, worst_exit_code, 0, (int)(sizeof mixes / sizeof *mixes));
    suite_add_tcase(s, bug);
    tcase_add_test_raise_signal(bug, bug_aborts, SIGABRT);
    tcase_add_test_raise_signal(bug, bug_on_aborts_when_true, SIGABRT);
    tcase_add_test(bug, bug_on_passes_when_false);
    suite_add_tcase(s, mem);
    tcase_add_test(mem, memory);
    tcase_add_exit_test(mem, calloc_out_of_memory, EXIT_INTERNAL);
    tcase_add_exit_test(mem, calloc_overflow, EXIT_INTERNAL);
    tcase_add_exit_test(mem, realloc_out_of_memory, EXIT_INTERNAL);
    return s;
}
