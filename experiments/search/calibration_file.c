/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/search/calibration_file.h"

#include "experiments/results/grid.h"
#include "sim/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORST_SHOWN = 8 };

struct residual {
    char *point;
    double measured, simulated;
};

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct param text_element = {PARAM_ELEMENT(STRING, char *)};

static const struct param profile_rows[] = {
    {PARAM("value", NUMBER, struct profile_point, value), .meaning = "The unknown is held at this.",
     .min = "-1e300"},
    {PARAM("loss", NUMBER, struct profile_point, loss),
     .meaning = "Loss with the other continuous unknowns fitted again."},
    {PARAM("acceptable", BOOLEAN, struct profile_point, acceptable),
     .meaning = "Not significantly worse than the best."},
};
static const struct param_table profile_table =
    PARAM_TABLE("profile", struct profile_point, profile_rows, .meaning = "Loss along an unknown.");
static const struct param profile_element = {PARAM_ELEMENT(OBJECT, struct profile_point),
                                             .table = &profile_table};

static const char *const identified_names[] = {
    "not identified", "bounded on one side", "within", "identified", "given", NULL};

static const struct param unknown_rows[] = {
    {PARAM("name", STRING, struct calibrated, name), .meaning = "The unknown."},
    {PARAM("unit", STRING, struct calibrated, unit), .def = "", .meaning = "Of its values."},
    {PARAM("meaning", STRING, struct calibrated, meaning), .def = "", .meaning = "What it is."},
    {PARAM("part", STRING, struct calibrated, part), .def = "",
     .meaning = "The part of the calibration that fitted it."},
    {PARAM("value", NUMBER, struct calibrated, value), .min = "-1e300",
     .meaning = "What fits best."},
    {PARAM("low", NUMBER, struct calibrated, low), .min = "-1e300",
     .meaning = "Least value that is not significantly worse."},
    {PARAM("high", NUMBER, struct calibrated, high), .min = "-1e300",
     .meaning = "Largest value that is not significantly worse."},
    {PARAM("identified", ENUM, struct calibrated, identified), .names = identified_names,
     .meaning = "Whether the data tell it."},
    {PARAM("profile", LIST, struct calibrated, profile), .of = &profile_element, .def = "[]",
     .meaning = "Losses along it."},
};
static const struct param_table unknown_table =
    PARAM_TABLE("unknown", struct calibrated, unknown_rows, .meaning = "A calibrated unknown.");
static const struct param unknown_element = {PARAM_ELEMENT(OBJECT, struct calibrated),
                                             .table = &unknown_table};

static const struct param part_rows[] = {
    {PARAM("name", STRING, struct calibration_part, name), .meaning = "What was fitted."},
    {PARAM("loss", NUMBER, struct calibration_part, loss),
     .meaning = "Mean over runs of the mean |log(simulated / measured)| of their points."},
    {PARAM("points", INTEGER, struct calibration_part, points), .min = "0",
     .meaning = "Measured values."},
    {PARAM("groups", INTEGER, struct calibration_part, groups), .min = "0",
     .meaning = "Runs that they come from."},
    {PARAM("simulations", INTEGER, struct calibration_part, simulations), .min = "0",
     .meaning = "Settings that were tried."},
    {PARAM("refits", INTEGER, struct calibration_part, refits), .min = "0",
     .meaning = "Settings tried for each value of a profile; 1: the others were not fitted "
                "again, so its intervals are too narrow."},
    {PARAM("choices", STRING, struct calibration_part, choices), .def = "",
     .meaning = "How discrete unknowns were enumerated."},
};
static const struct param_table part_table = PARAM_TABLE(
    "part", struct calibration_part, part_rows, .meaning = "Unknowns that were fitted together.");
static const struct param part_element = {PARAM_ELEMENT(OBJECT, struct calibration_part),
                                          .table = &part_table};

static const struct param residual_rows[] = {
    {PARAM("point", STRING, struct residual, point), .meaning = "What was measured."},
    {PARAM("measured", NUMBER, struct residual, measured), .meaning = "Its value."},
    {PARAM("simulated", NUMBER, struct residual, simulated), .optional = true,
     .meaning = "With the calibrated values; 0: nothing."},
};
static const struct param_table residual_table = PARAM_TABLE(
    "residual", struct residual, residual_rows, .meaning = "A measured and a simulated value.");
static const struct param residual_element = {PARAM_ELEMENT(OBJECT, struct residual),
                                              .table = &residual_table};

