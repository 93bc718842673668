/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/study/outcome.h"

#include "sim/stats.h"
#include "sim/wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_TO_MS 1e6

/* ---- writing --------------------------------------------------------------------------------- */

static void put(FILE *out, const void *data, size_t size)
{
    fwrite(data, size, 1, out);
}

static void put_number(FILE *out, uint64_t n)
{
    put(out, &n, sizeof n);
}

static void put_histogram(FILE *out, const struct histogram *h)
{
    uint64_t filled = 0;

    put_number(out, h->bucket ? h->bits : 0);
    if (!h->bucket)
        return;
    for (uint32_t i = 0; i < h->buckets; i++)
        filled += h->bucket[i] != 0;
    put(out, &h->count, sizeof h->count);
    put(out, &h->clipped, sizeof h->clipped);
    put(out, &h->min, sizeof h->min);
    put(out, &h->max, sizeof h->max);
    put(out, &h->sum_low, sizeof h->sum_low);
    put(out, &h->sum_high, sizeof h->sum_high);
    put_number(out, filled);
    for (uint32_t i = 0; i < h->buckets; i++)
        if (h->bucket[i]) {
            put(out, &i, sizeof i);
            put(out, &h->bucket[i], sizeof h->bucket[i]);
        }
}

static void put_breakdown(FILE *out, const struct breakdown *b)
{
    uint64_t filled = 0;

    for (uint32_t i = 0; i < b->cells; i++)
        filled += b->cell[i].count != 0;
    put_number(out, b->cells);
    put_number(out, filled);
    for (uint32_t i = 0; i < b->cells; i++)
        if (b->cell[i].count) {
            put(out, &i, sizeof i);
            put(out, &b->cell[i], sizeof b->cell[i]);
        }
}

static void free_clients(struct client_results *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!c[i].latency.bucket)
            continue;
        histogram_free(&c[i].latency);
        histogram_free(&c[i].intended);
        breakdown_free(&c[i].breakdown);
    }
    free(c);
}

static sim_time wire_of(const struct world_loop *wl, uint32_t replica)
{
    const struct control_loop *l = &wl->loop;
    struct machine *node = l->replica[replica].machine, *field = l->agent.machine;
    const struct path *there, *back;

    if (!wl->node[replica].node)
        return -1;
    there = machine_path(field, node);
    back = machine_path(node, field);
    return there->latency + back->latency +
           2 * (wire_time(l->params->bytes, field->nic_rate) +
                wire_time(l->params->bytes, node->nic_rate));
}

static void put_rounds(FILE *out, const struct world_loop *wl)
{
    const struct control_record *r = &wl->agent.record;
    size_t n = r->end - r->first;

    for (uint32_t i = 0; i < r->replicas; i++) {
        sim_time wire = wire_of(wl, i);

        put(out, &wire, sizeof wire);
    }

    put_number(out, n);
    put(out, r->delay + r->first * r->replicas, n * r->replicas * sizeof *r->delay);
    put(out, r->accepted + r->first, n * sizeof *r->accepted);
}

void outcome_write(const struct layout *l, const struct world *w, FILE *out)
{
    struct client_results *merged = xcalloc(l->clients, sizeof *merged);
    const struct histogram **pools = xcalloc(l->pools, sizeof(struct histogram *));
    struct sample *samples = xcalloc(l->cells, sizeof *samples);

    metrics_read(l, w, merged, samples);
    metrics_distributions(l, w, merged, pools);
    put_number(out, l->cells);
    put(out, samples, l->cells * sizeof *samples);
    for (size_t i = 0; i < l->pools; i++)
        put_histogram(out, pools[i]);
    for (size_t i = 0; i < l->clients; i++) {
        put_breakdown(out, &merged[i].breakdown);
        put(out, &merged[i].counts, sizeof merged[i].counts);
    }
    for (size_t i = 0; i < l->roster->loops; i++)
        put_rounds(out, &w->loop[i]);
    free(pools);
    free_clients(merged, l->clients);
    free(samples);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    const char *at, *end;
    bool bad;
};

static void get(struct reader *r, void *data, size_t size)
{
    if (r->bad || (size_t)(r->end - r->at) < size) {
        r->bad = true;
        memset(data, 0, size);
        return;
    }
    memcpy(data, r->at, size);
    r->at += size;
}

