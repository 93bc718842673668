/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/commands/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_HELP = 256, CODE_OPTION, WIDTH = 96, COLUMN = 30 };

/* ---- finding ----------------------------------------------------------------------------------*/

const struct command *command_by_name(const char *name)
{
    const struct command *c;

    for (size_t i = 0; (c = command_nth(i)); i++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

const struct command *command_of_words(const char *first, const char *second)
{
    char *name = xasprintf("%s %s", first, second);
    const struct command *c = command_by_name(name);

    free(name);
    return c;
}

/* Is the command's name of two words, of which this is the first? */
static bool command_is_under(const struct command *c, const char *word)
{
    size_t n = strlen(word);

    return !strncmp(c->name, word, n) && c->name[n] == ' ';
}

/* "sweep plan, sweep run": all commands whose first word this is; NULL if there are none. */
static char *commands_under(const char *word)
{
    const struct command *c;
    char *list = NULL;

    for (size_t i = 0; (c = command_nth(i)); i++) {
        char *longer;

        if (!command_is_under(c, word))
            continue;
        longer = xasprintf("%s%s%s", list ? list : "", list ? ", " : "", c->name);
        free(list);
        list = longer;
    }
    return list;
}

int command_unknown(const char *name, struct errors *e)
{
    const struct command *c;
    const char **names, *nearest;
    size_t count = 0;
    char *under = commands_under(name);

    if (under) {
        error_add(e, EXIT_INPUT, "hvsim %s: say what is to be done: %s", name, under);
        free(under);
        return -1;
    }

    while (command_nth(count))
        count++;
    names = xcalloc(count, sizeof *names);
    for (size_t i = 0; (c = command_nth(i)); i++)
        names[i] = c->name;
    nearest = nearest_name(name, names, count);
    free(names);
    if (nearest)
        return error_add(e, EXIT_INPUT, "no command \"%s\": did you mean \"%s\"?", name, nearest);
    return error_add(e, EXIT_INPUT, "no command \"%s\"; `hvsim help` lists them", name);
}

/* ---- help -------------------------------------------------------------------------------------*/

/* Words of `text`, broken at WIDTH; lines after the first are indented. Newlines are kept. */
static void put_wrapped(const char *text, int indent, int at, FILE *out)
{
    bool space = false; /* owed before the next word */

    while (*text) {
        int length = (int)strcspn(text, " \n");

        if (at + space + length > WIDTH && at > indent) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
            space = false;
        }
        fprintf(out, "%s%.*s", space ? " " : "", length, text);
        at += space + length;
        text += length;
        space = *text == ' ';
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] == '\n' ? 0 : indent, "");
            at = indent;
        }
        text += *text != 0;
    }
    fputc('\n', out);
}

static void put_option(const struct command_option *o, FILE *out)
{
    char *name = xasprintf("  %c%c%s --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
                           o->letter ? "," : " ", o->param.name, o->value ? " " : "",
                           o->value ? o->value : "");
    char *meaning = xasprintf("%s%s%s%s", o->param.meaning, o->param.def ? " (default: " : "",
                              o->param.def ? o->param.def : "", o->param.def ? ")" : "");

    if ((int)strlen(name) < COLUMN)
        fprintf(out, "%-*s", COLUMN, name);
    else
        fprintf(out, "%s\n%*s", name, COLUMN, "");
    put_wrapped(meaning, COLUMN, COLUMN, out);
    free(meaning);
    free(name);
}

void command_help(const struct command *c, FILE *out)
{
    fprintf(out, "Usage: hvsim %s%s%s%s\n\n%s.\n", c->name, c->option_count ? " [OPTION]..." : "",
            *c->arguments ? " " : "", c->arguments, c->summary);
    if (c->details) {
        fputc('\n', out);
        put_wrapped(c->details, 0, 0, out);
    }
    if (c->raw) {
        fflush(out);
        printf("\n`hvsim %s --help` tells its options.\n", c->name);
        return;
    }
    fputs("\nOptions:\n", out);
    for (size_t i = 0; i < c->option_count; i++)
        put_option(&c->options[i], out);
    fprintf(out, "%-*sThis text.\n", COLUMN, "  -h, --help");
}

bool command_group_help(const char *word, FILE *out)
{
    const struct command *c;
    bool any = false;

    for (size_t i = 0; (c = command_nth(i)); i++) {
        if (!command_is_under(c, word))
            continue;
        if (any)
            fputc('\n', out);
        command_help(c, out);
        any = true;
    }
    return any;
}

