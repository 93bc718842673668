/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameter tables: reading with all errors at once, resolved output, status, schema, help. */
#include "sim/params.h"

#include "sim/config.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A table with everything in it --------------------------------------------------------- */

struct cache {
    int64_t size;
    int ways;
};

static const struct param cache_rows[] = {
    {PARAM("size", SIZE, struct cache, size), .def = "64KiB", .min = "1KiB", .max = "1GiB",
     .meaning = "Size of the cache.", .source = "a data sheet", .status = STATUS_CITED},
    {PARAM("ways", INTEGER, struct cache, ways), .def = "8", .min = "1",
     .meaning = "Ways of a set."},
};
static const struct param_table cache_table =
    PARAM_TABLE("cache", struct cache, cache_rows, .meaning = "A cache.");

struct hog {
    double load;
};

static const struct param hog_rows[] = {
    {PARAM("load", NUMBER, struct hog, load), .def = "1", .min = "0", .max = "1",
     .meaning = "Part of the time it computes."},
};
static const struct param_table hog_table =
    PARAM_TABLE("hog", struct hog, hog_rows, .meaning = "It computes.");

struct server {
    int64_t service;
    char *client;
};

static const struct param server_rows[] = {
    {PARAM("service", DURATION, struct server, service), .def = "100us", .min = "1ns",
     .meaning = "Time for a request.", .source = "fit of 2018", .status = STATUS_CALIBRATED},
    {PARAM("client", NAME, struct server, client), .refers = "client",
     .meaning = "Who sends requests."},
};
static const struct param_table server_table =
    PARAM_TABLE("server", struct server, server_rows, .meaning = "It serves.");

static const struct param_choice programs[] = {
    {.name = "hog", .table = &hog_table},
    {.name = "server", .table = &server_table},
    {.name = "idle", .meaning = "It does nothing."},
    {.name = NULL},
};
static const struct param_choices program_choices = {.tag = "type", .array = programs};

/* A custom value: two integers written "3x4". */
struct grid {
    int rows, columns;
};

static int read_grid(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    struct grid *grid = field;
    const char *text = json_string(v);

    (void)p;
    if (!text || sscanf(text, "%dx%d", &grid->rows, &grid->columns) != 2)
        return json_error(v, e, "a grid such as \"3x4\" is wanted");
    return 0;
}

static void write_grid(const struct param *p, const void *field, struct json_writer *w,
                       const char *key)
{
    const struct grid *grid = field;
    char text[32];

    (void)p;
    snprintf(text, sizeof text, "%dx%d", grid->rows, grid->columns);
    json_put_string(w, key, text);
}

static void schema_grid(const struct param *p, struct json_writer *w, const char *key)
{
    json_begin(w, key, '{');
    json_put_string(w, "description", p->meaning);
    json_put_string(w, "pattern", "^[0-9]+x[0-9]+$");
    json_end(w);
}

static const struct param_type grid_type = {.name = "grid",
                                            .accepts = "a grid such as \"3x4\"",
                                            .size = sizeof(struct grid),
                                            .read = read_grid,
                                            .write = write_grid,
                                            .schema = schema_grid};

struct domain {
    char *name;
    int64_t weight;
    struct param_variant program;
};

static const struct param domain_rows[] = {
    {PARAM("name", NAME, struct domain, name), .refers = "domain", .meaning = "Its name."},
    {PARAM("weight", INTEGER, struct domain, weight), .def = "256", .min = "1", .max = "65535",
     .meaning = "Share of time.", .source = "xen/common/sched/credit.c", .status = STATUS_EXACT},
    {PARAM("program", VARIANT, struct domain, program), .choices = &program_choices, .def = "hog",
     .meaning = "What runs in it."},
};
static const struct param_table domain_table =
    PARAM_TABLE("domain", struct domain, domain_rows, .meaning = "A virtual machine.");

struct world {
    int64_t duration, tslice, rate, speed, share, seed, cap;
    double load;
    bool exact;
    int law;
    char *title, *note;
    struct cache cache, *second;
    struct param_list domains, delays;
    struct param_variant scheduler;
    struct grid grid;
    int64_t derived;
};

static const char *const laws[] = {"fixed", "exponential", "uniform", NULL};
static const struct param a_domain = {PARAM_ELEMENT(OBJECT, struct domain), .table = &domain_table};
static const struct param a_delay = {PARAM_ELEMENT(DURATION, int64_t), .max = "1s"};

