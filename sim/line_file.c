/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A line is complete when its newline is there: the newline is
 * written in the same call, after everything before it, so a crash can only leave a last line
 * without one, and that is cut off.
 */
#define _GNU_SOURCE
#include "sim/line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct line_file {
    char *path;
    int fd;
    off_t size;   /* up to the end of the last complete line */
    int64_t due;  /* when the oldest unsynced line must be synced, ms of the wall clock */
    bool waiting; /* there are unsynced lines */
    char *buffer; /* a line and its newline, to write them in one call */
    size_t capacity;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int failed(struct errors *e, const char *path, const char *what)
{
    int error = errno;
    bool user = error == ENOENT || error == ENOTDIR || error == EISDIR || error == EACCES ||
                error == EPERM || error == EROFS || error == ELOOP || error == ENAMETOOLONG;

    return error_add(e, user ? EXIT_INPUT : EXIT_INTERNAL, "%s: cannot %s: %s%s", path, what,
                     strerror(error),
                     error == ENOSPC || error == EDQUOT ? "; free some space and run again" : "");
}

/* ---- Reading ------------------------------------------------------------------------------- */

/* Hand out the complete lines from the start; *end is behind the last of them. */
static int each_line(int fd, const char *path, line_fn *each, void *ctx, off_t *end,
                     struct errors *e)
{
    FILE *in = fdopen(dup(fd), "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int status = 0;

    *end = 0;
    if (!in)
        return failed(e, path, "read");
    rewind(in);
    while (!status && (length = getline(&line, &capacity, in)) > 0 && line[length - 1] == '\n') {
        line[length - 1] = '\0';
        *end += length;
        if (each)
            status = each(ctx, line, (size_t)length - 1, e);
    }
    if (ferror(in))
        status = failed(e, path, "read");
    free(line);
    fclose(in);
    return status;
}

int line_file_read(const char *path, line_fn *each, void *ctx, struct errors *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), status;
    off_t end;

    if (fd < 0)
        return failed(e, path, "read");
    status = each_line(fd, path, each, ctx, &end, e);
    close(fd);
    return status;
}

/* ---- Opening ------------------------------------------------------------------------------- */

/* A writer that was killed may leave children that hold the lock for some milliseconds more. */
static int lock(int fd)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    int status = flock(fd, LOCK_EX | LOCK_NB);

    for (int tries = 0; status && errno == EWOULDBLOCK && tries < 10; tries++) {
        nanosleep(&pause, NULL);
        status = flock(fd, LOCK_EX | LOCK_NB);
    }
    return status;
}

static int check_file(struct line_file *f, struct errors *e)
{
    struct stat st;

    if (fstat(f->fd, &st))
        return failed(e, f->path, "look at it");
    if (!S_ISREG(st.st_mode))
        return error_add(e, EXIT_INPUT, "%s: not a file that lines can be appended to", f->path);
    if (lock(f->fd)) {
        if (errno == EWOULDBLOCK)
            return error_add(e, EXIT_INPUT, "%s: another process is writing this file", f->path);
        if (errno != ENOLCK && errno != EOPNOTSUPP && errno != EINVAL) /* some network disks */
            return failed(e, f->path, "lock");
    }
    return 0;
}

static int recover(struct line_file *f, size_t *torn, struct errors *e)
{
    struct stat st;

    if (fstat(f->fd, &st))
        return failed(e, f->path, "look at it");
    if (torn)
        *torn = (size_t)(st.st_size - f->size);
    if (st.st_size == f->size)
        return 0;
    if (ftruncate(f->fd, f->size) || fsync(f->fd))
        return failed(e, f->path, "cut off the torn last line");
    return 0;
}

/* A new file must be found again after a power cut. */
static void sync_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash == path ? xstrdup("/")
                : slash       ? xasprintf("%.*s", (int)(slash - path), path)
                              : xstrdup(".");
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(dir);
}

