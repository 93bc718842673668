/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/net/passthrough.h"

#include "sim/error.h"

#include <stdlib.h>

static void pass_send(struct netdev *d, struct packet *p, struct guest_vcpu *gv, sim_time now)
{
    struct passthrough *pt = container_of(d, struct passthrough, device);

    (void)gv;
    hop_stamp(p, HOP_BACK_NIC, now);
    nic_transmit(pt->function, p, now);
}

static sim_time pass_send_cost(const struct netdev *d, uint32_t bytes)
{
    (void)bytes;
    return container_of(d, struct passthrough, device)->function->nic->params.tx_packet;
}

struct passthrough *passthrough_new(struct nic *n, uint32_t endpoint, struct guest *guest,
                                    const struct stack_params *stack, uint32_t irq_vcpu)
{
    struct passthrough *pt = xcalloc(1, sizeof *pt);
    const struct net_upper upper = {.owner = &pt->stack, .cost = stack_cost, .input = stack_input};

    pt->device = (struct netdev){.send = pass_send, .send_cost = pass_send_cost};
    stack_init(&pt->stack, guest, n->machine, endpoint, &pt->device, stack);
    pt->function = nic_add_function(n, endpoint, guest, irq_vcpu, &upper);
    return pt;
}

void passthrough_free(struct passthrough *pt)
{
    stack_release(&pt->stack);
    free(pt);
}
