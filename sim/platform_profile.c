/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/platform_profile.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INCLUDE_DEPTH 8
#define ATTRIBUTES 32

struct text {
    const char *at, *end;
    int line;
};

struct attribute {
    char *name, *value;
};

struct tag {
    char *name;
    struct attribute attribute[ATTRIBUTES];
    size_t count;
    int line;
};

static int scan(const char *file, int depth, struct platform_profiles *p, struct errors *e);

/* ---- Tags ----------------------------------------------------------------------------------- */

static void step(struct text *t)
{
    if (*t->at++ == '\n')
        t->line++;
}

static bool starts(const struct text *t, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(t->end - t->at) >= n && memcmp(t->at, word, n) == 0;
}

/* Go behind the next `word`, or to the end. */
static void skip_past(struct text *t, const char *word)
{
    while (t->at < t->end && !starts(t, word))
        step(t);
    for (size_t i = 0; t->at < t->end && word[i]; i++)
        step(t);
}

static void skip_blanks(struct text *t)
{
    while (t->at < t->end && isspace((unsigned char)*t->at))
        step(t);
}

/* Text up to any of the characters in `stop`. */
static char *take(struct text *t, const char *stop)
{
    const char *from = t->at;
    size_t n;
    char *word;

    while (t->at < t->end && !strchr(stop, *t->at))
        step(t);
    n = (size_t)(t->at - from);
    word = xcalloc(n + 1, 1);
    memcpy(word, from, n);
    return word;
}

/* One attribute of the tag being read; false at its end. */
static bool read_attribute(struct text *t, struct attribute *a)
{
    skip_blanks(t);
    if (t->at == t->end || *t->at == '>' || *t->at == '/')
        return false;
    a->name = take(t, "= \t\r\n>/");
    a->value = NULL;
    skip_blanks(t);
    if (t->at < t->end && *t->at == '=') {
        step(t);
        skip_blanks(t);
        if (t->at < t->end && (*t->at == '"' || *t->at == '\'')) {
            const char quote[] = {*t->at, '\0'};

            step(t);
            a->value = take(t, quote);
            if (t->at < t->end)
                step(t);
        }
    }
    if (!a->value)
        a->value = xstrdup("");
    return true;
}

/* The next opening tag; false when there is none. */
static bool read_tag(struct text *t, struct tag *tag)
{
    for (;;) {
        skip_past(t, "<");
        if (t->at == t->end)
            return false;
        if (starts(t, "!--"))
            skip_past(t, "-->");
        else if (isalpha((unsigned char)*t->at))
            break;
    }
    *tag = (struct tag){.line = t->line, .name = take(t, " \t\r\n>/")};
    while (tag->count < ATTRIBUTES && read_attribute(t, &tag->attribute[tag->count]))
        tag->count++;
    return true;
}

static void free_tag(struct tag *tag)
{
    for (size_t i = 0; i < tag->count; i++) {
        free(tag->attribute[i].name);
        free(tag->attribute[i].value);
    }
    free(tag->name);
}

static const char *value(const struct tag *tag, const char *name)
{
    for (size_t i = 0; i < tag->count; i++)
        if (strcmp(tag->attribute[i].name, name) == 0)
            return tag->attribute[i].value;
    return "";
}

/* ---- What tags mean ------------------------------------------------------------------------- */

static void add_mortal(struct platform_profiles *p, const char *host)
{
    p->states = true;
    p->mortal = xrealloc(p->mortal, (p->mortal_count + 1) * sizeof(char *));
    p->mortal[p->mortal_count++] = xstrdup(host);
}

static void host(const struct tag *tag, struct platform_profiles *p)
{
    if (*value(tag, "state_file"))
        add_mortal(p, value(tag, "id"));
    if (*value(tag, "speed_file") || *value(tag, "availability_file"))
        p->speeds = true;
}

static int refuse(const char *file, int line, const char *what, const char *link, struct errors *e)
{
    return error_add(e, EXIT_INPUT,
                     "%s:%d: link \"%s\" has a profile (%s), whose dates hvsim cannot know ahead; "
                     "use actions link-off, link-on, link-latency or link-bandwidth of the "
                     "scenario instead",
                     file, line, link, what);
}

static int link(const char *file, const struct tag *tag, struct errors *e)
{
    static const char *const profile[] = {"bandwidth_file", "latency_file", "state_file"};

    for (size_t i = 0; i < sizeof profile / sizeof *profile; i++)
        if (*value(tag, profile[i]))
            return refuse(file, tag->line, profile[i], value(tag, "id"), e);
    return 0;
}

static int connect(const char *file, const struct tag *tag, struct platform_profiles *p,
                   struct errors *e)
{
    const char *kind = value(tag, "kind");

    if (!*kind || strcmp(kind, "HOST_AVAIL") == 0)
        add_mortal(p, value(tag, "element"));
    else if (strcmp(kind, "SPEED") == 0 || strcmp(kind, "POWER") == 0)
        p->speeds = true;
    else
        return refuse(file, tag->line, kind, value(tag, "element"), e);
    return 0;
}

/* Relative to the directory of the including file. */
static int include(const char *file, const struct tag *tag, int depth, struct platform_profiles *p,
                   struct errors *e)
{
    const char *name = value(tag, "file"), *slash = strrchr(file, '/');
    char *path = *name == '/' || !slash ? xstrdup(name)
                                        : xasprintf("%.*s/%s", (int)(slash - file), file, name);
    int status = depth < INCLUDE_DEPTH ? scan(path, depth + 1, p, e) : 0;

    free(path);
    return status;
}

static int meaning(const char *file, const struct tag *tag, int depth, struct platform_profiles *p,
                   struct errors *e)
{
    if (strcmp(tag->name, "host") == 0 || strcmp(tag->name, "peer") == 0)
        host(tag, p);
    else if (strcmp(tag->name, "link") == 0)
        return link(file, tag, e);
    else if (strcmp(tag->name, "trace_connect") == 0)
        return connect(file, tag, p, e);
    else if (strcmp(tag->name, "include") == 0)
        return include(file, tag, depth, p, e);
    return 0;
}

/* ---- Files ---------------------------------------------------------------------------------- */

static char *read_all(const char *file, size_t *size)
{
    FILE *in = fopen(file, "r");
    char *all = NULL;
    size_t n, capacity = 0;

    *size = 0;
    if (!in)
        return NULL;
    do {
        if (*size == capacity)
            all = xrealloc(all, capacity = capacity ? 2 * capacity : 65536);
        n = fread(all + *size, 1, capacity - *size, in);
        *size += n;
    } while (n > 0);
    fclose(in);
    return all;
}

static int scan(const char *file, int depth, struct platform_profiles *p, struct errors *e)
{
    size_t size;
    char *all = read_all(file, &size);
    struct text t;
    struct tag tag;
    int status = 0;

    if (!all)
        return 0;
    t = (struct text){.at = all, .end = all + size, .line = 1};
    while (read_tag(&t, &tag)) {
        if (meaning(file, &tag, depth, p, e))
            status = -1;
        free_tag(&tag);
    }
    free(all);
    return status;
}

int platform_profiles_scan(const char *file, struct platform_profiles *p, struct errors *e)
{
    *p = (struct platform_profiles){0};
    return scan(file, 0, p, e);
}

void platform_profiles_free(struct platform_profiles *p)
{
    for (size_t i = 0; i < p->mortal_count; i++)
        free(p->mortal[i]);
    free(p->mortal);
    *p = (struct platform_profiles){0};
}
