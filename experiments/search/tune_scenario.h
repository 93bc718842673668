/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search of experiments/search/tune.h over settings of a scenario, and its report. */
#ifndef HVSIM_SEARCH_TUNE_SCENARIO_H
#define HVSIM_SEARCH_TUNE_SCENARIO_H

#include "experiments/search/over.h"
#include "experiments/search/trials.h"
#include "experiments/search/tune.h"
#include "sim/progress.h"

struct tuning {
    const char *scenario;
    const struct param_list *set;        /* char *: changes for all */
    const struct param_list *over;       /* char *: variables */
    const struct param_list *subject_to; /* char *: bounds */
    const char *objective;
    bool most; /* the objective shall be as large as possible */
    struct tune_options options;
    unsigned jobs;
    bool quiet;

    /* Filled by tuning_run. */
    struct over *variable;
    size_t variables;
    struct bound *bound;
    size_t bounds;
    const char **name; /* of figures: the objective, then the bounds' */
    struct trials trials;
    int64_t *setting; /* by candidate: its setting among the trials, -1: none */
    char **reason;    /* ... why there is none */
    size_t settings;
    bool starts_from_now; /* candidate 0 is what the scenario has */
    struct tune_result result;
    struct progress progress;
    struct errors *e;
};

/* 0, or -1 with errors; free in both cases. */
int tuning_run(struct tuning *t, struct errors *e);
void tuning_free(struct tuning *t);

void tuning_print(struct tuning *t, FILE *out);
void tuning_json(struct tuning *t, FILE *out);

/* tune.json and tried.csv. */
int tuning_write(struct tuning *t, const char *dir, struct errors *e);

#endif
