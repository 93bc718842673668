/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing blocks of a timeline file (experiments/study/timeline.h): buffers, and their way to the
 * disk.
 */
#ifndef HVSIM_STUDY_TIMELINE_FILE_H
#define HVSIM_STUDY_TIMELINE_FILE_H

#include "sim/output.h"

#include <stdbool.h>
#include <stdint.h>

struct bytes {
    unsigned char *data;
    size_t size, room;
};

void bytes_put(struct bytes *b, const void *data, size_t size);
void bytes_put_number(struct bytes *b, uint64_t value, int bytes); /* little endian */
void bytes_put_signed(struct bytes *b, int64_t value);             /* LEB128, sign lowest */
void bytes_free(struct bytes *b);

/* Rows with dates, gathered by columns until they are a block. */
enum { CHUNK_ROWS = 65536, CHUNK_COLUMNS = 3 };

struct chunk {
    const char *name;         /* "SEGS" */
    int columns;              /* besides the date */
    int width[CHUNK_COLUMNS]; /* of each, bytes */
    uint32_t rows;            /* so far */
    int64_t base, last;       /* dates before the first row, and of the last */
    uint64_t total;           /* rows of all blocks */
    struct bytes step;
    struct bytes column[CHUNK_COLUMNS];
};

struct timeline_file {
    struct output *output;
    bool failed;
};

int timeline_file_open(struct timeline_file *f, const char *path, struct errors *e);

/* Commit. 0, or -1 with errors. */
int timeline_file_close(struct timeline_file *f, const char *path, struct errors *e);

void timeline_block(struct timeline_file *f, const char *name, const void *data, size_t size);

/* Does the chunk have no room for a row of that date? Write it out then, with chunk_write. */
bool chunk_full(const struct chunk *c, int64_t date);
void chunk_write(struct chunk *c, struct timeline_file *f);

/* A row; there is room. */
void chunk_row(struct chunk *c, int64_t date, const uint32_t *value);
void chunk_free(struct chunk *c);

#endif