static const struct param world_rows[] = {
    {PARAM("title", STRING, struct world, title), .def = "", .meaning = "For people."},
    {PARAM("duration", DURATION, struct world, duration), .min = "1ms", .max = "1h",
     .meaning = "Simulated time."},
    {PARAM("tslice", DURATION, struct world, tslice), .def = "30ms", .min = "100us", .max = "1s",
     .meaning = "Time slice.", .source = "xen/common/sched/credit.c", .status = STATUS_EXACT},
    {PARAM("rate", RATE, struct world, rate), .def = "250/s", .meaning = "Requests."},
    {PARAM("speed", BITRATE, struct world, speed), .def = "10Gbps", .meaning = "Of the wire."},
    {PARAM("share", PERCENT, struct world, share), .def = "30%", .max = "100%",
     .meaning = "Of the load."},
    {PARAM("seed", INTEGER, struct world, seed), .def = "1", .meaning = "Of all streams."},
    {PARAM("cap", PERCENT, struct world, cap), .def = "none", .word = "none", .word_value = -1,
     .min = "1%", .meaning = "Most time it may have."},
    {PARAM("load", NUMBER, struct world, load), .def = "0.5", .min = "0", .max = "1",
     .meaning = "Offered load."},
    {PARAM("exact", BOOLEAN, struct world, exact), .def = "false", .meaning = "No costs."},
    {PARAM("law", ENUM, struct world, law), .def = "exponential", .names = laws,
     .meaning = "Of the sizes."},
    {PARAM("note", STRING, struct world, note), .optional = true, .meaning = "A remark."},
    {PARAM("cache", OBJECT, struct world, cache), .def = "{}", .table = &cache_table,
     .meaning = "The first cache."},
    {PARAM("second", POINTER, struct world, second), .optional = true, .table = &cache_table,
     .meaning = "The second cache."},
    {PARAM("domains", LIST, struct world, domains), .of = &a_domain, .min = "1", .max = "1000",
     .meaning = "The virtual machines."},
    {PARAM("delays", LIST, struct world, delays), .of = &a_delay, .def = "[\"1ms\", \"2ms\"]",
     .meaning = "Pauses in turn."},
    {PARAM("scheduler", VARIANT, struct world, scheduler), .choices = &program_choices,
     .optional = true, .meaning = "Who decides."},
    {PARAM("grid", CUSTOM, struct world, grid), .type = &grid_type, .def = "1x2",
     .meaning = "A layout."},
};

static int check_world(void *target, struct json_value v, struct errors *e)
{
    struct world *world = target;

    if (world->tslice > world->duration)
        return json_error_in(v, "tslice", e, "longer than the duration");
    world->derived = world->duration / world->tslice;
    return 0;
}

static const struct param_table world_table =
    PARAM_TABLE("world", struct world, world_rows, .check = check_world, .meaning = "A world.");
static const struct config_format world_format = {"world", 1, &world_table};

/* ---- Helpers ------------------------------------------------------------------------------- */

static struct json *doc;
static struct world world;
static struct errors errors;

static int read_world(const char *text)
{
    json_free(doc);
    doc = json_parse("w.json", text, strlen(text), &errors);
    ck_assert_msg(doc != NULL, "%s", errors.count ? errors.item[0].text : "");
    return config_read(&world_format, doc, &world, &errors);
}

static void done(void)
{
    params_free(&world_table, &world);
    errors_free(&errors);
    json_free(doc);
    doc = NULL;
}

static void must_read(const char *text)
{
    int status = read_world(text);

    ck_assert_msg(status == 0 && errors.count == 0, "%s", errors.count ? errors.item[0].text : "");
}

static char *resolved(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out, JSON_LINES);

    config_write(&world_format, &world, &w, NULL);
    fclose(out);
    return text;
}

#define MINIMAL "{\"version\": 1, \"duration\": \"2s\", \"domains\": [{\"name\": \"a\"}]}"

/* ---- Reading ------------------------------------------------------------------------------- */

START_TEST(defaults_are_filled)
{
    must_read(MINIMAL);
    ck_assert_int_eq(world.duration, INT64_C(2000000000));
    ck_assert_int_eq(world.tslice, 30000000);
    ck_assert_int_eq(world.rate, 250000000);
    ck_assert_int_eq(world.speed, INT64_C(10000000000));
    ck_assert_int_eq(world.share, 300000000);
    ck_assert_int_eq(world.seed, 1);
    ck_assert_int_eq(world.cap, -1);
    ck_assert(world.load == 0.5);
    ck_assert(!world.exact);
    ck_assert_int_eq(world.law, 1);
    ck_assert_str_eq(world.title, "");
    ck_assert_ptr_null(world.note);
    ck_assert_int_eq(world.cache.size, 65536);
    ck_assert_int_eq(world.cache.ways, 8);
    ck_assert_ptr_null(world.second);
    ck_assert_uint_eq(world.delays.count, 2);
    ck_assert_int_eq(((int64_t *)world.delays.item)[1], 2000000);
    ck_assert_ptr_null(world.scheduler.choice);
    ck_assert_int_eq(world.grid.columns, 2);
    ck_assert_uint_eq(world.domains.count, 1);
    ck_assert_str_eq(((struct domain *)world.domains.item)->program.choice->name, "hog");
    ck_assert(((struct hog *)((struct domain *)world.domains.item)->program.data)->load == 1);
    ck_assert_int_eq(world.derived, 66);
    done();
}
END_TEST

