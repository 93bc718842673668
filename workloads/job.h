/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A CPU-bound job with an end: what a batch VM or sysbench's CPU test is. Each of its threads does
 * its share of the work; the job is finished when the last one is. Then its vCPUs are idle, or the
 * job begins again.
 */
#ifndef HVSIM_WORKLOADS_JOB_H
#define HVSIM_WORKLOADS_JOB_H

#include "models/guest/guest.h"

struct job_params {
    sim_time work; /* CPU time, all threads together */
    int64_t threads;
    bool repeat;
};
extern const struct program program_job;

#endif
