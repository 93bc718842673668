/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The search on problems whose answer is known: it is found, or a setting that is not significantly
 * worse; the budget is kept; no constraint is broken by more than is known of it.
 */
#include "experiments/search/tune.h"

#include "sim/random.h"
#include "sim/stats.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOT_WORSE 0.05 /* p-value from which "worse" is not significant */

enum { SEEDS = 20 };

/* A problem with noise: some that all candidates share in a replication, and some of their own. */
struct noisy {
    double (*objective)(const double *x);
    double (*excess)(const double *x); /* NULL: no constraint */
    size_t variables;
    double shared, own, of_constraint; /* standard deviations */
    uint64_t seed;
    double **x; /* by candidate */
    size_t candidates;
    uint64_t computed;
};

static double draw(const struct noisy *m, const char *what, const double *x, uint32_t replication)
{
    struct rng rng;
    char entity[128] = "";

    for (size_t i = 0; x && i < m->variables; i++)
        snprintf(entity + strlen(entity), sizeof entity - strlen(entity), "%a ", x[i]);
    rng_init(&rng, m->seed, replication, entity, what);
    return rng_normal(&rng);
}

static double objective_at(const struct noisy *m, const double *x, uint32_t replication)
{
    return m->objective(x) + m->shared * draw(m, "shared", NULL, replication) +
           m->own * draw(m, "own", x, replication);
}

static double excess_at(const struct noisy *m, const double *x, uint32_t replication)
{
    return m->excess(x) + m->of_constraint * draw(m, "constraint", x, replication);
}

static int evaluate(void *ctx, const struct tune_job *job, size_t jobs, bool *failed,
                    struct errors *e)
{
    struct noisy *m = ctx;

    (void)failed;
    (void)e;
    for (size_t i = 0; i < jobs; i++) {
        while (m->candidates <= job[i].candidate) {
            m->x = xrealloc(m->x, (m->candidates + 1) * sizeof *m->x);
            m->x[m->candidates++] = NULL;
        }
        if (!m->x[job[i].candidate]) {
            m->x[job[i].candidate] = xcalloc(m->variables, sizeof **m->x);
            memcpy(m->x[job[i].candidate], job[i].x, m->variables * sizeof **m->x);
        }
    }
    m->computed += jobs;
    return 0;
}

static void values(void *ctx, size_t candidate, uint32_t n, double *objective, double *excess)
{
    const struct noisy *m = ctx;

    for (uint32_t i = 0; i < n; i++) {
        objective[i] = objective_at(m, m->x[candidate], i);
        if (m->excess)
            excess[i] = excess_at(m, m->x[candidate], i);
    }
}

static void free_noisy(struct noisy *m)
{
    for (size_t i = 0; i < m->candidates; i++)
        free(m->x[i]);
    free(m->x);
}

/* ---- the problems -----------------------------------------------------------------------------
 */

/* Two choices of five and four; the best is (3, 1) at 2, the next at 2.6; (1, 2) would be better
 * but breaks the constraint. */
static double choices_objective(const double *x)
{
    static const double table[5][4] = {
        {5, 4, 4.5, 6}, {3.2, 3, 1, 4}, {4, 3.5, 5, 3.1}, {2.6, 2, 2.9, 3.3}, {7, 6, 5.5, 3}};

    return table[(int)x[0]][(int)x[1]];
}

static double choices_excess(const double *x)
{
    return x[0] == 1 && x[1] == 2 ? 0.5 : x[0] == 4 ? 2 : -0.8;
}

static const struct variable choices[] = {{.kind = VARIABLE_CHOICE, .choices = 5},
                                          {.kind = VARIABLE_CHOICE, .choices = 4}};
static const double choices_best[] = {3, 1};

/* A choice of four, a whole number and a real one. Without the constraint the best would be (2, 9,
 * 0.37); with it the best lies on its border. */
static double mixed_objective(const double *x)
{
    static const double base[] = {2.5, 3, 1, 4};

    return base[(int)x[0]] + 0.06 * (x[1] - 9) * (x[1] - 9) + 12 * (x[2] - 0.37) * (x[2] - 0.37);
}

static double mixed_excess(const double *x)
{
    return 0.4 * x[1] + 2 * x[2] - 4.0;
}

static const struct variable mixed[] = {
    {.kind = VARIABLE_CHOICE, .choices = 4},
    {.kind = VARIABLE_WHOLE, .low = 1, .high = 16, .step = 1},
    {.kind = VARIABLE_REAL, .low = 0, .high = 1},
};

/* The best of all whole numbers and a fine grid. */
static void find_mixed_best(double *best)
{
    double least = INFINITY;

    for (int k = 1; k <= 16; k++)
        for (int i = 0; i <= 10000; i++) {
            double x[] = {2, k, i / 10000.0};

            if (mixed_excess(x) <= 0 && mixed_objective(x) < least) {
                least = mixed_objective(x);
                memcpy(best, x, sizeof x);
            }
        }
}

/* Twelve choices; the best two differ by a hundredth of the noise. */
static double twins_objective(const double *x)
{
    static const double table[12] = {1.6, 1.9, 1.002, 2.2, 1.5, 3, 2, 1, 1.8, 1.55, 4, 2.5};

    return table[(int)x[0]];
}

