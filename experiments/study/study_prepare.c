/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Before a study runs: every platform file is tried in a child (SimGrid ends a process over a bad
 * one), its hosts are looked up, routes are tried, and each variant's world is built once.
 *
 * If all variants have one platform it is then loaded into this process, and children inherit it;
 * else each child loads its own.
 */
#include "experiments/study/study_inside.h"
#include "sim/pool.h"
#include "sim/simgrid.h"

#include <stdlib.h>
#include <string.h>

static bool loaded;

bool study_loaded(const struct study *s)
{
    (void)s;
    return loaded;
}

static const char *file_of(const struct variant *v)
{
    return v->scenario->platform_file;
}

/* The first variant with this one's platform. */
static size_t first_with(const struct study *s, size_t variant)
{
    size_t i = 0;

    while (strcmp(file_of(&s->variant[i]), file_of(&s->variant[variant])))
        i++;
    return i;
}

/* ---- hosts of the platform ------------------------------------------------------------------- */

struct preparation {
    struct study *study;
    struct errors *e;
};

/* Cores of the platform's host for each machine of a variant, in their order; -1: no such host. */
static void put_cores(const struct variant *v, FILE *out)
{
    for (size_t i = 0; i < roster_machines(v->roster); i++) {
        char *pointer;
        const char *on = roster_machine(v->roster, i, &pointer);
        double speed;
        int cores;

        if (platform_host(on, &cores, &speed))
            cores = -1;
        fwrite(&cores, sizeof cores, 1, out);
        free(pointer);
    }
}

static int survey(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct preparation *k = ctx;
    const struct variant *v = &k->study->variant[index];
    const struct platform_options o = {.file = file_of(v)};

    (void)e;
    platform_load(&o);
    put_cores(v, out);
    return 0;
}

static void no_such_host(const struct variant *v, const char *pointer, const char *name,
                         struct errors *e)
{
    const char *end = strrchr(pointer, '/');

    json_error_at(v->doc, pointer, e, "the platform %s has no host \"%s\"%s", v->scenario->platform,
                  name, strcmp(end, "/on") ? "; name the one that is meant in \"on\"" : "");
}

/* Take cores, and report what is missing, each entry of the file once. */
static void resolve_hosts(struct variant *v, const int *cores, struct errors *e)
{
    const struct roster *r = v->roster;
    char *told = xstrdup("");

    for (size_t i = 0; i < roster_machines(r); i++) {
        char *pointer;
        const char *on = roster_machine(r, i, &pointer);

        if (i < r->hosts && cores[i] >= 0) {
            struct host_spec *h = scenario_host(v->scenario, r->host[i].spec_index);

            if (!h->pcpus)
                h->pcpus = cores[i] > MAX_PCPUS ? MAX_PCPUS : cores[i];
        } else if (cores[i] < 0 && strcmp(pointer, told)) {
            free(told);
            told = xstrdup(pointer);
            no_such_host(v, pointer, on, e);
        }
        free(pointer);
    }
    free(told);
}

/* Hosts that take their number of pCPUs from the platform are checked against it only now. */
static int take_survey(void *ctx, const struct pool_result *result)
{
    struct preparation *k = ctx;
    struct variant *v = &k->study->variant[result->index];
    size_t machines = roster_machines(v->roster);
    bool open = false;

    if (result->outcome != POOL_DONE || result->size != machines * sizeof(int)) {
        error_add(k->e, EXIT_INTERNAL, "%s: looking at its hosts failed: %s", file_of(v),
                  result->reason ? result->reason : "no answer");
        return 0;
    }
    for (size_t i = 0; i < v->scenario->hosts.count; i++)
        open = open || !scenario_host(v->scenario, i)->pcpus;
    resolve_hosts(v, result->data, k->e);
    if (open)
        scenario_check_pcpus(v->scenario, v->doc, k->e);
    return 0;
}

/* ---- routes, worlds
 * ------------------------------------------------------------------------------ */

static int probe(const struct variant *v, bool with_fleet, struct errors *e)
{
    const struct platform_options o = {.file = file_of(v)};
    struct fleet none;
    struct world *w = with_fleet ? world_new(v->scenario, v->roster, 0, 0) : NULL;
    int status;

    fleet_init(&none);
    status = platform_probe(&o, w ? &w->fleet : &none, e);
    fleet_free(&none);
    world_free(w);
    return status;
}

static int rehearse(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct preparation *k = ctx;

    (void)out;
    return study_rehearse(k->study, &k->study->variant[index], e);
}

/* Each line of a lost task's reason is one error of its own. */
static int take_rehearsal(void *ctx, const struct pool_result *result)
{
    struct preparation *k = ctx;
    enum exit_code code = result->outcome == POOL_FAILED ? result->code : EXIT_INTERNAL;
    const char *line = result->reason;

    while (result->outcome != POOL_DONE && line && *line) {
        size_t length = strcspn(line, "\n");

        error_add(k->e, code, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    return 0;
}

/* ---- all
 * ----------------------------------------------------------------------------------------- */

/* All variants in children, at most as many at a time as there are jobs. */
static int each_variant(struct study *s, pool_work_fn *work, pool_result_fn *take, struct errors *e)
{
    struct preparation k = {s, e};
    struct pool pool = {
        .tasks = s->variants, .jobs = s->jobs, .ctx = &k, .work = work, .in_order = take};
    size_t before = e->count;

    if (pool_run(&pool, e) == POOL_INTERRUPTED)
        error_add(e, EXIT_INTERRUPTED, "interrupted before the first replication was complete");
    return e->count > before ? -1 : 0;
}

static int probe_all(const struct study *s, bool with_fleet, struct errors *e)
{
    size_t before = e->count;

    for (size_t i = 0; i < s->variants; i++)
        if (with_fleet ? roster_machines(s->variant[i].roster) > s->variant[i].roster->hosts
                       : first_with(s, i) == i)
            probe(&s->variant[i], with_fleet, e);
    return e->count > before ? -1 : 0;
}

/* The same complaint about several variants is made once. */
static void drop_repeated(struct errors *e, size_t first)
{
    size_t kept = first;

    for (size_t i = first; i < e->count; i++) {
        bool known = false;

        for (size_t k = first; k < kept && !known; k++)
            known = !strcmp(e->item[k].text, e->item[i].text);
        if (known)
            free(e->item[i].text);
        else
            e->item[kept++] = e->item[i];
    }
    e->count = kept;
}

static void load_if_one(const struct study *s)
{
    const struct platform_options o = {.file = file_of(&s->variant[0])};

    for (size_t i = 0; i < s->variants; i++)
        if (first_with(s, i))
            return;
    platform_load(&o);
    loaded = true;
}

int study_settle(struct study *s, struct errors *e)
{
    const struct platform_options o = {.file = file_of(&s->variant[0])};
    struct preparation k = {s, e};
    struct pool_result found = {.outcome = POOL_DONE};
    size_t before = e->count;
    char *cores;
    FILE *out = open_memstream(&cores, &found.size);

    if (!loaded)
        platform_load(&o);
    loaded = true;
    put_cores(&s->variant[0], out);
    fclose(out);
    found.data = cores;
    take_survey(&k, &found);
    free(cores);
    return e->count > before ? -1 : 0;
}

int study_prepare(struct study *s, struct errors *e)
{
    size_t before = e->count;

    if (!probe_all(s, false, e) && !each_variant(s, survey, take_survey, e) &&
        !probe_all(s, true, e)) {
        load_if_one(s);
        each_variant(s, rehearse, take_rehearsal, e);
    }
    drop_repeated(e, before);
    return e->count > before ? -1 : 0;
}
