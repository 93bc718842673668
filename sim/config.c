/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/config.h"

#include "sim/params_inside.h"

#include <stdlib.h>

struct json *config_load(const char *path, const char *const *overrides, size_t count,
                         struct errors *e)
{
    size_t before = e->count;
    struct json *doc = json_read(path, e);

    for (size_t i = 0; doc && i < count; i++)
        json_set(doc, "--set", overrides[i], e);
    if (doc && e->count > before) {
        json_free(doc);
        return NULL;
    }
    return doc;
}

static int check_version(const struct config_format *f, struct json_value root, struct errors *e)
{
    struct json_value v = json_member(root, "version");
    int64_t version;
    char *shown;

    if (!json_exists(v))
        return json_error(root, e, "\"version\" is missing: write \"version\": %d", f->version);
    if (json_integer(v, &version) == 0 && version == f->version)
        return 0;
    shown = json_show(v);
    json_error(v, e, "found %s: this hvsim reads version %d of %s files", shown, f->version,
               f->name);
    free(shown);
    return -1;
}

int config_read(const struct config_format *f, const struct json *doc, void *target,
                struct errors *e)
{
    static const char *const except[] = {"version", "$schema", NULL};
    struct json_value root = json_root(doc);
    int status;

    if (json_kind(root) != JSON_OBJECT) /* says so */
        return params_read(f->table, root, target, e);
    status = check_version(f, root, e);
    return params_read_except(f->table, root, except, target, e) ? -1 : status;
}

void config_write(const struct config_format *f, const void *target, struct json_writer *w,
                  const char *key)
{
    json_begin(w, key, '{');
    json_put_integer(w, "version", f->version);
    params_write_members(f->table, target, w);
    json_end(w);
}

void config_schema(const struct config_format *f, struct json_writer *w)
{
    char *title = xasprintf("hvsim %s", f->name);

    json_begin(w, NULL, '{');
    json_put_string(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_string(w, "title", title);
    if (f->table->meaning)
        json_put_string(w, "description", f->table->meaning);
    json_put_string(w, "type", "object");
    json_begin(w, "properties", '{');
    json_begin_inline(w, "$schema", '{');
    json_put_string(w, "type", "string");
    json_end(w);
    json_begin_inline(w, "version", '{');
    json_put_integer(w, "const", f->version);
    json_end(w);
    params_schema_properties(f->table, w);
    json_end(w);
    json_begin_inline(w, "required", '[');
    json_put_string(w, NULL, "version");
    params_schema_required(f->table, w);
    json_end(w);
    json_put_boolean(w, "additionalProperties", false);
    json_end(w);
    free(title);
}