static const struct variable twins[] = {{.kind = VARIABLE_CHOICE, .choices = 12}};
static const double twins_best[] = {7};

/* ---- how well it is solved --------------------------------------------------------------------
 */

/* On the winner's own replications: is it significantly worse than the best there is? */
static bool significantly_worse(const struct noisy *m, const double *found, const double *best,
                                uint32_t n)
{
    double *a = xcalloc(n, sizeof *a), *b = xcalloc(n, sizeof *b), p;

    for (uint32_t i = 0; i < n; i++) {
        a[i] = objective_at(m, found, i);
        b[i] = objective_at(m, best, i);
    }
    p = memcmp(found, best, m->variables * sizeof *found) ? paired_t_test(a, b, n, GREATER) : 1;
    free(a);
    free(b);
    return p < NOT_WORSE;
}

/* How much the constraint may be beyond its limit: half of its interval. */
static double constraint_half(const struct noisy *m, const double *x, uint32_t n)
{
    double *a = xcalloc(n, sizeof *a);
    struct interval i;

    for (uint32_t k = 0; k < n; k++)
        a[k] = excess_at(m, x, k);
    i = interval_mean(a, n, 0.95);
    free(a);
    return interval_half(&i);
}

static void solve(struct noisy model, const struct variable *v, const double *best, uint64_t budget)
{
    int good = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct noisy m = model;
        struct tune_problem p = {.variable = v,
                                 .variables = m.variables,
                                 .constraints = m.excess ? 1 : 0,
                                 .ctx = &m,
                                 .evaluate = evaluate,
                                 .values = values};
        struct tune_options o = {.seed = seed, .budget = budget, .alpha = 0.05, .first = 8};
        struct errors e = ERRORS_NONE;
        struct tune_result r;
        const struct candidate *w;

        m.seed = seed;
        ck_assert_int_eq(tune_search(&p, &o, &r, &e), 0);
        ck_assert_uint_le(r.spent, budget);
        ck_assert_uint_eq(r.spent, m.computed);
        ck_assert_uint_lt(r.winner, r.candidates);
        w = &r.candidate[r.winner];
        ck_assert_int_eq(w->fate, FATE_WINNER);
        if (m.excess)
            ck_assert_msg(m.excess(w->x) <= constraint_half(&m, w->x, w->n),
                          "seed %d: beyond the limit by %g, known to %g", (int)seed, m.excess(w->x),
                          constraint_half(&m, w->x, w->n));
        if (!significantly_worse(&m, w->x, best, w->n))
            good++;
        else
            printf("seed %d: %g instead of %g after %u replications, %d candidates\n", (int)seed,
                   m.objective(w->x), m.objective(best), w->n, (int)r.candidates);
        tune_result_free(&r);
        free_noisy(&m);
        errors_free(&e);
    }
    ck_assert_msg(good >= SEEDS - 1, "%d of %d", good, SEEDS);
}

START_TEST(finds_the_best_choice)
{
    solve((struct noisy){.objective = choices_objective,
                         .excess = choices_excess,
                         .variables = 2,
                         .shared = 2,
                         .own = 0.5,
                         .of_constraint = 0.5},
          choices, choices_best, 1000);
}
END_TEST

START_TEST(finds_the_best_mixture)
{
    double best[3];

    find_mixed_best(best);
    solve((struct noisy){.objective = mixed_objective,
                         .excess = mixed_excess,
                         .variables = 3,
                         .shared = 1,
                         .own = 0.3,
                         .of_constraint = 0.1},
          mixed, best, 3000);
}
END_TEST

START_TEST(finds_one_of_twins)
{
    solve((struct noisy){.objective = twins_objective, .variables = 1, .shared = 1, .own = 0.2},
          twins, twins_best, 1000);
}
END_TEST

/* ---- small things -----------------------------------------------------------------------------
 */

static struct tune_result search(struct noisy *m, const struct variable *v, uint64_t budget)
{
    struct tune_problem p = {.variable = v,
                             .variables = m->variables,
                             .constraints = m->excess ? 1 : 0,
                             .ctx = m,
                             .evaluate = evaluate,
                             .values = values};
    struct tune_options o = {.seed = 1, .budget = budget, .alpha = 0.05, .first = 8};
    struct errors e = ERRORS_NONE;
    struct tune_result r;

    ck_assert_int_eq(tune_search(&p, &o, &r, &e), 0);
    return r;
}

START_TEST(fates)
{
    struct noisy m = {.objective = choices_objective,
                      .excess = choices_excess,
                      .variables = 2,
                      .shared = 2,
                      .own = 0.2,
                      .of_constraint = 0.2};
    struct tune_result r = search(&m, choices, 2000);
    const struct candidate *c = r.candidate;

    ck_assert(r.whole_space);
    ck_assert_uint_eq(r.candidates, 20);
    ck_assert_uint_eq(r.winner, 3 * 4 + 1);
    ck_assert_int_eq(c[3 * 4 + 1].fate, FATE_WINNER);
    ck_assert(c[3 * 4 + 1].feasible);
    ck_assert_int_eq(c[1 * 4 + 2].fate, FATE_BREAKS);
    ck_assert_int_eq(c[4 * 4].fate, FATE_BREAKS);
    ck_assert_int_eq(c[0].fate, FATE_WORSE);
    ck_assert_uint_lt(r.spent, 600); /* and then it stops */
    tune_result_free(&r);
    free_noisy(&m);
}
END_TEST

