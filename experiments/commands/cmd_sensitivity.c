/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim sensitivity: which assumed values a figure rests on. */
#include "experiments/commands/commands.h"
#include "experiments/search/sensitivity.h"
#include "experiments/sweep/sweep_file.h"
#include "models/schedulers/plugin.h"

#include <stdlib.h>

struct sensitivity_command {
    char *metric, *out;
    struct param_list only, range, set, plugin;
    int64_t budget, replications, seed, rows; /* seed -1: the scenario's */
    int jobs;
    bool json, quiet;
};

static const struct command_option rows[] = {
    {.param = {PARAM("metric", STRING, struct sensitivity_command, metric),
               .meaning = "The figure: \"metric\" or \"subject:metric\"."},
     .letter = 'm',
     .value = "METRIC"},
    {.param = {PARAM("budget", INTEGER, struct sensitivity_command, budget), .def = "1000",
               .min = "10", .max = "100000000", .meaning = "Replications in all."},
     .value = "N"},
    {.param = {PARAM("replications", INTEGER, struct sensitivity_command, replications),
               .def = "scenario", .min = "5", .max = "100000", .word = "scenario", .word_value = 0,
               .meaning = "Replications of each value, if the budget allows."},
     .value = "N"},
    {.param = {PARAM("only", LIST, struct sensitivity_command, only),
               .meaning = "Only parameters like this, \"*\" for any text; may be repeated."},
     .value = "PATTERN"},
    {.param = {PARAM("range", LIST, struct sensitivity_command, range),
               .meaning = "Another range for a parameter, or one for a value that the scenario "
                          "gives; may be repeated."},
     .value = "PARAMETER=LOW..HIGH"},
    {.param = {PARAM("rows", INTEGER, struct sensitivity_command, rows), .def = "12", .min = "1",
               .max = "100000", .meaning = "Parameters to show in the table."},
     .letter = 'n',
     .value = "N"},
    {.param = {PARAM("set", LIST, struct sensitivity_command, set),
               .meaning = "Another value in the scenario; may be repeated."},
     .value = "/JSON/POINTER=VALUE"},
    {.param = {PARAM("seed", INTEGER, struct sensitivity_command, seed), .def = "scenario",
               .min = "0", .word = "scenario", .word_value = -1,
               .meaning = "Another seed than the scenario's."},
     .value = "N"},
    {.param = {PARAM("jobs", INTEGER, struct sensitivity_command, jobs), .def = "CPUs", .min = "1",
               .max = "4096", .word = "CPUs", .word_value = 0,
               .meaning = "Replications at a time."},
     .letter = 'j',
     .value = "N"},
    {.param = {PARAM("out", STRING, struct sensitivity_command, out),
               .meaning =
                   "Write sensitivity.json, sensitivity.csv and a picture into this directory."},
     .letter = 'o',
     .value = "DIR"},
    {.param = {PARAM("json", BOOLEAN, struct sensitivity_command, json),
               .meaning = "Print sensitivity.json instead of a table."}},
    {.param = {PARAM("quiet", BOOLEAN, struct sensitivity_command, quiet),
               .meaning = "No progress on the terminal."},
     .letter = 'q'},
    {.param = {PARAM("plugin", LIST, struct sensitivity_command, plugin),
               .meaning = "A scheduler in a shared object; may be repeated."},
     .value = "FILE.so"},
};

static int check(const struct sensitivity_command *c, struct errors *e)
{
    size_t before = e->count;

    if (!c->metric)
        error_add(e, EXIT_INPUT,
                  "hvsim sensitivity: give --metric, as in --metric client:latency_p99.9");
    for (size_t i = 0; i < c->plugin.count; i++)
        scheduler_load(list_text(&c->plugin, i), e);
    return e->count > before ? -1 : 0;
}

/* --set, then --seed; the list (not its texts) is the caller's. */
static struct param_list changes(const struct sensitivity_command *c, char **seed)
{
    struct param_list l = {xcalloc(c->set.count + 1, sizeof(char *)), 0};
    char **text = l.item;

    for (; l.count < c->set.count; l.count++)
        text[l.count] = ((char **)c->set.item)[l.count];
    *seed = c->seed < 0 ? NULL : xasprintf("/seed=%lld", (long long)c->seed);
    if (*seed)
        text[l.count++] = *seed;
    return l;
}

static enum exit_code run(const void *options, const struct operands *o, struct errors *e)
{
    const struct sensitivity_command *c = options;
    char *seed;
    struct param_list set = changes(c, &seed);
    struct sensitivity s = {.path = o->text[0],
                            .set = &set,
                            .only = &c->only,
                            .range = &c->range,
                            .metric = c->metric,
                            .budget = (uint64_t)c->budget,
                            .replications = (uint32_t)c->replications,
                            .jobs = (unsigned)c->jobs,
                            .quiet = c->quiet};
    int status = check(c, e);

    if (!status)
        status = sensitivity_run(&s, e);
    if (!status && c->json)
        sensitivity_json(&s, stdout);
    else if (!status)
        sensitivity_print(&s, (size_t)c->rows, stdout);
    if (!status && c->out && !sensitivity_write(&s, c->out, e) && !c->json)
        printf("\nResults are in %s\n", c->out);
    sensitivity_free(&s);
    free(seed);
    free(set.item);
    return e->count ? errors_exit_code(e) : EXIT_OK;
}

const struct command command_sensitivity = {
    .name = "sensitivity",
    .summary = "Rank what is only assumed by how much a metric depends on it",
    .arguments = "SCENARIO.json",
    .least = 1,
    .most = 1,
    .details =
        "For instance\n"
        "    hvsim sensitivity rpc-12vm.json --metric client:latency_p99.9 --budget 2000\n"
        "Every default of the scenario that is assumed (rests_on in results.json lists them) is "
        "varied over its range, one at a time, with the same random numbers, and the parameters "
        "are ranked by how far the metric moves.\n\n"
        "The range is stated with the parameter where there is reason to (\"may be 2us..1ms\" in "
        "`hvsim doc reference/scenario`); otherwise it is half to double the default, within what "
        "is accepted, and for choices any other. What the scenario itself gives, and values that "
        "are no guess about machines but its own business (durations, numbers of VMs), stay as "
        "they are; --range varies them too, with \"-\" for the elements of lists:\n"
        "    --range /hosts/-/dom0/programs/-/run/compute=20us..200us\n"
        "Two replications of each value tell which parameters change anything at all; what is "
        "left of the budget goes to those, equally. One at a time does not see interactions: two "
        "parameters that do little each may do much together.",
    OPTIONS_OF(rows, struct sensitivity_command),
    .run = run,
};
