/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for a capacity, on a figure that rises with the load and is known. */
#include "experiments/search/capacity.h"

#include "sim/random.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* 1 / (1 - load) with noise, as a queue's latency; the limit 5 is reached at 0.8. */
struct model {
    double scale, noise, limit;
    uint64_t seed, computed;
};

static int judge(void *ctx, double load, uint32_t n, double level, enum bound_verdict *verdict,
                 struct errors *e)
{
    struct model *m = ctx;
    double *x = xcalloc(n, sizeof *x), u = load / m->scale;
    struct interval i;

    (void)e;
    for (uint32_t k = 0; k < n; k++) {
        struct rng rng;

        rng_init(&rng, m->seed, k, "capacity", "latency");
        x[k] = (u < 1 ? 1 / (1 - u) : 1e3) * (1 + m->noise * rng_normal(&rng));
    }
    m->computed++;
    i = interval_mean(x, n, level);
    *verdict = bound_verdict(&i, m->limit, true);
    free(x);
    return 0;
}

static struct capacity_problem problem(struct model *m)
{
    return (struct capacity_problem){.low = 10,
                                     .high = 990,
                                     .tolerance = 0.01,
                                     .level = 0.95,
                                     .first = 10,
                                     .most = 400,
                                     .ctx = m,
                                     .judge = judge};
}

START_TEST(finds_it)
{
    int wrong = 0;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct model m = {.scale = 1000, .noise = 0.1, .limit = 5, .seed = seed};
        struct capacity_problem p = problem(&m);
        struct capacity_result r;
        struct errors e = ERRORS_NONE;

        ck_assert_int_eq(capacity_search(&p, &r, &e), 0);
        ck_assert(r.met < r.broken);
        ck_assert_msg(r.broken - r.met < 40, "%g to %g", r.met, r.broken);
        wrong += r.met > 800 || r.broken < 800;
        capacity_result_free(&r);
    }
    ck_assert_int_le(wrong, 4); /* 5 % promised; more than 4 of 40 has probability 0.05 */
}
END_TEST

START_TEST(without_noise)
{
    struct model m = {.scale = 1000, .limit = 5};
    struct capacity_problem p = problem(&m);
    struct capacity_result r;
    struct errors e = ERRORS_NONE;

    p.step = 1;
    ck_assert_int_eq(capacity_search(&p, &r, &e), 0);
    ck_assert(r.met == 799 || r.met == 800);
    ck_assert(r.broken == r.met + 1);
    capacity_result_free(&r);
    p.step = 0;
    p.log = true;
    ck_assert_int_eq(capacity_search(&p, &r, &e), 0);
    ck_assert(r.met <= 800 && r.broken >= 800 && r.broken / r.met < 1.0111);
    capacity_result_free(&r);
}
END_TEST

START_TEST(ends)
{
    struct model m = {.scale = 1000, .limit = 1.001};
    struct capacity_problem p = problem(&m);
    struct capacity_result r;
    struct errors e = ERRORS_NONE;

    ck_assert_int_eq(capacity_search(&p, &r, &e), 0);
    ck_assert(isnan(r.met) && r.broken == 10);
    ck_assert_uint_eq(r.tries, 1); /* no use in looking further up */
    capacity_result_free(&r);
    m.limit = 1e6;
    ck_assert_int_eq(capacity_search(&p, &r, &e), 0);
    ck_assert(r.met == 990 && isnan(r.broken));
    ck_assert_uint_eq(r.tries, 2);
    capacity_result_free(&r);
    p.high = p.low;
    ck_assert_int_eq(capacity_search(&p, &r, &e), 0);
    ck_assert(r.met == 10 && isnan(r.broken));
    capacity_result_free(&r);
}
END_TEST

/* Much noise and few replications: a wide answer, not a wrong one. */
START_TEST(open)
{
    int wrong = 0;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct model m = {.scale = 1000, .noise = 0.5, .limit = 5, .seed = seed};
        struct capacity_problem p = problem(&m);
        struct capacity_result r;
        struct errors e = ERRORS_NONE;

        p.most = 20;
        ck_assert_int_eq(capacity_search(&p, &r, &e), 0);
        ck_assert(isnan(r.met) || isnan(r.broken) || r.met < r.broken);
        wrong += r.met > 800 || r.broken < 800;
        capacity_result_free(&r);
    }
    ck_assert_int_le(wrong, 4);
}
END_TEST

Suite *suite_capacity(void)
{
    Suite *s = suite_create("capacity");
    TCase *tc = tcase_create("bisection");

    tcase_add_test(tc, finds_it);
    tcase_add_test(tc, without_noise);
    tcase_add_test(tc, ends);
    tcase_add_test(tc, open);
    suite_add_tcase(s, tc);
    return s;
}
