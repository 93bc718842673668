/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers to questions of labs: each is a run of its own, in a child of the worker pool. */
#include "experiments/commands/lab.h"
#include "experiments/compare/compare.h"
#include "experiments/study/study_inside.h"
#include "experiments/sweep/figures.h"
#include "experiments/traces/traces.h"
#include "models/schedulers/plugin.h"
#include "sim/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lab_work {
    const struct lab *lab;
    const size_t *question;
    struct answer *answer;
    const char *plugin;
    struct bound_result *bound;
    struct errors *e;
};

/* ---- studies --------------------------------------------------------------------------------- */

/* Settings of the lab, then of the question. */
static struct param_list settings(const struct lab *l, const struct question *q)
{
    struct param_list all = {.count = l->set.count + (q ? q->set.count : 0)};
    char **item = xcalloc(all.count, sizeof *item);

    for (size_t i = 0; i < l->set.count; i++)
        item[i] = ((char **)l->set.item)[i];
    for (size_t i = l->set.count; q && i < all.count; i++)
        item[i] = ((char **)q->set.item)[i - l->set.count];
    all.item = item;
    return all;
}

static void begin(struct study *s, const struct lab *l, const struct question *q)
{
    char *path = xasprintf("%s/%s", l->dir, q && q->scenario ? q->scenario : l->scenario);

    study_init(s, path);
    s->quiet = true;
    s->jobs = pool_cpus();
    free(path);
}

/* ---- figures --------------------------------------------------------------------------------- */

static const struct subject *subject_of(const struct variant *v, const struct figure *f)
{
    for (size_t i = 0; i < v->layout->subjects; i++)
        if (v->layout->subject[i].kind == f->kind &&
            !strcmp(v->layout->subject[i].name, f->subject))
            return &v->layout->subject[i];
    return NULL;
}

/* The figure of that name; free with figures_free. NULL with an error. */
static const struct figure *find(const struct variant *v, const char *name, struct figures *list,
                                 struct errors *e)
{
    int i;

    *list = figures_select(v->layout, &name, 1, NULL);
    i = figures_find(list, name, "the lab's figure", e);
    return i < 0 ? NULL : &list->item[i];
}

static int value_of(const struct variant *v, const char *name, struct interval *x, struct errors *e)
{
    struct figures list;
    const struct figure *f = find(v, name, &list, e);

    if (f)
        *x = tally_interval(&v->tally, subject_of(v, f), f->metric);
    figures_free(&list);
    return f ? 0 : -1;
}

static double half(const struct interval *x)
{
    return interval_given(x) ? (x->high - x->low) / 2 : NAN;
}

static int take_figure(const struct study *s, const struct figure_answer *a, double *value,
                       struct errors *e)
{
    const struct variant *v = &s->variant[s->variants - 1], *first = &s->variant[0];
    struct figures list;
    const struct figure *f = find(v, a->figure, &list, e);
    struct comparison c = {0};
    struct interval x = {0};
    int status = f ? 0 : -1;

    if (f && a->take <= TAKE_HALF_WIDTH)
        x = tally_interval(&v->tally, subject_of(v, f), f->metric);
    else if (f)
        c = compare_figures(first, v, subject_of(first, f), f->metric);
    if (f)
        *value = a->take == TAKE_VALUE               ? x.estimate
                 : a->take == TAKE_HALF_WIDTH        ? half(&x)
                 : a->take == TAKE_CHANGE            ? 100 * (c.ratio.estimate - 1)
                 : a->take == TAKE_CHANGE_HALF_WIDTH ? 100 * half(&c.ratio)
                                                     : c.ratio.estimate;
    figures_free(&list);
    if (f && isnan(*value))
        status = error_add(e, EXIT_INTERNAL, "%s has no such value in this run", a->figure);
    return status;
}

static int take_shares(const struct variant *v, const struct shares_answer *a, double *value,
                       struct errors *e)
{
    double product = 1;
    struct interval x;

