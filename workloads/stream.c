/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of packets: id is the number of a chunk, or in an acknowledgement that of the next one
 * wanted; VALUE_REPLY is the window in chunks. In the guest, acknowledgements are handled and made
 * in the softirq (socket->input), data are read and written by the threads.
 */
#include "workloads/stream.h"

#include "models/net/socket.h"
#include "sim/error.h"
#include "workloads/tcp.h"

#include <stdlib.h>

enum { STREAMS_MAX = 64, FIRST_WINDOW = 1 };

struct flow {
    struct stream *stream;
    uint32_t number;
    uint16_t port;         /* in the guest */
    struct socket *socket; /* there */
    struct thread *thread;
    struct tcp_sender sender;
    struct tcp_receiver receiver;
    uint32_t told; /* window told last, at a guest that receives */
    struct packet *reading;
    bool sending;         /* the guest's thread pays for a chunk */
    struct timer timeout; /* at a client that sends */
};

struct stream {
    struct client_endpoint endpoint; /* first: see stream_of() */
    struct client_host *host;
    struct stream_params params;
    struct machine *guest_machine;
    uint32_t guest_endpoint;
    struct stack *stack; /* the guest's: its end alone looks there */
    struct flow *flow;
    uint32_t flows;
    sim_time start;
    struct stream_results results;
    struct timer begin;
};

static struct stream *stream_of(struct client_endpoint *e)
{
    return (struct stream *)(void *)e;
}

static uint32_t window_chunks(const struct stream *s)
{
    int64_t chunks = s->params.window / s->params.chunk;

    return chunks < 1 ? 1 : chunks > TCP_WINDOW_MAX ? TCP_WINDOW_MAX : (uint32_t)chunks;
}

static uint32_t chunk_bytes(const struct stream *s)
{
    return packet_framed((uint32_t)s->params.chunk);
}

static void count(struct stream *s, uint32_t chunks, sim_time now)
{
    if (now >= s->results.from && now < s->results.until)
        s->results.bytes += chunks * (uint64_t)s->params.chunk;
}

/* ---- the guest's end ------------------------------------------------------------------------- */

static struct packet *guest_packet(const struct flow *f, enum packet_kind kind, uint32_t bytes)
{
    const struct stream *s = f->stream;
    struct packet *p = packet_new(s->guest_machine, s->host->machine);

    p->kind = (uint16_t)kind;
    p->a = net_address(s->endpoint.number, f->number);
    p->b = net_address(s->stack->endpoint, f->socket->port);
    p->bytes = bytes;
    return p;
}

static uint32_t guest_room(const struct flow *f)
{
    uint32_t used = f->socket->queue.count + f->socket->in_hand, all = window_chunks(f->stream);

    return used < all ? all - used : 0;
}

/* `taking`: chunks that are about to be put on the queue. */
static void guest_acknowledge(struct flow *f, bool gap, uint32_t taking, struct guest_vcpu *gv,
                              sim_time now)
{
    struct packet *p = guest_packet(f, PACKET_ACK, packet_framed(0));
    uint32_t room = guest_room(f);

    p->id = f->receiver.next;
    p->flags = gap ? PACKET_GAP : 0;
    f->told = room > taking ? room - taking : 0;
    p->value[VALUE_REPLY] = f->told;
    f->stream->stack->device->send(f->stream->stack->device, p, gv, now);
}

/* In the softirq of the guest, before the packet is put on the socket's queue. */
static bool guest_input(struct socket *socket, struct packet *p, struct guest_vcpu *gv,
                        sim_time now)
{
    struct flow *f = socket->input_data;
    bool again, gap;

    if (p->kind == PACKET_ACK) {
        tcp_acknowledged(&f->sender, p->id, (uint32_t)p->value[VALUE_REPLY], p->flags & PACKET_GAP,
                         now);
        packet_free(p);
        thread_wake(f->thread, now);
        return true;
    }
    gap = p->id != f->receiver.next;
    count(f->stream, tcp_received(&f->receiver, p->id, &again), now);
    if (again) {
        packet_free(p);
        guest_acknowledge(f, true, 0, gv, now);
        return true;
    }
    guest_acknowledge(f, gap, 1, gv, now);
    return false;
}

static struct guest_op source_next(struct thread *t, sim_time now)
{
    struct flow *f = t->user_data;
    struct stream *s = f->stream;

