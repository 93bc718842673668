/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/study/rare_run.h"

#include "experiments/study/study_inside.h"
#include "models/control/late_watch.h"
#include "sim/pool.h"

#include <stdlib.h>
#include <string.h>

struct task {
    const struct study *study;
    const struct rare_plan *plan;
    struct rare_outcome *outcome;
    double *share[SPLITTING_LEVELS]; /* by replication */
    struct errors *e;
};

/* What a replication hands in. */
struct report {
    struct splitting splitting;
    uint64_t rounds;
};

/* ---- in the child ---------------------------------------------------------------------------- */

/* Copies follow the round they were made for only. */
static void reached(struct late_watch *w, uint64_t round, uint32_t level)
{
    struct splitting *s = w->ctx;

    if (!s->copy || s->pursued == round)
        splitting_reach(s, level, round);
}

static void decided(struct late_watch *w, uint64_t round)
{
    struct splitting *s = w->ctx;

    if (s->copy && s->pursued == round)
        splitting_end(s);
}

static int simulate(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct task *t = ctx;
    const struct rare_plan *p = t->plan;
    struct world *w = study_world(t->study, &t->study->variant[0], index, e);
    struct late_watch *watch;
    struct report r;
    int status;

    if (!w)
        return -1;
    splitting_init(&r.splitting, p->levels, p->copies);
    watch = xcalloc(1, sizeof *watch);
    memcpy(watch->level, p->level, sizeof watch->level);
    watch->levels = p->levels;
    watch->reached = reached;
    watch->decided = decided;
    watch->ctx = &r.splitting;
    late_watch_attach(watch, &w->loop[p->loop].agent);
    status = study_run_world(t->study, &t->study->variant[0], w, w->end, e);
    splitting_end(&r.splitting); /* a copy whose round was not decided before the end */
    if (!status)
        status = world_close(w, e);
    r.rounds = w->loop[p->loop].agent.record.end - w->loop[p->loop].agent.record.first;
    if (!status)
        fwrite(&r, sizeof r, 1, out);
    world_free(w);
    free(watch);
    return status;
}

/* ---- in the parent --------------------------------------------------------------------------- */

static int take(void *ctx, const struct pool_result *result)
{
    struct task *t = ctx;
    struct rare_outcome *o = t->outcome;
    struct report r;

    if (result->outcome != POOL_DONE || result->size != sizeof r)
        return error_add(t->e, EXIT_INTERNAL, "replication %zu was lost: %s", result->index,
                         result->reason ? result->reason : "no result"),
               1;
    memcpy(&r, result->data, sizeof r);
    for (uint32_t i = 0; i < t->plan->levels; i++) {
        t->share[i][o->replications] =
            r.rounds ? splitting_count(&r.splitting, i) / (double)r.rounds : 0;
        o->level[i].reached += r.splitting.reached[i];
    }
    o->replications++;
    o->rounds += r.rounds;
    o->made += r.splitting.made;
    o->lost += r.splitting.lost;
    return 0;
}

int rare_run(const struct study *s, const struct rare_plan *p, struct rare_outcome *r,
             struct errors *e)
{
    const struct scenario *sc = s->variant[0].scenario;
    struct task t = {.study = s, .plan = p, .outcome = r, .e = e};
    struct pool pool = {.tasks = (size_t)sc->replications,
                        .jobs = s->jobs,
                        .ctx = &t,
                        .work = simulate,
                        .in_order = take};
    size_t before = e->count;

    *r = (struct rare_outcome){0};
    for (uint32_t i = 0; i < p->levels; i++)
        t.share[i] = xcalloc(pool.tasks, sizeof *t.share[i]);
    if (pool_run(&pool, e) == POOL_INTERRUPTED)
        error_add(e, EXIT_INTERRUPTED, "interrupted");
    for (uint32_t i = 0; i < p->levels; i++) {
        r->level[i].share =
            interval_mean(t.share[i], r->replications, percent_fraction(sc->confidence));
        free(t.share[i]);
    }
    return e->count > before ? -1 : 0;
}
