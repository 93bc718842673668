/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/search/trials.h"

#include "experiments/scenario/assign.h"
#include "experiments/study/study_inside.h"
#include "experiments/sweep/sweep_file.h"
#include "sim/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ----------------------------------------------------------------------------------
 */

static int read_text(struct trials *t, struct errors *e)
{
    bool standard = !strcmp(t->path, "-");
    FILE *in = standard ? stdin : fopen(t->path, "rb"), *out;
    char block[4096];
    size_t n;

    if (!in)
        return error_add(e, EXIT_INPUT, "%s: cannot be read", t->path);
    out = open_memstream(&t->text, &t->text_size);
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, n, out);
    if (!standard)
        fclose(in);
    fclose(out);
    return 0;
}

int trials_open(struct trials *t, const char *path, const struct param_list *base,
                const char *const *name, size_t names, unsigned jobs, struct errors *e)
{
    *t = (struct trials){.path = xstrdup(path),
                         .dir = directory_of(path),
                         .base = base,
                         .name = name,
                         .names = names,
                         .jobs = jobs ? jobs : pool_cpus()};
    return read_text(t, e);
}

void trials_free(struct trials *t)
{
    for (size_t i = 0; i < t->settings; i++) {
        struct setting *s = &t->setting[i];

        for (size_t k = 0; k < s->sets; k++)
            free(s->set[k]);
        for (uint32_t k = 0; k < s->reps; k++)
            kept_free(&s->rep[k], &s->figures);
        figures_free(&s->figures);
        free(s->figure);
        free(s->set);
        free(s->rep);
        free(s->reason);
    }
    free(t->setting);
    free(t->platform);
    free(t->text);
    free(t->dir);
    free(t->path);
}

/* ---- settings ---------------------------------------------------------------------------------
 */

struct json *trials_document(const struct trials *t, const char *const *set, size_t sets,
                             struct errors *e)
{
    struct json *doc = json_parse(t->path, t->text, t->text_size, e);
    size_t before = e->count;

    for (size_t i = 0; doc && i < t->base->count; i++)
        scenario_assign(doc, "--set", list_text(t->base, i), e);
    for (size_t i = 0; doc && i < sets; i++)
        scenario_assign(doc, "--over", set[i], e);
    if (e->count == before)
        return doc;
    json_free(doc);
    return NULL;
}

static int find_figures(const struct trials *t, struct setting *s, const struct layout *l,
                        struct errors *e)
{
    size_t before = e->count;

    s->figures = figures_select(l, t->name, t->names, NULL);
    s->figure = xcalloc(t->names, sizeof *s->figure);
    for (size_t i = 0; i < t->names; i++) {
        s->figure[i] = figures_find(&s->figures, t->name[i], t->name[i], e);
        if (s->figure[i] >= 0 && s->figures.item[s->figure[i]].metric->estimate == ESTIMATE_MAXIMUM)
            error_add(e, EXIT_INPUT,
                      "%s: nothing can be decided by a maximum, which has no interval: use a "
                      "quantile",
                      t->name[i]);
    }
    return e->count > before ? -1 : 0;
}

static int same_platform(struct trials *t, const char *file, struct errors *e)
{
    if (!t->platform)
        t->platform = xstrdup(file);
    if (!strcmp(t->platform, file))
        return 0;
    return error_add(e, EXIT_INPUT, "the platform cannot be varied here: %s and %s", t->platform,
                     file);
}

int64_t trials_add(struct trials *t, const char *const *set, size_t sets, struct errors *e)
{
    struct json *doc = trials_document(t, set, sets, e);
    struct study study;
    struct setting *s;
    int status = -1;

    study_init(&study, t->path);
    t->setting = xrealloc(t->setting, (t->settings + 1) * sizeof *t->setting);
    s = &t->setting[t->settings];
    *s = (struct setting){0};
    if (doc && !study_add_doc(&study, "", doc, t->dir, e) &&
        !same_platform(t, study.variant[0].scenario->platform_file, e)) {
        if (t->level == 0)
            t->level = percent_fraction(study.variant[0].scenario->confidence);
        status = find_figures(t, s, study.variant[0].layout, e);
    }
    study_free(&study);
    s->set = xcalloc(sets, sizeof *s->set);
    for (; s->sets < sets; s->sets++)
        s->set[s->sets] = xstrdup(set[s->sets]);
    t->settings++; /* also a bad one: it is freed with the others */
    return status ? -1 : (int64_t)t->settings - 1;
}

/* ---- running ----------------------------------------------------------------------------------
 */

struct batch {
    struct trials *trials;
    const struct trial_job *job;
    struct errors *e;
};

static int add_variant(const struct trials *t, size_t setting, struct study *study,
                       struct errors *e)
{
    const struct setting *s = &t->setting[setting];
    struct json *doc = trials_document(t, (const char *const *)s->set, s->sets, e);

