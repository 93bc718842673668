/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What build.c needs of core.c: its timers' handlers. */
#ifndef HVSIM_HYPERVISOR_CORE_H
#define HVSIM_HYPERVISOR_CORE_H

#include "models/hypervisor/hypervisor.h"

void core_init_host(struct host *h);
void core_init_pcpu(struct pcpu *p);
void core_init_vcpu(struct vcpu *v);

#endif
