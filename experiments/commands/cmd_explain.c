/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim explain: the decisions of a stretch of time in words; and with --without, the first
 * decision that differs when a rule of the scheduler is switched off.
 *
 * Each run is a process of its own, as SimGrid demands. For --without the first one writes down all
 * decisions in short, the second compares as it goes and stops at the difference, and two more tell
 * each its side of it.
 */
#include "experiments/commands/commands.h"
#include "experiments/commands/study_options.h"
#include "experiments/study/explain.h"
#include "experiments/study/study_inside.h"
#include "sim/simgrid.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct explain_options {
    struct study_options options;
    sim_time at, length;
    int64_t pcpu;
    char *host, *without;
};

static const struct command_option rows[] = {
    {.param = {PARAM("at", DURATION, struct explain_options, at), .def = "0",
               .meaning = "Date of the first decision to explain; with --without, the date from "
                          "which on they are compared."},
     .value = "TIME"},
    {.param = {PARAM("for", DURATION, struct explain_options, length), .def = "10ms", .min = "1ns",
               .meaning = "How long from there."},
     .value = "DURATION"},
    {.param = {PARAM("pcpu", INTEGER, struct explain_options, pcpu), .def = "all", .min = "0",
               .max = "255", .word = "all", .word_value = -1, .meaning = "Only this pCPU."},
     .value = "N"},
    {.param = {PARAM("host", STRING, struct explain_options, host),
               .meaning = "Which host, if there are several (default: the first)."},
     .value = "NAME"},
    {.param = {PARAM("without", STRING, struct explain_options, without),
               .meaning = "Switch this rule off, and show the first decision that differs; \"?\" "
                          "lists the rules."},
     .value = "RULE"},
    {.param = {PARAM("set", LIST, struct explain_options, options.set),
               .meaning = "Another value in the scenario; may be repeated."},
     .value = "/JSON/POINTER=VALUE"},
    {.param = {PARAM("seed", INTEGER, struct explain_options, options.seed), .def = "scenario",
               .min = "0", .word = "scenario", .word_value = -1,
               .meaning = "Another seed than the scenario's."},
     .value = "N"},
    {.param = {PARAM("scheduler-plugin", LIST, struct explain_options, options.plugin),
               .meaning = "A scheduler in a shared object; may be repeated."},
     .value = "FILE.so"},
};

/* ---- one run, in a child --------------------------------------------------------------------- */

struct task {
    const struct study *study;
    const struct explain_options *options;
    const char *without; /* NULL: all rules */
    FILE *notes;         /* decisions in short */
    enum { EXPLAIN, NOTE, COMPARE, TELL } what;
    uint64_t index;      /* decisions seen from --at on */
    uint64_t tell_index; /* TELL: number of the one to tell of */
    uint64_t found_index;
    struct host *host;
    struct timer off; /* switches the rule off at --at, so that what was before is the same */
    uint64_t off_mask[MAX_PCPUS]; /* by pool */
    bool found;
};

/* What COMPARE hands to its parent. */
struct difference {
    bool found;
    uint64_t index;
};

static struct host *find_host(struct world *w, const char *name, struct errors *e)
{
    struct world_host *wh = world_find_host(w, name);

    if (wh)
        return wh->host;
    error_add(e, EXIT_INPUT, "--host: no host \"%s\" in the scenario", name);
    return NULL;
}

static void list_rules(const struct sched_ops *ops, FILE *out)
{
    for (const struct sched_rule *r = ops->rules; r && r->name; r++)
        fprintf(out, "%-12s %s\n", r->name, r->meaning);
}

static void off_fire(struct timer *timer, sim_time now)
{
    struct task *t = container_of(timer, struct task, off);

    (void)now;
    for (uint32_t i = 0; i < t->host->pool_count; i++)
        t->host->pool[i]->scheduler->off |= t->off_mask[i];
}

