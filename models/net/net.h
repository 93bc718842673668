/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The network of a Xen host, as a world builder puts it together:
 *
 *     struct machine *m;                      // on the fleet; m->line_rate as wanted
 *     struct host *h = host_new(&m->queue, ...);
 *     struct guest *dom0 = guest_new(domain_create(...), n);    // with its vCPUs
 *     struct host_net *net = host_net_new(m, dom0, &params);    // struct net_params: net_table
 *     ... for each guest that has a network, in the order of the scenario:
 *     struct stack *st = host_net_add_guest(net, guest, &vif);  // struct vif_params: vif_table
 *     ... start workloads on st (workloads/workload.h); clients send to machine m, endpoint
 *     ... st->endpoint. machine_ops.arrival of m must call host_net_receive(net, p).
 *
 * dom0's own programs (a client inside the host, as in the recorded captures) use
 * host_net_dom0(net). Everything is counted; host_net_counts adds it up.
 */
#ifndef HVSIM_NET_NET_H
#define HVSIM_NET_NET_H

#include "models/net/netback.h"
#include "models/net/passthrough.h"

/* The host's side. */
struct net_params {
    struct nic_params nic;
    struct bridge_params bridge;
    struct netback_params netback; /* for all vifs */
    struct stack_params dom0_stack;
    int64_t irq_vcpu; /* dom0's vCPU for the NIC's first queue; further ones follow */
};
extern const struct param_table net_table;

enum attachment { ATTACH_VIF, ATTACH_PASSTHROUGH };

/* A guest's side. */
struct vif_params {
    int attachment; /* enum attachment */
    struct netfront_params netfront;
    struct stack_params stack;
    int64_t vcpu; /* the guest's vCPU that gets its interrupts */
};
extern const struct param_table vif_table;

struct host_net {
    struct machine *machine;
    struct guest *dom0;
    struct net_params params;
    struct nic *nic;
    struct bridge bridge;
    struct vif *vif[ENDPOINTS]; /* by endpoint; NULL where passed through */
    struct passthrough *passed[ENDPOINTS];
    uint32_t endpoints; /* next to be given */
};

struct host_net *host_net_new(struct machine *m, struct guest *dom0,
                              const struct net_params *params);

/* Before hosts, guests and the fleet are freed. */
void host_net_free(struct host_net *n);

/* The guest's stack, with the next endpoint e; the netback of its queue i is on dom0's vCPU
 * e - 1 + i modulo their number. */
struct stack *host_net_add_guest(struct host_net *n, struct guest *guest,
                                 const struct vif_params *params);

struct stack *host_net_dom0(struct host_net *n);

/* machine_ops.arrival */
void host_net_receive(struct host_net *n, struct packet *p);

struct net_counts {
    uint64_t received, sent; /* by the NIC */
    uint64_t drop_nic_rx, drop_nic_tx, drop_vif, drop_netfront, drop_socket, drop_address;
    uint64_t notifications, completions, interrupts, polls, duplicates;
    uint64_t held; /* packets that are somewhere in the host now */
};
struct net_counts host_net_counts(const struct host_net *n);

#endif
