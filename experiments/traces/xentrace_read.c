/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two halves. The scanner walks the input buffer record by record, checks headers and TSCs, and
 * queues what it has walked as pieces: whole records of one pCPU. The merger takes records from the
 * heads of the pCPUs' queues; it trusts what the scanner has checked.
 */
#include "experiments/traces/xentrace_read.h"

#include "experiments/traces/xentrace_input.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "records are read in place");

enum {
    BUFFER = 1 << 18,
    PIECE = XT_SPILL_BLOCK,
    LOOK_AHEAD = 9 * XT_RECORD_MAX + 16, /* to judge whether records go on at a place */
    READ_MEMORY = 12 << 20,
};

/* A step of the TSC beyond this is looked at more closely: 2^35 cycles are 14 s at 2.4 GHz. */
#define TSC_STEP (UINT64_C(1) << 35)
/* No window is larger: Xen's trace buffers are at most some MiB a pCPU. Assumed. */
#define WINDOW_MAX (1u << 30)
/* Give up on input without any window after so much. */
#define NO_TRACE_AFTER (UINT64_C(256) << 20)

/* Epochs count the restarts of the TSC; they order records before their TSC does. */
struct moment {
    uint32_t epoch;
    uint64_t tsc;
};

struct piece {
    struct piece *next;
    uint32_t size, epoch;
    enum { HERE, IN_FILE, IN_SPILL } where;
    uint64_t place; /* offset in the file or block of the spill */
    uint32_t data[];
};

struct stream {
    uint16_t pcpu;
    bool known_tsc;
    bool in_gap;         /* the head is a lost-records record seen once already */
    uint64_t scan_last;  /* scanner: last TSC walked ... */
    uint64_t scan_last2; /* ... and the one before */
    uint32_t scan_epoch; /* scanner: epoch of the last record walked */

    struct piece *head, *tail;
    const uint32_t *at, *end; /* in the head piece */
    struct moment key;        /* of the record at `at` */
    uint64_t last;            /* merger: last TSC handed out */
    uint32_t *loaded;         /* room for a piece that was laid down */
};

struct xentrace_reader {
    struct xt_input *in;
    unsigned char *buffer;
    size_t at, fill;
    uint64_t offset; /* of buffer[0] in the trace */
    bool input_ended;
    bool scanned; /* all of it */

    /* Scanner */
    struct stream *stream[XENTRACE_PCPUS];
    struct stream *window;        /* whose records are being walked; NULL: none yet */
    uint32_t last_pcpu;           /* of the last window */
    int64_t window_left;          /* bytes by its header; negative: the window ran over */
    bool window_sized;            /* its header's size is to be believed */
    uint32_t epoch;               /* latest of any stream */
    struct moment seen;           /* latest moment walked ... */
    struct moment seen_1, seen_2; /* ... up to the end of the last and the last but one sweep */
    struct moment bound;          /* nothing before it can follow */

    /* Merger: streams that have records, by (key, last served first) */
    struct stream *order[XENTRACE_PCPUS];
    unsigned ready;
    struct stream *served; /* whose record was handed out and is not yet passed */
    uint32_t out_epoch;
    size_t held, hold;
    struct xt_spill spill;

    struct xentrace_damage damage;
    struct xentrace_volume volume;
};

static const uint8_t record_size[16] = {4,  8,  12, 16, 20, 24, 28, 32,
                                        12, 16, 20, 24, 28, 32, 36, 40};

