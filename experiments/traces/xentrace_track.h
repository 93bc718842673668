/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who is where: follows the runstates of all vCPUs and the pCPUs they are on through a trace, and
 * tells listeners of each change. What it counts as one interval of a state is what xenalyze
 * counts, so that figures can be compared:
 *
 *   - a vCPU is followed from its first switch in (or "continue running") on;
 *   - "continue running" ends one running interval and begins the next;
 *   - a gap of lost records ends the state of whoever was on that pCPU, and of every vCPU that was
 * not running, since it may have run there; they are "lost" until they are next seen running;
 *   - at the end of the trace what runs is cut at its pCPU's last record, the rest is left out;
 *   - when a record's old state is not the one followed, the new one is believed unless the vCPU is
 *     followed as running (its pCPU will tell, clocks of pCPUs may differ a little).
 *
 * All times are cycles of the trace's TSC.
 */
#ifndef HVSIM_TRACES_XENTRACE_TRACK_H
#define HVSIM_TRACES_XENTRACE_TRACK_H

#include "experiments/traces/xentrace_read.h"

/* States followed: Xen's four, then these. */
enum { XT_LOST = 4, XT_UNKNOWN = 5, XT_STATES = 5 };

/* Why a runnable vCPU waits. */
enum xt_wait { XT_WAIT_WAKE, XT_WAIT_PREEMPT, XT_WAIT_OTHER, XT_WAITS };

/* Sums of intervals; those of length 0 are not counted. */
struct xt_sum {
    uint64_t count, cycles;
};

static inline void xt_sum_add(struct xt_sum *s, uint64_t cycles)
{
    s->count += cycles != 0;
    s->cycles += cycles;
}

struct xt_vcpu;

struct xt_pcpu {
    uint16_t number;
    bool fresh;              /* nothing is known yet of who runs here */
    struct xt_vcpu *current; /* NULL: nobody known */
    uint64_t first, last;    /* TSC of records here in this run of the TSC; 0: none yet */
    struct xt_sum busy, idle, lost;
    uint64_t lost_records, gaps, switches;

    uint64_t current_since; /* for busy and idle; 0: unknown */
    bool in_gap, guessed;   /* guessed: `current` is from a lost-records record */
    uint64_t gap_began;
};

struct xt_vcpu {
    uint16_t domain, number;
    uint8_t state;        /* runstate, XT_LOST or XT_UNKNOWN */
    uint8_t wait;         /* enum xt_wait while runnable */
    bool seen;            /* by a runstate record, not only by name */
    bool placed;          /* `home` is known for the count of residences */
    uint64_t since;       /* when the state began; 0: unknown, the interval does not count */
    struct xt_pcpu *home; /* where it runs or last ran */
    uint64_t home_since;
    struct xt_sum residences; /* stays on one pCPU between migrations */
    uint64_t migrations;
    uint64_t began; /* cycles it had run from the trace's start to its first record, else 0 */

    uint8_t doubt_old, doubt_state; /* of the last record that did not fit */
    void *of[2];                    /* for the listeners */
};

#define XT_IDLE(v) ((v)->domain == XT_IDLE_DOMAIN)

struct xt_track;

struct xt_listener {
    /* v is about to change from v->state, which it had since v->since (0: unknown), to `to`, at
     * `tsc`, by a record on `on`. Called for changes of unknown vCPUs, too; `from` is what the
     * record says (XT_LOST for what no record says). `to` is XT_UNKNOWN when the TSC restarts:
     * forget it. */
    void (*change)(void *ctx, struct xt_track *t, struct xt_vcpu *v, unsigned from, unsigned to,
                   uint64_t tsc, struct xt_pcpu *on);
    void *ctx;
};

#define XT_VCPUS_MAX 16384 /* distinct ones; more are damage, or told in `refused` */

struct xt_track {
    struct xt_listener listener[2];
    unsigned listeners;

    struct xt_pcpu *pcpu[XENTRACE_PCPUS];
    struct xt_vcpu **vcpu; /* in order of appearance */
    uint32_t vcpus;
    uint32_t *hash; /* index + 1 into vcpu, open addressing */
    uint32_t hash_size;

    uint64_t first, last; /* of this run of the TSC */
    uint64_t earlier;     /* cycles of earlier runs */
    unsigned gaps_open;   /* pCPUs in a gap */

    uint64_t unfit;      /* runstate records whose old state was not the one followed */
    uint64_t impossible; /* records with a domain, vCPU or state that cannot be */
    uint64_t refused;    /* records of vCPUs beyond XT_VCPUS_MAX */
};

struct xt_track *xt_track_new(void);
void xt_track_free(struct xt_track *t);

/* Take one record, in the reader's order. */
void xt_track_record(struct xt_track *t, const struct xentrace_record *rec);

/* The trace has ended: close what is open. */
void xt_track_end(struct xt_track *t);

/* Cycles from the first to the last record. */
uint64_t xt_track_cycles(const struct xt_track *t);

/* The pCPU, made if need be. */
struct xt_pcpu *xt_track_pcpu(struct xt_track *t, unsigned pcpu);

/* The vCPU; NULL if there is none yet (find), or cannot be (get). */
struct xt_vcpu *xt_track_find(const struct xt_track *t, uint32_t domain, uint32_t vcpu);
struct xt_vcpu *xt_track_get(struct xt_track *t, uint32_t domain, uint32_t vcpu);

#endif
