/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The truth about what is done is in the files of results alone; Slurm is asked only whether tasks
 * of the array are still pending or running. So neither a lost message nor a wrong state of a job
 * can make a point count that is not on disk, and nothing is needed of Slurm's accounting.
 *
 * DIR/slurm holds the job's script, the tasks' output and the number of the job that was submitted
 * last, by which a later call finds it again.
 */
#include "experiments/sweep/sweep_slurm.h"

#include "experiments/sweep/program.h"
#include "experiments/sweep/sweep_index.h"
#include "sim/output.h"
#include "sim/pool.h"
#include "sim/progress.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOB_NAME "hvsim"

enum { TASKS_MOST = 100, SILENCE_MOST = 60 /* looks at a queue that does not answer */ };

struct cluster {
    const struct sweep *sweep;
    const struct sweep_options *options;
    const struct slurm_options *slurm;
    struct sweep_outcome *out;
    struct store lock; /* that nobody else is at work here */
    uint32_t tasks;
    bool *unfinished; /* by task: points are missing */
    size_t missing;   /* points */
    size_t lines;     /* replications that are stored */
    char *dir;        /* absolute */
    char *job;        /* its number; NULL: none */
    bool again;       /* submitted before: what has failed stays so */
    struct progress progress;
    struct errors *e;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    stopped = number;
}

/* ---- what is there ----------------------------------------------------------------------------
 */

/* Read the results anew: which points are done, which tasks have something left to do. */
static int look(struct cluster *c, bool failures)
{
    uint64_t *key = sweep_keys(c->sweep);
    struct sweep_outcome *out = c->out;
    struct store s;
    int status;

    store_init(&s, c->options->dir, key, c->sweep->points);
    free(key);
    status = store_read(&s, failures, c->e);
    out->points = s.entries;
    out->done = out->failed = c->missing = 0;
    c->lines = s.lines;
    memset(c->unfinished, 0, c->tasks * sizeof *c->unfinished);
    for (size_t i = 0; i < s.entries && !status; i++) {
        struct entry_rule rule = sweep_rule(c->sweep, s.entry[i].point);
        struct entry_verdict v = entry_judge(&s.entry[i], &rule);

        out->done += v.state == ENTRY_DONE;
        out->failed += v.state == ENTRY_FAILED;
        if (v.state != ENTRY_MORE)
            continue;
        c->missing++;
        c->unfinished[s.entry[i].point % c->tasks] = true;
    }
    free(out->failures);
    out->failures = sweep_failures(c->sweep, &s, 0, 0);
    store_free(&s);
    return status;
}

/* ---- the job ----------------------------------------------------------------------------------
 */

static char *absolute(const char *path, struct errors *e)
{
    char *real = realpath(path, NULL);

    if (!real)
        error_add(e, EXIT_INPUT, "%s: %s", path, strerror(errno));
    return real;
}

static void put_word(const char *word, FILE *out)
{
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, out);
    fputc('\'', out);
}

/* What each task of the array does. */
static int write_script(const struct cluster *c, const char *path)
{
    char *program = absolute("/proc/self/exe", c->e), *file = absolute(c->sweep->path, c->e);
    size_t size, before = c->e->count;
    char *text;
    FILE *out = open_memstream(&text, &size);
    int status = program && file ? 0 : -1;

    if (!status) {
        fputs("#!/bin/sh\nexec ", out);
        put_word(program, out);
        fputs(" sweep run ", out);
        put_word(file, out);
        fputs(" --out ", out);
        put_word(c->dir, out);
        fprintf(out, " --shard \"$SLURM_ARRAY_TASK_ID/%u\" --jobs %u --quiet%s", c->tasks,
                c->options->jobs ? c->options->jobs : 1,
                c->again || c->options->keep_failed ? " --keep-failed" : "");
        for (size_t i = 0; i < c->slurm->plugin->count; i++) {
            fputs(" --plugin ", out);
            put_word(list_text(c->slurm->plugin, i), out);
        }
        fputc('\n', out);
    }
    fclose(out);
    if (!status)
        status = output_write(path, text, size, c->e);
    free(text);
    free(program);
    free(file);
    return c->e->count > before ? -1 : status;
}

