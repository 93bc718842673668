/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweep files: axes and their values, ranges, samples, axes that go together, conditions. */
#include "experiments/sweep/sweep_design.h"

#include "experiments/scenario/assign.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char scenario_text[] =
    "{\"version\": 1, \"hosts\": [{\"name\": \"xen\", \"pcpus\": 4, \"scheduler\": \"credit\", "
    "\"domains\": [{\"name\": \"a\", \"count\": 2, \"programs\": [{\"run\": \"hog\"}]}]}]}";

struct made {
    struct json *sweep, *scenario;
    struct sweep_spec spec;
    struct design design;
    struct errors e;
    int status;
};

/* Axes and whatever else of a sweep file, in single quotes. */
static void make(struct made *m, const char *members)
{
    char *text = xasprintf("{'version': 1, 'scenario': 's.json', %s}", members);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    *m = (struct made){0};
    m->sweep = json_parse("s.sweep.json", text, strlen(text), &m->e);
    m->scenario = json_parse("s.json", scenario_text, strlen(scenario_text), &m->e);
    ck_assert_msg(m->sweep != NULL, "%s", m->e.count ? m->e.item[0].text : "");
    m->status = config_read(&sweep_format, m->sweep, &m->spec, &m->e);
    if (!m->status)
        m->status = design_init(&m->design, &m->spec, m->sweep, m->scenario, &m->e);
    free(text);
}

static void unmake(struct made *m)
{
    design_free(&m->design);
    params_free(sweep_format.table, &m->spec);
    json_free(m->sweep);
    json_free(m->scenario);
    errors_free(&m->e);
}

/* "1 a|2 a|1 b": the levels of all points. */
static char *points_of(const struct design *d)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    for (size_t p = 0; p < d->points; p++) {
        fputs(p ? "|" : "", out);
        for (size_t a = 0; a < d->axes; a++)
            fprintf(out, "%s%s", a ? " " : "", design_level(d, p, a)->text);
    }
    fclose(out);
    return text;
}

static void ck_points(const char *members, const char *wanted)
{
    struct made m;
    char *points;

    make(&m, members);
    ck_assert_msg(m.status == 0, "%s: %s", members, m.e.count ? m.e.item[0].text : "?");
    points = points_of(&m.design);
    ck_assert_msg(!strcmp(points, wanted), "%s:\ngives  %s\nwanted %s", members, points, wanted);
    free(points);
    unmake(&m);
}

static void ck_refused(const char *members, const char *says)
{
    struct made m;

    make(&m, members);
    ck_assert_msg(m.status != 0 && m.e.count >= 1, "accepted: %s", members);
    ck_assert_msg(strstr(m.e.item[0].text, says) != NULL, "%s: says \"%s\", wanted \"%s\"", members,
                  m.e.item[0].text, says);
    ck_assert_int_eq(errors_exit_code(&m.e), EXIT_INPUT);
    unmake(&m);
}

#define AXIS(name, rest) "{'name': '" name "', 'at': '/x', " rest "}"

START_TEST(lists_are_crossed_the_last_fastest)
{
    ck_points(
        "'axes': [" AXIS("a", "'values': [1, 2]") ", " AXIS("b", "'values': ['x', 'y', 'z']") "]",
        "1 x|1 y|1 z|2 x|2 y|2 z");
}
END_TEST

START_TEST(ranges)
{
    ck_points("'axes': [" AXIS("a", "'from': 1, 'to': 7, 'step': 3") "]", "1|4|7");
    ck_points("'axes': [" AXIS("a", "'from': 1, 'to': 6, 'step': 3") "]", "1|4");
    ck_points("'axes': [" AXIS("a", "'from': 3, 'to': 1, 'step': -1") "]", "3|2|1");
    ck_points("'axes': [" AXIS("a", "'from': '1ms', 'to': '2ms', 'step': '250us'") "]",
              "1ms|1250us|1.5ms|1750us|2ms");
    ck_points("'axes': [" AXIS("a", "'from': 0, 'to': '1ms', 'count': 3") "]", "0ns|500us|1ms");
    ck_points("'axes': [" AXIS("a", "'from': '10%', 'to': '30%', 'count': 3") "]", "10%|20%|30%");
    /* 0.1 + 0.1 + 0.1 is 0.3 for people */
    ck_points("'axes': [" AXIS("a", "'from': 0, 'to': 0.3, 'step': 0.1") "]", "0|0.1|0.2|0.3");
    ck_points("'axes': [" AXIS("a", "'from': 5, 'to': 9, 'count': 1") "]", "5");
    ck_points(
        "'axes': [" AXIS("a", "'from': '100us', 'to': '10ms', 'count': 3, 'scale': 'log'") "]",
        "100us|1ms|10ms");
    ck_points("'axes': [" AXIS("a", "'from': 1, 'to': 1000, 'count': 4, 'scale': 'log'") "]",
              "1|10|100|1000");
    ck_points("'axes': [" AXIS("a", "'from': '1ms', 'to': '8ms', 'count': 8, 'scale': 'log', "
                                    "'round': '1ms'") "]",
              "1ms|2ms|3ms|4ms|6ms|8ms");
}
END_TEST

