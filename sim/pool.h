/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The worker pool: independent tasks 0..n-1, each in a child forked for it.
 *
 * Forked, because one process holds one SimGrid simulation and because a task that crashes, hangs
 * or eats all memory then loses itself only. What a task computes cannot depend on the number of
 * jobs: it sees the parent's memory as it was at the call and its own index.
 *
 * The parent takes results twice: as they come (progress, saving) and in the order of the index
 * (statistics, decisions). Results that are early wait for their turn in memory.
 */
#ifndef HVSIM_SIM_POOL_H
#define HVSIM_SIM_POOL_H

#include "sim/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum pool_outcome {
    POOL_DONE,         /* work returned 0 */
    POOL_FAILED,       /* work returned -1; its errors are in `reason` */
    POOL_EXITED,       /* the child called exit() */
    POOL_CRASHED,      /* killed by a signal */
    POOL_TIMED_OUT,    /* killed by us after the time limit */
    POOL_OUT_OF_MEMORY /* the memory limit */
};

struct pool_result {
    size_t index;
    enum pool_outcome outcome;
    enum exit_code code; /* POOL_FAILED: the worst of its errors */
    int signal;          /* POOL_CRASHED: the one that killed it */
    const void *data;    /* what the task wrote, owned by the pool; empty unless POOL_DONE */
    size_t size;
    const char *reason; /* why it was lost, one line an error; NULL if POOL_DONE */
    double seconds;     /* wall time it took */
};

/* In the child: compute task `index`, write its result to `out`. Return 0, or -1 with errors. */
typedef int pool_work_fn(void *ctx, size_t index, FILE *out, struct errors *e);

/* In the parent. Return 0 to go on, 1 to stop (enough is known): no further result is delivered. */
typedef int pool_result_fn(void *ctx, const struct pool_result *r);

#define POOL_LATER (SIZE_MAX - 1)
#define POOL_END SIZE_MAX

struct pool {
    size_t tasks;
    unsigned jobs;   /* children at a time; 0: one for each usable CPU */
    double seconds;  /* wall time limit of a task; 0: none */
    uint64_t memory; /* address space limit of a task in bytes; 0: none */
    void *ctx;
    pool_work_fn *work;
    /* Which task to start next, for callers that learn from results what is left to do: any number,
     * POOL_LATER (ask again when one has ended) or POOL_END. Then `tasks` and `in_order` are not
     * used. NULL: 0 .. tasks - 1. */
    size_t (*choose)(void *ctx);
    pool_result_fn *completed; /* as they come; may be NULL */
    pool_result_fn *in_order;  /* by index without a gap, lost tasks too; may be NULL */
    void (*tick)(void *ctx);   /* called at least every 50 ms meanwhile; may be NULL */
};

enum pool_end {
    POOL_ALL,         /* every task was delivered */
    POOL_STOPPED,     /* a callback said so */
    POOL_INTERRUPTED, /* SIGINT, SIGTERM or SIGHUP: results so far were delivered */
    POOL_BROKEN       /* the system refuses to fork: an error was added */
};

/* Run. On return no child is left and signal handling is as before. */
enum pool_end pool_run(const struct pool *p, struct errors *e);

/* CPUs this process may use (at least 1). */
unsigned pool_cpus(void);

const char *pool_outcome_name(enum pool_outcome outcome); /* "done", "crashed", ... */

#endif