static uint64_t get_number(struct reader *r)
{
    uint64_t n;

    get(r, &n, sizeof n);
    return n;
}

static void get_histogram(struct reader *r, struct pooled *into)
{
    struct histogram h = {0};
    uint64_t bits = get_number(r), filled;

    if (bits && (bits < 3 || bits > 16)) {
        r->bad = true;
        return;
    }
    if (!bits) {
        pooled_add(into, &h);
        return;
    }
    histogram_init(&h, (unsigned)bits);
    get(r, &h.count, sizeof h.count);
    get(r, &h.clipped, sizeof h.clipped);
    get(r, &h.min, sizeof h.min);
    get(r, &h.max, sizeof h.max);
    get(r, &h.sum_low, sizeof h.sum_low);
    get(r, &h.sum_high, sizeof h.sum_high);
    filled = get_number(r);
    for (uint64_t i = 0; i < filled && !r->bad; i++) {
        uint32_t index;

        get(r, &index, sizeof index);
        if (index >= h.buckets)
            r->bad = true;
        else
            get(r, &h.bucket[index], sizeof h.bucket[index]);
    }
    if (!r->bad)
        pooled_add(into, &h);
    histogram_free(&h);
}

static void get_breakdown(struct reader *r, struct breakdown *into)
{
    struct breakdown b;
    uint64_t cells = get_number(r), filled = get_number(r);

    if (!cells)
        return;
    breakdown_init(&b);
    if (!into->cell)
        breakdown_init(into);
    if (cells != b.cells)
        r->bad = true;
    for (uint64_t i = 0; i < filled && !r->bad; i++) {
        uint32_t index;

        get(r, &index, sizeof index);
        if (index >= b.cells)
            r->bad = true;
        else
            get(r, &b.cell[index], sizeof b.cell[index]);
    }
    if (!r->bad)
        breakdown_merge(into, &b);
    breakdown_free(&b);
}

static void get_counts(struct reader *r, struct client_counts *into)
{
    struct client_counts c;

    get(r, &c, sizeof c);
    client_counts_add(into, &c);
}

static void get_rounds(struct reader *r, size_t replicas, struct tally_rounds *into)
{
    size_t n, bytes;

    get(r, into->wire, replicas * sizeof *into->wire);
    n = get_number(r);
    bytes = n * (replicas + 1) * sizeof(sim_time);
    if (r->bad || n > (size_t)(r->end - r->at) || bytes > (size_t)(r->end - r->at)) {
        r->bad = true;
        return;
    }
    into->rounds = n;
    into->delay = xcalloc(n * replicas, sizeof *into->delay);
    into->accepted = xcalloc(n, sizeof *into->accepted);
    get(r, into->delay, n * replicas * sizeof *into->delay);
    get(r, into->accepted, n * sizeof *into->accepted);
}

/* ---- tallies --------------------------------------------------------------------------------- */

void tally_init(struct tally *t, const struct layout *l, size_t replications, double level)
{
    *t = (struct tally){.layout = l, .level = level, .capacity = replications};
    t->sample = xcalloc(l->cells * replications, sizeof *t->sample);
    t->pool = xcalloc(l->pools, sizeof *t->pool);
    t->client = xcalloc(l->clients, sizeof *t->client);
    t->loop = xcalloc(l->roster->loops * replications, sizeof *t->loop);
}

void tally_forget(struct tally *t)
{
    for (size_t i = 0; t->pool && i < t->layout->pools; i++) {
        pooled_free(&t->pool[i]);
        t->pool[i] = (struct pooled){0};
    }
    for (size_t i = 0; t->client && i < t->layout->clients; i++) {
        if (t->client[i].breakdown.cell)
            breakdown_free(&t->client[i].breakdown);
        t->client[i] = (struct tally_client){0};
    }
    for (size_t i = 0; t->loop && i < t->layout->roster->loops * t->capacity; i++) {
        free(t->loop[i].delay);
        free(t->loop[i].accepted);
        t->loop[i] = (struct tally_rounds){0};
    }
}

void tally_free(struct tally *t)
{
    tally_forget(t);
    free(t->loop);
    free(t->pool);
    free(t->client);
    free(t->sample);
}

