/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/arrival_params.h"

#include "sim/distribution_params.h"

#include <stdlib.h>
#include <string.h>

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
    return number_with_unit(per_second, "/s");
}

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
        return refuse_value(v, why, "\"500/s\", say", e);
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
                return refuse_value(row, "no row of the right length", "changes per second", e);
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
            return refuse_value(date, why, "\"10ms\", say", e);
    }
    if (json_exists(period) &&
        (!json_string(period) ||
         quantity_parse(QUANTITY_DURATION, json_string(period), &a->period, why)))
        return refuse_value(period, why, "\"1s\", say", e);
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
        return refuse_value(v, why, ARRIVAL_ACCEPTS, e);
    }
    arrival_check(a, &found);
    return pass_on_errors(&found, v, e);
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
                                        .schema = text_or_typed_schema,
                                        .release = arrival_release};
