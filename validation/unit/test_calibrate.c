/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calibration on problems whose answer is known: values are found; what the data cannot tell is
 * said to be not identified; an outlier does not carry the fit away; a journal changes nothing and
 * saves all work; files come back as they were written.
 */
#include "experiments/search/calibrate.h"

#include "experiments/search/calibration_file.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINTS = 12 };

struct model {
    double (*f)(const double *x, double t);
    size_t asked;
};

static double time_of(size_t i)
{
    return 1 + (double)i;
}

static int simulate(void *ctx, const double *x, double *simulated, struct errors *e)
{
    struct model *m = ctx;

    (void)e;
    m->asked++;
    for (size_t i = 0; i < POINTS; i++)
        simulated[i] = m->f(x, time_of(i));
    return 0;
}

/* A problem whose data the model gives at `truth`, each point times (1 + noise) or (1 - noise). */
struct setup {
    struct model model;
    struct calibration_point point[POINTS];
    struct calibration_problem problem;
};

static void set_up(struct setup *s, double (*f)(const double *, double), const double *truth,
                   double noise, const struct unknown *unknown, size_t unknowns)
{
    *s = (struct setup){.model.f = f};
    for (size_t i = 0; i < POINTS; i++)
        s->point[i] = (struct calibration_point){
            .name = xasprintf("point %zu", i),
            .measured = f(truth, time_of(i)) * (1 + (i * 5 % 3 == 1 ? -noise : noise)),
            .group = i};
    s->problem = (struct calibration_problem){.unknown = unknown,
                                              .unknowns = unknowns,
                                              .point = s->point,
                                              .points = POINTS,
                                              .ctx = &s->model,
                                              .simulate = simulate};
}

static void tear_down(struct setup *s)
{
    for (size_t i = 0; i < POINTS; i++)
        free(s->point[i].name);
}

static struct calibration_result fit(struct setup *s, size_t budget, const char *journal)
{
    struct calibration_options o = {.budget = budget, .journal = journal};
    struct errors e = ERRORS_NONE;
    struct calibration_result r;

    ck_assert_int_eq(calibrate(&s->problem, &o, &r, &e), 0);
    ck_assert_uint_eq(e.count, 0);
    errors_free(&e);
    return r;
}

static void near(double found, double truth, double share)
{
    ck_assert_msg(fabs(found / truth - 1) < share, "found %g, wanted %g", found, truth);
}

/* ---- models ---------------------------------------------------------------------------------- */

static double power_law(const double *x, double t)
{
    return x[0] * pow(t, x[1]);
}

static double product(const double *x, double t)
{
    return x[0] * x[1] * t;
}

static double with_choice(const double *x, double t)
{
    return x[0] == 2 ? x[1] * t * t : x[1] * t + x[0];
}

static double idle(const double *x, double t)
{
    return x[0] * t; /* x[1], x[2] do nothing */
}

static double at_least_one(const double *x, double t)
{
    return fmax(x[0], 1) * t;
}

static const struct unknown scale = {
    .name = "scale", .low = 0.1, .high = 100, .start = 3, .log = true};
static const struct unknown exponent = {.name = "exponent", .low = 0.1, .high = 3, .start = 1.5};
static const double three[] = {1, 2, 3};
static const struct unknown choice = {.name = "choice", .choice = three, .choices = 3, .start = 1};

/* ---- tests ----------------------------------------------------------------------------------- */

START_TEST(values_are_found)
{
    const struct unknown unknown[] = {scale, exponent};
    const double truth[] = {17, 0.7};
    struct setup s;
    struct calibration_result r;

    set_up(&s, power_law, truth, 0, unknown, 2);
    r = fit(&s, 400, NULL);
    near(r.x[0], truth[0], 0.01);
    near(r.x[1], truth[1], 0.01);
    ck_assert_double_lt(r.loss, 0.005);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(r.unknown[i].identified, IDENTIFIED_WITHIN);
        ck_assert_double_le(r.unknown[i].low, r.x[i]);
        ck_assert_double_ge(r.unknown[i].high, r.x[i]);
    }
    ck_assert_uint_eq(r.spent, s.model.asked);
    calibration_result_free(&r, 2);
    tear_down(&s);
}
END_TEST

START_TEST(intervals_hold_the_truth)
{
    const struct unknown unknown[] = {scale, exponent};
    const double truth[] = {8, 1.1};
    struct setup s;
    struct calibration_result r;

    set_up(&s, power_law, truth, 0.1, unknown, 2);
    r = fit(&s, 400, NULL);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_double_le(r.unknown[i].low, truth[i]);
        ck_assert_double_ge(r.unknown[i].high, truth[i]);
    }
    calibration_result_free(&r, 2);
    tear_down(&s);
}
END_TEST

