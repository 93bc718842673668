/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/sweep_file.h"

#include <stdlib.h>
#include <string.h>

/* ---- JSON as it stands ----------------------------------------------------------------------- */

static int json_text_read(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    struct json_text *t = field;
    struct json_writer w;
    size_t size;
    FILE *out;

    (void)p;
    (void)e;
    if (json_kind(v) == JSON_NULL) /* as if it were not there */
        return 0;
    out = open_memstream(&t->text, &size);
    w = json_writer(out, JSON_COMPACT);
    json_put_value(&w, NULL, v);
    fclose(out);
    return 0;
}

static void json_text_write(const struct param *p, const void *field, struct json_writer *w,
                            const char *key)
{
    const struct json_text *t = field;

    (void)p;
    json_put_number_text(w, key, t->text ? t->text : "null");
}

static void json_text_schema(const struct param *p, struct json_writer *w, const char *key)
{
    json_begin_inline(w, key, '{');
    if (p->meaning)
        json_put_string(w, "description", p->meaning);
    json_end(w);
}

static void json_text_release(void *field)
{
    free(((struct json_text *)field)->text);
}

static const struct param_type json_text_type = {
    .name = "value",
    .accepts = "what the scenario accepts there",
    .size = sizeof(struct json_text),
    .read = json_text_read,
    .write = json_text_write,
    .schema = json_text_schema,
    .release = json_text_release,
};

/* ---- one JSON pointer or several ------------------------------------------------------------- */

static int add_pointer(struct param_list *l, struct json_value v, struct errors *e)
{
    const char *text = json_string(v);
    char **item, *shown;

    if (!text || *text != '/') {
        shown = json_show(v);
        json_error(v, e, "found %s: a JSON pointer begins with \"/\", as in \"/hosts/0/scheduler\"",
                   shown);
        free(shown);
        return -1;
    }
    item = xrealloc(l->item, (l->count + 1) * sizeof *item);
    item[l->count++] = xstrdup(text);
    l->item = item;
    return 0;
}

static int pointers_read(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    int status = 0;

    (void)p;
    if (json_kind(v) != JSON_ARRAY)
        return add_pointer(field, v, e);
    JSON_FOR_EACH(one, v)
    status |= add_pointer(field, one, e);
    return status;
}

static void pointers_write(const struct param *p, const void *field, struct json_writer *w,
                           const char *key)
{
    const struct param_list *l = field;

    (void)p;
    json_begin_inline(w, key, '[');
    for (size_t i = 0; i < l->count; i++)
        json_put_string(w, NULL, list_text(l, i));
    json_end(w);
}

static void pointers_schema(const struct param *p, struct json_writer *w, const char *key)
{
    json_begin(w, key, '{');
    if (p->meaning)
        json_put_string(w, "description", p->meaning);
    json_begin_inline(w, "type", '[');
    json_put_string(w, NULL, "string");
    json_put_string(w, NULL, "array");
    json_end(w);
    json_begin_inline(w, "items", '{');
    json_put_string(w, "type", "string");
    json_end(w);
    json_end(w);
}

static void pointers_release(void *field)
{
    struct param_list *l = field;

    for (size_t i = 0; i < l->count; i++)
        free(((char **)l->item)[i]);
    free(l->item);
}

static const struct param_type pointers_type = {
    .name = "JSON pointer",
    .accepts = "a JSON pointer such as \"/hosts/0/scheduler/tslice\", or an array of them",
    .size = sizeof(struct param_list),
    .read = pointers_read,
    .write = pointers_write,
    .schema = pointers_schema,
    .release = pointers_release,
};

/* ---- axes ------------------------------------------------------------------------------------ */

static const struct param text_element = {PARAM_ELEMENT(STRING, char *)};
static const struct param value_element = {PARAM_ELEMENT(CUSTOM, struct json_text),
                                           .type = &json_text_type};

static const struct param setting_rows[] = {
    {PARAM("label", STRING, struct setting_spec, label), .meaning = "Its name in results."},
    {PARAM("set", LIST, struct setting_spec, set), .of = &text_element, .min = "0",
     .meaning = "Changes of the scenario, each as \"/json/pointer=value\"; none: as it is."},
};
static const struct param_table setting_table = PARAM_TABLE(
    "setting", struct setting_spec, setting_rows, .meaning = "Changes that belong together.");
static const struct param setting_element = {PARAM_ELEMENT(OBJECT, struct setting_spec),
                                             .table = &setting_table};

static const char *const scales[] = {"linear", "log", NULL};

