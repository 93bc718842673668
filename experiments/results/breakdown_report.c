/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/results/breakdown_report.h"

#include "experiments/results/gnuplot.h"
#include "experiments/results/grid.h"
#include "experiments/results/results.h"

#include <stdlib.h>

#define NS_TO_MS 1e6

/* Ranges of ranks for which the parts of latencies are told apart. */
static const struct {
    const char *name;
    double low, high;
} ranges[] = {
    {"all", 0, 1},
    {"up to p50", 0, 0.5},
    {"p50 to p90", 0.5, 0.9},
    {"p90 to p99", 0.9, 0.99},
    {"p99 to p99.9", 0.99, 0.999},
    {"above p99.9", 0.999, 1},
};
enum { RANGES = sizeof ranges / sizeof *ranges };

/* A client's of a variant; NULL: it has none, or nothing was measured. */
static const struct breakdown *of(const struct variant *v, const struct subject *client)
{
    const struct subject *same = variant_subject(v, client);
    const struct breakdown *b;

    if (!same)
        return NULL;
    b = &v->tally.client[same - v->layout->subject].breakdown;
    return b->cell ? b : NULL;
}

/* Number of requests in a range, and the mean of each part in ms. */
static uint64_t range(const struct breakdown *b, size_t r, double mean[PARTS])
{
    uint64_t n = b ? breakdown_between(b, ranges[r].low, ranges[r].high, mean) : 0;

    for (int p = 0; p < PARTS && n; p++)
        mean[p] /= NS_TO_MS;
    return n;
}

