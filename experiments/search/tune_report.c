/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a search has tried, and what came of it. */
#include "experiments/results/grid.h"
#include "experiments/results/results.h"
#include "experiments/search/tune_scenario.h"
#include "experiments/sweep/sweep_file.h"
#include "sim/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12 };

/* A figure of a candidate (0: the objective) over all its replications. */
static struct interval figure(const struct tuning *t, size_t candidate, size_t name)
{
    const struct candidate *c = &t->result.candidate[candidate];
    struct interval none = {.estimate = NAN, .low = NAN, .high = NAN, .none = INTERVAL_FEW_VALUES};

    if (!c->n || candidate >= t->settings || t->setting[candidate] < 0)
        return none;
    return trials_interval(&t->trials, (size_t)t->setting[candidate], name, c->n, t->trials.level);
}

/* By fate, then by objective: the order of the report. */
struct ranked {
    size_t candidate;
    enum candidate_fate fate;
    double objective;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->fate != y->fate)
        return x->fate == FATE_OUTSIDE   ? -1
               : y->fate == FATE_OUTSIDE ? 1
                                         : (int)x->fate - (int)y->fate;
    if (x->objective != y->objective)
        return x->objective < y->objective ? -1 : 1;
    return x->candidate < y->candidate ? -1 : 1;
}

static struct ranked *ranking(const struct tuning *t)
{
    struct ranked *list = xcalloc(t->result.candidates, sizeof *list);

    for (size_t i = 0; i < t->result.candidates; i++)
        list[i] = (struct ranked){i, t->result.candidate[i].fate, t->result.candidate[i].objective};
    qsort(list, t->result.candidates, sizeof *list, by_rank);
    return list;
}

static char *fate_text(const struct tuning *t, size_t candidate)
{
    const struct candidate *c = &t->result.candidate[candidate];

    if (c->fate == FATE_BREAKS)
        return xasprintf("breaks %s %s %s", t->bound[c->constraint].name,
                         t->bound[c->constraint].least ? ">=" : "<=", t->bound[c->constraint].text);
    return xstrdup(candidate_fate_name(c->fate));
}

static void put_row(const struct tuning *t, size_t candidate, struct grid *g, bool *starred)
{
    const struct candidate *c = &t->result.candidate[candidate];
    char *fate = fate_text(t, candidate);

    grid_row(g);
    grid_put(g, "%s%s", fate, t->starts_from_now && candidate == 0 ? ", as it is now" : "");
    free(fate);
    for (size_t i = 0; i < t->variables; i++) {
        char *value = over_value(&t->variable[i], c->x[i]);

        grid_put(g, "%s", value);
        free(value);
    }
    for (size_t i = 0; i < 1 + t->bounds; i++) {
        struct interval f = figure(t, candidate, i);
        char *text = figure_text(&f, starred);

        grid_put(g, "%s", text);
        free(text);
    }
    grid_put(g, "%u", c->n);
}

static void print_table(const struct tuning *t, const struct ranked *list, FILE *out)
{
    bool starred = false, now = false;
    struct grid g;

    grid_init(&g, 2 + t->variables + 1 + t->bounds);
    grid_row(&g);
    grid_put(&g, "setting");
    for (size_t i = 0; i < t->variables; i++)
        grid_put(&g, "%s", over_name(&t->variable[i]));
    grid_put(&g, "%s", t->objective);
    for (size_t i = 0; i < t->bounds; i++)
        grid_put(&g, "%s", t->bound[i].name);
    grid_put(&g, "replications");
    for (size_t i = 0; i < t->result.candidates && i < SHOWN; i++) {
        put_row(t, list[i].candidate, &g, &starred);
        now = now || list[i].candidate == 0;
    }
    if (t->starts_from_now && !now)
        put_row(t, 0, &g, &starred);
    grid_print(&g, out);
    grid_free(&g);
    if (starred)
        fputs("* no interval: too few replications, or too few observations in them\n", out);
}

static void print_head(const struct tuning *t, FILE *out)
{
    size_t close = 0, open = 0;

    for (size_t i = 0; i < t->result.candidates; i++) {
        close += t->result.candidate[i].fate == FATE_CLOSE;
        open += t->result.candidate[i].fate == FATE_OPEN;
    }
    fprintf(out, "%zu settings tried (%s), %llu of %llu replications, %zu race%s.\n",
            t->result.candidates, t->result.whole_space ? "all there are" : "sampled",
            (unsigned long long)t->result.spent, (unsigned long long)t->options.budget,
            t->result.races, t->result.races > 1 ? "s" : "");
    if (close)
        fprintf(
            out,
            "%zu other%s not significantly worse than the best (all decisions together: %g%%).\n",
            close, close > 1 ? "s are" : " is", t->options.alpha * 100);
    if (open)
        fprintf(
            out,
            "%zu look%s better, but whether all constraints are kept is open: a larger --budget "
            "would tell.\n",
            open, open > 1 ? "" : "s");
}

static void print_winner(const struct tuning *t, FILE *out)
{
    const struct candidate *w = &t->result.candidate[t->result.winner];
    char *command = trials_command(&t->trials, (size_t)t->setting[t->result.winner], w->n);

    if (w->fate == FATE_OUTSIDE)
        fputs("No setting was found that keeps the constraints; the first comes nearest.\n", out);
    else if (t->bounds && !w->feasible)
        fputs("Whether the best one keeps its constraints is likely, not certain.\n", out);
    fprintf(out, "%s\n", command);
    free(command);
}

