/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/kept.h"

#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_TO_MS 1e6

void kept_free(struct kept *k, const struct figures *f)
{
    for (size_t i = 0; k->pool && i < f->pools; i++)
        sparse_free(&k->pool[i]);
    free(k->pool);
    free(k->value);
    *k = (struct kept){0};
}

static void allocate(struct kept *k, const struct figures *f)
{
    k->value = xcalloc(f->count, sizeof *k->value);
    k->pool = xcalloc(f->pools, sizeof *k->pool);
}

static const struct subject *subject_of(const struct layout *l, const struct figure *f)
{
    for (size_t i = 0; i < l->subjects; i++)
        if (l->subject[i].kind == f->kind && !strcmp(l->subject[i].name, f->subject))
            return &l->subject[i];
    BUG("no subject %s", f->subject);
}

void kept_take(struct kept *k, const struct figures *f, const struct layout *l,
               const struct world *w)
{
    struct client_results *merged = xcalloc(l->clients, sizeof *merged);
    const struct histogram **pools = xcalloc(l->pools, sizeof(struct histogram *));
    struct sample *samples = xcalloc(l->cells, sizeof *samples);

    allocate(k, f);
    metrics_read(l, w, merged, samples);
    metrics_distributions(l, w, merged, pools);
    for (size_t i = 0; i < f->count; i++) {
        const struct figure *figure = &f->item[i];
        const struct histogram *h;

        k->value[i] = samples[figure->cell].value;
        if (figure->pool == FIGURE_PLAIN || k->pool[figure->pool].count)
            continue;
        h = pools[layout_pool(subject_of(l, figure), figure->metric->of)];
        if (h)
            k->pool[figure->pool] = sparse_of(h);
    }
    for (size_t i = 0; i < l->clients; i++) {
        histogram_free(&merged[i].latency);
        histogram_free(&merged[i].intended);
        if (merged[i].breakdown.cell)
            breakdown_free(&merged[i].breakdown);
    }
    free(merged);
    free(pools);
    free(samples);
}

/* ---- text -------------------------------------------------------------------------------------
 */

void kept_write(const struct kept *k, const struct figures *f, FILE *out)
{
    char text[NUMBER_TEXT];

    for (size_t i = 0; i < f->count; i++)
        fprintf(out, "%s%s", i ? " " : "",
                isnan(k->value[i]) ? "nan" : number_format(k->value[i], text));
    for (size_t i = 0; i < f->pools; i++) {
        fputc(' ', out);
        sparse_write(&k->pool[i], out);
    }
}

static int take_number(const char **text, double *x)
{
    char *end;

    *x = strtod(*text, &end);
    if (end == *text)
        return -1;
    *text = end;
    return 0;
}

int kept_read(struct kept *k, const struct figures *f, const char *text)
{
    bool good = true;

    allocate(k, f);
    for (size_t i = 0; i < f->count && good; i++)
        good = !take_number(&text, &k->value[i]);
    for (size_t i = 0; i < f->pools && good; i++)
        good = *text++ == ' ' && !sparse_read(&k->pool[i], &text);
    if (good && !*text)
        return 0;
    kept_free(k, f);
    return -1;
}

/* ---- figures over replications ----------------------------------------------------------------
 */

void kept_set_init(struct kept_set *s, const struct figures *f, const struct kept *const *item,
                   size_t count)
{
    *s = (struct kept_set){.figures = f, .count = count};
    s->item = xcalloc(count, sizeof *s->item);
    for (size_t i = 0; i < count; i++)
        s->item[i] = item[i];
    s->sum = xcalloc(f->pools, sizeof *s->sum);
    s->summed = xcalloc(f->pools, sizeof *s->summed);
}

void kept_set_free(struct kept_set *s)
{
    for (size_t i = 0; i < s->figures->pools; i++)
        sparse_free(&s->sum[i]);
    free(s->sum);
    free(s->summed);
    free(s->item);
}

