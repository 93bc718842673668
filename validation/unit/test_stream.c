/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bulk TCP: its state machines by themselves, over a pipe that loses what it is told to; then
 * through a Xen host. */
#include "validation/unit/net_world.h"
#include "workloads/stream.h"
#include "workloads/tcp.h"

#include <check.h>

/* ---- the state machines ---------------------------------------------------------------------- */

enum { PIPE = 4096 };

/* A pipe with a delay of one step each way; chunks whose number is in `lose` are lost once. */
static struct {
    struct tcp_sender s;
    struct tcp_receiver r;
    uint64_t delivered;
    const uint64_t *lose;
    uint32_t lost;
    uint64_t data[PIPE], ack[PIPE];
    bool gap[PIPE];
    uint32_t data_count, ack_count;
} pipe_;

static bool is_lost(uint64_t chunk)
{
    for (const uint64_t *l = pipe_.lose; l && *l; l++)
        if (*l == chunk && !(pipe_.lost >> (l - pipe_.lose) & 1)) {
            pipe_.lost |= 1u << (l - pipe_.lose);
            return true;
        }
    return false;
}

/* One round trip: what was acknowledged comes in, what may be sent goes out and is answered. */
static uint32_t step(sim_time now)
{
    uint32_t sent = 0;

    for (uint32_t i = 0; i < pipe_.ack_count; i++)
        tcp_acknowledged(&pipe_.s, pipe_.ack[i], 512, pipe_.gap[i], now);
    pipe_.ack_count = 0;
    if (now >= pipe_.s.deadline)
        tcp_timed_out(&pipe_.s, now);
    while (tcp_may_send(&pipe_.s)) {
        uint64_t chunk = tcp_send(&pipe_.s, now);
        bool again, gap = chunk != pipe_.r.next;

        sent++;
        if (is_lost(chunk))
            continue;
        pipe_.delivered += tcp_received(&pipe_.r, chunk, &again);
        pipe_.ack[pipe_.ack_count] = pipe_.r.next;
        pipe_.gap[pipe_.ack_count++] = gap || again;
    }
    ck_assert_uint_eq(pipe_.delivered, pipe_.r.next);
    return sent;
}

static void pipe_init(const uint64_t *lose)
{
    memset(&pipe_, 0, sizeof pipe_);
    tcp_sender_init(&pipe_.s, 1, 512, 200 * NS_PER_MS);
    pipe_.lose = lose;
}

START_TEST(test_slow_start)
{
    pipe_init(NULL);
    for (uint32_t k = 0; k < 10; k++)
        ck_assert_uint_eq(step(k * NS_PER_MS), k < 9 ? 1u << k : 512);
    ck_assert_uint_eq(step(10 * NS_PER_MS), 512); /* the window */
    ck_assert_int_eq(pipe_.s.srtt, NS_PER_MS);
}
END_TEST

START_TEST(test_fast_retransmit)
{
    static const uint64_t lose[] = {20, 0};
    sim_time now = 0;

    pipe_init(lose);
    while (pipe_.delivered < 1000) {
        step(now);
        now += NS_PER_MS;
    }
    ck_assert_uint_eq(pipe_.s.retransmits, 1);
    ck_assert_uint_eq(pipe_.s.timeouts, 0);
    ck_assert_int_lt(now, 60 * NS_PER_MS);
    ck_assert_uint_lt(pipe_.s.threshold, 64 * 256); /* it has been halved */
}
END_TEST

START_TEST(test_several_lost)
{
    static const uint64_t lose[] = {20, 22, 25, 26, 0};
    sim_time now = 0;

    pipe_init(lose);
    while (pipe_.delivered < 1000) {
        step(now);
        now += NS_PER_MS;
    }
    ck_assert_uint_eq(pipe_.s.retransmits, 4);
    ck_assert_uint_eq(pipe_.s.timeouts, 0);
}
END_TEST

START_TEST(test_time_out)
{
    static const uint64_t lose[] = {1, 1, 1, 0}; /* too few are under way for a fast retransmit */
    sim_time now = 0;

    pipe_init(lose);
    while (pipe_.delivered < 100 && now < 10 * NS_PER_S) {
        step(now);
        now += NS_PER_MS;
    }
    ck_assert_uint_eq(pipe_.delivered > 99, 1);
    ck_assert_uint_ge(pipe_.s.timeouts, 3);
    ck_assert_int_gt(now, 1400 * NS_PER_MS); /* 200 + 400 + 800 ms */
    ck_assert_int_lt(now, 1500 * NS_PER_MS);
}
END_TEST

START_TEST(test_receiver)
{
    struct tcp_receiver r = {0};
    bool again;

    ck_assert_uint_eq(tcp_received(&r, 2, &again), 0);
    ck_assert(!again);
    ck_assert_uint_eq(tcp_received(&r, 1, &again), 0);
    ck_assert_uint_eq(tcp_received(&r, 1, &again), 0);
    ck_assert(again);
    ck_assert_uint_eq(tcp_received(&r, 0, &again), 3);
    ck_assert_uint_eq(r.next, 3);
    ck_assert_uint_eq(tcp_received(&r, 0, &again), 0);
    ck_assert(again);
    ck_assert_uint_eq(tcp_received(&r, 3 + TCP_WINDOW_MAX, &again), 0);
    ck_assert(again); /* beyond the window: not taken */
}
END_TEST

/* ---- through a host -------------------------------------------------------------------------- */

