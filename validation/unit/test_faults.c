/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The action timeline without SimGrid.
 */
#define _GNU_SOURCE
#include "sim/faults.h"
#include "validation/unit/gossip.h"

#include <check.h>
#include <string.h>

static struct fleet fleet;
static struct machine machine[3];
static struct timeline timeline;
static struct errors errors;
static char log_text[4096];
static FILE *log_file;

static void machine_failed(struct machine *m, sim_time now)
{
    fprintf(log_file, "%" PRId64 " %s off\n", now, m->host);
}

static void machine_rebooted(struct machine *m, sim_time now)
{
    fprintf(log_file, "%" PRId64 " %s on\n", now, m->host);
}

static void machine_speed(struct machine *m, sim_time now)
{
    fprintf(log_file, "%" PRId64 " %s speed %.0f\n", now, m->host, m->speed);
}

static const struct machine_ops ops = {
    .failed = machine_failed, .rebooted = machine_rebooted, .speed_changed = machine_speed};

/* A kind as a model would register it. */
struct weight {
    int64_t weight;
};
static const struct param weight_rows[] = {
    {PARAM("weight", INTEGER, struct weight, weight), .def = "256", .meaning = "The weight."},
};
static const struct param_table weight_table =
    PARAM_TABLE("set-weight", struct weight, weight_rows, .meaning = "Set a weight.");

static int weight_bind(struct action *a, struct errors *e)
{
    a->machine = fleet_find(a->timeline->fleet, a->target);
    a->object = a->timeline->world;
    return a->machine ? 0 : error_add(e, EXIT_INPUT, "no domain %s", a->target);
}

static void weight_act(struct action *a)
{
    ck_assert_ptr_eq(a->object, &fleet);
    ck_assert_int_eq(machine_now(a->machine), a->when);
    fprintf(log_file, "%" PRId64 " %s weight %" PRId64 "\n", a->when, a->target,
            ((struct weight *)a->arguments)->weight);
}

static const struct action_kind set_weight = {.name = "set-weight",
                                              .target = "domain",
                                              .meaning = "Sets a weight.",
                                              .parameters = &weight_table,
                                              .bind = weight_bind,
                                              .act = weight_act};
static const struct action_kind *const model_actions[] = {&set_weight, NULL};

static void setup(void)
{
    static const char *const host[] = {"a", "b", "c"};

    log_file = fmemopen(log_text, sizeof log_text, "w");
    errors = ERRORS_NONE;
    fleet_init(&fleet);
    for (int i = 0; i < 3; i++) {
        machine_init(&machine[i], host[i], &ops, NULL);
        machine[i].speed = machine[i].nominal_speed = 1000;
        fleet_add(&fleet, &machine[i]);
    }
    fleet_add_link(&fleet, "wire", 1000000, 1000000000);
    timeline_init(&timeline);
    timeline_register(&timeline, model_actions);
}

static void teardown(void)
{
    timeline_free(&timeline);
    errors_free(&errors);
    fleet_free(&fleet);
    for (int i = 0; i < 3; i++)
        machine_free(&machine[i]);
}

static void add(sim_time when, const char *kind, const char *target, const void *arguments)
{
    ck_assert_int_eq(timeline_add(&timeline, when, kind, target, arguments, &errors), 0);
}

static void outage(sim_time when, const char *host, sim_time duration)
{
    add(when, "host-outage", host, &(struct outage_arguments){duration});
}

static void run_and_compare(const char *expected)
{
    ck_assert_int_eq(timeline_bind(&timeline, &fleet, &fleet, &errors), 0);
    timeline_run(&timeline, &fleet, 1000000);
    fflush(log_file);
    ck_assert_str_eq(log_text, expected);
}

START_TEST(actions_are_done_by_date_then_in_order_of_adding)
{
    add(300, "host-off", "b", NULL);
    add(100, "set-weight", "a", &(struct weight){7});
    add(100, "set-weight", "a", NULL);
    add(200, "host-off", "a", NULL);
    add(100, "set-weight", "a", &(struct weight){5});
    add(400, "host-on", "a", NULL);
    add(150, "host-speed", "c", &(struct speed_arguments){PERCENT_ALL / 2});
    run_and_compare("100 a weight 7\n100 a weight 256\n100 a weight 5\n150 c speed 500\n"
                    "200 a off\n300 b off\n400 a on\n");
}
END_TEST

