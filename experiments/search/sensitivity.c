/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "experiments/search/sensitivity.h"

#include "experiments/sweep/sweep_file.h"
#include "sim/stats.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what there is to vary ------------------------------------------------------------------- */

static bool wanted(const struct sensitivity *s, const char *pattern)
{
    for (size_t i = 0; i < s->only->count; i++)
        if (!fnmatch(list_text(s->only, i), pattern, 0))
            return true;
    return s->only->count == 0;
}

/* The range given for a pattern on the command line, or NULL. */
static const char *given_range(const struct sensitivity *s, const char *pattern)
{
    for (size_t i = 0; i < s->range->count; i++) {
        const char *text = list_text(s->range, i), *equals = strchr(text, '=');

        if (equals && strlen(pattern) == (size_t)(equals - text) &&
            !strncmp(pattern, text, (size_t)(equals - text)))
            return equals + 1;
    }
    return NULL;
}

static struct factor *factor_of(struct sensitivity *s, const struct param_value *v)
{
    struct factor *f;

    for (size_t i = 0; i < s->factors; i++)
        if (s->factor[i].p == v->p && !strcmp(s->factor[i].pattern, v->pattern))
            return &s->factor[i];
    s->factor = xrealloc(s->factor, (s->factors + 1) * sizeof *s->factor);
    f = &s->factor[s->factors++];
    *f = (struct factor){.pattern = xstrdup(v->pattern),
                         .choice = v->choice ? xstrdup(v->choice) : NULL,
                         .standard = xstrdup(v->is_default ? v->p->def : v->text),
                         .p = v->p};
    return f;
}

static void collect(void *ctx, const struct param_value *v)
{
    struct sensitivity *s = ctx;
    const char *range = given_range(s, v->pattern);
    struct param_list other = {0};
    struct factor *f;

    if (range)
        other = param_alternatives_of(range);
    else if (v->is_default && wanted(s, v->pattern))
        other = param_alternatives(v->p);
    if (!other.count)
        return;
    f = factor_of(s, v);
    if (f->other.count)
        param_alternatives_free(&other);
    else
        f->other = other;
    f->pointer = xrealloc(f->pointer, (f->pointers + 1) * sizeof *f->pointer);
    f->pointer[f->pointers++] = xstrdup(v->pointer);
}

static int check_ranges(const struct sensitivity *s, struct errors *e)
{
    size_t before = e->count;

    for (size_t i = 0; i < s->range->count; i++) {
        const char *text = list_text(s->range, i);
        bool found = false;

        for (size_t k = 0; k < s->factors && !found; k++)
            found = !strncmp(text, s->factor[k].pattern, strlen(s->factor[k].pattern)) &&
                    text[strlen(s->factor[k].pattern)] == '=';
        if (!found)
            error_add(e, EXIT_INPUT,
                      "--range %s: no parameter of this scenario; wanted is \"/json/pointer=LOW.."
                      "HIGH\" with \"-\" for elements of lists, as in "
                      "\"/hosts/-/costs/ipi=1us..10us\" (rests_on in results.json lists them)",
                      text);
    }
    return e->count > before ? -1 : 0;
}

static int find_factors(struct sensitivity *s, struct errors *e)
{
    struct json *doc = trials_document(&s->trials, NULL, 0, e);
    struct scenario *sc = doc ? scenario_read(doc, s->trials.dir, e) : NULL;

    if (!sc) {
        json_free(doc);
        return -1;
    }
    s->title = xstrdup(sc->title);
    if (!s->replications)
        s->replications = (uint32_t)sc->replications;
    params_each_value(scenario_format.table, sc, collect, s);
    scenario_free(sc);
    json_free(doc);
    if (check_ranges(s, e))
        return -1;
    if (!s->factors)
        return error_add(e, EXIT_INPUT, "%s: nothing that is assumed and has a range%s", s->path,
                         s->only->count ? " matches --only" : "");
    return 0;
}

/* ---- their settings ---------------------------------------------------------------------------
 */

static int add_value(struct sensitivity *s, struct factor *f, size_t i)
{
    struct errors e = ERRORS_NONE;
    char **set = xcalloc(f->pointers, sizeof *set);
    int64_t setting;

    for (size_t k = 0; k < f->pointers; k++)
        set[k] = xasprintf("%s=%s", f->pointer[k], list_text(&f->other, i));
    setting = trials_add(&s->trials, (const char *const *)set, f->pointers, &e);
    for (size_t k = 0; k < f->pointers; k++)
        free(set[k]);
    free(set);
    f->setting[i] = (size_t)setting;
    if (setting < 0 && !f->reason)
        f->reason = xstrdup(e.count ? e.item[0].text : "no valid scenario");
    errors_free(&e);
    return setting < 0 ? -1 : 0;
}