/* "1-3,7%4": the tasks that have something to do. */
static char *array_of(const struct cluster *c)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    bool first = true;

    for (uint32_t i = 0; i < c->tasks; i++) {
        uint32_t last = i;

        if (!c->unfinished[i])
            continue;
        while (last + 1 < c->tasks && c->unfinished[last + 1])
            last++;
        fprintf(out, "%s%u", first ? "" : ",", i + 1);
        if (last > i)
            fprintf(out, "-%u", last + 1);
        first = false;
        i = last;
    }
    if (c->slurm->array_limit)
        fprintf(out, "%%%d", c->slurm->array_limit);
    fclose(out);
    return text;
}

static char *job_path(const struct cluster *c)
{
    return xasprintf("%s/slurm/job", c->dir);
}

static int note_job(const struct cluster *c)
{
    char *path = job_path(c), *text = xasprintf("%s %u\n", c->job, c->tasks);
    int status = output_write(path, text, strlen(text), c->e);

    free(text);
    free(path);
    return status;
}

/* sbatch prints "JOB" or "JOB;CLUSTER". */
static int take_job(struct cluster *c, const struct program_result *r)
{
    size_t digits = r->out ? strspn(r->out, "0123456789") : 0;

    if (r->status == 127)
        return error_add(c->e, EXIT_INPUT,
                         "sbatch is not there: --engine slurm wants to be run where Slurm jobs are "
                         "submitted");
    if (r->status || !digits)
        return error_add(c->e, EXIT_INPUT, "sbatch refuses the job: %s%s",
                         r->error && *r->error ? r->error : "it tells no number",
                         r->error && strstr(r->error, "array") ? " (fewer --tasks may help)" : "");
    free(c->job);
    c->job = xasprintf("%.*s", (int)digits, r->out);
    return note_job(c);
}

static int submit(struct cluster *c)
{
    char *script = xasprintf("%s/slurm/task.sh", c->dir), *array = array_of(c);
    char *list = xasprintf("--array=%s", array);
    char *log = xasprintf("--output=%s/slurm/%%A_%%a.log", c->dir);
    char *cpus = xasprintf("--cpus-per-task=%u", c->options->jobs ? c->options->jobs : 1);
    char *partition = c->slurm->partition ? xasprintf("--partition=%s", c->slurm->partition) : NULL;
    const char **argument = xcalloc(12 + c->slurm->sbatch->count, sizeof *argument);
    struct program_result r = {0};
    size_t n = 0;
    int status;

    argument[n++] = "sbatch";
    argument[n++] = "--parsable";
    argument[n++] = "--requeue";
    argument[n++] = "--job-name=" JOB_NAME;
    argument[n++] = list;
    argument[n++] = log;
    argument[n++] = cpus;
    if (partition)
        argument[n++] = partition;
    for (size_t i = 0; i < c->slurm->sbatch->count; i++)
        argument[n++] = list_text(c->slurm->sbatch, i);
    argument[n] = script;
    status = write_script(c, script);
    if (!status)
        status = program_run(argument, &r, c->e);
    if (!status)
        status = take_job(c, &r);
    if (!status && !c->options->quiet)
        fprintf(stderr, "Job %s: tasks %s of %u.\n", c->job, array, c->tasks);
    c->again = true;
    program_result_free(&r);
    free(argument);
    free(partition);
    free(cpus);
    free(log);
    free(list);
    free(array);
    free(script);
    return status;
}

/* ---- the queue --------------------------------------------------------------------------------
 */

struct queue_state {
    unsigned waiting, running;
    bool silent; /* Slurm did not answer */
};

/* Tasks of the job that are pending, running or on their way from one to the other. A job that the
 * queue no longer knows has none. */
static int ask(const struct cluster *c, struct queue_state *q)
{
    const char *argument[] = {"squeue", "--noheader",  "--array", "--jobs",
                              c->job,   "--format=%T", NULL};
    struct program_result r;
    char *save = NULL;

    *q = (struct queue_state){0};
    if (program_run(argument, &r, c->e))
        return -1;
    if (r.status && !strstr(r.error, "Invalid job id"))
        q->silent = true;
    for (char *line = r.status ? NULL : strtok_r(r.out, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (!strcmp(line, "RUNNING"))
            q->running++;
        else
            q->waiting++;
    }
    program_result_free(&r);
    return 0;
}

/* The job of an earlier call, if it had as many tasks; what became of it is asked later. */
static void find_job(struct cluster *c)
{
    char *path = job_path(c), job[32];
    FILE *in = fopen(path, "r");
    unsigned tasks;

    if (in && fscanf(in, "%31[0-9] %u", job, &tasks) == 2 && tasks == c->tasks)
        c->job = xstrdup(job);
    if (in)
        fclose(in);
    free(path);
}

static void sleep_ms(int ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&t, NULL); /* a signal ends it */
}

