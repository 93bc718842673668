/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From structs back to JSON: the resolved object, and what its values rest on.
 *
 * Whether a value is the default is found by comparing values, not by remembering what was written
 * in the file: so a resolved file, in which everything is written, still gives the same statuses.
 */
#define _GNU_SOURCE
#include "sim/params.h"

#include "sim/params_inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- The resolved object ------------------------------------------------------------------- */

static void write_variant(const struct param *p, const struct param_variant *variant,
                          struct json_writer *w, const char *key)
{
    if (!variant->choice) {
        json_put_null(w, key);
        return;
    }
    json_begin(w, key, '{');
    json_put_string(w, p->choices->tag, variant->choice->name);
    if (variant->data)
        params_write_members(variant->choice->table, variant->data, w);
    json_end(w);
}

static void write_list(const struct param *p, const struct param_list *list, struct json_writer *w,
                       const char *key)
{
    if (param_is_scalar(p->of) || p->of->kind == PARAM_CUSTOM)
        json_begin_inline(w, key, '[');
    else
        json_begin(w, key, '[');
    for (size_t i = 0; i < list->count; i++)
        param_write_value(p->of, (const char *)list->item + p->of->size * i, w, NULL);
    json_end(w);
}

static void write_scalar(const struct param *p, const void *field, struct json_writer *w,
                         const char *key)
{
    bool bare = p->kind == PARAM_INTEGER || p->kind == PARAM_NUMBER || p->kind == PARAM_BOOLEAN;
    char *text = param_text(p, field);

    if (bare && !(p->word && strcmp(text, p->word) == 0))
        json_put_number_text(w, key, text);
    else
        json_put_string(w, key, text);
    free(text);
}

void param_write_value(const struct param *p, const void *field, struct json_writer *w,
                       const char *key)
{
    switch (p->kind) {
    case PARAM_OBJECT:
        params_write(p->table, field, w, key);
        break;
    case PARAM_POINTER:
        params_write(p->table, *(void *const *)field, w, key);
        break;
    case PARAM_LIST:
        write_list(p, field, w, key);
        break;
    case PARAM_VARIANT:
        write_variant(p, field, w, key);
        break;
    case PARAM_CUSTOM:
        p->type->write(p, field, w, key);
        break;
    default:
        write_scalar(p, field, w, key);
    }
}

void params_write_members(const struct param_table *t, const void *target, struct json_writer *w)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct param *p = &t->row[i];
        const void *field = param_field_const(p, target);

        if (!p->optional || !param_is_absent(p, field))
            param_write_value(p, field, w, p->name);
    }
}

void params_write(const struct param_table *t, const void *target, struct json_writer *w,
                  const char *key)
{
    json_begin(w, key, '{');
    params_write_members(t, target, w);
    json_end(w);
}

/* ---- What the values rest on --------------------------------------------------------------- */

/* The walk goes down the tables, not the structs: at each row stand all instances of its struct, so
 * that a list of a thousand domains gives one line for each parameter and status. */
struct instances {
    const void **of;
    size_t count;
    const struct param_list *calibrated; /* char *: pointers; NULL: none */
};

static void instances_add(struct instances *all, const void *one)
{
    if ((all->count & (all->count - 1)) == 0) /* 0 or a power of two: full */
        all->of = xrealloc(all->of, (all->count ? 2 * all->count : 1) * sizeof *all->of);
    all->of[all->count++] = one;
}

char *param_as_text(const struct param *p, const void *field)
{
    struct json_writer w;
    char *text;
    size_t size;
    FILE *out;

    if (param_is_scalar(p))
        return param_text(p, field);
    out = open_memstream(&text, &size);
    BUG_ON(!out);
    w = json_writer(out, JSON_COMPACT);
    param_write_value(p, field, &w, NULL);
    fclose(out);
    return text;
}

char *param_default_as_text(const struct param *p)
{
    struct errors e = ERRORS_NONE;
    char *text = NULL;
    void *field;

    if (!p->def)
        return NULL;
    field = xcalloc(1, p->size);
    if (!param_read_default(p, field, &e))
        text = param_as_text(p, field);
    param_free_value(p, field);
    free(field);
    errors_free(&e);
    return text;
}

/* What an assumed default may be instead. */
static void put_range(struct json_writer *w, const struct param *p)
{
    struct param_list other = param_alternatives(p);

    if (other.count) {
        json_begin_inline(w, "or", '[');
        for (size_t i = 0; i < other.count; i++)
            json_put_string(w, NULL, ((char **)other.item)[i]);
        json_end(w);
    }
    param_alternatives_free(&other);
}

/* Is it listed, or something above it? */
static bool is_calibrated(const struct param_list *l, const char *pointer)
{
    for (size_t i = 0; l && i < l->count; i++) {
        const char *listed = ((char **)l->item)[i];
        size_t length = strlen(listed);

        if (!strncmp(pointer, listed, length) && (!pointer[length] || pointer[length] == '/'))
            return true;
    }
    return false;
}

