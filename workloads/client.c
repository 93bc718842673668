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

enum { CONNECTIONS_MAX = 65536, DEPTH_MAX = 64 };

/* One stream for each thing that is drawn. */
struct streams {
    struct rng think, slack, demand, request, reply, send, receive, phantom;
};

/* A request from its birth on. */
struct request {
    sim_time intended;
    sim_time send_delay, receive_delay, demand;
    uint32_t bytes, reply;
    bool recorded;
};

/* A request that was sent and is not answered yet. */
struct pending {
    struct request request;
    uint64_t number;
    sim_time send, first_wire, wire, due;
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
    struct streams streams; /* closed loop */
};

#define NOBODY UINT32_MAX

struct client {
    struct client_host *host;
    struct client_params params;
    char *entity;
    uint64_t seed, replication;
    uint32_t endpoint, connections, depth;
    struct machine *server;
    uint32_t address, first_slot;
    struct connection *connection;
    struct pending *pending;
    struct client_results results;

    /* Open loop. */
    struct arrival arrival;
    struct timer arrives;
    struct request born; /* what `arrives` brings */
    struct streams streams;
    sim_time arrival_date, wire_date; /* of `born`; of the last one sent */
    uint32_t free_first, free_last;
    struct request *backlog; /* a ring */
    uint32_t backlog_first, backlog_count;
};

struct client_host {
    struct machine *machine;
    struct client **client;
    uint32_t clients;
};

/* ---- births ---------------------------------------------------------------------------------- */

static void streams_init(struct streams *s, uint64_t seed, uint64_t replication, const char *entity)
{
    rng_init(&s->think, seed, replication, entity, "think time");
    rng_init(&s->slack, seed, replication, entity, "timer slack");
    rng_init(&s->demand, seed, replication, entity, "demand");
    rng_init(&s->request, seed, replication, entity, "request size");
    rng_init(&s->reply, seed, replication, entity, "reply size");
    rng_init(&s->send, seed, replication, entity, "send delay");
    rng_init(&s->receive, seed, replication, entity, "receive delay");
    rng_init(&s->phantom, seed, replication, entity, "phantom think time");
}

static uint32_t draw_bytes(const struct distribution *d, struct rng *r)
{
    double x = dist_draw(d, r);

    if (!(x > 1))
        return 1;
    return x < PACKET_BYTES_MAX ? (uint32_t)(x + 0.5) : PACKET_BYTES_MAX;
}

