/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A world for tests of machines: nodes that send each other packets and bulk transfers at random
 * and write down all that they notice, each in a log of its own. Two runs of the same world are
 * alike if and only if the logs are.
 */
#ifndef HVSIM_VALIDATION_UNIT_GOSSIP_H
#define HVSIM_VALIDATION_UNIT_GOSSIP_H

#include "sim/error.h"
#include "sim/machine.h"
#include "sim/random.h"
#include "sim/wire.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct machine machine;
    struct timer tick;
    struct rng chance;
    FILE *log;
    char *text;
    size_t size;
    double bulks;     /* part of ticks that start a bulk transfer */
    uint64_t stop_at; /* arrivals after which the run is to be stopped; 0 = never */
};

struct gossip {
    struct fleet fleet;
    struct node *node;
    uint32_t count;
};

#define NODE(m) ((struct node *)(m)->model)

static inline void node_log(struct node *n, const char *what, uint32_t who, uint64_t number)
{
    fprintf(n->log, "%" PRId64 " %s %" PRIu32 " %" PRIu64 "\n", machine_now(&n->machine), what, who,
            number);
}

static inline struct machine *node_peer(struct node *n)
{
    struct fleet *f = n->machine.fleet;
    uint32_t i = (uint32_t)rng_below(&n->chance, f->count - 1);

    return f->machine[i < n->machine.id ? i : i + 1];
}

static inline void node_send(struct node *n, uint32_t hops)
{
    struct packet *p = packet_new(&n->machine, node_peer(n));

    p->bytes = 64 + (uint32_t)rng_below(&n->chance, 1437);
    p->a = hops;
    packet_send(p);
}

static inline void node_tick(struct timer *t, sim_time now)
{
    struct node *n = container_of(t, struct node, tick);

    node_log(n, "tick", 0, n->machine.numbered);
    if (rng_bernoulli(&n->chance, n->bulks)) {
        struct packet *p = packet_new(&n->machine, node_peer(n));

        p->bytes = 1;
        bulk_start(p, 10000 + (int64_t)rng_below(&n->chance, 100000));
    } else {
        node_send(n, 3);
    }
    /* Round dates, so that there are ties. */
    queue_arm(&n->machine.queue, t, now + NS_PER_US * (sim_time)(1 + rng_below(&n->chance, 200)));
}

static inline void node_arrival(struct machine *m, struct packet *p)
{
    struct node *n = NODE(m);

    node_log(n, "arrival", p->from->id, p->number);
    if (n->stop_at && m->counts.received == n->stop_at)
        fleet_stop(m);
    if (p->a == 0) {
        packet_free(p);
    } else if (rng_bernoulli(&n->chance, 0.5)) {
        p->a--;
        packet_turn(p);
        packet_send(p);
    } else {
        node_send(n, p->a - 1);
        packet_free(p);
    }
}

static inline void node_bulk_done(struct machine *m, struct packet *p, bool ok)
{
    node_log(NODE(m), ok ? "bulk" : "bulk-failed", p->from->id, p->number);
    fprintf(NODE(m)->log, "rates %" PRId64 " %" PRId64 "\n", m->tx.rate, m->rx.rate);
    packet_free(p);
}

static inline void node_lost(struct machine *m, struct packet *p, enum loss why)
{
    static const char *const name[] = {"lost-link", "lost-host", "lost-overflow"};

    node_log(NODE(m), name[why], p->from->id, p->number);
    packet_free(p);
}

static inline void node_failed(struct machine *m, sim_time now)
{
    (void)now;
    node_log(NODE(m), "failed", 0, 0);
}

static inline void node_rebooted(struct machine *m, sim_time now)
{
    node_log(NODE(m), "rebooted", 0, 0);
    queue_arm(&m->queue, &NODE(m)->tick, now + NS_PER_US);
}

static inline void node_speed(struct machine *m, sim_time now)
{
    (void)now;
    node_log(NODE(m), "speed", 0, (uint64_t)m->speed);
}

static const struct machine_ops node_ops = {
    .arrival = node_arrival,
    .bulk_done = node_bulk_done,
    .lost = node_lost,
    .failed = node_failed,
    .rebooted = node_rebooted,
    .speed_changed = node_speed,
};

/* `count` nodes on hosts h0, h1, ..., all connected. */
static inline void gossip_init(struct gossip *g, uint32_t count, uint64_t seed)
{
    fleet_init(&g->fleet);
    g->count = count;
    g->node = xcalloc(count, sizeof *g->node);
    for (uint32_t i = 0; i < count; i++) {
        struct node *n = &g->node[i];
        char host[16];

        snprintf(host, sizeof host, "h%u", i);
        machine_init(&n->machine, host, &node_ops, n);
        rng_init(&n->chance, seed, 0, host, "gossip");
        timer_init(&n->tick, node_tick);
        queue_arm(&n->machine.queue, &n->tick, NS_PER_US * i);
        n->log = open_memstream(&n->text, &n->size);
        fleet_add(&g->fleet, &n->machine);
    }
    fleet_connect_all(&g->fleet);
}

/* Fail at the first line in which two logs differ. (The logs as a whole would be too long for a
 * message of Check.) */
static inline void ck_same_logs(const char *a, const char *b)
{
    size_t line = 0, i;

    for (i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '\n')
            line = i + 1;
    ck_assert_msg(a[i] == b[i], "logs differ: \"%.*s\" and \"%.*s\"", (int)strcspn(a + line, "\n"),
                  a + line, (int)strcspn(b + line, "\n"), b + line);
}

/* All logs, one after the other; to be freed. */
static inline char *gossip_end(struct gossip *g)
{
    char *all;
    size_t size;
    FILE *out = open_memstream(&all, &size);

    for (uint32_t i = 0; i < g->count; i++) {
        fclose(g->node[i].log);
        fprintf(out, "node %" PRIu32 "\n%s", i, g->node[i].text);
        free(g->node[i].text);
    }
    fclose(out);
    fleet_free(&g->fleet);
    for (uint32_t i = 0; i < g->count; i++)
        machine_free(&g->node[i].machine);
    free(g->node);
    return all;
}

#endif
