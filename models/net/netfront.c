/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guest's half of the split driver: see netback.h. */
#include "models/net/netback.h"

static const struct param netfront_rows[] = {
    {PARAM("queues", INTEGER, struct netfront_params, queues), .def = "auto", .min = "1",
     .max = "64", .word = "auto", .word_value = 0,
     .meaning = "Queues of the vif, each with rings, events and a kernel thread in dom0; auto: as "
                "many as the guest and dom0 both have vCPUs, at most 8.",
     .source = "Linux xen-netfront, xen-netback: default of max_queues", .status = STATUS_CITED},
    {PARAM("rx_ring", INTEGER, struct netfront_params, rx_ring), .def = "256", .min = "17",
     .max = "65536", .meaning = "Places of the receive ring, one for each page.",
     .source = "Xen's netif.h: as many as fit on a page", .status = STATUS_EXACT},
    {PARAM("tx_ring", INTEGER, struct netfront_params, tx_ring), .def = "256", .min = "17",
     .max = "65536", .meaning = "Places of the transmit ring, one for each page.",
     .source = "Xen's netif.h: as many as fit on a page", .status = STATUS_EXACT},
    {PARAM("budget", INTEGER, struct netfront_params, budget), .def = "64", .min = "1",
     .max = "65536", .meaning = "Packets that one poll may take.", .source = "Linux: NAPI's weight",
     .status = STATUS_CITED},
    {PARAM("queue", INTEGER, struct netfront_params, queue), .def = "1000", .min = "0",
     .max = "1000000", .meaning = "Packets that wait for the transmit ring; then they are dropped.",
     .source = "Linux: txqueuelen of Ethernet devices", .status = STATUS_CITED},
    {PARAM("interrupt", DURATION, struct netfront_params, interrupt), .def = "0.5us", .max = "1ms",
     .meaning = "Handling of an event, after the upcall.", .status = STATUS_ASSUMED},
    {PARAM("poll", DURATION, struct netfront_params, poll), .def = "0.5us", .max = "1ms",
     .meaning = "Softirq: a poll, however many packets it finds.", .status = STATUS_ASSUMED},
    {PARAM("rx_packet", DURATION, struct netfront_params, rx_packet), .def = "1.5us", .max = "1ms",
     .meaning = "Softirq: each received packet, with the place it is given anew.",
     .status = STATUS_ASSUMED},
    {PARAM("rx_page", DURATION, struct netfront_params, rx_page), .def = "0.3us", .max = "1ms",
     .meaning = "Softirq: each further page of a received packet.", .status = STATUS_ASSUMED},
    {PARAM("tx_packet", DURATION, struct netfront_params, tx_packet), .def = "1us", .max = "1ms",
     .meaning = "Putting a packet on the transmit ring, in the sender's context.",
     .status = STATUS_ASSUMED},
    {PARAM("tx_page", DURATION, struct netfront_params, tx_page), .def = "0.3us", .max = "1ms",
     .meaning = "The same for each further page.", .status = STATUS_ASSUMED},
    {PARAM("tx_done", DURATION, struct netfront_params, tx_done), .def = "0.7us", .max = "1ms",
     .meaning = "Interrupt: each place of a packet that was sent.", .status = STATUS_ASSUMED},
    {PARAM("notify", DURATION, struct netfront_params, notify), .def = "0.6us", .max = "1ms",
     .meaning = "Hypercall that sends an event.",
     .source = "assumed; 1228 cycles of 2.1 GHz for a hypercall are remembered from Dall et al., "
               "ISCA 2016",
     .status = STATUS_ASSUMED},
};

const struct param_table netfront_table =
    PARAM_TABLE("netfront", struct netfront_params, netfront_rows,
                .meaning = "The guest's half of Xen's split network driver.");

/* ---- receiving ------------------------------------------------------------------------------- */

static void rx_interrupt(struct evtchn *ch, sim_time now)
{
    struct vif_queue *q = container_of(ch, struct vif_queue, rx_event);

    (void)now;
    guest_spend(q->front, q->vif->front.interrupt);
    q->front_again = false;
    guest_raise(q->front, &q->front_poll);
}