static inline uint32_t load32(const void *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t load64(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline bool before(struct moment a, struct moment b)
{
    return a.epoch == b.epoch ? a.tsc < b.tsc : a.epoch < b.epoch;
}

/* Exactly one class bit, as in every event Xen has. */
static inline bool header_plausible(uint32_t header)
{
    uint32_t class = header >> 16 & 0xfff;

    return class != 0 && (class & (class - 1)) == 0;
}

static void note_place(struct xentrace_reader *r, uint64_t offset, uint64_t bytes, const char *why)
{
    struct xentrace_damage *d = &r->damage;

    if (d->places < XENTRACE_PLACES)
        d->place[d->places++] =
            (struct xentrace_place){.offset = offset, .bytes = bytes, .why = why};
}

/* ---- Opening and closing -----------------------------------------------------------------------
 */

static struct xentrace_reader *reader_new(struct xt_input *in)
{
    struct xentrace_reader *r = xcalloc(1, sizeof *r);

    r->in = in;
    r->buffer = xcalloc(BUFFER, 1);
    r->hold = READ_MEMORY;
    r->spill = XT_SPILL_NONE;
    return r;
}

struct xentrace_reader *xentrace_open(const char *path, struct errors *e)
{
    struct xt_input *in = xt_input_open(path, e);

    return in ? reader_new(in) : NULL;
}

struct xentrace_reader *xentrace_open_memory(const void *data, size_t size)
{
    return reader_new(xt_input_memory(data, size));
}

void xentrace_hold(struct xentrace_reader *r, size_t bytes)
{
    r->hold = bytes;
}

void xentrace_close(struct xentrace_reader *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < XENTRACE_PCPUS; i++) {
        struct stream *s = r->stream[i];

        if (!s)
            continue;
        while (s->head) {
            struct piece *next = s->head->next;

            free(s->head);
            s->head = next;
        }
        free(s->loaded);
        free(s);
    }
    xt_spill_free(&r->spill);
    xt_input_close(r->in);
    free(r->buffer);
    free(r);
}

const struct xentrace_damage *xentrace_damage(const struct xentrace_reader *r)
{
    return &r->damage;
}

const struct xentrace_volume *xentrace_volume(const struct xentrace_reader *r)
{
    return &r->volume;
}

bool xentrace_damaged(const struct xentrace_damage *d)
{
    return d->skipped_bytes || d->wrong_windows || d->absurd_windows || d->malformed ||
           d->wild_tsc || d->restarts || d->truncated_bytes || d->spill_errors || d->input_trouble;
}

/* ---- The merger's queue ------------------------------------------------------------------------
 */

/* Key of the record at s->at. */
static inline void set_key(struct stream *s)
{
    uint32_t header = s->at[0];

    if (!(header & XT_TSC_FLAG))
        return;
    s->key.tsc = load64(s->at + 1);
    if (__builtin_expect((header & XT_EVENT_MASK) == XT_LOST_RECORDS, 0)) {
        uint64_t first = (header >> 28 & 7) == 4 ? load64(s->at + 5) : s->key.tsc;

        /* A gap begins before its end and not before what was logged last. */
        if (first > s->key.tsc)
            first = s->key.tsc;
        if (first < s->last && s->last <= s->key.tsc)
            first = s->last;
        s->key.tsc = first;
    }
}

/* Enter `s`, which got its first piece: before those of the same key. */
static void order_insert(struct xentrace_reader *r, struct stream *s)
{
    unsigned low = 0, high = r->ready;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (before(r->order[middle]->key, s->key))
            low = middle + 1;
        else
            high = middle;
    }
    memmove(r->order + low + 1, r->order + low, (r->ready - low) * sizeof *r->order);
    r->order[low] = s;
    r->ready++;
}

static void order_remove(struct xentrace_reader *r, const struct stream *s)
{
    unsigned i = 0;

    while (r->order[i] != s)
        i++;
    r->ready--;
    memmove(r->order + i, r->order + i + 1, (r->ready - i) * sizeof *r->order);
}

/* The first one's key has grown: sink it below those that are earlier. */
static inline void order_sink(struct xentrace_reader *r)
{
    struct stream *s = r->order[0];
    unsigned i = 0;

    while (i + 1 < r->ready && before(r->order[i + 1]->key, s->key)) {
        r->order[i] = r->order[i + 1];
        i++;
    }
    r->order[i] = s;
}

/* Make the head piece readable. False: nothing could be read. */
static bool piece_open(struct xentrace_reader *r, struct stream *s)
{
    struct piece *p = s->head;
    const uint32_t *data = p->data;

    if (p->where != HERE) {
        bool ok;

        if (!s->loaded)
            s->loaded = xcalloc(PIECE, 1);
        ok = p->where == IN_FILE ? xt_input_reread(r->in, p->place, s->loaded, p->size)
                                 : xt_spill_read(&r->spill, (int64_t)p->place, s->loaded, p->size);
        if (!ok) {
            r->damage.spill_errors++;
            return false;
        }
        data = s->loaded;
    }
    s->at = data;
    s->end = data + p->size / 4;
    s->key.epoch = p->epoch;
    set_key(s);
    return true;
}

