/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each vCPU has a buffer of words. A full buffer is appended to the spool, a temporary file shared
 * by all vCPUs, as the text of one JSON string; at the end each vCPU's pieces are copied together.
 */
#include "experiments/traces/xentrace_workload.h"

#include "experiments/traces/xentrace_input.h"
#include "sim/json_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LISTENER = 1,        /* place in xt_vcpu.of */
    PIECE_FIRST = 2048,  /* a vCPU's buffer ... */
    PIECE_LATER = 16384, /* ... once it has spooled PIECES_SMALL of them */
    PIECES_SMALL = 16,
    BUFFERS = 12 << 20, /* beyond, all vCPUs' buffers stay small */
    WORD_MAX = 96,
    HYPERCALL_EVENT_CHANNEL = 32, /* of Xen's public interface */
    EXIT_VMX_INTERRUPT = 1,       /* Intel SDM: basic exit reason "external interrupt" */
    EXIT_SVM_INTERRUPT = 0x60,    /* AMD APM: VMEXIT_INTR */
};

/* An event channel hypercall leads to its wake within this time. Assumed; 2 us on a fast machine.
 */
#define HYPERCALL_TO_WAKE_NS 20000u

enum phase { UNSEEN, COMPUTING, BLOCKED, PAUSED, LOST };

struct spooled {
    uint64_t offset;
    uint32_t size;
};

struct vcpu_ops {
    enum phase phase;
    unsigned starts;      /* runstate */
    uint64_t since;       /* TSC when blocked, paused or lost began; when last switched in */
    bool running;         /* COMPUTING and on a pCPU */
    bool pause_told;      /* a SLEEP record was seen for it */
    bool hypercalls_told; /* its hypercalls are in the trace */
    bool ever_blocked;
    uint64_t ran;                                  /* CPU time of the burst so far, cycles */
    uint64_t ops, computed, blocked, paused, lost; /* counts, cycles */

    char *text;
    size_t size, room;
    struct spooled *spooled;
    uint32_t spooled_count, spooled_room;
};

/* What a pCPU does for its vCPU, as far as records of other classes tell. */
struct pcpu_context {
    uint64_t hypercall_tsc; /* of an event channel hypercall just made; 0: none */
    bool in_exit, exit_is_interrupt;
};

struct xentrace_workload {
    struct xentrace_summary *s;
    uint64_t hz;
    bool ending;
    struct pcpu_context *context[XENTRACE_PCPUS];
    size_t buffers; /* bytes of all vCPUs' */
    int spool;
    uint64_t spool_size;
    int spool_errno;
};

static uint64_t ns(const struct xentrace_workload *w, uint64_t cycles)
{
    return xentrace_ns(cycles, w->hz);
}

/* Nanoseconds since the beginning of the trace, over restarts of the TSC. */
static uint64_t date(const struct xentrace_workload *w, const struct xt_track *t, uint64_t tsc)
{
    return ns(w, t->earlier + (tsc > t->first ? tsc - t->first : 0));
}

/* ---- Words -------------------------------------------------------------------------------------
 */

