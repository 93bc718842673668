/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Wires without SimGrid: dates in closed form, order, losses, bulk flows at the NICs.
 */
#define _GNU_SOURCE
#include "sim/error.h"
#include "sim/machine.h"
#include "sim/wire.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define GBPS INT64_C(1000000000)
#define LATENCY (30 * NS_PER_US)
#define MACHINES 4

static struct fleet fleet;
static struct machine machine[MACHINES];

/* What came in where and when, in the order of the calls. */
static struct seen {
    struct machine *at;
    sim_time when;
    uint64_t id;
    int what; /* ARRIVED, DONE, FAILED or LOST + enum loss */
} seen[4096];
static size_t seen_count;
enum { ARRIVED, DONE, FAILED, LOST };

static void note(struct machine *m, struct packet *p, int what)
{
    seen[seen_count++] = (struct seen){m, machine_now(m), p->id, what};
    packet_free(p);
}

static void arrival(struct machine *m, struct packet *p)
{
    note(m, p, ARRIVED);
}

static void bulk_done(struct machine *m, struct packet *p, bool ok)
{
    note(m, p, ok ? DONE : FAILED);
}

static void lost(struct machine *m, struct packet *p, enum loss why)
{
    note(m, p, LOST + (int)why);
}

static const struct machine_ops ops = {.arrival = arrival, .bulk_done = bulk_done, .lost = lost};

/* A carrier that does nothing: tests end flows themselves. */
static struct bulk *carried;
static int cancelled;

static void carry(struct fleet *f, struct bulk *b)
{
    ck_assert_ptr_eq(f, &fleet);
    carried = b;
    b->helper = &carried;
}

static void cancel(struct fleet *f, struct bulk *b)
{
    (void)f;
    b->helper = NULL;
    cancelled++;
}

/* Line rates of the machines; all connected, with one link for each machine. */
static void setup_rates(int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t rate[MACHINES] = {a, b, c, d};
    uint32_t link[MACHINES];

    fleet_init(&fleet);
    seen_count = 0;
    for (uint32_t i = 0; i < MACHINES; i++) {
        char name[] = {'l', (char)('0' + i), '\0'};

        machine_init(&machine[i], NULL, &ops, NULL);
        fleet_add(&fleet, &machine[i]);
        link[i] = fleet_add_link(&fleet, name, LATENCY * 1000 / 2, rate[i]);
    }
    fleet_connect_all(&fleet);
    for (uint32_t i = 0; i < MACHINES; i++)
        for (uint32_t k = 0; k < MACHINES; k++) {
            struct path *p = i == k ? NULL : machine_path(&machine[i], &machine[k]);

            if (!p)
                continue;
            p->link_count = 2;
            p->link = xcalloc(2, sizeof *p->link);
            p->link[0] = link[i];
            p->link[1] = link[k];
        }
    fleet.carry = carry;
    fleet.cancel = cancel;
    cancelled = 0;
    fleet_rewire(&fleet);
}

static void setup(void)
{
    setup_rates(GBPS, GBPS, GBPS, GBPS);
}

static void teardown(void)
{
    fleet_free(&fleet);
    for (uint32_t i = 0; i < MACHINES; i++)
        machine_free(&machine[i]);
}

/* Let machine `from` be at date `when` and send there. */
static struct packet *send_at(sim_time when, int from, int to, uint32_t bytes, uint64_t id)
{
    struct packet *p = packet_new(&machine[from], &machine[to]);

    fleet_run(&fleet, when);
    machine[from].queue.now = when;
    p->bytes = bytes;
    p->id = id;
    packet_send(p);
    return p;
}

static void run_to(sim_time until)
{
    fleet_run_to(&fleet, until);
}

static void ck_seen(size_t i, int at, sim_time when, uint64_t id, int what)
{
    ck_assert_uint_lt(i, seen_count);
    ck_assert_ptr_eq(seen[i].at, &machine[at]);
    ck_assert_uint_eq(seen[i].id, id);
    ck_assert_int_eq(seen[i].when, when);
    ck_assert_int_eq(seen[i].what, what);
}

