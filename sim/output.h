/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Output files: whole or not at all, and files of lines that survive being killed anywhere.
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct output;

struct output *output_open(const char *path, struct errors *e); /* NULL on error */
FILE *output_stream(struct output *o);                          /* buffered; do not fclose */
int output_commit(struct output *o, struct errors *e);          /* frees o in any case */
void output_abort(struct output *o);                            /* frees o; NULL is harmless */

/* A whole file from memory. */
int output_write(const char *path, const void *data, size_t size, struct errors *e);

/* Make a directory and those above it; existing ones are fine. */
int output_directory(const char *path, struct errors *e);

/* "dir/name"; caller frees. */
char *output_path(const char *dir, const char *name);

/*
 * A file of lines, appended one whole line at a time by one process (a second one is refused by a
 * lock). A last line torn by a crash is cut off when the file is opened. Lines reach the disk in
 * groups: at most LINE_FILE_SYNC_MS after they were appended, provided line_file_tick() is called
 * in time.
 */
#define LINE_FILE_SYNC_MS 100

struct line_file;

/* Called for each complete line found, without its newline; return -1 (error added) to give up. */
typedef int line_fn(void *ctx, const char *line, size_t length, struct errors *e);

/* Open or create; `each` (may be NULL) sees the lines already there. *torn (may be NULL) tells how
 * many bytes of a torn line were cut off. */
struct line_file *line_file_open(const char *path, line_fn *each, void *ctx, size_t *torn,
                                 struct errors *e);

/* Append one line (no newline inside). On error the file is left as before the call. */
int line_file_append(struct line_file *f, const char *line, size_t length, struct errors *e);

/* Sync if the oldest unsynced line is due. Returns the milliseconds until the next sync is due, or
 * -1 when nothing waits; -2 on error. */
int line_file_tick(struct line_file *f, struct errors *e);

int line_file_sync(struct line_file *f, struct errors *e);
int line_file_close(struct line_file *f, struct errors *e); /* syncs, unlocks, frees */

/* Read the complete lines of a file without locking or changing it (for merging shards). */
int line_file_read(const char *path, line_fn *each, void *ctx, struct errors *e);

#endif
