/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a JSON file, after a --set assignment that ends in a zero byte, if there is one.
 * What is refused must say why; what is accepted must be found again by the pointer of each value,
 * and survive being written and read, before and after the assignment.
 */
#include "sim/error.h"
#include "sim/json.h"
#include "sim/json_writer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void visit(struct json_value v)
{
    char number[JSON_NUMBER_TEXT];
    int64_t whole;
    double real;
    char *shown = json_show(v), *pointer = json_pointer(v);

    BUG_ON(json_at(v.doc, pointer).item != v.item);
    BUG_ON(json_line(v) < 1 || json_column(v) < 1);
    free(shown);
    free(pointer);
    switch (json_kind(v)) {
    case JSON_STRING:
        BUG_ON(!json_string(v));
        break;
    case JSON_NUMBER:
        json_number_text(v, number);
        json_integer(v, &whole);
        json_double(v, &real);
        break;
    default:
        break;
    }
    JSON_FOR_EACH(child, v)
    visit(child);
}

/* The document as text; the caller frees. */
static char *written(const struct json *doc, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    struct json_writer w = json_writer(out, JSON_LINES);

    json_put_value(&w, NULL, json_root(doc));
    fclose(out);
    return text;
}

/* Written, read and written again is the same. */
static void round_trip(const struct json *doc)
{
    struct errors e = ERRORS_NONE;
    size_t once_size, twice_size;
    char *once = written(doc, &once_size), *twice;
    struct json *again = json_parse("again", once, once_size, &e);

    BUG_ON(!again);
    twice = written(again, &twice_size);
    BUG_ON(once_size != twice_size || memcmp(once, twice, once_size) != 0);
    json_free(again);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct errors e = ERRORS_NONE;
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    const uint8_t *text = zero ? zero + 1 : data;
    struct json *doc = json_parse("fuzz", (const char *)text, size - (size_t)(text - data), &e);

    BUG_ON(!doc == !e.count);
    if (doc) {
        visit(json_root(doc));
        round_trip(doc);
        if (zero && json_set(doc, "--set", (const char *)data, &e) == 0)
            round_trip(doc);
    }
    json_free(doc);
    errors_free(&e);
    return 0;
}
