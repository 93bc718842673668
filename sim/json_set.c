/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Overrides: new values, with the flag as their place, grafted into a document.
 */
#include "sim/json.h"

#include "sim/json_document.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *own(struct json *doc, char *text)
{
    doc->owned = xrealloc(doc->owned, (doc->owned_count + 1) * sizeof *doc->owned);
    return doc->owned[doc->owned_count++] = text;
}

/* Does the text mean JSON? What opens like it must be it; everything else that is no number or word
 * of JSON is a string without its quotes. */
static bool means_json(const char *text)
{
    struct json_places places = {0};
    struct errors e = ERRORS_NONE;
    bool is_json;

    if (strchr("{[\"", *text) && *text)
        return true;
    is_json = json_lex("", text, strlen(text), JSON_NO_PARENT, 0, &places, &e) == 0;
    free(places.place);
    errors_free(&e);
    return is_json;
}

/* A JSON text as a tree whose root has the place `parent`, not yet attached. */
static cJSON *graft(struct json *doc, const char *name, const char *text, size_t parent, int depth,
                    struct errors *e)
{
    size_t first = doc->places.count, index = first;
    cJSON *item = NULL;

    if (!json_lex(name, text, strlen(text), parent, depth, &doc->places, e))
        item = json_build(text, strlen(text), e);
    if (!item) {
        doc->places.count = first;
        return NULL;
    }
    for (size_t i = first; i < doc->places.count; i++) {
        doc->places.place[i].flag = name;
        doc->places.place[i].line = doc->places.place[i].column = 0;
    }
    json_link_tree(doc, item, &index);
    return item;
}

/* A string as JSON text. */
static char *quoted(const char *s)
{
    char *text = xcalloc(6 * strlen(s) + 3, 1);
    size_t n = 0;

    text[n++] = '"';
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            text[n++] = '\\';
        if ((unsigned char)*s < ' ')
            n += (size_t)sprintf(text + n, "\\u%04x", (unsigned char)*s);
        else
            text[n++] = *s;
    }
    text[n] = '"';
    return text;
}

/* Put a value where a token of `container` says. */
static int attach(struct json_value container, const char *token, cJSON *item, const char *name,
                  struct errors *e)
{
    cJSON *into = (cJSON *)container.item;
    size_t index, length = json_length(container);

    if (json_kind(container) == JSON_OBJECT) {
        if (json_exists(json_member(container, token)))
            cJSON_ReplaceItemInObjectCaseSensitive(into, token, item);
        else
            cJSON_AddItemToObject(into, token, item);
        return 0;
    }
    if (strcmp(token, "-") == 0) {
        cJSON_AddItemToArray(into, item);
        return 0;
    }
    if (!json_array_index(token, &index) && index < length) {
        cJSON_ReplaceItemInArray(into, (int)index, item);
        return 0;
    }
    cJSON_Delete(item);
    if (length == 0)
        return json_complain(e, "%s: the array is empty; write \"-\" for a new element", name);
    return json_complain(e, "%s: no element \"%s\"; there are 0 to %zu, and \"-\" for a new one",
                         name, token, length - 1);
}

static int not_a_container(struct json_value v, const char *name, struct errors *e)
{
    char *pointer = json_pointer(v), *shown = json_show(v);

    json_complain(e, "%s: %s is %s, which has no members", name, pointer, shown);
    free(pointer);
    free(shown);
    return -1;
}

static int set(struct json *doc, const char *name, const char *pointer, const char *value,
               struct errors *e)
{
    struct json_value v = json_root(doc), next;

    for (int depth = 1;; depth++) {
        char *token = json_take_token(&pointer);
        bool last = !*pointer;
        cJSON *item;
        int status;

        if (!token)
            return json_complain(
                e, "%s: in a JSON pointer \"~\" is written \"~0\" and \"/\" \"~1\"", name);
        if (json_kind(v) != JSON_OBJECT && json_kind(v) != JSON_ARRAY) {
            free(token);
            return not_a_container(v, name, e);
        }
        next = json_child(v, token);
        if (json_exists(next) && !last) {
            free(token);
            v = next;
            continue;
        }
        item = graft(doc, name, last ? value : "{}", (size_t)(json_place_of(v) - doc->places.place),
                     depth, e);
        status = item ? attach(v, token, item, name, e) : -1;
        free(token);
        if (!status) /* not before: the error names the pointer */
            status = json_check_duplicates((struct json_value){doc, item}, e);
        if (status || last)
            return status;
        v.item = item;
    }
}

static int bad_assignment(const char *flag, const char *assignment, struct errors *e)
{
    const char *equals = strchr(assignment, '=');
    int length = (int)(equals ? equals - assignment : 0);
    char *hint = NULL;

    if (length > 0 && length < 100) {
        hint = xasprintf("; did you mean %s /%s?", flag, assignment);
        for (char *p = hint; *p && *p != '='; p++)
            if (*p == '.')
                *p = '/';
    }
    json_complain(e, "%s %s: write %s /json/pointer=value, such as /scheduler/tslice=5ms%s", flag,
                  assignment, flag, hint ? hint : "");
    free(hint);
    return -1;
}

int json_set(struct json *doc, const char *flag, const char *assignment, struct errors *e)
{
    const char *equals = strchr(assignment, '=');
    char *name, *pointer, *value;
    int status;

    if (!json_is_utf8(assignment))
        return json_complain(e, "%s: a value that is not UTF-8", flag);
    if (*assignment != '/' || !equals)
        return bad_assignment(flag, assignment, e);
    name = own(doc, xasprintf("%s %s", flag, assignment));
    value = own(doc, means_json(equals + 1) ? xstrdup(equals + 1) : quoted(equals + 1));
    pointer = xasprintf("%.*s", (int)(equals - assignment), assignment);
    status = set(doc, name, pointer, value, e);
    free(pointer);
    return status;
}
