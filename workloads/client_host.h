/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A client machine: what runs on it are endpoints (clients, streams), each with a number that is
 * the endpoint in the addresses of its packets (models/net/packet.h). Such a machine has no model
 * of its own CPUs: its endpoints' costs are delays.
 */
#ifndef HVSIM_WORKLOADS_CLIENT_HOST_H
#define HVSIM_WORKLOADS_CLIENT_HOST_H

#include "models/net/packet.h"

struct client_endpoint {
    uint32_t number;
    /* A packet for it; the callee owns it. */
    void (*arrival)(struct client_endpoint *e, struct packet *p, sim_time now);
    void (*release)(struct client_endpoint *e); /* frees it */
};

struct client_host {
    struct machine *machine;
    struct client_endpoint **endpoint;
    uint32_t endpoints;
};

struct client_host *client_host_new(struct machine *m);                  /* becomes m->model */
void client_host_free(struct client_host *ch);                           /* and its endpoints */
void client_host_add(struct client_host *ch, struct client_endpoint *e); /* sets its number */

extern const struct machine_ops client_machine_ops; /* of that machine */

#endif
