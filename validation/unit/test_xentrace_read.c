/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The xentrace decoder and merger: whole traces, damaged ones, every way in. */
#include "experiments/traces/xentrace_read.h"
#include "validation/unit/xentrace_builder.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

/* What came out, one line a record. */
struct seen {
    size_t count, room;
    struct xentrace_record *rec;
    uint32_t (*word)[XT_WORDS_MAX];
    struct xentrace_damage damage;
    struct xentrace_volume volume;
};

static void see(struct seen *s, const struct xentrace_record *rec)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 64;
        s->rec = xrealloc(s->rec, s->room * sizeof *s->rec);
        s->word = xrealloc(s->word, s->room * sizeof *s->word);
    }
    s->rec[s->count] = *rec;
    if (rec->kind != XENTRACE_RESTART)
        memcpy(s->word[s->count], rec->word, 4u * rec->words);
    s->count++;
}

static struct seen read_through(struct xentrace_reader *r)
{
    struct seen s = {0};
    struct xentrace_record rec;

    ck_assert_ptr_nonnull(r);
    while (xentrace_next(r, &rec))
        see(&s, &rec);
    ck_assert(!xentrace_next(r, &rec)); /* and stays there */
    s.damage = *xentrace_damage(r);
    s.volume = *xentrace_volume(r);
    xentrace_close(r);
    return s;
}

static struct seen read_bytes(const void *data, size_t size)
{
    return read_through(xentrace_open_memory(data, size));
}

static void seen_free(struct seen *s)
{
    free(s->rec);
    free(s->word);
}

static bool same_records(const struct seen *a, const struct seen *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->rec[i].tsc != b->rec[i].tsc || a->rec[i].event != b->rec[i].event ||
            a->rec[i].pcpu != b->rec[i].pcpu || a->rec[i].words != b->rec[i].words ||
            a->rec[i].kind != b->rec[i].kind ||
            memcmp(a->word[i], b->word[i], 4u * a->rec[i].words) != 0)
            return false;
    return true;
}

static bool clean(const struct seen *s)
{
    return !xentrace_damaged(&s->damage);
}

static void expect(const struct seen *s, size_t at, unsigned pcpu, uint64_t tsc, uint32_t event)
{
    ck_assert_uint_lt(at, s->count);
    ck_assert_uint_eq(s->rec[at].pcpu, pcpu);
    ck_assert_uint_eq(s->rec[at].tsc, tsc);
    ck_assert_uint_eq(s->rec[at].event, event);
}

/* Some sweeps of three pCPUs with wakes; TSCs are all different. */
static struct trace three_pcpus(unsigned sweeps)
{
    struct trace t = {0};
    uint64_t sweep_end = 1000;

    for (unsigned s = 0; s < sweeps; s++, sweep_end += 1000)
        for (unsigned p = 0; p < 3; p++) {
            if (p == 1 && s % 4 == 1)
                continue; /* a pCPU without records has no window */
            trace_window(&t, p);
            /* Read a little later than the one before: records up to then are in it. */
            for (uint64_t k = s || p == 0 ? 0 : 10; k < 20; k++)
                trace_put(&t, XT_WAKE, sweep_end - 900 + 50 * k + p * 7 + 1, p, (uint32_t)k);
        }
    return t;
}

/* ---- The table ---------------------------------------------------------------------------------
 */

START_TEST(table_is_sorted_and_layouts_fit)
{
    char text[256];
    const uint32_t word[XT_WORDS_MAX] = {0};

    for (size_t i = 0; i < xt_event_table_size; i++) {
        const struct xt_event_info *info = &xt_event_table[i];
        unsigned words = 0;

        ck_assert_uint_le(info->words, XT_WORDS_MAX);
        if (i > 0)
            ck_assert_uint_ge(info->event, info[-1].event);
        ck_assert_uint_lt(info->tally, XT_TALLY_COUNT);
        for (const char *c = info->layout; (c = strchr(c, '%')); c += 2) {
            ck_assert_msg(strchr("dVDuixnqlh0123.", c[1]) != NULL, "%s: %%%c", info->name, c[1]);
            words += strchr("dq", c[1]) ? 2 : strchr("VDuixn.", c[1]) ? 1 : 0;
            ck_assert_msg(words <= info->words && !(words == info->words && strchr("lh0123", c[1])),
                          "%s: \"%s\" takes more than %u words", info->name, info->layout,
                          info->words);
        }
        ck_assert_msg(words == info->words, "%s: \"%s\" takes %u of %u words", info->name,
                      info->layout, words, info->words);
        ck_assert_ptr_eq(xt_event_find(info->event, info->words), info);
        ck_assert_uint_lt(xt_event_format(info->event, word, info->words, text, sizeof text), 200);
        if (info->tally)
            ck_assert_int_ge(xt_event_vcpu(info).word, 0);
    }
}
END_TEST

