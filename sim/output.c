/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The order of an atomic write: write, fsync, rename, fsync of the directory. Left out, the first
 * fsync may leave an empty file under the new name after a power cut, the second one the old file.
 *
 * A temporary is removed by output_abort(), and by exit() through atexit(): but only in the process
 * that opened it, as forked children share the list of open outputs.
 */
#define _GNU_SOURCE
#include "sim/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel takes a file in large blocks at a quarter of the cost of small ones. Pages of it that
 * are not used are never there. */
enum { BLOCK_BYTES = 1 << 18 };

struct output {
    char *path;      /* what the user said, for messages */
    char *target;    /* the file itself, behind symbolic links */
    char *temporary; /* NULL: `target` is written directly */
    FILE *stream;
    char *block; /* the stream's buffer; NULL: its own */
    pid_t owner;
    struct output *next;
};

static struct output *open_outputs;

/* ---- Errors -------------------------------------------------------------------------------- */

/* Whose mistake is it? */
static enum exit_code code_of(int error)
{
    static const int of_the_user[] = {ENOENT, ENOTDIR, EISDIR, EACCES, EPERM,
                                      EROFS,  ELOOP,   EEXIST, EINVAL, ENAMETOOLONG};

    for (size_t i = 0; i < sizeof of_the_user / sizeof *of_the_user; i++)
        if (of_the_user[i] == error)
            return EXIT_INPUT;
    return EXIT_INTERNAL;
}

static const char *remedy(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "; free some space or write elsewhere";
    case ENOENT:
        return "; make the directory first";
    case EACCES:
    case EPERM:
    case EROFS:
        return "; choose a path you may write to";
    case EISDIR:
        return "; give the name of a file";
    case ENOTDIR:
        return "; a part of the path is a file";
    default:
        return "";
    }
}

static int failed(struct errors *e, const char *path, const char *what)
{
    int error = errno;

    return error_add(e, code_of(error), "%s: cannot %s: %s%s", path, what, strerror(error),
                     remedy(error));
}

/* ---- Paths --------------------------------------------------------------------------------- */

char *output_path(const char *dir, const char *name)
{
    size_t n = strlen(dir);

    return xasprintf("%s%s%s", dir, n && dir[n - 1] != '/' ? "/" : "", name);
}

/* The directory that holds a file. Caller frees. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return xstrdup(".");
    return slash == path ? xstrdup("/") : xasprintf("%.*s", (int)(slash - path), path);
}

static int sync_directory(const char *path, struct errors *e)
{
    char *dir = directory_of(path);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = 0;

    /* Some file systems cannot sync directories (EINVAL): then there is nothing to be done. */
    if (fd < 0 || (fsync(fd) && errno != EINVAL))
        status = failed(e, dir, "sync the directory");
    if (fd >= 0)
        close(fd);
    free(dir);
    return status;
}

/* A directory that is there already, or is made. */
static int make_one(const char *path, const char *whole, struct errors *e)
{
    struct stat st;

    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno == ENOENT) /* those above it are there: not a place for files, such as /proc */
        return error_add(e, EXIT_INPUT,
                         "%s: cannot make the directory %s: %s; choose a path you may write to",
                         whole, path, strerror(errno));
    if (errno != EEXIST)
        return failed(e, whole, "make the directory");
    if (stat(path, &st))
        return failed(e, path, "look at it");
    if (!S_ISDIR(st.st_mode))
        return error_add(e, EXIT_INPUT, "%s: cannot make the directory: %s is a file", whole, path);
    return 0;
}

int output_directory(const char *path, struct errors *e)
{
    char *part = xstrdup(path), *slash = part;
    int status = 0;

    if (!*path) {
        free(part);
        return error_add(e, EXIT_INPUT, "the name of a directory is wanted, found nothing");
    }
    while (!status && (slash = strchr(slash + 1, '/'))) {
        *slash = '\0';
        status = make_one(part, path, e);
        *slash = '/';
    }
    if (!status)
        status = make_one(part, path, e);
    free(part);
    return status;
}

int output_directory_check(const char *path, struct errors *e)
{
    char *at = xstrdup(path);
    struct stat st;
    int away, status = 0;

    if (!*path) {
        free(at);
        return error_add(e, EXIT_INPUT, "the name of a directory is wanted, found nothing");
    }
    while ((away = stat(at, &st)) && errno == ENOENT && strcmp(at, ".") != 0) {
        char *above = directory_of(at);

        free(at);
        at = above;
    }
    if (!away && !S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        away = -1;
    }
    if (away || faccessat(AT_FDCWD, at, W_OK | X_OK, AT_EACCESS))
        status = failed(e, path, "write into it");
    free(at);
    return status;
}

/* ---- Outputs ------------------------------------------------------------------------------- */

static void remove_temporaries(void)
{
    for (struct output *o = open_outputs; o; o = o->next)
        if (o->temporary && o->owner == getpid())
            unlink(o->temporary);
}

static void register_output(struct output *o)
{
    static bool registered;

    if (!registered)
        registered = atexit(remove_temporaries) == 0;
    o->owner = getpid();
    o->next = open_outputs;
    open_outputs = o;
}