/* Only their product shows: each alone is open, which takes fitting the other again to see. */
START_TEST(product_is_not_identified)
{
    const struct unknown unknown[] = {
        {.name = "a", .low = 0.1, .high = 10, .start = 2, .log = true},
        {.name = "b", .low = 0.001, .high = 1000, .start = 2, .log = true}};
    const double truth[] = {1, 6};
    struct setup s;
    struct calibration_result r;

    set_up(&s, product, truth, 0.02, unknown, 2);
    r = fit(&s, 1500, NULL);
    near(r.x[0] * r.x[1], 6, 0.03);
    ck_assert_uint_gt(r.refits, 20);
    ck_assert_int_eq(r.unknown[0].identified, IDENTIFIED_NOT);
    ck_assert_double_eq_tol(r.unknown[0].low, 0.1, 1e-12);
    ck_assert_double_eq_tol(r.unknown[0].high, 10, 1e-9);
    /* b's range is wider than a can make up for. */
    ck_assert_int_eq(r.unknown[1].identified, IDENTIFIED_WITHIN);
    calibration_result_free(&r, 2);
    tear_down(&s);
}
END_TEST

START_TEST(choices_are_enumerated)
{
    const struct unknown unknown[] = {choice, scale};
    const double truth[] = {2, 5};
    struct setup s;
    struct calibration_result r;

    set_up(&s, with_choice, truth, 0.02, unknown, 2);
    r = fit(&s, 200, NULL);
    ck_assert(r.all_combinations);
    ck_assert_double_eq(r.x[0], 2);
    ck_assert_int_eq(r.unknown[0].identified, IDENTIFIED_VALUE);
    near(r.x[1], 5, 0.03);
    calibration_result_free(&r, 2);
    tear_down(&s);
}
END_TEST

START_TEST(choices_one_after_the_other)
{
    const struct unknown unknown[] = {choice, scale};
    const double truth[] = {2, 5};
    struct setup s;
    struct calibration_result r;

    set_up(&s, with_choice, truth, 0.02, unknown, 2);
    r = fit(&s, 8, NULL);
    ck_assert(!r.all_combinations);
    ck_assert_uint_le(s.model.asked, 20); /* 8, and one for each value of the profiles */
    calibration_result_free(&r, 2);
    tear_down(&s);
}
END_TEST

START_TEST(without_effect_not_identified)
{
    const struct unknown unknown[] = {
        scale, choice, {.name = "nothing", .low = 1, .high = 9, .start = 4}};
    const double truth[] = {5, 1, 1};
    struct setup s;
    struct calibration_result r;

    set_up(&s, idle, truth, 0.02, unknown, 3);
    r = fit(&s, 300, NULL);
    near(r.x[0], 5, 0.03);
    ck_assert_int_eq(r.unknown[0].identified, IDENTIFIED_WITHIN);
    ck_assert_int_eq(r.unknown[1].identified, IDENTIFIED_NOT);
    ck_assert_int_eq(r.unknown[2].identified, IDENTIFIED_NOT);
    ck_assert_double_eq(r.unknown[1].low, 1);
    ck_assert_double_eq(r.unknown[1].high, 3);
    calibration_result_free(&r, 3);
    tear_down(&s);
}
END_TEST

START_TEST(one_end_is_open)
{
    const struct unknown unknown[] = {scale};
    const double truth[] = {0.5};
    struct setup s;
    struct calibration_result r;

    set_up(&s, at_least_one, truth, 0.02, unknown, 1);
    r = fit(&s, 100, NULL);
    ck_assert_int_eq(r.unknown[0].identified, IDENTIFIED_BOUNDED);
    ck_assert_double_eq_tol(r.unknown[0].low, 0.1, 1e-12);
    ck_assert_double_lt(r.unknown[0].high, 4);
    calibration_result_free(&r, 1);
    tear_down(&s);
}
END_TEST

START_TEST(outliers_do_not_matter)
{
    const struct unknown unknown[] = {scale, exponent};
    const double truth[] = {17, 0.7};
    struct setup s;
    struct calibration_result r;

    set_up(&s, power_law, truth, 0, unknown, 2);
    s.point[3].measured *= 1000;
    s.point[8].measured /= 50;
    r = fit(&s, 400, NULL);
    near(r.x[0], truth[0], 0.02);
    near(r.x[1], truth[1], 0.02);
    calibration_result_free(&r, 2);
    tear_down(&s);
}
END_TEST