START_TEST(payloads_in_words)
{
    static const struct {
        uint32_t event, words, word[5];
        const char *text;
    } row[] = {
        {XT_WAKE, 2, {5, 1}, "d5v1"},
        {0x00021211, 1, {5 << 16 | 1}, "d5v1 blocked to runnable"},
        {XT_SWITCH_INFPREV, 3, {1, 0, 30001207}, "d1v0 ran 30001207 ns"},
        {XT_SWITCH_INFPREV, 2, {1, 30001207}, "d1 ran 30001207 ns"}, /* 4.7 */
        {XT_SWITCH_INFNEXT, 4, {1, 0, 12, 0xffffffff}, "d1v0 waited 12 ns slice none"},
        {XT_CSCHED_SCHEDULE, 1, {3 | 1 << 24}, "pCPU 3 tasklet 0 idle 1"},
        {XT_CSCHED2_CREDIT_BURN,
         4,
         {1 << 16, 10, 0x80000000, 5},
         "d1v0 credit 10 budget -2147483648 delta 5"},
        {XT_RTDS_RUNQ_PICK, 5, {2 << 16 | 3, 1, 1, 7, 0}, "d2v3 deadline 4294967297 budget 7"},
        {XT_WAKE, 3, {1, 2, 3}, "00000001 00000002 00000003"}, /* no such layout */
        {0x0002f123, 1, {0xabc}, "00000abc"},
    };
    char text[128];

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        xt_event_format(row[i].event, row[i].word, row[i].words, text, sizeof text);
        ck_assert_str_eq(text, row[i].text);
    }
    ck_assert_uint_eq(xt_event_format(XT_WAKE, row[0].word, 2, text, 4), 3);
    ck_assert_str_eq(text, "d5v");
}
END_TEST

START_TEST(cycles_to_ns_are_exact)
{
    ck_assert_uint_eq(xentrace_ns(24, 2400000000), 10);
    ck_assert_uint_eq(xentrace_ns(23, 2400000000), 9);
    ck_assert_uint_eq(xentrace_ns(3, 1000000000), 3);
    for (uint64_t hz = 999999937; hz < UINT64_C(1) << 34; hz = hz * 3 / 2)
        for (uint64_t c = 1; c < UINT64_C(1) << 60; c = c * 7 / 2 + 3)
            ck_assert_uint_eq(xentrace_ns(c, hz), (uint64_t)((__uint128_t)c * 1000000000 / hz));
}
END_TEST

/* ---- Whole traces ------------------------------------------------------------------------------
 */

START_TEST(records_of_several_pcpus_come_in_time)
{
    struct trace t = three_pcpus(50);
    struct seen s = read_bytes(t.data, t.size);

    ck_assert(clean(&s));
    ck_assert_uint_eq(s.count, 50 * 60 - 13 * 20 - 20);
    for (size_t i = 1; i < s.count; i++)
        ck_assert_uint_lt(s.rec[i - 1].tsc, s.rec[i].tsc);
    ck_assert_uint_eq(s.volume.records, s.count);
    ck_assert_uint_eq(s.volume.bytes, t.size);
    ck_assert_uint_eq(s.volume.sweeps, 50);
    /* Three sweeps and a bit are held. */
    ck_assert_uint_lt(s.volume.memory_peak, 5 * 60 * 20);
    seen_free(&s);
    trace_free(&t);
}
END_TEST

