/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/wire.h"

#include "sim/error.h"

#include <stdlib.h>
#include <string.h>

#define PACKETS_PER_BLOCK 256
#define NUMBER_BITS 40 /* of an arrival's key; the sender's id is above */

#define BITS_NS (8 * NS_PER_S) /* bytes * BITS_NS / (bit/s) = ns */
#define PS_PER_NS 1000

/* SimGrid's clock is a double, whose last bits depend on the steps it was advanced in, that is on
 * the lookahead. Ends of bulk transfers are therefore known to a microsecond only, rounded up at
 * points which lie at no round fraction of one, where ends of round sizes at round rates fall. */
#define BULK_GRID 1000.0
#define BULK_PHASE 371.3

/* ---- Packets -------------------------------------------------------------------------------- */

static void more_packets(struct fleet *f)
{
    struct packet *block = xcalloc(PACKETS_PER_BLOCK, sizeof *block);

    f->block = xrealloc(f->block, (f->block_count + 1) * sizeof(struct packet *));
    f->block[f->block_count++] = block;
    for (size_t i = PACKETS_PER_BLOCK; i > 0; i--) {
        block[i - 1].next = f->spare;
        f->spare = &block[i - 1];
    }
}

struct packet *packet_new(struct machine *from, struct machine *to)
{
    struct fleet *f = from->fleet;
    struct packet *p;

    if (!f->spare)
        more_packets(f);
    p = f->spare;
    f->spare = p->next;
    *p = (struct packet){.from = from, .to = to};
    return p;
}

void packet_free(struct packet *p)
{
    struct fleet *f = p->from->fleet;

    BUG_ON(timer_armed(&p->timer));
    p->next = f->spare;
    f->spare = p;
}

void packet_turn(struct packet *p)
{
    struct machine *from = p->from;

    p->from = p->to;
    p->to = from;
    if (p->path)
        p->path = p->path->back;
}

static void lose(struct machine *m, struct packet *p, enum loss why)
{
    m->counts.lost[why]++;
    if (m->ops->lost)
        m->ops->lost(m, p, why);
    else
        packet_free(p);
}

/* ---- Lanes ---------------------------------------------------------------------------------- */

sim_time wire_time(int64_t bytes, int64_t rate)
{
    return rate ? (sim_time)((int128)bytes * BITS_NS / rate) : 0;
}

/* Pass n bytes behind everything before; returns the date at which they have passed. */
static sim_time lane_pass(struct lane *l, sim_time now, uint32_t bytes)
{
    uint64_t work;

    if (l->free < now) {
        l->free = now;
        l->rest = 0;
    }
    if (!l->rate)
        return l->free;
    work = (uint64_t)bytes * (uint64_t)BITS_NS + (uint64_t)l->rest;
    l->free += (sim_time)(work / (uint64_t)l->rate);
    l->rest = (int64_t)(work % (uint64_t)l->rate);
    return l->free;
}

/* The rate left to packets, after line rate or flows changed. */
static void lane_share(struct lane *l, int64_t line)
{
    int64_t fair = line / (l->flows + 1), left = line - l->taken, rate = fair > left ? fair : left;

    if (l->rate == rate)
        return;
    l->rate = rate;
    l->rest = 0;
}

static void lane_flow(struct lane *l, int64_t line, const struct bulk *b, bool begins)
{
    l->flows += begins ? 1 : -1;
    l->taken += begins ? b->taken : -b->taken;
    lane_share(l, line);
}

/* ---- On the wire ---------------------------------------------------------------------------- */

static void arm(struct packet *p, struct machine *at, timer_fn *fire, sim_time when)
{
    p->timer.fire = fire;
    queue_arm_key(&at->queue, &p->timer, when, RANK_ARRIVAL,
                  (uint64_t)p->from->id << NUMBER_BITS | p->number);
    fleet_touch(at);
}

static void number(struct packet *p)
{
    p->number = ++p->from->numbered;
    BUG_ON(p->number >> NUMBER_BITS);
}

static void deliver(struct timer *t, sim_time now)
{
    struct packet *p = container_of(t, struct packet, timer);
    struct machine *m = p->to;

    (void)now;
    m->counts.received++;
    m->counts.bytes_received += p->bytes;
    if (m->ops->arrival)
        m->ops->arrival(m, p);
    else
        packet_free(p);
}