/* ---- Dates ---------------------------------------------------------------------------------- */

START_TEST(one_packet_takes_line_latency_line)
{
    send_at(1000, 0, 1, 1500, 1);
    run_to(NS_PER_S);
    ck_assert_uint_eq(seen_count, 1);
    ck_seen(0, 1, 1000 + 12000 + LATENCY + 12000, 1, ARRIVED);
    ck_assert_int_eq(fleet.latency, LATENCY);
    ck_assert_int_eq(machine[0].nic_rate, GBPS);
    ck_assert_uint_eq(machine[0].counts.sent, 1);
    ck_assert_uint_eq(machine[1].counts.received, 1);
    ck_assert_uint_eq(machine[1].counts.bytes_received, 1500);
}
END_TEST

/* n packets at once from one sender: the k-th is there after (k + 1) lines, latency, one line. */
START_TEST(a_train_is_first_in_first_out)
{
    for (uint64_t k = 0; k < 100; k++)
        send_at(0, 0, 1, 1000, k);
    run_to(NS_PER_S);
    ck_assert_uint_eq(seen_count, 100);
    for (size_t k = 0; k < 100; k++)
        ck_seen(k, 1, 8000 * (sim_time)(k + 1) + LATENCY + 8000, k, ARRIVED);
}
END_TEST

/* Three senders to one receiver at once: its line is the bottleneck, order by sender. */
START_TEST(the_receivers_line_queues)
{
    for (uint64_t k = 0; k < 30; k++)
        send_at(0, (int)(k % 3), 3, 1000, k);
    run_to(NS_PER_S);
    ck_assert_uint_eq(seen_count, 30);
    for (size_t k = 0; k < 30; k++)
        ck_seen(k, 3, 8000 + LATENCY + 8000 * (sim_time)(k + 1), k, ARRIVED);
}
END_TEST

START_TEST(a_slow_receiver_after_a_fast_sender)
{
    teardown();
    setup_rates(10 * GBPS, GBPS, GBPS, GBPS);
    for (uint64_t k = 0; k < 10; k++)
        send_at(0, 0, 1, 1000, k);
    run_to(NS_PER_S);
    for (size_t k = 0; k < 10; k++)
        ck_seen(k, 1, 800 + LATENCY + 8000 * (sim_time)(k + 1), k, ARRIVED);
}
END_TEST

/* 64 bytes at 10 Gbit/s are 51.2 ns: a hundred thousand of them take 5.12 ms to the ns. */
START_TEST(rounding_does_not_accumulate)
{
    teardown();
    setup_rates(10 * GBPS, 10 * GBPS, GBPS, GBPS);
    for (sim_time k = 1; k <= 100000; k++) {
        send_at(0, 0, 1, 64, 0);
        ck_assert_int_eq(machine[0].tx.free, k * 512 / 10);
    }
}
END_TEST

START_TEST(the_middle_delays_but_does_not_queue)
{
    struct path *p = machine_path(&machine[0], &machine[1]);

    free(p->link);
    p->link = NULL;
    p->link_count = 0;
    path_set(p, LATENCY, GBPS / 10);
    fleet_rewire(&fleet);
    send_at(0, 0, 1, 1000, 1);
    send_at(0, 0, 1, 1000, 2);
    run_to(NS_PER_S);
    ck_seen(0, 1, 8000 + LATENCY + 80000 + 8000, 1, ARRIVED);
    ck_seen(1, 1, 16000 + LATENCY + 80000 + 8000, 2, ARRIVED);
}
END_TEST

START_TEST(the_users_line_rate_wins)
{
    machine[0].line_rate = GBPS / 4;
    fleet_rewire(&fleet);
    send_at(0, 0, 1, 1000, 1);
    run_to(NS_PER_S);
    ck_seen(0, 1, 32000 + LATENCY + 8000, 1, ARRIVED);
}
END_TEST

