/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The action timeline: what is done to a world at run time, by date. Operators' actions (set a
 * weight, pause a domain), host failures and reboots, changes of links and speeds. All of it is
 * known before the run starts: random failures are drawn ahead, from streams of their own.
 *
 * Kinds of actions are rows of tables. This file brings those of the platform; models register
 * theirs. Platform actions are carried out between two windows, with all machines at their date,
 * before anything else of that date (RANK_PLATFORM). Any other action concerns one machine and is
 * an event of that machine (RANK_EXTERNAL, equal dates in the order of the timeline); on a host
 * that is off at its date it is not done.
 */
#ifndef HVSIM_SIM_FAULTS_H
#define HVSIM_SIM_FAULTS_H

#include "sim/error.h"
#include "sim/machine.h"
#include "sim/params.h"

struct action;
struct timeline;

struct action_kind {
    const char *name;                     /* "host-off", "set-weight" */
    const char *target;                   /* what kind of thing is named: "host", "domain" */
    const char *meaning;                  /* one sentence */
    const struct param_table *parameters; /* of a->arguments; NULL: it takes none */
    bool platform;

    /* Find the target and check the arguments against it, once, before the run. Set a->machine
     * unless `platform`, and a->object to whatever `act` needs. On failure add errors and return
     * -1. NULL: a->target is the host of a machine. */
    int (*bind)(struct action *a, struct errors *e);

    /* Do it, at a->when, with a->machine->queue.now at that date unless `platform`. */
    void (*act)(struct action *a);
};

struct action {
    sim_time when;
    const struct action_kind *kind;
    char *target;    /* owned */
    void *arguments; /* the parameters' struct, owned; what it points to is the caller's */

    struct timeline *timeline;
    struct machine *machine;
    void *object;
    uint32_t number; /* order of adding; once bound, of being done */
    bool idle;       /* changes nothing: an outage within another */
    struct timer timer;
};

struct timeline {
    const struct action_kind *const **kinds; /* registered tables */
    size_t kinds_count;
    struct action **action; /* by (when, number) once bound */
    uint32_t count, capacity;
    uint32_t done; /* index of the next platform action to do, or beyond */
    struct fleet *fleet;
    void *world; /* for the kinds of the models */
};

/* The platform's kinds; NULL ends the table.
 *   host-off host, host-on host, host-outage host {duration}: failure and cold boot
 *   host-speed host {speed}: to a part of the nominal speed
 *   link-off link, link-on link, link-latency link {latency}, link-bandwidth link {bandwidth} */
extern const struct action_kind *const platform_actions[];

/* A timeline that knows the platform's kinds. */
void timeline_init(struct timeline *t);
void timeline_free(struct timeline *t);

/* Add a table of kinds (NULL ends it) that outlives the timeline. A known name is a bug. */
void timeline_register(struct timeline *t, const struct action_kind *const *kinds);
const struct action_kind *timeline_kind(const struct timeline *t, const char *name);

/* Add an action. `arguments` is the struct of kind->parameters, copied flatly; NULL for the
 * defaults. Returns -1 and adds an error for an unknown kind (with the nearest) or a date below 0.
 * Actions of one date are done in the order of adding. */
int timeline_add(struct timeline *t, sim_time when, const char *kind, const char *target,
                 const void *arguments, struct errors *e);

/* Random outages of one host from 0 to `end`: an alternating renewal process that begins up. Up
 * and down times are Weibull with the given mean and shape (1 = exponential, also for 0), rounded
 * up to ns; the stream is (seed, replication, host, "outages"). Means must be positive. */
struct renewal {
    sim_time mttf, mttr;
    double up_shape, down_shape;
};
int timeline_draw_outages(struct timeline *t, const char *host, const struct renewal *r,
                          uint64_t seed, uint64_t replication, sim_time end, struct errors *e);

/* Find all targets, expand outages, sort, and arm the actions of machines. Once, before the run,
 * when all machines are there (and platform_bind() was called, if it is to be). All errors are
 * reported. */
int timeline_bind(struct timeline *t, struct fleet *f, void *world, struct errors *e);

/* Date of the next platform action, SIM_NEVER if there is none. */
sim_time timeline_next(struct timeline *t);

/* Do all platform actions of that date. All machines must have been run up to it. `carry` (may be
 * NULL) is called before each, for SimGrid to follow. */
void timeline_act(struct timeline *t, void (*carry)(const struct action *a));

/* Does any action switch this host off? */
bool timeline_fails(const struct timeline *t, const char *host);

/* Run fleet and timeline to `end` without SimGrid (no bulk transfers). */
enum fleet_end timeline_run(struct timeline *t, struct fleet *f, sim_time end);

/* For sim/simgrid.c: what SimGrid has to be told of an action. */
enum platform_change {
    CHANGE_NONE,
    CHANGE_HOST_OFF,
    CHANGE_HOST_ON,
    CHANGE_LINK_LATENCY,
    CHANGE_LINK_BANDWIDTH
};
enum platform_change action_change(const struct action *a);

/* Arguments of the platform's kinds. */
struct outage_arguments {
    sim_time duration;
};
struct speed_arguments {
    int64_t speed; /* 1e-9 of the nominal speed */
};
struct latency_arguments {
    sim_time latency;
};
struct bandwidth_arguments {
    int64_t bandwidth;
};

#endif
