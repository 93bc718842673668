/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/net/nic.h"

#include "sim/error.h"

#include <stdlib.h>

/* Adaptive moderation after e1000e's idea of classes: few packets per interrupt ask for low
 * latency, many for few interrupts. */
enum { ADAPT_FEW = 5, ADAPT_MANY = 32 };

static const char *const moderation_names[] = {"none", "fixed", "adaptive", NULL};

static const struct param nic_rows[] = {
    {PARAM("queues", INTEGER, struct nic_params, queues), .def = "1", .min = "1", .max = "64",
     .meaning = "Receive queues (RSS), each with an interrupt to a vCPU of dom0.",
     .status = STATUS_ASSUMED},
    {PARAM("rx_ring", INTEGER, struct nic_params, rx_ring), .def = "256", .min = "1",
     .max = "65536", .meaning = "Descriptors of a receive ring: frames it holds.",
     .source = "Linux e1000e, igb: 256 by default", .status = STATUS_CITED},
    {PARAM("tx_ring", INTEGER, struct nic_params, tx_ring), .def = "256", .min = "1",
     .max = "65536", .meaning = "Descriptors of the transmit ring.",
     .source = "Linux e1000e, igb: 256 by default", .status = STATUS_CITED},
    {PARAM("budget", INTEGER, struct nic_params, budget), .def = "64", .min = "1", .max = "65536",
     .meaning = "Frames that one poll may take.", .source = "Linux: NAPI's weight",
     .status = STATUS_CITED},
    {PARAM("moderation", ENUM, struct nic_params, moderation), .def = "adaptive",
     .names = moderation_names,
     .meaning = "Whether interrupts are held back: none, at least an interval between two, or an "
                "interval that follows the load.",
     .source = "e1000e: dynamic conservative mode by default", .status = STATUS_CITED},
    {PARAM("interval", DURATION, struct nic_params, interval), .def = "250us", .max = "100ms",
     .meaning = "Shortest time between two interrupts (adaptive: under bulk load).",
     .source = "assumed: e1000e's dynamic modes range from 4000 to 20000 interrupts/s",
     .status = STATUS_ASSUMED},
    {PARAM("interval_min", DURATION, struct nic_params, interval_min), .def = "50us",
     .max = "100ms", .meaning = "The same under light load (adaptive only).",
     .source = "assumed: e1000e's dynamic modes range from 4000 to 20000 interrupts/s",
     .status = STATUS_ASSUMED},
    {PARAM("interrupt", DURATION, struct nic_params, interrupt), .def = "1.5us", .max = "1ms",
     .meaning = "Handling of an interrupt.", .status = STATUS_ASSUMED},
    {PARAM("poll", DURATION, struct nic_params, poll), .def = "0.5us", .max = "1ms",
     .meaning = "A poll, however many packets it finds.", .status = STATUS_ASSUMED},
    {PARAM("rx_packet", DURATION, struct nic_params, rx_packet), .def = "1us", .max = "1ms",
     .meaning = "Driver, per received frame, merging frames of a packet (GRO) included.",
     .status = STATUS_ASSUMED},
    {PARAM("tx_packet", DURATION, struct nic_params, tx_packet), .def = "1us", .max = "1ms",
     .meaning = "Driver, per sent packet, cleaning up included.", .status = STATUS_ASSUMED},
    {PARAM("queue_length", INTEGER, struct nic_params, queue_length), .def = "1000", .min = "0",
     .max = "1000000", .meaning = "Packets that wait for the transmit ring; then they are dropped.",
     .source = "Linux: txqueuelen of Ethernet devices", .status = STATUS_CITED},
};

const struct param_table nic_table =
    PARAM_TABLE("nic", struct nic_params, nic_rows,
                .meaning = "A physical NIC and its driver. Line rate and latency are the "
                           "platform's.");

/* ---- interrupts ------------------------------------------------------------------------------ */

/* An interrupt reaches the pCPU of the vCPU that it is bound to. */
static void raise_irq(struct nic_queue *q, sim_time now)
{
    struct vcpu *v = q->gv->vcpu;
    struct host *h = vcpu_host(v);
    uint32_t executing = h->executing;

    q->raised = now;
    q->function->counts.interrupts++;
    h->executing = v->processor;
    evtchn_send(&q->irq, false);
    h->executing = executing;
}

static void moderation_over(struct timer *t, sim_time now)
{
    struct nic_queue *q = container_of(t, struct nic_queue, moderation);

    for (struct packet *p = q->ring.first; p; p = p->next) {
        p->value[VALUE_NIC_WAIT] = now - p->stamp[HOP_NIC];
        wait_begin(p, q->gv->vcpu, now); /* until now it has waited for nobody else */
    }
    raise_irq(q, now);
}

static void want_interrupt(struct nic_queue *q, sim_time now)
{
    sim_time earliest = q->raised + q->interval;

    if (q->polling || q->irq.pending || timer_armed(&q->moderation))
        return;
    if (now >= earliest)
        raise_irq(q, now);
    else
        queue_arm(&q->function->nic->machine->queue, &q->moderation, earliest);
}

