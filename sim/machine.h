/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machines: the parts of a simulated world that are apart in space. A machine is a model object
 * (a Xen host, a client, a replica, a sensor) with an event queue of its own. Machines act on each
 * other through packets only (sim/wire.h), which take at least the latency of the wire; so the
 * machines of a fleet can be run one after the other over a window of that length, and the result
 * is that of running them all in step (conservative simulation).
 *
 * What follows for models: a handler touches its own machine only. What several machines share
 * (a counter, a file, a sum of doubles) is touched in the order in which machines are run, which
 * depends on the length of the windows: keep such things per machine and merge them at the end, by
 * machine id, or results would depend on the lookahead.
 *
 * A machine needs no SimGrid: a single one is run by queue_run() and a fleet by fleet_run_to().
 * Under SimGrid (sim/simgrid.h) each machine stands for a host of the platform.
 */
#ifndef HVSIM_SIM_MACHINE_H
#define HVSIM_SIM_MACHINE_H

#include "sim/queue.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct bulk;
struct fleet;
struct link_state;
struct machine;
struct packet;
struct path;

/* Why a packet did not arrive. */
enum loss {
    LOSS_LINK,     /* a link of the route was off while it was under way */
    LOSS_HOST,     /* the sending or the receiving host was off */
    LOSS_OVERFLOW, /* the buffer before the receiver's line was full (fleet.port_buffer) */
    LOSS_KINDS
};

/* What the model on a machine wants to be told; any member may be NULL. The machine's clock
 * (machine_now) is the date of the call. */
struct machine_ops {
    /* A packet has come in completely. The callee owns it: packet_free() it, or send it on. */
    void (*arrival)(struct machine *m, struct packet *p);

    /* A bulk transfer has ended, seen from this end: m is p->from or p->to, and each end is told
     * with a packet of its own. `ok` is false when a link or the other host went off. The callee
     * owns the packet. */
    void (*bulk_done)(struct machine *m, struct packet *p, bool ok);

    /* A packet is lost on its way to m, or in m's NIC. The callee owns it. This is for releasing
     * the payload and for counting: in the world no one is told of a loss. Without this member
     * lost packets are freed. */
    void (*lost)(struct machine *m, struct packet *p, enum loss why);

    /* The host went off. Its events have been cancelled already; arm nothing. */
    void (*failed)(struct machine *m, sim_time now);

    /* The host is back, as after a cold boot: arm whatever starts with it. */
    void (*rebooted)(struct machine *m, sim_time now);

    /* m->speed has changed (a speed profile of the platform, an action). */
    void (*speed_changed)(struct machine *m, sim_time now);
};

/* One direction of a NIC: first in, first out, at `rate`. */
struct lane {
    sim_time free;  /* date at which everything accepted so far has passed */
    int64_t rest;   /* by how much `free` is too early, in 1/rate ns: no drift by rounding */
    int64_t rate;   /* bit/s left to packets: the line's less what bulk flows get; 0 = no limit */
    int64_t taken;  /* bit/s that the bulk flows can get at most */
    uint32_t flows; /* bulk flows passing now */
};

struct machine_counts {
    uint64_t sent, received, lost[LOSS_KINDS]; /* packets */
    uint64_t bytes_sent, bytes_received;
};

struct machine {
    struct queue queue; /* first: see queue_machine() */
    const struct machine_ops *ops;
    void *model;         /* the user's */
    struct fleet *fleet; /* NULL for a machine on its own */
    char *host;          /* name of the platform's host; owned; may be NULL without SimGrid */
    uint32_t id;         /* index in the fleet */

    bool up;
    uint32_t boots;     /* times it was switched off and on */
    sim_time failed_at; /* date it last went off, -1 = never */

    /* Filled in from the platform by platform_bind(), or set by the user without SimGrid. */
    int cores;
    double nominal_speed; /* flop/s of a core, in the platform file */
    double speed;         /* flop/s of a core, now */
    int64_t line_rate;    /* bit/s of the NIC, both ways; 0 = what the platform's links say */
    int64_t nic_rate;     /* the one in force, set by fleet_rewire(); 0 = no limit */

    struct lane tx, rx;
    struct machine_counts counts;
    uint64_t numbered; /* packets and notices numbered so far: order among equal dates */

    struct path **path; /* open hash by destination; see machine_path() */
    uint32_t path_count, path_capacity;

