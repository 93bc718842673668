/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The packet path of a Xen host, from a client and back: costs add up, queues have bounds, events
 * coalesce, nothing is lost unaccounted, and waiting is told apart from work.
 */
#include "validation/unit/net_world.h"

#include <check.h>

static struct net_world w;
static struct client_params params;
static struct client *client;
static struct stack *server;

/* What is seen on the way: installed by tests that look at single packets. */
static struct {
    uint64_t last_id, out_of_order;
    uint64_t netevents, events;
    struct packet requests[64]; /* copies of the first requests to reach the host */
    uint32_t requests_seen;
    struct packet replies[64];
    uint32_t replies_seen;
} seen;

static void teardown(void)
{
    world_free(&w);
    params_free(&client_table, &params);
    memset(&seen, 0, sizeof seen);
}

static void see_request(struct machine *m, struct packet *p)
{
    if (seen.requests_seen < 64)
        seen.requests[seen.requests_seen++] = *p;
    world_arrival(m, p);
}

static void see_reply(struct machine *m, struct packet *p)
{
    if (p->id < seen.last_id)
        seen.out_of_order++;
    seen.last_id = p->id;
    if (seen.replies_seen < 64)
        seen.replies[seen.replies_seen++] = *p;
    client_machine_ops.arrival(m, p);
}

static const struct machine_ops xen_spy = {.arrival = see_request};
static const struct machine_ops client_spy = {.arrival = see_reply};

static void spy(void)
{
    w.xen.ops = &xen_spy;
    w.clients.ops = &client_spy;
}

/* One server on a host of so many pCPUs, one client, run from 0 to `end`. */
static void build(bool exact, uint32_t pcpus, const char *client_text)
{
    world_init(&w, exact, "credit", pcpus);
    world_dom0(&w, 1);
    server = world_guest(&w, 1);
    world_program(server, w.guest[0], "rpc", "{\"threads\": 1}", 64);
    client = world_client(&w, &params, client_text, "client", server, RPC_PORT);
    spy();
}

/* dom0 on pCPU 0, everybody else on pCPU 1. */
static void pin(void)
{
    for (uint32_t i = 0; i < w.host->vcpu_count; i++) {
        cpumask one = cpumask_of(w.host->vcpu[i]->domain->id ? 1 : 0);

        vcpu_set_affinity(w.host->vcpu[i], &one, NULL);
    }
}

static void run(sim_time end)
{
    client_start(client, 0, 0, end);
    world_start(&w, 10 * NS_PER_US);
    fleet_run_to(&w.fleet, end);
}

static sim_time segment(const struct packet *p, enum hop from, enum hop to)
{
    ck_assert_msg(p->stamp[from] > 0, "hop %d has no stamp", from);
    ck_assert_msg(p->stamp[to] > 0, "hop %d has no stamp", to);
    return p->stamp[to] - p->stamp[from];
}

/* ---- costs ----------------------------------------------------------------------------------- */

START_TEST(test_costs_add_up)
{
    const struct net_params *n = &w.net_params;
    const struct netfront_params *f = &w.vif_params.netfront;
    const struct stack_params *s = &w.vif_params.stack;
    const struct guest_costs *g = &w.guest_costs;
    const struct host_costs *h;
    const sim_time line = 1024; /* 128 bytes at 1 Gbit/s */
    sim_time wake, rx, thread, front, service, back;
    const struct packet *p;

    build(false, 2, "{\"think\": \"10ms\", \"slack\": \"0\", \"demand\": \"60us\"}");
    pin();
    w.host->costs.cache_refill = 0;
    h = &w.host->costs;
    run(25 * NS_PER_MS);
    ck_assert_int_eq(seen.replies_seen, 2);
    p = &seen.replies[1];

    wake = h->context_switch + g->idle_exit + g->upcall;
    rx = wake + n->nic.interrupt + n->nic.poll + n->nic.rx_packet + n->bridge.forward;
    thread = g->thread_switch + n->netback.rx_flush + n->netback.rx_packet + n->netback.rx_page +
             n->netback.notify;
    front = h->ipi + wake + f->interrupt + f->poll + f->rx_packet + s->rx_packet + s->wakeup;
    service = g->thread_switch + s->receive + s->kibibyte * 128 / 1024 + 60 * NS_PER_US + s->send +
              s->kibibyte * 128 / 1024 + f->tx_packet + f->notify;
    back = h->ipi + wake + n->netback.tx_poll + n->netback.tx_packet + n->netback.tx_page +
           n->bridge.forward + n->nic.tx_packet + n->netback.notify;

    ck_assert_int_eq(segment(p, HOP_WIRE, HOP_NIC), 2 * line + 10 * NS_PER_US);
    ck_assert_int_eq(segment(p, HOP_NIC, HOP_VIF), rx);
    ck_assert_int_eq(segment(p, HOP_VIF, HOP_NOTIFY), thread);
    ck_assert_int_eq(segment(p, HOP_NOTIFY, HOP_SOCKET), front);
    ck_assert_int_eq(segment(p, HOP_SOCKET, HOP_END), service);
    ck_assert_int_eq(segment(p, HOP_END, HOP_BACK_NIC), back);
    ck_assert_int_eq(client_results(client)->latency.max, 40 * NS_PER_US +
                                                              2 * (2 * line + 10 * NS_PER_US) + rx +
                                                              thread + front + service + back);
}
END_TEST

