/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a vCPU of a real trace did, again: `hvsim import --workload FILE` has written for each vCPU
 * how long it computed and how long it was blocked in between, free of how it was scheduled. A
 * thread of this program computes and sleeps for the same times, under whatever scheduler.
 *
 *     "run": {"type": "replay", "trace": {"file": "w.json", "vcpu": "5.0"}}
 *
 * Sleeps are as long as they were in the trace, whoever ended them: who waits for another vCPU does
 * not wait longer because that one has become slower. Pauses and gaps through lost records count as
 * sleeps. At the trace's end the thread sleeps for ever.
 */
#ifndef HVSIM_WORKLOADS_REPLAY_H
#define HVSIM_WORKLOADS_REPLAY_H

#include "workloads/programs.h"
#include "workloads/script.h"

struct replay_trace {
    char *file, *vcpu; /* owned, as all of it */
    struct script_list ops;
};

struct replay_params {
    struct replay_trace trace;
};

extern const struct program program_replay;
struct thread *replay_start(const void *params, const struct program_site *site);

#endif
