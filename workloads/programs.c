/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/programs.h"

#include "workloads/synthetic.h"

#include <string.h>

static const struct program *const programs[] = {
    &program_hog,
    &program_burst_sleep,
    &program_periodic,
    &program_yielder,
};

const struct program *program_nth(size_t i)
{
    return i < sizeof programs / sizeof *programs ? programs[i] : NULL;
}

const struct program *program_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(programs[i]->name, name))
            return programs[i];
    return NULL;
}
