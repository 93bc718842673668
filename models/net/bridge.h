/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dom0's bridge: forwards between the physical NIC, the vifs and dom0's own stack, in the softirq
 * of whoever brings the packet. It has no queue of its own: each port bounds its own.
 */
#ifndef HVSIM_NET_BRIDGE_H
#define HVSIM_NET_BRIDGE_H

#include "models/net/nic.h"
#include "models/net/socket.h"

struct bridge_params {
    sim_time forward; /* per packet: look-up, netfilter hooks, hand-over */
};
extern const struct param_table bridge_table;

struct vif;

struct bridge {
    struct machine *machine;
    struct nic_function *nic; /* the NIC's physical function, once there is one */
    struct bridge_params params;
    struct vif *vif[ENDPOINTS];
    struct stack local;   /* dom0's own sockets: endpoint 0 */
    struct netdev device; /* of `local` */
    uint64_t forwarded, unknown;
};

void bridge_init(struct bridge *b, struct machine *m, struct guest *dom0,
                 const struct bridge_params *params, const struct stack_params *local);
void bridge_release(struct bridge *b);

/* The bridge as the upper layer of the NIC's and of netback's polls. */
sim_time bridge_cost(void *bridge, const struct packet *first, uint32_t count);
void bridge_input(void *bridge, struct packet *p, struct guest_vcpu *gv, sim_time now);
struct nic_loan bridge_loan(void *bridge, const struct packet *p);

/* For another machine, or for a function of the NIC that a guest has: out through the NIC. */
bool bridge_to_nic(const struct bridge *b, const struct packet *p);

#endif
