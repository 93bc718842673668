/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress: silent where nobody looks, and right where somebody does (a pseudo terminal). */
#define _GNU_SOURCE
#include "sim/progress.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* What a function writes to stderr, when it is a terminal of 40 columns or a pipe. */
static char *stderr_of(void (*draw)(void), int terminal)
{
    static char text[4096];
    struct winsize size = {.ws_row = 10, .ws_col = 40};
    int old = dup(STDERR_FILENO), out, in;
    size_t length;
    ssize_t n;

    if (terminal) {
        in = posix_openpt(O_RDWR | O_NOCTTY);
        if (in < 0 || grantpt(in) || unlockpt(in))
            return NULL;
        out = open(ptsname(in), O_RDWR | O_NOCTTY);
        if (out < 0 || ioctl(out, TIOCSWINSZ, &size))
            return NULL;
    } else {
        int fd[2];

        ck_assert_int_eq(pipe(fd), 0);
        in = fd[0];
        out = fd[1];
    }
    fflush(stderr);
    dup2(out, STDERR_FILENO);
    draw();
    fflush(stderr);
    dup2(old, STDERR_FILENO);
    close(old);
    close(out);
    /* nobody writes any more: all of it, then the end (EIO of a terminal) */
    for (length = 0; (n = read(in, text + length, sizeof text - 1 - length)) > 0;
         length += (size_t)n)
        ;
    text[length] = '\0';
    close(in);
    return text;
}

static void two_updates(void)
{
    struct progress p;

    progress_begin(&p, "sweep", "points", 200, false);
    progress_update(&p, 50, "a long remark, longer than the terminal is wide");
    for (int i = 0; i < 1000; i++) /* at once: too soon to be drawn */
        progress_update(&p, 51, NULL);
    progress_end(&p);
}

static void quiet(void)
{
    struct progress p;

    progress_begin(&p, "sweep", "points", 200, true);
    progress_update(&p, 50, NULL);
    progress_end(&p);
}

START_TEST(silent_without_a_terminal)
{
    setenv("TERM", "xterm", 1);
    ck_assert_str_eq(stderr_of(two_updates, 0), "");
}
END_TEST

START_TEST(drawn_on_a_terminal_and_removed)
{
    char *text;

    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    text = stderr_of(two_updates, 1);
    if (!text) /* no pseudo terminals here */
        return;
    ck_assert_msg(strstr(text, "\rsweep: 50 of 200 points (25%)") == text, "%s", text);
    ck_assert_ptr_null(strstr(text, "51"));
    ck_assert_ptr_null(strstr(text, "wide"));
    ck_assert_msg(strcmp(text + strlen(text) - 4, "\r\033[K") == 0, "%s", text);
}
END_TEST

START_TEST(no_color_means_no_escapes)
{
    char *text;

    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    text = stderr_of(two_updates, 1);
    if (!text)
        return;
    ck_assert_ptr_null(strchr(text, '\033'));
    ck_assert_ptr_nonnull(strstr(text, "50 of 200"));
    ck_assert_int_eq(text[strlen(text) - 1], '\r');
}
END_TEST

START_TEST(quiet_and_dumb)
{
    char *text;

    setenv("TERM", "xterm", 1);
    text = stderr_of(quiet, 1);
    ck_assert(!text || !*text);
    setenv("TERM", "dumb", 1);
    text = stderr_of(two_updates, 1);
    ck_assert(!text || !*text);
}
END_TEST

START_TEST(rate_and_time_left)
{
    static const struct {
        double done, seconds;
        const char *line;
    } cases[] = {
        {0, 0, "run: 0 of 100 seeds (0%), 0/s"},
        {0, 10, "run: 0 of 100 seeds (0%), 0/s"},
        {50, 10, "run: 50 of 100 seeds (50%), 5/s, 10s left"},
        {10, 100, "run: 10 of 100 seeds (10%), 0.1/s, 15min 00s left"},
        {1, 100, "run: 1 of 100 seeds (1%), 0.01/s, 2h 45min left"},
        {1, 1e5, "run: 1 of 100 seeds (1%), 1e-05/s, more than 99h left"},
        {100, 10, "run: 100 of 100 seeds (100%), 10/s"},
    };
    struct progress p = {.label = "run", .unit = "seeds", .total = 100};
    char line[128];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = progress_line(&p, cases[i].done, NULL, (int64_t)(cases[i].seconds * 1e9), line,
                                 sizeof line);

        ck_assert_str_eq(line, cases[i].line);
        ck_assert_uint_eq(n, strlen(line));
    }
    ck_assert_uint_eq(progress_line(&p, 1, "note", 1, line, 10), 9);
    ck_assert_str_eq(line, "run: 1 of");
}
END_TEST

Suite *suite_progress(void);

Suite *suite_progress(void)
{
    Suite *s = suite_create("progress");
    TCase *tc = tcase_create("progress");

    tcase_add_test(tc, silent_without_a_terminal);
    tcase_add_test(tc, drawn_on_a_terminal_and_removed);
    tcase_add_test(tc, no_color_means_no_escapes);
    tcase_add_test(tc, quiet_and_dumb);
    tcase_add_test(tc, rate_and_time_left);
    suite_add_tcase(s, tc);
    return s;
}
