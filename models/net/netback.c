/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dom0's half. The batch that the thread copies, or a poll takes, is fixed when it begins; its
 * packets become visible to the other side when its cost is paid.
 */
#include "models/net/netback.h"

#include "sim/error.h"

#include <stdlib.h>

static const struct param netback_rows[] = {
    {PARAM("queue", SIZE, struct netback_params, queue), .def = "512KiB", .min = "1B",
     .max = "1GiB", .meaning = "Bytes that wait for a vif's kernel thread.",
     .source = "Linux xen-netback: half a ring of pages", .status = STATUS_CITED},
    {PARAM("backlog", INTEGER, struct netback_params, backlog), .def = "32", .min = "0",
     .max = "1000000",
     .meaning = "Packets that wait besides when these bytes are reached; then they are dropped.",
     .source = "Linux xen-netback before 6.5: tx_queue_len", .status = STATUS_CITED},
    {PARAM("rx_batch", INTEGER, struct netback_params, rx_batch), .def = "64", .min = "1",
     .max = "4096", .meaning = "Pages that the thread copies with one hypercall.",
     .source = "Linux xen-netback: COPY_BATCH_SIZE", .status = STATUS_CITED},
    {PARAM("rx_packet", DURATION, struct netback_params, rx_packet), .def = "1.5us", .max = "1ms",
     .meaning = "Kernel thread: each packet to the guest.", .status = STATUS_ASSUMED},
    {PARAM("rx_page", DURATION, struct netback_params, rx_page), .def = "0.8us", .max = "1ms",
     .meaning = "Kernel thread: grant copy of each page.", .status = STATUS_ASSUMED},
    {PARAM("rx_flush", DURATION, struct netback_params, rx_flush), .def = "1us", .max = "1ms",
     .meaning = "Kernel thread: hypercall and bookkeeping of each batch.",
     .status = STATUS_ASSUMED},
    {PARAM("tx_poll", DURATION, struct netback_params, tx_poll), .def = "0.5us", .max = "1ms",
     .meaning = "Softirq: a poll for packets from the guest, however many it finds.",
     .status = STATUS_ASSUMED},
    {PARAM("tx_packet", DURATION, struct netback_params, tx_packet), .def = "2us", .max = "1ms",
     .meaning = "Softirq: each packet from the guest, headers copied and answer included.",
     .status = STATUS_ASSUMED},
    {PARAM("tx_page", DURATION, struct netback_params, tx_page), .def = "0.8us", .max = "1ms",
     .meaning = "Softirq: mapping or copying each page.", .status = STATUS_ASSUMED},
    {PARAM("notify", DURATION, struct netback_params, notify), .def = "0.6us", .max = "1ms",
     .meaning = "Hypercall that sends an event.",
     .source = "assumed; 1228 cycles of 2.1 GHz for a hypercall are remembered from Dall et al., "
               "ISCA 2016",
     .status = STATUS_ASSUMED},
    {PARAM("budget", INTEGER, struct netback_params, budget), .def = "64", .min = "1",
     .max = "65536", .meaning = "Packets that one poll may take.", .source = "Linux: NAPI's weight",
     .status = STATUS_CITED},
    {PARAM("tx_copy", SIZE, struct netback_params, tx_copy), .def = "128B", .max = "1GiB",
     .meaning = "Frames from the guest up to this size are copied, longer ones mapped and answered "
                "when they have been sent.",
     .source = "Linux xen-netback: XEN_NETBACK_TX_COPY_LEN", .status = STATUS_CITED},
    {PARAM("tx_flush", DURATION, struct netback_params, tx_flush), .def = "1us", .max = "1ms",
     .meaning = "Second kernel thread: hypercall and bookkeeping of a batch of pages that were "
                "sent.",
     .status = STATUS_ASSUMED},
    {PARAM("tx_unmap", DURATION, struct netback_params, tx_unmap), .def = "0.8us", .max = "1ms",
     .meaning = "Second kernel thread: unmapping each page.", .status = STATUS_ASSUMED},
};

const struct param_table netback_table =
    PARAM_TABLE("netback", struct netback_params, netback_rows,
                .meaning = "dom0's half of Xen's split network driver.");

/* ---- to the guest ---------------------------------------------------------------------------- */

void vif_queue(struct vif *v, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    struct vif_queue *q = vif_queue_of(v, p);

    if (q->queue.bytes >= v->back.queue && q->backlog++ >= v->back.backlog) {
        q->backlog--;
        v->counts.dropped_rx++;
        packet_free(p);
        return;
    }
    wait_end(p, gv->vcpu, VALUE_DOM0_WAIT, now);
    if (gv != q->back)
        wait_begin(p, q->back->vcpu, now);
    hop_stamp(p, HOP_VIF, now);
    packets_add(&q->queue, p);
    thread_wake(q->thread, now);
}