START_TEST(everything_given)
{
    struct domain *domain;

    must_read("{\"$schema\": \"x\", \"version\": 1, \"comment\": [\"two\", \"lines\"],"
              "\"title\": \"t\", \"duration\": \"1min\", \"tslice\": \"5ms\", \"rate\": \"2k/s\","
              "\"speed\": \"1Gbps\", \"share\": \"12.5%\", \"seed\": 9223372036854775807,"
              "\"cap\": \"50%\", \"load\": 0.75, \"exact\": true, \"law\": \"uniform\","
              "\"note\": \"n\", \"cache\": {\"ways\": 4, \"comment\": \"c\"},"
              "\"second\": {\"size\": \"1MiB\"}, \"delays\": [0, \"3us\"],"
              "\"scheduler\": \"idle\", \"grid\": \"7x9\","
              "\"domains\": [{\"name\": \"a\", \"program\": {\"type\": \"server\","
              "\"client\": \"c1\"}}, {\"name\": \"b\", \"program\": {\"load\": 0.25}}]}");
    ck_assert_int_eq(world.seed, INT64_MAX);
    ck_assert_int_eq(world.cap, 500000000);
    ck_assert_int_eq(world.law, 2);
    ck_assert_int_eq(world.cache.ways, 4);
    ck_assert_int_eq(world.cache.size, 65536);
    ck_assert_int_eq(world.second->size, 1048576);
    ck_assert_int_eq(((int64_t *)world.delays.item)[0], 0);
    ck_assert_str_eq(world.scheduler.choice->name, "idle");
    ck_assert_int_eq(world.grid.rows, 7);
    domain = world.domains.item;
    ck_assert_str_eq(domain[0].program.choice->name, "server");
    ck_assert_str_eq(((struct server *)domain[0].program.data)->client, "c1");
    ck_assert_str_eq(domain[1].program.choice->name, "hog");
    ck_assert(((struct hog *)domain[1].program.data)->load == 0.25);
    done();
}
END_TEST

/* One member in an otherwise good file, and what the one error says. */
static const struct {
    const char *member, *says;
} bad[] = {
    {"\"tslise\": \"5ms\"",
     "w.json:2:1: /tslise: no such member of world: did you mean \"tslice\"?"},
    {"\"T-Slice\": \"5ms\"", "did you mean \"tslice\"?"},
    {"\"xyzzy\": 1", "w.json:2:1: /xyzzy: no such member of world; there are: title, duration"},
    {"\"tslice\": 5", "w.json:2:1: /tslice: found 5: no unit; a duration is wanted"},
    {"\"tslice\": \"5\"", "found \"5\": no unit"},
    {"\"tslice\": \"64KiB\"", "found \"64KiB\": this is a size; a duration is wanted"},
    {"\"tslice\": \"10us\"",
     "found \"10us\": too small: a duration such as \"30ms\" (100us to 1s)"},
    {"\"tslice\": \"2min\"", "found \"2min\": too large"},
    {"\"tslice\": true", "found true: a duration such as \"30ms\" (100us to 1s) is wanted"},
    {"\"tslice\": null", "found null: a duration"},
    {"\"tslice\": [\"5ms\"]", "found an array of 1 element: a duration"},
    {"\"tslice\": \"3s\"", "too large"},
    {"\"rate\": \"-1/s\"", "must not be negative"},
    {"\"share\": \"101%\"", "at most 100%"},
    {"\"share\": 0.3", "found 0.3: no unit; a percentage is wanted"},
    {"\"seed\": \"1\"", "found \"1\": a whole number is wanted"},
    {"\"seed\": 1.5", "found 1.5: not whole"},
    {"\"seed\": 9223372036854775808", "out of range"},
    {"\"cap\": \"nine\"", "or \"none\""},
    {"\"load\": \"0.5\"", "found \"0.5\": a number (0 to 1) is wanted"},
    {"\"load\": 1.5", "found 1.5: too large: a number (0 to 1)"},
    {"\"load\": 1e999", "found 1e999: a number"},
    {"\"exact\": 1", "found 1: true or false is wanted"},
    {"\"exact\": \"true\"", "found \"true\": true or false is wanted"},
    {"\"law\": \"exponentail\"", "did you mean \"exponential\"?"},
    {"\"law\": \"zipf\"", "\"fixed\", \"exponential\" or \"uniform\" is wanted"},
    {"\"title\": 7", "found 7: a string is wanted"},
    {"\"cache\": []", "/cache: found an array of 0 elements: an object (cache) is wanted"},
    {"\"cache\": {\"wais\": 1}", "/cache/wais: no such member of cache: did you mean \"ways\"?"},
    {"\"cache\": {\"ways\": 2147483648}", "/cache/ways: found 2147483648: too large"},
    {"\"cache\": {\"comment\": 5}", "/cache/comment: a comment is a string"},
    {"\"second\": 1", "/second: found 1: an object (cache) is wanted"},
    {"\"delays\": [\"1ms\", \"x\", \"1us\"]", "/delays/1: found \"x\": no number"},
    {"\"delays\": \"1ms\"", "/delays: found \"1ms\": an array is wanted"},
    {"\"delays\": [\"2s\"]", "/delays/0: found \"2s\": too large"},
    {"\"scheduler\": \"hogg\"", "/scheduler: no type \"hogg\": did you mean \"hog\"?"},
    {"\"scheduler\": {}", "/scheduler: \"type\" is missing: an object with a member \"type\" of "
                          "\"hog\", \"server\" or \"idle\" is wanted"},
    {"\"scheduler\": {\"type\": 1}", "/scheduler/type: \"type\" is no string"},
    {"\"scheduler\": {\"type\": \"nothing\"}", "/scheduler/type: no type \"nothing\""},
    {"\"scheduler\": {\"type\": \"idle\", \"load\": 1}", "/scheduler/load: no such member"},
    {"\"scheduler\": {\"type\": \"hog\", \"lode\": 1}", "/scheduler/lode: no such member of hog"},
    {"\"scheduler\": \"server\"", "/scheduler: \"client\" is missing: Who sends requests."},
    {"\"scheduler\": 5", "/scheduler: found 5: an object with a member \"type\""},
    {"\"scheduler\": {\"type\": \"server\", \"client\": \"a b\"}", "the name of a client"},
    {"\"grid\": \"x\"", "/grid: a grid such as \"3x4\" is wanted"},
};

