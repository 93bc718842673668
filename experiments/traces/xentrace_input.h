/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes of a trace, in order, from a file, a pipe or memory, unpacked if they are gzip; and a place
 * to lay down what does not fit in memory while the trace is merged.
 */
#ifndef HVSIM_TRACES_XENTRACE_INPUT_H
#define HVSIM_TRACES_XENTRACE_INPUT_H

#include "sim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xt_input;

/* "-" is standard input. gzip is recognised by its content. NULL when it cannot be opened. */
struct xt_input *xt_input_open(const char *path, struct errors *e);

/* The same from memory, which must outlive the input. */
struct xt_input *xt_input_memory(const void *data, size_t size);

void xt_input_close(struct xt_input *in);

/* Up to `size` bytes; 0 at the end. A read error or damaged compression ends the input and is told
 * by xt_input_trouble. */
size_t xt_input_read(struct xt_input *in, void *buffer, size_t size);

/* NULL, or why the input ended early. */
const char *xt_input_trouble(const struct xt_input *in);

/* Whether xt_input_reread works: a plain file, so that nothing needs to be kept of what was read.
 */
bool xt_input_rereadable(const struct xt_input *in);

/* `size` bytes from `offset` of the trace once more. False on an error. */
bool xt_input_reread(struct xt_input *in, uint64_t offset, void *buffer, size_t size);

/*
 * Blocks of at most XT_SPILL_BLOCK bytes in an unnamed temporary file ($TMPDIR, else /tmp). Blocks
 * are used again after they were read.
 */
#define XT_SPILL_BLOCK 16384

struct xt_spill {
    int fd; /* -1: not open yet */
    uint32_t blocks;
    uint32_t *free;
    uint32_t free_count, free_capacity;
};

#define XT_SPILL_NONE ((struct xt_spill){.fd = -1})

/* Returns the block's number, or -1 when it cannot be written. */
int64_t xt_spill_write(struct xt_spill *s, const void *data, size_t size);
/* Read a block back and free its place. False on an error. */
bool xt_spill_read(struct xt_spill *s, int64_t block, void *data, size_t size);
void xt_spill_free(struct xt_spill *s);

/* An unnamed file in $TMPDIR or /tmp; -1 on an error. */
int xt_temporary_file(void);

#endif
