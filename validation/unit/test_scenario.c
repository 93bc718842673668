/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenario files: their tables are in order, sets of CPUs, names, "exact". */
#include "experiments/scenario/affinity.h"
#include "experiments/scenario/roster.h"
#include "experiments/scenario/scenario.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct scenario *read_text(const char *text, struct errors *e)
{
    struct json *doc = json_parse("test.json", text, strlen(text), e);
    struct scenario *s = doc ? scenario_read(doc, "experiments/library", e) : NULL;

    json_free(doc);
    return s;
}

#define HOSTS(hosts) "{\"version\": 1, \"hosts\": [" hosts "]}"

START_TEST(tables_are_in_order)
{
    struct errors e = ERRORS_NONE;

    params_check_ranges(scenario_format.table, &e);
    for (size_t i = 0; i < e.count; i++)
        fprintf(stderr, "%s\n", e.item[i].text);
    ck_assert_uint_eq(e.count, 0);
    errors_free(&e);
}
END_TEST

/* ---- sets of CPUs ---------------------------------------------------------------------------- */

struct holder {
    cpumask m;
};
static const struct param holder_rows[] = {
    {PARAM_CPU_LIST("cpus", struct holder, m), .def = "all", .meaning = "A set.",
     .source = "the test", .status = STATUS_ASSUMED},
};
static const struct param_table holder_table =
    PARAM_TABLE("holder", struct holder, holder_rows, .meaning = "Holds a set.");

/* The set as text, or "error" when it is refused. Caller frees. */
static char *round_trip(const char *json)
{
    char *text = xasprintf("{\"cpus\": %s}", json), *out;
    struct errors e = ERRORS_NONE;
    struct json *doc = json_parse("t", text, strlen(text), &e);
    struct holder h;
    int status = params_read(&holder_table, json_root(doc), &h, &e);

    out = status ? xstrdup("error") : cpu_list_text(&h.m);
    ck_assert_int_eq(status != 0, e.count != 0);
    json_free(doc);
    errors_free(&e);
    free(text);
    return out;
}

START_TEST(sets_of_cpus)
{
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"\"all\"", "all"},
        {"\"0\"", "0"},
        {"3", "3"},
        {"\"0-3,5\"", "0-3,5"},
        {"[0, 1, 2, 3, 5]", "0-3,5"},
        {"[5, 1, 0]", "0-1,5"},
        {"\"5,0,1\"", "0-1,5"},
        {"\"63-65\"", "63-65"},
        {"\"0-255\"", "all"},
        {"\"254,255\"", "254-255"},
        {"\"256\"", "error"},
        {"256", "error"},
        {"-1", "error"},
        {"\"3-1\"", "error"},
        {"\"1-\"", "error"},
        {"\"-1\"", "error"},
        {"\"1,\"", "error"},
        {"\",1\"", "error"},
        {"\"1 2\"", "error"},
        {"\"\"", "error"},
        {"[]", "error"},
        {"[1, \"2\"]", "error"},
        {"[1.5]", "error"},
        {"true", "error"},
        {"\"99999999999999999999\"", "error"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = round_trip(cases[i].json);

        ck_assert_msg(!strcmp(text, cases[i].text), "%s became %s, not %s", cases[i].json, text,
                      cases[i].text);
        free(text);
    }
}
END_TEST

/* ---- the roster ------------------------------------------------------------------------------ */

