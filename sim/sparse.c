/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text: "bits:count:clipped:min:max:sum_high:sum_low:" and for each filled bucket its distance
 * from the one before it and, unless that is 1, "x" and its count, separated by commas; "0" for an
 * empty one. Decimal, as most numbers have one or two digits.
 */
#include "sim/sparse.h"

#include "sim/error.h"

#include <math.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 uint128;

void sparse_free(struct sparse *s)
{
    free(s->cell);
    *s = (struct sparse){0};
}

struct sparse sparse_of(const struct histogram *h)
{
    struct sparse s = {.bits = h->bucket ? h->bits : 0,
                       .count = h->count,
                       .clipped = h->clipped,
                       .min = h->min,
                       .max = h->max,
                       .sum_low = h->sum_low,
                       .sum_high = h->sum_high};
    uint32_t filled = 0;

    if (!s.bits || !s.count)
        return (struct sparse){0};
    for (uint32_t i = 0; i < h->buckets; i++)
        filled += h->bucket[i] != 0;
    s.cell = xcalloc(filled, sizeof *s.cell);
    for (uint32_t i = 0; i < h->buckets; i++)
        if (h->bucket[i])
            s.cell[s.cells++] = (struct sparse_cell){i, h->bucket[i]};
    return s;
}

/* ---- sums -------------------------------------------------------------------------------------
 */

static uint128 sum_of(const struct sparse *s)
{
    return (uint128)s->sum_high << 64 | s->sum_low;
}

/* Cells of a and b into `to`, which has room for all of them. */
static uint32_t merge(const struct sparse_cell *a, uint32_t n, const struct sparse_cell *b,
                      uint32_t m, struct sparse_cell *to)
{
    uint32_t i = 0, k = 0, filled = 0;

    while (i < n || k < m) {
        if (k == m || (i < n && a[i].bucket < b[k].bucket))
            to[filled++] = a[i++];
        else if (i == n || b[k].bucket < a[i].bucket)
            to[filled++] = b[k++];
        else {
            to[filled++] = (struct sparse_cell){a[i].bucket, a[i].count + b[k].count};
            i++, k++;
        }
    }
    return filled;
}

static void add(struct sparse *all, const struct sparse *s)
{
    struct sparse_cell *cell = xcalloc((size_t)all->cells + s->cells, sizeof *cell);
    uint128 sum = sum_of(all) + sum_of(s);

    BUG_ON(all->bits && all->bits != s->bits);
    all->cells = merge(all->cell, all->cells, s->cell, s->cells, cell);
    free(all->cell);
    all->cell = cell;
    if (!all->bits || s->min < all->min)
        all->min = s->min;
    if (!all->bits || s->max > all->max)
        all->max = s->max;
    all->bits = s->bits;
    all->count += s->count;
    all->clipped += s->clipped;
    all->sum_low = (uint64_t)sum;
    all->sum_high = (uint64_t)(sum >> 64);
}

struct sparse sparse_sum(const struct sparse *const *part, size_t n)
{
    struct sparse all = {0};

    for (size_t i = 0; i < n; i++)
        if (part[i]->count)
            add(&all, part[i]);
    return all;
}

/* ---- figures ----------------------------------------------------------------------------------
 */

/* Where ranks are walked along: the cell that holds the rank asked for last. */
struct walk {
    const struct sparse *all, *part;
    struct histogram shape;  /* for the arithmetic of its buckets */
    uint32_t last;           /* its last bucket */
    uint32_t cell, left_out; /* in all, in part */
    uint64_t seen;           /* ranks before the cell */
};

static uint64_t count_here(struct walk *w)
{
    const struct sparse_cell *c = &w->all->cell[w->cell];

    if (!w->part)
        return c->count;
    while (w->left_out < w->part->cells && w->part->cell[w->left_out].bucket < c->bucket)
        w->left_out++;
    if (w->left_out < w->part->cells && w->part->cell[w->left_out].bucket == c->bucket)
        return c->count - w->part->cell[w->left_out].count;
    return c->count;
}

/* As value_of_rank() of sim/histogram.c, step by step. */
static double value_of_rank(struct walk *w, uint64_t rank)
{
    uint64_t here;
    uint32_t bucket;
    sim_time lowest, highest;
    double low, high;

    while (w->seen + (here = count_here(w)) < rank) {
        w->seen += here;
        w->cell++;
    }
    bucket = w->all->cell[w->cell].bucket;
    lowest = histogram_lowest(&w->shape, bucket);
    highest = histogram_highest(&w->shape, bucket);
    low = (double)lowest;
    if (lowest == highest)
        return low;
    high = (double)highest + 1;
    low = low < (double)w->all->min ? (double)w->all->min : low;
    high = high > (double)w->all->max || bucket == w->last ? (double)w->all->max : high;
    return low + (high - low) * ((double)(rank - w->seen) - 0.5) / (double)here;
}

