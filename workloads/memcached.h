/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memcached: worker threads that each serve their own share of the connections, by epoll. What the
 * requests are (GET and SET, keys and values) is the client's: "memcached" in its load.
 */
#ifndef HVSIM_WORKLOADS_MEMCACHED_H
#define HVSIM_WORKLOADS_MEMCACHED_H

#include "models/guest/guest.h"

struct memcached_params {
    int64_t port, threads;
    sim_time event; /* the event loop's part of each request */
};
extern const struct program program_memcached;

#endif
