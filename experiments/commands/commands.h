/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the table of commands, one or a few per file. */
#ifndef HVSIM_COMMANDS_COMMANDS_H
#define HVSIM_COMMANDS_COMMANDS_H

#include "experiments/commands/command.h"

extern const struct command command_run, command_compare, command_rare, command_explain,
    command_watch, command_new, command_sweep_plan, command_sweep_run, command_sweep_gather,
    command_sweep_show, command_tune, command_calibrate, command_capacity, command_sensitivity,
    command_report, command_lab, command_doc, command_validate, command_import, command_schedulers,
    command_workloads, command_schema, command_version, command_help_of;

#endif