START_TEST(ranges_that_make_no_sense)
{
    ck_refused("'axes': [" AXIS("a", "'from': 1, 'to': 7") "]", "how the range is divided");
    ck_refused("'axes': [" AXIS("a", "'from': 1, 'to': 7, 'step': 0") "]", "above 0");
    ck_refused("'axes': [" AXIS("a", "'from': 1, 'to': 7, 'step': -1") "]", "leads away");
    ck_refused("'axes': [" AXIS("a", "'from': 1, 'to': 7, 'step': 1, 'count': 2") "]", "not both");
    ck_refused("'axes': [" AXIS("a", "'from': '1ms', 'to': '1/s', 'count': 2") "]",
               "different units");
    ck_refused("'axes': [" AXIS("a", "'from': '1ms', 'to': '9ms', 'step': 2") "]", "range's unit");
    ck_refused("'axes': [" AXIS("a", "'from': 'x', 'to': 'y', 'count': 2") "]",
               "a number is wanted");
    ck_refused("'axes': [" AXIS("a", "'from': 0, 'to': 9, 'count': 2, 'scale': 'log'") "]",
               "above 0");
    ck_refused("'axes': [" AXIS("a", "'from': 1, 'to': 9, 'step': 2, 'scale': 'log'") "]",
               "needs a \"count\"");
    ck_refused("'axes': [" AXIS("a", "'from': 1, 'count': 2") "]", "both \"from\" and \"to\"");
    ck_refused("'axes': [" AXIS("a", "'values': [1], 'from': 1, 'to': 2, 'count': 2") "]",
               "say once");
    ck_refused("'axes': [{'name': 'a', 'at': '/x'}]", "say once");
    ck_refused("'axes': [{'name': 'a', 'values': [1]}]", "\"at\" is missing");
    ck_refused("'axes': [{'name': 'a', 'at': 'x', 'values': [1]}]", "begins with \"/\"");
    ck_refused("'axes': [" AXIS("a", "'from': 1, 'to': 100000000, 'step': 1") "]",
               "more than a million");
    ck_refused("'axes': [" AXIS("a", "'from': 1, 'to': 10000, 'step': 1") ", " AXIS(
                   "b", "'from': 1, 'to': 10000, 'step': 1") "]",
               "combinations");
}
END_TEST

/* What is put into the scenario. */
START_TEST(assignments)
{
    struct made m;
    const struct level *l;

    make(&m,
         "'axes': [{'name': 'a', 'at': ['/x', '/y/0'], 'values': ['5ms', 3, {'type': 'null'}]}, "
         "{'name': 'b', 'at': '/z', 'from': '1/s', 'to': '2/s', 'count': 2, 'form': "
         "'poisson({})'}, {'name': 'c', 'settings': [{'label': 'none', 'set': []}, {'label': "
         "'both', 'set': ['/p=1', '/q=2']}]}]");
    ck_assert_int_eq(m.status, 0);
    ck_assert_uint_eq(m.design.points, 12);
    l = design_level(&m.design, 0, 0);
    ck_assert_uint_eq(l->sets, 2);
    ck_assert_str_eq(l->set[0], "/x=\"5ms\"");
    ck_assert_str_eq(l->set[1], "/y/0=\"5ms\"");
    ck_assert_str_eq(design_level(&m.design, 4, 0)->set[0], "/x=3");
    l = design_level(&m.design, 11, 0);
    ck_assert_str_eq(l->set[0], "/x={\"type\":\"null\"}");
    ck_assert_str_eq(l->text, "null");
    l = design_level(&m.design, 11, 1);
    ck_assert_str_eq(l->set[0], "/z=\"poisson(2/s)\"");
    ck_assert_str_eq(l->text, "2/s");
    ck_assert_uint_eq(design_level(&m.design, 10, 2)->sets, 0);
    l = design_level(&m.design, 11, 2);
    ck_assert_str_eq(l->text, "both");
    ck_assert_str_eq(l->set[1], "/q=2");
    ck_assert(!m.design.axis[0].numeric && m.design.axis[1].numeric);
    ck_assert_str_eq(axis_unit(&m.design.axis[1]), "1/s");
    unmake(&m);
}
END_TEST

