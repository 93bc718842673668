/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim doc: the manual, page by page. */
#include "experiments/commands/commands.h"
#include "experiments/commands/doc.h"
#include "experiments/scenario/datadir.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct doc_options {
    char *write;
    bool path;
};

static const struct command_option rows[] = {
    {.param = {PARAM("path", BOOLEAN, struct doc_options, path),
               .meaning = "Print where the page is, instead of showing it."}},
    {.param = {PARAM("write", STRING, struct doc_options, write),
               .meaning = "Write man pages (for scdoc), reference pages and bash completion, which "
                          "are made of the program's tables, into this directory."},
     .value = "DIR"},
};

/* The first heading of a page, or "". */
static void heading_of(const char *path, char *text, size_t size)
{
    FILE *in = fopen(path, "r");

    *text = 0;
    while (in && fgets(text, (int)size, in) && strncmp(text, "# ", 2))
        *text = 0;
    text[strcspn(text, "\n")] = 0;
    if (in)
        fclose(in);
}

/* Pages below a directory by the names to ask for: "limits", "models/credit", "labs/1". */
static void list_below(const char *root, const char *below)
{
    char *dir = xasprintf("%s/%s", root, below), heading[256];
    struct dirent **entry;
    int n = scandir(dir, &entry, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name, *end = strrchr(name, '.');
        char *path = xasprintf("%s/%s", dir, name);
        char *page = xasprintf("%s%s%s", below, *below ? "/" : "", name);
        struct stat st;

        if (*name != '.' && !stat(path, &st) && S_ISDIR(st.st_mode)) {
            list_below(root, page);
        } else if (end && !strcmp(end, ".md") && strcmp(name, "notes.md")) {
            heading_of(path, heading, sizeof heading);
            page[strlen(page) - 3] = 0;
            if (!strcmp(end - 6 < name ? "" : end - 6, "README.md"))
                page[strlen(page) - (*below ? 7 : 6)] = 0;
            if (*page) /* the manual itself is what is being listed */
                printf("%-31s %s\n", page, *heading ? heading + 2 : "");
        }
        free(page);
        free(path);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    free(dir);
}

/* Path of a page; NULL: there is none. */
static char *find(const char *page)
{
    static const char *const shapes[] = {"%s.md", "%s/README.md", "models/%s.md", "reference/%s.md",
                                         "%s"};

    if (strstr(page, ".."))
        return NULL;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const char *hole = strstr(shapes[i], "%s");
        char *name = xasprintf("%.*s%s%s", (int)(hole - shapes[i]), shapes[i], page, hole + 2);
        char *path = data_file("docs", name);
        struct stat st;

        free(name);
        if (path && !stat(path, &st) && S_ISREG(st.st_mode))
            return path;
        free(path);
    }
    return NULL;
}

/* On a terminal through a pager. */
static int show(const char *path, struct errors *e)
{
    const char *pager = getenv("PAGER");
    FILE *in = fopen(path, "r"), *out = stdout;
    char block[4096];
    size_t n;

    if (!in)
        return error_add(e, EXIT_INTERNAL, "%s: cannot be read", path);
    if (isatty(STDOUT_FILENO)) {
        fflush(stdout);
        /* a command line, as for man: NOLINTNEXTLINE(cert-env33-c) */
        out = popen(pager && *pager ? pager : "less 2>/dev/null || more", "w");
        if (!out)
            out = stdout;
    }
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, n, out);
    fclose(in);
    if (out != stdout)
        pclose(out);
    return 0;
}

static enum exit_code run(const void *options, const struct operands *operands, struct errors *e)
{
    const struct doc_options *o = options;
    char *root, *path;

    if (o->write)
        return doc_write(o->write, e) ? errors_exit_code(e) : EXIT_OK;
    root = data_file("docs", "models");
    if (!root) {
        error_add(e, EXIT_INTERNAL, "the manual is not installed");
        return EXIT_INTERNAL;
    }
    *strrchr(root, '/') = 0;
    if (!operands->count) {
        list_below(root, "");
        puts("\n`hvsim doc PAGE` shows one.");
    } else {
        path = find(operands->text[0]);
        if (!path)
            error_add(e, EXIT_INPUT, "there is no page \"%s\"; `hvsim doc` lists them",
                      operands->text[0]);
        else if (o->path)
            puts(path);
        else
            show(path, e);
        free(path);
    }
    free(root);
    return errors_exit_code(e);
}

const struct command command_doc = {
    .name = "doc",
    .summary = "Show the manual: models, labs, reference, limits",
    .arguments = "[PAGE]",
    .most = 1,
    .details = "Pages are Markdown; on a terminal they are shown by $PAGER. Without PAGE they are "
               "listed.",
    OPTIONS_OF(rows, struct doc_options),
    .run = run,
};