START_TEST(one_error)
{
    char text[512];

    snprintf(text, sizeof text,
             "{\"version\": 1, \"duration\": \"2s\", \"domains\": [{\"name\": \"a\"}],\n%s}",
             bad[_i].member);
    ck_assert_int_eq(read_world(text), -1);
    ck_assert_msg(errors.count == 1, "%s: %zu errors", bad[_i].member, errors.count);
    ck_assert_msg(strstr(errors.item[0].text, bad[_i].says) != NULL,
                  "%s: \"%s\" does not say \"%s\"", bad[_i].member, errors.item[0].text,
                  bad[_i].says);
    ck_assert_int_eq(errors_exit_code(&errors), EXIT_INPUT);
    done();
}
END_TEST

START_TEST(all_errors_at_once)
{
    static const char *const says[] = {
        "w.json:1:1: \"version\" is missing: write \"version\": 1",
        "w.json:2:2: /tslice: found 5: no unit",
        "w.json:3:2: /law: found \"zipf\"",
        "w.json:4:15: /domains/0: \"name\" is missing: Its name.",
        "w.json:5:4: /domains/1/weight: found 0: too small",
        "w.json:5:17: /domains/1/wait: no such member of domain",
        "w.json:5:28: /domains/1/name: found \"\": the name of a domain",
        "w.json:1:1: \"duration\" is missing: Simulated time. a duration",
    };

    read_world("{\n"
               " \"tslice\": 5,\n"
               " \"law\": \"zipf\",\n"
               " \"domains\": [ {},\n"
               "  {\"weight\": 0, \"wait\": 1, \"name\": \"\"}]\n"
               "}\n");
    for (size_t i = 0; i < errors.count; i++)
        ck_assert_msg(i < 8 && strstr(errors.item[i].text, says[i]) != NULL, "%zu: %s", i,
                      errors.item[i].text);
    ck_assert_uint_eq(errors.count, 8);
    done();
}
END_TEST

START_TEST(checks_between_members)
{
    ck_assert_int_eq(read_world("{\"version\": 1, \"duration\": \"10ms\",\n"
                                "\"domains\": [{\"name\": \"a\"}], \"tslice\": \"20ms\"}"),
                     -1);
    ck_assert_str_eq(errors.item[0].text, "w.json:2:29: /tslice: longer than the duration");
    done();
    /* the default is at fault: the object is named */
    ck_assert_int_eq(read_world("{\"version\": 1, \"duration\": \"10ms\","
                                "\"domains\": [{\"name\": \"a\"}]}"),
                     -1);
    ck_assert_str_eq(errors.item[0].text, "w.json:1:1: /tslice: longer than the duration");
    done();
}
END_TEST

START_TEST(versions)
{
    ck_assert_int_eq(read_world("{\"version\": 2, \"duration\": \"1s\","
                                "\"domains\": [{\"name\": \"a\"}]}"),
                     -1);
    ck_assert_str_eq(errors.item[0].text,
                     "w.json:1:2: /version: found 2: this hvsim reads version 1 of world files");
    done();
    ck_assert_int_eq(read_world("[]"), -1);
    ck_assert_str_eq(errors.item[0].text,
                     "w.json:1:1: found an array of 0 elements: an object (world) is wanted");
    done();
}
END_TEST

