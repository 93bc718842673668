/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/traces/xentrace_track.h"

#include <stdlib.h>
#include <string.h>

/* Domain numbers of the public interface end at 0x7fff, the idle domain. */
#define DOMAIN_MAX 0x7fffu
#define VCPU_MAX 16383u /* the idle domain has one per pCPU */

/* ---- Objects -----------------------------------------------------------------------------------
 */

struct xt_track *xt_track_new(void)
{
    struct xt_track *t = xcalloc(1, sizeof *t);

    t->hash_size = 256;
    t->hash = xcalloc(t->hash_size, sizeof *t->hash);
    return t;
}

void xt_track_free(struct xt_track *t)
{
    if (!t)
        return;
    for (unsigned i = 0; i < XENTRACE_PCPUS; i++)
        free(t->pcpu[i]);
    for (uint32_t i = 0; i < t->vcpus; i++)
        free(t->vcpu[i]);
    free(t->vcpu);
    free(t->hash);
    free(t);
}

struct xt_pcpu *xt_track_pcpu(struct xt_track *t, unsigned pcpu)
{
    struct xt_pcpu *p = t->pcpu[pcpu];

    if (__builtin_expect(!p, 0)) {
        p = t->pcpu[pcpu] = xcalloc(1, sizeof *p);
        p->number = (uint16_t)pcpu;
        p->fresh = true;
    }
    return p;
}

static inline uint32_t hash_slot(const struct xt_track *t, uint32_t domain, uint32_t vcpu)
{
    uint32_t slot = (domain * 0x9e3779b1u ^ vcpu * 0x85ebca6bu) & (t->hash_size - 1);

    while (t->hash[slot]) {
        const struct xt_vcpu *v = t->vcpu[t->hash[slot] - 1];

        if (v->domain == domain && v->number == vcpu)
            break;
        slot = (slot + 1) & (t->hash_size - 1);
    }
    return slot;
}

struct xt_vcpu *xt_track_find(const struct xt_track *t, uint32_t domain, uint32_t vcpu)
{
    uint32_t index = t->hash[hash_slot(t, domain, vcpu)];

    return index ? t->vcpu[index - 1] : NULL;
}

static void hash_grow(struct xt_track *t)
{
    t->hash_size *= 2;
    free(t->hash);
    t->hash = xcalloc(t->hash_size, sizeof *t->hash);
    for (uint32_t i = 0; i < t->vcpus; i++)
        t->hash[hash_slot(t, t->vcpu[i]->domain, t->vcpu[i]->number)] = i + 1;
}

struct xt_vcpu *xt_track_get(struct xt_track *t, uint32_t domain, uint32_t vcpu)
{
    uint32_t slot = hash_slot(t, domain, vcpu);
    struct xt_vcpu *v;

    if (__builtin_expect(t->hash[slot] != 0, 1))
        return t->vcpu[t->hash[slot] - 1];
    if (domain > DOMAIN_MAX || vcpu > VCPU_MAX) {
        t->impossible++;
        return NULL;
    }
    if (t->vcpus == XT_VCPUS_MAX) {
        t->refused++;
        return NULL;
    }
    v = xcalloc(1, sizeof *v);
    v->domain = (uint16_t)domain;
    v->number = (uint16_t)vcpu;
    v->state = v->doubt_old = XT_UNKNOWN;
    if (t->vcpus % 64 == 0)
        t->vcpu = xrealloc(t->vcpu, (t->vcpus + 64) * sizeof *t->vcpu);
    t->vcpu[t->vcpus++] = v;
    t->hash[slot] = t->vcpus;
    if (t->vcpus * 2 > t->hash_size)
        hash_grow(t);
    return v;
}

uint64_t xt_track_cycles(const struct xt_track *t)
{
    return t->earlier + (t->last - t->first);
}

/* ---- Changes -----------------------------------------------------------------------------------
 */

static void tell(struct xt_track *t, struct xt_vcpu *v, unsigned from, unsigned to, uint64_t tsc,
                 struct xt_pcpu *on)
{
    for (unsigned i = 0; i < t->listeners; i++)
        t->listener[i].change(t->listener[i].ctx, t, v, from, to, tsc, on);
}

static void set_state(struct xt_track *t, struct xt_vcpu *v, unsigned from, unsigned to,
                      uint64_t tsc, struct xt_pcpu *on)
{
    tell(t, v, from, to, tsc, on);
    if (to == XT_RUNNABLE)
        v->wait = v->state == XT_RUNNING                             ? XT_WAIT_PREEMPT
                  : v->state == XT_BLOCKED || v->state == XT_OFFLINE ? XT_WAIT_WAKE
                                                                     : XT_WAIT_OTHER;
    v->state = (uint8_t)to;
    v->since = tsc;
}

