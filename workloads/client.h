/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clients: machines that send requests to servers and measure how long replies take.
 *
 *     struct client_host *ch = client_host_new(machine);    // machine's ops: client_machine_ops
 *     struct client *c = client_new(ch, &params, "client1", seed, replication);
 *     client_target(c, xen_machine, stack->endpoint, RPC_PORT, first_slot);
 *     client_start(c, start, record_from, record_until);
 *     ... fleet_connect() both ways, run ...
 *     client_results(c)
 *
 * first_slot: connections of all clients of a server are numbered densely; the n-th client begins
 * where the (n-1)th ended (params.connections further).
 *
 * Closed loop: each connection has one request outstanding; after a reply the user thinks
 * (`think`), the timer is late by `slack`, and the next request goes out. Such a loop does not send
 * while the server stalls, so it measures a stall once (coordinated omission). Open loop: requests
 * come by an arrival process whatever became of the ones before; each takes a connection that is
 * free (fewer than `depth` outstanding), or waits for one.
 *
 * Two latencies are recorded. `latency`: from the actual send to the reply in the program's hands.
 * `intended`: from the date at which the request should have been sent. In the open loop that is
 * its arrival. In the closed loop, after a reply that took longer than `unhindered`, the requests
 * are counted which a loop with replies in that time would have sent meanwhile, with thinking
 * times drawn from a stream of their own: each is taken to have waited until the reply. (It is
 * HdrHistogram's correction for coordinated omission, with random instead of fixed gaps.)
 *
 * The client machine's own costs are delays: it is taken to have CPUs enough.
 *
 * Lost requests: without a reply for the retransmission time-out (RFC 6298, with Linux's least
 * deviation: smoothed round-trip time + max(timeout, 4 deviations), doubled each time) a request is
 * sent again, `retries` times; then it has failed and the connection goes on. A failed request is
 * counted, and recorded in neither histogram. Memory is bounded: an open loop keeps at most
 * `backlog` waiting requests, further ones are counted as refused.
 *
 * Draws are made at a request's birth (workloads/request.h) from streams keyed by (seed,
 * replication, entity/connection, purpose): same requests under every scheduler.
 */
#ifndef HVSIM_WORKLOADS_CLIENT_H
#define HVSIM_WORKLOADS_CLIENT_H

#include "models/net/packet.h"
#include "sim/histogram.h"
#include "workloads/arrival.h"
#include "workloads/breakdown.h"
#include "workloads/client_host.h"
#include "workloads/request.h"

enum client_loop { LOOP_CLOSED, LOOP_OPEN };

struct client_params {
    int loop; /* enum client_loop */
    int64_t connections;
    struct distribution think;       /* closed: ns */
    struct distribution slack;       /* closed: lateness of the timer, ns */
    sim_time unhindered;             /* closed: what a reply takes on an idle host */
    struct arrival_process arrivals; /* open */
    int64_t depth;                   /* open: outstanding requests of a connection */
    int64_t backlog;                 /* open: requests waiting for a connection */
    struct request_params request;
    int64_t wait_for; /* fan-out: replies that complete a request; 0: all */
    sim_time timeout; /* 0: wait for ever */
    int64_t retries;
};
extern const struct param_table client_table;

struct client_counts {
    uint64_t sent, completed, failed;
    uint64_t refused;       /* the backlog was full */
    uint64_t retransmitted; /* copies sent */
    uint64_t duplicates;    /* answers that came again, or later than was waited for */
    /* Of the requests that were meant to be sent within the recorded time: */
    uint64_t recorded_sent, recorded, recorded_failed; /* sent; completed; failed */
    uint64_t phantoms; /* entries of `intended` that no request stands behind */
};

struct client_results {
    struct histogram latency, intended;
    struct breakdown breakdown; /* of latency */
    struct client_counts counts;
    sim_time from, until; /* recorded time */
};

struct client;

/* Who wants to see each request that is complete, measured or not, with the dates of its hops. */
struct client_watcher {
    void (*seen)(struct client_watcher *w, const struct packet *p);
};

/* A client of that machine. params is copied (distributions by
 * reference: the caller keeps them). entity is copied. */
struct client *client_new(struct client_host *ch, const struct client_params *params,
                          const char *entity, uint64_t seed, uint64_t replication);

/* Where its requests go. Called more than once, a request goes to each target at once, with a
 * demand and sizes of its own (fan-out), and is complete with the reply number `wait_for`. */
void client_target(struct client *c, struct machine *server, uint32_t endpoint, uint16_t port,
                   uint32_t first_slot);

/* Begin at `start`; record requests whose intended date is in [from, until). */
void client_start(struct client *c, sim_time start, sim_time from, sim_time until);

/* At most one watcher, which stays the caller's; before the run. */
void client_watch(struct client *c, struct client_watcher *w);

const struct client_results *client_results(const struct client *c);

/* Requests sent and neither answered nor failed: sent = completed + failed + outstanding. */
uint64_t client_outstanding(const struct client *c);

#endif
