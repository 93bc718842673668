/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The observer table: everything that a host lets others see, as one stream of small records.
 * CSV, xentrace, Perfetto, explain and the timeline are its users; a new kind of record is one row
 * of OBSERVATIONS.
 *
 * Records are made in the order in which Xen's code makes its trace records. An observer is called
 * synchronously: it may look at the vCPU (its state is that of the moment of the record) but must
 * not change the host. With nobody watching, a record costs one test of a mask.
 */
#ifndef HVSIM_HYPERVISOR_OBSERVER_H
#define HVSIM_HYPERVISOR_OBSERVER_H

#include "sim/time.h"

#include <stdint.h>

struct vcpu;
struct host;

/* X(NAME, name as in the reference schedules, meaning of arg[0], arg[1], arg[2], arg[3]) */
#define OBSERVATIONS(X)                                                                            \
    X(PLACED, "placed", 0, 0, 0, 0)                                                                \
    X(START, "start", 0, 0, 0, 0)                                                                  \
    X(WAKE, "wake", 0, 0, 0, 0)                                                                    \
    X(BLOCK, "block", 0, 0, 0, 0)                                                                  \
    X(YIELD, "yield", 0, 0, 0, 0)                                                                  \
    X(SLEEP, "sleep", 0, 0, 0, 0)                                                                  \
    X(EVENT, "event", 0, 0, 0, 0)                                                                  \
    X(NETEVENT, "netevent", 0, 0, 0, 0)                                                            \
    X(DECISION, "decision", 0, 0, 0, 0) /* the core is about to ask the scheduler */               \
    X(DECIDE, "decide", "previous is idle", "tickled", 0, 0)                                       \
    X(SWITCH_OUT, "switch_out", "ran", 0, 0, 0)                                                    \
    X(SWITCH_IN, "switch_in", "waited", "slice", 0, 0)                                             \
    X(CONT, "cont", "ran", "slice", 0, 0)                                                          \
    X(RUNSTATE, "runstate", "old", "new", 0, 0)                                                    \
    X(MIGRATE, "migrate", "from", "to", 0, 0)                                                      \
    X(DONE, "done", "resp", 0, 0, 0)                                                               \
    X(DOM_ADD, "dom_add", "domain", 0, 0, 0)                                                       \
    X(DOM_REM, "dom_rem", "domain", 0, 0, 0)                                                       \
    X(ADJDOM, "adjdom", "domain", 0, 0, 0)                                                         \
    X(TICKLE, "tickle", "cpu", 0, 0, 0)                                                            \
    X(TICK, "tick", 0, 0, 0, 0)                                                                    \
    X(BOOST, "boost", 0, 0, 0, 0)                                                                  \
    X(UNBOOST, "unboost", 0, 0, 0, 0)                                                              \
    X(PARK, "park", 0, 0, 0, 0)                                                                    \
    X(UNPARK, "unpark", 0, 0, 0, 0)                                                                \
    X(RATELIMIT, "ratelimit", "ran", 0, 0, 0)                                                      \
    X(ACCT, "acct", "balance", "weight", "credit", 0)                                              \
    X(ACCT_START, "acct_start", "active", 0, 0, 0)                                                 \
    X(ACCT_STOP, "acct_stop", "active", 0, 0, 0)                                                   \
    X(STEAL_CHECK, "steal_check", "peer", "looked at", 0, 0)                                       \
    X(STEAL, "steal", "from", 0, 0, 0)                                                             \
    X(PICKED_CPU, "picked_cpu", "cpu", 0, 0, 0)                                                    \
    X(RESET, "reset", "from", "to", 0, 0)                                                          \
    X(RQ_MIGRATE, "rq_migrate", "rq", "to", 0, 0)                                                  \
    X(C2_RUNQ_POS, "runq_pos", "position", 0, 0, 0)                                                \
    X(C2_BURN, "credit_burn", "credit", "budget", "delta", 0)                                      \
    X(C2_TICKLE_CHECK, "tickle_check", "credit", "score", 0, 0)                                    \
    X(C2_RUNQ_ASSIGN, "runq_assign", "rq", 0, 0, 0)                                                \
    X(C2_UPDATE_LOAD, "update_load", 0, 0, 0, 0)                                                   \
    X(C2_UNIT_LOAD, "update_unit_load", "load", "shift", 0, 0)                                     \
    X(C2_RUNQ_LOAD, "update_runq_load", "avg", "bavg", "load | rq << 16 | shift << 24", 0)         \
    X(C2_TICKLE_NEW, "tickle_new", "cpu", "credit", 0, 0)                                          \
    X(C2_MAX_WEIGHT, "runq_max_weight", "rq | weight << 16", 0, 0, 0)                              \
    X(C2_LOAD_CHECK, "load_check", "l | o << 16", "delta", 0, 0)                                   \
    X(C2_LOAD_BALANCE, "load_balance", "l bavg", "o bavg", "l | o << 16", 0)                       \
    X(C2_PICKED_CPU, "c2_picked_cpu", "bavg", "rq | cpu << 16", 0, 0)                              \
    X(C2_RUNQ_CANDIDATE, "runq_candidate", "tickled cpu", "credit", 0, 0)                          \
    X(C2_RUNQ_CAND_CHECK, "runq_cand_check", 0, 0, 0, 0)                                           \
    X(C2_SCHEDULE, "c2_schedule", "cpu | rq << 16", "flags", 0, 0)                                 \
    X(REPLENISH, "replenish", "level", "deadline", "budget", 0)                                    \
    X(RT_RUNQ_PICK, "runq_pick", "deadline", "budget", 0, 0)                                       \
    X(RT_BUDGET_BURN, "budget_burn", "budget", "delta", "level", "extratime")                      \
    X(NULL_ASSIGN, "assign", "cpu", 0, 0, 0)                                                       \
    X(NULL_DEASSIGN, "deassign", "cpu", 0, 0, 0)                                                   \
    X(NULL_MIGRATE, "null_migrate", "cpu | new << 16", 0, 0, 0)                                    \
    X(NULL_SCHEDULE, "null_schedule", 0, 0, 0, 0)

