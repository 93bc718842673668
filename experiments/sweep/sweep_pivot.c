/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/sweep_pivot.h"

#include "experiments/results/grid.h"
#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORSE_LEVEL 0.05 /* chance that the truly best cell is called worse */

enum { MOST_PAGES = 100 };

struct making {
    struct pivot *pivot;
    struct sweep_results *results;
    const struct sweep_index *index;
    const struct pivot_options *options;
    int rows, cols; /* axes; cols -1: none */
    bool *held;     /* by axis: makes no pages */
    size_t *chosen; /* points that meet the conditions */
    size_t count;
    struct errors *e;
};

static int unknown_axis(const struct making *m, const char *name, const char *option)
{
    const char **names = xcalloc(m->index->axes, sizeof *names), *nearest;

    for (size_t i = 0; i < m->index->axes; i++)
        names[i] = m->index->axis[i].name;
    nearest = nearest_name(name, names, m->index->axes);
    if (!nearest)
        nearest = names[0];
    error_add(m->e, EXIT_INPUT, "%s: the sweep has no axis \"%s\": did you mean \"%s\"?", option,
              name, nearest);
    free(names);
    return -1;
}

static int axis_of(const struct making *m, const char *name)
{
    for (size_t i = 0; i < m->index->axes; i++)
        if (!strcmp(m->index->axis[i].name, name))
            return (int)i;
    return -1;
}

static const char *level(const struct making *m, size_t point, size_t axis)
{
    return m->index->point[point].level[axis];
}

/* The same text, or the same number ("1ms", "1000us"). */
static bool same_level(const char *a, const char *b)
{
    struct value x, y;

    if (!strcmp(a, b))
        return true;
    x = value_read(a);
    y = value_read(b);
    return x.numeric && y.numeric && x.quantity == y.quantity && x.number == y.number;
}

/* ---- which points -----------------------------------------------------------------------------
 */

/* "axis=value" holds for some points, or it is a mistake. */
static int apply(struct making *m, const char *condition)
{
    const char *equals = strchr(condition, '=');
    char *name = xasprintf("%.*s", (int)(equals ? equals - condition : 0), condition);
    int axis = axis_of(m, name);
    size_t kept = 0;

    if (!equals) {
        free(name);
        return error_add(m->e, EXIT_INPUT, "--where %s: write AXIS=VALUE", condition);
    }
    if (axis < 0) {
        unknown_axis(m, name, "--where");
        free(name);
        return -1;
    }
    free(name);
    for (size_t i = 0; i < m->count; i++)
        if (same_level(level(m, m->chosen[i], (size_t)axis), equals + 1))
            m->chosen[kept++] = m->chosen[i];
    if (!kept)
        return error_add(m->e, EXIT_INPUT, "--where %s: no point has this value; the first has %s",
                         condition, level(m, m->chosen[0], (size_t)axis));
    m->count = kept;
    m->held[axis] = true;
    return 0;
}

static int choose(struct making *m)
{
    int status = 0;

    m->chosen = xcalloc(m->index->points, sizeof *m->chosen);
    for (; m->count < m->index->points; m->count++)
        m->chosen[m->count] = m->count;
    for (size_t i = 0; i < m->options->where->count && !status; i++)
        status = apply(m, list_text(m->options->where, i));
    return status;
}

/* ---- rows, columns, pages ---------------------------------------------------------------------
 */

static size_t find_label(char *const *list, size_t count, const char *text)
{
    size_t i = 0;

    while (i < count && strcmp(list[i], text))
        i++;
    return i;
}

static size_t add_label(char ***list, size_t *count, const char *text)
{
    size_t i = find_label(*list, *count, text);

    if (i < *count)
        return i;
    *list = xrealloc(*list, (*count + 1) * sizeof **list);
    (*list)[(*count)++] = xstrdup(text);
    return i;
}

static double number_of(const char *text)
{
    return value_read(text).number;
}

/* Numbers in their order; points may come in another, with conditions. Few: no need for more. */
static void sort_labels(char **list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        char *moved = list[i];
        size_t k = i;

        for (; k && number_of(list[k - 1]) > number_of(moved); k--)
            list[k] = list[k - 1];
        list[k] = moved;
    }
}

