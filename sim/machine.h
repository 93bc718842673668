/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machines: the parts of a simulated world that are apart in space. A machine is a model object
 * (a Xen host, a client, a replica, a sensor) with an event queue of its own. Nothing happens on
 * two machines at once except through packets (sim/wire.h), which take at least the latency of
 * the wire; so the machines of a fleet can be run one after the other over a window of that
 * length and the result is that of running them all in step (conservative simulation).
 *
 * What follows for models: a handler touches its own machine only. What several machines share
 * (a counter, a file, an accumulator of doubles) is touched in the order in which machines are
 * run, which depends on the length of windows: keep such things per machine and merge them at the
 * end, by machine id, or results would depend on the lookahead.
 *
 * A machine needs no SimGrid: a single one, or a fleet, is run to a date by fleet_run(). Under
 * SimGrid (sim/simgrid.h) each machine stands for a host of the platform.
 */
#ifndef HVSIM_SIM_MACHINE_H
#define HVSIM_SIM_MACHINE_H

#include "sim/queue.h"

#include <stdbool.h>
#include <stdint.h>

struct bulk;
struct fleet;
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
 * (machine->queue.now) is the date of the call. */
struct machine_ops {
    /* A packet has come in completely. The callee owns it: packet_free() it, or send it on. */
    void (*arrival)(struct machine *m, struct packet *p);
    /* A bulk transfer has ended, seen from this end (m is p->from or p->to; each end is told with
     * a packet of its own). `ok` is false when a link or the other host failed. The callee owns
     * the packet. */
    void (*bulk_done)(struct machine *m, struct packet *p, bool ok);
    /* A packet is lost at this machine (the sender's for packets never sent, else the receiver's).
     * The callee owns it. This is for releasing the payload and for counting: in the world no one
     * is told of a loss. Without this member lost packets are freed. */
    void (*lost)(struct machine *m, struct packet *p, enum loss why);
    /* The host went off; its events have been cancelled already. Do not arm anything. */
    void (*failed)(struct machine *m, sim_time now);
    /* The host is back, as after a cold boot: arm whatever starts with it. */
    void (*rebooted)(struct machine *m, sim_time now);
};

/* One direction of a NIC: first in, first out, at `rate`. */
struct lane {
    sim_time free;  /* date at which everything accepted so far has passed */
    int64_t rest;   /* what `free` lacks to be exact, in units of 1 / rate ns */
    int64_t rate;   /* bit/s left to packets; line rate less bulk flows */
    int64_t taken;  /* bit/s promised to bulk flows that are limited elsewhere */
    uint32_t flows; /* bulk flows now passing */
};

struct machine_counts {
    uint64_t sent, received, lost[LOSS_KINDS];
    uint64_t bytes_sent, bytes_received;
};

struct machine {
    struct queue queue; /* first, so that a queue's machine costs nothing to find */
    const struct machine_ops *ops;
    void *model;         /* of the user of this machine */
    struct fleet *fleet; /* NULL for a machine on its own */
    char *host;          /* name of the platform's host; owned */
    uint32_t id;         /* index in the fleet */
    bool up;

    /* From the platform, once simgrid_bind() was called; else as set by the user. */
    int cores;
    double speed;      /* flop/s per core */
    int64_t line_rate; /* bit/s of the NIC, both ways; 0 = as the links of the platform say */

    struct lane tx, rx;
    struct machine_counts counts;
    uint64_t numbered; /* packets and notices this machine has numbered so far */

    struct path **path; /* open hash by destination id; see sim/wire.h */
    uint32_t path_count, path_capacity;

    sim_time next;      /* date of its next event as the fleet knows it */
    uint32_t heap_slot; /* place in the fleet's heap, from 1 */
};

/* Prepare a machine on its own: an empty queue, up, no NIC. `host` is copied; may be NULL. */
void machine_init(struct machine *m, const char *host, const struct machine_ops *ops, void *model);
void machine_free(struct machine *m);

static inline sim_time machine_now(const struct machine *m)
{
    return m->queue.now;
}

static inline struct machine *queue_machine(struct queue *q)
{
    return (struct machine *)(void *)q;
}

/* Switch a host off or on at `now`, no earlier than anything it has done. Off cancels all its
 * events (packets still on the wire stay on it) and tells the model. Harmless if it is so already.
 * These are what host failures of the timeline end in; models may call them too. */
void machine_fail(struct machine *m, sim_time now);
void machine_reboot(struct machine *m, sim_time now);

/* ---- Fleets ------------------------------------------------------------------------------- */

#define FLEET_MAX (1u << 20) /* machines: 20 of the 60 bits of an arrival's key */

enum fleet_network {
    NETWORK_WIRES,  /* packets on wires: fast; contention at the two NICs only */
    NETWORK_SIMGRID /* every packet a SimGrid communication, in lockstep */
};

enum fleet_end {
    FLEET_DATE,        /* the end date was reached */
    FLEET_IDLE,        /* nothing left to happen */
    FLEET_STOPPED,     /* fleet_stop() */
    FLEET_INTERRUPTED, /* the flag was raised; ended between two windows */
};

struct fleet {
    struct machine **machine;
    uint32_t count, capacity;
    struct machine **heap; /* 1-based, 4-ary, by (next event, id) */

    enum fleet_network network;
    int64_t port_buffer; /* bytes that fit before a receiver's line; 0 = any number */

    /* Shortest latency between two machines that may send to each other; SIM_NEVER when there is
     * no such pair. Kept by sim/wire.c. */
    sim_time latency;

    sim_time until; /* end of the window being run */
    sim_time end;   /* nothing at or after this date is run */
    bool stopped;
    bool running; /* inside fleet_run */

    struct packet *spare;    /* free packets */
    struct packet *block;    /* blocks of packets, to be freed at the end */
    struct link_state *link; /* links of all paths, see sim/wire.h */
    uint32_t link_count;

    /* Carries bulk transfers and, under NETWORK_SIMGRID, packets; set by sim/simgrid.c. */
    void (*carry)(struct fleet *f, struct bulk *b);
    void *carrier;
};

void fleet_init(struct fleet *f);

/* Frees paths, packets and tables; not the machines, which must still be alive. */
void fleet_free(struct fleet *f);

/* Add a machine; its id is its index, in order of adding, so add them in an order that depends on
 * the scenario only. */
void fleet_add(struct fleet *f, struct machine *m);

/* Machine of that host name, or NULL. O(machines). */
struct machine *fleet_find(const struct fleet *f, const char *host);

/* Date of the next event of all, SIM_NEVER if none. */
sim_time fleet_next(const struct fleet *f);

/* Run all machines, in the order of their next events, over everything strictly before `until`.
 * The caller chooses `until` so that no packet sent meanwhile can arrive before it. */
void fleet_run(struct fleet *f, sim_time until);

/* Run to `end` in windows of the right length without SimGrid: for a single machine or for
 * machines on wires without bulk transfers, platform changes or NETWORK_SIMGRID. */
enum fleet_end fleet_run_to(struct fleet *f, sim_time end);

/* Length of the windows that wires allow (see fleet_stop too). */
sim_time fleet_window(const struct fleet *f);

/* Tell the fleet that a machine's queue was changed by someone else than the machine's own
 * handlers: from a platform action, from another machine. Set-up needs no call. */
void fleet_touch(struct machine *m);

/* End the run from a handler on machine m. A single machine stops after the present instant.
 * Several stop fleet_window() later, all at that date, so that the end does not depend on the
 * order in which they are run. */
void fleet_stop(struct machine *m);

#endif
