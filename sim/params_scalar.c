/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single values of parameter tables: text to field with all checks, field to text, and the words
 * that describe them.
 */
#include "sim/params.h"

#include "sim/params_inside.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LENGTH 64

static const struct {
    const char *name;
    enum quantity quantity;
    size_t size; /* of the field; 0: the row knows */
    bool scalar;
} kinds[] = {
    [PARAM_DURATION] = {"duration", QUANTITY_DURATION, sizeof(int64_t), true},
    [PARAM_SIZE] = {"size", QUANTITY_SIZE, sizeof(int64_t), true},
    [PARAM_BITRATE] = {"bitrate", QUANTITY_BITRATE, sizeof(int64_t), true},
    [PARAM_RATE] = {"rate", QUANTITY_RATE, sizeof(int64_t), true},
    [PARAM_PERCENT] = {"percentage", QUANTITY_PERCENT, sizeof(int64_t), true},
    [PARAM_INTEGER] = {"whole number", QUANTITY_PLAIN, sizeof(int64_t), true},
    [PARAM_NUMBER] = {"number", QUANTITY_COUNT, sizeof(double), true},
    [PARAM_BOOLEAN] = {"true or false", QUANTITY_COUNT, sizeof(bool), true},
    [PARAM_ENUM] = {"choice", QUANTITY_COUNT, sizeof(int), true},
    [PARAM_STRING] = {"string", QUANTITY_COUNT, sizeof(char *), true},
    [PARAM_NAME] = {"name", QUANTITY_COUNT, sizeof(char *), true},
    [PARAM_OBJECT] = {"object", QUANTITY_COUNT, 0, false},
    [PARAM_POINTER] = {"object", QUANTITY_COUNT, sizeof(void *), false},
    [PARAM_LIST] = {"list", QUANTITY_COUNT, sizeof(struct param_list), false},
    [PARAM_VARIANT] = {"choice", QUANTITY_COUNT, sizeof(struct param_variant), false},
    [PARAM_CUSTOM] = {"value", QUANTITY_COUNT, 0, false},
};

const char *param_kind_name(enum param_kind kind)
{
    return kinds[kind].name;
}

const char *param_status_name(enum param_status status)
{
    static const char *const names[] = {
        [STATUS_ASSUMED] = "assumed", [STATUS_CITED] = "cited", [STATUS_CALIBRATED] = "calibrated",
        [STATUS_EXACT] = "exact",     [STATUS_GIVEN] = "given",
    };

    return names[status];
}

bool param_is_scalar(const struct param *p)
{
    return kinds[p->kind].scalar;
}

enum quantity param_quantity(const struct param *p)
{
    return kinds[p->kind].quantity;
}

size_t param_kind_size(const struct param *p)
{
    if (p->kind == PARAM_OBJECT)
        return p->table->size;
    if (p->kind == PARAM_CUSTOM)
        return p->type->size;
    if (p->kind == PARAM_INTEGER && p->size == sizeof(int))
        return sizeof(int);
    return kinds[p->kind].size;
}

/* ---- Fields -------------------------------------------------------------------------------- */

static int64_t load_integer(const struct param *p, const void *field)
{
    int64_t wide;
    int narrow;

    if (p->kind == PARAM_ENUM || (p->kind == PARAM_INTEGER && p->size == sizeof narrow)) {
        memcpy(&narrow, field, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, field, sizeof wide);
    return wide;
}

static void store_integer(const struct param *p, void *field, int64_t value)
{
    int narrow = (int)value;

    if (p->kind == PARAM_ENUM || (p->kind == PARAM_INTEGER && p->size == sizeof narrow))
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &value, sizeof value);
}

static const char *load_string(const void *field)
{
    return *(char *const *)field;
}

bool param_is_absent(const struct param *p, const void *field)
{
    switch (p->kind) {
    case PARAM_NUMBER:
        return *(const double *)field == 0;
    case PARAM_BOOLEAN:
        return !*(const bool *)field;
    case PARAM_STRING:
    case PARAM_NAME:
        return !load_string(field);
    case PARAM_OBJECT:
    case PARAM_CUSTOM:
        return false;
    case PARAM_POINTER:
        return !*(void *const *)field;
    case PARAM_LIST:
        return ((const struct param_list *)field)->count == 0;
    case PARAM_VARIANT:
        return !((const struct param_variant *)field)->choice;
    default:
        return load_integer(p, field) == 0;
    }
}