static double quantile(const struct sparse *all, const struct sparse *part, uint64_t count,
                       double q)
{
    struct walk w = {.all = all, .part = part, .shape = {.bits = all->bits}};
    double rank = q * (double)count + 0.5, first, second;
    uint64_t k;

    w.last = histogram_index(&w.shape, INT64_MAX);
    if (rank <= 1)
        return (double)all->min;
    if (rank >= (double)count)
        return (double)all->max;
    k = (uint64_t)rank;
    first = value_of_rank(&w, k);
    second = value_of_rank(&w, k + 1);
    return first + (second - first) * (rank - (double)k);
}

double sparse_figure(const struct sparse *all, const struct sparse *part, double q)
{
    uint64_t count = all->count - (part ? part->count : 0);
    uint128 sum = sum_of(all) - (part ? sum_of(part) : 0);

    if (!count)
        return NAN;
    if (q < 0)
        return (double)(uint64_t)(sum / count) + (double)(uint64_t)(sum % count) / (double)count;
    return quantile(all, part && part->count ? part : NULL, count, q);
}

/* ---- text -------------------------------------------------------------------------------------
 */

/* Decimal digits at `at`; returns the place behind them. fprintf would take ten times as long, and
 * there are thousands of them. */
static char *put(char *at, uint64_t n)
{
    char digit[20];
    int count = 0;

    do
        digit[count++] = (char)('0' + n % 10);
    while (n /= 10);
    while (count)
        *at++ = digit[--count];
    return at;
}

void sparse_write(const struct sparse *s, FILE *out)
{
    char text[64];
    uint32_t last = 0;

    if (!s->count) {
        fputc('0', out);
        return;
    }
    fprintf(out, "%u:%llu:%llu:%lld:%lld:%llu:%llu:", s->bits, (unsigned long long)s->count,
            (unsigned long long)s->clipped, (long long)s->min, (long long)s->max,
            (unsigned long long)s->sum_high, (unsigned long long)s->sum_low);
    for (uint32_t i = 0; i < s->cells; i++) {
        const struct sparse_cell *c = &s->cell[i];
        char *at = text;

        if (i)
            *at++ = ',';
        at = put(at, c->bucket - last);
        if (c->count > 1) {
            *at++ = 'x';
            at = put(at, c->count);
        }
        fwrite(text, 1, (size_t)(at - text), out);
        last = c->bucket;
    }
}

/* Digits and the letter behind them, unless that is 0. */
static bool take(const char **text, char letter, uint64_t *value)
{
    const char *at = *text;

    *value = 0;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (*value > (UINT64_MAX - 9) / 10)
            return false;
        *value = *value * 10 + (uint64_t)(*at - '0');
    }
    if (letter && *at++ != letter)
        return false;
    *text = at;
    return true;
}

static int read_cells(struct sparse *s, const char **text)
{
    struct histogram shape = {.bits = s->bits};
    uint64_t last = histogram_index(&shape, INT64_MAX), bucket = 0, seen = 0, more, count;
    uint32_t room = 0;

    do {
        if (!take(text, 0, &more) || more > last || (s->cells && !more))
            return -1;
        bucket += more;
        count = 1;
        if (**text == 'x' && (++*text, !take(text, 0, &count) || !count))
            return -1;
        if (bucket > last || count > s->count - seen)
            return -1;
        seen += count;
        if (s->cells == room) {
            room = room ? 2 * room : 64;
            s->cell = xrealloc(s->cell, room * sizeof *s->cell);
        }
        s->cell[s->cells++] = (struct sparse_cell){(uint32_t)bucket, count};
    } while (**text == ',' && ++*text);
    return seen == s->count ? 0 : -1;
}

int sparse_read(struct sparse *s, const char **text)
{
    uint64_t bits, min, max;

    *s = (struct sparse){0};
    if (!take(text, 0, &bits))
        return -1;
    if (!bits)
        return 0;
    if (bits < 3 || bits > 16 || *(*text)++ != ':' || !take(text, ':', &s->count) || !s->count ||
        !take(text, ':', &s->clipped) || !take(text, ':', &min) || !take(text, ':', &max) ||
        !take(text, ':', &s->sum_high) || !take(text, ':', &s->sum_low))
        return -1;
    s->bits = (unsigned)bits;
    s->min = (sim_time)min;
    s->max = (sim_time)max;
    if (!read_cells(s, text))
        return 0;
    sparse_free(s);
    return -1;
}
