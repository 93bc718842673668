/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules of RTDS, null and ARINC653 in small: those that no reference schedule exercises, and
 * defaults. What is expected was worked out by hand from the rules.
 */
#include "models/schedulers/arinc653.h"
#include "models/schedulers/null.h"
#include "models/schedulers/rtds.h"
#include "validation/unit/sched_world.h"

static struct world *host_of(const char *scheduler, uint32_t pcpus)
{
    struct world *w = world_new(XEN_4_17, pcpus, 1, 0, 0);

    world_pool(w, scheduler, NULL, NULL, 137 * US, 1 * MS);
    return w;
}

static struct vcpu *hog(struct world *w, struct domain *d, sim_time start)
{
    struct vcpu *v = world_vcpu(w, d, &program_hog, NULL);

    if (start)
        world_start(w, v, start);
    return v;
}

static sim_time unplug(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    (void)w;
    (void)arg;
    (void)now;
    vcpu_stop(v);
    return 0;
}

/* ---- RTDS --------------------------------------------------------------------------------------
 */

static void reserve(struct vcpu *v, sim_time period, sim_time budget, bool extratime)
{
    struct rtds_vcpu_params p = {period, budget, extratime};

    vcpu_scheduler(v)->ops->adjust_vcpu(vcpu_scheduler(v), v, &p);
}

START_TEST(rtds_defaults)
{
    struct world *w = host_of("rtds", 1);
    const struct rt_vcpu *rv = rt_vcpu(hog(w, world_domain(w, 256, 1), 0));

    ck_assert_int_eq(rv->params.period, 10 * MS);
    ck_assert_int_eq(rv->params.budget, 4 * MS);
    ck_assert(rv->params.extratime);
    ck_assert_int_eq(rv->deadline, 10 * MS); /* counted from boot, not from now, 1 ms */
    ck_assert_int_eq(rv->budget, 4 * MS);
    world_free(w);
}
END_TEST

START_TEST(rtds_changes_count_from_the_next_deadline)
{
    struct world *w = host_of("rtds", 1);
    struct vcpu *v = hog(w, world_domain(w, 256, 1), 2 * MS);

    reserve(v, 20 * MS, 3 * MS, false);
    world_watch(w);
    world_run(w, 60 * MS);
    world_expect(w, "6000000,switch_out,0,1,0,0,L0,0,ran=4000000");
    world_expect(w, "10000000,switch_in,0,1,0,0,L0,3000000,");
    world_expect(w, "13000000,switch_out,0,1,0,0,L0,0,ran=3000000");
    world_expect(w, "30000000,switch_in,0,1,0,");
    world_expect_not(w, "20000000,switch_in");
    world_free(w);
}
END_TEST

/* A vCPU runs across its deadline: a fresh budget, no decision, and what it has run since the last
 * charge is forgotten. */
START_TEST(rtds_renewal_while_running)
{
    struct world *w = host_of("rtds", 1);
    struct vcpu *v = hog(w, world_domain(w, 256, 1), 8 * MS);

    world_watch(w);
    world_run(w, 20 * MS);
    world_expect(w, "8000000,switch_in,0,1,0,0,L0,4000000,waited=8000000 slice=4000000");
    world_expect(w, "12000000,cont,0,1,0,0,L0,2000000,ran=4000000 slice=2000000");
    ck_assert_uint_eq(rt_vcpu(v)->level, 0);
    world_free(w);
}
END_TEST

/* r goes down a level, so that x with its later deadline comes to stand before r's event and before
 * c's, which was behind r's already. r is gone when y comes, but x still stands out of order: y
 * goes before it, not behind c, and is renewed at its own deadline, c only when x's has come. */
