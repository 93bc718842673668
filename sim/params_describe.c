/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parameter tables described: as JSON Schema, as help text, as Markdown; and finding the row that a
 * pointer names.
 */
#include "sim/params.h"

#include "sim/json_document.h"
#include "sim/params_inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- JSON Schema --------------------------------------------------------------------------- */

/* The tables from the root down to here: a table that contains itself (a program made of programs)
 * is described once on each way down. */
struct path {
    const struct param_table *table;
    const struct path *up;
};

static bool on_path(const struct path *path, const struct param_table *t)
{
    for (; path; path = path->up)
        if (path->table == t)
            return true;
    return false;
}

static void schema_of_value(const struct param *p, const struct path *path, struct json_writer *w,
                            const char *key);

/* Texts of a row, in the words of JSON Schema. */
static void annotate(const struct param *p, struct json_writer *w)
{
    char *range = param_range(p);

    if (p->meaning && *range && param_quantity(p) < QUANTITY_PLAIN) {
        char *text = xasprintf("%s Range: %s.", p->meaning, range);

        json_put_string(w, "description", text);
        free(text);
    } else if (p->meaning) {
        json_put_string(w, "description", p->meaning);
    }
    free(range);
}

static void put_default(const struct param *p, struct json_writer *w)
{
    bool bare = p->kind == PARAM_INTEGER || p->kind == PARAM_NUMBER || p->kind == PARAM_BOOLEAN;

    if (!p->def || !param_is_scalar(p))
        return;
    if (bare && !(p->word && strcmp(p->def, p->word) == 0))
        json_put_number_text(w, "default", p->def);
    else
        json_put_string(w, "default", p->def);
}

static void type(struct json_writer *w, const char *name)
{
    json_put_string(w, "type", name);
}

static void put_bounds(const struct param *p, struct json_writer *w, const char *least,
                       const char *most)
{
    if (p->min)
        json_put_number_text(w, least, p->min);
    if (p->max)
        json_put_number_text(w, most, p->max);
}

static void put_constant(const char *word, struct json_writer *w)
{
    json_begin_inline(w, NULL, '{');
    if (word)
        json_put_string(w, "const", word);
    else
        json_put_integer(w, "const", 0);
    json_end(w);
}

static bool zero_is_in_range(const struct param *p)
{
    char why[QUANTITY_WHY];
    int64_t least = 0;

    return !p->min || (!quantity_parse(param_quantity(p), p->min, &least, why) && least <= 0);
}

/* A number, or a string by a pattern; 0 needs no unit; and perhaps a word. */
static void schema_of_quantity(const struct param *p, struct json_writer *w)
{
    bool whole = p->kind == PARAM_INTEGER, zero = !whole && zero_is_in_range(p);

    if (zero || p->word) {
        json_begin(w, "anyOf", '[');
        json_begin_inline(w, NULL, '{');
    }
    type(w, whole ? "integer" : "string");
    if (whole)
        put_bounds(p, w, "minimum", "maximum");
    else
        json_put_string(w, "pattern", quantity_pattern(param_quantity(p)));
    if (!zero && !p->word)
        return;
    json_end(w);
    if (zero)
        put_constant(NULL, w);
    if (p->word)
        put_constant(p->word, w);
    json_end(w);
}

static void schema_of_list(const struct param *p, const struct path *path, struct json_writer *w)
{
    type(w, "array");
    put_bounds(p, w, "minItems", "maxItems");
    schema_of_value(p->of, path, w, "items");
}

static void schema_properties(const struct param_table *t, const struct path *path,
                              struct json_writer *w)
{
    for (size_t i = 0; i < t->count; i++)
        schema_of_value(&t->row[i], path, w, t->row[i].name);
    json_begin(w, "comment", '{');
    json_put_string(w, "description", "For people; ignored.");
    json_begin_inline(w, "type", '[');
    json_put_string(w, NULL, "string");
    json_put_string(w, NULL, "array");
    json_end(w);
    json_end(w);
}

/* `variant` and `choice` (may be NULL): the object is this choice of a variant. */
static void schema_of_table(const struct param_table *t, const struct param *variant,
                            const char *choice, const struct path *up, struct json_writer *w,
                            const char *key)
{
    const struct path path = {t, up};
    const char *tag = variant ? variant->choices->tag : NULL;

    json_begin(w, key, '{');
    type(w, "object");
    if (t->meaning)
        json_put_string(w, "description", t->meaning);
    if (!on_path(up, t)) {
        json_begin(w, "properties", '{');
        if (tag) {
            json_begin_inline(w, tag, '{');
            json_put_string(w, "const", choice);
            json_end(w);
        }
        schema_properties(t, &path, w);
        json_end(w);
        json_begin_inline(w, "required", '[');
        if (tag && !(variant->def && strcmp(variant->def, choice) == 0))
            json_put_string(w, NULL, tag);
        params_schema_required(t, w);
        json_end(w);
        json_put_boolean(w, "additionalProperties", false);
    }
    json_end(w);
}

