/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Explaining decisions: what a student standing beside a pCPU would be told at each of them. Who
 * has it and for how long, why it decides now, who waits with which priority and credit, who is
 * chosen and by which rule.
 */
#ifndef HVSIM_STUDY_EXPLAIN_H
#define HVSIM_STUDY_EXPLAIN_H

#include "models/hypervisor/hypervisor.h"

#include <stdio.h>

enum { EXPLAIN_QUEUE = 1024 };

/* One decision, in short: for comparing two runs. */
struct decided {
    sim_time time;
    uint32_t pcpu, domain, vcpu;
    uint32_t reserved;
};

struct explainer {
    struct observer observer;
    FILE *out;            /* where explanations go; NULL: nowhere */
    sim_time from, until; /* of the decisions to explain: from <= t < until */
    int64_t pcpu;         /* -1: all */
    uint64_t explained;
    /* Called for each decision, explained or not, after it; true: stop the host. NULL: nobody. */
    bool (*decided)(void *ctx, struct explainer *x, const struct decided *d);
    void *ctx;
    struct explain_pcpu *state; /* per pCPU */
    uint32_t pcpus;
};

void explainer_attach(struct explainer *x, struct host *h);
void explainer_free(struct explainer *x);

/* Did the last decision on a pCPU leave it to who had it? */
bool explainer_continued(const struct explainer *x, uint32_t pcpu);

/* The explanation of the last decision on a pCPU, whatever from, until and pcpu say. */
void explainer_print(const struct explainer *x, const struct host *h, uint32_t pcpu, FILE *out);

#endif
