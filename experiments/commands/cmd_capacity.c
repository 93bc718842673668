/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim capacity: the largest load at which bounds are kept. */
#include "experiments/commands/commands.h"
#include "experiments/results/grid.h"
#include "experiments/results/results.h"
#include "experiments/search/capacity.h"
#include "experiments/search/over.h"
#include "experiments/search/trials.h"
#include "experiments/sweep/sweep_file.h"
#include "models/schedulers/plugin.h"
#include "sim/output.h"
#include "sim/progress.h"

#include <math.h>
#include <stdlib.h>

struct capacity_command {
    char *over, *out;
    struct param_list require, set, plugin;
    int64_t first, most, tolerance;
    int jobs;
    bool json, quiet;
};

static const struct command_option rows[] = {
    {.param = {PARAM("over", STRING, struct capacity_command, over),
               .meaning = "The load: a place in the scenario, and the range to search."},
     .value = "/JSON/POINTER=LOW..HIGH"},
    {.param = {PARAM("require", LIST, struct capacity_command, require),
               .meaning = "A bound that must be kept: 'METRIC<=LIMIT' or 'METRIC>=LIMIT'; may be "
                          "repeated."},
     .value = "BOUND"},
    {.param = {PARAM("tolerance", PERCENT, struct capacity_command, tolerance), .def = "2%",
               .min = "0.01%", .max = "50%",
               .meaning = "Loads that are closer are not told apart (unless there are steps)."},
     .value = "PERCENT"},
    {.param = {PARAM("first", INTEGER, struct capacity_command, first), .def = "10", .min = "10",
               .max = "100000", .meaning = "Replications before the first verdict on a load."},
     .value = "N"},
    {.param = {PARAM("most", INTEGER, struct capacity_command, most), .def = "100", .min = "10",
               .max = "100000", .meaning = "Replications after which a load stays open."},
     .value = "N"},
    {.param = {PARAM("set", LIST, struct capacity_command, set),
               .meaning = "Another value in the scenario; may be repeated."},
     .value = "/JSON/POINTER=VALUE"},
    {.param = {PARAM("jobs", INTEGER, struct capacity_command, jobs), .def = "CPUs", .min = "1",
               .max = "4096", .word = "CPUs", .word_value = 0,
               .meaning = "Replications at a time."},
     .letter = 'j',
     .value = "N"},
    {.param = {PARAM("out", STRING, struct capacity_command, out),
               .meaning = "Write capacity.json into this directory."},
     .letter = 'o',
     .value = "DIR"},
    {.param = {PARAM("json", BOOLEAN, struct capacity_command, json),
               .meaning = "Print capacity.json instead of a table."}},
    {.param = {PARAM("quiet", BOOLEAN, struct capacity_command, quiet),
               .meaning = "No progress on the terminal."},
     .letter = 'q'},
    {.param = {PARAM("plugin", LIST, struct capacity_command, plugin),
               .meaning = "A scheduler in a shared object; may be repeated."},
     .value = "FILE.so"},
};

struct measuring {
    const struct capacity_command *command;
    struct trials trials;
    struct over over;
    struct bound *bound;
    size_t bounds;
    const char **name;
    double *load; /* of each setting of the trials but the first, which is the scenario itself */
    size_t loads;
    struct capacity_result result;
    struct progress progress;
};

static const char *const verdicts[] = {
    [BOUND_OPEN] = "open", [BOUND_MET] = "kept", [BOUND_BROKEN] = "broken"};

/* ---- judging ----------------------------------------------------------------------------------
 */

/* The setting of a load among the trials; -1 with errors. */
static int64_t setting_of(struct measuring *m, double load, struct errors *e)
{
    char **set;
    int64_t setting;

    for (size_t i = 0; i < m->loads; i++)
        if (m->load[i] == load)
            return (int64_t)i + 1;
    set = xcalloc(m->over.pointers, sizeof *set);
    for (size_t i = 0; i < m->over.pointers; i++)
        set[i] = over_assignment(&m->over, i, load);
    setting = trials_add(&m->trials, (const char *const *)set, m->over.pointers, e);
    for (size_t i = 0; i < m->over.pointers; i++)
        free(set[i]);
    free(set);
    m->load = xrealloc(m->load, (m->loads + 1) * sizeof *m->load);
    m->load[m->loads++] = load;
    return setting;
}

static int replicate(struct measuring *m, size_t setting, uint32_t n, struct errors *e)
{
    uint32_t there = m->trials.setting[setting].reps;
    struct trial_job *job = xcalloc(n, sizeof *job);
    size_t jobs = 0;
    int status;

    for (uint32_t i = there; i < n; i++)
        job[jobs++] = (struct trial_job){setting, i};
    status = trials_run(&m->trials, job, jobs, e);
    free(job);
    if (!status && m->trials.setting[setting].reps < n)
        return error_add(e, EXIT_INTERNAL, "%s at %s: %s", m->trials.path,
                         m->trials.setting[setting].set[0], m->trials.setting[setting].reason);
    return status;
}

