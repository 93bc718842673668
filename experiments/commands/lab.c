/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading labs, and what students hand in. */
#include "experiments/commands/lab.h"

#include "experiments/scenario/datadir.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct param text_element = {PARAM_ELEMENT(STRING, char *)};

/* ---- answers --------------------------------------------------------------------------------- */

static const char *const figure_takes[] = {"value", "half_width", "change", "change_half_width",
                                           "ratio", NULL};

static const struct param figure_rows[] = {
    {PARAM("figure", STRING, struct figure_answer, figure),
     .meaning = "The figure by its name in results: \"client:latency_p99\"."},
    {PARAM("against", LIST, struct figure_answer, against), .def = "[]", .of = &text_element,
     .meaning = "What is set in the run that this one is held against, with the same random "
                "numbers."},
    {PARAM("take", ENUM, struct figure_answer, take), .def = "value", .names = figure_takes,
     .meaning = "The value, half the width of its interval, or the change against the other run: "
                "in per cent, half the width of its interval, or as a ratio."},
};
static const struct param_table figure_table =
    PARAM_TABLE("figure", struct figure_answer, figure_rows, .meaning = "A figure of results.");

static const struct param shares_rows[] = {
    {PARAM("figures", LIST, struct shares_answer, figures), .of = &text_element, .min = "1",
     .meaning = "Figures in per cent."},
    {PARAM("over", STRING, struct shares_answer, over), .optional = true,
     .meaning = "A figure in per cent: how many times the product it is."},
};
static const struct param_table shares_table =
    PARAM_TABLE("shares", struct shares_answer, shares_rows,
                .meaning = "Shares multiplied: how often all happen if they are independent.");

static const char *const state_takes[] = {"credit", "priority", "pcpu", "runstate", NULL};

static const struct param state_rows[] = {
    {PARAM("vcpu", STRING, struct state_answer, vcpu), .meaning = "\"web/v0\"."},
    {PARAM("at", DURATION, struct state_answer, at), .meaning = "The date."},
    {PARAM("take", ENUM, struct state_answer, take), .def = "credit", .names = state_takes,
     .meaning = "What of its state."},
};
static const struct param_table state_table = PARAM_TABLE(
    "state", struct state_answer, state_rows, .meaning = "The state of a vCPU at a date.");

#define RECORD_ROWS                                                                                \
    {PARAM("record", STRING, struct record_answer, record),                                        \
     .meaning = "Its kind, as in traces: \"switch_in\", \"boost\", \"steal\"."},                   \
        {PARAM("vcpu", STRING, struct record_answer, vcpu), .optional = true,                      \
         .meaning = "Whom it is about; none: anybody."},                                           \
    {                                                                                              \
        PARAM("from", DURATION, struct record_answer, from), .def = "0",                           \
                                                             .meaning = "The first date."          \
    }

static const struct param record_rows[] = {
    RECORD_ROWS,
    {PARAM("nth", INTEGER, struct record_answer, nth), .def = "1", .min = "1",
     .meaning = "Which one from there."},
    {PARAM("take", STRING, struct record_answer, take), .def = "date",
     .meaning = "Its date, or the name of one of its arguments: \"waited\"."},
};
static const struct param_table record_table =
    PARAM_TABLE("record", struct record_answer, record_rows,
                .meaning = "A record of the schedule: when it was, or what it says.");

static const struct param count_rows[] = {
    RECORD_ROWS,
    {PARAM("until", DURATION, struct record_answer, until), .meaning = "Up to this date."},
};
static const struct param_table count_table = PARAM_TABLE(
    "count", struct record_answer, count_rows, .meaning = "How many records of a kind there are.");

static const struct param_choice answers[] = {
    [ANSWER_FIGURE] = {.name = "figure", .table = &figure_table},
    [ANSWER_SHARES] = {.name = "shares", .table = &shares_table},
    [ANSWER_STATE] = {.name = "state", .table = &state_table},
    [ANSWER_RECORD] = {.name = "record", .table = &record_table},
    [ANSWER_COUNT] = {.name = "count", .table = &count_table},
    {0},
};
static const struct param_choices answer_choices = {.tag = "type", .array = answers};

enum answer_type question_type(const struct question *q)
{
    return (enum answer_type)(q->answer.choice - answers);
}

/* ---- questions and labs ---------------------------------------------------------------------- */

static const struct param question_rows[] = {
    {PARAM("name", NAME, struct question, name), .refers = "question", .meaning = "Its number."},
    {PARAM("ask", STRING, struct question, ask), .meaning = "The question."},
    {PARAM("unit", STRING, struct question, unit), .def = "",
     .meaning = "What the answer is counted in: \"ms\", \"us\", \"s\", \"%\", \"1/s\" or nothing."},
    {PARAM("scenario", STRING, struct question, scenario), .optional = true,
     .meaning = "Another scenario than the lab's."},
    {PARAM("set", LIST, struct question, set), .def = "[]", .of = &text_element,
     .meaning = "\"/json/pointer=value\": what is set in the scenario."},
    {PARAM("answer", VARIANT, struct question, answer), .choices = &answer_choices,
     .meaning = "Where the answer is found."},
    {PARAM("tolerance", PERCENT, struct question, tolerance), .def = "1%",
     .meaning = "By how much of the value an answer may be off."},
    {PARAM("margin", NUMBER, struct question, margin), .def = "0", .min = "0",
     .meaning = "Or by how much in its unit, if that is more."},
};
static const struct param_table question_table = PARAM_TABLE(
    "question", struct question, question_rows, .meaning = "A question with a computed answer.");