START_TEST(equal_times_stay_with_the_pcpu_served_last)
{
    struct trace t = {0};
    struct seen s;

    trace_window(&t, 0);
    trace_put(&t, XT_WAKE, 100, 0, 0);
    trace_put(&t, XT_WAKE, 200, 0, 1);
    trace_put(&t, XT_WAKE, 200, 0, 2);
    trace_put(&t, XT_WAKE, 300, 0, 3);
    trace_window(&t, 1);
    trace_put(&t, XT_WAKE, 150, 1, 0);
    trace_put(&t, XT_WAKE, 200, 1, 1);
    trace_put(&t, XT_WAKE, 250, 1, 2);
    s = read_bytes(t.data, t.size);
    ck_assert_uint_eq(s.count, 7);
    expect(&s, 0, 0, 100, XT_WAKE);
    expect(&s, 1, 1, 150, XT_WAKE);
    expect(&s, 2, 1, 200, XT_WAKE);
    expect(&s, 3, 0, 200, XT_WAKE);
    expect(&s, 4, 0, 200, XT_WAKE);
    expect(&s, 5, 1, 250, XT_WAKE);
    expect(&s, 6, 0, 300, XT_WAKE);
    seen_free(&s);
    trace_free(&t);
}
END_TEST

START_TEST(records_without_tsc_take_the_last_one)
{
    struct trace t = {0};
    struct seen s;

    trace_window(&t, 3);
    trace_put(&t, XT_WAKE, 0, 1, 1); /* none yet */
    trace_put(&t, XT_WAKE, 500, 1, 1);
    trace_put(&t, XT_BLOCK, 0, 1, 1);
    trace_window(&t, 7);
    trace_put(&t, XT_WAKE, 400, 1, 1);
    trace_window(&t, 3);
    trace_put(&t, XT_BLOCK, 0, 1, 1);
    trace_record(&t, XT_CSCHED_SCHED_TASKLET, 600, 0, NULL);
    s = read_bytes(t.data, t.size);
    ck_assert(clean(&s));
    ck_assert_uint_eq(s.count, 6);
    expect(&s, 0, 3, 0, XT_WAKE);
    expect(&s, 1, 7, 400, XT_WAKE);
    expect(&s, 2, 3, 500, XT_WAKE);
    expect(&s, 3, 3, 500, XT_BLOCK);
    ck_assert(!s.rec[3].has_tsc && s.rec[2].has_tsc);
    expect(&s, 4, 3, 500, XT_BLOCK);
    expect(&s, 5, 3, 600, XT_CSCHED_SCHED_TASKLET);
    seen_free(&s);
    trace_free(&t);
}
END_TEST

START_TEST(gaps_begin_at_the_first_lost_record)
{
    struct trace t = {0};
    struct seen s;

    trace_window(&t, 0);
    trace_put(&t, XT_WAKE, 100, 1, 0);
    trace_lost(&t, 900, 17, 2, 5, 300);
    trace_put(&t, XT_WAKE, 950, 1, 0);
    trace_window(&t, 1);
    trace_put(&t, XT_WAKE, 250, 1, 0);
    trace_put(&t, XT_WAKE, 600, 1, 0);
    s = read_bytes(t.data, t.size);
    ck_assert(clean(&s));
    ck_assert_uint_eq(s.count, 6);
    expect(&s, 1, 1, 250, XT_WAKE);
    expect(&s, 2, 0, 300, XT_LOST_RECORDS);
    ck_assert_uint_eq(s.rec[2].kind, XENTRACE_GAP_BEGIN);
    ck_assert_uint_eq(s.word[2][0], 17);
    expect(&s, 3, 1, 600, XT_WAKE);
    expect(&s, 4, 0, 900, XT_LOST_RECORDS);
    ck_assert_uint_eq(s.rec[4].kind, XENTRACE_GAP_END);
    ck_assert_uint_eq(s.word[4][0], 17);
    expect(&s, 5, 0, 950, XT_WAKE);
    ck_assert_uint_eq(s.volume.records, 5);
    seen_free(&s);
    trace_free(&t);
}
END_TEST

START_TEST(wrap_records_of_any_size_pass)
{
    static const uint32_t garbage[7] = {0xdeadbeef, 0x2001f003, 1, 0x100, 5, 6, 7};
    struct trace t = {0};
    struct seen s;

    trace_window(&t, 0);
    trace_put(&t, XT_WAKE, 100, 1, 0);
    for (unsigned words = 0; words <= 7; words++)
        trace_record(&t, XT_WRAP_BUFFER, 0, words, garbage);
    trace_record(&t, XT_WRAP_BUFFER, 150, 7, garbage);
    trace_put(&t, XT_WAKE, 200, 1, 0);
    s = read_bytes(t.data, t.size);
    ck_assert(clean(&s));
    ck_assert_uint_eq(s.count, 11);
    expect(&s, 10, 0, 200, XT_WAKE);
    seen_free(&s);
    trace_free(&t);
}
END_TEST

