/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host's records as CSV rows, in the format of the reference schedules:
 * time_ns,event,pcpu,dom,vcpu,vproc,prio,credit,arg
 *
 * pcpu executes, vproc is the vCPU's assigned pCPU, prio and credit are those of the moment.
 */
#ifndef HVSIM_TRACES_CSV_H
#define HVSIM_TRACES_CSV_H

#include "models/hypervisor/hypervisor.h"

enum { CSV_ROW = 256 };

struct csv_trace {
    struct observer observer;
    /* Gets each row without newline; the text is valid during the call. */
    void (*row)(void *ctx, const char *text);
    void *ctx;
    char *color; /* as last shown, per vCPU; NULL when the scheduler marks none */
};

/* The columns' names, as the first row. */
extern const char csv_header[];

/* Attach to a host; `row` is called for each record from now on. */
void csv_trace_attach(struct csv_trace *t, struct host *h, void (*row)(void *ctx, const char *text),
                      void *ctx);

void csv_trace_free(struct csv_trace *t);

/* Rows that are no records: the start ("placed", one per vCPU) and the end ("final", one per vCPU,
 * and "end" with the two counts). */
void csv_trace_placed(struct csv_trace *t, struct host *h);
void csv_trace_end(struct csv_trace *t, struct host *h, uint64_t instants, uint64_t ties);

#endif
