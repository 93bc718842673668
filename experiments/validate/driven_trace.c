/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/driven_inside.h"

#include "experiments/traces/xentrace_read.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_AHEAD = 24, RECORDS_MAX = 1 << 26, AFTERWARDS = 4, STRANGERS = 32 };

/* A single record so far ahead of all around it is damaged: nobody waits that long. */
static const sim_time JUMP = 10 * NS_PER_S;
static const uint64_t FAR = INT64_MAX / 4; /* no sum of two overflows */

/* ---- vCPUs ----------------------------------------------------------------------------------- */

static void add_vcpu(struct follow_trace *t, uint32_t domain, uint32_t vcpu)
{
    t->vcpu = xrealloc(t->vcpu, (t->vcpus + 1) * sizeof *t->vcpu);
    t->vcpu[t->vcpus++] = (struct follow_vcpu){.domain = domain, .vcpu = vcpu};
}

static int16_t find_vcpu(const struct follow_trace *t, uint32_t domain, uint32_t vcpu)
{
    for (size_t i = 0; i < t->vcpus; i++)
        if (t->vcpu[i].domain == domain && t->vcpu[i].vcpu == vcpu)
            return (int16_t)i;
    return VCPU_NONE;
}

static void list_vcpus(const struct capture *c, struct follow_trace *t)
{
    for (uint32_t i = 0; i < c->dom0_vcpus; i++)
        add_vcpu(t, 0, i);
    for (size_t k = 0; k < c->guests; k++)
        for (uint32_t i = 0; i < c->guest[k].vcpus; i++)
            add_vcpu(t, c->guest[k].domain, i);
    t->described = t->vcpus;
}

/* Whom a record names. A vCPU that changes its runstate and is not in the capture's description
 * is followed too: a paused one that was touched, for example. Damaged records name many. */
static int16_t name_vcpu(struct follow_trace *t, const struct follow_record *r)
{
    const struct xt_event_info *info = xt_event_find(r->event, r->words);
    struct xt_vcpu_at at = {.word = -1};
    uint32_t domain, vcpu;
    int16_t i;

    if (info)
        at = xt_event_vcpu(info);
    if (at.word < 0 || at.word + !at.packed >= r->words)
        return VCPU_NONE;
    domain = at.packed ? r->word[at.word] >> 16 : r->word[at.word];
    vcpu = at.packed ? r->word[at.word] & 0xffff : r->word[at.word + 1];
    if (domain == XT_IDLE_DOMAIN)
        return VCPU_IDLE;
    i = find_vcpu(t, domain, vcpu);
    if (i == VCPU_NONE && follow_is_runstate(r) && domain < 0x7ff0 &&
        t->vcpus - t->described + vcpu < STRANGERS) {
        for (uint32_t k = 0; k <= vcpu; k++)
            if (find_vcpu(t, domain, k) == VCPU_NONE)
                add_vcpu(t, domain, k);
        i = find_vcpu(t, domain, vcpu);
    }
    return i;
}

/* ---- what stands around a record ------------------------------------------------------------- */

/* The wake by record i: was it followed by a boost, and which pCPU did it make decide? */
static void annotate_wake(struct follow_trace *t, size_t i)
{
    struct follow_record *w = &t->rec[i];

    w->told = -1;
    for (size_t k = i + 1; k < t->recs && k < i + LOOK_AHEAD; k++) {
        const struct follow_record *r = &t->rec[k];

        if (r->pcpu != w->pcpu)
            continue;
        if (r->event == XT_CSCHED_BOOST_START)
            w->boosted = true;
        if (r->event == XT_CSCHED_TICKLE || r->event == XT_CSCHED2_TICKLE ||
            r->event == XT_RTDS_TICKLE) {
            w->told = (int16_t)r->word[0];
            return;
        }
        if (r->event == XT_WAKE || r->event == XT_BLOCK || follow_is_runstate(r) ||
            r->event == XT_CSCHED_SCHEDULE || r->event == XT_CSCHED2_SCHEDULE ||
            r->event == XT_RTDS_SCHEDULE || r->event == XT_SNULL_SCHEDULE)
            return;
    }
}

