/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reference schedules: the small JSON format of validation/xen/schedules (a scenario of hogs,
 * sleepers, programs and explicit events on one Xen host) and the world built from it. The format
 * and its conventions are described in docs/reference-schedules.md.
 *
 * Everything is exact: costs are zero, free choices take the lowest number.
 */
#ifndef HVSIM_VALIDATE_SCHEDULE_CASE_H
#define HVSIM_VALIDATE_SCHEDULE_CASE_H

#include "models/guest/guest.h"
#include "models/schedulers/scheduler.h"
#include "sim/error.h"
#include "sim/json.h"
#include "workloads/synthetic.h"

/* Dates of events for one vCPU, sent one after the other. */
struct event_source {
    struct timer timer;
    struct evtchn channel;
    struct thread *thread; /* whose program gets them; NULL: nobody */
    struct host *host;
    sim_time *date; /* of each; NULL: every `period` from `first` on */
    sim_time first, period;
    uint64_t count, next;
    sim_time since; /* when the pending event was first sent */
    uint64_t key;
    int64_t irq_pcpu; /* -1: on the vCPU's own pCPU */
    bool network;
};

struct schedule_world {
    struct queue queue;
    struct host *host;
    struct guest **guest;
    uint32_t guest_count;
    struct event_source *source;
    size_t source_count;
    struct vcpu_start {
        struct timer timer;
        struct vcpu *vcpu;
    } * start;
    struct json *document; /* which the actions read */
    struct schedule_action *action;
    struct script_op **script;
    size_t script_count;
    sim_time duration;
    struct errors late; /* of actions while it runs: none, for they were checked */
    bool done_rows;     /* the files of the Xen 4.7 family show completed services */
};

/* How files of one scheduler give its parameters (schedule_dialect.c). */
struct schedule_dialect {
    const char *scheduler;
    bool weights_last; /* weight and cap are set after the domain's vCPUs exist, not before */
    void (*params)(void *params, struct json_value root, struct errors *e);
    /* v NULL: only check what is there */
    void (*vcpu)(struct vcpu *v, struct json_value domain, struct json_value vcpu,
                 struct errors *e);
    void (*finish)(struct scheduler *s, struct json_value root,
                   struct errors *e); /* after all domains */
};
const struct schedule_dialect *schedule_dialect(const char *scheduler);

/* "hard_affinity" and "soft_affinity" of a vCPU, or else of its domain. */
void schedule_set_affinity(struct vcpu *v, struct json_value domain, struct json_value vcpu);

/* "weight" and "cap" of a domain. */
uint32_t schedule_weight(struct json_value object, uint32_t otherwise, struct errors *e);
uint32_t schedule_cap(struct json_value object, uint32_t otherwise, struct errors *e);

/* The pool that the object's "pool" names: 0, the host's first, if it has none. NULL with an error:
 * there is no such pool. */
struct cpupool *schedule_pool(const struct host *h, struct json_value object, struct errors *e);

/* Read NAME.json and build its world, ready to run from the domains' creation. `watch` (may be
 * NULL) is called with the empty host, to attach observers that see the building too. NULL with
 * errors. */
struct schedule_world *schedule_world_load(const char *path,
                                           void (*watch)(void *ctx, struct host *h), void *ctx,
                                           struct errors *e);
void schedule_world_free(struct schedule_world *w);

/* Run to the end. instants: how many different dates had something to do; ties: at how many of them
 * several causes coincided (simultaneous ticks count as one). */
struct schedule_counts {
    uint64_t instants, ties;
};
struct schedule_counts schedule_world_run(struct schedule_world *w);

#endif
