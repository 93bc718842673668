/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the guests of a trace did, free of how they were scheduled: for each vCPU the CPU time of
 * its bursts (however often it was preempted in them), how long it blocked between them, what ended
 * that, and whom it woke itself. Replayed under another scheduler, bursts take the same CPU time,
 * sleeps the same time, and a vCPU that was woken by another one waits for that one to come so far.
 *
 * The file is JSON:
 *
 *     {"format": "hvsim-workload", "version": 1,
 *      "source": {"file", "cpu_hz", "duration_ns", "pcpus": [..], "schedulers": [..], ..},
 *      "vcpus": [{"domain": 1, "vcpu": 0, "starts": "blocked", "ops_count": 4,
 *                 "computed_ns", "blocked_ns", "paused_ns", "lost_ns",
 *                 "ops": ["b4998000@4998000:irq c300120 w2.0 c80000 ..", ".."]}, ..]}
 *
 * "ops" is one list of words, cut into strings of some kilobytes (between words). Times are ns,
 * VCPU is DOMAIN.NUMBER, AT counts from the beginning of the trace:
 *
 *     cNS           compute for NS of CPU time
 *     bNS@AT:WHO    block; woken NS later, at AT, by WHO: "irq" (an interrupt or a timer), a
 *                   VCPU, "?" (nobody known), or "end" (not before the trace ended)
 *     wVCPU         wake another vCPU that waits for it (its b names this one as WHO)
 *     y             yield
 *     pNS           paused from outside, by the toolstack or parked by a Credit cap
 *     gNS           unknown: records were lost
 *
 * A VCPU followed by "?" was running on the pCPU where the wake was executed and may have sent
 * it, but an interrupt that arrived meanwhile is as possible. It is certain when hypercalls or
 * exits are in the trace too (xentrace -e all), or when the wake came from a pCPU that is not the
 * woken one's. Only vCPUs that can have to do with each other count: of one domain, or one of
 * them of dom0; and on the woken one's own pCPU only a vCPU that has blocked before: a pure hog
 * was merely interrupted.
 */
#ifndef HVSIM_TRACES_XENTRACE_WORKLOAD_H
#define HVSIM_TRACES_XENTRACE_WORKLOAD_H

#include "experiments/traces/xentrace_summary.h"

#include <stdio.h>

struct xentrace_workload;

/* Follows the summary's tracker. What does not fit in memory goes to an unnamed temporary file. */
struct xentrace_workload *xentrace_workload_new(struct xentrace_summary *s, uint64_t hz);
void xentrace_workload_free(struct xentrace_workload *w);

/* Call for each record before the summary has it, and before the summary's end. */
void xentrace_workload_record(struct xentrace_workload *w, const struct xentrace_record *rec);
void xentrace_workload_ends(struct xentrace_workload *w);

/* Write the file, after the summary's end. -1 when temporary space failed (error added); errors of
 * `out` are for whoever closes it. */
int xentrace_workload_write(struct xentrace_workload *w, const struct xentrace_report *r, FILE *out,
                            struct errors *e);

#endif
