/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Watching a host while it is simulated: its pCPUs with who has them and who waits, its vCPUs as
 * xentop would list them, and the last decision in words, as lines of text. Who shows them and how
 * fast is the caller's: `frame` is called at regular dates of the simulation, `decided` after each
 * decision, and the simulation waits until they return.
 */
#ifndef HVSIM_COMMANDS_WATCH_H
#define HVSIM_COMMANDS_WATCH_H

#include "experiments/study/explain.h"

struct watch {
    struct host *host;
    sim_time from, every; /* date of the first frame; between frames, may be changed by `frame` */
    void (*frame)(struct watch *w);
    void (*decided)(struct watch *w); /* NULL: not called */
    void *ctx;

    struct explainer explainer;
    struct timer timer;
    uint32_t decision_pcpu; /* of the last decision */
    bool any_decision;
    sim_time window_from, window; /* of the CPU shares: complete, and how long */
    sim_time *had, *had_before;   /* per vCPU: run time when the present window began; its share
                                     of the complete one */
    uint32_t vcpus;
};

/* Host, dates and functions are set. For the life of the host. */
void watch_attach(struct watch *w);
void watch_free(struct watch *w);

/* The present state, one call of `put` for each line. */
void watch_print(const struct watch *w, void (*put)(void *ctx, const char *line), void *ctx);

/* From frame or decided: the simulation ends here. */
void watch_stop(struct watch *w);

#endif