static void schema_of_variant(const struct param *p, const struct path *path, struct json_writer *w)
{
    static const struct param_table none = {.name = "nothing"};
    const struct param_choice *choice;

    json_begin(w, "anyOf", '[');
    json_begin_inline(w, NULL, '{');
    json_begin(w, "enum", '[');
    for (size_t i = 0; (choice = param_nth_choice(p, i)); i++)
        json_put_string(w, NULL, choice->name);
    json_end(w);
    json_end(w);
    for (size_t i = 0; (choice = param_nth_choice(p, i)); i++)
        schema_of_table(choice->table ? choice->table : &none, p, choice->name, path, w, NULL);
    json_end(w);
}

static void schema_of_enum(const struct param *p, struct json_writer *w)
{
    json_begin_inline(w, "enum", '[');
    for (size_t i = 0; p->names[i]; i++)
        json_put_string(w, NULL, p->names[i]);
    json_end(w);
}

static void schema_members(const struct param *p, const struct path *path, struct json_writer *w)
{
    switch (p->kind) {
    case PARAM_NUMBER:
        type(w, "number");
        put_bounds(p, w, "minimum", "maximum");
        break;
    case PARAM_BOOLEAN:
        type(w, "boolean");
        break;
    case PARAM_ENUM:
        schema_of_enum(p, w);
        break;
    case PARAM_STRING:
        type(w, "string");
        break;
    case PARAM_NAME:
        type(w, "string");
        json_put_string(w, "pattern", "^[A-Za-z0-9_.:-]{1,64}$");
        break;
    case PARAM_LIST:
        schema_of_list(p, path, w);
        break;
    case PARAM_VARIANT:
        schema_of_variant(p, path, w);
        break;
    default:
        schema_of_quantity(p, w);
    }
}

static void schema_of_value(const struct param *p, const struct path *path, struct json_writer *w,
                            const char *key)
{
    if (p->kind == PARAM_CUSTOM) {
        p->type->schema(p, w, key);
        return;
    }
    if (p->kind == PARAM_OBJECT || p->kind == PARAM_POINTER) {
        schema_of_table(p->table, NULL, NULL, path, w, key);
        return;
    }
    json_begin(w, key, '{');
    annotate(p, w);
    schema_members(p, path, w);
    put_default(p, w);
    json_end(w);
}

void params_schema_properties(const struct param_table *t, struct json_writer *w)
{
    const struct path path = {t, NULL};

    schema_properties(t, &path, w);
}

void params_schema_required(const struct param_table *t, struct json_writer *w)
{
    for (size_t i = 0; i < t->count; i++)
        if (!t->row[i].def && !t->row[i].optional)
            json_put_string(w, NULL, t->row[i].name);
}

void params_schema(const struct param_table *t, struct json_writer *w, const char *key)
{
    schema_of_table(t, NULL, NULL, NULL, w, key);
}

/* ---- Help and documentation ---------------------------------------------------------------- */

struct page {
    FILE *out;
    int width; /* of the column of names */
};

typedef void row_fn(struct page *page, const struct param *p, const char *name);

/* Each row with the names of those above it, as a pointer without its first slash. */
static void each_row(const struct param_table *t, const struct path *up, const char *above,
                     row_fn *row, struct page *page)
{
    const struct path path = {t, up};

    for (size_t i = 0; i < t->count && !on_path(up, t); i++) {
        const struct param *p = &t->row[i];
        const struct param *inner = p->kind == PARAM_LIST ? p->of : p;
        char *name = xasprintf("%s%s%s%s", above, *above ? "/" : "", p->name,
                               p->kind == PARAM_LIST && inner->table ? "/-" : "");

        row(page, p, name);
        if (inner->kind == PARAM_OBJECT || inner->kind == PARAM_POINTER)
            each_row(inner->table, &path, name, row, page);
        free(name);
    }
}

static char *default_in_words(const struct param *p)
{
    bool inner = p->kind == PARAM_OBJECT || p->kind == PARAM_POINTER;

    if (p->def)
        return xstrdup(inner && strcmp(p->def, "{}") == 0 ? "" : *p->def ? p->def : "\"\"");
    return xstrdup(p->optional ? "optional" : "required");
}

