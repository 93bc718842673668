/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim rare: how often a control loop fails, when that is too rare to be counted. */
#include "experiments/commands/commands.h"
#include "experiments/commands/study_options.h"
#include "experiments/results/control_report.h"
#include "experiments/results/grid.h"
#include "experiments/study/rare_run.h"
#include "models/control/late_watch.h"
#include "sim/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rare_options {
    struct study_options options;
    char *loop, *levels;
    int64_t copies;
};

static const struct command_option rows[] = {
    {.param = {PARAM("loop", STRING, struct rare_options, loop),
               .meaning = "The control loop; the first if not given."},
     .value = "NAME"},
    {.param = {PARAM("levels", STRING, struct rare_options, levels),
               .meaning = "Ascending times without a valid setpoint, at which the simulation goes "
                          "on in copies; the last one is the deadline that is asked about. "
                          "Without it: quarters of the horizon."},
     .letter = 'l',
     .value = "4ms,8ms,12ms"},
    {.param = {PARAM("copies", INTEGER, struct rare_options, copies), .def = "4", .min = "1",
               .max = "64",
               .meaning = "Courses that a simulation takes from each level on; 1: "
                          "plain runs, to check against."},
     .letter = 'c',
     .value = "N"},
    STUDY_OPTION_ROWS(struct rare_options),
};

/* ---- what is asked --------------------------------------------------------------------------- */

static int read_levels(struct rare_plan *p, const char *text, struct errors *e)
{
    char *copy = xstrdup(text), *next = NULL, why[QUANTITY_WHY];
    size_t before = e->count;

    for (char *t = strtok_r(copy, ",", &next); t; t = strtok_r(NULL, ",", &next)) {
        int64_t value;

        if (p->levels == SPLITTING_LEVELS)
            error_add(e, EXIT_INPUT, "--levels: more than %d", SPLITTING_LEVELS);
        else if (quantity_parse(QUANTITY_DURATION, t, &value, why))
            error_add(e, EXIT_INPUT, "--levels: found \"%s\": %s", t, why);
        else if (value <= 0 || (p->levels && value <= p->level[p->levels - 1]))
            error_add(e, EXIT_INPUT, "--levels: \"%s\": each must be longer than the one before",
                      t);
        else
            p->level[p->levels++] = value;
        if (e->count > before)
            break;
    }
    free(copy);
    if (!p->levels && e->count == before)
        error_add(e, EXIT_INPUT, "--levels is empty: give durations, as in 4ms,8ms");
    return e->count > before ? -1 : 0;
}

static int find_loop(const struct variant *v, const char *name, size_t *loop, struct errors *e)
{
    const struct roster *r = v->roster;

    for (*loop = 0; *loop < r->loops; ++*loop)
        if (!name || !strcmp(name, r->loop[*loop].spec->name))
            break;
    if (*loop == r->loops)
        return error_add(e, EXIT_INPUT,
                         name ? "--loop: no control loop \"%s\" in this scenario"
                              : "%sno control loop in this scenario",
                         name ? name : "");
    if (!r->loop[*loop].on)
        return error_add(
            e, EXIT_INPUT,
            "control loop \"%s\": its agent must be on a host of the platform (\"on\") "
            "to be asked about rare events",
            r->loop[*loop].spec->name);
    return 0;
}

static int make_plan(const struct variant *v, const struct rare_options *o, struct rare_plan *p,
                     struct errors *e)
{
    const struct control_params *c;

    *p = (struct rare_plan){.copies = (uint32_t)o->copies};
    if (find_loop(v, o->loop, &p->loop, e) || (o->levels && read_levels(p, o->levels, e)))
        return -1;
    c = &v->roster->loop[p->loop].spec->control;
    for (; !o->levels && p->levels < 4; p->levels++)
        p->level[p->levels] = c->horizon * (p->levels + 1) / 4;
    if (p->level[p->levels - 1] > (LATE_WATCH_ROUNDS - 2) * c->period)
        return error_add(e, EXIT_INPUT, "--levels: the last one is longer than %d periods",
                         LATE_WATCH_ROUNDS - 2);
    return 0;
}

/* ---- what came of it ------------------------------------------------------------------------- */

/* What was never seen is no more than rare. */
static void put_share(struct grid *g, const struct interval *i)
{
    grid_put(g, "%.3g", i->estimate);
    if (interval_given(i) && i->estimate > 0)
        grid_put(g, "%.3g to %.3g", i->low > 0 ? i->low : 0, i->high);
    else
        grid_put(g, "-");
    if (i->estimate > 0)
        grid_put(g, "%.2f", availability_nines(i->estimate));
    else
        grid_put(g, "-");
}

