/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/sweep.h"

#include "experiments/scenario/assign.h"
#include "experiments/scenario/datadir.h"
#include "sim/random.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ERRORS_SHOWN = 20 };

/* ---- the scenario of a point ------------------------------------------------------------------
 */

static void push(struct param_list *l, char *text)
{
    char **item = xrealloc(l->item, (l->count + 1) * sizeof *item);

    item[l->count++] = text;
    l->item = item;
}

struct param_list sweep_changes(const struct sweep *s, size_t point)
{
    struct param_list l = {0};

    for (size_t i = 0; i < s->spec.set.count; i++)
        push(&l, xstrdup(list_text(&s->spec.set, i)));
    for (size_t i = 0; i < s->design.axes; i++) {
        const struct level *level = design_level(&s->design, point, i);

        for (size_t k = 0; k < level->sets; k++)
            push(&l, xstrdup(level->set[k]));
    }
    if (s->point && s->point[point].seed >= 0)
        push(&l, xasprintf("/seed=%lld", (long long)s->point[point].seed));
    return l;
}

void sweep_changes_free(struct param_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(((char **)l->item)[i]);
    free(l->item);
}

struct json *sweep_scenario(const struct sweep *s, size_t point, struct errors *e)
{
    struct json *doc = json_parse(s->scenario, s->base, s->base_size, e);
    size_t before = e->count;

    if (!doc)
        return NULL;
    for (size_t i = 0; i < s->spec.set.count; i++)
        scenario_assign(doc, "set", list_text(&s->spec.set, i), e);
    for (size_t i = 0; i < s->design.axes; i++) {
        const struct level *level = design_level(&s->design, point, i);
        char *flag = xasprintf("axis %s", s->design.axis[i].name);

        for (size_t k = 0; k < level->sets; k++)
            scenario_assign(doc, flag, level->set[k], e);
        free(flag);
    }
    if (s->point && s->point[point].seed >= 0) {
        char *text = xasprintf("/seed=%lld", (long long)s->point[point].seed);

        scenario_assign(doc, "seed", text, e);
        free(text);
    }
    if (e->count == before)
        return doc;
    json_free(doc);
    return NULL;
}

char *sweep_point_name(const struct sweep *s, size_t point)
{
    char *name = xstrdup("");

    for (size_t i = 0; i < s->design.axes; i++) {
        char *longer = xasprintf("%s%s%s=%s", name, i ? ", " : "", s->design.axis[i].name,
                                 design_level(&s->design, point, i)->text);

        free(name);
        name = longer;
    }
    return name;
}

/* A word for the shell, in quotes if it needs them. */
static void put_word(const char *word, FILE *out)
{
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_-./=:,+%@")]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, out);
    fputc('\'', out);
}

char *sweep_rerun(const struct sweep *s, size_t point, uint32_t replications)
{
    struct param_list l = sweep_changes(s, point);
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    fputs("hvsim run ", out);
    put_word(s->scenario, out);
    for (size_t i = 0; i < l.count; i++) {
        fputs(" --set ", out);
        put_word(list_text(&l, i), out);
    }
    fprintf(out, " --replications %u", replications);
    fclose(out);
    sweep_changes_free(&l);
    return text;
}

/* ---- keys -------------------------------------------------------------------------------------
 */

/* Two keys, so that the digest of one thing is not that of another by its length alone. */
static uint64_t digest(const void *data, size_t size, uint64_t with)
{
    return hash_bytes(UINT64_C(0x687673696d207377), with, data, size);
}

static uint64_t digest_text(const char *text, uint64_t with)
{
    return digest(text, strlen(text) + 1, with);
}

/* What changes no replication is left out. */
static uint64_t digest_scenario(struct scenario *s)
{
    char **text[] = {&s->title, &s->question}, *resolved;
    size_t size;
    FILE *out = open_memstream(&resolved, &size);
    struct json_writer w = json_writer(out, JSON_COMPACT);
    uint64_t key;

    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        free(*text[i]);
        *text[i] = xstrdup("");
    }
    s->replications = 1;
    s->confidence = PERCENT_ALL / 2;
    config_write(&scenario_format, s, &w, NULL);
    fclose(out);
    key = digest(resolved, size, 0);
    free(resolved);
    return key;
}

static uint64_t digest_figures(const struct figures *f)
{
    uint64_t key = 0;

    for (size_t i = 0; i < f->count; i++) {
        key = digest_text(subject_kind_names[f->item[i].kind], key);
        key = digest_text(f->item[i].subject, key);
        key = digest_text(f->item[i].metric->name, key);
    }
    return key;
}