static const struct param file_rows[] = {
    {PARAM("kind", STRING, struct calibration_file, kind), .meaning = "What was calibrated."},
    {PARAM("command", STRING, struct calibration_file, command), .def = "",
     .meaning = "The command that made this file."},
    {PARAM("data", LIST, struct calibration_file, data), .of = &text_element, .def = "[]",
     .meaning = "Files with the measured values."},
    {PARAM("parts", LIST, struct calibration_file, parts), .of = &part_element, .def = "[]",
     .meaning = "Fitted one after the other."},
    {PARAM("unknowns", LIST, struct calibration_file, unknowns), .of = &unknown_element,
     .meaning = "What was fitted."},
    {PARAM("residuals", LIST, struct calibration_file, residuals), .of = &residual_element,
     .def = "[]", .meaning = "What is left."},
};
static const struct param_table file_table =
    PARAM_TABLE("calibration", struct calibration_file, file_rows, .meaning = "A calibration.");

const struct config_format calibration_format = {"calibration", 1, &file_table};

/* ---- from a result --------------------------------------------------------------------------- */

static void *add_item(struct param_list *l, size_t size)
{
    l->item = xrealloc(l->item, (l->count + 1) * size);
    memset((char *)l->item + l->count * size, 0, size);
    return (char *)l->item + l->count++ * size;
}

static void add_unknown(struct calibration_file *f, const char *part, const struct unknown *u,
                        const struct unknown_result *r)
{
    struct calibrated *c = add_item(&f->unknowns, sizeof *c);

    *c = (struct calibrated){.name = xstrdup(u->name),
                             .unit = xstrdup(u->unit ? u->unit : ""),
                             .meaning = xstrdup(u->meaning ? u->meaning : ""),
                             .part = xstrdup(part),
                             .value = r->value,
                             .low = r->low,
                             .high = r->high,
                             .identified = (int)r->identified};
    for (size_t i = 0; i < r->points; i++)
        *(struct profile_point *)add_item(&c->profile, sizeof(struct profile_point)) =
            r->profile[i];
}

static bool may_be(const struct unknown *u, double value)
{
    for (size_t i = 0; i < u->choices; i++)
        if (u->choice[i] == value)
            return true;
    return !u->choice && value >= u->low && value <= u->high;
}

void calibration_file_give(struct calibration_file *f, const struct unknown *u, double value)
{
    const struct unknown_result r = {
        .value = value, .low = value, .high = value, .identified = IDENTIFIED_GIVEN};

    add_unknown(f, "", u, &r);
}

int calibration_held(const char *text, const struct unknown *unknown, size_t unknowns,
                     size_t *index, double *value, struct errors *e)
{
    const char *sign = strchr(text, '=');
    size_t length = sign ? (size_t)(sign - text) : 0;
    char *end;

    for (size_t i = 0; i < unknowns && sign; i++) {
        if (strlen(unknown[i].name) != length || strncmp(unknown[i].name, text, length))
            continue;
        *value = strtod(sign + 1, &end);
        *index = i;
        if (end != sign + 1 && !*end && may_be(&unknown[i], *value))
            return 0;
        return error_add(e, EXIT_INPUT, "--hold %s: %s is not a value of \"%s\"", text, sign + 1,
                         unknown[i].name);
    }
    return error_add(e, EXIT_INPUT,
                     "--hold %s: wanted UNKNOWN=VALUE with one of the unknowns that `hvsim "
                     "calibrate` lists",
                     text);
}

void calibration_file_add(struct calibration_file *f, const char *part,
                          const struct calibration_problem *p, const struct calibration_result *r)
{
    struct calibration_part *c = add_item(&f->parts, sizeof *c);

    *c = (struct calibration_part){
        .name = xstrdup(part),
        .loss = r->loss,
        .points = (int64_t)p->points,
        .simulations = (int64_t)r->spent,
        .refits = (int64_t)r->refits,
        .choices = xstrdup(r->all_combinations ? "all combinations" : "one after the other")};
    for (size_t i = 0; i < p->unknowns; i++)
        add_unknown(f, part, &p->unknown[i], &r->unknown[i]);
    for (size_t i = 0; i < p->points; i++) {
        struct residual *x = add_item(&f->residuals, sizeof *x);

        if ((int64_t)p->point[i].group >= c->groups)
            c->groups = (int64_t)p->point[i].group + 1;
        *x = (struct residual){xstrdup(p->point[i].name), p->point[i].measured,
                               isnan(r->simulated[i]) ? 0 : r->simulated[i]};
    }
}

void calibration_file_free(struct calibration_file *f)
{
    params_free(&file_table, f);
}

/* ---- writing and reading --------------------------------------------------------------------- */

int calibration_file_write(const struct calibration_file *f, const char *path, struct errors *e)
{
    struct output *o = output_open(path, e);
    struct json_writer w;

    if (!o)
        return -1;
    w = json_writer(output_stream(o), JSON_LINES);
    config_write(&calibration_format, f, &w, NULL);
    return output_commit(o, e);
}

