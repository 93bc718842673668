/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What blkfront.c and blkback.c share. */
#ifndef HVSIM_BLOCK_BLOCK_INSIDE_H
#define HVSIM_BLOCK_BLOCK_INSIDE_H

#include "models/block/block.h"

static inline uint32_t block_pages(uint32_t bytes)
{
    return (bytes + 4095) / 4096;
}

void blkfront_init(struct vbd *v);
void blkback_init(struct vbd *v);

#endif
