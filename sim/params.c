/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading JSON into structs by parameter tables: defaults, checks, freeing. Every member is looked
 * at whatever went wrong before, so that all errors of a file come at once.
 */
#include "sim/params.h"

#include "sim/params_inside.h"

#include <stdlib.h>
#include <string.h>

static const struct param_table no_parameters = {.name = "nothing"};

/* ---- Choices of variants ------------------------------------------------------------------- */

const struct param_choice *param_nth_choice(const struct param *p, size_t i)
{
    if (p->choices->nth)
        return p->choices->nth(i);
    return p->choices->array[i].name ? &p->choices->array[i] : NULL;
}

const struct param_choice *param_find_choice(const struct param *p, const char *name)
{
    const struct param_choice *choice;

    for (size_t i = 0; (choice = param_nth_choice(p, i)); i++)
        if (strcmp(choice->name, name) == 0)
            return choice;
    return NULL;
}

static const struct param_table *choice_table(const struct param_choice *choice)
{
    return choice->table ? choice->table : &no_parameters;
}

static int unknown_choice(const struct param *p, struct json_value v, const char *found,
                          struct errors *e)
{
    char *accepts = param_accepts(p);
    const char **names, *nearest;
    size_t count = 0;

    while (param_nth_choice(p, count))
        count++;
    names = xcalloc(count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = param_nth_choice(p, i)->name;
    nearest = nearest_name(found, names, count);
    if (nearest)
        json_error(v, e, "no %s \"%.64s\": did you mean \"%s\"? %s is wanted", p->choices->tag,
                   found, nearest, accepts);
    else
        json_error(v, e, "no %s \"%.64s\": %s is wanted", p->choices->tag, found, accepts);
    free(names);
    free(accepts);
    return -1;
}

/* ---- Values -------------------------------------------------------------------------------- */

static int wrong_kind(const struct param *p, struct json_value v, struct errors *e)
{
    char *shown = json_show(v), *accepts = param_accepts(p);

    json_error(v, e, "found %s: %s is wanted", shown, accepts);
    free(shown);
    free(accepts);
    return -1;
}

/* The text of a value that a scalar row may parse; NULL when the value is of the wrong kind. A flag
 * cannot tell "5" from 5: there, a number may stand for a string. */
static const char *scalar_text(const struct param *p, struct json_value v,
                               char number[JSON_NUMBER_TEXT])
{
    enum json_kind kind = json_kind(v);

    switch (p->kind) {
    case PARAM_BOOLEAN:
        return kind == JSON_BOOLEAN ? (json_boolean(v) ? "true" : "false") : NULL;
    case PARAM_NUMBER:
        return json_number_text(v, number);
    case PARAM_INTEGER:
        if (kind == JSON_STRING && p->word && strcmp(json_string(v), p->word) == 0)
            return p->word;
        return json_number_text(v, number);
    case PARAM_ENUM:
    case PARAM_STRING:
    case PARAM_NAME:
        if (kind == JSON_NUMBER && !json_line(v))
            return json_number_text(v, number);
        return json_string(v);
    default: /* a number lets quantity_parse() say that the unit is missing */
        return kind == JSON_NUMBER ? json_number_text(v, number) : json_string(v);
    }
}

static int read_scalar(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    char number[JSON_NUMBER_TEXT], why[QUANTITY_WHY];
    const char *text = scalar_text(p, v, number);
    char *shown;

    if (!text)
        return wrong_kind(p, v, e);
    if (param_parse(p, text, field, why) == 0)
        return 0;
    shown = json_show(v);
    json_error(v, e, "found %s: %s", shown, why);
    free(shown);
    return -1;
}

static int read_list(const struct param *p, struct json_value v, struct param_list *list,
                     struct errors *e)
{
    size_t count = json_length(v), i = 0;
    size_t fewest = p->min ? strtoul(p->min, NULL, 10) : 0;
    size_t most = p->max ? strtoul(p->max, NULL, 10) : SIZE_MAX;
    int status = 0;

    if (json_kind(v) != JSON_ARRAY || count < fewest || count > most)
        return wrong_kind(p, v, e);
    if (!count)
        return 0;
    list->item = xcalloc(count, p->of->size);
    list->count = count;
    JSON_FOR_EACH(child, v)
    if (param_read_value(p->of, child, (char *)list->item + p->of->size * i++, e))
        status = -1;
    return status;
}

/* A variant's choice with its parameters taken from the object `v`, or all by default. */
static int read_choice(const struct param *p, const struct param_choice *choice,
                       struct json_value v, struct param_variant *variant, struct errors *e)
{
    const struct param_table *table = choice_table(choice);
    const char *const tag[] = {p->choices->tag, NULL};

