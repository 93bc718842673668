/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim calibrate: fit what is not known to what was measured. Each kind of data is a row. */
#include "experiments/commands/commands.h"
#include "experiments/scenario/datadir.h"
#include "experiments/sweep/sweep_file.h"
#include "experiments/validate/calibrate_testbed.h"
#include "experiments/validate/calibrate_xentrace.h"

#include <stdlib.h>
#include <string.h>

struct calibrate_command {
    char *out, *journal;
    struct param_list hold;
    int64_t budget, profile, runs, seconds, simulations;
    int jobs;
    bool quiet;
};

static const struct command_option rows[] = {
    {.param = {PARAM("out", STRING, struct calibrate_command, out),
               .meaning =
                   "Write the calibration to this file, for `hvsim validate --calibration`."},
     .letter = 'o',
     .value = "FILE.json"},
    {.param = {PARAM("budget", INTEGER, struct calibrate_command, budget), .def = "150", .min = "2",
               .max = "1000000", .meaning = "Settings of the unknowns to try."},
     .value = "N"},
    {.param = {PARAM("profile", INTEGER, struct calibrate_command, profile), .def = "5", .min = "2",
               .max = "1000",
               .meaning = "Values at which each continuous unknown is held for its profile."},
     .value = "N"},
    {.param = {PARAM("hold", LIST, struct calibrate_command, hold),
               .meaning = "An unknown that is known: it is not fitted; may be repeated."},
     .value = "UNKNOWN=VALUE"},
    {.param = {PARAM("journal", STRING, struct calibrate_command, journal),
               .meaning = "Keep each setting's results in files of this name; run again, an "
                          "interrupted calibration goes on from them."},
     .value = "FILE"},
    {.param = {PARAM("runs", INTEGER, struct calibrate_command, runs), .def = "3", .min = "1",
               .max = "1000", .meaning = "testbed: experiments of each series that take part."},
     .value = "N"},
    {.param = {PARAM("seconds", INTEGER, struct calibrate_command, seconds), .def = "60",
               .min = "1", .max = "3600", .meaning = "testbed: simulated time of each experiment."},
     .value = "N"},
    {.param = {PARAM("simulations", INTEGER, struct calibrate_command, simulations), .def = "3",
               .min = "1", .max = "1000",
               .meaning = "Simulations of each experiment or capture; their median counts."},
     .value = "N"},
    {.param = {PARAM("jobs", INTEGER, struct calibrate_command, jobs), .def = "CPUs", .min = "1",
               .max = "4096", .word = "CPUs", .word_value = 0, .meaning = "Simulations at a time."},
     .letter = 'j',
     .value = "N"},
    {.param = {PARAM("quiet", BOOLEAN, struct calibrate_command, quiet),
               .meaning = "No progress on the terminal."},
     .letter = 'q'},
};

static int testbed(const char *dir, const struct calibrate_command *c, struct calibration_file *f,
                   struct errors *e)
{
    const struct testbed_calibration o = {.budget = (size_t)c->budget,
                                          .profile = (size_t)c->profile,
                                          .journal = c->journal,
                                          .hold = &c->hold,
                                          .runs = (int)c->runs,
                                          .seconds = (int)c->seconds,
                                          .simulations = (int)c->simulations,
                                          .jobs = (unsigned)c->jobs,
                                          .quiet = c->quiet};

    return calibrate_testbed(dir, &o, f, e);
}

static int xentrace(const char *dir, const struct calibrate_command *c, struct calibration_file *f,
                    struct errors *e)
{
    const struct xentrace_calibration o = {.budget = (size_t)c->budget,
                                           .profile = (size_t)c->profile,
                                           .journal = c->journal,
                                           .hold = &c->hold,
                                           .simulations = (int)c->simulations,
                                           .jobs = (unsigned)c->jobs,
                                           .quiet = c->quiet};

    return calibrate_xentrace(dir, &o, f, e);
}