static struct net_world w;
static struct stream *stream;
static struct stack *stack;

static void build(bool exact, uint32_t pcpus, int direction, int64_t connections)
{
    struct stream_params params;
    struct program_site site = {.class = CLASS_NORMAL, .entity = "stream", .seed = 1};

    params_defaults(&stream_table, &params);
    params.direction = direction;
    params.connections = connections;
    world_init(&w, exact, "credit", pcpus);
    world_dom0(&w, 1);
    stack = world_guest(&w, 1);
    site.guest = w.guest[0];
    site.stack = stack;
    stream = stream_new(w.client_host, &params, &w.xen, stack->endpoint);
    stream_serve(stream, &site);
}

/* Megabits of payload per second, from 0.5 s on. */
static double run(sim_time end)
{
    stream_start(stream, 0, NS_PER_S / 2, end);
    world_start(&w, 10 * NS_PER_US);
    fleet_run_to(&w.fleet, end);
    return stream_rate(stream_results(stream)) / 1e6;
}

static void teardown(void)
{
    world_free(&w);
}

/* 16 KiB take 12 frames of 90 bytes more on the wire. */
#define LINE (1000.0 * 16384 / (16384 + 12 * 90))

START_TEST(test_from_guest_fills_the_line)
{
    double rate;

    build(false, 2, STREAM_FROM_GUEST, 1);
    rate = run(2 * NS_PER_S);
    ck_assert_double_gt(rate, 0.97 * LINE);
    ck_assert_double_le(rate, 1.001 * LINE);
    ck_assert_uint_eq(stream_results(stream)->timeouts, 0);
}
END_TEST

START_TEST(test_to_guest_fills_the_line)
{
    double rate;

    build(false, 2, STREAM_TO_GUEST, 1);
    rate = run(2 * NS_PER_S);
    ck_assert_double_gt(rate, 0.97 * LINE);
    ck_assert_double_le(rate, 1.001 * LINE);
    ck_assert_uint_eq(stream_results(stream)->timeouts, 0);
}
END_TEST

START_TEST(test_several_connections)
{
    build(false, 2, STREAM_TO_GUEST, 4);
    ck_assert_double_gt(run(2 * NS_PER_S), 0.95 * LINE);
}
END_TEST

/* A sender that needs 200 us of CPU for each chunk sends 5000 a second. */
START_TEST(test_cpu_bound)
{
    build(true, 2, STREAM_FROM_GUEST, 1);
    stack->params.send = 200 * NS_PER_US;
    ck_assert_double_eq_tol(run(2 * NS_PER_S), 5000 * 16384 * 8 / 1e6, 2);
}
END_TEST

START_TEST(test_slow_reader)
{
    build(true, 2, STREAM_TO_GUEST, 1);
    w.net->nic->params.rx_ring = 65536; /* without a line rate all comes at once */
    stack->params.receive = 400 * NS_PER_US;
    ck_assert_double_eq_tol(run(2 * NS_PER_S), 2500 * 16384 * 8 / 1e6, 2);
    ck_assert_uint_eq(stream_results(stream)->retransmits, 0); /* the window closes: no loss */
}
END_TEST

START_TEST(test_losses)
{
    double rate;

    build(false, 2, STREAM_TO_GUEST, 1);
    w.net->vif[1]->back.queue = 100000;
    w.net->vif[1]->back.backlog = 0;
    w.net->vif[1]->back.rx_page = 50 * NS_PER_US; /* netback cannot keep up with the line */
    rate = run(4 * NS_PER_S);
    ck_assert_uint_gt(host_net_counts(w.net).drop_vif, 5);
    ck_assert_uint_ge(stream_results(stream)->retransmits, host_net_counts(w.net).drop_vif / 2);
    ck_assert_double_gt(rate, 250); /* 5 pages of 50 us: at most 520 */
    ck_assert_double_lt(rate, 520);
}
END_TEST

/* A busy loop on the same pCPU takes time from it, and gives it back while it waits. */
START_TEST(test_beside_a_hog)
{
    double rate;

    build(false, 2, STREAM_FROM_GUEST, 1);
    world_guest(&w, 1);
    world_program(NULL, w.guest[1], "hog", "{}", 0);
    for (uint32_t i = 0; i < w.host->vcpu_count; i++) {
        cpumask one = cpumask_of(w.host->vcpu[i]->domain->id ? 1 : 0);

        vcpu_set_affinity(w.host->vcpu[i], &one, NULL);
    }
    rate = run(5 * NS_PER_S);
    ck_assert_double_gt(rate, 0.3 * LINE);
    ck_assert_double_lt(rate, LINE);
}
END_TEST

Suite *suite_stream(void)
{
    const TTest *const machines[] = {test_slow_start, test_fast_retransmit, test_several_lost,
                                     test_time_out, test_receiver},
                       *const hosts[] = {test_from_guest_fills_the_line,
                                         test_to_guest_fills_the_line,
                                         test_several_connections,
                                         test_cpu_bound,
                                         test_slow_reader,
                                         test_losses,
                                         test_beside_a_hog};
    Suite *s = suite_create("stream");
    TCase *alone = tcase_create("tcp"), *path = tcase_create("stream");

    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        tcase_add_test(alone, machines[i]);
    tcase_add_checked_fixture(path, NULL, teardown);
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        tcase_add_test(path, hosts[i]);
    suite_add_tcase(s, alone);
    suite_add_tcase(s, path);
    return s;
}
