/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/search/tune_scenario.h"

#include "experiments/scenario/assign.h"
#include "experiments/sweep/sweep_file.h"

#include <stdlib.h>
#include <string.h>

/* ---- settings of candidates -------------------------------------------------------------------
 */

/* The setting of a candidate, made when it is first asked for. */
static int64_t setting_of(struct tuning *t, size_t candidate, const double *x)
{
    struct errors e = ERRORS_NONE;
    char **set = NULL;
    size_t sets = 0;

    while (t->settings <= candidate) {
        t->setting = xrealloc(t->setting, (t->settings + 1) * sizeof *t->setting);
        t->reason = xrealloc(t->reason, (t->settings + 1) * sizeof *t->reason);
        t->setting[t->settings] = -2;
        t->reason[t->settings++] = NULL;
    }
    if (t->setting[candidate] != -2)
        return t->setting[candidate];
    for (size_t i = 0; i < t->variables; i++)
        for (size_t k = 0; k < t->variable[i].pointers; k++) {
            set = xrealloc(set, (sets + 1) * sizeof *set);
            set[sets++] = over_assignment(&t->variable[i], k, x[i]);
        }
    t->setting[candidate] = trials_add(&t->trials, (const char *const *)set, sets, &e);
    if (t->setting[candidate] < 0)
        t->reason[candidate] = xstrdup(e.count ? e.item[0].text : "no valid scenario");
    for (size_t i = 0; i < sets; i++)
        free(set[i]);
    free(set);
    errors_free(&e);
    return t->setting[candidate];
}

/* The first settings are known: is there anything to choose from? What most of a space refuses is a
 * mistake of whoever gave it, such as a range without the step that the scenario wants. */
static int check_space(const struct tuning *t, struct errors *e)
{
    const char *reason = NULL;
    size_t valid = 0;

    for (size_t i = 0; i < t->settings; i++) {
        valid += t->setting[i] >= 0;
        if (t->setting[i] == -1 && !reason)
            reason = t->reason[i];
    }
    if (!reason || valid > 1 || valid == t->settings - valid)
        return 0;
    return error_add(
        e, EXIT_INPUT,
        "%zu of the first %zu settings are no valid scenario; one of them: %s (a range "
        "may have a step, as in 1ms..30ms/1ms)",
        t->settings - valid, t->settings, reason);
}

static int evaluate(void *ctx, const struct tune_job *job, size_t jobs, bool *failed,
                    struct errors *e)
{
    struct tuning *t = ctx;
    struct trial_job *list = xcalloc(jobs, sizeof *list);
    bool first = !t->settings;
    size_t count = 0;
    int status;

    for (size_t i = 0; i < jobs; i++) {
        int64_t setting = setting_of(t, job[i].candidate, job[i].x);

        if (setting >= 0)
            list[count++] = (struct trial_job){(size_t)setting, job[i].replication};
    }
    status = first && check_space(t, e) ? -1 : trials_run(&t->trials, list, count, e);
    for (size_t i = 0; i < jobs && !status; i++) {
        int64_t setting = t->setting[job[i].candidate];

        failed[i] = setting < 0 || t->trials.setting[setting].reps <= job[i].replication;
        if (setting >= 0 && failed[i] && !t->reason[job[i].candidate])
            t->reason[job[i].candidate] = xstrdup(t->trials.setting[setting].reason);
    }
    free(list);
    return status;
}

static void values(void *ctx, size_t candidate, uint32_t n, double *objective, double *excess)
{
    struct tuning *t = ctx;
    size_t setting = (size_t)t->setting[candidate];

    trials_values(&t->trials, setting, 0, n, objective);
    for (uint32_t i = 0; t->most && i < n; i++)
        objective[i] = -objective[i];
    for (size_t c = 0; c < t->bounds; c++) {
        double *x = &excess[c * n];

        trials_values(&t->trials, setting, 1 + c, n, x);
        for (uint32_t i = 0; i < n; i++)
            x[i] = bound_excess(&t->bound[c], x[i]);
    }
}