static void piece_drop(struct xentrace_reader *r, struct stream *s)
{
    struct piece *p = s->head;

    s->head = p->next;
    if (!s->head)
        s->tail = NULL;
    if (p->where == HERE)
        r->held -= p->size;
    free(p);
}

/* Pass the record that was handed out. */
static void pass_served(struct xentrace_reader *r)
{
    struct stream *s = r->served;

    r->served = NULL;
    if (__builtin_expect(s->in_gap, 0)) {
        /* The lost-records record comes once more, at its own TSC. */
        s->key.tsc = load64(s->at + 1);
        order_sink(r);
        return;
    }
    s->at += record_size[s->at[0] >> 28] / 4;
    if (__builtin_expect(s->at < s->end, 1)) {
        set_key(s);
        order_sink(r);
        return;
    }
    do {
        piece_drop(r, s);
        if (!s->head) {
            order_remove(r, s);
            return;
        }
    } while (!piece_open(r, s));
    order_sink(r);
}

/* ---- The scanner -------------------------------------------------------------------------------
 */

/* More input behind buffer[at]; what lies before it is forgotten. */
static void refill(struct xentrace_reader *r)
{
    if (r->at) {
        memmove(r->buffer, r->buffer + r->at, r->fill - r->at);
        r->offset += r->at;
        r->fill -= r->at;
        r->at = 0;
    }
    /* Half a buffer at least, so that small reads of a pipe do not move the rest each time. */
    while (r->fill < BUFFER / 2 && !r->input_ended) {
        size_t n = xt_input_read(r->in, r->buffer + r->fill, BUFFER - r->fill);

        if (!n) {
            r->input_ended = true;
            r->damage.input_trouble = xt_input_trouble(r->in);
        }
        r->fill += n;
        r->volume.bytes += n;
    }
}

static inline size_t available(struct xentrace_reader *r, size_t wanted)
{
    if (r->fill - r->at < wanted && !r->input_ended)
        refill(r);
    return r->fill - r->at;
}

/* Queue buffer[from, from + size) as records of `s`. */
static void queue_piece(struct xentrace_reader *r, struct stream *s, size_t from, size_t size,
                        bool patched)
{
    bool here = r->held + size <= r->hold;
    struct piece *p = xrealloc(NULL, sizeof *p + (here ? size : 0));

    BUG_ON(size > PIECE);
    *p = (struct piece){.size = (uint32_t)size, .epoch = s->scan_epoch};
    if (here) {
        p->where = HERE;
        memcpy(p->data, r->buffer + from, size);
        r->held += size;
        if (r->held > r->volume.memory_peak)
            r->volume.memory_peak = r->held;
    } else if (xt_input_rereadable(r->in) && !patched) {
        p->where = IN_FILE;
        p->place = r->offset + from;
        r->volume.laid_down += size;
    } else {
        int64_t block = xt_spill_write(&r->spill, r->buffer + from, size);

        if (block < 0) {
            r->damage.spill_errors++;
            note_place(r, r->offset + from, size, "no room for a temporary file");
            free(p);
            return;
        }
        p->where = IN_SPILL;
        p->place = (uint64_t)block;
        r->volume.laid_down += size;
    }
    if (s->tail) {
        s->tail->next = p;
        s->tail = p;
        return;
    }
    s->head = s->tail = p;
    if (piece_open(r, s))
        order_insert(r, s);
    else
        piece_drop(r, s);
}

static void sweep_begins(struct xentrace_reader *r)
{
    r->volume.sweeps++;
    r->bound = r->seen_2;
    r->seen_2 = r->seen_1;
    r->seen_1 = r->seen;
}

static void window_ends(struct xentrace_reader *r, uint64_t offset)
{
    if (!r->window || !r->window_sized || r->window_left == 0)
        return;
    r->damage.wrong_windows++;
    note_place(r, offset, (uint64_t)llabs(r->window_left),
               r->window_left > 0 ? "window shorter than its header says"
                                  : "window longer than its header says");
}