    variant->choice = choice;
    if (table->size)
        variant->data = xcalloc(1, table->size);
    return params_read_except(table, v, tag, variant->data, e);
}

static int read_variant(const struct param *p, struct json_value v, struct param_variant *variant,
                        struct errors *e)
{
    struct json_value tag = json_member(v, p->choices->tag);
    const struct param_choice *choice;
    const char *name = json_string(json_kind(v) == JSON_STRING ? v : tag);

    if (json_kind(v) != JSON_OBJECT && json_kind(v) != JSON_STRING)
        return wrong_kind(p, v, e);
    if (!json_exists(tag) && json_kind(v) == JSON_OBJECT && p->def)
        name = param_find_choice(p, p->def) ? p->def : NULL;
    if (!name) {
        char *accepts = param_accepts(p);

        if (json_exists(tag))
            json_error(tag, e, "\"%s\" is no string: %s is wanted", p->choices->tag, accepts);
        else
            json_error(v, e, "\"%s\" is missing: %s is wanted", p->choices->tag, accepts);
        free(accepts);
        return -1;
    }
    choice = param_find_choice(p, name);
    if (!choice)
        return unknown_choice(p, json_exists(tag) ? tag : v, name, e);
    return read_choice(p, choice, v, variant, e);
}

int param_read_value(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    void *data;

    switch (p->kind) {
    case PARAM_OBJECT:
        return params_read(p->table, v, field, e);
    case PARAM_POINTER:
        data = xcalloc(1, p->table->size);
        memcpy(field, &data, sizeof data);
        return params_read(p->table, v, data, e);
    case PARAM_LIST:
        return read_list(p, v, field, e);
    case PARAM_VARIANT:
        return read_variant(p, v, field, e);
    case PARAM_CUSTOM:
        return p->type->read(p, v, field, e);
    default:
        return read_scalar(p, v, field, e);
    }
}

/* ---- Defaults ------------------------------------------------------------------------------ */

/* A default that is more than one value: JSON, or a string without its quotes. */
static int read_default_text(const struct param *p, void *field, struct errors *e)
{
    char *assignment = xasprintf("/default=%s", p->def);
    struct json *doc = json_parse("default", "{}", 2, e);
    int status = json_set(doc, "default of", assignment, e);

    if (!status)
        status = param_read_value(p, json_at(doc, "/default"), field, e);
    json_free(doc);
    free(assignment);
    return status;
}

int param_read_default(const struct param *p, void *field, struct errors *e)
{
    const struct param_choice *choice;
    char why[QUANTITY_WHY];
    void *data;

    if (!p->def)
        return 0;
    if (param_is_scalar(p)) {
        if (param_parse(p, p->def, field, why))
            return error_add(e, EXIT_INTERNAL, "default \"%s\": %s", p->def, why);
        return 0;
    }
    if (p->kind == PARAM_LIST && strcmp(p->def, "[]") == 0)
        return 0;
    if (p->kind == PARAM_OBJECT && strcmp(p->def, "{}") == 0)
        return params_read_except(p->table, JSON_NONE, NULL, field, e);
    if (p->kind == PARAM_POINTER && strcmp(p->def, "{}") == 0) {
        data = xcalloc(1, p->table->size);
        memcpy(field, &data, sizeof data);
        return params_read_except(p->table, JSON_NONE, NULL, data, e);
    }
    if (p->kind == PARAM_VARIANT && (choice = param_find_choice(p, p->def)))
        return read_choice(p, choice, JSON_NONE, field, e);
    return read_default_text(p, field, e);
}

void params_defaults(const struct param_table *t, void *target)
{
    struct errors e = ERRORS_NONE; /* only of what must be given */

    params_read_except(t, JSON_NONE, NULL, target, &e);
    errors_free(&e);
}

/* ---- Objects ------------------------------------------------------------------------------- */

static const struct param *find_row(const struct param_table *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->row[i].name, name) == 0)
            return &t->row[i];
    return NULL;
}

