/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/traces/xentrace_write.h"

#include "experiments/traces/xentrace_events.h"
#include "sim/error.h"

#include <stdlib.h>
#include <string.h>

enum {
    FLUSH_PERIOD_MS = 100,
    FLUSH_WORDS = 1 << 18,
    WINDOW_WORDS = 1 << 14,
    HEAD_WORDS = 3,                              /* header and stamp */
    RECORD_WORDS = HEAD_WORDS + XT_WORDS_MAX + 4 /* more than a layout below makes */
};

/*
 * How a record becomes words: one row per observation and scheduler (by its trace id; any for those
 * of the core). Layout, one letter per word or words:
 *   d  domain, vCPU       V  vCPU | domain << 16     0 1 2 3  low word of that argument
 *   Q0 .. Q3 as q r s t   both words of argument 0 .. 3, low first
 *   P  executing pCPU | argument 0 << 24           R  the same of RTDS, with argument 1 << 24
 *   M  argument 0 | argument 1 << 16               N  executing pCPU << 16, then V or -1
 */
struct row {
    enum observation_kind kind;
    int trace_id;
    uint32_t event;
    const char *layout;
};

enum { CORE = -1, CREDIT = 0, CREDIT2 = 1, RTDS = 4, SNULL = 5 };

static const struct row rows[] = {
    {OBS_DOM_ADD, CORE, XT_DOM_ADD, "0"},
    {OBS_DOM_REM, CORE, XT_DOM_REM, "0"},
    {OBS_ADJDOM, CORE, XT_ADJDOM, "0"},
    {OBS_SLEEP, CORE, XT_SLEEP, "d"},
    {OBS_WAKE, CORE, XT_WAKE, "d"},
    {OBS_YIELD, CORE, XT_YIELD, "d"},
    {OBS_BLOCK, CORE, XT_BLOCK, "d"},
    {OBS_ACCT_START, CREDIT, XT_CSCHED_ACCOUNT_START, "d0"},
    {OBS_ACCT_STOP, CREDIT, XT_CSCHED_ACCOUNT_STOP, "d0"},
    {OBS_STEAL, CREDIT, XT_CSCHED_STOLEN_UNIT, "0d"},
    {OBS_PICKED_CPU, CREDIT, XT_CSCHED_PICKED_CPU, "d0"},
    {OBS_TICKLE, CREDIT, XT_CSCHED_TICKLE, "0"},
    {OBS_BOOST, CREDIT, XT_CSCHED_BOOST_START, "d"},
    {OBS_UNBOOST, CREDIT, XT_CSCHED_BOOST_END, "d"},
    {OBS_DECIDE, CREDIT, XT_CSCHED_SCHEDULE, "P"},
    {OBS_RATELIMIT, CREDIT, XT_CSCHED_RATELIMIT, "V0"},
    {OBS_STEAL_CHECK, CREDIT, XT_CSCHED_STEAL_CHECK, "01"},
    {OBS_C2_RUNQ_POS, CREDIT2, XT_CSCHED2_RUNQ_POS, "V0"},
    {OBS_C2_BURN, CREDIT2, XT_CSCHED2_CREDIT_BURN, "V012"},
    {OBS_C2_TICKLE_CHECK, CREDIT2, XT_CSCHED2_TICKLE_CHECK, "V01"},
    {OBS_TICKLE, CREDIT2, XT_CSCHED2_TICKLE, "0"},
    {OBS_RESET, CREDIT2, XT_CSCHED2_CREDIT_RESET, "V01"},
    {OBS_C2_RUNQ_ASSIGN, CREDIT2, XT_CSCHED2_RUNQ_ASSIGN, "V0"},
    {OBS_C2_UPDATE_LOAD, CREDIT2, XT_CSCHED2_UPDATE_LOAD, ""},
    {OBS_C2_UNIT_LOAD, CREDIT2, XT_CSCHED2_UPDATE_UNIT_LOAD, "qV1"},
    {OBS_C2_RUNQ_LOAD, CREDIT2, XT_CSCHED2_UPDATE_RUNQ_LOAD, "qr23"},
    {OBS_C2_TICKLE_NEW, CREDIT2, XT_CSCHED2_TICKLE_NEW, "V01"},
    {OBS_C2_MAX_WEIGHT, CREDIT2, XT_CSCHED2_RUNQ_MAX_WEIGHT, "0"},
    {OBS_RQ_MIGRATE, CREDIT2, XT_CSCHED2_MIGRATE, "VM"},
    {OBS_C2_LOAD_CHECK, CREDIT2, XT_CSCHED2_LOAD_CHECK, "01"},
    {OBS_C2_LOAD_BALANCE, CREDIT2, XT_CSCHED2_LOAD_BALANCE, "qr2"},
    {OBS_C2_PICKED_CPU, CREDIT2, XT_CSCHED2_PICKED_CPU, "qV1"},
    {OBS_C2_RUNQ_CANDIDATE, CREDIT2, XT_CSCHED2_RUNQ_CANDIDATE, "V01"},
    {OBS_C2_RUNQ_CAND_CHECK, CREDIT2, XT_CSCHED2_RUNQ_CAND_CHECK, "V"},
    {OBS_C2_SCHEDULE, CREDIT2, XT_CSCHED2_SCHEDULE, "01"},
    {OBS_RATELIMIT, CREDIT2, XT_CSCHED2_RATELIMIT, "V0"},
    {OBS_DECIDE, RTDS, XT_RTDS_SCHEDULE, "R"},
    {OBS_TICKLE, RTDS, XT_RTDS_TICKLE, "0"},
    {OBS_RT_RUNQ_PICK, RTDS, XT_RTDS_RUNQ_PICK, "Vqr"},
    {OBS_RT_BUDGET_BURN, RTDS, XT_RTDS_BUDGET_BURN, "Vq123"},
    {OBS_REPLENISH, RTDS, XT_RTDS_BUDGET_REPLENISH, "V0rs"},
    {OBS_PICKED_CPU, SNULL, XT_SNULL_PICKED_CPU, "V0"},
    {OBS_NULL_ASSIGN, SNULL, XT_SNULL_UNIT_ASSIGN, "V0"},
    {OBS_NULL_DEASSIGN, SNULL, XT_SNULL_UNIT_DEASSIGN, "V0"},
    {OBS_NULL_MIGRATE, SNULL, XT_SNULL_MIGRATE, "V0"},
    {OBS_NULL_SCHEDULE, SNULL, XT_SNULL_SCHEDULE, "N"},
};

