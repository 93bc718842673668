/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/compare/compare.h"

#include "experiments/results/breakdown_report.h"
#include "experiments/results/control_report.h"
#include "experiments/results/results.h"
#include "sim/output.h"
#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS_MOST = 1000 };

/* ---- variations ------------------------------------------------------------------------------ */

/* Length of the value at `text`, up to a comma that separates values. */
static size_t value_length(const char *text)
{
    size_t n = 0;
    int depth = 0;
    bool quoted = false;

    for (; text[n]; n++) {
        if (quoted && text[n] == '\\' && text[n + 1])
            n++;
        else if (text[n] == '"')
            quoted = !quoted;
        else if (!quoted && strchr("[{", text[n]))
            depth++;
        else if (!quoted && strchr("]}", text[n]))
            depth--;
        else if (!quoted && depth <= 0 && text[n] == ',')
            break;
    }
    return n;
}

static int read_variation(struct variation *v, const char *text, struct errors *e)
{
    const char *equals = strchr(text, '=');

    if (*text != '/' || !equals)
        return error_add(e, EXIT_INPUT,
                         "--vary %s: \"/json/pointer=a,b,c\" is wanted, as in "
                         "\"/hosts/0/scheduler=credit,terriertail\"",
                         text);
    v->pointer = xasprintf("%.*s", (int)(equals - text), text);
    for (text = equals + 1;; text++) {
        size_t n = value_length(text);

        v->value = xrealloc(v->value, (v->values + 1) * sizeof *v->value);
        v->value[v->values++] = xasprintf("%.*s", (int)n, text);
        if (!n)
            return error_add(e, EXIT_INPUT, "--vary %s: a value is missing between two commas",
                             v->pointer);
        text += n;
        if (!*text)
            break;
    }
    for (size_t i = 0; i < v->values; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(v->value[i], v->value[k]))
                return error_add(e, EXIT_INPUT, "--vary %s: the value %s is given twice",
                                 v->pointer, v->value[i]);
    return 0;
}

int variations_read(struct variations *v, const struct param_list *texts, struct errors *e)
{
    size_t before = e->count;

    *v = (struct variations){xcalloc(texts->count, sizeof *v->item), texts->count};
    for (size_t i = 0; i < texts->count; i++) {
        read_variation(&v->item[i], ((char **)texts->item)[i], e);
        for (size_t k = 0; k < i; k++)
            if (v->item[i].pointer && v->item[k].pointer &&
                !strcmp(v->item[i].pointer, v->item[k].pointer))
                error_add(e, EXIT_INPUT, "--vary %s is given twice; put all values into one",
                          v->item[i].pointer);
    }
    return e->count > before ? -1 : 0;
}

void variations_free(struct variations *v)
{
    for (size_t i = 0; i < v->count; i++) {
        for (size_t k = 0; k < v->item[i].values; k++)
            free(v->item[i].value[k]);
        free(v->item[i].value);
        free(v->item[i].pointer);
    }
    free(v->item);
}

/* "credit", or with several variations "scheduler=credit, pcpus=3". */
static char *label_of(const struct variations *v, const size_t *at)
{
    char *label = xstrdup("");

    for (size_t i = 0; i < v->count; i++) {
        const char *name = strrchr(v->item[i].pointer, '/') + 1;
        char *longer = v->count > 1 ? xasprintf("%s%s%s=%s", label, i ? ", " : "", name,
                                                v->item[i].value[at[i]])
                                    : xstrdup(v->item[i].value[at[i]]);

        free(label);
        label = longer;
    }
    return label;
}

int compare_add(struct study *s, const struct variations *v, const struct param_list *base,
                struct errors *e)
{
    size_t *at = xcalloc(v->count, sizeof *at), before = e->count, all = 1;
    char **assignment = xcalloc(v->count, sizeof *assignment);

    for (size_t i = 0; i < v->count; i++)
        all = all > VARIANTS_MOST ? all : all * v->item[i].values;
    if (all > VARIANTS_MOST)
        error_add(e, EXIT_INPUT, "more than %d variants; `hvsim sweep` is for that many",
                  VARIANTS_MOST);
    for (size_t n = 0; n < all && all <= VARIANTS_MOST; n++) {
        char *label = label_of(v, at);

        for (size_t i = 0; i < v->count; i++)
            assignment[i] = xasprintf("%s=%s", v->item[i].pointer, v->item[i].value[at[i]]);
        study_add(s, label, base, (const char *const *)assignment, v->count, e);
        for (size_t i = 0; i < v->count; i++)
            free(assignment[i]);
        free(label);
        for (size_t i = v->count; i-- > 0 && ++at[i] == v->item[i].values;)
            at[i] = 0;
    }
    free(assignment);
    free(at);
    return e->count > before ? -1 : 0;
}