void command_list(FILE *out)
{
    const struct command *c;

    fputs("hvsim simulates hypervisor CPU scheduling and what it does to the services in the "
          "guests.\n\nUsage: hvsim COMMAND [OPTION]... [ARGUMENT]...\n\n",
          out);
    for (size_t i = 0; (c = command_nth(i)); i++)
        fprintf(out, "  %-12s %s\n", c->name, c->summary);
    fputs("\n`hvsim help COMMAND` tells more about each.\n"
          "Exit status: 0 done, 1 a check fell short, 2 wrong usage or input, 3 internal error,\n"
          "130 interrupted (results so far are kept and marked as partial).\n",
          out);
}

/* ---- options ----------------------------------------------------------------------------------*/

/* What getopt_long wants. Codes of long options are CODE_OPTION + index, so that they differ from
 * any letter. */
struct parser {
    const struct command *command;
    struct option *long_option;
    char *letters;
};

static void parser_init(struct parser *p, const struct command *c)
{
    size_t n = 0;

    p->command = c;
    p->long_option = xcalloc(c->option_count + 2, sizeof *p->long_option);
    p->letters = xcalloc(2 * c->option_count + 3, 1);
    p->letters[n++] = ':'; /* getopt: tell a missing value apart */
    p->letters[n++] = 'h';
    for (size_t i = 0; i < c->option_count; i++) {
        const struct command_option *o = &c->options[i];

        p->long_option[i] =
            (struct option){o->param.name, o->value != NULL, NULL, CODE_OPTION + (int)i};
        if (o->letter)
            p->letters[n++] = o->letter;
        if (o->letter && o->value)
            p->letters[n++] = ':';
    }
    p->long_option[c->option_count] = (struct option){"help", 0, NULL, CODE_HELP};
}

static void parser_free(struct parser *p)
{
    free(p->long_option);
    free(p->letters);
}

static const struct command_option *option_of(const struct command *c, int code)
{
    if (code >= CODE_OPTION)
        return &c->options[code - CODE_OPTION];
    for (size_t i = 0; i < c->option_count; i++)
        if (c->options[i].letter == code)
            return &c->options[i];
    return NULL;
}

static int unknown_option(const struct command *c, const char *found, struct errors *e)
{
    const char **names = xcalloc(c->option_count + 1, sizeof *names), *nearest;
    char *name = xstrdup(found + strspn(found, "-"));

    name[strcspn(name, "=")] = 0;
    for (size_t i = 0; i < c->option_count; i++)
        names[i] = c->options[i].param.name;
    names[c->option_count] = "help";
    nearest = nearest_name(name, names, c->option_count + 1);
    if (nearest)
        error_add(e, EXIT_INPUT, "hvsim %s: no option \"%s\": did you mean \"--%s\"?", c->name,
                  found, nearest);
    else
        error_add(e, EXIT_INPUT, "hvsim %s: no option \"%s\"; `hvsim help %s` lists them", c->name,
                  found, c->name);
    free(name);
    free(names);
    return -1;
}

/* '?' and ':' of getopt: a letter or word it does not know, a value too many or too few. */
static int refused(const struct command *c, int answer, char **argv, struct errors *e)
{
    const struct command_option *o = optopt ? option_of(c, optopt) : NULL;
    char letter[3] = {'-', (char)optopt, 0};

    if (answer == ':' && o)
        return error_add(e, EXIT_INPUT, "hvsim %s: --%s needs a value: --%s %s", c->name,
                         o->param.name, o->param.name, o->value);
    if (optopt == CODE_HELP || (o && optopt >= CODE_OPTION))
        return error_add(e, EXIT_INPUT, "hvsim %s: \"%s\": this option takes no value", c->name,
                         argv[optind - 1]);
    return unknown_option(c, optopt ? letter : argv[optind - 1], e);
}

static void append(struct param_list *list, const char *text)
{
    char **item = xrealloc(list->item, (list->count + 1) * sizeof *item);

    item[list->count++] = xstrdup(text);
    list->item = item;
}

static int read_option(const struct command *c, const struct command_option *o, const char *text,
                       void *options, struct errors *e)
{
    void *field = (char *)options + o->param.offset;
    char why[QUANTITY_WHY];

    if (o->param.kind == PARAM_LIST) {
        append(field, text);
        return 0;
    }
    if (o->param.kind == PARAM_STRING)
        free(*(char **)field); /* the last one counts */
    if (!param_parse(&o->param, o->value ? text : "true", field, why))
        return 0;
    return error_add(e, EXIT_INPUT, "hvsim %s: --%s %s: %s", c->name, o->param.name, text, why);
}

