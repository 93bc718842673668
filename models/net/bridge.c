/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/net/netback.h"

static const struct param bridge_rows[] = {
    {PARAM("forward", DURATION, struct bridge_params, forward), .def = "1us", .max = "1ms",
     .meaning = "Forwarding of a packet by dom0's bridge.", .status = STATUS_ASSUMED},
};

const struct param_table bridge_table =
    PARAM_TABLE("bridge", struct bridge_params, bridge_rows, .meaning = "dom0's bridge.");

static bool to_local(const struct bridge *b, const struct packet *p)
{
    return p->to == b->machine && address_endpoint(p->a) == 0;
}

bool bridge_to_nic(const struct bridge *b, const struct packet *p)
{
    uint32_t endpoint = address_endpoint(p->a);

    return p->to != b->machine || (endpoint < ENDPOINTS && b->nic->nic->by_endpoint[endpoint]);
}

sim_time bridge_cost(void *bridge, const struct packet *first, uint32_t count)
{
    struct bridge *b = bridge;
    sim_time cost = count * b->params.forward;

    for (const struct packet *p = first; count--; p = p->next) {
        if (bridge_to_nic(b, p))
            cost += b->nic->nic->params.tx_packet;
        else if (to_local(b, p))
            cost += stack_cost(&b->local, p, 1);
    }
    return cost;
}

void bridge_input(void *bridge, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    struct bridge *b = bridge;
    struct vif *v;

    b->forwarded++;
    if (bridge_to_nic(b, p)) {
        wait_end(p, gv->vcpu, VALUE_BACK_WAIT, now);
        hop_stamp(p, HOP_BACK_NIC, now);
        nic_transmit(b->nic, p, now);
        return;
    }
    if (to_local(b, p)) {
        stack_input(&b->local, p, gv, now);
        return;
    }
    v = address_endpoint(p->a) < ENDPOINTS ? b->vif[address_endpoint(p->a)] : NULL;
    if (v && !domain_gone(v->stack.guest->domain)) {
        vif_queue(v, p, gv, now);
    } else {
        b->unknown++;
        packet_free(p);
    }
}

/* Of packets on their way out it is the guests' that may keep pages. */
struct nic_loan bridge_loan(void *bridge, const struct packet *p)
{
    const struct bridge *b = bridge;
    uint32_t endpoint = address_endpoint(p->b);
    struct vif *v = p->from == b->machine && endpoint < ENDPOINTS ? b->vif[endpoint] : NULL;

    return v ? vif_loan(v, p) : (struct nic_loan){NULL, 0};
}

/* dom0's own packets go through the bridge in the context of who sends them. */
static void local_send(struct netdev *d, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    struct bridge *b = container_of(d, struct bridge, device);

    wait_begin(p, gv->vcpu, now);
    bridge_input(b, p, gv, now);
}

static sim_time local_send_cost(const struct netdev *d, uint32_t bytes)
{
    const struct bridge *b = container_of(d, struct bridge, device);

    (void)bytes;
    return b->params.forward + b->nic->nic->params.tx_packet;
}

void bridge_init(struct bridge *b, struct machine *m, struct guest *dom0,
                 const struct bridge_params *params, const struct stack_params *local)
{
    *b = (struct bridge){.machine = m,
                         .params = *params,
                         .device = {.send = local_send, .send_cost = local_send_cost}};
    stack_init(&b->local, dom0, m, 0, &b->device, local);
}

void bridge_release(struct bridge *b)
{
    stack_release(&b->local);
}
