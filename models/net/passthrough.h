/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Passthrough (SR-IOV): a function of the NIC in the guest's own hands. Packets skip dom0, bridge
 * and netback; the function interrupts the guest with an ordinary event, which no scheduler sees as
 * a network notification.
 */
#ifndef HVSIM_NET_PASSTHROUGH_H
#define HVSIM_NET_PASSTHROUGH_H

#include "models/net/nic.h"
#include "models/net/socket.h"

struct passthrough {
    struct nic_function *function;
    struct netdev device;
    struct stack stack; /* the guest's */
};

struct passthrough *passthrough_new(struct nic *n, uint32_t endpoint, struct guest *guest,
                                    const struct stack_params *stack, uint32_t irq_vcpu);
void passthrough_free(struct passthrough *pt);

#endif
