/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep as a job array on a Slurm cluster: each task of the array is one share of it, run by
 * hvsim itself on a node that sees the same directory. What failed or was preempted is submitted
 * again. Called again after it was stopped, it follows the job that is still there.
 */
#ifndef HVSIM_SWEEP_SWEEP_SLURM_H
#define HVSIM_SWEEP_SWEEP_SLURM_H

#include "experiments/sweep/sweep_run.h"

struct slurm_options {
    const char *partition;           /* NULL: the cluster's default */
    int array_limit;                 /* tasks at a time; 0: as many as the cluster lets run */
    int tasks;                       /* of the array; 0: one for each point, at most 100 */
    int attempts;                    /* submissions without progress before it gives up */
    int poll_ms;                     /* between two looks at the queue */
    const struct param_list *sbatch; /* char *: further options of sbatch */
    const struct param_list *plugin; /* char *: of the tasks */
};

/* 0 with *out, also if points failed or are missing; -1 with errors. */
int sweep_slurm(const struct sweep *s, const struct sweep_options *o,
                const struct slurm_options *slurm, struct sweep_outcome *out, struct errors *e);

#endif
