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
    ROOM_WORDS = 5 * (HEAD_WORDS + XT_WORDS_MAX) /* a switch is five records */
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
    {OBS_C2_LOAD_BALANCE, CREDIT2, XT_CSCHED2_LOAD_BALANCE, "qr23"},
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

enum { TRACE_IDS = 6, NO_SCHEDULER = 2 /* an id without rows */ };

/* A row made ready, by the scheduler's trace id and kind. */
struct form {
    uint32_t event;
    uint8_t words;
    char only;          /* the layout if it is one letter, else 0 */
    const char *layout; /* NULL: no record */
};

static struct form forms[TRACE_IDS][OBS_KINDS];
static bool alike[OBS_KINDS]; /* has one row: the core's, or that of the one that knows the kind */

static unsigned layout_words(const char *layout)
{
    unsigned n = 0;

    for (; *layout; layout++)
        n += strchr("dNqrst", *layout) ? 2 : 1;
    return n;
}

static unsigned rows_of(enum observation_kind kind)
{
    unsigned n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        n += rows[i].kind == kind;
    return n;
}

static void make_forms(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        const struct form f = {.event = r->event,
                               .words = (uint8_t)layout_words(r->layout),
                               .only = strlen(r->layout) == 1 ? *r->layout : 0,
                               .layout = r->layout};

        alike[r->kind] = rows_of(r->kind) == 1;
        for (int id = 0; id < TRACE_IDS; id++)
            if (alike[r->kind] || r->trace_id == id)
                forms[id][r->kind] = f;
    }
}

/* ---- records -----------------------------------------------------------------------------------
 */

static void flush(struct xentrace_writer *w)
{
    for (uint32_t c = 0; c < w->pcpus; c++) {
        struct xentrace_window *win = &w->window[c];
        size_t size = (size_t)(win->at - win->word) * sizeof *win->word;
        uint32_t head[3] = {XT_CPU_CHANGE_HEADER, c, (uint32_t)size};

        if (!size)
            continue;
        if (fwrite(head, sizeof head, 1, w->out) != 1 || fwrite(win->word, size, 1, w->out) != 1)
            w->failed = true;
        win->at = win->word;
    }
}

/* The first record of a date: no two records share a stamp, so each counts on from the last one. */
__attribute__((noinline)) static void new_date(struct xentrace_writer *w, sim_time time)
{
    uint64_t ns = (uint64_t)(time - w->ms), tsc;

    if (ns >= NS_PER_MS) { /* another millisecond */
        w->ms_tsc = (uint64_t)time / NS_PER_MS * w->cpu_khz;
        ns = (uint64_t)time % NS_PER_MS;
        w->ms = time - (sim_time)ns;
    }
    tsc = w->ms_tsc + ns * w->cpu_khz / NS_PER_MS;
    w->last_time = time;
    if (tsc > w->last_tsc)
        w->last_tsc = tsc - 1;
    if (time < w->next_flush)
        return;
    flush(w);
    while (w->next_flush <= time)
        w->next_flush += FLUSH_PERIOD_MS * NS_PER_MS;
}

/* The window is full (or not there yet): a larger one, or all are written. */
__attribute__((noinline)) static void make_room(struct xentrace_writer *w,
                                                struct xentrace_window *win)
{
    size_t used = (size_t)(win->at - win->word);

    if (win->capacity && w->capacity + win->capacity > FLUSH_WORDS) {
        flush(w);
        return;
    }
    w->capacity -= win->capacity;
    win->capacity = win->capacity ? 2 * win->capacity : WINDOW_WORDS;
    w->capacity += win->capacity;
    win->word = xrealloc(win->word, win->capacity * sizeof *win->word);
    win->at = win->word + used;
    win->last = win->word + win->capacity - ROOM_WORDS;
}

/* The next record, made in its window (copying short pieces one by one would cost more than making
 * them); where its words go. There is room for it. */
static inline uint32_t *put(struct xentrace_writer *w, struct xentrace_window *win, uint32_t event,
                            unsigned words)
{
    uint32_t *at = win->at;
    uint64_t tsc = ++w->last_tsc;

    at[0] = xt_header(event, words, 1);
    at[1] = (uint32_t)tsc;
    at[2] = (uint32_t)(tsc >> 32);
    win->at = at + HEAD_WORDS + words;
    return at + HEAD_WORDS;
}

static inline uint32_t vcpu_word(const struct vcpu *v)
{
    return xt_vcpu_word(v->domain->id, v->id);
}

__attribute__((noinline)) static void put_words(const struct observation *o, const char *layout,
                                                uint32_t *word)
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
            word[n++] = vcpu_word(o->vcpu);
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
            word[n++] = o->vcpu ? vcpu_word(o->vcpu) : UINT32_MAX;
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
}

/* A record that begins with domain and vCPU (the domain only, before Xen 4.17) and has more words;
 * where those go. */
static inline uint32_t *put_vcpu(struct xentrace_writer *w, struct xentrace_window *win,
                                 const struct host *h, uint32_t event, const struct vcpu *v,
                                 unsigned more)
{
    bool both = h->version >= XEN_4_17;
    uint32_t *word = put(w, win, event, (both ? 2 : 1) + more);

    *word++ = v->domain->id;
    if (both)
        *word++ = v->id;
    return word;
}