START_TEST(names_and_ids)
{
    struct errors e = ERRORS_NONE;
    struct scenario *s = read_text(
        HOSTS("{\"name\": \"a\", \"pcpus\": 1, \"dom0\": {}, \"domains\": ["
              "  {\"name\": \"web\"}, {\"name\": \"hog\", \"count\": 2}]},"
              "{\"name\": \"b\", \"count\": 2, \"on\": \"n\", \"pcpus\": 1, \"domains\": ["
              "  {\"name\": \"web\"}]}"),
        &e);
    static const struct {
        const char *name;
        size_t host;
        uint32_t id;
        size_t group;
    } expected[] = {{"dom0", 0, 0, 0}, {"web", 0, 1, 1}, {"hog1", 0, 2, 2},
                    {"hog2", 0, 3, 2}, {"web", 1, 1, 3}, {"web", 2, 1, 4}};
    struct roster *r;
    bool several;

    ck_assert_msg(s, "%s", e.count ? e.item[0].text : "");
    r = roster_new(s);
    ck_assert_uint_eq(r->hosts, 3);
    ck_assert_str_eq(r->host[2].name, "b2");
    ck_assert_str_eq(r->host[2].on, "n2");
    ck_assert_uint_eq(r->domains, 6);
    ck_assert_uint_eq(r->groups, 5);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_str_eq(r->domain[i].name, expected[i].name);
        ck_assert_uint_eq(r->domain[i].host, expected[i].host);
        ck_assert_uint_eq(r->domain[i].id, expected[i].id);
        ck_assert_uint_eq(r->domain[i].group, expected[i].group);
    }
    ck_assert_ptr_eq(roster_find(r, "hog2", &several), &r->domain[3]);
    ck_assert_ptr_eq(roster_find(r, "a/hog2", &several), &r->domain[3]);
    ck_assert_ptr_eq(roster_find(r, "b1/web", &several), &r->domain[4]);
    ck_assert_ptr_null(roster_find(r, "web", &several));
    ck_assert(several);
    ck_assert_ptr_null(roster_find(r, "hog3", &several));
    ck_assert(!several);
    ck_assert_ptr_null(roster_find(r, "b/web", &several));
    ck_assert_ptr_null(roster_find(r, "", &several));
    ck_assert_ptr_null(roster_find(r, "/", &several));
    roster_free(r);
    scenario_free(s);
    errors_free(&e);
}
END_TEST

/* ---- exact ----------------------------------------------------------------------------------- */

START_TEST(exact_has_no_costs)
{
    struct errors e = ERRORS_NONE;
    struct scenario *s =
        read_text("{\"version\": 1, \"exact\": true, \"hosts\": [{\"name\": \"xen\", \"dom0\": {},"
                  " \"pcpus\": 1, \"domains\": [{\"name\": \"a\", \"network\": {}}]}]}",
                  &e);
    const struct host_spec *h;

    ck_assert_msg(s, "%s", e.count ? e.item[0].text : "");
    h = scenario_host(s, 0);
    ck_assert_int_eq(h->costs.context_switch, 0);
    ck_assert_int_eq(h->costs.ipi, 0);
    ck_assert_int_eq(h->costs.smt_factor, 100);
    ck_assert_int_eq(h->boot_spread, 0);
    ck_assert_int_eq(h->network.netback.rx_packet, 0);
    ck_assert_int_eq(h->network.bridge.forward, 0);
    ck_assert_int_eq(h->dom0->costs.upcall, 0);
    ck_assert_int_eq(host_domain(h, 0)->costs.thread_switch, 0);
    ck_assert_int_eq(host_domain(h, 0)->network->netfront.rx_packet, 0);
    ck_assert_int_eq(host_domain(h, 0)->start_spread, 0);
    scenario_free(s);
    errors_free(&e);
}
END_TEST

/* The resolved scenario reads back to itself, in both modes. */
START_TEST(resolved_is_fixed)
{
    static const char *const texts[] = {
        HOSTS("{\"name\": \"xen\", \"pcpus\": 2}"),
        "{\"version\": 1, \"exact\": true, \"hosts\": [{\"name\": \"xen\", \"pcpus\": 2,"
        " \"dom0\": {}, \"domains\": [{\"name\": \"a\", \"network\": {}, \"programs\": [{\"run\": "
        "\"rpc\"}]}]}], \"clients\": [{\"name\": \"client\", \"to\": \"a\"}]}",
    };

    for (size_t i = 0; i < 2; i++) {
        struct errors e = ERRORS_NONE;
        char *text[2];

        for (int round = 0; round < 2; round++) {
            struct scenario *s = read_text(round ? text[0] : texts[i], &e);
            struct json_writer w;
            size_t size;
            FILE *out = open_memstream(&text[round], &size);

            ck_assert_msg(s, "%s", e.count ? e.item[0].text : "");
            w = json_writer(out, JSON_LINES);
            config_write(&scenario_format, s, &w, NULL);
            fclose(out);
            scenario_free(s);
        }
        ck_assert_str_eq(text[0], text[1]);
        free(text[0]);
        free(text[1]);
        errors_free(&e);
    }
}
END_TEST

Suite *suite_scenario(void)
{
    Suite *s = suite_create("scenario");
    TCase *c = tcase_create("scenario");

    tcase_add_test(c, tables_are_in_order);
    tcase_add_test(c, sets_of_cpus);
    tcase_add_test(c, names_and_ids);
    tcase_add_test(c, exact_has_no_costs);
    tcase_add_test(c, resolved_is_fixed);
    suite_add_tcase(s, c);
    return s;
}
