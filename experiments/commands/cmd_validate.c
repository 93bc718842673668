/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim validate: hold the simulator against what is known. Each kind of check is a row. */
#include "experiments/commands/commands.h"
#include "experiments/scenario/datadir.h"
#include "experiments/validate/validate_replication.h"
#include "experiments/validate/validate_schedules.h"
#include "experiments/validate/validate_testbed.h"
#include "experiments/validate/validate_xentrace.h"

#include <stdlib.h>
#include <string.h>

struct validate_options {
    char *calibration, *scenarios, *journal;
    struct param_list only;
    int64_t simulations;
    int jobs;
    bool quiet, json;
};

struct validation {
    const char *name, *meaning;
    const char *data; /* where its references are, below validation/; NULL: it needs none */
    /* `dir` is NULL if there is no data. Prints its rows; EXIT_SHORT if one falls short. */
    enum exit_code (*run)(const char *dir, const struct validate_options *o, struct errors *e);
};

static enum exit_code schedules(const char *dir, const struct validate_options *o, struct errors *e)
{
    return validate_schedules(dir, o->quiet, stdout, e);
}

static enum exit_code replication(const char *dir, const struct validate_options *o,
                                  struct errors *e)
{
    return validate_replication(dir, o->quiet, stdout, e);
}

static enum exit_code testbed(const char *dir, const struct validate_options *o, struct errors *e)
{
    const struct testbed_validation t = {.calibration = o->calibration,
                                         .scenarios = o->scenarios,
                                         .simulations = (int)o->simulations,
                                         .jobs = (unsigned)o->jobs,
                                         .journal = o->journal,
                                         .only = &o->only,
                                         .quiet = o->quiet};

    return validate_testbed(dir, &t, stdout, e);
}

static enum exit_code xentrace(const char *dir, const struct validate_options *o, struct errors *e)
{
    return validate_xentrace(dir, o->calibration, o->quiet, stdout, e);
}

static const struct validation validations[] = {
    {"schedules", "reference schedules of Xen's own code, row by row", "xen/schedules", schedules},
    {"xentrace", "captured runs of real Xen, decision by decision and simulated", "xen/captures",
     xentrace},
    {"replication", "replicated controllers: closed forms, published figures, captured runs",
     "xen/replication", replication},
    {"testbed", "published figures of the TerrierTail testbed", "papers/terriertail", testbed},
};
enum { VALIDATIONS = sizeof validations / sizeof *validations };

static const struct validation *validation_by_name(const char *name, struct errors *e)
{
    const char *names[VALIDATIONS], *nearest;
    char *known = xstrdup("");

    for (size_t i = 0; i < VALIDATIONS; i++) {
        char *longer = xasprintf("%s%s%s", known, i ? ", " : "", validations[i].name);

        free(known);
        known = longer;
        names[i] = validations[i].name;
        if (!strcmp(name, names[i])) {
            free(known);
            return &validations[i];
        }
    }
    nearest = nearest_name(name, names, VALIDATIONS);
    if (nearest)
        error_add(e, EXIT_INPUT, "hvsim validate: no \"%s\": did you mean \"%s\"?", name, nearest);
    else
        error_add(e, EXIT_INPUT, "hvsim validate: no \"%s\"; there are: %s", name, known);
    free(known);
    return NULL;
}

