/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
#include "validation/xen/differential/shim.h"

#include <credit2.c>

#include "validation/xen/differential/glue.h"

void credit2_look(struct vcpu *v, struct look *l)
{
    l->credit = csched2_unit(v->sched_unit)->credit;
}
