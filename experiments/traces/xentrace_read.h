/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a xentrace file: the records of all pCPUs in the order of their TSC, in one pass over a
 * file, a pipe or gzip data, in bounded memory whatever the length.
 *
 * How the streams are merged. xentrace reads the pCPUs' buffers in turn, in ascending order; one
 * such turn is a sweep, and a pCPU number that does not ascend starts the next one. What a pCPU
 * logs after it was read in sweep s carries a later TSC than everything read in sweep s - 1. So
 * once sweep s is complete, nothing before the latest TSC of sweep s - 2 can follow any more (one
 * sweep of margin), and up to there the smallest TSC goes first; among equal ones the pCPU that was
 * last served, as in xenalyze. About three sweeps are held in memory. What exceeds READ_MEMORY is
 * read again from the file, or laid down in a temporary file for pipes and gzip.
 *
 * Damage never ends the reading before the end of the data. Records are self-delimiting, so a
 * window size is only a check; where no record can begin, bytes are skipped up to the next window
 * or to three plausible records in a row. All of it is counted in struct xentrace_damage.
 */
#ifndef HVSIM_TRACES_XENTRACE_READ_H
#define HVSIM_TRACES_XENTRACE_READ_H

#include "experiments/traces/xentrace_events.h"
#include "sim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Xen's own bound is NR_CPUS, at most 16383. A window of a higher pCPU is taken for damage. */
#define XENTRACE_PCPUS 16384

enum xentrace_kind {
    XENTRACE_RECORD,
    XENTRACE_GAP_BEGIN, /* a lost-records record at the TSC of the first record lost */
    XENTRACE_GAP_END,   /* the same record again, at its own TSC */
    XENTRACE_RESTART,   /* no record: from here on the TSC starts anew, nothing is known */
};

struct xentrace_record {
    uint64_t tsc;         /* of a record without one: the last of its pCPU, 0 before the first */
    const uint32_t *word; /* payload; valid until the next call */
    uint32_t event;
    uint16_t pcpu;
    uint8_t words;
    bool has_tsc;
    uint8_t kind; /* enum xentrace_kind */
};

#define XENTRACE_PLACES 12

struct xentrace_damage {
    uint64_t skipped_bytes;  /* in no record */
    uint64_t skipped_pieces; /* stretches of them */
    uint64_t wrong_windows;  /* windows shorter or longer than their header says */
    uint64_t absurd_windows; /* window headers with an impossible size */
    uint64_t malformed;      /* lost-records records of the wrong length or with impossible dates */
    uint64_t wild_tsc;       /* single TSCs far from their neighbours: the neighbour's was taken */
    uint64_t restarts;       /* times the TSC went back for good */
    uint64_t truncated_bytes;  /* of the last record */
    uint64_t spill_errors;     /* pieces that could not be laid down or read back */
    const char *input_trouble; /* why the input ended early, or NULL */
    struct xentrace_place {
        uint64_t offset, bytes; /* in the unpacked trace */
        const char *why;
    } place[XENTRACE_PLACES]; /* the first ones */
    unsigned places;
};

struct xentrace_volume {
    uint64_t bytes, records, windows, sweeps;
    uint64_t memory_peak; /* bytes held in memory waiting to be merged, at most */
    uint64_t laid_down;   /* bytes that had to be read twice */
};

struct xentrace_reader;

/* NULL when the file cannot be opened. "-" is standard input. */
struct xentrace_reader *xentrace_open(const char *path, struct errors *e);
/* From memory, which must outlive the reader. */
struct xentrace_reader *xentrace_open_memory(const void *data, size_t size);
void xentrace_close(struct xentrace_reader *r);

/* Hold at most so many bytes in memory while merging (for tests; the default is 12 MiB). */
void xentrace_hold(struct xentrace_reader *r, size_t bytes);

/* The next record in time. False at the end. */
bool xentrace_next(struct xentrace_reader *r, struct xentrace_record *rec);

/* So far; complete after xentrace_next returned false. */
const struct xentrace_damage *xentrace_damage(const struct xentrace_reader *r);
const struct xentrace_volume *xentrace_volume(const struct xentrace_reader *r);

/* Whether anything of the damage counters is set. */
bool xentrace_damaged(const struct xentrace_damage *d);

/* Cycles of a clock of `hz` to nanoseconds, rounded down; exact. hz below 2^34. */
static inline uint64_t xentrace_ns(uint64_t cycles, uint64_t hz)
{
    return cycles / hz * 1000000000u + cycles % hz * 1000000000u / hz;
}

#endif
