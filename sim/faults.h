/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The action timeline: what is done to a world at run time, by date. Operators' actions (set a
 * weight, pause a domain), host failures and reboots, changes of links. All of it is known before
 * the run starts: random failures are drawn ahead, from streams of their own.
 *
 * Kinds of actions are rows of a table. This file brings those of the platform; models register
 * theirs. A platform action is carried out between two windows, with all machines at its date,
 * before anything else of that date (RANK_PLATFORM). Any other action concerns one machine and is
 * an event of that machine's queue (RANK_EXTERNAL, in the order of the timeline).
 */
#ifndef HVSIM_SIM_FAULTS_H
#define HVSIM_SIM_FAULTS_H

#include "sim/error.h"
#include "sim/machine.h"
#include "sim/random.h"

#define ACTION_ARGUMENTS 6

/* One argument that a kind takes. */
struct action_parameter {
    const char *name;
    const char *unit; /* "ns", "bit/s", "count", "text", ...: what `integer` counts, or text */
    const char *meaning;
    bool required;
    int64_t fallback;
};

struct action_argument {
    bool given;
    int64_t integer;
    double real;
    const char *text; /* owned by the timeline */
};

struct action;

struct action_kind {
    const char *name;   /* "host-failure", "set-weight" */
    const char *target; /* what is named: "host", "link", "domain"; for messages and docs */
    const char *meaning;
    struct action_parameter parameter[ACTION_ARGUMENTS]; /* up to the first without a name */
    bool platform;

    /* Find the target, once, before the run: store what is needed in a->object and, unless
     * platform, the machine in a->machine. Add errors and return -1 if there is no such target
     * or an argument is out of range. `world` is the owner's, as given to timeline_bind(). NULL:
     * a->target is the name of a machine's host. */
    int (*bind)(void *world, struct fleet *f, struct action *a, struct errors *e);

    /* Do it, at a->when. */
    void (*act)(void *world, struct fleet *f, struct action *a);
};

struct action {
    sim_time when;
    const struct action_kind *kind;
    char *target;                                      /* owned */
    struct action_argument argument[ACTION_ARGUMENTS]; /* in the order of kind->parameter */

    struct timer timer; /* unless platform */
    struct timeline *timeline;
    struct machine *machine;
    void *object;
    uint32_t number; /* order of adding: order among equal dates */
};

struct timeline {
    const struct action_kind **kind;
    uint32_t kind_count;
    struct action *action; /* sorted by (when, number) once bound */
    uint32_t count, capacity, done;
    struct fleet *fleet;
    void *world;
    bool bound;
};

/* A timeline that knows the platform's kinds:
 *   host-failure (host), host-reboot (host), host-outage (host; duration),
 *   link-off (link), link-on (link), link-latency (link; latency), link-bandwidth (link; rate). */
void timeline_init(struct timeline *t);
void timeline_free(struct timeline *t);

/* Add a kind; the row must outlive the timeline. A name already known is a bug. */
void timeline_register(struct timeline *t, const struct action_kind *kind);
const struct action_kind *timeline_kind(const struct timeline *t, const char *name);

/* Add an action at `when` >= 0 (rounding, order: equal dates in the order of adding). Returns it
 * for setting arguments, valid until the next addition; NULL and an error if the kind is unknown
 * (with the nearest name) or the date negative. */
struct action *timeline_add(struct timeline *t, sim_time when, const char *kind, const char *target,
                            struct errors *e);

/* Set one argument by name: an integer in the parameter's unit, or a text. Returns -1 and adds an
 * error for an unknown name. */
int action_set(struct action *a, const char *name, int64_t value, struct errors *e);
int action_set_text(struct action *a, const char *name, const char *text, struct errors *e);

/* Random failures of one host, alternating renewal process, drawn from 0 to `end`: up for a time
 * with mean mttf, down for one with mean mttr. Weibull with the given shapes (1 = exponential).
 * The stream is (seed, replication, host, "failures"). */
struct renewal {
    sim_time mttf, mttr;
    double up_shape, down_shape;
    bool up_at_start;
};
int timeline_draw_failures(struct timeline *t, const char *host, const struct renewal *r,
                           uint64_t seed, uint64_t replication, sim_time end, struct errors *e);

/* Find all targets, sort, arm the actions of machines. Before the run, once. */
int timeline_bind(struct timeline *t, struct fleet *f, void *world, struct errors *e);

/* Date of the next platform action, SIM_NEVER if none. */
sim_time timeline_next(const struct timeline *t);

/* Carry out the platform actions of date timeline_next(); `carry` (may be NULL) is called before
 * each so that SimGrid can follow. All machines must have been run up to that date. */
typedef void action_carry_fn(void *carrier, const struct action *a);
void timeline_act(struct timeline *t, action_carry_fn *carry, void *carrier);

/* The platform's kinds, for sim/simgrid.c. */
extern const struct action_kind action_host_failure, action_host_reboot, action_link_off,
    action_link_on, action_link_latency, action_link_bandwidth;

#endif