    if (now < s->start)
        return (struct guest_op){OP_SLEEP, s->start};
    if (f->sending) {
        struct packet *p = guest_packet(f, PACKET_DATA, chunk_bytes(s));

        p->id = tcp_send(&f->sender, now);
        f->sending = false;
        socket_send(f->socket, t, p, now);
    }
    if (now >= f->sender.deadline)
        tcp_timed_out(&f->sender, now);
    if (!tcp_may_send(&f->sender))
        return (struct guest_op){OP_WAIT, f->sender.deadline == SIM_NEVER ? 0 : f->sender.deadline};
    f->sending = true;
    return (struct guest_op){OP_COMPUTE, socket_send_cost(f->socket, chunk_bytes(s))};
}

static struct guest_op sink_next(struct thread *t, sim_time now)
{
    struct flow *f = t->user_data;
    uint32_t all = window_chunks(f->stream);

    if (f->reading) {
        socket_discard(f->socket, f->reading);
        if (f->told < all / 2 && guest_room(f) >= all / 2) /* it may go on */
            guest_acknowledge(f, false, 0, t->gv, now);
    }
    f->reading = socket_receive(f->socket, t, now);
    if (!f->reading)
        return socket_wait(f->socket, t);
    return (struct guest_op){OP_COMPUTE, socket_receive_cost(f->socket, f->reading)};
}

static const struct program program_source = {.name = "stream",
                                              .meaning = "Sends bulk data.",
                                              .next = source_next},
                            program_sink = {
                                .name = "stream", .meaning = "Reads bulk data.", .next = sink_next};

/* ---- the client's end ------------------------------------------------------------------------ */

static void client_send(struct flow *f, sim_time now)
{
    struct stream *s = f->stream;

    while (tcp_may_send(&f->sender)) {
        struct packet *p = packet_new(s->host->machine, s->guest_machine);

        p->kind = PACKET_DATA;
        p->id = tcp_send(&f->sender, now);
        p->a = net_address(s->guest_endpoint, f->port);
        p->b = net_address(s->endpoint.number, f->number);
        p->bytes = chunk_bytes(s);
        packet_send(p);
    }
    if (f->sender.deadline != SIM_NEVER && !timer_armed(&f->timeout))
        queue_arm(&s->host->machine->queue, &f->timeout, f->sender.deadline);
}

static void client_timeout(struct timer *t, sim_time now)
{
    struct flow *f = container_of(t, struct flow, timeout);

    if (now >= f->sender.deadline)
        tcp_timed_out(&f->sender, now);
    client_send(f, now);
    if (f->sender.deadline != SIM_NEVER && !timer_armed(&f->timeout))
        queue_arm(&f->stream->host->machine->queue, &f->timeout, f->sender.deadline);
}

/* A chunk's packet goes back as its acknowledgement. */
static void acknowledgement_due(struct timer *t, sim_time now)
{
    (void)now;
    packet_send(container_of(t, struct packet, timer));
}

static void client_receive(struct flow *f, struct packet *p, sim_time now)
{
    struct stream *s = f->stream;
    bool again, gap = p->id != f->receiver.next;

    count(s, tcp_received(&f->receiver, p->id, &again), now);
    net_turn(p);
    p->kind = PACKET_ACK;
    p->flags = gap || again ? PACKET_GAP : 0;
    p->id = f->receiver.next;
    p->bytes = packet_framed(0);
    p->value[VALUE_REPLY] = window_chunks(s);
    timer_init(&p->timer, acknowledgement_due);
    queue_arm(&s->host->machine->queue, &p->timer, now + s->params.delay);
}

static void arrival(struct client_endpoint *e, struct packet *p, sim_time now)
{
    struct stream *s = stream_of(e);
    uint32_t number = address_port(p->a);
    struct flow *f = &s->flow[number % s->flows];

    if (number >= s->flows) {
        packet_free(p);
    } else if (p->kind == PACKET_DATA) {
        client_receive(f, p, now);
    } else {
        tcp_acknowledged(&f->sender, p->id, (uint32_t)p->value[VALUE_REPLY], p->flags & PACKET_GAP,
                         now);
        packet_free(p);
        client_send(f, now);
    }
}

static void begin(struct timer *t, sim_time now)
{
    struct stream *s = container_of(t, struct stream, begin);

    for (uint32_t i = 0; i < s->flows; i++)
        client_send(&s->flow[i], now);
}

/* ---- building -------------------------------------------------------------------------------- */

static void release(struct client_endpoint *e)
{
    struct stream *s = stream_of(e);
    struct queue *q = &s->host->machine->queue;

    queue_cancel(q, &s->begin);
    for (uint32_t i = 0; i < s->flows; i++)
        queue_cancel(q, &s->flow[i].timeout);
    free(s->flow);
    free(s);
}

