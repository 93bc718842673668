/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What assumed defaults may be instead, and where a struct rests on them. */
#include "sim/distribution_params.h"
#include "sim/params.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct leaf {
    int64_t time, count, whole;
    double number;
    bool flag;
    int law, cited;
    struct distribution service;
    char *name;
};

static const char *const laws[] = {"fixed", "uniform", "none", NULL};

static const struct param leaf_rows[] = {
    {PARAM("time", DURATION, struct leaf, time), .def = "3us", .max = "5us", .meaning = "A time."},
    {PARAM("count", INTEGER, struct leaf, count), .def = "all", .word = "all", .word_value = 0,
     .meaning = "A count."},
    {PARAM("whole", INTEGER, struct leaf, whole), .def = "0", .range = "0..7",
     .meaning = "A whole."},
    {PARAM("number", NUMBER, struct leaf, number), .def = "0.5", .meaning = "A number."},
    {PARAM("flag", BOOLEAN, struct leaf, flag), .def = "true", .meaning = "A flag."},
    {PARAM("law", ENUM, struct leaf, law), .def = "uniform", .names = laws, .meaning = "A law."},
    {PARAM("cited", ENUM, struct leaf, cited), .def = "fixed", .names = laws, .meaning = "A law.",
     .source = "A book", .status = STATUS_CITED},
    {PARAM("service", CUSTOM, struct leaf, service), .type = &dist_time_type, .def = "1us",
     .meaning = "A service."},
    {PARAM("name", STRING, struct leaf, name), .def = "", .meaning = "A name."},
};
static const struct param_table leaf_table =
    PARAM_TABLE("leaf", struct leaf, leaf_rows, .meaning = "A leaf.");

struct tree {
    struct param_list leaves;
    int64_t seed;
};
static const struct param leaf_element = {PARAM_ELEMENT(OBJECT, struct leaf), .table = &leaf_table};
static const struct param tree_rows[] = {
    {PARAM("leaves", LIST, struct tree, leaves), .def = "[]", .of = &leaf_element,
     .meaning = "Leaves."},
    {PARAM("seed", INTEGER, struct tree, seed), .def = "1", .range = PARAM_NO_RANGE,
     .meaning = "A seed."},
};
static const struct param_table tree_table =
    PARAM_TABLE("tree", struct tree, tree_rows, .meaning = "A tree.");

/* "a|b" of a row's alternatives. */
static void expect(const char *row, const char *wanted)
{
    struct errors e = ERRORS_NONE;
    char pointer[64], text[256] = "";
    const struct param *p;
    struct param_list l;

    snprintf(pointer, sizeof pointer, "/%s", row);
    p = params_find(&leaf_table, JSON_NONE, pointer, &e);
    ck_assert_ptr_nonnull(p);
    l = param_alternatives(p);
    for (size_t i = 0; i < l.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "|" : "",
                 ((char **)l.item)[i]);
    param_alternatives_free(&l);
    ck_assert_msg(!strcmp(text, wanted), "%s: %s instead of %s", row, text, wanted);
}

START_TEST(alternatives)
{
    expect("time", "1.5us|5us"); /* double is beyond the bound */
    expect("count", "");         /* a word is no guess */
    expect("whole", "7");        /* the default itself is none */
    expect("number", "0.25|1");
    expect("flag", "false");
    expect("law", "fixed|none");
    expect("cited", "");
    expect("service", "500ns|2us");
    expect("name", "");
}
END_TEST

START_TEST(tables_without_ranges_are_found)
{
    static const struct {
        struct param row;
        const char *says;
    } cases[] = {
        {{PARAM("time", DURATION, struct leaf, time), .def = "0", .meaning = "M."},
         "without alternatives"},
        {{PARAM("time", DURATION, struct leaf, time), .def = "1s", .range = "1s..1s",
          .meaning = "M."},
         "without alternatives"},
        {{PARAM("time", DURATION, struct leaf, time), .def = "1s", .range = "1s..2B",
          .meaning = "M."},
         "bad default"},
        {{PARAM("time", DURATION, struct leaf, time), .def = "1s", .range = "1s..2s",
          .source = "S.", .status = STATUS_EXACT, .meaning = "M."},
         "a range is for assumed defaults"},
    };
    struct errors e = ERRORS_NONE;

    ck_assert_int_eq(params_check_ranges(&tree_table, &e), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct param_table t = {
            .name = "wrong", .row = &cases[i].row, .count = 1, .size = sizeof(struct leaf)};

        ck_assert_msg(params_check_ranges(&t, &e) == -1, "%zu passes", i);
        ck_assert_msg(strstr(e.item[0].text, cases[i].says) != NULL, "%zu: %s", i, e.item[0].text);
        errors_free(&e);
    }
}
END_TEST

static void note(void *ctx, const struct param_value *v)
{
    char *text = ctx;

    if (v->p->kind == PARAM_DURATION || !strcmp(v->p->name, "seed"))
        snprintf(text + strlen(text), 512 - strlen(text), "%s %s %s %s;", v->pattern, v->pointer,
                 v->text, v->is_default ? "default" : "given");
}

START_TEST(values_are_visited)
{
    static const char text[] = "{\"leaves\": [{\"time\": \"3000ns\"}, {\"time\": \"1us\"}]}";
    struct errors e = ERRORS_NONE;
    struct json *doc = json_parse("t.json", text, sizeof text - 1, &e);
    char seen[512] = "";
    struct tree tree;

    ck_assert_int_eq(params_read(&tree_table, json_root(doc), &tree, &e), 0);
    params_each_value(&tree_table, &tree, note, seen);
    ck_assert_str_eq(seen, "/leaves/-/time /leaves/0/time 3us default;"
                           "/leaves/-/time /leaves/1/time 1us given;"
                           "/seed /seed 1 default;");
    params_free(&tree_table, &tree);
    json_free(doc);
}
END_TEST

Suite *suite_params_range(void);

Suite *suite_params_range(void)
{
    Suite *s = suite_create("params_range");
    TCase *tc = tcase_create("params_range");

    tcase_add_test(tc, alternatives);
    tcase_add_test(tc, tables_without_ranges_are_found);
    tcase_add_test(tc, values_are_visited);
    suite_add_tcase(s, tc);
    return s;
}
