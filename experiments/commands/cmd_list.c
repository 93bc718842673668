/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim schedulers, workloads, schema, version, help: what the tables say. Nothing here starts
 * SimGrid. */
#include "experiments/commands/commands.h"
#include "experiments/scenario/scenario.h"
#include "models/schedulers/scheduler.h"
#include "sim/simgrid.h"
#include "sim/version.h"

#include <stdlib.h>
#include <string.h>

struct no_options {
    bool markdown;
};

static const struct command_option markdown_row[] = {
    {.param = {PARAM("markdown", BOOLEAN, struct no_options, markdown),
               .meaning = "Write a page in Markdown."}},
};

/* ---- tables of parameters
 * ------------------------------------------------------------------------ */

static void show_table(const char *heading, const struct param_table *t, bool markdown)
{
    if (!t)
        return;
    printf(markdown ? "\n### %s\n\n" : "\n%s:\n", heading);
    (markdown ? params_markdown : params_help)(t, stdout);
}

/* Of a choice: what it is, and its parameters. */
static void show_choice(const struct param_choice *c, bool markdown)
{
    printf(markdown ? "## %s\n\n%s\n" : "%s: %s\n", c->name, c->meaning ? c->meaning : "");
    if (!c->table || !c->table->count)
        puts(markdown ? "\nIt has no parameters." : "It has no parameters.");
    else
        show_table("Parameters", c->table, markdown);
}

static int unknown(const char *kind, const char *name, const struct param_choices *choices,
                   struct errors *e)
{
    const struct param_choice *c;
    const char *names[64], *nearest;
    size_t count = 0;

    for (; count < 64 && (c = choices->nth(count)); count++)
        names[count] = c->name;
    nearest = nearest_name(name, names, count);
    if (nearest)
        return error_add(e, EXIT_INPUT, "no %s \"%s\": did you mean \"%s\"?", kind, name, nearest);
    return error_add(e, EXIT_INPUT, "no %s \"%s\"; `hvsim %ss` lists them", kind, name, kind);
}

static const struct param_choice *find(const struct param_choices *choices, const char *name)
{
    const struct param_choice *c;

    for (size_t i = 0; (c = choices->nth(i)); i++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

/* All by one line each, all in full (Markdown), or one. */
static enum exit_code show(const char *kind, const struct param_choices *choices,
                           const struct operands *o, bool markdown, struct errors *e)
{
    const struct param_choice *c;

    if (o->count) {
        c = find(choices, o->text[0]);
        if (!c) {
            unknown(kind, o->text[0], choices, e);
            return EXIT_INPUT;
        }
        show_choice(c, markdown);
        return EXIT_OK;
    }
    for (size_t i = 0; (c = choices->nth(i)); i++) {
        if (markdown)
            show_choice(c, true);
        else
            printf("%-12s %s\n", c->name, c->meaning ? c->meaning : "");
    }
    if (!markdown)
        printf("\n`hvsim %ss NAME` tells the parameters of one.\n", kind);
    return EXIT_OK;
}

static enum exit_code schedulers(const void *options, const struct operands *o, struct errors *e)
{
    bool markdown = ((const struct no_options *)options)->markdown;
    enum exit_code code = show("scheduler", &scheduler_choices, o, markdown, e);

    if (code == EXIT_OK && o->count) {
        const struct sched_ops *ops = find(&scheduler_choices, o->text[0])->user;

        show_table("Parameters of a vCPU", ops->vcpu_params, markdown);
        show_table("Parameters of a domain", ops->domain_params, markdown);
    }
    return code;
}

const struct command command_schedulers = {
    .name = "schedulers",
    .summary = "List the schedulers, or tell the parameters of one",
    .arguments = "[NAME]",
    .most = 1,
    OPTIONS_OF(markdown_row, struct no_options),
    .run = schedulers,
};

static enum exit_code workloads(const void *options, const struct operands *o, struct errors *e)
{
    return show("workload", &program_choices, o, ((const struct no_options *)options)->markdown, e);
}

const struct command command_workloads = {
    .name = "workloads",
    .summary = "List the programs that can run in guests, or tell the parameters of one",
    .arguments = "[NAME]",
    .most = 1,
    OPTIONS_OF(markdown_row, struct no_options),
    .run = workloads,
};

/* ---- schema
 * -------------------------------------------------------------------------------------- */

static enum exit_code schema(const void *options, const struct operands *o, struct errors *e)
{
    struct json_writer w = json_writer(stdout, JSON_LINES);

    (void)o;
    (void)e;
    if (((const struct no_options *)options)->markdown)
        params_markdown(scenario_format.table, stdout);
    else
        config_schema(&scenario_format, &w);
    return EXIT_OK;
}

const struct command command_schema = {
    .name = "schema",
    .summary = "Print the JSON Schema of scenario files",
    .arguments = "",
    OPTIONS_OF(markdown_row, struct no_options),
    .run = schema,
};

/* ---- version and help
 * ---------------------------------------------------------------------------- */

static enum exit_code version(const void *options, const struct operands *o, struct errors *e)
{
    (void)options;
    (void)o;
    (void)e;
    printf("hvsim %s, SimGrid %s\n", hvsim_version, platform_version());
    return EXIT_OK;
}

const struct command command_version = {
    .name = "version",
    .summary = "Print the versions of hvsim and SimGrid",
    .arguments = "",
    .run = version,
};

static enum exit_code help(const void *options, const struct operands *o, struct errors *e)
{
    const struct command *c = NULL;

    (void)options;
    if (o->count > 1)
        c = command_of_words(o->text[0], o->text[1]);
    if (o->count && !c) /* a second word may be an operand: "validate schedules" */
        c = command_by_name(o->text[0]);
    if (!o->count)
        command_list(stdout);
    else if (c)
        command_help(c, stdout);
    else if (o->count > 1 || !command_group_help(o->text[0], stdout))
        command_unknown(o->text[0], e);
    return e->count ? EXIT_INPUT : EXIT_OK;
}

const struct command command_help_of = {
    .name = "help",
    .summary = "Tell what the commands do, or more about one",
    .arguments = "[COMMAND]",
    .most = 2,
    .run = help,
};
