/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guest's half of the split driver: see netback.h. */
#include "models/net/netback.h"

static const struct param netfront_rows[] = {
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
    struct vif *v = container_of(ch, struct vif, rx_event);

    (void)now;
    guest_spend(v->front, v->front_params.interrupt);
    v->front_again = false;
    guest_raise(v->front, &v->front_poll);
}

static sim_time rx_cost(struct work *w, struct guest_vcpu *gv)
{
    struct vif *v = container_of(w, struct vif, front_poll);
    const struct netfront_params *c = &v->front_params;
    sim_time cost = v->front_again ? 0 : c->poll;
    uint32_t n = 0;

    v->front_began = vcpu_host(gv->vcpu)->queue->now;
    for (const struct packet *p = v->rx.first; p && n < c->budget; p = p->next, n++)
        cost += c->rx_packet + (ring_places(p) - 1) * c->rx_page;
    v->front_batch = n;
    return cost + stack_cost(&v->stack, v->rx.first, n);
}

static void rx_run(struct work *w, struct guest_vcpu *gv, sim_time now)
{
    struct vif *v = container_of(w, struct vif, front_poll);

    for (; v->front_batch; v->front_batch--) {
        struct packet *p = packets_take(&v->rx);

        v->rx_used -= ring_places(p);
        hop_stamp(p, HOP_NETFRONT,
                  v->front_began > p->stamp[HOP_NOTIFY] ? v->front_began : p->stamp[HOP_NOTIFY]);
        stack_input(&v->stack, p, gv, now);
    }
    if (v->rx_starved) {
        v->rx_starved = false;
        v->counts.room_events++;
        evtchn_send(&v->room_event, false);
    }
    if (v->rx.count) {
        v->front_again = true;
        guest_raise(gv, &v->front_poll);
    } else {
        v->rx_wanted = true;
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool fits(const struct vif *v, const struct packet *p)
{
    return v->tx_used + ring_places(p) <= v->front_params.tx_ring;
}

static void to_ring(struct vif *v, struct packet *p)
{
    v->tx_used += ring_places(p);
    packets_add(&v->tx, p);
}

static void notify_back(struct vif *v)
{
    if (!v->tx_wanted || !v->tx.count)
        return;
    v->tx_wanted = false;
    v->counts.tx_events++;
    evtchn_send(&v->tx_event, false);
}

static void front_send(struct netdev *d, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    struct vif *v = container_of(d, struct vif, device);

    (void)gv;
    wait_begin(p, v->back->vcpu, now);
    if (!v->waiting.count && fits(v, p)) {
        to_ring(v, p);
        notify_back(v);
    } else if (v->waiting.count < v->front_params.queue) {
        packets_add(&v->waiting, p);
    } else {
        v->counts.dropped_tx++;
        packet_free(p);
    }
}

static sim_time front_send_cost(const struct netdev *d, uint32_t bytes)
{
    const struct vif *v = container_of(d, struct vif, device);
    const struct netfront_params *c = &v->front_params;

    return c->tx_packet + bytes / 4096 * c->tx_page + (v->tx_wanted ? c->notify : 0);
}

/* Netback has answered: places are free again. */
static void answer_interrupt(struct evtchn *ch, sim_time now)
{
    struct vif *v = container_of(ch, struct vif, answer_event);

    (void)now;
    guest_spend(v->front, v->front_params.interrupt + v->answered * v->front_params.tx_done);
    v->tx_used -= v->answered;
    v->answered = 0;
    v->answer_wanted = true;
    while (v->waiting.count && fits(v, v->waiting.first))
        to_ring(v, packets_take(&v->waiting));
    notify_back(v);
}

void netfront_init(struct vif *v)
{
    packets_init(&v->rx);
    packets_init(&v->waiting);
    v->rx_event = (struct evtchn){.vcpu = v->front->vcpu, .handler = rx_interrupt};
    v->answer_event = (struct evtchn){.vcpu = v->front->vcpu, .handler = answer_interrupt};
    v->front_poll = (struct work){.cost = rx_cost, .run = rx_run};
    v->rx_wanted = v->answer_wanted = true;
    v->device = (struct netdev){.send = front_send, .send_cost = front_send_cost};
}