START_TEST(the_platform_goes_first_and_dead_hosts_do_nothing)
{
    add(100, "set-weight", "a", &(struct weight){1});
    add(100, "host-off", "a", NULL);
    add(200, "set-weight", "a", &(struct weight){2});
    add(300, "set-weight", "a", &(struct weight){3}); /* armed before the failure, survives it */
    add(300, "host-on", "a", NULL);
    run_and_compare("100 a off\n300 a on\n300 a weight 3\n");
}
END_TEST

START_TEST(outages_that_overlap_are_one)
{
    outage(100, "a", 100);
    outage(150, "a", 10);
    outage(180, "a", 120); /* to 300 */
    outage(300, "b", 50);
    outage(500, "a", 100);
    add(550, "host-on", "a", NULL); /* ends it early */
    run_and_compare("100 a off\n300 b off\n300 a on\n350 b on\n500 a off\n550 a on\n");
}
END_TEST

START_TEST(outages_that_meet_reboot)
{
    outage(100, "a", 100);
    outage(200, "a", 100);
    run_and_compare("100 a off\n300 a on\n");
}
END_TEST

START_TEST(links_are_switched_and_changed)
{
    add(10, "link-off", "wire", NULL);
    add(20, "link-on", "wire", NULL);
    add(30, "link-latency", "wire", &(struct latency_arguments){5000});
    add(40, "link-bandwidth", "wire", &(struct bandwidth_arguments){12345});
    ck_assert_int_eq(timeline_bind(&timeline, &fleet, &fleet, &errors), 0);
    timeline_run(&timeline, &fleet, 15);
    ck_assert(fleet.link[0].off);
    ck_assert_int_eq(timeline_next(&timeline), 20);
    timeline_run(&timeline, &fleet, 1000);
    ck_assert(!fleet.link[0].off);
    ck_assert_int_eq(fleet.link[0].latency_ps, 5000000);
    ck_assert_int_eq(fleet.link[0].bandwidth, 12345);
    ck_assert_int_eq(timeline_next(&timeline), SIM_NEVER);
}
END_TEST

START_TEST(mistakes_are_errors_all_at_once)
{
    ck_assert_int_eq(timeline_add(&timeline, 1, "host-of", "a", NULL, &errors), -1);
    ck_assert(strstr(errors.item[0].text, "host-off"));
    ck_assert_int_eq(timeline_add(&timeline, -1, "host-off", "a", NULL, &errors), -1);
    add(1, "host-off", "nowhere", NULL);
    add(1, "link-off", "wirre", NULL);
    add(1, "set-weight", "nobody", NULL);
    ck_assert_int_eq(timeline_bind(&timeline, &fleet, &fleet, &errors), -1);
    ck_assert_uint_eq(errors.count, 5);
    ck_assert(strstr(errors.item[2].text, "nowhere"));
    ck_assert(strstr(errors.item[3].text, "wirre"));
    ck_assert_int_eq(errors_exit_code(&errors), EXIT_INPUT);
}
END_TEST

START_TEST(tables_of_kinds_are_in_order)
{
    for (size_t i = 0; platform_actions[i]; i++) {
        const struct action_kind *k = platform_actions[i];

        ck_assert(k->platform && k->act && k->bind && k->meaning && k->target);
        ck_assert_ptr_eq(timeline_kind(&timeline, k->name), k);
        if (k->parameters)
            ck_assert_int_eq(params_check_table(k->parameters, &errors), 0);
    }
    ck_assert_ptr_eq(timeline_kind(&timeline, "set-weight"), &set_weight);
    ck_assert_ptr_null(timeline_kind(&timeline, "nothing"));
    for (size_t i = 0; i < errors.count; i++)
        puts(errors.item[i].text);
}
END_TEST

/* ---- Random outages ------------------------------------------------------------------------- */

static void draw(struct timeline *t, const char *host, double shape, uint64_t replication)
{
    const struct renewal r = {1000 * NS_PER_S, 100 * NS_PER_S, shape, shape};

    timeline_init(t);
    ck_assert_int_eq(
        timeline_draw_outages(t, host, &r, 1, replication, 5000000 * NS_PER_S, &errors), 0);
}

/* Means of some 4,500 up and down times, within 4 standard errors (a Weibull of shape 2 varies by
 * 0.523 of its mean, of shape 1 by 1). */