START_TEST(overrides_are_checked_and_named)
{
    json_free(doc);
    doc = json_parse("w.json", MINIMAL, strlen(MINIMAL), &errors);
    json_set(doc, "--set", "/tslice=7ms", &errors);
    json_set(doc, "--set", "/title=2024", &errors); /* a flag cannot tell it from "2024" */
    json_set(doc, "--set", "/domains/-={\"name\":\"b\"}", &errors);
    json_set(doc, "--set", "/cache/ways=2", &errors);
    ck_assert_int_eq(config_read(&world_format, doc, &world, &errors), 0);
    ck_assert_int_eq(world.tslice, 7000000);
    ck_assert_str_eq(world.title, "2024");
    ck_assert_uint_eq(world.domains.count, 2);
    ck_assert_int_eq(world.cache.ways, 2);
    params_free(&world_table, &world);
    json_set(doc, "--set", "/tslice=64KiB", &errors);
    json_set(doc, "--set", "/tslize=5ms", &errors);
    ck_assert_int_eq(config_read(&world_format, doc, &world, &errors), -1);
    ck_assert_uint_eq(errors.count, 2);
    ck_assert_msg(strstr(errors.item[0].text, "--set /tslice=64KiB: /tslice: found \"64KiB\"") !=
                      NULL,
                  "%s", errors.item[0].text);
    ck_assert_str_eq(
        errors.item[1].text,
        "--set /tslize=5ms: /tslize: no such member of world: did you mean \"tslice\"?");
    done();
}
END_TEST

/* Very many errors end in one line that says so. */
START_TEST(floods_of_errors_are_cut)
{
    size_t n = 50000;
    char *text = malloc(24 * n + 200), *at = text;

    at += sprintf(at, "{\"version\": 1, \"duration\": \"1s\", \"domains\": [{\"name\":\"a\"}");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, ",{\"bad\":1}");
    at += sprintf(at, "], \"delays\": [");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "%s1", i ? "," : "");
    strcpy(at, "]}");
    ck_assert_int_eq(read_world(text), -1);
    ck_assert_uint_le(errors.count, 101);
    free(text);
    done();
}
END_TEST

/* ---- Writing ------------------------------------------------------------------------------- */

START_TEST(resolved_file_reads_back_to_the_same_bytes)
{
    char *first, *second;

    must_read(
        "{\"version\": 1, \"duration\": \"2000ms\", \"seed\": 9007199254740993, \"load\": 0.1,"
        "\"scheduler\": {\"type\": \"server\", \"client\": \"c\"}, \"second\": {},"
        "\"domains\": [{\"name\": \"a\"}, {\"name\": \"b\", \"program\": \"idle\"}]}");
    first = resolved();
    params_free(&world_table, &world);
    must_read(first);
    second = resolved();
    ck_assert_str_eq(first, second);
    ck_assert_str_eq(first, "{\n"
                            "  \"version\": 1,\n"
                            "  \"title\": \"\",\n"
                            "  \"duration\": \"2s\",\n"
                            "  \"tslice\": \"30ms\",\n"
                            "  \"rate\": \"250/s\",\n"
                            "  \"speed\": \"10Gbps\",\n"
                            "  \"share\": \"30%\",\n"
                            "  \"seed\": 9007199254740993,\n"
                            "  \"cap\": \"none\",\n"
                            "  \"load\": 0.1,\n"
                            "  \"exact\": false,\n"
                            "  \"law\": \"exponential\",\n"
                            "  \"cache\": {\n"
                            "    \"size\": \"64KiB\",\n"
                            "    \"ways\": 8\n"
                            "  },\n"
                            "  \"second\": {\n"
                            "    \"size\": \"64KiB\",\n"
                            "    \"ways\": 8\n"
                            "  },\n"
                            "  \"domains\": [\n"
                            "    {\n"
                            "      \"name\": \"a\",\n"
                            "      \"weight\": 256,\n"
                            "      \"program\": {\n"
                            "        \"type\": \"hog\",\n"
                            "        \"load\": 1\n"
                            "      }\n"
                            "    },\n"
                            "    {\n"
                            "      \"name\": \"b\",\n"
                            "      \"weight\": 256,\n"
                            "      \"program\": {\n"
                            "        \"type\": \"idle\"\n"
                            "      }\n"
                            "    }\n"
                            "  ],\n"
                            "  \"delays\": [\"1ms\", \"2ms\"],\n"
                            "  \"scheduler\": {\n"
                            "    \"type\": \"server\",\n"
                            "    \"service\": \"100us\",\n"
                            "    \"client\": \"c\"\n"
                            "  },\n"
                            "  \"grid\": \"1x2\"\n"
                            "}\n");
    free(first);
    free(second);
    done();
}
END_TEST

static char *statuses(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out, JSON_COMPACT);

    params_write_status(&world_table, &world, NULL, &w, NULL);
    fclose(out);
    return text;
}

/* Given values below a listed pointer are calibrated; defaults keep their own status, and a name
 * that only begins alike is another one. */