static void adapt(struct nic_queue *q)
{
    const struct nic_params *c = &q->function->nic->params;

    if (c->moderation != MODERATION_ADAPTIVE)
        return;
    if (q->burst >= ADAPT_MANY)
        q->interval = c->interval;
    else if (q->burst <= ADAPT_FEW)
        q->interval = c->interval_min;
    q->burst = 0;
}

static void interrupt(struct evtchn *ch, sim_time now)
{
    struct nic_queue *q = container_of(ch, struct nic_queue, irq);

    (void)now;
    guest_spend(q->gv, q->function->nic->params.interrupt);
    adapt(q);
    q->polling = true;
    q->again = false;
    guest_raise(q->gv, &q->poll);
}

/* ---- loans ----------------------------------------------------------------------------------- */

static struct nic_loan loan_of(const struct nic *n, const struct packet *p)
{
    const struct net_upper *up = &n->physical->upper;

    return up->loan ? up->loan(up->owner, p) : (struct nic_loan){NULL, 0};
}

static void repay(struct nic *n, struct nic_loan loan, sim_time now)
{
    if (loan.places)
        n->physical->upper.repay(loan, now);
}

static void repay_first(struct nic *n, sim_time now)
{
    struct nic_loan loan = n->lent[n->lent_first].loan;

    n->lent_first = (n->lent_first + 1) % (uint32_t)n->params.tx_ring;
    n->lent_count--;
    repay(n, loan, now);
}

/* Its packet leaves at that date. */
static void lend(struct nic *n, struct nic_loan loan, sim_time leaves, sim_time now)
{
    uint32_t ring = (uint32_t)n->params.tx_ring;

    if (!loan.places)
        return;
    if (n->lent_count == ring) /* senders clean up when there is no descriptor left */
        repay_first(n, now);
    n->lent[(n->lent_first + n->lent_count++) % ring] = (struct nic_lent){leaves, loan};
    if (n->lent_count == 1)
        queue_arm(&n->machine->queue, &n->clean, leaves);
}

/* Give back what has been sent. */
static void clean(struct nic *n, sim_time now)
{
    while (n->lent_count && n->lent[n->lent_first].leaves <= now)
        repay_first(n, now);
    if (n->lent_count && !timer_armed(&n->clean))
        queue_arm(&n->machine->queue, &n->clean, n->lent[n->lent_first].leaves);
}

static void has_left(struct timer *t, sim_time now)
{
    struct nic *n = container_of(t, struct nic, clean);

    want_interrupt(&n->physical->queue[0], now);
}

/* ---- the poll -------------------------------------------------------------------------------- */

static sim_time poll_cost(struct work *w, struct guest_vcpu *gv)
{
    struct nic_queue *q = container_of(w, struct nic_queue, poll);
    const struct nic_params *c = &q->function->nic->params;
    const struct net_upper *up = &q->function->upper;
    uint32_t frames = 0;

    q->began = vcpu_host(gv->vcpu)->queue->now;
    for (const struct packet *p = q->ring.first; p && frames < c->budget; p = p->next) {
        frames += packet_frames(p);
        q->batch++;
    }
    q->burst += frames;
    return (q->again ? 0 : c->poll) + frames * c->rx_packet +
           up->cost(up->owner, q->ring.first, q->batch);
}

