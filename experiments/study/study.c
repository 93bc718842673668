/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/study/study.h"

#include "experiments/scenario/assign.h"
#include "experiments/study/study_inside.h"
#include "sim/pool.h"
#include "sim/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- variants -------------------------------------------------------------------------------- */

void study_init(struct study *s, const char *path)
{
    *s = (struct study){.path = xstrdup(path)};
}

void study_free(struct study *s)
{
    for (size_t i = 0; i < s->variants; i++) {
        struct variant *v = &s->variant[i];

        tally_free(&v->tally);
        layout_free(v->layout);
        roster_free(v->roster);
        scenario_free(v->scenario);
        json_free(v->doc);
        for (size_t k = 0; k < v->assignments; k++)
            free(v->assignment[k]);
        free(v->assignment);
        free(v->replication);
        free(v->label);
    }
    for (size_t i = 0; i < s->losses; i++)
        free(s->lost[i].reason);
    free(s->variant);
    free(s->lost);
    free(s->trace);
    free(s->timeline.dir);
    free(s->path);
}

/* The file with overrides. NULL with errors. */
static struct json *load(const char *path, const struct param_list *base,
                         const char *const *assignment, size_t assignments, struct errors *e)
{
    size_t before = e->count;
    struct json *doc = scenario_load(path, "--set", base->item, base->count, e);

    for (size_t i = 0; doc && i < assignments; i++)
        scenario_assign(doc, "--vary", assignment[i], e);
    if (e->count == before)
        return doc;
    json_free(doc);
    return NULL;
}

int study_add_doc(struct study *s, const char *label, struct json *doc, const char *dir,
                  struct errors *e)
{
    struct scenario *scenario = scenario_read(doc, dir, e);
    struct variant *v;

    if (!scenario) {
        json_free(doc);
        return -1;
    }
    s->variant = xrealloc(s->variant, (s->variants + 1) * sizeof *s->variant);
    v = &s->variant[s->variants++];
    *v = (struct variant){.label = xstrdup(label), .doc = doc, .scenario = scenario};
    v->roster = roster_new(scenario);
    v->layout = layout_new(scenario, v->roster);
    return 0;
}

int study_add(struct study *s, const char *label, const struct param_list *base,
              const char *const *assignment, size_t assignments, struct errors *e)
{
    struct json *doc = load(s->path, base, assignment, assignments, e);
    char *dir = directory_of(s->path);
    int status = doc ? study_add_doc(s, label, doc, dir, e) : -1;
    struct variant *v;

    free(dir);
    if (status)
        return -1;
    v = &s->variant[s->variants - 1];
    v->assignment = xcalloc(assignments, sizeof *v->assignment);
    for (; v->assignments < assignments; v->assignments++)
        v->assignment[v->assignments] = xstrdup(assignment[v->assignments]);
    return 0;
}

/* ---- running --------------------------------------------------------------------------------- */

struct task {
    uint32_t variant, replication;
};

struct study_work {
    struct task *task;
    size_t tasks;
    struct progress progress;
    int64_t *reached; /* by task: simulated ns so far; shared with the workers */
    double total;     /* simulated seconds */
    struct errors *e;
};

/* Replications first, variants within: whenever it ends, variants have been treated alike. */
static void list_tasks(const struct study *s, struct study_work *k)
{
    int64_t most = 0;

    for (size_t i = 0; i < s->variants; i++)
        if (s->variant[i].scenario->replications > most)
            most = s->variant[i].scenario->replications;
    k->task = xcalloc((size_t)most * s->variants, sizeof *k->task);
    for (int64_t r = 0; r < most; r++)
        for (size_t i = 0; i < s->variants; i++) {
            const struct scenario *sc = s->variant[i].scenario;

            if (r < s->variant[i].first || r >= sc->replications)
                continue;
            k->task[k->tasks++] = (struct task){(uint32_t)i, (uint32_t)r};
            k->total += (double)(sc->warmup + sc->duration) / 1e9;
        }
}

