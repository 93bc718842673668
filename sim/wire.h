/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Wires: how packets get from one machine to another.
 *
 * A packet is sent when the lane of the sender's NIC has passed all earlier ones, at its line
 * rate; travels for the latency of the route; and then passes the lane of the receiver's NIC, at
 * that line rate, behind what came before: a store-and-forward switch with one output port per
 * machine. Both lanes are first in, first out. If a link in the middle of the route is slower
 * than both NICs, a packet takes its time there too, without queueing (contention in the middle
 * is what NETWORK_SIMGRID is for). Uncontended, a packet of n bits takes
 *     n / rate(sender) + latency + n / rate(receiver)  [+ n / slowest link, if below both].
 *
 * A packet is lost if a link of its route is off at any time while it is under way, or if the
 * receiver is off when it comes in.
 *
 * A bulk transfer (migration, backup) is a flow that SimGrid shares with other flows on all links.
 * While it lasts each of its two NICs leaves to packets
 *     max(line / (flows + 1), line - what the flows can take at most elsewhere),
 * the max-min fair share of one more flow; packets already handed over keep their dates. Packets
 * do not slow flows down. The flow is noticed at the sender at once and at the receiver one
 * latency later, and its end at both ends one latency after SimGrid ended it (the way of the last
 * acknowledgement), rounded up to BULK_GRID.
 */
#ifndef HVSIM_SIM_WIRE_H
#define HVSIM_SIM_WIRE_H

#include "sim/machine.h"

#define PACKET_STAMPS 16
#define PACKET_BYTES_MAX (1u << 30)
#define BULK_GRID NS_PER_US

/* Ends of bulk transfers are known to this much only, so that they cannot depend on the last bits
 * of SimGrid's doubles. */

struct packet {
    struct timer timer; /* of the wire while under way; free for the owner's use otherwise */
    struct machine *from, *to;
    struct path *path;
    uint64_t number; /* the sender's number: with from->id, its order among equal dates */
    sim_time sent;   /* date of packet_send() */
    uint32_t bytes;  /* on the wire, headers included */

    /* For the models; wires neither read nor write these, except that a new packet has zeros. */
    uint16_t kind, flags;
    uint64_t id;
    uint32_t a, b;
    void *payload;
    struct packet *next; /* for queues of packets */
    sim_time stamp[PACKET_STAMPS];
};

/* A packet from the fleet's free list, zeroed but for the two ends (from may not be NULL). */
struct packet *packet_new(struct machine *from, struct machine *to);
void packet_free(struct packet *p);

/* Send p->bytes from p->from to p->to, now (the clock of p->from, whose handler must be the
 * caller). The packet belongs to the wire until it arrives. To answer, swap the ends and send it
 * again. A pair without a path (fleet_connect) is a bug of the caller. */
void packet_send(struct packet *p);

/* Exchange the ends of a packet. */
void packet_turn(struct packet *p);

/* Start a bulk transfer of `bytes` from p->from to p->to, now. p goes with the flow: it is what
 * p->to's bulk_done is given in the end, and p->from's is given a copy of it (same payload).
 * Needs SimGrid. */
void bulk_start(struct packet *p, int64_t bytes);

/* Nanoseconds of work that lie before the lane now: 0 when a packet would pass at once. For
 * models of NIC rings, which accept no more than they hold. */
static inline sim_time lane_backlog(const struct lane *l, sim_time now)
{
    return l->free > now ? l->free - now : 0;
}

/* Time that n bytes take at a rate in bit/s, in ns, rounded down. */
sim_time wire_time(uint32_t bytes, int64_t rate);

/* ---- Paths -------------------------------------------------------------------------------- */

struct link_state {
    char *name;
    bool off;
    sim_time latency;
    int64_t bandwidth; /* bit/s */
};

struct path {
    struct machine *from, *to;
    sim_time latency;
    int64_t slowest; /* bit/s of the slowest link; 0 = no limit known */
    uint32_t *link;  /* indices into fleet->link, in order */
    uint32_t link_count;
    uint32_t off;       /* links that are off now */
    sim_time off_since; /* date when one last was, -1 = never */
};

/* Declare that `from` may send to `to` (one direction). Latency and rates come from the platform
 * in simgrid_bind(); without SimGrid set them by path_set(). Declaring twice is harmless. */
void fleet_connect(struct machine *from, struct machine *to);
void fleet_connect_both(struct machine *a, struct machine *b);

/* All pairs: right for up to some hundred machines. */
void fleet_connect_all(struct fleet *f);

/* The path, or NULL. O(1). */
struct path *machine_path(const struct machine *from, const struct machine *to);

/* Latency (> 0) and slowest link (0 = none) of a path, without SimGrid. */
void path_set(struct path *p, sim_time latency, int64_t slowest);

/* After line rates or latencies were set or changed: lanes and fleet->latency. */
void fleet_rewire(struct fleet *f);

/* ---- Platform changes, between two windows ------------------------------------------------- */

/* Switch a link off or on at `now`; set its latency or bandwidth. Return -1 if no path uses it. */
int wire_link_off(struct fleet *f, const char *link, bool off, sim_time now);
int wire_link_latency(struct fleet *f, const char *link, sim_time latency);
int wire_link_bandwidth(struct fleet *f, const char *link, int64_t bandwidth);

/* ---- For sim/simgrid.c ---------------------------------------------------------------------- */

/* A flow in SimGrid's hands: a bulk transfer, or a packet under NETWORK_SIMGRID. */
struct bulk {
    struct packet *packet; /* the receiver's */
    struct packet *copy;   /* the sender's; NULL for a plain packet */
    struct path *path;
    int64_t bytes;
    sim_time start;
    int64_t taken; /* what it takes of the NICs at most, bit/s */
    bool failed;
    void *helper; /* of the carrier */
    struct bulk *next, **prev;
};

/* The flow ended at `end` (a date of SimGrid, in ns, not before anything the two machines did less
 * fleet->latency). Arms what both machines are to be told, and frees b. */
void bulk_end(struct bulk *b, sim_time end, bool ok);

/* The link, adding it if it is new. */
uint32_t fleet_link(struct fleet *f, const char *name, sim_time latency, int64_t bandwidth);

#endif
