/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trace formats as a table: a file's suffix picks one. Each writer is an observer that streams to
 * an open file; memory is bounded.
 */
#ifndef HVSIM_TRACES_TRACES_H
#define HVSIM_TRACES_TRACES_H

#include "models/hypervisor/hypervisor.h"

#include <stdio.h>

struct trace_format {
    const char *suffix;  /* ".xentrace" */
    const char *meaning; /* one line: what reads it */
    /* Attach to a host (best before pools and domains are made, at the latest before the run).
     * Returns the writer. */
    void *(*attach)(struct host *h, FILE *out);
    /* Write what is left and free the writer, while the host still exists; the host must not run
     * on. 0, or -1 when writing failed (also if an earlier write did). The file stays open. */
    int (*finish)(void *writer, struct host *h);
};

extern const struct trace_format trace_formats[]; /* up to one with suffix NULL */

/* The format of a path by its suffix, or NULL. */
const struct trace_format *trace_format_of(const char *path);

/* The writers in their own files, for the table. */
void *csv_file_attach(struct host *h, FILE *out);
int csv_file_finish(void *writer, struct host *h);
void *perfetto_attach(struct host *h, FILE *out);
int perfetto_finish(void *writer, struct host *h);
void *ftrace_attach(struct host *h, FILE *out);
int ftrace_finish(void *writer, struct host *h);
void *paje_attach(struct host *h, FILE *out);
int paje_finish(void *writer, struct host *h);

/* "web/v0", or "idle": a vCPU's name for people. Returns `out`. */
enum { VCPU_NAME = 96 };
char *vcpu_name(const struct vcpu *v, char out[VCPU_NAME]);

#endif