START_TEST(loss_of_a_point)
{
    ck_assert_double_eq_tol(calibration_point_loss(10, 20), log(2), 1e-12);
    ck_assert_double_eq_tol(calibration_point_loss(20, 10), log(2), 1e-12);
    ck_assert_double_eq(calibration_point_loss(10, 10), 0);
    ck_assert_double_eq(calibration_point_loss(10, NAN), CALIBRATION_WORST);
    ck_assert_double_eq(calibration_point_loss(10, 0), CALIBRATION_WORST);
    ck_assert_double_eq(calibration_point_loss(1, 1e9), CALIBRATION_WORST);
}
END_TEST

/* A group with many points counts like one with a single one. */
START_TEST(groups_count_alike)
{
    const struct calibration_point point[] = {{"a", 1, 0}, {"b", 1, 0}, {"c", 1, 0}, {"d", 1, 1}};
    const double simulated[] = {1, 1, 1, 2.718281828459045};
    const struct calibration_problem p = {.point = point, .points = 4};

    ck_assert_double_eq_tol(calibration_loss(&p, simulated), 0.5, 1e-12);
}
END_TEST

static char *journal_path(void)
{
    static int number;
    char *path = xasprintf("/tmp/hvsim-calibrate-%d-%d", (int)getpid(), number++);

    unlink(path);
    return path;
}

START_TEST(journal_saves_work)
{
    const struct unknown unknown[] = {choice, scale};
    const double truth[] = {2, 5};
    char *path = journal_path();
    struct setup s;
    struct calibration_result plain, first, second, more;
    size_t asked;

    set_up(&s, with_choice, truth, 0.02, unknown, 2);
    plain = fit(&s, 100, NULL);
    first = fit(&s, 40, path);
    asked = s.model.asked;
    second = fit(&s, 40, path);
    ck_assert_uint_eq(s.model.asked, asked); /* nothing was simulated again */
    ck_assert_mem_eq(first.x, second.x, 2 * sizeof *first.x);
    ck_assert_uint_eq(first.spent, second.spent);
    more = fit(&s, 100, path); /* goes on as if it had never been interrupted */
    ck_assert_mem_eq(plain.x, more.x, 2 * sizeof *plain.x);
    ck_assert_uint_eq(plain.spent, more.spent);
    calibration_result_free(&plain, 2);
    calibration_result_free(&first, 2);
    calibration_result_free(&second, 2);
    calibration_result_free(&more, 2);
    unlink(path);
    free(path);
    tear_down(&s);
}
END_TEST

/* What was simulated otherwise does not count, and stays. */
START_TEST(journal_of_other_simulations)
{
    const struct unknown unknown[] = {choice, scale};
    const double truth[] = {2, 5};
    char *path = journal_path();
    struct calibration_options o = {.budget = 40, .journal = path};
    struct calibration_result r;
    struct errors e = ERRORS_NONE;
    struct setup s;
    size_t asked[4];

    set_up(&s, with_choice, truth, 0.02, unknown, 2);
    for (size_t i = 0; i < 4; i++) {
        o.how = i % 2;
        s.model.asked = 0;
        ck_assert_int_eq(calibrate(&s.problem, &o, &r, &e), 0);
        asked[i] = s.model.asked;
        calibration_result_free(&r, s.problem.unknowns);
    }
    ck_assert_uint_gt(asked[0], 10);
    ck_assert_uint_eq(asked[1], asked[0]);
    ck_assert_uint_eq(asked[2], 0);
    ck_assert_uint_eq(asked[3], 0);
    unlink(path);
    free(path);
    tear_down(&s);
}
END_TEST

static void refused(struct setup *s, const char *path, const char *why)
{
    struct calibration_options o = {.budget = 10, .journal = path};
    struct errors e = ERRORS_NONE;
    struct calibration_result r;

    ck_assert_int_eq(calibrate(&s->problem, &o, &r, &e), -1);
    ck_assert_int_eq(errors_exit_code(&e), EXIT_INPUT);
    ck_assert_msg(strstr(e.item[0].text, why), "%s", e.item[0].text);
    calibration_result_free(&r, s->problem.unknowns);
    errors_free(&e);
}

START_TEST(wrong_journals)
{
    const struct unknown unknown[] = {choice, scale};
    const double truth[] = {2, 5};
    char *path = journal_path();
    struct setup s;
    struct calibration_result r;
    FILE *f;

    set_up(&s, with_choice, truth, 0.02, unknown, 2);
    r = fit(&s, 10, path);
    s.point[0].measured++;
    refused(&s, path, "another calibration");
    s.point[0].measured--;
    f = fopen(path, "a");
    fputs("{\"x\": [1], \"simulated\": []}\n", f);
    fclose(f);
    refused(&s, path, "damaged");
    calibration_result_free(&r, 2);
    unlink(path);
    free(path);
    tear_down(&s);
}
END_TEST

