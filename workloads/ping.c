/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/ping.h"

#include "sim/distribution_params.h"

/* On the wire: Ethernet's preamble, header, check sequence and gap, IPv4, ICMP. */
enum { ECHO_OVERHEAD = 38 + 20 + 8 };

enum { OUTSTANDING = 64 };

struct client_params ping_client(const struct ping_params *p)
{
    double bytes = (double)(p->size + ECHO_OVERHEAD);

    return (struct client_params){
        .loop = p->flood ? LOOP_CLOSED : LOOP_OPEN,
        .connections = 1,
        .think = dist_make(DIST_CONSTANT, 0, 0, 0),
        .slack = dist_make(DIST_CONSTANT, 0, 0, 0),
        .unhindered = p->linger,
        .arrivals = {.kind = ARRIVAL_RENEWAL,
                     .gap = dist_make(DIST_CONSTANT, (double)p->interval, 0, 0)},
        .depth = OUTSTANDING,
        .backlog = 1,
        .request = {.demand = dist_make(DIST_CONSTANT, 0, 0, 0),
                    .request = dist_make(DIST_CONSTANT, bytes, 0, 0),
                    .reply = dist_make(DIST_CONSTANT, bytes, 0, 0),
                    .send = p->send,
                    .receive = p->receive},
        .timeout = p->linger,
        .retries = 0,
    };
}

static const struct param ping_rows[] = {
    {PARAM("interval", DURATION, struct ping_params, interval), .def = "1s", .min = "10us",
     .max = "1h", .meaning = "Time between two requests.", .source = "iputils: ping -i",
     .status = STATUS_CITED},
    {PARAM("flood", BOOLEAN, struct ping_params, flood), .def = "false",
     .meaning = "The next request as soon as the last one is answered, instead of the interval.",
     .source = "iputils: ping without -f", .status = STATUS_CITED},
    {PARAM("size", SIZE, struct ping_params, size), .def = "56B", .max = "1472B",
     .meaning = "Bytes of data; 66 more of ICMP, IP and Ethernet are on the wire.",
     .source = "iputils: ping -s", .status = STATUS_CITED},
    {PARAM("linger", DURATION, struct ping_params, linger), .def = "10s", .min = "1ms", .max = "1h",
     .meaning = "Without an answer for this long a request has failed.",
     .source = "iputils: ping -W", .status = STATUS_CITED},
    {PARAM("send", CUSTOM, struct ping_params, send), .type = &dist_time_type, .def = "15us",
     .meaning = "The client's own way from the program to the wire.", .status = STATUS_ASSUMED},
    {PARAM("receive", CUSTOM, struct ping_params, receive), .type = &dist_time_type, .def = "25us",
     .meaning = "The client's own way from the wire to the program.", .status = STATUS_ASSUMED},
};

const struct param_table ping_table =
    PARAM_TABLE("ping", struct ping_params, ping_rows,
                .meaning = "ICMP echo requests, answered by the domain's kernel.");
