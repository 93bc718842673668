/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim new scheduler NAME: a directory with a scheduler that builds and runs, to go on from. */
#include "experiments/commands/commands.h"
#include "experiments/scenario/datadir.h"
#include "models/schedulers/scheduler.h"
#include "sim/output.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct new_options {
    char *dir;
};

static const struct command_option rows[] = {
    {.param = {PARAM("dir", STRING, struct new_options, dir),
               .meaning = "Where to make it (default: a directory NAME)."},
     .letter = 'C',
     .value = "DIR"},
};

/* A template and what it becomes; '@' stands for the scheduler's name. */
static const struct {
    const char *from, *to;
} files[] = {
    {"skeleton/scheduler.c.in", "@.c"},
    {"skeleton/Makefile.in", "Makefile"},
    {"skeleton/scenario.json.in", "scenario.json"},
};

static bool c_name(const char *name)
{
    if (!isalpha((unsigned char)*name))
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

static char *read_text(const char *path, struct errors *e)
{
    FILE *f = fopen(path, "r"), *out;
    char *text = NULL, buffer[4096];
    size_t size, n;

    if (!f || !(out = open_memstream(&text, &size))) {
        error_add(e, EXIT_INTERNAL, "%s: cannot be read", path);
        if (f)
            fclose(f);
        return NULL;
    }
    while ((n = fread(buffer, 1, sizeof buffer, f)))
        fwrite(buffer, 1, n, out);
    fclose(f);
    fclose(out);
    return text;
}

/* All of `word` in `text` replaced; `text` is freed. */
static char *replace(char *text, const char *word, const char *by)
{
    char *result = NULL, *at = text, *next;
    size_t size;
    FILE *out = open_memstream(&result, &size);

    if (!out)
        BUG("no memory stream");
    for (; (next = strstr(at, word)); at = next + strlen(word)) {
        fwrite(at, 1, (size_t)(next - at), out);
        fputs(by, out);
    }
    fputs(at, out);
    fclose(out);
    free(text);
    return result;
}

/* Where the public header is: beside the sources, or where `make install` put it. */
static char *include_flags(const char *library)
{
    char *source = xasprintf("%s/../../include/hvsim/scheduler.h", library);
    char *flags;

    if (!access(source, R_OK))
        flags = xasprintf("-I%s/../../include -I%s/../..", library, library);
    else
        flags = xasprintf("-I%s/../../../include -I%s/../../../include/hvsim", library, library);
    free(source);
    return flags;
}

static char *own_path(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n <= 0)
        return xstrdup("hvsim");
    path[n] = 0;
    return xstrdup(path);
}

static int make_file(size_t i, const char *dir, const char *name, const char *include,
                     struct errors *e)
{
    char *from = data_file("library", files[i].from);
    char *to = replace(xstrdup(files[i].to), "@", name), *path = output_path(dir, to);
    char *hvsim = own_path(), *text = from ? read_text(from, e) : NULL;
    int status = -1;

    if (!from) {
        error_add(e, EXIT_INTERNAL, "%s is missing from hvsim's library", files[i].from);
    } else if (text) {
        text = replace(text, "@NAME@", name);
        text = replace(text, "@INCLUDE@", include);
        text = replace(text, "@HVSIM@", hvsim);
        status = output_write(path, text, strlen(text), e);
        if (!status)
            printf("%s\n", path);
    }
    free(text);
    free(hvsim);
    free(path);
    free(to);
    free(from);
    return status;
}

static enum exit_code run(const void *options, const struct operands *o, struct errors *e)
{
    const struct new_options *given = options;
    const char *name = o->text[1], *dir = given->dir ? given->dir : name;
    char *skeleton = data_file("library", "skeleton"), *library, *include;
    struct stat st;

    if (strcmp(o->text[0], "scheduler"))
        error_add(e, EXIT_INPUT,
                  "new: \"%s\" cannot be made; only a scheduler can: "
                  "hvsim new scheduler NAME",
                  o->text[0]);
    else if (!c_name(name))
        error_add(e, EXIT_INPUT,
                  "new: \"%s\": a scheduler's name has letters, digits and \"_\" "
                  "only, and begins with a letter",
                  name);
    else if (scheduler_by_name(name))
        error_add(
            e, EXIT_INPUT,
            "new: there is a scheduler \"%s\" already (`hvsim schedulers` lists them); choose "
            "another name, such as my_%s",
            name, name);
    else if (!stat(dir, &st))
        error_add(e, EXIT_INPUT, "%s exists already; choose another name, or --dir", dir);
    else if (!skeleton)
        error_add(e, EXIT_INTERNAL, "the skeleton is missing from hvsim's library");
    else if (!output_directory(dir, e)) {
        library = xasprintf("%s/..", skeleton);
        include = include_flags(library);
        for (size_t i = 0; i < sizeof files / sizeof *files && !e->count; i++)
            make_file(i, dir, name, include, e);
        if (!e->count)
            printf("\nNow: make -C %s run\n", dir);
        free(include);
        free(library);
    }
    free(skeleton);
    return e->count ? errors_exit_code(e) : EXIT_OK;
}

const struct command command_new = {
    .name = "new",
    .summary = "Begin a scheduler of one's own: a plug-in that builds and runs",
    .arguments = "scheduler NAME",
    .least = 2,
    .most = 2,
    .details = "Makes a directory with NAME.c (round robin, to begin with), a Makefile and a "
               "scenario. `make -C NAME run` builds and runs it; in other scenarios use it with "
               "--scheduler-plugin NAME/NAME.so and {\"scheduler\": \"NAME\"}.",
    OPTIONS_OF(rows, struct new_options),
    .run = run,
};
