/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Amounts are doubles here: what a distribution is made of need be no whole number of ns (a mean of
 * 16.0292 ns is none). They are read as decimal numbers times the unit, each correctly rounded, and
 * written in the base unit with as many digits as read back to the same bits.
 */
#include "sim/distribution_params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- amounts --------------------------------------------------------------------------------- */

/* A decimal number times a unit: rounded once if the unit is a power of ten. */
static double scaled(const char *number, const char *end, int64_t scale)
{
    char digits[96];
    int exponent = 0;

    for (; scale > 1 && scale % 10 == 0; scale /= 10)
        exponent++;
    snprintf(digits, sizeof digits, "%.*se%d", (int)(end - number), number, exponent);
    return strtod(digits, NULL) * (double)scale;
}

/* Text to a number in the base unit. 0, or -1 with the reason. */
int amount_parse(enum quantity q, const char *text, double *x, char why[QUANTITY_WHY])
{
    bool negative = *text == '-';
    char unit[QUANTITY_TEXT];
    const char *end;
    int64_t whole, scale;
    double number;

    text += negative;
    if (!quantity_parse(q, text, &whole, why)) {
        *x = negative ? -(double)whole : (double)whole;
        return 0;
    }
    end = text + strspn(text, "0123456789.");
    if (end == text || end - text > 64)
        return -1;
    snprintf(unit, sizeof unit, "1%s", *end == ' ' ? end + 1 : end);
    if (quantity_parse(q, unit, &scale, why))
        return -1;
    number = scaled(text, end, scale);
    *x = negative ? -number : number;
    return 0;
}

/* The shortest text without exponent that reads back to the same number; caller frees. */
static char *plain_text(double x)
{
    char number[NUMBER_TEXT];

    number_format(x, number);
    return strchr(number, 'e') ? xasprintf("%.40f", x) : xstrdup(number);
}

char *number_with_unit(double x, const char *unit)
{
    char *number = plain_text(x), *text = xasprintf("%s%s", number, unit);

    free(number);
    return text;
}

char *amount_text(enum quantity q, double x)
{
    static const char *const base[] = {[QUANTITY_DURATION] = "ns", [QUANTITY_SIZE] = "B"};
    char whole[QUANTITY_TEXT];
    double size = x < 0 ? -x : x;

    if (size < 0x1p53 && (double)(int64_t)size == size)
        return xasprintf("%s%s", x < 0 ? "-" : "", quantity_format(q, (int64_t)size, whole));
    return number_with_unit(x, base[q]);
}

/* ---- complaints ------------------------------------------------------------------------------ */

int refuse_value(struct json_value v, const char *why, const char *accepts, struct errors *e)
{
    char *shown = json_show(v);

    json_error(v, e, "found %s: %s; write %s", shown, why, accepts);
    free(shown);
    return -1;
}

/* What `check` found, said of the value. */
int pass_on_errors(struct errors *found, struct json_value v, struct errors *e)
{
    int result = found->count ? -1 : 0;

    for (size_t i = 0; i < found->count; i++)
        json_error(v, e, "%s", found->item[i].text);
    errors_free(found);
    return result;
}

int only_members(struct json_value v, const char *const *names, size_t count, struct errors *e)
{
    int result = 0;

    JSON_FOR_EACH(m, v)
    {
        const char *key = json_key(m), *near;
        size_t i = 0;

        while (i < count && strcmp(names[i], key))
            i++;
        if (i < count || !strcmp(key, "comment"))
            continue;
        near = nearest_name(key, names, count);
        result = near ? json_error(m, e, "unknown; did you mean \"%s\"?", near)
                      : json_error(m, e, "unknown; remove it");
    }
    return result;
}

/* ---- distributions: reading ------------------------------------------------------------------ */

#define DIST_ACCEPTS                                                                               \
    "a quantity, \"exponential(...)\" or another kind of distribution, or an object with "         \
    "\"type\""