START_TEST(listed_values_are_calibrated)
{
    char *pointer[] = {"/domains", "/rat"}, *text;
    struct param_list listed = {pointer, 2};
    struct json_writer w;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    must_read("{\"version\": 1, \"duration\": \"2s\", \"rate\": \"100/s\", \"domains\": ["
              "{\"name\": \"a\", \"weight\": 512}]}");
    w = json_writer(out, JSON_COMPACT);
    params_write_status(&world_table, &world, &listed, &w, NULL);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "\"/domains/-/weight\",\"value\":\"512\",\"status\":"
                                       "\"calibrated\",\"count\":1"));
    ck_assert_ptr_nonnull(strstr(text, "\"/rate\",\"value\":\"100/s\",\"status\":\"given\""));
    ck_assert_ptr_nonnull(strstr(text, "\"/tslice\",\"value\":\"30ms\",\"status\":\"exact\""));
    free(text);
    done();
}
END_TEST

START_TEST(statuses_tell_what_values_rest_on)
{
    static const char *const rows[] = {
        "{\"parameter\":\"/duration\",\"value\":\"2s\",\"status\":\"given\",\"count\":1}",
        "{\"parameter\":\"/tslice\",\"value\":\"30ms\",\"status\":\"exact\","
        "\"source\":\"xen/common/sched/credit.c\",\"count\":1}",
        "{\"parameter\":\"/rate\",\"value\":\"100/s\",\"status\":\"given\",\"count\":1}",
        "{\"parameter\":\"/cache/size\",\"value\":\"64KiB\",\"status\":\"cited\","
        "\"source\":\"a data sheet\",\"count\":1}",
        "{\"parameter\":\"/domains/-/name\",\"status\":\"given\",\"count\":3}",
        "{\"parameter\":\"/domains/-/weight\",\"value\":\"256\",\"status\":\"exact\","
        "\"source\":\"xen/common/sched/credit.c\",\"count\":2}",
        "{\"parameter\":\"/domains/-/weight\",\"value\":\"512\",\"status\":\"given\",\"count\":1}",
        "{\"parameter\":\"/domains/-/program/type\",\"value\":\"hog\",\"status\":\"assumed\","
        "\"count\":2}",
        "{\"parameter\":\"/domains/-/program/"
        "load\",\"value\":\"1\",\"status\":\"assumed\",\"or\":[\"0.5\"],"
        "\"count\":2}",
        "{\"parameter\":\"/domains/-/program/type\",\"value\":\"server\",\"status\":\"given\","
        "\"count\":1}",
        "{\"parameter\":\"/domains/-/program/service\",\"value\":\"100us\","
        "\"status\":\"calibrated\",\"source\":\"fit of 2018\",\"count\":1}",
        "{\"parameter\":\"/delays\",\"value\":\"[\\\"1ms\\\",\\\"2ms\\\"]\","
        "\"status\":\"assumed\",\"count\":1}",
        "{\"parameter\":\"/grid\",\"value\":\"\\\"1x2\\\"\",\"status\":\"assumed\",\"count\":1}",
    };
    char *text, *again, *file;

    must_read("{\"version\": 1, \"duration\": \"2s\", \"rate\": \"100/s\", \"domains\": ["
              "{\"name\": \"a\"}, {\"name\": \"b\", \"weight\": 512},"
              "{\"name\": \"c\", \"program\": {\"type\": \"server\", \"client\": \"x\"}}]}");
    text = statuses();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(strstr(text, rows[i]) != NULL, "%s\nis not in\n%s", rows[i], text);
    ck_assert_ptr_null(strstr(text, "/note"));
    ck_assert_ptr_null(strstr(text, "/second"));
    /* in the resolved file everything is written, and still nothing but the given is "given" */
    file = resolved();
    params_free(&world_table, &world);
    must_read(file);
    again = statuses();
    ck_assert_str_eq(text, again);
    free(text);
    free(again);
    free(file);
    done();
}
END_TEST

START_TEST(large_lists_stay_linear)
{
    size_t n = 1000;
    char *text = malloc(40 * n + 200), *at = text;

    at += sprintf(at, "{\"version\": 1, \"duration\": \"1s\", \"domains\": [");
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "%s{\"name\":\"d%zu\"}", i ? "," : "", i);
    strcpy(at, "]}");
    must_read(text);
    free(text);
    text = statuses();
    ck_assert_uint_lt(strlen(text), 4000);
    free(text);
    text = resolved();
    params_free(&world_table, &world);
    must_read(text);
    ck_assert_uint_eq(world.domains.count, n);
    free(text);
    done();
}
END_TEST

START_TEST(all_by_default)
{
    params_defaults(&world_table, &world);
    ck_assert_int_eq(world.tslice, 30000000);
    ck_assert_int_eq(world.duration, 0);
    ck_assert_int_eq(world.cache.ways, 8);
    done();
}
END_TEST

/* ---- Descriptions -------------------------------------------------------------------------- */

