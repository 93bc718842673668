/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Distributions and arrival processes in JSON: what they read to, that writing reads back, what is
 * refused; and that the tables of the network and the workloads are in order. */
#include "models/net/net.h"
#include "sim/distribution_params.h"
#include "workloads/arrival_params.h"
#include "workloads/client.h"
#include "workloads/programs.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct target {
    struct distribution time, size;
    struct arrival_process arrivals;
};

static const struct param rows[] = {
    {PARAM("time", CUSTOM, struct target, time), .type = &dist_time_type, .def = "60us",
     .meaning = "A duration."},
    {PARAM("size", CUSTOM, struct target, size), .type = &dist_size_type, .def = "128B",
     .meaning = "A size."},
    {PARAM("arrivals", CUSTOM, struct target, arrivals), .type = &arrival_type,
     .def = "poisson(1/s)", .meaning = "Arrivals."},
};
static const struct param_table table =
    PARAM_TABLE("target", struct target, rows, .meaning = "For the test.");

static struct target target;
static struct errors errors;

static int read_text(const char *text, struct target *out)
{
    struct json *doc = json_parse("t.json", text, strlen(text), &errors);
    int status;

    ck_assert_ptr_nonnull(doc);
    status = params_read(&table, json_root(doc), out, &errors);
    json_free(doc);
    return status;
}

static char *written(const struct target *t)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    struct json_writer w = json_writer(f, JSON_COMPACT);

    params_write(&table, t, &w, NULL);
    fclose(f);
    return text;
}

/* It reads, and what is written of it reads back to the same text. */
static void read_and_back(const char *text)
{
    struct target again;
    char *first, *second;

    ck_assert_msg(!read_text(text, &target), "%s", errors.count ? errors.item[0].text : "?");
    first = written(&target);
    ck_assert_msg(!read_text(first, &again), "%s: %s", first,
                  errors.count ? errors.item[0].text : "?");
    second = written(&again);
    ck_assert_str_eq(first, second);
    params_free(&table, &again);
    free(first);
    free(second);
}

static void refused(const char *text, const char *part)
{
    ck_assert_msg(read_text(text, &target), "accepted: %s", text);
    ck_assert_uint_ge(errors.count, 1);
    ck_assert_msg(strstr(errors.item[0].text, part) != NULL, "\"%s\" is not in: %s", part,
                  errors.item[0].text);
    params_free(&table, &target);
    errors_free(&errors);
    errors = ERRORS_NONE;
}

START_TEST(test_forms)
{
    read_and_back("{\"time\": \"2.5ms\"}");
    ck_assert_int_eq(target.time.kind, DIST_CONSTANT);
    ck_assert_double_eq(target.time.p[0], 2.5e6);
    params_free(&table, &target);

    read_and_back("{\"time\": \"exponential(16.0292us)\", \"size\": \"pareto(15B, 214.476B, "
                  "0.348238)\"}");
    ck_assert_int_eq(target.time.kind, DIST_EXPONENTIAL);
    ck_assert_double_eq(target.time.p[0], 16029.2);
    ck_assert_double_eq(target.size.p[1], 214.476);
    ck_assert_double_eq(target.size.p[2], 0.348238);
    params_free(&table, &target);

    read_and_back("{\"time\": \"bimodal(10us, 1ms, 1%)\"}");
    ck_assert_double_eq(target.time.p[2], 0.01);
    params_free(&table, &target);

    read_and_back("{\"time\": {\"type\": \"lognormal\", \"median\": \"100us\", \"sigma\": 0.5}}");
    ck_assert_int_eq(target.time.kind, DIST_LOGNORMAL);
    ck_assert_double_eq(target.time.p[1], 0.5);
    params_free(&table, &target);
}
END_TEST

START_TEST(test_tables_read)
{
    read_and_back("{\"time\": {\"type\": \"empirical\", \"points\": [[0, \"10us\"], [0.5, "
                  "\"100us\"], [1, \"112.3456789us\"]]}}");
    ck_assert_uint_eq(target.time.points, 3);
    ck_assert_double_eq(target.time.value[2], 112345.6789);
    params_free(&table, &target);

    read_and_back("{\"size\": {\"type\": \"points\", \"points\": [[0.1, \"1KiB\"], [0.2, "
                  "\"3KiB\"]], \"rest\": \"uniform(4KiB, 5KiB)\"}}");
    ck_assert_double_eq(target.size.probability[1], 0.1 + 0.2);
    ck_assert_int_eq(target.size.rest->kind, DIST_UNIFORM);
    params_free(&table, &target);
}
END_TEST