/* A whole number stays whole where the scenario wants one, a NUMBER does not. */
START_TEST(whole_numbers)
{
    ck_points("'axes': [{'name': 'a', 'at': '/hosts/0/domains/0/count', 'from': 1, 'to': 4, "
              "'count': 3}]",
              "1|3|4");
}
END_TEST

START_TEST(axes_that_go_together)
{
    ck_points("'axes': [" AXIS("a", "'values': [1, 2]") ", " AXIS(
                  "b", "'values': [5, 6]") ", " AXIS("c", "'values': [8, 9], 'with': 'a'") "]",
              "1 5 8|1 6 8|2 5 9|2 6 9");
    ck_refused("'axes': [" AXIS("a", "'values': [1, 2]") ", " AXIS(
                   "c", "'values': [8, 9, 7], 'with': 'a'") "]",
               "both must have as many");
    ck_refused("'axes': [" AXIS("a", "'values': [1, 2], 'with': 'b'") "]", "no axis of this name");
    ck_refused("'axes': [" AXIS("a", "'values': [1]") ", " AXIS("a", "'values': [1]") "]",
               "another axis");
}
END_TEST

/* Each of n slices of each axis is used exactly once. */
START_TEST(latin_hypercube)
{
    struct made m, again;

    make(&m,
         "'axes': [" AXIS("a", "'from': 0, 'to': 1.0") ", " AXIS(
             "b", "'from': '1ms', 'to': '100ms', 'scale': 'log'") ", " AXIS("c",
                                                                            "'values': ['x', "
                                                                            "'y']") "], "
                                                                                    "'sampling':"
                                                                                    " {'points':"
                                                                                    " 20, "
                                                                                    "'seed': "
                                                                                    "4}");
    ck_assert_int_eq(m.status, 0);
    ck_assert_uint_eq(m.design.points, 40);
    for (size_t axis = 0; axis < 2; axis++) {
        bool seen[20] = {false};

        for (size_t p = 0; p < 40; p += 2) {
            double x = design_level(&m.design, p, axis)->value.number;
            double u = axis ? log10(x) / 2 : x;
            int slice = (int)floor(u * 20);

            ck_assert(slice >= 0 && slice < 20 && !seen[slice]);
            seen[slice] = true;
            ck_assert_ptr_eq(design_level(&m.design, p, axis),
                             design_level(&m.design, p + 1, axis));
        }
    }
    make(&again, "'axes': [" AXIS("a", "'from': 0, 'to': 1.0") "], 'sampling': {'points': 20, "
                                                               "'seed': 5}");
    ck_assert(
        strcmp(design_level(&again.design, 0, 0)->text, design_level(&m.design, 0, 0)->text) ||
        strcmp(design_level(&again.design, 1, 0)->text, design_level(&m.design, 2, 0)->text));
    unmake(&m);
    unmake(&again);
}
END_TEST

START_TEST(sobol)
{
    /* Bratley, Fox 1988: the first points after zero are 1/2, then 3/4 and 1/4 */
    ck_points("'axes': [" AXIS("a", "'from': 0, 'to': 8.0") ", " AXIS(
                  "b", "'from': 0, 'to': 4.0") "], 'sampling': {'method': 'sobol', 'points': 3}",
              "4 2|6 1|2 3");
    ck_refused("'axes': [" AXIS("a", "'values': [1]") "], 'sampling': {'points': 3}",
               "nothing is sampled");
}
END_TEST

/* Whole numbers are equally likely, both ends included. */
START_TEST(sampled_whole_numbers)
{
    struct made m;
    int count[5] = {0};

    make(&m, "'axes': [{'name': 'a', 'at': '/hosts/0/domains/0/count', 'from': 1, 'to': 4}], "
             "'sampling': {'points': 40}");
    ck_assert_int_eq(m.status, 0);
    for (size_t p = 0; p < 40; p++) {
        const struct value *v = &design_level(&m.design, p, 0)->value;

        ck_assert(v->whole && v->exact >= 1 && v->exact <= 4);
        count[v->exact]++;
    }
    for (int i = 1; i <= 4; i++)
        ck_assert_int_eq(count[i], 10);
    unmake(&m);
}
END_TEST

#define THREE                                                                                      \
    "'axes': [" AXIS("slice", "'values': ['1ms', '5ms', '30ms']") ", " AXIS(                       \
        "limit", "'values': ['500us', '5ms']") ", " AXIS("sched", "'values': ['x', 'y']") "]"

