/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/search/over.h"

#include "experiments/scenario/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 4 }; /* significant, of values that were sampled */

void over_free(struct over *o)
{
    for (size_t i = 0; i < o->pointers; i++)
        free(o->pointer[i]);
    for (size_t i = 0; i < o->choices; i++)
        free(o->choice[i]);
    free(o->pointer);
    free(o->choice);
    free(o->form);
    free(o->text);
}

static int bad(const struct over *o, const char *flag, const char *why, struct errors *e)
{
    return error_add(e, EXIT_INPUT, "%s %s: %s", flag, o->text, why);
}

static void push(char ***list, size_t *count, char *text)
{
    *list = xrealloc(*list, (*count + 1) * sizeof **list);
    (*list)[(*count)++] = text;
}

/* Length up to a comma outside of brackets and quotes. */
static size_t choice_length(const char *text)
{
    int depth = 0;
    bool quoted = false;
    size_t n = 0;

    for (; text[n]; n++) {
        if (quoted && text[n] == '\\' && text[n + 1])
            n++;
        else if (text[n] == '"')
            quoted = !quoted;
        else if (!quoted && strchr("[{(", text[n]))
            depth++;
        else if (!quoted && strchr("]})", text[n]))
            depth--;
        else if (!quoted && !depth && text[n] == ',')
            break;
    }
    return n;
}

static int read_choices(struct over *o, const char *values, const char *flag, struct errors *e)
{
    for (const char *at = values;; at++) {
        size_t n = choice_length(at);

        if (!n)
            return bad(o, flag, "an empty value between commas", e);
        push(&o->choice, &o->choices, xasprintf("%.*s", (int)n, at));
        at += n;
        if (!*at)
            break;
    }
    o->variable = (struct variable){.kind = VARIABLE_CHOICE, .choices = o->choices};
    return 0;
}

/* Does the place hold a real number? */
static bool is_real(const struct over *o, const struct json *scenario)
{
    struct errors none = ERRORS_NONE;
    const struct param *row =
        params_find(scenario_format.table, json_root(scenario), o->pointer[0], &none);

    errors_free(&none);
    return row && row->kind == PARAM_NUMBER && !o->form;
}

static double raw(const struct over *o, const struct value *v)
{
    return o->whole ? (double)v->exact : v->number;
}

static int make_range(struct over *o, struct value low, struct value high, const char *step_text,
                      bool log, const char *flag, const struct json *scenario, struct errors *e)
{
    struct value step = {0};

    if (!low.numeric || !high.numeric)
        return bad(o, flag, "numbers with their units are wanted on both sides of \"..\"", e);
    if (low.number == 0)
        low = value_of_exact(high.quantity, 0);
    if (low.quantity != high.quantity)
        return bad(o, flag, "both ends need the same unit", e);
    o->quantity = low.quantity;
    o->whole = low.whole && high.whole && !is_real(o, scenario);
    if (step_text) {
        step = value_read(step_text);
        if (!step.numeric || step.quantity != low.quantity || step.number <= 0 ||
            (o->whole && !step.whole))
            return bad(o, flag, "the step is no number above 0 of the range's unit", e);
    }
    o->variable = (struct variable){
        .kind = VARIABLE_REAL, .low = raw(o, &low), .high = raw(o, &high), .step = 1, .log = log};
    if (step_text || (o->whole && o->quantity == QUANTITY_PLAIN))
        o->variable.kind = VARIABLE_WHOLE;
    if (step_text)
        o->variable.step = raw(o, &step);
    if (o->variable.low > o->variable.high)
        return bad(o, flag, "the range ends before it begins", e);
    if (log && o->variable.low <= 0)
        return bad(o, flag, "a range by ratio (:log) lies above 0", e);
    return 0;
}

/* "LOW..HIGH[/STEP][:log]"; a rate's "/s" is no step. */
static int read_range(struct over *o, const char *values, const char *dots, const char *flag,
                      const struct json *scenario, struct errors *e)
{
    char *low = xasprintf("%.*s", (int)(dots - values), values), *high = xstrdup(dots + 2);
    size_t n = strlen(high);
    bool log = n > 4 && !strcmp(high + n - 4, ":log");
    char *slash, *step = NULL;
    int status;

    if (log)
        high[n - 4] = '\0';
    for (slash = strchr(high, '/'); slash; slash = strchr(slash + 1, '/'))
        if (slash[1] != 's' || (slash[2] && slash[2] != '/')) {
            *slash = '\0';
            step = slash + 1;
            break;
        }
    status = make_range(o, value_read(low), value_read(high), step, log, flag, scenario, e);
    free(low);
    free(high);
    return status;
}

