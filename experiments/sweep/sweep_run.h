/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running a sweep, or one share of it: replications in forked workers, each on disk before it
 * counts. Killed anywhere and called again, it goes on with what is missing.
 */
#ifndef HVSIM_SWEEP_SWEEP_RUN_H
#define HVSIM_SWEEP_SWEEP_RUN_H

#include "experiments/sweep/sweep.h"

struct sweep_options {
    const char *dir;
    unsigned jobs;          /* 0: one for each CPU */
    uint32_t shard, shards; /* share `shard` (from 1) of `shards`; 0: all */
    bool keep_failed;       /* do not try again what failed before */
    bool quiet;
};

struct sweep_outcome {
    size_t points, done, failed; /* of this share */
    size_t before;               /* done when it began */
    size_t known, gone;          /* of an index that was there before: see index_write */
    size_t damaged;              /* stored lines that could not be read */
    size_t replications;         /* computed this time */
    double elapsed;              /* s of wall time */
    struct sweep_time simulated; /* in simulation, by all workers */
    double cpu;                  /* s of CPU time: of all processes, overheads included */
    unsigned jobs;               /* 0: on a cluster */
    bool interrupted;
    char *failures; /* a line for each failed point: number, reason, how to run it alone; owned */
};

/* 0, or -1 with errors. */
int sweep_run(const struct sweep *s, const struct sweep_options *o, struct sweep_outcome *out,
              struct errors *e);

/* A line for each point of a share that failed, and one that tells how to run it alone; caller
 * frees. */
struct store;
char *sweep_failures(const struct sweep *s, struct store *store, uint32_t shard, uint32_t shards);

/* "3/8". 0, or -1 with an error. */
int sweep_shard_read(const char *text, uint32_t *shard, uint32_t *shards, struct errors *e);

/* Bytes that a worker may use: the limit of the file, or a share of the machine. */
uint64_t sweep_memory(const struct sweep *s, unsigned jobs);

#endif