static void list_labels(struct making *m)
{
    struct pivot *p = m->pivot;

    for (size_t i = 0; i < m->count; i++) {
        add_label(&p->row, &p->rows, level(m, m->chosen[i], (size_t)m->rows));
        if (m->cols >= 0)
            add_label(&p->col, &p->cols, level(m, m->chosen[i], (size_t)m->cols));
    }
    for (size_t i = 0; i < m->options->metrics->count && m->cols < 0; i++)
        add_label(&p->col, &p->cols, list_text(m->options->metrics, i));
    if (p->row_axis->numeric)
        sort_labels(p->row, p->rows);
    if (p->col_axis && p->col_axis->numeric)
        sort_labels(p->col, p->cols);
}

static size_t place_of(const struct making *m, size_t point)
{
    const struct pivot *p = m->pivot;
    size_t row = find_label(p->row, p->rows, level(m, point, (size_t)m->rows));
    size_t col = m->cols < 0 ? 0 : find_label(p->col, p->cols, level(m, point, (size_t)m->cols));

    return row * p->cols + col;
}

/* An axis of which row and column tell the value makes no pages. */
static void hold_dependent(struct making *m, size_t axis)
{
    const char **value = xcalloc(m->pivot->rows * m->pivot->cols, sizeof *value);
    bool depends = true;

    for (size_t i = 0; i < m->count && depends; i++) {
        const char **here = &value[place_of(m, m->chosen[i])];
        const char *text = level(m, m->chosen[i], axis);

        depends = !*here || !strcmp(*here, text);
        *here = text;
    }
    m->held[axis] = m->held[axis] || depends;
    free(value);
}

static char *page_name(const struct making *m, size_t point)
{
    char *name = xstrdup("");

    for (size_t i = 0; i < m->index->axes; i++) {
        char *longer;

        if (m->held[i])
            continue;
        longer = xasprintf("%s%s%s=%s", name, *name ? ", " : "", m->index->axis[i].name,
                           level(m, point, i));
        free(name);
        name = longer;
    }
    return name;
}

static struct pivot_page *page_of(struct making *m, size_t point)
{
    struct pivot *p = m->pivot;
    char *name = page_name(m, point);
    struct pivot_page *page;

    for (size_t i = 0; i < p->pages; i++)
        if (!strcmp(p->page[i].name, name)) {
            free(name);
            return &p->page[i];
        }
    if (p->pages == MOST_PAGES) {
        error_add(m->e, EXIT_INPUT,
                  "more than %d tables: hold some of the other axes with --where AXIS=VALUE",
                  MOST_PAGES);
        free(name);
        return NULL;
    }
    p->page = xrealloc(p->page, (p->pages + 1) * sizeof *p->page);
    page = &p->page[p->pages++];
    *page = (struct pivot_page){.name = name};
    page->cell = xcalloc(p->rows * p->cols, sizeof *page->cell);
    return page;
}

/* ---- figures ----------------------------------------------------------------------------------
 */

/* What the table is about, and with several metrics what a column is. */
static void name_figure(struct making *m, const struct figure *f, size_t k)
{
    struct pivot *p = m->pivot;
    bool several = m->options->metrics->count > 1;
    char *name =
        xasprintf("%s%s%s", f->metric->name, *f->metric->unit ? ", " : "", f->metric->unit);

    p->metric = f->metric;
    if (!several && !p->title)
        p->title = xasprintf("%s: %s", f->subject, name);
    if (several && !p->title) {
        p->title = xstrdup(f->subject);
    } else if (several && *p->title && strcmp(p->title, f->subject)) {
        free(p->title);
        p->title = xstrdup("");
    }
    if (several && !p->named[k]) {
        p->named[k] = xasprintf("%s: %s", f->subject, name);
    }
    free(name);
}

