/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of hvsim import xl: what is known of the host so far. */
#ifndef HVSIM_COMMANDS_IMPORT_XL_INSIDE_H
#define HVSIM_COMMANDS_IMPORT_XL_INSIDE_H

#include "sim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { XL_NAME = 65, XL_VCPUS = 128, XL_CPUS = 80, XL_COMMENT = 200 };

struct xl_domain {
    char name[XL_NAME];
    long id, weight, cap; /* weight 0: not told */
    char pool[XL_NAME];
    char hard[XL_VCPUS][XL_CPUS], soft[XL_VCPUS][XL_CPUS]; /* affinities by vCPU, "": not told */
    long vcpus;
    int64_t period_us, budget_us, extratime; /* RTDS; -1: not told */
    long nics, disks;
    char comment[XL_COMMENT]; /* what it is for the reader's eye only */
};

struct xl_pool {
    char name[XL_NAME], cpus[XL_CPUS], sched[20];
    long tslice_ms, ratelimit_us; /* -1: not told */
};

struct xl_host {
    char name[XL_NAME], version[20];
    long cpus, threads, cores;
    struct xl_domain *domain;
    size_t domains;
    struct xl_pool *pool;
    size_t pools;
};

/* As much of a text as there is room for. */
void xl_copy(char *to, size_t size, const char *from);

/* Found, or added. Valid until another is added. */
struct xl_domain *xl_domain_of(struct xl_host *h, const char *name, long id);
struct xl_pool *xl_pool_of(struct xl_host *h, const char *name);

/* The output of xl list -l: domains as JSON. What xl vcpu-list told before stays. */
void xl_read_json(struct xl_host *h, const char *path, struct errors *e);

#endif
