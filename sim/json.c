/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A document is cJSON's tree of values beside the lexer's list of places, linked by a hash table
 * from value to place. Overrides graft new values, with places of their own, into the same tree.
 */
#define _GNU_SOURCE
#include "sim/json.h"

#include "sim/json_document.h"
#include "sim/units.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Places -------------------------------------------------------------------------------- */

static size_t hash(const struct cJSON *item, size_t slots)
{
    return (size_t)(((uint64_t)(uintptr_t)item >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
           (slots - 1);
}

static size_t *find_slot(const struct json *doc, const struct cJSON *item)
{
    size_t i = hash(item, doc->slots);

    while (doc->slot[i] && doc->places.place[doc->slot[i] - 1].item != item)
        i = (i + 1) & (doc->slots - 1);
    return &doc->slot[i];
}

static void link_place(struct json *doc, size_t index, const struct cJSON *item)
{
    if (2 * (doc->linked + 1) > doc->slots) {
        size_t old_slots = doc->slots, *old = doc->slot;

        doc->slots = old_slots ? 2 * old_slots : 64;
        doc->slot = xcalloc(doc->slots, sizeof *doc->slot);
        for (size_t i = 0; i < old_slots; i++)
            if (old[i])
                *find_slot(doc, doc->places.place[old[i] - 1].item) = old[i];
        free(old);
    }
    doc->places.place[index].item = item;
    *find_slot(doc, item) = index + 1;
    doc->linked++;
}

void json_link_tree(struct json *doc, const cJSON *item, size_t *index)
{
    BUG_ON(*index >= doc->places.count);
    link_place(doc, (*index)++, item);
    for (const cJSON *child = item->child; child; child = child->next)
        json_link_tree(doc, child, index);
}

const struct json_place *json_place_of(struct json_value v)
{
    size_t slot;

    if (!v.item)
        return NULL;
    slot = *find_slot(v.doc, v.item);
    BUG_ON(!slot);
    return &v.doc->places.place[slot - 1];
}

static struct json_value parent_of(struct json_value v)
{
    const struct json_place *place = json_place_of(v);

    if (!place || place->parent == JSON_NO_PARENT)
        return JSON_NONE;
    return (struct json_value){v.doc, v.doc->places.place[place->parent].item};
}

/* ---- Duplicate keys ------------------------------------------------------------------------ */

static int by_key_then_place(const void *a, const void *b)
{
    const struct json_value *x = a, *y = b;
    int order = strcmp(json_key(*x), json_key(*y));

    return order
               ? order
               : (json_place_of(*x) > json_place_of(*y)) - (json_place_of(*x) < json_place_of(*y));
}

static int refuse_duplicates(struct json_value object, struct errors *e)
{
    size_t n = json_length(object), i = 0;
    struct json_value *sorted;
    int status = 0;

    if (n < 2)
        return 0;
    sorted = xcalloc(n, sizeof *sorted);
    JSON_FOR_EACH(child, object)
    sorted[i++] = child;
    qsort(sorted, n, sizeof *sorted, by_key_then_place);
    for (i = 1; i < n; i++) {
        if (strcmp(json_key(sorted[i - 1]), json_key(sorted[i])))
            continue;
        status =
            json_place_of(object)->flag || !json_line(sorted[i - 1])
                ? json_error(sorted[i], e, "this member is given twice; keep one")
                : json_error(sorted[i], e, "this member was given at line %d already; keep one",
                             json_line(sorted[i - 1]));
    }
    free(sorted);
    return status;
}

int json_check_duplicates(struct json_value v, struct errors *e)
{
    int status = json_kind(v) == JSON_OBJECT ? refuse_duplicates(v, e) : 0;

    JSON_FOR_EACH(child, v)
    if (json_check_duplicates(child, e))
        status = -1;
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------- */

struct cJSON *json_build(const char *text, size_t size, struct errors *e)
{
    cJSON *root = cJSON_ParseWithLengthOpts(text, size, NULL, 0);

    if (!root)
        error_add(e, EXIT_INTERNAL, "out of memory, or cJSON refuses what is JSON");
    return root;
}

static struct json *parse(const char *name, char *text /* taken over */, size_t size,
                          struct errors *e)
{
    struct json *doc = xcalloc(1, sizeof *doc);
    size_t bom = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, index = 0;

    doc->name = xstrdup(name);
    doc->text = text;
    if (json_lex(name, text + bom, size - bom, JSON_NO_PARENT, 0, &doc->places, e))
        goto fail;
    doc->root = json_build(text + bom, size - bom, e);
    if (!doc->root)
        goto fail;
    json_link_tree(doc, doc->root, &index);
    BUG_ON(index != doc->places.count);
    if (json_check_duplicates(json_root(doc), e))
        goto fail;
    return doc;
fail:
    json_free(doc);
    return NULL;
}

struct json *json_parse(const char *name, const char *text, size_t size, struct errors *e)
{
    char *copy = xcalloc(size + 1, 1);

    memcpy(copy, text, size);
    return parse(name, copy, size, e);
}

static int cannot_read(const char *path, struct errors *e)
{
    return error_add(e, errno == EIO || errno == ENOMEM ? EXIT_INTERNAL : EXIT_INPUT,
                     "%s: cannot be read: %s", path, strerror(errno));
}

static char *read_all(int fd, const char *path, size_t *size, struct errors *e)
{
    size_t capacity = 1 << 16;
    char *text = xcalloc(capacity, 1);

    for (*size = 0;;) {
        ssize_t n = read(fd, text + *size, capacity - *size);

        if (n == 0)
            return text;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            cannot_read(path, e);
            break;
        }
        *size += (size_t)n;
        if (*size > JSON_BYTES) {
            error_add(e, EXIT_INPUT, "%s: larger than %zu MiB; is this the right file?", path,
                      JSON_BYTES >> 20);
            break;
        }
        if (*size == capacity) {
            capacity *= 2;
            text = xrealloc(text, capacity);
        }
    }
    free(text);
    return NULL;
}

struct json *json_read(const char *path, struct errors *e)
{
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct json *doc = NULL;
    size_t size;
    char *text;

    if (fd < 0) {
        cannot_read(path, e);
        return NULL;
    }
    text = read_all(fd, name, &size, e);
    if (!standard)
        close(fd);
    if (text)
        doc = parse(name, text, size, e);
    return doc;
}

void json_free(struct json *doc)
{
    if (!doc)
        return;
    cJSON_Delete(doc->root);
    for (size_t i = 0; i < doc->owned_count; i++)
        free(doc->owned[i]);
    free(doc->owned);
    free(doc->slot);
    free(doc->places.place);
    free(doc->text);
    free(doc->name);
    free(doc);
}

/* ---- Values -------------------------------------------------------------------------------- */

const char *json_name(const struct json *doc)
{
    return doc->name;
}

struct json_value json_root(const struct json *doc)
{
    return (struct json_value){doc, doc->root};
}

enum json_kind json_kind(struct json_value v)
{
    if (!v.item)
        return JSON_ABSENT;
    switch (v.item->type & 0xff) {
    case cJSON_True:
    case cJSON_False:
        return JSON_BOOLEAN;
    case cJSON_Number:
        return JSON_NUMBER;
    case cJSON_String:
        return JSON_STRING;
    case cJSON_Array:
        return JSON_ARRAY;
    case cJSON_Object:
        return JSON_OBJECT;
    default:
        return JSON_NULL;
    }
}

const char *json_kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_ABSENT] = "nothing",   [JSON_NULL] = "null",       [JSON_BOOLEAN] = "true or false",
        [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };

    return names[kind];
}