/* Nobody is current on p any more. */
static void vacate(struct xt_pcpu *p, uint64_t tsc)
{
    if (p->current_since && p->current && tsc > p->current_since)
        xt_sum_add(XT_IDLE(p->current) ? &p->idle : &p->busy, tsc - p->current_since);
    p->current_since = 0;
    p->current = NULL;
    p->fresh = false;
}

static void occupy(struct xt_pcpu *p, struct xt_vcpu *v, uint64_t tsc)
{
    p->current = v;
    p->current_since = tsc;
    p->fresh = false;
}

static void switch_out(struct xt_track *t, struct xt_pcpu *p, struct xt_vcpu *v, unsigned from,
                       unsigned to, uint64_t tsc)
{
    if (v->home != p || p->current != v || v->state != XT_RUNNING)
        v->since = 0; /* something was missed: do not count this interval */
    vacate(p, tsc);
    set_state(t, v, from, to, tsc, p);
}

static void switch_in(struct xt_track *t, struct xt_pcpu *p, struct xt_vcpu *v, unsigned from,
                      uint64_t tsc)
{
    if (p->current && p->current != v) {
        struct xt_vcpu *missed = p->current;

        /* Its switch out was not seen. */
        vacate(p, tsc);
        if (missed->state == XT_RUNNING && missed->home == p) {
            if (!p->guessed)
                missed->since = 0;
            set_state(t, missed, XT_LOST, XT_LOST, tsc, p);
        }
    }
    if (v->placed && v->state == XT_RUNNING)
        v->since = 0; /* seen running elsewhere */
    if (!v->placed) {
        v->placed = true;
        v->home_since = tsc;
    } else if (v->home != p) {
        if (v->home_since && tsc > v->home_since)
            xt_sum_add(&v->residences, tsc - v->home_since);
        v->home_since = tsc;
    }
    if (v->home && v->home != p)
        v->migrations++;
    set_state(t, v, from, XT_RUNNING, tsc, p);
    v->home = p;
    occupy(p, v, tsc);
    p->guessed = false;
    p->switches++;
}

/* A record of a vCPU of which nothing is known yet. It is followed from its first switch in. */
static void first_seen(struct xt_track *t, struct xt_pcpu *p, struct xt_vcpu *v, unsigned from,
                       unsigned to, uint64_t tsc)
{
    v->began = 0;
    if (from == XT_RUNNING) {
        if (p->fresh) {
            /* It has run since the trace began on this pCPU. */
            if (to != XT_RUNNING && p->first)
                v->began = tsc - p->first;
            p->fresh = false;
        } else if (p->current) {
            vacate(p, tsc);
        }
        if (!v->home)
            v->home = p;
    }
    if (to != XT_RUNNING) {
        tell(t, v, from, to, tsc, p);
        return;
    }
    if (from == XT_RUNNING && p->first)
        tsc = p->first;
    else
        p->switches++;
    if (v->home && v->home != p)
        v->migrations++;
    set_state(t, v, from, XT_RUNNING, tsc, p);
    v->home = p;
    occupy(p, v, tsc);
}

static void lose(struct xt_track *t, struct xt_vcpu *v, uint64_t tsc, struct xt_pcpu *on)
{
    set_state(t, v, XT_LOST, XT_LOST, tsc, on);
}

/* Whether a record whose old state is not the one followed is to be believed. */
static bool believe(struct xt_track *t, struct xt_vcpu *v, unsigned from, unsigned to)
{
    bool expected = v->doubt_old == to && v->doubt_state == from;

    if (v->state == XT_LOST)
        return to == XT_RUNNING;
    t->unfit++;
    if (expected) {
        /* The record that the last one should have waited for: clocks of two pCPUs differ. */
        v->doubt_old = XT_UNKNOWN;
        return false;
    }
    v->doubt_old = (uint8_t)from;
    v->doubt_state = v->state;
    return v->state != XT_RUNNING;
}

static void runstate_record(struct xt_track *t, struct xt_pcpu *p,
                            const struct xentrace_record *rec)
{
    bool goes_on = rec->event == XT_CONTINUE_RUNNING;
    unsigned from = goes_on ? XT_RUNNING : rec->event >> 8 & 0xf;
    unsigned to = goes_on ? XT_RUNNING : rec->event >> 4 & 0xf;
    uint64_t tsc = rec->tsc;
    struct xt_vcpu *v;

    if (!rec->words || from > XT_OFFLINE || to > XT_OFFLINE) {
        t->impossible++;
        return;
    }
    v = xt_track_get(t, rec->word[0] >> 16, rec->word[0] & 0xffff);
    if (!v)
        return;
    v->seen = true;
    if (v->state == XT_UNKNOWN) {
        first_seen(t, p, v, from, to, tsc);
        return;
    }
    if (__builtin_expect(v->state != from, 0)) {
        if (!believe(t, v, from, to))
            return;
    } else {
        v->doubt_old = XT_UNKNOWN;
    }
    if (goes_on) {
        if (v->state != XT_RUNNING || v->home != p || p->current != v) {
            if (v->state == XT_RUNNING && v->home != p)
                v->since = 0;
            switch_in(t, p, v, from, tsc);
        } else {
            set_state(t, v, from, XT_RUNNING, tsc, p);
        }
    } else if (from == XT_RUNNING || v->state == XT_RUNNING) {
        switch_out(t, from == XT_RUNNING || !v->home ? p : v->home, v, from, to, tsc);
        if (t->gaps_open && !XT_IDLE(v))
            lose(t, v, tsc, p);
    } else if (to == XT_RUNNING) {
        switch_in(t, p, v, from, tsc);
    } else {
        set_state(t, v, from, to, tsc, p);
    }
}

