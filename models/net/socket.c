/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/net/socket.h"

#include "sim/error.h"

#include <stdlib.h>

static const struct param stack_rows[] = {
    {PARAM("rx_packet", DURATION, struct stack_params, rx_packet), .def = "3us", .max = "1ms",
     .meaning = "Softirq: IP, transport and socket look-up of a received packet.",
     .status = STATUS_ASSUMED},
    {PARAM("rx_merged", DURATION, struct stack_params, rx_merged), .def = "0.5us", .max = "1ms",
     .meaning = "The same for a packet that GRO has merged with the one before it.",
     .status = STATUS_ASSUMED},
    {PARAM("wakeup", DURATION, struct stack_params, wakeup), .def = "1us", .max = "1ms",
     .meaning = "Softirq: waking the thread that waits on the socket.", .status = STATUS_ASSUMED},
    {PARAM("receive", DURATION, struct stack_params, receive), .def = "1.5us", .max = "1ms",
     .meaning = "System call that receives.", .status = STATUS_ASSUMED},
    {PARAM("send", DURATION, struct stack_params, send), .def = "4us", .max = "1ms",
     .meaning = "System call that sends, with transport, IP and queueing discipline.",
     .source = "assumed, so that the kernel's part of a memcached request is within the 10 to "
               "20 us that follow from 2 to 3 us of application being 10 to 20 % of it",
     .status = STATUS_ASSUMED},
    {PARAM("ack", DURATION, struct stack_params, ack), .def = "1.5us", .max = "1ms",
     .meaning = "Softirq: sending an acknowledgement of bulk data.", .status = STATUS_ASSUMED},
    {PARAM("kibibyte", DURATION, struct stack_params, kibibyte), .def = "0.1us", .max = "1ms",
     .meaning = "Copying a KiB between kernel and program.", .status = STATUS_ASSUMED},
    {PARAM("gro", BOOLEAN, struct stack_params, gro), .def = "true",
     .meaning = "Merge packets of one flow that come in one after the other (GRO).",
     .source = "Linux's default", .status = STATUS_CITED},
    {PARAM("queue", SIZE, struct stack_params, queue), .def = "208KiB", .min = "1KiB",
     .max = "1GiB",
     .meaning = "Bytes that a socket's receive queue holds; further packets are dropped.",
     .source = "Linux: net.core.rmem_default of 212992 bytes", .status = STATUS_CITED},
};

const struct param_table stack_table =
    PARAM_TABLE("stack", struct stack_params, stack_rows,
                .meaning = "What a kernel's network stack and its sockets cost and hold.");

void stack_init(struct stack *st, struct guest *g, struct machine *m, uint32_t endpoint,
                struct netdev *device, const struct stack_params *params)
{
    *st = (struct stack){
        .guest = g, .machine = m, .endpoint = endpoint, .device = device, .params = *params};
}

/* ---- sockets --------------------------------------------------------------------------------- */

static void socket_init(struct socket *s, struct stack *st, uint16_t port)
{
    s->stack = st;
    s->port = port;
    packets_init(&s->queue);
}

struct socket *socket_open(struct stack *st, uint16_t port, uint32_t slots)
{
    struct socket **chain = &st->by_port[port % PORT_HASH];
    struct socket *s = xcalloc(1, sizeof *s);

    for (const struct socket *o = *chain; o; o = o->next)
        BUG_ON(o->port == port);
    socket_init(s, st, port);
    s->slots = slots;
    if (slots)
        s->slot = xcalloc(slots, sizeof *s->slot);
    s->next = *chain;
    *chain = s;
    return s;
}

struct socket *socket_split(struct socket *s, uint32_t n)
{
    BUG_ON(s->sub || s->threads || !n);
    s->sub = xcalloc(n, sizeof *s->sub);
    s->subs = n;
    for (uint32_t i = 0; i < n; i++) {
        socket_init(&s->sub[i], s->stack, s->port);
        s->sub[i].parent = s;
    }
    return s->sub;
}

void socket_attach(struct socket *s, struct thread *t)
{
    if (!s->threads)
        s->gv = t->gv;
    s->threads++;
    s->waiting = xrealloc(s->waiting, s->threads * sizeof(struct thread *));
}

static void socket_release(struct socket *s)
{
    packets_drop(&s->queue);
    free(s->waiting);
    free(s->slot);
    for (uint32_t i = 0; i < s->subs; i++)
        socket_release(&s->sub[i]);
    free(s->sub);
}

