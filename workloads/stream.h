/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bulk TCP between a guest and a client machine, as iperf and netperf do it: one end sends as much
 * as its window lets it, the other reads and throws away.
 *
 *     struct stream *s = stream_new(client_host, &params, xen_machine, stack->endpoint);
 *     stream_serve(s, &site);                  before the guest's vCPUs start
 *     stream_start(s, start, from, until);
 *     stream_results(s)
 *
 * `site` says where the guest's end runs (workloads/programs.h); its stack must be there. The
 * guest's end is a thread for each connection, with all costs of the path; the client's end has
 * costs only as delays. Freed with the client machine, after the guest. If the guest's host goes
 * off, the transfer has ended.
 */
#ifndef HVSIM_WORKLOADS_STREAM_H
#define HVSIM_WORKLOADS_STREAM_H

#include "workloads/client_host.h"
#include "workloads/programs.h"

enum stream_direction { STREAM_FROM_GUEST, STREAM_TO_GUEST };

struct stream_params {
    int direction; /* enum stream_direction */
    int64_t connections;
    int64_t port;   /* of the first connection, in the guest; the others follow */
    int64_t chunk;  /* bytes that are handled together: a packet of TSO or GRO */
    int64_t window; /* bytes that the receiver can hold */
    sim_time delay; /* from the arrival of a chunk to its acknowledgement, at the client's end */
    sim_time timeout;
};
extern const struct param_table stream_table;

struct stream_results {
    uint64_t bytes; /* received in order within the recorded time */
    uint64_t retransmits, timeouts;
    sim_time from, until;
};

struct stream;

/* params is copied; at most 64 connections. */
struct stream *stream_new(struct client_host *ch, const struct stream_params *params,
                          struct machine *guest_machine, uint32_t endpoint);
void stream_serve(struct stream *s, const struct program_site *site);
void stream_start(struct stream *s, sim_time start, sim_time from, sim_time until);
const struct stream_results *stream_results(struct stream *s);

/* Bits per second of what was received within the recorded time. */
double stream_rate(const struct stream_results *r);

#endif
