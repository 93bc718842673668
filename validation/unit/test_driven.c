/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real traces followed one step ahead: how many of Xen's decisions are the model's, at least; that
 * a wrong model is found; that damaged traces are survived. */
#include "experiments/validate/driven.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char captures[] = "validation/xen/captures";

static struct capture *capture_of(const char *name)
{
    struct errors e = {0};
    char *path = xasprintf("%s/%s.json", captures, name);
    struct capture *c = capture_read(path, &e);

    ck_assert_msg(c && c->trace, "%s: no such capture", path);
    free(path);
    return c;
}

static const struct driven_pool *pool_of(const struct driven_report *r, const char *scheduler)
{
    for (size_t i = r->pools; i-- > 0;)
        if (!strcmp(r->pool[i].scheduler, scheduler))
            return &r->pool[i];
    ck_abort_msg("no pool with %s", scheduler);
    return NULL;
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* least: per cent of the judged decisions, a little below what was seen (docs/validation-xen.md).
 */
static const struct {
    const char *name, *scheduler;
    double least;
    uint64_t judged;
} agreement[] = {
    {"credit/a2", "credit", 99.9, 300},    {"credit/a2cap25", "credit", 99.9, 100},
    {"credit/a2w", "credit", 98, 200},     {"credit/b4", "credit", 99, 7000},
    {"credit/e3", "credit", 95, 400},      {"credit2/a2", "credit2", 100, 1000},
    {"kit/rtds_waker", "rtds", 100, 2000}, {"kit/null_echo", "null", 100, 500},
};

START_TEST(decisions_are_xens)
{
    struct capture *c = capture_of(agreement[_i].name);
    const struct driven_pool *p;
    struct errors e = {0};
    struct driven_report r;

    ck_assert_int_eq(driven_follow(c, &r, &e), 0);
    p = pool_of(&r, agreement[_i].scheduler);
    ck_assert(p->followed);
    ck_assert_msg(p->counts.judged >= agreement[_i].judged, "only %llu decisions judged",
                  (unsigned long long)p->counts.judged);
    ck_assert_msg((double)p->counts.same >= agreement[_i].least / 100 * (double)p->counts.judged,
                  "%s: %llu of %llu decisions, wanted %g %%", agreement[_i].name,
                  (unsigned long long)p->counts.same, (unsigned long long)p->counts.judged,
                  agreement[_i].least);
    ck_assert_uint_eq(r.resyncs, 0);
    ck_assert_uint_eq(r.lost, 0);
    driven_free_report(&r);
    capture_free(c);
}
END_TEST

/* RTDS's own figures: each charge of the model's leads to the level that Xen recorded. */
START_TEST(rtds_charges_as_xen)
{
    struct capture *c = capture_of("kit/rtds_waker");
    unsigned long long same = 0, all = 0;
    struct errors e = {0};
    struct driven_report r;

    ck_assert_int_eq(driven_follow(c, &r, &e), 0);
    ck_assert_int_eq(sscanf(pool_of(&r, "rtds")->inference, "%llu of %llu charges", &same, &all),
                     2);
    ck_assert_uint_gt(all, 1000);
    ck_assert_uint_eq(same, all);
    driven_free_report(&r);
    capture_free(c);
}
END_TEST

/* Budgets are the trace's, extra time is the capture's: without it one would not run on. */
START_TEST(rtds_without_extratime_differs)
{
    struct capture *c = capture_of("kit/rtds_waker");
    const struct driven_pool *p;
    struct errors e = {0};
    struct driven_report r;

    for (size_t i = 0; i < c->guests; i++)
        c->guest[i].rtds_extratime = false;
    ck_assert_int_eq(driven_follow(c, &r, &e), 0);
    p = pool_of(&r, "rtds");
    ck_assert_uint_lt(p->counts.same, p->counts.judged);
    ck_assert_uint_gt(r.differences, 0);
    driven_free_report(&r);
    capture_free(c);
}
END_TEST

/* With another scheduler than the one that ran nothing can be judged: its records are not there. */
START_TEST(another_scheduler_is_not_judged)
{
    struct capture *c = capture_of("kit/rtds_waker");
    struct errors e = {0};
    struct driven_report r;

    strcpy(c->scheduler, "null");
    ck_assert_int_eq(driven_follow(c, &r, &e), 0);
    ck_assert_uint_eq(pool_of(&r, "null")->counts.judged, 0);
    driven_free_report(&r);
    capture_free(c);
}
END_TEST

/* ---- damage ---------------------------------------------------------------------------------- */

static unsigned char *unpacked(const char *path, size_t *size)
{
    enum { MOST = 8 << 20 };
    unsigned char *data = malloc(MOST);
    gzFile in = gzopen(path, "rb");
    int n;

    ck_assert_ptr_nonnull(in);
    n = gzread(in, data, MOST);
    gzclose(in);
    ck_assert_int_gt(n, 0);
    ck_assert_int_lt(n, MOST);
    *size = (size_t)n;
    return data;
}

/* Follow the capture with these bytes for its trace: whatever comes out, it ends. */
static void follow_bytes(struct capture *c, const unsigned char *data, size_t size)
{
    char path[] = "/tmp/hvsim-driven-XXXXXX";
    int fd = mkstemp(path);
    char *kept = c->trace;
    struct errors e = {0};
    struct driven_report r;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
    close(fd);
    c->trace = path;
    if (!driven_follow(c, &r, &e)) {
        for (size_t i = 0; i < r.pools; i++)
            ck_assert_uint_le(r.pool[i].counts.same, r.pool[i].counts.judged);
        driven_free_report(&r);
    } else {
        ck_assert_uint_gt(e.count, 0);
    }
    c->trace = kept;
    errors_free(&e);
    unlink(path);
}

static const char *const damaged[] = {"credit2/a2", "kit/rtds_waker", "kit/null_echo"};

START_TEST(cut_off_anywhere)
{
    struct capture *c = capture_of(damaged[_i]);
    size_t size;
    unsigned char *data = unpacked(c->trace, &size);

    for (size_t i = 0; i < 6; i++)
        follow_bytes(c, data, size * i / 6 + i);
    free(data);
    capture_free(c);
}
END_TEST

START_TEST(flipped_bits)
{
    struct capture *c = capture_of(damaged[_i]);
    uint64_t random = 1;
    size_t size;
    unsigned char *data = unpacked(c->trace, &size);

    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 8; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            data[(random >> 16) % size] ^= (unsigned char)(1u << (random >> 60 & 7));
        }
        follow_bytes(c, data, size);
    }
    free(data);
    capture_free(c);
}
END_TEST

