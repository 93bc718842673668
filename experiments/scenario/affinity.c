/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/affinity.h"

#include <stdlib.h>
#include <string.h>

bool cpu_list_is_all(const cpumask *m)
{
    cpumask all = cpumask_all();

    return cpumask_equal(m, &all);
}

char *cpu_list_text(const cpumask *m)
{
    char *text = xstrdup("");

    if (cpu_list_is_all(m)) {
        free(text);
        return xstrdup("all");
    }
    for_each_cpu(first, m)
    {
        uint32_t last = first;
        char *longer;

        if (first && cpumask_test(m, first - 1))
            continue; /* inside a range */
        while (last + 1 < MAX_PCPUS && cpumask_test(m, last + 1))
            last++;
        longer = last > first ? xasprintf("%s%s%u-%u", text, *text ? "," : "", first, last)
                              : xasprintf("%s%s%u", text, *text ? "," : "", first);
        free(text);
        text = longer;
    }
    return text;
}

/* ---- reading ----------------------------------------------------------------------------------*/

/* A number at *text, which moves behind it. -1: none, or too large. */
static long number(const char **text)
{
    char *end;
    long n;

    if (**text < '0' || **text > '9')
        return -1;
    n = strtol(*text, &end, 10);
    *text = end;
    return n < MAX_PCPUS ? n : -1;
}

/* Ranges separated by commas. NULL, or what is wrong. */
static const char *parse(const char *text, cpumask *m)
{
    if (!strcmp(text, "all")) {
        *m = cpumask_all();
        return NULL;
    }
    do {
        long first = number(&text), last = first;

        if (*text == '-') {
            text++;
            last = number(&text);
        }
        if (first < 0 || last < 0)
            return "numbers from 0 to 255 and ranges of them are wanted";
        if (last < first)
            return "a range begins with the smaller number";
        for (long i = first; i <= last; i++)
            cpumask_set(m, (uint32_t)i);
    } while (*text == ',' && text++);
    return *text ? "numbers and ranges are separated by commas" : NULL;
}

static int refuse(const struct param *p, struct json_value v, const char *why, struct errors *e)
{
    char *shown = json_show(v);

    json_error(v, e, "found %s: %s; write %s", shown, why, p->type->accepts);
    free(shown);
    return -1;
}

static int read_one(const struct param *p, struct json_value v, cpumask *m, struct errors *e)
{
    int64_t cpu;

    if (json_integer(v, &cpu) || cpu < 0 || cpu >= MAX_PCPUS)
        return refuse(p, v, "whole numbers from 0 to 255 are wanted", e);
    cpumask_set(m, (uint32_t)cpu);
    return 0;
}

static int cpu_list_read(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    const char *why;
    int status = 0;

    if (json_kind(v) == JSON_NUMBER)
        return read_one(p, v, field, e);
    if (json_kind(v) == JSON_ARRAY && json_length(v)) {
        JSON_FOR_EACH(one, v)
        status |= read_one(p, one, field, e);
        return status;
    }
    if (json_kind(v) != JSON_STRING)
        return refuse(p, v, "no set of CPUs", e);
    why = parse(json_string(v), field);
    return why ? refuse(p, v, why, e) : 0;
}

/* ---- writing ----------------------------------------------------------------------------------*/

static void cpu_list_write(const struct param *p, const void *field, struct json_writer *w,
                           const char *key)
{
    char *text = cpu_list_text(field);

    (void)p;
    json_put_string(w, key, text);
    free(text);
}

static void cpu_list_schema(const struct param *p, struct json_writer *w, const char *key)
{
    json_begin(w, key, '{');
    if (p->meaning)
        json_put_string(w, "description", p->meaning);
    json_begin(w, "anyOf", '[');
    json_begin_inline(w, NULL, '{');
    json_put_string(w, "type", "string");
    json_put_string(w, "pattern", "^(all|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)$");
    json_end(w);
    json_begin(w, NULL, '{');
    json_put_string(w, "type", "array");
    json_begin_inline(w, "items", '{');
    json_put_string(w, "type", "integer");
    json_put_integer(w, "minimum", 0);
    json_put_integer(w, "maximum", MAX_PCPUS - 1);
    json_end(w);
    json_put_integer(w, "minItems", 1);
    json_end(w);
    json_end(w);
    json_end(w);
}

const struct param_type cpu_list_type = {
    .name = "set of CPUs",
    .accepts = "\"all\", \"0-3,5\" or [0, 1, 2, 3, 5]",
    .size = sizeof(cpumask),
    .read = cpu_list_read,
    .write = cpu_list_write,
    .schema = cpu_list_schema,
};