/* ---- figures --------------------------------------------------------------------------------- */

static struct interval without(enum interval_none why, double estimate, double level, size_t n)
{
    return (struct interval){
        .estimate = estimate, .low = NAN, .high = NAN, .level = level, .none = why, .n = n};
}

/* Values of both in the replications that both have; returns their number, 0 if one is NAN. */
static size_t paired(const struct variant *a, size_t cell_a, const struct variant *b, size_t cell_b,
                     double *x, double *y)
{
    const struct sample *p = tally_samples(&a->tally, cell_a),
                        *q = tally_samples(&b->tally, cell_b);
    size_t i = 0, k = 0, n = 0;

    while (i < a->tally.count && k < b->tally.count) {
        if (a->replication[i] < b->replication[k]) {
            i++;
        } else if (a->replication[i] > b->replication[k]) {
            k++;
        } else {
            x[n] = p[i++].value;
            y[n] = q[k++].value;
            if (isnan(x[n]) || isnan(y[n]))
                return 0;
            n++;
        }
    }
    return n;
}

static struct comparison nothing(enum interval_none why, double a, double b, double level, size_t n)
{
    return (struct comparison){without(why, b - a, level, n),
                               without(why, a > 0 ? b / a : NAN, level, n)};
}

/* Values of replications, paired. */
static struct comparison compare_samples(const struct variant *first, const struct subject *s,
                                         const struct variant *other, const struct subject *same,
                                         const struct metric *m)
{
    struct interval a = tally_interval(&first->tally, s, m);
    struct interval b = tally_interval(&other->tally, same, m);
    double level = first->tally.level;
    double *x = xcalloc(first->tally.count, sizeof *x), *y = xcalloc(first->tally.count, sizeof *y);
    size_t n = paired(first, layout_cell(s, m), other, layout_cell(same, m), x, y);
    struct comparison c;

    if (!interval_given(&a) || !interval_given(&b))
        c = nothing(interval_given(&a) ? b.none : a.none, a.estimate, b.estimate, level, n);
    else if (n < 2)
        c = nothing(INTERVAL_FEW_VALUES, a.estimate, b.estimate, level, n);
    else
        c = (struct comparison){interval_paired_difference(y, x, n, level),
                                interval_ratio(y, x, n, level)};
    free(x);
    free(y);
    return c;
}

/* Do both have the same replications? Not if some were lost, or the run was interrupted. */
static bool same_replications(const struct variant *a, const struct variant *b)
{
    return a->tally.count == b->tally.count &&
           !memcmp(a->replication, b->replication, a->tally.count * sizeof *a->replication);
}

/* Figures of all replications together, leaving out one of both at a time. */
static struct comparison compare_pools(const struct variant *first, const struct subject *s,
                                       const struct variant *other, const struct subject *same,
                                       const struct metric *m)
{
    struct pooled *p = tally_pool(&first->tally, s, m->of);
    struct pooled *q = tally_pool(&other->tally, same, m->of);
    double a = p ? pooled_figure(p, m->q) / 1e6 : NAN, b = q ? pooled_figure(q, m->q) / 1e6 : NAN;
    double level = first->tally.level, *difference, *ratio;
    size_t n = first->tally.count;
    uint64_t need;
    enum interval_none why = tally_obstacle(&first->tally, s, m, &need);
    struct comparison c;

    if (why == INTERVAL_GIVEN)
        why = tally_obstacle(&other->tally, same, m, &need);
    if (why == INTERVAL_GIVEN && !same_replications(first, other))
        why = INTERVAL_FEW_VALUES;
    if (why != INTERVAL_GIVEN)
        return nothing(why, a, b, level, n);
    difference = xcalloc(n, sizeof *difference);
    ratio = xcalloc(n, sizeof *ratio);
    for (size_t k = 0; k < n; k++) {
        double x = pooled_figure_without(p, k, m->q) / 1e6;
        double y = pooled_figure_without(q, k, m->q) / 1e6;

        difference[k] = y - x;
        ratio[k] = x > 0 ? y / x : NAN;
    }
    c.difference = interval_jackknife(b - a, difference, n, level);
    c.ratio = interval_jackknife(a > 0 ? b / a : NAN, ratio, n, level);
    free(difference);
    free(ratio);
    return c;
}