/* The window header at buffer[at] (12 bytes are there). */
static void window_begins(struct xentrace_reader *r)
{
    const unsigned char *p = r->buffer + r->at;
    uint32_t pcpu = load32(p + 4), size = load32(p + 8);
    struct stream *s = r->stream[pcpu];

    window_ends(r, r->offset + r->at);
    if (!r->volume.windows || pcpu <= r->last_pcpu)
        sweep_begins(r);
    r->last_pcpu = pcpu;
    if (!s) {
        s = r->stream[pcpu] = xcalloc(1, sizeof *s);
        s->pcpu = (uint16_t)pcpu;
    }
    /* A restart of the TSC holds for everything that stands behind it in the file. */
    if (s->scan_epoch < r->epoch) {
        s->scan_epoch = r->epoch;
        s->known_tsc = false;
    }
    r->window = s;
    r->window_left = size;
    r->window_sized = size <= WINDOW_MAX && size % 4 == 0;
    if (!r->window_sized) {
        r->damage.absurd_windows++;
        note_place(r, r->offset + r->at, 0, "window of an impossible size");
    }
    r->volume.windows++;
    r->at += 12;
}

static bool window_plausible(const unsigned char *p)
{
    return load32(p) == XT_CPU_CHANGE_HEADER && load32(p + 4) < XENTRACE_PCPUS;
}

/*
 * Whether records go on at p: some in a row that the table knows, with TSCs that agree. Three will
 * do if they agree with what was walked before; it may have been garbage itself, then it takes
 * eight.
 */
static bool records_plausible(const struct xentrace_reader *r, const unsigned char *p,
                              const unsigned char *end)
{
    uint64_t last = r->window->scan_last;
    int wanted = 3, stamps = 0;

    for (int i = 0; i < wanted; i++) {
        const struct xt_event_info *info;
        uint32_t header;
        unsigned words;

        /* The end of the window, or of the trace, after fewer of them. */
        if (p == end || (end - p >= 12 && window_plausible(p)))
            return wanted == 3 ? i > 0 : i > 2;
        if (end - p < 4)
            return false;
        header = load32(p);
        words = header >> 28 & 7;
        if (!header_plausible(header) || header == XT_CPU_CHANGE_HEADER ||
            end - p < record_size[header >> 28])
            return false;
        info = xt_event_find(header & XT_EVENT_MASK, words);
        if (!info || (info->words != words && info->event != XT_WRAP_BUFFER))
            return false;
        if (header & XT_TSC_FLAG) {
            uint64_t tsc = load64(p + 4);

            if (tsc < last || tsc - last > TSC_STEP) {
                if (stamps)
                    return false;
                wanted = 8;
            }
            last = tsc;
            stamps++;
        }
        p += record_size[header >> 28];
    }
    return true;
}

/* Skip from buffer[at] to where records or a window go on. */
static void resynchronise(struct xentrace_reader *r, const char *why)
{
    uint64_t from = r->offset + r->at;

    while (available(r, LOOK_AHEAD) >= 12) {
        const unsigned char *p = r->buffer + r->at, *end = r->buffer + r->fill;
        const unsigned char *stop = r->input_ended ? end - 11 : end - LOOK_AHEAD + 1;

        for (; p < stop; p++)
            if (window_plausible(p) ||
                (r->window && r->window->known_tsc && header_plausible(load32(p)) &&
                 records_plausible(r, p, end)))
                break;
        r->at = (size_t)(p - r->buffer);
        if (p < stop)
            break;
        if (!r->volume.windows && r->offset + r->at > NO_TRACE_AFTER)
            r->input_ended = true;
    }
    if (available(r, LOOK_AHEAD) < 12)
        r->at = r->fill;
    if (r->offset + r->at > from) {
        r->damage.skipped_pieces++;
        r->damage.skipped_bytes += r->offset + r->at - from;
        r->window_left -= (int64_t)(r->offset + r->at - from);
        note_place(r, from, r->offset + r->at - from, why);
    }
}

/* The TSC of the first record at or behind p that has one, as far as the buffer goes. */
static bool next_tsc(const unsigned char *p, const unsigned char *end, uint64_t *tsc)
{
    while (end - p >= 12) {
        uint32_t header = load32(p);

        if (!header_plausible(header) || header == XT_CPU_CHANGE_HEADER)
            return false;
        if (header & XT_TSC_FLAG) {
            *tsc = load64(p + 4);
            return true;
        }
        p += record_size[header >> 28];
    }
    return false;
}

