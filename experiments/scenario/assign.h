/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Changes of a scenario from outside: --set, --vary, the axes of sweeps, variables of tune. */
#ifndef HVSIM_SCENARIO_ASSIGN_H
#define HVSIM_SCENARIO_ASSIGN_H

#include "sim/json.h"

/* Apply "/json/pointer=value" as json_set() does, `flag` naming it in messages. Where the pointer
 * reaches into a choice that is given by its bare name ("scheduler": "credit"), the object that
 * this stands for takes the name's place. */
int scenario_assign(struct json *scenario, const char *flag, const char *assignment,
                    struct errors *e);

/* A scenario file with changes. NULL with all errors. */
struct json *scenario_load(const char *path, const char *flag, const char *const *assignment,
                           size_t assignments, struct errors *e);

#endif