enum { TRACE_IDS = 6 };

/* rows of schedulers by [trace id][kind], and those of the core. */
static const struct row *by_kind[TRACE_IDS][OBS_KINDS], *of_core[OBS_KINDS];

static void index_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].trace_id == CORE)
            of_core[rows[i].kind] = &rows[i];
        else
            by_kind[rows[i].trace_id][rows[i].kind] = &rows[i];
}

/* ---- records -----------------------------------------------------------------------------------
 */

static void flush(struct xentrace_writer *w)
{
    for (uint32_t c = 0; c < w->pcpus; c++) {
        struct xentrace_window *win = &w->window[c];
        size_t size = win->used * sizeof *win->word;
        uint32_t head[3] = {XT_CPU_CHANGE_HEADER, c, (uint32_t)size};

        if (!win->used)
            continue;
        if (fwrite(head, sizeof head, 1, w->out) != 1 || fwrite(win->word, size, 1, w->out) != 1)
            w->failed = true;
        win->used = 0;
    }
    w->pending = 0;
}

/* Cycles at that date. No two records share a stamp. */
static uint64_t stamp(struct xentrace_writer *w, sim_time time)
{
    if (time != w->last_time) {
        uint64_t ms = (uint64_t)time / NS_PER_MS, ns = (uint64_t)time % NS_PER_MS;
        uint64_t tsc = ms * w->cpu_khz + ns * w->cpu_khz / NS_PER_MS;

        w->last_time = time;
        if (tsc > w->last_tsc)
            return w->last_tsc = tsc;
    }
    return ++w->last_tsc;
}

