/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/breakdown.h"

#include "sim/error.h"
#include "sim/histogram.h"

#include <stdlib.h>
#include <string.h>

enum { BREAKDOWN_BITS = 5 }; /* 16 cells per power of two */

const struct part_name part_names[PARTS] = {
#define X(part, text, what) [PART_##part] = {text, what},
    BREAKDOWN_PARTS(X)
#undef X
};

/* The time that ends with a hop, since the hop before it, belongs to this part. */
static const uint8_t part_until[HOPS] = {
    [HOP_WIRE] = PART_CLIENT,    [HOP_NIC] = PART_WIRE,          [HOP_DRIVER] = PART_DOM0,
    [HOP_VIF] = PART_DOM0,       [HOP_NETBACK] = PART_DOM0,      [HOP_NOTIFY] = PART_DOM0,
    [HOP_NETFRONT] = PART_GUEST, [HOP_SOCKET] = PART_GUEST,      [HOP_START] = PART_GUEST,
    [HOP_END] = PART_SERVICE,    [HOP_BACK_NETBACK] = PART_BACK, [HOP_BACK_NIC] = PART_BACK,
    [HOP_BACK] = PART_WIRE,      [HOP_DONE] = PART_CLIENT,
};

/* Waiting is taken out of the part it lies in. */
static const struct {
    enum packet_value value;
    enum part within, part;
} waits[] = {
    {VALUE_NIC_WAIT, PART_DOM0, PART_NIC},
    {VALUE_DOM0_WAIT, PART_DOM0, PART_DOM0_WAIT},
    {VALUE_VCPU_WAIT, PART_GUEST, PART_VCPU_WAIT},
    {VALUE_SERVICE_WAIT, PART_SERVICE, PART_VCPU_WAIT},
    {VALUE_BACK_WAIT, PART_BACK, PART_BACK_WAIT},
};

void breakdown_of(const struct packet *p, sim_time part[PARTS])
{
    bool direct = !p->stamp[HOP_VIF]; /* passthrough: the guest drives the NIC */
    sim_time last = p->stamp[HOP_SEND];

    memset(part, 0, PARTS * sizeof *part);
    for (int hop = HOP_WIRE; hop < HOPS; hop++) {
        if (!p->stamp[hop])
            continue;
        part[direct && hop == HOP_DRIVER ? PART_GUEST : part_until[hop]] += p->stamp[hop] - last;
        last = p->stamp[hop];
    }
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        sim_time waited = p->value[waits[i].value];

        part[direct && waits[i].within == PART_DOM0 ? PART_GUEST : waits[i].within] -= waited;
        part[waits[i].part] += waited;
    }
    part[PART_LOST] = p->value[VALUE_LOST];
    part[PART_CLIENT] -= p->value[VALUE_LOST];
}

/* ---- cells ----------------------------------------------------------------------------------- */

static const struct histogram scale = {.bits = BREAKDOWN_BITS};

void breakdown_init(struct breakdown *b)
{
    b->cells = histogram_index(&scale, (INT64_C(1) << HISTOGRAM_RANGE_BITS) - 1) + 1;
    b->cell = xcalloc(b->cells, sizeof *b->cell);
}

void breakdown_free(struct breakdown *b)
{
    free(b->cell);
    *b = (struct breakdown){0};
}

void breakdown_reset(struct breakdown *b)
{
    memset(b->cell, 0, b->cells * sizeof *b->cell);
}

void breakdown_record(struct breakdown *b, sim_time latency, const sim_time part[PARTS])
{
    uint32_t i = histogram_index(&scale, latency);
    struct breakdown_cell *c = &b->cell[i < b->cells ? i : b->cells - 1];

    c->count++;
    for (int k = 0; k < PARTS; k++)
        c->sum[k] += part[k];
}

void breakdown_merge(struct breakdown *b, const struct breakdown *from)
{
    for (uint32_t i = 0; i < b->cells; i++) {
        b->cell[i].count += from->cell[i].count;
        for (int k = 0; k < PARTS; k++)
            b->cell[i].sum[k] += from->cell[i].sum[k];
    }
}

static uint64_t total(const struct breakdown *b)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < b->cells; i++)
        n += b->cell[i].count;
    return n;
}

uint64_t breakdown_between(const struct breakdown *b, double low, double high, double mean[PARTS])
{
    double n = (double)total(b), before = 0;
    uint64_t count = 0;
    uint32_t last = 0;

    for (int k = 0; k < PARTS; k++)
        mean[k] = 0;
    for (uint32_t i = 0; i < b->cells; i++)
        if (b->cell[i].count)
            last = i;
    for (uint32_t i = 0; i <= last && n > 0; i++) {
        const struct breakdown_cell *c = &b->cell[i];
        double middle = (before + (double)c->count / 2) / n;

        before += (double)c->count;
        if (!c->count || ((middle <= low || middle > high) && !(i == last && high >= 1)))
            continue;
        count += c->count;
        for (int k = 0; k < PARTS; k++)
            mean[k] += (double)c->sum[k];
    }
    for (int k = 0; k < PARTS && count; k++)
        mean[k] /= (double)count;
    return count;
}

void parts_put_names(struct json_writer *w)
{
    json_begin(w, "parts", '[');
    for (int i = 0; i < PARTS; i++) {
        json_begin_inline(w, NULL, '{');
        json_put_string(w, "name", part_names[i].name);
        json_put_string(w, "meaning", part_names[i].meaning);
        json_end(w);
    }
    json_end(w);
}
