/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Trying a platform in a child. SimGrid aborts on a file it dislikes, after a message on stderr,
 * and may crash on a missing route; the child's end and last words become errors.
 */
#define _GNU_SOURCE
#include "sim/platform_probe.h"

#include "sim/platform_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's own errors are lines "mark code text" among SimGrid's log; no log has this byte. */
#define MARK '\001'

static _Noreturn void try_platform(const struct platform_options *o, struct fleet *f, int out)
{
    struct errors e = ERRORS_NONE;
    struct rlimit no_core = {0, 0};

    setrlimit(RLIMIT_CORE, &no_core);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    platform_load_loudly(o, true);
    platform_bind(f, &e);
    for (size_t i = 0; i < e.count; i++)
        dprintf(out, "%c%d %s\n", MARK, (int)e.item[i].code, e.item[i].text);
    _exit(e.count ? 1 : 0);
}

static char *read_all(int fd)
{
    size_t size = 0, capacity = 8192;
    char *all = xcalloc(capacity, 1);
    ssize_t n;

    while ((n = read(fd, all + size, capacity - size - 1)) > 0) {
        size += (size_t)n;
        if (capacity - size < 4096)
            all = xrealloc(all, capacity *= 2);
    }
    all[size] = '\0';
    return all;
}

/* One row a way in which SimGrid says its last words; `skip`: without what ends in this. */
static int add_last_words(const char *file, char *log, struct errors *e)
{
    static const struct {
        const char *mark, *skip;
        bool place; /* the words begin with file and line */
    } row[] = {
        {"Parse error at ", "error at ", true},
        {"Uncaught exception ", ": ", false},
        {"Assertion ", NULL, false},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char *words = strstr(log, row[i].mark), *skip;

        if (!words)
            continue;
        words[strcspn(words, "\n")] = '\0';
        skip = row[i].skip ? strstr(words, row[i].skip) : NULL;
        if (skip)
            words = skip + strlen(row[i].skip);
        return row[i].place ? error_add(e, EXIT_INPUT, "%s", words)
                            : error_add(e, EXIT_INPUT, "%s: %s", file, words);
    }
    log[strcspn(log, "\n")] = '\0';
    return error_add(e, EXIT_INPUT, "%s: SimGrid cannot use this platform%s%s", file,
                     *log ? ": " : "", log);
}

static void add_own(const char *file, const char *log, struct errors *e)
{
    for (const char *line = strchr(log, MARK); line; line = strchr(line + 1, MARK)) {
        char *text;
        long code = strtol(line + 1, &text, 10);

        error_add(e, (enum exit_code)code, "%s: %.*s", file, (int)strcspn(text + 1, "\n"),
                  text + 1);
    }
}

static int judge(const char *file, int status, char *log, const char *asked, struct errors *e)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status) && strchr(log, MARK))
        add_own(file, log, e);
    else if (*asked)
        error_add(e, EXIT_INPUT, "%s: SimGrid breaks on %s: there is no such route", file, asked);
    else
        add_last_words(file, log, e);
    return -1;
}

static int run_child(const struct platform_options *o, const struct fleet *f, struct errors *e)
{
    int ends[2], status;
    pid_t child;
    char *log;

    if (pipe(ends))
        return error_add(e, EXIT_INTERNAL, "no pipe to try the platform");
    fflush(NULL);
    child = fork();
    if (child == 0)
        try_platform(o, (struct fleet *)f, ends[1]); /* its own copy */
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return error_add(e, EXIT_INTERNAL, "no process to try the platform");
    }
    log = read_all(ends[0]);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0)
        ;
    status = judge(o->file, status, log, platform_asking, e);
    free(log);
    return status;
}

int platform_probe(const struct platform_options *o, const struct fleet *f, struct errors *e)
{
    struct platform_profiles profiles;
    int status = platform_profiles_scan(o->file, &profiles, e);

    platform_profiles_free(&profiles);
    if (status)
        return status;
    platform_asking =
        mmap(NULL, PLATFORM_ASKING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (platform_asking == MAP_FAILED)
        return error_add(e, EXIT_INTERNAL, "no memory to try the platform");
    status = run_child(o, f, e);
    munmap(platform_asking, PLATFORM_ASKING);
    platform_asking = NULL;
    return status;
}