static void make_room(struct xentrace_writer *w, struct xentrace_window *win, sim_time time)
{
    if (time >= w->next_flush || w->pending > FLUSH_WORDS) {
        flush(w);
        while (w->next_flush <= time)
            w->next_flush += FLUSH_PERIOD_MS * NS_PER_MS;
    }
    if (win->capacity - win->used < RECORD_WORDS) {
        win->capacity = win->capacity ? 2 * win->capacity : WINDOW_WORDS;
        win->word = xrealloc(win->word, win->capacity * sizeof *win->word);
    }
}

/* Records are made in their window: copying short pieces one by one costs more than making them.
 * Where the words of the next one go; end_record() makes it one. */
static inline uint32_t *begin_record(struct xentrace_writer *w, uint32_t pcpu, sim_time time)
{
    struct xentrace_window *win = &w->window[pcpu];

    if (time >= w->next_flush || w->pending > FLUSH_WORDS ||
        win->capacity - win->used < RECORD_WORDS)
        make_room(w, win, time);
    return win->word + win->used + HEAD_WORDS;
}

static inline void end_record(struct xentrace_writer *w, uint32_t pcpu, sim_time time,
                              uint32_t event, unsigned words)
{
    struct xentrace_window *win = &w->window[pcpu];
    uint32_t *head = win->word + win->used;
    uint64_t tsc = stamp(w, time);

    head[0] = xt_header(event, words, 1);
    head[1] = (uint32_t)tsc;
    head[2] = (uint32_t)(tsc >> 32);
    win->used += HEAD_WORDS + words;
    w->pending += HEAD_WORDS + words;
    w->records++;
}

static unsigned words_of(const struct observation *o, const char *layout, uint32_t *word)
{
    unsigned n = 0;

    for (; *layout; layout++) {
        uint64_t wide;

        switch (*layout) {
        case 'd':
            word[n++] = o->vcpu->domain->id;
            word[n++] = o->vcpu->id;
            break;
        case 'V':
            word[n++] = xt_vcpu_word(o->vcpu->domain->id, o->vcpu->id);
            break;
        case 'P':
            word[n++] = o->pcpu | (uint32_t)o->arg[0] << 24;
            break;
        case 'R':
            word[n++] = o->pcpu | (uint32_t)o->arg[0] << 28 | (uint32_t)o->arg[1] << 24;
            break;
        case 'M':
            word[n++] = (uint32_t)o->arg[0] | (uint32_t)o->arg[1] << 16;
            break;
        case 'N':
            word[n++] = o->pcpu << 16;
            word[n++] = o->vcpu ? xt_vcpu_word(o->vcpu->domain->id, o->vcpu->id) : UINT32_MAX;
            break;
        case 'q':
        case 'r':
        case 's':
        case 't':
            wide = (uint64_t)o->arg[*layout - 'q'];
            word[n++] = (uint32_t)wide;
            word[n++] = (uint32_t)(wide >> 32);
            break;
        default:
            word[n++] = (uint32_t)o->arg[*layout - '0'];
        }
    }
    return n;
}

/* Domain and vCPU, or the domain only as before Xen 4.17. Returns how many words that is. */
static unsigned put_vcpu(uint32_t *word, const struct host *h, const struct vcpu *v)
{
    word[0] = v ? v->domain->id : 0;
    if (h->version < XEN_4_17)
        return 1;
    word[1] = v ? v->id : 0;
    return 2;
}

static void put_switch(struct xentrace_writer *w, const struct host *h, const struct observation *o)
{
    const struct vcpu *v = o->vcpu, *prev = w->prev;
    uint32_t *word = begin_record(w, o->pcpu, o->time);
    unsigned n = put_vcpu(word, h, v);

    word[n++] = (uint32_t)o->arg[0];
    word[n++] = (uint32_t)o->arg[1];
    end_record(w, o->pcpu, o->time, XT_SWITCH_INFNEXT, n);
    word = begin_record(w, o->pcpu, o->time);
    word[0] = prev ? prev->domain->id : 0;
    word[1] = prev ? prev->id : 0;
    word[2] = v->domain->id;
    word[3] = v->id;
    end_record(w, o->pcpu, o->time, XT_SWITCH, 4);
}