START_TEST(nothing_to_hold_gives_the_same)
{
    struct trace t = three_pcpus(200);
    struct seen a = read_bytes(t.data, t.size), b;
    struct xentrace_reader *r = xentrace_open_memory(t.data, t.size);

    xentrace_hold(r, 0);
    b = read_through(r);
    ck_assert(clean(&b) && same_records(&a, &b));
    ck_assert_uint_eq(b.volume.memory_peak, 0);
    ck_assert_uint_gt(b.volume.laid_down, 0);
    seen_free(&a);
    seen_free(&b);
    trace_free(&t);
}
END_TEST

/* Write to a temporary file; its name. */
static char *file_with(const void *data, size_t size, bool gzip)
{
    char *name = xasprintf("%s/hvsim-test-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    int fd = mkstemp(name);

    ck_assert_int_ge(fd, 0);
    if (gzip) {
        gzFile g = gzdopen(fd, "wb");

        ck_assert_int_eq(gzwrite(g, data, (unsigned)size), (int)size);
        ck_assert_int_eq(gzclose(g), Z_OK);
    } else {
        ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
        close(fd);
    }
    return name;
}

START_TEST(file_gzip_and_pipe_give_the_same)
{
    struct trace t = three_pcpus(2000);
    struct seen want = read_bytes(t.data, t.size);

    ck_assert_uint_gt(t.size, 1 << 19); /* more than one buffer */
    for (int way = 0; way < 6; way++) {
        bool gzip = way & 1;
        struct errors e = ERRORS_NONE;
        char *name = file_with(t.data, t.size, gzip);
        struct xentrace_reader *r;
        struct seen s;

        if (way >= 4) { /* through standard input, a pipe */
            char *command = xasprintf("cat %s", name);
            FILE *pipe = popen(command, "r");

            dup2(fileno(pipe), STDIN_FILENO);
            r = xentrace_open("-", &e);
            xentrace_hold(r, 1000);
            s = read_through(r);
            ck_assert_int_eq(pclose(pipe), 0);
            free(command);
        } else {
            r = xentrace_open(name, &e);
            if (way >= 2)
                xentrace_hold(r, 1000);
            s = read_through(r);
        }
        ck_assert_uint_eq(e.count, 0);
        ck_assert(clean(&s) && same_records(&s, &want));
        seen_free(&s);
        unlink(name);
        free(name);
    }
    seen_free(&want);
    trace_free(&t);
}
END_TEST

START_TEST(several_gzip_members_are_one_stream)
{
    struct trace t = three_pcpus(20);
    struct seen want = read_bytes(t.data, t.size), s;
    struct errors e = ERRORS_NONE;
    char *a = file_with(t.data, 1001, true), *b = file_with(t.data + 1001, t.size - 1001, true);
    char *command = xasprintf("cat %s >>%s", b, a);

    ck_assert_int_eq(system(command), 0);
    s = read_through(xentrace_open(a, &e));
    ck_assert(clean(&s) && same_records(&s, &want));
    unlink(a);
    unlink(b);
    free(a);
    free(b);
    free(command);
    seen_free(&s);
    seen_free(&want);
    trace_free(&t);
}
END_TEST

START_TEST(missing_files_are_errors)
{
    struct errors e = ERRORS_NONE;

    ck_assert_ptr_null(xentrace_open("/nonexistent/trace", &e));
    ck_assert_ptr_null(xentrace_open("/", &e));
    ck_assert_uint_eq(e.count, 2);
    ck_assert_int_eq(errors_exit_code(&e), EXIT_INPUT);
    errors_free(&e);
}
END_TEST

/* ---- Damage ------------------------------------------------------------------------------------
 */

START_TEST(truncated_anywhere)
{
    struct trace t = three_pcpus(3);
    struct seen whole = read_bytes(t.data, t.size);

    for (size_t size = 0; size < t.size; size++) {
        struct seen s = read_bytes(t.data, size);
        const struct xentrace_damage *d = &s.damage;

        ck_assert_uint_le(s.count, whole.count);
        ck_assert_uint_eq(s.volume.bytes, size);
        /* Every byte is in a window header, a record, or told as damage. */
        ck_assert_uint_eq(12 * s.volume.windows + 20 * s.volume.records + d->truncated_bytes +
                              d->skipped_bytes,
                          size);
        ck_assert_uint_eq(d->restarts + d->wild_tsc, 0);
        seen_free(&s);
    }
    seen_free(&whole);
    trace_free(&t);
}
END_TEST

START_TEST(one_flipped_bit_costs_little)
{
    struct trace t = three_pcpus(6);
    struct seen whole = read_bytes(t.data, t.size);

    for (size_t bit = 0; bit < 8 * t.size; bit++) {
        struct seen s;

        t.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        s = read_bytes(t.data, t.size);
        /* A record, or the window whose pCPU number was hit (20 records). */
        ck_assert_msg(s.count + 21 >= whole.count && s.count <= whole.count + 3,
                      "bit %zu: %zu of %zu records", bit, s.count, whole.count);
        t.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        seen_free(&s);
    }
    seen_free(&whole);
    trace_free(&t);
}
END_TEST

START_TEST(bytes_lost_or_added_anywhere)
{
    struct trace t = three_pcpus(3);
    struct seen whole = read_bytes(t.data, t.size);
    unsigned char *other = xcalloc(t.size + 8, 1);

    for (size_t at = 12; at < t.size; at += 3)
        for (size_t n = 1; n <= 7; n++) {
            struct seen s;
            size_t cut = n < t.size - at ? n : t.size - at;

            memcpy(other, t.data, at);
            memcpy(other + at, t.data + at + cut, t.size - at - cut);
            s = read_bytes(other, t.size - cut);
            /* Bytes that happen to look like a record, a restart by their TSC. */
            ck_assert_uint_le(s.count, whole.count + 8);
            ck_assert_uint_ge(s.count + 21, whole.count);
            seen_free(&s);

            memset(other + at, 0x5a, n);
            memcpy(other + at + n, t.data + at, t.size - at);
            s = read_bytes(other, t.size + n);
            ck_assert_uint_le(s.count, whole.count + 8);
            ck_assert_uint_ge(s.count + 21, whole.count);
            seen_free(&s);
        }
    free(other);
    seen_free(&whole);
    trace_free(&t);
}
END_TEST

START_TEST(garbage_is_skipped_and_told)
{
    static unsigned char zeros[5000];
    struct trace t = three_pcpus(4);
    struct seen want = read_bytes(t.data, t.size), s;
    unsigned char *other = xcalloc(t.size + sizeof zeros, 1);
    size_t window = 12 + 20 * 20; /* the second one begins here */

    memcpy(other, t.data, window);
    memcpy(other + window + sizeof zeros, t.data + window, t.size - window);
    s = read_bytes(other, t.size + sizeof zeros);
    ck_assert(same_records(&s, &want));
    ck_assert_uint_eq(s.damage.skipped_bytes, sizeof zeros);
    ck_assert_uint_eq(s.damage.skipped_pieces, 1);
    ck_assert_uint_ge(s.damage.places, 1);
    ck_assert_uint_eq(s.damage.place[0].offset, window);
    ck_assert_uint_eq(s.damage.place[0].bytes, sizeof zeros);
    free(other);
    seen_free(&s);
    seen_free(&want);
    trace_free(&t);
}
END_TEST

static void set_window_field(struct trace *t, size_t window, unsigned field, uint32_t value)
{
    memcpy(t->data + window + 4 * field, &value, 4);
}

START_TEST(window_sizes_are_only_a_check)
{
    static const uint32_t size[] = {0, 4, 100, 396, 404, 0x7ffffffc, 0xffffffff, 401};
    struct trace t = three_pcpus(4);
    struct seen want = read_bytes(t.data, t.size), s;

    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        set_window_field(&t, 0, 2, size[i]);
        s = read_bytes(t.data, t.size);
        ck_assert(same_records(&s, &want));
        ck_assert_uint_eq(s.damage.wrong_windows + s.damage.absurd_windows, 1);
        seen_free(&s);
    }
    seen_free(&want);
    trace_free(&t);
}
END_TEST