/* All bounds kept, one broken, or neither. */
static enum bound_verdict verdict_of(const struct measuring *m, size_t setting, uint32_t n,
                                     double level)
{
    enum bound_verdict all = BOUND_MET;

    for (size_t i = 0; i < m->bounds; i++) {
        struct interval f =
            trials_interval(&m->trials, setting, i, n, bonferroni_level(level, m->bounds));
        enum bound_verdict v = bound_verdict(&f, m->bound[i].limit, !m->bound[i].least);

        if (v == BOUND_BROKEN)
            return BOUND_BROKEN;
        if (v == BOUND_OPEN)
            all = BOUND_OPEN;
    }
    return all;
}

static int judge(void *ctx, double load, uint32_t n, double level, enum bound_verdict *verdict,
                 struct errors *e)
{
    struct measuring *m = ctx;
    int64_t setting = setting_of(m, load, e);
    char *value = over_value(&m->over, load), note[120];

    snprintf(note, sizeof note, "%s, %u replications", value, n);
    free(value);
    progress_update(&m->progress, (double)m->loads, note);
    if (setting < 0 || replicate(m, (size_t)setting, n, e))
        return -1;
    *verdict = verdict_of(m, (size_t)setting, n, level);
    return 0;
}

/* ---- report -----------------------------------------------------------------------------------
 */

static int by_load(const void *a, const void *b)
{
    const struct capacity_try *x = a, *y = b;

    return x->load < y->load ? -1 : x->load > y->load;
}

static int64_t known_setting(const struct measuring *m, double load)
{
    for (size_t i = 0; i < m->loads; i++)
        if (m->load[i] == load)
            return (int64_t)i + 1;
    return 0;
}

static void print_answer(const struct measuring *m, FILE *out)
{
    const struct capacity_result *r = &m->result;
    char *met = isnan(r->met) ? NULL : over_value(&m->over, r->met);
    char *broken = isnan(r->broken) ? NULL : over_value(&m->over, r->broken);

    if (met && broken)
        fprintf(out, "The bounds are kept at %s and broken at %s.\n", met, broken);
    else if (met)
        fprintf(out, "The bounds are kept at %s, and no load was found at which they are broken.\n",
                met);
    else if (broken)
        fprintf(out, "The bounds are broken at %s, and no load was found at which they are kept.\n",
                broken);
    else
        fputs("No load could be judged: use more replications (--most), or longer ones.\n", out);
    free(met);
    free(broken);
}

static void print(const struct measuring *m, FILE *out)
{
    const struct capacity_result *r = &m->result;
    bool starred = false;
    struct grid g;

    print_answer(m, out);
    fprintf(out, "All verdicts together hold with %g%% confidence.\n\n", m->trials.level * 100);
    grid_init(&g, 3 + m->bounds);
    grid_row(&g);
    grid_put(&g, "%s", over_name(&m->over));
    grid_put(&g, "verdict");
    for (size_t i = 0; i < m->bounds; i++)
        grid_put(&g, "%s %s %s", m->bound[i].name,
                 m->bound[i].least ? ">=" : "<=", m->bound[i].text);
    grid_put(&g, "replications");
    for (size_t i = 0; i < r->tries; i++) {
        const struct capacity_try *t = &r->item[i];
        char *value = over_value(&m->over, t->load);

        grid_row(&g);
        grid_put(&g, "%s", value);
        grid_put(&g, "%s", verdicts[t->verdict]);
        free(value);
        for (size_t k = 0; k < m->bounds; k++) {
            struct interval f = trials_interval(&m->trials, (size_t)known_setting(m, t->load), k,
                                                t->n, m->trials.level);
            char *text = figure_text(&f, &starred);

            grid_put(&g, "%s", text);
            free(text);
        }
        grid_put(&g, "%u", t->n);
    }
    grid_print(&g, out);
    grid_free(&g);
    fprintf(out, "± are single %g%% intervals; verdicts use wider ones (%.4g%%).\n",
            m->trials.level * 100, r->level * 100);
    if (starred)
        fputs("* no interval: too few observations in a replication; a longer \"duration\" would "
              "give one\n",
              out);
}

static void put_load(const struct measuring *m, const char *key, double load, struct json_writer *w)
{
    char *value = isnan(load) ? NULL : over_value(&m->over, load);

    json_put_string(w, key, value);
    free(value);
}