    for (size_t i = 0; i < a->figures.count; i++) {
        if (value_of(v, ((char **)a->figures.item)[i], &x, e))
            return -1;
        product *= x.estimate / 100;
    }
    *value = 100 * product;
    if (!a->over)
        return 0;
    if (value_of(v, a->over, &x, e))
        return -1;
    *value = x.estimate / 100 / product;
    return 0;
}

static int answer_by_study(const struct lab *l, const struct question *q, struct answer *answer,
                           struct errors *e)
{
    const struct figure_answer *figure = question_type(q) == ANSWER_FIGURE ? q->answer.data : NULL;
    struct param_list base = settings(l, q);
    struct study s;
    int status = 0;

    begin(&s, l, q);
    if (figure && figure->against.count)
        status = study_add(&s, "first", &base, (const char *const *)figure->against.item,
                           figure->against.count, e);
    if (!status && !study_add(&s, "this", &base, NULL, 0, e) && !study_prepare(&s, e) &&
        !study_run(&s, e))
        status = figure ? take_figure(&s, figure, &answer->value, e)
                        : take_shares(&s.variant[0], q->answer.data, &answer->value, e);
    study_free(&s);
    free(base.item);
    return e->count ? -1 : status;
}

/* ---- schedules ------------------------------------------------------------------------------- */

struct watch {
    struct observer observer;
    const struct record_answer *asked;
    enum answer_type type;
    int64_t seen;
    struct observation found;
    bool done;
};

static void see(struct observer *o, struct host *h, const struct observation *obs)
{
    struct watch *w = container_of(o, struct watch, observer);
    char name[VCPU_NAME];

    if (w->done || obs->time < w->asked->from)
        return;
    if (w->asked->vcpu && (!obs->vcpu || strcmp(vcpu_name(obs->vcpu, name), w->asked->vcpu)))
        return;
    w->seen++;
    if (w->type == ANSWER_RECORD && w->seen == w->asked->nth) {
        w->found = *obs;
        w->done = true;
        h->queue->stopped = true;
    }
}

static int kind_of(const char *name, struct errors *e)
{
    for (int k = 0; k < OBS_KINDS; k++)
        if (!strcmp(observation_names[k].name, name))
            return k;
    return error_add(e, EXIT_INPUT, "the lab's record: there is no kind \"%s\"", name);
}

static int take_record(const struct watch *w, const struct record_answer *a, double *ns,
                       struct errors *e)
{
    if (!w->done)
        return error_add(e, EXIT_INTERNAL, "there are only %lld records \"%s\"", (long long)w->seen,
                         a->record);
    *ns = (double)w->found.time;
    if (!strcmp(a->take, "date"))
        return 0;
    for (int i = 0; i < 4; i++) {
        const char *argument = observation_names[w->found.kind].arg[i];

        if (argument && !strcmp(argument, a->take)) {
            *ns = (double)w->found.arg[i];
            return 0;
        }
    }
    return error_add(e, EXIT_INPUT, "the lab's record: \"%s\" has no \"%s\"", a->record, a->take);
}

static const struct vcpu *vcpu_of(const struct host *h, const char *wanted, struct errors *e)
{
    char name[VCPU_NAME];

    for (uint32_t i = 0; i < h->vcpu_count; i++)
        if (!strcmp(vcpu_name(h->vcpu[i], name), wanted))
            return h->vcpu[i];
    error_add(e, EXIT_INPUT, "the lab's vCPU: there is no \"%s\"", wanted);
    return NULL;
}

static int take_state(const struct host *h, const struct state_answer *a, struct answer *answer,
                      struct errors *e)
{
    static const char *const runstates[] = {"running", "runnable", "blocked", "offline"};
    const struct vcpu *v = vcpu_of(h, a->vcpu, e);
    const struct scheduler *s = v ? vcpu_scheduler(v) : NULL;

