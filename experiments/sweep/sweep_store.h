/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sweep's directory holds of results: files of lines, one per finished replication, appended
 * by one process each and found again by the key of the point.
 *
 *     H <tab> 1 <tab> version of hvsim
 *     R <tab> key <tab> replication <tab> CPU microseconds <tab> values and distributions <tab>
 * check F <tab> key <tab> replication <tab> microseconds <tab> reason <tab> check D <tab> key <tab>
 * replications <tab> 0 <tab> digest of the stopping rule <tab> check
 *
 * `check` is a digest of the line before it: a line that a dying disk or machine has damaged is
 * passed over, and its replication computed again. A replication with a result has no failure, even
 * if it failed before. The order of lines and files cannot be seen in what is made of them.
 */
#ifndef HVSIM_SWEEP_SWEEP_STORE_H
#define HVSIM_SWEEP_SWEEP_STORE_H

#include "experiments/sweep/kept.h"
#include "sim/line_file.h"
#include "sim/sequential.h"

/* A stored replication: its values as text, in a mapped file or, if owned, in memory; or why it
 * failed. */
struct stored {
    const char *text; /* NULL: none, or forgotten */
    uint32_t length;
    bool owned, done, failed;
};

struct entry {
    uint64_t key;
    size_t point; /* the first with this key */
    struct stored *rep;
    uint32_t reps;                  /* room */
    uint32_t prefix;                /* replications 0 .. prefix - 1 are all there */
    struct stopping_state stopping; /* of the rule; n is 0 before the first decision */
    uint32_t final;                 /* it has said yes after so many; 0: not yet */
    uint32_t said;                  /* stored: this rule ends after so many; 0: nothing stored */
    uint64_t said_by;
};

struct mapping {
    char *data;
    size_t size;
};

struct store {
    char *dir;
    struct entry *entry;
    size_t entries;
    size_t *slot; /* hash table over keys: entry + 1, or 0 */
    size_t slots; /* a power of two */
    struct mapping *mapping;
    size_t mappings;
    struct line_file *own; /* NULL: only read */
    int lock;              /* -1: none */
    char *version;         /* of hvsim, that results are of; NULL: none were read yet */
    size_t lines, damaged,
        strangers;  /* strangers: lines of points that are not wanted (any more) */
    double seconds; /* sum over lines */
};

/* ---- deciding ----------------------------------------------------------------------------------
 */

enum entry_state {
    ENTRY_MORE,  /* replications below `n` are wanted */
    ENTRY_DONE,  /* the first n replications are its result */
    ENTRY_FAILED /* replication n failed */
};

struct entry_verdict {
    enum entry_state state;
    uint32_t n;
};

struct entry_rule {
    const struct figures *figures;
    uint32_t wanted; /* replications, or the most */
    int stop;        /* figure of the stopping rule; -1: none */
    double relative;
    uint32_t least;
    double level;
};

/* ---- reading and writing -----------------------------------------------------------------------
 */

/* Points that are wanted; the same key may come again. */
void store_init(struct store *s, const char *dir, const uint64_t *key, size_t points);
void store_free(struct store *s);

struct entry *store_find(const struct store *s, uint64_t key);

/* Who may write: all of the directory, or one share of it among others. */
enum store_claim { STORE_ALONE, STORE_SHARE };

/* Make the directory, lock it, open `name` in it for appending. 0, or -1 with errors: another
 * process is at work there. */
int store_claim(struct store *s, enum store_claim claim, const char *name, struct errors *e);

/* Read all files of lines in the directory. Failures are forgotten unless `failures`. */
int store_read(struct store *s, bool failures, struct errors *e);

/* Give back the memory of mapped files; what is looked at again is read again. */
void store_relax(struct store *s);

/* Append. `keep`: the result will be asked for again. */
int store_add(struct store *s, struct entry *n, uint32_t replication, double seconds,
              const char *text, bool keep, struct errors *e);
int store_add_failure(struct store *s, struct entry *n, uint32_t replication, double seconds,
                      const char *reason, struct errors *e);

/* Note what the stopping rule said, to spare others the computation. */
int store_add_decision(struct store *s, struct entry *n, const struct entry_rule *r,
                       struct errors *e);

/* The results of an entry's first n replications: 0, or -1 with an error. Free each by kept_free.
 */
int store_kept(const struct entry *n, const struct figures *f, struct kept *item, uint32_t count,
               struct errors *e);

/* The first replication that failed and has no result, and why; -1: none. */
int64_t entry_failure(const struct entry *n);
const char *entry_reason(const struct entry *n);

/* Forget results that will not be asked for again. */
void entry_drop(struct entry *n);

/* What becomes of an entry, from its results in the order of their index. Remembers in the entry
 * what it need not compute again. */
struct entry_verdict entry_judge(struct entry *n, const struct entry_rule *r);

#endif
