/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/net/net.h"

#include "sim/error.h"

#include <stdlib.h>

static const struct param net_rows[] = {
    {PARAM("nic", OBJECT, struct net_params, nic), .def = "{}", .table = &nic_table,
     .meaning = "The physical NIC."},
    {PARAM("bridge", OBJECT, struct net_params, bridge), .def = "{}", .table = &bridge_table,
     .meaning = "dom0's bridge."},
    {PARAM("netback", OBJECT, struct net_params, netback), .def = "{}", .table = &netback_table,
     .meaning = "dom0's half of the split driver, the same for all guests."},
    {PARAM("stack", OBJECT, struct net_params, dom0_stack), .def = "{}", .table = &stack_table,
     .meaning = "dom0's own network stack."},
    {PARAM("irq_vcpu", INTEGER, struct net_params, irq_vcpu), .def = "0", .min = "0", .max = "4095",
     .meaning = "dom0's vCPU that gets the interrupts of the NIC's first queue; those of further "
                "queues go to the next ones.",
     .source = "Linux without irqbalance", .status = STATUS_CITED},
};

const struct param_table net_table =
    PARAM_TABLE("host network", struct net_params, net_rows,
                .meaning = "The network of a Xen host, as far as dom0 and the NIC are concerned.");

static const char *const attachment_names[] = {"vif", "passthrough", NULL};

static const struct param vif_rows[] = {
    {PARAM("attachment", ENUM, struct vif_params, attachment), .def = "vif",
     .range = PARAM_NO_RANGE, .names = attachment_names,
     .meaning = "How the guest is attached: by the split driver and dom0's bridge, or with a "
                "function of the NIC of its own.",
     .status = STATUS_ASSUMED},
    {PARAM("netfront", OBJECT, struct vif_params, netfront), .def = "{}", .table = &netfront_table,
     .meaning = "The guest's half of the split driver."},
    {PARAM("stack", OBJECT, struct vif_params, stack), .def = "{}", .table = &stack_table,
     .meaning = "The guest's network stack."},
    {PARAM("vcpu", INTEGER, struct vif_params, vcpu), .def = "0", .min = "0", .max = "4095",
     .meaning = "The guest's vCPU that gets its network interrupts (modulo their number).",
     .source = "Linux without irqbalance", .status = STATUS_CITED},
};

const struct param_table vif_table =
    PARAM_TABLE("guest network", struct vif_params, vif_rows, .meaning = "The network of a guest.");

struct host_net *host_net_new(struct machine *m, struct guest *dom0,
                              const struct net_params *params)
{
    struct host_net *n = xcalloc(1, sizeof *n);
    const struct net_upper upper = {.owner = &n->bridge,
                                    .cost = bridge_cost,
                                    .input = bridge_input,
                                    .loan = bridge_loan,
                                    .repay = vif_repay};

    n->machine = m;
    n->dom0 = dom0;
    n->params = *params;
    n->endpoints = 1;
    bridge_init(&n->bridge, m, dom0, &params->bridge, &params->dom0_stack);
    n->nic = nic_new(m, &params->nic, dom0, (uint32_t)params->irq_vcpu, &upper);
    n->bridge.nic = n->nic->physical;
    return n;
}

void host_net_free(struct host_net *n)
{
    for (uint32_t i = 1; i < n->endpoints; i++) {
        if (n->vif[i])
            vif_free(n->vif[i]);
        if (n->passed[i])
            passthrough_free(n->passed[i]);
    }
    nic_free(n->nic);
    bridge_release(&n->bridge);
    free(n);
}

struct stack *host_net_add_guest(struct host_net *n, struct guest *guest,
                                 const struct vif_params *params)
{
    uint32_t endpoint = n->endpoints++;
    uint32_t front = (uint32_t)params->vcpu % guest->domain->vcpu_count;

    BUG_ON(endpoint >= ENDPOINTS);
    if (params->attachment == ATTACH_PASSTHROUGH) {
        n->passed[endpoint] = passthrough_new(n->nic, endpoint, guest, &params->stack, front);
        return &n->passed[endpoint]->stack;
    }
    n->vif[endpoint] = vif_new(&n->bridge, endpoint, guest, &n->params.netback, &params->netfront,
                               &params->stack, endpoint - 1, front);
    return &n->vif[endpoint]->stack;
}

struct stack *host_net_dom0(struct host_net *n)
{
    return &n->bridge.local;
}

void host_net_receive(struct host_net *n, struct packet *p)
{
    nic_receive(n->nic, p, machine_now(n->machine));
}

static void add_stack(struct net_counts *c, const struct stack *st)
{
    struct socket_counts s = stack_counts(st);

    c->drop_socket += s.dropped;
    c->drop_address += st->unreachable;
    c->duplicates += s.duplicates;
    c->held += stack_held(st);
}

static void add_vif(struct net_counts *c, const struct vif *v)
{
    c->drop_vif += v->counts.dropped_rx;
    c->drop_netfront += v->counts.dropped_tx;
    c->notifications += v->counts.notifications;
    c->completions += v->counts.completions;
    c->held += vif_held(v);
    add_stack(c, &v->stack);
}

struct net_counts host_net_counts(const struct host_net *n)
{
    struct net_counts c = {.drop_address = n->bridge.unknown, .held = nic_held(n->nic)};

    for (const struct nic_function *f = n->nic->functions; f; f = f->next) {
        c.received += f->counts.received;
        c.sent += f->counts.sent;
        c.drop_nic_rx += f->counts.dropped_rx;
        c.drop_nic_tx += f->counts.dropped_tx;
        c.interrupts += f->counts.interrupts;
        c.polls += f->counts.polls;
    }
    for (uint32_t i = 1; i < n->endpoints; i++) {
        if (n->vif[i])
            add_vif(&c, n->vif[i]);
        if (n->passed[i])
            add_stack(&c, &n->passed[i]->stack);
    }
    add_stack(&c, &n->bridge.local);
    return c;
}
