/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim lab: the labs of the course, and grading of what students hand in. */
#include "experiments/commands/commands.h"
#include "experiments/commands/lab.h"
#include "experiments/results/grid.h"
#include "sim/output.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lab_options {
    struct param_list check; /* char * */
    char *copy;
    bool answers;
};

static const struct command_option rows[] = {
    {.param = {PARAM("check", LIST, struct lab_options, check),
               .meaning = "An answer to be graded: the question's number and the value; of lab 5, "
                          "the scheduler's shared object. May be repeated."},
     .value = "QUESTION=VALUE"},
    {.param = {PARAM("copy", STRING, struct lab_options, copy),
               .meaning = "Copy the lab's files into this directory, to work on them."},
     .value = "DIR"},
    {.param = {PARAM("answers", BOOLEAN, struct lab_options, answers),
               .meaning = "For instructors: compute and print all answers."}},
};

static enum exit_code list_labs(struct errors *e)
{
    struct grid g;

    grid_init(&g, 3);
    for (int n = 1; n <= LABS; n++) {
        struct lab *l = lab_read(n, e);

        if (!l)
            continue;
        grid_row(&g);
        grid_put(&g, "%d  %s", n, l->title);
        grid_put(&g, "%lld min", (long long)l->minutes);
        lab_free(l);
    }
    grid_print(&g, stdout);
    grid_free(&g);
    puts("\n`hvsim lab N` shows one; `hvsim doc labs` tells how they are meant.");
    return errors_exit_code(e);
}

static void show(int64_t n, const struct lab *l)
{
    printf("Lab %lld: %s (about %lld minutes)\n\nText:     %s/README.md\nScenario: %s/%s\n",
           (long long)n, l->title, (long long)l->minutes, l->dir, l->dir, l->scenario);
    if (l->questions.count)
        puts("\nQuestions:");
    for (size_t i = 0; i < l->questions.count; i++) {
        const struct question *q = lab_question(l, i);

        printf("  %-3s %s%s%s%s\n", q->name, q->ask, *q->unit ? " (" : "", q->unit,
               *q->unit ? ")" : "");
    }
    if (l->questions.count)
        printf("\nHand in: hvsim lab %lld --check %s=VALUE\n", (long long)n,
               lab_question(l, 0)->name);
    if (l->task)
        printf("\nHand in: hvsim lab %lld --check mine/mine.so\n", (long long)n);
}

/* ---- copying -----------------------------------------------------------------------------------
 */

static int copy_file(const char *from, const char *to, struct errors *e)
{
    FILE *in = fopen(from, "rb");
    struct output *o = in ? output_open(to, e) : NULL;
    char block[4096];
    size_t n;

    while (o && (n = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, n, output_stream(o));
    if (in)
        fclose(in);
    return o ? output_commit(o, e) : -1;
}

/* All but what is for instructors. */
static int copy(const struct lab *l, const char *dir, struct errors *e)
{
    struct dirent **entry;
    int n = output_directory(dir, e) ? -1 : scandir(l->dir, &entry, NULL, alphasort), status = 0;

    if (n < 0)
        return -1;
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;

        if (*name != '.' && strcmp(name, "notes.md") && strcmp(name, "lab.json")) {
            char *from = output_path(l->dir, name), *to = output_path(dir, name);

            if (!copy_file(from, to, e))
                printf("%s\n", to);
            else
                status = -1;
            free(from);
            free(to);
        }
        free(entry[i]);
    }
    free(entry);
    return status;
}

/* ---- grading ------------------------------------------------------------------------------------
 */

static size_t question_by_name(const struct lab *l, const char *name, size_t length)
{
    for (size_t i = 0; i < l->questions.count; i++)
        if (strlen(lab_question(l, i)->name) == length &&
            !strncmp(lab_question(l, i)->name, name, length))
            return i;
    return SIZE_MAX;
}

static char *answer_words(const struct question *q, const struct answer *a)
{
    char *value, *text;

    if (isnan(a->value))
        return xstrdup(a->text);
    value = value_text(a->value);
    text = xasprintf("%s%s%s", value, *q->unit ? " " : "", q->unit);
    free(value);
    return text;
}

static enum exit_code check_answers(const struct lab *l, char **given, size_t count,
                                    struct errors *e)
{
    size_t *question = xcalloc(count, sizeof *question), wrong = 0;
    struct answer *answer = xcalloc(count, sizeof *answer);

    for (size_t i = 0; i < count; i++) {
        question[i] = question_by_name(l, given[i], strcspn(given[i], "="));
        if (!strchr(given[i], '=') || question[i] == SIZE_MAX)
            error_add(e, EXIT_INPUT,
                      "--check %s: give the number of a question and its answer, as "
                      "in --check %s=30ms",
                      given[i], l->questions.count ? lab_question(l, 0)->name : "1");
    }
    if (!e->count && !lab_answers(l, question, count, answer, e))
        for (size_t i = 0; i < count; i++) {
            const struct question *q = lab_question(l, question[i]);
            const char *text = strchr(given[i], '=') + 1;
            int verdict = answer_check(q, &answer[i], text, e);

            if (verdict >= 0)
                printf("question %s: %s is %s\n", q->name, text, verdict ? "not right" : "right");
            wrong += verdict != 0;
        }
    free(question);
    free(answer);
    if (e->count)
        return errors_exit_code(e);
    return wrong ? EXIT_SHORT : EXIT_OK;
}

