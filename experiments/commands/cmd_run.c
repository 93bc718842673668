/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim run: simulate one scenario. */
#include "experiments/commands/commands.h"
#include "experiments/commands/study_options.h"
#include "experiments/results/results.h"

struct run_options {
    struct study_options options;
};

static const struct command_option rows[] = {
    STUDY_OPTION_ROWS(struct run_options),
    {.param = {PARAM("trace", STRING, struct run_options, options.trace),
               .meaning = "Write a trace of the first host in the first replication; the suffix "
                          "says in which format."},
     .value = "FILE"},
    TIMELINE_OPTION_ROW(struct run_options),
};

static int prepare(struct study *s, const struct study_options *o, struct errors *e)
{
    struct param_list set = study_overrides(o);
    int status = study_add(s, "", &set, NULL, 0, e);

    study_overrides_free(&set);
    return status || study_prepare(s, e) ? -1 : study_check_outputs(o, e);
}

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    const struct study_options *o = &((const struct run_options *)options)->options;
    enum exit_code code = EXIT_INPUT;
    struct study s;

    if (!study_begin(&s, operands->text[0], o, e) && !prepare(&s, o, e) && !study_run(&s, e)) {
        code = study_exit_code(&s);
        if (o->json)
            results_json(&s, stdout);
        else
            results_print(&s, stdout);
        if (o->out && !results_write(&s, o->out, e) && !o->json)
            printf("\nResults are in %s\n", o->out);
    }
    study_free(&s);
    return e->count ? errors_exit_code(e) : code;
}

const struct command command_run = {
    .name = "run",
    .summary = "Simulate a scenario and print what its clients and domains saw",
    .arguments = "SCENARIO.json",
    .least = 1,
    .most = 1,
    .details = "The scenario is run several times with independent random numbers "
               "(\"replications\"), side by side on all CPUs; every figure comes with the interval "
               "that their differences support. The same scenario and seed give the same results "
               "to the last byte.\n\n"
               "SCENARIO.json may be \"-\" for standard input. `hvsim schema` describes it.\n\n"
               "Ctrl-C ends the run; the replications that were complete are shown and written, "
               "marked as partial.",
    OPTIONS_OF(rows, struct run_options),
    .run = run,
};
