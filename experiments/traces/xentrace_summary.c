/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/traces/xentrace_summary.h"

#include <stdlib.h>

enum {
    LISTENER = 0, /* place in xt_vcpu.of */
    FINE_BITS = HISTOGRAM_2_DIGITS,
    COARSE_BITS = 6,
    FINE_MEMORY = 12 << 20,
    SUMMARY_MEMORY = 18 << 20,
};

/* Told run times outside of this are too short for a frequency, or may have wrapped at 32 bits. */
#define TOLD_MIN_NS 50000u
#define TOLD_MAX_NS 2000000000u

/* ---- Durations ---------------------------------------------------------------------------------
 */

static struct histogram *new_histogram(struct xentrace_summary *s)
{
    struct histogram *h;
    unsigned bits = FINE_BITS;

    if (s->histogram_bytes >= FINE_MEMORY) {
        bits = COARSE_BITS;
        s->coarse = true;
    }
    if (s->histogram_bytes >= SUMMARY_MEMORY) {
        s->no_room = true;
        return NULL;
    }
    h = xcalloc(1, sizeof *h);
    histogram_init(h, bits);
    s->histogram_bytes += sizeof *h + h->buckets * sizeof *h->bucket;
    return h;
}

static inline void stat_sum(struct xt_stat *st, uint64_t cycles)
{
    st->count++;
    st->cycles += cycles;
    if (cycles > st->max)
        st->max = cycles;
    if (cycles < st->min || st->count == 1)
        st->min = cycles;
}

static inline void stat_add(struct xentrace_summary *s, struct xt_stat *st, uint64_t cycles)
{
    stat_sum(st, cycles);
    if (__builtin_expect(!st->histogram, 0)) {
        if (st->count > 1) /* there was no room */
            return;
        if (!(st->histogram = new_histogram(s)))
            return;
    }
    histogram_record(st->histogram, (sim_time)(cycles < INT64_MAX ? cycles : INT64_MAX));
}

static void stat_free(struct xt_stat *st)
{
    if (st->histogram)
        histogram_free(st->histogram);
    free(st->histogram);
}

uint64_t xt_stat_quantile(const struct xt_stat *st, double q, bool *known)
{
    *known = st->histogram && st->count;
    return *known ? (uint64_t)histogram_quantile(st->histogram, q) : 0;
}

/* ---- Changes of state --------------------------------------------------------------------------
 */

static void add_share(struct xt_vcpu_summary *vs, unsigned pcpu, uint64_t cycles)
{
    if (vs->on_last >= vs->on_count || vs->on[vs->on_last].pcpu != pcpu) {
        for (vs->on_last = 0; vs->on_last < vs->on_count; vs->on_last++)
            if (vs->on[vs->on_last].pcpu == pcpu)
                break;
        if (vs->on_last == vs->on_count) {
            vs->on = xrealloc(vs->on, (vs->on_count + 1) * sizeof *vs->on);
            vs->on[vs->on_count++] = (struct xt_share){.pcpu = (uint16_t)pcpu};
        }
    }
    vs->on[vs->on_last].cycles += cycles;
}

static struct xt_vcpu_summary *summary_of(struct xt_vcpu *v)
{
    if (__builtin_expect(!v->of[LISTENER], 0))
        v->of[LISTENER] = xcalloc(1, sizeof(struct xt_vcpu_summary));
    return v->of[LISTENER];
}

static void change(void *ctx, struct xt_track *t, struct xt_vcpu *v, unsigned from, unsigned to,
                   uint64_t tsc, struct xt_pcpu *on)
{
    struct xentrace_summary *s = ctx;
    struct xt_vcpu_summary *vs = summary_of(v);

    (void)t;
    if (to == XT_UNKNOWN) {
        vs->run_began = 0;
        return;
    }
    if (v->state < XT_STATES && v->since && v->since < tsc) {
        uint64_t cycles = tsc - v->since;

        if (v->state == XT_RUNNING) {
            stat_sum(&vs->state[XT_RUNNING], cycles);
            if (v->home)
                add_share(vs, v->home->number, cycles);
        } else if (XT_IDLE(v)) { /* nobody asks for percentiles of idleness */
            stat_sum(&vs->state[v->state], cycles);
            if (v->state == XT_RUNNABLE)
                stat_sum(&vs->wait[v->wait], cycles);
        } else if (v->state == XT_RUNNABLE) {
            stat_sum(&vs->state[XT_RUNNABLE], cycles);
            stat_add(s, &vs->wait[v->wait], cycles);
        } else {
            stat_add(s, &vs->state[v->state], cycles);
        }
    }
    if (to == XT_RUNNING) {
        /* A run whose beginning was not seen is not a whole one. */
        if (v->state != XT_RUNNING)
            vs->run_began = from == XT_RUNNING || from == XT_LOST ? 0 : tsc;
    } else if (v->state == XT_RUNNING) {
        if (vs->run_began && v->since && to <= XT_OFFLINE && tsc > vs->run_began && !XT_IDLE(v)) {
            stat_add(s, &vs->run, tsc - vs->run_began);
            vs->run_ends[to]++;
        }
        vs->run_began = 0;
    } else if (v->state == XT_UNKNOWN && from == XT_RUNNING && on) {
        if (to != XT_RUNNING && v->began) {
            vs->began += v->began;
            add_share(vs, on->number, v->began);
        }
    }
}

/* ---- Records -----------------------------------------------------------------------------------
 */

struct xentrace_summary *xentrace_summary_new(void)
{
    struct xentrace_summary *s = xcalloc(1, sizeof *s);