struct stream *stream_new(struct client_host *ch, const struct stream_params *params,
                          struct machine *guest_machine, uint32_t endpoint)
{
    struct stream *s = xcalloc(1, sizeof *s);

    BUG_ON(params->connections < 1 || params->connections > STREAMS_MAX);
    s->host = ch;
    s->params = *params;
    s->guest_machine = guest_machine;
    s->guest_endpoint = endpoint;
    s->flows = (uint32_t)params->connections;
    s->flow = xcalloc(s->flows, sizeof *s->flow);
    s->endpoint.arrival = arrival;
    s->endpoint.release = release;
    timer_init(&s->begin, begin);
    client_host_add(ch, &s->endpoint);
    for (uint32_t i = 0; i < s->flows; i++) {
        struct flow *f = &s->flow[i];

        f->stream = s;
        f->number = i;
        f->port = (uint16_t)(params->port + i);
        f->told = window_chunks(s);
        tcp_sender_init(&f->sender, FIRST_WINDOW, window_chunks(s), params->timeout);
        timer_init(&f->timeout, client_timeout);
    }
    return s;
}

void stream_serve(struct stream *s, const struct program_site *site)
{
    bool out = s->params.direction == STREAM_FROM_GUEST;
    struct guest *g = site->guest;

    BUG_ON(!site->stack);
    s->stack = site->stack;
    for (uint32_t i = 0; i < s->flows; i++) {
        struct flow *f = &s->flow[i];

        f->socket = socket_open(site->stack, f->port, 0);
        f->socket->input = guest_input;
        f->socket->input_data = f;
        f->socket->limit = (int64_t)chunk_bytes(s) * (window_chunks(s) + 1);
        f->thread = guest_add_thread(&g->vcpu[(site->vcpu + i) % g->domain->vcpu_count],
                                     out ? &program_source : &program_sink, NULL, site->entity,
                                     site->class, site->priority);
        f->thread->user_data = f;
        socket_attach(f->socket, f->thread);
    }
}

void stream_start(struct stream *s, sim_time start, sim_time from, sim_time until)
{
    s->start = start;
    s->results.from = from;
    s->results.until = until;
    if (s->params.direction == STREAM_TO_GUEST)
        queue_arm(&s->host->machine->queue, &s->begin, start);
}

const struct stream_results *stream_results(struct stream *s)
{
    s->results.retransmits = s->results.timeouts = 0;
    for (uint32_t i = 0; i < s->flows; i++) {
        s->results.retransmits += s->flow[i].sender.retransmits;
        s->results.timeouts += s->flow[i].sender.timeouts;
    }
    return &s->results;
}

double stream_rate(const struct stream_results *r)
{
    return (double)r->bytes * 8 * NS_PER_S / (double)(r->until - r->from);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static const char *const direction_names[] = {"from_guest", "to_guest", NULL};

static const struct param stream_rows[] = {
    {PARAM("direction", ENUM, struct stream_params, direction), .def = "from_guest",
     .range = PARAM_NO_RANGE, .names = direction_names, .meaning = "Which end sends.",
     .status = STATUS_ASSUMED},
    {PARAM("connections", INTEGER, struct stream_params, connections), .def = "1", .min = "1",
     .max = "64", .meaning = "Connections at once, each with a thread of its own in the guest.",
     .source = "iperf's default", .status = STATUS_CITED},
    {PARAM("port", INTEGER, struct stream_params, port), .def = "5001", .min = "1", .max = "65000",
     .meaning = "Port of the first connection in the guest; the others follow.",
     .source = "iperf's default", .status = STATUS_CITED},
    {PARAM("chunk", SIZE, struct stream_params, chunk), .def = "16KiB", .min = "64B",
     .max = "64KiB", .meaning = "Bytes that TSO and GRO handle together, as one packet.",
     .status = STATUS_ASSUMED},
    {PARAM("window", SIZE, struct stream_params, window), .def = "1MiB", .min = "1KiB",
     .max = "64MiB", .meaning = "Bytes that the receiver can hold.", .status = STATUS_ASSUMED},
    {PARAM("delay", DURATION, struct stream_params, delay), .def = "15us", .max = "1s",
     .meaning = "From the arrival of data at the client's end to their acknowledgement.",
     .status = STATUS_ASSUMED},
    {PARAM("timeout", DURATION, struct stream_params, timeout), .def = "200ms", .min = "1ms",
     .max = "2min", .meaning = "Least retransmission time-out above the round-trip time.",
     .source = "Linux: TCP_RTO_MIN", .status = STATUS_CITED},
};

const struct param_table stream_table = PARAM_TABLE("stream", struct stream_params, stream_rows,
                                                    .meaning = "Bulk TCP to or from a guest.");