START_TEST(schema)
{
    static const char *const parts[] = {
        "\"$schema\":\"https://json-schema.org/draft/2020-12/schema\"",
        "\"title\":\"hvsim world\"",
        "\"version\":{\"const\":1}",
        "\"required\":[\"version\",\"duration\",\"domains\"]",
        "\"additionalProperties\":false",
        "\"description\":\"Time slice. Range: 100us to 1s.\"",
        "\"enum\":[\"fixed\",\"exponential\",\"uniform\"]",
        "\"type\":{\"const\":\"server\"}",
        "\"default\":\"30ms\"",
        "\"default\":0.5",
        "\"minItems\":1",
        "{\"const\":\"none\"}",
    };
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out, JSON_COMPACT);
    struct json *read;

    config_schema(&world_format, &w);
    fclose(out);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "%s\nis not in\n%s", parts[i], text);
    read = json_parse("schema", text, size, &errors);
    ck_assert_ptr_nonnull(read);
    json_free(read);
    free(text);
}
END_TEST

START_TEST(help_and_markdown)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    params_help(&world_table, out);
    params_markdown(&world_table, out);
    fclose(out);
    ck_assert_msg(strstr(text, "  tslice") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "a duration such as \"30ms\" (100us to 1s); default 30ms") != NULL,
                  "%s", text);
    ck_assert_msg(strstr(text, "Time slice. [exact: xen/common/sched/credit.c]") != NULL, "%s",
                  text);
    ck_assert_msg(strstr(text, "  domains/-/weight ") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "; required\n") != NULL, "%s", text);
    ck_assert_msg(strstr(text,
                         "| `cache/ways` | a whole number (at least 1) | 8 | Ways of a set. | "
                         "assumed |\n") != NULL,
                  "%s", text);
    free(text);
}
END_TEST

START_TEST(finding_rows)
{
    static const struct {
        const char *pointer, *name;
    } cases[] = {
        {"/tslice", "tslice"},
        {"/cache/ways", "ways"},
        {"/second/size", "size"},
        {"/domains", "domains"},
        {"/domains/-/weight", "weight"},
        {"/domains/0/program/service", "service"},
        {"/domains/7/program/load", "load"}, /* not there yet: the first that fits */
        {"/delays/0", ""},
    };
    static const char *const lost[] = {"",         "tslice",       "/tslices",
                                       "/cach",    "/tslice/x",    "/domains/0/program/load",
                                       "/~/x",     "/domains/0/x", "/domains/x~/weight",
                                       "/delays/", "/delays/x"};

    must_read("{\"version\": 1, \"duration\": \"2s\", \"domains\": [{\"name\": \"c\","
              "\"program\": {\"type\": \"server\", \"client\": \"x\"}}]}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct param *p =
            params_find(&world_table, json_root(doc), cases[i].pointer, &errors);

        ck_assert_msg(p != NULL, "%s", cases[i].pointer);
        ck_assert_str_eq(p->name, cases[i].name);
    }
    ck_assert_ptr_nonnull(
        params_find(&world_table, JSON_NONE, "/domains/-/program/service", &errors));
    ck_assert_uint_eq(errors.count, 0);
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        ck_assert_msg(!params_find(&world_table, json_root(doc), lost[i], &errors), "%s", lost[i]);
    ck_assert_uint_eq(errors.count, sizeof lost / sizeof *lost);
    done();
}
END_TEST

START_TEST(one_value_as_text)
{
    const struct param *tslice = &world_rows[2], *law = &world_rows[10];
    char why[QUANTITY_WHY], *text;
    int64_t value;
    int index;

    ck_assert_int_eq(param_parse(tslice, "5ms", &value, why), 0);
    ck_assert_int_eq(value, 5000000);
    text = param_text(tslice, &value);
    ck_assert_str_eq(text, "5ms");
    free(text);
    ck_assert_int_eq(param_parse(tslice, "5", &value, why), -1);
    ck_assert_int_eq(param_parse(law, "uniform", &index, why), 0);
    text = param_text(law, &index);
    ck_assert_str_eq(text, "uniform");
    free(text);
}
END_TEST

START_TEST(nearest_names)
{
    static const char *const names[] = {"weight", "cap", "ratelimit", "tslice"};

    ck_assert_str_eq(nearest_name("weigth", names, 4), "weight");
    ck_assert_str_eq(nearest_name("WEIGHT", names, 4), "weight");
    ck_assert_str_eq(nearest_name("rate_limit", names, 4), "ratelimit");
    ck_assert_str_eq(nearest_name("cpa", names, 4), "cap");
    ck_assert_ptr_null(nearest_name("pool", names, 4));
    ck_assert_ptr_null(nearest_name("", names, 4));
    ck_assert_ptr_null(nearest_name("x", names, 0));
}
END_TEST

/* ---- Tables that are wrong ----------------------------------------------------------------- */

struct wrong {
    int64_t a;
    int b;
    char *c;
};

START_TEST(good_tables_pass)
{
    int status = params_check_table(&world_table, &errors);

    ck_assert_msg(status == 0, "%s", errors.count ? errors.item[0].text : "");
}
END_TEST