static int fill_cell(struct making *m, struct pivot_cell *c, size_t k, struct point_result *r)
{
    int figure;

    c->failed = r->state == ENTRY_FAILED;
    if (r->state != ENTRY_DONE)
        return 0;
    figure = figures_find(r->figures, list_text(m->options->metrics, k), "--metric", m->e);
    if (figure < 0)
        return -1;
    c->there = true;
    c->n = r->n;
    c->figure = kept_interval(&r->set, (size_t)figure, m->index->level);
    c->x = xcalloc(r->n, sizeof *c->x);
    kept_pseudo_values(&r->set, (size_t)figure, c->x);
    name_figure(m, &r->figures->item[figure], k);
    return 0;
}

static int fill_cells(struct making *m, size_t point)
{
    struct pivot_page *page = page_of(m, point);
    struct pivot_cell *c;
    struct point_result r;
    int status = 0;

    if (!page || sweep_result(m->results, point, &r, m->e))
        return -1;
    c = &page->cell[place_of(m, point)];
    for (size_t k = 0; k < m->options->metrics->count && !status; k++)
        if (!c[k].there && !c[k].failed) { /* else: the same values once more */
            c[k].point = point;
            status = fill_cell(m, &c[k], k, &r);
        }
    point_result_free(&r);
    return status;
}

static bool can_be_compared(const struct pivot_cell *c)
{
    bool good = c->there && c->figure.none != INTERVAL_MAXIMUM;

    for (uint32_t i = 0; good && i < c->n; i++)
        good = !isnan(c->x[i]);
    return good;
}

/* The best cell, and all that one look of a race does not tell from it: the union bound over its
 * rivals holds although the best was chosen by what it looks like. */
static void find_best(const struct pivot *p, struct pivot_page *page)
{
    struct race race = {.alpha = WORSE_LEVEL, .looks = 1, .larger_is_better = p->best == BEST_MOST};
    size_t cells = p->rows * p->cols, best;
    const double **score = xcalloc(cells, sizeof *score);
    bool *alive = xcalloc(cells, sizeof *alive);
    uint32_t n = UINT32_MAX;

    for (size_t i = 0; i < cells; i++) {
        struct pivot_cell *c = &page->cell[i];

        score[i] = c->x;
        alive[i] = can_be_compared(c);
        if (alive[i] && c->n < n)
            n = c->n;
        page->compared += alive[i];
    }
    best = page->compared > 1 ? race_best(&race, score, alive, cells, n) : cells;
    if (best < cells) {
        race_look(&race, score, alive, cells, n);
        page->cell[best].winner = true;
        for (size_t i = 0; i < cells; i++)
            page->cell[i].close = alive[i] && i != best;
        page->common = n;
    }
    page->compared -= page->compared > 0;
    free(score);
    free(alive);
}

/* ---- all --------------------------------------------------------------------------------------
 */

static int find_axes(struct making *m)
{
    const struct pivot_options *o = m->options;
    size_t before = m->e->count;

    m->rows = axis_of(m, o->rows);
    m->cols = o->cols ? axis_of(m, o->cols) : -1;
    if (m->rows < 0)
        unknown_axis(m, o->rows, "--rows");
    if (o->cols && m->cols < 0)
        unknown_axis(m, o->cols, "--cols");
    if (o->cols && m->rows == m->cols && m->rows >= 0)
        error_add(m->e, EXIT_INPUT, "--rows and --cols name the same axis");
    if (o->metrics->count > 1 && (o->cols || o->best != BEST_NONE))
        error_add(m->e, EXIT_INPUT,
                  "several --metric stand in the columns: leave out --cols and --best");
    if (m->e->count > before)
        return -1;
    m->held[m->rows] = true;
    m->pivot->row_axis = &m->index->axis[m->rows];
    if (m->cols >= 0) {
        m->held[m->cols] = true;
        m->pivot->col_axis = &m->index->axis[m->cols];
    }
    return 0;
}

int pivot_make(struct pivot *p, struct sweep_results *r, const struct pivot_options *o,
               struct errors *e)
{
    struct making m = {.pivot = p, .results = r, .index = &r->index, .options = o, .e = e};
    size_t before = e->count;

