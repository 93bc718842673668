/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A disk of a Xen host: requests are served one after the other by each of its channels, in the
 * order in which they came. A request takes its own service time (seek and rotation, or flash
 * latency), drawn at its birth, and its transfer at the disk's bandwidth.
 */
#ifndef HVSIM_BLOCK_DISK_H
#define HVSIM_BLOCK_DISK_H

#include "sim/distribution.h"
#include "sim/params.h"
#include "sim/queue.h"

struct disk_params {
    struct distribution read, write; /* service time of a request, ns */
    int64_t bandwidth;               /* of the transfer, bit/s; 0: no limit */
    int64_t channels;                /* requests served at once */
};
extern const struct param_table disk_table;

/* A request, from its submission in the guest to its completion there. */
struct disk;

struct block_request {
    struct timer timer; /* of the channel that serves it */
    struct block_request *next;
    struct vbd *vbd;
    struct disk *disk;
    uint32_t bytes;
    uint32_t channel; /* that serves it */
    bool write;
    sim_time service;              /* drawn at its birth */
    sim_time submitted, completed; /* in the guest */
    sim_time at_disk, from_disk;
    void (*done)(struct block_request *r, sim_time now); /* in the guest's interrupt */
    void *user;
};

struct block_list {
    struct block_request *first, **last;
    uint32_t count;
};

static inline void blocks_init(struct block_list *l)
{
    *l = (struct block_list){.last = &l->first};
}

static inline void blocks_add(struct block_list *l, struct block_request *r)
{
    r->next = NULL;
    *l->last = r;
    l->last = &r->next;
    l->count++;
}

static inline struct block_request *blocks_take(struct block_list *l)
{
    struct block_request *r = l->first;

    if (!r)
        return NULL;
    l->first = r->next;
    if (!l->first)
        l->last = &l->first;
    l->count--;
    return r;
}

struct disk {
    struct queue *queue;
    struct disk_params params;
    struct block_list waiting;
    struct block_request **channel; /* what each one serves; NULL: nothing */
    uint32_t busy;                  /* channels */
    sim_time busy_time;
    uint64_t requests;
    void (*done)(struct disk *d, struct block_request *r, sim_time now);
    void *owner;
};

/* params by reference to its distributions: the caller keeps them. */
void disk_init(struct disk *d, struct queue *q, const struct disk_params *params,
               void (*done)(struct disk *d, struct block_request *r, sim_time now), void *owner);
void disk_release(struct disk *d); /* before the requests are freed */
void disk_submit(struct disk *d, struct block_request *r, sim_time now);

#endif