/* ---- Gaps, restarts, the end -------------------------------------------------------------------
 */

static void gap_begins(struct xt_track *t, struct xt_pcpu *p, const struct xentrace_record *rec)
{
    uint64_t tsc = rec->tsc;

    p->lost_records += rec->word[0];
    p->gaps++;
    if (p->current) {
        struct xt_vcpu *v = p->current;

        switch_out(t, p, v, XT_LOST, XT_LOST, tsc);
    }
    p->fresh = false;
    if (!p->in_gap)
        t->gaps_open++;
    p->in_gap = true;
    p->gap_began = tsc;
    for (uint32_t i = 0; i < t->vcpus; i++)
        if (t->vcpu[i]->state != XT_RUNNING && t->vcpu[i]->seen)
            lose(t, t->vcpu[i], tsc, p);
}

static void gap_ends(struct xt_track *t, struct xt_pcpu *p, const struct xentrace_record *rec)
{
    struct xt_vcpu *v;

    if (!p->in_gap)
        return;
    p->in_gap = false;
    t->gaps_open--;
    if (rec->tsc > p->gap_began)
        xt_sum_add(&p->lost, rec->tsc - p->gap_began);
    v = xt_track_get(t, rec->word[1] & 0xffff, rec->word[1] >> 16);
    if (!v)
        return;
    v->seen = true;
    switch_in(t, p, v, XT_LOST, rec->tsc);
    p->switches--;
    p->guessed = true;
}

static void close_all(struct xt_track *t)
{
    for (unsigned i = 0; i < XENTRACE_PCPUS; i++) {
        struct xt_pcpu *p = t->pcpu[i];
        struct xt_vcpu *v;

        if (!p || !p->current)
            continue;
        v = p->current;
        vacate(p, p->last);
        lose(t, v, p->last, p);
    }
    for (uint32_t i = 0; i < t->vcpus; i++) {
        struct xt_vcpu *v = t->vcpu[i];

        if (v->placed && v->home_since && t->last > v->home_since)
            xt_sum_add(&v->residences, t->last - v->home_since);
    }
}

static void restart(struct xt_track *t)
{
    close_all(t);
    for (uint32_t i = 0; i < t->vcpus; i++) {
        struct xt_vcpu *v = t->vcpu[i];

        tell(t, v, XT_UNKNOWN, XT_UNKNOWN, t->last, NULL);
        v->state = v->doubt_old = XT_UNKNOWN;
        v->since = 0;
        v->home = NULL;
        v->seen = v->placed = false;
    }
    t->earlier += t->last - t->first;
    t->first = t->last = 0;
    t->gaps_open = 0;
    for (unsigned i = 0; i < XENTRACE_PCPUS; i++) {
        struct xt_pcpu *p = t->pcpu[i];

        if (!p)
            continue;
        p->first = p->last = p->current_since = 0;
        p->in_gap = p->guessed = false;
        p->current = NULL;
        p->fresh = true;
    }
}

void xt_track_record(struct xt_track *t, const struct xentrace_record *rec)
{
    struct xt_pcpu *p = xt_track_pcpu(t, rec->pcpu);

    if (__builtin_expect(rec->kind != XENTRACE_RECORD, 0)) {
        if (rec->kind == XENTRACE_RESTART) {
            restart(t);
            return;
        }
        /* The record's own TSC is the pCPU's last one, also while it stands for a gap's beginning.
         */
    }
    if (rec->tsc && rec->tsc >= t->first) {
        if (!t->first)
            t->first = rec->tsc;
        t->last = rec->tsc;
    }
    if (rec->has_tsc) {
        if (!p->first)
            p->first = rec->tsc;
        p->last = rec->tsc;
    }
    switch (rec->kind) {
    case XENTRACE_GAP_BEGIN:
        gap_begins(t, p, rec);
        return;
    case XENTRACE_GAP_END:
        gap_ends(t, p, rec);
        return;
    default:
        break;
    }
    if ((rec->event & ~0xff0u) == XT_RUNSTATE_CHANGE || rec->event == XT_CONTINUE_RUNNING)
        runstate_record(t, p, rec);
}

void xt_track_end(struct xt_track *t)
{
    close_all(t);
}
