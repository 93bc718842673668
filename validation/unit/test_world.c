/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Worlds without SimGrid: what meters say adds up, nothing leaks, streams are keyed by names. */
#include "experiments/scenario/world.h"
#include "experiments/study/outcome.h"
#include "sim/wire.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct built {
    struct json *doc;
    struct scenario *s;
    struct roster *r;
    struct layout *l;
    struct world *w;
};

static void connect_all(struct fleet *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        for (uint32_t k = 0; k < f->count; k++) {
            struct path *p = machine_path(f->machine[i], f->machine[k]);

            f->machine[i]->line_rate = 1000000000;
            if (p)
                path_set(p, 10000, 0);
        }
    fleet_rewire(f);
}

/* Read, build, run, close. */
static struct built run_text(const char *text, uint64_t seed)
{
    struct errors e = ERRORS_NONE;
    struct built b = {.doc = json_parse("test.json", text, strlen(text), &e)};

    ck_assert_msg(b.doc, "%s", e.count ? e.item[0].text : "");
    b.s = scenario_read(b.doc, "experiments/library", &e);
    ck_assert_msg(b.s, "%s", e.count ? e.item[0].text : "");
    b.r = roster_new(b.s);
    b.l = layout_new(b.s, b.r);
    b.w = world_new(b.s, b.r, seed, 0);
    connect_all(&b.w->fleet);
    ck_assert_int_eq(world_build(b.w, &e), 0);
    timeline_run(&b.w->timeline, &b.w->fleet, b.w->end);
    ck_assert_int_eq(world_close(b.w, &e), 0);
    ck_assert_uint_eq(e.count, 0);
    return b;
}

static void built_free(struct built *b)
{
    world_free(b->w);
    layout_free(b->l);
    roster_free(b->r);
    scenario_free(b->s);
    json_free(b->doc);
}

static const struct domain_use *use(const struct built *b, size_t domain)
{
    const struct world_domain *wd = &b->w->domain[domain];

    return &wd->host->meter.use[wd->roster->id];
}

#define HOGS                                                                                       \
    "{\"version\": 1, \"warmup\": \"200ms\", \"duration\": \"2s\", \"hosts\": [{\"name\": "        \
    "\"xen\", \"pcpus\": 2, \"domains\": [{\"name\": \"hog\", \"count\": 3, \"programs\": "        \
    "[{\"run\": \"hog\"}]}]}]"

START_TEST(time_adds_up)
{
    struct built b = run_text(HOGS "}", 1);
    sim_time running = 0;

    for (size_t i = 0; i < 3; i++) {
        const struct domain_use *u = use(&b, i);

        /* a hog runs or waits; it never blocks */
        ck_assert_int_eq(u->running + u->wake_wait + u->preempt_wait, 2 * NS_PER_S);
        running += u->running;
    }
    ck_assert_int_eq(running, 4 * NS_PER_S);
    built_free(&b);
}
END_TEST

START_TEST(pause_and_outage_stop_the_clock)
{
    struct built b =
        run_text(HOGS ", \"actions\": ["
                      "{\"at\": \"500ms\", \"do\": \"pause\", \"target\": \"hog1\"},"
                      "{\"at\": \"1s\", \"do\": {\"action\": \"host-outage\", \"duration\": "
                      "\"500ms\"}, \"target\": \"xen\"}]}",
                 1);
    sim_time running = 0;

    for (size_t i = 0; i < 3; i++)
        running += use(&b, i)->running;
    /* 2 pCPUs of 2 s, less the outage and the time until the domains have started again */
    ck_assert_int_le(running, 2 * (2 * NS_PER_S - 500 * NS_PER_MS));
    ck_assert_int_ge(running, 2 * (2 * NS_PER_S - 500 * NS_PER_MS - 100 * NS_PER_MS));
    ck_assert_int_lt(use(&b, 0)->running, use(&b, 1)->running);
    built_free(&b);
}
END_TEST

#define SERVER                                                                                     \
    "{\"version\": 1, \"warmup\": \"100ms\", \"duration\": \"1s\", \"hosts\": [{\"name\": "        \
    "\"xen\", \"pcpus\": 2, \"dom0\": {}, \"domains\": ["

#define SERVER_END                                                                                 \
    "{\"name\": \"web\", \"network\": {}, \"programs\": [{\"run\": \"rpc\"}]}]}], \"clients\": "   \
    "[{\"name\": \"client\", \"to\": \"web\"}]}"

