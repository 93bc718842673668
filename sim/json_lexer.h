/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lexer under sim/json.c: checks a text against RFC 8259 to the letter and notes the place of
 * every value in document order (an object before its members). It builds no values: cJSON does.
 */
#ifndef HVSIM_SIM_JSON_LEXER_H
#define HVSIM_SIM_JSON_LEXER_H

#include "sim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;

#define JSON_NO_PARENT SIZE_MAX

struct json_place {
    const struct cJSON *item; /* filled by who links places to values */
    size_t parent;            /* index of the container's place, JSON_NO_PARENT at the root */
    const char *text;         /* source text of the value, not terminated */
    size_t length;
    int line, column; /* of the member's name, or of the value; 0, 0 from a flag */
    const char *flag; /* "--set /a=1" when it came from a flag */
};

struct json_places {
    struct json_place *place;
    size_t count, capacity;
};

void json_place_add(struct json_places *places, const struct json_place *place);

/* Check `size` bytes of text and append the places of its values, the first with `parent`. `depth`
 * levels are above it already. `name` stands for the text in messages. 0, or -1 with errors. */
int json_lex(const char *name, const char *text, size_t size, size_t parent, int depth,
             struct json_places *places, struct errors *e);

/* Is all of a terminated text well-formed UTF-8? */
bool json_is_utf8(const char *text);

/* Add an error unless very many are there already: a hostile file must not fill the memory with
 * messages. Returns -1. */
int json_complain(struct errors *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool json_complained_enough(const struct errors *e);

#endif