/* The first records of a vCPU tell what it was before. */
static void annotate_vcpus(struct follow_trace *t)
{
    bool *known = xcalloc(t->vcpus + 1, sizeof *known);

    for (size_t i = 0; i < t->recs; i++) {
        const struct follow_record *r = &t->rec[i];
        struct follow_vcpu *v = r->vcpu >= 0 ? &t->vcpu[r->vcpu] : NULL;

        if (!v)
            continue;
        if (!v->seen && (follow_is_runstate(r) || r->event == XT_CONTINUE_RUNNING)) {
            v->seen = true;
            v->state = (uint8_t)(follow_is_runstate(r) ? follow_from(r) : XT_RUNNING);
            v->pcpu = r->pcpu;
        }
        if (known[r->vcpu])
            continue;
        known[r->vcpu] = r->event == XT_CSCHED_ACCOUNT_START ||
                         r->event == XT_CSCHED_ACCOUNT_STOP || r->event == XT_CSCHED_PICKED_CPU;
        v->active = known[r->vcpu] && r->event != XT_CSCHED_ACCOUNT_START;
    }
    free(known);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Is record i far ahead of those that follow it? */
static bool astray(const struct follow_trace *t, size_t i)
{
    for (size_t k = i + 1; k < t->recs && k <= i + AFTERWARDS; k++)
        if (t->rec[k].at < t->rec[i].at - JUMP)
            return true;
    return i + 1 == t->recs;
}

static void drop_astray(struct follow_trace *t)
{
    sim_time last = TRACE_BEGIN;
    size_t kept = 0;

    for (size_t i = 0; i < t->recs; i++) {
        if (t->rec[i].at > last + JUMP && astray(t, i)) {
            t->lost++;
            continue;
        }
        last = t->rec[i].at;
        t->rec[kept++] = t->rec[i];
    }
    t->recs = kept;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void take(struct follow_trace *t, size_t *room, const struct xentrace_record *rec,
                 uint64_t first, uint64_t hz)
{
    struct follow_record *f;
    uint64_t ns;

    if (t->recs == *room) {
        *room = *room ? 2 * *room : 65536;
        t->rec = xrealloc(t->rec, *room * sizeof *t->rec);
    }
    f = &t->rec[t->recs++];
    memset(f, 0, sizeof *f);
    ns = rec->tsc < first ? 0 : xentrace_ns(rec->tsc - first, hz);
    f->at = TRACE_BEGIN + (sim_time)(ns < FAR ? ns : FAR);
    f->event = rec->event;
    f->pcpu = rec->pcpu;
    f->words = rec->words;
    memcpy(f->word, rec->word, rec->words * sizeof *rec->word);
    f->vcpu = name_vcpu(t, f);
}

int follow_read(const struct capture *c, struct follow_trace *t, struct errors *e)
{
    struct xentrace_reader *r = xentrace_open(c->trace, e);
    struct xentrace_record rec;
    size_t room = 0;
    uint64_t first = 0;

    *t = (struct follow_trace){0};
    if (!r)
        return -1;
    list_vcpus(c, t);
    while (xentrace_next(r, &rec) && t->recs < RECORDS_MAX) {
        if (rec.kind == XENTRACE_GAP_BEGIN)
            t->lost += rec.words ? rec.word[0] : 1;
        if (rec.kind != XENTRACE_RECORD || !rec.tsc || !(rec.event >> 16 & 1 << XT_CLASS_SCHED))
            continue;
        if (!first)
            first = rec.tsc;
        take(t, &room, &rec, first, c->tsc_hz);
    }
    xentrace_close(r);
    drop_astray(t);
    for (size_t i = 0; i < t->recs; i++)
        if (follow_is_runstate(&t->rec[i]) && follow_to(&t->rec[i]) == XT_RUNNABLE &&
            follow_from(&t->rec[i]) != XT_RUNNING)
            annotate_wake(t, i);
    annotate_vcpus(t);
    if (t->recs)
        return 0;
    follow_free(t);
    return error_add(e, EXIT_INPUT, "%s: no scheduler records in it", c->trace);
}

void follow_free(struct follow_trace *t)
{
    free(t->rec);
    free(t->vcpu);
    *t = (struct follow_trace){0};
}