static int parameter_parse(enum quantity q, const struct dist_parameter *p, const char *text,
                           double *x, char why[QUANTITY_WHY])
{
    int64_t percent;
    char *end;

    if (p->dimension == DIST_QUANTITY)
        return amount_parse(q, text, x, why);
    if (p->dimension == DIST_PROBABILITY && strchr(text, '%')) {
        if (quantity_parse(QUANTITY_PERCENT, text, &percent, why))
            return -1;
        *x = percent_fraction(percent);
        return 0;
    }
    *x = strtod(text, &end);
    if (end != text && !*end && isfinite(*x))
        return 0;
    snprintf(why, QUANTITY_WHY, "\"%s\" is a plain number", p->name);
    return -1;
}

/* The next argument of "kind(a, b)": from *text to a comma or the closing bracket, trimmed. NULL
 * when there is none. */
static char *next_argument(const char **text)
{
    const char *from = *text, *to;
    char *argument;

    while (*from == ' ')
        from++;
    to = from + strcspn(from, ",)");
    *text = *to ? to + 1 : to;
    while (to > from && to[-1] == ' ')
        to--;
    argument = xasprintf("%.*s", (int)(to - from), from);
    return argument;
}

static int call_parse(enum quantity q, const char *text, struct distribution *d,
                      char why[QUANTITY_WHY])
{
    const char *open = strchr(text, '('), *close = strchr(text, ')');
    char *name = xasprintf("%.*s", (int)(open - text), text);
    int kind = dist_kind_by_name(name), status = 0;
    size_t n;

    free(name);
    if (kind < 0 || dist_kinds[kind].table || !close || close[1]) {
        snprintf(why, QUANTITY_WHY, "no distribution of this form");
        return -1;
    }
    d->kind = (enum dist_kind)kind;
    n = dist_parameters(d->kind);
    text = open + 1;
    for (size_t i = 0; i < n && !status; i++) {
        char *argument = next_argument(&text);

        if (!*argument) {
            snprintf(why, QUANTITY_WHY, "%s takes %zu parameters", dist_kinds[kind].name, n);
            status = -1;
        } else {
            status = parameter_parse(q, &dist_kinds[kind].parameter[i], argument, &d->p[i], why);
        }
        free(argument);
    }
    if (!status && text != close + 1) {
        snprintf(why, QUANTITY_WHY, "%s takes %zu parameters", dist_kinds[kind].name, n);
        status = -1;
    }
    return status;
}

static int text_parse(enum quantity q, const char *text, struct distribution *d,
                      char why[QUANTITY_WHY])
{
    if (!dist_make_preset(d, text))
        return 0;
    if (strchr(text, '('))
        return call_parse(q, text, d, why);
    d->kind = DIST_CONSTANT;
    return amount_parse(q, text, &d->p[0], why);
}

static int read_points(enum quantity q, struct json_value v, struct distribution *d,
                       struct errors *e)
{
    struct json_value points = json_member(v, "points");
    size_t i = 0;

    if (json_kind(points) != JSON_ARRAY || !json_length(points))
        return json_error_in(v, "points", e, "give a list of [probability, value]");
    d->points = json_length(points);
    d->probability = xcalloc(d->points, sizeof *d->probability);
    d->value = xcalloc(d->points, sizeof *d->value);
    JSON_FOR_EACH(point, points)
    {
        struct json_value x = json_element(point, 1);
        char why[QUANTITY_WHY] = "no pair of a probability and a value with unit";

        if (json_length(point) != 2 || json_double(json_element(point, 0), &d->probability[i]) ||
            !json_string(x) || amount_parse(q, json_string(x), &d->value[i], why))
            return refuse_value(point, why, "[0.5, \"10us\"], say", e);
        i++;
    }
    return 0;
}