static void spool(struct xentrace_workload *w, struct vcpu_ops *o)
{
    size_t done = 0;

    if (w->spool < 0 && !w->spool_errno && (w->spool = xt_temporary_file()) < 0)
        w->spool_errno = errno;
    while (!w->spool_errno && done < o->size) {
        ssize_t n = pwrite(w->spool, o->text + done, o->size - done, (off_t)(w->spool_size + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            w->spool_errno = n < 0 ? errno : ENOSPC;
        else
            done += (size_t)n;
    }
    if (!w->spool_errno) {
        if (o->spooled_count == o->spooled_room) {
            o->spooled_room = o->spooled_room ? 2 * o->spooled_room : 4;
            o->spooled = xrealloc(o->spooled, o->spooled_room * sizeof *o->spooled);
        }
        o->spooled[o->spooled_count++] =
            (struct spooled){.offset = w->spool_size, .size = (uint32_t)o->size};
        w->spool_size += o->size;
    }
    o->size = 0;
}

__attribute__((format(printf, 3, 4))) static void word(struct xentrace_workload *w,
                                                       struct vcpu_ops *o, const char *fmt, ...)
{
    bool small = o->spooled_count < PIECES_SMALL || w->buffers > BUFFERS;
    size_t piece = small ? PIECE_FIRST : PIECE_LATER;
    char text[WORD_MAX];
    va_list ap;
    int length;

    va_start(ap, fmt);
    length = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    BUG_ON(length < 0 || length >= WORD_MAX);
    if (o->size + WORD_MAX > piece)
        spool(w, o);
    if (o->size + WORD_MAX > o->room) {
        w->buffers -= o->room;
        o->room = o->room ? 2 * o->room : 256;
        w->buffers += o->room;
        o->text = xrealloc(o->text, o->room);
    }
    if (o->size)
        o->text[o->size++] = ' ';
    memcpy(o->text + o->size, text, (size_t)length);
    o->size += (size_t)length;
    o->ops++;
}

/* The burst so far becomes a word. */
static void end_burst(struct xentrace_workload *w, struct vcpu_ops *o, uint64_t tsc)
{
    if (o->running && tsc > o->since)
        o->ran += tsc - o->since;
    if (o->ran) {
        word(w, o, "c%" PRIu64, ns(w, o->ran));
        o->computed += o->ran;
    }
    o->ran = 0;
    o->since = tsc;
}

/* ---- Who woke whom -----------------------------------------------------------------------------
 */

enum waker { WAKER_UNKNOWN, WAKER_IRQ, WAKER_MAYBE, WAKER_SURE };

static enum waker find_waker(const struct xentrace_workload *w, const struct xt_vcpu *v,
                             uint64_t tsc, const struct xt_pcpu *on)
{
    const struct pcpu_context *c = w->context[on->number];
    const struct xt_vcpu *by = on->current;
    const struct vcpu_ops *by_ops;

    if (!by)
        return WAKER_UNKNOWN;
    if (XT_IDLE(by))
        return WAKER_IRQ;
    if (by == v)
        return WAKER_UNKNOWN;
    by_ops = by->of[LISTENER];
    if (c && c->in_exit)
        return c->exit_is_interrupt ? WAKER_IRQ : WAKER_SURE;
    if (by_ops && by_ops->hypercalls_told) {
        bool just_now = c && c->hypercall_tsc && tsc >= c->hypercall_tsc &&
                        ns(w, tsc - c->hypercall_tsc) <= HYPERCALL_TO_WAKE_NS;

        return just_now ? WAKER_SURE : WAKER_IRQ;
    }
    if (by->domain != 0 && v->domain != 0 && by->domain != v->domain)
        return WAKER_IRQ;
    /* A vCPU's timers are on the pCPU where it ran; device interrupts are dom0's. */
    if (v->home && v->home != on)
        return v->domain != 0 ? WAKER_SURE : WAKER_MAYBE;
    /* Who does nothing but compute was only interrupted. */
    return by_ops && by_ops->ever_blocked ? WAKER_MAYBE : WAKER_IRQ;
}

static void end_block(struct xentrace_workload *w, struct xt_track *t, struct xt_vcpu *v,
                      struct vcpu_ops *o, uint64_t tsc, const struct xt_pcpu *on)
{
    uint64_t cycles = tsc > o->since ? tsc - o->since : 0;
    enum waker waker = on ? find_waker(w, v, tsc, on) : WAKER_UNKNOWN;

    o->blocked += cycles;
    if (waker >= WAKER_MAYBE) {
        const struct xt_vcpu *by = on->current;
        const char *doubt = waker == WAKER_MAYBE ? "?" : "";
        struct vcpu_ops *by_ops = by->of[LISTENER];

        word(w, o, "b%" PRIu64 "@%" PRIu64 ":%u.%u%s", ns(w, cycles), date(w, t, tsc), by->domain,
             by->number, doubt);
        if (by_ops && by_ops->phase == COMPUTING) {
            end_burst(w, by_ops, tsc);
            word(w, by_ops, "w%u.%u%s", v->domain, v->number, doubt);
        }
    } else {
        word(w, o, "b%" PRIu64 "@%" PRIu64 ":%s", ns(w, cycles), date(w, t, tsc),
             w->ending            ? "end"
             : waker == WAKER_IRQ ? "irq"
                                  : "?");
    }
}

/* ---- Changes of state --------------------------------------------------------------------------
 */

static struct vcpu_ops *ops_of(struct xt_vcpu *v)
{
    if (!v->of[LISTENER])
        v->of[LISTENER] = xcalloc(1, sizeof(struct vcpu_ops));
    return v->of[LISTENER];
}

static void first_change(struct vcpu_ops *o, const struct xt_track *t, unsigned from,
                         const struct xt_pcpu *on)
{
    static const enum phase phase[4] = {COMPUTING, COMPUTING, BLOCKED, PAUSED};

    if (from > XT_OFFLINE) {
        o->phase = LOST;
        o->since = t->first;
        o->starts = XT_RUNNABLE;
        return;
    }
    if (!o->ops)
        o->starts = from;
    o->phase = phase[from];
    o->running = from == XT_RUNNING;
    o->since = o->running && on->first ? on->first : t->first;
}

/* Whatever goes on ends here with a word. */
static void end_phase(struct xentrace_workload *w, struct xt_track *t, struct xt_vcpu *v,
                      struct vcpu_ops *o, uint64_t tsc, const struct xt_pcpu *on)
{
    uint64_t cycles = tsc > o->since ? tsc - o->since : 0;

    switch (o->phase) {
    case COMPUTING:
        end_burst(w, o, tsc);
        break;
    case BLOCKED:
        end_block(w, t, v, o, tsc, on);
        break;
    case PAUSED:
        word(w, o, "p%" PRIu64, ns(w, cycles));
        o->paused += cycles;
        break;
    case LOST:
        word(w, o, "g%" PRIu64, ns(w, cycles));
        o->lost += cycles;
        break;
    case UNSEEN:
        break;
    }
    o->running = false;
    o->since = tsc;
}

static void change(void *ctx, struct xt_track *t, struct xt_vcpu *v, unsigned from, unsigned to,
                   uint64_t tsc, struct xt_pcpu *on)
{
    struct xentrace_workload *w = ctx;
    struct vcpu_ops *o;
    enum phase next;

    if (XT_IDLE(v))
        return;
    o = ops_of(v);
    if (to == XT_UNKNOWN) { /* the TSC restarts */
        if (o->phase != UNSEEN)
            end_phase(w, t, v, o, t->last, NULL);
        o->phase = UNSEEN;
        return;
    }
    if (o->phase == UNSEEN)
        first_change(o, t, from, on);

    /* What the program does now; a vCPU that is only kept waiting still computes. */
    switch (to) {
    case XT_BLOCKED:
        next = BLOCKED;
        o->ever_blocked = true;
        break;
    case XT_OFFLINE:
        /* Credit2 parks without a record: that is scheduling, not the guest's doing. */
        next = o->phase == COMPUTING && !o->pause_told ? COMPUTING : PAUSED;
        o->pause_told = false;
        break;
    case XT_LOST:
        next = LOST;
        break;
    default:
        next = COMPUTING;
        break;
    }
    if (next != o->phase) {
        if (w->ending && next == LOST)
            return; /* what is open ends in close_open() */
        end_phase(w, t, v, o, tsc, on);
        o->phase = next;
    } else if (o->running && tsc > o->since) {
        o->ran += tsc - o->since;
    }
    o->running = to == XT_RUNNING;
    if (next == COMPUTING)
        o->since = tsc;
}

/* ---- Records -----------------------------------------------------------------------------------
 */

struct xentrace_workload *xentrace_workload_new(struct xentrace_summary *s, uint64_t hz)
{
    struct xentrace_workload *w = xcalloc(1, sizeof *w);

    w->s = s;
    w->hz = hz;
    w->spool = -1;
    BUG_ON(s->track->listeners != LISTENER);
    s->track->listener[s->track->listeners++] = (struct xt_listener){change, w};
    return w;
}

void xentrace_workload_free(struct xentrace_workload *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->s->track->vcpus; i++) {
        struct vcpu_ops *o = w->s->track->vcpu[i]->of[LISTENER];

        if (!o)
            continue;
        free(o->text);
        free(o->spooled);
        free(o);
        w->s->track->vcpu[i]->of[LISTENER] = NULL;
    }
    for (unsigned i = 0; i < XENTRACE_PCPUS; i++)
        free(w->context[i]);
    if (w->spool >= 0)
        close(w->spool);
    free(w);
}

static struct pcpu_context *context(struct xentrace_workload *w, unsigned pcpu)
{
    if (!w->context[pcpu])
        w->context[pcpu] = xcalloc(1, sizeof *w->context[pcpu]);
    return w->context[pcpu];
}

static void guest_record(struct xentrace_workload *w, const struct xentrace_record *rec)
{
    struct pcpu_context *c = context(w, rec->pcpu);
    const struct xt_pcpu *p = xt_track_pcpu(w->s->track, rec->pcpu);

    switch (rec->event) {
    case XT_PV_HYPERCALL_V2:
    case XT_PV_HYPERCALL_SUBCALL:
        c->hypercall_tsc = 0;
        if (rec->words && (rec->word[0] & 0xfffff) == HYPERCALL_EVENT_CHANNEL)
            c->hypercall_tsc = rec->tsc;
        if (p->current && !XT_IDLE(p->current))
            ops_of(p->current)->hypercalls_told = true;
        break;
    case XT_HVM_VMX_EXIT:
    case XT_HVM_VMX_EXIT64:
        c->in_exit = true;
        c->exit_is_interrupt = rec->words && rec->word[0] == EXIT_VMX_INTERRUPT;
        break;
    case XT_HVM_SVM_EXIT:
    case XT_HVM_SVM_EXIT64:
        c->in_exit = true;
        c->exit_is_interrupt = rec->words && rec->word[0] == EXIT_SVM_INTERRUPT;
        break;
    case XT_HVM_VMENTRY:
        c->in_exit = false;
        break;
    default:
        if (rec->event >> 16 == 1u << XT_CLASS_PV)
            c->hypercall_tsc = 0; /* the guest is beyond it */
        break;
    }
}

void xentrace_workload_record(struct xentrace_workload *w, const struct xentrace_record *rec)
{
    struct xt_vcpu *v;
    struct vcpu_ops *o;

    if (rec->kind != XENTRACE_RECORD)
        return;
    switch (rec->event) {
    case XT_SLEEP:
    case XT_YIELD:
        if (rec->words != 2 || !(v = xt_track_find(w->s->track, rec->word[0], rec->word[1])))
            return;
        o = v->of[LISTENER];
        if (!o)
            return;
        if (rec->event == XT_SLEEP) {
            o->pause_told = true;
        } else if (o->phase == COMPUTING && o->running) {
            end_burst(w, o, rec->tsc);
            word(w, o, "y");
        }
        break;
    case XT_SWITCH:
        /* Another vCPU: no hypercall, no exit of this one. */
        if (w->context[rec->pcpu])
            *w->context[rec->pcpu] = (struct pcpu_context){0};
        break;
    default:
        if (rec->event >> 16 & (1u << XT_CLASS_PV | 1u << XT_CLASS_HVM))
            guest_record(w, rec);
        break;
    }
}

void xentrace_workload_ends(struct xentrace_workload *w)
{
    w->ending = true;
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

static void close_open(struct xentrace_workload *w, struct xt_vcpu *v, struct vcpu_ops *o)
{
    struct xt_track *t = w->s->track;
    uint64_t end = t->last;

    /* What ran is known up to its pCPU's last record only. */
    if (o->running && v->home && v->home->last && v->home->last < end)
        end = v->home->last;
    if (o->phase != UNSEEN)
        end_phase(w, t, v, o, end, NULL);
    o->phase = UNSEEN;
}

static int copy_spooled(struct xentrace_workload *w, const struct spooled *piece, FILE *out)
{
    char buffer[PIECE_LATER];
    ssize_t n;

    for (size_t done = 0; done < piece->size; done += (size_t)n) {
        do
            n = pread(w->spool, buffer, piece->size - done, (off_t)(piece->offset + done));
        while (n < 0 && errno == EINTR);
        if (n <= 0) {
            w->spool_errno = n < 0 ? errno : EIO;
            return -1;
        }
        fwrite(buffer, 1, (size_t)n, out);
    }
    return 0;
}

/* The list of words, around json_writer: pieces are JSON strings without anything to escape. */
static void put_ops(struct xentrace_workload *w, const struct vcpu_ops *o, FILE *out)
{
    const char *separator = "";

    fputs("[", out);
    for (uint32_t i = 0; i < o->spooled_count; i++) {
        fprintf(out, "%s\n        \"", separator);
        if (copy_spooled(w, &o->spooled[i], out) != 0)
            return;
        fputc('"', out);
        separator = ",";
    }
    if (o->size) {
        fprintf(out, "%s\n        \"", separator);
        fwrite(o->text, 1, o->size, out);
        fputc('"', out);
    }
    fputs(o->spooled_count || o->size ? "\n      ]" : "]", out);
}

static void put_source(const struct xentrace_workload *w, const struct xentrace_report *r,
                       FILE *out)
{
    static const char *const scheduler[8] = {"credit", "credit2", "?", "arinc653",
                                             "rtds",   "null",    "?", "?"};
    const struct xt_track *t = w->s->track;
    struct json_writer j = json_writer(out, JSON_COMPACT);
    uint64_t lost = 0;

    for (unsigned i = 0; i < XENTRACE_PCPUS; i++)
        lost += t->pcpu[i] ? t->pcpu[i]->lost_records : 0;
    json_begin(&j, NULL, '{');
    json_put_string(&j, "file", r->file);
    json_put_integer(&j, "cpu_hz", (int64_t)w->hz);
    json_put_integer(&j, "duration_ns", (int64_t)ns(w, xt_track_cycles(t)));
    json_put_integer(&j, "records", (int64_t)r->volume->records);
    json_put_integer(&j, "lost_records", (int64_t)lost);
    json_begin(&j, "pcpus", '[');
    for (unsigned i = 0; i < XENTRACE_PCPUS; i++)
        if (t->pcpu[i])
            json_put_integer(&j, NULL, i);
    json_end(&j);
    json_begin(&j, "schedulers", '[');
    for (unsigned i = 0; i < 8; i++)
        if (w->s->schedulers >> i & 1)
            json_put_string(&j, NULL, scheduler[i]);
    json_end(&j);
    json_end(&j);
}

static int by_number(const void *a, const void *b)
{
    const struct xt_vcpu *x = *(struct xt_vcpu *const *)a, *y = *(struct xt_vcpu *const *)b;

    return x->domain != y->domain ? (x->domain > y->domain) - (x->domain < y->domain)
                                  : (x->number > y->number) - (x->number < y->number);
}

int xentrace_workload_write(struct xentrace_workload *w, const struct xentrace_report *r, FILE *out,
                            struct errors *e)
{
    struct xt_track *t = w->s->track;
    struct xt_vcpu **list = xcalloc(t->vcpus, sizeof *list);
    const char *separator = "";
    uint32_t count = 0;

    for (uint32_t i = 0; i < t->vcpus; i++) {
        struct vcpu_ops *o = t->vcpu[i]->of[LISTENER];

        if (o && o->phase != UNSEEN)
            close_open(w, t->vcpu[i], o);
        if (o && o->ops)
            list[count++] = t->vcpu[i];
    }
    qsort(list, count, sizeof *list, by_number);

    fputs("{\n  \"format\": \"hvsim-workload\",\n  \"version\": 1,\n  \"source\": ", out);
    put_source(w, r, out);
    fputs(",\n  \"vcpus\": [", out);
    for (uint32_t i = 0; i < count; i++) {
        const struct vcpu_ops *o = list[i]->of[LISTENER];

        fprintf(out,
                "%s\n    {\n      \"domain\": %u,\n      \"vcpu\": %u,\n"
                "      \"starts\": \"%s\",\n      \"ops_count\": %" PRIu64 ",\n"
                "      \"computed_ns\": %" PRIu64 ",\n      \"blocked_ns\": %" PRIu64 ",\n"
                "      \"paused_ns\": %" PRIu64 ",\n      \"lost_ns\": %" PRIu64 ",\n"
                "      \"ops\": ",
                separator, list[i]->domain, list[i]->number, xt_runstate_name[o->starts & 3],
                o->ops, ns(w, o->computed), ns(w, o->blocked), ns(w, o->paused), ns(w, o->lost));
        put_ops(w, o, out);
        fputs("\n    }", out);
        separator = ",";
    }
    fputs(count ? "\n  ]\n}\n" : "]\n}\n", out);
    free(list);
    if (w->spool_errno)
        return error_add(e, EXIT_INTERNAL,
                         "temporary file for the workload: %s; set TMPDIR to where there is room",
                         strerror(w->spool_errno));
    return 0;
}
