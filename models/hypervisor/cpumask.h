/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sets of pCPUs, by value. Four words are enough for the largest hosts in the scenarios and small
 * enough that copying a set costs less than following a pointer to one.
 *
 * "cycle" is the search that Xen uses everywhere to pick among equals: the smallest member above
 * n, else the smallest member of all.
 */
#ifndef HVSIM_HYPERVISOR_CPUMASK_H
#define HVSIM_HYPERVISOR_CPUMASK_H

#include <stdbool.h>
#include <stdint.h>

enum { CPUMASK_WORDS = 4, MAX_PCPUS = 64 * CPUMASK_WORDS };

#define CPU_NONE UINT32_MAX

typedef struct {
    uint64_t word[CPUMASK_WORDS];
} cpumask;

static inline void cpumask_set(cpumask *m, uint32_t cpu)
{
    m->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static inline void cpumask_clear(cpumask *m, uint32_t cpu)
{
    m->word[cpu / 64] &= ~(UINT64_C(1) << cpu % 64);
}

static inline bool cpumask_test(const cpumask *m, uint32_t cpu)
{
    return m->word[cpu / 64] >> cpu % 64 & 1;
}

static inline cpumask cpumask_of(uint32_t cpu)
{
    cpumask m = {{0}};

    cpumask_set(&m, cpu);
    return m;
}

/* All of 0 .. n-1. */
static inline cpumask cpumask_first_n(uint32_t n)
{
    cpumask m = {{0}};

    for (uint32_t i = 0; i < n; i++)
        cpumask_set(&m, i);
    return m;
}

static inline cpumask cpumask_all(void)
{
    return (cpumask){{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
}

static inline cpumask cpumask_and(const cpumask *a, const cpumask *b)
{
    cpumask m;

    for (int i = 0; i < CPUMASK_WORDS; i++)
        m.word[i] = a->word[i] & b->word[i];
    return m;
}

static inline cpumask cpumask_or(const cpumask *a, const cpumask *b)
{
    cpumask m;

    for (int i = 0; i < CPUMASK_WORDS; i++)
        m.word[i] = a->word[i] | b->word[i];
    return m;
}

/* Members of a that are not in b. */
static inline cpumask cpumask_andnot(const cpumask *a, const cpumask *b)
{
    cpumask m;

    for (int i = 0; i < CPUMASK_WORDS; i++)
        m.word[i] = a->word[i] & ~b->word[i];
    return m;
}

static inline bool cpumask_empty(const cpumask *m)
{
    return !(m->word[0] | m->word[1] | m->word[2] | m->word[3]);
}

static inline bool cpumask_intersects(const cpumask *a, const cpumask *b)
{
    cpumask m = cpumask_and(a, b);

    return !cpumask_empty(&m);
}

/* Is every member of a in b? */
static inline bool cpumask_subset(const cpumask *a, const cpumask *b)
{
    cpumask m = cpumask_andnot(a, b);

    return cpumask_empty(&m);
}

static inline bool cpumask_equal(const cpumask *a, const cpumask *b)
{
    return cpumask_subset(a, b) && cpumask_subset(b, a);
}

/* Does it have exactly one member? */
static inline bool cpumask_single(const cpumask *m)
{
    uint64_t seen = 0;

    for (int i = 0; i < CPUMASK_WORDS; i++) {
        uint64_t w = m->word[i];

        if (w && (seen || w & (w - 1)))
            return false;
        seen |= w;
    }
    return seen != 0;
}

static inline uint32_t cpumask_weight(const cpumask *m)
{
    uint32_t n = 0;

    for (int i = 0; i < CPUMASK_WORDS; i++)
        n += (uint32_t)__builtin_popcountll(m->word[i]);
    return n;
}

/* The smallest member >= from, CPU_NONE if there is none. */
static inline uint32_t cpumask_from(const cpumask *m, uint32_t from)
{
    if (from < 64) { /* most hosts have no more */
        uint64_t w = m->word[0] & UINT64_MAX << from;

        if (w)
            return (uint32_t)__builtin_ctzll(w);
        if (!(m->word[1] | m->word[2] | m->word[3]))
            return CPU_NONE;
        from = 64;
    }
    if (from >= MAX_PCPUS)
        return CPU_NONE;
    for (uint32_t i = from / 64; i < CPUMASK_WORDS; i++) {
        uint64_t w = m->word[i];

        if (i == from / 64)
            w &= UINT64_MAX << from % 64;
        if (w)
            return 64 * i + (uint32_t)__builtin_ctzll(w);
    }
    return CPU_NONE;
}

static inline uint32_t cpumask_first(const cpumask *m)
{
    return cpumask_from(m, 0);
}

/* The smallest member > n, else the smallest; CPU_NONE for the empty set. n may be CPU_NONE. */
static inline uint32_t cpumask_cycle(uint32_t n, const cpumask *m)
{
    uint32_t cpu = n == CPU_NONE ? CPU_NONE : cpumask_from(m, n + 1);

    return cpu == CPU_NONE ? cpumask_first(m) : cpu;
}

#define for_each_cpu(cpu, mask)                                                                    \
    for (uint32_t cpu = cpumask_first(mask); cpu != CPU_NONE; cpu = cpumask_from(mask, cpu + 1))

#endif