/* Switch a rule off at --at in every pool that has it. */
static int switch_off(struct task *t, const char *rule, struct errors *e)
{
    struct host *h = t->host;
    bool some = false;

    timer_init(&t->off, off_fire);
    queue_arm_key(h->queue, &t->off, t->options->at, RANK_PLATFORM, UINT64_C(1) << 50);
    for (uint32_t i = 0; i < h->pool_count; i++) {
        struct scheduler *s = h->pool[i]->scheduler;

        for (int k = 0; s->ops->rules && s->ops->rules[k].name; k++)
            if (!strcmp(s->ops->rules[k].name, rule)) {
                t->off_mask[i] |= UINT64_C(1) << k;
                some = true;
            }
    }
    return some ? 0
                : error_add(e, EXIT_INPUT,
                            "--without: scheduler %s has no rule \"%s\" to switch off; "
                            "--without=? lists them",
                            h->pool[0]->scheduler->ops->name, rule);
}

static bool decided(void *ctx, struct explainer *x, const struct decided *d)
{
    struct task *t = ctx;
    struct decided was;
    uint64_t index;

    if (d->time < t->options->at || t->found)
        return false;
    index = t->index++;
    switch (t->what) {
    case NOTE:
        fwrite(d, sizeof *d, 1, t->notes);
        return false;
    case COMPARE:
        if (fread(&was, sizeof was, 1, t->notes) == 1 && !memcmp(&was, d, sizeof was))
            return false;
        t->found = true;
        t->found_index = index;
        return true;
    case TELL:
        if (index != t->tell_index)
            return false;
        printf(t->without ? "without \"%s\":\n" : "with \"%s\":\n", t->options->without);
        explainer_print(x, t->host, d->pcpu, stdout);
        return true;
    default:
        return false;
    }
}

static int run_here(struct task *t, struct errors *e)
{
    const struct explain_options *o = t->options;
    const struct variant *v = &t->study->variant[0];
    struct world *w = study_world(t->study, v, 0, e);
    struct explainer x = {.from = o->at,
                          .until = o->at + o->length,
                          .pcpu = o->pcpu,
                          .decided = t->what == EXPLAIN ? NULL : decided,
                          .ctx = t,
                          .out = t->what == EXPLAIN ? stdout : NULL};
    char at[QUANTITY_TEXT], end[QUANTITY_TEXT];
    sim_time stop;

    if (!w)
        return -1;
    t->host = find_host(w, o->host, e);
    if (!t->host)
        return -1;
    if (o->without && !strcmp(o->without, "?")) {
        list_rules(t->host->pool[0]->scheduler->ops, stdout);
        return 0;
    }
    if (o->pcpu >= (int64_t)t->host->pcpu_count)
        return error_add(e, EXIT_INPUT, "--pcpu %" PRId64 ": the host has pCPUs 0 to %" PRIu32,
                         o->pcpu, t->host->pcpu_count - 1);
    if (o->at >= w->end)
        return error_add(e, EXIT_INPUT, "--at %s: a run of this scenario ends at %s",
                         quantity_format(QUANTITY_DURATION, o->at, at),
                         quantity_format(QUANTITY_DURATION, w->end, end));
    if (t->without && switch_off(t, t->without, e))
        return -1;
    explainer_attach(&x, t->host);
    stop = t->what == EXPLAIN && x.until < w->end ? x.until : w->end;
    if (study_run_world(t->study, v, w, stop, e))
        return -1;
    if (t->what == EXPLAIN && !x.explained)
        printf("no decision in that time\n");
    return 0;
}

