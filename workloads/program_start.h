/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the programs that need more than one thread and no surroundings share with the registry. */
#ifndef HVSIM_WORKLOADS_PROGRAM_START_H
#define HVSIM_WORKLOADS_PROGRAM_START_H

#include "workloads/programs.h"

/* The vCPU of the i-th thread of a program. */
static inline struct guest_vcpu *site_vcpu(const struct program_site *site, uint32_t i)
{
    struct guest *g = site->guest;

    return &g->vcpu[(site->vcpu + i) % g->domain->vcpu_count];
}

/* t is a further thread of the program that began with `first`. */
static inline void thread_join(struct thread *first, struct thread *t)
{
    t->sibling = first->sibling;
    first->sibling = t;
}

struct thread *rpc_start(const void *params, const struct program_site *site);
struct thread *memcached_start(const void *params, const struct program_site *site);

struct thread *disk_start(const void *params, const struct program_site *site);
struct program_counts disk_counts(const struct thread *first);

struct thread *job_start(const void *params, const struct program_site *site);
struct program_counts job_counts(const struct thread *first);

struct thread *lookbusy_start(const void *params, const struct program_site *site);
struct program_counts lookbusy_counts(const struct thread *first);

struct thread *controller_start(const void *params, const struct program_site *site);
struct program_counts controller_counts(const struct thread *first);

#endif
