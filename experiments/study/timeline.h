/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recording the schedule of a stretch of time for the report's timeline: every runstate of every
 * vCPU, who woke whom, why each decision was made (the words of `hvsim explain`), and the requests
 * with the dates of their hops. One file per host, written while the simulation runs; memory is
 * bounded but for requests.
 *
 * The file (".hvt"): the eight bytes "hvsimTL1", then blocks of
 *
 *     four letters, stored size (32 bits), size (32 bits), data as a zlib stream
 *
 * All numbers are little endian; dates are ns since `from`. A chunk of rows keeps its columns one
 * after the other: n (32 bits), date before the first row (64 bits), n steps of date (32 bits),
 * then
 *
 *     SEGS  vCPU (16 bits), pCPU (8), runstate | priority << 2 (8): from its date on, up to the
 *           vCPU's next row
 *     WAKE  vCPU (16), pCPU on which the waking was done (8)
 *     DECS  pCPU (8), 1 if who ran goes on running (8); the i-th is explained by
 *     WHYS  texts of as many decisions as a DECS chunk, each ended by a zero byte
 *
 *     REQS  of each request, as LEB128 with the sign in the lowest bit: client, server's domain,
 *           recorded, date of each hop (-1: not on its way), each part of its latency
 *     HEAD  JSON, the last block: names, counts, what priorities, hops and parts are called
 */
#ifndef HVSIM_STUDY_TIMELINE_H
#define HVSIM_STUDY_TIMELINE_H

#include "experiments/study/study.h"

/* More segments than this are not recorded: the stretch then ends earlier, and says so. */
enum { TIMELINE_SEGMENTS = 1000000 };

/* "FROM..TO", dates since the start of the run. 0, or -1 with an error. */
int timeline_read_span(const char *text, sim_time *from, sim_time *until, struct errors *e);

struct timelines;

/* Watch all hosts of a world, which was built and did not run yet. Files go into s->timeline.dir.
 */
struct timelines *timelines_begin(const struct study *s, const struct variant *v, struct world *w,
                                  struct errors *e);

/* Write the files (NULL: nothing to do). 0, or -1 with errors. */
int timelines_end(struct timelines *t, struct errors *e);

#endif
