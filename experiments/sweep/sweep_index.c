/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/sweep_index.h"

#include "experiments/results/results.h"
#include "sim/output.h"
#include "sim/version.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "sweep.jsonl"

enum { FORMAT = 1 };

/* ---- writing ----------------------------------------------------------------------------------
 */

static void put_axes(const struct sweep *s, struct json_writer *w)
{
    json_begin(w, "axes", '[');
    for (size_t i = 0; i < s->design.axes; i++) {
        const struct axis *a = &s->design.axis[i];

        json_begin(w, NULL, '{');
        json_put_string(w, "name", a->name);
        json_put_boolean(w, "numeric", a->numeric);
        json_put_integer(w, "quantity", a->quantity);
        json_end(w);
    }
    json_end(w);
}

static void put_figures(const struct sweep *s, struct json_writer *w)
{
    json_begin(w, "figures", '[');
    for (size_t i = 0; i < s->sets; i++) {
        const struct figures *f = &s->set[i].figures;

        json_begin(w, NULL, '{');
        json_put_integer(w, "stop", s->set[i].stop);
        json_begin(w, "list", '[');
        for (size_t k = 0; k < f->count; k++) {
            json_begin(w, NULL, '[');
            json_put_integer(w, NULL, f->item[k].kind);
            json_put_string(w, NULL, f->item[k].subject);
            json_put_string(w, NULL, f->item[k].metric->name);
            json_put_integer(w, NULL,
                             f->item[k].pool == FIGURE_PLAIN ? -1 : (int64_t)f->item[k].pool);
            json_end(w);
        }
        json_end(w);
        json_end(w);
    }
    json_end(w);
}

static void put_head(const struct sweep *s, FILE *out)
{
    struct json_writer w = json_writer(out, JSON_COMPACT);

    json_begin(&w, NULL, '{');
    json_put_integer(&w, "sweep", FORMAT);
    json_put_string(&w, "hvsim", hvsim_version);
    json_put_string(&w, "title", s->spec.title);
    json_put_string(&w, "question", s->spec.question);
    json_put_string(&w, "scenario", s->scenario);
    json_put_number(&w, "level", s->level);
    json_put_boolean(&w, "common_seeds", s->spec.seeds == SEEDS_COMMON);
    if (s->spec.stop) {
        json_begin(&w, "stop", '{');
        json_put_number(&w, "relative", percent_fraction(s->spec.stop->relative));
        json_put_integer(&w, "least", s->spec.stop->least);
        json_end(&w);
    }
    put_axes(s, &w);
    put_figures(s, &w);
    json_end(&w);
    fputc('\n', out);
}

static int put_point(const struct sweep *s, size_t point, FILE *out, struct errors *e)
{
    const struct point *p = &s->point[point];
    struct json_writer w = json_writer(out, JSON_COMPACT);
    struct json *doc = sweep_scenario(s, point, e);
    char key[20], *rerun = sweep_rerun(s, point, p->replications);

    snprintf(key, sizeof key, "%016" PRIx64, p->key);
    json_begin(&w, NULL, '{');
    json_put_string(&w, "key", key);
    json_put_integer(&w, "figures", p->set);
    json_put_integer(&w, "replications", p->replications);
    json_begin(&w, "axes", '[');
    for (size_t i = 0; i < s->design.axes; i++)
        json_put_string(&w, NULL, design_level(&s->design, point, i)->text);
    json_end(&w);
    json_put_string(&w, "rerun", rerun);
    if (doc)
        json_put_value(&w, "scenario", json_root(doc));
    json_end(&w);
    fputc('\n', out);
    free(rerun);
    json_free(doc);
    return doc ? 0 : -1;
}