static bool listed(const char *name, const char *const *names)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static int check_comment(struct json_value v, struct errors *e)
{
    bool good = json_kind(v) == JSON_STRING || json_kind(v) == JSON_ARRAY;

    if (json_kind(v) == JSON_ARRAY)
        JSON_FOR_EACH(line, v)
    good = good && json_kind(line) == JSON_STRING;
    return good ? 0 : json_error(v, e, "a comment is a string or an array of strings");
}

static int unknown_member(const struct param_table *t, struct json_value v,
                          const char *const *except, struct errors *e)
{
    size_t count = 0;
    const char **names = xcalloc(t->count + 8, sizeof *names), *nearest;
    char *known = xstrdup("");

    for (size_t i = 0; i < t->count; i++)
        names[count++] = t->row[i].name;
    for (; except && *except && count < t->count + 8; except++)
        names[count++] = *except;
    nearest = nearest_name(json_key(v), names, count);
    for (size_t i = 0; i < count && !nearest; i++) {
        char *longer = xasprintf("%s%s%s", known, i ? ", " : "", names[i]);

        free(known);
        known = longer;
    }
    if (nearest)
        json_error(v, e, "no such member of %s: did you mean \"%s\"?", t->name, nearest);
    else if (count)
        json_error(v, e, "no such member of %s; there are: %s", t->name, known);
    else
        json_error(v, e, "no such member: there are no parameters here");
    free(names);
    free(known);
    return -1;
}

static int missing_member(const struct param *p, struct json_value v, struct errors *e)
{
    char *accepts = param_accepts(p);

    json_error(v, e, "\"%s\" is missing: %s %s is wanted", p->name, p->meaning ? p->meaning : "",
               accepts);
    free(accepts);
    return -1;
}

/* `v` may be JSON_NONE (all defaults) or, for a variant, the bare name of a choice: both have no
 * members. */
int params_read_except(const struct param_table *t, struct json_value v, const char *const *except,
                       void *target, struct errors *e)
{
    bool *seen = xcalloc(t->count, sizeof *seen);
    int status = 0;

    if (t->size)
        memset(target, 0, t->size);
    JSON_FOR_EACH(child, v)
    {
        const struct param *p = find_row(t, json_key(child));

        if (p) {
            seen[p - t->row] = true;
            if (p->optional && json_kind(child) == JSON_NULL)
                continue;
            if (param_read_value(p, child, param_field(p, target), e))
                status = -1;
        } else if (listed(json_key(child), except)) {
            continue;
        } else if (strcmp(json_key(child), "comment") == 0) {
            status = check_comment(child, e) ? -1 : status;
        } else {
            status = unknown_member(t, child, except, e);
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct param *p = &t->row[i];

        if (seen[i] || p->optional)
            continue;
        if (p->def ? param_read_default(p, param_field(p, target), e) : missing_member(p, v, e))
            status = -1;
    }
    free(seen);
    if (!status && t->check)
        status = t->check(target, v, e);
    return status;
}

int params_read(const struct param_table *t, struct json_value v, void *target, struct errors *e)
{
    char *shown;

    if (json_kind(v) == JSON_OBJECT)
        return params_read_except(t, v, NULL, target, e);
    if (t->size)
        memset(target, 0, t->size);
    shown = json_show(v);
    json_error(v, e, "found %s: an object (%s) is wanted", shown, t->name);
    free(shown);
    return -1;
}

/* ---- Freeing ------------------------------------------------------------------------------- */

static void free_list(const struct param *p, struct param_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        param_free_value(p->of, (char *)list->item + p->of->size * i);
    free(list->item);
}

void param_free_value(const struct param *p, void *field)
{
    struct param_variant *variant = field;
    void *data;

    switch (p->kind) {
    case PARAM_STRING:
    case PARAM_NAME:
        free(*(char **)field);
        break;
    case PARAM_OBJECT:
        params_free(p->table, field);
        break;
    case PARAM_POINTER:
        data = *(void **)field;
        if (data)
            params_free(p->table, data);
        free(data);
        break;
    case PARAM_LIST:
        free_list(p, field);
        break;
    case PARAM_VARIANT:
        if (variant->data)
            params_free(choice_table(variant->choice), variant->data);
        free(variant->data);
        break;
    case PARAM_CUSTOM:
        if (p->type->release)
            p->type->release(field);
        break;
    default:
        break;
    }
}

void params_free(const struct param_table *t, void *target)
{
    if (t->release)
        t->release(target);
    for (size_t i = 0; i < t->count; i++)
        param_free_value(&t->row[i], param_field(&t->row[i], target));
    if (t->size)
        memset(target, 0, t->size);
}
