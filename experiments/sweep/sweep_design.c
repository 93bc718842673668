/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/sweep_design.h"

#include "experiments/scenario/scenario.h"
#include "sim/detmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Significant digits of what no one has written down: steps of a log range, sampled values. */
enum { DIGITS_LOG = 4, DIGITS_SAMPLED = 6, MOST_LEVELS = 1000000 };

struct context {
    const struct sweep_spec *spec;
    const struct json *sweep, *scenario;
    struct design *design;
    double *u; /* sampled: u[point * sampled + k] */
    size_t sampled;
    size_t taken; /* sampled axes so far */
    struct errors *e;
};

static int complain(const struct context *c, size_t axis, const char *member, const char *why)
{
    char *pointer = xasprintf("/axes/%zu/%s", axis, member);

    json_error_at(c->sweep, pointer, c->e, "%s", why);
    free(pointer);
    return -1;
}

/* ---- levels ------------------------------------------------------------------------------------
 */

static struct level *add_level(struct axis *a)
{
    /* Doubled now and then: axes of a million levels are allowed. */
    if (!(a->levels & (a->levels - 1)))
        a->level = xrealloc(a->level, (a->levels ? 2 * a->levels : 1) * sizeof *a->level);
    a->level[a->levels] = (struct level){0};
    return &a->level[a->levels++];
}

/* `json` is put at all places of the axis. */
static void assign(struct level *l, const struct axis_spec *s, const char *json)
{
    l->set = xcalloc(s->at.count, sizeof *l->set);
    for (; l->sets < s->at.count; l->sets++)
        l->set[l->sets] = xasprintf("%s=%s", list_text(&s->at, l->sets), json);
}

/* "credit(tslice=5ms)": a choice with its parameters. */
static char *object_in_words(struct json_value v)
{
    static const char *const tags[] = {"type", "scheduler"};
    struct json_value tag = JSON_NONE;
    char *text, *more;

    for (size_t i = 0; i < sizeof tags / sizeof *tags && !json_exists(tag); i++)
        tag = json_member(v, tags[i]);
    text = xstrdup(json_string(tag) ? json_string(tag) : "");
    JSON_FOR_EACH(member, v)
    {
        char *shown;

        if (member.item == tag.item)
            continue;
        shown = json_kind(member) == JSON_STRING ? xstrdup(json_string(member)) : json_show(member);
        more =
            xasprintf("%s%s%s=%s", text, strchr(text, '(') ? ", " : "(", json_key(member), shown);
        free(shown);
        free(text);
        text = more;
    }
    if (!strchr(text, '('))
        return text;
    more = xasprintf("%s)", text);
    free(text);
    return more;
}

/* A value of the file in words: texts without quotes. */
static char *in_words(const char *json)
{
    struct errors e = ERRORS_NONE;
    struct json *doc = json_parse("", json, strlen(json), &e);
    struct json_value v = json_root(doc);
    char *text;

    if (json_kind(v) == JSON_STRING)
        text = xstrdup(json_string(v));
    else if (json_kind(v) == JSON_OBJECT)
        text = object_in_words(v);
    else
        text = xstrdup(json);
    json_free(doc);
    errors_free(&e);
    return text;
}

/* A text as JSON, unless it is a number. */
static char *as_json(const struct value *v, const char *text)
{
    size_t size;
    char *json;
    FILE *out;
    struct json_writer w;

    if (v->numeric && v->quantity == QUANTITY_PLAIN)
        return xstrdup(text);
    out = open_memstream(&json, &size);
    w = json_writer(out, JSON_COMPACT);
    json_put_string(&w, NULL, text);
    fclose(out);
    return json;
}

/* With a form, its text takes the value in. Caller frees. */
static char *formed(const char *form, const char *text)
{
    const char *hole = strstr(form, "{}");

    return xasprintf("%.*s%s%s", (int)(hole - form), form, text, hole + 2);
}