static int read_table(enum quantity q, struct json_value v, struct distribution *d,
                      struct errors *e)
{
    static const char *const names[] = {"type", "points", "rest", "cumulative"};
    struct json_value rest = json_member(v, "rest");

    if (only_members(v, names, d->kind == DIST_POINTS ? 4 : 2, e) || read_points(q, v, d, e))
        return -1;
    if (json_exists(rest)) {
        d->rest = xcalloc(1, sizeof *d->rest);
        if (dist_read(q, rest, d->rest, e))
            return -1;
    }
    if (d->kind == DIST_POINTS && !json_boolean(json_member(v, "cumulative")))
        for (size_t i = 1; i < d->points; i++)
            d->probability[i] += d->probability[i - 1];
    return 0;
}

static int read_object(enum quantity q, struct json_value v, struct distribution *d,
                       struct errors *e)
{
    const char *type = json_string(json_member(v, "type")), *names[DIST_PARAMETERS + 1] = {"type"};
    int kind = type ? dist_kind_by_name(type) : -1, result = 0;
    size_t n;

    if (kind < 0)
        return json_error_in(v, "type", e,
                             "no kind of distribution; write one of constant, "
                             "uniform, exponential, normal, lognormal, pareto, gev, "
                             "weibull, gamma, hyperexponential, bimodal, empirical, "
                             "points");
    d->kind = (enum dist_kind)kind;
    if (dist_kinds[kind].table)
        return read_table(q, v, d, e);
    n = dist_parameters(d->kind);
    for (size_t i = 0; i < n; i++) {
        const struct dist_parameter *p = &dist_kinds[kind].parameter[i];
        struct json_value m = json_member(v, p->name);
        char why[QUANTITY_WHY];

        names[i + 1] = p->name;
        if (!json_exists(m))
            result = json_error_in(v, p->name, e, "missing: %s", p->meaning);
        else if (p->dimension == DIST_QUANTITY || json_kind(m) == JSON_STRING) {
            if (!json_string(m) || parameter_parse(q, p, json_string(m), &d->p[i], why))
                result = refuse_value(m, json_string(m) ? why : "a string with a unit is wanted",
                                      quantity_example(q), e);
        } else if (json_double(m, &d->p[i])) {
            result = refuse_value(m, "no number", "a number", e);
        }
    }
    return only_members(v, names, n + 1, e) ? -1 : result;
}

int dist_read(enum quantity q, struct json_value v, struct distribution *d, struct errors *e)
{
    struct errors found = ERRORS_NONE;
    char why[QUANTITY_WHY] = "no distribution";

    if (json_kind(v) == JSON_OBJECT) {
        if (read_object(q, v, d, e))
            return -1;
    } else if (!json_string(v) || text_parse(q, json_string(v), d, why)) {
        return refuse_value(v, why, DIST_ACCEPTS, e);
    }
    dist_check(d, &found);
    return pass_on_errors(&found, v, e);
}

/* ---- distributions: writing ------------------------------------------------------------------ */

static bool same_dist(const struct distribution *a, const struct distribution *b)
{
    size_t bytes = a->points * sizeof *a->value;

    if (a->kind != b->kind || a->points != b->points || memcmp(a->p, b->p, sizeof a->p) ||
        !a->rest != !b->rest || (a->rest && !same_dist(a->rest, b->rest)))
        return false;
    return !bytes ||
           (!memcmp(a->value, b->value, bytes) && !memcmp(a->probability, b->probability, bytes));
}

static const char *preset_name(const struct distribution *d)
{
    for (size_t i = 0; i < dist_preset_count; i++) {
        struct distribution preset;
        bool same;

        dist_presets[i].make(&preset);
        same = same_dist(d, &preset);
        dist_free(&preset);
        if (same)
            return dist_presets[i].name;
    }
    return NULL;
}

static void write_table(enum quantity q, const struct distribution *d, struct json_writer *w,
                        const char *key);

