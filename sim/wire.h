/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Wires: how packets get from one machine to another.
 *
 * A packet leaves when the lane of the sender's NIC has passed all earlier ones and itself, at the
 * line rate; travels for the latency of the route; and passes the lane of the receiver's NIC, at
 * that line rate, behind what came in before: a store-and-forward switch with an output port for
 * each machine. Both lanes are first in, first out. If a link in the middle of the route is slower
 * than both NICs, a packet takes its time there too, but without queueing (contention in the
 * middle is what NETWORK_SIMGRID is for). Uncontended, a packet of n bits takes
 *
 *     n / rate(sender) + latency + n / rate(receiver)  [+ n / slowest link, if below both]
 *
 * in both kinds of network, to within 2 ns. Dates are rounded down to ns; a train of packets
 * accumulates no rounding.
 *
 * A packet is lost if a link of its route is off at any time between its leaving and its coming in,
 * or if the host it comes from goes off before it left, or if the host it comes to is off when it
 * comes in. Loss is decided when it comes in.
 *
 * A bulk transfer (migration, backup) is a flow whose rate SimGrid shares with other flows on all
 * links. While it lasts each of its two NICs leaves to packets
 *
 *     max(line / (flows + 1), line - the most that the flows can get)
 *
 * where a flow can get no more than the slowest link of its route: the max-min fair share of one
 * more flow. Packets handed over before keep their dates, and packets do not slow flows down. The
 * sender's NIC notices a flow at once, the receiver's one latency later; both ends are told of its
 * end one latency (the way of the last acknowledgement) after SimGrid ended it, to within 2 us (see
 * bulk_end()).
 */
#ifndef HVSIM_SIM_WIRE_H
#define HVSIM_SIM_WIRE_H

#include "sim/error.h"
#include "sim/machine.h"

#define PACKET_STAMPS 16
#define PACKET_VALUES 10
#define PACKET_BYTES_MAX (1u << 30)

struct packet {
    struct timer timer; /* of the wire while under way, of the owner otherwise */
    struct machine *from, *to;
    struct path *path;
    struct bulk *bulk; /* the flow it belongs to; NULL for a packet on wires */
    uint64_t number;   /* the sender's; with from->id its order among arrivals of one date */
    sim_time sent;     /* date of packet_send() */
    sim_time left;     /* date it has left the sender's NIC */
    uint32_t bytes;    /* on the wire, headers and framing included */

    /* For the models. Zero in a new packet; wires do not touch them. */
    uint16_t kind, flags;
    uint64_t id;
    uint32_t a, b;
    void *payload;
    struct packet *next; /* for queues of packets */
    sim_time stamp[PACKET_STAMPS];
    int64_t value[PACKET_VALUES];
};

/* A packet from the fleet's free list, zero but for the two ends. */
struct packet *packet_new(struct machine *from, struct machine *to);
void packet_free(struct packet *p);

/* Send p->bytes from p->from to p->to now; the caller is a handler of p->from. The packet belongs
 * to the wire until it arrives. A pair that was never connected is a bug. */
void packet_send(struct packet *p);

/* Exchange the ends: to answer with the same packet. */
void packet_turn(struct packet *p);

/* Start a bulk transfer of `bytes` > 0 from p->from to p->to now. p goes with the flow: p->to's
 * bulk_done is given it in the end, and p->from's a copy (the payload pointer too). Needs SimGrid.
 */
void bulk_start(struct packet *p, int64_t bytes);

/* Work before a lane, in ns: 0 when a packet would pass at once. For models of NIC rings, which
 * hand over no more than fits. */
static inline sim_time lane_backlog(const struct lane *l, sim_time now)
{
    return l->free > now ? l->free - now : 0;
}

/* Time that n bytes take at a rate in bit/s (0 = no limit), in ns, rounded down. */
sim_time wire_time(int64_t bytes, int64_t rate);

/* ---- Paths ---------------------------------------------------------------------------------- */

struct link_state {
    char *name;
    bool off;
    int64_t latency_ps;
    int64_t bandwidth; /* bit/s */
};

struct path {
    struct machine *from, *to;
    struct path *back; /* the other direction, NULL if not connected */
    sim_time latency;  /* > 0 once bound */
    int64_t slowest;   /* bit/s of the slowest link; 0 = no limit */
    int64_t base_ps;   /* part of the latency that is no link's */
    uint32_t *link;    /* indices into fleet->link, in order */
    uint32_t link_count;
    uint32_t off;   /* links that are off now */
    sim_time on_at; /* date when the last of them came back; -1 = never off */
};

/* Declare that `from` may send to `to` (one direction). platform_bind() finds latency and links;
 * without SimGrid call path_set(). Declaring twice is harmless. */
struct path *fleet_connect(struct machine *from, struct machine *to);

/* All pairs: right for up to some hundred machines. */
void fleet_connect_all(struct fleet *f);

/* The path, or NULL. O(1). */
struct path *machine_path(const struct machine *from, const struct machine *to);

/* A path without links: latency in ns and slowest link in bit/s (0 = none). */
void path_set(struct path *p, sim_time latency, int64_t slowest);

/* Compute from links and line rates what follows from them: latencies, rates, fleet->latency. Call
 * it after set-up without SimGrid; done for you otherwise. */
void fleet_rewire(struct fleet *f);

/* ---- Platform changes, between two windows --------------------------------------------------- */

/* Does a user's name for a link mean this one? SimGrid makes two links, X_UP and X_DOWN, of a full
 * duplex link X; X means both. */
bool wire_link_is(const struct link_state *l, const char *name);
bool wire_uses_link(const struct fleet *f, const char *link);

/* Latency and bandwidth must be above 0. */
void wire_link_switch(struct fleet *f, const char *link, bool off, sim_time now);
void wire_link_latency(struct fleet *f, const char *link, sim_time latency);
void wire_link_bandwidth(struct fleet *f, const char *link, int64_t bandwidth);

/* ---- For the rest of sim/ -------------------------------------------------------------------- */

/* A flow in SimGrid's hands: a bulk transfer, or a packet under NETWORK_SIMGRID. */
struct bulk {
    struct packet *packet; /* the receiver's */
    struct packet *copy;   /* the sender's; NULL for a mere packet */
    struct path *path;
    int64_t bytes;
    sim_time start;
    bool ok, noticed;
    uint32_t ends;            /* ends that are still to be told */
    uint32_t boots[2];        /* of sender and receiver when their lanes noticed it */
    int64_t taken;            /* bit/s it can get at most */
    void *helper;             /* the carrier's */
    struct bulk *next, *prev; /* all flows in SimGrid's hands */
};

/* SimGrid has ended the flow at `end` ns (its clock, which may be some 1e-12 s off). Arms what is
 * to happen on both machines. */
void bulk_end(struct bulk *b, double end);

/* A link or a host went off at `now`: end it without success. Calls fleet->cancel. */
void bulk_abort(struct bulk *b, sim_time now);

/* A link of the platform, once; returns its index. */
uint32_t fleet_add_link(struct fleet *f, const char *name, int64_t latency_ps, int64_t bandwidth);

/* In the key of an action's timer (RANK_EXTERNAL): it outlives a failure of its machine. */
#define KEY_ACTION (UINT64_C(1) << 59)

/* End all flows from or to a machine, without success. */
void wire_abort_flows(struct machine *m, sim_time now);

/* The machine has gone off: cancel its events, lose what its NIC holds, abort its flows. */
void wire_machine_off(struct machine *m);

void wire_free(struct fleet *f);

#endif