    return doc ? study_add_doc(study, "", doc, t->dir, e) : -1;
}

/* The platform and the first setting's world are tried once. */
static int prepare(struct trials *t, size_t setting, struct errors *e)
{
    struct study study;
    int status;

    if (t->prepared)
        return 0;
    study_init(&study, t->path);
    study.jobs = t->jobs;
    study.quiet = true;
    status = add_variant(t, setting, &study, e);
    if (!status)
        status = study_prepare(&study, e);
    study_free(&study);
    t->prepared = !status;
    return status;
}

static int work(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct batch *b = ctx;
    const struct trial_job *job = &b->job[index];
    const struct setting *s = &b->trials->setting[job->setting];
    struct world *w = NULL;
    struct kept kept = {0};
    struct study study;
    int64_t reached;

    study_init(&study, b->trials->path);
    if (!add_variant(b->trials, job->setting, &study, e) && !study_settle(&study, e))
        w = study_simulate(&study, &study.variant[0], job->replication, &reached, e);
    if (w) {
        kept_take(&kept, &s->figures, study.variant[0].layout, w);
        kept_write(&kept, &s->figures, out);
        fputc('\0', out);
        kept_free(&kept, &s->figures);
        world_free(w);
    }
    study_free(&study);
    return w ? 0 : -1;
}

static int take(void *ctx, const struct pool_result *r)
{
    const struct batch *b = ctx;
    const struct trial_job *job = &b->job[r->index];
    struct setting *s = &b->trials->setting[job->setting];

    if (r->outcome == POOL_DONE && r->size && job->replication == s->reps && !s->reason) {
        s->rep = xrealloc(s->rep, (s->reps + 1) * sizeof *s->rep);
        if (!kept_read(&s->rep[s->reps], &s->figures, r->data)) {
            s->reps++;
            return 0;
        }
    }
    if (!s->reason)
        s->reason = xstrdup(r->reason ? r->reason : "its result did not arrive whole");
    return 0;
}

static void tick(void *ctx)
{
    const struct batch *b = ctx;

    if (b->trials->tick)
        b->trials->tick(b->trials->tick_ctx);
}

int trials_run(struct trials *t, const struct trial_job *job, size_t jobs, struct errors *e)
{
    struct batch b = {t, job, e};
    struct pool pool = {
        .tasks = jobs, .jobs = t->jobs, .ctx = &b, .work = work, .in_order = take, .tick = tick};
    enum pool_end end;

    if (!jobs)
        return 0;
    if (prepare(t, job[0].setting, e))
        return -1;
    end = pool_run(&pool, e);
    if (end == POOL_INTERRUPTED) {
        t->interrupted = true;
        return error_add(e, EXIT_INTERRUPTED, "interrupted");
    }
    return end == POOL_ALL ? 0 : -1;
}

/* ---- figures ----------------------------------------------------------------------------------
 */

static void set_of(const struct setting *s, uint32_t n, struct kept_set *set)
{
    const struct kept **list = xcalloc(n, sizeof *list);

    BUG_ON(n > s->reps);
    for (uint32_t i = 0; i < n; i++)
        list[i] = &s->rep[i];
    kept_set_init(set, &s->figures, list, n);
    free(list);
}

struct interval trials_interval(const struct trials *t, size_t setting, size_t name, uint32_t n,
                                double level)
{
    const struct setting *s = &t->setting[setting];
    struct kept_set set;
    struct interval i;

    set_of(s, n, &set);
    i = kept_interval(&set, (size_t)s->figure[name], level);
    kept_set_free(&set);
    return i;
}

void trials_values(const struct trials *t, size_t setting, size_t name, uint32_t n, double *x)
{
    const struct setting *s = &t->setting[setting];
    struct kept_set set;

    set_of(s, n, &set);
    kept_pseudo_values(&set, (size_t)s->figure[name], x);
    kept_set_free(&set);
}

static char *kept_text(const struct setting *s, uint32_t replication)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    BUG_ON(!out || replication >= s->reps);
    kept_write(&s->rep[replication], &s->figures, out);
    fclose(out);
    return text;
}

bool trials_same(const struct trials *t, size_t a, size_t b, uint32_t replication)
{
    char *x = kept_text(&t->setting[a], replication), *y = kept_text(&t->setting[b], replication);
    bool same = !strcmp(x, y);

    free(x);
    free(y);
    return same;
}

static void put_change(const char *text, FILE *out)
{
    fputs(" --set '", out);
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, 0}, out);
    fputc('\'', out);
}

char *trials_command(const struct trials *t, size_t setting, uint32_t replications)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    fprintf(out, "hvsim run %s", t->path);
    for (size_t i = 0; i < t->base->count; i++)
        put_change(list_text(t->base, i), out);
    for (size_t i = 0; i < t->setting[setting].sets; i++)
        put_change(t->setting[setting].set[i], out);
    fprintf(out, " --replications %u", replications);
    fclose(out);
    return text;
}
