/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What operators do to domains at run time, as kinds of actions (sim/faults.h). */
#ifndef HVSIM_SCENARIO_ACTIONS_H
#define HVSIM_SCENARIO_ACTIONS_H

#include "sim/faults.h"

/* NULL ends the table. Their timeline's world is a struct world. */
extern const struct action_kind *const domain_actions[];

/* Does it create its target? */
bool action_creates(const struct action_kind *kind);

#endif