START_TEST(test_no_costs_no_time)
{
    build(true, 1,
          "{\"think\": \"1ms\", \"slack\": \"0\", \"demand\": \"50us\", \"send\": \"0\", "
          "\"receive\": \"0\"}");
    run(NS_PER_S);
    ck_assert_int_eq(client_results(client)->latency.min, 70 * NS_PER_US);
    ck_assert_int_eq(client_results(client)->latency.max, 70 * NS_PER_US);
    /* the law of the closed loop: one request in each 1 ms + 70 us */
    ck_assert_int_eq(client_results(client)->counts.completed, NS_PER_S / (1070 * NS_PER_US));
}
END_TEST

/* The default costs put an idle host's median near the 185 us of the published RPC logs. */
START_TEST(test_idle_median)
{
    sim_time median;

    build(false, 4, "{}");
    run(20 * NS_PER_S);
    median = histogram_quantile(&client_results(client)->latency, 0.5);
    ck_assert_int_gt(median, 165 * NS_PER_US);
    ck_assert_int_lt(median, 205 * NS_PER_US);
}
END_TEST

START_TEST(test_parts_add_up)
{
    const struct client_results *r;
    sim_time parts = 0;

    build(false, 1,
          "{\"loop\": \"open\", \"arrivals\": \"poisson(8000/s)\", \"connections\": 8, "
          "\"demand\": \"exponential(40us)\"}");
    world_guest(&w, 1);
    world_program(NULL, w.guest[1], "lookbusy", "{}", 0);
    run(2 * NS_PER_S);
    r = client_results(client);
    ck_assert_uint_gt(r->counts.recorded, 1000);
    for (uint32_t i = 0; i < r->breakdown.cells; i++)
        for (int k = 0; k < PARTS; k++) {
            ck_assert_int_ge(r->breakdown.cell[i].sum[k], 0);
            parts += r->breakdown.cell[i].sum[k];
        }
    ck_assert_int_eq(parts, (sim_time)r->latency.sum_low);
    ck_assert_uint_eq(r->latency.sum_high, 0);
}
END_TEST

/* ---- waiting --------------------------------------------------------------------------------- */

struct pause {
    struct timer timer;
    struct vcpu *vcpu;
    bool paused;
    sim_time length;
};

static void pause_or_not(struct timer *t, sim_time now)
{
    struct pause *p = container_of(t, struct pause, timer);

    w.host->executing = 0;
    if (p->paused)
        vcpu_unpause(p->vcpu);
    else
        vcpu_pause(p->vcpu);
    p->paused = !p->paused;
    if (p->paused)
        queue_arm(&w.xen.queue, t, now + p->length);
}

/* One vCPU is held up from 9 ms on, the request comes at about 10 ms. */
static void hold_up(struct vcpu *v, sim_time length)
{
    static struct pause pause;

    pause = (struct pause){.vcpu = v, .length = length};
    timer_init(&pause.timer, pause_or_not);
    queue_arm(&w.xen.queue, &pause.timer, 9 * NS_PER_MS);
    run(80 * NS_PER_MS);
    ck_assert_int_ge(seen.replies_seen, 1);
}

static void parts_of_first(sim_time part[PARTS])
{
    struct packet p = seen.replies[0];

    p.stamp[HOP_BACK] = p.stamp[HOP_DONE] = p.stamp[HOP_BACK_NIC];
    breakdown_of(&p, part);
}

START_TEST(test_dom0_waits)
{
    sim_time part[PARTS];

    build(false, 2, "{\"think\": \"10ms\", \"slack\": \"0\"}");
    hold_up(w.dom0->domain->vcpu[0], 31 * NS_PER_MS);
    parts_of_first(part);
    ck_assert_int_gt(part[PART_DOM0_WAIT], 29 * NS_PER_MS);
    ck_assert_int_lt(part[PART_DOM0_WAIT], 31 * NS_PER_MS);
    ck_assert_int_lt(part[PART_VCPU_WAIT], NS_PER_MS);
    ck_assert_int_lt(part[PART_DOM0], NS_PER_MS);
}
END_TEST

START_TEST(test_guest_waits)
{
    sim_time part[PARTS];

    build(false, 2, "{\"think\": \"10ms\", \"slack\": \"0\"}");
    hold_up(w.guest[0]->domain->vcpu[0], 31 * NS_PER_MS);
    parts_of_first(part);
    ck_assert_int_gt(part[PART_VCPU_WAIT], 29 * NS_PER_MS);
    ck_assert_int_lt(part[PART_VCPU_WAIT], 31 * NS_PER_MS);
    ck_assert_int_lt(part[PART_DOM0_WAIT], NS_PER_MS);
    ck_assert_int_lt(part[PART_GUEST], NS_PER_MS);
}
END_TEST

/* Every request that the client sent is answered, dropped at a bound that counts it, on a wire, or
 * somewhere in the host. */