START_TEST(wrong_tables_are_found)
{
    static const struct {
        struct param row;
        const char *says;
    } cases[] = {
        {{PARAM("a", DURATION, struct wrong, a), .def = "5", .meaning = "M."}, "bad default"},
        {{PARAM("a", DURATION, struct wrong, a), .def = "5s", .max = "1s", .meaning = "M."},
         "too large"},
        {{PARAM("a", DURATION, struct wrong, a), .def = "5s", .max = "1B", .meaning = "M."},
         "bad bound"},
        {{PARAM("a", DURATION, struct wrong, a), .def = "5s", .min = "2s", .max = "1s",
          .meaning = "M."},
         "min is above max"},
        {{PARAM("b", DURATION, struct wrong, b), .def = "5s", .meaning = "M."},
         "size of a duration"},
        {{PARAM("a", DURATION, struct wrong, a), .def = "5s"}, "no meaning"},
        {{PARAM("a", DURATION, struct wrong, a), .def = "5s", .meaning = "no sentence"},
         "no sentence"},
        {{PARAM("a", DURATION, struct wrong, a), .def = "5s", .meaning = "M.",
          .status = STATUS_CITED},
         "no source"},
        {{PARAM("a", DURATION, struct wrong, a), .def = "5s", .optional = true, .meaning = "M."},
         "optional, and with a default"},
        {{PARAM("A b", DURATION, struct wrong, a), .def = "5s", .meaning = "M."},
         "no name in small letters"},
        {{PARAM("b", ENUM, struct wrong, b), .def = "x", .meaning = "M."}, "missing: names"},
        {{PARAM("b", ENUM, struct wrong, b), .def = "x", .names = laws, .meaning = "M."},
         "bad default"},
        {{PARAM("c", STRING, struct wrong, c), .def = "x", .max = "5", .meaning = "M."},
         "no bounds"},
        {{PARAM("c", STRING, struct wrong, c), .def = "x", .word = "w", .meaning = "M."},
         "have a word"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct param_table t = {
            .name = "wrong", .row = &cases[i].row, .count = 1, .size = sizeof(struct wrong)};

        ck_assert_msg(params_check_table(&t, &errors) == -1, "%zu passes", i);
        ck_assert_msg(strstr(errors.item[0].text, cases[i].says) != NULL, "%zu: %s", i,
                      errors.item[0].text);
        errors_free(&errors);
    }
}
END_TEST

/* A table that contains itself: checked once, described once on each way down. */
struct node {
    int64_t value;
    struct param_list children;
};

extern const struct param node_element;
static const struct param node_rows[] = {
    {PARAM("value", INTEGER, struct node, value), .def = "1", .meaning = "A value."},
    {PARAM("children", LIST, struct node, children), .of = &node_element, .def = "[]",
     .meaning = "More of it."},
};
static const struct param_table node_table =
    PARAM_TABLE("node", struct node, node_rows, .meaning = "A node.");
const struct param node_element = {PARAM_ELEMENT(OBJECT, struct node), .table = &node_table};

START_TEST(tables_may_contain_themselves)
{
    static const char text[] = "{\"children\": [{\"value\": 2}, {\"children\": [{\"value\": 3}]}]}";
    struct json *tree = json_parse("n.json", text, sizeof text - 1, &errors);
    struct node node;
    char *schema;
    size_t size;
    FILE *out = open_memstream(&schema, &size);
    struct json_writer w = json_writer(out, JSON_LINES);

    ck_assert_int_eq(params_check_table(&node_table, &errors), 0);
    ck_assert_int_eq(params_read(&node_table, json_root(tree), &node, &errors), 0);
    ck_assert_uint_eq(node.children.count, 2);
    params_schema(&node_table, &w, NULL);
    params_help(&node_table, out);
    fclose(out);
    ck_assert_uint_lt(size, 4000);
    free(schema);
    params_free(&node_table, &node);
    json_free(tree);
}
END_TEST

Suite *suite_params(void);

Suite *suite_params(void)
{
    Suite *s = suite_create("params");
    TCase *tc = tcase_create("params");

    tcase_add_test(tc, defaults_are_filled);
    tcase_add_test(tc, everything_given);
    tcase_add_loop_test(tc, one_error, 0, sizeof bad / sizeof *bad);
    tcase_add_test(tc, all_errors_at_once);
    tcase_add_test(tc, checks_between_members);
    tcase_add_test(tc, versions);
    tcase_add_test(tc, overrides_are_checked_and_named);
    tcase_add_test(tc, floods_of_errors_are_cut);
    tcase_add_test(tc, resolved_file_reads_back_to_the_same_bytes);
    tcase_add_test(tc, statuses_tell_what_values_rest_on);
    tcase_add_test(tc, listed_values_are_calibrated);
    tcase_add_test(tc, large_lists_stay_linear);
    tcase_add_test(tc, all_by_default);
    tcase_add_test(tc, schema);
    tcase_add_test(tc, help_and_markdown);
    tcase_add_test(tc, finding_rows);
    tcase_add_test(tc, one_value_as_text);
    tcase_add_test(tc, nearest_names);
    tcase_add_test(tc, good_tables_pass);
    tcase_add_test(tc, wrong_tables_are_found);
    tcase_add_test(tc, tables_may_contain_themselves);
    suite_add_tcase(s, tc);
    return s;
}
