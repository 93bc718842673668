/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importance sampling is unbiased: against closed forms, and against long plain runs. */
#include "sim/rare.h"

#include "models/control/importance.h"
#include "validation/unit/control_world.h"

#include <check.h>
#include <math.h>

START_TEST(a_forced_stream_yields_its_number)
{
    static const double u[] = {1e-12, 0.001, 0.25, 0.5, 0.75, 0.999, 1 - 1e-12};

    for (size_t i = 0; i < sizeof u / sizeof *u; i++) {
        struct rng r = rng_yielding(u[i]);

        ck_assert_double_eq_tol(rng_uniform(&r), u[i], 0x1p-51);
    }
}
END_TEST

START_TEST(biased_draws_keep_all_means)
{
    enum { N = 400000 };
    double weight = 0, event = 0, mean = 0, tail = 0;
    struct rng rng;

    rng_init(&rng, 1, 0, "rare", "test");
    for (int i = 0; i < N; i++) {
        struct biased b = {&rng, 1};
        bool happened = biased_event(&b, 1e-3, 0.3);
        double u = biased_uniform(&b, 0.3, 1e-5);

        weight += b.weight;
        event += happened * b.weight;
        mean += u * b.weight;
        tail += (u > 1 - 1e-5 || u < 1e-5) * b.weight;
    }
    ck_assert_double_eq_tol(weight / N, 1, 0.01);
    ck_assert_double_eq_tol(event / N, 1e-3, 2e-5);
    ck_assert_double_eq_tol(mean / N, 0.5, 0.01);
    ck_assert_double_eq_tol(tail / N, 2e-5, 2e-6);
}
END_TEST

static struct node_params node(void)
{
    return (struct node_params){.compute = {.time = dist_make(DIST_EXPONENTIAL, 1e6, 0, 0),
                                            .slow = cw_constant(0),
                                            .fault = PERCENT_ALL / 1000,
                                            .repair = cw_constant(0)},
                                .jitter = cw_constant(0)};
}

static double plain_late(void) /* of one replica: late or faulty */
{
    return 1 - 0.999 * (1 - exp(-5));
}

/* k-of-n: fewer than `votes` of three in time. */
static double fewer_than(uint32_t votes, double late)
{
    double in_time = 1 - late;

    return votes == 1   ? late * late * late
           : votes == 2 ? late * late * late + 3 * late * late * in_time
                        : 1 - in_time * in_time * in_time;
}

START_TEST(unavailability_is_that_of_the_closed_form)
{
    struct node_params n = node();
    struct importance_replica r[3] = {{&n, 0}, {&n, 0}, {&n, 0}};
    struct control_world w;

    cw_init(&w, 3);
    for (uint32_t votes = 1; votes <= 3; votes++) {
        struct interval i;
        double exact = fewer_than(votes, plain_late());

        w.params.votes = votes;
        i = importance_unavailable(&w.params, r, 3, 400000, true, 1, 0.9999);
        ck_assert_double_le(i.low, exact);
        ck_assert_double_ge(i.high, exact);
        ck_assert_double_lt(interval_half(&i), 0.15 * exact);
    }
}
END_TEST

/* The event-driven model, run for long, gives what the closed form and importance sampling do. */
START_TEST(unavailability_is_that_of_long_plain_runs)
{
    enum { ROUNDS = 60000 };
    struct control_world w;

    for (uint32_t votes = 2; votes <= 3; votes++) {
        double exact = fewer_than(votes, plain_late()), seen;

        cw_init(&w, 3);
        w.params.votes = votes;
        w.params.horizon = 5 * NS_PER_MS + 2 * CW_LATENCY;
        for (int i = 0; i < 3; i++)
            w.node[i] = node();
        cw_build(&w, ROUNDS);
        cw_run(&w, ROUNDS);
        seen = (double)cw_unavailable(&w) / ROUNDS;
        ck_assert_double_eq_tol(seen, exact, 4.5 * sqrt(exact / ROUNDS));
        cw_free(&w);
    }
}
END_TEST

/* Two orders of magnitude below what could be counted in a test. */
START_TEST(losses_on_paths_and_slow_phases_count)
{
    struct node_params n = node();
    struct importance_replica r[2] = {{&n, 0}, {&n, 0}};
    struct interval biased, plain;
    struct control_world w;

    cw_init(&w, 2);
    w.params.paths = 2;
    w.params.path = w.path;
    w.path[0] = w.path[1] = (struct control_path){PERCENT_ALL / 50, cw_constant(0)};
    n.compute.slow_enter = PERCENT_ALL / 100;
    n.compute.slow_leave = PERCENT_ALL / 4;
    n.compute.slow = dist_make(DIST_EXPONENTIAL, 3e6, 0, 0);
    biased = importance_unavailable(&w.params, r, 2, 400000, true, 1, 0.9999);
    plain = importance_unavailable(&w.params, r, 2, 4000000, false, 1, 0.9999);
    ck_assert_double_le(biased.low, plain.high);
    ck_assert_double_ge(biased.high, plain.low);
    ck_assert_double_lt(interval_half(&biased), 2 * interval_half(&plain));
}
END_TEST

Suite *suite_rare(void);

Suite *suite_rare(void)
{
    Suite *s = suite_create("rare");
    TCase *t = tcase_create("rare events");

    tcase_add_test(t, a_forced_stream_yields_its_number);
    tcase_add_test(t, biased_draws_keep_all_means);
    tcase_add_test(t, unavailability_is_that_of_the_closed_form);
    tcase_add_test(t, unavailability_is_that_of_long_plain_runs);
    tcase_add_test(t, losses_on_paths_and_slow_phases_count);
    suite_add_tcase(s, t);
    return s;
}
