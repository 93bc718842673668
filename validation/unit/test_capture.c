/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Descriptions of captured runs: what is read from them, and what a scenario is made of. */
#include "experiments/validate/capture.h"

#include "experiments/scenario/scenario.h"
#include "experiments/validate/capture_figures.h"
#include "experiments/validate/capture_machine.h"
#include "experiments/validate/replication_capture.h"
#include "experiments/validate/xen_version.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS                                                                                     \
    "\"client\": {\"mode\": \"rounds\", \"period_us\": 20000, \"rounds\": 10}, \"guests_on\": "    \
    "{\"pcpus\": [1], \"how\": \"cpupool of their own\"}, \"machine_pcpus\": 3"
#define REPLICA(n) "{\"domid\": " #n ", \"name\": \"r" #n "\", \"role\": \"replica\"}"
#define EIGHT                                                                                      \
    REPLICA(1)                                                                                     \
    ", " REPLICA(2) ", " REPLICA(3) ", " REPLICA(4) ", " REPLICA(5) ", " REPLICA(6) ", " REPLICA(  \
        7) ", " REPLICA(8)

static const char machine_text[] = "{\"guest\": {\"network\": {}}}";

static struct capture *read_text(const char *text, struct errors *e)
{
    struct json *doc = json_parse("run.json", text, strlen(text), e);
    struct capture *c;

    ck_assert_ptr_nonnull(doc);
    c = capture_read_doc(doc, "run.json", e);
    json_free(doc);
    return c;
}

static struct capture *good(const char *text)
{
    struct errors e = ERRORS_NONE;
    struct capture *c = read_text(text, &e);

    ck_assert_msg(c && !e.count, "%s", e.count ? e.item[0].text : "no capture");
    return c;
}

static void refused(const char *text, const char *why)
{
    struct errors e = ERRORS_NONE;

    ck_assert_ptr_null(read_text(text, &e));
    ck_assert_uint_gt(e.count, 0);
    ck_assert_msg(strstr(e.item[0].text, why), "%s", e.item[0].text);
    errors_free(&e);
}

/* Figures of a run have room for eight. */
START_TEST(eight_replicas_at_most)
{
    struct capture *c = good("{" ROUNDS ", \"guests\": [" EIGHT "]}");

    ck_assert_uint_eq(capture_replicas(c), CAPTURE_REPLICAS);
    capture_free(c);
    refused("{" ROUNDS ", \"guests\": [" EIGHT ", " REPLICA(9) "]}",
            "9 guests are replicas, expected at most 8");
}
END_TEST

START_TEST(not_an_object)
{
    refused("[]", "expected an object that describes a capture");
    refused("7", "expected an object");
}
END_TEST

/* However short a burst is, a cycle of it takes time. */
START_TEST(bursts_are_above_nothing)
{
    struct capture *c = good("{\"compute_percent\": 50, \"guests\": [" REPLICA(1) "]}");

    ck_assert_int_eq(capture_burst(c, 1000), 500);
    ck_assert_int_eq(capture_burst(c, 1), 1);
    ck_assert_int_eq(capture_burst(c, 0), 0);
    capture_free(c);
}
END_TEST

/* dom0's pool has the pCPUs that are not the guests', whether dom0 is said to be pinned or not. */
static void check_pools(const char *dom0, const char *cpus)
{
    struct errors e = ERRORS_NONE;
    char *text = xasprintf("{" ROUNDS ", %s\"guests\": [" REPLICA(1) "]}", dom0);
    struct capture *c = good(text);
    struct json *machine = json_parse("machine", machine_text, strlen(machine_text), &e);
    struct json *doc = replication_scenario(c, machine, &e);
    struct scenario *s = scenario_read(doc, ".", &e);

    ck_assert_msg(s && !e.count, "%s", e.count ? e.item[0].text : "no scenario");
    ck_assert_str_eq(json_string(json_at(doc, "/hosts/0/pools/0/cpus")), cpus);
    ck_assert_str_eq(json_string(json_at(doc, "/hosts/0/pools/1/cpus")), "1");
    scenario_free(s);
    json_free(doc);
    json_free(machine);
    capture_free(c);
    free(text);
}