/* ---- Names --------------------------------------------------------------------------------- */

/* Letters alike whatever their case, "-" and "_" alike. */
static int fold(char c)
{
    return c == '-' ? '_' : tolower((unsigned char)c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    size_t rows[3][NAME_LENGTH + 1];
    size_t *two_ago = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *spare = two_ago;

        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t swap = fold(a[i - 1]) != fold(b[j - 1]);

            now[j] = least(least(last[j] + 1, now[j - 1] + 1), last[j - 1] + swap);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
                fold(a[i - 2]) == fold(b[j - 1]))
                now[j] = least(now[j], two_ago[j - 2] + 1);
        }
        two_ago = last;
        last = now;
        now = spare;
    }
    return last[nb];
}

const char *nearest_name(const char *found, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t length = strlen(found), best_distance = SIZE_MAX;

    if (length > NAME_LENGTH)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(names[i]), distance;

        if (other > NAME_LENGTH)
            continue;
        distance = edit_distance(found, names[i]);
        if (distance < best_distance && 3 * distance <= (length > other ? length : other)) {
            best = names[i];
            best_distance = distance;
        }
    }
    return best;
}

static bool name_is_good(const char *text)
{
    size_t length = strlen(text);

    return length > 0 && length <= NAME_LENGTH &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:") ==
               length;
}

/* ---- Text to field ------------------------------------------------------------------------- */

static int64_t bound(const struct param *p, const char *text, int64_t otherwise)
{
    char why[QUANTITY_WHY];
    int64_t value;

    if (!text)
        return otherwise;
    BUG_ON(quantity_parse(param_quantity(p), text, &value, why));
    return value;
}

static int refuse(const struct param *p, char why[QUANTITY_WHY], const char *what)
{
    char *accepts = param_accepts(p);

    snprintf(why, QUANTITY_WHY, "%s%s is wanted", what, accepts);
    free(accepts);
    return -1;
}

static int parse_quantity(const struct param *p, const char *text, void *field,
                          char why[QUANTITY_WHY])
{
    bool narrow = p->kind == PARAM_INTEGER && p->size == sizeof(int);
    int64_t lowest = p->kind != PARAM_INTEGER ? 0 : narrow ? INT_MIN : INT64_MIN;
    int64_t value;

    if (p->word && strcmp(text, p->word) == 0) {
        store_integer(p, field, p->word_value);
        return 0;
    }
    if (quantity_parse(param_quantity(p), text, &value, why)) {
        size_t length = strlen(why);

        if (p->word)
            snprintf(why + length, QUANTITY_WHY - length, ", or \"%s\"", p->word);
        return -1;
    }
    if (value < bound(p, p->min, lowest))
        return refuse(p, why, p->min ? "too small: " : "must not be negative: ");
    if (value > bound(p, p->max, narrow ? INT_MAX : INT64_MAX))
        return refuse(p, why, "too large: ");
    store_integer(p, field, value);
    return 0;
}

/* Decimal notation only: strtod alone would take "inf", "nan" and "0x1p3". */
static int decimal(const char *text, double *value)
{
    char *end;

    if (!*text || strspn(text, "0123456789+-.eE") != strlen(text))
        return -1;
    *value = strtod(text, &end);
    return *end || !isfinite(*value) ? -1 : 0;
}

static int parse_number(const struct param *p, const char *text, void *field,
                        char why[QUANTITY_WHY])
{
    double value, least_value = 0, most = 0;

    BUG_ON((p->min && decimal(p->min, &least_value)) || (p->max && decimal(p->max, &most)));
    if (decimal(text, &value))
        return refuse(p, why, "");
    if (p->min && value < least_value)
        return refuse(p, why, "too small: ");
    if (p->max && value > most)
        return refuse(p, why, "too large: ");
    memcpy(field, &value, sizeof value);
    return 0;
}

static int parse_enum(const struct param *p, const char *text, void *field, char why[QUANTITY_WHY])
{
    const char *nearest;
    size_t count = 0;
    char what[NAME_LENGTH + 32] = "";

    for (; p->names[count]; count++)
        if (strcmp(p->names[count], text) == 0) {
            store_integer(p, field, (int64_t)count);
            return 0;
        }
    nearest = nearest_name(text, p->names, count);
    if (nearest)
        snprintf(what, sizeof what, "did you mean \"%s\"? ", nearest);
    return refuse(p, why, what);
}

