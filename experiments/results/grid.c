/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/results/grid.h"

#include "sim/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2 };

void grid_init(struct grid *g, size_t columns)
{
    *g = (struct grid){.columns = columns};
}

void grid_free(struct grid *g)
{
    for (size_t i = 0; i < g->rows * g->columns; i++)
        free(g->cell[i]);
    free(g->cell);
}

void grid_row(struct grid *g)
{
    size_t size = ++g->rows * g->columns;

    g->cell = xrealloc(g->cell, size * sizeof *g->cell);
    for (size_t i = size - g->columns; i < size; i++)
        g->cell[i] = NULL;
    g->used = 0;
}

void grid_put(struct grid *g, const char *fmt, ...)
{
    va_list ap;
    char *text;

    BUG_ON(!g->rows || g->used == g->columns);
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = xstrdup("");
    va_end(ap);
    g->cell[(g->rows - 1) * g->columns + g->used++] = text;
}

/* Characters of UTF-8. */
static int width(const char *text)
{
    int n = 0;

    for (; text && *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void grid_print(const struct grid *g, FILE *out)
{
    int *wide = xcalloc(g->columns, sizeof *wide);

    for (size_t i = 0; i < g->rows * g->columns; i++)
        if (width(g->cell[i]) > wide[i % g->columns])
            wide[i % g->columns] = width(g->cell[i]);
    for (size_t r = 0; r < g->rows; r++) {
        int owed = 0; /* blanks not yet written: none at the end of a line */

        for (size_t c = 0; c < g->columns; c++) {
            const char *text = g->cell[r * g->columns + c];
            int pad = wide[c] - width(text);

            if (c)
                owed += GAP + pad;
            if (text && *text) {
                fprintf(out, "%*s%s", owed, "", text);
                owed = 0;
            }
            if (!c)
                owed += pad;
        }
        fputc('\n', out);
    }
    free(wide);
}

/* Decimals so that `value` shows `digits` significant ones; 0 to 6. */
static int decimals(double value, int digits)
{
    int places = digits - 1;

    for (double a = fabs(value); a >= 10 && places > 0; a /= 10)
        places--;
    for (double a = fabs(value); a < 1 && a > 0 && places < 6; a *= 10)
        places++;
    return places;
}

static double pow10_of(int n)
{
    double p = 1;

    while (n-- > 0)
        p *= 10;
    return p;
}

char *value_text(double value)
{
    if (isnan(value))
        return xstrdup("-");
    if (value == 0)
        return xstrdup("0");
    return xasprintf("%.*f", decimals(value, 4), value);
}

char *figure_text(const struct interval *i, bool *mark)
{
    double half = interval_half(i);
    int places;

    if (isnan(i->estimate))
        return xstrdup("-");
    if (!interval_given(i)) {
        char *value = value_text(i->estimate), *text;
        bool star = i->none != INTERVAL_MAXIMUM;

        if (mark && star)
            *mark = true;
        text = xasprintf("%s%s", value, star ? " *" : "");
        free(value);
        return text;
    }
    if (half == 0)
        return value_text(i->estimate);
    places = decimals(half, 2);
    if (places > decimals(i->estimate, 4))
        places = decimals(i->estimate, 4);
    /* so narrow that no digit of it would be seen */
    if (half * pow10_of(places) < 0.5)
        return xasprintf("%.*f", places, i->estimate);
    return xasprintf("%.*f ±%.*f", places, i->estimate, places, half);
}

void grid_put_value(struct grid *g, double value)
{
    char *text = value_text(value);

    grid_put(g, "%s", text);
    free(text);
}

void grid_put_range(struct grid *g, const struct interval *i, double scale)
{
    char *value = value_text(scale * i->estimate), *low, *high;

    if (!interval_given(i) || isnan(i->estimate)) {
        grid_put(g, "%s", value);
    } else {
        low = value_text(scale * i->low);
        high = value_text(scale * i->high);
        grid_put(g, "%s (%s to %s)", value, low, high);
        free(low);
        free(high);
    }
    free(value);
}
