/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Documentation made of tables: man pages, reference pages, completion. What is said of commands,
 * schedulers, programs and files is said once, in their tables.
 */
#ifndef HVSIM_COMMANDS_DOC_H
#define HVSIM_COMMANDS_DOC_H

#include "sim/error.h"

/* All of it into a directory: man/hvsim-run.1.scd, ... (for scdoc), reference/commands.md, ...,
 * completion/hvsim (bash). 0, or -1 with errors. */
int doc_write(const char *dir, struct errors *e);

#endif
