/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A picture of latency tails: the share of requests that take longer, both axes logarithmic. Data
 * and gnuplot's script stay beside it, to be changed and drawn again.
 */
#include "experiments/compare/compare.h"
#include "experiments/results/gnuplot.h"

#include <stdlib.h>

struct plot {
    const struct study *study;
    const struct subject *client; /* of the first variant */
    const char *base;             /* "tail", or "tail-web" */
};

static const struct histogram *latency(const struct variant *v, const struct subject *s)
{
    const struct pooled *p = s ? tally_pool(&v->tally, s, OF_LATENCY) : NULL;

    return p ? &p->all : NULL;
}

/* One block per variant: latency in ms, share of requests above it. */
static void write_data(const void *ctx, FILE *out)
{
    const struct plot *p = ctx;

    fputs("# latency_ms share_above\n", out);
    for (size_t i = 0; i < p->study->variants; i++) {
        const struct variant *v = &p->study->variant[i];
        const struct histogram *h = latency(v, variant_subject(v, p->client));
        uint64_t above = h ? h->count : 0;
        char number[NUMBER_TEXT];

        fprintf(out, "%s# %s\n", i ? "\n\n" : "", v->label);
        for (uint32_t b = 0; h && b < h->buckets && above; b++) {
            sim_time high = histogram_highest(h, b);

            if (!h->bucket[b])
                continue;
            fprintf(out, "%s ",
                    number_format((double)(high < h->max ? high : h->max) / 1e6, number));
            above -= h->bucket[b];
            /* the largest one is drawn at half a request */
            fprintf(out, "%s\n",
                    number_format((above ? (double)above : 0.5) / (double)h->count, number));
        }
    }
}

static void write_script(const void *ctx, FILE *out)
{
    const struct plot *p = ctx;
    const char *title = p->study->variant[0].scenario->title;

    fprintf(out,
            "# gnuplot %s.gp draws %s.svg and %s.png from %s.dat\n"
            "set encoding utf8\n"
            "set logscale xy\n"
            "set format x '%%g'\n"
            "set xlabel 'latency (ms)'\n"
            "set ylabel 'requests that take longer'\n"
            "set ytics ('all' 1, 'half' 0.5, '10 %%%%' 0.1, '1 %%%%' 0.01, '0.1 %%%%' 0.001, "
            "'0.01 %%%%' 0.0001, '0.001 %%%%' 0.00001)\n"
            "set yrange [0.00001:1]\n"
            "set grid\n"
            "set key bottom left\n"
            "set title ",
            p->base, p->base, p->base, p->base);
    gnuplot_quote(*title ? title : p->client->name, out);
    fputs(" noenhanced\n", out);
    gnuplot_variants(p->study, p->base, "with steps", out);
}

int compare_plot(const struct study *s, const char *dir, bool quiet, struct errors *e)
{
    const struct layout *l = s->variant[0].layout;
    size_t before = e->count;

    for (size_t i = 0; i < l->clients; i++) {
        char *base = l->clients > 1 ? xasprintf("tail-%s", l->subject[i].name) : xstrdup("tail");
        struct plot p = {s, &l->subject[i], base};

        if (latency(&s->variant[0], &l->subject[i]))
            gnuplot_picture(dir, base, write_data, write_script, &p, quiet, e);
        free(base);
    }
    return e->count > before ? -1 : 0;
}