static sim_time rx_cost(struct work *w, struct guest_vcpu *gv)
{
    struct vif_queue *q = container_of(w, struct vif_queue, front_poll);
    const struct netfront_params *c = &q->vif->front;
    sim_time cost = q->front_again ? 0 : c->poll;
    uint32_t n = 0;

    q->front_began = vcpu_host(gv->vcpu)->queue->now;
    for (const struct packet *p = q->rx.first; p && n < c->budget; p = p->next, n++)
        cost += c->rx_packet + (ring_places(p) - 1) * c->rx_page;
    q->front_batch = n;
    return cost + stack_cost(&q->vif->stack, q->rx.first, n);
}

static void rx_run(struct work *w, struct guest_vcpu *gv, sim_time now)
{
    struct vif_queue *q = container_of(w, struct vif_queue, front_poll);

    for (; q->front_batch; q->front_batch--) {
        struct packet *p = packets_take(&q->rx);

        q->rx_used -= ring_places(p);
        hop_stamp_began(p, HOP_NETFRONT, HOP_NOTIFY, q->front_began);
        stack_input(&q->vif->stack, p, gv, now);
    }
    if (q->rx_starved) {
        q->rx_starved = false;
        q->vif->counts.room_events++;
        evtchn_send(&q->room_event, false);
    }
    if (q->rx.count) {
        q->front_again = true;
        guest_raise(gv, &q->front_poll);
    } else {
        q->rx_wanted = true;
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool fits(const struct vif_queue *q, const struct packet *p)
{
    return q->tx_used + ring_places(p) <= q->vif->front.tx_ring;
}

static void to_ring(struct vif_queue *q, struct packet *p)
{
    q->tx_used += ring_places(p);
    packets_add(&q->tx, p);
}

static void notify_back(struct vif_queue *q)
{
    if (!q->tx_wanted || !q->tx.count)
        return;
    q->tx_wanted = false;
    q->vif->counts.tx_events++;
    evtchn_send(&q->tx_event, false);
}

static void front_send(struct netdev *d, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    struct vif *v = container_of(d, struct vif, device);
    struct vif_queue *q = vif_queue_of(v, p);

    (void)gv;
    wait_begin(p, q->back->vcpu, now);
    if (!q->waiting.count && fits(q, p)) {
        to_ring(q, p);
        notify_back(q);
    } else if (q->waiting.count < v->front.queue) {
        packets_add(&q->waiting, p);
    } else {
        v->counts.dropped_tx++;
        packet_free(p);
    }
}

static sim_time front_send_cost(const struct netdev *d, uint32_t bytes)
{
    const struct vif *v = container_of(d, struct vif, device);

    return v->front.tx_packet + bytes / 4096 * v->front.tx_page +
           (v->queue[0].tx_wanted ? v->front.notify : 0);
}

const struct netdev netfront_device = {.send = front_send, .send_cost = front_send_cost};

/* Netback has answered: places are free again. */
static void answer_interrupt(struct evtchn *ch, sim_time now)
{
    struct vif_queue *q = container_of(ch, struct vif_queue, answer_event);
    const struct netfront_params *c = &q->vif->front;

    (void)now;
    guest_spend(q->front, c->interrupt + q->answered * c->tx_done);
    q->tx_used -= q->answered;
    q->answered = 0;
    q->answer_wanted = true;
    while (q->waiting.count && fits(q, q->waiting.first))
        to_ring(q, packets_take(&q->waiting));
    notify_back(q);
}

void netfront_init(struct vif_queue *q)
{
    packets_init(&q->rx);
    packets_init(&q->waiting);
    q->rx_event = (struct evtchn){.vcpu = q->front->vcpu, .handler = rx_interrupt};
    q->answer_event = (struct evtchn){.vcpu = q->front->vcpu, .handler = answer_interrupt};
    q->front_poll = (struct work){.cost = rx_cost, .run = rx_run};
    q->rx_wanted = q->answer_wanted = true;
}