struct calibration_file *calibration_file_read(const char *path, const char *kind, struct errors *e)
{
    struct json *doc = json_read(path, e);
    struct calibration_file *f = doc ? xcalloc(1, sizeof *f) : NULL;
    bool good = f && !config_read(&calibration_format, doc, f, e);

    if (good && strcmp(f->kind, kind)) {
        json_error_at(doc, "/kind", e, "found \"%s\": wanted a calibration of \"%s\"", f->kind,
                      kind);
        good = false;
    }
    json_free(doc);
    if (good)
        return f;
    calibration_file_release(f);
    return NULL;
}

void calibration_file_release(struct calibration_file *f)
{
    if (f)
        calibration_file_free(f);
    free(f);
}

/* ---- values ---------------------------------------------------------------------------------- */

static const struct calibrated *nth(const struct calibration_file *f, size_t i)
{
    return (const struct calibrated *)f->unknowns.item + i;
}

const struct calibrated *calibration_find(const struct calibration_file *f, const char *name)
{
    for (size_t i = f->unknowns.count; i-- > 0;)
        if (!strcmp(nth(f, i)->name, name))
            return nth(f, i);
    return NULL;
}

int calibration_values(const struct calibration_file *f, const char *path,
                       const struct unknown *unknown, size_t unknowns, double *x, struct errors *e)
{
    size_t before = e->count;

    for (size_t i = 0; i < unknowns; i++)
        x[i] = unknown[i].start;
    for (size_t k = 0; k < f->unknowns.count; k++) {
        const struct calibrated *c = nth(f, k);
        size_t i = 0;

        while (i < unknowns && strcmp(unknown[i].name, c->name))
            i++;
        if (i == unknowns)
            error_add(e, EXIT_INPUT, "%s: /unknowns/%zu/name: there is no unknown \"%s\"", path, k,
                      c->name);
        else if (!may_be(&unknown[i], c->value))
            error_add(e, EXIT_INPUT, "%s: /unknowns/%zu/value: %g is not a value of \"%s\"", path,
                      k, c->value, c->name);
        else
            x[i] = c->value;
    }
    return e->count > before ? -1 : 0;
}

/* ---- for people ------------------------------------------------------------------------------ */

static double off(const struct residual *r)
{
    return calibration_point_loss(r->measured, r->simulated);
}

static int by_loss(const void *a, const void *b)
{
    double x = off(*(const struct residual *const *)a), y = off(*(const struct residual *const *)b);

    return (x < y) - (x > y);
}

static void print_worst(const struct calibration_file *f, FILE *out)
{
    size_t n = f->residuals.count;
    const struct residual **r = xcalloc(n + 1, sizeof *r);
    struct grid g;

    for (size_t i = 0; i < n; i++)
        r[i] = (const struct residual *)f->residuals.item + i;
    qsort(r, n, sizeof *r, by_loss);
    grid_init(&g, 3);
    grid_row(&g);
    grid_put(&g, "largest residuals");
    grid_put(&g, "measured");
    grid_put(&g, "simulated");
    for (size_t i = 0; i < n && i < WORST_SHOWN; i++) {
        grid_row(&g);
        grid_put(&g, "%s", r[i]->point);
        grid_put(&g, "%.4g", r[i]->measured);
        grid_put(&g, "%.4g", r[i]->simulated);
    }
    grid_print(&g, out);
    grid_free(&g);
    free(r);
}

void calibration_print(const struct calibration_file *f, FILE *out)
{
    struct grid g;

    grid_init(&g, 5);
    grid_row(&g);
    for (size_t i = 0; i < 5; i++)
        grid_put(&g, "%s", (const char *const[]){"unknown", "value", "interval", "unit", ""}[i]);
    for (size_t i = 0; i < f->unknowns.count; i++) {
        const struct calibrated *c = nth(f, i);

        grid_row(&g);
        grid_put(&g, "%s", c->name);
        grid_put(&g, "%.4g", c->value);
        grid_put(&g, "%.4g .. %.4g", c->low, c->high);
        grid_put(&g, "%s", c->unit);
        grid_put(&g, "%s", identified_name((enum identified)c->identified));
    }
    grid_print(&g, out);
    grid_free(&g);
    fputc('\n', out);
    if (f->residuals.count)
        print_worst(f, out);
    for (size_t i = 0; i < f->parts.count; i++) {
        const struct calibration_part *p = (const struct calibration_part *)f->parts.item + i;

        fprintf(out,
                "\n%s: mean |log error| %.3f over %lld points of %lld runs; %lld settings tried, "
                "choices: %s; %lld for each value of a profile\n",
                p->name, p->loss, (long long)p->points, (long long)p->groups,
                (long long)p->simulations, p->choices, (long long)p->refits);
    }
}
