/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim sweep gather, show: tables and pictures of a sweep's results. */
#include "experiments/commands/commands.h"
#include "experiments/sweep/sweep_pivot.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- gather -----------------------------------------------------------------------------------
 */

struct gather_command {
    char unused;
};

static const struct command_option no_rows[1] = {{.param = {.name = ""}}};

static enum exit_code gather(const void *options, const struct operands *o, struct errors *e)
{
    struct gather_counts n = {0};
    struct sweep_results r;

    (void)options;
    if (!sweep_results_open(&r, o->text[0], e) && !sweep_gather(&r, &n, e)) {
        printf("%zu of %zu points", n.done, n.points);
        if (n.failed)
            printf(", %zu failed (points.csv tells why)", n.failed);
        if (n.done + n.failed < n.points)
            printf(", %zu not finished", n.points - n.done - n.failed);
        printf("; %zu rows of results.\n%s holds points.csv, results.csv, replications.csv and "
               "sweep.sqlite.\n",
               n.rows, o->text[0]);
        if (r.store.damaged)
            printf("%zu stored lines were damaged and left out.\n", r.store.damaged);
    }
    sweep_results_free(&r);
    return e->count ? errors_exit_code(e) : EXIT_OK;
}

const struct command command_sweep_gather = {
    .name = "sweep gather",
    .summary = "Make CSV tables and a SQLite database of a sweep's results",
    .arguments = "DIR",
    .least = 1,
    .most = 1,
    .details = "points: what each point is, whether it is done, how to run it alone. results: its "
               "figures, "
               "one row for each subject, with intervals. replications: the same for each "
               "replication. The "
               "database has the same tables, and the scenario of each point.",
    .options = no_rows,
    .option_count = 0,
    .options_size = sizeof(struct gather_command),
    .run = gather,
};

/* ---- show -------------------------------------------------------------------------------------
 */

struct show_command {
    char *rows, *cols, *name, *out;
    int best, plot;
    bool quiet;
    struct param_list metric, where;
};

/* In the order of enum pivot_best and of enum pivot_picture, and one more. */
static const char *const bests[] = {"none", "least", "most", NULL};
static const char *const plots[] = {"auto", "heat", "lines", "none", NULL};

static const struct command_option show_rows[] = {
    {.param = {PARAM("rows", STRING, struct show_command, rows), .meaning = "Axis of the rows."},
     .letter = 'r',
     .value = "AXIS"},
    {.param = {PARAM("cols", STRING, struct show_command, cols),
               .meaning = "Axis of the columns; none: one column."},
     .letter = 'c',
     .value = "AXIS"},
    {.param = {PARAM("metric", LIST, struct show_command, metric),
               .meaning =
                   "What to show: \"metric\" or \"subject:metric\"; without --cols it may be "
                   "repeated: each is a column then."},
     .letter = 'm',
     .value = "METRIC"},
    {.param = {PARAM("where", LIST, struct show_command, where),
               .meaning = "Only points with this value of another axis; may be repeated."},
     .letter = 'w',
     .value = "AXIS=VALUE"},
    {.param = {PARAM("best", ENUM, struct show_command, best), .def = "none", .names = bests,
               .meaning = "Mark the least or the most, and what is not significantly worse."},
     .value = "least|most"},
    {.param = {PARAM("plot", ENUM, struct show_command, plot), .def = "auto", .names = plots,
               .meaning = "The picture: auto is a heat map if both axes are numeric, else lines."},
     .value = "auto|heat|lines|none"},
    {.param = {PARAM("name", STRING, struct show_command, name),
               .meaning = "Name of the picture's files; else that of the metric."},
     .value = "NAME"},
    {.param = {PARAM("out", STRING, struct show_command, out),
               .meaning = "Directory of the picture; else that of the sweep."},
     .letter = 'o',
     .value = "DIR"},
    {.param = {PARAM("quiet", BOOLEAN, struct show_command, quiet),
               .meaning = "Say nothing if gnuplot is missing."},
     .letter = 'q'},
};

static char *picture_name(const char *metric)
{
    char *name = xstrdup(metric);

    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '.')
            *c = '_';
    return name;
}

static void draw(const struct show_command *c, const struct pivot *p, const char *dir,
                 struct errors *e)
{
    char *name = c->name ? xstrdup(c->name) : picture_name(list_text(&c->metric, 0));

    pivot_plot(p, (enum pivot_picture)c->plot, c->out ? c->out : dir, name, c->quiet, e);
    free(name);
}

static enum exit_code show(const void *options, const struct operands *o, struct errors *e)
{
    const struct show_command *c = options;
    struct pivot_options pivot = {c->rows, c->cols, &c->metric, &c->where,
                                  (enum pivot_best)c->best};
    struct sweep_results r = {0};
    struct pivot p = {0};

    if (!c->rows || !c->metric.count)
        error_add(
            e, EXIT_INPUT,
            "hvsim sweep show: --rows AXIS and --metric METRIC are wanted, and --cols AXIS if "
            "there are two");
    else if (!sweep_results_open(&r, o->text[0], e) && !pivot_make(&p, &r, &pivot, e)) {
        pivot_print(&p, stdout);
        if (c->plot <= PICTURE_LINES && c->metric.count == 1)
            draw(c, &p, o->text[0], e);
    }
    pivot_free(&p);
    sweep_results_free(&r);
    return e->count ? errors_exit_code(e) : EXIT_OK;
}

const struct command command_sweep_show = {
    .name = "sweep show",
    .summary = "Print a metric of a sweep as a table over two axes, and draw it",
    .arguments = "DIR",
    .least = 1,
    .most = 1,
    .details =
        "For instance\n"
        "    hvsim sweep show out/slices --rows slice --cols scheduler --metric latency_p99.9\n"
        "Further axes make a table for each of their values; --where holds them.",
    OPTIONS_OF(show_rows, struct show_command),
    .run = show,
};