static void read_defaults(const struct command *c, void *options)
{
    char why[QUANTITY_WHY];

    for (size_t i = 0; i < c->option_count; i++) {
        const struct param *p = &c->options[i].param;

        if (p->def && param_parse(p, p->def, (char *)options + p->offset, why))
            BUG("default of --%s: %s", p->name, why);
    }
}

static void options_free(const struct command *c, void *options)
{
    for (size_t i = 0; i < c->option_count; i++) {
        const struct param *p = &c->options[i].param;
        void *field = (char *)options + p->offset;
        struct param_list *list = field;

        if (p->kind == PARAM_STRING)
            free(*(char **)field);
        if (p->kind != PARAM_LIST)
            continue;
        for (size_t k = 0; k < list->count; k++)
            free(((char **)list->item)[k]);
        free(list->item);
    }
    free(options);
}

/* Returns 1 when help was asked for. */
static int read_options(const struct parser *p, int argc, char **argv, void *options,
                        struct errors *e)
{
    int code, status = 0;

    opterr = 0;
    optind = 0; /* GNU: begin anew */
    while ((code = getopt_long(argc, argv, p->letters, p->long_option, NULL)) != -1) {
        const struct command_option *o = option_of(p->command, code);

        if (code == CODE_HELP || (code == 'h' && !o))
            return 1;
        if (code == '?' || code == ':')
            status = refused(p->command, code, argv, e);
        else if (read_option(p->command, o, optarg, options, e))
            status = -1;
    }
    return status;
}

static int check_operands(const struct command *c, int count, char **text, struct errors *e)
{
    if (count < c->least)
        return error_add(e, EXIT_INPUT, "hvsim %s: %s is missing; usage: hvsim %s %s", c->name,
                         c->arguments, c->name, c->arguments);
    if (c->most >= 0 && count > c->most)
        return error_add(e, EXIT_INPUT, "hvsim %s: \"%s\" is too much; usage: hvsim %s %s", c->name,
                         text[c->most], c->name, c->arguments);
    return 0;
}

static enum exit_code run_command(const struct command *c, int argc, char **argv, struct errors *e)
{
    void *options = xcalloc(1, c->options_size + 1);
    enum exit_code code = EXIT_INPUT;
    struct parser p;
    int status;

    parser_init(&p, c);
    read_defaults(c, options);
    status = read_options(&p, argc, argv, options, e);
    if (status > 0) {
        command_help(c, stdout);
        code = EXIT_OK;
    } else if (!status && !check_operands(c, argc - optind, argv + optind, e)) {
        struct operands o = {argv + optind, argc - optind};

        code = c->run(options, &o, e);
    }
    parser_free(&p);
    options_free(c, options);
    return code;
}

/* ---- the program ------------------------------------------------------------------------------*/

static void print_errors(const struct errors *e)
{
    for (size_t i = 0; i < e->count; i++)
        fprintf(stderr, "%s%s\n", e->item[i].code == EXIT_INTERNAL ? "hvsim: " : "",
                e->item[i].text);
}

/* What stdout has taken must have reached its end: a full disk or a closed pipe is an error. */
static void check_output(struct errors *e)
{
    if (fflush(stdout) || ferror(stdout))
        error_add(e, EXIT_INTERNAL, "writing to standard output failed");
}

static enum exit_code dispatch(int argc, char **argv, struct errors *e)
{
    static const struct {
        const char *flag, *command;
    } flags[] = {{"--version", "version"}, {"-V", "version"}, {"--help", "help"}, {"-h", "help"}};
    const struct command *c;

    if (argc < 2) {
        command_list(stderr);
        return EXIT_INPUT;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(argv[1], flags[i].flag))
            argv[1] = (char *)flags[i].command;
    c = argc > 2 ? command_of_words(argv[1], argv[2]) : NULL;
    if (c) {
        argc--;
        argv++;
    } else {
        c = command_by_name(argv[1]);
    }
    if (!c && argc == 3 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")) &&
        command_group_help(argv[1], stdout))
        return EXIT_OK;
    if (!c) {
        command_unknown(argv[1], e);
        return EXIT_INPUT;
    }
    if (c->raw)
        return (enum exit_code)c->raw(argc - 1, argv + 1);
    return run_command(c, argc - 1, argv + 1, e);
}

int command_main(int argc, char **argv)
{
    struct errors e = ERRORS_NONE;
    enum exit_code code = dispatch(argc, argv, &e), worst;

    check_output(&e);
    print_errors(&e);
    worst = errors_exit_code(&e);
    errors_free(&e);
    return worst > code || worst == EXIT_INTERNAL ? (int)worst : (int)code;
}