static uint64_t digest_fleet(const struct roster *r, uint64_t platform)
{
    uint64_t key = platform;

    for (size_t i = 0; i < roster_machines(r); i++) {
        char *pointer;

        key = digest_text(roster_machine(r, i, &pointer), key);
        key = digest_text(pointer, key);
        free(pointer);
    }
    for (size_t i = 0; i < r->clients; i++)
        key = digest_text(r->client[i].spec->to, key);
    return key;
}

static uint64_t digest_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    uint64_t key = 0;
    char block[4096];
    size_t n;

    while (in && (n = fread(block, 1, sizeof block, in)) > 0)
        key = digest(block, n, key);
    if (in)
        fclose(in);
    return key;
}

static uint32_t platform_of(struct sweep *s, const char *file)
{
    for (size_t i = 0; i < s->platforms; i++)
        if (!strcmp(s->platform[i].file, file))
            return (uint32_t)i;
    s->platform = xrealloc(s->platform, (s->platforms + 1) * sizeof *s->platform);
    s->platform[s->platforms] = (struct sweep_platform){xstrdup(file), digest_file(file)};
    return (uint32_t)s->platforms++;
}

/* ---- points -----------------------------------------------------------------------------------
 */

struct opening {
    struct sweep *sweep;
    const char **name; /* of figures to keep, the one that decides last */
    size_t names;
    bool *seen;
    struct errors *e;
    uint64_t *told; /* digests of errors that were reported */
    size_t tells, untold;
};

/* The same complaint about many points is made once, and not too many of them. */
static void tell(struct opening *o, size_t point, const struct errors *found)
{
    for (size_t i = 0; i < found->count; i++) {
        uint64_t key = digest_text(found->item[i].text, 1);
        bool known = false;
        char *name;

        for (size_t k = 0; k < o->tells && !known; k++)
            known = o->told[k] == key;
        if (known)
            continue;
        if (o->tells == ERRORS_SHOWN) {
            o->untold++;
            continue;
        }
        o->told = xrealloc(o->told, (o->tells + 1) * sizeof *o->told);
        o->told[o->tells++] = key;
        name = sweep_point_name(o->sweep, point);
        error_add(o->e, found->item[i].code, "point %zu (%s): %s", point, name,
                  found->item[i].text);
        free(name);
    }
}

static int take_figures(struct opening *o, const struct layout *l, struct point *p,
                        struct errors *e)
{
    struct sweep *s = o->sweep;
    struct figure_set set = {.stop = -1};

    set.figures = figures_select(l, o->name, o->names, o->seen);
    set.key = digest_figures(&set.figures);
    for (size_t i = 0; i < s->sets; i++)
        if (s->set[i].key == set.key) {
            figures_free(&set.figures);
            p->set = (uint32_t)i;
            return 0;
        }
    if (s->spec.stop)
        set.stop = figures_find(&set.figures, s->spec.stop->metric, "stop", e);
    if (s->spec.stop && set.stop >= 0 &&
        set.figures.item[set.stop].metric->estimate == ESTIMATE_MAXIMUM) {
        error_add(e, EXIT_INPUT, "stop: %s is a maximum, which has no interval",
                  s->spec.stop->metric);
        set.stop = -1;
    }
    s->set = xrealloc(s->set, (s->sets + 1) * sizeof *s->set);
    s->set[s->sets] = set;
    p->set = (uint32_t)s->sets++;
    return s->spec.stop && set.stop < 0 ? -1 : 0;
}

static void take_replications(const struct sweep *s, const struct scenario *scenario,
                              struct point *p)
{
    int64_t n = scenario->replications;

    if (s->spec.replications)
        n = s->spec.replications;
    if (s->spec.stop)
        n = s->spec.stop->most;
    p->replications = (uint32_t)n;
}

static void take_scenario(struct opening *o, struct scenario *scenario, struct point *p,
                          struct errors *e)
{
    struct sweep *s = o->sweep;
    struct roster *r = roster_new(scenario);
    struct layout *l = layout_new(scenario, r);
    uint64_t key;

    take_replications(s, scenario, p);
    if (!s->level)
        s->level = percent_fraction(scenario->confidence);
    p->platform = platform_of(s, scenario->platform_file);
    p->fleet = digest_fleet(r, p->platform);
    key = digest_scenario(scenario);
    if (s->spec.seeds == SEEDS_INDEPENDENT) {
        p->seed = (int64_t)(digest(&key, sizeof key, 2) >> 16);
        scenario->seed = p->seed;
        key = digest_scenario(scenario);
    }
    take_figures(o, l, p, e);
    p->key = digest(&s->set[p->set].key, sizeof s->set[p->set].key,
                    key ^ s->platform[p->platform].digest);
    layout_free(l);
    roster_free(r);
}