/* A value that the scenario does not take fails its parameter; if the range was given on the
 * command line, that is the user's mistake. */
static int add_values(struct sensitivity *s, struct errors *e)
{
    size_t before = e->count;

    for (size_t k = 0; k < s->factors; k++) {
        struct factor *f = &s->factor[k];

        f->setting = xcalloc(f->other.count, sizeof *f->setting);
        for (size_t i = 0; i < f->other.count; i++)
            if (add_value(s, f, i))
                f->fate = FACTOR_FAILED;
        if (f->fate == FACTOR_FAILED && given_range(s, f->pattern))
            error_add(e, EXIT_INPUT, "--range %s: %s", f->pattern, f->reason);
    }
    return e->count > before ? -1 : 0;
}

/* ---- running ----------------------------------------------------------------------------------
 */

static size_t count_values(const struct sensitivity *s)
{
    size_t n = 0;

    for (size_t k = 0; k < s->factors; k++)
        if (s->factor[k].fate == FACTOR_COMPARED)
            n += s->factor[k].other.count;
    return n;
}

/* One replication of the defaults and of each value still to be compared. */
static int replicate(struct sensitivity *s, uint32_t r, struct errors *e)
{
    struct trial_job *job = xcalloc(1 + count_values(s), sizeof *job);
    size_t jobs = 0;
    int status;

    job[jobs++] = (struct trial_job){0, r};
    for (size_t k = 0; k < s->factors; k++)
        for (size_t i = 0; i < s->factor[k].other.count; i++)
            if (s->factor[k].fate == FACTOR_COMPARED)
                job[jobs++] = (struct trial_job){s->factor[k].setting[i], r};
    status = trials_run(&s->trials, job, jobs, e);
    s->spent += jobs;
    free(job);
    return status;
}

/* Values whose replication is missing fail their parameter. */
static void note_failures(struct sensitivity *s, uint32_t done)
{
    for (size_t k = 0; k < s->factors; k++) {
        struct factor *f = &s->factor[k];

        for (size_t i = 0; i < f->other.count && f->fate == FACTOR_COMPARED; i++) {
            const struct setting *t = &s->trials.setting[f->setting[i]];

            if (t->reps >= done)
                continue;
            f->fate = FACTOR_FAILED;
            f->reason = xstrdup(t->reason ? t->reason : "a replication gave no result");
        }
    }
}

static int run_to(struct sensitivity *s, uint32_t from, uint32_t until, struct errors *e)
{
    for (uint32_t r = from; r < until; r++) {
        char note[64];

        if (replicate(s, r, e))
            return -1;
        if (s->trials.setting[0].reps <= r)
            return error_add(e, EXIT_INTERNAL, "%s: replication %u: %s", s->path, r,
                             s->trials.setting[0].reason);
        note_failures(s, r + 1);
        snprintf(note, sizeof note, "%zu values", count_values(s));
        progress_update(&s->progress, (double)s->spent, note);
    }
    return 0;
}

static void drop_same(struct sensitivity *s)
{
    for (size_t k = 0; k < s->factors; k++) {
        struct factor *f = &s->factor[k];
        bool same = f->fate == FACTOR_COMPARED;

        for (size_t i = 0; i < f->other.count && same; i++)
            for (uint32_t r = 0; r < SENSITIVITY_SCREEN && same; r++)
                same = trials_same(&s->trials, 0, f->setting[i], r);
        if (same)
            f->fate = FACTOR_SAME;
    }
}

static int plan(struct sensitivity *s, struct errors *e)
{
    size_t each = 1 + count_values(s);
    uint64_t left = s->budget > s->spent ? s->budget - s->spent : 0;
    uint64_t n = SENSITIVITY_SCREEN + left / each;
    uint64_t least = s->spent + (uint64_t)each * (SENSITIVITY_LEAST - SENSITIVITY_SCREEN);

    s->n = n < s->replications ? (uint32_t)n : s->replications;
    if (s->n >= SENSITIVITY_LEAST)
        return 0;
    if (s->replications < SENSITIVITY_LEAST)
        return error_add(e, EXIT_INPUT, "%s: at least %d replications are needed", s->path,
                         SENSITIVITY_LEAST);
    return error_add(e, EXIT_INPUT,
                     "--budget %llu is too small: %llu replications are spent on finding what "
                     "changes anything, and %d of each of the %zu values left take %llu in all",
                     (unsigned long long)s->budget, (unsigned long long)s->spent, SENSITIVITY_LEAST,
                     each - 1, (unsigned long long)least);
}