/* Why a packet that has come to the end of the wire is lost, LOSS_KINDS if it is not. */
static enum loss fate(const struct packet *p)
{
    const struct path *path = p->path;
    const struct machine *from = p->from;

    if (!p->to->up || (from->failed_at > p->sent && from->failed_at < p->left))
        return LOSS_HOST;
    if (path->off || path->on_at > p->left)
        return LOSS_LINK;
    return LOSS_KINDS;
}

static bool overflows(const struct machine *m, const struct packet *p, sim_time now)
{
    int64_t room = m->fleet->port_buffer;

    return room &&
           (int128)lane_backlog(&m->rx, now) * m->rx.rate > (int128)(room - p->bytes) * BITS_NS;
}

/* The packet has come to the receiver's lane. */
static void come_in(struct timer *t, sim_time now)
{
    struct packet *p = container_of(t, struct packet, timer);
    struct machine *m = p->to;
    enum loss why = fate(p);

    if (why == LOSS_KINDS && overflows(m, p, now))
        why = LOSS_OVERFLOW;
    if (why != LOSS_KINDS) {
        lose(m, p, why);
        return;
    }
    /* In the middle of this machine's own run, so no fleet_touch(). */
    p->timer.fire = deliver;
    queue_arm_key(&m->queue, &p->timer, lane_pass(&m->rx, now, p->bytes), RANK_ARRIVAL,
                  (uint64_t)p->from->id << NUMBER_BITS | p->number);
}

/* Time in the middle, if that is slower than both NICs. */
static sim_time middle(const struct path *path, uint32_t bytes)
{
    int64_t slow = path->slowest;

    if (!slow || (path->from->nic_rate && path->from->nic_rate <= slow) ||
        (path->to->nic_rate && path->to->nic_rate <= slow))
        return 0;
    return wire_time(bytes, slow);
}

static void send_by_simgrid(struct packet *p);

void packet_send(struct packet *p)
{
    struct machine *from = p->from;
    sim_time now = machine_now(from);

    if (!p->path || p->path->to != p->to || p->path->from != from)
        p->path = machine_path(from, p->to);
    BUG_ON(!p->path || p->path->latency <= 0 || p->bytes > PACKET_BYTES_MAX || !from->up);
    p->sent = now;
    p->bulk = NULL;
    number(p);
    from->counts.sent++;
    from->counts.bytes_sent += p->bytes;
    if (from->fleet->network == NETWORK_SIMGRID) {
        send_by_simgrid(p);
        return;
    }
    p->left = lane_pass(&from->tx, now, p->bytes);
    arm(p, p->to, come_in, p->left + p->path->latency + middle(p->path, p->bytes));
}

/* ---- Flows ---------------------------------------------------------------------------------- */

static struct bulk *flow_new(struct packet *p, int64_t bytes)
{
    struct fleet *f = p->from->fleet;
    struct bulk *b = f->flow_spare;

    BUG_ON(!f->carry);
    if (b)
        f->flow_spare = b->next;
    else
        b = xcalloc(1, sizeof *b);
    *b = (struct bulk){
        .packet = p, .path = p->path, .bytes = bytes, .start = machine_now(p->from), .ok = true};
    b->next = f->flow;
    if (f->flow)
        f->flow->prev = b;
    f->flow = b;
    return b;
}

static void flow_unlink(struct bulk *b)
{
    struct fleet *f = b->path->from->fleet;

    if (b->next)
        b->next->prev = b->prev;
    *(b->prev ? &b->prev->next : &f->flow) = b->next;
}

static void flow_free(struct bulk *b)
{
    struct fleet *f = b->path->from->fleet;

    b->next = f->flow_spare;
    f->flow_spare = b;
}

/* The receiver's NIC notices a flow. */
static void notice(struct timer *t, sim_time now)
{
    struct bulk *b = container_of(t, struct packet, timer)->bulk;
    struct machine *to = b->path->to;

    (void)now;
    if (!to->up)
        return;
    b->noticed = true;
    b->boots[1] = to->boots;
    lane_flow(&to->rx, to->nic_rate, b, true);
}

