/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ping: ICMP echo requests to a domain, which answers them in its network stack's softirq: no
 * program, no thread. What is measured is thus the way through dom0, and how long the domain's vCPU
 * waits for a pCPU, without any service. A client (client.h) does it.
 */
#ifndef HVSIM_WORKLOADS_PING_H
#define HVSIM_WORKLOADS_PING_H

#include "workloads/client.h"

struct ping_params {
    sim_time interval;
    bool flood;                        /* the next one at once, without an interval */
    int64_t size;                      /* bytes of data */
    sim_time linger;                   /* then a request counts as lost */
    struct distribution send, receive; /* the client's own ways, ns */
};
extern const struct param_table ping_table;

/* The client that pings like this; its distributions are those of `p`, which must live as long.
 * Its targets' port is PORT_ECHO. */
struct client_params ping_client(const struct ping_params *p);

#endif
