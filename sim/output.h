/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output files: whole or not at all.
 *
 * An output is written to a temporary file in the same directory; output_commit() syncs it, renames
 * it over the path and syncs the directory. Before that, nothing is to be seen under the path;
 * output_abort(), or exit() before the commit, removes the temporary. A path that is a symbolic
 * link keeps the link; a device or pipe is written directly.
 *
 * Errors: EXIT_INPUT when the path is the user's mistake (no such directory, no permission, a
 * directory where a file should be), EXIT_INTERNAL when the machine fails (disk full, I/O error).
 */
#ifndef HVSIM_SIM_OUTPUT_H
#define HVSIM_SIM_OUTPUT_H

#include "sim/error.h"

#include <stddef.h>
#include <stdio.h>

struct output;

struct output *output_open(const char *path, struct errors *e); /* NULL on error */
FILE *output_stream(struct output *o);                          /* buffered; do not fclose */
int output_commit(struct output *o, struct errors *e);          /* frees o in any case */
void output_abort(struct output *o);                            /* frees o; NULL is harmless */

/* Could a file be written there? For before hours of computing; leaves nothing behind. 0, or -1. */
int output_check(const char *path, struct errors *e);

/* A whole file from memory. */
int output_write(const char *path, const void *data, size_t size, struct errors *e);

/* Make a directory and those above it; existing ones are fine. */
int output_directory(const char *path, struct errors *e);

/* Could it be made, and a file be written into it? Makes nothing. 0, or -1 with an error. */
int output_directory_check(const char *path, struct errors *e);

/* "dir/name"; caller frees. */
char *output_path(const char *dir, const char *name);

#endif