START_TEST(impossible_pcpus_are_passed_over)
{
    struct trace t = three_pcpus(4);
    struct seen want = read_bytes(t.data, t.size), s;

    set_window_field(&t, 0, 1, 0xfffffff0);
    s = read_bytes(t.data, t.size);
    ck_assert_uint_eq(s.count, want.count - 20);
    ck_assert_uint_eq(s.damage.skipped_bytes, 12 + 20 * 20);
    seen_free(&s);
    seen_free(&want);
    trace_free(&t);
}
END_TEST

START_TEST(a_wild_time_stamp_takes_its_neighbours)
{
    struct trace t = three_pcpus(6);
    struct seen want = read_bytes(t.data, t.size), s;

    for (unsigned sign = 0; sign < 2; sign++)
        for (size_t k = 1; k < 20; k++) {
            size_t at = 12 + 20 * k + 8; /* high word of the TSC in the first window */
            uint32_t wild = sign ? 0x80000000 : 0x1000;

            memcpy(t.data + at, &wild, 4);
            s = read_bytes(t.data, t.size);
            ck_assert_uint_eq(s.count, want.count);
            ck_assert_uint_eq(s.damage.wild_tsc, 1);
            ck_assert_uint_eq(s.damage.restarts, 0);
            for (size_t i = 1; i < s.count; i++)
                ck_assert_uint_le(s.rec[i - 1].tsc, s.rec[i].tsc);
            seen_free(&s);
            memset(t.data + at, 0, 4);
        }
    seen_free(&want);
    trace_free(&t);
}
END_TEST