static char *parameter_text(enum quantity q, const struct dist_parameter *p, double x)
{
    char number[NUMBER_TEXT];

    return p->dimension == DIST_QUANTITY ? amount_text(q, x) : xstrdup(number_format(x, number));
}

void dist_write(enum quantity q, const struct distribution *d, struct json_writer *w,
                const char *key)
{
    const struct dist_kind_info *kind = &dist_kinds[d->kind];
    const char *preset = preset_name(d);
    size_t n = dist_parameters(d->kind);
    char *text;

    if (preset) {
        json_put_string(w, key, preset);
        return;
    }
    if (kind->table) {
        write_table(q, d, w, key);
        return;
    }
    text = d->kind == DIST_CONSTANT ? amount_text(q, d->p[0]) : xasprintf("%s(", kind->name);
    for (size_t i = 0; i < n && d->kind != DIST_CONSTANT; i++) {
        char *one = parameter_text(q, &kind->parameter[i], d->p[i]);
        char *longer = xasprintf("%s%s%s", text, one, i + 1 < n ? ", " : ")");

        free(one);
        free(text);
        text = longer;
    }
    json_put_string(w, key, text);
    free(text);
}

static void write_table(enum quantity q, const struct distribution *d, struct json_writer *w,
                        const char *key)
{
    json_begin(w, key, '{');
    json_put_string(w, "type", dist_kinds[d->kind].name);
    if (d->kind == DIST_POINTS)
        json_put_boolean(w, "cumulative", true);
    json_begin(w, "points", '[');
    for (size_t i = 0; i < d->points; i++) {
        char *value = amount_text(q, d->value[i]);

        json_begin_inline(w, NULL, '[');
        json_put_number(w, NULL, d->probability[i]);
        json_put_string(w, NULL, value);
        json_end(w);
        free(value);
    }
    json_end(w);
    if (d->rest)
        dist_write(q, d->rest, w, "rest");
    json_end(w);
}

void text_or_typed_schema(const struct param *p, struct json_writer *w, const char *key)
{
    json_begin(w, key, '{');
    if (p->meaning)
        json_put_string(w, "description", p->meaning);
    json_begin(w, "anyOf", '[');
    json_begin_inline(w, NULL, '{');
    json_put_string(w, "type", "string");
    json_end(w);
    json_begin(w, NULL, '{');
    json_put_string(w, "type", "object");
    json_begin_inline(w, "required", '[');
    json_put_string(w, NULL, "type");
    json_end(w);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void dist_release(void *field)
{
    dist_free(field);
}

static int dist_time_read(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    (void)p;
    return dist_read(QUANTITY_DURATION, v, field, e);
}

static void dist_time_write(const struct param *p, const void *field, struct json_writer *w,
                            const char *key)
{
    (void)p;
    dist_write(QUANTITY_DURATION, field, w, key);
}

static int dist_size_read(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    (void)p;
    return dist_read(QUANTITY_SIZE, v, field, e);
}

static void dist_size_write(const struct param *p, const void *field, struct json_writer *w,
                            const char *key)
{
    (void)p;
    dist_write(QUANTITY_SIZE, field, w, key);
}

const struct param_type dist_time_type = {.name = "distribution of durations",
                                          .accepts = "\"60us\", \"exponential(60us)\" or an "
                                                     "object with \"type\"",
                                          .size = sizeof(struct distribution),
                                          .read = dist_time_read,
                                          .write = dist_time_write,
                                          .schema = text_or_typed_schema,
                                          .release = dist_release};

const struct param_type dist_size_type = {.name = "distribution of sizes",
                                          .accepts = "\"128B\", \"uniform(64B, 1KiB)\" or an "
                                                     "object with \"type\"",
                                          .size = sizeof(struct distribution),
                                          .read = dist_size_read,
                                          .write = dist_size_write,
                                          .schema = text_or_typed_schema,
                                          .release = dist_release};
