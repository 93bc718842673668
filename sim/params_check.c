/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is a parameter table in order? For unit tests: a mistake in a table shows when it is built, not
 * when a user meets the row.
 */
#include "sim/params.h"

#include "sim/params_inside.h"

#include <stdlib.h>
#include <string.h>

/* Tables checked so far: tables share others, and may contain themselves. */
struct visit {
    const struct param_table **table;
    size_t count;
    bool ranges; /* every assumed default needs one */
    struct errors *e;
};

struct place {
    const struct param_table *table;
    const struct param *row;
    struct visit *visit;
};

static void check_table(struct visit *visit, const struct param_table *t);
static void check_row(const struct place *at, const struct param *p);

static void wrong(const struct place *at, const char *what, const char *detail)
{
    error_add(at->visit->e, EXIT_INTERNAL, "table %s, row \"%s\": %s%s", at->table->name,
              at->row->name, what, detail);
}

/* The default must read without error, and everything in it. */
static void check_default(const struct place *at, const struct param *p)
{
    struct errors found = ERRORS_NONE;
    void *field;

    if (!p->def)
        return;
    field = xcalloc(1, p->size);
    param_read_default(p, field, &found);
    for (size_t i = 0; i < found.count; i++)
        wrong(at, "bad default: ", found.item[i].text);
    param_free_value(p, field);
    free(field);
    errors_free(&found);
}

/* A bound must be a value by itself, and not beyond the other one. */
static bool check_bound(const struct place *at, const struct param *p, const char *text,
                        double *value)
{
    int64_t integer;
    char why[QUANTITY_WHY];
    char *end;

    if (p->kind == PARAM_NUMBER) {
        *value = strtod(text, &end);
        if (*end || !*text)
            wrong(at, "bound is no number: ", text);
        return !*end && *text;
    }
    if (quantity_parse(p->kind == PARAM_LIST ? QUANTITY_PLAIN : param_quantity(p), text, &integer,
                       why)) {
        wrong(at, "bad bound: ", why);
        return false;
    }
    *value = (double)integer;
    return true;
}

static bool check_bounds(const struct place *at, const struct param *p)
{
    bool bounded =
        param_quantity(p) != QUANTITY_COUNT || p->kind == PARAM_NUMBER || p->kind == PARAM_LIST;
    double low = 0, high = 0;

    if (!p->min && !p->max)
        return true;
    if (!bounded) {
        wrong(at, "this kind has no bounds", "");
        return false;
    }
    if ((p->min && !check_bound(at, p, p->min, &low)) ||
        (p->max && !check_bound(at, p, p->max, &high)))
        return false;
    if (p->min && p->max && low > high) {
        wrong(at, "min is above max", "");
        return false;
    }
    return true;
}

static void check_choices(const struct place *at, const struct param *p)
{
    const struct param_choice *choice;

    for (size_t i = 0; (choice = param_nth_choice(p, i)); i++) {
        if (param_find_choice(p, choice->name) != choice)
            wrong(at, "choice named twice: ", choice->name);
        if (choice->table && choice->table->row)
            for (size_t k = 0; k < choice->table->count; k++)
                if (strcmp(choice->table->row[k].name, p->choices->tag) == 0)
                    wrong(at, "a parameter has the name of the tag: ", choice->name);
        if (choice->table)
            check_table(at->visit, choice->table);
    }
}

/* What the kind needs to be there. False: nothing more can be checked. */
static bool check_parts(const struct place *at, const struct param *p)
{
    const char *missing = NULL;

    if (p->kind == PARAM_ENUM && !p->names)
        missing = "names";
    if ((p->kind == PARAM_OBJECT || p->kind == PARAM_POINTER) && !p->table)
        missing = "table";
    if (p->kind == PARAM_LIST && !p->of)
        missing = "of";
    if (p->kind == PARAM_VARIANT && (!p->choices || !p->choices->tag))
        missing = "choices";
    if (p->kind == PARAM_CUSTOM && !(p->type && p->type->read && p->type->write && p->type->schema))
        missing = "type";
    if (missing)
        wrong(at, "missing: ", missing);
    return !missing;
}

