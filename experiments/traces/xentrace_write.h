/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing what xentrace would have written on the simulated host: binary records that Xen's own
 * xenalyze and hvsim import read. A stream: windows of all pCPUs in ascending order each 100 ms of
 * simulated time, or earlier when they grow; memory is bounded.
 *
 * Which events: scheduler minimal, verbose and scheduler class, as `xentrace -e 0x0002f000` does,
 * in the order of Xen's code; for hosts before Xen 4.17 in that version's shorter form.
 */
#ifndef HVSIM_TRACES_XENTRACE_WRITE_H
#define HVSIM_TRACES_XENTRACE_WRITE_H

#include "models/hypervisor/hypervisor.h"

#include <stdio.h>

struct xentrace_window {
    uint32_t *word, *at, *last; /* beginning, next record, where another one may not fit */
    size_t capacity;            /* in words */
};

struct xentrace_writer {
    struct observer observer;
    FILE *out; /* the caller's */
    uint64_t cpu_khz;
    uint64_t last_tsc;
    sim_time last_time;
    sim_time ms; /* of the millisecond at hand: its date, and in cycles */
    uint64_t ms_tsc;
    sim_time next_flush;
    struct xentrace_window *window; /* one per pCPU */
    uint32_t pcpus;
    size_t capacity; /* words of all windows */
    bool failed;     /* a write failed: errno at that time is lost, the stream says so too */
};

enum { XENTRACE_DEFAULT_KHZ = 2400000 };

/* Attach to a host (as early as its creation). Free the writer after the run, before the host. */
void xentrace_writer_attach(struct xentrace_writer *w, struct host *h, FILE *out, uint64_t cpu_khz);

/* Write what is pending and free. Returns 0, or -1 when writing failed. */
int xentrace_writer_finish(struct xentrace_writer *w);

#endif
