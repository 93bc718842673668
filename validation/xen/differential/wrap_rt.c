/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
#include "validation/xen/differential/shim.h"

#include <rt.c>

#include "validation/xen/differential/glue.h"

void rt_look(struct vcpu *v, struct look *l)
{
    static char level[16];
    const struct rt_unit *u = rt_unit(v->sched_unit);

    snprintf(level, sizeof level, "L%u", u->priority_level);
    l->prio = level;
    l->credit = u->cur_budget;
}
