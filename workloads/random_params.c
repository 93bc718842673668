/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Amounts are doubles here: what a distribution is made of need be no whole number of ns (a mean of
 * 16.0292 ns is none). They are read as decimal numbers times the unit, each correctly rounded, and
 * written in the base unit with as many digits as read back to the same bits.
 */
#include "workloads/random_params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- amounts --------------------------------------------------------------------------------- */

/* Text to a number in the base unit. 0, or -1 with the reason. */
static int amount_parse(enum quantity q, const char *text, double *x, char why[QUANTITY_WHY])
{
    bool negative = *text == '-';
    char unit[QUANTITY_TEXT], *end;
    int64_t whole, scale;
    double number;

    text += negative;
    if (!quantity_parse(q, text, &whole, why)) {
        *x = negative ? -(double)whole : (double)whole;
        return 0;
    }
    number = *text >= '0' && *text <= '9' ? strtod(text, &end) : (end = NULL, 0);
    if (!end || !isfinite(number))
        return -1;
    snprintf(unit, sizeof unit, "1%s", *end == ' ' ? end + 1 : end);
    if (quantity_parse(q, unit, &scale, why))
        return -1;
    *x = negative ? -number * (double)scale : number * (double)scale;
    return 0;
}

/* The shortest text that reads back to the same number. */
static char *amount_text(enum quantity q, double x)
{
    static const char *const base[] = {[QUANTITY_DURATION] = "ns", [QUANTITY_SIZE] = "B"};
    char whole[QUANTITY_TEXT], number[NUMBER_TEXT];
    double size = x < 0 ? -x : x;

    if (size < 0x1p53 && (double)(int64_t)size == size)
        return xasprintf("%s%s", x < 0 ? "-" : "", quantity_format(q, (int64_t)size, whole));
    return xasprintf("%s%s", number_format(x, number), base[q]);
}

static int rate_parse(const char *text, double *per_second, char why[QUANTITY_WHY])
{
    double millionths;

    if (amount_parse(QUANTITY_RATE, text, &millionths, why))
        return -1;
    *per_second = millionths / (double)RATE_PER_S;
    return 0;
}

static char *rate_text(double per_second)
{
    char number[NUMBER_TEXT];

    return xasprintf("%s/s", number_format(per_second, number));
}

/* ---- complaints ------------------------------------------------------------------------------ */

static int refuse(struct json_value v, const char *why, const char *accepts, struct errors *e)
{
    char *shown = json_show(v);

    json_error(v, e, "found %s: %s; write %s", shown, why, accepts);
    free(shown);
    return -1;
}

/* What `check` found, said of the value. */
static int pass_on(struct errors *found, struct json_value v, struct errors *e)
{
    int result = found->count ? -1 : 0;

    for (size_t i = 0; i < found->count; i++)
        json_error(v, e, "%s", found->item[i].text);
    errors_free(found);
    return result;
}

static int only_members(struct json_value v, const char *const *names, size_t count,
                        struct errors *e)
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

static int dist_read(enum quantity q, struct json_value v, struct distribution *d,
                     struct errors *e);

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
            return refuse(point, why, "[0.5, \"10us\"], say", e);
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
                result = refuse(m, json_string(m) ? why : "a string with a unit is wanted",
                                quantity_example(q), e);
        } else if (json_double(m, &d->p[i])) {
            result = refuse(m, "no number", "a number", e);
        }
    }
    return only_members(v, names, n + 1, e) ? -1 : result;
}