static void put_status(struct json_writer *w, const struct instances *all, const char *pointer,
                       const struct param *p, const char *value, bool is_default, size_t count)
{
    enum param_status given =
        is_calibrated(all->calibrated, pointer) ? STATUS_CALIBRATED : STATUS_GIVEN;

    if (!count)
        return;
    json_begin_inline(w, NULL, '{');
    json_put_string(w, "parameter", pointer);
    if (value)
        json_put_string(w, "value", value);
    json_put_string(w, "status", param_status_name(is_default ? p->status : given));
    if (is_default && p->source)
        json_put_string(w, "source", p->source);
    if (is_default)
        put_range(w, p);
    json_put_integer(w, "count", (int64_t)count);
    json_end(w);
}

/* One row whose value is one piece. */
static void status_of_leaf(const struct param *p, const struct instances *all, const char *pointer,
                           struct json_writer *w)
{
    char *standard = param_default_as_text(p), *given = NULL;
    size_t as_default = 0, as_given = 0;
    bool alike = true;

    for (size_t i = 0; i < all->count; i++) {
        const void *field = param_field_const(p, all->of[i]);
        char *text;

        if (p->optional && param_is_absent(p, field))
            continue;
        text = param_as_text(p, field);
        if (standard && strcmp(text, standard) == 0) {
            as_default++;
        } else {
            as_given++;
            alike = alike && (!given || strcmp(given, text) == 0);
            if (!given) {
                given = text;
                continue;
            }
        }
        free(text);
    }
    put_status(w, all, pointer, p, standard, true, as_default);
    put_status(w, all, pointer, p, alike ? given : NULL, false, as_given);
    free(standard);
    free(given);
}

static void status_of_table(const struct param_table *t, const struct instances *all,
                            const char *pointer, struct json_writer *w);
static void status_of_row(const struct param *p, const struct instances *all, const char *pointer,
                          struct json_writer *w);

static void status_of_list(const struct param *p, const struct instances *all, const char *pointer,
                           struct json_writer *w)
{
    struct instances elements = {.calibrated = all->calibrated};
    char *below = json_pointer_append(pointer, "-");

    for (size_t i = 0; i < all->count; i++) {
        const struct param_list *list = param_field_const(p, all->of[i]);

        for (size_t k = 0; k < list->count; k++)
            instances_add(&elements, (const char *)list->item + p->of->size * k);
    }
    if (elements.count)
        status_of_row(p->of, &elements, below, w);
    free(below);
    free(elements.of);
}

/* The choice itself, then each choice's parameters. */
static void status_of_variant(const struct param *p, const struct instances *all,
                              const char *pointer, struct json_writer *w)
{
    char *tag = json_pointer_append(pointer, p->choices->tag);
    const struct param_choice *choice;

    for (size_t i = 0; (choice = param_nth_choice(p, i)); i++) {
        struct instances chosen = {.calibrated = all->calibrated};
        size_t count = 0;

        for (size_t k = 0; k < all->count; k++) {
            const struct param_variant *variant = param_field_const(p, all->of[k]);

            if (variant->choice != choice)
                continue;
            count++;
            if (variant->data)
                instances_add(&chosen, variant->data);
        }
        put_status(w, all, tag, p, choice->name, p->def && strcmp(p->def, choice->name) == 0,
                   count);
        if (chosen.count)
            status_of_table(choice->table, &chosen, pointer, w);
        free(chosen.of);
    }
    free(tag);
}

static void status_of_row(const struct param *p, const struct instances *all, const char *pointer,
                          struct json_writer *w)
{
    struct instances inner = {.calibrated = all->calibrated};

    switch (p->kind) {
    case PARAM_OBJECT:
    case PARAM_POINTER:
        for (size_t i = 0; i < all->count; i++) {
            const void *field = param_field_const(p, all->of[i]);
            const void *object = p->kind == PARAM_OBJECT ? field : *(void *const *)field;

            if (object)
                instances_add(&inner, object);
        }
        if (inner.count)
            status_of_table(p->table, &inner, pointer, w);
        free(inner.of);
        break;
    case PARAM_LIST:
        if (param_is_scalar(p->of) || p->of->kind == PARAM_CUSTOM)
            status_of_leaf(p, all, pointer, w);
        else
            status_of_list(p, all, pointer, w);
        break;
    case PARAM_VARIANT:
        status_of_variant(p, all, pointer, w);
        break;
    default:
        status_of_leaf(p, all, pointer, w);
    }
}

static void status_of_table(const struct param_table *t, const struct instances *all,
                            const char *pointer, struct json_writer *w)
{
    for (size_t i = 0; i < t->count; i++) {
        char *below = json_pointer_append(pointer, t->row[i].name);

        status_of_row(&t->row[i], all, below, w);
        free(below);
    }
}

void params_write_status(const struct param_table *t, const void *target,
                         const struct param_list *calibrated, struct json_writer *w,
                         const char *key)
{
    struct instances all = {&target, 1, calibrated};

    json_begin(w, key, '[');
    status_of_table(t, &all, "", w);
    json_end(w);
}
