/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events per request: one at the client when it goes out, one when the reply comes in. Delays of
 * the client's own are added to dates instead of being waited for, and the retransmission timer of
 * a connection is not moved at each request: when it fires too early it is set anew (as Linux's).
 */
#include "workloads/client.h"

#include "sim/distribution_params.h"
#include "sim/error.h"
#include "workloads/arrival_params.h"

#include <stdlib.h>

#define RTO_MAX (120 * NS_PER_S) /* Linux: TCP_RTO_MAX */

enum { CONNECTIONS_MAX = 65536, DEPTH_MAX = 64, TARGETS_MAX = 64, BACKLOG_FIRST = 64 };

/* A request that was sent and is not answered yet. */
struct pending {
    struct request request;
    uint64_t number;
    sim_time send, first_wire, wire, due;
    uint64_t answered; /* targets that have, as bits */
    uint32_t replies;
    uint32_t tries; /* retransmissions so far */
    bool used;
};

struct connection {
    struct client *client;
    struct timer send;       /* its next request goes to the wire */
    struct timer again;      /* look for requests to be sent again */
    struct pending *pending; /* depth */
    struct request next;     /* what `send` will send */
    uint64_t number;         /* of its last request */
    sim_time srtt, rttvar;   /* 0: nothing measured yet */
    uint32_t outstanding;    /* used entries of pending, and `next` while `send` is armed */
    uint32_t free_next;      /* open loop: next in the list of free connections */
    bool free;
    struct request_streams streams; /* closed loop */
};

#define NOBODY UINT32_MAX

struct target {
    struct machine *server;
    uint32_t address, first_slot;
};

struct client {
    struct client_endpoint endpoint; /* first: see client_of() */
    struct client_host *host;
    struct client_params params;
    char *entity;
    uint64_t seed, replication;
    uint32_t connections, depth;
    struct target target[TARGETS_MAX];
    uint32_t targets, wait_for;
    struct connection *connection;
    struct pending *pending;
    struct request *slots; /* memory of the legs of all but the backlog */
    struct client_results results;
    struct client_watcher *watcher; /* NULL: nobody */

    /* Open loop. */
    struct arrival arrival;
    struct timer arrives;
    struct request born; /* what `arrives` brings */
    struct request_streams streams;
    sim_time arrival_date, wire_date; /* of `born`; of the last one sent */
    uint32_t free_first, free_last;
    struct request *backlog; /* a ring */
    uint32_t backlog_first, backlog_count, backlog_capacity;
};

/* ---- births ---------------------------------------------------------------------------------- */

static void bear(struct client *c, struct request *q, struct request_streams *s, sim_time intended)
{
    request_bear(q, &c->params.request, s, c->targets);
    q->intended = intended;
    q->recorded = intended >= c->results.from && intended < c->results.until;
}

static sim_time think(const struct client *c, struct rng *think, struct rng *slack)
{
    sim_time pause = dist_draw_time(&c->params.think, think);

    return pause + dist_draw_time(&c->params.slack, slack);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Retransmission time-out after so many tries. */
static sim_time time_out(const struct connection *k, uint32_t tries)
{
    sim_time least = k->client->params.timeout;
    sim_time t = k->srtt + (4 * k->rttvar > least ? 4 * k->rttvar : least);

    for (uint32_t i = 0; i < tries && t < RTO_MAX; i++)
        t *= 2;
    return t < RTO_MAX ? t : RTO_MAX;
}

static void await(struct connection *k, struct pending *w, sim_time now)
{
    if (!k->client->params.timeout)
        return;
    w->due = now + time_out(k, w->tries);
    if (!timer_armed(&k->again) || k->again.when > w->due)
        queue_arm(&k->client->host->machine->queue, &k->again, w->due);
}

static void to_target(struct connection *k, const struct pending *w, uint32_t target, sim_time now)
{
    struct client *c = k->client;
    const struct target *t = &c->target[target];
    const struct request_leg *leg = &w->request.leg[target];
    struct packet *p = packet_new(c->host->machine, t->server);

    p->kind = PACKET_REQUEST;
    p->flags =
        (uint16_t)(target << PACKET_TARGET_SHIFT | (w->request.recorded ? PACKET_RECORDED : 0) |
                   (w->tries ? PACKET_AGAIN : 0));
    p->id = w->number;
    p->a = t->address;
    p->b = net_address(c->endpoint.number, (uint32_t)(k - c->connection));
    p->bytes = leg->bytes;
    p->stamp[HOP_INTENDED] = w->request.intended;
    p->stamp[HOP_SEND] = w->send;
    p->stamp[HOP_WIRE] = now;
    p->value[VALUE_DEMAND] = leg->demand;
    p->value[VALUE_REPLY] = leg->reply;
    p->value[VALUE_SLOT] = t->first_slot + (k - c->connection);
    p->value[VALUE_LOST] = now - w->first_wire;
    packet_send(p);
}

/* To all targets that have not answered. */
static void to_wire(struct connection *k, struct pending *w, sim_time now)
{
    w->wire = now;
    for (uint32_t i = 0; i < k->client->targets; i++)
        if (!(w->answered >> i & 1))
            to_target(k, w, i, now);
    await(k, w, now);
}

static struct pending *free_pending(const struct connection *k)
{
    struct pending *w = k->pending;

    while (w->used)
        w++;
    return w;
}

/* A request that was counted as outstanding goes out. */
static void send_request(struct connection *k, const struct request *q, sim_time now)
{
    struct client *c = k->client;
    struct pending *w = free_pending(k);

    request_copy(&w->request, q, c->targets);
    w->number = ++k->number;
    w->send = now - q->send_delay;
    w->first_wire = now;
    w->answered = 0;
    w->replies = w->tries = 0;
    w->used = true;
    c->results.counts.sent++;
    c->results.counts.recorded_sent += q->recorded;
    to_wire(k, w, now);
}

/* ---- free connections and the backlog: open loop --------------------------------------------- */

static void make_free(struct connection *k)
{
    struct client *c = k->client;
    uint32_t i = (uint32_t)(k - c->connection);

    if (k->free || k->outstanding >= c->depth || timer_armed(&k->send))
        return;
    k->free = true;
    k->free_next = NOBODY;
    if (c->free_first == NOBODY)
        c->free_first = i;
    else
        c->connection[c->free_last].free_next = i;
    c->free_last = i;
}

/* The connection that has been free longest; NULL: none is. */
static struct connection *take_free(struct client *c)
{
    struct connection *k;

    if (c->free_first == NOBODY)
        return NULL;
    k = &c->connection[c->free_first];
    c->free_first = k->free_next;
    k->free = false;
    return k;
}

/* Requests that wait take the connections that are free; they go out once `from` is reached. */
static void serve_backlog(struct client *c, sim_time from)
{
    while (c->backlog_count) {
        struct connection *k = take_free(c);

        if (!k)
            return;
        request_copy(&k->next, &c->backlog[c->backlog_first], c->targets);
        c->backlog_first = (c->backlog_first + 1) % c->backlog_capacity;
        c->backlog_count--;
        k->outstanding++;
        queue_arm(&c->host->machine->queue, &k->send, from + k->next.send_delay);
    }
}

static struct request *new_requests(uint32_t n, uint32_t legs)
{
    struct request *q = xcalloc(n, sizeof *q);
    struct request_leg *leg = xcalloc((size_t)n * legs, sizeof *leg);

    for (uint32_t i = 0; i < n; i++)
        q[i].leg = leg + (size_t)i * legs;
    return q;
}

static void free_requests(struct request *q)
{
    if (q)
        free(q->leg);
    free(q);
}

/* The ring is full but may be longer. */
static void grow_backlog(struct client *c)
{
    uint32_t capacity = c->backlog_capacity ? 2 * c->backlog_capacity : BACKLOG_FIRST;
    struct request *longer;

    if (capacity > c->params.backlog)
        capacity = (uint32_t)c->params.backlog;
    longer = new_requests(capacity, c->targets);
    for (uint32_t i = 0; i < c->backlog_count; i++)
        request_copy(&longer[i], &c->backlog[(c->backlog_first + i) % c->backlog_capacity],
                     c->targets);
    free_requests(c->backlog);
    c->backlog = longer;
    c->backlog_first = 0;
    c->backlog_capacity = capacity;
}

static void to_backlog(struct client *c, const struct request *q)
{
    if (c->backlog_count >= c->params.backlog) {
        c->results.counts.refused++;
        return;
    }
    if (c->backlog_count == c->backlog_capacity)
        grow_backlog(c);
    request_copy(&c->backlog[(c->backlog_first + c->backlog_count++) % c->backlog_capacity], q,
                 c->targets);
}

static void next_arrival(struct client *c)
{
    sim_time at = arrival_next(&c->arrival, c->arrival_date), wire;

    if (at == SIM_NEVER)
        return;
    c->arrival_date = at;
    bear(c, &c->born, &c->streams, at);
    wire = at + c->born.send_delay;
    if (wire < c->wire_date) /* the machine sends them in the order in which they came */
        wire = c->wire_date;
    c->wire_date = wire;
    queue_arm(&c->host->machine->queue, &c->arrives, wire);
}

static void arrives(struct timer *t, sim_time now)
{
    struct client *c = container_of(t, struct client, arrives);
    struct connection *k = c->backlog_count ? NULL : take_free(c);

    if (k) {
        k->outstanding++;
        send_request(k, &c->born, now);
        make_free(k);
    } else {
        to_backlog(c, &c->born);
    }
    next_arrival(c);
}

/* ---- going on after a reply, or without one ---------------------------------------------------
 */

static void go_on(struct connection *k, sim_time done)
{
    struct client *c = k->client;

    k->outstanding--;
    if (c->params.loop == LOOP_CLOSED) {
        bear(c, &k->next, &k->streams, done + think(c, &k->streams.think, &k->streams.slack));
        k->outstanding++;
        queue_arm(&c->host->machine->queue, &k->send, k->next.intended + k->next.send_delay);
    } else {
        make_free(k);
        serve_backlog(c, done);
    }
}

static void send_next(struct timer *t, sim_time now)
{
    struct connection *k = container_of(t, struct connection, send);

    send_request(k, &k->next, now);
    if (k->client->params.loop == LOOP_OPEN) {
        make_free(k);
        serve_backlog(k->client, now);
    }
}

static void fail(struct connection *k, struct pending *w, sim_time now)
{
    struct client_counts *n = &k->client->results.counts;

    w->used = false;
    n->failed++;
    n->recorded_failed += w->request.recorded;
    go_on(k, now);
}

static void look_again(struct timer *t, sim_time now)
{
    struct connection *k = container_of(t, struct connection, again);
    struct client *c = k->client;
    sim_time next = SIM_NEVER;

    for (uint32_t i = 0; i < c->depth; i++) {
        struct pending *w = &k->pending[i];

        if (w->used && w->due <= now) {
            if (w->tries >= c->params.retries) {
                fail(k, w, now);
                continue;
            }
            w->tries++;
            c->results.counts.retransmitted++;
            to_wire(k, w, now);
        }
        if (w->used && w->due < next)
            next = w->due;
    }
    if (next != SIM_NEVER)
        queue_arm(&c->host->machine->queue, &k->again, next);
}

/* ---- replies --------------------------------------------------------------------------------- */

/* RFC 6298, of requests that were sent once (Karn). */
static void measure(struct connection *k, const struct pending *w, sim_time now)
{
    sim_time r = now - w->wire, error;

    if (w->tries)
        return;
    if (!k->srtt) {
        k->srtt = r;
        k->rttvar = r / 2;
        return;
    }
    error = r > k->srtt ? r - k->srtt : k->srtt - r;
    k->rttvar += (error - k->rttvar) / 4;
    k->srtt += (r - k->srtt) / 8;
}

/* What a loop with replies within `unhindered` would have sent while this one waited. */
static void record_phantoms(struct connection *k, sim_time send, sim_time done)
{
    struct client *c = k->client;
    sim_time least = c->params.unhindered < NS_PER_US ? NS_PER_US : 1; /* the loop ends soon */
    sim_time at = send + c->params.unhindered;

    while (at < done) {
        at += think(c, &k->streams.phantom, &k->streams.phantom);
        if (at >= done)
            return;
        histogram_record(&c->results.intended,
                         done - at > c->params.unhindered ? done - at : c->params.unhindered);
        c->results.counts.phantoms++;
        at += c->params.unhindered + least;
    }
}

static void record(struct connection *k, const struct pending *w, struct packet *p, sim_time done)
{
    struct client *c = k->client;
    struct client_results *r = &c->results;
    sim_time part[PARTS];

    r->counts.recorded++;
    histogram_record(&r->latency, done - w->send);
    histogram_record(&r->intended, done - w->request.intended);
    if (c->params.loop == LOOP_CLOSED)
        record_phantoms(k, w->send, done);
    breakdown_of(p, part);
    breakdown_record(&r->breakdown, done - w->send, part);
}

static struct pending *find_pending(const struct connection *k, uint64_t number)
{
    for (uint32_t i = 0; i < k->client->depth; i++)
        if (k->pending[i].used && k->pending[i].number == number)
            return &k->pending[i];
    return NULL;
}

/* An answer that nobody waits for. */
static void too_much(struct client *c, struct packet *p)
{
    c->results.counts.duplicates++;
    packet_free(p);
}

static void complete(struct connection *k, struct pending *w, struct packet *p, sim_time now)
{
    struct client *c = k->client;
    sim_time done = now + w->request.receive_delay;

    hop_stamp(p, HOP_BACK, now);
    hop_stamp(p, HOP_DONE, done);
    c->results.counts.completed++;
    measure(k, w, now);
    if (w->request.recorded)
        record(k, w, p, done);
    if (c->watcher)
        c->watcher->seen(c->watcher, p);
    packet_free(p);
    w->used = false;
    go_on(k, done);
}

static void reply(struct connection *k, struct packet *p, sim_time now)
{
    struct pending *w = find_pending(k, p->id);
    uint64_t target = UINT64_C(1) << (p->flags >> PACKET_TARGET_SHIFT) % TARGETS_MAX;

    if (!w || w->answered & target) {
        too_much(k->client, p);
        return;
    }
    w->answered |= target;
    if (++w->replies < k->client->wait_for)
        packet_free(p);
    else
        complete(k, w, p, now);
}

static struct client *client_of(struct client_endpoint *e)
{
    return (struct client *)(void *)e;
}

static void arrival(struct client_endpoint *e, struct packet *p, sim_time now)
{
    struct client *c = client_of(e);
    uint32_t port = address_port(p->a);

    if (p->kind == PACKET_REPLY && port < c->connections)
        reply(&c->connection[port], p, now);
    else
        packet_free(p);
}

/* ---- building -------------------------------------------------------------------------------- */

static void init_connection(struct client *c, uint32_t i, uint64_t seed, uint64_t replication)
{
    struct connection *k = &c->connection[i];
    char *entity = xasprintf("%s/%u", c->entity, i);

    k->client = c;
    k->pending = &c->pending[(size_t)i * c->depth];
    timer_init(&k->send, send_next);
    timer_init(&k->again, look_again);
    if (c->params.loop == LOOP_CLOSED)
        request_streams_init(&k->streams, seed, replication, entity);
    free(entity);
}

static void client_free(struct client_endpoint *e)
{
    struct client *c = client_of(e);
    struct queue *q = &c->host->machine->queue;

    queue_cancel(q, &c->arrives);
    for (uint32_t i = 0; i < c->connections; i++) {
        queue_cancel(q, &c->connection[i].send);
        queue_cancel(q, &c->connection[i].again);
    }
    histogram_free(&c->results.latency);
    histogram_free(&c->results.intended);
    breakdown_free(&c->results.breakdown);
    free_requests(c->backlog);
    free_requests(c->slots);
    free(c->connection);
    free(c->pending);
    free(c->entity);
    free(c);
}

struct client *client_new(struct client_host *ch, const struct client_params *params,
                          const char *entity, uint64_t seed, uint64_t replication)
{
    struct client *c = xcalloc(1, sizeof *c);
    bool open = params->loop == LOOP_OPEN;

    BUG_ON(params->connections < 1 || params->connections > CONNECTIONS_MAX);
    c->host = ch;
    c->params = *params;
    c->entity = xstrdup(entity);
    c->seed = seed;
    c->replication = replication;
    c->connections = (uint32_t)params->connections;
    c->depth = open ? (uint32_t)params->depth : 1;
    BUG_ON(c->depth < 1 || c->depth > DEPTH_MAX);
    c->connection = xcalloc(c->connections, sizeof *c->connection);
    c->pending = xcalloc((size_t)c->connections * c->depth, sizeof *c->pending);
    for (uint32_t i = 0; i < c->connections; i++)
        init_connection(c, i, seed, replication);
    c->free_first = NOBODY;
    timer_init(&c->arrives, arrives);
    if (open) {
        request_streams_init(&c->streams, seed, replication, c->entity);
    }
    histogram_init(&c->results.latency, HISTOGRAM_3_DIGITS);
    histogram_init(&c->results.intended, HISTOGRAM_3_DIGITS);
    breakdown_init(&c->results.breakdown);
    c->endpoint.arrival = arrival;
    c->endpoint.release = client_free;
    client_host_add(ch, &c->endpoint);
    return c;
}

void client_target(struct client *c, struct machine *server, uint32_t endpoint, uint16_t port,
                   uint32_t first_slot)
{
    BUG_ON(c->targets == TARGETS_MAX);
    c->target[c->targets++] = (struct target){
        .server = server, .address = net_address(endpoint, port), .first_slot = first_slot};
}

/* Give every request that is held somewhere its legs. */
static void make_legs(struct client *c)
{
    uint32_t pending = c->connections * c->depth;

    c->slots = new_requests(pending + c->connections + 1, c->targets);
    for (uint32_t i = 0; i < pending; i++)
        c->pending[i].request.leg = c->slots[i].leg;
    for (uint32_t i = 0; i < c->connections; i++)
        c->connection[i].next.leg = c->slots[pending + i].leg;
    c->born.leg = c->slots[pending + c->connections].leg;
}

void client_start(struct client *c, sim_time start, sim_time from, sim_time until)
{
    BUG_ON(!c->targets || c->params.wait_for > c->targets);
    c->wait_for = c->params.wait_for ? (uint32_t)c->params.wait_for : c->targets;
    make_legs(c);
    c->results.from = from;
    c->results.until = until;
    for (uint32_t i = 0; i < c->connections; i++) {
        struct connection *k = &c->connection[i];

        k->outstanding = 1; /* as if a reply came at `start` */
        if (c->params.loop == LOOP_CLOSED)
            go_on(k, start);
        else {
            k->outstanding = 0;
            make_free(k);
        }
    }
    if (c->params.loop == LOOP_OPEN) {
        arrival_start(&c->arrival, &c->params.arrivals, start, c->seed, c->replication, c->entity,
                      "arrivals");
        c->arrival_date = start;
        next_arrival(c);
    }
}

void client_watch(struct client *c, struct client_watcher *w)
{
    c->watcher = w;
}

const struct client_results *client_results(const struct client *c)
{
    return &c->results;
}

uint64_t client_outstanding(const struct client *c)
{
    uint64_t n = 0;

    for (size_t i = 0; i < (size_t)c->connections * c->depth; i++)
        n += c->pending[i].used;
    return n;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static const char *const loop_names[] = {"closed", "open", NULL};

static const struct param client_rows[] = {
    {PARAM("loop", ENUM, struct client_params, loop), .def = "closed", .names = loop_names,
     .meaning = "Closed: each connection waits for the reply and thinks. Open: requests come "
                "whatever became of the ones before.",
     .source = "TerrierTail's load generators are closed loops", .status = STATUS_CITED},
    {PARAM("connections", INTEGER, struct client_params, connections), .def = "1",
     .range = PARAM_NO_RANGE, .min = "1", .max = "65536",
     .meaning = "Connections, each with requests of its own.", .status = STATUS_ASSUMED},
    {PARAM("think", CUSTOM, struct client_params, think), .type = &dist_time_type,
     .def = "exponential(4ms)", .meaning = "Closed loop: pause from a reply to the next request.",
     .source = "TerrierTail's load generators: exponential with the mean of 1/rate, 250/s",
     .status = STATUS_CITED},
    {PARAM("slack", CUSTOM, struct client_params, slack), .type = &dist_time_type, .def = "55us",
     .meaning = "Closed loop: how late the timer is that ends the pause.",
     .source = "assumed: Linux's timer slack of 50 us and some us of waking up",
     .status = STATUS_ASSUMED},
    {PARAM("unhindered", DURATION, struct client_params, unhindered), .def = "200us", .max = "1h",
     .meaning = "Closed loop: latency without any disturbance, for the latency from the intended "
                "send.",
     .status = STATUS_ASSUMED},
    {PARAM("arrivals", CUSTOM, struct client_params, arrivals), .type = &arrival_type,
     .def = "poisson(250/s)", .range = PARAM_NO_RANGE, .meaning = "Open loop: when requests come.",
     .status = STATUS_ASSUMED},
    {PARAM("depth", INTEGER, struct client_params, depth), .def = "1", .min = "1", .max = "64",
     .meaning = "Open loop: requests that one connection may have outstanding.",
     .source = "mutilate's default", .status = STATUS_CITED},
    {PARAM("backlog", INTEGER, struct client_params, backlog), .def = "10000",
     .range = PARAM_NO_RANGE, .min = "1", .max = "10000000",
     .meaning = "Open loop: requests that wait for a connection; further ones are refused.",
     .status = STATUS_ASSUMED},
    {PARAM("demand", CUSTOM, struct client_params, request.demand), .type = &dist_time_type,
     .def = "60us", .meaning = "CPU time that a request demands of the server.",
     .source = "assumed, with the other defaults for a median of 185 us on an idle host as in "
               "TerrierTail's raw RPC logs",
     .status = STATUS_ASSUMED},
    {PARAM("request", CUSTOM, struct client_params, request.request), .type = &dist_size_type,
     .def = "128B", .meaning = "Bytes of a request on the wire, all headers included.",
     .status = STATUS_ASSUMED},
    {PARAM("reply", CUSTOM, struct client_params, request.reply), .type = &dist_size_type,
     .def = "128B", .meaning = "Bytes of a reply on the wire, all headers included.",
     .status = STATUS_ASSUMED},
    {PARAM("send", CUSTOM, struct client_params, request.send), .type = &dist_time_type,
     .def = "15us", .meaning = "The client's own way from the program to the wire.",
     .status = STATUS_ASSUMED},
    {PARAM("receive", CUSTOM, struct client_params, request.receive), .type = &dist_time_type,
     .def = "25us", .meaning = "The client's own way from the wire to the program.",
     .status = STATUS_ASSUMED},
    {PARAM("memcached", POINTER, struct client_params, request.memcached), .optional = true,
     .table = &memcached_mix_table,
     .meaning = "Requests as those of memcached's clients, instead of demand, request and reply."},
    {PARAM("wait_for", INTEGER, struct client_params, wait_for), .def = "all", .min = "1",
     .max = "64", .word = "all", .word_value = 0,
     .meaning = "Fan-out: replies that complete a request to several servers.",
     .status = STATUS_ASSUMED},
    {PARAM("timeout", DURATION, struct client_params, timeout), .def = "200ms", .min = "1ms",
     .max = "2min", .word = "never", .word_value = 0,
     .meaning =
         "Least time above the smoothed round-trip time after which a request is sent again.",
     .source = "Linux: TCP_RTO_MIN", .status = STATUS_CITED},
    {PARAM("retries", INTEGER, struct client_params, retries), .def = "15", .min = "0", .max = "30",
     .meaning = "How often it is sent again before it counts as failed.",
     .source = "Linux: net.ipv4.tcp_retries2", .status = STATUS_CITED},
};

const struct param_table client_table = PARAM_TABLE("client", struct client_params, client_rows,
                                                    .meaning = "What a client sends and measures.");