static void forget(struct output *o)
{
    struct output **at = &open_outputs;

    while (*at && *at != o)
        at = &(*at)->next;
    if (*at)
        *at = o->next;
    if (o->stream)
        fclose(o->stream);
    free(o->block);
    free(o->path);
    free(o->target);
    free(o->temporary);
    free(o);
}

/* The mode an ordinary fopen() would give a new file. */
static mode_t usual_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* Open the temporary beside the target, with the mode of the file it replaces. */
static int open_temporary(struct output *o, mode_t mode, struct errors *e)
{
    char *dir = directory_of(o->target);
    const char *slash = strrchr(o->target, '/'), *name = slash ? slash + 1 : o->target;
    int fd;

    /* A long name is cut: the whole must not be longer than the file system allows. */
    o->temporary = xasprintf("%s/.%.200s.XXXXXX", dir, name);
    free(dir);
    fd = mkostemp(o->temporary, O_CLOEXEC);
    if (fd < 0) {
        free(o->temporary);
        o->temporary = NULL;
        return failed(e, o->path, "write");
    }
    if (fchmod(fd, mode) || !(o->stream = fdopen(fd, "w"))) {
        failed(e, o->path, "write");
        close(fd);
        unlink(o->temporary);
        return -1;
    }
    o->block = xcalloc(1, BLOCK_BYTES);
    setvbuf(o->stream, o->block, _IOFBF, BLOCK_BYTES);
    return 0;
}

/* Follow symbolic links, also one to a file that is not there yet. Caller frees; NULL on error. */
static char *resolve(const char *path, struct errors *e)
{
    char *real = realpath(path, NULL), *at, link[4096];
    ssize_t n;

    if (real || errno != ENOENT)
        return real ? real : (failed(e, path, "write"), NULL);
    at = xstrdup(path);
    for (int hops = 0; hops < 8 && (n = readlink(at, link, sizeof link - 1)) > 0; hops++) {
        char *dir = directory_of(at);

        link[n] = '\0';
        free(at);
        at = *link == '/' ? xstrdup(link) : output_path(dir, link);
        free(dir);
    }
    return at;
}

struct output *output_open(const char *path, struct errors *e)
{
    size_t length = strlen(path);
    struct output *o;
    struct stat st;
    bool there;

    if (!length) {
        error_add(e, EXIT_INPUT, "the name of a file is wanted, found nothing");
        return NULL;
    }
    if (path[length - 1] == '/') {
        error_add(e, EXIT_INPUT, "%s: the name of a file is wanted, found that of a directory",
                  path);
        return NULL;
    }
    o = xcalloc(1, sizeof *o);
    o->path = xstrdup(path);
    o->target = resolve(path, e);
    if (!o->target)
        goto fail;
    there = stat(o->target, &st) == 0;
    if (there && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        failed(e, path, "write");
        goto fail;
    }
    if (there && !S_ISREG(st.st_mode)) { /* renaming over /dev/null would be a bad joke */
        o->stream = fopen(o->target, "we");
        if (!o->stream) {
            failed(e, path, "write");
            goto fail;
        }
    } else if (there && faccessat(AT_FDCWD, o->target, W_OK, AT_EACCESS)) {
        failed(e, path, "write"); /* rename alone would replace a write-protected file */
        goto fail;
    } else if (open_temporary(o, there ? st.st_mode & 07777 : usual_mode(), e)) {
        goto fail;
    }
    register_output(o);
    return o;
fail:
    forget(o);
    return NULL;
}

FILE *output_stream(struct output *o)
{
    return o->stream;
}

/* Flush, sync, close: any of them may be the first to hear that the disk is full. When the stream
 * heard it earlier, the reason is gone by now: one more byte for the doomed file brings it back. */
static int finish_stream(struct output *o, struct errors *e)
{
    int fd = fileno(o->stream), status = 0;
    bool bad = ferror(o->stream);

    errno = 0;
    if (fflush(o->stream) || (!bad && o->temporary && fsync(fd))) {
        status = failed(e, o->path, "write");
    } else if (bad) {
        if (!o->temporary || write(fd, "", 1) == 1)
            errno = EIO;
        status = failed(e, o->path, "write");
    }
    if (fclose(o->stream) && !status)
        status = failed(e, o->path, "write");
    o->stream = NULL;
    return status;
}

int output_commit(struct output *o, struct errors *e)
{
    int status = finish_stream(o, e);

    if (o->temporary && !status && rename(o->temporary, o->target))
        status = failed(e, o->path, "rename the finished file");
    if (o->temporary && status)
        unlink(o->temporary);
    if (o->temporary && !status)
        status = sync_directory(o->target, e);
    forget(o);
    return status;
}

void output_abort(struct output *o)
{
    if (!o)
        return;
    if (o->temporary)
        unlink(o->temporary);
    forget(o);
}

int output_check(const char *path, struct errors *e)
{
    struct output *o;
    struct stat st;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return 0; /* a device or pipe: whoever reads along would take an opening for the output */
    o = output_open(path, e);
    output_abort(o);
    return o ? 0 : -1;
}

int output_write(const char *path, const void *data, size_t size, struct errors *e)
{
    struct output *o = output_open(path, e);

    if (!o)
        return -1;
    fwrite(data, 1, size, o->stream); /* commit sees ferror */
    return output_commit(o, e);
}