    if (!v)
        return -1;
    switch ((enum state_take)a->take) {
    case TAKE_CREDIT:
        answer->value = s->ops->credit ? (double)s->ops->credit(s, v) : NAN;
        break;
    case TAKE_PCPU:
        answer->value = v->processor;
        break;
    case TAKE_PRIORITY:
        snprintf(answer->text, ANSWER_TEXT, "%s", s->ops->priority ? s->ops->priority(s, v) : "-");
        break;
    case TAKE_RUNSTATE:
        snprintf(answer->text, ANSWER_TEXT, "%s", runstates[v->runstate]);
        break;
    }
    return 0;
}

/* ns in the question's unit; counts stay what they are. */
static double in_unit(double ns, const char *unit)
{
    return !strcmp(unit, "us")   ? ns / 1e3
           : !strcmp(unit, "ms") ? ns / 1e6
           : !strcmp(unit, "s")  ? ns / 1e9
                                 : ns;
}

/* The first replication of the first host, up to the date that is asked for. */
static int run_schedule(const struct study *s, const struct question *q, struct answer *answer,
                        struct errors *e)
{
    const struct variant *v = &s->variant[0];
    struct world *w = study_world(s, v, 0, e);
    struct watch watch = {.type = question_type(q), .observer.see = see};
    const struct state_answer *state = watch.type == ANSWER_STATE ? q->answer.data : NULL;
    sim_time end;
    int kind = 0;

    if (!w)
        return -1;
    end = w->end;
    if (state) {
        end = state->at + 1;
    } else {
        watch.asked = q->answer.data;
        kind = kind_of(watch.asked->record, e);
        if (kind < 0)
            return -1;
        watch.observer.kinds = UINT64_C(1) << kind;
        host_observe(w->host[0].host, &watch.observer);
        if (watch.type == ANSWER_COUNT)
            end = watch.asked->until;
    }
    if (study_run_world(s, v, w, end, e))
        return -1;
    if (state)
        return take_state(w->host[0].host, state, answer, e);
    if (watch.type == ANSWER_COUNT) {
        answer->value = (double)watch.seen;
        return 0;
    }
    if (take_record(&watch, watch.asked, &answer->value, e))
        return -1;
    answer->value = in_unit(answer->value, q->unit);
    return 0;
}

static int answer_by_schedule(const struct lab *l, const struct question *q, struct answer *answer,
                              struct errors *e)
{
    struct param_list base = settings(l, q);
    struct study s;
    int status = -1;

    begin(&s, l, q);
    if (!study_add(&s, "", &base, NULL, 0, e) && !study_prepare(&s, e))
        status = run_schedule(&s, q, answer, e);
    free(base.item);
    study_free(&s);
    return status;
}

/* ---- in children ------------------------------------------------------------------------------
 */

static int work(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct lab_work *w = ctx;
    const struct question *q = lab_question(w->lab, w->question[index]);
    struct answer answer = {.value = NAN};
    bool study = question_type(q) <= ANSWER_SHARES;

    if ((study ? answer_by_study : answer_by_schedule)(w->lab, q, &answer, e)) {
        error_context(e, 0, "question %s", q->name);
        return -1;
    }
    fwrite(&answer, sizeof answer, 1, out);
    return 0;
}

static int take(void *ctx, const struct pool_result *r)
{
    struct lab_work *w = ctx;

    if (r->outcome != POOL_DONE || r->size != sizeof *w->answer) {
        error_add(w->e, r->outcome == POOL_FAILED ? r->code : EXIT_INTERNAL, "%s",
                  r->reason ? r->reason : "the run gave no answer");
        return 1;
    }
    memcpy(&w->answer[r->index], r->data, r->size);
    return 0;
}

int lab_answers(const struct lab *l, const size_t *question, size_t count, struct answer *answer,
                struct errors *e)
{
    struct lab_work w = {.lab = l, .question = question, .answer = answer, .e = e};
    struct pool pool = {.tasks = count, .jobs = 1, .ctx = &w, .work = work, .in_order = take};

