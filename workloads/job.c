/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/job.h"

#include "workloads/program_start.h"

struct job {
    sim_time share; /* of each thread */
    bool repeat, computes;
    struct thread *first; /* whose state counts for all */
    /* The first thread's only. */
    uint32_t threads, done;
    uint64_t jobs;
    sim_time began, finished, total; /* total: wall time of all complete jobs */
};

/* The last thread has done its share: the others may begin again. */
static void job_over(struct job *all, const struct thread *last, sim_time now)
{
    all->done = 0;
    all->jobs++;
    all->finished = now;
    all->total += now - all->began;
    all->began = now;
    for (struct thread *t = all->first; t && all->repeat; t = t->sibling)
        if (t != last)
            thread_wake(t, now);
}

static struct guest_op job_next(struct thread *t, sim_time now)
{
    struct job *s = t->state, *all = s->first->state;

    if (s->computes) {
        bool last = ++all->done == all->threads;

        s->computes = false;
        if (last)
            job_over(all, t, now);
        if (!s->repeat)
            return (struct guest_op){OP_EXIT, 0};
        if (!last)
            return (struct guest_op){OP_WAIT, 0};
    }
    if (!all->jobs && t == s->first)
        all->began = now;
    s->computes = true;
    return (struct guest_op){OP_COMPUTE, s->share};
}

struct thread *job_start(const void *params, const struct program_site *site)
{
    const struct job_params *c = params;
    struct thread *first = NULL;

    for (uint32_t i = 0; i < c->threads; i++) {
        struct thread *t = guest_add_thread(site_vcpu(site, i), &program_job, c, site->entity,
                                            site->class, site->priority);
        struct job *s = t->state;

        if (first)
            thread_join(first, t);
        else
            first = t;
        s->first = first;
        s->share = c->work / c->threads;
        s->repeat = c->repeat;
    }
    ((struct job *)first->state)->threads = (uint32_t)c->threads;
    return first;
}

struct program_counts job_counts(const struct thread *first)
{
    const struct job *s = first->state;

    return (struct program_counts){.jobs = s->jobs, .finished = s->finished, .job_time = s->total};
}

static const struct param job_rows[] = {
    {PARAM("work", DURATION, struct job_params, work), .def = "10s", .range = PARAM_NO_RANGE,
     .min = "1us", .meaning = "CPU time of the job, all its threads together.",
     .status = STATUS_ASSUMED},
    {PARAM("threads", INTEGER, struct job_params, threads), .def = "1", .range = PARAM_NO_RANGE,
     .min = "1", .max = "1024",
     .meaning = "Threads that share the work equally, on the guest's vCPUs in turn.",
     .status = STATUS_ASSUMED},
    {PARAM("repeat", BOOLEAN, struct job_params, repeat), .def = "false", .range = PARAM_NO_RANGE,
     .meaning = "Begin again when it is finished.", .status = STATUS_ASSUMED},
};
static const struct param_table job_table = PARAM_TABLE(
    "job", struct job_params, job_rows, .meaning = "Computes for a given CPU time, then ends.");

const struct program program_job = {.name = "job",
                                    .meaning = "Computes for a given CPU time, then ends.",
                                    .params = &job_table,
                                    .state_size = sizeof(struct job),
                                    .next = job_next};