static void add_number(struct axis *a, const struct axis_spec *s, const struct value *v)
{
    struct level *l = add_level(a);
    struct value text_value = {0};
    char *json, *text;

    l->text = value_format(v);
    l->value = *v;
    text = s->form ? formed(s->form, l->text) : xstrdup(l->text);
    json = as_json(s->form ? &text_value : v, text);
    assign(l, s, json);
    free(json);
    free(text);
}

static void add_json(struct axis *a, const struct axis_spec *s, const char *json)
{
    struct level *l = add_level(a);
    char *text, *inner;

    l->text = in_words(json);
    l->value = value_read(l->text);
    if (!s->form) {
        assign(l, s, json);
        return;
    }
    text = formed(s->form, l->text);
    inner = as_json(&(struct value){0}, text);
    assign(l, s, inner);
    free(inner);
    free(text);
}

static void add_setting(struct axis *a, const struct setting_spec *s)
{
    struct level *l = add_level(a);

    l->text = xstrdup(s->label);
    l->value = value_read(l->text);
    l->set = xcalloc(s->set.count, sizeof *l->set);
    for (; l->sets < s->set.count; l->sets++)
        l->set[l->sets] = xstrdup(list_text(&s->set, l->sets));
}

/* ---- ranges ------------------------------------------------------------------------------------
 */

struct range {
    struct value from, to;
    bool whole;   /* values are whole numbers of the base unit */
    double round; /* to multiples of this, in terms of raw(); 0: as they come */
};

static double raw(const struct range *r, const struct value *v)
{
    return r->whole ? (double)v->exact : v->number;
}

static struct value from_raw(const struct range *r, double x)
{
    return r->whole ? value_of_exact(r->from.quantity, (int64_t)round(x)) : value_of_number(x);
}

static int read_round(const struct context *c, size_t axis, struct range *r)
{
    char *text = in_words(sweep_axis(c->spec, axis)->round.text);
    struct value v = value_read(text);

    free(text);
    if (!v.numeric || v.quantity != r->from.quantity || v.number <= 0 || (r->whole && !v.whole))
        return complain(c, axis, "round", "a number above 0 of the range's unit is wanted");
    r->round = raw(r, &v);
    return 0;
}

static struct value rounded(const struct range *r, const struct value *v, int digits)
{
    return r->round > 0 ? from_raw(r, round(raw(r, v) / r->round) * r->round)
                        : value_round(v, digits);
}

/* Both ends as numbers of one unit; 0 has any. */
static int read_range(const struct context *c, size_t axis, struct range *r)
{
    const struct axis_spec *s = sweep_axis(c->spec, axis);
    struct value *v[] = {&r->from, &r->to};
    const char *const json[] = {s->from.text, s->to.text}, *const names[] = {"from", "to"};
    const struct param *row;
    struct errors none = ERRORS_NONE;

    for (int i = 0; i < 2; i++) {
        char *text = in_words(json[i]);

        *v[i] = value_read(text);
        free(text);
        if (!v[i]->numeric)
            return complain(c, axis, names[i],
                            "a number is wanted, with its unit, such as \"5ms\"; texts are listed "
                            "in \"values\"");
    }
    if (r->from.number == 0)
        r->from = value_of_exact(r->to.quantity, 0);
    if (r->to.number == 0)
        r->to = value_of_exact(r->from.quantity, 0);
    if (r->from.quantity != r->to.quantity)
        return complain(c, axis, "to", "\"from\" and \"to\" have different units");
    /* "1.0" is whole, but whoever writes it means a real number */
    r->whole = r->from.whole && r->to.whole &&
               (r->from.quantity != QUANTITY_PLAIN ||
                (!strpbrk(s->from.text, ".eE") && !strpbrk(s->to.text, ".eE")));
    if (r->from.quantity == QUANTITY_PLAIN && !s->form && s->at.count) {
        row =
            params_find(scenario_format.table, json_root(c->scenario), list_text(&s->at, 0), &none);
        if (row && row->kind == PARAM_NUMBER)
            r->whole = false;
        errors_free(&none);
    }
    if (s->scale == SCALE_LOG && (r->from.number <= 0 || r->to.number <= 0))
        return complain(c, axis, "from", "a range with \"scale\": \"log\" lies above 0");
    return s->round.text ? read_round(c, axis, r) : 0;
}

