/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of Xen's trace buffers: numbers, names and payloads, in one table for whoever reads,
 * prints or writes them. Numbers and names are those of Xen's public interface (public/trace.h and
 * the schedulers' own events), for Xen 4.7 to 4.20.
 *
 * A record in a trace file is little endian:
 *
 *     header   bits 0-27 event, bits 28-30 number E of extra words, bit 31: a TSC follows
 *     TSC      64 bits, low word first (only with bit 31)
 *     payload  E words of 32 bits
 *
 * An event number has one class bit (16-27), a sub-class (12-15) and a number within (0-11).
 * A file is a sequence of windows: an XT_CPU_CHANGE record (pCPU, window size in bytes, no TSC),
 * then so many bytes of records of that pCPU.
 */
#ifndef HVSIM_TRACES_XENTRACE_EVENTS_H
#define HVSIM_TRACES_XENTRACE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

enum xt_event {
    XT_LOST_RECORDS = 0x0001f001,
    XT_WRAP_BUFFER = 0x0001f002,
    XT_CPU_CHANGE = 0x0001f003,

    /* Bits 8-11 hold the old runstate, bits 4-7 the new one: xt_runstate_event(). */
    XT_RUNSTATE_CHANGE = 0x00021001,
    XT_CONTINUE_RUNNING = 0x00021002,

    XT_CSCHED_SCHED_TASKLET = 0x00022001,
    XT_CSCHED_ACCOUNT_START,
    XT_CSCHED_ACCOUNT_STOP,
    XT_CSCHED_STOLEN_UNIT,
    XT_CSCHED_PICKED_CPU,
    XT_CSCHED_TICKLE,
    XT_CSCHED_BOOST_START,
    XT_CSCHED_BOOST_END,
    XT_CSCHED_SCHEDULE,
    XT_CSCHED_RATELIMIT,
    XT_CSCHED_STEAL_CHECK,

    XT_CSCHED2_RUNQ_POS = 0x00022202,
    XT_CSCHED2_CREDIT_BURN = 0x00022203,
    XT_CSCHED2_TICKLE_CHECK = 0x00022205,
    XT_CSCHED2_TICKLE,
    XT_CSCHED2_CREDIT_RESET,
    XT_CSCHED2_SCHED_TASKLET,
    XT_CSCHED2_UPDATE_LOAD,
    XT_CSCHED2_RUNQ_ASSIGN,
    XT_CSCHED2_UPDATE_UNIT_LOAD,
    XT_CSCHED2_UPDATE_RUNQ_LOAD,
    XT_CSCHED2_TICKLE_NEW,
    XT_CSCHED2_RUNQ_MAX_WEIGHT,
    XT_CSCHED2_MIGRATE,
    XT_CSCHED2_LOAD_CHECK,
    XT_CSCHED2_LOAD_BALANCE,
    XT_CSCHED2_PICKED_CPU = 0x00022213,
    XT_CSCHED2_RUNQ_CANDIDATE,
    XT_CSCHED2_SCHEDULE,
    XT_CSCHED2_RATELIMIT,
    XT_CSCHED2_RUNQ_CAND_CHECK,

    XT_RTDS_TICKLE = 0x00022801,
    XT_RTDS_RUNQ_PICK,
    XT_RTDS_BUDGET_BURN,
    XT_RTDS_BUDGET_REPLENISH,
    XT_RTDS_SCHED_TASKLET,
    XT_RTDS_SCHEDULE,

    XT_SNULL_PICKED_CPU = 0x00022a01,
    XT_SNULL_UNIT_ASSIGN,
    XT_SNULL_UNIT_DEASSIGN,
    XT_SNULL_MIGRATE,
    XT_SNULL_SCHEDULE,
    XT_SNULL_TASKLET,

    XT_DOM_ADD = 0x00028001,
    XT_DOM_REM,
    XT_SLEEP,
    XT_WAKE,
    XT_YIELD,
    XT_BLOCK,
    XT_SHUTDOWN,
    XT_ADJDOM = 0x00028009,
    XT_SWITCH = 0x0002800a,
    XT_SWITCH_INFPREV = 0x0002800e,
    XT_SWITCH_INFNEXT,
    XT_SHUTDOWN_CODE,
    XT_SWITCH_INFCONT,

    XT_HVM_VMENTRY = 0x00081001,
    XT_HVM_VMX_EXIT = 0x00081002,
    XT_HVM_SVM_EXIT = 0x00081003,
    XT_HVM_VMX_EXIT64 = 0x00081102,
    XT_HVM_SVM_EXIT64 = 0x00081103,
    XT_HVM_VMMCALL = 0x00082012,

