/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options that all commands have which run a scenario. */
#ifndef HVSIM_COMMANDS_STUDY_OPTIONS_H
#define HVSIM_COMMANDS_STUDY_OPTIONS_H

#include "experiments/commands/command.h"
#include "experiments/study/study.h"

struct study_options {
    struct param_list set, plugin; /* char * */
    char *out, *trace, *timeline;
    int64_t seed, replications; /* -1: as the scenario says */
    int jobs;
    bool json, quiet, lockstep;
};

/* Rows for a struct `type` that holds a struct study_options as its member `options`. */
#define STUDY_OPTION_ROWS(type)                                                                    \
    {.param = {PARAM("set", LIST, type, options.set),                                              \
               .meaning = "Another value in the scenario; may be repeated."},                      \
     .value = "/JSON/POINTER=VALUE"},                                                              \
        {.param = {PARAM("seed", INTEGER, type, options.seed), .def = "scenario", .min = "0",      \
                   .word = "scenario", .word_value = -1,                                           \
                   .meaning = "Another seed than the scenario's."},                                \
         .value = "N"},                                                                            \
        {.param = {PARAM("replications", INTEGER, type, options.replications), .def = "scenario",  \
                   .min = "1", .max = "100000", .word = "scenario", .word_value = -1,              \
                   .meaning = "Another number of replications."},                                  \
         .value = "N"},                                                                            \
        {.param = {PARAM("jobs", INTEGER, type, options.jobs), .def = "CPUs", .min = "1",          \
                   .max = "4096", .word = "CPUs", .word_value = 0,                                 \
                   .meaning = "Replications at a time."},                                          \
         .letter = 'j',                                                                            \
         .value = "N"},                                                                            \
        {.param = {PARAM("out", STRING, type, options.out),                                        \
                   .meaning = "Write results.json and other files into this directory."},          \
         .letter = 'o',                                                                            \
         .value = "DIR"},                                                                          \
        {.param = {PARAM("json", BOOLEAN, type, options.json),                                     \
                   .meaning = "Print results.json instead of tables."}},                           \
        {.param = {PARAM("quiet", BOOLEAN, type, options.quiet),                                   \
                   .meaning = "No progress on the terminal."},                                     \
         .letter = 'q'},                                                                           \
        {.param = {PARAM("scheduler-plugin", LIST, type, options.plugin),                          \
                   .meaning = "A scheduler in a shared object; may be repeated."},                 \
         .value = "FILE.so"},                                                                      \
    {                                                                                              \
        .param = {                                                                                 \
            PARAM("lockstep", BOOLEAN, type, options.lockstep),                                    \
            .meaning = "No lookahead between machines: slower, the same results (for checking)."   \
        }                                                                                          \
    }

/* The same for a timeline. */
#define TIMELINE_OPTION_ROW(type)                                                                  \
    {                                                                                              \
        .param = {PARAM("timeline", STRING, type, options.timeline),                               \
                  .meaning = "With --out: record the schedule between two dates of the first "     \
                             "replication, for `hvsim report`."},                                  \
        .value = "FROM..TO"                                                                        \
    }

/* Begin a study as the options say: plug-ins loaded, how it is computed set. */
int study_begin(struct study *s, const char *path, const struct study_options *o, struct errors *e);

/* Before a study that is ready is run: could --out and --trace be written? 0, or -1 with errors. */
int study_check_outputs(const struct study_options *o, struct errors *e);

/* Overrides of the scenario: --set, --seed and --replications, in this order. Free with
 * study_overrides_free. */
struct param_list study_overrides(const struct study_options *o);
void study_overrides_free(struct param_list *l);

#endif