void stack_release(struct stack *st)
{
    for (uint32_t i = 0; i < PORT_HASH; i++)
        for (struct socket *s = st->by_port[i], *next; s; s = next) {
            next = s->next;
            socket_release(s);
            free(s);
        }
}

/* Call f for every socket that can have a queue. */
static void each_socket(const struct stack *st, void (*f)(const struct socket *s, void *sum),
                        void *sum)
{
    for (uint32_t i = 0; i < PORT_HASH; i++)
        for (const struct socket *s = st->by_port[i]; s; s = s->next) {
            f(s, sum);
            for (uint32_t k = 0; k < s->subs; k++)
                f(&s->sub[k], sum);
        }
}

static void add_counts(const struct socket *s, void *sum)
{
    struct socket_counts *c = sum;

    c->received += s->counts.received;
    c->sent += s->counts.sent;
    c->dropped += s->counts.dropped;
    c->duplicates += s->counts.duplicates;
}

struct socket_counts stack_counts(const struct stack *st)
{
    struct socket_counts sum = {0};

    each_socket(st, add_counts, &sum);
    return sum;
}

static void add_held(const struct socket *s, void *sum)
{
    *(uint64_t *)sum += s->queue.count + s->in_hand;
}

uint64_t stack_held(const struct stack *st)
{
    uint64_t sum = 0;

    each_socket(st, add_held, &sum);
    return sum;
}

/* ---- duplicates ------------------------------------------------------------------------------ */

static struct socket_slot *slot_of(struct socket *s, const struct packet *p)
{
    if (s->parent)
        s = s->parent;
    return (uint64_t)p->value[VALUE_SLOT] < s->slots ? &s->slot[p->value[VALUE_SLOT]] : NULL;
}

/* Note a request; was it here before? Numbers that are too old to be remembered were. */
static bool slot_see(struct socket_slot *slot, uint64_t number)
{
    uint64_t age;

    if (number > slot->last) {
        uint64_t step = number - slot->last;

        slot->seen = step < 64 ? slot->seen << step : 0;
        slot->answered = step < 64 ? slot->answered << step : 0;
        slot->last = number;
    }
    age = slot->last - number;
    if (age >= 64 || slot->seen >> age & 1)
        return true;
    slot->seen |= UINT64_C(1) << age;
    return false;
}

static bool slot_answered(const struct socket_slot *slot, uint64_t number)
{
    uint64_t age = slot->last - number;

    return age >= 64 || slot->answered >> age & 1;
}

