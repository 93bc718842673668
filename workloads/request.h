/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The birth of requests: everything about a request that is left to chance is drawn when it is
 * born, from streams of its own for each thing, and travels with it. So two schedulers compared
 * under common random numbers serve the same requests.
 *
 * A request to several servers (fan-out) has a leg for each, with demand and sizes of its own.
 */
#ifndef HVSIM_WORKLOADS_REQUEST_H
#define HVSIM_WORKLOADS_REQUEST_H

#include "sim/distribution.h"
#include "sim/params.h"

/* What the requests of a memcached client are: GETs and SETs. Sizes on the wire follow from keys
 * and values, and so does the demand. */
struct memcached_mix {
    int64_t sets;                   /* per cent, sim/units.h */
    struct distribution key, value; /* bytes */
    sim_time get, set;              /* CPU time of the server's program */
    sim_time kibibyte;              /* more for each KiB of the value */
};
extern const struct param_table memcached_mix_table;

struct request_params {
    struct distribution demand;         /* CPU time of the service, ns */
    struct distribution request, reply; /* bytes on the wire, framing included */
    struct distribution send, receive;  /* the client's own delays, ns */
    struct memcached_mix *memcached;    /* instead of demand, request and reply; or NULL */
};

struct request_streams {
    struct rng think, slack, demand, request, reply, send, receive, phantom;
};

struct request_leg {
    sim_time demand;
    uint32_t bytes, reply;
};

struct request {
    sim_time intended;
    sim_time send_delay, receive_delay;
    bool recorded;
    struct request_leg *leg; /* the owner's memory, for each target */
};

void request_streams_init(struct request_streams *s, uint64_t seed, uint64_t replication,
                          const char *entity);

/* Draw a request with so many legs. */
void request_bear(struct request *q, const struct request_params *p, struct request_streams *s,
                  uint32_t legs);

/* Everything but the place of the legs. */
void request_copy(struct request *to, const struct request *from, uint32_t legs);

#endif