const char *json_string(struct json_value v)
{
    return json_kind(v) == JSON_STRING ? v.item->valuestring : NULL;
}

bool json_boolean(struct json_value v)
{
    return json_kind(v) == JSON_BOOLEAN && (v.item->type & 0xff) == cJSON_True;
}

const char *json_number_text(struct json_value v, char out[JSON_NUMBER_TEXT])
{
    const struct json_place *place = json_place_of(v);

    if (json_kind(v) != JSON_NUMBER)
        return NULL;
    BUG_ON(place->length >= JSON_NUMBER_TEXT);
    memcpy(out, place->text, place->length);
    out[place->length] = '\0';
    return out;
}

int json_integer(struct json_value v, int64_t *value)
{
    char why[QUANTITY_WHY], number[JSON_NUMBER_TEXT];
    const char *text = json_number_text(v, number);

    *value = 0;
    return text ? quantity_parse(QUANTITY_PLAIN, text, value, why) : -1;
}

int json_double(struct json_value v, double *value)
{
    char number[JSON_NUMBER_TEXT];
    const char *text = json_number_text(v, number);

    *value = text ? strtod(text, NULL) : 0;
    return text && isfinite(*value) ? 0 : -1;
}

size_t json_length(struct json_value v)
{
    size_t n = 0;

    JSON_FOR_EACH(child, v)
    n++;
    return n;
}

