/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parameter tables: what a JSON object may hold, said once.
 *
 * A table describes the members of one object and the C struct they are read into. From it come the
 * reading with all checks, the resolved JSON, JSON Schema, help text and documentation, so that
 * none of them can disagree.
 *
 *     struct web { sim_time think; int64_t threads; int size_law; struct param_list names; };
 *
 *     static const struct param web_rows[] = {
 *         {PARAM("think", DURATION, struct web, think), .def = "10ms", .min = "0",
 *          .meaning = "Pause of a user between two requests.", .status = STATUS_ASSUMED},
 *         {PARAM("threads", INTEGER, struct web, threads), .def = "4", .min = "1", .max = "1024",
 *          .meaning = "Worker threads.", .source = "nginx.conf, worker_processes",
 *          .status = STATUS_CITED},
 *     };
 *     const struct param_table web_table = PARAM_TABLE("web", struct web, web_rows,
 *                                                      .meaning = "A web server.");
 *
 * Kinds and the C type of the field they are read into:
 *
 *     DURATION SIZE BITRATE RATE PERCENT  int64_t in the base unit of sim/units.h
 *     INTEGER   int64_t, or int (the limits of the type are then checked too)
 *     NUMBER    double
 *     BOOLEAN   bool
 *     ENUM      int: index in `names` (a NULL-terminated array)
 *     STRING    char *, any text
 *     NAME      char *: letters, digits, "_", "-", ".", ":", at most 64 characters; `refers` says
 *               in messages what it names
 *     OBJECT    a struct embedded in place, described by `table`; its default is "{}"
 *     POINTER   a pointer to such a struct, allocated; NULL when optional and absent
 *     LIST      struct param_list of `of` (any kind, offset 0); min and max bound its length
 *     VARIANT   struct param_variant: an object in which one member picks the table for the others;
 *               the bare name of a choice stands for an object with nothing but defaults
 *     CUSTOM    whatever `type` reads
 *
 * Units are required: 30 for a duration is an error that says so; only 0 goes without. A row
 * without default must be given, unless it is `optional`: then it stays 0, false, NULL, an empty
 * list or a variant without choice. A row with a `word` also accepts this word for `word_value`
 * ("unlimited").
 * Every object may hold a "comment" (a string or strings), which is ignored.
 */
#ifndef HVSIM_SIM_PARAMS_H
#define HVSIM_SIM_PARAMS_H

#include "sim/error.h"
#include "sim/json.h"
#include "sim/json_writer.h"
#include "sim/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum param_kind {
    PARAM_DURATION,
    PARAM_SIZE,
    PARAM_BITRATE,
    PARAM_RATE,
    PARAM_PERCENT,
    PARAM_INTEGER,
    PARAM_NUMBER,
    PARAM_BOOLEAN,
    PARAM_ENUM,
    PARAM_STRING,
    PARAM_NAME,
    PARAM_OBJECT,
    PARAM_POINTER,
    PARAM_LIST,
    PARAM_VARIANT,
    PARAM_CUSTOM
};

/* What a default rests on. A value that differs from the default is the scenario's own: "given". */
enum param_status {
    STATUS_ASSUMED,    /* a reasonable guess */
    STATUS_CITED,      /* taken from a publication; source says which */
    STATUS_CALIBRATED, /* fitted to measurements; source says which */
    STATUS_EXACT,      /* as in Xen's code or a standard */
    STATUS_GIVEN       /* no default, or not the default: the scenario's */
};

struct param_list {
    void *item; /* array of the element's C type, owned */
    size_t count;
};

struct param_choice {
    const char *name;                /* NULL ends an array */
    const struct param_table *table; /* NULL: no parameters */
    const char *meaning;             /* NULL: the table's */
    const void *user;                /* the caller's: an operations table, say */
};

struct param_variant {
    const struct param_choice *choice; /* NULL: none (optional and absent) */
    void *data;                        /* the choice's struct, owned; NULL without a table */
};

/* Where a variant's choices come from: an array, or a registry's i-th (NULL past the last). */
struct param_choices {
    const char *tag; /* the member that names the choice: "type" */
    const struct param_choice *array;
    const struct param_choice *(*nth)(size_t i);
};

struct param;

struct param_type {
    const char *name;    /* "distribution" */
    const char *accepts; /* for messages and help: "\"exponential(1ms)\" or an object with ..." */
    size_t size;
    /* Fill the (zeroed) field; add errors and return -1. Defaults are read by it as well. */
    int (*read)(const struct param *p, struct json_value v, void *field, struct errors *e);
    void (*write)(const struct param *p, const void *field, struct json_writer *w,
                  const char *key); /* reads back to the same */
    void (*schema)(const struct param *p, struct json_writer *w, const char *key);
    void (*release)(void *field); /* NULL: nothing to free */
};

struct param {
    const char *name;
    enum param_kind kind;
    size_t offset, size;   /* of the field (see PARAM) */
    const char *def;       /* default as text, as for --set; NULL: must be given, or optional */
    const char *min, *max; /* inclusive, as text in the same units; NULL: the type's (0 as the
                              least for quantities with units) */
    const char *word;      /* a word accepted instead of a quantity or integer */
    int64_t word_value;
    const char *const *names;            /* ENUM */
    const char *refers;                  /* NAME: "domain" */
    const struct param_table *table;     /* OBJECT */
    const struct param *of;              /* LIST */
    const struct param_choices *choices; /* VARIANT */
    const struct param_type *type;       /* CUSTOM */
    bool optional;
    const char *meaning; /* one sentence */
    const char *source;  /* where the default comes from; NULL: assumed */
    enum param_status status;
    const char *range; /* what an assumed default may be instead: see "Guesses" below */
};