START_TEST(rtds_events_stay_out_of_order)
{
    struct world *w = host_of("rtds", 4);
    struct domain *d = world_domain(w, 256, 4);
    struct vcpu *r = world_sleeper(w, d, 3 * MS, 1000 * MS, 100 * MS);
    struct vcpu *c = hog(w, d, 100500 * US), *x = hog(w, d, 102 * MS), *y = hog(w, d, 104 * MS);

    reserve(r, 20 * MS, 1 * MS, true);
    reserve(c, 60 * MS, 60 * MS, true);
    reserve(x, 65 * MS, 65 * MS, true);
    reserve(y, 125 * MS, 125 * MS, true);
    world_run(w, 105 * MS);
    ck_assert_int_eq(rt_vcpu(c)->deadline, 130 * MS);
    ck_assert_int_eq(rt_vcpu(x)->deadline, 140 * MS);
    ck_assert_int_eq(rt_vcpu(y)->deadline, 135 * MS);
    ck_assert(!r->is_running);
    world_run(w, 136 * MS);
    ck_assert_int_eq(rt_vcpu(c)->deadline, 130 * MS);
    ck_assert_int_eq(rt_vcpu(y)->deadline, 260 * MS);
    world_run(w, 141 * MS);
    ck_assert_int_eq(rt_vcpu(c)->deadline, 190 * MS);
    ck_assert_int_eq(rt_vcpu(x)->deadline, 205 * MS);
    world_free(w);
}
END_TEST

START_TEST(rtds_equal_deadlines_do_not_preempt)
{
    struct world *w = host_of("rtds", 1);
    struct domain *d = world_domain(w, 256, 2);
    struct vcpu *first = hog(w, d, 2 * MS), *second = hog(w, d, 3 * MS);

    world_run(w, 4 * MS);
    world_expect_on(first, 0);
    world_run(w, 6 * MS); /* its budget is used up: one level lower */
    world_expect_on(second, 0);
    world_free(w);
}
END_TEST

/* ---- null --------------------------------------------------------------------------------------
 */

START_TEST(null_picks_the_lowest_free_pcpu)
{
    struct world *w = host_of("null", 4);
    struct domain *d = world_domain(w, 256, 3);
    struct vcpu *v;
    cpumask not_2 = cpumask_first_n(4);

    hog(w, d, 2 * MS);
    hog(w, d, 0);
    v = hog(w, d, 2 * MS);
    world_run(w, 3 * MS);
    world_expect_on(v, 2);
    cpumask_clear(&not_2, 2);
    vcpu_set_affinity(v, &not_2, NULL);
    world_run(w, 4 * MS);
    world_expect_on(v, 1);
    world_expect_idle(w, 2);
    world_free(w);
}
END_TEST

START_TEST(null_stays_on_its_own_free_pcpu)
{
    struct world *w = host_of("null", 4);
    struct domain *d = world_domain(w, 256, 3);
    struct vcpu *v;

    hog(w, d, 0);
    hog(w, d, 0);
    v = hog(w, d, 0);
    ck_assert_uint_eq(v->processor, 2);
    world_hard(v, 1, 2);
    ck_assert_uint_eq(v->processor, 2);
    world_free(w);
}
END_TEST

START_TEST(null_moves_to_a_free_pcpu_that_is_preferred)
{
    struct world *w = host_of("null", 4);
    struct vcpu *v = hog(w, world_domain(w, 256, 1), 2 * MS);

    world_run(w, 3 * MS);
    world_expect_on(v, 0);
    world_soft(v, 3, 3);
    world_run(w, 4 * MS);
    world_expect_on(v, 3);
    world_free(w);
}
END_TEST

/* It comes online on pCPU 2, which is free, but prefers pCPU 1, which is taken: whoever is free may
 * have it, and the lowest decides first. */
START_TEST(null_waits_rather_than_take_what_it_does_not_prefer)
{
    struct world *w = host_of("null", 3);
    struct domain *d = world_domain(w, 256, 3);
    struct vcpu *v;

    hog(w, d, 0);
    hog(w, d, 2 * MS);
    v = hog(w, d, 3 * MS);
    world_run(w, 2 * MS);
    world_soft(v, 1, 1);
    ck_assert_uint_eq(v->processor, 2);
    world_run(w, 3 * MS);
    world_expect_on(v, 0);
    world_free(w);
}
END_TEST

