/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Progress for people: one line on a terminal, redrawn at most ten times a second, with the rate
 * and the time left. Silent when stderr is no terminal, TERM is "dumb" or the user asked for quiet;
 * with NO_COLOR no escape sequence is written. Wall time only: nothing of it reaches a result.
 */
#ifndef HVSIM_SIM_PROGRESS_H
#define HVSIM_SIM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *out; /* NULL: silent */
    bool escapes;
    const char *label, *unit;
    double total;
    int64_t began, drawn; /* wall clock, ns */
    size_t width;         /* of the line on the screen */
};

/* Begin `total` units of work ("runs"); `label` and `unit` must outlive it. */
void progress_begin(struct progress *p, const char *label, const char *unit, double total,
                    bool quiet);

/* So much is done; `note` (may be NULL) stands at the end of the line. */
void progress_update(struct progress *p, double done, const char *note);

/* Remove the line. Call it before anything else is written to the terminal. */
void progress_end(struct progress *p);

/* The line itself, without drawing it; for tests. Returns the length written to `line`. */
size_t progress_line(const struct progress *p, double done, const char *note, int64_t now,
                     char *line, size_t size);

/* The wall clock: monotonic nanoseconds. */
int64_t wall_now(void);

#endif
