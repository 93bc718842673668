/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim sweep plan, run: one scenario at many points. */
#include "experiments/commands/commands.h"
#include "experiments/sweep/sweep_plan.h"
#include "experiments/sweep/sweep_results.h"
#include "experiments/sweep/sweep_run.h"
#include "experiments/sweep/sweep_slurm.h"
#include "models/schedulers/plugin.h"

#include <stdlib.h>
#include <string.h>

static int load_plugins(const struct param_list *l, struct errors *e)
{
    size_t before = e->count;

    for (size_t i = 0; i < l->count; i++)
        scheduler_load(list_text(l, i), e);
    return e->count > before ? -1 : 0;
}

/* ---- plan -------------------------------------------------------------------------------------
 */

struct plan_command {
    int jobs;
    int64_t first;
    bool no_trial, json;
    struct param_list plugin;
};

static const struct command_option plan_rows[] = {
    {.param = {PARAM("first", INTEGER, struct plan_command, first), .def = "5", .min = "0",
               .max = "1000000", .meaning = "Points to list."},
     .letter = 'n',
     .value = "N"},
    {.param = {PARAM("jobs", INTEGER, struct plan_command, jobs), .def = "CPUs", .min = "1",
               .max = "4096", .word = "CPUs", .word_value = 0,
               .meaning = "Workers that the time is told for."},
     .letter = 'j',
     .value = "N"},
    {.param = {PARAM("no-trial", BOOLEAN, struct plan_command, no_trial),
               .meaning = "Simulate nothing: no estimate of the time."}},
    {.param = {PARAM("json", BOOLEAN, struct plan_command, json), .meaning = "Print JSON."}},
    {.param = {PARAM("plugin", LIST, struct plan_command, plugin),
               .meaning = "A scheduler in a shared object; may be repeated."},
     .value = "FILE.so"},
};

static enum exit_code plan(const void *options, const struct operands *o, struct errors *e)
{
    const struct plan_command *c = options;
    struct plan_options plan = {.jobs = (unsigned)c->jobs,
                                .first = (size_t)c->first,
                                .pilot = !c->no_trial,
                                .json = c->json};
    struct sweep s = {0};

    if (!load_plugins(&c->plugin, e) && !sweep_open(&s, o->text[0], e))
        sweep_plan(&s, &plan, stdout, e);
    sweep_free(&s);
    return e->count ? errors_exit_code(e) : EXIT_OK;
}

const struct command command_sweep_plan = {
    .name = "sweep plan",
    .summary = "Check a sweep file; tell its points and the time they would take",
    .arguments = "SWEEP.json",
    .least = 1,
    .most = 1,
    .details = "Every point's scenario is checked. A few points are simulated for at most a second "
               "each, to tell the time.",
    OPTIONS_OF(plan_rows, struct plan_command),
    .run = plan,
};

/* ---- run --------------------------------------------------------------------------------------
 */

struct run_command {
    char *out, *shard, *partition;
    int jobs, engine, array_limit, tasks, attempts;
    int64_t poll;
    bool keep_failed, quiet;
    struct param_list plugin, sbatch;
};

enum { ENGINE_LOCAL, ENGINE_SLURM };
static const char *const engines[] = {"local", "slurm", NULL};

static const struct command_option run_rows[] = {
    {.param = {PARAM("out", STRING, struct run_command, out),
               .meaning = "Directory for results; the same again goes on where it ended."},
     .letter = 'o',
     .value = "DIR"},
    {.param = {PARAM("jobs", INTEGER, struct run_command, jobs), .def = "CPUs", .min = "1",
               .max = "4096", .word = "CPUs", .word_value = 0, .meaning = "Workers."},
     .letter = 'j',
     .value = "N"},
    {.param = {PARAM("shard", STRING, struct run_command, shard),
               .meaning = "Only share I of N (1/N to N/N), beside others that compute theirs."},
     .value = "I/N"},
    {.param = {PARAM("engine", ENUM, struct run_command, engine), .def = "local", .names = engines,
               .meaning = "slurm: as a job array on this cluster; waits for it and gathers."},
     .letter = 'e',
     .value = "local|slurm"},
    {.param = {PARAM("partition", STRING, struct run_command, partition),
               .meaning = "Slurm: partition."},
     .letter = 'p',
     .value = "NAME"},
    {.param = {PARAM("tasks", INTEGER, struct run_command, tasks), .def = "auto", .min = "1",
               .max = "100000", .word = "auto", .word_value = 0,
               .meaning = "Slurm: tasks of the array; auto: one for each point, at most 100."},
     .value = "N"},
    {.param = {PARAM("array-limit", INTEGER, struct run_command, array_limit), .def = "none",
               .min = "1", .max = "100000", .word = "none", .word_value = 0,
               .meaning = "Slurm: tasks that run at a time."},
     .value = "N"},
    {.param = {PARAM("sbatch", LIST, struct run_command, sbatch),
               .meaning = "Slurm: a further option of sbatch, such as --time=60; may be repeated."},
     .value = "OPTION"},
    {.param = {PARAM("attempts", INTEGER, struct run_command, attempts), .def = "3", .min = "1",
               .max = "1000",
               .meaning = "Slurm: submissions that bring nothing before it gives up."},
     .value = "N"},
    {.param = {PARAM("poll", DURATION, struct run_command, poll), .def = "5s", .min = "100ms",
               .max = "1h", .meaning = "Slurm: time between two looks at the queue."},
     .value = "TIME"},
    {.param = {PARAM("keep-failed", BOOLEAN, struct run_command, keep_failed),
               .meaning = "Do not try again what failed before."}},
    {.param = {PARAM("quiet", BOOLEAN, struct run_command, quiet),
               .meaning = "No progress on the terminal."},
     .letter = 'q'},
    {.param = {PARAM("plugin", LIST, struct run_command, plugin),
               .meaning = "A scheduler in a shared object; may be repeated."},
     .value = "FILE.so"},
};

