/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_NS INT64_C(100000000)

int64_t wall_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void progress_begin(struct progress *p, const char *label, const char *unit, double total,
                    bool quiet)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    bool dumb = !term || strcmp(term, "dumb") == 0;

    *p = (struct progress){.label = label, .unit = unit, .total = total, .began = wall_now()};
    if (!quiet && !dumb && isatty(STDERR_FILENO))
        p->out = stderr;
    p->escapes = !(no_color && *no_color);
}

/* "12s", "3min 05s", "2h 07min". */
static void duration_in_words(double seconds, char *out, size_t size)
{
    long s = (long)(seconds + 0.5);

    if (s < 60)
        snprintf(out, size, "%lds", s);
    else if (s < 3600)
        snprintf(out, size, "%ldmin %02lds", s / 60, s % 60);
    else if (s < 360000)
        snprintf(out, size, "%ldh %02ldmin", s / 3600, s / 60 % 60);
    else
        snprintf(out, size, "more than 99h");
}

size_t progress_line(const struct progress *p, double done, const char *note, int64_t now,
                     char *line, size_t size)
{
    double seconds = (double)(now - p->began) / 1e9;
    double rate = seconds > 0 ? done / seconds : 0;
    char rest[48] = "", left[32];
    int length;

    if (rate > 0 && done < p->total) {
        duration_in_words((p->total - done) / rate, left, sizeof left);
        snprintf(rest, sizeof rest, ", %s left", left);
    }
    length = snprintf(line, size, "%s: %.0f of %.0f %s (%.0f%%), %.3g/s%s%s%s", p->label, done,
                      p->total, p->unit, p->total > 0 ? 100 * done / p->total : 100, rate, rest,
                      note ? "; " : "", note ? note : "");
    if (length < 0)
        length = 0;
    return (size_t)length < size ? (size_t)length : size - 1;
}

/* Overwrite the line on the screen: by an escape sequence, or with blanks. */
static void draw(struct progress *p, const char *line, size_t length)
{
    size_t blanks = p->width > length ? p->width - length : 0;

    if (p->escapes)
        fprintf(p->out, "\r%s\033[K", line);
    else
        fprintf(p->out, "\r%s%*s\r%s", line, (int)blanks, "", length ? line : "");
    fflush(p->out);
    p->width = length;
}

/* A line that wraps could not be overwritten. */
static size_t columns(void)
{
    struct winsize w;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col : 80;
}

void progress_update(struct progress *p, double done, const char *note)
{
    char line[200];
    size_t room;
    int64_t now;

    if (!p->out)
        return;
    now = wall_now();
    if (p->drawn && now - p->drawn < REDRAW_NS)
        return;
    p->drawn = now;
    room = columns();
    draw(p, line, progress_line(p, done, note, now, line, room < sizeof line ? room : sizeof line));
}

void progress_end(struct progress *p)
{
    if (p->out && p->width)
        draw(p, "", 0);
    p->drawn = 0;
}
