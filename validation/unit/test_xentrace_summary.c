/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is made of a xentrace: runstates followed, statistics, the workload. 1 cycle is 1 ns. */
#include "experiments/traces/xentrace_workload.h"
#include "validation/unit/xentrace_builder.h"

#include <check.h>
#include <stdio.h>

#define HZ 1000000000
#define IDLE XT_IDLE_DOMAIN

struct made {
    struct xentrace_reader *reader;
    struct xentrace_summary *s;
    struct xentrace_workload *w;
};

static struct made take(const struct trace *t)
{
    struct made m = {.reader = xentrace_open_memory(t->data, t->size), .s = xentrace_summary_new()};
    struct xentrace_record rec;

    m.w = xentrace_workload_new(m.s, HZ);
    while (xentrace_next(m.reader, &rec)) {
        xentrace_workload_record(m.w, &rec);
        xentrace_summary_record(m.s, &rec);
    }
    xentrace_workload_ends(m.w);
    xentrace_summary_end(m.s);
    return m;
}

static void made_free(struct made *m)
{
    xentrace_workload_free(m->w);
    xentrace_summary_free(m->s);
    xentrace_close(m->reader);
}

static const struct xt_vcpu *vcpu(const struct made *m, unsigned domain, unsigned number)
{
    const struct xt_vcpu *v = xt_track_find(m->s->track, domain, number);

    ck_assert_ptr_nonnull(v);
    return v;
}

static const struct xt_vcpu_summary *of(const struct made *m, unsigned domain, unsigned number)
{
    const struct xt_vcpu_summary *vs = xentrace_summary_vcpu(vcpu(m, domain, number));

    ck_assert_ptr_nonnull(vs);
    return vs;
}

static struct xentrace_report report_of(const struct made *m)
{
    return (struct xentrace_report){.file = "t",
                                    .hz = HZ,
                                    .hz_given = true,
                                    .damage = xentrace_damage(m->reader),
                                    .volume = xentrace_volume(m->reader)};
}

/* The workload's file as one text. */
static char *workload_text(struct made *m)
{
    struct xentrace_report r = report_of(m);
    struct errors e = ERRORS_NONE;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    ck_assert_int_eq(xentrace_workload_write(m->w, &r, f, &e), 0);
    fclose(f);
    return text;
}

/* The words of one vCPU, pieces joined by blanks. */
static char *words_of(const char *file, unsigned domain, unsigned number)
{
    char *mark = xasprintf("\"domain\": %u,\n      \"vcpu\": %u,", domain, number);
    const char *at = strstr(file, mark);
    char *out = xcalloc(strlen(file) + 1, 1), *to = out;

    ck_assert_ptr_nonnull(at);
    at = strstr(at, "\"ops\": [");
    ck_assert_ptr_nonnull(at);
    for (at += 8; *at != ']'; at++)
        if (*at == ',')
            *to++ = ' ';
        else if (*at != '"' && *at != '\n' && !(*at == ' ' && (at[-1] == '\n' || at[-1] == ' ')))
            *to++ = *at;
    free(mark);
    return out;
}

static void expect_words(struct made *m, unsigned domain, unsigned number, const char *want)
{
    char *file = workload_text(m), *words = words_of(file, domain, number);

    ck_assert_str_eq(words, want);
    free(words);
    free(file);
}

static void expect_stat(const struct xt_stat *st, uint64_t count, uint64_t cycles)
{
    ck_assert_uint_eq(st->count, count);
    ck_assert_uint_eq(st->cycles, cycles);
}

/*
 * One pCPU: a hog d1 and a sleeper d2. The hog runs from the start; d2 wakes at 1000, runs
 * 1200-1500, blocks to 2000, runs 2100-2200, blocks. The hog's decision at 1900 changes nothing.
 */
static struct trace hog_and_sleeper(void)
{
    struct trace t = {0};