static void write_json(const void *ctx, FILE *out)
{
    const struct measuring *m = ctx;
    struct json_writer w = json_writer(out, JSON_LINES);

    json_begin(&w, NULL, '{');
    results_put_versions(&w);
    json_put_string(&w, "scenario", m->trials.path);
    json_put_string(&w, "over", m->over.text);
    put_load(m, "kept_at", m->result.met, &w);
    put_load(m, "broken_at", m->result.broken, &w);
    json_put_number(&w, "confidence", m->trials.level);
    json_put_number(&w, "confidence_of_each_interval", m->result.level);
    json_begin(&w, "tried", '[');
    for (size_t i = 0; i < m->result.tries; i++) {
        const struct capacity_try *t = &m->result.item[i];

        json_begin(&w, NULL, '{');
        put_load(m, "load", t->load, &w);
        json_put_string(&w, "verdict", verdicts[t->verdict]);
        json_put_integer(&w, "replications", t->n);
        json_begin(&w, "figures", '[');
        for (size_t k = 0; k < m->bounds; k++) {
            struct interval f = trials_interval(&m->trials, (size_t)known_setting(m, t->load), k,
                                                t->n, m->trials.level);

            json_begin_inline(&w, NULL, '{');
            json_put_string(&w, "metric", m->bound[k].name);
            results_put_interval(&w, &f);
            json_end(&w);
        }
        json_end(&w);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
}

/* ---- the command ------------------------------------------------------------------------------
 */

static int read_bounds(struct measuring *m, struct errors *e)
{
    const struct param_list *l = &m->command->require;
    size_t before = e->count;

    m->bound = xcalloc(l->count, sizeof *m->bound);
    m->name = xcalloc(l->count, sizeof *m->name);
    for (; m->bounds < l->count; m->bounds++) {
        bound_read(&m->bound[m->bounds], list_text(l, m->bounds), "--require", e);
        m->name[m->bounds] = m->bound[m->bounds].name;
    }
    if (!l->count)
        error_add(e, EXIT_INPUT,
                  "hvsim capacity: give --require, as in --require 'latency_p99<=5ms'");
    if (!m->command->over)
        error_add(e, EXIT_INPUT,
                  "hvsim capacity: give --over, as in --over /hosts/0/domains/1/count=1..60");
    return e->count > before ? -1 : 0;
}

static int read_over(struct measuring *m, struct errors *e)
{
    struct json *doc = json_parse(m->trials.path, m->trials.text, m->trials.text_size, e);
    int status = doc ? over_read(&m->over, m->command->over, "--over", doc, e) : -1;

    json_free(doc);
    if (!status && m->over.choices)
        return error_add(e, EXIT_INPUT, "--over %s: a range is wanted: LOW..HIGH",
                         m->command->over);
    return status;
}

static int measure(struct measuring *m, struct errors *e)
{
    const struct capacity_command *c = m->command;
    struct capacity_problem p = {.tolerance = percent_fraction(c->tolerance),
                                 .first = (uint32_t)c->first,
                                 .most = (uint32_t)c->most,
                                 .ctx = m,
                                 .judge = judge};
    int status;

    /* The scenario itself first: what is wrong with it is not the load's fault. */
    if (trials_add(&m->trials, NULL, 0, e) < 0)
        return -1;
    p.low = m->over.variable.low;
    p.high = m->over.variable.high;
    p.log = m->over.variable.log;
    p.step = m->over.variable.kind == VARIABLE_WHOLE ? m->over.variable.step : 0;
    p.level = m->trials.level;
    progress_begin(&m->progress, "capacity", "loads", 0, c->quiet);
    status = capacity_search(&p, &m->result, e);
    progress_end(&m->progress);
    if (!status)
        qsort(m->result.item, m->result.tries, sizeof *m->result.item, by_load);
    return status;
}

static void measuring_free(struct measuring *m)
{
    for (size_t i = 0; i < m->bounds; i++)
        bound_free(&m->bound[i]);
    over_free(&m->over);
    capacity_result_free(&m->result);
    trials_free(&m->trials);
    free(m->bound);
    free(m->name);
    free(m->load);
}

static int report(const struct measuring *m, struct errors *e)
{
    const struct capacity_command *c = m->command;

    if (c->json)
        write_json(m, stdout);
    else
        print(m, stdout);
    if (!c->out)
        return 0;
    return output_directory(c->out, e) || results_file(c->out, "capacity.json", write_json, m, e);
}

static enum exit_code run(const void *options, const struct operands *o, struct errors *e)
{
    const struct capacity_command *c = options;
    struct measuring m = {.command = c};
    enum exit_code code = EXIT_INPUT;
    int status = read_bounds(&m, e);

    for (size_t i = 0; i < c->plugin.count; i++)
        status |= scheduler_load(list_text(&c->plugin, i), e) ? 0 : -1;
    if (!status &&
        !trials_open(&m.trials, o->text[0], &c->set, m.name, m.bounds, (unsigned)c->jobs, e) &&
        !read_over(&m, e) && !measure(&m, e)) {
        code = isnan(m.result.met) ? EXIT_SHORT : EXIT_OK;
        report(&m, e);
    }
    measuring_free(&m);
    return e->count ? errors_exit_code(e) : code;
}

const struct command command_capacity = {
    .name = "capacity",
    .summary = "Find the largest load at which metrics keep their bounds",
    .arguments = "SCENARIO.json",
    .least = 1,
    .most = 1,
    .details =
        "For instance\n"
        "    hvsim capacity rpc.json --over '/clients/0/load/arrivals=100/s..20000/s as "
        "poisson({})' "
        "--require 'latency_p99<=5ms'\n"
        "or the number of virtual machines: --over /hosts/0/domains/1/count=1..60. The bounds are "
        "taken to be kept below some load and broken above; the load is found by bisection, each "
        "step replicated until the intervals tell. Exit status 1: no load was found at which they "
        "are kept.",
    OPTIONS_OF(rows, struct capacity_command),
    .run = run,
};