static const char *const wrong[] = {"credit/a2cap25", "credit2/a2", "kit/rtds_waker",
                                    "kit/null_echo"};

/* Words take each other's places, or the ends of their range. */
START_TEST(wrong_words)
{
    static const uint32_t ends[] = {0, 1, 7, INT32_MAX, UINT32_MAX};
    struct capture *c = capture_of(wrong[_i]);
    uint64_t random = 2;
    size_t size;
    unsigned char *data = unpacked(c->trace, &size);
    size_t words = (size < 60000 ? size : 60000) / sizeof *ends;

    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < 40; i++) {
            uint32_t word, at[2];

            for (int k = 0; k < 2; k++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                at[k] = (uint32_t)((random >> 16) % words);
            }
            memcpy(&word, data + at[0] * sizeof word, sizeof word);
            if (random >> 60 & 1)
                word = ends[(random >> 61) % (sizeof ends / sizeof *ends)];
            memcpy(data + at[1] * sizeof word, &word, sizeof word);
        }
        follow_bytes(c, data, words * sizeof *ends);
    }
    free(data);
    capture_free(c);
}
END_TEST

Suite *suite_driven(void)
{
    Suite *s = suite_create("driven");
    TCase *t = tcase_create("agreement");

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, decisions_are_xens, 0, sizeof agreement / sizeof *agreement);
    tcase_add_test(t, rtds_charges_as_xen);
    tcase_add_test(t, rtds_without_extratime_differs);
    tcase_add_test(t, another_scheduler_is_not_judged);
    suite_add_tcase(s, t);
    t = tcase_create("damage");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, cut_off_anywhere, 0, sizeof damaged / sizeof *damaged);
    tcase_add_loop_test(t, wrong_words, 0, sizeof wrong / sizeof *wrong);
    tcase_add_loop_test(t, flipped_bits, 0, sizeof damaged / sizeof *damaged);
    suite_add_tcase(s, t);
    return s;
}