START_TEST(pools_of_a_scenario)
{
    check_pools("", "0,2");
    check_pools("\"dom0\": {\"pinned_to\": 0}, ", "0");
}
END_TEST

START_TEST(names_of_figures)
{
    struct capture *c = good("{\"guests\": [{\"domid\": 1, \"name\": \"a\", \"role\": \"hog\"}, "
                             "{\"domid\": 2, \"name\": \"b\", \"role\": \"hog\", \"vcpus\": 2}]}");
    size_t of_one = (capture_figure_count(c) - 6) / 3;

    ck_assert_str_eq(capture_figure_name(c, 0).name, "a (hog): share");
    ck_assert_str_eq(capture_figure_name(c, of_one).name, "b (hog)/v0: share");
    ck_assert_str_eq(capture_figure_name(c, 2 * of_one).name, "b (hog)/v1: share");
    capture_free(c);
}
END_TEST

static const struct {
    const char *text, *wrong; /* NULL: it is none */
} machines[] = {
    {"{\"version\": 1, \"comment\": [], \"host\": {\"costs\": {\"comment\": \"c\"}}}", NULL},
    {"{\"hots\": {}}", "/hots: the machine has no such part"},
    {"{\"host\": {\"cost\": {}}}", "/host/cost: the machine has no such part"},
    {"{\"hos\": {}}", "/hos: the machine has no such part"},
    {"{\"host\": 7}", "/host: expected an object"},
    {"{\"emulator\": {\"kick\": \"0\"}}", "/emulator/kick"},
    {"{\"emulator\": 7}", "/emulator: "},
};

START_TEST(parts_of_machines)
{
    struct errors e = ERRORS_NONE;
    const char *text = machines[_i].text, *wrong = machines[_i].wrong;
    struct json *doc = json_parse("machine.json", text, strlen(text), &e);
    struct capture_machine m;

    ck_assert_int_eq(capture_machine_read(&m, doc, &e), wrong ? -1 : 0);
    ck_assert_uint_eq(e.count, wrong ? 1 : 0);
    if (wrong)
        ck_assert_msg(strstr(e.item[0].text, wrong), "%s", e.item[0].text);
    else
        ck_assert_int_eq(m.emulator.kick, 100 * NS_PER_MS);
    errors_free(&e);
    json_free(doc);
}
END_TEST

static const struct {
    const char *text;
    enum xen_version version;
} versions[] = {
    {"4.6.0", XEN_4_6},    {"4.7.0", XEN_4_7_0},  {"4.7.1", XEN_4_7_1},
    {"4.7", XEN_4_7_1},    {"4.12.4", XEN_4_7_1}, {"4.13.0", XEN_4_17},
    {"4.17.7", XEN_4_17},  {"4.18.2", XEN_4_18},  {"4.17.5+72-g01140da4e8-1 (built)", XEN_4_17},
    {"unknown", XEN_4_17}, {"5.1.0", XEN_4_17},
};

START_TEST(versions_of_xen)
{
    ck_assert_int_eq(xen_version_of(versions[_i].text), versions[_i].version);
}
END_TEST

Suite *suite_capture(void);

Suite *suite_capture(void)
{
    Suite *s = suite_create("capture");
    TCase *c = tcase_create("capture");

    tcase_add_test(c, eight_replicas_at_most);
    tcase_add_test(c, not_an_object);
    tcase_add_test(c, bursts_are_above_nothing);
    tcase_add_test(c, pools_of_a_scenario);
    tcase_add_test(c, names_of_figures);
    tcase_add_loop_test(c, parts_of_machines, 0, (int)(sizeof machines / sizeof *machines));
    tcase_add_loop_test(c, versions_of_xen, 0, (int)(sizeof versions / sizeof *versions));
    suite_add_tcase(s, c);
    return s;
}
