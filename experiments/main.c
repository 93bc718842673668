/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hvsim program: the table of its commands. A command is a row here and a file of its own. */
#include "experiments/commands/commands.h"

static const struct command *const commands[] = {
    &command_run,         &command_compare,    &command_rare,      &command_explain,
    &command_watch,       &command_sweep_plan, &command_sweep_run, &command_sweep_gather,
    &command_sweep_show,  &command_tune,       &command_calibrate, &command_capacity,
    &command_sensitivity, &command_report,     &command_lab,       &command_doc,
    &command_validate,    &command_import,     &command_new,       &command_schedulers,
    &command_workloads,   &command_schema,     &command_version,   &command_help_of,
};

const struct command *command_nth(size_t i)
{
    return i < sizeof commands / sizeof *commands ? commands[i] : NULL;
}

int main(int argc, char **argv)
{
    return command_main(argc, argv);
}