START_TEST(answers_with_the_same_packet)
{
    struct packet *p = packet_new(&machine[2], &machine[1]);

    p->id = 77;
    packet_turn(p);
    ck_assert_ptr_eq(p->from, &machine[1]);
    ck_assert_ptr_eq(p->to, &machine[2]);
    p->bytes = 100;
    packet_send(p);
    run_to(NS_PER_S);
    ck_seen(0, 2, 800 + LATENCY + 800, 77, ARRIVED);
}
END_TEST

/* Arrivals of one date go by (sender, sender's number), whatever the order of their sending. */
START_TEST(ties_go_by_sender)
{
    fleet.machine[3]->line_rate = 1000 * GBPS; /* the line does not spread them */
    fleet_rewire(&fleet);
    send_at(0, 2, 3, 1, 20);
    send_at(0, 1, 3, 1, 10);
    send_at(0, 0, 3, 1, 0);
    run_to(NS_PER_S);
    for (size_t k = 0; k < 3; k++)
        ck_assert_uint_eq(seen[k].id, 10 * k);
}
END_TEST

START_TEST(wire_time_rounds_down)
{
    ck_assert_int_eq(wire_time(1500, GBPS), 12000);
    ck_assert_int_eq(wire_time(64, 10 * GBPS), 51);
    ck_assert_int_eq(wire_time(INT64_C(1) << 33, 8), (INT64_C(1) << 33) * NS_PER_S);
    ck_assert_int_eq(wire_time(64, 0), 0);
}
END_TEST

START_TEST(backlog_says_what_is_before_the_lane)
{
    send_at(0, 0, 1, 1000, 1);
    send_at(0, 0, 1, 1000, 2);
    ck_assert_int_eq(lane_backlog(&machine[0].tx, 0), 16000);
    ck_assert_int_eq(lane_backlog(&machine[0].tx, 10000), 6000);
    ck_assert_int_eq(lane_backlog(&machine[0].tx, 99999), 0);
}
END_TEST

/* ---- Losses --------------------------------------------------------------------------------- */

START_TEST(a_link_that_is_off_loses)
{
    sim_time there = 8000 + LATENCY;

    send_at(0, 0, 1, 1000, 1);
    fleet_run(&fleet, there); /* on the wire until `there`, exclusively */
    wire_link_switch(&fleet, "l1", true, there);
    send_at(there, 0, 2, 1000, 2); /* another route */
    send_at(there, 2, 1, 1000, 3);
    run_to(NS_PER_S);
    ck_seen(0, 1, there, 1, LOST + LOSS_LINK);
    ck_seen(1, 1, there + 8000 + LATENCY, 3, LOST + LOSS_LINK);
    ck_seen(2, 2, there + 8000 + LATENCY + 8000, 2, ARRIVED);
    ck_assert_uint_eq(machine[1].counts.lost[LOSS_LINK], 2);
}
END_TEST

START_TEST(a_link_that_was_off_for_a_moment_loses_what_was_on_it)
{
    send_at(0, 0, 1, 1000, 1);   /* leaves at 8000, there at 38000 */
    send_at(0, 0, 1, 100000, 2); /* leaves at 808000 */
    fleet_run(&fleet, 20000);
    wire_link_switch(&fleet, "l0", true, 20000);
    wire_link_switch(&fleet, "l0", true, 20000); /* twice is once */
    wire_link_switch(&fleet, "l0", false, 20001);
    run_to(NS_PER_S);
    ck_seen(0, 1, 38000, 1, LOST + LOSS_LINK);
    ck_seen(1, 1, 808000 + LATENCY + 800000, 2, ARRIVED);
}
END_TEST

START_TEST(a_receiver_that_is_off_loses)
{
    send_at(0, 0, 1, 1000, 1);
    fleet_run(&fleet, 10000);
    machine_fail(&machine[1], 10000);
    send_at(10000, 0, 1, 1000, 2); /* there when the host is up again */
    fleet_run(&fleet, 40000);
    machine_reboot(&machine[1], 40000);
    run_to(NS_PER_S);
    ck_seen(0, 1, 38000, 1, LOST + LOSS_HOST);
    ck_seen(1, 1, 10000 + 8000 + LATENCY + 8000, 2, ARRIVED);
}
END_TEST