static void print_bounds(const struct lab *l, const struct bound_result *result)
{
    struct grid g;

    grid_init(&g, 4);
    grid_row(&g);
    grid_put(&g, "%s", "");
    grid_put(&g, "yours");
    grid_put(&g, "wanted");
    grid_put(&g, "%s", "");
    for (size_t i = 0; i < l->task->bounds.count; i++) {
        const struct task_bound *b = &((struct task_bound *)l->task->bounds.item)[i];
        bool most = b->most > 0;
        double unit = b->reference ? result[i].reference : 1;
        char *value = value_text(result[i].value);
        char *limit = value_text((most ? b->most : b->least) * unit);

        grid_row(&g);
        grid_put(&g, "%s", b->figure);
        grid_put(&g, "%s", value);
        grid_put(&g, "%s %s", most ? "at most" : "at least", limit);
        grid_put(&g, "%s", result[i].kept ? "reached" : "not reached");
        free(value);
        free(limit);
    }
    grid_print(&g, stdout);
    grid_free(&g);
}

/* mine/mine.so was made of mine/mine.c. */
static bool short_enough(const struct lab *l, const char *plugin, struct errors *e)
{
    size_t n = strlen(plugin);
    char *source = xstrdup(plugin);
    long lines;

    if (n > 3 && !strcmp(source + n - 3, ".so"))
        strcpy(source + n - 3, ".c");
    lines = lab_lines(source);
    if (lines < 0)
        error_add(e, EXIT_INPUT, "%s: the source is wanted beside %s, to count its lines", source,
                  plugin);
    else
        printf("%s: %ld lines without comments, %lld are allowed\n", source, lines,
               (long long)l->task->lines);
    free(source);
    return lines >= 0 && lines <= l->task->lines;
}

static enum exit_code check_plugin(const struct lab *l, const char *plugin, struct errors *e)
{
    size_t n = l->task->bounds.count;
    struct bound_result *result = xcalloc(n, sizeof *result);
    bool kept = short_enough(l, plugin, e);

    if (!e->count && !lab_grade(l, plugin, result, e)) {
        print_bounds(l, result);
        for (size_t i = 0; i < n; i++)
            kept = kept && result[i].kept;
        puts(kept ? "passed" : "not passed yet");
    }
    free(result);
    if (e->count)
        return errors_exit_code(e);
    return kept ? EXIT_OK : EXIT_SHORT;
}

static enum exit_code print_answers(const struct lab *l, struct errors *e)
{
    size_t n = l->questions.count, *question = xcalloc(n + 1, sizeof *question);
    struct answer *answer = xcalloc(n + 1, sizeof *answer);

    for (size_t i = 0; i < n; i++)
        question[i] = i;
    if (!lab_answers(l, question, n, answer, e))
        for (size_t i = 0; i < n; i++) {
            char *words = answer_words(lab_question(l, i), &answer[i]);

            printf("%-3s %s\n", lab_question(l, i)->name, words);
            free(words);
        }
    free(question);
    free(answer);
    return errors_exit_code(e);
}

static enum exit_code run_lab(const struct lab *l, const struct lab_options *o, struct errors *e)
{
    char **given = o->check.item;

    if (o->copy)
        return copy(l, o->copy, e) ? errors_exit_code(e) : EXIT_OK;
    if (o->answers)
        return print_answers(l, e);
    if (l->task && o->check.count == 1 && !strchr(given[0], '='))
        return check_plugin(l, given[0], e);
    return check_answers(l, given, o->check.count, e);
}

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    const struct lab_options *o = options;
    char *end;
    long n;
    struct lab *l;
    enum exit_code code = EXIT_OK;

    if (!operands->count)
        return list_labs(e);
    n = strtol(operands->text[0], &end, 10);
    if (*end || n < 1 || n > LABS) {
        error_add(e, EXIT_INPUT, "there is no lab \"%s\"; `hvsim lab` lists them",
                  operands->text[0]);
        return EXIT_INPUT;
    }
    l = lab_read(n, e);
    if (!l)
        return errors_exit_code(e);
    if (!o->check.count && !o->copy && !o->answers)
        show(n, l);
    else
        code = run_lab(l, o, e);
    lab_free(l);
    return code;
}

const struct command command_lab = {
    .name = "lab",
    .summary = "Labs of a course: questions, and grading of answers",
    .arguments = "[N]",
    .least = 0,
    .most = 1,
    .details = "Answers are computed by running the simulator when they are wanted. An answer "
               "without unit is in the question's; lengths of time may have any. Exit status 1: "
               "something was not right.",
    OPTIONS_OF(rows, struct lab_options),
    .run = run,
};
