/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Defaults that are guesses: what else they may be, and where a resolved struct rests on them.
 */
#define _GNU_SOURCE
#include "sim/params.h"

#include "sim/params_inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- Alternatives -----------------------------------------------------------------------------
 */

static void add_text(struct param_list *l, char *text)
{
    l->item = xrealloc(l->item, (l->count + 1) * sizeof(char *));
    ((char **)l->item)[l->count++] = text;
}

void param_alternatives_free(struct param_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(((char **)l->item)[i]);
    free(l->item);
    *l = (struct param_list){0};
}

struct param_list param_alternatives_of(const char *range)
{
    const char *dots = strstr(range, "..");
    struct param_list l = {0};

    add_text(&l, dots ? xasprintf("%.*s", (int)(dots - range), range) : xstrdup(range));
    if (dots)
        add_text(&l, xstrdup(dots + 2));
    return l;
}

/* Is the text the same value as the row's default? */
static bool means_default(const struct param *p, const char *text)
{
    struct param other = *p;
    char *standard = param_default_as_text(p), *given;
    bool same;

    other.def = text;
    given = param_default_as_text(&other);
    same = standard && given && strcmp(standard, given) == 0;
    free(standard);
    free(given);
    return same;
}

static void drop_default(const struct param *p, struct param_list *l)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->count; i++) {
        char *text = ((char **)l->item)[i];

        if (means_default(p, text))
            free(text);
        else
            ((char **)l->item)[kept++] = text;
    }
    l->count = kept;
}

/* A value by the rule, or the bound that it is beyond. */
static void add_within(const struct param *p, struct param_list *l, char *text, const char *bound)
{
    int64_t field;
    double number;
    char why[QUANTITY_WHY];
    void *at = p->kind == PARAM_NUMBER ? (void *)&number : (void *)&field;

    if (param_is_scalar(p) && bound && param_parse(p, text, at, why)) {
        free(text);
        text = xstrdup(bound);
    }
    add_text(l, text);
}

/* From half to double of a quantity. */
static void scale_quantity(const struct param *p, enum quantity q, int64_t value,
                           struct param_list *l)
{
    char text[QUANTITY_TEXT];

    if (value <= 0 || value > INT64_MAX / 2)
        return;
    add_within(p, l, xstrdup(quantity_format(q, value / 2, text)), p->min);
    add_within(p, l, xstrdup(quantity_format(q, 2 * value, text)), p->max);
}

static void scale_number(const struct param *p, struct param_list *l)
{
    double value = strtod(p->def, NULL);
    char text[NUMBER_TEXT];

    if (value == 0)
        return;
    add_within(p, l, xstrdup(number_format(value / 2, text)), value > 0 ? p->min : p->max);
    add_within(p, l, xstrdup(number_format(value * 2, text)), value > 0 ? p->max : p->min);
}

/* A custom default that is one quantity: a constant of a distribution. */
static void scale_custom(const struct param *p, struct param_list *l)
{
    static const enum quantity tried[] = {QUANTITY_DURATION, QUANTITY_SIZE, QUANTITY_RATE};
    char why[QUANTITY_WHY];
    int64_t value;

    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (!quantity_parse(tried[i], p->def, &value, why)) {
            scale_quantity(p, tried[i], value, l);
            return;
        }
}

static void by_rule(const struct param *p, struct param_list *l)
{
    char why[QUANTITY_WHY];
    int64_t value;

    switch (p->kind) {
    case PARAM_BOOLEAN:
        add_text(l, xstrdup("false"));
        add_text(l, xstrdup("true"));
        break;
    case PARAM_ENUM:
        for (size_t i = 0; p->names[i]; i++)
            add_text(l, xstrdup(p->names[i]));
        break;
    case PARAM_NUMBER:
        scale_number(p, l);
        break;
    case PARAM_CUSTOM:
        scale_custom(p, l);
        break;
    default:
        if (param_quantity(p) != QUANTITY_COUNT && !(p->word && !strcmp(p->def, p->word)) &&
            !quantity_parse(param_quantity(p), p->def, &value, why))
            scale_quantity(p, param_quantity(p), value, l);
    }
}