static const struct kind {
    const char *name;
    const char *data; /* below validation/, without DIR */
    int (*run)(const char *dir, const struct calibrate_command *c, struct calibration_file *f,
               struct errors *e);
} kinds[] = {
    {"testbed", "papers/terriertail", testbed},
    {"xentrace", "xen/captures", xentrace},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct kind *kind_by_name(const char *name, struct errors *e)
{
    const char *names[KINDS], *nearest;

    for (size_t i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (!strcmp(name, names[i]))
            return &kinds[i];
    }
    nearest = nearest_name(name, names, KINDS);
    if (nearest)
        error_add(e, EXIT_INPUT, "hvsim calibrate: no \"%s\": did you mean \"%s\"?", name, nearest);
    else
        error_add(e, EXIT_INPUT, "hvsim calibrate: no \"%s\"; there are: testbed, xentrace", name);
    return NULL;
}

/* What to type for the same file; journal, jobs and quiet change nothing of it. */
static char *command_line(const struct kind *k, const char *dir, const struct calibrate_command *c)
{
    char *experiments =
        strcmp(k->name, "testbed")
            ? xstrdup("")
            : xasprintf(" --runs %lld --seconds %lld", (long long)c->runs, (long long)c->seconds);
    char *held = xstrdup("");
    char *text;

    for (size_t i = 0; i < c->hold.count; i++) {
        char *longer = xasprintf("%s --hold %s", held, list_text(&c->hold, i));

        free(held);
        held = longer;
    }
    text = xasprintf(
        "hvsim calibrate %s%s%s --budget %lld --profile %lld%s --simulations %lld%s --out %s",
        k->name, dir ? " " : "", dir ? dir : "", (long long)c->budget, (long long)c->profile,
        experiments, (long long)c->simulations, held, c->out ? c->out : "FILE.json");

    free(experiments);
    free(held);
    return text;
}

static enum exit_code run(const void *options, const struct operands *o, struct errors *e)
{
    const struct calibrate_command *c = options;
    const struct kind *k = kind_by_name(o->text[0], e);
    const char *dir = o->count > 1 ? o->text[1] : NULL;
    char *own = k && !dir ? data_file("validation", k->data) : NULL;
    struct calibration_file f = {0};

    if (!k)
        return EXIT_INPUT;
    f.kind = xstrdup(k->name);
    f.command = command_line(k, dir, c);
    if (!dir && !own)
        error_add(
            e, EXIT_INPUT,
            "hvsim calibrate %s: its data (validation/%s) are not installed; name a directory",
            k->name, k->data);
    else if (!k->run(dir ? dir : own, c, &f, e)) {
        calibration_print(&f, stdout);
        if (c->out && !calibration_file_write(&f, c->out, e))
            printf("\nThe calibration is in %s\n", c->out);
    }
    calibration_file_free(&f);
    free(own);
    return errors_exit_code(e);
}

const struct command command_calibrate = {
    .name = "calibrate",
    .summary = "Fit what is not known of a machine or testbed to what was measured",
    .arguments = "WHAT [DIR]",
    .least = 1,
    .most = 2,
    .details =
        "WHAT is one of:\n"
        "testbed: what the TerrierTail publication leaves open (number of pCPUs, dom0's place, "
        "load of the other VMs, base latency, ...), fitted to the published figures and counted "
        "round trips in DIR.\n"
        "xentrace: costs of the machine that recorded the captures in DIR and below it, from one "
        "in four of them, by their names; the others are for `hvsim validate xentrace`.\n\n"
        "Discrete unknowns are enumerated, the others moved by the simplex of Nelder and Mead; all "
        "settings see the same random numbers. For each unknown the file says its value, the "
        "interval of values that are not significantly worse, and whether it is identified at all: "
        "if its whole range does as well, it is not. Without DIR the data that come with hvsim are "
        "used.",
    OPTIONS_OF(rows, struct calibrate_command),
    .run = run,
};