static double never(const double *x)
{
    return 1 + x[0];
}

START_TEST(nothing_keeps_the_constraint)
{
    struct noisy m = {.objective = twins_objective,
                      .excess = never,
                      .variables = 1,
                      .own = 0.1,
                      .of_constraint = 0.1};
    struct tune_result r = search(&m, twins, 1000);

    ck_assert_uint_eq(r.winner, 0); /* the least outside */
    ck_assert_int_eq(r.candidate[0].fate, FATE_OUTSIDE);
    tune_result_free(&r);
    free_noisy(&m);
}
END_TEST

static int evaluate_some(void *ctx, const struct tune_job *job, size_t jobs, bool *failed,
                         struct errors *e)
{
    for (size_t i = 0; i < jobs; i++)
        failed[i] = job[i].x[0] == 7 && job[i].replication == 2;
    return evaluate(ctx, job, jobs, failed, e);
}

START_TEST(failed_candidates_lose_themselves_only)
{
    struct noisy m = {.objective = twins_objective, .variables = 1, .own = 0.1};
    struct tune_problem p = {
        .variable = twins, .variables = 1, .ctx = &m, .evaluate = evaluate_some, .values = values};
    struct tune_options o = {.seed = 1, .budget = 1000, .alpha = 0.05, .first = 8};
    struct errors e = ERRORS_NONE;
    struct tune_result r;

    ck_assert_int_eq(tune_search(&p, &o, &r, &e), 0);
    ck_assert_uint_eq(r.winner, 2);
    ck_assert_int_eq(r.candidate[7].fate, FATE_FAILED);
    tune_result_free(&r);
    free_noisy(&m);
}
END_TEST

START_TEST(small_budgets)
{
    for (uint64_t budget = 8; budget < 200; budget += 13) {
        struct noisy m = {.objective = mixed_objective,
                          .excess = mixed_excess,
                          .variables = 3,
                          .own = 0.1,
                          .of_constraint = 0.1};
        struct tune_result r = search(&m, mixed, budget);

        ck_assert_uint_le(r.spent, budget);
        tune_result_free(&r);
        free_noisy(&m);
    }
}
END_TEST

START_TEST(spaces)
{
    static const struct variable v[] = {
        {.kind = VARIABLE_CHOICE, .choices = 3},
        {.kind = VARIABLE_WHOLE, .low = 10, .high = 20, .step = 5},
    };
    static const struct variable real = {.kind = VARIABLE_REAL, .low = 1, .high = 100, .log = true};
    static const struct variable whole = {
        .kind = VARIABLE_WHOLE, .low = 1, .high = 1024, .step = 1, .log = true};
    double x[2], below = 0, n = 4000;
    struct rng rng;

    ck_assert_uint_eq(space_size(v, 2, 9), 9);
    ck_assert_uint_eq(space_size(v, 2, 8), 0);
    ck_assert_uint_eq(space_size(&real, 1, 1000), 0);
    space_setting(v, 2, 5, x);
    ck_assert(x[0] == 1 && x[1] == 20);
    rng_init(&rng, 1, 0, "test", "space");
    for (int i = 0; i < n; i++) {
        space_sample(&real, 1, &rng, x);
        ck_assert(x[0] >= 1 && x[0] <= 100);
        below += x[0] < 10;
        space_near(&real, 1, (double[]){10}, 0.1, &rng, x);
        ck_assert(x[0] >= 1 && x[0] <= 100);
        space_sample(&whole, 1, &rng, x);
        ck_assert(x[0] >= 1 && x[0] <= 1024 && x[0] == floor(x[0]));
        space_near(v, 2, (double[]){2, 10}, 0.3, &rng, x);
        ck_assert((x[0] == 0 || x[0] == 1 || x[0] == 2) &&
                  (x[1] == 10 || x[1] == 15 || x[1] == 20));
    }
    ck_assert(fabs(below / n - 0.5) < 0.04);
}
END_TEST

Suite *suite_tune(void)
{
    const TTest *const fast[] = {fates, nothing_keeps_the_constraint,
                                 failed_candidates_lose_themselves_only, small_budgets, spaces};
    const TTest *const slow[] = {finds_the_best_choice, finds_the_best_mixture, finds_one_of_twins};
    Suite *s = suite_create("tune");
    TCase *quick = tcase_create("search"), *known = tcase_create("slow: known optimum, 20 seeds");

    for (size_t i = 0; i < sizeof fast / sizeof *fast; i++)
        tcase_add_test(quick, fast[i]);
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        tcase_add_test(known, slow[i]);
    suite_add_tcase(s, quick);
    suite_add_tcase(s, known);
    return s;
}
