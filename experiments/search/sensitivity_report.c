/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a sensitivity analysis found: table, CSV, JSON, picture. */
#include "experiments/results/gnuplot.h"
#include "experiments/results/grid.h"
#include "experiments/results/results.h"
#include "experiments/search/sensitivity.h"
#include "experiments/sweep/sweep_file.h"
#include "sim/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The pattern, with the choice where another parameter has the same. Caller frees. */
static char *name_of(const struct sensitivity *s, const struct factor *f)
{
    for (size_t i = 0; i < s->factors && f->choice; i++)
        if (&s->factor[i] != f && !strcmp(s->factor[i].pattern, f->pattern))
            return xasprintf("%s (%s)", f->pattern, f->choice);
    return xstrdup(f->pattern);
}

/* ---- table ------------------------------------------------------------------------------------
 */

static char *percent_text(const struct interval *ratio, bool *starred)
{
    struct interval percent = *ratio;
    char *figure, *text;

    if (isnan(ratio->estimate))
        return xstrdup("-");
    percent.estimate = (ratio->estimate - 1) * 100;
    percent.low = (ratio->low - 1) * 100;
    percent.high = (ratio->high - 1) * 100;
    if (!interval_given(&percent)) {
        *starred = true;
        return xasprintf("%+.1f %% *", percent.estimate);
    }
    figure = figure_text(&percent, starred);
    text = xasprintf("%s%s %%", percent.estimate > 0 ? "+" : "", figure);
    free(figure);
    return text;
}

static void put_value(const struct sensitivity *s, const struct factor *f, size_t i, struct grid *g,
                      bool *starred)
{
    struct influence k = sensitivity_effect(s, f, i);
    char *name = i ? xstrdup("") : name_of(s, f);
    char *figure = figure_text(&k.figure, starred), *change = percent_text(&k.ratio, starred);

    grid_row(g);
    grid_put(g, "%s", name);
    grid_put(g, "%s", i ? "" : f->standard);
    grid_put(g, "%s", list_text(&f->other, i));
    grid_put(g, "%s", figure);
    grid_put(g, "%s", change);
    grid_put(g, "%s", k.distinct ? "!" : "");
    free(name);
    free(figure);
    free(change);
}

static void print_list(const struct sensitivity *s, enum factor_fate fate, const char *head,
                       FILE *out)
{
    size_t count = 0, column = 0;

    for (size_t k = 0; k < s->factors; k++)
        count += s->factor[k].fate == fate;
    if (!count)
        return;
    fprintf(out, "\n%zu %s:\n", count, head);
    for (size_t k = 0; k < s->factors; k++) {
        const struct factor *f = &s->factor[k];
        char *name;

        if (f->fate != fate)
            continue;
        name = name_of(s, f);
        if (column && column + strlen(name) > 96) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%s", column ? " " : "  ", name);
        column += strlen(name) + 2;
        if (f->reason) {
            fprintf(out, ": %s\n", f->reason);
            column = 0;
        }
        free(name);
    }
    if (column)
        fputc('\n', out);
}