static void slot_answer(struct socket_slot *slot, uint64_t number)
{
    uint64_t age = slot->last - number;

    if (age < 64)
        slot->answered |= UINT64_C(1) << age;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static bool merges(const struct packet *p, const struct packet *before)
{
    return before && p->kind == PACKET_DATA && p->from == before->from && p->a == before->a &&
           p->b == before->b && p->kind == before->kind;
}

sim_time stack_cost(void *stack, const struct packet *first, uint32_t count)
{
    const struct stack_params *c = &((const struct stack *)stack)->params;
    const struct packet *before = NULL;
    sim_time cost = 0;

    for (const struct packet *p = first; count--; before = p, p = p->next) {
        if (address_port(p->a) == PORT_ECHO) { /* no thread to wake: answered here */
            cost += c->rx_packet + c->send;
            continue;
        }
        cost += c->gro && merges(p, before) ? c->rx_merged : c->rx_packet + c->wakeup;
        if (p->kind == PACKET_DATA)
            cost += c->ack;
    }
    return cost;
}

static struct socket *find(const struct stack *st, const struct packet *p)
{
    uint32_t port = address_port(p->a);
    struct socket *s = st->by_port[port % PORT_HASH];

    while (s && s->port != port)
        s = s->next;
    if (s && s->sub)
        s = &s->sub[(uint64_t)p->value[VALUE_SLOT] % s->subs];
    return s;
}

/* Turn a request into its answer, in whatever context, and send it. */
static void answer(struct stack *st, struct packet *p, uint32_t bytes, struct guest_vcpu *gv,
                   sim_time now)
{
    hop_stamp(p, HOP_END, now);
    net_turn(p);
    p->kind = PACKET_REPLY;
    p->bytes = bytes;
    st->device->send(st->device, p, gv, now);
}

static void echo(struct stack *st, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    if (p->kind != PACKET_REQUEST) {
        packet_free(p);
        return;
    }
    st->echoes++;
    hop_stamp(p, HOP_SOCKET, now);
    hop_stamp(p, HOP_START, now);
    answer(st, p, p->bytes, gv, now);
}

/* True: it was a duplicate, and is dealt with. */
static bool duplicate(struct socket *s, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    struct socket_slot *slot = p->kind == PACKET_REQUEST ? slot_of(s, p) : NULL;

    if (!slot || !slot_see(slot, p->id))
        return false;
    s->counts.duplicates++;
    if (slot_answered(slot, p->id)) {
        hop_stamp(p, HOP_START, now);
        answer(s->stack, p, (uint32_t)p->value[VALUE_REPLY], gv, now);
    } else {
        packet_free(p);
    }
    return true;
}

static void wake_one(struct socket *s, sim_time now)
{
    struct thread *t;

    if (!s->wait_count)
        return;
    t = s->waiting[s->wait_first];
    s->wait_first = (s->wait_first + 1) % s->threads;
    s->wait_count--;
    thread_wake(t, now);
}

void stack_input(void *stack, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    struct stack *st = stack;
    struct socket *s;

    wait_end(p, gv->vcpu, VALUE_VCPU_WAIT, now);
    if (address_port(p->a) == PORT_ECHO) {
        echo(st, p, gv, now);
        return;
    }
    s = find(st, p);
    if (!s || !s->threads) {
        st->unreachable++;
        packet_free(p);
        return;
    }
    hop_stamp(p, HOP_SOCKET, now);
    if (s->input && s->input(s, p, gv, now))
        return;
    if (s->queue.bytes + (int64_t)p->bytes > (s->limit ? s->limit : st->params.queue)) {
        s->counts.dropped++;
        packet_free(p);
        return;
    }
    if (duplicate(s, p, gv, now))
        return;
    s->counts.received++;
    wait_begin(p, s->gv->vcpu, now);
    packets_add(&s->queue, p);
    wake_one(s, now);
}

struct packet *socket_receive(struct socket *s, struct thread *t, sim_time now)
{
    struct packet *p = packets_take(&s->queue);

    if (!p)
        return NULL;
    s->in_hand++;
    wait_end(p, s->gv->vcpu, VALUE_VCPU_WAIT, now);
    if (t->gv != s->gv)
        wait_begin(p, t->gv->vcpu, now);
    hop_stamp(p, HOP_START, now);
    return p;
}

struct guest_op socket_wait(struct socket *s, struct thread *t)
{
    s->waiting[(s->wait_first + s->wait_count++) % s->threads] = t;
    return (struct guest_op){OP_WAIT, 0};
}

struct guest_op socket_wait_until(struct socket *s, struct thread *t, sim_time date)
{
    for (uint32_t i = 0; i < s->wait_count; i++) /* after a time-out it is there still */
        if (s->waiting[(s->wait_first + i) % s->threads] == t)
            return (struct guest_op){OP_WAIT, date};
    socket_wait(s, t);
    return (struct guest_op){OP_WAIT, date};
}

void socket_discard(struct socket *s, struct packet *p)
{
    s->in_hand--;
    packet_free(p);
}

/* ---- sending --------------------------------------------------------------------------------- */

void socket_reply(struct socket *s, struct thread *t, struct packet *p, uint32_t bytes,
                  sim_time now)
{
    struct socket_slot *slot = slot_of(s, p);

    s->in_hand--;
    s->counts.sent++;
    if (slot)
        slot_answer(slot, p->id);
    wait_end(p, t->gv->vcpu, VALUE_SERVICE_WAIT, now);
    answer(s->stack, p, bytes, t->gv, now);
}

void socket_send(struct socket *s, struct thread *t, struct packet *p, sim_time now)
{
    s->counts.sent++;
    p->b = net_address(s->stack->endpoint, s->port);
    s->stack->device->send(s->stack->device, p, t->gv, now);
}

static sim_time copy_cost(const struct stack_params *c, uint32_t bytes)
{
    return c->kibibyte * bytes / 1024;
}

sim_time socket_receive_cost(const struct socket *s, const struct packet *p)
{
    const struct stack_params *c = &s->stack->params;

    return c->receive + copy_cost(c, p->bytes);
}

sim_time socket_send_cost(const struct socket *s, uint32_t bytes)
{
    const struct stack *st = s->stack;

    return st->params.send + copy_cost(&st->params, bytes) +
           st->device->send_cost(st->device, bytes);
}
