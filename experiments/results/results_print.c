/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results as tables on the terminal. */
#include "experiments/results/breakdown_report.h"
#include "experiments/results/control_report.h"
#include "experiments/results/grid.h"
#include "experiments/results/report_tables.h"
#include "experiments/results/results.h"
#include "sim/simgrid.h"
#include "sim/version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Domains by themselves are listed up to this number; more are in domains.csv. */
enum { DOMAINS_SHOWN = 16 };

/* Is there a figure in the table? */
static bool says_something(const struct variant *v, const struct report_table *table)
{
    for (size_t k = 0; k < v->layout->subjects; k++)
        for (size_t i = 0; i < metric_count; i++)
            if (v->layout->subject[k].kind == table->kind &&
                report_table_lists(table, &metrics[i]) &&
                !isnan(tally_interval(&v->tally, &v->layout->subject[k], &metrics[i]).estimate))
                return true;
    return false;
}

static void print_table(const struct variant *v, const struct report_table *table, bool *starred,
                        FILE *out)
{
    struct grid g;
    size_t columns = 1, rows = 0;

    for (size_t i = 0; i < v->layout->subjects; i++)
        rows += v->layout->subject[i].kind == table->kind;
    if (table->optional && !says_something(v, table))
        return;
    if (!rows || (table->kind == SUBJECT_DOMAIN && rows > DOMAINS_SHOWN))
        return;
    for (size_t i = 0; i < metric_count; i++)
        columns += report_table_lists(table, &metrics[i]);
    grid_init(&g, columns);
    grid_row(&g);
    grid_put(&g, "%s", table->heading);
    for (size_t i = 0; i < metric_count; i++)
        if (report_table_lists(table, &metrics[i]))
            grid_put(&g, "%s", metrics[i].heading);
    for (size_t k = 0; k < v->layout->subjects; k++) {
        const struct subject *s = &v->layout->subject[k];

        if (s->kind != table->kind)
            continue;
        grid_row(&g);
        if (s->members > 1 && s->kind != SUBJECT_HOST)
            grid_put(&g, "  %s (%zu)", s->name, s->members);
        else
            grid_put(&g, "  %s", s->name);
        for (size_t i = 0; i < metric_count; i++)
            if (report_table_lists(table, &metrics[i])) {
                struct interval x = tally_interval(&v->tally, s, &metrics[i]);
                char *text = figure_text(&x, starred);

                grid_put(&g, "%s", text);
                free(text);
            }
    }
    fputc('\n', out);
    grid_print(&g, out);
    grid_free(&g);
}

/* The longest time that a starred quantile asks for; 0: none tells. */
static sim_time longest_needed(const struct study *s)
{
    sim_time longest = 0;

    for (size_t n = 0; n < s->variants; n++) {
        const struct variant *v = &s->variant[n];

        for (size_t k = 0; k < v->layout->clients; k++)
            for (size_t i = 0; i < metric_count; i++) {
                const struct subject *subject = &v->layout->subject[k];
                struct interval x;
                sim_time needed;

                if (layout_cell(subject, &metrics[i]) == SIZE_MAX)
                    continue;
                x = tally_interval(&v->tally, subject, &metrics[i]);
                needed = tally_duration_needed(&v->tally, subject, &metrics[i], &x,
                                               v->scenario->duration);
                if (needed > longest)
                    longest = needed;
            }
    }
    return longest;
}

void results_print_notes(const struct study *s, bool starred, FILE *out)
{
    sim_time needed = starred ? longest_needed(s) : 0;
    char text[QUANTITY_TEXT];

    if (starred && s->variant[0].tally.count < 2)
        fputs("\n* no interval: it takes at least 2 replications.\n", out);
    else if (starred)
        fputs(
            "\n* no interval: fewer than 10 observations beyond the quantile in a replication, or "
            "a\n  replication without any.\n",
            out);
    if (needed)
        fprintf(out, "  \"duration\": \"%s\" would give one.\n",
                quantity_format(QUANTITY_DURATION, needed, text));
    for (size_t i = 0; i < s->losses; i++)
        fprintf(out, "LOST replication %zu%s%s: %s\n", s->lost[i].replication,
                s->variants > 1 ? " of " : "", s->variant[s->lost[i].variant].label,
                s->lost[i].reason);
    if (s->interrupted)
        fputs("PARTIAL: interrupted; these are the replications that were complete.\n", out);
}

void results_print(const struct study *s, FILE *out)
{
    const struct variant *v = &s->variant[0];
    const struct scenario *sc = v->scenario;
    char warmup[QUANTITY_TEXT], duration[QUANTITY_TEXT], confidence[QUANTITY_TEXT];
    bool starred = false;

    if (*sc->title)
        fprintf(out, "%s\n", sc->title);
    fprintf(out,
            "%zu replications of %s after %s of warm-up, seed %lld; ± is the half-width of a "
            "%s interval\n",
            v->tally.count, quantity_format(QUANTITY_DURATION, sc->duration, duration),
            quantity_format(QUANTITY_DURATION, sc->warmup, warmup), (long long)sc->seed,
            quantity_format(QUANTITY_PERCENT, sc->confidence, confidence));
    for (size_t i = 0; i < report_table_count; i++)
        print_table(v, &report_tables[i], &starred, out);
    breakdown_print(s, out);
    control_print(v, out);
    results_print_notes(s, starred, out);
}