static const struct sparse *sum_of(struct kept_set *s, size_t pool)
{
    const struct sparse **part;

    if (s->summed[pool])
        return &s->sum[pool];
    part = xcalloc(s->count, sizeof *part);
    for (size_t i = 0; i < s->count; i++)
        part[i] = &s->item[i]->pool[pool];
    s->sum[pool] = sparse_sum(part, s->count);
    s->summed[pool] = true;
    free(part);
    return &s->sum[pool];
}

uint64_t kept_fewest(const struct kept_set *s, size_t figure)
{
    size_t pool = s->figures->item[figure].pool;
    uint64_t fewest = UINT64_MAX;

    for (size_t i = 0; i < s->count && pool != FIGURE_PLAIN; i++)
        if (s->item[i]->pool[pool].count < fewest)
            fewest = s->item[i]->pool[pool].count;
    return fewest == UINT64_MAX ? 0 : fewest;
}

/* As tally_obstacle(): why there is no interval. */
static enum interval_none obstacle(const struct kept_set *s, size_t figure, uint64_t *need)
{
    const struct metric *m = s->figures->item[figure].metric;
    uint64_t fewest = kept_fewest(s, figure);

    *need = 0;
    if (s->count < 2)
        return INTERVAL_FEW_VALUES;
    if (m->estimate == ESTIMATE_QUANTILE && quantile_beyond(m->q, fewest) < INTERVAL_BEYOND) {
        *need = quantile_need(m->q, INTERVAL_BEYOND);
        return INTERVAL_FEW_BEYOND;
    }
    return fewest ? INTERVAL_GIVEN : INTERVAL_FEW_VALUES;
}

static struct interval pooled_interval(struct kept_set *s, size_t figure, double level)
{
    const struct figure *f = &s->figures->item[figure];
    const struct sparse *all = sum_of(s, f->pool);
    struct interval i = {.estimate = NAN, .low = NAN, .high = NAN, .level = level, .n = s->count};
    double *without;

    i.estimate = sparse_figure(all, NULL, f->metric->q) / NS_TO_MS;
    i.none = obstacle(s, figure, &i.need);
    if (all->count == 0) {
        i.none = INTERVAL_FEW_VALUES;
        i.need = 0;
    }
    if (i.none != INTERVAL_GIVEN)
        return i;
    without = xcalloc(s->count, sizeof *without);
    for (size_t k = 0; k < s->count; k++)
        without[k] = sparse_figure(all, &s->item[k]->pool[f->pool], f->metric->q) / NS_TO_MS;
    i = interval_jackknife(i.estimate, without, s->count, level);
    free(without);
    return i;
}

struct interval kept_interval(struct kept_set *s, size_t figure, double level)
{
    const struct figure *f = &s->figures->item[figure];
    struct sample *sample;
    struct interval i;

    if (f->pool != FIGURE_PLAIN)
        return pooled_interval(s, figure, level);
    sample = xcalloc(s->count, sizeof *sample);
    for (size_t k = 0; k < s->count; k++)
        sample[k].value = s->item[k]->value[figure];
    i = metric_interval(f->metric, sample, s->count, level);
    free(sample);
    return i;
}

void kept_pseudo_values(struct kept_set *s, size_t figure, double *x)
{
    const struct figure *f = &s->figures->item[figure];
    double n = (double)s->count, all, mean;

    if (f->pool == FIGURE_PLAIN || s->count < 2) {
        for (size_t k = 0; k < s->count; k++)
            x[k] = s->item[k]->value[figure];
        return;
    }
    all = sparse_figure(sum_of(s, f->pool), NULL, f->metric->q) / NS_TO_MS;
    for (size_t k = 0; k < s->count; k++)
        x[k] =
            sparse_figure(sum_of(s, f->pool), &s->item[k]->pool[f->pool], f->metric->q) / NS_TO_MS;
    mean = mean_of(x, s->count);
    for (size_t k = 0; k < s->count; k++)
        x[k] = all - (n - 1) * (x[k] - mean);
}
