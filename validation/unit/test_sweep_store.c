/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stored replications: found again after anything, whatever the order of lines; decisions on them.
 */
#include "experiments/sweep/sweep_store.h"

#include "sim/random.h"
#include "sim/stats.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static struct errors errors;
static struct figures figures;
static const uint64_t keys[] = {11, 22, 33, 22};

static void set_up(void)
{
    strcpy(dir, "/tmp/hvsim-store-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    errors = ERRORS_NONE;
    figures = (struct figures){.count = 2, .pools = 1};
    figures.item = xcalloc(2, sizeof *figures.item);
    figures.item[0] = (struct figure){SUBJECT_CLIENT, xstrdup("c"), metric_by_name("throughput"), 0,
                                      FIGURE_PLAIN};
    figures.item[1] =
        (struct figure){SUBJECT_CLIENT, xstrdup("c"), metric_by_name("latency_p90"), 1, 0};
}

static void tear_down(void)
{
    char command[128];

    figures_free(&figures);
    errors_free(&errors);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

static const char *in(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* What a replication might have given: about 1000 per second, latencies around 1 ms. */
static char *made(uint64_t replication, double spread)
{
    struct histogram h;
    struct kept k;
    struct rng rng;
    size_t size;
    char *text;
    FILE *out;

    rng_init(&rng, 9, replication, "test", "store");
    histogram_init(&h, HISTOGRAM_3_DIGITS);
    for (int i = 0; i < 500; i++)
        histogram_record(&h, (sim_time)rng_exponential(&rng, 1e6));
    k.value = xcalloc(2, sizeof *k.value);
    k.value[0] = 1000 + spread * rng_normal(&rng);
    k.value[1] = histogram_estimate(&h, 0.9) / 1e6;
    k.pool = xcalloc(1, sizeof *k.pool);
    k.pool[0] = sparse_of(&h);
    out = open_memstream(&text, &size);
    kept_write(&k, &figures, out);
    fclose(out);
    kept_free(&k, &figures);
    histogram_free(&h);
    return text;
}

static void add(struct store *s, uint64_t key, uint32_t replication, double spread)
{
    char *text = made(replication, spread);

    ck_assert_int_eq(store_add(s, store_find(s, key), replication, 0.01, text, true, &errors), 0);
    free(text);
}

static void begin(struct store *s, const char *name)
{
    store_init(s, dir, keys, sizeof keys / sizeof *keys);
    ck_assert_msg(!store_claim(s, STORE_SHARE, name, &errors), "%s",
                  errors.count ? errors.item[0].text : "");
    ck_assert_int_eq(store_read(s, true, &errors), 0);
}

/* A rule without a stopping rule, for so many replications; or about a figure. */
static struct entry_rule rule(uint32_t wanted, int stop, double relative)
{
    return (struct entry_rule){.figures = &figures,
                               .wanted = wanted,
                               .stop = stop,
                               .relative = relative,
                               .least = 10,
                               .level = 0.95};
}

static void ck_verdict(struct store *s, uint64_t key, struct entry_rule r, enum entry_state state,
                       uint32_t n)
{
    struct entry_verdict v = entry_judge(store_find(s, key), &r);

    ck_assert_int_eq(v.state, state);
    ck_assert_uint_eq(v.n, n);
}

START_TEST(what_was_added_is_there)
{
    struct store s;
    struct kept k[3];
    char *text;
    size_t size;

    begin(&s, "results.lines");
    ck_assert_uint_eq(s.entries, 3); /* one key comes twice */
    for (uint32_t i = 3; i-- > 0;)
        add(&s, 22, i, 10);
    ck_verdict(&s, 22, rule(3, -1, 0), ENTRY_DONE, 3);
    store_free(&s);
    begin(&s, "results.lines");
    ck_assert_uint_eq(s.lines, 3);
    ck_assert_uint_eq(s.damaged, 0);
    ck_verdict(&s, 22, rule(3, -1, 0), ENTRY_DONE, 3);
    ck_verdict(&s, 11, rule(3, -1, 0), ENTRY_MORE, 3);
    ck_assert_int_eq(store_kept(store_find(&s, 22), &figures, k, 3, &errors), 0);
    for (uint32_t i = 0; i < 3; i++) {
        char *expected = made(i, 10);
        FILE *out = open_memstream(&text, &size);

        kept_write(&k[i], &figures, out);
        fclose(out);
        ck_assert_str_eq(text, expected);
        free(text);
        free(expected);
        kept_free(&k[i], &figures);
    }
    store_free(&s);
}
END_TEST

/* Cut the file anywhere: what stood whole before the cut is there, and adding goes on. */
START_TEST(torn_anywhere)
{
    struct store s;
    struct stat st;

    begin(&s, "results.lines");
    for (uint32_t i = 0; i < 4; i++)
        add(&s, 11, i, 10);
    store_free(&s);
    ck_assert_int_eq(stat(in("results.lines"), &st), 0);
    for (off_t cut = st.st_size; cut >= 0; cut -= cut > 200 ? 97 : 1) {
        uint32_t whole;

        ck_assert_int_eq(truncate(in("results.lines"), cut), 0);
        begin(&s, "results.lines");
        ck_assert_uint_eq(s.damaged, 0);
        whole = store_find(&s, 11)->prefix;
        ck_assert_uint_eq(whole, s.lines);
        ck_assert(whole <= 4 && (cut < st.st_size || whole == 4));
        add(&s, 11, whole, 10);
        ck_assert_uint_eq(store_find(&s, 11)->prefix, whole + 1);
        store_free(&s);
    }
}
END_TEST

/* A byte that has changed makes its line worthless, and no other. */
START_TEST(damage_is_seen)
{
    struct store s;
    struct rng rng;
    struct stat st;

    rng_init(&rng, 1, 0, "test", "damage");
    for (int round = 0; round < 60; round++) {
        FILE *f;
        long at;
        int was;

        begin(&s, "results.lines");
        for (uint32_t i = store_find(&s, 33)->prefix; i < 4; i++)
            add(&s, 33, i, 10);
        store_free(&s);
        ck_assert_int_eq(stat(in("results.lines"), &st), 0);
        f = fopen(in("results.lines"), "r+");
        do {
            at = 30 + (long)rng_below(&rng, (uint64_t)st.st_size - 30);
            fseek(f, at, SEEK_SET);
            was = fgetc(f);
        } while (was == '\n');
        fseek(f, at, SEEK_SET);
        fputc(was == '7' ? '8' : '7', f);
        fclose(f);
        begin(&s, "results.lines");
        ck_assert_uint_eq(s.damaged + s.strangers, 1);
        ck_assert_uint_eq(s.lines, 3);
        store_free(&s);
        ck_assert_int_eq(unlink(in("results.lines")), 0);
    }
}
END_TEST

/* Nonsense of all kinds is passed over. */
START_TEST(nonsense)
{
    static const char *const lines[] = {"",
                                        "R",
                                        "R\t",
                                        "X\t1\t2\t3\t4\t5",
                                        "R\tzz\t0\t1\tx\t0",
                                        "R\t000000000000000b\t99999999999999999999\t1\tx\t0",
                                        "\t\t\t\t\t",
                                        "D\t000000000000000b\t10\t0\t0\t0"};
    struct store s;
    FILE *f = fopen(in("results-1-of-2.lines"), "w");

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        fprintf(f, "%s\n", lines[i]);
    fclose(f);
    begin(&s, "results.lines");
    ck_assert_uint_eq(s.damaged, sizeof lines / sizeof *lines);
    ck_assert_uint_eq(s.lines, 0);
    store_free(&s);
}
END_TEST

START_TEST(other_versions_are_refused)
{
    struct store s;
    FILE *f = fopen(in("results-1-of-2.lines"), "w");

    fputs("H\t1\tsome other version\n", f);
    fclose(f);
    store_init(&s, dir, keys, 3);
    ck_assert_int_eq(store_read(&s, true, &errors), 0); /* to look at them only */
    ck_assert_str_eq(s.version, "some other version");
    store_free(&s);
    store_init(&s, dir, keys, 3);
    ck_assert_int_eq(store_claim(&s, STORE_ALONE, "results.lines", &errors), 0);
    ck_assert_int_ne(store_read(&s, true, &errors), 0);
    ck_assert(strstr(errors.item[0].text, "some other version") != NULL);
    ck_assert_int_eq(errors_exit_code(&errors), EXIT_INPUT);
    store_free(&s);
}
END_TEST

START_TEST(failures)
{
    struct store s;

    begin(&s, "results.lines");
    add(&s, 11, 0, 10);
    add(&s, 11, 1, 10);
    ck_assert_int_eq(store_add_failure(&s, store_find(&s, 11), 4, 1, "later", &errors), 0);
    ck_verdict(&s, 11, rule(6, -1, 0), ENTRY_MORE, 6); /* 2 and 3 are not known yet */
    ck_assert_int_eq(store_add_failure(&s, store_find(&s, 11), 2, 1, "two\nlines\tof it", &errors),
                     0);
    ck_verdict(&s, 11, rule(6, -1, 0), ENTRY_FAILED, 2);
    ck_verdict(&s, 11, rule(2, -1, 0), ENTRY_DONE, 2); /* it was not needed */
    store_free(&s);
    begin(&s, "results.lines");
    ck_verdict(&s, 11, rule(6, -1, 0), ENTRY_FAILED, 2);
    ck_assert_str_eq(entry_reason(store_find(&s, 11)), "two\nlines of it");
    add(&s, 11, 2, 10); /* tried again */
    add(&s, 11, 3, 10);
    store_free(&s);
    begin(&s, "results-1-of-2.lines"); /* in another file */
    ck_verdict(&s, 11, rule(6, -1, 0), ENTRY_FAILED, 4);
    add(&s, 11, 4, 10);
    store_free(&s);
    begin(&s, "results.lines");
    ck_verdict(&s, 11, rule(5, -1, 0), ENTRY_DONE, 5);
    store_free(&s);
}
END_TEST

/* Where it stops depends on the results, not on when they came. */
START_TEST(stopping_depends_on_the_prefix_only)
{
    struct rng rng;
    uint32_t first = 0, order[60];

    rng_init(&rng, 2, 0, "test", "order");
    for (int round = 0; round < 8; round++) {
        struct store s;
        uint32_t n = 0;

        begin(&s, "results.lines");
        rng_permutation(&rng, order, 60);
        for (uint32_t i = 0; i < 60; i++) {
            struct entry_rule r = rule(60, round % 2, round % 2 ? 0.03 : 0.015);
            struct entry_verdict v;

            add(&s, 22, round < 2 ? i : order[i], 40);
            v = entry_judge(store_find(&s, 22), &r);
            if (v.state == ENTRY_DONE)
                n = v.n;
            ck_assert(v.state != ENTRY_FAILED);
        }
        if (round < 2) {
            ck_assert_msg(n > 10 && n < 60, "round %d: a test that tests nothing: %u", round, n);
            first = round ? first << 8 | n : n;
        } else {
            ck_assert_uint_eq(n, round % 2 ? first & 255 : first >> 8);
        }
        store_free(&s);
        ck_assert_int_eq(unlink(in("results.lines")), 0);
    }
}
END_TEST

/* The rule of sim/sequential.h on the intervals that a run would give. */
START_TEST(stopping_is_by_the_rule)
{
    struct entry_rule r = rule(60, 1, 0.03);
    struct stopping_state state = stopping_begin(10, 60);
    struct kept k[60];
    const struct kept *list[60];
    struct store s;
    struct interval i;

    begin(&s, "results.lines");
    for (uint32_t n = 0; n < 60; n++)
        add(&s, 22, n, 40);
    ck_assert_int_eq(store_kept(store_find(&s, 22), &figures, k, 60, &errors), 0);
    for (uint32_t n = 0; n < 60; n++)
        list[n] = &k[n];
    do {
        struct kept_set set;

        kept_set_init(&set, &figures, list, state.n);
        i = kept_interval(&set, 1, 0.95);
        kept_set_free(&set);
    } while (!stopping_decide(&state, 0.03, &i, 60));
    ck_assert(state.n > 10 && state.n < 60);
    ck_assert(stopping_reached(0.03, &i));
    for (size_t f = 0; f < 2; f++) { /* values to compare by have this mean and this spread */
        struct kept_set set;
        struct interval mean;
        double x[60];

        kept_set_init(&set, &figures, list, 60);
        kept_pseudo_values(&set, f, x);
        mean = interval_mean(x, 60, 0.95);
        i = kept_interval(&set, f, 0.95);
        kept_set_free(&set);
        ck_assert(fabs(mean.estimate - i.estimate) < 1e-9 * i.estimate);
        ck_assert(fabs(interval_half(&mean) - interval_half(&i)) < 1e-9 * interval_half(&i));
    }
    ck_verdict(&s, 22, r, ENTRY_DONE, (uint32_t)state.n);
    for (uint32_t n = 0; n < 60; n++)
        kept_free(&k[n], &figures);
    store_free(&s);
}
END_TEST

/* What the rule said is stored, and another rule does not believe it. */
START_TEST(decisions)
{
    struct entry_rule r = rule(60, 0, 0.015), other = rule(60, 0, 0.010);
    struct store s;
    struct entry *n;
    uint32_t stopped;

    begin(&s, "results.lines");
    for (uint32_t i = 0; i < 60; i++)
        add(&s, 22, i, 40);
    stopped = entry_judge(store_find(&s, 22), &r).n;
    ck_assert_int_eq(store_add_decision(&s, store_find(&s, 22), &r, &errors), 0);
    store_free(&s);
    begin(&s, "results.lines");
    n = store_find(&s, 22);
    ck_assert_uint_eq(n->said, stopped);
    n->said = stopped - 1; /* to see that it is believed */
    ck_verdict(&s, 22, r, ENTRY_DONE, stopped - 1);
    store_free(&s);
    begin(&s, "results.lines");
    ck_assert_uint_gt(entry_judge(store_find(&s, 22), &other).n, stopped);
    store_free(&s);
}
END_TEST

/* Replications too short for the quantile: more of them would not help. */
START_TEST(short_replications_end_at_once)
{
    struct store s;

    figures.item[1].metric = metric_by_name("latency_p99.9"); /* of 500 */
    begin(&s, "results.lines");
    for (uint32_t i = 0; i < 12; i++)
        add(&s, 22, i, 40);
    ck_verdict(&s, 22, rule(60, 1, 0.03), ENTRY_DONE, 10);
    store_free(&s);
}
END_TEST

/* In a child: can the directory be claimed? */
static bool claimed_elsewhere(enum store_claim claim, const char *name)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct errors e = ERRORS_NONE;
        struct store s;

        store_init(&s, dir, keys, 1);
        _exit(store_claim(&s, claim, name, &e) ? 1 : 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

START_TEST(one_at_a_time)
{
    struct store s;

    store_init(&s, dir, keys, 1);
    ck_assert_int_eq(store_claim(&s, STORE_ALONE, "results.lines", &errors), 0);
    ck_assert(!claimed_elsewhere(STORE_ALONE, "results.lines"));
    ck_assert(!claimed_elsewhere(STORE_SHARE, "results-1-of-2.lines"));
    store_free(&s);
    store_init(&s, dir, keys, 1);
    ck_assert_int_eq(store_claim(&s, STORE_SHARE, "results-1-of-2.lines", &errors), 0);
    ck_assert(!claimed_elsewhere(STORE_ALONE, "results.lines"));
    ck_assert(!claimed_elsewhere(STORE_SHARE, "results-1-of-2.lines"));
    ck_assert(claimed_elsewhere(STORE_SHARE, "results-2-of-2.lines"));
    store_free(&s);
    ck_assert(claimed_elsewhere(STORE_ALONE, "results.lines"));
}
END_TEST

Suite *suite_sweep_store(void)
{
    const TTest *const tests[] = {what_was_added_is_there,
                                  torn_anywhere,
                                  damage_is_seen,
                                  nonsense,
                                  other_versions_are_refused,
                                  failures,
                                  stopping_depends_on_the_prefix_only,
                                  stopping_is_by_the_rule,
                                  decisions,
                                  short_replications_end_at_once,
                                  one_at_a_time};
    Suite *s = suite_create("sweep_store");
    TCase *tc = tcase_create("store");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(s, tc);
    return s;
}
