/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/rpc.h"

#include "workloads/request_server.h"

struct thread *rpc_start(const void *params, const struct program_site *site)
{
    const struct rpc_params *c = params;
    uint32_t connections = site->connections ? site->connections : 1;

    return request_server_start(&program_rpc, c, site, (uint16_t)c->port,
                                c->threads ? (uint32_t)c->threads : connections,
                                c->threads ? QUEUE_COMMON : QUEUE_PER_THREAD, c->overhead);
}

static const struct param rpc_rows[] = {
    {PARAM("port", INTEGER, struct rpc_params, port), .def = "9090", .min = "1", .max = "65535",
     .meaning = "Port it listens on.", .source = "Apache Thrift's tutorial",
     .status = STATUS_CITED},
    {PARAM("threads", INTEGER, struct rpc_params, threads), .def = "per_connection", .min = "1",
     .max = "4096", .word = "per_connection", .word_value = 0,
     .meaning = "Threads that serve: one for each connection, or so many on one queue.",
     .source = "TerrierTail's RPC server: Thrift's TThreadedServer", .status = STATUS_CITED},
    {PARAM("overhead", DURATION, struct rpc_params, overhead), .def = "0", .range = "0ns..20us",
     .max = "1s", .meaning = "CPU time of each request on top of what it demands.",
     .status = STATUS_ASSUMED},
};
static const struct param_table rpc_table =
    PARAM_TABLE("rpc", struct rpc_params, rpc_rows,
                .meaning = "Serves requests that bring their own demand for CPU time.");

const struct program program_rpc = {.name = "rpc",
                                    .meaning = "Receives a request, computes, replies.",
                                    .params = &rpc_table,
                                    .state_size = sizeof(struct request_server),
                                    .next = request_server_next};