static void print_outcome(const struct sweep_outcome *r, const char *dir)
{
    if (r->gone || (r->known && r->known < r->points))
        printf(
            "The sweep has changed: %zu of its points were there before, %zu others are no longer "
            "part of it.\n",
            r->known, r->gone);
    if (r->damaged)
        printf("%zu stored lines were damaged and are computed again.\n", r->damaged);
    printf("%zu of %zu points done", r->done, r->points);
    if (r->before)
        printf(" (%zu before)", r->before);
    if (r->failed)
        printf(", %zu failed", r->failed);
    if (r->replications && !r->jobs)
        printf("; %zu replications in %.1f s", r->replications, r->elapsed);
    else if (r->replications)
        printf("; %zu replications in %.1f s by %u workers, which simulated %.1f%% of that time; "
               "%.1f%% of the CPU time went into simulation",
               r->replications, r->elapsed, r->jobs,
               100 * r->simulated.wall / (r->elapsed * r->jobs), 100 * r->simulated.cpu / r->cpu);
    printf(".\n");
    if (r->failures && *r->failures)
        printf("\n%s", r->failures);
    if (r->interrupted)
        printf("Interrupted: the same command again goes on.\n");
    else
        printf("`hvsim sweep gather %s` makes tables of them.\n", dir);
}

/* On a cluster the tables come with it. */
static int run_slurm(const struct run_command *c, const struct sweep *s,
                     const struct sweep_options *run, struct sweep_outcome *result,
                     struct errors *e)
{
    struct slurm_options slurm = {.partition = c->partition,
                                  .array_limit = c->array_limit,
                                  .tasks = c->tasks,
                                  .attempts = c->attempts,
                                  .poll_ms = (int)(c->poll / 1000000),
                                  .sbatch = &c->sbatch,
                                  .plugin = &c->plugin};
    struct gather_counts n;
    struct sweep_results r = {0};
    int status = sweep_slurm(s, run, &slurm, result, e);

    if (status || result->interrupted)
        return status;
    status = sweep_results_open(&r, c->out, e);
    if (!status)
        status = sweep_gather(&r, &n, e);
    sweep_results_free(&r);
    return status;
}

static int check_run(const struct run_command *c, struct sweep_options *run, struct errors *e)
{
    size_t before = e->count;

    if (!c->out)
        error_add(e, EXIT_INPUT, "hvsim sweep run: --out is missing: a directory for the results");
    if (c->shard)
        sweep_shard_read(c->shard, &run->shard, &run->shards, e);
    if (c->shard && c->engine == ENGINE_SLURM)
        error_add(e, EXIT_INPUT,
                  "hvsim sweep run: --engine slurm makes the shares itself: leave out --shard");
    return e->count > before ? -1 : 0;
}

static enum exit_code run(const void *options, const struct operands *o, struct errors *e)
{
    const struct run_command *c = options;
    struct sweep_options run = {
        .dir = c->out, .jobs = (unsigned)c->jobs, .keep_failed = c->keep_failed, .quiet = c->quiet};
    struct sweep_outcome result = {0};
    enum exit_code code = EXIT_INPUT;
    struct sweep s = {0};

    if (!check_run(c, &run, e) && !load_plugins(&c->plugin, e) && !sweep_open(&s, o->text[0], e) &&
        !(c->engine == ENGINE_SLURM ? run_slurm(c, &s, &run, &result, e)
                                    : sweep_run(&s, &run, &result, e))) {
        print_outcome(&result, c->out);
        code = result.interrupted                                             ? EXIT_INTERRUPTED
               : result.failed || result.done + result.failed < result.points ? EXIT_INTERNAL
                                                                              : EXIT_OK;
    }
    free(result.failures);
    sweep_free(&s);
    return e->count ? errors_exit_code(e) : code;
}

const struct command command_sweep_run = {
    .name = "sweep run",
    .summary = "Simulate a scenario at many points, or go on with it",
    .arguments = "SWEEP.json",
    .least = 1,
    .most = 1,
    .details =
        "Replications run in processes of their own; each is on disk before it counts. Killed at "
        "any time, by a signal or a power cut, the same command again goes on and loses nothing: "
        "the results are the same to the last byte. A point that crashes, hangs or takes too much "
        "memory is recorded as failed and tried again by the next call; the others go on.\n\n"
        "When the sweep file has changed, points that are still the same keep their results.\n\n"
        "--shard shares the work with other processes or machines that see the same directory; "
        "docs/sweeps.md has examples.",
    OPTIONS_OF(run_rows, struct run_command),
    .run = run,
};
