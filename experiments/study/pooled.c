/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/study/pooled.h"

#include "sim/error.h"

#include <math.h>
#include <stdlib.h>

void pooled_free(struct pooled *p)
{
    for (size_t i = 0; i < p->parts; i++)
        free(p->part[i].cell);
    free(p->part);
    if (p->all.bucket)
        histogram_free(&p->all);
}

static void fill(struct pooled_part *part, const struct histogram *h)
{
    uint32_t filled = 0;

    for (uint32_t i = 0; i < h->buckets; i++)
        filled += h->bucket[i] != 0;
    part->cell = xcalloc(filled, sizeof *part->cell);
    for (uint32_t i = 0; i < h->buckets; i++) {
        BUG_ON(h->bucket[i] > UINT32_MAX);
        if (h->bucket[i])
            part->cell[part->cells++] = (struct pooled_cell){i, (uint32_t)h->bucket[i]};
    }
    part->count = h->count;
    part->sum_low = h->sum_low;
    part->sum_high = h->sum_high;
}

void pooled_add(struct pooled *p, const struct histogram *h)
{
    p->part = xrealloc(p->part, (p->parts + 1) * sizeof *p->part);
    p->part[p->parts++] = (struct pooled_part){0};
    if (!h->bucket)
        return;
    fill(&p->part[p->parts - 1], h);
    if (!p->all.bucket)
        histogram_init(&p->all, h->bits);
    histogram_merge(&p->all, h);
}

double pooled_figure(const struct pooled *p, double q)
{
    if (!p->all.bucket || !p->all.count)
        return NAN;
    return q < 0 ? histogram_mean(&p->all) : histogram_estimate(&p->all, q);
}

/* The 128-bit sum is kept in two halves. */
static void subtract(struct histogram *h, const struct pooled_part *part)
{
    h->sum_high -= part->sum_high + (h->sum_low < part->sum_low);
    h->sum_low -= part->sum_low;
    h->count -= part->count;
    for (uint32_t i = 0; i < part->cells; i++)
        h->bucket[part->cell[i].bucket] -= part->cell[i].count;
}

static void restore(struct histogram *h, const struct pooled_part *part)
{
    h->sum_low += part->sum_low;
    h->sum_high += part->sum_high + (h->sum_low < part->sum_low);
    h->count += part->count;
    for (uint32_t i = 0; i < part->cells; i++)
        h->bucket[part->cell[i].bucket] += part->cell[i].count;
}

double pooled_figure_without(struct pooled *p, size_t part, double q)
{
    double figure;

    if (!p->all.bucket)
        return NAN;
    subtract(&p->all, &p->part[part]);
    figure = pooled_figure(p, q);
    restore(&p->all, &p->part[part]);
    return figure;
}

double pooled_figure_of(const struct pooled *p, size_t part, double q)
{
    const struct pooled_part *one = &p->part[part];
    double rank = q * (double)one->count + 0.5, below = 0;

    if (!one->count)
        return NAN;
    for (uint32_t i = 0; i < one->cells; i++) {
        double low = (double)histogram_lowest(&p->all, one->cell[i].bucket);
        double high = (double)histogram_highest(&p->all, one->cell[i].bucket);

        if (below + one->cell[i].count >= rank || i + 1 == one->cells)
            return low + (high - low) * fmin(1, (rank - below) / one->cell[i].count);
        below += one->cell[i].count;
    }
    return NAN;
}
