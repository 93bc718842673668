/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors as values: a function that can fail takes a `struct errors *`, adds what went wrong and
 * returns -1 (or NULL); the list travels up to the one place that prints it (experiments/main.c).
 * A list, because the errors of an input file are reported all at once.
 *
 * Broken invariants are not errors: they end in hv_bug(), which prints and aborts.
 */
#ifndef HVSIM_SIM_ERROR_H
#define HVSIM_SIM_ERROR_H

#include <stdarg.h>
#include <stddef.h>

/* Exit codes of the hvsim command; the value of an error is the code its run ends with. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_SHORT = 1,        /* a check or validation fell short */
    EXIT_INPUT = 2,        /* usage or bad input */
    EXIT_INTERNAL = 3,     /* internal error, out of memory, I/O */
    EXIT_INTERRUPTED = 130 /* Ctrl-C: partial results kept and marked */
};

struct error {
    enum exit_code code;
    char *text; /* one complete message: place, what was found, remedy; owned by the list */
};

struct errors {
    struct error *item;
    size_t count, capacity;
};

#define ERRORS_NONE ((struct errors){0})

/* Add one error; returns -1 so that callers can write `return error_add(...)`. */
int error_add(struct errors *e, enum exit_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int error_vadd(struct errors *e, enum exit_code code, const char *fmt, va_list ap);

/* Put "context: " before the text of every error from index `first` on. Returns -1. */
int error_context(struct errors *e, size_t first, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The worst exit code in the list (EXIT_OK when empty): internal > input > short. */
enum exit_code errors_exit_code(const struct errors *e);

void errors_free(struct errors *e);

/* A broken invariant: print where and why to stderr and abort. */
_Noreturn void hv_bug(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define BUG(...) hv_bug(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(cond)                                                                               \
    do {                                                                                           \
        if (__builtin_expect(!!(cond), 0))                                                         \
            hv_bug(__FILE__, __LINE__, "%s", #cond);                                               \
    } while (0)

/* Memory: these never return NULL; out of memory prints and exits with EXIT_INTERNAL, after calling
 * `on_out_of_memory` if set (the worker pool's children tell their parent). */
extern void (*on_out_of_memory)(void);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