START_TEST(a_sender_that_goes_off_loses_what_has_not_left)
{
    for (uint64_t k = 0; k < 3; k++)
        send_at(0, 0, 1, 1000, k); /* leave at 8000, 16000, 24000 */
    fleet_run(&fleet, 16000);
    machine_fail(&machine[0], 16000);
    run_to(NS_PER_S);
    ck_seen(0, 1, 8000 + LATENCY + 8000, 0, ARRIVED);
    ck_seen(1, 1, 16000 + LATENCY + 8000, 1, ARRIVED);
    ck_seen(2, 1, 24000 + LATENCY, 2, LOST + LOSS_HOST); /* the same date, a later number */
}
END_TEST

START_TEST(a_nic_that_goes_off_loses_what_it_holds)
{
    for (uint64_t k = 0; k < 4; k++)
        send_at(0, (int)k % 3, 3, 1000, k);
    fleet_run(&fleet, 8000 + LATENCY + 9000); /* one through, two in the lane, one on the wire */
    machine_fail(&machine[3], 8000 + LATENCY + 9000);
    run_to(NS_PER_S);
    ck_assert_uint_eq(seen_count, 4);
    ck_seen(0, 3, 8000 + LATENCY + 8000, 0, ARRIVED);
    ck_seen(1, 3, 8000 + LATENCY + 9000, 1, LOST + LOSS_HOST);
    ck_seen(2, 3, 8000 + LATENCY + 9000, 2, LOST + LOSS_HOST);
    ck_assert_uint_eq(machine[3].counts.lost[LOSS_HOST], 3); /* 3 came to its lane at 16000 + L */
}
END_TEST

/* A buffer of 2,000 bytes holds two packets of 1,000 behind the one that is passing. */
START_TEST(a_full_port_loses)
{
    int arrived = 0;

    fleet.port_buffer = 3000;
    for (uint64_t k = 0; k < 5; k++)
        send_at(0, 0, 3, 1000, k), send_at(0, 1, 3, 1000, 10 + k), send_at(0, 2, 3, 1000, 20 + k);
    run_to(NS_PER_S);
    ck_assert_uint_eq(seen_count, 15);
    for (size_t k = 0; k < 15; k++)
        arrived += seen[k].what == ARRIVED;
    /* Three come in every 8 us and one passes: 3 fit at first, then one of three each time. */
    ck_assert_int_eq(arrived, 3 + 4);
    ck_assert_uint_eq(machine[3].counts.lost[LOSS_OVERFLOW], 8);
}
END_TEST

/* ---- Bulk flows ----------------------------------------------------------------------------- */

static struct bulk *bulk_at(sim_time when, int from, int to, uint64_t id)
{
    struct packet *p = packet_new(&machine[from], &machine[to]);

    fleet_run(&fleet, when);
    machine[from].queue.now = when;
    p->id = id;
    bulk_start(p, 1000000);
    return carried;
}

START_TEST(a_flow_halves_what_is_left_to_packets)
{
    struct bulk *b = bulk_at(0, 0, 1, 5);

    ck_assert_int_eq(b->start, 0);
    ck_assert_int_eq(machine[0].tx.rate, GBPS / 2);
    ck_assert_int_eq(machine[1].rx.rate, GBPS); /* not yet noticed */
    send_at(0, 0, 2, 1000, 1);
    send_at(LATENCY, 2, 1, 1000, 2);
    ck_assert_int_eq(machine[1].rx.rate, GBPS);
    fleet_run(&fleet, LATENCY + 1);
    ck_assert_int_eq(machine[1].rx.rate, GBPS / 2);
    fleet_run(&fleet, 8000000);
    ck_seen(0, 2, 16000 + LATENCY + 8000, 1, ARRIVED);
    ck_seen(1, 1, LATENCY + 8000 + LATENCY + 16000, 2, ARRIVED);
    bulk_end(b, 8030000.25);
    run_to(NS_PER_S);
    ck_assert_uint_eq(seen_count, 4);
    for (size_t k = 2; k < 4; k++) {
        ck_assert_int_eq(seen[k].what, DONE);
        ck_assert_uint_eq(seen[k].id, 5);
        ck_assert_int_ge(seen[k].when, 8030001 + LATENCY);
        ck_assert_int_le(seen[k].when, 8032000 + LATENCY);
    }
    ck_assert_ptr_eq(seen[2].at, &machine[0]);
    ck_assert_ptr_eq(seen[3].at, &machine[1]);
    ck_assert_int_eq(machine[0].tx.rate, GBPS);
    ck_assert_int_eq(machine[1].rx.rate, GBPS);
    ck_assert_ptr_null(fleet.flow);
}
END_TEST