struct json_value json_first(struct json_value v)
{
    return (struct json_value){v.doc, v.item ? v.item->child : NULL};
}

struct json_value json_next(struct json_value v)
{
    return (struct json_value){v.doc, v.item ? v.item->next : NULL};
}

const char *json_key(struct json_value v)
{
    return v.item ? v.item->string : NULL;
}

struct json_value json_member(struct json_value object, const char *key)
{
    if (json_kind(object) == JSON_OBJECT)
        JSON_FOR_EACH(child, object)
    if (strcmp(json_key(child), key) == 0)
        return child;
    return JSON_NONE;
}

struct json_value json_element(struct json_value array, size_t index)
{
    if (json_kind(array) == JSON_ARRAY)
        JSON_FOR_EACH(child, array)
    if (index-- == 0)
        return child;
    return JSON_NONE;
}

int json_line(struct json_value v)
{
    return v.item ? json_place_of(v)->line : 0;
}

int json_column(struct json_value v)
{
    return v.item ? json_place_of(v)->column : 0;
}

/* ---- Pointers ------------------------------------------------------------------------------ */

char *json_take_token(const char **s)
{
    const char *p = *s + 1;
    size_t length = strcspn(p, "/"), n = 0;
    char *token = xcalloc(length + 1, 1);

    for (const char *end = p + length; p < end; p++) {
        if (*p == '~' && p[1] != '0' && p[1] != '1') {
            free(token);
            return NULL;
        }
        token[n++] = *p != '~' ? *p : p[1] == '0' ? '~' : '/';
        p += *p == '~';
    }
    *s = p;
    return token;
}

int json_array_index(const char *token, size_t *index)
{
    size_t length = strlen(token);

    *index = 0;
    if (length == 0 || length > 9 || strspn(token, "0123456789") != length ||
        (token[0] == '0' && length > 1))
        return -1;
    *index = (size_t)strtoul(token, NULL, 10);
    return 0;
}

struct json_value json_child(struct json_value v, const char *token)
{
    size_t index;

    if (json_kind(v) == JSON_OBJECT)
        return json_member(v, token);
    return json_array_index(token, &index) ? JSON_NONE : json_element(v, index);
}

/* Follow a pointer as far as it goes. *above (may be NULL) is the last value that exists. */
static struct json_value follow(const struct json *doc, const char *pointer,
                                struct json_value *above)
{
    struct json_value v = json_root(doc);

    if (above)
        *above = v;
    if (*pointer && *pointer != '/')
        return JSON_NONE;
    while (*pointer && json_exists(v)) {
        char *token = json_take_token(&pointer);

        v = token ? json_child(v, token) : JSON_NONE;
        free(token);
        if (above && json_exists(v))
            *above = v;
    }
    return v;
}

struct json_value json_at(const struct json *doc, const char *pointer)
{
    return follow(doc, pointer, NULL);
}

char *json_pointer_append(const char *pointer, const char *key)
{
    size_t n = strlen(pointer);
    char *text = xcalloc(n + 2 * strlen(key) + 2, 1);

    memcpy(text, pointer, n);
    text[n++] = '/';
    for (; *key; key++) {
        if (*key == '~' || *key == '/')
            text[n++] = '~';
        text[n++] = *key == '~' ? '0' : *key == '/' ? '1' : *key;
    }
    return text;
}

