/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An RPC server: receives a request, computes for as long as the request demands, replies. The
 * demand and the size of the reply come with the request, drawn by the client at its birth, so that
 * schedulers compared under common random numbers serve the same requests.
 *
 * Threads: one for each connection (Thrift's TThreadedServer, as in the TerrierTail experiments),
 * or a number of workers on one queue.
 */
#ifndef HVSIM_WORKLOADS_RPC_H
#define HVSIM_WORKLOADS_RPC_H

#include "models/guest/guest.h"

#define RPC_PORT 9090 /* Thrift's tutorial */

struct rpc_params {
    int64_t port;
    int64_t threads;   /* 0: one per connection */
    sim_time overhead; /* per request, on top of its demand (printing, locking, ...) */
};
extern const struct program program_rpc;

#endif