enum observation_kind {
#define X(name, ...) OBS_##name,
    OBSERVATIONS(X)
#undef X
        OBS_KINDS
};

_Static_assert(OBS_KINDS <= 64, "the mask of observed kinds is one word");

struct observation {
    sim_time time;
    enum observation_kind kind;
    uint32_t pcpu;     /* the pCPU that executes */
    struct vcpu *vcpu; /* whom it is about; NULL where the record names nobody */
    int64_t arg[4];
};

/* A context switch as a whole. */
struct context_switch {
    sim_time time;
    uint32_t pcpu; /* that executes */
    struct vcpu *prev, *next;
    uint8_t prev_to, next_from;  /* enum runstate: prev was running, next is */
    sim_time ran, waited, slice; /* as in SWITCH_OUT and SWITCH_IN */
};

struct observer {
    uint64_t kinds; /* which kinds it wants: bit OBS_x */
    void (*see)(struct observer *o, struct host *h, const struct observation *obs);
    /* A context switch in one call, after it: instead of the RUNSTATEs of prev and next, which then
     * are not seen one by one. May be NULL. */
    void (*switched)(struct observer *o, struct host *h, const struct context_switch *s);
    /* After each handler that ran while this observer was attached; may be NULL. */
    void (*handled)(struct observer *o, struct host *h);
    struct observer *next;
};

/* Names and argument names of a kind (argument names are NULL where unused). */
struct observation_name {
    const char *name;
    const char *arg[4];
};
extern const struct observation_name observation_names[OBS_KINDS];

/* Attach for the life of the host; the observer stays the caller's. */
void host_observe(struct host *h, struct observer *o);

/* This one no longer wants to see that kind. */
void host_observe_less(struct host *h, struct observer *o, enum observation_kind kind);

#endif