static char *status_in_words(const struct param *p)
{
    if (!p->def)
        return xstrdup("");
    if (p->range && strcmp(p->range, PARAM_NO_RANGE))
        return xasprintf("assumed, may be %s%s%s", p->range, p->source ? ": " : "",
                         p->source ? p->source : "");
    return p->source ? xasprintf("%s: %s", param_status_name(p->status), p->source)
                     : xstrdup(param_status_name(p->status));
}

static void help_row(struct page *page, const struct param *p, const char *name)
{
    FILE *out = page->out;
    int width = page->width < 30 ? page->width : 30;
    char *accepts = param_accepts(p), *standard = default_in_words(p), *status = status_in_words(p);

    fprintf(out, "  %-*s  %s", width, name, accepts);
    if (*standard)
        fprintf(out, "; %s%s", p->def ? "default " : "", standard);
    fprintf(out, "\n  %*s  %s", width, "", p->meaning ? p->meaning : "");
    if (*status)
        fprintf(out, " [%s]", status);
    fputc('\n', out);
    free(accepts);
    free(standard);
    free(status);
}

static void measure_row(struct page *page, const struct param *p, const char *name)
{
    int length = (int)strlen(name);

    (void)p;
    page->width = length > page->width ? length : page->width;
}

void params_help(const struct param_table *t, FILE *out)
{
    struct page page = {.out = out};

    each_row(t, NULL, "", measure_row, &page);
    each_row(t, NULL, "", help_row, &page);
}

/* A text in a cell: a bar would end it. */
static void cell(FILE *out, const char *text)
{
    fputs("| ", out);
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
    fputc(' ', out);
}

static void markdown_row(struct page *page, const struct param *p, const char *name)
{
    FILE *out = page->out;
    char *accepts = param_accepts(p), *standard = default_in_words(p), *status = status_in_words(p);

    fprintf(out, "| `%s` ", name);
    cell(out, accepts);
    cell(out, standard);
    cell(out, p->meaning ? p->meaning : "");
    cell(out, status);
    fputs("|\n", out);
    free(accepts);
    free(standard);
    free(status);
}

void params_markdown(const struct param_table *t, FILE *out)
{
    struct page page = {.out = out};

    fputs("| parameter | accepts | default | meaning | default rests on |\n"
          "|---|---|---|---|---|\n",
          out);
    each_row(t, NULL, "", markdown_row, &page);
}

/* ---- Finding ------------------------------------------------------------------------------- */

static const struct param *find_in(const struct param_table *t, struct json_value v,
                                   const char *pointer);

/* In the choice that `v` has; when there is no `v`, in the default choice, or the first that fits.
 */
static const struct param *find_in_variant(const struct param *p, struct json_value v,
                                           const char *pointer)
{
    const char *name =
        json_string(json_kind(v) == JSON_STRING ? v : json_member(v, p->choices->tag));
    const struct param_choice *choice = NULL;
    const struct param *found = NULL;

    if (!name)
        name = p->def;
    if (name)
        choice = param_find_choice(p, name);
    if (choice && choice->table)
        found = find_in(choice->table, v, pointer);
    for (size_t i = 0; !found && !json_exists(v) && (choice = param_nth_choice(p, i)); i++)
        if (choice->table)
            found = find_in(choice->table, v, pointer);
    return found;
}

/* The rest of a pointer behind a row. */
static const struct param *find_below(const struct param *p, struct json_value v,
                                      const char *pointer)
{
    const struct param *found = NULL;
    char *token;
    size_t index;

    if (!*pointer)
        return p;
    switch (p->kind) {
    case PARAM_OBJECT:
    case PARAM_POINTER:
        return find_in(p->table, v, pointer);
    case PARAM_LIST:
        token = json_take_token(&pointer);
        if (token && (strcmp(token, "-") == 0 || !json_array_index(token, &index)))
            found = find_below(p->of, json_child(v, token), pointer);
        free(token);
        return found;
    case PARAM_VARIANT:
        return find_in_variant(p, v, pointer);
    default:
        return NULL;
    }
}

static const struct param *find_in(const struct param_table *t, struct json_value v,
                                   const char *pointer)
{
    char *token = json_take_token(&pointer);
    const struct param *found = NULL;

    for (size_t i = 0; token && i < t->count && !found; i++)
        if (strcmp(t->row[i].name, token) == 0)
            found = find_below(&t->row[i], json_member(v, token), pointer);
    free(token);
    return found;
}

const struct param *params_find(const struct param_table *t, struct json_value root,
                                const char *pointer, struct errors *e)
{
    const struct param *found = *pointer == '/' ? find_in(t, root, pointer) : NULL;

    if (!found)
        error_add(e, EXIT_INPUT,
                  "%s: no parameter of %s; a JSON pointer such as /scheduler/tslice is wanted",
                  *pointer ? pointer : "\"\"", t->name);
    return found;
}