static void tell(void *ctx, uint64_t spent, size_t alive)
{
    struct tuning *t = ctx;
    char note[64];

    snprintf(note, sizeof note, "%zu settings in the race", alive);
    progress_update(&t->progress, (double)spent, note);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* The scenario as it is, with --set. */
static struct json *scenario_now(struct tuning *t, struct errors *e)
{
    struct json *doc = json_parse(t->scenario, t->trials.text, t->trials.text_size, e);
    size_t before = e->count;

    for (size_t i = 0; doc && i < t->set->count; i++)
        scenario_assign(doc, "--set", list_text(t->set, i), e);
    if (e->count == before)
        return doc;
    json_free(doc);
    return NULL;
}

static int read_variables(struct tuning *t, const struct json *now, struct errors *e)
{
    size_t before = e->count;

    t->variable = xcalloc(t->over->count, sizeof *t->variable);
    for (; t->variables < t->over->count; t->variables++)
        over_read(&t->variable[t->variables], list_text(t->over, t->variables), "--over", now, e);
    if (!t->over->count)
        error_add(e, EXIT_INPUT,
                  "nothing to vary: give --over, as in --over /hosts/0/scheduler/tslice=1ms..30ms");
    return e->count > before ? -1 : 0;
}

static int read_bounds(struct tuning *t, struct errors *e)
{
    size_t before = e->count;

    t->bound = xcalloc(t->subject_to->count, sizeof *t->bound);
    t->name = xcalloc(t->subject_to->count + 1, sizeof *t->name);
    t->name[0] = t->objective;
    for (; t->bounds < t->subject_to->count; t->bounds++) {
        bound_read(&t->bound[t->bounds], list_text(t->subject_to, t->bounds), "--subject-to", e);
        t->name[1 + t->bounds] = t->bound[t->bounds].name;
    }
    return e->count > before ? -1 : 0;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static int search(struct tuning *t, const struct json *now, struct errors *e)
{
    struct variable *variable = xcalloc(t->variables, sizeof *variable);
    double *first = xcalloc(t->variables, sizeof *first);
    struct tune_problem p = {.variable = variable,
                             .variables = t->variables,
                             .constraints = t->bounds,
                             .first_given = true,
                             .first = first,
                             .ctx = t,
                             .evaluate = evaluate,
                             .values = values};
    int status;

    for (size_t i = 0; i < t->variables; i++) {
        variable[i] = t->variable[i].variable;
        p.first_given = p.first_given && over_current(&t->variable[i], now, &first[i]);
    }
    t->starts_from_now = p.first_given;
    t->options.tell = tell;
    progress_begin(&t->progress, "tuning", "replications", (double)t->options.budget, t->quiet);
    status = tune_search(&p, &t->options, &t->result, e);
    progress_end(&t->progress);
    free(variable);
    free(first);
    return status;
}

/* Is the scenario itself right, and does it have the figures? Else every candidate would fail. */
static int check(struct tuning *t, struct errors *e)
{
    return trials_add(&t->trials, NULL, 0, e) < 0 ? -1 : 0;
}

int tuning_run(struct tuning *t, struct errors *e)
{
    struct json *now = NULL;
    int status = read_bounds(t, e);

    if (trials_open(&t->trials, t->scenario, t->set, t->name, 1 + t->bounds, t->jobs, e))
        return -1;
    now = scenario_now(t, e);
    if (!now)
        return -1;
    status |= read_variables(t, now, e);
    if (!status)
        status = check(t, e);
    if (!status)
        status = search(t, now, e);
    json_free(now);
    return status;
}

void tuning_free(struct tuning *t)
{
    for (size_t i = 0; i < t->variables; i++)
        over_free(&t->variable[i]);
    for (size_t i = 0; i < t->bounds; i++)
        bound_free(&t->bound[i]);
    for (size_t i = 0; i < t->settings; i++)
        free(t->reason[i]);
    tune_result_free(&t->result);
    trials_free(&t->trials);
    free(t->variable);
    free(t->bound);
    free(t->name);
    free(t->setting);
    free(t->reason);
}