static void ck_conserved(void)
{
    struct net_counts n = host_net_counts(w.net);
    const struct client_counts *c = &client_results(client)->counts;
    uint64_t dropped = n.drop_nic_rx + n.drop_nic_tx + n.drop_vif + n.drop_netfront +
                       n.drop_socket + n.drop_address;
    uint64_t on_wires = w.clients.counts.sent - w.xen.counts.received + w.xen.counts.sent -
                        w.clients.counts.received;

    ck_assert_uint_eq(c->retransmitted, 0);
    ck_assert_uint_eq(c->sent, c->completed + client_outstanding(client));
    ck_assert_uint_eq(client_outstanding(client), dropped + on_wires + n.held);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void count_events(struct observer *o, struct host *h, const struct observation *obs)
{
    (void)o;
    (void)h;
    if (obs->kind == OBS_NETEVENT)
        seen.netevents++;
    else
        seen.events++;
}

static struct observer event_counter = {
    .kinds = UINT64_C(1) << OBS_NETEVENT | UINT64_C(1) << OBS_EVENT, .see = count_events};

/* Requests that come while the guest cannot run raise one event; one poll takes them all. */
START_TEST(test_events_coalesce)
{
    build(false, 2,
          "{\"loop\": \"open\", \"connections\": 1, \"depth\": 64, "
          "\"arrivals\": {\"type\": \"trace\", \"dates\": [\"10ms\", \"11ms\", \"12ms\", "
          "\"13ms\", \"14ms\"]}}");
    host_observe(w.host, &event_counter);
    hold_up(w.guest[0]->domain->vcpu[0], 11 * NS_PER_MS);
    ck_assert_int_eq(seen.replies_seen, 5);
    ck_assert_uint_eq(seen.netevents, 1);
    ck_assert_uint_eq(w.net->vif[1]->counts.notifications, 1);
    ck_assert_uint_eq(w.net->vif[1]->counts.to_guest, 5);
    ck_assert_uint_eq(seen.out_of_order, 0);
}
END_TEST

/* Only netback's events about received packets are network notifications. */
START_TEST(test_network_events)
{
    build(false, 2, "{\"think\": \"1ms\"}");
    host_observe(w.host, &event_counter);
    run(NS_PER_S);
    ck_assert_uint_gt(seen.netevents, 500);
    ck_assert_uint_eq(seen.netevents, w.net->vif[1]->counts.notifications);
    ck_assert_uint_gt(seen.events, 3 * seen.netevents / 2); /* NIC, tx ring, answers, no timers */
}
END_TEST

/* Interrupts in two seconds of 4000 requests/s each, under one kind of moderation. */
static uint64_t interrupts_with(enum nic_moderation moderation, sim_time interval)
{
    world_init(&w, false, "credit", 2);
    w.net_params.nic.moderation = moderation;
    w.net_params.nic.interval = interval;
    world_dom0(&w, 1);
    server = world_guest(&w, 1);
    world_program(server, w.guest[0], "rpc", "{\"threads\": 1}", 64);
    client = world_client(&w, &params,
                          "{\"loop\": \"open\", \"connections\": 64, \"depth\": 8, \"timeout\": "
                          "\"never\", \"arrivals\": \"poisson(4000/s)\", \"demand\": \"1us\"}",
                          "client", server, RPC_PORT);
    run(2 * NS_PER_S);
    ck_conserved();
    ck_assert_uint_gt(client_results(client)->counts.completed, 7500);
    return host_net_counts(w.net).interrupts;
}

START_TEST(test_moderation)
{
    uint64_t none = interrupts_with(MODERATION_NONE, 0), fixed;

    ck_assert_uint_gt(none, 7000);
    teardown();
    fixed = interrupts_with(MODERATION_FIXED, NS_PER_MS);
    ck_assert_uint_le(fixed, 2001); /* one a millisecond at most */
    ck_assert_uint_gt(fixed, 1500);
}
END_TEST

/* Held back by the NIC is no wait of dom0's. */
START_TEST(test_moderation_is_told_apart)
{
    const struct breakdown *b;
    sim_time nic = 0, dom0 = 0;

    interrupts_with(MODERATION_FIXED, 2 * NS_PER_MS);
    b = &client_results(client)->breakdown;
    for (uint32_t i = 0; i < b->cells; i++) {
        nic += b->cell[i].sum[PART_NIC];
        dom0 += b->cell[i].sum[PART_DOM0_WAIT];
    }
    ck_assert_int_gt(nic / 8000, 800 * NS_PER_US); /* half the interval on average */
    ck_assert_int_lt(nic / 8000, 1200 * NS_PER_US);
    ck_assert_int_lt(dom0 / 8000, 10 * NS_PER_US);
}
END_TEST

/* Four queues on four vCPUs: flows are spread, and each stays in order. */
START_TEST(test_receive_queues)
{
    world_init(&w, false, "credit", 4);
    w.net_params.nic.queues = 4;
    world_dom0(&w, 4);
    server = world_guest(&w, 1);
    world_program(server, w.guest[0], "rpc", "{\"threads\": 1}", 64);
    client = world_client(&w, &params,
                          "{\"loop\": \"open\", \"connections\": 64, \"timeout\": \"never\", "
                          "\"arrivals\": \"poisson(8000/s)\", \"demand\": \"1us\"}",
                          "client", server, RPC_PORT);
    run(NS_PER_S);
    ck_conserved();
    for (uint32_t i = 0; i < 4; i++) {
        const struct nic_queue *q = &w.net->nic->physical->queue[i];

        ck_assert_ptr_eq(q->gv, &w.dom0->vcpu[i]);
        ck_assert_int_gt(q->raised, NS_PER_S / 2);
        ck_assert_int_gt(vcpu_runstate_time(q->gv->vcpu, RUNSTATE_RUNNING), NS_PER_MS);
    }
}
END_TEST

START_TEST(test_passthrough)
{
    struct vcpu *dom0;

    world_init(&w, false, "terriertail", 2);
    world_dom0(&w, 1);
    w.vif_params.attachment = ATTACH_PASSTHROUGH;
    server = world_guest(&w, 1);
    world_program(server, w.guest[0], "rpc", "{\"threads\": 1}", 64);
    client = world_client(&w, &params, "{\"think\": \"1ms\"}", "client", server, RPC_PORT);
    spy();
    host_observe(w.host, &event_counter);
    run(NS_PER_S);
    dom0 = w.dom0->domain->vcpu[0];
    ck_assert_uint_eq(seen.netevents, 0);
    ck_assert_uint_gt(client_results(client)->counts.completed, 700);
    ck_assert_int_lt(vcpu_runstate_time(dom0, RUNSTATE_RUNNING), 10 * NS_PER_US); /* its start */
    ck_assert_int_eq(seen.replies[5].stamp[HOP_VIF], 0);
    ck_assert_uint_eq(host_net_counts(w.net).notifications, 0);
}
END_TEST

/* ---- order, bounds, conservation ------------------------------------------------------------- */

START_TEST(test_order_in_a_connection)
{
    build(false, 1,
          "{\"loop\": \"open\", \"connections\": 1, \"depth\": 64, \"timeout\": "
          "\"never\", \"arrivals\": \"poisson(15000/s)\", \"demand\": "
          "\"exponential(20us)\"}");
    run(NS_PER_S);
    ck_assert_uint_gt(client_results(client)->counts.completed, 8000);
    ck_assert_uint_eq(seen.out_of_order, 0);
}
END_TEST

#define BURST                                                                                      \
    "{\"loop\": \"open\", \"connections\": 64, \"depth\": 8, \"timeout\": \"never\", "             \
    "\"arrivals\": \"poisson(60000/s)\"}"

START_TEST(test_conserved_in_overload)
{
    build(false, 1, BURST);
    run(NS_PER_S / 4);
    ck_conserved();
    ck_assert_uint_gt(client_results(client)->counts.completed, 500);
}
END_TEST

/* Receive livelock: interrupt work for more packets than dom0 can take would keep netback's thread
 * from ever running, if it were not left to a thread in the end. */
static uint64_t completed_under_flood(sim_time limit)
{
    uint64_t completed;

    build(false, 2,
          "{\"loop\": \"open\", \"connections\": 4096, \"depth\": 64, \"timeout\": "
          "\"never\", \"arrivals\": \"poisson(60000/s)\"}");
    w.net->nic->params.rx_packet = 30 * NS_PER_US;
    w.dom0->costs.softirq_limit = limit;
    run(NS_PER_S / 2);
    ck_conserved();
    completed = client_results(client)->counts.completed;
    teardown();
    return completed;
}

START_TEST(test_livelock)
{
    uint64_t never = completed_under_flood(0), limited = completed_under_flood(2 * NS_PER_MS);

    ck_assert_uint_lt(never, 700); /* what came before the flood had built up */
    ck_assert_uint_gt(limited, 3000);
    build(false, 2, BURST); /* for the teardown */
    run(NS_PER_MS);
}
END_TEST

START_TEST(test_nic_ring_is_bounded)
{
    build(false, 1,
          "{\"loop\": \"open\", \"connections\": 64, \"timeout\": \"never\", "
          "\"arrivals\": \"poisson(10000/s)\"}");
    w.net->nic->params.rx_ring = 4;
    w.net->nic->physical->queue[0].interval = 20 * NS_PER_MS; /* moderation holds it back */
    w.net->nic->params.moderation = MODERATION_FIXED;
    run(NS_PER_S / 4);
    ck_conserved();
    ck_assert_uint_gt(host_net_counts(w.net).drop_nic_rx, 20);
    ck_assert_uint_le(w.net->nic->physical->queue[0].ring.count, 4);
}
END_TEST

START_TEST(test_vif_queue_is_bounded)
{
    build(false, 1, BURST);
    w.net->vif[1]->back.queue = 1000;
    w.net->vif[1]->back.backlog = 3;
    w.net->vif[1]->back.rx_packet = NS_PER_MS;
    run(NS_PER_S / 4);
    ck_conserved();
    ck_assert_uint_gt(host_net_counts(w.net).drop_vif, 100);
}
END_TEST

START_TEST(test_rx_ring_holds_the_thread)
{
    struct vif *v;

    build(false, 1, BURST);
    v = w.net->vif[1];
    v->front.rx_ring = 17;
    vcpu_pause(w.guest[0]->domain->vcpu[0]);
    run(NS_PER_S / 20);
    ck_assert_uint_eq(v->queue[0].rx_used, 17);
    ck_assert_uint_eq(v->queue[0].rx.count, 17);
    ck_assert(v->queue[0].rx_starved);
    ck_conserved();
    vcpu_unpause(w.guest[0]->domain->vcpu[0]);
    fleet_run_to(&w.fleet, NS_PER_S / 10);
    ck_assert_uint_gt(v->counts.room_events, 0);
    ck_assert_uint_gt(v->counts.to_guest, 100);
    ck_conserved();
}
END_TEST

START_TEST(test_socket_queue_is_bounded)
{
    build(false, 1, BURST);
    server->params.queue = 1000; /* seven requests */
    run(NS_PER_S / 4);
    ck_conserved();
    ck_assert_uint_gt(host_net_counts(w.net).drop_socket, 100);
}
END_TEST

START_TEST(test_tx_ring_is_bounded)
{
    struct vif *v;

    build(false, 2, BURST);
    v = w.net->vif[1];
    v->front.tx_ring = 2;
    v->front.queue = 1;
    v->back.tx_packet = NS_PER_MS;
    run(NS_PER_S / 4);
    ck_conserved();
    ck_assert_uint_gt(host_net_counts(w.net).drop_netfront, 10);
    ck_assert_uint_le(v->queue[0].tx_used, 2);
}
END_TEST

START_TEST(test_nic_tx_is_bounded)
{
    build(false, 2,
          "{\"loop\": \"open\", \"connections\": 64, \"depth\": 8, \"timeout\": "
          "\"never\", \"arrivals\": \"poisson(20000/s)\", \"demand\": \"1us\", "
          "\"reply\": \"1KiB\"}");
    w.xen.line_rate = 10000000; /* 1 KiB takes 0.8 ms */
    w.net->nic->params.queue_length = 10;
    w.net->nic->params.tx_ring = 5;
    run(NS_PER_S / 2);
    ck_conserved();
    ck_assert_uint_gt(host_net_counts(w.net).drop_nic_tx, 100);
    ck_assert_uint_le(w.net->nic->waiting.count, 10);
}
END_TEST

/* ---- pages that netback maps ----------------------------------------------------------------- */

/* A reply of 1250 bytes at 10 ms takes 10 ms on the line. Places of the tx ring in the middle; then
 * there are none, and the guest has been told once. */
static uint32_t places_held(int64_t tx_copy)
{
    uint32_t held;

    build(true, 2,
          "{\"loop\": \"open\", \"connections\": 1, \"timeout\": \"never\", \"reply\": \"1250B\", "
          "\"arrivals\": {\"type\": \"trace\", \"dates\": [\"10ms\"]}}");
    w.xen.line_rate = 1000000;
    w.net->vif[1]->back.tx_copy = tx_copy;
    client_start(client, 0, 0, 40 * NS_PER_MS);
    world_start(&w, 10 * NS_PER_US);
    fleet_run_to(&w.fleet, 15 * NS_PER_MS);
    held = w.net->vif[1]->queue[0].tx_used;
    ck_assert_uint_eq(w.net->vif[1]->counts.completions, !held);
    fleet_run_to(&w.fleet, 40 * NS_PER_MS);
    ck_assert_uint_eq(w.net->vif[1]->queue[0].tx_used, 0);
    ck_assert_uint_eq(w.net->vif[1]->counts.completions, 1);
    ck_assert_uint_eq(w.net->nic->lent_count, 0);
    ck_assert_int_eq(seen.replies_seen, 1);
    return held;
}

START_TEST(test_long_frames_are_mapped)
{
    ck_assert_uint_eq(places_held(128), 1); /* until the NIC has sent it */
    teardown();
    ck_assert_uint_eq(places_held(1250 - 24), 0); /* a frame of that size is copied */
    teardown();
    ck_assert_uint_eq(places_held(1250 - 25), 1);
}
END_TEST

/* Each mapped reply costs dom0 an interrupt of the NIC and a turn of the second thread. */
static struct net_counts replies_of(const char *setting)
{
    build(false, 2, setting);
    run(2 * NS_PER_S);
    ck_conserved();
    return host_net_counts(w.net);
}

START_TEST(test_mapped_replies_interrupt)
{
    struct net_counts copied = replies_of("{\"think\": \"5ms\", \"reply\": \"152B\"}"), mapped;

    ck_assert_int_eq(w.net->vif[1]->queue[0].dealloc->cpu_time, 0);
    ck_assert_uint_le(copied.interrupts, copied.received);
    teardown();
    mapped = replies_of("{\"think\": \"5ms\", \"reply\": \"153B\"}");
    ck_assert_uint_ge(mapped.interrupts, 2 * mapped.received - 1);
    ck_assert_uint_ge(mapped.completions + 1, mapped.sent);
    ck_assert_int_ge(w.net->vif[1]->queue[0].dealloc->cpu_time,
                     (int64_t)(mapped.completions - 1) * 1800); /* tx_flush, tx_unmap */
}
END_TEST

/* What the NIC drops is given back, too: each place of the ring is somewhere. */
START_TEST(test_dropped_frames_are_given_back)
{
    const struct nic *nic;
    const struct vif_queue *q;

    build(false, 2,
          "{\"loop\": \"open\", \"connections\": 64, \"depth\": 8, \"timeout\": "
          "\"never\", \"arrivals\": \"poisson(20000/s)\", \"demand\": \"1us\", "
          "\"reply\": \"1KiB\"}");
    w.xen.line_rate = 10000000;
    w.net->nic->params.queue_length = 10;
    w.net->nic->params.tx_ring = 5;
    run(NS_PER_S / 2);
    nic = w.net->nic;
    q = &w.net->vif[1]->queue[0];
    ck_assert_uint_gt(host_net_counts(w.net).drop_nic_tx, 100);
    ck_assert_uint_gt(nic->lent_count, 0);
    ck_assert_uint_eq(q->tx_used, q->tx.count + nic->waiting.count + nic->lent_count + q->sent +
                                      q->unmapping + q->answered);
}
END_TEST

/* ---- lost requests --------------------------------------------------------------------------- */

START_TEST(test_lost_request_is_sent_again)
{
    const struct client_results *r;

    build(false, 1,
          "{\"loop\": \"open\", \"connections\": 2, \"arrivals\": {\"type\": \"trace\", "
          "\"dates\": [\"10ms\", \"10ms\"]}}");
    w.net->nic->params.rx_ring = 1; /* the second of two at once is dropped */
    w.net->nic->physical->queue[0].raised = 9 * NS_PER_MS + 999 * NS_PER_US;
    w.net->nic->physical->queue[0].interval = NS_PER_MS;
    run(NS_PER_S);
    r = client_results(client);
    ck_assert_uint_eq(r->counts.completed, 2);
    ck_assert_uint_eq(r->counts.retransmitted, 1);
    ck_assert_uint_eq(r->counts.duplicates, 0);
    ck_assert_int_gt(r->latency.max, 200 * NS_PER_MS);
    ck_assert_int_lt(r->latency.max, 202 * NS_PER_MS);
}
END_TEST

/* A server that is slow, not deaf: what comes again is served once, and answered once. */
START_TEST(test_duplicates_are_served_once)
{
    const struct client_results *r;
    struct thread *t;

    world_init(&w, false, "credit", 2);
    world_dom0(&w, 1);
    server = world_guest(&w, 1);
    t = world_program(server, w.guest[0], "rpc", "{\"threads\": 1}", 1);
    client = world_client(&w, &params, "{\"demand\": \"900ms\", \"think\": \"10ms\"}", "client",
                          server, RPC_PORT);
    spy();
    run(20 * NS_PER_S);
    r = client_results(client);
    ck_assert_uint_gt(r->counts.retransmitted, 2);
    ck_assert_uint_eq(program_counts(t).served, r->counts.completed);
    ck_assert_uint_eq(stack_counts(server).duplicates, r->counts.retransmitted);
    ck_assert_uint_eq(r->counts.sent, r->counts.completed + client_outstanding(client));
}
END_TEST

START_TEST(test_requests_fail_in_the_end)
{
    const struct client_results *r;

    build(false, 1, "{\"think\": \"10ms\", \"retries\": 2}");
    vcpu_pause(w.guest[0]->domain->vcpu[0]);
    run(10 * NS_PER_S);
    r = client_results(client);
    /* 200 + 400 + 800 ms and the pause for each */
    ck_assert_uint_eq(r->counts.failed, 7);
    ck_assert_uint_eq(r->counts.completed, 0);
    ck_assert_uint_eq(r->counts.sent, r->counts.failed + client_outstanding(client));
}
END_TEST

/* ---- the same requests ----------------------------------------------------------------------- */

START_TEST(test_common_random_numbers)
{
    struct packet credit[64];
    const char *text = "{\"demand\": \"exponential(100us)\", \"request\": \"uniform(64B, 1KiB)\", "
                       "\"reply\": \"exponential(1KiB)\"}";

    build(false, 1, text);
    run(NS_PER_S);
    memcpy(credit, seen.requests, sizeof credit);
    ck_assert_uint_eq(seen.requests_seen, 64);
    teardown();

    world_init(&w, false, "terriertail", 1);
    world_dom0(&w, 1);
    server = world_guest(&w, 1);
    world_program(server, w.guest[0], "rpc", "{\"threads\": 1}", 64);
    world_guest(&w, 1);
    world_program(NULL, w.guest[1], "hog", "{}", 0);
    client = world_client(&w, &params, text, "client", server, RPC_PORT);
    spy();
    run(6 * NS_PER_S);
    ck_assert_uint_eq(seen.requests_seen, 64);
    for (int i = 0; i < 64; i++) {
        ck_assert_uint_eq(seen.requests[i].id, credit[i].id);
        ck_assert_uint_eq(seen.requests[i].bytes, credit[i].bytes);
        ck_assert_int_eq(seen.requests[i].value[VALUE_DEMAND], credit[i].value[VALUE_DEMAND]);
        ck_assert_int_eq(seen.requests[i].value[VALUE_REPLY], credit[i].value[VALUE_REPLY]);
    }
    ck_assert_int_ne(seen.requests[20].stamp[HOP_WIRE], credit[20].stamp[HOP_WIRE]);
}
END_TEST

/* ---- coordinated omission -------------------------------------------------------------------- */

/* A stall of 50 ms in a closed loop with a think time of 1 ms hides some 48 requests. */
START_TEST(test_phantoms)
{
    const struct client_results *r;

    build(false, 2, "{\"think\": \"1ms\", \"slack\": \"0\", \"unhindered\": \"150us\"}");
    hold_up(w.guest[0]->domain->vcpu[0], 50 * NS_PER_MS);
    r = client_results(client);
    ck_assert_uint_gt(r->counts.phantoms, 40);
    ck_assert_uint_lt(r->counts.phantoms, 50);
    ck_assert_uint_eq(r->intended.count, r->latency.count + r->counts.phantoms);
    ck_assert_int_eq(r->intended.max, r->latency.max);
    ck_assert_uint_eq(histogram_above(&r->latency, 5 * NS_PER_MS), 1);
    ck_assert_uint_gt(histogram_above(&r->intended, 5 * NS_PER_MS), 35);
}
END_TEST

/* An open loop whose only connection is busy counts the waiting from the arrival. */
START_TEST(test_open_loop_waits)
{
    const struct client_results *r;

    build(true, 1,
          "{\"loop\": \"open\", \"connections\": 1, \"demand\": \"3ms\", \"send\": \"0\", "
          "\"receive\": \"0\", \"arrivals\": {\"type\": \"trace\", \"dates\": [\"10ms\", "
          "\"11ms\", \"12ms\"]}}");
    run(NS_PER_S);
    r = client_results(client);
    ck_assert_uint_eq(r->counts.completed, 3);
    ck_assert_int_eq(r->latency.max, 3020 * NS_PER_US);
    ck_assert_int_eq(r->intended.max, 3 * 3020 * NS_PER_US - 2 * NS_PER_MS);
}
END_TEST

START_TEST(test_refused)
{
    const struct client_results *r;

    build(true, 1,
          "{\"loop\": \"open\", \"connections\": 1, \"demand\": \"10ms\", \"backlog\": 5, "
          "\"arrivals\": \"poisson(1000/s)\"}");
    run(NS_PER_S);
    r = client_results(client);
    ck_assert_uint_gt(r->counts.refused, 800);
    ck_assert_uint_le(r->counts.completed, 100);
    ck_assert_int_le(r->intended.max, 70 * NS_PER_MS);
}
END_TEST

/* ---- fan-out, memcached ---------------------------------------------------------------------- */

/* Three leaves on pCPUs of their own: the query takes as long as the slowest it waits for. */
static void fan_out(const char *wait_for, sim_time expected)
{
    const char *demands = "{\"type\": \"empirical\", \"points\": [[0, \"100us\"], [1, \"900us\"]]}";
    char *text =
        xasprintf("{\"think\": \"2ms\", \"slack\": \"0\", \"demand\": %s, \"wait_for\": %s}",
                  demands, wait_for);
    const struct client_results *r;

    world_init(&w, true, "credit", 4);
    world_dom0(&w, 1);
    for (int i = 0; i < 3; i++) {
        server = world_guest(&w, 1);
        world_program(server, w.guest[i], "rpc", "{\"threads\": 1}", 1);
        if (i == 0)
            client = world_client(&w, &params, text, "client", server, RPC_PORT);
        else
            client_target(client, &w.xen, server->endpoint, RPC_PORT, 0);
    }
    spy();
    run(20 * NS_PER_S);
    free(text);
    r = client_results(client);
    ck_assert_uint_eq(r->counts.sent, r->counts.completed + client_outstanding(client));
    ck_assert_int_gt((sim_time)histogram_mean(&r->latency), expected - 10 * NS_PER_US);
    ck_assert_int_lt((sim_time)histogram_mean(&r->latency), expected + 10 * NS_PER_US);
}

/* Uniform on 100..900 us: the mean of the k-th of three is 100 + 800 k / 4; the client's own delays
 * and the wire add 60 us. */
START_TEST(test_fan_out_all)
{
    fan_out("\"all\"", 760 * NS_PER_US);
    ck_assert_uint_eq(client_results(client)->counts.duplicates, 0);
}
END_TEST

START_TEST(test_fan_out_some)
{
    fan_out("2", 560 * NS_PER_US);
    ck_assert_uint_gt(client_results(client)->counts.duplicates, 5000);
}
END_TEST

START_TEST(test_memcached)
{
    const struct client_results *r;
    uint32_t large = 0;

    world_init(&w, false, "credit", 2);
    world_dom0(&w, 1);
    server = world_guest(&w, 1);
    world_program(server, w.guest[0], "memcached", "{}", 16);
    client = world_client(&w, &params,
                          "{\"loop\": \"open\", \"connections\": 16, \"memcached\": {\"sets\": "
                          "\"50%\"}, \"arrivals\": \"poisson(5000/s)\"}",
                          "client", server, 11211);
    spy();
    run(NS_PER_S);
    r = client_results(client);
    ck_assert_uint_gt(r->counts.completed, 4800);
    for (uint32_t i = 0; i < 64; i++) {
        const struct packet *p = &seen.requests[i];
        bool set = p->value[VALUE_REPLY] == 98;

        ck_assert_int_ge(p->value[VALUE_DEMAND], set ? 3000 : 2000);
        ck_assert_uint_ge(p->bytes, 97);
        large += set;
    }
    ck_assert_uint_gt(large, 20);
    ck_assert_uint_lt(large, 44);
}
END_TEST

/* ---- echo, dom0's own sockets ---------------------------------------------------------------- */

START_TEST(test_ping)
{
    world_init(&w, true, "credit", 1);
    world_dom0(&w, 1);
    server = world_guest(&w, 1);
    client = world_client(&w, &params,
                          "{\"think\": \"1ms\", \"slack\": \"0\", \"send\": \"0\", "
                          "\"receive\": \"0\"}",
                          "client", server, PORT_ECHO);
    spy();
    run(NS_PER_S);
    ck_assert_int_eq(client_results(client)->latency.max, 20 * NS_PER_US);
    ck_assert_uint_eq(server->echoes, client_results(client)->counts.completed);
}
END_TEST

START_TEST(test_dom0_serves)
{
    world_init(&w, true, "credit", 1);
    world_dom0(&w, 1);
    server = host_net_dom0(w.net);
    world_program(server, w.dom0, "rpc", "{\"threads\": 1}", 1);
    client = world_client(&w, &params,
                          "{\"think\": \"1ms\", \"slack\": \"0\", \"send\": \"0\", "
                          "\"receive\": \"0\", \"demand\": \"100us\"}",
                          "client", server, RPC_PORT);
    spy();
    run(NS_PER_S);
    ck_assert_int_eq(client_results(client)->latency.min, 120 * NS_PER_US);
    ck_assert_int_eq(client_results(client)->latency.max, 120 * NS_PER_US);
}
END_TEST

/* ---- several vCPUs --------------------------------------------------------------------------- */

/* Several queues: flows are spread over them and stay in order. */
START_TEST(test_several_queues)
{
    struct vif *v;

    world_init(&w, false, "credit", 4);
    world_dom0(&w, 4);
    server = world_guest(&w, 4);
    world_program(server, w.guest[0], "rpc", "{}", 16);
    client = world_client(&w, &params,
                          "{\"loop\": \"open\", \"connections\": 16, \"timeout\": \"never\", "
                          "\"depth\": 8, \"arrivals\": \"poisson(12000/s)\", \"demand\": \"50us\"}",
                          "client", server, RPC_PORT);
    v = w.net->vif[1];
    ck_assert_uint_eq(v->queues, 4);
    run(NS_PER_S);
    ck_conserved();
    ck_assert_uint_gt(client_results(client)->counts.completed, 11000);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_gt(v->queue[i].thread->cpu_time, NS_PER_MS);
}
END_TEST

START_TEST(test_threads_on_several_vcpus)
{
    world_init(&w, false, "credit", 4);
    world_dom0(&w, 2);
    server = world_guest(&w, 4);
    world_program(server, w.guest[0], "rpc", "{\"threads\": 4}", 64);
    client = world_client(&w, &params,
                          "{\"loop\": \"open\", \"connections\": 64, \"timeout\": \"never\", "
                          "\"arrivals\": \"poisson(12000/s)\", \"demand\": \"200us\"}",
                          "client", server, RPC_PORT);
    spy();
    run(NS_PER_S);
    ck_conserved();
    /* two and a half vCPUs' worth of work a second: one vCPU alone could not */
    ck_assert_uint_gt(client_results(client)->counts.completed, 11000);
}
END_TEST

Suite *suite_net_path(void)
{
    const TTest *const tests[] = {
        test_costs_add_up,
        test_no_costs_no_time,
        test_idle_median,
        test_parts_add_up,
        test_dom0_waits,
        test_guest_waits,
        test_events_coalesce,
        test_network_events,
        test_moderation,
        test_moderation_is_told_apart,
        test_receive_queues,
        test_passthrough,
        test_order_in_a_connection,
        test_conserved_in_overload,
        test_livelock,
        test_nic_ring_is_bounded,
        test_vif_queue_is_bounded,
        test_rx_ring_holds_the_thread,
        test_socket_queue_is_bounded,
        test_tx_ring_is_bounded,
        test_nic_tx_is_bounded,
        test_long_frames_are_mapped,
        test_mapped_replies_interrupt,
        test_dropped_frames_are_given_back,
        test_lost_request_is_sent_again,
        test_duplicates_are_served_once,
        test_requests_fail_in_the_end,
        test_common_random_numbers,
        test_phantoms,
        test_open_loop_waits,
        test_refused,
        test_ping,
        test_dom0_serves,
        test_threads_on_several_vcpus,
        test_several_queues,
        test_fan_out_all,
        test_fan_out_some,
        test_memcached,
    };
    Suite *s = suite_create("net_path");
    TCase *tc = tcase_create("path");

    tcase_add_checked_fixture(tc, NULL, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(s, tc);
    return s;
}