static int fails(void *ctx, const double *x, double *simulated, struct errors *e)
{
    (void)ctx;
    (void)x;
    (void)simulated;
    return error_add(e, EXIT_INTERNAL, "no simulator");
}

START_TEST(simulator_fails)
{
    const struct unknown unknown[] = {choice, scale};
    const double truth[] = {2, 5};
    struct calibration_options o = {.budget = 10};
    struct errors e = ERRORS_NONE;
    struct calibration_result r;
    struct setup s;

    set_up(&s, with_choice, truth, 0, unknown, 2);
    s.problem.simulate = fails;
    ck_assert_int_eq(calibrate(&s.problem, &o, &r, &e), -1);
    ck_assert_uint_eq(e.count, 1);
    calibration_result_free(&r, 2);
    errors_free(&e);
    tear_down(&s);
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------- */

static struct calibration_file *round_trip(const struct unknown *unknown, const char *kind,
                                           struct errors *e)
{
    const double truth[] = {2, 5};
    char *path = journal_path();
    struct calibration_file f = {.kind = xstrdup("test"), .command = xstrdup("hvsim x")}, *back;
    struct calibration_result r;
    struct setup s;

    set_up(&s, with_choice, truth, 0.02, unknown, 2);
    r = fit(&s, 60, NULL);
    calibration_file_add(&f, "a part", &s.problem, &r);
    ck_assert_int_eq(calibration_file_write(&f, path, e), 0);
    back = calibration_file_read(path, kind, e);
    if (back) {
        ck_assert_double_eq(calibration_find(back, "scale")->value, r.x[1]);
        ck_assert_double_eq(calibration_find(back, "scale")->low, r.unknown[1].low);
        ck_assert_ptr_null(calibration_find(back, "scales"));
        ck_assert_uint_eq(back->residuals.count, POINTS);
    }
    calibration_file_free(&f);
    calibration_result_free(&r, 2);
    tear_down(&s);
    unlink(path);
    free(path);
    return back;
}

START_TEST(files_come_back)
{
    const struct unknown unknown[] = {choice, scale};
    const struct unknown other[] = {
        scale, {.name = "new", .low = 1, .high = 2, .start = 1.5}, choice};
    const struct unknown narrow[] = {choice,
                                     {.name = "scale", .low = 50, .high = 100, .start = 60}};
    struct errors e = ERRORS_NONE;
    struct calibration_file *f = round_trip(unknown, "test", &e);
    double x[3];

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(calibration_values(f, "f", other, 3, x, &e), 0);
    near(x[0], 5, 0.03);
    ck_assert_double_eq(x[1], 1.5); /* not in the file */
    ck_assert_double_eq(x[2], 2);
    ck_assert_int_eq(calibration_values(f, "f", other, 2, x, &e), -1);
    ck_assert_msg(strstr(e.item[0].text, "no unknown \"choice\""), "%s", e.item[0].text);
    ck_assert_int_eq(calibration_values(f, "f", narrow, 2, x, &e), -1);
    ck_assert_msg(strstr(e.item[1].text, "is not a value of \"scale\""), "%s", e.item[1].text);
    calibration_file_release(f);
    errors_free(&e);
}
END_TEST

START_TEST(wrong_files)
{
    const struct unknown unknown[] = {choice, scale};
    struct errors e = ERRORS_NONE;

    ck_assert_ptr_null(round_trip(unknown, "testbed", &e));
    ck_assert_int_eq(errors_exit_code(&e), EXIT_INPUT);
    ck_assert_msg(strstr(e.item[0].text, "/kind"), "%s", e.item[0].text);
    ck_assert_ptr_null(calibration_file_read("/nonexistent.json", "test", &e));
    errors_free(&e);
}
END_TEST

Suite *suite_calibrate(void)
{
    Suite *s = suite_create("calibrate");
    TCase *search = tcase_create("search"), *files = tcase_create("files");

    tcase_add_test(search, values_are_found);
    tcase_add_test(search, intervals_hold_the_truth);
    tcase_add_test(search, product_is_not_identified);
    tcase_add_test(search, choices_are_enumerated);
    tcase_add_test(search, choices_one_after_the_other);
    tcase_add_test(search, without_effect_not_identified);
    tcase_add_test(search, one_end_is_open);
    tcase_add_test(search, outliers_do_not_matter);
    tcase_add_test(search, loss_of_a_point);
    tcase_add_test(search, groups_count_alike);
    tcase_add_test(search, journal_saves_work);
    tcase_add_test(search, journal_of_other_simulations);
    tcase_add_test(search, wrong_journals);
    tcase_add_test(search, simulator_fails);
    tcase_add_test(files, files_come_back);
    tcase_add_test(files, wrong_files);
    suite_add_tcase(s, search);
    suite_add_tcase(s, files);
    return s;
}