static struct packet *dequeue(struct vif_queue *q)
{
    struct packet *p = packets_take(&q->queue);

    if (q->backlog)
        q->backlog = q->queue.bytes < q->vif->back.queue ? 0 : q->backlog - 1;
    return p;
}

/* Choose what to copy next: sets q->copying. Returns the cost. */
static sim_time rx_begin(struct vif_queue *q, sim_time now)
{
    const struct netback_params *c = &q->vif->back;
    uint32_t room = (uint32_t)q->vif->front.rx_ring - q->rx_used, pages = 0;

    for (struct packet *p = q->queue.first; p; p = p->next) {
        uint32_t places = ring_places(p);

        if (pages + places > room || (q->copying && pages + places > c->rx_batch))
            break;
        pages += places;
        q->copying++;
        hop_stamp(p, HOP_NETBACK, now);
    }
    return c->rx_flush + q->copying * c->rx_packet + pages * c->rx_page +
           (q->rx_wanted ? c->notify : 0);
}

/* The batch is copied: it is in the ring. */
static void rx_done(struct vif_queue *q, sim_time now)
{
    for (; q->copying; q->copying--) {
        struct packet *p = dequeue(q);

        wait_end(p, q->back->vcpu, VALUE_DOM0_WAIT, now);
        wait_begin(p, q->front->vcpu, now);
        hop_stamp(p, HOP_NOTIFY, now);
        q->rx_used += ring_places(p);
        q->vif->counts.to_guest++;
        packets_add(&q->rx, p);
    }
    if (!q->rx_wanted)
        return;
    q->rx_wanted = false;
    q->vif->counts.notifications++;
    evtchn_send(&q->rx_event, true);
}

static struct guest_op netback_next(struct thread *t, sim_time now)
{
    struct vif_queue *q = t->user_data;
    sim_time cost;

    if (q->copying)
        rx_done(q, now);
    cost = rx_begin(q, now);
    if (q->copying)
        return (struct guest_op){OP_COMPUTE, cost};
    q->rx_starved = q->queue.count > 0;
    return (struct guest_op){OP_WAIT, 0};
}

static const struct program program_netback = {
    .name = "netback", .meaning = "Copies packets to a guest.", .next = netback_next};

static void room_interrupt(struct evtchn *ch, sim_time now)
{
    thread_wake(container_of(ch, struct vif_queue, room_event)->thread, now);
}

/* ---- from the guest -------------------------------------------------------------------------- */

static void tx_interrupt(struct evtchn *ch, sim_time now)
{
    struct vif_queue *q = container_of(ch, struct vif_queue, tx_event);

    (void)now;
    q->back_again = false;
    guest_raise(q->back, &q->back_poll);
}

static sim_time tx_cost(struct work *w, struct guest_vcpu *gv)
{
    struct vif_queue *q = container_of(w, struct vif_queue, back_poll);
    const struct netback_params *c = &q->vif->back;
    sim_time cost = q->back_again ? 0 : c->tx_poll;
    uint32_t n = 0;

    q->back_began = vcpu_host(gv->vcpu)->queue->now;
    for (const struct packet *p = q->tx.first; p && n < c->budget; p = p->next, n++)
        cost += c->tx_packet + ring_places(p) * c->tx_page;
    q->back_batch = n;
    return cost + bridge_cost(q->vif->bridge, q->tx.first, n) + (q->answer_wanted ? c->notify : 0);
}

static void answer(struct vif_queue *q)
{
    if (!q->answer_wanted || !q->answered)
        return;
    q->answer_wanted = false;
    q->vif->counts.completions++;
    evtchn_send(&q->answer_event, false);
}

/* Bytes on the wire that are no part of the frame: preamble, check sequence, gap. */
enum { LINE_ONLY = 24 };

static bool maps(const struct vif *v, const struct packet *p)
{
    return (int64_t)p->bytes - LINE_ONLY > v->back.tx_copy && bridge_to_nic(v->bridge, p);
}

static void tx_run(struct work *w, struct guest_vcpu *gv, sim_time now)
{
    struct vif_queue *q = container_of(w, struct vif_queue, back_poll);

    for (; q->back_batch; q->back_batch--) {
        struct packet *p = packets_take(&q->tx);

        if (!maps(q->vif, p))
            q->answered += ring_places(p);
        q->vif->counts.from_guest++;
        hop_stamp_began(p, HOP_BACK_NETBACK, HOP_END, q->back_began);
        bridge_input(q->vif->bridge, p, gv, now);
    }
    answer(q);
    if (q->tx.count) {
        q->back_again = true;
        guest_raise(gv, &q->back_poll);
    } else {
        q->tx_wanted = true;
    }
}