/* A result travels: what is read is what was written, and a torn one is refused. */
START_TEST(outcome_round_trip)
{
    struct built b = run_text(SERVER SERVER_END, 1);
    struct errors e = ERRORS_NONE;
    struct sample *samples = xcalloc(b.l->cells, sizeof *samples);
    struct client_results merged = {0};
    struct tally t;
    char *data;
    size_t size;
    FILE *out = open_memstream(&data, &size);

    outcome_write(b.l, b.w, out);
    fclose(out);
    metrics_read(b.l, b.w, &merged, samples);
    tally_init(&t, b.l, 3, 0.95);
    for (size_t cut = 0; cut < size; cut += size / 37 + 1)
        ck_assert_int_eq(tally_add(&t, data, cut, &e), -1);
    ck_assert_uint_eq(t.count, 0);
    tally_free(&t);
    tally_init(&t, b.l, 3, 0.95);
    ck_assert_int_eq(tally_add(&t, data, size, &e), 0);
    for (size_t i = 0; i < b.l->cells; i++) {
        ck_assert_uint_eq(tally_samples(&t, i)->n, samples[i].n);
        ck_assert(!memcmp(&tally_samples(&t, i)->value, &samples[i].value, sizeof(double)));
    }
    ck_assert_uint_eq(tally_pool(&t, &b.l->subject[0], OF_LATENCY)->all.count,
                      merged.latency.count);
    ck_assert_uint_gt(merged.latency.count, 100);
    tally_free(&t);
    free(data);
    free(samples);
    histogram_free(&merged.latency);
    histogram_free(&merged.intended);
    breakdown_free(&merged.breakdown);
    errors_free(&e);
    built_free(&b);
}
END_TEST

/* One who reads distributions a replication at a time sees the last one's; samples stay. */
START_TEST(tally_forgets)
{
    struct built b = run_text(SERVER SERVER_END, 1);
    const struct subject *client = &b.l->subject[0];
    struct errors e = ERRORS_NONE;
    const struct pooled *pool;
    struct tally t;
    double figure;
    char *data;
    size_t size;
    FILE *out = open_memstream(&data, &size);

    outcome_write(b.l, b.w, out);
    fclose(out);
    tally_init(&t, b.l, 2, 0.95);
    ck_assert_int_eq(tally_add(&t, data, size, &e), 0);
    figure = pooled_figure_of(tally_pool(&t, client, OF_LATENCY), 0, 0.999);
    tally_forget(&t);
    ck_assert_ptr_null(tally_pool(&t, client, OF_LATENCY));
    ck_assert_int_eq(tally_add(&t, data, size, &e), 0);
    pool = tally_pool(&t, client, OF_LATENCY);
    ck_assert_uint_eq(pool->parts, 1);
    ck_assert_double_eq(pooled_figure_of(pool, 0, 0.999), figure);
    ck_assert_uint_eq(t.count, 2);
    for (size_t i = 0; i < b.l->cells; i++)
        ck_assert_uint_eq(tally_samples(&t, i)[0].n, tally_samples(&t, i)[1].n);
    tally_free(&t);
    free(data);
    errors_free(&e);
    built_free(&b);
}
END_TEST

/* Another domain in the file does not shift the numbers of those that were there: with a pCPU for
 * each, the client sees the same latencies. */
START_TEST(streams_are_keyed_by_names)
{
    struct built alone = run_text(SERVER SERVER_END, 5);
    struct built more = run_text(SERVER "{\"name\": \"idle\"}," SERVER_END, 5);
    const struct client_results *a = client_results(alone.w->client[0].client);
    const struct client_results *m = client_results(more.w->client[0].client);

    ck_assert_uint_eq(a->latency.count, m->latency.count);
    ck_assert(a->counts.recorded_sent == m->counts.recorded_sent);
    built_free(&alone);
    built_free(&more);
}
END_TEST

/* ---- pooled distributions ----------------------------------------------------------------------
 */

START_TEST(leaving_one_out)
{
    struct pooled p = {0};
    struct histogram part[3], others;

    for (int i = 0; i < 3; i++) {
        histogram_init(&part[i], HISTOGRAM_3_DIGITS);
        for (sim_time v = 1; v <= 1000; v++)
            histogram_record(&part[i], v * 977 * (i + 1) % 1000003);
        histogram_record(&part[i], INT64_C(1) << 41); /* sums that carry */
        pooled_add(&p, &part[i]);
    }
    for (int left = 0; left < 3; left++) {
        histogram_init(&others, HISTOGRAM_3_DIGITS);
        for (int i = 0; i < 3; i++)
            if (i != left)
                histogram_merge(&others, &part[i]);
        for (double q = 0.05; q < 1; q += 0.05)
            ck_assert_double_eq(pooled_figure_without(&p, (size_t)left, q),
                                histogram_estimate(&others, q));
        ck_assert_double_eq(pooled_figure_without(&p, (size_t)left, -1), histogram_mean(&others));
        histogram_free(&others);
    }
    ck_assert_uint_eq(p.all.count, 3003);
    for (int i = 0; i < 3; i++)
        histogram_free(&part[i]);
    pooled_free(&p);
}
END_TEST

START_TEST(nothing_observed)
{
    struct pooled p = {0};
    struct histogram empty = {0};

    pooled_add(&p, &empty);
    ck_assert(isnan(pooled_figure(&p, 0.5)));
    ck_assert(isnan(pooled_figure_without(&p, 0, 0.5)));
    pooled_free(&p);
}
END_TEST

Suite *suite_world(void)
{
    Suite *s = suite_create("world");
    TCase *c = tcase_create("world");

    tcase_add_test(c, time_adds_up);
    tcase_add_test(c, pause_and_outage_stop_the_clock);
    tcase_add_test(c, outcome_round_trip);
    tcase_add_test(c, tally_forgets);
    tcase_add_test(c, streams_are_keyed_by_names);
    tcase_add_test(c, leaving_one_out);
    tcase_add_test(c, nothing_observed);
    suite_add_tcase(s, c);
    return s;
}