char *json_pointer(struct json_value v)
{
    struct json_value parent = parent_of(v);
    char number[24], *above, *pointer;
    size_t index = 0;

    if (!json_exists(parent))
        return xstrdup("");
    above = json_pointer(parent);
    if (json_key(v)) {
        pointer = json_pointer_append(above, json_key(v));
    } else {
        for (const cJSON *item = parent.item->child; item != v.item; item = item->next)
            index++;
        snprintf(number, sizeof number, "%zu", index);
        pointer = json_pointer_append(above, number);
    }
    free(above);
    return pointer;
}

/* ---- Messages ------------------------------------------------------------------------------ */

#define SHOWN 40 /* characters of a string */

/* Bytes of at most SHOWN characters. */
static size_t cut(const char *s)
{
    size_t bytes = 0, characters = 0;

    for (; s[bytes]; bytes++)
        if (((unsigned char)s[bytes] & 0xc0) != 0x80 && characters++ == SHOWN)
            break;
    return bytes;
}

static char *show_string(const char *s)
{
    size_t bytes = cut(s), n = 0;
    char *text = xcalloc(6 * bytes + 8, 1);

    text[n++] = '"';
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c < ' ' || c == 0x7f)
            n += (size_t)sprintf(text + n, "\\u%04x", c);
        else
            text[n++] = s[i];
    }
    strcpy(text + n, s[bytes] ? "...\"" : "\"");
    return text;
}

char *json_show(struct json_value v)
{
    size_t n = json_length(v);
    const char *plural = n == 1 ? "" : "s";
    char number[JSON_NUMBER_TEXT];

    switch (json_kind(v)) {
    case JSON_STRING:
        return show_string(json_string(v));
    case JSON_NUMBER:
        return xstrdup(json_number_text(v, number));
    case JSON_BOOLEAN:
        return xstrdup(json_boolean(v) ? "true" : "false");
    case JSON_ARRAY:
        return xasprintf("an array of %zu element%s", n, plural);
    case JSON_OBJECT:
        return xasprintf("an object with %zu member%s", n, plural);
    default:
        return xstrdup(json_kind_name(json_kind(v)));
    }
}

static char *place_in_words(struct json_value v)
{
    const struct json_place *place = json_place_of(v);

    if (!place)
        return xstrdup("");
    return place->flag ? xasprintf("%s: ", place->flag)
                       : xasprintf("%s:%d:%d: ", v.doc->name, place->line, place->column);
}

static int error_about(struct json_value v, const char *pointer, struct errors *e, const char *fmt,
                       va_list ap)
{
    char *place = place_in_words(v), *message;

    if (vasprintf(&message, fmt, ap) < 0)
        message = xstrdup(fmt);
    json_complain(e, "%s%s%s%s", place, pointer, *pointer ? ": " : "", message);
    free(place);
    free(message);
    return -1;
}

int json_error(struct json_value v, struct errors *e, const char *fmt, ...)
{
    char *pointer;
    va_list ap;

    if (json_complained_enough(e)) /* finding the pointer of an element is linear */
        return json_complain(e, "...");
    pointer = json_pointer(v);
    va_start(ap, fmt);
    error_about(v, pointer, e, fmt, ap);
    va_end(ap);
    free(pointer);
    return -1;
}

int json_error_in(struct json_value object, const char *key, struct errors *e, const char *fmt, ...)
{
    struct json_value member = json_member(object, key);
    char *above, *pointer;
    va_list ap;

    if (json_complained_enough(e))
        return json_complain(e, "...");
    above = json_pointer(object);
    pointer = json_pointer_append(above, key);
    va_start(ap, fmt);
    error_about(json_exists(member) ? member : object, pointer, e, fmt, ap);
    va_end(ap);
    free(above);
    free(pointer);
    return -1;
}

int json_error_at(const struct json *doc, const char *pointer, struct errors *e, const char *fmt,
                  ...)
{
    struct json_value above;
    va_list ap;

    follow(doc, pointer, &above);
    va_start(ap, fmt);
    error_about(above, pointer, e, fmt, ap);
    va_end(ap);
    return -1;
}