enum step { STEP_FINE, STEP_WILD, STEP_EARLIER_WILD, STEP_RESTART };

/*
 * A TSC that went back, or far ahead. A single wild one among good neighbours is a flipped bit, and
 * the neighbour's is taken for it; when what follows agrees with the step, time itself has stepped.
 * last2 is the TSC before `last`.
 */
static enum step judge_step(uint64_t tsc, uint64_t last, uint64_t last2, bool has_next,
                            uint64_t next)
{
    if (tsc < last) {
        if (has_next && next >= last && next - last <= TSC_STEP)
            return STEP_WILD;
        if (tsc >= last2 && tsc - last2 <= TSC_STEP && last - last2 > TSC_STEP)
            return STEP_EARLIER_WILD;
        /* Disorder within a few seconds is left as it is. */
        return last - tsc <= TSC_STEP && (!has_next || next >= tsc) && tsc >= last2 ? STEP_FINE
               : has_next                                                           ? STEP_RESTART
                                                                                    : STEP_WILD;
    }
    if (has_next && next < tsc && next >= last && next - last <= TSC_STEP)
        return STEP_WILD;
    return STEP_FINE;
}

/* The last queued record of `s` that has a TSC has a wild one: give it that of its neighbour. */
static void mend_queued(struct xentrace_reader *r, struct stream *s, uint64_t tsc)
{
    struct piece *p = s->tail;
    uint32_t *wild = NULL;

    if (!p || p->where != HERE)
        return;
    for (uint32_t *at = p->data; at < p->data + p->size / 4; at += record_size[*at >> 28] / 4)
        if (*at & XT_TSC_FLAG)
            wild = at;
    if (!wild || wild < s->at)
        return;
    memcpy(wild + 1, &tsc, sizeof tsc);
    if (wild == s->at) {
        order_remove(r, s);
        set_key(s);
        order_insert(r, s);
    }
}

/* Walking one piece of a window. */
struct walk {
    unsigned char *p;
    unsigned char *tsc_at; /* of the last TSC, when it is in this piece */
    uint64_t last, last2, sure;
    bool patched;
};

/* Deal with a step of the TSC at w->p; returns the TSC to go on with. False: it begins a piece of
 * its own, or must be seen with more input behind it. */
static bool walk_step(struct xentrace_reader *r, struct walk *w, bool first, uint64_t *tsc)
{
    struct stream *s = r->window;
    const unsigned char *end = r->buffer + r->fill;
    uint64_t next = 0;
    bool has_next;

    if (!first && end - w->p < LOOK_AHEAD && !r->input_ended)
        return false;
    has_next = next_tsc(w->p + record_size[load32(w->p) >> 28], end, &next);
    switch (judge_step(*tsc, w->last, w->last2, has_next, next)) {
    case STEP_WILD:
        r->damage.wild_tsc++;
        *tsc = w->sure = w->last;
        memcpy(w->p + 4, tsc, sizeof *tsc);
        w->patched = true;
        break;
    case STEP_EARLIER_WILD:
        r->damage.wild_tsc++;
        if (w->tsc_at) {
            memcpy(w->tsc_at, &w->last2, sizeof w->last2);
            w->patched = true;
        } else {
            mend_queued(r, s, w->last2);
        }
        w->last = w->last2;
        w->sure = *tsc;
        break;
    case STEP_RESTART:
        if (!first)
            return false;
        r->damage.restarts++;
        note_place(r, r->offset + r->at, 0, "the TSC went back");
        s->scan_epoch = ++r->epoch;
        w->sure = *tsc;
        break;
    case STEP_FINE:
        /* A leap ahead counts once another record agrees. */
        w->sure = has_next || *tsc < w->last ? *tsc : w->last;
        break;
    }
    return true;
}

/*
 * Walk records of the window from buffer[at]; queue what was walked. Returns false when no record
 * can begin where the walk ended although there are bytes enough for one.
 */