static const struct param bound_rows[] = {
    {PARAM("figure", STRING, struct task_bound, figure), .meaning = "The figure."},
    {PARAM("reference", STRING, struct task_bound, reference), .optional = true,
     .meaning = "A scheduler: bounds are multiples of what the figure is under it."},
    {PARAM("least", NUMBER, struct task_bound, least), .def = "0", .min = "0",
     .meaning = "It must be at least this; 0: it need not."},
    {PARAM("most", NUMBER, struct task_bound, most), .def = "0", .min = "0",
     .meaning = "It must be at most this; 0: it need not."},
};
static const struct param_table bound_table =
    PARAM_TABLE("bound", struct task_bound, bound_rows, .meaning = "A bound on a figure.");

static const struct param question_element = {PARAM_ELEMENT(OBJECT, struct question),
                                              .table = &question_table};
static const struct param bound_element = {PARAM_ELEMENT(OBJECT, struct task_bound),
                                           .table = &bound_table};

static const struct param task_rows[] = {
    {PARAM("lines", INTEGER, struct lab_task, lines), .def = "100", .min = "1",
     .meaning = "Lines of source, without comments and blank ones."},
    {PARAM("bounds", LIST, struct lab_task, bounds), .of = &bound_element, .min = "1",
     .meaning = "What the scheduler must reach."},
};
static const struct param_table task_table =
    PARAM_TABLE("task", struct lab_task, task_rows, .meaning = "A scheduler to write.");

static const struct param lab_rows[] = {
    {PARAM("title", STRING, struct lab, title), .meaning = "What it is about."},
    {PARAM("minutes", INTEGER, struct lab, minutes), .def = "45", .min = "1",
     .meaning = "About how long it takes."},
    {PARAM("scenario", STRING, struct lab, scenario), .meaning = "Its scenario."},
    {PARAM("set", LIST, struct lab, set), .def = "[]", .of = &text_element,
     .meaning = "What is set in all of its runs."},
    {PARAM("questions", LIST, struct lab, questions), .def = "[]", .of = &question_element,
     .meaning = "Its questions."},
    {PARAM("task", POINTER, struct lab, task), .optional = true, .table = &task_table,
     .meaning = "A scheduler to write."},
};
static const struct param_table lab_table =
    PARAM_TABLE("lab", struct lab, lab_rows, .meaning = "A lab of the course.");

const struct config_format lab_format = {.name = "lab", .version = 1, .table = &lab_table};

struct lab *lab_read(int64_t n, struct errors *e)
{
    char *name = xasprintf("labs/%lld/lab.json", (long long)n), *path = data_file("docs", name);
    struct json *doc = path ? config_load(path, NULL, 0, e) : NULL;
    struct lab *l = NULL;

    if (!path)
        error_add(e, EXIT_INPUT, "there is no lab %lld; `hvsim lab` lists them", (long long)n);
    if (doc) {
        l = xcalloc(1, sizeof *l);
        if (config_read(&lab_format, doc, l, e)) {
            lab_free(l);
            l = NULL;
        } else {
            *strrchr(path, '/') = 0;
            l->dir = xstrdup(path);
        }
    }
    json_free(doc);
    free(path);
    free(name);
    return l;
}

void lab_free(struct lab *l)
{
    if (!l)
        return;
    free(l->dir);
    params_free(&lab_table, l);
    free(l);
}

/* ---- what students hand in ------------------------------------------------------------------- */

static bool same_word(const char *a, const char *b)
{
    for (; *a && tolower((unsigned char)*a) == tolower((unsigned char)*b); a++)
        b++;
    return !*a && !*b;
}

/* A number in the unit, or a length of time with any unit. */
static int read_value(const struct question *q, const char *text, double *value, struct errors *e)
{
    static const struct {
        const char *unit;
        double ns;
    } times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end, why[QUANTITY_WHY];
    int64_t ns;

    *value = strtod(text, &end);
    while (*end == ' ')
        end++;
    if (end != text && (!*end || !strcmp(end, q->unit)))
        return 0;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!strcmp(q->unit, times[i].unit) && !quantity_parse(QUANTITY_DURATION, text, &ns, why)) {
            *value = (double)ns / times[i].ns;
            return 0;
        }
    return error_add(e, EXIT_INPUT, "question %s: \"%s\" is no number%s%s", q->name, text,
                     *q->unit ? " in " : "", q->unit);
}

int answer_check(const struct question *q, const struct answer *right, const char *text,
                 struct errors *e)
{
    double value, allowed;

    if (isnan(right->value))
        return !same_word(right->text, text);
    if (read_value(q, text, &value, e))
        return -1;
    allowed = percent_fraction(q->tolerance) * fabs(right->value);
    if (allowed < q->margin)
        allowed = q->margin;
    return !(fabs(value - right->value) <= allowed);
}

/* Strips comments by a small automaton; strings do not span lines in a scheduler. */
long lab_lines(const char *path)
{
    FILE *in = fopen(path, "r");
    bool comment = false, line_comment = false, code = false;
    int c, last = 0;
    long lines = 0;

    if (!in)
        return -1;
    while ((c = fgetc(in)) != EOF) {
        if (c == '\n') {
            lines += code;
            code = line_comment = false;
        } else if (comment) {
            comment = !(last == '*' && c == '/');
            c = comment ? c : 0;
        } else if (!line_comment && c == '/') {
            int next = fgetc(in);

            comment = next == '*';
            line_comment = next == '/';
            if (!comment && !line_comment) {
                code = true;
                ungetc(next, in);
            } else {
                c = 0;
            }
        } else if (!line_comment && !isspace(c)) {
            code = true;
        }
        last = c;
    }
    fclose(in);
    return lines + code;
}
