/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event queue against a reference that is too simple to be wrong: a plain list of the armed
 * timers, searched for its smallest (time, rank, key).
 */
#include "sim/queue.h"

#include <check.h>
#include <stdlib.h>

#define MANY 300 /* more than the queue's first capacity of 64 */

struct probe {
    struct timer timer;
    int id;
    /* The reference's opinion. */
    bool armed;
    sim_time when;
    enum rank rank;
    uint64_t key;
};

static struct queue queue;
static struct probe probe[MANY];
static int fired[64 * MANY];
static size_t fired_count;
static uint64_t draws; /* state of the tests' own generator */

static uint32_t draw(uint32_t below)
{
    draws = draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(draws >> 33) % below;
}

static void note(struct timer *t, sim_time now)
{
    struct probe *p = container_of(t, struct probe, timer);

    ck_assert_int_eq(now, queue.now);
    ck_assert(!timer_armed(t));
    p->armed = false;
    fired[fired_count++] = p->id;
}

static void setup(void)
{
    queue_init(&queue);
    fired_count = 0;
    for (int i = 0; i < MANY; i++) {
        probe[i] = (struct probe){.id = i};
        timer_init(&probe[i].timer, note);
    }
}

static void teardown(void)
{
    queue_free(&queue);
}

static void ck_fired(const int *expected, size_t n)
{
    ck_assert_uint_eq(fired_count, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(fired[i], expected[i]);
}
#define CK_FIRED(...) ck_fired((const int[]){__VA_ARGS__}, sizeof(int[]){__VA_ARGS__} / sizeof(int))

/* ---- Random use against the reference ------------------------------------------------------- */

static bool earlier(const struct probe *a, const struct probe *b)
{
    if (a->when != b->when)
        return a->when < b->when;
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->key < b->key;
}

static const struct probe *reference_first(int n)
{
    const struct probe *first = NULL;

    for (int i = 0; i < n; i++)
        if (probe[i].armed && (!first || earlier(&probe[i], first)))
            first = &probe[i];
    return first;
}

static void arm(struct probe *p, sim_time when)
{
    p->armed = true;
    p->when = when < queue.now ? queue.now : when;
    if (draw(4)) {
        p->rank = RANK_TIMER;
        queue_arm(&queue, &p->timer, when);
        p->key = queue.armed;
    } else {
        p->rank = (enum rank)draw(RANK_SETTLE + 1);
        /* One key has one owner, except among plain timers, whose arming numbers are below 2^40
         * here. */
        p->key = (UINT64_C(1) << 40) + (uint64_t)p->id;
        queue_arm_key(&queue, &p->timer, when, p->rank, p->key);
    }
}

/* Each ck_assert costs a system call, too much for millions. */
#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond))                                                                               \
            ck_abort_msg("%s", #cond);                                                             \
    } while (0)

/* Keep those whose id leaves a remainder other than *arg by 3. */
static bool keep_some(struct timer *t, void *arg)
{
    const struct probe *p = container_of(t, struct probe, timer);

    MUST(timer_armed(t));
    return p->id % 3 != *(int *)arg;
}

static void count_due(const struct timer *t, void *ctx)
{
    MUST(timer_armed(t));
    ++*(int *)ctx;
}

static void ck_due(int n, sim_time when)
{
    int due = 0, expected = 0;

    queue_due(&queue, when, count_due, &due);
    for (int i = 0; i < n; i++)
        expected += probe[i].armed && probe[i].when == when;
    MUST(due == expected);
}

static void random_use(int n, uint32_t spread, int operations)
{
    uint32_t count = 0;

    for (int op = 0; op < operations; op++) {
        struct probe *p = &probe[draw((uint32_t)n)];
        const struct probe *first;

        switch (draw(8)) {
        case 0:
            if (draw(8) == 0) {
                int remainder = (int)draw(3);

                queue_cancel_unless(&queue, keep_some, &remainder);
                for (int i = remainder; i < n; i += 3)
                    probe[i].armed = false;
                break;
            }
            /* fall through */
        case 1:
            queue_cancel(&queue, &p->timer);
            p->armed = false;
            break;
        case 2:
        case 3:
            if ((first = reference_first(n))) {
                queue_step(&queue);
                MUST(fired[--fired_count] == first->id);
                MUST(queue.now == first->when);
            }
            break;
        default: /* arm, or move if armed; sometimes into the past */
            arm(p, queue.now - (sim_time)(spread / 8) + (sim_time)draw(spread));
        }
        first = reference_first(n);
        MUST(queue_next(&queue) == (first ? first->when : SIM_NEVER));
        count = 0;
        for (int i = 0; i < n; i++) {
            MUST(timer_armed(&probe[i].timer) == probe[i].armed);
            if (probe[i].armed)
                MUST(timer_rank(&probe[i].timer) == probe[i].rank);
            count += probe[i].armed;
        }
        MUST(queue.count + (queue.soon.timer != NULL) == count);
        if (op % 16 == 0)
            ck_due(n, queue.now + (sim_time)draw(spread));
    }
    for (const struct probe *first; (first = reference_first(n));) {
        queue_step(&queue);
        MUST(fired[--fired_count] == first->id);
    }
    MUST(queue_next(&queue) == SIM_NEVER);
}

/* Small spreads make most dates equal, so that rank and key decide. */
static const struct {
    int timers;
    uint32_t spread;
} mixes[] = {{1, 8}, {2, 8}, {5, 8}, {17, 8}, {17, 1000}, {100, 8}, {MANY, 16}, {MANY, 1000000}};

START_TEST(random_against_reference)
{
    draws = (uint64_t)_i + 1;
    random_use(mixes[_i].timers, mixes[_i].spread, 4000);
}
END_TEST

START_TEST(random_long)
{
    draws = (uint64_t)_i + 100;
    random_use(MANY, 1u << (3 + _i), 100000);
}
END_TEST

/* ---- Equal times ------------------------------------------------------------------------------
 */

START_TEST(equal_times_by_arming_number)
{
    queue_arm(&queue, &probe[2].timer, 10);
    queue_arm(&queue, &probe[0].timer, 10);
    queue_arm(&queue, &probe[1].timer, 10);
    queue_arm(&queue, &probe[3].timer, 9);
    queue_run(&queue, 11);
    CK_FIRED(3, 2, 0, 1);
}
END_TEST

START_TEST(equal_times_by_rank_then_key)
{
    queue_arm_key(&queue, &probe[0].timer, 10, RANK_SETTLE, 0);
    queue_arm_key(&queue, &probe[1].timer, 10, RANK_BURST, 1);
    queue_arm_key(&queue, &probe[2].timer, 10, RANK_BURST, 0);
    queue_arm_key(&queue, &probe[3].timer, 10, RANK_EXTERNAL, 5);
    queue_arm_key(&queue, &probe[4].timer, 10, RANK_ARRIVAL, (UINT64_C(1) << 60) - 1);
    queue_arm(&queue, &probe[5].timer, 10);
    queue_arm_key(&queue, &probe[6].timer, 10, RANK_PLATFORM, 99);
    queue_run(&queue, 11);
    CK_FIRED(6, 5, 4, 3, 2, 1, 0);
}
END_TEST

START_TEST(moving_gives_a_new_arming_number)
{
    queue_arm(&queue, &probe[0].timer, 10);
    queue_arm(&queue, &probe[1].timer, 10);
    queue_arm(&queue, &probe[0].timer, 10);
    queue_run(&queue, 11);
    CK_FIRED(1, 0);
}
END_TEST

/* ---- Windows, past dates, hooks ---------------------------------------------------------------
 */

START_TEST(run_is_strictly_before)
{
    queue_arm(&queue, &probe[0].timer, 9);
    queue_arm(&queue, &probe[1].timer, 10);
    ck_assert_uint_eq(queue_run(&queue, 10), 1);
    CK_FIRED(0);
    ck_assert_int_eq(queue_next(&queue), 10);
    ck_assert_uint_eq(queue_run(&queue, 10), 0);
    ck_assert_uint_eq(queue_run(&queue, 11), 1);
    ck_assert_uint_eq(queue.fired, 2);
}
END_TEST

START_TEST(past_fires_at_now)
{
    queue_arm(&queue, &probe[0].timer, 100);
    queue_run(&queue, 200);
    queue_arm(&queue, &probe[1].timer, 50);
    ck_assert_int_eq(probe[1].timer.when, 100);
    ck_assert_int_eq(queue_next(&queue), 100);
    queue_step(&queue);
    ck_assert_int_eq(queue.now, 100);
    CK_FIRED(0, 1);
}
END_TEST

START_TEST(cancel_is_harmless_when_not_armed)
{
    queue_cancel(&queue, &probe[0].timer);
    queue_arm(&queue, &probe[0].timer, 1);
    queue_cancel(&queue, &probe[0].timer);
    queue_cancel(&queue, &probe[0].timer);
    ck_assert_uint_eq(queue.count, 0);
    ck_assert_uint_eq(queue_run(&queue, SIM_NEVER), 0);
}
END_TEST

static unsigned after_calls;

static void count_after(struct queue *q)
{
    after_calls++;
    ck_assert_uint_eq(q->fired, after_calls);
}

START_TEST(after_hook_once_per_event)
{
    after_calls = 0;
    queue.after = count_after;
    for (int i = 0; i < 5; i++)
        queue_arm(&queue, &probe[i].timer, i / 2);
    queue_run(&queue, SIM_NEVER);
    ck_assert_uint_eq(after_calls, 5);
}
END_TEST

/* ---- Inside a handler -------------------------------------------------------------------------
 */

static void arm_two_more(struct timer *t, sim_time now)
{
    note(t, now);
    queue_arm(&queue, &probe[10].timer, now);     /* later in this instant */
    queue_arm(&queue, &probe[11].timer, now + 1); /* still inside the window */
    queue_arm(&queue, &probe[12].timer, now - 7); /* the past is now, after 10 */
    queue_arm(&queue, &probe[13].timer, 20);      /* outside */
}

START_TEST(arming_in_a_handler)
{
    timer_init(&probe[0].timer, arm_two_more);
    queue_arm(&queue, &probe[0].timer, 10);
    queue_arm(&queue, &probe[1].timer, 10);
    ck_assert_uint_eq(queue_run(&queue, 20), 5);
    CK_FIRED(0, 1, 10, 12, 11);
    ck_assert_int_eq(queue_next(&queue), 20);
}
END_TEST

static void arm_a_late_one(struct timer *t, sim_time now)
{
    note(t, now);
    queue_arm_late(&queue, &probe[10].timer, now);
    queue_arm_late(&queue, &probe[11].timer, now - 7);
    queue_arm_late(&queue, &probe[12].timer, now);
}

static void arm_an_ordinary_one(struct timer *t, sim_time now)
{
    note(t, now);
    queue_arm_key(&queue, &probe[2].timer, now, RANK_SETTLE, 0);
}

/* Late timers come after all else of their date, the most overdue first; what the first of them
 * brings about waits for the others. */
START_TEST(late_timers_are_an_instant)
{
    timer_init(&probe[0].timer, arm_a_late_one);
    timer_init(&probe[11].timer, arm_an_ordinary_one);
    queue_arm_key(&queue, &probe[0].timer, 10, RANK_BURST, 0);
    queue_arm_key(&queue, &probe[1].timer, 10, RANK_SETTLE, 0);
    queue_run(&queue, 11);
    CK_FIRED(0, 1, 11, 10, 12, 2);
}
END_TEST

static void rearm_self(struct timer *t, sim_time now)
{
    note(t, now);
    if (now < 50)
        queue_arm(&queue, t, now + 10);
}

START_TEST(periodic_timer_rearms_itself)
{
    timer_init(&probe[0].timer, rearm_self);
    queue_arm(&queue, &probe[0].timer, 10);
    ck_assert_uint_eq(queue_run(&queue, SIM_NEVER), 5);
    ck_assert_int_eq(queue.now, 50);
    ck_assert(!timer_armed(&probe[0].timer));
}
END_TEST

static void stop_here(struct timer *t, sim_time now)
{
    note(t, now);
    queue_stop(&queue);
    queue_arm(&queue, &probe[8].timer, now);     /* of the present date: still handled */
    queue_arm(&queue, &probe[9].timer, now + 1); /* not handled */
}

START_TEST(stop_ends_with_the_present_date)
{
    timer_init(&probe[0].timer, stop_here);
    queue_arm(&queue, &probe[0].timer, 10);
    queue_arm(&queue, &probe[1].timer, 10);
    queue_arm(&queue, &probe[2].timer, 15);
    ck_assert_uint_eq(queue_run(&queue, 20), 3);
    CK_FIRED(0, 1, 8);
    ck_assert_int_eq(queue_next(&queue), 11);
    ck_assert_uint_eq(queue_run(&queue, 20), 2); /* the next run is a whole one */
    CK_FIRED(0, 1, 8, 9, 2);
}
END_TEST

START_TEST(stop_does_not_lengthen_a_run)
{
    timer_init(&probe[0].timer, stop_here);
    queue_arm(&queue, &probe[0].timer, 10);
    ck_assert_uint_eq(queue_run(&queue, 11), 2);
    ck_assert_int_eq(queue_next(&queue), 11);
}
END_TEST

static void cancel_others(struct timer *t, sim_time now)
{
    note(t, now);
    queue_cancel(&queue, t);               /* itself: not armed any more */
    queue_cancel(&queue, &probe[1].timer); /* due in the same instant */
    queue_cancel(&queue, &probe[3].timer); /* due later */
    queue_arm(&queue, &probe[4].timer, 12);
}

START_TEST(cancel_in_a_handler)
{
    timer_init(&probe[0].timer, cancel_others);
    queue_arm(&queue, &probe[0].timer, 10);
    queue_arm(&queue, &probe[1].timer, 10);
    queue_arm(&queue, &probe[2].timer, 10);
    queue_arm(&queue, &probe[3].timer, 11);
    queue_arm(&queue, &probe[4].timer, 99);
    queue_run(&queue, 50);
    CK_FIRED(0, 2, 4);
    ck_assert_int_eq(queue.now, 12);
}
END_TEST

/* Who is asked for has the first of its own; moved and cancelled timers count as they stand. */
START_TEST(first_of_an_owner)
{
    sim_time next[3];

    for (int i = 0; i < 6; i++) {
        probe[i].timer.owner = (uint32_t)i % 3;
        queue_arm(&queue, &probe[i].timer, 100 - i);
    }
    ck_assert_int_eq(queue_next_of(&queue, 1), 96);
    queue_cancel(&queue, &probe[4].timer);
    queue_arm(&queue, &probe[5].timer, 200);
    queue_next_by_owner(&queue, next, 3);
    ck_assert_int_eq(next[0], 97);
    ck_assert_int_eq(next[1], 99);
    ck_assert_int_eq(next[2], 98);
    ck_assert_int_eq(queue_next_of(&queue, 3), SIM_NEVER);
}
END_TEST

Suite *suite_queue(void)
{
    Suite *s = suite_create("queue");
    TCase *order = tcase_create("order"), *use = tcase_create("use"),
          *handler = tcase_create("handler"), *slow = tcase_create("slow_random");

    TCase *all[] = {order, use, handler, slow};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tcase_add_checked_fixture(all[i], setup, teardown);
        suite_add_tcase(s, all[i]);
    }
    tcase_add_loop_test(order, random_against_reference, 0, (int)(sizeof mixes / sizeof *mixes));
    tcase_add_test(order, equal_times_by_arming_number);
    tcase_add_test(order, equal_times_by_rank_then_key);
    tcase_add_test(order, moving_gives_a_new_arming_number);
    tcase_add_test(use, run_is_strictly_before);
    tcase_add_test(use, past_fires_at_now);
    tcase_add_test(use, cancel_is_harmless_when_not_armed);
    tcase_add_test(use, after_hook_once_per_event);
    tcase_add_test(use, first_of_an_owner);
    tcase_add_test(handler, arming_in_a_handler);
    tcase_add_test(handler, late_timers_are_an_instant);
    tcase_add_test(handler, periodic_timer_rearms_itself);
    tcase_add_test(handler, cancel_in_a_handler);
    tcase_add_test(handler, stop_ends_with_the_present_date);
    tcase_add_test(handler, stop_does_not_lengthen_a_run);
    tcase_add_loop_test(slow, random_long, 0, 8);
    return s;
}