    uint32_t heap_slot; /* place in the fleet's heap, from 1 */
};

/* Prepare a machine on its own: an empty queue, up, no NIC. `host` is copied. */
void machine_init(struct machine *m, const char *host, const struct machine_ops *ops, void *model);
void machine_free(struct machine *m);

static inline sim_time machine_now(const struct machine *m)
{
    return m->queue.now;
}

/* The machine whose queue it is; for queues of machines only. */
static inline struct machine *queue_machine(struct queue *q)
{
    return (struct machine *)(void *)q;
}

/* Switch a host off or on at `now`, not before anything it has done. Off cancels all its events
 * (what is on the wires stays there) and then tells the model; harmless if it is so already. Host
 * failures of the timeline end in these. */
void machine_fail(struct machine *m, sim_time now);
void machine_reboot(struct machine *m, sim_time now);

/* Change the speed of its cores, in flop/s. */
void machine_set_speed(struct machine *m, double speed, sim_time now);

/* ---- Fleets -------------------------------------------------------------------------------- */

#define FLEET_MAX (1u << 20) /* machines: 20 of the 60 bits of an arrival's key */

enum fleet_network {
    NETWORK_WIRES,  /* packets on wires: fast; contention at the two NICs only */
    NETWORK_SIMGRID /* every packet is a SimGrid communication, in lockstep */
};

enum fleet_end {
    FLEET_DATE,        /* the end date was reached */
    FLEET_IDLE,        /* nothing is left to happen */
    FLEET_STOPPED,     /* fleet_stop() */
    FLEET_INTERRUPTED, /* the flag was raised; ended between two windows */
};

struct fleet_cell;

struct fleet {
    struct machine **machine;
    uint32_t count, capacity;
    struct fleet_cell *heap; /* machines by (next event, id) */
    bool ordered;            /* the heap is; false during set-up */

    /* The user's choices, before the run. */
    enum fleet_network network;
    int64_t port_buffer; /* bytes that fit before a receiver's line; 0 = any number */
    const volatile sig_atomic_t *interrupted; /* NULL, or a flag that ends the run */

    sim_time latency; /* shortest between two connected machines; SIM_NEVER without any */
    sim_time end;     /* nothing at or after this date is run */
    bool stopped;     /* `end` is due to fleet_stop() */

    /* Of sim/wire.c. */
    struct packet *spare;  /* free packets */
    struct packet **block; /* blocks they were cut from */
    uint32_t block_count;
    struct link_state *link; /* links of all paths */
    uint32_t link_count;
    struct bulk *flow, *flow_spare; /* flows in SimGrid's hands; free ones */

    /* Of sim/simgrid.c: take a flow over, give it up. NULL without SimGrid. */
    void (*carry)(struct fleet *f, struct bulk *b);
    void (*cancel)(struct fleet *f, struct bulk *b);
};

void fleet_init(struct fleet *f);

/* Frees paths, packets and tables; not the machines, which must still be alive. */
void fleet_free(struct fleet *f);

/* Add a machine; its id is its index. Add them in an order that the scenario alone decides. */
void fleet_add(struct fleet *f, struct machine *m);

/* The machine on that host, or NULL. O(machines). */
struct machine *fleet_find(const struct fleet *f, const char *host);

/* Date of the next event of all, SIM_NEVER if there is none. */
sim_time fleet_next(struct fleet *f);

/* Run all machines, in the order of their next events, over everything strictly before `until`.
 * The caller chooses `until` so that no packet sent meanwhile can arrive before it. */
void fleet_run(struct fleet *f, sim_time until);

/* Longest window from now on: the shortest latency less 2 ns, or when no machine can reach
 * another, a length that only decides how often the run can be interrupted. At least 1. */
sim_time fleet_window(const struct fleet *f);

/* Run to `end` in such windows, without SimGrid: wires only, no bulk transfers, no platform
 * changes (timeline_run() does these). */
enum fleet_end fleet_run_to(struct fleet *f, sim_time end);

/* A machine's queue was changed by someone else than its own handlers (a platform action, a packet
 * from elsewhere). Set-up needs no call. */
void fleet_touch(struct machine *m);

/* From a handler of m: end the run. A machine alone stops when the present instant is complete;
 * several stop one fleet_window() later, all at that date, so that the end does not depend on the
 * order in which they are run. */
void fleet_stop(struct machine *m);

#endif