struct line_file *line_file_open(const char *path, line_fn *each, void *ctx, size_t *torn,
                                 struct errors *e)
{
    struct line_file *f = xcalloc(1, sizeof *f);

    f->path = xstrdup(path);
    f->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (f->fd < 0) {
        failed(e, path, "write");
        goto fail;
    }
    if (check_file(f, e) || each_line(f->fd, path, each, ctx, &f->size, e) || recover(f, torn, e))
        goto fail;
    sync_directory_of(path);
    return f;
fail:
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f);
    return NULL;
}

/* ---- With a title -------------------------------------------------------------------------- */

/* Is the file empty, or not there, or no regular one, or does it begin with this line, or with a
 * torn part of it? */
static bool begins_with(const char *path, const char *line)
{
    size_t length = strlen(line), n;
    char *start;
    struct stat st;
    FILE *in;
    bool ours;

    if (stat(path, &st) || !S_ISREG(st.st_mode)) /* line_file_open() says why not */
        return true;
    start = xcalloc(length + 1, 1);
    in = fopen(path, "re");
    n = in ? fread(start, 1, length + 1, in) : 0;
    ours = !memcmp(start, line, n < length ? n : length) && (n <= length || start[n - 1] == '\n');
    if (in)
        fclose(in);
    free(start);
    return ours;
}

struct titled {
    line_fn *each;
    void *ctx;
    bool seen; /* the title */
};

static int after_title(void *ctx, const char *line, size_t length, struct errors *e)
{
    struct titled *t = ctx;

    if (t->seen)
        return t->each(t->ctx, line, length, e);
    t->seen = true;
    return 0;
}

struct line_file *line_file_open_titled(const char *path, const char *title, const char *otherwise,
                                        line_fn *each, void *ctx, struct errors *e)
{
    struct titled t = {.each = each, .ctx = ctx};
    struct line_file *f;

    if (!begins_with(path, title)) {
        error_add(e, EXIT_INPUT, "%s: %s; name another file, or remove it to begin anew", path,
                  otherwise);
        return NULL;
    }
    f = line_file_open(path, after_title, &t, NULL, e);
    if (f && !t.seen && line_file_append(f, title, strlen(title), e)) {
        line_file_close(f, e);
        return NULL;
    }
    return f;
}

/* ---- Appending ----------------------------------------------------------------------------- */

static int write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

int line_file_append(struct line_file *f, const char *line, size_t length, struct errors *e)
{
    BUG_ON(memchr(line, '\n', length) != NULL);
    if (length + 1 > f->capacity) {
        f->capacity = 2 * (length + 1);
        f->buffer = xrealloc(f->buffer, f->capacity);
    }
    memcpy(f->buffer, line, length);
    f->buffer[length] = '\n';
    if (write_all(f->fd, f->buffer, length + 1)) {
        failed(e, f->path, "append a line");
        if (ftruncate(f->fd, f->size)) /* or the next line would be glued to the torn one */
            failed(e, f->path, "cut off the torn line");
        return -1;
    }
    f->size += (off_t)(length + 1);
    if (!f->waiting) {
        f->waiting = true;
        f->due = now_ms() + LINE_FILE_SYNC_MS;
    }
    return line_file_tick(f, e) == -2 ? -1 : 0;
}

int line_file_sync(struct line_file *f, struct errors *e)
{
    if (!f->waiting)
        return 0;
    if (fdatasync(f->fd))
        return failed(e, f->path, "sync");
    f->waiting = false;
    return 0;
}

int line_file_tick(struct line_file *f, struct errors *e)
{
    int64_t left = f->due - now_ms();

    if (!f->waiting)
        return -1;
    if (left > 0)
        return (int)left;
    return line_file_sync(f, e) ? -2 : -1;
}

int line_file_close(struct line_file *f, struct errors *e)
{
    int status;

    if (!f)
        return 0;
    status = line_file_sync(f, e);
    if (close(f->fd) && !status)
        status = failed(e, f->path, "close");
    free(f->buffer);
    free(f->path);
    free(f);
    return status;
}