static void print(const struct study *s, const struct rare_plan *p, const struct rare_outcome *r)
{
    struct grid g;

    printf("%zu replications, %llu rounds, %u copies from each level on: %llu copies in all\n",
           r->replications, (unsigned long long)r->rounds, p->copies, (unsigned long long)r->made);
    grid_init(&g, 5);
    grid_row(&g);
    grid_put(&g, "without a setpoint for");
    grid_put(&g, "seen");
    grid_put(&g, "share of rounds");
    grid_put(&g, "%.4g%% interval", (double)s->variant[0].scenario->confidence / 1e7);
    grid_put(&g, "nines");
    for (uint32_t i = 0; i < p->levels; i++) {
        char text[QUANTITY_TEXT];

        grid_row(&g);
        grid_put(&g, "  %s", quantity_format(QUANTITY_DURATION, p->level[i], text));
        grid_put(&g, "%llu", (unsigned long long)r->level[i].reached);
        put_share(&g, &r->level[i].share);
    }
    grid_print(&g, stdout);
    grid_free(&g);
    if (r->lost)
        printf("%llu copies were lost: the figures are too small\n", (unsigned long long)r->lost);
}

static void put_json(const struct rare_plan *p, const struct rare_outcome *r)
{
    struct json_writer w = json_writer(stdout, JSON_LINES);

    json_begin(&w, NULL, '{');
    json_put_integer(&w, "replications", (int64_t)r->replications);
    json_put_integer(&w, "rounds", (int64_t)r->rounds);
    json_put_integer(&w, "copies", p->copies);
    json_put_integer(&w, "copies_made", (int64_t)r->made);
    json_put_integer(&w, "copies_lost", (int64_t)r->lost);
    json_begin(&w, "levels", '[');
    for (uint32_t i = 0; i < p->levels; i++) {
        const struct interval *share = &r->level[i].share;

        json_begin_inline(&w, NULL, '{');
        json_put_quantity(&w, "without", QUANTITY_DURATION, p->level[i]);
        json_put_integer(&w, "seen", (int64_t)r->level[i].reached);
        json_put_number(&w, "share", share->estimate);
        json_put_number(&w, "low", r->level[i].reached ? share->low : NAN);
        json_put_number(&w, "high", r->level[i].reached ? share->high : NAN);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
}

static int prepare(struct study *s, const struct rare_options *o, struct rare_plan *p,
                   struct errors *e)
{
    struct param_list set = study_overrides(&o->options);
    int status = study_add(s, "", &set, NULL, 0, e);

    study_overrides_free(&set);
    return status || make_plan(&s->variant[0], o, p, e) ? -1 : study_prepare(s, e);
}

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    const struct rare_options *o = options;
    struct rare_outcome r = {0};
    struct rare_plan plan;
    struct study s;

    if (!study_begin(&s, operands->text[0], &o->options, e) && !prepare(&s, o, &plan, e) &&
        !rare_run(&s, &plan, &r, e)) {
        if (o->options.json)
            put_json(&plan, &r);
        else
            print(&s, &plan, &r);
        if (r.lost)
            error_add(e, EXIT_INTERNAL, "%llu copies were lost", (unsigned long long)r.lost);
    }
    study_free(&s);
    return e->count ? errors_exit_code(e) : EXIT_OK;
}

const struct command command_rare = {
    .name = "rare",
    .summary = "Estimate how often a control loop is late, when that is rare",
    .arguments = "SCENARIO.json",
    .least = 1,
    .most = 1,
    .details =
        "Whenever a round has gone without a valid setpoint for as long as a level says, the whole "
        "simulation goes on in several copies, with other random numbers from there on, until the "
        "round is decided (multilevel splitting). So lateness is seen more often, and what is seen "
        "counts for less; the mean is that of plain runs whatever the levels are.\n\n"
        "Good levels are each reached by a quarter or so (1 / copies) of the rounds that reach the "
        "one before. It helps where lateness builds up of many small chances on the way, as behind "
        "neighbours that wake and sleep; for faults and computing times of replicas on machines of "
        "their own `hvsim run` does importance sampling by itself.",
    OPTIONS_OF(rows, struct rare_options),
    .run = run,
};