    trace_window(&t, 0);
    trace_put(&t, XT_CSCHED_SCHEDULE, 500, 0);
    trace_put(&t, XT_WAKE, 1000, 2, 0);
    trace_state(&t, 1000, 2, 0, XT_BLOCKED, XT_RUNNABLE);
    trace_put(&t, XT_CSCHED_BOOST_START, 1000, 2, 0);
    trace_switch(&t, 1200, 1, 0, XT_RUNNABLE, 2, 0);
    trace_put(&t, XT_BLOCK, 1499, 2, 0);
    trace_switch(&t, 1500, 2, 0, XT_BLOCKED, 1, 0);
    trace_put(&t, XT_CONTINUE_RUNNING, 1900, xt_vcpu_word(1, 0));
    trace_put(&t, XT_WAKE, 2000, 2, 0);
    trace_state(&t, 2000, 2, 0, XT_BLOCKED, XT_RUNNABLE);
    trace_switch(&t, 2100, 1, 0, XT_RUNNABLE, 2, 0);
    trace_switch(&t, 2200, 2, 0, XT_BLOCKED, 1, 0);
    trace_put(&t, XT_CSCHED_SCHEDULE, 3000, 0);
    return t;
}

START_TEST(runs_waits_and_blocks_are_told_apart)
{
    struct trace t = hog_and_sleeper();
    struct made m = take(&t);
    const struct xt_vcpu_summary *hog = of(&m, 1, 0), *sleeper = of(&m, 2, 0);

    ck_assert(!xentrace_damaged(xentrace_damage(m.reader)));
    ck_assert_uint_eq(xt_track_cycles(m.s->track), 2500);
    /* Followed from the first switch in: the hog from 1500, cut at 3000. */
    expect_stat(&hog->state[XT_RUNNING], 3, 400 + 200 + 800);
    expect_stat(&hog->wait[XT_WAIT_PREEMPT], 1, 100);
    expect_stat(&hog->wait[XT_WAIT_WAKE], 0, 0);
    expect_stat(&hog->run, 1, 600); /* the last one is cut by the end */
    ck_assert_uint_eq(hog->run_ends[XT_RUNNABLE], 1);
    ck_assert_uint_eq(hog->began, 700); /* from the pCPU's first record to 1200 */
    ck_assert_uint_eq(hog->on_count, 1);
    ck_assert_uint_eq(hog->on[0].cycles, 700 + 1400);
    expect_stat(&sleeper->state[XT_RUNNING], 2, 400);
    expect_stat(&sleeper->state[XT_BLOCKED], 1, 500);
    expect_stat(&sleeper->wait[XT_WAIT_WAKE], 1,
                100); /* the first wake was before it was followed */
    expect_stat(&sleeper->run, 2, 400);
    ck_assert_uint_eq(sleeper->run.min, 100);
    ck_assert_uint_eq(sleeper->run.max, 300);
    ck_assert_uint_eq(sleeper->run_ends[XT_BLOCKED], 2);
    ck_assert_uint_eq(sleeper->tally[XT_TALLY_WAKE], 2);
    ck_assert_uint_eq(sleeper->tally[XT_TALLY_BLOCK], 1);
    ck_assert_uint_eq(sleeper->tally[XT_TALLY_BOOST_START], 1);
    ck_assert_uint_eq(m.s->track->pcpu[0]->switches, 4);
    ck_assert_uint_eq(m.s->track->unfit + m.s->track->impossible, 0);
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(workload_of_hog_and_sleeper)
{
    struct trace t = hog_and_sleeper();
    struct made m = take(&t);

    /* The first record of the hog's pCPU is at 500, that is 0. */
    expect_words(&m, 1, 0, "c2100");
    expect_words(&m, 2, 0, "b500@500:? c300 b500@1500:irq c100 b800@2500:end");
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(migrations_and_several_pcpus)
{
    struct trace t = {0};
    struct made m;

    trace_window(&t, 0);
    trace_switch(&t, 100, IDLE, 0, XT_RUNNABLE, 1, 0);
    trace_switch(&t, 300, 1, 0, XT_RUNNABLE, 2, 0);
    trace_put(&t, XT_WAKE, 900, 9, 9);
    trace_window(&t, 1);
    trace_put(&t, XT_CSCHED_STOLEN_UNIT, 310, 0, 1, 0);
    trace_switch(&t, 320, IDLE, 1, XT_RUNNABLE, 1, 0);
    trace_switch(&t, 520, 1, 0, XT_BLOCKED, IDLE, 1);
    trace_put(&t, XT_WAKE, 1000, 9, 9);
    m = take(&t);
    ck_assert_uint_eq(vcpu(&m, 1, 0)->migrations, 1);
    ck_assert_uint_eq(of(&m, 1, 0)->tally[XT_TALLY_STOLEN], 1);
    ck_assert_uint_eq(of(&m, 1, 0)->on_count, 2);
    expect_stat(&of(&m, 1, 0)->run, 2, 400);
    expect_stat(&of(&m, 1, 0)->wait[XT_WAIT_PREEMPT], 1, 20);
    ck_assert_uint_eq(m.s->track->pcpu[0]->busy.cycles, 200 + 600);
    ck_assert_uint_eq(m.s->track->pcpu[1]->busy.cycles, 200);
    ck_assert_uint_eq(m.s->track->pcpu[1]->idle.cycles, 480);
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(gaps_make_vcpus_lost_until_they_run)
{
    struct trace t = {0};
    struct made m;

    trace_window(&t, 0);
    trace_switch(&t, 100, IDLE, 0, XT_RUNNABLE, 1, 0);
    trace_switch(&t, 200, 1, 0, XT_BLOCKED, 2, 0);
    trace_lost(&t, 1000, 7, 1, 0, 400);
    trace_put(&t, XT_CSCHED_SCHEDULE, 1000, 0);
    trace_switch(&t, 1300, 1, 0, XT_BLOCKED, 2, 0);
    trace_put(&t, XT_CSCHED_SCHEDULE, 1400, 0);
    m = take(&t);
    ck_assert_uint_eq(m.s->track->pcpu[0]->gaps, 1);
    ck_assert_uint_eq(m.s->track->pcpu[0]->lost_records, 7);
    ck_assert_uint_eq(m.s->track->pcpu[0]->lost.cycles, 600);
    expect_stat(&of(&m, 1, 0)->state[XT_LOST], 1, 600);
    expect_stat(&of(&m, 1, 0)->state[XT_BLOCKED], 1, 200);
    expect_stat(&of(&m, 1, 0)->state[XT_RUNNING], 2, 100 + 300);
    expect_stat(&of(&m, 1, 0)->run, 1, 100); /* the other's beginning is unknown */
    expect_stat(&of(&m, 2, 0)->state[XT_LOST], 1, 900);
    expect_stat(&of(&m, 2, 0)->state[XT_RUNNING], 2, 200 + 100);
    expect_words(&m, 1, 0, "c100 b200@300:? g600 c300 b100@1300:end");
    expect_words(&m, 2, 0, "c200 g900 c100");
    made_free(&m);
    trace_free(&t);
}
END_TEST

/* d0 on pCPU 0 wakes d1 on pCPU 1 over and over; a timer wakes d0. */
static struct trace sender_and_receiver(unsigned rounds)
{
    struct trace t = {0};

    for (unsigned i = 0; i < rounds; i++) {
        uint64_t at = 1000 + 10000 * (uint64_t)i;

        trace_window(&t, 0);
        trace_state(&t, at, 0, 0, XT_BLOCKED, XT_RUNNABLE);
        trace_switch(&t, at + 10, IDLE, 0, XT_RUNNABLE, 0, 0);
        trace_state(&t, at + 310, 1, 0, XT_BLOCKED, XT_RUNNABLE);
        trace_switch(&t, at + 510, 0, 0, XT_BLOCKED, IDLE, 0);
        trace_window(&t, 1);
        trace_switch(&t, at + 320, IDLE, 1, XT_RUNNABLE, 1, 0);
        trace_switch(&t, at + 1320, 1, 0, XT_BLOCKED, IDLE, 1);
    }
    return t;
}

START_TEST(who_wakes_whom)
{
    struct trace t = sender_and_receiver(2);
    struct made m = take(&t);

    /* Who ran when the trace began is not known yet at the first wake of d0. The first of d1 comes
     * before it was seen on a pCPU: d0 had not blocked yet, so it counts as a timer. */
    expect_words(&m, 0, 0, "b0@0:? c500 b9490@10000:irq c300 w1.0 c200 b810@11320:end");
    expect_words(&m, 1, 0, "b310@310:irq c1000 b8990@10310:0.0 c1000 b0@11320:end");
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(long_lists_go_through_the_temporary_file)
{
    enum { ROUNDS = 20000 };
    struct trace t = sender_and_receiver(ROUNDS);
    struct made m = take(&t);
    char *file = workload_text(&m), *words = words_of(file, 1, 0), *save = NULL;
    unsigned blocks = 0, bursts = 0;
    uint64_t sum = 0;

    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        if (*w == 'b') {
            blocks++;
            if (blocks > 1 && blocks <= ROUNDS)
                ck_assert_str_eq(strchr(w, ':'), ":0.0");
        } else {
            ck_assert_str_eq(w, "c1000");
            bursts++;
        }
        sum += strtoull(w + 1, NULL, 10);
    }
    ck_assert_uint_eq(bursts, ROUNDS);
    ck_assert_uint_eq(blocks, ROUNDS + 1);
    /* Bursts, blocks and the waits of 10 between them are the whole time. */
    ck_assert_uint_eq(sum + 10 * ROUNDS, xt_track_cycles(m.s->track));
    free(words);
    free(file);
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(hypercalls_tell_the_sender)
{
    struct trace t = {0};
    struct made m;

    trace_window(&t, 0);
    trace_switch(&t, 1000, IDLE, 0, XT_RUNNABLE, 0, 0);
    trace_put(&t, XT_PV_HYPERCALL_V2, 2000, 32); /* event_channel_op */
    trace_state(&t, 2500, 1, 0, XT_BLOCKED, XT_RUNNABLE);
    trace_put(&t, XT_PV_HYPERCALL_V2, 3000, 29 | 1u << 20, 1); /* sched_op: block */
    trace_state(&t, 3500, 2, 0, XT_BLOCKED, XT_RUNNABLE);      /* by an interrupt, then */
    trace_switch(&t, 4000, 0, 0, XT_BLOCKED, 1, 0);
    m = take(&t);
    expect_words(&m, 0, 0, "c1500 w1.0 c1500 b0@3000:end");
    expect_words(&m, 1, 0, "b1500@1500:0.0");
    expect_words(&m, 2, 0, "b2500@2500:irq");
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(yields_pauses_and_parks)
{
    struct trace t = {0};
    struct made m;

    trace_window(&t, 0);
    trace_switch(&t, 1000, IDLE, 0, XT_RUNNABLE, 1, 0);
    trace_put(&t, XT_YIELD, 1200, 1, 0);
    trace_switch(&t, 1201, 1, 0, XT_RUNNABLE, 2, 0);
    trace_put(&t, XT_SLEEP, 1300, 1, 0); /* paused while it waits */
    trace_state(&t, 1300, 1, 0, XT_RUNNABLE, XT_OFFLINE);
    trace_state(&t, 1700, 1, 0, XT_OFFLINE, XT_RUNNABLE);
    trace_switch(&t, 1800, 2, 0, XT_OFFLINE, 1, 0); /* Credit2 parks d2: no record says so */
    trace_state(&t, 1900, 1, 0, XT_RUNNING, XT_BLOCKED);
    trace_state(&t, 1900, 2, 0, XT_OFFLINE, XT_RUNNING);
    trace_put(&t, XT_CSCHED2_TICKLE, 2000, 0);
    m = take(&t);
    expect_words(&m, 1, 0, "c200 y c1 p400 c100 b100@1000:end");
    expect_words(&m, 2, 0, "c699");
    expect_stat(&of(&m, 1, 0)->state[XT_OFFLINE], 1, 400);
    expect_stat(&of(&m, 1, 0)->wait[XT_WAIT_WAKE], 1, 100);
    ck_assert_uint_eq(of(&m, 1, 0)->tally[XT_TALLY_YIELD], 1);
    ck_assert_uint_eq(of(&m, 1, 0)->tally[XT_TALLY_SLEEP], 1);
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(frequency_by_the_traces_own_run_times)
{
    for (unsigned old = 0; old < 2; old++) { /* Xen 4.7 gives fewer words */
        struct trace t = {0};
        struct made m;
        uint64_t tsc = 1000000;

        trace_window(&t, 0);
        for (unsigned i = 0; i < 20; i++, tsc += 2100000) { /* 1 ms at 2.1 GHz */
            if (old) {
                trace_put(&t, XT_SWITCH_INFPREV, tsc, 1, 1000000);
                trace_put(&t, XT_SWITCH_INFNEXT, tsc, 1, 5, 30000000);
            } else {
                trace_put(&t, XT_SWITCH_INFPREV, tsc, 1, 0, 1000000);
                trace_put(&t, XT_SWITCH_INFNEXT, tsc, 1, 0, 5, 30000000);
            }
        }
        m = take(&t);
        ck_assert_uint_eq(xentrace_summary_hz(m.s), 2100000000);
        ck_assert_uint_eq(m.s->told_count, 19);
        made_free(&m);
        trace_free(&t);
    }
}
END_TEST

START_TEST(all_schedulers_are_told)
{
    static const uint32_t event[] = {XT_CSCHED_TICKLE, XT_CSCHED2_TICKLE, XT_RTDS_TICKLE,
                                     XT_SNULL_TASKLET};
    struct trace t = {0};
    struct made m;

    trace_window(&t, 0);
    for (unsigned i = 0; i < 4; i++)
        trace_put(&t, event[i], 100 + i, 0);
    m = take(&t);
    ck_assert_uint_eq(m.s->schedulers, 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5);
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(impossible_names_are_counted_not_followed)
{
    struct trace t = {0};
    struct made m;

    trace_window(&t, 0);
    trace_state(&t, 100, 0x8000, 0, XT_BLOCKED, XT_RUNNABLE);
    trace_state(&t, 101, 1, 0x7fff, XT_BLOCKED, XT_RUNNABLE);
    trace_put(&t, XT_WAKE, 102, 0xffffffff, 0xffffffff);
    trace_put(&t, XT_WAKE, 103, 70000, 0);
    trace_put(&t, 0x00021f01, 104, xt_vcpu_word(1, 0)); /* from a runstate 15 */
    trace_record(&t, XT_RUNSTATE_CHANGE, 105, 0, NULL); /* without a vCPU */
    m = take(&t);
    ck_assert_uint_eq(m.s->track->impossible, 6);
    ck_assert_uint_eq(m.s->track->vcpus, 0);
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(contradictions_are_survived_and_told)
{
    struct trace t = {0};
    struct made m;

    trace_window(&t, 0);
    trace_switch(&t, 100, IDLE, 0, XT_RUNNABLE, 1, 0);
    trace_state(&t, 200, 1, 0, XT_BLOCKED, XT_RUNNABLE); /* but it runs */
    trace_state(&t, 300, 2, 0, XT_RUNNABLE, XT_RUNNING); /* while d1 runs here */
    trace_state(&t, 400, 1, 0, XT_RUNNING, XT_BLOCKED);  /* it was replaced at 300 */
    trace_put(&t, XT_CONTINUE_RUNNING, 500, xt_vcpu_word(3, 0));
    trace_put(&t, XT_CONTINUE_RUNNING, 600, xt_vcpu_word(2, 0));
    m = take(&t);
    ck_assert_uint_gt(m.s->track->unfit, 0);
    ck_assert_uint_le(of(&m, 1, 0)->state[XT_RUNNING].cycles, 300);
    made_free(&m);
    trace_free(&t);
}
END_TEST

START_TEST(a_restart_forgets_what_ran)
{
    struct trace t = hog_and_sleeper(), twice = {0};
    struct made once = take(&t), m;

    trace_words(&twice, (const void *)t.data, t.size / 4);
    trace_words(&twice, (const void *)t.data, t.size / 4);
    m = take(&twice);
    ck_assert_uint_eq(xentrace_damage(m.reader)->restarts, 1);
    ck_assert_uint_eq(xt_track_cycles(m.s->track), 2 * xt_track_cycles(once.s->track));
    ck_assert_uint_eq(of(&m, 1, 0)->state[XT_RUNNING].cycles,
                      2 * of(&once, 1, 0)->state[XT_RUNNING].cycles);
    ck_assert_uint_eq(of(&m, 2, 0)->run.count, 2 * of(&once, 2, 0)->run.count);
    ck_assert_uint_eq(of(&m, 1, 0)->began, 2 * of(&once, 1, 0)->began);
    made_free(&once);
    made_free(&m);
    trace_free(&t);
    trace_free(&twice);
}
END_TEST

START_TEST(reports_name_what_they_should)
{
    struct trace t = hog_and_sleeper();
    struct made m = take(&t);
    struct xentrace_report r = report_of(&m);
    char *text = NULL, *json = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    xentrace_summary_text(m.s, &r, f);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "TSC taken at 1000000000 Hz (as given)"));
    ck_assert_ptr_nonnull(strstr(text, "RUNSTATE_CHANGE blocked to runnable"));
    ck_assert_ptr_null(strstr(text, "Damaged"));
    f = open_memstream(&json, &size);
    xentrace_summary_json(m.s, &r, f);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(json, "\"cpu_hz_from\": \"given\""));
    ck_assert_ptr_nonnull(strstr(json, "\"boosts\": 1"));
    free(text);
    free(json);
    r.hz_given = false;
    text = NULL;
    f = open_memstream(&text, &size);
    xentrace_summary_text(m.s, &r, f);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "--cpu-hz"));
    free(text);
    made_free(&m);
    trace_free(&t);
}
END_TEST

Suite *suite_xentrace_summary(void);

Suite *suite_xentrace_summary(void)
{
    Suite *s = suite_create("xentrace_summary");
    TCase *tc = tcase_create("summary"), *work = tcase_create("workload");

    tcase_add_test(tc, runs_waits_and_blocks_are_told_apart);
    tcase_add_test(tc, migrations_and_several_pcpus);
    tcase_add_test(tc, gaps_make_vcpus_lost_until_they_run);
    tcase_add_test(tc, frequency_by_the_traces_own_run_times);
    tcase_add_test(tc, all_schedulers_are_told);
    tcase_add_test(tc, impossible_names_are_counted_not_followed);
    tcase_add_test(tc, contradictions_are_survived_and_told);
    tcase_add_test(tc, a_restart_forgets_what_ran);
    tcase_add_test(tc, reports_name_what_they_should);
    tcase_add_test(work, workload_of_hog_and_sleeper);
    tcase_add_test(work, who_wakes_whom);
    tcase_add_test(work, long_lists_go_through_the_temporary_file);
    tcase_add_test(work, hypercalls_tell_the_sender);
    tcase_add_test(work, yields_pauses_and_parks);
    suite_add_tcase(s, tc);
    suite_add_tcase(s, work);
    return s;
}