START_TEST(test_presets)
{
    for (size_t i = 0; i < dist_preset_count; i++) {
        bool bytes = dist_presets[i].unit == 1;
        char *text = xasprintf("{\"%s\": \"%s\"}", bytes ? "size" : "time", dist_presets[i].name);
        char *out;

        read_and_back(text);
        out = written(&target);
        ck_assert_msg(strstr(out, dist_presets[i].name) != NULL, "%s", out);
        params_free(&table, &target);
        free(out);
        free(text);
    }
}
END_TEST

START_TEST(test_arrivals)
{
    read_and_back("{\"arrivals\": \"poisson(0.5/s)\"}");
    ck_assert_double_eq(target.arrivals.rate, 0.5);
    params_free(&table, &target);
    read_and_back("{\"arrivals\": {\"type\": \"renewal\", \"gap\": \"facebook-etc-gap\"}}");
    params_free(&table, &target);
    read_and_back("{\"arrivals\": {\"type\": \"mmpp\", \"rates\": [\"100/s\", \"5000/s\"], "
                  "\"leave\": [[0, 1], [10.5, 0]]}}");
    ck_assert_double_eq(target.arrivals.leave[1][0], 10.5);
    params_free(&table, &target);
    read_and_back("{\"arrivals\": {\"type\": \"on-off\", \"gap\": \"exponential(1ms)\", \"on\": "
                  "\"100ms\", \"off\": \"exponential(1s)\"}}");
    params_free(&table, &target);
    read_and_back("{\"arrivals\": {\"type\": \"trace\", \"dates\": [\"1ms\", \"2.5ms\"], "
                  "\"period\": \"1s\"}}");
    ck_assert_int_eq(target.arrivals.date[1], 2500000);
    params_free(&table, &target);
}
END_TEST

START_TEST(test_refused)
{
    refused("{\"time\": \"60\"}", "unit");
    refused("{\"time\": \"60KiB\"}", "KiB");
    refused("{\"time\": 60}", "write");
    refused("{\"time\": \"exponential(0us)\"}", "above 0");
    refused("{\"time\": \"exponential(1ms, 2ms)\"}", "parameters");
    refused("{\"time\": \"uniform(1ms)\"}", "parameters");
    refused("{\"time\": \"uniform(2ms, 1ms)\"}", "high");
    refused("{\"time\": \"exponentail(1ms)\"}", "no distribution");
    refused("{\"time\": \"exponential(1ms\"}", "no distribution");
    refused("{\"time\": {\"type\": \"pareto\", \"scale\": \"1us\"}}", "missing");
    refused("{\"time\": {\"type\": \"exponential\", \"mean\": \"1us\", \"maen\": 1}}", "unknown");
    refused("{\"time\": {\"type\": \"empirical\", \"points\": []}}", "list");
    refused("{\"time\": {\"type\": \"empirical\", \"points\": [[1]]}}", "pair");
    refused("{\"time\": {\"type\": \"empirical\", \"points\": [[0, \"10us\"], [1, \"1us\"]]}}",
            "fall");
    refused("{\"arrivals\": \"poisson(5)\"}", "unit");
    refused("{\"arrivals\": \"5/s\"}", "no arrival process");
    refused("{\"arrivals\": {\"type\": \"mmpp\", \"rates\": [\"1/s\"], \"leave\": [[0]]}}",
            "rates");
    refused("{\"arrivals\": {\"type\": \"trace\", \"dates\": [\"2ms\", \"1ms\"]}}", "trace");
}
END_TEST

START_TEST(test_tables_in_order)
{
    const struct param_table *const tables[] = {&net_table,    &vif_table,      &nic_table,
                                                &stack_table,  &netfront_table, &netback_table,
                                                &bridge_table, &client_table};
    struct errors e = ERRORS_NONE;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        params_check_table(tables[i], &e);
    for (size_t i = 0; program_nth(i); i++)
        if (program_nth(i)->params)
            params_check_table(program_nth(i)->params, &e);
    ck_assert_msg(!e.count, "%s", e.count ? e.item[0].text : "");
}
END_TEST

Suite *suite_random_params(void)
{
    const TTest *const tests[] = {test_forms,    test_tables_read, test_presets,
                                  test_arrivals, test_refused,     test_tables_in_order};
    Suite *s = suite_create("random_params");
    TCase *tc = tcase_create("random_params");

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(s, tc);
    return s;
}