static int work(void *ctx, size_t index, FILE *out, struct errors *e)
{
    struct study *s = ctx;
    const struct task *t = &s->work->task[index];

    return study_replicate(s, &s->variant[t->variant], t->replication, index ? NULL : s->trace,
                           &s->work->reached[index], out, e);
}

static void add_loss(struct study *s, const struct task *t, const struct pool_result *r)
{
    s->lost = xrealloc(s->lost, (s->losses + 1) * sizeof *s->lost);
    s->lost[s->losses++] =
        (struct lost_run){t->variant, t->replication, xstrdup(r->reason ? r->reason : "no reason"),
                          r->outcome == POOL_FAILED ? r->code : EXIT_INTERNAL};
}

static int take(void *ctx, const struct pool_result *r)
{
    struct study *s = ctx;
    const struct task *t = &s->work->task[r->index];
    struct variant *v = &s->variant[t->variant];

    if (r->outcome != POOL_DONE) {
        add_loss(s, t, r);
        return 0;
    }
    if (tally_add(&v->tally, r->data, r->size, s->work->e))
        return 1;
    v->replication[v->tally.count - 1] = t->replication;
    return s->taken && s->taken(s->ctx, t->variant, s->work->e) ? 1 : 0;
}

static void tick(void *ctx)
{
    const struct study *s = ctx;
    struct study_work *k = s->work;
    double reached = 0;

    for (size_t i = 0; i < k->tasks; i++)
        reached += (double)__atomic_load_n(&k->reached[i], __ATOMIC_RELAXED) / 1e9;
    progress_update(&k->progress, reached < k->total ? reached : k->total, NULL);
}

int study_run(struct study *s, struct errors *e)
{
    struct study_work k = {.e = e};
    struct pool pool = {.jobs = s->jobs, .ctx = s, .work = work, .in_order = take, .tick = tick};
    enum pool_end end;
    size_t size, done = 0;

    list_tasks(s, &k);
    size = k.tasks * sizeof *k.reached;
    k.reached = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (k.reached == MAP_FAILED) {
        free(k.task);
        return error_add(e, EXIT_INTERNAL, "no memory for %zu replications", k.tasks);
    }
    for (size_t i = 0; i < s->variants; i++) {
        struct variant *v = &s->variant[i];
        size_t n = (size_t)v->scenario->replications;

        tally_init(&v->tally, v->layout, n, percent_fraction(v->scenario->confidence));
        v->replication = xcalloc(n, sizeof *v->replication);
    }
    s->work = &k;
    pool.tasks = k.tasks;
    progress_begin(&k.progress, "simulating", "s simulated", k.total, s->quiet);
    end = pool_run(&pool, e);
    progress_end(&k.progress);
    s->work = NULL;
    s->interrupted = end == POOL_INTERRUPTED;
    munmap(k.reached, size);
    free(k.task);
    for (size_t i = 0; i < s->variants; i++)
        done += s->variant[i].tally.count;
    for (size_t i = 0; i < s->losses && !done; i++)
        error_add(e, s->lost[i].code, "replication %zu: %s", s->lost[i].replication,
                  s->lost[i].reason);
    if (!done && s->interrupted)
        error_add(e, EXIT_INTERRUPTED, "interrupted before the first replication was complete");
    return done ? 0 : -1;
}

const struct subject *variant_subject(const struct variant *v, const struct subject *s)
{
    for (size_t i = 0; i < v->layout->subjects; i++)
        if (v->layout->subject[i].kind == s->kind && !strcmp(v->layout->subject[i].name, s->name))
            return &v->layout->subject[i];
    return NULL;
}

bool study_partial(const struct study *s)
{
    return s->interrupted || s->losses;
}

enum exit_code study_exit_code(const struct study *s)
{
    for (size_t i = 0; i < s->losses; i++)
        if (s->lost[i].code == EXIT_INTERNAL)
            return EXIT_INTERNAL;
    if (s->losses)
        return s->lost[0].code;
    return s->interrupted ? EXIT_INTERRUPTED : EXIT_OK;
}