static int read_pointers(struct over *o, const char *text, size_t length, const char *flag,
                         struct errors *e)
{
    const char *end = text + length;

    while (text < end) {
        const char *plus = memchr(text, '+', (size_t)(end - text));
        size_t n = (size_t)((plus ? plus : end) - text);

        if (*text != '/')
            return bad(
                o, flag,
                "a JSON pointer begins with \"/\", as in /hosts/0/scheduler/tslice=1ms..30ms", e);
        push(&o->pointer, &o->pointers, xasprintf("%.*s", (int)n, text));
        text += n + (plus != NULL);
    }
    return o->pointers ? 0 : bad(o, flag, "write /json/pointer=VALUES", e);
}

int over_read(struct over *o, const char *text, const char *flag, const struct json *scenario,
              struct errors *e)
{
    const char *equals = strchr(text, '='), *form, *dots;
    char *values;
    int status;

    *o = (struct over){.text = xstrdup(text)};
    if (!equals || !equals[1])
        return bad(o, flag,
                   "write /json/pointer=VALUES, such as /hosts/0/scheduler/tslice=1ms..30ms", e);
    if (read_pointers(o, text, (size_t)(equals - text), flag, e))
        return -1;
    form = strstr(equals, " as ");
    if (form && !strstr(form, "{}"))
        return bad(o, flag, "there is no {} for the value behind \"as\"", e);
    o->form = form ? xstrdup(form + 4) : NULL;
    values =
        xasprintf("%.*s", (int)(form ? form - equals - 1 : (int)strlen(equals + 1)), equals + 1);
    dots = strstr(values, "..");
    status = dots && *values != '"' ? read_range(o, values, dots, flag, scenario, e)
                                    : read_choices(o, values, flag, e);
    free(values);
    return status;
}

/* ---- values -----------------------------------------------------------------------------------
 */

char *over_value(const struct over *o, double x)
{
    struct value v;

    if (o->choices)
        return xstrdup(o->choice[(size_t)x]);
    v = o->whole ? value_of_exact(o->quantity, (int64_t)round(x)) : value_of_number(x);
    if (o->variable.kind == VARIABLE_REAL)
        v = value_round(&v, DIGITS);
    return value_format(&v);
}

char *over_assignment(const struct over *o, size_t pointer, double x)
{
    char *value = over_value(o, x), *text;
    const char *hole = o->form ? strstr(o->form, "{}") : NULL;

    if (hole)
        text = xasprintf("%s=%.*s%s%s", o->pointer[pointer], (int)(hole - o->form), o->form, value,
                         hole + 2);
    else
        text = xasprintf("%s=%s", o->pointer[pointer], value);
    free(value);
    return text;
}

/* The text of a value as it would be on the command line; caller frees. */
static char *plain_text(struct json_value v)
{
    char number[JSON_NUMBER_TEXT];

    if (json_kind(v) == JSON_STRING)
        return xstrdup(json_string(v));
    if (json_kind(v) == JSON_NUMBER)
        return xstrdup(json_number_text(v, number));
    if (json_kind(v) == JSON_OBJECT && json_string(json_member(v, "type")))
        return xstrdup(json_string(json_member(v, "type")));
    return NULL;
}

/* Inside a form, the value stands where {} is. */
static char *unformed(const struct over *o, char *text)
{
    const char *hole = o->form ? strstr(o->form, "{}") : NULL;
    size_t before = hole ? (size_t)(hole - o->form) : 0, after = hole ? strlen(hole + 2) : 0;
    char *inner = NULL;

    if (!text || !hole)
        return text;
    if (strlen(text) > before + after && !strncmp(text, o->form, before) &&
        !strcmp(text + strlen(text) - after, hole + 2))
        inner = xasprintf("%.*s", (int)(strlen(text) - before - after), text + before);
    free(text);
    return inner;
}

bool over_current(const struct over *o, const struct json *scenario, double *x)
{
    struct json_value v = json_at(scenario, o->pointer[0]);
    char *text = unformed(o, plain_text(v));
    bool found = false;
    struct value now;

    for (size_t i = 0; text && i < o->choices && !found; i++)
        if (!strcmp(text, o->choice[i])) {
            *x = (double)i;
            found = true;
        }
    if (text && !o->choices) {
        now = value_read(text);
        found = now.numeric && now.quantity == o->quantity && (!o->whole || now.whole);
        *x = raw(o, &now);
        found = found && *x >= o->variable.low && *x <= o->variable.high;
    }
    free(text);
    return found;
}

const char *over_name(const struct over *o)
{
    const char *slash = strrchr(o->pointer[0], '/');

    return slash && slash[1] ? slash + 1 : o->pointer[0];
}