/* Is the file's content this? */
static bool is_there(const char *path, const char *text, size_t size)
{
    FILE *in = fopen(path, "rb");
    bool same = in != NULL;
    char block[65536];
    size_t n;

    while (same && (n = fread(block, 1, sizeof block, in)) > 0) {
        same = n <= size && !memcmp(block, text, n);
        text += n;
        size -= same ? n : 0;
    }
    if (in)
        fclose(in);
    return same && !size;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* What becomes of points that were there before. */
static void compare(const struct sweep *s, const char *dir, size_t *known, size_t *gone)
{
    struct errors none = ERRORS_NONE;
    struct sweep_index old;
    uint64_t *key = sweep_keys(s);

    qsort(key, s->points, sizeof *key, by_key);
    if (!index_read(&old, dir, &none))
        for (size_t i = 0; i < old.points; i++)
            ++*(bsearch(&old.point[i].key, key, s->points, sizeof *key, by_key) ? known : gone);
    index_free(&old);
    errors_free(&none);
    free(key);
}

int index_write(const struct sweep *s, const char *dir, size_t *known, size_t *gone,
                struct errors *e)
{
    char *path = output_path(dir, NAME), *text;
    size_t size, dummy = 0;
    FILE *out = open_memstream(&text, &size);
    int status = 0;

    put_head(s, out);
    for (size_t i = 0; i < s->points && !status; i++)
        status = put_point(s, i, out, e);
    fclose(out);
    known = known ? known : &dummy;
    gone = gone ? gone : &dummy;
    *known = *gone = 0;
    if (!status && is_there(path, text, size)) {
        *known = s->points;
    } else if (!status) {
        compare(s, dir, known, gone);
        status = output_write(path, text, size, e);
    }
    free(text);
    free(path);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

struct reading {
    struct sweep_index *index;
    const char *path;
    size_t room;
    bool headed;
};

static char *own_text(struct json_value v)
{
    return xstrdup(json_string(v) ? json_string(v) : "");
}

static int64_t integer(struct json_value v, int64_t otherwise)
{
    int64_t i;

    return json_integer(v, &i) ? otherwise : i;
}

static int damaged(const struct reading *r, struct errors *e)
{
    return error_add(e, EXIT_INPUT,
                     "%s: not an index that this version of hvsim has written; run the sweep again",
                     r->path);
}

static int read_figures(struct figure_set *set, struct json_value v)
{
    set->stop = (int)integer(json_member(v, "stop"), -1);
    JSON_FOR_EACH(f, json_member(v, "list"))
    {
        const char *name = json_string(json_element(f, 2));
        int64_t kind = integer(json_element(f, 0), -1), pool = integer(json_element(f, 3), -2);
        struct figure *figure;

        set->figures.item =
            xrealloc(set->figures.item, (set->figures.count + 1) * sizeof *set->figures.item);
        figure = &set->figures.item[set->figures.count++];
        *figure = (struct figure){.kind = (enum subject_kind)kind,
                                  .subject = own_text(json_element(f, 1)),
                                  .metric = name ? metric_by_name(name) : NULL,
                                  .pool = pool < 0 ? FIGURE_PLAIN : (size_t)pool};
        if (!figure->metric || kind < 0 || kind >= SUBJECT_KINDS || pool < -1)
            return -1;
        if (pool >= 0 && (size_t)pool >= set->figures.pools)
            set->figures.pools = (size_t)pool + 1;
    }
    return 0;
}

static int read_head(struct reading *r, struct json_value v, struct errors *e)
{
    struct sweep_index *x = r->index;
    struct json_value stop = json_member(v, "stop");

    r->headed = true;
    if (integer(json_member(v, "sweep"), 0) != FORMAT ||
        json_double(json_member(v, "level"), &x->level))
        return damaged(r, e);
    x->title = own_text(json_member(v, "title"));
    x->question = own_text(json_member(v, "question"));
    x->scenario = own_text(json_member(v, "scenario"));
    x->common_seeds = json_boolean(json_member(v, "common_seeds"));
    x->stops = json_exists(stop);
    if (x->stops && json_double(json_member(stop, "relative"), &x->relative))
        return damaged(r, e);
    x->least = (uint32_t)integer(json_member(stop, "least"), 0);
    x->axis = xcalloc(json_length(json_member(v, "axes")), sizeof *x->axis);
    JSON_FOR_EACH(a, json_member(v, "axes"))
    {
        int64_t quantity = integer(json_member(a, "quantity"), -1);

        if (quantity < 0 || quantity >= QUANTITY_COUNT)
            return damaged(r, e);
        x->axis[x->axes++] =
            (struct index_axis){own_text(json_member(a, "name")),
                                json_boolean(json_member(a, "numeric")), (enum quantity)quantity};
    }
    x->set = xcalloc(json_length(json_member(v, "figures")), sizeof *x->set);
    JSON_FOR_EACH(f, json_member(v, "figures"))
    if (read_figures(&x->set[x->sets++], f))
        return damaged(r, e);
    return 0;
}

static int read_point(struct reading *r, struct json_value v, struct errors *e)
{
    struct sweep_index *x = r->index;
    const char *key = json_string(json_member(v, "key"));
    struct json_value axes = json_member(v, "axes");
    struct index_point *p;
    struct json_writer w;
    size_t i = 0, size;
    FILE *out;

    if (x->points == r->room) {
        r->room = r->room ? 2 * r->room : 64;
        x->point = xrealloc(x->point, r->room * sizeof *x->point);
    }
    p = &x->point[x->points];
    *p = (struct index_point){.set = (uint32_t)integer(json_member(v, "figures"), -1),
                              .wanted = (uint32_t)integer(json_member(v, "replications"), 0)};
    if (!key || sscanf(key, "%16" SCNx64, &p->key) != 1 || p->set >= x->sets || !p->wanted ||
        json_length(axes) != x->axes)
        return damaged(r, e);
    x->points++;
    p->level = xcalloc(x->axes, sizeof *p->level);
    JSON_FOR_EACH(a, axes)
    p->level[i++] = own_text(a);
    p->rerun = own_text(json_member(v, "rerun"));
    out = open_memstream(&p->scenario, &size);
    w = json_writer(out, JSON_COMPACT);
    json_put_value(&w, NULL, json_member(v, "scenario"));
    fclose(out);
    return 0;
}

static int read_line(void *ctx, const char *line, size_t length, struct errors *e)
{
    struct reading *r = ctx;
    struct json *doc = json_parse(r->path, line, length, e);
    int status;

    if (!doc)
        return -1;
    status = (r->headed ? read_point : read_head)(r, json_root(doc), e);
    json_free(doc);
    return status;
}

int index_read(struct sweep_index *x, const char *dir, struct errors *e)
{
    char *path = output_path(dir, NAME);
    struct reading r = {.index = x, .path = path};
    int status;

    *x = (struct sweep_index){0};
    if (access(path, R_OK))
        status = error_add(e, EXIT_INPUT,
                           "%s: not the directory of a sweep: there is no " NAME
                           "; `hvsim sweep run FILE --out DIR` makes one",
                           dir);
    else
        status = line_file_read(path, read_line, &r, e);
    if (!status && !x->points)
        status = damaged(&r, e);
    free(path);
    return status;
}

void index_free(struct sweep_index *x)
{
    for (size_t i = 0; i < x->points; i++) {
        for (size_t k = 0; k < x->axes; k++)
            free(x->point[i].level[k]);
        free(x->point[i].level);
        free(x->point[i].rerun);
        free(x->point[i].scenario);
    }
    for (size_t i = 0; i < x->axes; i++)
        free(x->axis[i].name);
    for (size_t i = 0; i < x->sets; i++)
        figures_free(&x->set[i].figures);
    free(x->point);
    free(x->axis);
    free(x->set);
    free(x->title);
    free(x->question);
    free(x->scenario);
}

/* ---- rules and keys ---------------------------------------------------------------------------
 */

struct entry_rule index_rule(const struct sweep_index *x, size_t point)
{
    const struct index_point *p = &x->point[point];
    const struct figure_set *set = &x->set[p->set];

    return (struct entry_rule){.figures = &set->figures,
                               .wanted = p->wanted,
                               .stop = x->stops ? set->stop : -1,
                               .relative = x->relative,
                               .least = x->least,
                               .level = x->level};
}

struct entry_rule sweep_rule(const struct sweep *s, size_t point)
{
    const struct point *p = &s->point[point];
    const struct stop_spec *stop = s->spec.stop;

    return (struct entry_rule){.figures = &s->set[p->set].figures,
                               .wanted = p->replications,
                               .stop = stop ? s->set[p->set].stop : -1,
                               .relative = stop ? percent_fraction(stop->relative) : 0,
                               .least = stop ? (uint32_t)stop->least : 0,
                               .level = s->level};
}

const char *index_axis_unit(const struct index_axis *a)
{
    const char *unit = a->numeric ? value_unit(a->quantity) : "";

    return *unit ? unit_in_header(unit) : "";
}

uint64_t *index_keys(const struct sweep_index *x)
{
    uint64_t *key = xcalloc(x->points, sizeof *key);

    for (size_t i = 0; i < x->points; i++)
        key[i] = x->point[i].key;
    return key;
}

uint64_t *sweep_keys(const struct sweep *s)
{
    uint64_t *key = xcalloc(s->points, sizeof *key);

    for (size_t i = 0; i < s->points; i++)
        key[i] = s->point[i].key;
    return key;
}