/* A share of the way from one end to the other; the ends are exact. */
static struct value between(const struct range *r, int scale, double share)
{
    double a = raw(r, &r->from), b = raw(r, &r->to);

    if (share <= 0)
        return r->from;
    if (share >= 1)
        return r->to;
    if (scale == SCALE_LINEAR)
        return from_raw(r, a + share * (b - a));
    a = det_log(a);
    b = det_log(b);
    return from_raw(r, det_exp(a + share * (b - a)));
}

static int add_steps(const struct context *c, size_t axis, struct axis *a, struct range *r)
{
    const struct axis_spec *s = sweep_axis(c->spec, axis);
    char *text = in_words(s->step.text);
    struct value step = value_read(text);
    double n;

    free(text);
    if (!step.numeric || step.quantity != r->from.quantity || step.number == 0)
        return complain(c, axis, "step", "a number above 0 of the range's unit is wanted");
    r->whole = r->whole && step.whole;
    n = (raw(r, &r->to) - raw(r, &r->from)) / raw(r, &step);
    if (n < 0)
        return complain(c, axis, "step", "it leads away from \"to\"");
    if (n > MOST_LEVELS)
        return complain(c, axis, "step", "more than a million values");
    for (int64_t i = 0; (double)i <= n * (1 + 1e-12) + 1e-9; i++) {
        struct value v = r->whole ? value_of_exact(r->from.quantity, r->from.exact + i * step.exact)
                                  : value_of_number(r->from.number + (double)i * step.number);

        add_number(a, s, &v);
    }
    return 0;
}

/* Both ends stay what they are unless a rounding is asked for; what rounding makes equal comes
 * once.
 */
static void add_count(const struct axis_spec *s, struct axis *a, const struct range *r)
{
    for (int64_t i = 0; i < s->count; i++) {
        double share = s->count > 1 ? (double)i / (double)(s->count - 1) : 0;
        struct value v = between(r, s->scale, share);

        if (r->round > 0 || (s->scale == SCALE_LOG && share > 0 && share < 1))
            v = rounded(r, &v, DIGITS_LOG);
        if (!a->levels || a->level[a->levels - 1].value.number != v.number)
            add_number(a, s, &v);
    }
}

/* Whole numbers without unit are equally likely, the ends included. */
static void add_sampled(struct context *c, const struct axis_spec *s, struct axis *a,
                        struct range *r)
{
    struct range wide = *r;
    size_t k = c->taken++;

    for (int64_t i = 0; i < c->spec->sampling->points; i++) {
        double u = c->u[(size_t)i * c->sampled + k];
        struct value v;

        if (r->whole && r->from.quantity == QUANTITY_PLAIN && s->scale == SCALE_LINEAR) {
            double span = raw(&wide, &wide.to) - raw(&wide, &wide.from);

            v = value_of_exact(QUANTITY_PLAIN,
                               r->from.exact + (int64_t)floor(u * (span + (span < 0 ? -1 : 1))));
        } else {
            v = between(r, s->scale, u);
            v = rounded(r, &v, DIGITS_SAMPLED);
        }
        add_number(a, s, &v);
    }
}

/* ---- axes --------------------------------------------------------------------------------------
 */

static bool is_sampled(const struct axis_spec *s)
{
    return s->from.text && !s->step.text && !s->count;
}