static inline void put_runstate(struct xentrace_writer *w, struct xentrace_window *win,
                                const struct vcpu *v, unsigned from, unsigned to)
{
    *put(w, win, xt_runstate_event((enum xt_runstate)from, (enum xt_runstate)to), 1) = vcpu_word(v);
}

static inline void put_continue(struct xentrace_writer *w, struct xentrace_window *win,
                                const struct host *h, const struct observation *o)
{
    const struct vcpu *v = o->vcpu;

    if (h->version >= XEN_4_17) {
        uint32_t *word = put_vcpu(w, win, h, XT_SWITCH_INFCONT, v, 2);

        word[0] = (uint32_t)(o->time - v->runstate_entry);
        word[1] = (uint32_t)o->arg[1];
    }
    *put(w, win, XT_CONTINUE_RUNNING, 1) = vcpu_word(v);
}

static inline int trace_id_of(const struct host *h, const struct observation *o)
{
    const struct vcpu *v = o->vcpu;
    /* the pCPU that is told, whoever tells it */
    int64_t pcpu = o->kind == OBS_TICKLE ? o->arg[0] : o->pcpu;
    const struct cpupool *pool = v && !v->idle ? v->domain->pool : h->pcpu[pcpu].pool;
    int id = pool ? pool->scheduler->ops->trace_id : -1;

    return id < 0 || id >= TRACE_IDS ? NO_SCHEDULER : id;
}

/* Scheduler events that only later versions record. */
static bool known_to(enum xen_version version, enum observation_kind kind)
{
    return version >= XEN_4_17 ||
           (kind != OBS_DECIDE && kind != OBS_RATELIMIT && kind != OBS_STEAL_CHECK);
}

static inline void put_form(struct xentrace_writer *w, struct xentrace_window *win, struct host *h,
                            const struct observation *o)
{
    const struct form *f = &forms[alike[o->kind] ? 0 : trace_id_of(h, o)][o->kind];
    uint32_t *word;

    if (!known_to(h->version, o->kind)) {
        host_observe_less(h, &w->observer, o->kind);
        return;
    }
    if (!f->layout)
        return;
    word = put(w, win, f->event, f->words);
    switch (f->only) { /* the frequent ones */
    case 'd':
        word[0] = o->vcpu->domain->id;
        word[1] = o->vcpu->id;
        return;
    case '0':
        word[0] = (uint32_t)o->arg[0];
        return;
    case 'P':
        word[0] = o->pcpu | (uint32_t)o->arg[0] << 24;
        return;
    default:
        put_words(o, f->layout, word);
    }
}

/* The window for what happens now on that pCPU; an observation's records have room in it. */
static inline struct xentrace_window *window(struct xentrace_writer *w, uint32_t pcpu,
                                             sim_time time)
{
    struct xentrace_window *win = &w->window[pcpu];

    if (time != w->last_time)
        new_date(w, time);
    if (win->at >= win->last)
        make_room(w, win);
    return win;
}

static void see(struct observer *observer, struct host *h, const struct observation *o)
{
    struct xentrace_writer *w = container_of(observer, struct xentrace_writer, observer);
    struct xentrace_window *win = window(w, o->pcpu, o->time);

    if (o->kind == OBS_RUNSTATE)
        put_runstate(w, win, o->vcpu, (unsigned)o->arg[0], (unsigned)o->arg[1]);
    else if (o->kind == OBS_CONT)
        put_continue(w, win, h, o);
    else
        put_form(w, win, h, o);
}

static void switched(struct observer *observer, struct host *h, const struct context_switch *s)
{
    struct xentrace_writer *w = container_of(observer, struct xentrace_writer, observer);
    struct xentrace_window *win = window(w, s->pcpu, s->time);
    const struct vcpu *prev = s->prev, *next = s->next;
    uint32_t *word;

    *put_vcpu(w, win, h, XT_SWITCH_INFPREV, prev, 1) = (uint32_t)s->ran;
    word = put_vcpu(w, win, h, XT_SWITCH_INFNEXT, next, 2);
    word[0] = (uint32_t)s->waited;
    word[1] = (uint32_t)s->slice;
    word = put(w, win, XT_SWITCH, 4);
    word[0] = prev->domain->id;
    word[1] = prev->id;
    word[2] = next->domain->id;
    word[3] = next->id;
    put_runstate(w, win, prev, XT_RUNNING, s->prev_to);
    put_runstate(w, win, next, s->next_from, XT_RUNNING);
}

void xentrace_writer_attach(struct xentrace_writer *w, struct host *h, FILE *out, uint64_t cpu_khz)
{
    make_forms();
    *w = (struct xentrace_writer){.observer = {.see = see, .switched = switched},
                                  .out = out,
                                  .cpu_khz = cpu_khz,
                                  .last_time = -1,
                                  .next_flush = FLUSH_PERIOD_MS * NS_PER_MS,
                                  .window = xcalloc(h->pcpu_count, sizeof *w->window),
                                  .pcpus = h->pcpu_count};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        w->observer.kinds |= UINT64_C(1) << rows[i].kind;
    w->observer.kinds |= UINT64_C(1) << OBS_CONT | UINT64_C(1) << OBS_RUNSTATE;
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