START_TEST(random_outages_have_the_given_means)
{
    const double shape = _i + 1, deviation = _i ? 0.523 : 1;
    double up = 0, down = 0, n;
    sim_time last = 0;
    struct timeline t;

    draw(&t, "a", shape, 0);
    n = t.count;
    ck_assert_uint_gt(t.count, 4000);
    for (uint32_t i = 0; i < t.count; i++) {
        const struct outage_arguments *o = t.action[i]->arguments;

        ck_assert_int_gt(t.action[i]->when, last);
        up += (double)(t.action[i]->when - last);
        down += (double)o->duration;
        last = t.action[i]->when + o->duration;
    }
    ck_assert_double_eq_tol(up / n / 1e12, 1, 4 * deviation / 66);
    ck_assert_double_eq_tol(down / n / 1e11, 1, 4 * deviation / 66);
    timeline_free(&t);
}
END_TEST

START_TEST(random_outages_have_streams_of_their_own)
{
    struct timeline a, again, b, other;

    draw(&a, "a", 1, 0);
    draw(&again, "a", 1, 0);
    draw(&b, "b", 1, 0);
    draw(&other, "a", 1, 1);
    ck_assert_uint_eq(a.count, again.count);
    for (uint32_t i = 0; i < a.count; i++)
        ck_assert_int_eq(a.action[i]->when, again.action[i]->when);
    ck_assert_int_ne(a.action[0]->when, b.action[0]->when);
    ck_assert_int_ne(a.action[0]->when, other.action[0]->when);
    timeline_free(&a);
    timeline_free(&again);
    timeline_free(&b);
    timeline_free(&other);
}
END_TEST

START_TEST(bad_renewals_are_refused)
{
    ck_assert_int_eq(timeline_draw_outages(&timeline, "a", &(struct renewal){0, 1, 1, 1}, 1, 0,
                                           NS_PER_S, &errors),
                     -1);
    ck_assert_uint_eq(errors.count, 1);
}
END_TEST

/* ---- With packets on the way ---------------------------------------------------------------- */

/* Runs of a world with failures in windows and date by date. */
static char *failing_gossip(bool step)
{
    struct gossip g;
    struct timeline t;
    struct errors e = ERRORS_NONE;

    gossip_init(&g, 6, 4);
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t k = 0; k < 6; k++)
            if (i != k)
                path_set(machine_path(&g.node[i].machine, &g.node[k].machine),
                         20000 + 1000 * (sim_time)(i + k), 1000000000);
    for (uint32_t i = 0; i < 6; i++)
        g.node[i].machine.line_rate = 100000000;
    fleet_rewire(&g.fleet);
    timeline_init(&t);
    for (sim_time k = 0; k < 20; k++)
        timeline_add(&t, 100003 * (k + 1), "host-outage", k % 2 ? "h1" : "h4",
                     &(struct outage_arguments){50000 + k}, &e);
    ck_assert_int_eq(timeline_bind(&t, &g.fleet, NULL, &e), 0);
    if (step)
        g.fleet.latency = 3; /* windows of one date */
    timeline_run(&t, &g.fleet, 3 * NS_PER_MS);
    timeline_free(&t);
    return gossip_end(&g);
}

START_TEST(failures_do_not_depend_on_windows)
{
    char *windows = failing_gossip(false), *step = failing_gossip(true);

    ck_assert(strstr(windows, "failed"));
    ck_assert(strstr(windows, "rebooted"));
    ck_assert(strstr(windows, "lost-host"));
    ck_same_logs(windows, step);
    free(windows);
    free(step);
}
END_TEST

Suite *suite_faults(void)
{
    Suite *s = suite_create("faults");
    TCase *tc = tcase_create("faults");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, actions_are_done_by_date_then_in_order_of_adding);
    tcase_add_test(tc, the_platform_goes_first_and_dead_hosts_do_nothing);
    tcase_add_test(tc, outages_that_overlap_are_one);
    tcase_add_test(tc, outages_that_meet_reboot);
    tcase_add_test(tc, links_are_switched_and_changed);
    tcase_add_test(tc, mistakes_are_errors_all_at_once);
    tcase_add_test(tc, tables_of_kinds_are_in_order);
    tcase_add_loop_test(tc, random_outages_have_the_given_means, 0, 2);
    tcase_add_test(tc, random_outages_have_streams_of_their_own);
    tcase_add_test(tc, bad_renewals_are_refused);
    tcase_add_test(tc, failures_do_not_depend_on_windows);
    suite_add_tcase(s, tc);
    return s;
}