START_TEST(null_first_come_first_served)
{
    struct world *w = host_of("null", 1);
    struct domain *d = world_domain(w, 256, 3);
    struct vcpu *a = hog(w, d, 2 * MS), *b = hog(w, d, 3 * MS), *c = hog(w, d, 4 * MS);

    world_run(w, 5 * MS);
    world_expect_on(a, 0);
    ck_assert(!b->is_running && !c->is_running);
    world_at(w, 6 * MS, unplug, a, NULL);
    world_run(w, 6 * MS);
    world_expect_on(b, 0);
    world_at(w, 7 * MS, unplug, b, NULL);
    world_run(w, 7 * MS);
    world_expect_on(c, 0);
    world_at(w, 8 * MS, unplug, c, NULL);
    world_run(w, 8 * MS);
    world_expect_idle(w, 0);
    ck_assert_ptr_null(null_pcpu(&w->host->pcpu[0])->assigned);
    world_free(w);
}
END_TEST

static sim_time pause_it(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    (void)w;
    (void)arg;
    (void)now;
    vcpu_pause(v);
    return 0;
}

START_TEST(null_a_paused_vcpu_keeps_its_pcpu)
{
    struct world *w = host_of("null", 1);
    struct domain *d = world_domain(w, 256, 2);
    struct vcpu *a = hog(w, d, 2 * MS), *b = hog(w, d, 3 * MS);

    world_at(w, 4 * MS, pause_it, a, NULL);
    world_run(w, 50 * MS);
    ck_assert(!a->is_running && !b->is_running);
    ck_assert_ptr_eq(null_pcpu(&w->host->pcpu[0])->assigned, a);
    world_free(w);
}
END_TEST

/* pCPU 0 becomes free. `late` came last but prefers it. */
START_TEST(null_who_prefers_comes_before_who_may)
{
    struct world *w = host_of("null", 2);
    struct domain *d = world_domain(w, 256, 4);
    struct vcpu *a = hog(w, d, 2 * MS), *b = hog(w, d, 2 * MS), *early, *late;

    early = hog(w, d, 3 * MS);
    late = hog(w, d, 4 * MS);
    world_soft(late, 0, 0);
    world_run(w, 5 * MS);
    world_expect_on(a, 0);
    world_expect_on(b, 1);
    world_at(w, 6 * MS, unplug, a, NULL);
    world_run(w, 6 * MS);
    world_expect_on(late, 0);
    ck_assert(!early->is_running);
    world_free(w);
}
END_TEST

START_TEST(null_affinity_of_those_that_wait)
{
    struct world *w = host_of("null", 2);
    struct domain *d = world_domain(w, 256, 4);
    struct vcpu *a = hog(w, d, 2 * MS), *early, *late;

    hog(w, d, 2 * MS);
    early = hog(w, d, 3 * MS);
    late = hog(w, d, 4 * MS);
    world_hard(early, 1, 1);
    world_at(w, 6 * MS, unplug, a, NULL);
    world_run(w, 6 * MS);
    world_expect_on(late, 0);
    ck_assert(!early->is_running);
    world_free(w);
}
END_TEST

START_TEST(null_who_moves_away_leaves_its_pcpu)
{
    struct world *w = host_of("null", 2);
    struct domain *d = world_domain(w, 256, 2);
    struct vcpu *a = hog(w, d, 2 * MS), *b = hog(w, d, 3 * MS);

    world_hard(b, 0, 0);
    world_run(w, 4 * MS);
    world_expect_on(a, 0);
    world_hard(a, 1, 1);
    world_run(w, 5 * MS);
    world_expect_on(a, 1);
    world_expect_on(b, 0);
    world_free(w);
}
END_TEST

/* ---- ARINC653 ----------------------------------------------------------------------------------
 */

START_TEST(arinc653_without_a_table_only_dom0_runs)
{
    struct world *w = host_of("arinc653", 1);
    struct domain *d = world_domain(w, 256, 2);
    struct vcpu *v = hog(w, d, 2 * MS), *dom0;

    hog(w, d, 2 * MS);
    dom0 = hog(w, world_domain_id(w, 0, 256, 1), 2 * MS);

    world_run(w, 102 * MS);
    ck_assert_int_eq(vcpu_runstate_time(v, RUNSTATE_RUNNING), 0);
    ck_assert_int_eq(vcpu_runstate_time(dom0, RUNSTATE_RUNNING), 100 * MS);
    world_free(w);
}
END_TEST

