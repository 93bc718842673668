/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A made-up xentrace of any length, for timing and comparing readers:
 *
 *     xentrace_made PCPUS VCPUS RECORDS [SEED [GAPS]] >FILE
 *
 * vCPUs (two per domain) wake, run, are preempted, block and wander among the pCPUs at random; the
 * records are those of Xen's core and of Credit, in windows every 100 ms at 2.4 GHz. GAPS: about so
 * many of a million records begin a gap of lost ones. The same arguments give the same bytes.
 */
#include "experiments/traces/xentrace_events.h"
#include "sim/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWEEP_CYCLES UINT64_C(240000000)

struct ring {
    unsigned char *data;
    size_t size, room;
    uint32_t current; /* vCPU index; IDLE when idle */
    uint64_t lost;    /* records to lose still */
    uint32_t lost_count;
    uint64_t lost_from;
    uint64_t switched_in;
};

struct made {
    unsigned pcpus, vcpus;
    uint64_t tsc, next_sweep, records, gaps;
    uint64_t random;
    struct ring *ring;
    enum xt_runstate *state; /* of a vCPU */
    uint32_t *ready;         /* vCPUs that are runnable */
    uint32_t ready_count;
};

#define IDLE UINT32_MAX

/* splitmix64 */
static uint64_t draw(struct made *m, uint64_t below)
{
    uint64_t z = m->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

static uint32_t domain_of(uint32_t v)
{
    return v == IDLE ? XT_IDLE_DOMAIN : v / 2;
}

static uint32_t number_of(uint32_t v, unsigned pcpu)
{
    return v == IDLE ? pcpu : v % 2;
}

static void append(struct ring *r, uint32_t event, uint64_t tsc, const uint32_t *word,
                   unsigned words)
{
    uint32_t header = xt_header(event, words, 1);

    if (r->size + XT_RECORD_MAX > r->room) {
        r->room = r->room ? 2 * r->room : 65536;
        r->data = xrealloc(r->data, r->room);
    }
    memcpy(r->data + r->size, &header, 4);
    memcpy(r->data + r->size + 4, &tsc, 8);
    memcpy(r->data + r->size + 12, word, 4 * words);
    r->size += 12 + 4 * words;
}

static void record(struct made *m, unsigned pcpu, uint32_t event, unsigned words, uint32_t a,
                   uint32_t b, uint32_t c, uint32_t d)
{
    struct ring *r = &m->ring[pcpu];
    uint32_t word[4] = {a, b, c, d};

    m->records++;
    m->tsc += 20 + draw(m, 200);
    if (!r->lost && m->gaps && draw(m, 1000000) < m->gaps) {
        r->lost = 1 + draw(m, 100);
        r->lost_count = 0;
        r->lost_from = m->tsc;
    }
    if (r->lost) {
        r->lost--;
        r->lost_count++;
        return;
    }
    if (r->lost_count) {
        uint32_t current = r->current;
        uint32_t gap[4] = {r->lost_count, domain_of(current) | number_of(current, pcpu) << 16,
                           (uint32_t)r->lost_from, (uint32_t)(r->lost_from >> 32)};

        append(r, XT_LOST_RECORDS, m->tsc, gap, 4);
        m->tsc += 10;
        r->lost_count = 0;
    }
    append(r, event, m->tsc, word, words);
}

static void runstate(struct made *m, unsigned pcpu, uint32_t v, enum xt_runstate from,
                     enum xt_runstate to)
{
    record(m, pcpu, xt_runstate_event(from, to), 1, xt_vcpu_word(domain_of(v), number_of(v, pcpu)),
           0, 0, 0);
}

static void switch_to(struct made *m, unsigned pcpu, uint32_t next, enum xt_runstate prev_to)
{
    struct ring *r = &m->ring[pcpu];
    uint32_t prev = r->current;
    uint32_t ran = (uint32_t)((m->tsc - r->switched_in) * 5 / 12);

    record(m, pcpu, XT_CSCHED_SCHEDULE, 1, pcpu, 0, 0, 0);
    record(m, pcpu, XT_SWITCH_INFPREV, 3, domain_of(prev), number_of(prev, pcpu), ran, 0);
    r->switched_in = m->tsc;
    record(m, pcpu, XT_SWITCH_INFNEXT, 4, domain_of(next), number_of(next, pcpu), 0, 30000000);
    record(m, pcpu, XT_SWITCH, 4, domain_of(prev), number_of(prev, pcpu), domain_of(next),
           number_of(next, pcpu));
    if (prev != IDLE) {
        m->state[prev] = prev_to;
        if (prev_to == XT_RUNNABLE)
            m->ready[m->ready_count++] = prev;
    }
    runstate(m, pcpu, prev, XT_RUNNING, prev == IDLE ? XT_RUNNABLE : prev_to);
    if (next != IDLE)
        m->state[next] = XT_RUNNING;
    r->current = next; /* before the record that says so, as the hypervisor has it */
    runstate(m, pcpu, next, XT_RUNNABLE, XT_RUNNING);
}

static uint32_t take_ready(struct made *m)
{
    uint32_t i, v;

    if (!m->ready_count)
        return IDLE;
    i = (uint32_t)draw(m, m->ready_count);
    v = m->ready[i];
    m->ready[i] = m->ready[--m->ready_count];
    return v;
}

static void wake(struct made *m, unsigned pcpu)
{
    uint32_t v = (uint32_t)draw(m, m->vcpus);

    if (m->state[v] != XT_BLOCKED)
        return;
    record(m, pcpu, XT_WAKE, 2, domain_of(v), number_of(v, 0), 0, 0);
    m->state[v] = XT_RUNNABLE;
    m->ready[m->ready_count++] = v;
    runstate(m, pcpu, v, XT_BLOCKED, XT_RUNNABLE);
    record(m, pcpu, XT_CSCHED_BOOST_START, 2, domain_of(v), number_of(v, 0), 0, 0);
    record(m, pcpu, XT_CSCHED_TICKLE, 1, (uint32_t)draw(m, m->pcpus), 0, 0, 0);
}

static void step(struct made *m)
{
    unsigned pcpu = (unsigned)draw(m, m->pcpus);
    struct ring *r = &m->ring[pcpu];
    uint32_t next;

    m->tsc += draw(m, 2 * 120000 / m->pcpus);
    switch (draw(m, 4)) {
    case 0:
    case 1:
        wake(m, pcpu);
        break;
    case 2:
        if (r->current != IDLE) {
            record(m, pcpu, XT_BLOCK, 2, domain_of(r->current), number_of(r->current, 0), 0, 0);
            switch_to(m, pcpu, take_ready(m), XT_BLOCKED);
            break;
        }
        /* fall through */
    default:
        if ((next = take_ready(m)) != IDLE) {
            switch_to(m, pcpu, next, XT_RUNNABLE);
        } else {
            record(m, pcpu, XT_SWITCH_INFCONT, 4, domain_of(r->current),
                   number_of(r->current, pcpu), 1000, 30000000);
            record(m, pcpu, XT_CONTINUE_RUNNING, 1,
                   xt_vcpu_word(domain_of(r->current), number_of(r->current, pcpu)), 0, 0, 0);
        }
        break;
    }
}

static void sweep(struct made *m)
{
    for (unsigned i = 0; i < m->pcpus; i++) {
        struct ring *r = &m->ring[i];
        uint32_t head[3] = {XT_CPU_CHANGE_HEADER, i, (uint32_t)r->size};

        if (!r->size)
            continue;
        fwrite(head, sizeof head, 1, stdout);
        fwrite(r->data, 1, r->size, stdout);
        r->size = 0;
    }
    m->next_sweep += SWEEP_CYCLES;
}

int main(int argc, char **argv)
{
    struct made m = {.tsc = 1000000000, .next_sweep = 1000000000 + SWEEP_CYCLES};
    uint64_t records;

    if (argc < 4) {
        fprintf(stderr, "usage: %s PCPUS VCPUS RECORDS [SEED [GAPS]]\n", argv[0]);
        return EXIT_INPUT;
    }
    m.pcpus = (unsigned)atoi(argv[1]);
    m.vcpus = (unsigned)atoi(argv[2]);
    records = strtoull(argv[3], NULL, 10);
    m.random = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
    m.gaps = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
    BUG_ON(m.pcpus < 1 || m.pcpus > 4096 || m.vcpus < 1 || m.vcpus > 60000);
    m.ring = xcalloc(m.pcpus, sizeof *m.ring);
    m.state = xcalloc(m.vcpus, sizeof *m.state);
    m.ready = xcalloc(m.vcpus, sizeof *m.ready);
    for (unsigned i = 0; i < m.pcpus; i++)
        m.ring[i].current = IDLE;
    for (unsigned i = 0; i < m.vcpus; i++)
        m.state[i] = XT_BLOCKED;
    while (m.records < records) {
        step(&m);
        if (m.tsc > m.next_sweep)
            sweep(&m);
    }
    sweep(&m);
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_OK : EXIT_INTERNAL;
}