    s->track = xt_track_new();
    s->track->listener[s->track->listeners++] = (struct xt_listener){change, s};
    return s;
}

void xentrace_summary_free(struct xentrace_summary *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->track->vcpus; i++) {
        struct xt_vcpu_summary *vs = s->track->vcpu[i]->of[LISTENER];

        if (!vs)
            continue;
        for (unsigned k = 0; k < XT_STATES; k++)
            stat_free(&vs->state[k]);
        for (unsigned k = 0; k < XT_WAITS; k++)
            stat_free(&vs->wait[k]);
        stat_free(&vs->run);
        free(vs->on);
        free(vs);
    }
    xt_track_free(s->track);
    for (unsigned i = 0; i < XT_GROUPS; i++)
        free(s->event[i]);
    for (unsigned i = 0; i < XENTRACE_PCPUS; i++)
        free(s->pcpu[i]);
    free(s);
}

struct xt_vcpu_summary *xentrace_summary_vcpu(const struct xt_vcpu *v)
{
    return v->of[LISTENER];
}

uint64_t xentrace_summary_hz(const struct xentrace_summary *s)
{
    double hz = s->told_ns ? (double)s->told_cycles * 1e9 / (double)s->told_ns + 0.5 : 0;

    return hz < (double)XENTRACE_MAX_HZ ? (uint64_t)hz : 0;
}

/* The counters of a group, with what the table says of its events. */
static struct xt_event_count *new_group(struct xentrace_summary *s, unsigned group)
{
    struct xt_event_count *all = xcalloc(XT_GROUP_EVENTS, sizeof *all);

    for (size_t i = 0; i < xt_event_table_size; i++) {
        const struct xt_event_info *info = &xt_event_table[i];
        struct xt_vcpu_at at = xt_event_vcpu(info);
        unsigned first = info->event & 0xfff, last = first;

        if (info->event >> 12 != xt_group_event(group, 0) >> 12)
            continue;
        if (info->event == XT_RUNSTATE_CHANGE)
            last = first | 0xff0;
        for (unsigned number = first; number <= last; number += 0x10) {
            struct xt_event_count *c = &all[number];

            c->known = true;
            c->lengths |= info->event == XT_WRAP_BUFFER ? 0xff : (uint8_t)(1u << info->words);
            c->tally = info->tally;
            c->vcpu_at = at.word;
            c->packed = at.packed;
        }
    }
    s->event[group] = all;
    return all;
}

static void tally(struct xentrace_summary *s, const struct xt_event_count *c,
                  const struct xentrace_record *rec)
{
    const uint32_t *w = rec->word + c->vcpu_at;
    struct xt_vcpu *v = c->packed ? xt_track_get(s->track, w[0] >> 16, w[0] & 0xffff)
                                  : xt_track_get(s->track, w[0], w[1]);

    if (v)
        summary_of(v)->tally[c->tally]++;
}

/* Run times in ns beside the same in cycles. */
static void learn_frequency(struct xentrace_summary *s, struct xt_pcpu_summary *p,
                            const struct xentrace_record *rec)
{
    uint32_t ns;

    if (rec->event == XT_SWITCH_INFNEXT) {
        p->switched_in = rec->tsc;
        return;
    }
    if (!p->switched_in || rec->words < 2)
        return;
    ns = rec->word[rec->words - 1];
    if (ns >= TOLD_MIN_NS && ns <= TOLD_MAX_NS && rec->tsc > p->switched_in) {
        s->told_ns += ns;
        s->told_cycles += rec->tsc - p->switched_in;
        s->told_count++;
    }
    p->switched_in = 0;
}

void xentrace_summary_record(struct xentrace_summary *s, const struct xentrace_record *rec)
{
    unsigned class, group;
    struct xt_event_count *c;
    struct xt_pcpu_summary *p = s->pcpu[rec->pcpu];

    if (__builtin_expect(!p, 0))
        p = s->pcpu[rec->pcpu] = xcalloc(1, sizeof *p);
    if (__builtin_expect(rec->kind != XENTRACE_RECORD, 0)) {
        if (rec->kind == XENTRACE_RESTART || rec->kind == XENTRACE_GAP_BEGIN)
            p->switched_in = 0;
        if (rec->kind == XENTRACE_RESTART) {
            xt_track_record(s->track, rec);
            return;
        }
    }
    class = (unsigned)__builtin_ctz(rec->event >> 16);
    group = class * 16 + (rec->event >> 12 & 0xf);
    c = s->event[group];
    if (__builtin_expect(!c, 0))
        c = new_group(s, group);
    c += rec->event & 0xfff;
    /* A lost-records record comes twice; its bytes count twice, as xenalyze has them. */
    p->bytes[class] += 4u + 8u * rec->has_tsc + 4u * rec->words;
    if (rec->kind != XENTRACE_GAP_END) {
        p->records++;
        c->count++;
    }
    if (__builtin_expect(!(c->lengths >> rec->words & 1), 0)) {
        c->odd++;
    } else if (c->tally) {
        tally(s, c, rec);
    }
    if (class == XT_CLASS_SCHED) {
        if (rec->event == XT_SWITCH_INFPREV || rec->event == XT_SWITCH_INFNEXT)
            learn_frequency(s, p, rec);
        else if ((rec->event & 0xf000) == 0x2000)
            s->schedulers |= 1u << (rec->event >> 9 & 7);
    }
    xt_track_record(s->track, rec);
}

void xentrace_summary_end(struct xentrace_summary *s)
{
    xt_track_end(s->track);
}