static int fill_axis(struct context *c, size_t axis, struct axis *a)
{
    const struct axis_spec *s = sweep_axis(c->spec, axis);
    struct range r = {0};

    for (size_t i = 0; i < s->values.count; i++)
        add_json(a, s, ((struct json_text *)s->values.item)[i].text);
    for (size_t i = 0; i < s->settings.count; i++)
        add_setting(a, &((struct setting_spec *)s->settings.item)[i]);
    if (!s->from.text)
        return 0;
    if (read_range(c, axis, &r))
        return -1;
    if (s->step.text)
        return add_steps(c, axis, a, &r);
    if (s->count) {
        add_count(s, a, &r);
        return 0;
    }
    if (!c->spec->sampling)
        return complain(c, axis, "from",
                        "say how the range is divided: \"step\", \"count\", or \"sampling\" beside "
                        "\"axes\"");
    add_sampled(c, s, a, &r);
    return 0;
}

/* Are all levels numbers of one unit? A plain 0 goes with any. */
static void find_quantity(struct axis *a)
{
    a->quantity = QUANTITY_PLAIN;
    a->numeric = a->levels > 0;
    for (size_t i = 0; i < a->levels; i++)
        if (a->level[i].value.numeric && a->level[i].value.quantity != QUANTITY_PLAIN)
            a->quantity = a->level[i].value.quantity;
    for (size_t i = 0; i < a->levels; i++) {
        const struct value *v = &a->level[i].value;

        if (!v->numeric || (v->quantity != a->quantity && v->number != 0))
            a->numeric = false;
    }
}

static size_t index_of(const struct design *d, const char *name, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (!strcmp(d->axis[i].name, name))
            return i;
    return before;
}

/* The factor an axis belongs to: its own, that of the axis it goes with, that of all sampled. */
static int place_axis(struct context *c, size_t axis, size_t *sampled_factor)
{
    const struct axis_spec *s = sweep_axis(c->spec, axis);
    struct design *d = c->design;
    struct axis *a = &d->axis[axis];
    size_t other = s->with ? index_of(d, s->with, axis) : axis;
    char *why;

    a->factor = d->factors;
    if (s->with && other == axis)
        return complain(c, axis, "with", "no axis of this name comes before");
    if (s->with)
        a->factor = d->axis[other].factor;
    else if (is_sampled(s) && *sampled_factor != SIZE_MAX)
        a->factor = *sampled_factor;
    if (is_sampled(s) && !s->with)
        *sampled_factor = a->factor;
    if (a->factor == d->factors) {
        d->factor[d->factors++] = a->levels;
        return 0;
    }
    if (d->factor[a->factor] == a->levels)
        return 0;
    why = xasprintf("it has %zu values, and \"%s\" has %zu: both must have as many", a->levels,
                    s->with ? s->with : "sampling", d->factor[a->factor]);
    complain(c, axis, s->with ? "with" : "name", why);
    free(why);
    return -1;
}

static int prepare_samples(struct context *c)
{
    size_t before = c->e->count;

    for (size_t i = 0; i < c->spec->axes.count; i++)
        c->sampled += is_sampled(sweep_axis(c->spec, i));
    if (!c->spec->sampling)
        return 0;
    if (!c->sampled)
        return json_error_at(c->sweep, "/sampling", c->e,
                             "nothing is sampled: every axis says itself which values it takes");
    c->u = xcalloc((size_t)c->spec->sampling->points * c->sampled, sizeof *c->u);
    if (design_sample(c->spec->sampling, c->sampled, c->u, c->e))
        error_context(c->e, before, "%s: /sampling", json_name(c->sweep));
    return c->e->count > before ? -1 : 0;
}

