/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/datadir.h"

#include "sim/error.h"
#include "sim/version.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where each kind is: below the source tree, and below the data directory. */
static const struct {
    const char *kind, *source, *data;
} places[] = {
    {"library", "experiments/library", "library"},
    {"validation", "validation", "validation"},
    {"docs", "docs", "../doc/hvsim"},
};

/* The directory above the one in which the program is, "" if it cannot be told. */
static void above_program(char path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

    path[n < 0 ? 0 : n] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');

        if (slash)
            *slash = 0;
    }
}

static char *existing(const char *root, const char *sub, const char *name)
{
    char *path = xasprintf("%s/%s/%s", root, sub, name);

    if (*root && !access(path, R_OK))
        return path;
    free(path);
    return NULL;
}

char *data_file(const char *kind, const char *name)
{
    const char *given = getenv("HVSIM_DATA");
    char above[PATH_MAX], *share, *path = NULL;

    above_program(above);
    share = xasprintf("%s/share/hvsim", above);
    for (size_t i = 0; i < sizeof places / sizeof *places && !path; i++) {
        if (strcmp(places[i].kind, kind))
            continue;
        if (given)
            path = existing(given, places[i].data, name);
        if (!path)
            path = existing(above, places[i].source, name);
        if (!path)
            path = existing(share, places[i].data, name);
        if (!path)
            path = existing(hvsim_data_dir, places[i].data, name);
    }
    free(share);
    return path;
}