/* ---- pages that were sent -------------------------------------------------------------------- */

struct nic_loan vif_loan(struct vif *v, const struct packet *p)
{
    if (!maps(v, p))
        return (struct nic_loan){NULL, 0};
    return (struct nic_loan){vif_queue_of(v, p), ring_places(p)};
}

void vif_repay(struct nic_loan loan, sim_time now)
{
    struct vif_queue *q = loan.lender;

    q->sent += loan.places;
    thread_wake(q->dealloc, now);
}

static struct guest_op dealloc_next(struct thread *t, sim_time now)
{
    struct vif_queue *q = t->user_data;
    const struct netback_params *c = &q->vif->back;

    (void)now;
    q->answered += q->unmapping;
    answer(q);
    q->unmapping = q->sent;
    q->sent = 0;
    if (!q->unmapping)
        return (struct guest_op){OP_WAIT, 0};
    return (struct guest_op){OP_COMPUTE, c->tx_flush + q->unmapping * c->tx_unmap +
                                             (q->answer_wanted ? c->notify : 0)};
}

static const struct program program_dealloc = {
    .name = "dealloc", .meaning = "Unmaps a guest's pages that were sent.", .next = dealloc_next};

/* ---- building -------------------------------------------------------------------------------- */

static void netback_init(struct vif_queue *q)
{
    packets_init(&q->queue);
    packets_init(&q->tx);
    q->tx_event = (struct evtchn){.vcpu = q->back->vcpu, .handler = tx_interrupt};
    q->room_event = (struct evtchn){.vcpu = q->back->vcpu, .handler = room_interrupt};
    q->back_poll = (struct work){.cost = tx_cost, .run = tx_run};
    q->tx_wanted = true;
    q->thread = guest_add_thread(q->back, &program_netback, NULL, "netback", CLASS_NORMAL, 0);
    q->thread->user_data = q;
    q->dealloc = guest_add_sleeper(q->back, &program_dealloc, NULL, "dealloc", CLASS_NORMAL, 0);
    q->dealloc->user_data = q;
}

enum { QUEUES_MAX = 8 }; /* Linux xen-netfront, xen-netback: default limit */

static uint32_t queue_count(int64_t wanted, const struct guest *dom0, const struct guest *guest)
{
    uint32_t n = guest->domain->vcpu_count;

    if (wanted)
        return (uint32_t)wanted;
    if (n > dom0->domain->vcpu_count)
        n = dom0->domain->vcpu_count;
    return n < QUEUES_MAX ? n : QUEUES_MAX;
}

struct vif *vif_new(struct bridge *b, uint32_t endpoint, struct guest *guest,
                    const struct netback_params *back, const struct netfront_params *front,
                    const struct stack_params *stack, uint32_t back_vcpu, uint32_t front_vcpu)
{
    struct vif *v = xcalloc(1, sizeof *v);
    struct guest *dom0 = b->local.guest;

    BUG_ON(endpoint >= ENDPOINTS || b->vif[endpoint]);
    v->bridge = b;
    v->endpoint = endpoint;
    v->back = *back;
    v->front = *front;
    v->queues = queue_count(front->queues, dom0, guest);
    v->queue = xcalloc(v->queues, sizeof *v->queue);
    for (uint32_t i = 0; i < v->queues; i++) {
        struct vif_queue *q = &v->queue[i];

        q->vif = v;
        q->back = &dom0->vcpu[(back_vcpu + i) % dom0->domain->vcpu_count];
        q->front = &guest->vcpu[(front_vcpu + i) % guest->domain->vcpu_count];
        netback_init(q);
        netfront_init(q);
    }
    v->device = netfront_device;
    stack_init(&v->stack, guest, b->machine, endpoint, &v->device, stack);
    b->vif[endpoint] = v;
    return v;
}

void vif_free(struct vif *v)
{
    for (uint32_t i = 0; i < v->queues; i++) {
        packets_drop(&v->queue[i].queue);
        packets_drop(&v->queue[i].rx);
        packets_drop(&v->queue[i].waiting);
        packets_drop(&v->queue[i].tx);
    }
    stack_release(&v->stack);
    v->bridge->vif[v->endpoint] = NULL;
    free(v->queue);
    free(v);
}

uint64_t vif_held(const struct vif *v)
{
    uint64_t held = 0;

    for (uint32_t i = 0; i < v->queues; i++)
        held += v->queue[i].queue.count + v->queue[i].rx.count + v->queue[i].waiting.count +
                v->queue[i].tx.count;
    return held;
}