static const struct param axis_rows[] = {
    {PARAM("name", NAME, struct axis_spec, name), .refers = "axis",
     .meaning = "Its name: a column of results, and the word for it in conditions."},
    {PARAM("at", CUSTOM, struct axis_spec, at), .type = &pointers_type, .def = "[]",
     .meaning = "Places in the scenario that take the value, as JSON pointers.",
     .status = STATUS_ASSUMED},
    {PARAM("values", LIST, struct axis_spec, values), .of = &value_element, .def = "[]",
     .meaning = "The values, one by one.", .status = STATUS_ASSUMED},
    {PARAM("settings", LIST, struct axis_spec, settings), .of = &setting_element, .def = "[]",
     .meaning = "Instead of \"at\" and values: changes that belong together, under a name.",
     .status = STATUS_ASSUMED},
    {PARAM("from", CUSTOM, struct axis_spec, from), .type = &json_text_type, .def = "null",
     .status = STATUS_ASSUMED, .meaning = "Start of a range."},
    {PARAM("to", CUSTOM, struct axis_spec, to), .type = &json_text_type, .def = "null",
     .status = STATUS_ASSUMED, .meaning = "End of a range, which it may include."},
    {PARAM("step", CUSTOM, struct axis_spec, step), .type = &json_text_type, .def = "null",
     .status = STATUS_ASSUMED, .meaning = "From one value of the range to the next."},
    {PARAM("count", INTEGER, struct axis_spec, count), .optional = true, .min = "1",
     .max = "1000000",
     .meaning = "Instead of a step: so many values, both ends included. With neither, the range is "
                "sampled (see \"sampling\")."},
    {PARAM("scale", ENUM, struct axis_spec, scale), .def = "linear", .names = scales,
     .meaning = "How a range is divided: linear, equal differences; log, equal ratios.",
     .status = STATUS_ASSUMED},
    {PARAM("round", CUSTOM, struct axis_spec, round), .type = &json_text_type, .def = "null",
     .status = STATUS_ASSUMED, .meaning = "Values of the range are rounded to multiples of this."},
    {PARAM("form", STRING, struct axis_spec, form), .optional = true,
     .meaning = "A text in which the value takes the place of {}, as in \"poisson({})\"."},
    {PARAM("with", NAME, struct axis_spec, with), .optional = true, .refers = "axis",
     .meaning = "An earlier axis with as many values: both advance together."},
};

/* Exactly one way to say which values there are. */
static int check_axis(void *target, struct json_value v, struct errors *e)
{
    const struct axis_spec *a = target;
    bool range = a->from.text || a->to.text;
    size_t before = e->count;

    if (!a->values.count + !a->settings.count + !range != 2)
        return json_error(v, e,
                          "say once which values it takes: \"values\", \"settings\", or \"from\" "
                          "and \"to\"");
    if (range && (!a->from.text || !a->to.text))
        json_error(v, e, "a range needs both \"from\" and \"to\"");
    if (!range && (a->step.text || a->count || a->scale == SCALE_LOG))
        json_error(v, e,
                   "\"step\", \"count\" and \"scale\" belong to a range: give \"from\" and "
                   "\"to\"");
    if (a->step.text && a->count)
        json_error_in(v, "count", e, "give \"step\" or \"count\", not both");
    if (a->step.text && a->scale == SCALE_LOG)
        json_error_in(v, "step", e, "a range with \"scale\": \"log\" needs a \"count\"");
    if (a->settings.count ? a->at.count || a->form : !a->at.count)
        json_error(v, e,
                   a->settings.count ? "\"settings\" name their own places: leave out \"at\" and "
                                       "\"form\""
                                     : "\"at\" is missing: which place of the scenario takes the "
                                       "value, such as \"/hosts/0/scheduler/tslice\"");
    if (a->form && !strstr(a->form, "{}"))
        json_error_in(v, "form", e, "there is no {} for the value, as in \"poisson({})\"");
    return e->count > before ? -1 : 0;
}

static const struct param_table axis_table =
    PARAM_TABLE("axis", struct axis_spec, axis_rows,
                .meaning = "Something that is varied. Axes are crossed: every value of one with "
                           "every value of the others.",
                .check = check_axis);
static const struct param axis_element = {PARAM_ELEMENT(OBJECT, struct axis_spec),
                                          .table = &axis_table};

/* ---- the file -------------------------------------------------------------------------------- */

static const char *const methods[] = {"latin_hypercube", "sobol", NULL};

static const struct param sampling_rows[] = {
    {PARAM("method", ENUM, struct sampling_spec, method), .def = "latin_hypercube",
     .names = methods,
     .meaning = "latin_hypercube: each axis is cut into as many parts as there are points, and "
                "each part is used once; sobol: a sequence that fills the space evenly.",
     .status = STATUS_ASSUMED},
    {PARAM("points", INTEGER, struct sampling_spec, points), .min = "1", .max = "1000000",
     .meaning = "So many points; crossed with the axes that are not sampled."},
    {PARAM("seed", INTEGER, struct sampling_spec, seed), .def = "1", .min = "0",
     .meaning = "Of the Latin hypercube.", .status = STATUS_ASSUMED},
};
static const struct param_table sampling_table =
    PARAM_TABLE("sampling", struct sampling_spec, sampling_rows,
                .meaning = "How ranges without step and count are sampled, all together.");