static int fill_axes(struct context *c)
{
    struct design *d = c->design;
    size_t sampled_factor = SIZE_MAX, before = c->e->count;

    d->axes = c->spec->axes.count;
    d->axis = xcalloc(d->axes, sizeof *d->axis);
    d->factor = xcalloc(d->axes, sizeof *d->factor);
    if (prepare_samples(c))
        return -1;
    for (size_t i = 0; i < d->axes; i++) {
        struct axis *a = &d->axis[i];

        a->name = sweep_axis(c->spec, i)->name;
        if (index_of(d, a->name, i) < i)
            complain(c, i, "name", "another axis has this name");
        if (fill_axis(c, i, a))
            continue;
        find_quantity(a);
        place_axis(c, i, &sampled_factor);
    }
    return c->e->count > before ? -1 : 0;
}

/* ---- points ------------------------------------------------------------------------------------
 */

static size_t digit(const struct design *d, uint64_t combination, size_t factor)
{
    for (size_t f = d->factors; --f > factor;)
        combination /= d->factor[f];
    return (size_t)(combination % d->factor[factor]);
}

const struct level *design_level(const struct design *d, size_t point, size_t axis)
{
    const struct axis *a = &d->axis[axis];

    return &a->level[digit(d, d->combination[point], a->factor)];
}

static int count_combinations(const struct context *c, uint64_t *total)
{
    *total = 1;
    for (size_t f = 0; f < c->design->factors; f++)
        if ((*total *= c->design->factor[f]) > DESIGN_MOST)
            return json_error_at(c->sweep, "/axes", c->e,
                                 "more than %llu combinations: use fewer values, or sample them",
                                 (unsigned long long)DESIGN_MOST);
    return 0;
}

static int list_points(struct context *c, struct condition *const *condition, size_t conditions)
{
    struct design *d = c->design;
    const struct level **level = xcalloc(d->axes, sizeof *level);
    uint64_t total;

    if (count_combinations(c, &total)) {
        free(level);
        return -1;
    }
    d->combination = xcalloc(total, sizeof *d->combination);
    for (uint64_t i = 0; i < total; i++) {
        bool all = true;

        for (size_t k = 0; k < d->axes; k++)
            level[k] = &d->axis[k].level[digit(d, i, d->axis[k].factor)];
        for (size_t k = 0; k < conditions && all; k++)
            all = condition_holds(condition[k], level);
        if (all)
            d->combination[d->points++] = (uint32_t)i;
    }
    free(level);
    if (!d->points)
        return json_error_at(c->sweep, conditions ? "/only" : "/axes", c->e,
                             "no combination of values is left");
    d->combination = xrealloc(d->combination, d->points * sizeof *d->combination);
    return 0;
}

int design_init(struct design *d, const struct sweep_spec *s, const struct json *sweep,
                const struct json *scenario, struct errors *e)
{
    struct context c = {.spec = s, .sweep = sweep, .scenario = scenario, .design = d, .e = e};
    struct condition **condition = xcalloc(s->only.count, sizeof *condition);
    size_t before = e->count;

    *d = (struct design){0};
    if (!fill_axes(&c))
        for (size_t i = 0; i < s->only.count; i++) {
            size_t first = e->count;

            condition[i] = condition_parse(d, list_text(&s->only, i), e);
            if (!condition[i])
                error_context(e, first, "%s: /only/%zu", json_name(sweep), i);
        }
    if (e->count == before)
        list_points(&c, condition, s->only.count);
    for (size_t i = 0; i < s->only.count; i++)
        condition_free(condition[i]);
    free(condition);
    free(c.u);
    return e->count > before ? -1 : 0;
}

void design_free(struct design *d)
{
    for (size_t i = 0; i < d->axes; i++) {
        struct axis *a = &d->axis[i];

        for (size_t k = 0; k < a->levels; k++) {
            for (size_t n = 0; n < a->level[k].sets; n++)
                free(a->level[k].set[n]);
            free(a->level[k].set);
            free(a->level[k].text);
        }
        free(a->level);
    }
    free(d->axis);
    free(d->factor);
    free(d->combination);
}

const struct axis *design_axis(const struct design *d, const char *name)
{
    size_t i = index_of(d, name, d->axes);

    return i < d->axes ? &d->axis[i] : NULL;
}
