/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*on_out_of_memory)(void);

static _Noreturn void out_of_memory(void)
{
    fputs("hvsim: out of memory\n", stderr);
    if (on_out_of_memory)
        on_out_of_memory();
    exit(EXIT_INTERNAL);
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        out_of_memory();
    return p;
}

void *xrealloc(void *p, size_t size)
{
    p = realloc(p, size ? size : 1);
    if (!p)
        out_of_memory();
    return p;
}

char *xstrdup(const char *s)
{
    size_t n = strlen(s) + 1;

    return memcpy(xcalloc(n, 1), s, n);
}

char *xasprintf(const char *fmt, ...)
{
    char *text;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        out_of_memory();
    va_end(ap);
    return text;
}

int error_vadd(struct errors *e, enum exit_code code, const char *fmt, va_list ap)
{
    char *text;

    if (vasprintf(&text, fmt, ap) < 0)
        out_of_memory();
    if (e->count == e->capacity) {
        e->capacity = e->capacity ? 2 * e->capacity : 8;
        e->item = xrealloc(e->item, e->capacity * sizeof *e->item);
    }
    e->item[e->count++] = (struct error){.code = code, .text = text};
    return -1;
}

int error_add(struct errors *e, enum exit_code code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    error_vadd(e, code, fmt, ap);
    va_end(ap);
    return -1;
}

int error_context(struct errors *e, size_t first, const char *fmt, ...)
{
    char *context;
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&context, fmt, ap) < 0)
        out_of_memory();
    va_end(ap);
    for (size_t i = first; i < e->count; i++) {
        char *text = xasprintf("%s: %s", context, e->item[i].text);

        free(e->item[i].text);
        e->item[i].text = text;
    }
    free(context);
    return -1;
}

enum exit_code errors_exit_code(const struct errors *e)
{
    static const enum exit_code by_weight[] = {EXIT_INTERNAL, EXIT_INPUT, EXIT_INTERRUPTED,
                                               EXIT_SHORT};

    for (size_t w = 0; w < sizeof by_weight / sizeof *by_weight; w++)
        for (size_t i = 0; i < e->count; i++)
            if (e->item[i].code == by_weight[w])
                return by_weight[w];
    return EXIT_OK;
}

void errors_free(struct errors *e)
{
    for (size_t i = 0; i < e->count; i++)
        free(e->item[i].text);
    free(e->item);
    *e = ERRORS_NONE;
}

void hv_bug(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "hvsim: bug at %s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}
