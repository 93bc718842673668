/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * JSON files that know where everything stands.
 *
 * A file is read once. A strict lexer (RFC 8259, UTF-8) goes over the text, says what is wrong by
 * line and column and notes the place of every value; cJSON then builds the tree of values. Numbers
 * keep their source text, so 64-bit integers stay exact. Duplicate keys, bad escapes, text after
 * the end, nesting deeper than JSON_DEPTH and files larger than JSON_BYTES are errors, as are NaN
 * and comments. A UTF-8 byte order mark is skipped.
 *
 * Values are small handles passed by value; they live as long as their document. All functions
 * accept JSON_NONE ("no such value") and answer with nothing.
 */
#ifndef HVSIM_SIM_JSON_H
#define HVSIM_SIM_JSON_H

#include "sim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH 64
#define JSON_BYTES ((size_t)256 << 20)
#define JSON_NUMBER_TEXT 64 /* room for any number's text */

struct cJSON;
struct json; /* one document */

struct json_value {
    const struct json *doc;
    const struct cJSON *item;
};

#define JSON_NONE ((struct json_value){0})

enum json_kind {
    JSON_ABSENT, /* JSON_NONE */
    JSON_NULL,
    JSON_BOOLEAN,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/* Read a file ("-" is standard input) or a text; `name` stands for the file in messages. NULL with
 * all errors found added to `e`. The caller frees with json_free. */
struct json *json_read(const char *path, struct errors *e);
struct json *json_parse(const char *name, const char *text, size_t size, struct errors *e);
void json_free(struct json *doc);

const char *json_name(const struct json *doc);
struct json_value json_root(const struct json *doc);

enum json_kind json_kind(struct json_value v);
const char *json_kind_name(enum json_kind kind); /* "a string", "an object", ... */

static inline bool json_exists(struct json_value v)
{
    return v.item != NULL;
}

/* Content by kind. A call for another kind answers NULL, false, 0. */
const char *json_string(struct json_value v); /* decoded, owned by the document */
bool json_boolean(struct json_value v);
const char *json_number_text(struct json_value v,
                             char out[JSON_NUMBER_TEXT]); /* as in the source */
int json_integer(struct json_value v, int64_t *value);    /* exact; -1: no whole 64-bit number */
int json_double(struct json_value v, double *value);      /* nearest; -1: no finite number */

/* Walking, in the order of the file. */
size_t json_length(struct json_value v); /* of an array or object */
struct json_value json_first(struct json_value v);
struct json_value json_next(struct json_value v);
const char *json_key(struct json_value v); /* of an object's member, else NULL */
struct json_value json_member(struct json_value object, const char *key);
struct json_value json_element(struct json_value array, size_t index);

#define JSON_FOR_EACH(child, parent)                                                               \
    for (struct json_value child = json_first(parent); json_exists(child); child = json_next(child))

/* JSON pointers (RFC 6901): "" is the root, "/domains/0/name"; JSON_NONE when there is none. */
struct json_value json_at(const struct json *doc, const char *pointer);
char *json_pointer(struct json_value v);                         /* caller frees */
char *json_pointer_append(const char *pointer, const char *key); /* escaped; caller frees */

/* Place of a value (of a member: of its key), from 1; 0 when it came from a flag. */
int json_line(struct json_value v);
int json_column(struct json_value v);

/* The value in short for messages: `"30KB"`, `12`, `an object with 3 members`; at most about 40
 * characters, control characters escaped. Caller frees. */
char *json_show(struct json_value v);

/* Add an error of EXIT_INPUT about a value: "scenario.json:12:7: /domains/0/weight: MESSAGE", or
 * "--set /domains/0/weight=x: MESSAGE" when it came from a flag. Returns -1. */
int json_error(struct json_value v, struct errors *e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same about a member of an object; when it is not there (a default was used), the object's
 * place and the member's pointer are named. */
int json_error_in(struct json_value object, const char *key, struct errors *e, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The same by pointer; when nothing stands there (a default was used), the place of the nearest
 * value above it is named, and still the whole pointer. */
int json_error_at(const struct json *doc, const char *pointer, struct errors *e, const char *fmt,
                  ...) __attribute__((format(printf, 4, 5)));

/* One override, "/json/pointer=value", as given to --set; `flag` ("--set") names it in messages.
 * The value is JSON, or else taken as a string ("5ms" needs no quotes). Missing members and the
 * objects above them are created, "-" appends to an array; whether they may be there is checked
 * when the document is read into parameters. */
int json_set(struct json *doc, const char *flag, const char *assignment, struct errors *e);

#endif