START_TEST(a_leap_ahead_is_believed)
{
    struct trace t = {0};
    struct seen s;
    uint64_t late = UINT64_C(1) << 40;

    for (unsigned i = 0; i < 20; i++) {
        trace_window(&t, 0);
        trace_put(&t, XT_WAKE, 100 + 1000 * i + (i > 9 ? late : 0), 0, i);
        trace_window(&t, 1);
        trace_put(&t, XT_WAKE, 200 + 1000 * i + (i > 9 ? late : 0), 0, i);
    }
    s = read_bytes(t.data, t.size);
    ck_assert(clean(&s));
    ck_assert_uint_eq(s.count, 40);
    for (size_t i = 1; i < s.count; i++)
        ck_assert_uint_lt(s.rec[i - 1].tsc, s.rec[i].tsc);
    seen_free(&s);
    trace_free(&t);
}
END_TEST

START_TEST(traces_one_after_the_other_are_kept_apart)
{
    struct trace t = three_pcpus(10);
    unsigned char *twice = xcalloc(2, t.size);
    struct seen once = read_bytes(t.data, t.size), s;

    memcpy(twice, t.data, t.size);
    memcpy(twice + t.size, t.data, t.size);
    s = read_bytes(twice, 2 * t.size);
    ck_assert_uint_eq(s.damage.restarts, 1);
    ck_assert_uint_eq(s.count, 2 * once.count + 1);
    ck_assert_uint_eq(s.rec[once.count].kind, XENTRACE_RESTART);
    for (size_t i = 0; i < once.count; i++) {
        ck_assert_uint_eq(s.rec[i].tsc, once.rec[i].tsc);
        ck_assert_uint_eq(s.rec[once.count + 1 + i].tsc, once.rec[i].tsc);
    }
    free(twice);
    seen_free(&once);
    seen_free(&s);
    trace_free(&t);
}
END_TEST

START_TEST(malformed_lost_records_are_records)
{
    struct trace t = {0};
    struct seen s;

    trace_window(&t, 0);
    trace_put(&t, XT_LOST_RECORDS, 100, 1, 2);
    trace_put(&t, XT_LOST_RECORDS, 0, 1, 2, 3, 4);
    trace_lost(&t, 200, 5, 1, 0, 900); /* begins after it ends */
    trace_lost(&t, 300, 5, 1, 0, 50);  /* begins before what was logged */
    s = read_bytes(t.data, t.size);
    ck_assert_uint_eq(s.count, 6);
    ck_assert_uint_eq(s.damage.malformed, 2);
    ck_assert_uint_eq(s.rec[0].kind, XENTRACE_RECORD);
    expect(&s, 2, 0, 200, XT_LOST_RECORDS);
    expect(&s, 3, 0, 200, XT_LOST_RECORDS);
    expect(&s, 4, 0, 200, XT_LOST_RECORDS);
    ck_assert_uint_eq(s.rec[4].kind, XENTRACE_GAP_BEGIN);
    expect(&s, 5, 0, 300, XT_LOST_RECORDS);
    seen_free(&s);
    trace_free(&t);
}
END_TEST

