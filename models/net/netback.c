/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dom0's half. The batch that the thread copies, or a poll takes, is fixed when it begins; its
 * packets become visible to the other side when its cost is paid.
 */
#include "models/net/netback.h"

#include "sim/error.h"

#include <stdlib.h>

static const struct param netback_rows[] = {
    {PARAM("queue", INTEGER, struct netback_params, queue), .def = "500", .min = "1",
     .max = "1000000",
     .meaning = "Packets that wait for a vif's kernel thread; then they are dropped.",
     .status = STATUS_ASSUMED},
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
};

const struct param_table netback_table =
    PARAM_TABLE("netback", struct netback_params, netback_rows,
                .meaning = "dom0's half of Xen's split network driver.");

/* ---- to the guest ---------------------------------------------------------------------------- */

void vif_queue(struct vif *v, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    if (v->queue.count >= v->back_params.queue) {
        v->counts.dropped_rx++;
        packet_free(p);
        return;
    }
    wait_end(p, gv->vcpu, VALUE_DOM0_WAIT, now);
    if (gv != v->back)
        wait_begin(p, v->back->vcpu, now);
    hop_stamp(p, HOP_VIF, now);
    packets_add(&v->queue, p);
    thread_wake(v->thread, now);
}

static uint32_t rx_room(const struct vif *v)
{
    return (uint32_t)v->front_params.rx_ring - v->rx_used;
}

/* Choose what to copy next: sets v->copying. Returns the cost, 0 if there is nothing to copy or no
 * room. */
static sim_time rx_begin(struct vif *v, sim_time now)
{
    const struct netback_params *c = &v->back_params;
    uint32_t room = rx_room(v), pages = 0;

    for (struct packet *p = v->queue.first; p; p = p->next) {
        uint32_t places = ring_places(p);

        if (pages + places > room || (v->copying && pages + places > c->rx_batch))
            break;
        pages += places;
        v->copying++;
        hop_stamp(p, HOP_NETBACK, now);
    }
    if (!v->copying)
        return 0;
    return c->rx_flush + v->copying * c->rx_packet + pages * c->rx_page +
           (v->rx_wanted ? c->notify : 0);
}

/* The batch is copied: it is in the ring. */
static void rx_done(struct vif *v, sim_time now)
{
    for (; v->copying; v->copying--) {
        struct packet *p = packets_take(&v->queue);

        wait_end(p, v->back->vcpu, VALUE_DOM0_WAIT, now);
        wait_begin(p, v->front->vcpu, now);
        hop_stamp(p, HOP_NOTIFY, now);
        v->rx_used += ring_places(p);
        v->counts.to_guest++;
        packets_add(&v->rx, p);
    }
    if (!v->rx_wanted)
        return;
    v->rx_wanted = false;
    v->counts.notifications++;
    evtchn_send(&v->rx_event, true);
}

static struct guest_op netback_next(struct thread *t, sim_time now)
{
    struct vif *v = t->user_data;
    sim_time cost;

    if (v->copying)
        rx_done(v, now);
    cost = rx_begin(v, now);
    if (v->copying)
        return (struct guest_op){OP_COMPUTE, cost};
    v->rx_starved = v->queue.count > 0;
    return (struct guest_op){OP_WAIT, 0};
}

static const struct program program_netback = {
    .name = "netback", .meaning = "Copies packets to a guest.", .next = netback_next};

static void room_interrupt(struct evtchn *ch, sim_time now)
{
    thread_wake(container_of(ch, struct vif, room_event)->thread, now);
}

/* ---- from the guest -------------------------------------------------------------------------- */

static void tx_interrupt(struct evtchn *ch, sim_time now)
{
    struct vif *v = container_of(ch, struct vif, tx_event);

    (void)now;
    v->back_again = false;
    guest_raise(v->back, &v->back_poll);
}

static sim_time tx_cost(struct work *w, struct guest_vcpu *gv)
{
    struct vif *v = container_of(w, struct vif, back_poll);
    const struct netback_params *c = &v->back_params;
    sim_time cost = v->back_again ? 0 : c->tx_poll;
    uint32_t n = 0;

    v->back_began = vcpu_host(gv->vcpu)->queue->now;
    for (const struct packet *p = v->tx.first; p && n < c->budget; p = p->next, n++)
        cost += c->tx_packet + ring_places(p) * c->tx_page;
    v->back_batch = n;
    return cost + bridge_cost(v->bridge, v->tx.first, n) + (v->answer_wanted ? c->notify : 0);
}

static void tx_run(struct work *w, struct guest_vcpu *gv, sim_time now)
{
    struct vif *v = container_of(w, struct vif, back_poll);

    for (; v->back_batch; v->back_batch--) {
        struct packet *p = packets_take(&v->tx);

        v->answered += ring_places(p);
        v->counts.from_guest++;
        hop_stamp(p, HOP_BACK_NETBACK,
                  v->back_began > p->stamp[HOP_END] ? v->back_began : p->stamp[HOP_END]);
        bridge_input(v->bridge, p, gv, now);
    }
    if (v->answer_wanted && v->answered) {
        v->answer_wanted = false;
        v->counts.completions++;
        evtchn_send(&v->answer_event, false);
    }
    if (v->tx.count) {
        v->back_again = true;
        guest_raise(gv, &v->back_poll);
    } else {
        v->tx_wanted = true;
    }
}

/* ---- building -------------------------------------------------------------------------------- */

void netback_init(struct vif *v)
{
    packets_init(&v->queue);
    packets_init(&v->tx);
    v->tx_event = (struct evtchn){.vcpu = v->back->vcpu, .handler = tx_interrupt};
    v->room_event = (struct evtchn){.vcpu = v->back->vcpu, .handler = room_interrupt};
    v->back_poll = (struct work){.cost = tx_cost, .run = tx_run};
    v->tx_wanted = true;
    v->thread = guest_add_thread(v->back, &program_netback, NULL, "netback", CLASS_NORMAL, 0);
    v->thread->user_data = v;
}

struct vif *vif_new(struct bridge *b, uint32_t endpoint, const struct netback_params *back_params,
                    const struct netfront_params *front_params, const struct stack_params *stack,
                    struct guest_vcpu *back, struct guest_vcpu *front)
{
    struct vif *v = xcalloc(1, sizeof *v);

    BUG_ON(endpoint >= ENDPOINTS || b->vif[endpoint]);
    v->bridge = b;
    v->endpoint = endpoint;
    v->back = back;
    v->front = front;
    v->back_params = *back_params;
    v->front_params = *front_params;
    netback_init(v);
    netfront_init(v);
    stack_init(&v->stack, front->guest, b->machine, endpoint, &v->device, stack);
    b->vif[endpoint] = v;
    return v;
}

void vif_free(struct vif *v)
{
    packets_drop(&v->queue);
    packets_drop(&v->rx);
    packets_drop(&v->waiting);
    packets_drop(&v->tx);
    stack_release(&v->stack);
    v->bridge->vif[v->endpoint] = NULL;
    free(v);
}

uint64_t vif_held(const struct vif *v)
{
    return v->queue.count + v->rx.count + v->waiting.count + v->tx.count;
}
