/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From points to simulations: what is tried before anything runs, and one replication in a child.
 */
#include "experiments/study/study_inside.h"
#include "experiments/sweep/kept.h"
#include "experiments/sweep/sweep.h"
#include "sim/progress.h"

#include <stdlib.h>
#include <time.h>

/* Fleets that are tried beforehand; should another be wrong, its points fail by themselves. */
enum { FLEETS_TRIED = 16 };

/* Add a point as a variant of a study, which takes its place in messages. */
static int add_point(struct study *study, const struct sweep *s, size_t point, struct errors *e)
{
    struct json *doc = sweep_scenario(s, point, e);
    char *name = sweep_point_name(s, point);
    int status = doc ? study_add_doc(study, name, doc, s->dir, e) : -1;

    free(name);
    return status;
}

/* The first point with its fleet, or at least the first with its platform? */
static bool stands_for(const struct sweep *s, size_t point, size_t tried)
{
    bool fleet = tried < FLEETS_TRIED, platform = true;

    for (size_t i = 0; i < point && (fleet || platform); i++) {
        fleet = fleet && s->point[i].fleet != s->point[point].fleet;
        platform = platform && s->point[i].platform != s->point[point].platform;
    }
    return fleet || platform;
}

int sweep_prepare(const struct sweep *s, unsigned jobs, struct errors *e)
{
    struct study study;
    uint64_t last = 0;
    size_t before = e->count;

    study_init(&study, s->scenario);
    study.jobs = jobs;
    study.quiet = true;
    for (size_t i = 0; i < s->points; i++) {
        if (i && s->point[i].fleet == last)
            continue; /* most of them: no need to look at all before */
        last = s->point[i].fleet;
        if (stands_for(s, i, study.variants))
            add_point(&study, s, i, e);
    }
    if (e->count == before)
        study_prepare(&study, e);
    study_free(&study);
    return e->count > before ? -1 : 0;
}

static struct sweep_time now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (struct sweep_time){(double)wall_now() / 1e9,
                               (double)t.tv_sec + (double)t.tv_nsec / 1e9};
}

int sweep_replicate(const struct sweep *s, size_t point, uint64_t replication, int64_t *reached,
                    char **text, struct sweep_time *took, struct errors *e)
{
    const struct figures *f = &s->set[s->point[point].set].figures;
    struct kept kept = {0};
    struct world *w = NULL;
    struct sweep_time began = now();
    struct study study;
    size_t size;
    FILE *out;

    study_init(&study, s->scenario);
    if (!add_point(&study, s, point, e) && !study_settle(&study, e))
        w = study_simulate(&study, &study.variant[0], replication, reached, e);
    if (w) {
        kept_take(&kept, f, study.variant[0].layout, w);
        world_free(w);
        *took = now();
        took->wall -= began.wall;
        took->cpu -= began.cpu;
        out = open_memstream(text, &size);
        kept_write(&kept, f, out);
        fclose(out);
        kept_free(&kept, f);
    }
    study_free(&study);
    return w ? 0 : -1;
}