static void bear(struct client *c, struct request *q, struct streams *s, sim_time intended)
{
    const struct client_params *p = &c->params;

    q->intended = intended;
    q->recorded = intended >= c->results.from && intended < c->results.until;
    q->demand = dist_draw_time(&p->demand, &s->demand);
    q->bytes = draw_bytes(&p->request, &s->request);
    q->reply = draw_bytes(&p->reply, &s->reply);
    q->send_delay = dist_draw_time(&p->send, &s->send);
    q->receive_delay = dist_draw_time(&p->receive, &s->receive);
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

static void to_wire(struct connection *k, struct pending *w, sim_time now)
{
    struct client *c = k->client;
    struct packet *p = packet_new(c->host->machine, c->server);

    w->wire = now;
    p->kind = PACKET_REQUEST;
    p->flags =
        (uint16_t)((w->request.recorded ? PACKET_RECORDED : 0) | (w->tries ? PACKET_AGAIN : 0));
    p->id = w->number;
    p->a = c->address;
    p->b = net_address(c->endpoint, (uint32_t)(k - c->connection));
    p->bytes = w->request.bytes;
    p->stamp[HOP_INTENDED] = w->request.intended;
    p->stamp[HOP_SEND] = w->send;
    p->stamp[HOP_WIRE] = now;
    p->value[VALUE_DEMAND] = w->request.demand;
    p->value[VALUE_REPLY] = w->request.reply;
    p->value[VALUE_SLOT] = c->first_slot + (k - c->connection);
    p->value[VALUE_LOST] = now - w->first_wire;
    packet_send(p);
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

    *w = (struct pending){.request = *q,
                          .number = ++k->number,
                          .send = now - q->send_delay,
                          .first_wire = now,
                          .used = true};
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
        k->next = c->backlog[c->backlog_first];
        c->backlog_first = (c->backlog_first + 1) % (uint32_t)c->params.backlog;
        c->backlog_count--;
        k->outstanding++;
        queue_arm(&c->host->machine->queue, &k->send, from + k->next.send_delay);
    }
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
    } else if (c->backlog_count < c->params.backlog) {
        c->backlog[(c->backlog_first + c->backlog_count++) % (uint32_t)c->params.backlog] = c->born;
    } else {
        c->results.counts.refused++;
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
    sim_time at = send + c->params.unhindered;

    while (at < done) {
        at += think(c, &k->streams.phantom, &k->streams.phantom);
        if (at >= done)
            return;
        histogram_record(&c->results.intended,
                         done - at > c->params.unhindered ? done - at : c->params.unhindered);
        c->results.counts.phantoms++;
        at += c->params.unhindered + 1; /* at least 1 ns: the loop ends */
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

static void reply(struct connection *k, struct packet *p, sim_time now)
{
    struct client *c = k->client;
    struct pending *w = find_pending(k, p->id);
    sim_time done;

    if (!w) {
        c->results.counts.duplicates++;
        packet_free(p);
        return;
    }
    done = now + w->request.receive_delay;
    hop_stamp(p, HOP_BACK, now);
    hop_stamp(p, HOP_DONE, done);
    c->results.counts.completed++;
    measure(k, w, now);
    if (w->request.recorded)
        record(k, w, p, done);
    packet_free(p);
    w->used = false;
    go_on(k, done);
}

static void arrival(struct machine *m, struct packet *p)
{
    struct client_host *ch = m->model;
    uint32_t endpoint = address_endpoint(p->a), port = address_port(p->a);

    if (p->kind == PACKET_REPLY && endpoint < ch->clients &&
        port < ch->client[endpoint]->connections)
        reply(&ch->client[endpoint]->connection[port], p, machine_now(m));
    else
        packet_free(p);
}

const struct machine_ops client_machine_ops = {.arrival = arrival};

/* ---- building -------------------------------------------------------------------------------- */

struct client_host *client_host_new(struct machine *m)
{
    struct client_host *ch = xcalloc(1, sizeof *ch);

    ch->machine = m;
    m->model = ch;
    return ch;
}

static void init_connection(struct client *c, uint32_t i, uint64_t seed, uint64_t replication)
{
    struct connection *k = &c->connection[i];
    char *entity = xasprintf("%s/%u", c->entity, i);

    k->client = c;
    k->pending = &c->pending[(size_t)i * c->depth];
    timer_init(&k->send, send_next);
    timer_init(&k->again, look_again);
    if (c->params.loop == LOOP_CLOSED)
        streams_init(&k->streams, seed, replication, entity);
    free(entity);
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
    c->endpoint = ch->clients;
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
        c->backlog = xcalloc((size_t)params->backlog, sizeof *c->backlog);
        streams_init(&c->streams, seed, replication, c->entity);
    }
    histogram_init(&c->results.latency, HISTOGRAM_3_DIGITS);
    histogram_init(&c->results.intended, HISTOGRAM_3_DIGITS);
    breakdown_init(&c->results.breakdown);
    ch->client = xrealloc(ch->client, (ch->clients + 1) * sizeof(struct client *));
    ch->client[ch->clients++] = c;
    return c;
}

static void client_free(struct client *c)
{
    histogram_free(&c->results.latency);
    histogram_free(&c->results.intended);
    breakdown_free(&c->results.breakdown);
    free(c->backlog);
    free(c->connection);
    free(c->pending);
    free(c->entity);
    free(c);
}

void client_host_free(struct client_host *ch)
{
    for (uint32_t i = 0; i < ch->clients; i++)
        client_free(ch->client[i]);
    free(ch->client);
    free(ch);
}

void client_target(struct client *c, struct machine *server, uint32_t endpoint, uint16_t port,
                   uint32_t first_slot)
{
    c->server = server;
    c->address = net_address(endpoint, port);
    c->first_slot = first_slot;
}

void client_start(struct client *c, sim_time start, sim_time from, sim_time until)
{
    BUG_ON(!c->server);
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
    {PARAM("connections", INTEGER, struct client_params, connections), .def = "1", .min = "1",
     .max = "65536", .meaning = "Connections, each with requests of its own.",
     .status = STATUS_ASSUMED},
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
     .def = "poisson(250/s)", .meaning = "Open loop: when requests come.",
     .status = STATUS_ASSUMED},
    {PARAM("depth", INTEGER, struct client_params, depth), .def = "1", .min = "1", .max = "64",
     .meaning = "Open loop: requests that one connection may have outstanding.",
     .source = "mutilate's default", .status = STATUS_CITED},
    {PARAM("backlog", INTEGER, struct client_params, backlog), .def = "10000", .min = "1",
     .max = "10000000",
     .meaning = "Open loop: requests that wait for a connection; further ones are refused.",
     .status = STATUS_ASSUMED},
    {PARAM("demand", CUSTOM, struct client_params, demand), .type = &dist_time_type, .def = "60us",
     .meaning = "CPU time that a request demands of the server.",
     .source = "assumed, with the other defaults for a median of 185 us on an idle host as in "
               "TerrierTail's raw RPC logs",
     .status = STATUS_ASSUMED},
    {PARAM("request", CUSTOM, struct client_params, request), .type = &dist_size_type,
     .def = "128B", .meaning = "Bytes of a request on the wire, all headers included.",
     .status = STATUS_ASSUMED},
    {PARAM("reply", CUSTOM, struct client_params, reply), .type = &dist_size_type, .def = "128B",
     .meaning = "Bytes of a reply on the wire, all headers included.", .status = STATUS_ASSUMED},
    {PARAM("send", CUSTOM, struct client_params, send), .type = &dist_time_type, .def = "15us",
     .meaning = "The client's own way from the program to the wire.", .status = STATUS_ASSUMED},
    {PARAM("receive", CUSTOM, struct client_params, receive), .type = &dist_time_type,
     .def = "25us", .meaning = "The client's own way from the wire to the program.",
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