struct param_list param_alternatives(const struct param *p)
{
    struct param_list l = {0};
    bool one_piece = param_is_scalar(p) || p->kind == PARAM_CUSTOM;

    if (!p->def || p->status != STATUS_ASSUMED || !one_piece)
        return l;
    if (p->range && strcmp(p->range, PARAM_NO_RANGE) == 0)
        return l;
    if (p->range)
        l = param_alternatives_of(p->range);
    else
        by_rule(p, &l);
    drop_default(p, &l);
    return l;
}

/* ---- Values of a struct -----------------------------------------------------------------------
 */

struct walk {
    param_value_fn *each;
    void *ctx;
};

/* Where the walk is. */
struct at {
    const char *pattern, *pointer, *choice;
};

static void walk_table(const struct walk *w, const struct at *at, const struct param_table *t,
                       const void *target);

static void walk_leaf(const struct walk *w, const struct at *at, const struct param *p,
                      const void *field)
{
    struct param_value v = {at->pattern, at->pointer, at->choice, p, NULL, false};
    char *standard, *text;

    if (p->optional && param_is_absent(p, field))
        return;
    standard = param_default_as_text(p);
    text = param_as_text(p, field);
    v.text = text;
    v.is_default = standard && strcmp(standard, text) == 0;
    w->each(w->ctx, &v);
    free(standard);
    free(text);
}

static void walk_field(const struct walk *w, const struct at *at, const struct param *p,
                       const void *field);

static void walk_list(const struct walk *w, const struct at *at, const struct param *p,
                      const struct param_list *list)
{
    char *pattern = json_pointer_append(at->pattern, "-");

    for (size_t i = 0; i < list->count; i++) {
        char index[24], *pointer;
        struct at below = {pattern, NULL, at->choice};

        snprintf(index, sizeof index, "%zu", i);
        pointer = json_pointer_append(at->pointer, index);
        below.pointer = pointer;
        walk_field(w, &below, p->of, (const char *)list->item + p->of->size * i);
        free(pointer);
    }
    free(pattern);
}

static void walk_variant(const struct walk *w, const struct at *at,
                         const struct param_variant *variant)
{
    struct at below = {at->pattern, at->pointer, NULL};

    if (!variant->choice || !variant->data)
        return;
    below.choice = variant->choice->name;
    walk_table(w, &below, variant->choice->table, variant->data);
}

static void walk_field(const struct walk *w, const struct at *at, const struct param *p,
                       const void *field)
{
    switch (p->kind) {
    case PARAM_OBJECT:
        walk_table(w, at, p->table, field);
        break;
    case PARAM_POINTER:
        if (*(void *const *)field)
            walk_table(w, at, p->table, *(void *const *)field);
        break;
    case PARAM_LIST:
        if (!param_is_scalar(p->of) && p->of->kind != PARAM_CUSTOM)
            walk_list(w, at, p, field);
        break;
    case PARAM_VARIANT:
        walk_variant(w, at, field);
        break;
    default:
        walk_leaf(w, at, p, field);
    }
}

static void walk_table(const struct walk *w, const struct at *at, const struct param_table *t,
                       const void *target)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct param *p = &t->row[i];
        char *pattern = json_pointer_append(at->pattern, p->name);
        char *pointer = json_pointer_append(at->pointer, p->name);
        struct at below = {pattern, pointer, at->choice};

        walk_field(w, &below, p, param_field_const(p, target));
        free(pattern);
        free(pointer);
    }
}

void params_each_value(const struct param_table *t, const void *target, param_value_fn *each,
                       void *ctx)
{
    struct walk w = {each, ctx};
    struct at at = {"", "", NULL};

    walk_table(&w, &at, t, target);
}