static void put_switch_out(struct xentrace_writer *w, const struct host *h,
                           const struct observation *o)
{
    uint32_t *word = begin_record(w, o->pcpu, o->time);
    unsigned n = put_vcpu(word, h, o->vcpu);

    word[n++] = (uint32_t)o->arg[0];
    w->prev = o->vcpu;
    end_record(w, o->pcpu, o->time, XT_SWITCH_INFPREV, n);
}

static void put_continue(struct xentrace_writer *w, const struct host *h,
                         const struct observation *o)
{
    const struct vcpu *v = o->vcpu;
    uint32_t *word = begin_record(w, o->pcpu, o->time);

    if (h->version >= XEN_4_17) {
        put_vcpu(word, h, v);
        word[2] = (uint32_t)(o->time - v->runstate_entry);
        word[3] = (uint32_t)o->arg[1];
        end_record(w, o->pcpu, o->time, XT_SWITCH_INFCONT, 4);
        word = begin_record(w, o->pcpu, o->time);
    }
    word[0] = xt_vcpu_word(v->domain->id, v->id);
    end_record(w, o->pcpu, o->time, XT_CONTINUE_RUNNING, 1);
}

static void put_runstate(struct xentrace_writer *w, const struct observation *o)
{
    uint32_t *word = begin_record(w, o->pcpu, o->time);

    word[0] = xt_vcpu_word(o->vcpu->domain->id, o->vcpu->id);
    end_record(w, o->pcpu, o->time,
               xt_runstate_event((enum xt_runstate)o->arg[0], (enum xt_runstate)o->arg[1]), 1);
}

/* Scheduler events that only later versions record. */
static bool known_to(enum xen_version version, enum observation_kind kind)
{
    return version >= XEN_4_17 ||
           (kind != OBS_DECIDE && kind != OBS_RATELIMIT && kind != OBS_STEAL_CHECK);
}

static int trace_id_of(const struct host *h, const struct observation *o)
{
    const struct vcpu *v = o->vcpu;
    const struct cpupool *pool = v && !v->idle ? v->domain->pool : h->pcpu[o->pcpu].pool;
    int id = pool ? pool->scheduler->ops->trace_id : -1;

    return id < 0 || id >= TRACE_IDS ? SNULL - 3 : id; /* an id without scheduler rows */
}

static void see(struct observer *observer, struct host *h, const struct observation *o)
{
    struct xentrace_writer *w = container_of(observer, struct xentrace_writer, observer);
    const struct row *row;

    switch (o->kind) {
    case OBS_SWITCH_OUT:
        put_switch_out(w, h, o);
        return;
    case OBS_SWITCH_IN:
        put_switch(w, h, o);
        return;
    case OBS_CONT:
        put_continue(w, h, o);
        return;
    case OBS_RUNSTATE:
        put_runstate(w, o);
        return;
    default:
        if (!known_to(h->version, o->kind)) {
            host_observe_less(h, observer, o->kind);
            return;
        }
        row = of_core[o->kind];
        if (!row)
            row = by_kind[trace_id_of(h, o)][o->kind];
        if (row)
            end_record(w, o->pcpu, o->time, row->event,
                       words_of(o, row->layout, begin_record(w, o->pcpu, o->time)));
    }
}

void xentrace_writer_attach(struct xentrace_writer *w, struct host *h, FILE *out, uint64_t cpu_khz)
{
    index_rows();
    *w = (struct xentrace_writer){.observer = {.see = see},
                                  .out = out,
                                  .cpu_khz = cpu_khz,
                                  .last_time = -1,
                                  .next_flush = FLUSH_PERIOD_MS * NS_PER_MS,
                                  .window = xcalloc(h->pcpu_count, sizeof *w->window),
                                  .pcpus = h->pcpu_count};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        w->observer.kinds |= UINT64_C(1) << rows[i].kind;
    w->observer.kinds |= UINT64_C(1) << OBS_SWITCH_OUT | UINT64_C(1) << OBS_SWITCH_IN |
                         UINT64_C(1) << OBS_CONT | UINT64_C(1) << OBS_RUNSTATE;
    host_observe(h, &w->observer);
}

int xentrace_writer_finish(struct xentrace_writer *w)
{
    flush(w);
    for (uint32_t c = 0; c < w->pcpus; c++)
        free(w->window[c].word);
    free(w->window);
    return w->failed ? -1 : 0;
}