/* Two flows leave a third; one limited to 1 of 10 Gbit/s elsewhere leaves 9. */
START_TEST(flows_leave_a_fair_share_or_what_they_cannot_use)
{
    teardown();
    setup_rates(10 * GBPS, GBPS, 10 * GBPS, 10 * GBPS);
    bulk_at(0, 0, 1, 1);
    ck_assert_int_eq(machine[0].tx.rate, 9 * GBPS);
    bulk_at(0, 0, 2, 2);
    ck_assert_int_eq(machine[0].tx.rate, 10 * GBPS / 3);
    fleet_run(&fleet, LATENCY + 1);
    ck_assert_int_eq(machine[1].rx.rate, GBPS / 2);
    ck_assert_int_eq(machine[2].rx.rate, 5 * GBPS);
}
END_TEST

/* The end must not depend on the last bits of SimGrid's clock, in particular not at round dates. */
START_TEST(ends_of_flows_are_stable)
{
    sim_time end[2];

    for (int i = 0; i < 2; i++) {
        struct bulk *b = bulk_at(0, 0, 1, 1);

        bulk_end(b, i ? 1000000000.0000002 : 999999999.9999999);
        end[i] = b->packet->timer.when;
        run_to(end[i] + 1); /* what is on its way is not freed with the fleet */
        teardown();
        setup();
    }
    ck_assert_int_eq(end[0], end[1]);
}
END_TEST

START_TEST(flows_end_with_their_link_or_host)
{
    bulk_at(0, 0, 1, 1);
    bulk_at(0, 2, 3, 2);
    bulk_at(0, 3, 0, 3);
    fleet_run(&fleet, 100000);
    wire_link_switch(&fleet, "l1", true, 100000);
    ck_assert_int_eq(cancelled, 1);
    fleet_run(&fleet, 200000);
    machine_fail(&machine[2], 200000);
    ck_assert_int_eq(cancelled, 2);
    run_to(NS_PER_S);
    ck_assert_uint_eq(seen_count, 3); /* the dead host is not told */
    ck_seen(0, 0, 100000 + LATENCY, 1, FAILED);
    ck_seen(1, 1, 100000 + LATENCY, 1, FAILED);
    ck_seen(2, 3, 200000 + LATENCY, 2, FAILED);
    ck_assert_int_eq(machine[3].rx.rate, GBPS);
    ck_assert_int_eq(machine[3].tx.rate, GBPS / 2);
}
END_TEST

/* A flow that began before a failure says nothing about the lanes of the rebooted host. */
START_TEST(a_rebooted_nic_has_no_flows)
{
    bulk_at(0, 0, 1, 1);
    fleet_run(&fleet, 2 * LATENCY);
    machine_fail(&machine[1], 2 * LATENCY);
    machine_reboot(&machine[1], 2 * LATENCY);
    ck_assert_int_eq(machine[1].rx.rate, GBPS);
    run_to(NS_PER_S);
    ck_assert_uint_eq(seen_count, 2);
    ck_assert_int_eq(machine[1].rx.rate, GBPS);
    ck_assert_int_eq(machine[0].tx.rate, GBPS);
    ck_assert_uint_eq(machine[1].rx.flows, 0);
}
END_TEST

START_TEST(flows_to_nowhere_fail_at_once)
{
    machine_fail(&machine[1], 0);
    wire_link_switch(&fleet, "l2", true, 0);
    carried = NULL;
    bulk_at(10, 0, 1, 1);
    bulk_at(10, 0, 2, 2);
    ck_assert_ptr_null(carried);
    run_to(NS_PER_S);
    ck_assert_uint_eq(machine[0].tx.flows, 0);
    ck_assert_uint_eq(seen_count, 4);
}
END_TEST

