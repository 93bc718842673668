/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Statistics of a xentrace, in one pass: per domain and vCPU (share, run lengths, waits after a
 * wake and after a preemption, blocked times, migrations, boosts and other events, time lost in
 * gaps), per pCPU (busy, idle and lost time, bytes per class, lost records), per event.
 *
 * Durations are kept in cycles of the trace's TSC and become nanoseconds when they are printed.
 * Counts, sums, minima and maxima are exact; percentiles come from log-linear histograms, within
 * 0.8 % (coarser, 3 %, or none when a trace has more vCPUs than SUMMARY_MEMORY has room for).
 */
#ifndef HVSIM_TRACES_XENTRACE_SUMMARY_H
#define HVSIM_TRACES_XENTRACE_SUMMARY_H

#include "experiments/traces/xentrace_track.h"
#include "sim/histogram.h"

#include <stdio.h>

/* What xenalyze takes when it is told nothing. */
#define XENTRACE_DEFAULT_HZ UINT64_C(2400000000)
#define XENTRACE_MAX_HZ (UINT64_C(1) << 34)

/* Durations of one kind, in cycles; those of length 0 are not counted. */
struct xt_stat {
    uint64_t count, cycles, min, max;
    struct histogram *histogram; /* NULL: none yet, or no room */
};

struct xt_share {
    uint16_t pcpu;
    uint64_t cycles;
};

struct xt_vcpu_summary {
    struct xt_stat state[XT_STATES]; /* intervals as xenalyze counts them; histograms only of
                                      * XT_BLOCKED and later ones */
    struct xt_stat wait[XT_WAITS];   /* the runnable intervals by why they began */
    struct xt_stat run;              /* from switch in to switch out, whole runs only */
    uint64_t began;                  /* running at the start of the trace, not in `state` */
    uint64_t run_began;              /* 0: not running, or its beginning is unknown */
    uint64_t run_ends[4];            /* whole runs by the state they led to */
    struct xt_share *on;             /* running time per pCPU */
    unsigned on_count, on_last;
    uint64_t tally[XT_TALLY_COUNT];
};

struct xt_pcpu_summary {
    uint64_t records, bytes[XT_CLASS_COUNT];
    uint64_t switched_in; /* TSC of the last SWITCH_INFNEXT; 0: none */
};

struct xt_event_count {
    uint64_t count;
    uint64_t odd;                          /* of a length the table does not know */
    uint8_t known, tally, lengths, packed; /* lengths: bit n: n words are known */
    int8_t vcpu_at;
};

/* Counters are kept in groups: one per class and sub-class, with an event each. */
#define XT_GROUPS (XT_CLASS_COUNT * 16)
#define XT_GROUP_EVENTS 4096

static inline uint32_t xt_group_event(unsigned group, unsigned number)
{
    return UINT32_C(1) << (16 + group / 16) | (group % 16) << 12 | number;
}

struct xentrace_summary {
    struct xt_track *track;
    struct xt_event_count *event[XT_GROUPS]; /* by class and sub-class; NULL: none seen */
    struct xt_pcpu_summary *pcpu[XENTRACE_PCPUS];
    size_t histogram_bytes;
    bool coarse, no_room; /* some percentiles are coarse, missing */

    /* Run times that the trace itself gives in ns, and the same in cycles: the TSC's frequency. */
    uint64_t told_ns, told_cycles, told_count;
    uint32_t schedulers; /* bit per scheduler id seen */
    bool pv_seen, hvm_seen;
};

struct xentrace_summary *xentrace_summary_new(void);
void xentrace_summary_free(struct xentrace_summary *s);

/* Take one record in the reader's order; it goes to the tracker from here. */
void xentrace_summary_record(struct xentrace_summary *s, const struct xentrace_record *rec);
void xentrace_summary_end(struct xentrace_summary *s);

/* NULL for a vCPU that never changed its state. */
struct xt_vcpu_summary *xentrace_summary_vcpu(const struct xt_vcpu *v);

/* The TSC's frequency by the trace's own ns fields; 0 when it has none. */
uint64_t xentrace_summary_hz(const struct xentrace_summary *s);

/* A quantile of the durations in cycles; *known is false when there is no histogram. (xenalyze's
 * percentiles of runstates weigh each interval by its length: another figure.) */
uint64_t xt_stat_quantile(const struct xt_stat *s, double q, bool *known);

struct xentrace_report {
    const char *file;
    uint64_t hz;
    bool hz_given;
    const struct xentrace_damage *damage;
    const struct xentrace_volume *volume;
};

/* For people, and as JSON. */
void xentrace_summary_text(const struct xentrace_summary *s, const struct xentrace_report *r,
                           FILE *out);
void xentrace_summary_json(const struct xentrace_summary *s, const struct xentrace_report *r,
                           FILE *out);

#endif
