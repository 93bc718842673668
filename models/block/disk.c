/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/block/disk.h"

#include "sim/distribution_params.h"
#include "sim/error.h"

#include <stdlib.h>

static const struct param disk_rows[] = {
    {PARAM("read", CUSTOM, struct disk_params, read), .type = &dist_time_type, .def = "7ms",
     .meaning = "Service time of a read, without its transfer.",
     .source = "assumed: a disk of 7200/min; 64 KiB at a time it then reads about 8.5 MB/s, as in "
               "TerrierTail's disk figures",
     .status = STATUS_ASSUMED},
    {PARAM("write", CUSTOM, struct disk_params, write), .type = &dist_time_type, .def = "10ms",
     .meaning = "Service time of a write, without its transfer.",
     .source = "assumed: as for reads; about 6.2 MB/s", .status = STATUS_ASSUMED},
    {PARAM("bandwidth", BITRATE, struct disk_params, bandwidth), .def = "1Gbps",
     .word = "unlimited", .word_value = 0, .meaning = "Rate of the transfer of a request.",
     .status = STATUS_ASSUMED},
    {PARAM("channels", INTEGER, struct disk_params, channels), .def = "1", .range = PARAM_NO_RANGE,
     .min = "1", .max = "1024", .meaning = "Requests that it serves at once (flash: many).",
     .status = STATUS_ASSUMED},
};

const struct param_table disk_table =
    PARAM_TABLE("disk", struct disk_params, disk_rows, .meaning = "A disk of a host.");

static sim_time transfer(const struct disk *d, const struct block_request *r)
{
    if (!d->params.bandwidth)
        return 0;
    return (sim_time)((int128)r->bytes * 8 * NS_PER_S / d->params.bandwidth);
}

static void served(struct timer *t, sim_time now);

static void serve(struct disk *d, struct block_request *r, sim_time now)
{
    sim_time time = r->service + transfer(d, r);

    for (r->channel = 0; d->channel[r->channel];)
        r->channel++;
    d->channel[r->channel] = r;
    d->busy++;
    d->busy_time += time;
    timer_init(&r->timer, served);
    r->disk = d;
    queue_arm(d->queue, &r->timer, now + time);
}

static void served(struct timer *t, sim_time now)
{
    struct block_request *r = container_of(t, struct block_request, timer), *next;
    struct disk *d = r->disk;

    d->channel[r->channel] = NULL;
    d->busy--;
    d->requests++;
    r->from_disk = now;
    next = blocks_take(&d->waiting);
    if (next)
        serve(d, next, now);
    d->done(d, r, now);
}

void disk_init(struct disk *d, struct queue *q, const struct disk_params *params,
               void (*done)(struct disk *d, struct block_request *r, sim_time now), void *owner)
{
    *d = (struct disk){.queue = q, .params = *params, .done = done, .owner = owner};
    d->channel = xcalloc((size_t)params->channels, sizeof(struct block_request *));
    blocks_init(&d->waiting);
}

void disk_release(struct disk *d)
{
    for (int64_t i = 0; i < d->params.channels; i++)
        if (d->channel[i])
            queue_cancel(d->queue, &d->channel[i]->timer);
    free(d->channel);
}

void disk_submit(struct disk *d, struct block_request *r, sim_time now)
{
    r->at_disk = now;
    if (d->busy < d->params.channels)
        serve(d, r, now);
    else
        blocks_add(&d->waiting, r);
}
