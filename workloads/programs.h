/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The registry of what can run in a guest: one row per program in programs.c.
 *
 * A world builder starts them all in one way, program_start(), and need not know which of them
 * open sockets, draw random numbers or consist of several threads.
 */
#ifndef HVSIM_WORKLOADS_PROGRAMS_H
#define HVSIM_WORKLOADS_PROGRAMS_H

#include "models/guest/guest.h"

struct controller_site;
struct stack;
struct vbd;

/* NULL past the last, or if unknown. */
const struct program *program_nth(size_t i);
const struct program *program_by_name(const char *name);

/* Does it serve requests: must its domain have a network? */
bool program_serves(const struct program *p);

/* Does it use a disk: must its domain have one? */
bool program_uses_disk(const struct program *p);

/* Where a program is started. */
struct program_site {
    struct guest *guest;
    uint32_t vcpu; /* its thread's; further threads go to the next vCPUs in turn */
    enum thread_class class;
    uint8_t priority;
    const char *entity; /* key of its random streams: "xen1/vm3/rpc"; kept by reference */
    uint64_t seed, replication;
    struct stack *stack;                   /* of the guest; NULL: no network */
    uint32_t connections;                  /* that clients will make to it, all together */
    struct vbd *vbd;                       /* of the guest; NULL: no disk */
    const struct controller_site *control; /* the loop it is a controller of; NULL: none */
};

/* Start it, before its vCPUs start. params: what program->params describes. Returns its first
 * thread. Freed with the guest. */
struct thread *program_start(const struct program *p, const void *params,
                             const struct program_site *site);

/* What a program counts besides its threads' CPU time; zero for those that count nothing. */
struct program_counts {
    uint64_t served;   /* requests */
    uint64_t jobs;     /* pieces of work completed (bursts, jobs) */
    sim_time finished; /* date at which the last job ended, 0: none has */
    sim_time job_time; /* wall time of all of them; of a disk's requests: sum of latencies */
    uint64_t bytes;    /* read and written */
};
struct program_counts program_counts(const struct thread *first);

#endif