static void check_words(const struct place *at, const struct param *p)
{
    bool measured = param_quantity(p) != QUANTITY_COUNT;

    if (!p->meaning || !*p->meaning)
        wrong(at, "no meaning", "");
    else if (p->meaning[strlen(p->meaning) - 1] != '.')
        wrong(at, "the meaning is no sentence: ", p->meaning);
    if (p->def && p->status == STATUS_GIVEN)
        wrong(at, "a default is not \"given\"", "");
    if (p->def && p->status != STATUS_ASSUMED && !p->source)
        wrong(at, "no source for a default that is ", param_status_name(p->status));
    if (p->word && !measured)
        wrong(at, "only quantities and integers have a word", "");
}

/* Values of a stated range read, and at least one is not the default. */
static void check_range(const struct place *at, const struct param *p)
{
    bool stated = p->range && strcmp(p->range, PARAM_NO_RANGE);
    bool one_piece = param_is_scalar(p) || p->kind == PARAM_CUSTOM;
    bool text = p->kind == PARAM_STRING || p->kind == PARAM_NAME;
    struct param_list other;

    if (p->range && (p->status != STATUS_ASSUMED || !p->def))
        wrong(at, "a range is for assumed defaults: ", p->range);
    if (!p->def || p->status != STATUS_ASSUMED || !one_piece)
        return;
    text = text || (p->word && strcmp(p->def, p->word) == 0);
    other = param_alternatives(p);
    if (!other.count && (stated || (at->visit->ranges && !p->range && !text)))
        wrong(at, "an assumed default without alternatives, default ", p->def);
    for (size_t i = 0; i < other.count; i++) {
        struct param given = *p;

        given.def = ((char **)other.item)[i];
        check_default(at, &given);
    }
    param_alternatives_free(&other);
}

static void check_row(const struct place *at, const struct param *p)
{
    if (!check_parts(at, p))
        return;
    if (p->size != param_kind_size(p))
        wrong(at, "the field has not the size of a ", param_kind_name(p->kind));
    else if (p->def && p->optional)
        wrong(at, "optional, and with a default", "");
    else if (p->optional && (p->kind == PARAM_OBJECT || p->kind == PARAM_CUSTOM))
        wrong(at, "cannot be optional: use a POINTER, or give a default", "");
    else if (check_bounds(at, p)) {
        check_default(at, p);
        check_range(at, p);
    }
    if (p->table)
        check_table(at->visit, p->table);
    if (p->kind == PARAM_VARIANT)
        check_choices(at, p);
    if (p->kind == PARAM_LIST)
        check_row(at, p->of);
}

static void check_table(struct visit *visit, const struct param_table *t)
{
    for (size_t i = 0; i < visit->count; i++)
        if (visit->table[i] == t)
            return;
    visit->table = xrealloc(visit->table, (visit->count + 1) * sizeof(t));
    visit->table[visit->count++] = t;
    for (size_t i = 0; i < t->count; i++) {
        const struct param *p = &t->row[i];
        struct place at = {t, p, visit};

        if (!p->name || !*p->name ||
            strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(p->name)) {
            error_add(visit->e, EXIT_INTERNAL, "table %s, row %zu: no name in small letters",
                      t->name, i);
            continue;
        }
        for (size_t k = 0; k < i; k++)
            if (t->row[k].name && strcmp(t->row[k].name, p->name) == 0)
                wrong(&at, "named twice", "");
        if (p->offset + p->size > t->size)
            wrong(&at, "outside the struct", "");
        check_words(&at, p);
        check_row(&at, p);
    }
}

static int check(const struct param_table *t, bool ranges, struct errors *e)
{
    struct visit visit = {.ranges = ranges, .e = e};
    size_t before = e->count;

    check_table(&visit, t);
    free(visit.table);
    return e->count > before ? -1 : 0;
}

int params_check_table(const struct param_table *t, struct errors *e)
{
    return check(t, false, e);
}

int params_check_ranges(const struct param_table *t, struct errors *e)
{
    return check(t, true, e);
}
