/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a xentrace: reading ends, gives no more records than there are bytes for, and the
 * summary, the workload and the dump of whatever came out can be written. A second reading that may
 * hold only a little in memory must give the same records.
 */
#include "experiments/traces/xentrace_workload.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x100000001b3u;
}

static uint64_t mix_record(uint64_t hash, const struct xentrace_record *rec)
{
    hash = mix(mix(mix(hash, rec->tsc), rec->event), rec->pcpu);
    if (rec->kind == XENTRACE_RESTART)
        return hash;
    for (unsigned i = 0; i < rec->words; i++)
        hash = mix(hash, rec->word[i]);
    return hash;
}

static uint64_t summarise(const uint8_t *data, size_t size, FILE *out)
{
    struct xentrace_reader *r = xentrace_open_memory(data, size);
    struct xentrace_summary *s = xentrace_summary_new();
    struct xentrace_workload *w = xentrace_workload_new(s, 1000000000);
    struct xentrace_report report = {.file = "fuzz",
                                     .hz = 1000000000,
                                     .damage = xentrace_damage(r),
                                     .volume = xentrace_volume(r)};
    struct errors e = ERRORS_NONE;
    struct xentrace_record rec;
    uint64_t hash = 0, records = 0;
    char text[256];

    while (xentrace_next(r, &rec)) {
        hash = mix_record(hash, &rec);
        records += rec.kind == XENTRACE_RECORD || rec.kind == XENTRACE_GAP_BEGIN;
        if (rec.kind != XENTRACE_RESTART)
            xt_event_format(rec.event, rec.word, rec.words, text, sizeof text);
        xentrace_workload_record(w, &rec);
        xentrace_summary_record(s, &rec);
    }
    BUG_ON(records != report.volume->records);
    BUG_ON(records * 4 + report.damage->skipped_bytes + report.damage->truncated_bytes >
           report.volume->bytes);
    xentrace_workload_ends(w);
    xentrace_summary_end(s);
    xentrace_summary_text(s, &report, out);
    xentrace_summary_json(s, &report, out);
    BUG_ON(xentrace_workload_write(w, &report, out, &e) != 0);
    errors_free(&e);
    xentrace_workload_free(w);
    xentrace_summary_free(s);
    xentrace_close(r);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *out;
    struct xentrace_reader *r;
    struct xentrace_record rec;
    uint64_t hash = 0;

    if (!out)
        out = fopen("/dev/null", "w");
    BUG_ON(!out);
    r = xentrace_open_memory(data, size);
    xentrace_hold(r, 100);
    while (xentrace_next(r, &rec))
        hash = mix_record(hash, &rec);
    /* Mending a time stamp in a piece that was laid down is left out: then they may differ. */
    BUG_ON(hash != summarise(data, size, out) && !xentrace_damage(r)->wild_tsc);
    xentrace_close(r);
    return 0;
}
