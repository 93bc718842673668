/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/study/timeline_file.h"

#include "sim/error.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char magic[] = "hvsimTL1";

void bytes_put(struct bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->room) {
        b->room = 2 * b->room > b->size + size ? 2 * b->room : b->size + size + 64;
        b->data = xrealloc(b->data, b->room);
    }
    if (size)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

void bytes_put_number(struct bytes *b, uint64_t value, int bytes)
{
    unsigned char text[8];

    for (int i = 0; i < bytes; i++)
        text[i] = (unsigned char)(value >> 8 * i);
    bytes_put(b, text, (size_t)bytes);
}

void bytes_put_signed(struct bytes *b, int64_t value)
{
    uint64_t rest = value < 0 ? (uint64_t)(-(value + 1)) << 1 | 1 : (uint64_t)value << 1;

    do {
        bytes_put_number(b, (rest & 127) | (rest > 127 ? 128 : 0), 1);
        rest >>= 7;
    } while (rest);
}

void bytes_free(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

/* ---- files ----------------------------------------------------------------------------------- */

static void put(struct timeline_file *f, const void *data, size_t size)
{
    if (fwrite(data, 1, size, output_stream(f->output)) != size)
        f->failed = true;
}

int timeline_file_open(struct timeline_file *f, const char *path, struct errors *e)
{
    *f = (struct timeline_file){.output = output_open(path, e)};
    if (!f->output)
        return -1;
    put(f, magic, sizeof magic - 1);
    return 0;
}

int timeline_file_close(struct timeline_file *f, const char *path, struct errors *e)
{
    if (!f->failed)
        return output_commit(f->output, e);
    output_abort(f->output);
    return error_add(e, EXIT_INTERNAL, "%s: writing the timeline failed", path);
}

void timeline_block(struct timeline_file *f, const char *name, const void *data, size_t size)
{
    uLongf stored = compressBound((uLong)size);
    unsigned char *text = xcalloc(stored, 1);
    struct bytes head = {0};

    if (compress2(text, &stored, data, (uLong)size, Z_DEFAULT_COMPRESSION) != Z_OK)
        f->failed = true;
    bytes_put(&head, name, 4);
    bytes_put_number(&head, stored, 4);
    bytes_put_number(&head, size, 4);
    put(f, head.data, head.size);
    put(f, text, stored);
    bytes_free(&head);
    free(text);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

bool chunk_full(const struct chunk *c, int64_t date)
{
    return c->rows == CHUNK_ROWS || (c->rows && date - c->last > UINT32_MAX);
}

void chunk_write(struct chunk *c, struct timeline_file *f)
{
    struct bytes block = {0};

    if (!c->rows)
        return;
    bytes_put_number(&block, c->rows, 4);
    bytes_put_number(&block, (uint64_t)c->base, 8);
    bytes_put(&block, c->step.data, c->step.size);
    for (int i = 0; i < c->columns; i++) {
        bytes_put(&block, c->column[i].data, c->column[i].size);
        c->column[i].size = 0;
    }
    timeline_block(f, c->name, block.data, block.size);
    bytes_free(&block);
    c->total += c->rows;
    c->rows = 0;
    c->step.size = 0;
}

void chunk_row(struct chunk *c, int64_t date, const uint32_t *value)
{
    if (!c->rows++)
        c->base = c->last = date;
    bytes_put_number(&c->step, (uint64_t)(date - c->last), 4);
    c->last = date;
    for (int i = 0; i < c->columns; i++)
        bytes_put_number(&c->column[i], value[i], c->width[i]);
}

void chunk_free(struct chunk *c)
{
    bytes_free(&c->step);
    for (int i = 0; i < c->columns; i++)
        bytes_free(&c->column[i]);
}