static void check_point(struct opening *o, size_t point)
{
    struct sweep *s = o->sweep;
    struct errors e = ERRORS_NONE;
    struct json *doc = sweep_scenario(s, point, &e);
    struct scenario *scenario = doc ? scenario_read(doc, s->dir, &e) : NULL;

    if (scenario)
        take_scenario(o, scenario, &s->point[point], &e);
    tell(o, point, &e);
    scenario_free(scenario);
    json_free(doc);
    errors_free(&e);
}

static void check_names(const struct opening *o, size_t before)
{
    for (size_t i = 0; i < o->names && o->e->count == before; i++)
        if (!o->seen[i]) {
            char *what = xasprintf("%s: %s", o->sweep->path,
                                   i < o->sweep->spec.metrics.count ? "metrics" : "stop");

            figures_unknown(o->name[i], what, o->e);
            free(what);
        }
}

static int list_points(struct sweep *s, struct errors *e)
{
    struct opening o = {.sweep = s, .e = e};
    size_t before = e->count;

    /* No names mean everything, so the deciding one is added only to others. */
    o.name = xcalloc(s->spec.metrics.count + 1, sizeof *o.name);
    for (; o.names < s->spec.metrics.count; o.names++)
        o.name[o.names] = list_text(&s->spec.metrics, o.names);
    if (o.names && s->spec.stop)
        o.name[o.names++] = s->spec.stop->metric;
    o.seen = xcalloc(o.names, sizeof *o.seen);
    s->points = s->design.points;
    s->point = xcalloc(s->points, sizeof *s->point);
    for (size_t i = 0; i < s->points; i++)
        s->point[i].seed = -1;
    for (size_t i = 0; i < s->points; i++)
        check_point(&o, i);
    if (o.untold)
        error_add(e, EXIT_INPUT, "... and %zu more errors of other points", o.untold);
    check_names(&o, before);
    free(o.told);
    free(o.seen);
    free(o.name);
    return e->count > before ? -1 : 0;
}

/* ---- the files --------------------------------------------------------------------------------
 */

static char *read_text(const char *path, size_t *size, struct errors *e)
{
    FILE *in = fopen(path, "rb"), *out;
    char *text, block[4096];
    size_t n;

    if (!in) {
        error_add(e, EXIT_INPUT, "%s: cannot be read", path);
        return NULL;
    }
    out = open_memstream(&text, size);
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, n, out);
    fclose(in);
    fclose(out);
    return text;
}

/* Beside the sweep, or in the library. */
static int find_scenario(struct sweep *s, struct errors *e)
{
    char *dir = directory_of(s->path);
    bool here = *s->spec.scenario == '/' || !strcmp(dir, ".");
    char *beside = here ? xstrdup(s->spec.scenario) : xasprintf("%s/%s", dir, s->spec.scenario);

    if (access(beside, R_OK)) {
        s->scenario = data_file("library", s->spec.scenario);
        if (!s->scenario)
            json_error_at(s->doc, "/scenario", e, "no such file: neither %s nor in hvsim's library",
                          beside);
        free(beside);
    } else {
        s->scenario = beside;
    }
    free(dir);
    if (!s->scenario)
        return -1;
    s->dir = directory_of(s->scenario);
    s->base = read_text(s->scenario, &s->base_size, e);
    return s->base ? 0 : -1;
}

int sweep_open(struct sweep *s, const char *path, struct errors *e)
{
    struct json *scenario;
    size_t before = e->count;

    *s = (struct sweep){.path = xstrdup(path)};
    s->doc = json_read(path, e);
    if (!s->doc || config_read(&sweep_format, s->doc, &s->spec, e) || find_scenario(s, e))
        return -1;
    scenario = json_parse(s->scenario, s->base, s->base_size, e);
    if (!scenario)
        return -1;
    for (size_t i = 0; i < s->spec.set.count; i++) {
        size_t first = e->count;

        if (scenario_assign(scenario, "set", list_text(&s->spec.set, i), e))
            error_context(e, first, "%s: /set/%zu", s->path, i);
    }
    if (e->count == before && !design_init(&s->design, &s->spec, s->doc, scenario, e))
        list_points(s, e);
    json_free(scenario);
    return e->count > before ? -1 : 0;
}

void sweep_free(struct sweep *s)
{
    for (size_t i = 0; i < s->sets; i++)
        figures_free(&s->set[i].figures);
    for (size_t i = 0; i < s->platforms; i++)
        free(s->platform[i].file);
    free(s->set);
    free(s->platform);
    free(s->point);
    design_free(&s->design);
    if (s->doc)
        params_free(sweep_format.table, &s->spec);
    json_free(s->doc);
    free(s->base);
    free(s->scenario);
    free(s->dir);
    free(s->path);
}