void sensitivity_print(const struct sensitivity *s, size_t rows, FILE *out)
{
    struct interval base = sensitivity_base(s);
    bool starred = false;
    char *text = figure_text(&base, &starred);
    struct grid g;

    if (*s->title)
        fprintf(out, "%s\n", s->title);
    fprintf(out,
            "%s with all defaults: %s %s\n"
            "%zu assumed parameters that change it, one at a time, the same random numbers; %u "
            "replications of each of %zu values, %llu in all\n\n",
            s->metric, text, sensitivity_unit(s), s->compared, s->n, s->values,
            (unsigned long long)s->spent);
    free(text);
    grid_init(&g, 6);
    grid_row(&g);
    grid_put(&g, "assumed");
    grid_put(&g, "default");
    grid_put(&g, "instead");
    grid_put(&g, "%s%s%s", s->metric, *sensitivity_unit(s) ? ", " : "", sensitivity_unit(s));
    grid_put(&g, "change");
    grid_put(&g, "%s", "");
    for (size_t k = 0; k < s->compared && k < rows; k++)
        for (size_t i = 0; i < s->factor[k].other.count; i++)
            put_value(s, &s->factor[k], i, &g, &starred);
    grid_print(&g, out);
    grid_free(&g);
    if (s->compared > rows)
        fprintf(out, "... and %zu that change it less; --rows shows more, --out writes all\n",
                s->compared - rows);
    fprintf(out,
            "! not by chance: its interval excludes no change even when all %zu are looked at "
            "together (%g%%)\n",
            s->values, s->trials.level * 100);
    if (starred)
        fputs("* no interval: too few observations in each replication; a longer duration helps\n",
              out);
    print_list(s, FACTOR_SAME, "changed nothing at all in the first 2 replications", out);
    print_list(s, FACTOR_FAILED, "could not be varied", out);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void put_interval(const char *key, const struct interval *i, struct json_writer *w)
{
    json_begin_inline(w, key, '{');
    results_put_interval(w, i);
    json_end(w);
}

static void put_factor(const struct sensitivity *s, const struct factor *f, struct json_writer *w)
{
    json_begin(w, NULL, '{');
    json_put_string(w, "parameter", f->pattern);
    if (f->choice)
        json_put_string(w, "of", f->choice);
    json_put_string(w, "default", f->standard);
    json_put_integer(w, "places", (int64_t)f->pointers);
    if (f->reason)
        json_put_string(w, "reason", f->reason);
    json_begin(w, "values", '[');
    for (size_t i = 0; i < f->other.count; i++) {
        json_begin(w, NULL, '{');
        json_put_string(w, "value", list_text(&f->other, i));
        if (f->fate == FACTOR_COMPARED) {
            struct influence k = sensitivity_effect(s, f, i);

            put_interval("figure", &k.figure, w);
            put_interval("difference", &k.difference, w);
            put_interval("ratio", &k.ratio, w);
            json_put_boolean(w, "not_by_chance", k.distinct);
        }
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

static void put_factors(const struct sensitivity *s, enum factor_fate fate, const char *key,
                        struct json_writer *w)
{
    json_begin(w, key, '[');
    for (size_t k = 0; k < s->factors; k++)
        if (s->factor[k].fate == fate)
            put_factor(s, &s->factor[k], w);
    json_end(w);
}

void sensitivity_json(const struct sensitivity *s, FILE *out)
{
    struct json_writer w = json_writer(out, JSON_LINES);
    struct interval base = sensitivity_base(s);

    json_begin(&w, NULL, '{');
    results_put_versions(&w);
    json_put_string(&w, "scenario", s->path);
    json_begin(&w, "set", '[');
    for (size_t i = 0; i < s->set->count; i++)
        json_put_string(&w, NULL, list_text(s->set, i));
    json_end(&w);
    json_put_string(&w, "metric", s->metric);
    json_put_string(&w, "unit", sensitivity_unit(s));
    json_put_integer(&w, "replications", s->n);
    json_put_integer(&w, "spent", (int64_t)s->spent);
    put_interval("with_defaults", &base, &w);
    put_factors(s, FACTOR_COMPARED, "ranked", &w);
    put_factors(s, FACTOR_SAME, "changed_nothing", &w);
    put_factors(s, FACTOR_FAILED, "not_varied", &w);
    json_end(&w);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void write_json(const void *ctx, FILE *out)
{
    sensitivity_json(ctx, out);
}

static void put_cells(const struct interval *i, FILE *out)
{
    results_put_cell(i->estimate, out);
    results_put_cell(i->low, out);
    results_put_cell(i->high, out);
}

static void write_csv(const void *ctx, FILE *out)
{
    const struct sensitivity *s = ctx;
    const char *unit = unit_in_header(sensitivity_unit(s)), *line = *unit ? "_" : "";

    fprintf(out,
            "rank,parameter,of,places,default,value,replications,figure%s%s,figure_low%s%s,"
            "figure_high%s%s,difference%s%s,difference_low%s%s,difference_high%s%s,ratio,"
            "ratio_low,ratio_high,not_by_chance\n",
            line, unit, line, unit, line, unit, line, unit, line, unit, line, unit);
    for (size_t k = 0; k < s->factors; k++)
        for (size_t i = 0; i < s->factor[k].other.count; i++) {
            const struct factor *f = &s->factor[k];
            struct interval nothing = {.estimate = NAN, .low = NAN, .high = NAN};
            struct influence x = {nothing, nothing, nothing, false};
            bool compared = f->fate == FACTOR_COMPARED;

            if (compared)
                x = sensitivity_effect(s, f, i);
            if (compared)
                fprintf(out, "%zu", k + 1);
            fputc(',', out);
            results_put_text(f->pattern, out);
            fprintf(out, ",%s,%zu,", f->choice ? f->choice : "", f->pointers);
            results_put_text(f->standard, out);
            fputc(',', out);
            results_put_text(list_text(&f->other, i), out);
            fprintf(out, ",%u", compared ? s->n : f->fate == FACTOR_SAME ? SENSITIVITY_SCREEN : 0);
            put_cells(&x.figure, out);
            put_cells(&x.difference, out);
            put_cells(&x.ratio, out);
            fprintf(out, ",%s\n", !compared ? "" : x.distinct ? "yes" : "no");
        }
}

/* ---- picture: the largest changes as bars to both sides ----------------------------------------
 */

enum { BARS = 20 };

static size_t bars(const struct sensitivity *s)
{
    return s->compared < BARS ? s->compared : BARS;
}

/* A line for each value: place from the top, change in %, its interval (or the change itself). */
static void write_data(const void *ctx, FILE *out)
{
    const struct sensitivity *s = ctx;
    char text[3][NUMBER_TEXT];

    fputs("# place change_percent low high value\n", out);
    for (size_t k = 0; k < bars(s); k++)
        for (size_t i = 0; i < s->factor[k].other.count; i++) {
            struct influence x = sensitivity_effect(s, &s->factor[k], i);
            bool given = interval_given(&x.ratio);
            double change = (x.ratio.estimate - 1) * 100;

            if (isnan(change))
                continue;
            fprintf(out, "%zu %s %s %s \"%s\"\n", bars(s) - k, number_format(change, text[0]),
                    number_format(given ? (x.ratio.low - 1) * 100 : change, text[1]),
                    number_format(given ? (x.ratio.high - 1) * 100 : change, text[2]),
                    list_text(&s->factor[k].other, i));
        }
}

static void write_script(const void *ctx, FILE *out)
{
    const struct sensitivity *s = ctx;

    fputs(
        "# gnuplot sensitivity.gp draws sensitivity.svg and sensitivity.png from sensitivity.dat\n"
        "set encoding utf8\n"
        "set style fill solid 0.6 noborder\n"
        "set grid x\n"
        "unset key\n"
        "set xlabel 'change of ",
        out);
    fputs(s->metric, out);
    fputs(" (%)' noenhanced\nset ytics noenhanced (", out);
    for (size_t k = 0; k < bars(s); k++) {
        char *name = name_of(s, &s->factor[k]);

        fputs(k ? ", \\\n    " : "", out);
        gnuplot_quote(name, out);
        fprintf(out, " %zu", bars(s) - k);
        free(name);
    }
    fprintf(out, ")\nset yrange [0.3:%zu.7]\nset title ", bars(s));
    gnuplot_quote(*s->title ? s->title : s->path, out);
    fputs(" noenhanced\n", out);
    for (int picture = 0; picture < 2; picture++) {
        gnuplot_terminal(picture, "sensitivity", out);
        fputs(
            "plot 'sensitivity.dat' using (0):1:(0):2:($1-0.3):($1+0.3) with boxxyerror linecolor "
            "rgb '#1f77b4', \\\n"
            "     '' using 2:1:3:4 with xerrorbars pointtype 0 linecolor rgb '#444444', \\\n"
            "     '' using ($2 < 0 ? $3 : 1/0):1:5 with labels right noenhanced offset -0.7,0 font "
            "',8', "
            "\\\n"
            "     '' using ($2 < 0 ? 1/0 : $4):1:5 with labels left noenhanced offset 0.7,0 font "
            "',8'\n"
            "unset output\n",
            out);
    }
}

int sensitivity_write(const struct sensitivity *s, const char *dir, struct errors *e)
{
    size_t before = e->count;

    if (output_directory(dir, e))
        return -1;
    results_file(dir, "sensitivity.csv", write_csv, s, e);
    if (s->compared)
        gnuplot_picture(dir, "sensitivity", write_data, write_script, s, s->quiet, e);
    results_file(dir, "sensitivity.json", write_json, s, e);
    return e->count > before ? -1 : 0;
}
