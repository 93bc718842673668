/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/outcome.h"

#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing -----------------------------------------------------------------------------------
 */

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

void outcome_write(const struct layout *l, const struct world *w, FILE *out)
{
    struct client_results *merged = xcalloc(l->clients, sizeof *merged);
    struct sample *samples = xcalloc(l->cells, sizeof *samples);

    metrics_read(l, w, merged, samples);
    put_number(out, l->cells);
    put(out, samples, l->cells * sizeof *samples);
    for (size_t i = 0; i < l->clients; i++) {
        put_histogram(out, &merged[i].latency);
        put_histogram(out, &merged[i].intended);
        put_breakdown(out, &merged[i].breakdown);
        put(out, &merged[i].counts, sizeof merged[i].counts);
    }
    free_clients(merged, l->clients);
    free(samples);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

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

static void get_histogram(struct reader *r, struct histogram *into)
{
    struct histogram h;
    uint64_t bits = get_number(r), filled;

    if (!bits)
        return;
    if (bits < 3 || bits > 16) {
        r->bad = true;
        return;
    }
    if (!into->bucket)
        histogram_init(into, (unsigned)bits);
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
        histogram_merge(into, &h);
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

/* ---- tallies -----------------------------------------------------------------------------------
 */

void tally_init(struct tally *t, const struct layout *l, size_t replications, double level)
{
    *t = (struct tally){.layout = l, .level = level, .capacity = replications};
    t->sample = xcalloc(l->cells * replications, sizeof *t->sample);
    t->client = xcalloc(l->clients, sizeof *t->client);
}

void tally_free(struct tally *t)
{
    if (t->client)
        free_clients(t->client, t->layout->clients);
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
    for (size_t i = 0; i < l->clients; i++) {
        get_histogram(&r, &t->client[i].latency);
        get_histogram(&r, &t->client[i].intended);
        get_breakdown(&r, &t->client[i].breakdown);
        get_counts(&r, &t->client[i].counts);
    }
    if (r.bad || r.at != r.end)
        return error_add(e, EXIT_INTERNAL, "the result of a replication is damaged");
    t->count++;
    return 0;
}

/* The histogram of all replications that a quantile of a client is from, or NULL. */
static const struct histogram *pooled(const struct tally *t, const struct subject *s,
                                      const struct metric *m)
{
    const struct client_results *c = &t->client[s - t->layout->subject];

    if (s->kind != SUBJECT_CLIENT || m->estimate != ESTIMATE_QUANTILE)
        return NULL;
    return strncmp(m->name, "intended", strlen("intended")) ? &c->latency : &c->intended;
}

struct interval tally_interval(const struct tally *t, const struct subject *s,
                               const struct metric *m)
{
    struct interval i = metric_interval(m, tally_samples(t, layout_cell(s, m)), t->count, t->level);
    const struct histogram *h = interval_given(&i) ? NULL : pooled(t, s, m);

    if (h && h->count)
        i.estimate = histogram_estimate(h, m->q) / 1e6;
    return i;
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
