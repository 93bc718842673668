/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of lines that survive being killed anywhere: appended one whole line at a time by one
 * process (a second one is refused by a lock). A last line torn by a crash is cut off when the file
 * is opened. Lines reach the disk in groups: at most LINE_FILE_SYNC_MS after they were appended,
 * provided line_file_tick() is called in time.
 *
 * Errors: as in sim/output.h.
 */
#ifndef HVSIM_SIM_LINE_FILE_H
#define HVSIM_SIM_LINE_FILE_H

#include "sim/error.h"

#include <stddef.h>

#define LINE_FILE_SYNC_MS 100

struct line_file;

/* Called for each complete line found, without its newline; return -1 (error added) to give up. */
typedef int line_fn(void *ctx, const char *line, size_t length, struct errors *e);

/* Open or create; `each` (may be NULL) sees the lines already there. *torn (may be NULL) tells how
 * many bytes of a torn line were cut off. */
struct line_file *line_file_open(const char *path, line_fn *each, void *ctx, size_t *torn,
                                 struct errors *e);

/* The same for a file that users name: its first line is `title` (a new one gets it), which `each`
 * does not see. Another file is left as it is, with the error "PATH: OTHERWISE; name another file,
 * or remove it to begin anew": of one that is a single line without its newline, all would be cut
 * off as torn. */
struct line_file *line_file_open_titled(const char *path, const char *title, const char *otherwise,
                                        line_fn *each, void *ctx, struct errors *e);

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
