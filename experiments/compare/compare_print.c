/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variants one below the other, and how much they change the first one's figures. */
#include "experiments/compare/compare.h"
#include "experiments/results/breakdown_report.h"
#include "experiments/results/control_report.h"
#include "experiments/results/grid.h"
#include "experiments/results/report_tables.h"
#include "experiments/results/results.h"

#include <math.h>
#include <stdlib.h>

/* "-50.4 ±1.2 %" of a ratio; beyond ten times "x 39". Caller frees. */
static char *change_text(const struct interval *ratio, bool *starred)
{
    struct interval percent = *ratio;
    char *figure, *text;

    if (isnan(ratio->estimate))
        return xstrdup("-");
    if (ratio->estimate >= 10) {
        figure = figure_text(ratio, starred);
        text = xasprintf("x %s", figure);
        free(figure);
        return text;
    }
    percent.estimate = (ratio->estimate - 1) * 100;
    percent.low = (ratio->low - 1) * 100;
    percent.high = (ratio->high - 1) * 100;
    if (fabs(percent.estimate) < 0.05 && !(interval_half(&percent) > 0.05))
        return xstrdup("same");
    if (!interval_given(&percent)) { /* a maximum has none, and no star */
        bool star = percent.none != INTERVAL_MAXIMUM;

        *starred = *starred || star;
        return xasprintf("%+.1f %%%s", percent.estimate, star ? " *" : "");
    }
    figure = figure_text(&percent, starred);
    text = xasprintf("%s%s %%", percent.estimate > 0 ? "+" : "", figure);
    free(figure);
    return text;
}

static void put_figures(struct grid *g, const struct report_table *t, const struct variant *v,
                        const struct subject *s, bool *starred)
{
    grid_row(g);
    grid_put(g, "  %s", v->label);
    for (size_t i = 0; i < metric_count; i++)
        if (report_table_lists(t, &metrics[i])) {
            struct interval x = tally_interval(&v->tally, s, &metrics[i]);
            char *text = figure_text(&x, starred);

            grid_put(g, "%s", text);
            free(text);
        }
}

static void put_changes(struct grid *g, const struct report_table *t, const struct study *s,
                        const struct variant *v, const struct subject *subject, bool *starred)
{
    grid_row(g);
    grid_put(g, "    against %s", s->variant[0].label);
    for (size_t i = 0; i < metric_count; i++)
        if (report_table_lists(t, &metrics[i])) {
            struct comparison c = compare_figures(&s->variant[0], v, subject, &metrics[i]);
            char *text = change_text(&c.ratio, starred);

            grid_put(g, "%s", text);
            free(text);
        }
}

/* Is there a figure in the table, of any variant? */
static bool says_something(const struct study *s, const struct report_table *t,
                           const struct subject *subject)
{
    for (size_t n = 0; n < s->variants; n++) {
        const struct subject *same = variant_subject(&s->variant[n], subject);

        for (size_t i = 0; same && i < metric_count; i++)
            if (report_table_lists(t, &metrics[i]) &&
                !isnan(tally_interval(&s->variant[n].tally, same, &metrics[i]).estimate))
                return true;
    }
    return false;
}

static void print_table(const struct study *s, const struct report_table *t,
                        const struct subject *subject, bool *starred, FILE *out)
{
    struct grid g;
    size_t columns = 1;

    if (t->optional && !says_something(s, t, subject))
        return;
    for (size_t i = 0; i < metric_count; i++)
        columns += report_table_lists(t, &metrics[i]);
    grid_init(&g, columns);
    grid_row(&g);
    grid_put(&g, "%s", "");
    for (size_t i = 0; i < metric_count; i++)
        if (report_table_lists(t, &metrics[i]))
            grid_put(&g, "%s", metrics[i].heading);
    for (size_t i = 0; i < s->variants; i++) {
        const struct subject *same = variant_subject(&s->variant[i], subject);

        if (!same)
            continue;
        put_figures(&g, t, &s->variant[i], same, starred);
        if (i)
            put_changes(&g, t, s, &s->variant[i], subject, starred);
    }
    fprintf(out, "\n%s: %s", subject->name, t->heading);
    fputc('\n', out);
    grid_print(&g, out);
    grid_free(&g);
}

void compare_print(const struct study *s, FILE *out)
{
    const struct variant *first = &s->variant[0];
    char duration[QUANTITY_TEXT], confidence[QUANTITY_TEXT];
    bool starred = false;

    if (*first->scenario->title)
        fprintf(out, "%s\n", first->scenario->title);
    fprintf(out,
            "%zu variant%s, %zu replications of %s each with the same random numbers, seed %lld;\n"
            "± is the half-width of a %s interval\n",
            s->variants, s->variants == 1 ? "" : "s", first->tally.count,
            quantity_format(QUANTITY_DURATION, first->scenario->duration, duration),
            (long long)first->scenario->seed,
            quantity_format(QUANTITY_PERCENT, first->scenario->confidence, confidence));
    for (size_t i = 0; i < report_table_count; i++)
        for (size_t k = 0; k < first->layout->subjects; k++)
            if (first->layout->subject[k].kind == report_tables[i].kind &&
                report_tables[i].compared)
                print_table(s, &report_tables[i], &first->layout->subject[k], &starred, out);
    control_compare(s, out);
    breakdown_print(s, out);
    results_print_notes(s, starred, out);
}
