/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/memcached.h"

#include "workloads/request_server.h"

struct thread *memcached_start(const void *params, const struct program_site *site)
{
    const struct memcached_params *c = params;

    return request_server_start(&program_memcached, c, site, (uint16_t)c->port,
                                (uint32_t)c->threads, QUEUE_PER_THREAD, c->event);
}

static const struct param memcached_rows[] = {
    {PARAM("port", INTEGER, struct memcached_params, port), .def = "11211", .min = "1",
     .max = "65535", .meaning = "Port it listens on.", .source = "memcached's default",
     .status = STATUS_CITED},
    {PARAM("threads", INTEGER, struct memcached_params, threads), .def = "4", .min = "1",
     .max = "1024", .meaning = "Worker threads; connections are dealt out to them in turn.",
     .source = "memcached's default", .status = STATUS_CITED},
    {PARAM("event", DURATION, struct memcached_params, event), .def = "1us", .max = "1ms",
     .meaning = "The event loop's part of each request: epoll and dispatch.",
     .status = STATUS_ASSUMED},
};
static const struct param_table memcached_table = PARAM_TABLE(
    "memcached", struct memcached_params, memcached_rows, .meaning = "memcached's worker threads.");

const struct program program_memcached = {.name = "memcached",
                                          .meaning = "Serves memcached's GETs and SETs.",
                                          .params = &memcached_table,
                                          .state_size = sizeof(struct request_server),
                                          .next = request_server_next};
