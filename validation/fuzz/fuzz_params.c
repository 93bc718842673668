/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a configuration file for a table with a row of each kind, after a --set assignment
 * that ends in a zero byte, if there is one (as fuzz_json.c). Errors or a struct, never both or
 * neither; and a struct that was read resolves to a file that resolves to the same bytes.
 */
#include "sim/config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A table with one row of each kind, with short names that a fuzzer finds. */
struct inner {
    int64_t d;
    double n;
};

struct outer {
    int64_t d, s, r, p, i;
    int w, e;
    bool b;
    char *t, *a;
    struct inner o, *q;
    struct param_list l, m;
    struct param_variant v;
};

static const char *const names[] = {"x", "y", NULL};

static const struct param inner_rows[] = {
    {PARAM("d", DURATION, struct inner, d), .def = "1ms", .max = "1h", .meaning = "D."},
    {PARAM("n", NUMBER, struct inner, n), .def = "1", .min = "-5", .meaning = "N."},
};
static const struct param_table inner_table = PARAM_TABLE("inner", struct inner, inner_rows, );
static const struct param_choice choices[] = {
    {.name = "x", .table = &inner_table},
    {.name = "y"},
    {.name = NULL},
};
static const struct param_choices variants = {.tag = "c", .array = choices};
static const struct param size_element = {PARAM_ELEMENT(SIZE, int64_t)};
static const struct param variant_element = {PARAM_ELEMENT(VARIANT, struct param_variant),
                                             .choices = &variants};

static const struct param outer_rows[] = {
    {PARAM("d", DURATION, struct outer, d), .def = "1ms", .meaning = "D."},
    {PARAM("s", SIZE, struct outer, s), .def = "1KiB", .meaning = "S."},
    {PARAM("r", RATE, struct outer, r), .def = "1/s", .meaning = "R."},
    {PARAM("p", PERCENT, struct outer, p), .def = "u", .word = "u", .word_value = 7,
     .meaning = "P."},
    {PARAM("i", INTEGER, struct outer, i), .optional = true, .meaning = "I."},
    {PARAM("w", INTEGER, struct outer, w), .def = "5", .meaning = "W."},
    {PARAM("e", ENUM, struct outer, e), .def = "x", .names = names, .meaning = "E."},
    {PARAM("b", BOOLEAN, struct outer, b), .def = "true", .meaning = "B."},
    {PARAM("t", STRING, struct outer, t), .optional = true, .meaning = "T."},
    {PARAM("a", NAME, struct outer, a), .def = "a", .meaning = "A."},
    {PARAM("o", OBJECT, struct outer, o), .def = "{}", .table = &inner_table, .meaning = "O."},
    {PARAM("q", POINTER, struct outer, q), .optional = true, .table = &inner_table,
     .meaning = "Q."},
    {PARAM("l", LIST, struct outer, l), .def = "[\"1B\"]", .of = &size_element, .max = "5",
     .meaning = "L."},
    {PARAM("m", LIST, struct outer, m), .def = "[]", .of = &variant_element, .meaning = "M."},
    {PARAM("v", VARIANT, struct outer, v), .def = "y", .choices = &variants, .meaning = "V."},
};
static const struct param_table outer_table = PARAM_TABLE("outer", struct outer, outer_rows, );
static const struct config_format format = {"fuzz", 1, &outer_table};

static char *resolved_text(const struct outer *outer)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct json_writer w = json_writer(out, JSON_LINES);

    config_write(&format, outer, &w, NULL);
    params_write_status(&outer_table, outer, NULL, &w, NULL);
    fclose(out);
    return text;
}

static void read_as_parameters(const struct json *doc)
{
    struct errors e = ERRORS_NONE;
    struct outer outer, again;
    int status = config_read(&format, doc, &outer, &e);

    BUG_ON((status == 0) != (e.count == 0));
    if (!status) {
        char *first = resolved_text(&outer), *second, *end = strstr(first, "\n[");
        struct json *reread = json_parse("resolved", first, (size_t)(end - first), &e);

        BUG_ON(!reread || config_read(&format, reread, &again, &e));
        second = resolved_text(&again);
        BUG_ON(strcmp(first, second));
        params_free(&outer_table, &again);
        json_free(reread);
        free(first);
        free(second);
    }
    params_free(&outer_table, &outer);
    errors_free(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL, *text = zero ? zero + 1 : data;
    struct errors e = ERRORS_NONE;
    struct json *doc = json_parse("fuzz", (const char *)text, size - (size_t)(text - data), &e);

    if (doc && (!zero || json_set(doc, "--set", (const char *)data, &e) == 0))
        read_as_parameters(doc);
    json_free(doc);
    errors_free(&e);
    return 0;
}
