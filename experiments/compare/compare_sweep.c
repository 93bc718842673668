/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The points of a sweep file as variants of a study. */
#include "experiments/compare/compare.h"
#include "experiments/scenario/assign.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 1000 };

bool compare_is_sweep(const char *path)
{
    static const char suffix[] = ".sweep.json";
    size_t n = strlen(path);

    return n > sizeof suffix - 1 && !strcmp(path + n - (sizeof suffix - 1), suffix);
}

/* "credit, own pCPU": the point's levels. Caller frees. */
static char *label_of(const struct sweep *s, size_t point)
{
    char *label = xstrdup("");

    for (size_t i = 0; i < s->design.axes; i++) {
        char *longer =
            xasprintf("%s%s%s", label, i ? "; " : "", design_level(&s->design, point, i)->text);

        free(label);
        label = longer;
    }
    return label;
}

/* Does the point keep "axis=value"? -1 with an error: there is no such axis. */
static int keeps(const struct sweep *s, size_t point, const char *condition, struct errors *e)
{
    const char *equals = strchr(condition, '=');

    for (size_t i = 0; equals && i < s->design.axes; i++) {
        const char *name = s->design.axis[i].name;

        if (strlen(name) == (size_t)(equals - condition) &&
            !strncmp(name, condition, (size_t)(equals - condition)))
            return !strcmp(design_level(&s->design, point, i)->text, equals + 1);
    }
    return error_add(e, EXIT_INPUT,
                     "--where %s: write AXIS=VALUE, with an axis of the sweep (the first is "
                     "\"%s\")",
                     condition, s->design.axes ? s->design.axis[0].name : "");
}

static int wanted(const struct sweep *s, size_t point, const struct param_list *where,
                  struct errors *e)
{
    int all = 1;

    for (size_t i = 0; i < where->count && all > 0; i++) {
        int one = keeps(s, point, list_text(where, i), e);

        all = one < all ? one : all;
    }
    return all;
}

static int add_point(struct study *s, const struct sweep *sweep, size_t point,
                     const struct param_list *base, struct errors *e)
{
    struct json *doc = sweep_scenario(sweep, point, e);
    char *label, *replications = NULL;
    struct param_list changes;
    struct variant *v;
    int status;

    if (!doc)
        return -1;
    if (sweep->spec.replications) {
        replications = xasprintf("/replications=%lld", (long long)sweep->spec.replications);
        scenario_assign(doc, "replications", replications, e);
        free(replications);
    }
    for (size_t i = 0; i < base->count; i++)
        scenario_assign(doc, "--set", list_text(base, i), e);
    label = label_of(sweep, point);
    status = study_add_doc(s, label, doc, sweep->dir, e);
    free(label);
    if (status)
        return -1;
    v = &s->variant[s->variants - 1];
    changes = sweep_changes(sweep, point);
    v->assignment = xcalloc(changes.count, sizeof *v->assignment);
    for (; v->assignments < changes.count; v->assignments++)
        v->assignment[v->assignments] = xstrdup(list_text(&changes, v->assignments));
    sweep_changes_free(&changes);
    return 0;
}

int compare_add_sweep(struct study *s, const struct sweep *sweep, const struct param_list *where,
                      const struct param_list *base, struct errors *e)
{
    size_t before = e->count;

    for (size_t i = 0; i < sweep->points && e->count == before; i++) {
        if (wanted(sweep, i, where, e) <= 0)
            continue;
        if (s->variants == POINTS_MOST)
            error_add(e, EXIT_INPUT, "more than %d points; `hvsim sweep` is for that many",
                      POINTS_MOST);
        else
            add_point(s, sweep, i, base, e);
    }
    if (!s->variants && e->count == before)
        error_add(e, EXIT_INPUT, "--where: no point of %s is left", sweep->path);
    return e->count > before ? -1 : 0;
}
