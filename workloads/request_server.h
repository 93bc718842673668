/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What servers of requests have in common: threads that each receive a request, compute for as long
 * as it demands, and reply. How connections and threads belong together differs.
 */
#ifndef HVSIM_WORKLOADS_REQUEST_SERVER_H
#define HVSIM_WORKLOADS_REQUEST_SERVER_H

#include "workloads/program_start.h"

struct socket;
struct packet;

struct request_server {
    struct socket *socket;
    struct packet *serving; /* NULL: none */
    sim_time overhead;      /* of each request, on top of its demand */
    uint64_t served;
};

enum server_queue {
    QUEUE_COMMON,     /* all threads on one queue */
    QUEUE_PER_THREAD, /* connections are dealt out to the threads in turn (epoll workers) */
};

/* next() of programs whose state is a struct request_server. */
struct guest_op request_server_next(struct thread *t, sim_time now);

/* Open the port and start so many threads of that program. Returns the first. */
struct thread *request_server_start(const struct program *program, const void *params,
                                    const struct program_site *site, uint16_t port,
                                    uint32_t threads, enum server_queue queue, sim_time overhead);

struct program_counts request_server_counts(const struct thread *first);

#endif