/* ---- Changes -------------------------------------------------------------------------------- */

START_TEST(links_change)
{
    wire_link_latency(&fleet, "l1", 5000);
    ck_assert_int_eq(fleet.latency, LATENCY / 2 + 5000);
    wire_link_bandwidth(&fleet, "l1", 2 * GBPS);
    send_at(0, 0, 1, 1000, 1);
    run_to(NS_PER_S);
    ck_seen(0, 1, 8000 + LATENCY / 2 + 5000 + 4000, 1, ARRIVED);
    ck_assert(wire_uses_link(&fleet, "l1"));
    ck_assert(!wire_uses_link(&fleet, "l9"));
}
END_TEST

START_TEST(many_paths_are_found)
{
    static struct machine many[300];

    for (int i = 0; i < 300; i++) {
        machine_init(&many[i], NULL, &ops, NULL);
        fleet_add(&fleet, &many[i]);
        fleet_connect(&machine[0], &many[i]);
        fleet_connect(&many[i], &machine[0]);
    }
    for (int i = 0; i < 300; i++) {
        struct path *there = machine_path(&machine[0], &many[i]);

        ck_assert_ptr_eq(there->to, &many[i]);
        ck_assert_ptr_eq(there->back, machine_path(&many[i], &machine[0]));
        ck_assert_ptr_eq(there->back->back, there);
        ck_assert_ptr_eq(fleet_connect(&machine[0], &many[i]), there);
    }
    ck_assert_ptr_null(machine_path(&many[0], &many[1]));
}
END_TEST

START_TEST(unconnected_machines_are_a_bug)
{
    struct machine lone;

    machine_init(&lone, NULL, &ops, NULL);
    fleet_add(&fleet, &lone);
    packet_send(packet_new(&machine[0], &lone));
}
END_TEST

Suite *suite_wire(void)
{
    Suite *s = suite_create("wire");
    TCase *tc = tcase_create("wire");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, one_packet_takes_line_latency_line);
    tcase_add_test(tc, a_train_is_first_in_first_out);
    tcase_add_test(tc, the_receivers_line_queues);
    tcase_add_test(tc, a_slow_receiver_after_a_fast_sender);
    tcase_add_test(tc, rounding_does_not_accumulate);
    tcase_add_test(tc, the_middle_delays_but_does_not_queue);
    tcase_add_test(tc, the_users_line_rate_wins);
    tcase_add_test(tc, answers_with_the_same_packet);
    tcase_add_test(tc, ties_go_by_sender);
    tcase_add_test(tc, wire_time_rounds_down);
    tcase_add_test(tc, backlog_says_what_is_before_the_lane);
    tcase_add_test(tc, a_link_that_is_off_loses);
    tcase_add_test(tc, a_link_that_was_off_for_a_moment_loses_what_was_on_it);
    tcase_add_test(tc, a_receiver_that_is_off_loses);
    tcase_add_test(tc, a_sender_that_goes_off_loses_what_has_not_left);
    tcase_add_test(tc, a_nic_that_goes_off_loses_what_it_holds);
    tcase_add_test(tc, a_full_port_loses);
    tcase_add_test(tc, a_flow_halves_what_is_left_to_packets);
    tcase_add_test(tc, flows_leave_a_fair_share_or_what_they_cannot_use);
    tcase_add_test(tc, ends_of_flows_are_stable);
    tcase_add_test(tc, flows_end_with_their_link_or_host);
    tcase_add_test(tc, a_rebooted_nic_has_no_flows);
    tcase_add_test(tc, flows_to_nowhere_fail_at_once);
    tcase_add_test(tc, links_change);
    tcase_add_test(tc, many_paths_are_found);
    suite_add_tcase(s, tc);
    tc = tcase_create("wire bugs");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test_raise_signal(tc, unconnected_machines_are_a_bug, SIGABRT);
    suite_add_tcase(s, tc);
    return s;
}