struct param_table {
    const char *name;
    const struct param *row;
    size_t count;
    size_t size; /* of the struct */
    const char *meaning;
    /* Checks between fields after all were read without error (NULL: none): report with
     * json_error_in(v, "key", ...) and return -1. May also fill derived fields. */
    int (*check)(void *target, struct json_value v, struct errors *e);
    void (*release)(void *target); /* frees what `check` allocated; NULL: nothing */
};

/* First fields of a row: name, kind, and the field of the struct. */
#define PARAM(member_name, kind_, struct_type, field)                                              \
    .name = (member_name), .kind = PARAM_##kind_, .offset = offsetof(struct_type, field),          \
    .size = sizeof(((struct_type *)0)->field)

/* First fields of a list's element: kind and C type. */
#define PARAM_ELEMENT(kind_, c_type) .name = "", .kind = PARAM_##kind_, .size = sizeof(c_type)

#define PARAM_TABLE(table_name, struct_type, rows, ...)                                            \
    {                                                                                              \
        .name = (table_name), .row = (rows), .count = sizeof(rows) / sizeof *(rows),               \
        .size = sizeof(struct_type), __VA_ARGS__                                                   \
    }

/* Read an object: clears *target (table->size bytes), fills defaults, reads and checks all members,
 * adds every error found. 0, or -1; *target can and must be freed in both cases. */
int params_read(const struct param_table *t, struct json_value v, void *target, struct errors *e);

/* The same from nothing: all defaults. Required rows stay zero. */
void params_defaults(const struct param_table *t, void *target);

void params_free(const struct param_table *t, void *target);

/* The resolved object: every parameter with its value; reads back to the same struct and the same
 * bytes. */
void params_write(const struct param_table *t, const void *target, struct json_writer *w,
                  const char *key);

/* What the values rest on: an array of {parameter, value, status, source, count}, one for each
 * parameter and status; elements of lists are counted together ("/domains/-/weight"). Given values
 * are "calibrated" where `calibrated` (char *, may be NULL) has their pointer or one above it. */
void params_write_status(const struct param_table *t, const void *target,
                         const struct param_list *calibrated, struct json_writer *w,
                         const char *key);

/* JSON Schema 2020-12 of the object, as one (sub)schema. */
void params_schema(const struct param_table *t, struct json_writer *w, const char *key);

/* Rows for people: aligned text, and a Markdown table (with heading row). */
void params_help(const struct param_table *t, FILE *out);
void params_markdown(const struct param_table *t, FILE *out);

/* The row a pointer names ("/scheduler/tslice", "/domains/3/weight" or "/domains/-/weight"), for
 * sweeps and tuning; variants are followed as `root` has them (JSON_NONE: the first that fits).
 * NULL and one error when there is none. */
const struct param *params_find(const struct param_table *t, struct json_value root,
                                const char *pointer, struct errors *e);

/* One value as text, and text as a value, for rows that are no object, list or variant: what sweeps
 * and tuning step through. param_text: caller frees. param_parse: 0, or -1 with the reason. */
char *param_text(const struct param *p, const void *field);
int param_parse(const struct param *p, const char *text, void *field, char why[QUANTITY_WHY]);

/* ---- Guesses (sim/params_range.c) ----
 *
 * A default that is only assumed comes with what it may be instead, for analyses of sensitivity. A
 * row's `range` is "LOW..HIGH" (for CUSTOM rows too: texts of two values), or PARAM_NO_RANGE: the
 * value is no guess about machines or programs but what the scenario wants. Without `range` a rule
 * holds: a quantity or number above 0 may be from half to double of it (within min and max), a
 * boolean or an enumeration any other value; a CUSTOM row whose default is one quantity is as a
 * quantity. Names, texts and words are never guesses; where the rule gives nothing else (0, a
 * distribution) a range has to be stated. */
#define PARAM_NO_RANGE "none"

/* Other values for the default of an assumed row: the ends of its range or each other choice, none
 * of them the default. A list of char *; empty if it is not varied. */
struct param_list param_alternatives(const struct param *p);
/* The same from a range's text, "LOW..HIGH" or "VALUE": of any row. Values are not checked. */
struct param_list param_alternatives_of(const char *range);
void param_alternatives_free(struct param_list *l);

/* Every value of a resolved struct that is one piece, by its row: `pointer` leads to it in the
 * resolved JSON; `pattern` is the pointer with "-" for elements of lists, as in
 * params_write_status(); `choice` names the innermost variant's choice it belongs to (NULL: none).
 * Values of optional rows that are absent are left out. */
struct param_value {
    const char *pattern, *pointer, *choice;
    const struct param *p;
    const char *text; /* the value */
    bool is_default;
};
typedef void param_value_fn(void *ctx, const struct param_value *v);
void params_each_value(const struct param_table *t, const void *target, param_value_fn *each,
                       void *ctx);

/* As params_check_table(), and every assumed default has alternatives or PARAM_NO_RANGE. */
int params_check_ranges(const struct param_table *t, struct errors *e);

const char *param_kind_name(enum param_kind kind);
const char *param_status_name(enum param_status status);

/* Is the table itself in order (defaults parse and are in range, sizes fit, meanings and sources
 * are there)? Every mistake is added to `e`; for unit tests. */
int params_check_table(const struct param_table *t, struct errors *e);

/* The nearest of `count` names by edit distance (a third of the letters may differ), or NULL. */
const char *nearest_name(const char *found, const char *const *names, size_t count);

#endif
