/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fair shares by water-filling, on cases that can be done by hand. */
#include "experiments/scenario/entitlement.h"

#include <check.h>

static struct claim hog(double weight, cpumask on)
{
    return (struct claim){.weight = weight, .limit = 1, .on = on, .wants = true};
}

static struct claim modest(double got, cpumask on)
{
    return (struct claim){.weight = 256, .got = got, .on = on};
}

static void expect(const struct claim *c, double share)
{
    ck_assert_msg(c->share > share - 1e-12 && c->share < share + 1e-12, "%.17g instead of %.17g",
                  c->share, share);
}

START_TEST(by_weight)
{
    cpumask both = cpumask_first_n(2);
    struct claim c[] = {hog(256, both), hog(256, both), hog(512, both)};

    ck_assert_int_eq(entitlement_divide(c, 3), 0);
    expect(&c[0], 0.5);
    expect(&c[1], 0.5);
    expect(&c[2], 1);
}
END_TEST

START_TEST(nobody_more_than_its_limit)
{
    cpumask both = cpumask_first_n(2);
    struct claim c[] = {hog(256, both), hog(256, both), hog(2560, both)};

    c[0].limit = 0.25; /* a cap */
    ck_assert_int_eq(entitlement_divide(c, 3), 0);
    expect(&c[0], 0.25);
    expect(&c[1], 0.75);
    expect(&c[2], 1);
}
END_TEST

/* The sum of what is left after the capped one goes to the others. */
START_TEST(a_cap_leaves_more_to_others)
{
    cpumask one = cpumask_first_n(1);
    struct claim c[] = {hog(256, one), hog(256, one), hog(256, one)};

    c[0].limit = 0.1;
    ck_assert_int_eq(entitlement_divide(c, 3), 0);
    expect(&c[0], 0.1);
    expect(&c[1], 0.45);
    expect(&c[2], 0.45);
}
END_TEST

START_TEST(sleepers_are_owed_what_they_used)
{
    cpumask one = cpumask_first_n(1);
    struct claim c[] = {modest(0.2, one), hog(256, one), hog(256, one), modest(0.5, one)};

    ck_assert_int_eq(entitlement_divide(c, 4), 0);
    expect(&c[0], 0.2);
    expect(&c[1], 0.8 / 3); /* the last one took more than its fair share */
    expect(&c[2], 0.8 / 3);
    expect(&c[3], 0.8 / 3);
}
END_TEST

START_TEST(an_idle_host_owes_no_more_than_wanted)
{
    cpumask all = cpumask_first_n(4);
    struct claim c[] = {hog(256, all), modest(0.1, all)};

    ck_assert_int_eq(entitlement_divide(c, 2), 0);
    expect(&c[0], 1);
    expect(&c[1], 0.1);
}
END_TEST

START_TEST(sets_of_pcpus)
{
    cpumask a = cpumask_of(0), b = cpumask_of(1), both = cpumask_first_n(2);
    struct claim apart[] = {hog(256, a), hog(256, a), hog(256, b), modest(0.3, b)};
    struct claim across[] = {hog(256, a), hog(256, both)};
    struct claim unclear[] = {hog(256, a), modest(0.3, both)};
    struct claim beside[] = {hog(256, a), modest(0.3, b)};

    ck_assert_int_eq(entitlement_divide(apart, 4), 0);
    expect(&apart[0], 0.5);
    expect(&apart[2], 0.7);
    expect(&apart[3], 0.3);
    ck_assert_int_eq(entitlement_divide(across, 2), -1);
    ck_assert_int_eq(entitlement_divide(unclear, 2), -1);
    ck_assert_int_eq(entitlement_divide(beside, 2), 0);
    expect(&beside[0], 1);
    expect(&beside[1], 0.3);
}
END_TEST

Suite *suite_entitlement(void);

Suite *suite_entitlement(void)
{
    Suite *s = suite_create("entitlement");
    TCase *tc = tcase_create("entitlement");

    tcase_add_test(tc, by_weight);
    tcase_add_test(tc, nobody_more_than_its_limit);
    tcase_add_test(tc, a_cap_leaves_more_to_others);
    tcase_add_test(tc, sleepers_are_owed_what_they_used);
    tcase_add_test(tc, an_idle_host_owes_no_more_than_wanted);
    tcase_add_test(tc, sets_of_pcpus);
    suite_add_tcase(s, tc);
    return s;
}
