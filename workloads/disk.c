/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/disk.h"

#include "models/block/block.h"
#include "sim/error.h"
#include "sim/random.h"
#include "sim/units.h"
#include "workloads/program_start.h"

#include <stdlib.h>

struct disk_user {
    struct disk_program_params params;
    struct vbd *vbd;
    struct thread *thread;
    struct rng rng;                /* which requests are writes */
    struct block_request *request; /* depth of them */
    struct block_list spare;
    bool submitting;
    sim_time pause_from; /* date of the last completion, for thinking; 0: none to think about */
    uint64_t done, bytes;
    sim_time latency; /* sum over all requests */
};

static void disk_done(struct block_request *r, sim_time now)
{
    struct disk_user *s = r->user;

    s->done++;
    s->bytes += r->bytes;
    s->latency += now - r->submitted;
    s->pause_from = now;
    blocks_add(&s->spare, r);
    thread_wake(s->thread, now);
}

static void submit(struct disk_user *s, sim_time now)
{
    struct block_request *r = blocks_take(&s->spare);

    r->bytes = (uint32_t)s->params.size;
    r->write = rng_bernoulli(&s->rng, percent_fraction(s->params.writes));
    r->done = disk_done;
    r->user = s;
    vbd_submit(s->vbd, r, now);
}

static struct guest_op disk_next(struct thread *t, sim_time now)
{
    struct disk_user *s = t->state;

    if (s->submitting)
        submit(s, now);
    s->submitting = false;
    if (!s->spare.count)
        return (struct guest_op){OP_WAIT, 0};
    if (s->params.think && s->pause_from) {
        s->pause_from = 0;
        return (struct guest_op){OP_SLEEP, now + s->params.think};
    }
    s->submitting = true;
    return (struct guest_op){OP_COMPUTE,
                             s->params.compute + vbd_submit_cost(s->vbd, (uint32_t)s->params.size)};
}

static void user_release(struct thread *t)
{
    free(((struct disk_user *)t->state)->request);
}

struct thread *disk_start(const void *params, const struct program_site *site)
{
    struct thread *t = guest_add_thread(site_vcpu(site, 0), &program_disk, params, site->entity,
                                        site->class, site->priority);
    struct disk_user *s = t->state;

    BUG_ON(!site->vbd);
    s->params = *(const struct disk_program_params *)params;
    s->vbd = site->vbd;
    s->thread = t;
    rng_init(&s->rng, site->seed, site->replication, site->entity, "reads and writes");
    s->request = xcalloc((size_t)s->params.depth, sizeof *s->request);
    blocks_init(&s->spare);
    for (int64_t i = 0; i < s->params.depth; i++)
        blocks_add(&s->spare, &s->request[i]);
    return t;
}

struct program_counts disk_counts(const struct thread *first)
{
    const struct disk_user *s = first->state;

    return (struct program_counts){.jobs = s->done, .bytes = s->bytes, .job_time = s->latency};
}

static const struct param disk_rows[] = {
    {PARAM("size", SIZE, struct disk_program_params, size), .def = "64KiB", .range = PARAM_NO_RANGE,
     .min = "512B", .max = "1MiB", .meaning = "Size of a request.", .status = STATUS_ASSUMED},
    {PARAM("writes", PERCENT, struct disk_program_params, writes), .def = "0%",
     .range = PARAM_NO_RANGE, .max = "100%", .meaning = "Part of the requests that are writes.",
     .status = STATUS_ASSUMED},
    {PARAM("depth", INTEGER, struct disk_program_params, depth), .def = "1",
     .range = PARAM_NO_RANGE, .min = "1", .max = "256",
     .meaning = "Requests outstanding at most; 1: it waits for each.", .status = STATUS_ASSUMED},
    {PARAM("compute", DURATION, struct disk_program_params, compute), .def = "100us", .max = "10s",
     .meaning = "CPU time of the program before each request.", .status = STATUS_ASSUMED},
    {PARAM("think", DURATION, struct disk_program_params, think), .def = "0",
     .range = PARAM_NO_RANGE, .max = "1h",
     .meaning = "Sleep after each completion, before the next request.", .status = STATUS_ASSUMED},
};
static const struct param_table disk_program_table = PARAM_TABLE(
    "disk", struct disk_program_params, disk_rows, .meaning = "Reads and writes a disk.");

const struct program program_disk = {.name = "disk",
                                     .meaning = "Reads and writes a disk.",
                                     .params = &disk_program_table,
                                     .state_size = sizeof(struct disk_user),
                                     .next = disk_next,
                                     .release = user_release};