static const struct param stop_rows[] = {
    {PARAM("metric", STRING, struct stop_spec, metric),
     .meaning = "The metric whose interval decides, as in \"metrics\"."},
    {PARAM("relative", PERCENT, struct stop_spec, relative), .def = "5%", .min = "0.01%",
     .max = "100%", .meaning = "Half-width of its interval that is enough, as a share of the mean.",
     .status = STATUS_ASSUMED},
    {PARAM("least", INTEGER, struct stop_spec, least), .def = "10", .min = "10", .max = "100000",
     .meaning = "Replications before the first decision.", .status = STATUS_ASSUMED},
    {PARAM("most", INTEGER, struct stop_spec, most), .def = "100", .min = "10", .max = "100000",
     .meaning = "Replications after which it ends in any case.", .status = STATUS_ASSUMED},
};
static const struct param_table stop_table =
    PARAM_TABLE("stop", struct stop_spec, stop_rows,
                .meaning = "Replicate each point until a metric is known well enough.");

static const struct param limit_rows[] = {
    {PARAM("time", DURATION, struct limit_spec, time), .def = "1h", .min = "1ms", .max = "1000d",
     .word = "none", .word_value = 0,
     .meaning = "Wall time after which a replication is given up as hanging.",
     .status = STATUS_ASSUMED},
    {PARAM("memory", SIZE, struct limit_spec, memory), .def = "share", .min = "64MiB",
     .word = "share", .word_value = 0,
     .meaning = "Address space that a replication may use; \"share\": the machine's memory divided "
                "by the workers, but at least 1 GiB.",
     .status = STATUS_ASSUMED},
};
static const struct param_table limit_table =
    PARAM_TABLE("limits", struct limit_spec, limit_rows,
                .meaning = "What a replication may use before it counts as failed.");

/* In the order of enum seed_rule. */
static const char *const seed_rules[] = {"common", "independent", NULL};

static const struct param sweep_rows[] = {
    {PARAM("title", STRING, struct sweep_spec, title), .def = "",
     .meaning = "One line for people."},
    {PARAM("question", STRING, struct sweep_spec, question), .def = "",
     .meaning = "What the sweep is to answer."},
    {PARAM("scenario", STRING, struct sweep_spec, scenario),
     .meaning = "The scenario file: beside the sweep, or one that comes with hvsim."},
    {PARAM("set", LIST, struct sweep_spec, set), .of = &text_element, .def = "[]",
     .meaning = "Changes of the scenario for all points, each as \"/json/pointer=value\".",
     .status = STATUS_ASSUMED},
    {PARAM("axes", LIST, struct sweep_spec, axes), .of = &axis_element, .min = "1", .max = "32",
     .meaning = "What is varied; the last one changes fastest."},
    {PARAM("only", LIST, struct sweep_spec, only), .of = &text_element, .def = "[]",
     .meaning = "Conditions between axes that a point must meet, such as \"ratelimit <= slice\".",
     .status = STATUS_ASSUMED},
    {PARAM("sampling", POINTER, struct sweep_spec, sampling), .table = &sampling_table,
     .optional = true, .meaning = "How ranges without step and count are sampled."},
    {PARAM("replications", INTEGER, struct sweep_spec, replications), .def = "scenario", .min = "1",
     .max = "100000", .word = "scenario", .word_value = 0,
     .meaning = "Independent runs of each point, without \"stop\".", .status = STATUS_ASSUMED},
    {PARAM("metrics", LIST, struct sweep_spec, metrics), .of = &text_element, .def = "[]",
     .meaning = "Metrics to keep, as \"metric\" or \"subject:metric\", with * for any text; none: "
                "all of clients, hosts and groups of domains.",
     .status = STATUS_ASSUMED},
    {PARAM("stop", POINTER, struct sweep_spec, stop), .table = &stop_table, .optional = true,
     .meaning = "Replicate each point until a metric is known well enough."},
    {PARAM("seeds", ENUM, struct sweep_spec, seeds), .def = "common", .names = seed_rules,
     .meaning = "common: all points see the same random numbers, so that their differences are "
                "known better; independent: each has its own.",
     .status = STATUS_ASSUMED},
    {PARAM("limits", OBJECT, struct sweep_spec, limits), .table = &limit_table, .def = "{}",
     .meaning = "What a replication may use."},
};

static int check_sweep(void *target, struct json_value v, struct errors *e)
{
    const struct sweep_spec *s = target;

    if (s->stop && s->stop->most < s->stop->least)
        return json_error(json_member(v, "stop"), e, "\"most\" is less than \"least\"");
    if (s->stop && json_exists(json_member(v, "replications")))
        return json_error_in(v, "replications", e,
                             "\"stop\" decides how many: leave this out, or set \"most\" there");
    return 0;
}

static const struct param_table sweep_table =
    PARAM_TABLE("sweep", struct sweep_spec, sweep_rows,
                .meaning = "One scenario at many points, each replicated.", .check = check_sweep);

const struct config_format sweep_format = {"sweep", 1, &sweep_table};
