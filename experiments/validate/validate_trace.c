/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/validate_trace.h"

#include "experiments/traces/xentrace_read.h"

#include <inttypes.h>
#include <string.h>

/* Words that Xen writes and does not set: padding at the end of a structure. */
static unsigned meaningful_words(const struct xentrace_record *r)
{
    bool padded = r->event == XT_CSCHED2_UPDATE_RUNQ_LOAD || r->event == XT_CSCHED2_LOAD_BALANCE;

    return padded && r->words == 6 ? 5 : r->words;
}

static bool same(const struct xentrace_record *a, const struct xentrace_record *b)
{
    return a->event == b->event && a->tsc == b->tsc && a->pcpu == b->pcpu &&
           meaningful_words(a) == meaningful_words(b) &&
           !memcmp(a->word, b->word, 4 * meaningful_words(a));
}

static void show(FILE *out, const char *who, bool some, const struct xentrace_record *r)
{
    char text[200];

    if (!some) {
        fprintf(out, " %s (ends here)\n", who);
        return;
    }
    xt_event_format(r->event, r->word, r->words, text, sizeof text);
    fprintf(out, " %s tsc %" PRIu64 " pCPU %u event %08x %s\n", who, r->tsc, r->pcpu, r->event,
            text);
}

int64_t compare_traces(const char *name, const char *reference, const void *data, size_t size,
                       FILE *out, struct errors *e)
{
    struct xentrace_reader *ref = xentrace_open(reference, e);
    struct xentrace_reader *sim = xentrace_open_memory(data, size);
    struct xentrace_record a, b;
    int64_t records = 0;

    while (ref) {
        bool some_a = xentrace_next(ref, &a), some_b = xentrace_next(sim, &b);

        if (!some_a && !some_b)
            break;
        if (some_a != some_b || !same(&a, &b)) {
            fprintf(out, "%s: the binary trace differs at record %" PRId64 "\n", name, records);
            show(out, "reference", some_a, &a);
            show(out, "simulated", some_b, &b);
            records = -1;
            break;
        }
        records++;
    }
    if (!ref)
        records = -1;
    else
        xentrace_close(ref);
    xentrace_close(sim);
    return records;
}