static int dist_read(enum quantity q, struct json_value v, struct distribution *d, struct errors *e)
{
    struct errors found = ERRORS_NONE;
    char why[QUANTITY_WHY] = "no distribution";

    if (json_kind(v) == JSON_OBJECT) {
        if (read_object(q, v, d, e))
            return -1;
    } else if (!json_string(v) || text_parse(q, json_string(v), d, why)) {
        return refuse(v, why, DIST_ACCEPTS, e);
    }
    dist_check(d, &found);
    return pass_on(&found, v, e);
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

static void dist_write(enum quantity q, const struct distribution *d, struct json_writer *w,
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

static void any_schema(const struct param *p, struct json_writer *w, const char *key)
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
                                          .schema = any_schema,
                                          .release = dist_release};

const struct param_type dist_size_type = {.name = "distribution of sizes",
                                          .accepts = "\"128B\", \"uniform(64B, 1KiB)\" or an "
                                                     "object with \"type\"",
                                          .size = sizeof(struct distribution),
                                          .read = dist_size_read,
                                          .write = dist_size_write,
                                          .schema = any_schema,
                                          .release = dist_release};

/* ---- arrival processes ----------------------------------------------------------------------- */

#define ARRIVAL_ACCEPTS                                                                            \
    "\"poisson(500/s)\" or an object with \"type\": renewal, mmpp, on-off or trace"

static int poisson_parse(const char *text, struct arrival_process *a, char why[QUANTITY_WHY])
{
    size_t length = strlen(text);
    char *rate;
    int status;

    snprintf(why, QUANTITY_WHY, "no arrival process of this form");
    if (strncmp(text, "poisson(", 8) || text[length - 1] != ')')
        return -1;
    rate = xasprintf("%.*s", (int)(length - 9), text + 8);
    a->kind = ARRIVAL_POISSON;
    status = rate_parse(rate, &a->rate, why);
    free(rate);
    return status;
}

static int read_part(struct json_value v, const char *key, struct distribution *d, struct errors *e)
{
    struct json_value m = json_member(v, key);

    if (!json_exists(m))
        return json_error_in(v, key, e, "missing: a distribution of durations");
    return dist_read(QUANTITY_DURATION, m, d, e);
}

static int read_rate(struct json_value v, double *rate, struct errors *e)
{
    char why[QUANTITY_WHY] = "no rate";

    if (!json_string(v) || rate_parse(json_string(v), rate, why))
        return refuse(v, why, "\"500/s\", say", e);
    return 0;
}

static int read_mmpp(struct json_value v, struct arrival_process *a, struct errors *e)
{
    struct json_value rates = json_member(v, "rates"), leave = json_member(v, "leave");
    int result = 0;

    a->states = json_length(rates);
    if (a->states < 2 || a->states > MMPP_STATES)
        return json_error_in(v, "rates", e, "give 2 to %d rates, one for each state", MMPP_STATES);
    if (json_length(leave) != a->states)
        return json_error_in(v, "leave", e, "give %zu rows of %zu numbers: changes per second",
                             a->states, a->states);
    for (size_t i = 0; i < a->states; i++) {
        struct json_value row = json_element(leave, i);

        result |= read_rate(json_element(rates, i), &a->state_rate[i], e);
        for (size_t k = 0; k < a->states; k++)
            if (json_double(json_element(row, k), &a->leave[i][k]))
                return refuse(row, "no row of the right length", "changes per second", e);
    }
    return result;
}

static int read_trace(struct json_value v, struct arrival_process *a, struct errors *e)
{
    struct json_value dates = json_member(v, "dates"), period = json_member(v, "period");
    char why[QUANTITY_WHY] = "no date";
    size_t i = 0;

    if (!json_length(dates))
        return json_error_in(v, "dates", e, "give a list of dates");
    a->dates = json_length(dates);
    a->date = xcalloc(a->dates, sizeof *a->date);
    JSON_FOR_EACH(date, dates)
    {
        if (!json_string(date) ||
            quantity_parse(QUANTITY_DURATION, json_string(date), &a->date[i++], why))
            return refuse(date, why, "\"10ms\", say", e);
    }
    if (json_exists(period) &&
        (!json_string(period) ||
         quantity_parse(QUANTITY_DURATION, json_string(period), &a->period, why)))
        return refuse(period, why, "\"1s\", say", e);
    return 0;
}

static int read_process(struct json_value v, struct arrival_process *a, struct errors *e)
{
    static const char *const names[ARRIVAL_KINDS][5] = {
        [ARRIVAL_POISSON] = {"type", "rate"},
        [ARRIVAL_RENEWAL] = {"type", "gap"},
        [ARRIVAL_MMPP] = {"type", "rates", "leave"},
        [ARRIVAL_ON_OFF] = {"type", "gap", "on", "off"},
        [ARRIVAL_TRACE] = {"type", "dates", "period"},
    };
    const char *type = json_string(json_member(v, "type"));
    int kind = type ? arrival_kind_by_name(type) : -1, result;
    size_t n = 0;

    if (kind < 0)
        return json_error_in(v, "type", e,
                             "no kind of arrival process; write poisson, renewal, "
                             "mmpp, on-off or trace");
    a->kind = (enum arrival_kind)kind;
    while (names[kind][n])
        n++;
    result = only_members(v, names[kind], n, e);
    switch (a->kind) {
    case ARRIVAL_POISSON:
        return read_rate(json_member(v, "rate"), &a->rate, e) | result;
    case ARRIVAL_RENEWAL:
        return read_part(v, "gap", &a->gap, e) | result;
    case ARRIVAL_MMPP:
        return read_mmpp(v, a, e) | result;
    case ARRIVAL_ON_OFF:
        result |= read_part(v, "gap", &a->gap, e);
        result |= read_part(v, "on", &a->on, e);
        return read_part(v, "off", &a->off, e) | result;
    default:
        return read_trace(v, a, e) | result;
    }
}

static int arrival_read(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    struct arrival_process *a = field;
    struct errors found = ERRORS_NONE;
    char why[QUANTITY_WHY] = "no arrival process";

    (void)p;
    if (json_kind(v) == JSON_OBJECT) {
        if (read_process(v, a, e))
            return -1;
    } else if (!json_string(v) || poisson_parse(json_string(v), a, why)) {
        return refuse(v, why, ARRIVAL_ACCEPTS, e);
    }
    arrival_check(a, &found);
    return pass_on(&found, v, e);
}

static void write_mmpp(const struct arrival_process *a, struct json_writer *w)
{
    json_begin(w, "rates", '[');
    for (size_t i = 0; i < a->states; i++) {
        char *text = rate_text(a->state_rate[i]);

        json_put_string(w, NULL, text);
        free(text);
    }
    json_end(w);
    json_begin(w, "leave", '[');
    for (size_t i = 0; i < a->states; i++) {
        json_begin_inline(w, NULL, '[');
        for (size_t k = 0; k < a->states; k++)
            json_put_number(w, NULL, a->leave[i][k]);
        json_end(w);
    }
    json_end(w);
}

static void write_trace(const struct arrival_process *a, struct json_writer *w)
{
    json_begin(w, "dates", '[');
    for (size_t i = 0; i < a->dates; i++)
        json_put_quantity(w, NULL, QUANTITY_DURATION, a->date[i]);
    json_end(w);
    if (a->period)
        json_put_quantity(w, "period", QUANTITY_DURATION, a->period);
}

static void arrival_write(const struct param *p, const void *field, struct json_writer *w,
                          const char *key)
{
    const struct arrival_process *a = field;
    char *rate, *text;

    (void)p;
    if (a->kind == ARRIVAL_POISSON) {
        rate = rate_text(a->rate);
        text = xasprintf("poisson(%s)", rate);
        json_put_string(w, key, text);
        free(rate);
        free(text);
        return;
    }
    json_begin(w, key, '{');
    json_put_string(w, "type", arrival_kinds[a->kind].name);
    if (a->kind == ARRIVAL_RENEWAL || a->kind == ARRIVAL_ON_OFF)
        dist_write(QUANTITY_DURATION, &a->gap, w, "gap");
    if (a->kind == ARRIVAL_ON_OFF) {
        dist_write(QUANTITY_DURATION, &a->on, w, "on");
        dist_write(QUANTITY_DURATION, &a->off, w, "off");
    }
    if (a->kind == ARRIVAL_MMPP)
        write_mmpp(a, w);
    if (a->kind == ARRIVAL_TRACE)
        write_trace(a, w);
    json_end(w);
}

static void arrival_release(void *field)
{
    arrival_process_free(field);
}

const struct param_type arrival_type = {.name = "arrival process",
                                        .accepts = ARRIVAL_ACCEPTS,
                                        .size = sizeof(struct arrival_process),
                                        .read = arrival_read,
                                        .write = arrival_write,
                                        .schema = any_schema,
                                        .release = arrival_release};
