/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures of pivot tables. Lines, with their intervals: along a numeric axis, one for each value
 * of the other. A heat map, figures written in its fields: when both axes are numeric.
 */
#include "experiments/results/gnuplot.h"
#include "experiments/sweep/sweep_pivot.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDE_RATIO 15.0 /* from which an axis is drawn in a logarithmic scale */

struct drawing {
    const struct pivot *pivot;
    const struct pivot_page *page;
    const char *base;
    bool heat;
    bool turned; /* along the columns' axis, a line for each row */
};

static const struct index_axis *along(const struct drawing *d)
{
    return d->turned ? d->pivot->col_axis : d->pivot->row_axis;
}

static const struct index_axis *across(const struct drawing *d)
{
    return d->turned ? d->pivot->row_axis : d->pivot->col_axis;
}

static size_t steps(const struct drawing *d)
{
    return d->turned ? d->pivot->cols : d->pivot->rows;
}

static size_t lines(const struct drawing *d)
{
    return d->turned ? d->pivot->rows : d->pivot->cols;
}

static const char *step_label(const struct drawing *d, size_t i)
{
    return d->turned ? d->pivot->col[i] : d->pivot->row[i];
}

static const char *line_label(const struct drawing *d, size_t i)
{
    return d->turned ? d->pivot->row[i] : d->pivot->col[i];
}

static const struct pivot_cell *cell_at(const struct drawing *d, size_t step, size_t line)
{
    return d->turned ? &d->page->cell[line * d->pivot->cols + step]
                     : &d->page->cell[step * d->pivot->cols + line];
}

/* A number where the axis is one, else the place of the value. */
static double position(const struct drawing *d, size_t step)
{
    return along(d)->numeric ? value_read(step_label(d, step)).number : (double)step;
}

static void put_data(const void *ctx, FILE *out)
{
    const struct drawing *d = ctx;
    char number[NUMBER_TEXT];

    fputs(d->heat ? "# column row value\n" : "# x value low high\n", out);
    for (size_t line = 0; line < lines(d); line++) {
        if (!d->heat)
            fprintf(out, "%s# %s\n", line ? "\n\n" : "", line_label(d, line));
        for (size_t step = 0; step < steps(d); step++) {
            const struct pivot_cell *c = cell_at(d, step, line);
            bool given = c->there && interval_given(&c->figure);

            if (d->heat) { /* a heat map has no gaps */
                fprintf(out, "%zu %zu %s\n", line, step,
                        c->there && !isnan(c->figure.estimate)
                            ? number_format(c->figure.estimate, number)
                            : "NaN");
                continue;
            }
            if (!c->there || isnan(c->figure.estimate))
                continue;
            fprintf(out, "%s ", number_format(position(d, step), number));
            fputs(number_format(c->figure.estimate, number), out);
            fprintf(out, " %s", number_format(given ? c->figure.low : c->figure.estimate, number));
            fprintf(out, " %s", number_format(given ? c->figure.high : c->figure.estimate, number));
            fputc('\n', out);
        }
    }
}

/* Positive values that span more than a decade? */
static bool wide(double least, double most)
{
    return least > 0 && most / least >= WIDE_RATIO;
}

static bool values_are_wide(const struct drawing *d)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < d->pivot->rows * d->pivot->cols; i++) {
        const struct pivot_cell *c = &d->page->cell[i];

        if (!c->there || isnan(c->figure.estimate))
            continue;
        least = c->figure.estimate < least ? c->figure.estimate : least;
        most = c->figure.estimate > most ? c->figure.estimate : most;
    }
    return wide(least, most);
}

static bool positions_are_wide(const struct drawing *d)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < steps(d); i++) {
        double x = position(d, i);

        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    return along(d)->numeric && wide(least, most);
}

static void put_axis_label(const char *which, const struct index_axis *a, FILE *out)
{
    const char *unit = a->numeric ? value_unit(a->quantity) : "";
    char *text = xasprintf("%s%s%s%s", a->name, *unit ? " (" : "", unit, *unit ? ")" : "");

    fprintf(out, "set %slabel ", which);
    gnuplot_quote(text, out);
    fputs(" noenhanced\n", out);
    free(text);
}

static void put_tics(const char *which, size_t count,
                     const char *(*label)(const struct drawing *, size_t), const struct drawing *d,
                     FILE *out)
{
    fprintf(out, "set %stics noenhanced (", which);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        gnuplot_quote(label(d, i), out);
        fprintf(out, " %zu", i);
    }
    fputs(")\n", out);
}

