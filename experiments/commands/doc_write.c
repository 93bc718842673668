/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/commands/command.h"
#include "experiments/commands/doc.h"
#include "experiments/results/results.h"
#include "experiments/scenario/scenario.h"
#include "experiments/study/metrics.h"
#include "experiments/sweep/sweep_file.h"
#include "models/schedulers/scheduler.h"
#include "sim/output.h"

#include <stdlib.h>
#include <string.h>

/* "sweep run" as "sweep-run"; caller frees. */
static char *hyphenated(const char *name)
{
    char *text = xstrdup(name);

    for (char *c = text; *c; c++)
        if (*c == ' ')
            *c = '-';
    return text;
}

/* ---- man pages, for scdoc -------------------------------------------------------------------- */

/* A text in which nothing is markup. */
static void put_plain(const char *text, size_t length, FILE *out)
{
    for (size_t i = 0; i < length; i++) {
        if (strchr("\\_*#<>`.|[]-", text[i]))
            fputc('\\', out);
        fputc(text[i], out);
    }
}

static void put_as_it_is(const char *text, size_t length, FILE *out)
{
    fwrite(text, 1, length, out);
}

/* Paragraphs, their lines by `put_line`; lines that begin with four blanks become a block. */
static void put_paragraphs(const char *text,
                           void (*put_line)(const char *text, size_t length, FILE *out), FILE *out)
{
    bool literal = false;

    while (*text) {
        size_t length = strcspn(text, "\n");
        bool code = !strncmp(text, "    ", 4);

        if (code != literal)
            fputs(code ? "\n```\n" : "```\n\n", out);
        literal = code;
        if (code)
            put_as_it_is(text + 4, length - 4, out);
        else
            put_line(text, length, out);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
    if (literal)
        fputs("```\n", out);
}

static void put_man_option(const struct command_option *o, FILE *out)
{
    fputc('\n', out);
    if (o->letter)
        fprintf(out, "*-%c*, ", o->letter);
    fprintf(out, "*--%s*", o->param.name);
    if (o->value) {
        fputc(' ', out);
        put_plain(o->value, strlen(o->value), out);
    }
    fputs("\n\t", out);
    put_plain(o->param.meaning, strlen(o->param.meaning), out);
    if (o->param.def) {
        fputs(" Default: ", out);
        put_plain(o->param.def, strlen(o->param.def), out);
        fputc('.', out);
    }
    fputc('\n', out);
}

static void put_exit_status(FILE *out)
{
    fputs("\n# EXIT STATUS\n\n"
          "0: done. 1: a check fell short. 2: wrong usage or input. 3: internal error. 130: "
          "interrupted; results so far are kept and marked as partial.\n",
          out);
}

static void write_man(const void *ctx, FILE *out)
{
    const struct command *c = ctx;
    char *name = hyphenated(c->name);

    fprintf(out, "hvsim-%s(1)\n\n# NAME\n\nhvsim-%s - ", name, name);
    put_plain(c->summary, strlen(c->summary), out);
    fprintf(out, "\n\n# SYNOPSIS\n\n*hvsim %s*%s", c->name, c->option_count ? " [OPTION...]" : "");
    if (*c->arguments) {
        fputc(' ', out);
        put_plain(c->arguments, strlen(c->arguments), out);
    }
    fputc('\n', out);
    if (c->details) {
        fputs("\n# DESCRIPTION\n\n", out);
        put_paragraphs(c->details, put_plain, out);
    }
    fputs("\n# OPTIONS\n", out);
    for (size_t i = 0; i < c->option_count; i++)
        put_man_option(&c->options[i], out);
    fputs("\n*-h*, *--help*\n\tTell what the command does.\n", out);
    put_exit_status(out);
    fputs("\n# SEE ALSO\n\n*hvsim*(1); *hvsim doc* shows the manual.\n", out);
    free(name);
}

static void write_man_of_all(const void *ctx, FILE *out)
{
    const struct command *c;

    (void)ctx;
    fputs("hvsim(1)\n\n# NAME\n\nhvsim - simulate hypervisor CPU scheduling and what it does to "
          "services\n\n# SYNOPSIS\n\n*hvsim* COMMAND [OPTION...] [ARGUMENT...]\n\n"
          "# DESCRIPTION\n\n"
          "hvsim simulates the CPU schedulers of Xen and others, the guests and the network around "
          "them, and replicated controllers in them. A scenario is a file in JSON; *hvsim schema* "
          "describes it. Each command has a page of its own.\n\n# COMMANDS\n",
          out);
    for (size_t i = 0; (c = command_nth(i)); i++) {
        char *name = hyphenated(c->name);

        fprintf(out, "\n*hvsim-%s*(1)\n\t", name);
        put_plain(c->summary, strlen(c->summary), out);
        fputs(".\n", out);
        free(name);
    }
    put_exit_status(out);
    fputs("\n# ENVIRONMENT\n\n*HVSIM_DATA*\n\tA directory in which the library of scenarios and "
          "reference data are looked for first.\n",
          out);
}

/* ---- reference pages ------------------------------------------------------------------------- */

static const char generated[] = "<!-- Written by `hvsim doc --write`, from the program's tables. "
                                "Do not edit. -->\n\n";

/* In a cell of a table. */
static void put_cell(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void put_command(const struct command *c, FILE *out)
{
    fprintf(out, "\n## hvsim %s\n\n%s.\n\n```\nhvsim %s%s%s%s\n```\n", c->name, c->summary, c->name,
            c->option_count ? " [OPTION]..." : "", *c->arguments ? " " : "", c->arguments);
    if (c->details) {
        fputc('\n', out);
        put_paragraphs(c->details, put_as_it_is, out);
    }
    if (!c->option_count)
        return;
    fputs("\n| option | meaning | default |\n|---|---|---|\n", out);
    for (size_t i = 0; i < c->option_count; i++) {
        const struct command_option *o = &c->options[i];

        fputs("| ", out);
        if (o->letter)
            fprintf(out, "`-%c`, ", o->letter);
        fprintf(out, "`--%s%s", o->param.name, o->value ? " " : "");
        put_cell(o->value ? o->value : "", out);
        fputs("` | ", out);
        put_cell(o->param.meaning, out);
        fputs(" | ", out);
        put_cell(o->param.def ? o->param.def : "", out);
        fputs(" |\n", out);
    }
}

static void write_commands(const void *ctx, FILE *out)
{
    const struct command *c;

    (void)ctx;
    fprintf(out,
            "%s# Commands\n\nAll take `--help`. Exit status: 0 done, 1 a check fell short, 2 "
            "wrong usage or input, 3 internal error, 130 interrupted.\n",
            generated);
    for (size_t i = 0; (c = command_nth(i)); i++)
        put_command(c, out);
}

static void put_parameters(const char *heading, const struct param_table *t, FILE *out)
{
    if (!t || !t->count)
        return;
    fprintf(out, "\n%s\n\n", heading);
    params_markdown(t, out);
}

static void write_schedulers(const void *ctx, FILE *out)
{
    const struct sched_ops *s;

    (void)ctx;
    fprintf(out,
            "%s# Schedulers\n\nWhat they do is told in [models/](../models/); these are their "
            "parameters: `\"scheduler\": {\"type\": NAME, ...}` of a host or pool, \"set\" of a "
            "vCPU or domain.\n",
            generated);
    for (size_t i = 0; (s = scheduler_nth(i)); i++) {
        fprintf(out, "\n## %s\n\n%s\n", s->name, s->title);
        put_parameters("Of the scheduler:", s->params, out);
        put_parameters("Of a domain:", s->domain_params, out);
        put_parameters("Of a vCPU:", s->vcpu_params, out);
        if (s->rules && s->rules->name)
            fputs("\nRules that `hvsim explain --without` can switch off:\n\n", out);
        for (const struct sched_rule *r = s->rules; r && r->name; r++)
            fprintf(out, "* `%s`: %s\n", r->name, r->meaning);
    }
}

static void write_workloads(const void *ctx, FILE *out)
{
    const struct param_choice *c;

    (void)ctx;
    fprintf(out,
            "%s# Programs of guests\n\n`\"programs\": [ { \"run\": {\"type\": NAME, ...} } ]` "
            "of a domain.\n",
            generated);
    for (size_t i = 0; (c = program_choices.nth(i)); i++) {
        fprintf(out, "\n## %s\n\n%s\n", c->name, c->meaning ? c->meaning : "");
        put_parameters("Parameters:", c->table, out);
    }
}

static void write_scenario(const void *ctx, FILE *out)
{
    (void)ctx;
    fprintf(out,
            "%s# Scenario files\n\n`/-/` stands for the number of an element. Every object "
            "may hold a \"comment\". `hvsim schema` gives the same as a JSON Schema, for "
            "editors. Defaults that are only assumed are varied by `hvsim sensitivity`: over "
            "the range stated (\"may be\"), else from half to double.\n\n",
            generated);
    params_markdown(scenario_format.table, out);
}

static void write_sweep(const void *ctx, FILE *out)
{
    (void)ctx;
    fprintf(out, "%s# Sweep files\n\n", generated);
    params_markdown(sweep_format.table, out);
}

static void write_metrics(const void *ctx, FILE *out)
{
    (void)ctx;
    fprintf(out,
            "%s# Metrics\n\nWhat results hold, of whom, in which unit.\n\n"
            "| metric | unit | of | meaning |\n|---|---|---|---|\n",
            generated);
    for (size_t i = 0; i < metric_count; i++) {
        const struct metric *m = &metrics[i];
        bool some = false;

        fprintf(out, "| `%s` | %s | ", m->name, m->unit);
        for (int k = 0; k < SUBJECT_KINDS; k++)
            if (m->subjects >> k & 1) {
                fprintf(out, "%s%s", some ? ", " : "", subject_kind_names[k]);
                some = true;
            }
        fprintf(out, " | %s |\n", m->meaning);
    }
    fputs("\nThe parts of a request's latency (`breakdown.csv`, and `breakdown_ms` of "
          "results.json):\n\n| part | meaning |\n|---|---|\n",
          out);
    for (int p = 0; p < PARTS; p++)
        fprintf(out, "| %s | %s |\n", part_names[p].name, part_names[p].meaning);
}

/* ---- completion ------------------------------------------------------------------------------ */

/* What a value looks like, for compgen. */
static const char *kind_of_value(const struct command_option *o)
{
    if (!o->value)
        return NULL;
    if (strstr(o->value, "DIR"))
        return "-d";
    return strstr(o->value, "FILE") ? "-f" : "";
}

static void put_completion(const struct command *c, FILE *out)
{
    fprintf(out, "    '%s')\n        options='--help", c->name);
    for (size_t i = 0; i < c->option_count; i++)
        fprintf(out, " --%s", c->options[i].param.name);
    fputs("'\n        case $last in\n", out);
    for (size_t i = 0; i < c->option_count; i++) {
        const struct command_option *o = &c->options[i];

        if (!o->value)
            continue;
        fprintf(out, "        --%s", o->param.name);
        if (o->letter)
            fprintf(out, " | -%c", o->letter);
        if (o->param.kind == PARAM_ENUM) {
            fputs(") words='", out);
            for (const char *const *n = o->param.names; *n; n++)
                fprintf(out, "%s%s", n == o->param.names ? "" : " ", *n);
            fputs("' how=-W ;;\n", out);
        } else {
            fprintf(out, ") how='%s' value=1 ;;\n", kind_of_value(o));
        }
    }
    fputs("        esac\n        ;;\n", out);
}

static void put_words(const char *variable, FILE *out)
{
    const struct command *c;

    fprintf(out, "    %s='", variable);
    for (size_t i = 0; (c = command_nth(i)); i++) {
        size_t n = strcspn(c->name, " ");
        const struct command *before = i ? command_nth(i - 1) : NULL;

        if (before && !strncmp(before->name, c->name, n) && strchr(c->name, ' ') &&
            before->name[n] == ' ')
            continue; /* its first word is there */
        fprintf(out, "%s%.*s", i ? " " : "", (int)n, c->name);
    }
    fputs("'\n", out);
}

static void put_second_words(FILE *out)
{
    const struct command *c;

    for (size_t i = 0; (c = command_nth(i)); i++) {
        const char *blank = strchr(c->name, ' ');

        if (blank)
            fprintf(out, "        [ \"$first\" = %.*s ] && second+=' %s'\n", (int)(blank - c->name),
                    c->name, blank + 1);
    }
}

static void write_completion(const void *ctx, FILE *out)
{
    const struct command *c;

    (void)ctx;
    fputs("# SPDX-License-Identifier: GPL-3.0-or-later\n"
          "# bash completion of hvsim; written by `hvsim doc --write`.\n"
          "# shellcheck shell=bash\n\n"
          "_hvsim() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local first=${COMP_WORDS[1]:-} command=${COMP_WORDS[1]:-} options='' words='' "
          "second='' how='' value=\n    local commands\n",
          out);
    put_words("commands", out);
    fputs("    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\")\n"
          "        return\n"
          "    fi\n",
          out);
    put_second_words(out);
    fputs("    if [ -n \"$second\" ]; then\n"
          "        if [ \"$COMP_CWORD\" = 2 ]; then\n"
          "            mapfile -t COMPREPLY < <(compgen -W \"$second\" -- \"$word\")\n"
          "            return\n"
          "        fi\n"
          "        command=\"$first ${COMP_WORDS[2]}\"\n"
          "    fi\n"
          "    case $command in\n",
          out);
    for (size_t i = 0; (c = command_nth(i)); i++)
        put_completion(c, out);
    fputs("    esac\n"
          "    case $first in\n"
          "    schedulers | workloads) [ -n \"$value\" ] || words=$(hvsim \"$first\" 2>/dev/null | "
          "sed -n 's/^\\([a-z0-9_]\\{1,\\}\\)  .*/\\1/p') ;;\n"
          "    help) words=$commands ;;\n"
          "    esac\n"
          "    if [ \"${word:0:1}\" = - ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
          "    elif [ -n \"$words\" ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
          "    elif [ \"$how\" = -d ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -d -- \"$word\")\n"
          "    elif [ -z \"$value\" ] || [ \"$how\" = -f ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
          "    fi\n"
          "}\n"
          "complete -o filenames -F _hvsim hvsim\n",
          out);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static char *part(const char *dir, const char *name, struct errors *e)
{
    char *path = output_path(dir, name);

    output_directory(path, e);
    return path;
}

int doc_write(const char *dir, struct errors *e)
{
    static const struct {
        const char *name;
        results_fn *write;
    } pages[] = {{"commands.md", write_commands},   {"schedulers.md", write_schedulers},
                 {"workloads.md", write_workloads}, {"scenario.md", write_scenario},
                 {"sweep.md", write_sweep},         {"metrics.md", write_metrics}};
    char *man = part(dir, "man", e), *reference = part(dir, "reference", e);
    char *completion = part(dir, "completion", e);
    const struct command *c;

    for (size_t i = 0; !e->count && (c = command_nth(i)); i++) {
        char *name = hyphenated(c->name), *file = xasprintf("hvsim-%s.1.scd", name);

        results_file(man, file, write_man, c, e);
        free(file);
        free(name);
    }
    if (!e->count) {
        results_file(man, "hvsim.1.scd", write_man_of_all, NULL, e);
        results_file(completion, "hvsim", write_completion, NULL, e);
    }
    for (size_t i = 0; !e->count && i < sizeof pages / sizeof *pages; i++)
        results_file(reference, pages[i].name, pages[i].write, NULL, e);
    free(man);
    free(reference);
    free(completion);
    return e->count ? -1 : 0;
}
