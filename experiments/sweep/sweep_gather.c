/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of a sweep: points (one row each), results (one row for each point and subject) and
 * replications (the same for each replication alone). Axes and metrics are columns, with their unit
 * in the heading; what does not apply is empty. Points come by their number, subjects and metrics
 * in the order of results of a run.
 */
#include "experiments/results/results.h"
#include "experiments/sweep/sweep_results.h"
#include "experiments/sweep/sweep_table.h"
#include "sim/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gather {
    struct sweep_results *results;
    const struct sweep_index *index;
    const struct metric **metric; /* columns */
    size_t metrics;
    struct database *database;
    struct table *points, *figures, *replications;
    struct gather_counts *counts;
    struct errors *e;
};

/* ---- columns ----------------------------------------------------------------------------------
 */

static bool is_kept(const struct sweep_index *x, const struct metric *m)
{
    for (size_t i = 0; i < x->sets; i++)
        for (size_t k = 0; k < x->set[i].figures.count; k++)
            if (x->set[i].figures.item[k].metric == m)
                return true;
    return false;
}

static void list_metrics(struct gather *g)
{
    g->metric = xcalloc(metric_count, sizeof *g->metric);
    for (size_t i = 0; i < metric_count; i++)
        if (is_kept(g->index, &metrics[i]))
            g->metric[g->metrics++] = &metrics[i];
}

/* "slice_ms"; a name that is taken by another column gets "axis_" before it. */
static char *axis_heading(const struct index_axis *a)
{
    static const char *const taken[] = {"point",    "kind",         "subject", "key",
                                        "status",   "replications", "reason",  "alone",
                                        "scenario", "replication"};
    const char *unit = index_axis_unit(a), *prefix = "";

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(a->name, taken[i]) && !*unit)
            prefix = "axis_";
    return xasprintf("%s%s%s%s", prefix, a->name, *unit ? "_" : "", unit);
}

static void add_axes(const struct gather *g, struct column **list, size_t *n)
{
    column_add(list, n, xstrdup("point"), COLUMN_INTEGER);
    for (size_t i = 0; i < g->index->axes; i++) {
        const struct index_axis *a = &g->index->axis[i];

        column_add(list, n, axis_heading(a), a->numeric ? COLUMN_REAL : COLUMN_TEXT);
    }
}

static struct table *open_table(struct gather *g, const char *name, struct column *column,
                                size_t columns)
{
    char *file = xasprintf("%s.csv", name), *path = output_path(g->results->store.dir, file);
    struct table *t = table_open(g->database, name, path, column, columns, g->e);

    free(file);
    free(path);
    return t;
}

static struct table *open_points(struct gather *g)
{
    struct column *list = NULL;
    size_t n = 0;

    add_axes(g, &list, &n);
    column_add(&list, &n, xstrdup("key"), COLUMN_TEXT);
    column_add(&list, &n, xstrdup("status"), COLUMN_TEXT);
    column_add(&list, &n, xstrdup("replications"), COLUMN_INTEGER);
    column_add(&list, &n, xstrdup("reason"), COLUMN_TEXT);
    column_add(&list, &n, xstrdup("alone"), COLUMN_TEXT);
    column_add(&list, &n, xstrdup("scenario"), COLUMN_TEXT);
    list[n - 1].database_only = true;
    return open_table(g, "points", list, n);
}

/* Units are those of the metric table ("", "%", "1/s"): "cpu_share_percent". */
static void add_metric(struct column **list, size_t *n, const struct metric *m, const char *what)
{
    const char *unit = *m->unit ? unit_in_header(m->unit) : "";

    column_add(list, n, xasprintf("%s%s%s%s", m->name, what, *unit ? "_" : "", unit), COLUMN_REAL);
}

static struct table *open_figures(struct gather *g, bool each)
{
    struct column *list = NULL;
    size_t n = 0;