START_TEST(gzip_cut_short_gives_what_is_there)
{
    struct trace t = three_pcpus(500);
    struct seen want = read_bytes(t.data, t.size), s;
    struct errors e = ERRORS_NONE;
    char *name = file_with(t.data, t.size, true);
    FILE *f = fopen(name, "rb");
    static unsigned char packed[1 << 20];
    size_t size = fread(packed, 1, sizeof packed, f);

    fclose(f);
    s = read_bytes(packed, size / 2);
    ck_assert_uint_gt(s.count, want.count / 4);
    ck_assert_ptr_nonnull(strstr(xentrace_damaged(&s.damage) ? "damaged" : "", "damaged"));
    seen_free(&s);
    packed[size / 2] ^= 0x55;
    packed[size / 2 + 1] ^= 0x55;
    s = read_bytes(packed, size);
    ck_assert(xentrace_damaged(&s.damage));
    seen_free(&s);
    unlink(name);
    free(name);
    errors_free(&e);
    seen_free(&want);
    trace_free(&t);
}
END_TEST

START_TEST(noise_ends)
{
    unsigned char *noise = xcalloc(1 << 16, 1);
    uint32_t x = 12345;

    for (int round = 0; round < 60; round++) {
        struct seen s;

        for (size_t i = 0; i < 1 << 16; i++) {
            x = x * 1664525 + 1013904223;
            noise[i] = (unsigned char)(x >> 24);
        }
        /* Some window headers, so that there is something to begin with. */
        for (size_t i = 0; round % 2 && i < 1 << 16; i += 4096) {
            const uint32_t head[3] = {XT_CPU_CHANGE_HEADER, (uint32_t)(i >> 12), 4084};

            memcpy(noise + i, head, sizeof head);
        }
        s = read_bytes(noise, 1 << 16);
        ck_assert_uint_eq(s.volume.bytes, 1 << 16);
        if (round % 2)
            ck_assert_uint_ge(s.volume.windows, 16);
        else
            ck_assert_uint_eq(s.count, 0);
        seen_free(&s);
    }
    free(noise);
}
END_TEST

Suite *suite_xentrace_read(void);

Suite *suite_xentrace_read(void)
{
    Suite *s = suite_create("xentrace_read");
    TCase *table = tcase_create("table"), *whole = tcase_create("whole");
    TCase *damage = tcase_create("damage");

    tcase_add_test(table, table_is_sorted_and_layouts_fit);
    tcase_add_test(table, payloads_in_words);
    tcase_add_test(table, cycles_to_ns_are_exact);
    tcase_add_test(whole, records_of_several_pcpus_come_in_time);
    tcase_add_test(whole, equal_times_stay_with_the_pcpu_served_last);
    tcase_add_test(whole, records_without_tsc_take_the_last_one);
    tcase_add_test(whole, gaps_begin_at_the_first_lost_record);
    tcase_add_test(whole, wrap_records_of_any_size_pass);
    tcase_add_test(whole, nothing_to_hold_gives_the_same);
    tcase_add_test(whole, file_gzip_and_pipe_give_the_same);
    tcase_add_test(whole, several_gzip_members_are_one_stream);
    tcase_add_test(whole, missing_files_are_errors);
    tcase_add_test(damage, truncated_anywhere);
    tcase_add_test(damage, one_flipped_bit_costs_little);
    tcase_add_test(damage, bytes_lost_or_added_anywhere);
    tcase_add_test(damage, garbage_is_skipped_and_told);
    tcase_add_test(damage, window_sizes_are_only_a_check);
    tcase_add_test(damage, impossible_pcpus_are_passed_over);
    tcase_add_test(damage, a_wild_time_stamp_takes_its_neighbours);
    tcase_add_test(damage, a_leap_ahead_is_believed);
    tcase_add_test(damage, traces_one_after_the_other_are_kept_apart);
    tcase_add_test(damage, malformed_lost_records_are_records);
    tcase_add_test(damage, gzip_cut_short_gives_what_is_there);
    tcase_add_test(damage, noise_ends);
    suite_add_tcase(s, table);
    suite_add_tcase(s, whole);
    suite_add_tcase(s, damage);
    return s;
}
