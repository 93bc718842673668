/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/figures.h"

#include "experiments/sweep/sweep_value.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

void figures_free(struct figures *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->item[i].subject);
    free(f->item);
}

char *figure_name(const struct figure *f)
{
    return xasprintf("%s:%s", f->subject, f->metric->name);
}

/* ---- selecting ---------------------------------------------------------------------------------
 */

/* "subject:metric" or "metric"; metrics hold no colon, subjects may. */
struct pattern {
    char *subject; /* NULL: any, but no single domains */
    char *metric;
};

static struct pattern pattern_of(const char *name)
{
    const char *colon = strrchr(name, ':');

    if (!colon)
        return (struct pattern){NULL, xstrdup(name)};
    return (struct pattern){xasprintf("%.*s", (int)(colon - name), name), xstrdup(colon + 1)};
}

static void pattern_free(struct pattern *p)
{
    free(p->subject);
    free(p->metric);
}

static bool means(const struct pattern *p, enum subject_kind kind, const char *subject,
                  const struct metric *m)
{
    if (p->subject ? fnmatch(p->subject, subject, 0) : kind == SUBJECT_DOMAIN)
        return false;
    return !fnmatch(p->metric, m->name, 0);
}

/* Number of the distribution of a subject: the one that an earlier figure has, or a new one. */
static size_t pool_of(struct figures *f, const struct subject *s, const struct metric *m)
{
    if (m->of == OF_NONE || m->estimate == ESTIMATE_MAXIMUM)
        return FIGURE_PLAIN;
    for (size_t i = f->count; i-- > 0;) {
        const struct figure *k = &f->item[i];

        if (k->kind != s->kind || strcmp(k->subject, s->name))
            break; /* figures of a subject come together */
        if (k->pool != FIGURE_PLAIN && k->metric->of == m->of)
            return k->pool;
    }
    return f->pools++;
}

static void add(struct figures *f, const struct subject *s, const struct metric *m, size_t cell)
{
    size_t pool = pool_of(f, s, m);

    if (!(f->count & (f->count - 1)))
        f->item = xrealloc(f->item, (f->count ? 2 * f->count : 1) * sizeof *f->item);
    f->item[f->count++] = (struct figure){s->kind, xstrdup(s->name), m, cell, pool};
}

struct figures figures_select(const struct layout *l, const char *const *names, size_t count,
                              bool *seen)
{
    struct pattern *pattern = xcalloc(count + 1, sizeof *pattern);
    struct figures f = {0};

    for (size_t k = 0; k < count; k++)
        pattern[k] = pattern_of(names[k]);
    for (size_t i = 0; i < l->subjects; i++) {
        const struct subject *s = &l->subject[i];

        for (size_t m = 0; m < metric_count; m++) {
            size_t cell = layout_cell(s, &metrics[m]);
            bool wanted = !count && s->kind != SUBJECT_DOMAIN;

            for (size_t k = 0; k < count && cell != SIZE_MAX; k++)
                if (means(&pattern[k], s->kind, s->name, &metrics[m])) {
                    wanted = true;
                    if (seen)
                        seen[k] = true;
                }
            if (wanted && cell != SIZE_MAX)
                add(&f, s, &metrics[m], cell);
        }
    }
    for (size_t k = 0; k < count; k++)
        pattern_free(&pattern[k]);
    free(pattern);
    return f;
}

int figures_unknown(const char *name, const char *what, struct errors *e)
{
    struct pattern p = pattern_of(name);
    const char **names = xcalloc(metric_count, sizeof *names), *nearest;

    for (size_t i = 0; i < metric_count; i++)
        names[i] = metrics[i].name;
    nearest = nearest_name(p.metric, names, metric_count);
    for (size_t i = 0; !nearest && *p.metric && i < metric_count; i++)
        if (strstr(names[i], p.metric)) /* "p99.9" */
            nearest = names[i];
    if (metric_by_name(p.metric))
        error_add(e, EXIT_INPUT, "%s: nothing in the scenario has \"%s\"", what, name);
    else if (nearest)
        error_add(e, EXIT_INPUT, "%s: no metric \"%s\": did you mean \"%s\"?", what, p.metric,
                  nearest);
    else
        error_add(e, EXIT_INPUT, "%s: no metric \"%s\"; `hvsim doc reference/metrics` lists them",
                  what, p.metric);
    free(names);
    pattern_free(&p);
    return -1;
}

int figures_find(const struct figures *f, const char *name, const char *what, struct errors *e)
{
    struct pattern p = pattern_of(name);
    int found = -1;
    char *several = NULL;

    for (size_t i = 0; i < f->count; i++) {
        const struct figure *k = &f->item[i];
        char *more, *full;

        if (!means(&p, k->kind, k->subject, k->metric))
            continue;
        full = figure_name(k);
        if (found >= 0 && (!several || strlen(several) < 200)) {
            if (!several)
                several = figure_name(&f->item[found]);
            more = xasprintf("%s, %s", several, full);
            free(several);
            several = more;
        }
        free(full);
        if (found < 0)
            found = (int)i;
    }
    pattern_free(&p);
    if (found < 0)
        return figures_unknown(name, what, e);
    if (!several)
        return found;
    error_add(e, EXIT_INPUT, "%s: \"%s\" means several: %s; write one of them", what, name,
              several);
    free(several);
    return -1;
}

/* ---- bounds ------------------------------------------------------------------------------------
 */

static int read_limit(struct bound *b, const char *text, const char *what, struct errors *e)
{
    struct pattern p = pattern_of(b->name);
    const struct metric *m = metric_by_name(p.metric);
    struct value v = value_read(text);

    pattern_free(&p);
    if (!m)
        return figures_unknown(b->name, what, e);
    if (!v.numeric || (v.quantity != QUANTITY_PLAIN && strcmp(value_unit(v.quantity), m->unit)))
        return error_add(e, EXIT_INPUT,
                         "%s: found \"%s\" as the limit of %s: a number%s%s is wanted", what, text,
                         m->name, *m->unit ? " in " : " without unit", m->unit);
    b->limit = v.number;
    return 0;
}

int bound_read(struct bound *b, const char *text, const char *what, struct errors *e)
{
    const char *sign = strpbrk(text, "<>="), *limit;
    size_t n;

    *b = (struct bound){0};
    if (!sign || *sign == '=' || sign == text)
        return error_add(e, EXIT_INPUT,
                         "%s: found \"%s\": write METRIC<=LIMIT or METRIC>=LIMIT, such as "
                         "latency_p99<=5ms",
                         what, text);
    limit = sign + 1 + (sign[1] == '=');
    limit += strspn(limit, " ");
    n = (size_t)(sign - text);
    while (n && text[n - 1] == ' ')
        n--;
    b->name = xasprintf("%.*s", (int)n, text);
    b->least = *sign == '>';
    b->text = xstrdup(limit);
    return read_limit(b, limit, what, e);
}

void bound_free(struct bound *b)
{
    free(b->name);
    free(b->text);
}