void bulk_start(struct packet *p, int64_t bytes)
{
    struct machine *from = p->from;
    struct packet *copy;
    struct bulk *b;

    p->path = machine_path(from, p->to);
    BUG_ON(!p->path || p->path->latency <= 0 || bytes <= 0 || !from->up);
    p->sent = p->left = machine_now(from);
    b = flow_new(p, bytes);
    p->bulk = b;
    number(p);
    copy = packet_new(from, p->to);
    *copy = *p;
    timer_init(&copy->timer, NULL);
    number(copy);
    b->copy = copy;
    b->boots[0] = from->boots;
    b->taken = p->path->slowest ? p->path->slowest : from->nic_rate;
    lane_flow(&from->tx, from->nic_rate, b, true);
    arm(p, p->to, notice, p->sent + p->path->latency);
    if (p->path->off || !p->to->up)
        bulk_abort(b, p->sent);
    else
        from->fleet->carry(from->fleet, b);
}

/* One end is told that a bulk transfer has ended. */
static void tell(struct packet *p, struct machine *m, struct lane *lane, uint32_t boots,
                 bool noticed)
{
    struct bulk *b = p->bulk;
    bool ok = b->ok;

    if (noticed && m->boots == boots)
        lane_flow(lane, m->nic_rate, b, false);
    if (--b->ends == 0)
        flow_free(b);
    p->bulk = NULL;
    if (!m->up && m == p->to)
        lose(m, p, LOSS_HOST);
    else if (m->up && m->ops->bulk_done)
        m->ops->bulk_done(m, p, ok);
    else
        packet_free(p);
}

static void tell_sender(struct timer *t, sim_time now)
{
    struct packet *p = container_of(t, struct packet, timer);

    (void)now;
    tell(p, p->from, &p->from->tx, p->bulk->boots[0], true);
}

static void tell_receiver(struct timer *t, sim_time now)
{
    struct packet *p = container_of(t, struct packet, timer);

    (void)now;
    tell(p, p->to, &p->to->rx, p->bulk->boots[1], p->bulk->noticed);
}

/* A packet that was a SimGrid communication has come in. */
static void come_by_simgrid(struct timer *t, sim_time now)
{
    struct packet *p = container_of(t, struct packet, timer);
    struct bulk *b = p->bulk;
    enum loss why = fate(p);

    if (why == LOSS_KINDS && !b->ok)
        why = LOSS_LINK; /* cut, but all is well again */
    flow_free(b);
    p->bulk = NULL;
    if (why == LOSS_KINDS)
        deliver(t, now);
    else
        lose(p->to, p, why);
}

static void send_by_simgrid(struct packet *p)
{
    struct bulk *b = flow_new(p, p->bytes);

    p->left = p->sent;
    p->bulk = b;
    if (p->path->off || !p->to->up)
        bulk_abort(b, p->sent);
    else
        p->from->fleet->carry(p->from->fleet, b);
}

/* SimGrid's flows pass all links of a route at once, at the rate of the slowest. Add what a packet
 * takes more, being stored and forwarded. */
static sim_time store_and_forward(const struct bulk *b)
{
    const struct path *path = b->path;
    uint32_t bytes = b->packet->bytes;

    return wire_time(bytes, path->from->nic_rate) + wire_time(bytes, path->to->nic_rate) +
           middle(path, bytes) - wire_time(bytes, path->slowest);
}

static void finish(struct bulk *b, sim_time when)
{
    struct packet *p = b->packet;

    flow_unlink(b);
    if (!b->copy) {
        arm(p, p->to, come_by_simgrid, when);
        return;
    }
    b->ends = 2;
    arm(p, p->to, tell_receiver, when);
    arm(b->copy, p->from, tell_sender, when);
}

/* Numbers this size (below 2^53) have exact floors by conversion; end is not negative. */
void bulk_end(struct bulk *b, double end)
{
    int64_t grid;

    if (!b->copy) {
        finish(b, (sim_time)(end + 0.5) + store_and_forward(b));
        return;
    }
    grid = (int64_t)((end + (BULK_GRID - BULK_PHASE)) / BULK_GRID);
    finish(b, (grid + 1) * (int64_t)BULK_GRID + b->path->latency);
}