    XT_PV_HYPERCALL_V2 = 0x0020100d,
    XT_PV_HYPERCALL_SUBCALL = 0x0020200e,
};

#define XT_CPU_CHANGE_HEADER (2u << 28 | XT_CPU_CHANGE)
#define XT_EVENT_MASK 0x0fffffffu
#define XT_TSC_FLAG 0x80000000u
#define XT_WORDS_MAX 7
#define XT_RECORD_MAX (4 + 8 + 4 * XT_WORDS_MAX) /* bytes */
#define XT_IDLE_DOMAIN 32767

/* Classes, as the index of their bit in bits 16-27. */
enum xt_class {
    XT_CLASS_GEN,
    XT_CLASS_SCHED,
    XT_CLASS_DOM0OP,
    XT_CLASS_HVM,
    XT_CLASS_MEM,
    XT_CLASS_PV,
    XT_CLASS_SHADOW,
    XT_CLASS_HW,
    XT_CLASS_GUEST = 11,
    XT_CLASS_COUNT
};

/* Runstates as Xen numbers them. */
enum xt_runstate { XT_RUNNING, XT_RUNNABLE, XT_BLOCKED, XT_OFFLINE };

static inline uint32_t xt_runstate_event(enum xt_runstate from, enum xt_runstate to)
{
    return XT_RUNSTATE_CHANGE | (uint32_t)from << 8 | (uint32_t)to << 4;
}

static inline uint32_t xt_header(uint32_t event, unsigned words, int with_tsc)
{
    return event | (uint32_t)words << 28 | (with_tsc ? XT_TSC_FLAG : 0);
}

static inline uint32_t xt_vcpu_word(unsigned domain, unsigned vcpu)
{
    return (uint32_t)domain << 16 | vcpu;
}

/* What a record says of a vCPU, for the counters kept per vCPU. */
enum xt_tally {
    XT_TALLY_NONE,
    XT_TALLY_WAKE,
    XT_TALLY_BLOCK,
    XT_TALLY_YIELD,
    XT_TALLY_SLEEP,
    XT_TALLY_BOOST_START,
    XT_TALLY_BOOST_END,
    XT_TALLY_ACCOUNT_START,
    XT_TALLY_ACCOUNT_STOP,
    XT_TALLY_STOLEN,
    XT_TALLY_PICKED_CPU,
    XT_TALLY_RATELIMIT,
    XT_TALLY_CREDIT_RESET,
    XT_TALLY_RUNQ_MIGRATE,
    XT_TALLY_REPLENISH,
    XT_TALLY_COUNT
};

/*
 * One payload layout of one event. Events whose payload grew have a row per layout.
 *
 * `layout` is a text with fields. These take the words they print, in the payload's order:
 *     %d  2 words: domain, vCPU          %V  domain<<16 | vCPU          %D  domain
 *     %u  unsigned  %i  signed  %x  hex  %n  nanoseconds                %q  64 bits, low word first
 *     %.  1 word, printed already (or padding)
 * These print a part of the next word and leave it: %l low half, %h high half, %0 .. %3 a byte.
 */
struct xt_event_info {
    uint32_t event;
    uint8_t words;
    uint8_t tally; /* enum xt_tally */
    const char *name;
    const char *layout;
};

extern const struct xt_event_info xt_event_table[];
extern const size_t xt_event_table_size;
extern const char *const xt_class_name[XT_CLASS_COUNT]; /* NULL: no such class */
extern const char *const xt_runstate_name[4];
extern const char *const xt_tally_name[XT_TALLY_COUNT];

/* The row of an event with that many payload words; a row of the event with another number when
 * there is none; NULL for an unknown event. All runstate changes share one row. */
const struct xt_event_info *xt_event_find(uint32_t event, unsigned words);

/* The vCPU a record names: its position in the payload (first of two words, or the packed one). */
struct xt_vcpu_at {
    int8_t word; /* -1: none */
    uint8_t packed;
};
struct xt_vcpu_at xt_event_vcpu(const struct xt_event_info *info);

/* A record's payload in words a person can read, "d1v0 ran 30001207 ns". Payloads that fit no known
 * layout are written as hex words. Returns the length; never more than size - 1. */
size_t xt_event_format(uint32_t event, const uint32_t *word, unsigned words, char *out,
                       size_t size);

#endif
