/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing JSON: members in the order given, numbers in the shortest text that reads back to the
 * same bits, so the same content is the same bytes everywhere. NaN and infinities become null. The
 * stream keeps its own error state (ferror), checked by who closes it (sim/output).
 *
 *     struct json_writer w = json_writer(stream, JSON_LINES);
 *     json_begin(&w, NULL, '{');
 *     json_put_string(&w, "name", "web");
 *     json_end(&w);
 *
 * `key` is the member's name inside an object and NULL elsewhere; mixing them up is a bug (BUG_ON).
 */
#ifndef HVSIM_SIM_JSON_WRITER_H
#define HVSIM_SIM_JSON_WRITER_H

#include "sim/json.h"
#include "sim/units.h"

#include <stdio.h>

enum json_layout {
    JSON_LINES,  /* one member a line, indented by two blanks, newline at the very end */
    JSON_COMPACT /* all in one line, no newline: for files of one document a line */
};

struct json_writer {
    FILE *out;
    enum json_layout layout;
    int depth;
    int inline_from; /* containers at this depth or deeper stand in one line; 0: none */
    char open[JSON_DEPTH + 8];
    bool filled[JSON_DEPTH + 8];
};

struct json_writer json_writer(FILE *out, enum json_layout layout);

void json_begin(struct json_writer *w, const char *key, char bracket /* '{' or '[' */);
void json_begin_inline(struct json_writer *w, const char *key, char bracket); /* in one line */
void json_end(struct json_writer *w);

void json_put_string(struct json_writer *w, const char *key, const char *text); /* NULL: null */
void json_put_integer(struct json_writer *w, const char *key, int64_t value);
void json_put_number(struct json_writer *w, const char *key, double value);
void json_put_boolean(struct json_writer *w, const char *key, bool value);
void json_put_null(struct json_writer *w, const char *key);
void json_put_quantity(struct json_writer *w, const char *key, enum quantity q, int64_t value);
void json_put_number_text(struct json_writer *w, const char *key, const char *number);
void json_put_value(struct json_writer *w, const char *key, struct json_value v); /* a whole tree */

/* The shortest decimal text that reads back to the same double ("0.1", "1e+300"). Returns out. */
#define NUMBER_TEXT 32
char *number_format(double value, char out[NUMBER_TEXT]);

#endif
