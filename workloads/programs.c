/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/programs.h"

#include "workloads/controller.h"
#include "workloads/disk.h"
#include "workloads/job.h"
#include "workloads/lookbusy.h"
#include "workloads/memcached.h"
#include "workloads/replay.h"
#include "workloads/request_server.h"
#include "workloads/rpc.h"
#include "workloads/script.h"
#include "workloads/synthetic.h"

#include <string.h>

struct row {
    const struct program *program;
    /* NULL: one thread on the vCPU of the site. */
    struct thread *(*start)(const void *params, const struct program_site *site);
    struct program_counts (*counts)(const struct thread *first); /* NULL: nothing */
    bool serves;
};

static const struct row rows[] = {
    {&program_hog, NULL, NULL, false},
    {&program_burst_sleep, NULL, NULL, false},
    {&program_periodic, NULL, NULL, false},
    {&program_yielder, NULL, NULL, false},
    {&program_server, NULL, NULL, false},
    {&program_list, script_start, NULL, false},
    {&program_replay, replay_start, NULL, false},
    {&program_lookbusy, lookbusy_start, lookbusy_counts, false},
    {&program_job, job_start, job_counts, false},
    {&program_disk, disk_start, disk_counts, false},
    {&program_rpc, rpc_start, request_server_counts, true},
    {&program_memcached, memcached_start, request_server_counts, true},
    {&program_controller, controller_start, controller_counts, false},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct row *row_of(const struct program *p)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].program == p)
            return &rows[i];
    return NULL;
}

const struct program *program_nth(size_t i)
{
    return i < ROWS ? rows[i].program : NULL;
}

const struct program *program_by_name(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!strcmp(rows[i].program->name, name))
            return rows[i].program;
    return NULL;
}

bool program_serves(const struct program *p)
{
    const struct row *r = row_of(p);

    return r && r->serves;
}

bool program_uses_disk(const struct program *p)
{
    return p == &program_disk;
}

struct thread *program_start(const struct program *p, const void *params,
                             const struct program_site *site)
{
    const struct row *r = row_of(p);

    if (r && r->start)
        return r->start(params, site);
    return guest_add_thread(site_vcpu(site, 0), p, params, site->entity, site->class,
                            site->priority);
}

struct program_counts program_counts(const struct thread *first)
{
    const struct row *r = row_of(first->program);

    return r && r->counts ? r->counts(first) : (struct program_counts){0};
}
