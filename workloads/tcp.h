/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bulk transfer as TCP would do it, in chunks of equal size, which stand for the segments that
 * TSO and GRO handle together: slow start and congestion avoidance (RFC 5681), fast retransmit and
 * NewReno's recovery (RFC 6582), retransmission time-out (RFC 6298, Linux's least value), a window
 * that the receiver advertises. Both ends are plain state: who owns them sends and receives.
 */
#ifndef HVSIM_WORKLOADS_TCP_H
#define HVSIM_WORKLOADS_TCP_H

#include "sim/time.h"

#include <stdbool.h>
#include <stdint.h>

struct tcp_sender {
    uint64_t next;   /* first chunk never sent */
    uint64_t oldest; /* first chunk not acknowledged */
    uint64_t resend; /* next chunk to be sent again, below `next`; equal to it: none */
    uint64_t recover;
    uint64_t timed; /* the chunk whose round trip is being measured */
    sim_time timed_at;
    uint32_t window;          /* chunks that the receiver has room for */
    uint32_t cwnd, threshold; /* in 1/256 chunks */
    uint32_t repeated;        /* acknowledgements in a row that acknowledge nothing new */
    uint32_t backoff;
    bool recovering, timing;
    sim_time srtt, rttvar, rto_min;
    sim_time deadline; /* of the retransmission time-out; SIM_NEVER: nothing outstanding */
    uint64_t retransmits, timeouts;
};

enum { TCP_WINDOW_MAX = 1024 }; /* chunks */

struct tcp_receiver {
    uint64_t next;                       /* first chunk not received */
    uint64_t early[TCP_WINDOW_MAX / 64]; /* chunks received beyond it: bits by number */
};

/* `first`: initial congestion window in chunks (RFC 6928: 10 segments, which is one chunk or so).
 */
void tcp_sender_init(struct tcp_sender *s, uint32_t first, uint32_t window, sim_time rto_min);

/* May a chunk be sent now? */
bool tcp_may_send(const struct tcp_sender *s);

/* The number of the chunk to send now. */
uint64_t tcp_send(struct tcp_sender *s, sim_time now);

/* An acknowledgement of all chunks below `next`, with the receiver's window. `gap`: it answers a
 * chunk that was not the next one (a duplicate acknowledgement), and is no mere news of the window.
 */
void tcp_acknowledged(struct tcp_sender *s, uint64_t next, uint32_t window, bool gap, sim_time now);

/* The deadline has passed. */
void tcp_timed_out(struct tcp_sender *s, sim_time now);

/* A chunk has come. Returns how many chunks this makes complete, in order: 0 for one that is early
 * or was here before (*again). */
uint32_t tcp_received(struct tcp_receiver *r, uint64_t chunk, bool *again);

#endif