int tally_add(struct tally *t, const void *data, size_t size, struct errors *e)
{
    const struct layout *l = t->layout;
    struct reader r = {data, (const char *)data + size, t->count == t->capacity};

    if (get_number(&r) != l->cells)
        r.bad = true;
    for (size_t cell = 0; cell < l->cells && !r.bad; cell++)
        get(&r, &t->sample[cell * t->capacity + t->count], sizeof *t->sample);
    for (size_t i = 0; i < l->pools; i++)
        get_histogram(&r, &t->pool[i]);
    for (size_t i = 0; i < l->clients; i++) {
        get_breakdown(&r, &t->client[i].breakdown);
        get_counts(&r, &t->client[i].counts);
    }
    for (size_t i = 0; i < l->roster->loops && !r.bad; i++)
        get_rounds(&r, l->roster->loop[i].replicas, &t->loop[i * t->capacity + t->count]);
    if (r.bad || r.at != r.end)
        return error_add(e, EXIT_INTERNAL, "the result of a replication is damaged");
    t->count++;
    return 0;
}

struct pooled *tally_pool(const struct tally *t, const struct subject *s, enum distribution_kind of)
{
    size_t pool = layout_pool(s, of);

    return pool != SIZE_MAX && t->pool[pool].all.bucket ? &t->pool[pool] : NULL;
}

enum interval_none tally_obstacle(const struct tally *t, const struct subject *s,
                                  const struct metric *m, uint64_t *need)
{
    const struct pooled *p = tally_pool(t, s, m->of);

    *need = 0;
    if (!p || t->count < 2)
        return INTERVAL_FEW_VALUES;
    if (m->estimate == ESTIMATE_MAXIMUM)
        return INTERVAL_MAXIMUM;
    for (size_t i = 0; i < p->parts; i++) {
        uint64_t n = p->part[i].count;

        if (m->estimate == ESTIMATE_QUANTILE && quantile_beyond(m->q, n) < INTERVAL_BEYOND) {
            *need = quantile_need(m->q, INTERVAL_BEYOND);
            return INTERVAL_FEW_BEYOND;
        }
        if (!n)
            return INTERVAL_FEW_VALUES;
    }
    return INTERVAL_GIVEN;
}

/* Of a distribution: from all replications together. */
static struct interval pooled_interval(const struct tally *t, const struct subject *s,
                                       const struct metric *m)
{
    struct pooled *p = tally_pool(t, s, m->of);
    struct interval i = {
        .estimate = NAN, .low = NAN, .high = NAN, .level = t->level, .n = t->count};
    double *without;

    if (p)
        i.estimate = pooled_figure(p, m->q) / NS_TO_MS;
    i.none = tally_obstacle(t, s, m, &i.need);
    if (i.none != INTERVAL_GIVEN)
        return i;
    without = xcalloc(p->parts, sizeof *without);
    for (size_t k = 0; k < p->parts; k++)
        without[k] = pooled_figure_without(p, k, m->q) / NS_TO_MS;
    i = interval_jackknife(i.estimate, without, p->parts, t->level);
    free(without);
    return i;
}

struct interval tally_interval(const struct tally *t, const struct subject *s,
                               const struct metric *m)
{
    if (m->of != OF_NONE && m->estimate != ESTIMATE_MAXIMUM)
        return pooled_interval(t, s, m);
    return metric_interval(m, tally_samples(t, layout_cell(s, m)), t->count, t->level);
}

sim_time tally_duration_needed(const struct tally *t, const struct subject *s,
                               const struct metric *m, const struct interval *i, sim_time duration)
{
    const struct sample *samples = tally_samples(t, layout_cell(s, m));
    uint64_t fewest = UINT64_MAX;
    double needed;

    if (i->none != INTERVAL_FEW_BEYOND || !t->count)
        return 0;
    for (size_t k = 0; k < t->count; k++)
        if (samples[k].n < fewest)
            fewest = samples[k].n;
    if (!fewest)
        return 0;
    needed = (double)duration * ((double)i->need / (double)fewest);
    if (needed > 1e18)
        return 0;
    /* whole seconds, and a tenth more, because counts vary */
    return ((sim_time)(needed * 1.1) / NS_PER_S + 1) * NS_PER_S;
}