static bool walk(struct xentrace_reader *r)
{
    struct stream *s = r->window;
    unsigned char *start = r->buffer + r->at;
    unsigned char *const end = r->buffer + r->fill;
    struct walk w = {.p = start, .last = s->scan_last, .last2 = s->scan_last2};
    bool known = s->known_tsc, sound = true;
    uint64_t records = 0;
    size_t walked;

    while (end - w.p >= 4) {
        uint32_t header = load32(w.p);
        size_t size = record_size[header >> 28];

        if (!header_plausible(header)) {
            sound = false;
            break;
        }
        if ((size_t)(end - w.p) < size || header == XT_CPU_CHANGE_HEADER ||
            (size_t)(w.p - start) + size > PIECE)
            break;
        if (header & XT_TSC_FLAG) {
            uint64_t tsc = load64(w.p + 4);

            if (__builtin_expect(tsc - w.last > TSC_STEP, 0) && known) {
                if (!walk_step(r, &w, w.p == start, &tsc))
                    break;
            } else {
                w.sure = tsc;
            }
            w.last2 = w.last;
            w.last = tsc;
            w.tsc_at = w.p + 4;
            known = true;
        }
        records++;
        w.p += size;
    }
    walked = (size_t)(w.p - start);
    if (!walked)
        return sound;
    s->scan_last = w.last;
    s->scan_last2 = w.last2;
    s->known_tsc = known;
    r->volume.records += records;
    r->window_left -= (int64_t)walked;
    queue_piece(r, s, r->at, walked, w.patched);
    r->at += walked;
    if (known && before(r->seen, (struct moment){s->scan_epoch, w.sure}))
        r->seen = (struct moment){s->scan_epoch, w.sure};
    return sound;
}

/* One step through the input. False at its end. */
static bool scan(struct xentrace_reader *r)
{
    size_t n = available(r, LOOK_AHEAD);
    uint64_t at = r->offset + r->at;

    if (!n) {
        window_ends(r, r->offset + r->at);
        return false;
    }
    if (n >= 12 && load32(r->buffer + r->at) == XT_CPU_CHANGE_HEADER) {
        if (window_plausible(r->buffer + r->at)) {
            window_begins(r);
        } else {
            /* Nobody knows whose records follow: on to the next window. */
            window_ends(r, at);
            r->window = NULL;
            resynchronise(r, "window of an impossible pCPU");
        }
        return true;
    }
    if (n >= 4 && r->window && load32(r->buffer + r->at) != XT_CPU_CHANGE_HEADER)
        if (!walk(r) && r->offset + r->at == at)
            resynchronise(r, "no record can begin here");
    if (!r->window && n >= 12)
        resynchronise(r, "no window has begun");
    if (r->offset + r->at == at) {
        /* Bytes, but no whole record although there is no more to come. */
        r->damage.truncated_bytes += n;
        r->window_left -= (int64_t)n;
        note_place(r, r->offset + r->at, n, "the trace ends within a record");
        r->at = r->fill;
    }
    return true;
}

/* ---- The reader -------------------------------------------------------------------------------
 */

bool xentrace_next(struct xentrace_reader *r, struct xentrace_record *rec)
{
    struct stream *s;
    uint32_t header;

    if (r->served)
        pass_served(r);
    while (!r->ready || (!r->scanned && before(r->bound, r->order[0]->key))) {
        if (r->scanned)
            return false;
        r->scanned = !scan(r);
    }

    s = r->order[0];
    header = s->at[0];
    if (__builtin_expect(s->key.epoch != r->out_epoch, 0)) {
        r->out_epoch = s->key.epoch;
        *rec =
            (struct xentrace_record){.tsc = s->key.tsc, .pcpu = s->pcpu, .kind = XENTRACE_RESTART};
        return true;
    }
    rec->tsc = s->key.tsc;
    rec->word = s->at + (header & XT_TSC_FLAG ? 3 : 1);
    rec->event = header & XT_EVENT_MASK;
    rec->pcpu = s->pcpu;
    rec->words = header >> 28 & 7;
    rec->has_tsc = header >> 31;
    rec->kind = XENTRACE_RECORD;
    if (__builtin_expect(rec->event == XT_LOST_RECORDS, 0)) {
        if (rec->words != 4 || !rec->has_tsc) {
            r->damage.malformed++;
        } else {
            s->in_gap = !s->in_gap;
            rec->kind = s->in_gap ? XENTRACE_GAP_BEGIN : XENTRACE_GAP_END;
        }
    }
    s->last = rec->tsc;
    r->served = s;
    return true;
}