static double sum(const double mean[PARTS])
{
    double all = 0;

    for (int p = 0; p < PARTS; p++)
        all += mean[p];
    return all;
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

void breakdown_put(const struct breakdown *b, struct json_writer *w)
{
    json_begin(w, "breakdown_ms", '[');
    for (size_t r = 0; r < RANGES; r++) {
        double mean[PARTS];
        uint64_t n = range(b, r, mean);

        if (!n)
            continue;
        json_begin_inline(w, NULL, '{');
        json_put_string(w, "requests", ranges[r].name);
        json_put_integer(w, "count", (int64_t)n);
        for (int p = 0; p < PARTS; p++)
            json_put_number(w, part_names[p].name, mean[p]);
        json_end(w);
    }
    json_end(w);
}

/* "back: dom0 wait" as part of a column's name. */
static void put_header(const char *name, FILE *out)
{
    for (; *name; name++)
        if (*name != ':')
            fputc(*name == ' ' ? '_' : *name, out);
}

static void put_rows(const struct variant *v, const struct subject *client, bool labels, FILE *out)
{
    const struct breakdown *b = of(v, client);

    for (size_t r = 0; r < RANGES; r++) {
        double mean[PARTS];
        uint64_t n = range(b, r, mean);

        if (!n)
            continue;
        if (labels) {
            results_put_text(v->label, out);
            fputc(',', out);
        }
        fprintf(out, "%s,%s,%llu", client->name, ranges[r].name, (unsigned long long)n);
        for (int p = 0; p < PARTS; p++)
            results_put_cell(mean[p], out);
        fputc('\n', out);
    }
}

void breakdown_csv(const struct study *s, bool labels, FILE *out)
{
    fprintf(out, "%sclient,requests,count", labels ? "variant," : "");
    for (int p = 0; p < PARTS; p++) {
        fputc(',', out);
        put_header(part_names[p].name, out);
        fputs("_ms", out);
    }
    fputc('\n', out);
    for (size_t v = 0; v < s->variants; v++)
        for (size_t k = 0; k < s->variant[v].layout->clients; k++)
            put_rows(&s->variant[v], &s->variant[v].layout->subject[k], labels, out);
}

/* ---- table ----------------------------------------------------------------------------------- */

/* Is the part a tenth of a per cent of the latency anywhere? Others get no column. */
static bool counts(const struct study *s, const struct subject *client, int part)
{
    for (size_t v = 0; v < s->variants; v++)
        for (size_t r = 0; r < RANGES; r++) {
            double mean[PARTS];

            if (range(of(&s->variant[v], client), r, mean) && mean[part] >= 0.001 * sum(mean))
                return true;
        }
    return false;
}

static void put_row(const struct variant *v, const struct subject *client, size_t r,
                    const bool *shown, bool labels, struct grid *g)
{
    double mean[PARTS], all;
    uint64_t n = range(of(v, client), r, mean);
    char *text;

    if (!n)
        return;
    all = sum(mean);
    text = value_text(all);
    grid_row(g);
    grid_put(g, "  %s%s%s", ranges[r].name, labels ? ", " : "", labels ? v->label : "");
    grid_put(g, "%llu", (unsigned long long)n);
    grid_put(g, "%s", text);
    free(text);
    for (int p = 0; p < PARTS; p++)
        if (shown[p])
            grid_put(g, "%.1f", all > 0 ? 100 * mean[p] / all : 0);
}

static void print_client(const struct study *s, const struct subject *client, FILE *out)
{
    bool shown[PARTS];
    size_t columns = 3;
    struct grid g;

    for (int p = 0; p < PARTS; p++) {
        shown[p] = counts(s, client, p);
        columns += shown[p];
    }
    if (columns == 3)
        return;
    grid_init(&g, columns);
    grid_row(&g);
    grid_put(&g, "%s: where latency comes from, %% of it", client->name);
    grid_put(&g, "requests");
    grid_put(&g, "mean, ms");
    for (int p = 0; p < PARTS; p++)
        if (shown[p])
            grid_put(&g, "%s", part_names[p].name);
    for (size_t r = 0; r < RANGES; r++)
        for (size_t v = 0; v < s->variants; v++)
            put_row(&s->variant[v], client, r, shown, s->variants > 1, &g);
    fputc('\n', out);
    grid_print(&g, out);
    grid_free(&g);
}

void breakdown_print(const struct study *s, FILE *out)
{
    const struct layout *l = s->variant[0].layout;

    for (size_t i = 0; i < l->clients; i++)
        print_client(s, &l->subject[i], out);
}

/* ---- picture --------------------------------------------------------------------------------- */

/* Waiting for pCPUs in strong colours, work in pale ones; by part. */
static const char *const colours[PARTS] = {
    [PART_CLIENT] = "#c7c7c7",    [PART_WIRE] = "#969696",    [PART_NIC] = "#dbdb8d",
    [PART_DOM0_WAIT] = "#d62728", [PART_DOM0] = "#ff9896",    [PART_VCPU_WAIT] = "#1f77b4",
    [PART_GUEST] = "#aec7e8",     [PART_SERVICE] = "#98df8a", [PART_BACK_WAIT] = "#9467bd",
    [PART_BACK] = "#c5b0d5",      [PART_LOST] = "#000000"};

enum { PICTURES = 16 }; /* of so many clients; the others are in breakdown.csv */

struct plot {
    const struct study *study;
    const struct subject *client;
    const char *base;
};

/* A label in gnuplot's double quotes, as a column of data. */
static void put_label(const struct plot *p, size_t r, const struct variant *v, FILE *out)
{
    fprintf(out, "\"%s", ranges[r].name);
    if (p->study->variants > 1)
        for (const char *c = v->label, *lead = ", "; *c; lead = "")
            fprintf(out, "%s%c", lead, *c == '"' ? '\'' : *c), c++;
    fputc('"', out);
}

static void write_data(const void *ctx, FILE *out)
{
    const struct plot *p = ctx;
    char number[NUMBER_TEXT];

    fputs("# shares of the latency, %, in the order of its parts\n", out);
    for (size_t r = 0; r < RANGES; r++)
        for (size_t v = 0; v < p->study->variants; v++) {
            double mean[PARTS], all;

            if (!range(of(&p->study->variant[v], p->client), r, mean))
                continue;
            all = sum(mean);
            put_label(p, r, &p->study->variant[v], out);
            for (int k = 0; k < PARTS; k++)
                fprintf(out, " %s", number_format(all > 0 ? 100 * mean[k] / all : 0, number));
            fputc('\n', out);
        }
}

static void write_script(const void *ctx, FILE *out)
{
    const struct plot *p = ctx;

    fprintf(out,
            "# gnuplot %s.gp draws %s.svg and %s.png from %s.dat\n"
            "set encoding utf8\n"
            "set style data histograms\n"
            "set style histogram rowstacked\n"
            "set style fill solid 0.9 border -1\n"
            "set boxwidth 0.8\n"
            "set ylabel 'share of the latency (%%)'\n"
            "set yrange [0:100]\n"
            "set xtics rotate by -30 noenhanced\n"
            "set key outside right invert\n"
            "set title ",
            p->base, p->base, p->base, p->base);
    gnuplot_quote(p->client->name, out);
    fputs(" noenhanced\n", out);
    for (int picture = 0; picture < 2; picture++) {
        gnuplot_terminal(picture, p->base, out);
        for (int k = 0; k < PARTS; k++) {
            fprintf(out, "%s'%s.dat' using %d%s title ", k ? ", \\\n     " : "plot ", p->base,
                    k + 2, k ? "" : ":xtic(1)");
            gnuplot_quote(part_names[k].name, out);
            fprintf(out, " noenhanced linecolor rgb '%s'", colours[k]);
        }
        fputs("\nunset output\n", out);
    }
}

int breakdown_plot(const struct study *s, const char *dir, bool quiet, struct errors *e)
{
    const struct layout *l = s->variant[0].layout;
    size_t before = e->count;

    for (size_t i = 0; i < l->clients && i < PICTURES; i++) {
        char *base = l->clients > 1 ? xasprintf("parts-%s", l->subject[i].name) : xstrdup("parts");
        struct plot p = {s, &l->subject[i], base};
        double mean[PARTS];

        if (range(of(&s->variant[0], p.client), 0, mean))
            gnuplot_picture(dir, base, write_data, write_script, &p, quiet, e);
        free(base);
    }
    return e->count > before ? -1 : 0;
}