/* Enough for the first replications, to find out what matters? */
static int check_budget(const struct sensitivity *s, struct errors *e)
{
    uint64_t least = SENSITIVITY_SCREEN * (1 + count_values(s));

    if (s->budget >= least)
        return 0;
    return error_add(e, EXIT_INPUT,
                     "--budget %llu is too small: the first %d replications of %zu values take "
                     "%llu; --only varies fewer",
                     (unsigned long long)s->budget, SENSITIVITY_SCREEN, count_values(s),
                     (unsigned long long)least);
}

/* ---- effects ----------------------------------------------------------------------------------
 */

struct interval sensitivity_base(const struct sensitivity *s)
{
    return trials_interval(&s->trials, 0, 0, s->n, s->trials.level);
}

const char *sensitivity_unit(const struct sensitivity *s)
{
    const struct setting *first = &s->trials.setting[0];

    return first->figures.item[first->figure[0]].metric->unit;
}

static struct interval no_interval(const struct interval *why, double estimate)
{
    struct interval i = *why;

    i.estimate = estimate;
    i.low = i.high = NAN;
    return i;
}

struct influence sensitivity_effect(const struct sensitivity *s, const struct factor *f, size_t i)
{
    double level = s->trials.level, *x, *base, strict = bonferroni_level(level, s->values);
    struct interval a = sensitivity_base(s), together;
    struct influence k = {.figure = trials_interval(&s->trials, f->setting[i], 0, s->n, level)};
    const struct interval *why = !interval_given(&a) ? &a : &k.figure;

    if (!interval_given(why)) {
        k.difference = no_interval(why, k.figure.estimate - a.estimate);
        k.ratio = no_interval(why, a.estimate != 0 ? k.figure.estimate / a.estimate : NAN);
        return k;
    }
    x = xcalloc(s->n, sizeof *x);
    base = xcalloc(s->n, sizeof *base);
    trials_values(&s->trials, f->setting[i], 0, s->n, x);
    trials_values(&s->trials, 0, 0, s->n, base);
    k.difference = interval_paired_difference(x, base, s->n, level);
    k.ratio = interval_ratio(x, base, s->n, level);
    together = interval_paired_difference(x, base, s->n, strict);
    k.distinct = together.low > 0 || together.high < 0;
    free(x);
    free(base);
    return k;
}

static int by_swing(const void *a, const void *b)
{
    const struct factor *f = a, *g = b;

    if (f->fate != g->fate)
        return (int)f->fate - (int)g->fate;
    if (f->swing != g->swing)
        return f->swing > g->swing ? -1 : 1;
    return strcmp(f->pattern, g->pattern);
}

static void rank(struct sensitivity *s)
{
    s->values = count_values(s);
    for (size_t k = 0; k < s->factors; k++) {
        struct factor *f = &s->factor[k];

        s->compared += f->fate == FACTOR_COMPARED;
        for (size_t i = 0; i < f->other.count && f->fate == FACTOR_COMPARED; i++) {
            double swing = fabs(sensitivity_effect(s, f, i).difference.estimate);

            if (swing > f->swing)
                f->swing = swing;
        }
    }
    qsort(s->factor, s->factors, sizeof *s->factor, by_swing);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static int simulate(struct sensitivity *s, struct errors *e)
{
    double most = (double)(1 + count_values(s)) * s->replications;
    int status;

    progress_begin(&s->progress, "varying", "replications",
                   most < (double)s->budget ? most : (double)s->budget, s->quiet);
    status = run_to(s, 0, SENSITIVITY_SCREEN, e);
    if (!status) {
        drop_same(s);
        status = plan(s, e);
    }
    if (!status)
        status = run_to(s, SENSITIVITY_SCREEN, s->n, e);
    progress_end(&s->progress);
    return status;
}

int sensitivity_run(struct sensitivity *s, struct errors *e)
{
    if (trials_open(&s->trials, s->path, s->set, &s->metric, 1, s->jobs, e) || find_factors(s, e) ||
        trials_add(&s->trials, NULL, 0, e) < 0 || add_values(s, e) || check_budget(s, e) ||
        simulate(s, e))
        return -1;
    rank(s);
    return 0;
}

void sensitivity_free(struct sensitivity *s)
{
    for (size_t k = 0; k < s->factors; k++) {
        struct factor *f = &s->factor[k];

        for (size_t i = 0; i < f->pointers; i++)
            free(f->pointer[i]);
        param_alternatives_free(&f->other);
        free(f->pointer);
        free(f->setting);
        free(f->pattern);
        free(f->choice);
        free(f->standard);
        free(f->reason);
    }
    free(s->factor);
    free(s->title);
    trials_free(&s->trials);
}