static void show(struct cluster *c, const struct queue_state *q)
{
    char note[120];

    snprintf(note, sizeof note, "job %s: %u running, %u waiting, %zu points failed", c->job,
             q->running, q->waiting, c->out->failed);
    progress_update(&c->progress, (double)(c->out->done + c->out->failed), note);
}

/* Until no task of the job is left. 0, or -1 with an error. */
static int follow(struct cluster *c)
{
    int silence = 0, status = 0;

    while (!stopped && !status) {
        struct queue_state q;

        status = ask(c, &q);
        if (status)
            break;
        silence = q.silent ? silence + 1 : 0;
        if (silence > SILENCE_MOST)
            return error_add(c->e, EXIT_INTERNAL,
                             "squeue does not answer; job %s may go on, and the same command again "
                             "follows it",
                             c->job);
        if (!q.silent && !q.running && !q.waiting)
            break;
        status = look(c, true);
        show(c, &q);
        if (!status)
            sleep_ms(c->slurm->poll_ms);
    }
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

/* Submit and follow until nothing is missing, or nothing is gained any more. */
static int work(struct cluster *c)
{
    int attempts = 0;

    if (c->job && (follow(c) || stopped))
        return stopped ? 0 : -1;
    if (look(c, c->options->keep_failed)) /* what failed before is tried again */
        return -1;
    while (c->missing && !stopped) {
        size_t before = c->lines;

        if (attempts == c->slurm->attempts) {
            if (c->out->points)
                fprintf(stderr,
                        "%zu points are missing after %d submissions that brought nothing; "
                        "%s/slurm/*.log may tell why.\n",
                        c->missing, attempts, c->dir);
            return 0;
        }
        if (submit(c) || follow(c))
            return -1;
        if (look(c, true))
            return -1;
        attempts = c->lines > before ? 0 : attempts + 1;
    }
    return look(c, true);
}

static int begin(struct cluster *c)
{
    const struct sweep_options *o = c->options;
    uint64_t none = 0;
    char *slurm;
    int status;

    store_init(&c->lock, o->dir, &none, 1);
    if (store_claim(&c->lock, STORE_SHARE, "slurm.lines", c->e) ||
        index_write(c->sweep, o->dir, &c->out->known, &c->out->gone, c->e))
        return -1;
    c->dir = absolute(o->dir, c->e);
    if (!c->dir)
        return -1;
    slurm = output_path(c->dir, "slurm");
    status = output_directory(slurm, c->e);
    free(slurm);
    if (!status)
        find_job(c);
    return status ? status : look(c, o->keep_failed);
}

int sweep_slurm(const struct sweep *s, const struct sweep_options *o,
                const struct slurm_options *slurm, struct sweep_outcome *out, struct errors *e)
{
    struct cluster c = {.sweep = s, .options = o, .slurm = slurm, .out = out, .e = e};
    struct sigaction action = {.sa_handler = on_signal}, before[2];
    int64_t began = wall_now();
    size_t first;
    int status;

    *out = (struct sweep_outcome){0};
    c.tasks = (uint32_t)(slurm->tasks             ? (size_t)slurm->tasks
                         : s->points < TASKS_MOST ? s->points
                                                  : TASKS_MOST);
    c.unfinished = xcalloc(c.tasks, sizeof *c.unfinished);
    stopped = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &before[0]);
    sigaction(SIGTERM, &action, &before[1]);
    status = begin(&c);
    out->before = out->done;
    first = c.lines;
    progress_begin(&c.progress, "sweep", "points", (double)out->points, o->quiet);
    if (!status)
        status = work(&c);
    progress_end(&c.progress);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
    out->interrupted = stopped != 0;
    out->replications = c.lines - first;
    out->elapsed = (double)(wall_now() - began) / 1e9;
    if (stopped && c.job && !status)
        fprintf(stderr, "Job %s goes on; the same command follows it again, scancel %s ends it.\n",
                c.job, c.job);
    store_free(&c.lock);
    free(c.unfinished);
    free(c.dir);
    free(c.job);
    return status;
}
