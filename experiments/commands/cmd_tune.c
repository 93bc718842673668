/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim tune: find the setting that makes a metric least (or most) while bounds hold. */
#include "experiments/commands/commands.h"
#include "experiments/search/tune_scenario.h"
#include "experiments/sweep/sweep_file.h"
#include "models/schedulers/plugin.h"

struct tune_command {
    char *minimise, *maximise, *out;
    struct param_list over, subject_to, set, plugin;
    int64_t budget, seed, first, most, alpha;
    int jobs;
    bool json, quiet;
};

static const struct command_option rows[] = {
    {.param = {PARAM("minimise", STRING, struct tune_command, minimise),
               .meaning = "What shall be as small as possible: \"metric\" or \"subject:metric\"."},
     .value = "METRIC"},
    {.param = {PARAM("maximise", STRING, struct tune_command, maximise),
               .meaning = "What shall be as large as possible."},
     .value = "METRIC"},
    {.param = {PARAM("subject-to", LIST, struct tune_command, subject_to),
               .meaning = "A bound that must be kept: 'METRIC<=LIMIT' or 'METRIC>=LIMIT'; may be "
                          "repeated."},
     .value = "BOUND"},
    {.param = {PARAM("over", LIST, struct tune_command, over),
               .meaning = "What may be changed, and how; may be repeated."},
     .value = "/JSON/POINTER=VALUES"},
    {.param = {PARAM("budget", INTEGER, struct tune_command, budget), .def = "1000", .min = "10",
               .max = "100000000", .meaning = "Replications in all."},
     .value = "N"},
    {.param = {PARAM("alpha", PERCENT, struct tune_command, alpha), .def = "5%", .min = "0.01%",
               .max = "50%", .meaning = "Chance that any decision against a setting is wrong."},
     .value = "PERCENT"},
    {.param = {PARAM("first", INTEGER, struct tune_command, first), .def = "8", .min = "5",
               .max = "10000", .meaning = "Replications before the first decision."},
     .value = "N"},
    {.param = {PARAM("most", INTEGER, struct tune_command, most), .def = "any", .min = "5",
               .max = "1000000", .word = "any", .word_value = 0,
               .meaning = "Replications of one setting."},
     .value = "N"},
    {.param = {PARAM("seed", INTEGER, struct tune_command, seed), .def = "1", .min = "0",
               .meaning = "Of the search; the scenario has its own."},
     .value = "N"},
    {.param = {PARAM("set", LIST, struct tune_command, set),
               .meaning = "Another value in the scenario; may be repeated."},
     .value = "/JSON/POINTER=VALUE"},
    {.param = {PARAM("jobs", INTEGER, struct tune_command, jobs), .def = "CPUs", .min = "1",
               .max = "4096", .word = "CPUs", .word_value = 0,
               .meaning = "Replications at a time."},
     .letter = 'j',
     .value = "N"},
    {.param = {PARAM("out", STRING, struct tune_command, out),
               .meaning = "Write tune.json and tried.csv into this directory."},
     .letter = 'o',
     .value = "DIR"},
    {.param = {PARAM("json", BOOLEAN, struct tune_command, json),
               .meaning = "Print tune.json instead of a table."}},
    {.param = {PARAM("quiet", BOOLEAN, struct tune_command, quiet),
               .meaning = "No progress on the terminal."},
     .letter = 'q'},
    {.param = {PARAM("plugin", LIST, struct tune_command, plugin),
               .meaning = "A scheduler in a shared object; may be repeated."},
     .value = "FILE.so"},
};

static int check(const struct tune_command *c, struct errors *e)
{
    size_t before = e->count;

    if (!c->minimise == !c->maximise)
        error_add(e, EXIT_INPUT,
                  "hvsim tune: give --minimise METRIC or --maximise METRIC, one of them");
    for (size_t i = 0; i < c->plugin.count; i++)
        scheduler_load(list_text(&c->plugin, i), e);
    return e->count > before ? -1 : 0;
}

static enum exit_code run(const void *options, const struct operands *o, struct errors *e)
{
    const struct tune_command *c = options;
    struct tuning t = {.scenario = o->text[0],
                       .set = &c->set,
                       .over = &c->over,
                       .subject_to = &c->subject_to,
                       .objective = c->minimise ? c->minimise : c->maximise,
                       .most = c->maximise != NULL,
                       .options = {.seed = (uint64_t)c->seed,
                                   .budget = (uint64_t)c->budget,
                                   .alpha = percent_fraction(c->alpha),
                                   .first = (uint32_t)c->first,
                                   .most = (uint32_t)c->most},
                       .jobs = (unsigned)c->jobs,
                       .quiet = c->quiet};
    enum exit_code code = EXIT_INPUT;

    if (!check(c, e) && !tuning_run(&t, e)) {
        code = t.result.winner == SIZE_MAX                                ? EXIT_INTERNAL
               : t.result.candidate[t.result.winner].fate == FATE_OUTSIDE ? EXIT_SHORT
                                                                          : EXIT_OK;
        if (c->json)
            tuning_json(&t, stdout);
        else
            tuning_print(&t, stdout);
        if (c->out && !tuning_write(&t, c->out, e) && !c->json)
            printf("\nResults are in %s\n", c->out);
    }
    tuning_free(&t);
    return e->count ? errors_exit_code(e) : code;
}

const struct command command_tune = {
    .name = "tune",
    .summary = "Find the setting that makes a metric best while others keep their bounds",
    .arguments = "SCENARIO.json",
    .least = 1,
    .most = 1,
    .details =
        "For instance\n"
        "    hvsim tune rpc.json --minimise latency_p99.9 --subject-to 'xen/hog:cpu_share>=250%' "
        "--over /hosts/0/scheduler=credit,credit2 --over /hosts/0/dom0/weight=256..2048:log\n"
        "VALUES are a list (a,b,c), a range (LOW..HIGH, LOW..HIGH/STEP; :log behind it samples by "
        "ratio), and may be put into a text ('100/s..900/s as poisson({})'). Pointers joined by "
        "\"+\" take the same value.\n\n"
        "All settings see the same random numbers. A setting is dropped when it significantly "
        "breaks a bound, or is significantly worse than the best one that is known to keep them; "
        "when there are too many settings to try all, new ones are sampled around the best. Exit "
        "status 1: no setting was found that keeps the bounds.",
    OPTIONS_OF(rows, struct tune_command),
    .run = run,
};