static void print_failed(const struct tuning *t, FILE *out)
{
    const char *reason = NULL;
    size_t failed = 0;

    for (size_t i = 0; i < t->result.candidates; i++) {
        bool this = t->result.candidate[i].fate == FATE_FAILED;

        failed += this;
        if (this && !reason && i < t->settings)
            reason = t->reason[i];
    }
    if (failed)
        fprintf(out, "%zu failed; the first: %s\n", failed, reason ? reason : "no reason is known");
}

void tuning_print(struct tuning *t, FILE *out)
{
    struct ranked *list = ranking(t);

    print_head(t, out);
    if (t->result.winner == SIZE_MAX)
        fprintf(out, "All of them failed: %s\n",
                t->settings && t->reason[0] ? t->reason[0] : "no reason is known");
    else
        print_winner(t, out);
    if (t->result.winner != SIZE_MAX)
        print_failed(t, out);
    fputc('\n', out);
    print_table(t, list, out);
    if (t->result.candidates > SHOWN)
        fprintf(out, "... and %zu more; --out writes them all\n", t->result.candidates - SHOWN);
    free(list);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void put_candidate(const struct tuning *t, size_t candidate, struct json_writer *w)
{
    const struct candidate *c = &t->result.candidate[candidate];

    json_begin(w, NULL, '{');
    json_put_string(w, "fate", candidate_fate_name(c->fate));
    if (c->fate == FATE_BREAKS)
        json_put_string(w, "constraint", list_text(t->subject_to, c->constraint));
    if (c->fate == FATE_FAILED && candidate < t->settings && t->reason[candidate])
        json_put_string(w, "reason", t->reason[candidate]);
    json_begin_inline(w, "setting", '{');
    for (size_t i = 0; i < t->variables; i++) {
        char *value = over_value(&t->variable[i], c->x[i]);

        json_put_string(w, t->variable[i].pointer[0], value);
        free(value);
    }
    json_end(w);
    json_put_integer(w, "replications", c->n);
    json_begin(w, "figures", '[');
    for (size_t i = 0; i < 1 + t->bounds; i++) {
        struct interval f = figure(t, candidate, i);

        json_begin_inline(w, NULL, '{');
        json_put_string(w, "metric", t->name[i]);
        results_put_interval(w, &f);
        json_end(w);
    }
    json_end(w);
    json_end(w);
}

void tuning_json(struct tuning *t, FILE *out)
{
    struct json_writer w = json_writer(out, JSON_LINES);
    struct ranked *list = ranking(t);

    json_begin(&w, NULL, '{');
    results_put_versions(&w);
    json_put_string(&w, "scenario", t->scenario);
    json_put_string(&w, t->most ? "maximise" : "minimise", t->objective);
    json_begin(&w, "subject_to", '[');
    for (size_t i = 0; i < t->subject_to->count; i++)
        json_put_string(&w, NULL, list_text(t->subject_to, i));
    json_end(&w);
    json_put_integer(&w, "budget", (int64_t)t->options.budget);
    json_put_integer(&w, "replications", (int64_t)t->result.spent);
    json_put_boolean(&w, "whole_space", t->result.whole_space);
    json_begin(&w, "tried", '[');
    for (size_t i = 0; i < t->result.candidates; i++)
        put_candidate(t, list[i].candidate, &w);
    json_end(&w);
    json_end(&w);
    free(list);
}

static void write_json(const void *ctx, FILE *out)
{
    tuning_json((struct tuning *)(uintptr_t)ctx, out);
}

static void put_quoted(const char *text, FILE *out)
{
    bool quotes = strpbrk(text, ",\"\n") != NULL;

    fputs(quotes ? "\"" : "", out);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, 0}, out);
    fputs(quotes ? "\"" : "", out);
}

static void put_csv_row(const struct tuning *t, size_t candidate, FILE *out)
{
    const struct candidate *c = &t->result.candidate[candidate];
    char *fate = fate_text(t, candidate), number[NUMBER_TEXT];

    fprintf(out, "%zu,", candidate);
    put_quoted(fate, out);
    free(fate);
    for (size_t i = 0; i < t->variables; i++) {
        char *value = over_value(&t->variable[i], c->x[i]);

        fputc(',', out);
        put_quoted(value, out);
        free(value);
    }
    fprintf(out, ",%u", c->n);
    for (size_t i = 0; i < 1 + t->bounds; i++) {
        struct interval f = figure(t, candidate, i);
        const double x[] = {f.estimate, f.low, f.high};

        for (size_t k = 0; k < 3; k++)
            fprintf(out, ",%s", isnan(x[k]) ? "" : number_format(x[k], number));
    }
    fputc('\n', out);
}

static void write_csv(const void *ctx, FILE *out)
{
    const struct tuning *t = ctx;
    struct ranked *list = ranking(t);

    fputs("candidate,fate", out);
    for (size_t i = 0; i < t->variables; i++)
        fprintf(out, ",%s", over_name(&t->variable[i]));
    fputs(",replications", out);
    for (size_t i = 0; i < 1 + t->bounds; i++) {
        const struct setting *s = &t->trials.setting[0];
        const char *unit = s->figures.item[s->figure[i]].metric->unit;
        const char *parts[] = {"", "_low", "_high"};

        for (size_t k = 0; k < 3; k++)
            fprintf(out, ",%s%s%s%s", t->name[i], parts[k], *unit ? "_" : "",
                    *unit ? unit_in_header(unit) : "");
    }
    fputc('\n', out);
    for (size_t i = 0; i < t->result.candidates; i++)
        put_csv_row(t, list[i].candidate, out);
    free(list);
}

int tuning_write(struct tuning *t, const char *dir, struct errors *e)
{
    size_t before = e->count;

    if (output_directory(dir, e))
        return -1;
    results_file(dir, "tried.csv", write_csv, t, e);
    results_file(dir, "tune.json", write_json, t, e);
    return e->count > before ? -1 : 0;
}
