/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
#include "validation/xen/differential/shim.h"

#include <credit.c>

#include "validation/xen/differential/glue.h"

void (*const credit_tick_fn)(void *) = csched_tick;
void (*const credit_acct_fn)(void *) = csched_acct;

void credit_look(struct vcpu *v, struct look *l)
{
    const struct csched_unit *u = CSCHED_UNIT(v->sched_unit);

    l->prio = u->pri == CSCHED_PRI_TS_BOOST   ? "BOOST"
              : u->pri == CSCHED_PRI_TS_UNDER ? "UNDER"
              : u->pri == CSCHED_PRI_TS_OVER  ? "OVER"
                                              : "IDLE";
    l->credit = atomic_read(&u->credit);
    l->acct = test_bit(CSCHED_FLAG_UNIT_PARKED, &u->flags) ? "parked"
              : list_empty(&u->active_unit_elem)           ? "inactive"
                                                           : "active";
}

void credit_acct_numbers(const void *instance, long numbers[3])
{
    const struct csched_private *p = instance;

    numbers[0] = p->credit_balance;
    numbers[1] = p->weight;
    numbers[2] = p->credit;
}