    *p = (struct pivot){.best = o->best};
    m.held = xcalloc(m.index->axes, sizeof *m.held);
    if (!find_axes(&m) && !choose(&m)) {
        list_labels(&m);
        p->named = xcalloc(o->metrics->count, sizeof *p->named);
        for (size_t i = 0; i < m.index->axes; i++)
            if (!m.held[i])
                hold_dependent(&m, i);
        for (size_t i = 0; i < m.count; i++)
            if (fill_cells(&m, m.chosen[i]))
                break;
    }
    if (e->count == before && !p->metric)
        error_add(e, EXIT_INPUT, "%s: no point is done yet", r->store.dir);
    for (size_t i = 0; i < p->pages && o->best != BEST_NONE; i++)
        find_best(p, &p->page[i]);
    free(m.held);
    free(m.chosen);
    return e->count > before ? -1 : 0;
}

void pivot_free(struct pivot *p)
{
    for (size_t i = 0; i < p->pages; i++) {
        for (size_t k = 0; k < p->rows * p->cols; k++)
            free(p->page[i].cell[k].x);
        free(p->page[i].cell);
        free(p->page[i].name);
    }
    for (size_t i = 0; i < p->rows; i++)
        free(p->row[i]);
    for (size_t i = 0; i < p->cols; i++) {
        if (!p->col_axis)
            free(p->named[i]);
        free(p->col[i]);
    }
    free(p->named);
    free(p->page);
    free(p->row);
    free(p->col);
    free(p->title);
}

/* ---- text -------------------------------------------------------------------------------------
 */

/* Of a column: an axis' value, or what a metric is, without the subject if that is the title. */
static const char *heading(const struct pivot *p, size_t c)
{
    const char *text = p->col[c], *colon;

    if (p->col_axis || p->cols == 1 || !p->named[c])
        return text;
    colon = strstr(p->named[c], ": ");
    return *p->title ? colon + 2 : p->named[c];
}

static void print_page(const struct pivot *p, const struct pivot_page *page, bool *starred,
                       bool *failed, FILE *out)
{
    struct grid g;

    grid_init(&g, p->cols + 1);
    grid_row(&g);
    grid_put(&g, "%s%s%s", p->row_axis->name, p->col_axis ? " \\ " : "",
             p->col_axis ? p->col_axis->name : "");
    for (size_t c = 0; c < p->cols; c++)
        grid_put(&g, "%s", heading(p, c));
    for (size_t r = 0; r < p->rows; r++) {
        grid_row(&g);
        grid_put(&g, "%s", p->row[r]);
        for (size_t c = 0; c < p->cols; c++) {
            const struct pivot_cell *cell = &page->cell[r * p->cols + c];
            char *text = cell->there ? figure_text(&cell->figure, starred)
                                     : xstrdup(cell->failed ? "failed" : "");

            *failed = *failed || cell->failed;
            grid_put(&g, "%s%s", text, cell->winner ? " <" : cell->close ? " ~" : "");
            free(text);
        }
    }
    if (*page->name)
        fprintf(out, "%s\n", page->name);
    grid_print(&g, out);
    grid_free(&g);
}

void pivot_print(const struct pivot *p, FILE *out)
{
    bool starred = false, failed = false;

    if (*p->title)
        fprintf(out, "%s\n\n", p->title);
    for (size_t i = 0; i < p->pages; i++) {
        print_page(p, &p->page[i], &starred, &failed, out);
        if (p->page[i].common && p->page[i].common < RACE_LEAST)
            fprintf(out, "< %s; with %u replications none can be called worse: %d are wanted\n",
                    p->best == BEST_MOST ? "highest" : "lowest", p->page[i].common, RACE_LEAST);
        else if (p->page[i].common)
            fprintf(out,
                    "< %s; ~ not significantly worse than it (paired t-tests over %u replications, "
                    "%g%% for all %zu comparisons together)\n",
                    p->best == BEST_MOST ? "highest" : "lowest", p->page[i].common,
                    WORSE_LEVEL * 100, p->page[i].compared);
        if (i + 1 < p->pages)
            fputc('\n', out);
    }
    if (starred)
        fputs("* no interval: too few replications, or too few observations in them\n", out);
    if (failed)
        fputs("Points failed: points.csv tells why and how to run them alone\n", out);
}
