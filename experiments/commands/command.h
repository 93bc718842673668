/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands of the hvsim program as tables: a command is a row with its words for help, its options
 * and a function. Parsing, usage errors with the nearest name, `hvsim help CMD` and everything else
 * that describes commands (completion, man pages) are generated from these rows.
 *
 * An option is a row of a parameter table (sim/params.h) with the words of a command line beside
 * it: its value is checked as a scenario's would be, and read into the command's own struct.
 */
#ifndef HVSIM_COMMANDS_COMMAND_H
#define HVSIM_COMMANDS_COMMAND_H

#include "sim/error.h"
#include "sim/params.h"

#include <stddef.h>
#include <stdio.h>

/* --name[=VALUE], or -letter. BOOLEAN rows take no value, LIST rows (of strings) may be repeated.
 */
struct command_option {
    struct param param;
    char letter;       /* 0: none */
    const char *value; /* the word for the value in usage lines ("DIR") */
};

/* What is left of a command line once the options are read. */
struct operands {
    char **text;
    int count;
};

struct command {
    const char *name;      /* one word, or two: "sweep run" */
    const char *summary;   /* one line, no full stop */
    const char *arguments; /* "SCENARIO.json", "[NAME]", "" */
    int least, most;       /* operands it takes; most < 0: any number */
    const char *details;   /* paragraphs for help; may be NULL */
    const struct command_option *options;
    size_t option_count;
    size_t options_size; /* of the struct they are read into */
    /* Do it. Returns the exit code; errors go to `e` and decide if they are worse. */
    enum exit_code (*run)(const void *options, const struct operands *o, struct errors *e);
    /* A command that reads its command line itself and prints its own errors; NULL: none. */
    int (*raw)(int argc, char **argv);
};

/* All commands, in the order of help; NULL past the last. */
const struct command *command_nth(size_t i);
const struct command *command_by_name(const char *name);
const struct command *command_of_words(const char *first, const char *second);

/* Says so, with the nearest name; returns -1. */
int command_unknown(const char *name, struct errors *e);

/* The whole program: returns its exit code. The one place where errors are printed. */
int command_main(int argc, char **argv);

/* "Usage: ..." with operands and options; the list of commands. */
void command_help(const struct command *c, FILE *out);
/* That of all commands whose first of two words this is; false: there are none. */
bool command_group_help(const char *word, FILE *out);
void command_list(FILE *out);

#define OPTIONS_OF(rows, type)                                                                     \
    .options = (rows), .option_count = sizeof(rows) / sizeof *(rows), .options_size = sizeof(type)

#endif
