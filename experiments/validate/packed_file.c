/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/packed_file.h"

#include <errno.h>
#include <string.h>

gzFile packed_open(const char *path, struct errors *e)
{
    gzFile f = gzopen(path, "rb");

    if (!f)
        error_add(e, EXIT_INPUT, "%s: cannot read it: %s", path, strerror(errno));
    return f;
}

int packed_close(gzFile f, const char *path, struct errors *e)
{
    int error = Z_OK, why = errno;

    gzerror(f, &error);
    gzclose(f);
    if (error == Z_OK || error == Z_STREAM_END)
        return 0;
    if (error == Z_ERRNO)
        return error_add(e, EXIT_INPUT, "%s: cannot read it: %s", path, strerror(why));
    return error_add(e, EXIT_INPUT, "%s: %s; copy it anew", path,
                     error == Z_BUF_ERROR ? "it is cut short" : "its packed data are damaged");
}