START_TEST(conditions)
{
    ck_points(THREE ", 'only': ['limit <= slice', 'sched == x']",
              "1ms 500us x|5ms 500us x|5ms 5ms x|30ms 500us x|30ms 5ms x");
    ck_points(THREE ", 'only': ['limit*2 < slice and not (sched == y or slice > 5ms)']",
              "5ms 500us x");
    ck_points(THREE ", 'only': ['slice - limit = 0']", "5ms 5ms x|5ms 5ms y");
    ck_points(THREE ", 'only': ['slice / limit >= 60', 'sched != \\'y\\'']", "30ms 500us x");
    ck_points(THREE ", 'only': ['slice == 1ms and limit == 500us or slice == 30000us and limit == "
                    "5ms', 'sched = x']",
              "1ms 500us x|30ms 5ms x");
    ck_points("'axes': [" AXIS("a-b", "'values': [1, 2, 3]") "], 'only': ['a-b - 1 != 1']", "1|3");
    ck_points("'axes': [" AXIS("a", "'values': [0.1, 0.3]") "], 'only': ['0.1 * 3 == a']", "0.3");
}
END_TEST

START_TEST(conditions_that_make_no_sense)
{
    static const struct {
        const char *condition, *says;
    } bad[] = {
        {"slice", "a comparison is wanted"},
        {"slise <= 5ms", "did you mean the axis"},
        {"slice <= 5/s", "cannot be compared"},
        {"slice + 1/s <= 5ms", "cannot be computed"},
        {"slice * limit <= 5ms", "cannot be computed"},
        {"sched < y", "cannot be compared"},
        {"slice <= ", "missing at the end"},
        {"(slice <= 5ms", "\\\")\\\" is missing"},
        {"slice <= 5ms limit == 5ms", "does not belong here"},
        {"slice <= 5parsec", "unknown unit"},
        {"slice <= 5ms and limit", "a comparison is wanted"},
        {"sched == \\'x", "not closed"},
        {"slice <= 1ms", ""},
    };

    for (size_t i = 0; i + 1 < sizeof bad / sizeof *bad; i++) {
        struct made m;
        char *members = xasprintf(THREE ", 'only': [\"%s\"]", bad[i].condition), *says;

        make(&m, members);
        ck_assert_msg(m.status != 0, "accepted: %s", bad[i].condition);
        says = xstrdup(bad[i].says);
        for (char *c = says; (c = strchr(c, '\\'));)
            memmove(c, c + 1, strlen(c));
        ck_assert_msg(strstr(m.e.item[0].text, says) != NULL, "%s: says %s", bad[i].condition,
                      m.e.item[0].text);
        free(says);
        free(members);
        unmake(&m);
    }
    ck_refused(THREE ", 'only': ['slice < 1ms']", "no combination of values is left");
}
END_TEST

/* A place inside a choice that is given by its name. */
START_TEST(choices_are_opened)
{
    struct errors e = ERRORS_NONE;
    struct json *doc = json_parse("s.json", scenario_text, strlen(scenario_text), &e);

    ck_assert_int_eq(scenario_assign(doc, "--set", "/hosts/0/scheduler/tslice=5ms", &e), 0);
    ck_assert_str_eq(json_string(json_at(doc, "/hosts/0/scheduler/type")), "credit");
    ck_assert_str_eq(json_string(json_at(doc, "/hosts/0/scheduler/tslice")), "5ms");
    ck_assert_int_ne(scenario_assign(doc, "--set", "/hosts/0/name/x=5ms", &e), 0);
    json_free(doc);
    errors_free(&e);
}
END_TEST

START_TEST(table_is_in_order)
{
    struct errors e = ERRORS_NONE;

    ck_assert_msg(params_check_table(sweep_format.table, &e) == 0, "%s",
                  e.count ? e.item[0].text : "");
    errors_free(&e);
}
END_TEST

Suite *suite_sweep_design(void)
{
    const TTest *const tests[] = {lists_are_crossed_the_last_fastest,
                                  ranges,
                                  ranges_that_make_no_sense,
                                  assignments,
                                  whole_numbers,
                                  axes_that_go_together,
                                  latin_hypercube,
                                  sobol,
                                  sampled_whole_numbers,
                                  conditions,
                                  conditions_that_make_no_sense,
                                  choices_are_opened,
                                  table_is_in_order};
    Suite *s = suite_create("sweep_design");
    TCase *tc = tcase_create("design");

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(s, tc);
    return s;
}