int param_parse(const struct param *p, const char *text, void *field, char why[QUANTITY_WHY])
{
    bool truth = strcmp(text, "true") == 0;
    char *copy;

    switch (p->kind) {
    case PARAM_NUMBER:
        return parse_number(p, text, field, why);
    case PARAM_BOOLEAN:
        if (!truth && strcmp(text, "false"))
            return refuse(p, why, "");
        memcpy(field, &truth, sizeof truth);
        return 0;
    case PARAM_ENUM:
        return parse_enum(p, text, field, why);
    case PARAM_NAME:
        if (!name_is_good(text))
            return refuse(p, why, "");
        /* fall through */
    case PARAM_STRING:
        copy = xstrdup(text);
        memcpy(field, &copy, sizeof copy);
        return 0;
    default:
        BUG_ON(!param_is_scalar(p));
        return parse_quantity(p, text, field, why);
    }
}

/* ---- Field to text ------------------------------------------------------------------------- */

char *param_text(const struct param *p, const void *field)
{
    char text[QUANTITY_TEXT], number[NUMBER_TEXT];
    double value;
    int64_t integer;

    switch (p->kind) {
    case PARAM_NUMBER:
        memcpy(&value, field, sizeof value);
        return xstrdup(number_format(value, number));
    case PARAM_BOOLEAN:
        return xstrdup(*(const bool *)field ? "true" : "false");
    case PARAM_ENUM:
        return xstrdup(p->names[load_integer(p, field)]);
    case PARAM_STRING:
    case PARAM_NAME:
        return xstrdup(load_string(field) ? load_string(field) : "");
    default:
        BUG_ON(!param_is_scalar(p));
        integer = load_integer(p, field);
        if (p->word && integer == p->word_value)
            return xstrdup(p->word);
        return xstrdup(quantity_format(param_quantity(p), integer, text));
    }
}

char *param_range(const struct param *p)
{
    const char *of = p->kind == PARAM_LIST ? " elements" : "";

    if (p->min && p->max)
        return xasprintf("%s to %s%s", p->min, p->max, of);
    if (p->min)
        return xasprintf("at least %s%s", p->min, of);
    return p->max ? xasprintf("at most %s%s", p->max, of) : xstrdup("");
}

/* "a, b or c" of an enumeration. */
static char *join_names(const char *const *names)
{
    char *text = xstrdup("");

    for (size_t i = 0; names[i]; i++) {
        const char *comma = i == 0 ? "" : names[i + 1] ? ", " : " or ";
        char *longer = xasprintf("%s%s\"%s\"", text, comma, names[i]);

        free(text);
        text = longer;
    }
    return text;
}

static char *join_choices(const struct param *p)
{
    const char **names;
    size_t count = 0;
    char *text, *whole;

    while (param_nth_choice(p, count))
        count++;
    names = xcalloc(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = param_nth_choice(p, i)->name;
    text = join_names(names);
    whole = xasprintf("an object with a member \"%s\" of %s", p->choices->tag, text);
    free(names);
    free(text);
    return whole;
}

static char *with_range(const struct param *p, const char *text)
{
    char *range = param_range(p), *whole;
    char word[96] = "";

    if (p->word)
        snprintf(word, sizeof word, ", or \"%s\"", p->word);
    whole = xasprintf(*range ? "%s (%s)%s" : "%s%s%s", text, range, word);
    free(range);
    return whole;
}

char *param_accepts(const struct param *p)
{
    char text[128];

    switch (p->kind) {
    case PARAM_ENUM:
        return join_names(p->names);
    case PARAM_BOOLEAN:
        return xstrdup("true or false");
    case PARAM_NAME:
        return xasprintf("the name of a %s (letters, digits, _ - . : and at most %d of them)",
                         p->refers ? p->refers : "thing", NAME_LENGTH);
    case PARAM_LIST:
        return with_range(p, "an array");
    case PARAM_VARIANT:
        return join_choices(p);
    case PARAM_OBJECT:
    case PARAM_POINTER:
        return xstrdup("an object");
    case PARAM_CUSTOM:
        return xstrdup(p->type->accepts);
    case PARAM_INTEGER:
    case PARAM_NUMBER:
    case PARAM_STRING:
        snprintf(text, sizeof text, "a %s", param_kind_name(p->kind));
        return with_range(p, text);
    default:
        snprintf(text, sizeof text, "a %s such as \"%s\"", param_kind_name(p->kind),
                 quantity_example(param_quantity(p)));
        return with_range(p, text);
    }
}