    if (pool_run(&pool, e) == POOL_INTERRUPTED && !e->count)
        error_add(e, EXIT_INTERRUPTED, "interrupted");
    return e->count ? -1 : 0;
}

/* ---- a scheduler of one's own ------------------------------------------------------------------
 */

/* The figures of all bounds under one scheduler. */
static int run_scheduler(const struct lab *l, const char *name, double *value, struct errors *e)
{
    struct param_list base = settings(l, NULL);
    char *set = xasprintf("/hosts/0/scheduler=%s", name);
    const char *assignment[] = {set};
    struct study s;
    int status = -1;

    begin(&s, l, NULL);
    if (!study_add(&s, name, &base, assignment, 1, e) && !study_prepare(&s, e) &&
        !study_run(&s, e)) {
        status = 0;
        for (size_t i = 0; i < l->task->bounds.count && !status; i++) {
            const struct task_bound *b = &((struct task_bound *)l->task->bounds.item)[i];
            struct interval x = {.estimate = NAN};

            status = value_of(&s.variant[0], b->figure, &x, e);
            value[i] = x.estimate;
        }
    }
    study_free(&s);
    free(set);
    free(base.item);
    return status;
}

/* Task 0: the plug-in; i + 1: the reference of bound i. */
static int grade(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct lab_work *w = ctx;
    const struct lab *l = w->lab;
    const struct task_bound *b = l->task->bounds.item;
    size_t n = l->task->bounds.count;
    double *value = xcalloc(n, sizeof *value);
    const struct sched_ops *mine = index ? NULL : scheduler_load(w->plugin, e);
    const char *name = index ? b[index - 1].reference : mine ? mine->name : NULL;
    int status = 0;

    for (size_t i = 0; i < n; i++)
        value[i] = NAN;
    if (name)
        status = run_scheduler(l, name, value, e);
    if (!status && !e->count)
        fwrite(value, sizeof *value, n, out);
    free(value);
    return e->count ? -1 : status;
}

static int take_grade(void *ctx, const struct pool_result *r)
{
    struct lab_work *w = ctx;
    size_t n = w->lab->task->bounds.count;
    const double *value = r->data;

    if (r->outcome != POOL_DONE || r->size != n * sizeof *value) {
        error_add(w->e, r->outcome == POOL_FAILED ? r->code : EXIT_SHORT, "%s",
                  r->reason ? r->reason : "the run gave no figures");
        return 1;
    }
    if (r->index)
        memcpy(&w->bound[r->index - 1].reference, &value[r->index - 1], sizeof *value);
    for (size_t i = 0; i < n && !r->index; i++)
        memcpy(&w->bound[i].value, &value[i], sizeof *value);
    return 0;
}

int lab_grade(const struct lab *l, const char *plugin, struct bound_result *result,
              struct errors *e)
{
    size_t n = l->task->bounds.count;
    struct lab_work w = {.lab = l, .plugin = plugin, .bound = result, .e = e};
    struct pool pool = {
        .tasks = n + 1, .jobs = 1, .ctx = &w, .work = grade, .in_order = take_grade};

    if (pool_run(&pool, e) == POOL_INTERRUPTED && !e->count)
        error_add(e, EXIT_INTERRUPTED, "interrupted");
    for (size_t i = 0; i < n; i++) {
        const struct task_bound *b = &((struct task_bound *)l->task->bounds.item)[i];
        double unit = b->reference ? result[i].reference : 1;

        result[i].kept = (!(b->least > 0) || result[i].value >= b->least * unit) &&
                         (!(b->most > 0) || result[i].value <= b->most * unit) &&
                         !isnan(result[i].value);
        if (!b->reference)
            result[i].reference = NAN;
    }
    return e->count ? -1 : 0;
}
