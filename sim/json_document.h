/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a JSON document, shared by sim/json.c and sim/json_set.c only. */
#ifndef HVSIM_SIM_JSON_DOCUMENT_H
#define HVSIM_SIM_JSON_DOCUMENT_H

#include "sim/json.h"
#include "sim/json_lexer.h"

struct json {
    char *name;
    char *text;
    struct cJSON *root;
    struct json_places places;
    size_t *slot; /* hash table: 1 + index of a place, 0 when free */
    size_t slots;
    size_t linked; /* places in the table */
    char **owned;  /* texts of flags */
    size_t owned_count;
};

/* Link a subtree to the places from *index on; both are in document order. */
void json_link_tree(struct json *doc, const struct cJSON *item, size_t *index);

const struct json_place *json_place_of(struct json_value v);

/* Complain of members given twice, here and below. */
int json_check_duplicates(struct json_value v, struct errors *e);

/* The values of a text the lexer has passed, as a tree. */
struct cJSON *json_build(const char *text, size_t size, struct errors *e);

/* The token behind *s, which stands on its "/", unescaped; *s moves to the next "/" or the end.
 * NULL at a "~" that is neither "~0" nor "~1". Caller frees. */
char *json_take_token(const char **s);

/* An array index: digits without leading zeros. 0 or -1. */
int json_array_index(const char *token, size_t *index);

/* The member or element a token names. */
struct json_value json_child(struct json_value v, const char *token);

#endif
