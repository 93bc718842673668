/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/assign.h"

#include "experiments/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

/* A choice by its bare name, at this place, becomes the object it stands for. */
static void open_choice(struct json *scenario, const char *flag, const char *pointer,
                        struct errors *e)
{
    struct json_value v = json_at(scenario, pointer);
    struct errors none = ERRORS_NONE;
    const struct param *row;
    char *text;

    if (json_kind(v) != JSON_STRING)
        return;
    row = params_find(scenario_format.table, json_root(scenario), pointer, &none);
    errors_free(&none);
    if (!row || row->kind != PARAM_VARIANT)
        return;
    text = xasprintf("%s={\"%s\": \"%s\"}", pointer, row->choices->tag, json_string(v));
    json_set(scenario, flag, text, e);
    free(text);
}

int scenario_assign(struct json *scenario, const char *flag, const char *assignment,
                    struct errors *e)
{
    const char *end = strchr(assignment, '=');
    char *pointer;

    if (*assignment == '/' && end) {
        pointer = xstrdup(assignment);
        for (char *slash = pointer;
             (slash = strchr(slash + 1, '/')) && slash - pointer < end - assignment;) {
            *slash = '\0';
            open_choice(scenario, flag, pointer, e);
            *slash = '/';
        }
        free(pointer);
    }
    return json_set(scenario, flag, assignment, e);
}

struct json *scenario_load(const char *path, const char *flag, const char *const *assignment,
                           size_t assignments, struct errors *e)
{
    size_t before = e->count;
    struct json *doc = json_read(path, e);

    for (size_t i = 0; doc && i < assignments; i++)
        scenario_assign(doc, flag, assignment[i], e);
    if (e->count == before)
        return doc;
    json_free(doc);
    return NULL;
}
