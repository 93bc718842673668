/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ARINC653's table, for whoever sets it otherwise than by parameters. */
#ifndef HVSIM_SCHEDULERS_ARINC653_H
#define HVSIM_SCHEDULERS_ARINC653_H

#include "models/schedulers/scheduler.h"

enum { ARINC653_ENTRIES = 64 };

struct arinc653_entry {
    const char *domain; /* its name (the caller's, kept), or NULL: the one with this id */
    uint32_t id;
    uint32_t vcpu;
    sim_time runtime;
};

/* From now on: these entries, repeated every `frame` (at least their sum). The next decision begins
 * a frame. A table of no entries, or whose entries do not fit, is refused as by Xen: the old one
 * stays. */
void arinc653_set_table(struct scheduler *s, const struct arinc653_entry *entry, uint32_t count,
                        sim_time frame);

#endif