static void poll_run(struct work *w, struct guest_vcpu *gv, sim_time now)
{
    struct nic_queue *q = container_of(w, struct nic_queue, poll);
    const struct net_upper *up = &q->function->upper;

    q->function->counts.polls++;
    for (; q->batch; q->batch--) {
        struct packet *p = packets_take(&q->ring);

        q->frames -= packet_frames(p);
        hop_stamp_began(p, HOP_DRIVER, HOP_NIC, q->began);
        up->input(up->owner, p, gv, now);
    }
    if (q == &q->function->nic->physical->queue[0])
        clean(q->function->nic, now);
    if (q->ring.count) {
        q->again = true;
        guest_raise(gv, &q->poll);
    } else {
        q->polling = false;
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

void nic_receive(struct nic *n, struct packet *p, sim_time now)
{
    struct nic_function *f = n->by_endpoint[address_endpoint(p->a) % ENDPOINTS];
    struct nic_queue *q;

    if (!f)
        f = n->physical;
    q = &f->queue[f->queues > 1 ? packet_flow(p) % f->queues : 0];
    if (domain_gone(q->gv->guest->domain) ||
        (q->ring.count && q->frames + packet_frames(p) > n->params.rx_ring)) {
        f->counts.dropped_rx++;
        packet_free(p);
        return;
    }
    f->counts.received++;
    hop_stamp(p, HOP_NIC, now);
    wait_begin(p, q->gv->vcpu, now);
    packets_add(&q->ring, p);
    q->frames += packet_frames(p);
    want_interrupt(q, now);
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool has_room(const struct nic *n, sim_time now)
{
    return n->leaves[n->next_leave] <= now;
}

static void to_wire(struct nic *n, struct packet *p, sim_time now)
{
    struct nic_loan loan = loan_of(n, p);

    packet_send(p);
    lend(n, loan, p->left, now);
    n->leaves[n->next_leave] = p->left;
    n->next_leave = (n->next_leave + 1) % (uint32_t)n->params.tx_ring;
}

static void await_room(struct nic *n)
{
    if (n->waiting.count)
        queue_arm(&n->machine->queue, &n->room, n->leaves[n->next_leave]);
}

static void room_again(struct timer *t, sim_time now)
{
    struct nic *n = container_of(t, struct nic, room);

    while (n->waiting.count && has_room(n, now))
        to_wire(n, packets_take(&n->waiting), now);
    await_room(n);
}

void nic_transmit(struct nic_function *f, struct packet *p, sim_time now)
{
    struct nic *n = f->nic;

    if (p->to == n->machine) {
        lend(n, loan_of(n, p), now, now);
        nic_receive(n, p, now);
        return;
    }
    if (!n->waiting.count && has_room(n, now)) {
        f->counts.sent++;
        to_wire(n, p, now);
    } else if (n->waiting.count < n->params.queue_length) {
        f->counts.sent++;
        packets_add(&n->waiting, p);
        if (n->waiting.count == 1)
            await_room(n);
    } else {
        f->counts.dropped_tx++;
        repay(n, loan_of(n, p), now);
        packet_free(p);
    }
}

/* ---- building -------------------------------------------------------------------------------- */

static void init_queue(struct nic_queue *q, struct nic_function *f, struct guest_vcpu *gv)
{
    const struct nic_params *c = &f->nic->params;
    const sim_time interval[] = {[MODERATION_NONE] = 0,
                                 [MODERATION_FIXED] = c->interval,
                                 [MODERATION_ADAPTIVE] = c->interval_min};

    q->function = f;
    q->gv = gv;
    q->irq = (struct evtchn){.vcpu = gv->vcpu, .handler = interrupt};
    q->poll = (struct work){.cost = poll_cost, .run = poll_run};
    timer_init(&q->moderation, moderation_over);
    packets_init(&q->ring);
    q->interval = interval[c->moderation];
    q->raised = -q->interval;
}

static struct nic_function *add_function(struct nic *n, uint32_t queues, struct guest *owner,
                                         uint32_t irq_vcpu, const struct net_upper *upper)
{
    struct nic_function *f = xcalloc(1, sizeof *f);

    f->nic = n;
    f->upper = *upper;
    f->queues = queues;
    f->queue = xcalloc(queues, sizeof *f->queue);
    for (uint32_t i = 0; i < queues; i++)
        init_queue(&f->queue[i], f, &owner->vcpu[(irq_vcpu + i) % owner->domain->vcpu_count]);
    f->next = n->functions;
    n->functions = f;
    return f;
}

struct nic *nic_new(struct machine *m, const struct nic_params *params, struct guest *owner,
                    uint32_t irq_vcpu, const struct net_upper *upper)
{
    struct nic *n = xcalloc(1, sizeof *n);

    n->machine = m;
    n->params = *params;
    n->leaves = xcalloc((size_t)params->tx_ring, sizeof *n->leaves);
    n->lent = xcalloc((size_t)params->tx_ring, sizeof *n->lent);
    timer_init(&n->clean, has_left);
    packets_init(&n->waiting);
    timer_init(&n->room, room_again);
    n->physical = add_function(n, (uint32_t)params->queues, owner, irq_vcpu, upper);
    return n;
}

struct nic_function *nic_add_function(struct nic *n, uint32_t endpoint, struct guest *owner,
                                      uint32_t irq_vcpu, const struct net_upper *upper)
{
    BUG_ON(endpoint >= ENDPOINTS || n->by_endpoint[endpoint]);
    return n->by_endpoint[endpoint] = add_function(n, 1, owner, irq_vcpu, upper);
}

void nic_free(struct nic *n)
{
    for (struct nic_function *f = n->functions, *next; f; f = next) {
        next = f->next;
        for (uint32_t i = 0; i < f->queues; i++) {
            queue_cancel(&n->machine->queue, &f->queue[i].moderation);
            packets_drop(&f->queue[i].ring);
        }
        free(f->queue);
        free(f);
    }
    queue_cancel(&n->machine->queue, &n->room);
    queue_cancel(&n->machine->queue, &n->clean);
    packets_drop(&n->waiting);
    free(n->leaves);
    free(n->lent);
    free(n);
}

uint64_t nic_held(const struct nic *n)
{
    uint64_t held = n->waiting.count;

    for (const struct nic_function *f = n->functions; f; f = f->next)
        for (uint32_t i = 0; i < f->queues; i++)
            held += f->queue[i].ring.count;
    return held;
}