void bulk_abort(struct bulk *b, sim_time now)
{
    struct fleet *f = b->path->from->fleet;

    b->ok = false;
    if (b->helper)
        f->cancel(f, b);
    finish(b, now + b->path->latency);
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static uint32_t path_slot(const struct machine *from, const struct machine *to)
{
    uint32_t mask = from->path_capacity - 1, i = to->id * 2654435769u >> 7 & mask;

    while (from->path[i] && from->path[i]->to != to)
        i = (i + 1) & mask;
    return i;
}

struct path *machine_path(const struct machine *from, const struct machine *to)
{
    return from->path_count ? from->path[path_slot(from, to)] : NULL;
}

static void path_insert(struct machine *m, struct path *p)
{
    if (2 * (m->path_count + 1) > m->path_capacity) {
        struct path **old = m->path;
        uint32_t old_capacity = m->path_capacity;

        m->path_capacity = old_capacity ? 2 * old_capacity : 4;
        m->path = xcalloc(m->path_capacity, sizeof(struct path *));
        for (uint32_t i = 0; i < old_capacity; i++)
            if (old[i])
                m->path[path_slot(m, old[i]->to)] = old[i];
        free(old);
    }
    m->path[path_slot(m, p->to)] = p;
    m->path_count++;
}

struct path *fleet_connect(struct machine *from, struct machine *to)
{
    struct path *p = machine_path(from, to);

    BUG_ON(from == to || !from->fleet || from->fleet != to->fleet);
    if (p)
        return p;
    p = xcalloc(1, sizeof *p);
    *p = (struct path){.from = from, .to = to, .back = machine_path(to, from), .on_at = -1};
    path_insert(from, p);
    if (p->back)
        p->back->back = p;
    return p;
}

void fleet_connect_all(struct fleet *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        for (uint32_t j = 0; j < f->count; j++)
            if (i != j)
                fleet_connect(f->machine[i], f->machine[j]);
}

void path_set(struct path *p, sim_time latency, int64_t slowest)
{
    p->base_ps = latency * PS_PER_NS;
    p->slowest = slowest;
}

uint32_t fleet_add_link(struct fleet *f, const char *name, int64_t latency_ps, int64_t bandwidth)
{
    if ((f->link_count & (f->link_count - 1)) == 0)
        f->link = xrealloc(f->link, (f->link_count ? 2 * f->link_count : 1) * sizeof *f->link);
    f->link[f->link_count] = (struct link_state){
        .name = xstrdup(name), .latency_ps = latency_ps, .bandwidth = bandwidth};
    return f->link_count++;
}

/* Line rates that the user did not set are those of the links next to the host. */
static void widen(struct machine *m, int64_t bandwidth)
{
    if (!m->line_rate && m->nic_rate < bandwidth)
        m->nic_rate = bandwidth;
}

static void path_compute(struct fleet *f, struct path *p)
{
    int64_t ps = p->base_ps;

    for (uint32_t i = 0; i < p->link_count; i++) {
        const struct link_state *l = &f->link[p->link[i]];

        ps += l->latency_ps;
        if (i == 0 || l->bandwidth < p->slowest)
            p->slowest = l->bandwidth;
    }
    p->latency = (ps + PS_PER_NS / 2) / PS_PER_NS;
    if (f->latency > p->latency)
        f->latency = p->latency;
    if (p->link_count) {
        widen(p->from, f->link[p->link[0]].bandwidth);
        widen(p->to, f->link[p->link[p->link_count - 1]].bandwidth);
    }
}

void fleet_rewire(struct fleet *f)
{
    f->latency = SIM_NEVER;
    for (uint32_t i = 0; i < f->count; i++)
        f->machine[i]->nic_rate = f->machine[i]->line_rate;
    for (uint32_t i = 0; i < f->count; i++)
        for (uint32_t k = 0; k < f->machine[i]->path_capacity; k++)
            if (f->machine[i]->path[k])
                path_compute(f, f->machine[i]->path[k]);
    for (uint32_t i = 0; i < f->count; i++) {
        lane_share(&f->machine[i]->tx, f->machine[i]->nic_rate);
        lane_share(&f->machine[i]->rx, f->machine[i]->nic_rate);
    }
}

/* ---- Platform changes ------------------------------------------------------------------------ */

bool wire_link_is(const struct link_state *l, const char *name)
{
    size_t n = strlen(name);

    return strncmp(l->name, name, n) == 0 &&
           (!l->name[n] || strcmp(l->name + n, "_UP") == 0 || strcmp(l->name + n, "_DOWN") == 0);
}

bool wire_uses_link(const struct fleet *f, const char *link)
{
    for (uint32_t i = 0; i < f->link_count; i++)
        if (wire_link_is(&f->link[i], link))
            return true;
    return false;
}

static bool path_uses(const struct path *p, uint32_t link)
{
    for (uint32_t i = 0; i < p->link_count; i++)
        if (p->link[i] == link)
            return true;
    return false;
}

static void path_switch(struct path *p, bool off, sim_time now)
{
    p->off += off ? 1 : -1;
    if (!p->off)
        p->on_at = now;
}

/* Aborting unlinks a flow, but leaves the others where they are. */
static void abort_flows(struct fleet *f, bool (*concerned)(const struct bulk *b, const void *what),
                        const void *what, sim_time now)
{
    for (struct bulk *b = f->flow, *next; b; b = next) {
        next = b->next;
        if (concerned(b, what))
            bulk_abort(b, now);
    }
}

static bool flow_uses(const struct bulk *b, const void *link)
{
    return path_uses(b->path, *(const uint32_t *)link);
}

static void switch_link(struct fleet *f, uint32_t index, bool off, sim_time now)
{
    f->link[index].off = off;
    for (uint32_t i = 0; i < f->count; i++)
        for (uint32_t k = 0; k < f->machine[i]->path_capacity; k++)
            if (f->machine[i]->path[k] && path_uses(f->machine[i]->path[k], index))
                path_switch(f->machine[i]->path[k], off, now);
    if (off)
        abort_flows(f, flow_uses, &index, now);
}

void wire_link_switch(struct fleet *f, const char *link, bool off, sim_time now)
{
    for (uint32_t i = 0; i < f->link_count; i++)
        if (wire_link_is(&f->link[i], link) && f->link[i].off != off)
            switch_link(f, i, off, now);
}

void wire_link_latency(struct fleet *f, const char *link, sim_time latency)
{
    BUG_ON(latency <= 0);
    for (uint32_t i = 0; i < f->link_count; i++)
        if (wire_link_is(&f->link[i], link))
            f->link[i].latency_ps = latency * PS_PER_NS;
    fleet_rewire(f);
}

void wire_link_bandwidth(struct fleet *f, const char *link, int64_t bandwidth)
{
    BUG_ON(bandwidth <= 0);
    for (uint32_t i = 0; i < f->link_count; i++)
        if (wire_link_is(&f->link[i], link))
            f->link[i].bandwidth = bandwidth;
    fleet_rewire(f);
}

/* Packets and flows on the wire stay, and so do the timeline's actions; packets in the NIC are
 * collected in their order, to be lost. (The order in the heap depends on the lookahead.) */
static bool survives(struct timer *t, void *arg)
{
    struct packet **held = arg, *p = container_of(t, struct packet, timer);

    if (t->fire == deliver) {
        while (*held && ((*held)->timer.when < t->when ||
                         ((*held)->timer.when == t->when && (*held)->timer.order < t->order)))
            held = &(*held)->next;
        p->next = *held;
        *held = p;
        return false;
    }
    return t->fire == come_in || t->fire == come_by_simgrid || t->fire == notice ||
           t->fire == tell_sender || t->fire == tell_receiver ||
           (timer_rank(t) == RANK_EXTERNAL && (t->order & KEY_ACTION));
}

static bool flow_touches(const struct bulk *b, const void *machine)
{
    return b->path->from == machine || b->path->to == machine;
}

void wire_abort_flows(struct machine *m, sim_time now)
{
    abort_flows(m->fleet, flow_touches, m, now);
}

void wire_machine_off(struct machine *m)
{
    struct packet *held = NULL, *next;

    queue_cancel_unless(&m->queue, survives, &held);
    for (; held; held = next) {
        next = held->next;
        held->next = NULL;
        lose(m, held, LOSS_HOST);
    }
    m->tx = m->rx = (struct lane){.rate = m->nic_rate};
    if (m->fleet)
        wire_abort_flows(m, machine_now(m));
}

/* ---- The end -------------------------------------------------------------------------------- */

static void free_flows(struct bulk *b)
{
    while (b) {
        struct bulk *next = b->next;

        free(b);
        b = next;
    }
}

void wire_free(struct fleet *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        struct machine *m = f->machine[i];

        for (uint32_t k = 0; k < m->path_capacity; k++)
            if (m->path[k]) {
                free(m->path[k]->link);
                free(m->path[k]);
            }
        free(m->path);
        m->path = NULL;
        m->path_count = m->path_capacity = 0;
    }
    for (uint32_t i = 0; i < f->link_count; i++)
        free(f->link[i].name);
    free(f->link);
    for (uint32_t i = 0; i < f->block_count; i++)
        free(f->block[i]);
    free(f->block);
    free_flows(f->flow);
    free_flows(f->flow_spare);
}
