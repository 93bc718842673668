/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A disk-bound program: reads or writes requests of one size, so many at once, with some computing
 * before each. Its domain must have a disk.
 */
#ifndef HVSIM_WORKLOADS_DISK_H
#define HVSIM_WORKLOADS_DISK_H

#include "models/guest/guest.h"

struct disk_program_params {
    int64_t size;     /* bytes */
    int64_t writes;   /* per cent of the requests, sim/units.h */
    int64_t depth;    /* requests outstanding at most; 1: wait for each */
    sim_time compute; /* before each request */
    sim_time think;   /* sleep after each request, with depth 1 */
};
extern const struct program program_disk;

#endif
