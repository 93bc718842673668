/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text files that may be packed by gzip. */
#ifndef HVSIM_VALIDATE_PACKED_FILE_H
#define HVSIM_VALIDATE_PACKED_FILE_H

#include "sim/error.h"

#include <zlib.h>

/* NULL with an error. */
gzFile packed_open(const char *path, struct errors *e);

/* Close it after reading. -1 with an error if it is damaged or cut short, as far as it was read. */
int packed_close(gzFile f, const char *path, struct errors *e);

#endif