/* Run a task in a child; 0, or -1 with its errors. */
static int run_child(struct task *t, struct difference *d, struct errors *e)
{
    int ends[2], status;
    char text[4096];
    ssize_t n;
    pid_t pid;

    fflush(stdout);
    if (pipe(ends) || (pid = fork()) < 0)
        return error_add(e, EXIT_INTERNAL, "cannot start a process");
    if (!pid) {
        struct errors mine = ERRORS_NONE;
        struct difference found = {0};

        close(ends[0]);
        run_here(t, &mine);
        found.found = t->found;
        found.index = t->found ? t->found_index : t->index;
        fflush(stdout);
        if (t->notes)
            fflush(t->notes);
        if (write(ends[1], &found, sizeof found) != sizeof found)
            _exit(EXIT_INTERNAL);
        for (size_t i = 0; i < mine.count; i++)
            if (write(ends[1], mine.item[i].text, strlen(mine.item[i].text) + 1) < 0)
                _exit(EXIT_INTERNAL);
        _exit(errors_exit_code(&mine));
    }
    close(ends[1]);
    n = read(ends[0], d, sizeof *d);
    if (n != sizeof *d)
        *d = (struct difference){0};
    while ((n = read(ends[0], text, sizeof text - 1)) > 0)
        for (char *at = text; at < text + n; at += strlen(at) + 1) {
            text[n] = 0;
            error_add(e, EXIT_INPUT, "%s", at);
        }
    close(ends[0]);
    if (waitpid(pid, &status, 0) > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
        return 0; /* whoever read along has seen enough */
    if (!WIFEXITED(status))
        return error_add(e, EXIT_INTERNAL, "the run crashed");
    return WEXITSTATUS(status) ? -1 : 0;
}

static int compare(struct study *s, const struct explain_options *o, struct errors *e)
{
    struct task note = {.study = s, .options = o, .what = NOTE, .notes = tmpfile()};
    struct task other = {
        .study = s, .options = o, .what = COMPARE, .without = o->without, .notes = note.notes};
    struct task with = {.study = s, .options = o, .what = TELL};
    struct task without = {.study = s, .options = o, .what = TELL, .without = o->without};
    struct difference d = {0}, unused;

    if (!note.notes)
        return error_add(e, EXIT_INTERNAL, "cannot make a temporary file");
    if (!run_child(&note, &d, e)) {
        rewind(note.notes);
        if (!run_child(&other, &d, e)) {
            with.tell_index = without.tell_index = d.index;
            if (d.found && !run_child(&with, &unused, e))
                run_child(&without, &unused, e);
            else if (!d.found)
                printf("all %" PRIu64 " decisions are the same without the rule \"%s\"\n", d.index,
                       o->without);
        }
    }
    fclose(note.notes);
    return e->count ? -1 : 0;
}

static int explain(struct study *s, const struct explain_options *o, struct errors *e)
{
    struct task t = {.study = s, .options = o, .what = EXPLAIN};
    struct difference unused;

    return run_child(&t, &unused, e);
}

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    struct explain_options given = *(const struct explain_options *)options, *o = &given;
    struct param_list set;
    struct study s;

    o->options.replications = -1; /* as the scenario says */
    set = study_overrides(&o->options);
    if (!study_begin(&s, operands->text[0], &o->options, e) &&
        !study_add(&s, "", &set, NULL, 0, e) && !study_prepare(&s, e)) {
        if (o->without && strcmp(o->without, "?"))
            compare(&s, o, e);
        else
            explain(&s, o, e);
    }
    study_overrides_free(&set);
    study_free(&s);
    return e->count ? errors_exit_code(e) : EXIT_OK;
}

const struct command command_explain = {
    .name = "explain",
    .summary = "Tell why the scheduler decided as it did",
    .arguments = "SCENARIO.json",
    .least = 1,
    .most = 1,
    .details = "Each decision of a stretch of time in words: who has the pCPU and for how long, "
               "why it decides now, who waits with which priority and credit, who is chosen and "
               "by which rule. The first replication is taken.\n\n"
               "With --without RULE the scenario is run with and without that rule, and the first "
               "decision that differs is shown from both sides.",
    OPTIONS_OF(rows, struct explain_options),
    .run = run,
};
