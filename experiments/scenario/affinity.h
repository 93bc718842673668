/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of pCPUs or vCPUs as scenarios write them: "all", "0-3,5", or [0, 1, 2, 3, 5]. */
#ifndef HVSIM_SCENARIO_AFFINITY_H
#define HVSIM_SCENARIO_AFFINITY_H

#include "models/hypervisor/cpumask.h"
#include "sim/params.h"

/* The parameter type; its field is a cpumask. "all" is cpumask_all(). */
extern const struct param_type cpu_list_type;

/* First fields of a row. */
#define PARAM_CPU_LIST(member_name, struct_type, field)                                            \
    PARAM(member_name, CUSTOM, struct_type, field), .type = &cpu_list_type

/* "0-3,5"; caller frees. */
char *cpu_list_text(const cpumask *m);

bool cpu_list_is_all(const cpumask *m);

#endif