static void put_title(const struct drawing *d, FILE *out)
{
    char *title = xasprintf("%s%s%s", d->pivot->title, *d->page->name ? "; " : "", d->page->name);

    fprintf(out,
            "# gnuplot %s.gp draws %s.svg and %s.png from %s.dat\nset encoding utf8\n"
            "set title ",
            d->base, d->base, d->base, d->base);
    gnuplot_quote(title, out);
    fputs(" noenhanced\n", out);
    free(title);
}

static void put_heat(const struct drawing *d, FILE *out)
{
    put_axis_label("x", across(d), out);
    put_axis_label("y", along(d), out);
    put_tics("x", lines(d), line_label, d, out);
    put_tics("y", steps(d), step_label, d, out);
    fprintf(out,
            "set xrange [-0.5:%zu.5]\nset yrange [-0.5:%zu.5]\n"
            "set palette defined (0 '#ffffe0', 0.5 '#fdb366', 1 '#c0392b')\n%sunset key\n",
            lines(d) - 1, steps(d) - 1, values_are_wide(d) ? "set logscale cb\n" : "");
    for (int picture = 0; picture < 2; picture++) {
        gnuplot_terminal(picture, d->base, out);
        fprintf(out,
                "plot '%s.dat' using 1:2:3 with image, '' using 1:2:(valid(3) ? sprintf('%%.3g', "
                "$3) : '') with labels\nunset output\n",
                d->base);
    }
}

static void put_lines(const struct drawing *d, FILE *out)
{
    put_axis_label("x", along(d), out);
    fputs("set ylabel ", out);
    gnuplot_quote(d->pivot->title, out);
    fputs(" noenhanced\nset grid\nset key outside right noenhanced\n", out);
    if (across(d)) {
        fputs("set key title ", out);
        gnuplot_quote(across(d)->name, out);
        fputs(" noenhanced\n", out);
    } else {
        fputs("unset key\n", out);
    }
    if (!along(d)->numeric) {
        put_tics("x", steps(d), step_label, d, out);
        fprintf(out, "set xrange [-0.3:%zu.3]\n", steps(d) - 1);
    }
    if (positions_are_wide(d))
        fputs("set logscale x\n", out);
    if (values_are_wide(d))
        fputs("set logscale y\n", out);
    else
        fputs("set yrange [0:*]\n", out);
    for (int picture = 0; picture < 2; picture++) {
        gnuplot_terminal(picture, d->base, out);
        fputs("plot ", out);
        for (size_t i = 0; i < lines(d); i++) {
            fprintf(out,
                    "%s'%s.dat' index %zu with yerrorlines linetype %zu linewidth 2 pointtype 7 "
                    "pointsize 0.6 title ",
                    i ? ", \\\n     " : "", d->base, i, i + 1);
            gnuplot_quote(line_label(d, i), out);
        }
        fputs("\nunset output\n", out);
    }
}

static void put_script(const void *ctx, FILE *out)
{
    const struct drawing *d = ctx;

    put_title(d, out);
    (d->heat ? put_heat : put_lines)(d, out);
}

/* "show-load=2k/s" as part of a file's name. */
static char *file_name(const char *name, const char *page)
{
    char *text = xasprintf("%s%s%s", name, *page ? "-" : "", page);

    for (char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.=", *c))
            *c = '_';
    return text;
}

int pivot_plot(const struct pivot *p, enum pivot_picture kind, const char *dir, const char *name,
               bool quiet, struct errors *e)
{
    bool field = p->col_axis && p->rows > 1 && p->cols > 1;
    bool both = field && p->row_axis->numeric && p->col_axis->numeric;
    size_t before = e->count;

    for (size_t i = 0; i < p->pages; i++) {
        char *base = file_name(name, p->page[i].name);
        struct drawing d = {.pivot = p, .page = &p->page[i], .base = base};

        d.heat = field && (kind == PICTURE_HEAT || (kind == PICTURE_AUTO && both));
        d.turned = !d.heat && p->col_axis && !p->row_axis->numeric && p->col_axis->numeric;
        gnuplot_picture(dir, base, put_data, put_script, &d, quiet, e);
        free(base);
    }
    return e->count > before ? -1 : 0;
}