struct comparison compare_figures(const struct variant *first, const struct variant *other,
                                  const struct subject *s, const struct metric *m)
{
    const struct subject *same = variant_subject(other, s);

    if (!same)
        return nothing(INTERVAL_FEW_VALUES, NAN, NAN, first->tally.level, 0);
    if (m->of != OF_NONE && m->estimate != ESTIMATE_MAXIMUM)
        return compare_pools(first, s, other, same, m);
    return compare_samples(first, s, other, same, m);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_variations(const struct variations *v, struct json_writer *w)
{
    json_begin(w, "vary", '[');
    for (size_t i = 0; i < v->count; i++) {
        json_begin(w, NULL, '{');
        json_put_string(w, "pointer", v->item[i].pointer);
        json_begin_inline(w, "values", '[');
        for (size_t k = 0; k < v->item[i].values; k++)
            json_put_string(w, NULL, v->item[i].value[k]);
        json_end(w);
        json_end(w);
    }
    json_end(w);
}

static void put_comparisons(const struct study *s, const struct variant *other,
                            struct json_writer *w)
{
    const struct layout *l = s->variant[0].layout;

    json_begin(w, "against_first", '[');
    for (size_t k = 0; k < l->subjects; k++)
        for (size_t i = 0; i < metric_count; i++) {
            const struct subject *subject = &l->subject[k];
            struct comparison c;

            if (layout_cell(subject, &metrics[i]) == SIZE_MAX || !variant_subject(other, subject))
                continue;
            c = compare_figures(&s->variant[0], other, subject, &metrics[i]);
            json_begin_inline(w, NULL, '{');
            json_put_string(w, "kind", subject_kind_names[subject->kind]);
            json_put_string(w, "name", subject->name);
            json_put_string(w, "metric", metrics[i].name);
            json_put_string(w, "unit", metrics[i].unit);
            json_begin_inline(w, "difference", '{');
            results_put_interval(w, &c.difference);
            json_end(w);
            json_begin_inline(w, "ratio", '{');
            results_put_interval(w, &c.ratio);
            json_end(w);
            json_end(w);
        }
    json_end(w);
}

void compare_json(const struct study *s, const struct variations *v, FILE *out)
{
    struct json_writer w = json_writer(out, JSON_LINES);

    json_begin(&w, NULL, '{');
    results_put_versions(&w);
    results_put_completeness(s, &w);
    put_variations(v, &w);
    json_begin(&w, "variants", '[');
    for (size_t i = 0; i < s->variants; i++) {
        const struct variant *variant = &s->variant[i];

        json_begin(&w, NULL, '{');
        json_put_string(&w, "label", variant->label);
        json_begin_inline(&w, "set", '[');
        for (size_t k = 0; k < variant->assignments; k++)
            json_put_string(&w, NULL, variant->assignment[k]);
        json_end(&w);
        results_put_variant(s, variant, &w);
        if (i)
            put_comparisons(s, variant, &w);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
}

/* ---- files ----------------------------------------------------------------------------------- */

struct json_context {
    const struct study *study;
    const struct variations *variations;
};

static void write_json(const void *ctx, FILE *out)
{
    const struct json_context *c = ctx;

    compare_json(c->study, c->variations, out);
}

/* Each change as a row, for spreadsheets and scripts. */
static void write_changes(const void *ctx, FILE *out)
{
    const struct study *s = ctx;
    const struct layout *l = s->variant[0].layout;

    fputs("variant,against,kind,subject,metric,unit,difference,difference_low,difference_high,"
          "ratio,ratio_low,ratio_high\n",
          out);
    for (size_t v = 1; v < s->variants; v++)
        for (size_t k = 0; k < l->subjects; k++)
            for (size_t i = 0; i < metric_count; i++) {
                const struct subject *subject = &l->subject[k];
                struct comparison c;

                if (layout_cell(subject, &metrics[i]) == SIZE_MAX ||
                    !variant_subject(&s->variant[v], subject))
                    continue;
                c = compare_figures(&s->variant[0], &s->variant[v], subject, &metrics[i]);
                results_put_text(s->variant[v].label, out);
                fputc(',', out);
                results_put_text(s->variant[0].label, out);
                fprintf(out, ",%s,%s,%s,%s", subject_kind_names[subject->kind], subject->name,
                        metrics[i].name, metrics[i].unit);
                results_put_cell(c.difference.estimate, out);
                results_put_cell(c.difference.low, out);
                results_put_cell(c.difference.high, out);
                results_put_cell(c.ratio.estimate, out);
                results_put_cell(c.ratio.low, out);
                results_put_cell(c.ratio.high, out);
                fputc('\n', out);
            }
}

int compare_write(const struct study *s, const struct variations *v, const char *dir, bool quiet,
                  struct errors *e)
{
    struct json_context c = {s, v};
    size_t before = e->count;

    if (output_directory(dir, e))
        return -1;
    results_write_tables(s, dir, e);
    results_file(dir, "changes.csv", write_changes, s, e);
    compare_plot(s, dir, quiet, e);
    breakdown_plot(s, dir, quiet, e);
    control_compare_pictures(s, dir, quiet, e);
    if (e->count == before)
        results_file(dir, "results.json", write_json, &c, e);
    return e->count > before ? -1 : 0;
}
