/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made traces for the tests of what reads them. */
#ifndef HVSIM_VALIDATION_UNIT_XENTRACE_BUILDER_H
#define HVSIM_VALIDATION_UNIT_XENTRACE_BUILDER_H

#include "experiments/traces/xentrace_events.h"
#include "sim/error.h"

#include <stdlib.h>
#include <string.h>

struct trace {
    unsigned char *data;
    size_t size, room, window; /* window: where its header is */
};

static inline void trace_words(struct trace *t, const uint32_t *word, size_t words)
{
    if (t->size + 4 * words >= t->room) {
        t->room = 2 * (t->size + 4 * words) + 256;
        t->data = xrealloc(t->data, t->room);
    }
    if (words)
        memcpy(t->data + t->size, word, 4 * words);
    t->size += 4 * words;
}

/* Begin a window; its size is filled in as records follow. */
static inline void trace_window(struct trace *t, uint32_t pcpu)
{
    uint32_t head[3] = {XT_CPU_CHANGE_HEADER, pcpu, 0};

    t->window = t->size;
    trace_words(t, head, 3);
}

/* A record with up to 7 words; tsc 0: without one. */
static inline void trace_record(struct trace *t, uint32_t event, uint64_t tsc, unsigned words,
                                const uint32_t *word)
{
    uint32_t head[3] = {xt_header(event, words, tsc != 0), (uint32_t)tsc, (uint32_t)(tsc >> 32)};
    uint32_t size;

    trace_words(t, head, tsc ? 3 : 1);
    trace_words(t, word, words);
    size = (uint32_t)(t->size - t->window - 12);
    memcpy(t->data + t->window + 8, &size, 4);
}

#define trace_put(t, event, tsc, ...)                                                              \
    do {                                                                                           \
        const uint32_t put_[] = {__VA_ARGS__};                                                     \
        trace_record((t), (event), (tsc), sizeof put_ / 4, put_);                                  \
    } while (0)

static inline void trace_state(struct trace *t, uint64_t tsc, unsigned domain, unsigned vcpu,
                               enum xt_runstate from, enum xt_runstate to)
{
    trace_put(t, xt_runstate_event(from, to), tsc, xt_vcpu_word(domain, vcpu));
}

/* prev (idle: domain 32767) leaves for `to`, next comes. */
static inline void trace_switch(struct trace *t, uint64_t tsc, unsigned prev_domain,
                                unsigned prev_vcpu, enum xt_runstate to, unsigned next_domain,
                                unsigned next_vcpu)
{
    trace_state(t, tsc, prev_domain, prev_vcpu, XT_RUNNING, to);
    trace_state(t, tsc, next_domain, next_vcpu, XT_RUNNABLE, XT_RUNNING);
}

static inline void trace_lost(struct trace *t, uint64_t tsc, uint32_t records, unsigned domain,
                              unsigned vcpu, uint64_t first)
{
    trace_put(t, XT_LOST_RECORDS, tsc, records, domain | vcpu << 16, (uint32_t)first,
              (uint32_t)(first >> 32));
}

static inline void trace_free(struct trace *t)
{
    free(t->data);
    *t = (struct trace){0};
}

#endif