static enum exit_code validate_one(const struct validation *v, const char *dir,
                                   const struct validate_options *o, struct errors *e)
{
    char *own = !dir && v->data ? data_file("validation", v->data) : NULL;
    enum exit_code code = EXIT_INPUT;

    if (!dir && v->data && !own)
        error_add(e, EXIT_INPUT,
                  "hvsim validate %s: its references (validation/%s) are not installed; name a "
                  "directory",
                  v->name, v->data);
    else
        code = v->run(dir ? dir : own, o, e);
    free(own);
    return code;
}

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    enum exit_code worst = EXIT_OK;
    const struct validate_options *given = options;
    const struct validation *v;

    if (given->calibration && !operands->count) {
        error_add(e, EXIT_INPUT,
                  "hvsim validate: --calibration is of one kind of check: name it, as in `hvsim "
                  "validate testbed`");
        return EXIT_INPUT;
    }
    if (operands->count) {
        v = validation_by_name(operands->text[0], e);
        return v ? validate_one(v, operands->count > 1 ? operands->text[1] : NULL, options, e)
                 : EXIT_INPUT;
    }
    for (size_t i = 0; i < VALIDATIONS; i++) {
        enum exit_code code;

        printf("%s: %s\n", validations[i].name, validations[i].meaning);
        code = validate_one(&validations[i], NULL, options, e);
        if (code > worst)
            worst = code;
    }
    return worst;
}

static const struct command_option rows[] = {
    {.param = {PARAM("calibration", STRING, struct validate_options, calibration),
               .meaning = "testbed, xentrace: what is not known has the values of this file, made "
                          "by `hvsim calibrate`."},
     .value = "FILE.json"},
    {.param = {PARAM("scenarios", STRING, struct validate_options, scenarios),
               .meaning = "testbed: write each experiment as a scenario into this directory, for "
                          "`hvsim run`, and simulate nothing."},
     .value = "DIR"},
    {.param = {PARAM("only", LIST, struct validate_options, only),
               .meaning = "testbed: only experiments with such names, as --scenarios writes them "
                          "(without .json); * stands for anything, as in '24vm-rpc-*'; may be "
                          "repeated."},
     .value = "NAME"},
    {.param = {PARAM("journal", STRING, struct validate_options, journal),
               .meaning = "testbed: keep each simulation in this file; run again, an interrupted "
                          "validation goes on from them, and more simulations add to them."},
     .value = "FILE"},
    {.param = {PARAM("simulations", INTEGER, struct validate_options, simulations), .def = "39",
               .min = "1", .max = "100000",
               .meaning = "testbed: simulations of each experiment; a central 95 % needs 39."},
     .value = "N"},
    {.param = {PARAM("jobs", INTEGER, struct validate_options, jobs), .def = "CPUs", .min = "1",
               .max = "4096", .word = "CPUs", .word_value = 0,
               .meaning = "testbed: simulations at a time."},
     .letter = 'j',
     .value = "N"},
    {.param = {PARAM("quiet", BOOLEAN, struct validate_options, quiet),
               .meaning = "Print what differs and the last line only."},
     .letter = 'q'},
};

const struct command command_validate = {
    .name = "validate",
    .summary = "Hold the simulator against reference schedules, traces and published figures",
    .arguments = "[WHAT [DIR]]",
    .least = 0,
    .most = 2,
    .details =
        "WHAT is one of:\n"
        "schedules: every NAME.json with NAME.csv[.gz] in DIR is simulated, and every row and "
        "column compared with the schedule of Xen's own code.\n"
        "xentrace: every NAME.json with NAME.xentrace[.gz], NAME.rtt or NAME.csv[.gz] in DIR and "
        "below it: its trace is followed one step ahead, each of Xen's decisions held against the "
        "model's; and the same scenario is simulated 50 times with other phases, and shares, run "
        "lengths, waits and round trips are compared.\n"
        "replication: closed forms, published figures, the founding study's findings, rare events "
        "against plain runs; and every NAME.json with replicas and "
        "NAME.csv[.gz] in DIR and below it is simulated 100 times with other phases, and its "
        "delays, lateness and lift are held against the simulations' central 95 %.\n"
        "testbed: every published point of the TerrierTail testbed in the CSV files of DIR is "
        "simulated as it was measured, and lies inside the simulations' central 95 % or not; with "
        "relative errors and gains.\n\n"
        "Without DIR the references that come with hvsim are used; without WHAT, all of "
        "them. The exit status is 1 if anything falls short.",
    OPTIONS_OF(rows, struct validate_options),
    .run = run,
};
