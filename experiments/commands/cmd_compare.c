/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim compare: variants of one scenario under the same random numbers. */
#include "experiments/commands/commands.h"
#include "experiments/commands/study_options.h"
#include "experiments/compare/compare.h"

struct compare_options {
    struct study_options options;
    struct param_list vary, where; /* char * */
};

static const struct command_option rows[] = {
    {.param = {PARAM("vary", LIST, struct compare_options, vary),
               .meaning = "Values to compare; with several --vary, every combination. The first "
                          "combination is what the others are held against."},
     .value = "/JSON/POINTER=A,B,C"},
    {.param = {PARAM("where", LIST, struct compare_options, where),
               .meaning = "Of a sweep file: only points with this value of an axis; may be "
                          "repeated."},
     .letter = 'w',
     .value = "AXIS=VALUE"},
    STUDY_OPTION_ROWS(struct compare_options),
    TIMELINE_OPTION_ROW(struct compare_options),
};

static int prepare(struct study *s, const struct variations *v, const struct sweep *sweep,
                   const struct compare_options *o, struct errors *e)
{
    struct param_list set = study_overrides(&o->options);
    int status =
        sweep->path ? compare_add_sweep(s, sweep, &o->where, &set, e) : compare_add(s, v, &set, e);

    study_overrides_free(&set);
    return status || study_prepare(s, e) ? -1 : study_check_outputs(&o->options, e);
}

static enum exit_code finish(const struct study *s, const struct variations *v,
                             const struct study_options *o, struct errors *e)
{
    if (o->json)
        compare_json(s, v, stdout);
    else
        compare_print(s, stdout);
    if (o->out && !compare_write(s, v, o->out, o->quiet, e) && !o->json)
        printf("\nResults are in %s\n", o->out);
    return study_exit_code(s);
}

static int check(const char *path, const struct compare_options *o, struct errors *e)
{
    bool sweep = compare_is_sweep(path);

    if (!sweep && !o->vary.count)
        return error_add(e, EXIT_INPUT,
                         "hvsim compare: nothing to compare: give --vary, as in --vary "
                         "/hosts/0/scheduler=credit,terriertail, or a sweep file");
    if (sweep && o->vary.count)
        return error_add(e, EXIT_INPUT,
                         "hvsim compare: a sweep file says itself what varies; --vary is for "
                         "scenarios");
    if (!sweep && o->where.count)
        return error_add(e, EXIT_INPUT, "hvsim compare: --where is for sweep files");
    return 0;
}

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    const struct compare_options *o = options;
    const char *path = operands->text[0];
    enum exit_code code = EXIT_INPUT;
    struct variations v = {0};
    struct sweep sweep = {0};
    struct study s;
    int status = check(path, o, e) | variations_read(&v, &o->vary, e);

    if (!status && compare_is_sweep(path))
        status = sweep_open(&sweep, path, e);
    status |= study_begin(&s, sweep.scenario ? sweep.scenario : path, &o->options, e);
    if (!status && !prepare(&s, &v, &sweep, o, e) && !study_run(&s, e))
        code = finish(&s, &v, &o->options, e);
    variations_free(&v);
    study_free(&s);
    sweep_free(&sweep);
    return e->count ? errors_exit_code(e) : code;
}

const struct command command_compare = {
    .name = "compare",
    .summary = "Simulate variants of a scenario under the same random numbers",
    .arguments = "SCENARIO.json|NAME.sweep.json",
    .least = 1,
    .most = 1,
    .details = "For instance\n"
               "    hvsim compare rpc.json --vary /hosts/0/scheduler=credit,terriertail\n"
               "Each variant's figures come with intervals of their own, and with the change "
               "against the first variant, whose interval is narrower: all variants are given the "
               "same requests and the same phases.\n\n"
               "A value that holds a comma is put in quotes or brackets: "
               "--vary '/hosts/0/dom0/hard_affinity=all,\"0,2\"'.\n\n"
               "A sweep file with few points (NAME.sweep.json) is taken too: each point is a "
               "variant, and control loops are reported as `hvsim run` would.\n\n"
               "With --out, the latency tails are drawn by gnuplot, if it is installed.",
    OPTIONS_OF(rows, struct compare_options),
    .run = run,
};