    add_axes(g, &list, &n);
    column_add(&list, &n, xstrdup(each ? "replication" : "replications"), COLUMN_INTEGER);
    column_add(&list, &n, xstrdup("kind"), COLUMN_TEXT);
    column_add(&list, &n, xstrdup("subject"), COLUMN_TEXT);
    for (size_t i = 0; i < g->metrics; i++) {
        add_metric(&list, &n, g->metric[i], "");
        if (each)
            continue;
        add_metric(&list, &n, g->metric[i], "_low");
        add_metric(&list, &n, g->metric[i], "_high");
    }
    return open_table(g, each ? "replications" : "results", list, n);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static void put_axes(const struct gather *g, struct table *t, size_t point)
{
    table_integer(t, (int64_t)point);
    for (size_t i = 0; i < g->index->axes; i++) {
        const char *text = g->index->point[point].level[i];

        if (g->index->axis[i].numeric)
            table_real(t, value_read(text).number);
        else
            table_text(t, text);
    }
}

static void put_point(struct gather *g, size_t point, const struct point_result *p)
{
    static const char *const states[] = {
        [ENTRY_MORE] = "unfinished", [ENTRY_DONE] = "done", [ENTRY_FAILED] = "failed"};
    const struct index_point *x = &g->index->point[point];
    char key[20];

    snprintf(key, sizeof key, "%016" PRIx64, x->key);
    put_axes(g, g->points, point);
    table_text(g->points, key);
    table_text(g->points, states[p->state]);
    table_integer(g->points, p->n);
    table_text(g->points, p->reason ? p->reason : "");
    table_text(g->points, x->rerun);
    table_text(g->points, x->scenario);
    table_end_row(g->points, g->e);
}

/* The figure of a metric among those of a subject, `count` from `first`; -1: it has none. */
static int figure_of(const struct figures *f, size_t first, size_t count, const struct metric *m)
{
    for (size_t i = first; i < first + count; i++)
        if (f->item[i].metric == m)
            return (int)i;
    return -1;
}

static void put_subject(struct gather *g, size_t point, struct point_result *p, size_t first,
                        size_t count)
{
    const struct figure *subject = &p->figures->item[first];

    put_axes(g, g->figures, point);
    table_integer(g->figures, p->n);
    table_text(g->figures, subject_kind_names[subject->kind]);
    table_text(g->figures, subject->subject);
    for (size_t i = 0; i < g->metrics; i++) {
        int figure = figure_of(p->figures, first, count, g->metric[i]);
        struct interval v = {.estimate = NAN, .low = NAN, .high = NAN};

        if (figure >= 0)
            v = kept_interval(&p->set, (size_t)figure, g->index->level);
        table_real(g->figures, v.estimate);
        table_real(g->figures, v.low);
        table_real(g->figures, v.high);
    }
    table_end_row(g->figures, g->e);
    g->counts->rows++;
}

static void put_replication(struct gather *g, size_t point, const struct point_result *p,
                            size_t first, size_t count, uint32_t replication)
{
    const struct figure *subject = &p->figures->item[first];

    put_axes(g, g->replications, point);
    table_integer(g->replications, replication);
    table_text(g->replications, subject_kind_names[subject->kind]);
    table_text(g->replications, subject->subject);
    for (size_t i = 0; i < g->metrics; i++) {
        int figure = figure_of(p->figures, first, count, g->metric[i]);

        table_real(g->replications, figure < 0 ? NAN : p->item[replication].value[figure]);
    }
    table_end_row(g->replications, g->e);
}

/* Figures of one subject come together. */
static size_t subject_figures(const struct figures *f, size_t first)
{
    size_t n = 1;

    while (first + n < f->count && f->item[first + n].kind == f->item[first].kind &&
           !strcmp(f->item[first + n].subject, f->item[first].subject))
        n++;
    return n;
}

static void put_rows(struct gather *g, size_t point, struct point_result *p)
{
    size_t count;

    for (size_t first = 0; first < p->figures->count; first += count) {
        count = subject_figures(p->figures, first);
        put_subject(g, point, p, first, count);
        for (uint32_t i = 0; i < p->n; i++)
            put_replication(g, point, p, first, count, i);
    }
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void describe(struct gather *g)
{
    const struct {
        const char *name, *value;
    } rows[] = {{"title", g->index->title},
                {"question", g->index->question},
                {"scenario", g->index->scenario},
                {"hvsim", g->results->store.version ? g->results->store.version : ""}};
    struct column *list = NULL;
    struct table *t;
    size_t n = 0;

    column_add(&list, &n, xstrdup("name"), COLUMN_TEXT);
    column_add(&list, &n, xstrdup("value"), COLUMN_TEXT);
    t = open_table(g, "sweep", list, n);
    if (!t)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        table_text(t, rows[i].name);
        table_text(t, rows[i].value);
        table_end_row(t, g->e);
    }
    table_close(t, true, g->e);
}

static int fill(struct gather *g)
{
    size_t before = g->e->count;

    g->points = open_points(g);
    g->figures = open_figures(g, false);
    g->replications = open_figures(g, true);
    if (!g->points || !g->figures || !g->replications)
        return -1;
    for (size_t i = 0; i < g->index->points && g->e->count == before; i++) {
        struct point_result p;

        if (sweep_result(g->results, i, &p, g->e))
            break;
        g->counts->points++;
        g->counts->done += p.state == ENTRY_DONE;
        g->counts->failed += p.state == ENTRY_FAILED;
        put_point(g, i, &p);
        if (p.state == ENTRY_DONE)
            put_rows(g, i, &p);
        point_result_free(&p);
        if (i % 256 == 255)
            store_relax(&g->results->store);
    }
    describe(g);
    return g->e->count > before ? -1 : 0;
}

int sweep_gather(struct sweep_results *r, struct gather_counts *counts, struct errors *e)
{
    struct gather g = {.results = r, .index = &r->index, .counts = counts, .e = e};
    char *path = output_path(r->store.dir, "sweep.sqlite");
    bool good;

    *counts = (struct gather_counts){0};
    list_metrics(&g);
    g.database = database_open(path, e);
    free(path);
    good = g.database && !fill(&g);
    if (g.points && table_close(g.points, good, e))
        good = false;
    if (g.figures && table_close(g.figures, good, e))
        good = false;
    if (g.replications && table_close(g.replications, good, e))
        good = false;
    if (g.database && database_close(g.database, good, e))
        good = false;
    free(g.metric);
    return good ? 0 : -1;
}