/* Timers are 50 us late, and windows of 10 us pass meanwhile. */
START_TEST(arinc653_several_windows_may_pass)
{
    const struct arinc653_entry table[] = {
        {NULL, 1, 0, 10 * US}, {NULL, 1, 1, 10 * US}, {NULL, 1, 2, 1 * MS}};
    struct world *w = host_of("arinc653", 1);
    struct domain *d = world_domain(w, 256, 3);
    struct vcpu *v[3];

    w->host->costs.timer_slop = 50 * US;
    for (int i = 0; i < 3; i++)
        v[i] = hog(w, d, 2 * MS);
    arinc653_set_table(w->pool->scheduler, table, 3, 1100 * US);
    world_run(w, 2 * MS + 49 * US);
    world_expect_on(v[0], 0);
    world_run(w, 2 * MS + 50 * US);
    world_expect_on(v[2], 0);
    world_free(w);
}
END_TEST

/* The position in the table is common to all pCPUs; an entry's vCPU runs on its own pCPU only. */
START_TEST(arinc653_only_on_its_own_pcpu)
{
    const struct arinc653_entry table[] = {{NULL, 1, 1, 10 * MS}};
    struct world *w = host_of("arinc653", 2);
    struct domain *d = world_domain(w, 256, 2);
    struct vcpu *v;

    hog(w, d, 2 * MS);
    v = hog(w, d, 2 * MS);
    arinc653_set_table(w->pool->scheduler, table, 1, 10 * MS);
    world_run(w, 30 * MS);
    ck_assert_ptr_null(w->host->fault);
    world_expect_on(v, 1);
    world_expect_idle(w, 0);
    world_free(w);
}
END_TEST

START_TEST(arinc653_a_new_table_begins_at_once)
{
    const struct arinc653_entry one[] = {{NULL, 1, 0, 5 * MS}}, other[] = {{NULL, 1, 1, 7 * MS}};
    struct world *w = host_of("arinc653", 1);
    struct domain *d = world_domain(w, 256, 3);
    struct vcpu *a = hog(w, d, 2 * MS), *b = hog(w, d, 2 * MS), *c = hog(w, d, 4 * MS);

    arinc653_set_table(w->pool->scheduler, one, 1, 50 * MS);
    world_run(w, 3 * MS);
    world_expect_on(a, 0);
    arinc653_set_table(w->pool->scheduler, other, 1, 50 * MS);
    world_expect_on(a, 0); /* until the next decision: c wakes */
    world_run(w, 4 * MS);
    world_expect_on(b, 0);
    ck_assert(!c->is_running);
    world_run(w, 11 * MS);
    world_expect_idle(w, 0);
    world_run(w, 54 * MS);
    world_expect_on(b, 0);
    world_free(w);
}
END_TEST

Suite *suite_rules_small(void)
{
    Suite *suite = suite_create("rules_small");
    TCase *rtds = tcase_create("RTDS"), *null = tcase_create("null");
    TCase *arinc653 = tcase_create("ARINC653");

    tcase_add_test(rtds, rtds_defaults);
    tcase_add_test(rtds, rtds_changes_count_from_the_next_deadline);
    tcase_add_test(rtds, rtds_renewal_while_running);
    tcase_add_test(rtds, rtds_events_stay_out_of_order);
    tcase_add_test(rtds, rtds_equal_deadlines_do_not_preempt);
    suite_add_tcase(suite, rtds);
    tcase_add_test(null, null_picks_the_lowest_free_pcpu);
    tcase_add_test(null, null_stays_on_its_own_free_pcpu);
    tcase_add_test(null, null_moves_to_a_free_pcpu_that_is_preferred);
    tcase_add_test(null, null_waits_rather_than_take_what_it_does_not_prefer);
    tcase_add_test(null, null_first_come_first_served);
    tcase_add_test(null, null_a_paused_vcpu_keeps_its_pcpu);
    tcase_add_test(null, null_who_prefers_comes_before_who_may);
    tcase_add_test(null, null_affinity_of_those_that_wait);
    tcase_add_test(null, null_who_moves_away_leaves_its_pcpu);
    suite_add_tcase(suite, null);
    tcase_add_test(arinc653, arinc653_without_a_table_only_dom0_runs);
    tcase_add_test(arinc653, arinc653_several_windows_may_pass);
    tcase_add_test(arinc653, arinc653_only_on_its_own_pcpu);
    tcase_add_test(arinc653, arinc653_a_new_table_begins_at_once);
    suite_add_tcase(suite, arinc653);
    return suite;
}
