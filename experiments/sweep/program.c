/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct stream {
    int fd;
    char *text;
    size_t size;
};

/* Take what is there; false at its end. */
static int drain(struct stream *s)
{
    char block[4096];
    ssize_t n = read(s->fd, block, sizeof block);

    if (n < 0 && errno == EINTR)
        return 1;
    if (n <= 0)
        return 0;
    s->text = xrealloc(s->text, s->size + (size_t)n + 1);
    memcpy(s->text + s->size, block, (size_t)n);
    s->size += (size_t)n;
    s->text[s->size] = '\0';
    return 1;
}

static void drain_both(struct stream *a, struct stream *b)
{
    struct pollfd fd[2] = {{.fd = a->fd, .events = POLLIN}, {.fd = b->fd, .events = POLLIN}};

    while (fd[0].fd >= 0 || fd[1].fd >= 0) {
        if (poll(fd, 2, -1) < 0)
            continue;
        if (fd[0].fd >= 0 && fd[0].revents && !drain(a))
            fd[0].fd = -1;
        if (fd[1].fd >= 0 && fd[1].revents && !drain(b))
            fd[1].fd = -1;
    }
}

static _Noreturn void become(const char *const *argument, int out, int error)
{
    int null = open("/dev/null", O_RDONLY);

    dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    execvp(argument[0], (char *const *)(uintptr_t)argument);
    _exit(127);
}

int program_run(const char *const *argument, struct program_result *r, struct errors *e)
{
    struct stream out = {.text = xstrdup("")}, error = {.text = xstrdup("")};
    int to_us[2], to_us_too[2], status = 0;
    pid_t child;

    *r = (struct program_result){.status = 127};
    if (pipe2(to_us, O_CLOEXEC) || pipe2(to_us_too, O_CLOEXEC)) {
        free(out.text);
        free(error.text);
        return error_add(e, EXIT_INTERNAL, "cannot run %s: %s", argument[0], strerror(errno));
    }
    fflush(NULL);
    child = fork();
    if (child == 0)
        become(argument, to_us[1], to_us_too[1]);
    close(to_us[1]);
    close(to_us_too[1]);
    out.fd = to_us[0];
    error.fd = to_us_too[0];
    if (child > 0) {
        drain_both(&out, &error);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    close(to_us[0]);
    close(to_us_too[0]);
    r->out = out.text;
    r->error = error.text;
    return child > 0
               ? 0
               : error_add(e, EXIT_INTERNAL, "cannot run %s: %s", argument[0], strerror(errno));
}

void program_result_free(struct program_result *r)
{
    free(r->out);
    free(r->error);
    *r = (struct program_result){0};
}
