/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sweep files: a scenario, and what is varied in it. Only what a file says; what it means is in
 * experiments/sweep/sweep_design.h (axes to points) and experiments/sweep/sweep.h (points to
 * scenarios).
 */
#ifndef HVSIM_SWEEP_SWEEP_FILE_H
#define HVSIM_SWEEP_SWEEP_FILE_H

#include "sim/config.h"
#include "sim/time.h"

/* Any JSON value, as compact text ("\"5ms\"", "{\"type\":\"credit\"}", "0.5"). */
struct json_text {
    char *text; /* NULL: not given */
};

/* Several changes of the scenario under one name. */
struct setting_spec {
    char *label;
    struct param_list set; /* char *: "/json/pointer=value" */
};

enum axis_scale { SCALE_LINEAR, SCALE_LOG };

struct axis_spec {
    char *name;
    struct param_list at;       /* char *: JSON pointers, all given the same value */
    struct param_list values;   /* struct json_text */
    struct param_list settings; /* struct setting_spec: instead of `at` and values */
    struct json_text from, to, step, round;
    int64_t count; /* 0: not given */
    int scale;     /* enum axis_scale */
    char *form;    /* "poisson({})": the value takes the place of {}; NULL: the value itself */
    char *with;    /* an earlier axis: both advance together; NULL: crossed with all others */
};

enum sampling_method { SAMPLE_LATIN_HYPERCUBE, SAMPLE_SOBOL };

struct sampling_spec {
    int method; /* enum sampling_method */
    int64_t points, seed;
};

struct stop_spec {
    char *metric;     /* "latency_p99.9" or "subject:latency_p99.9" */
    int64_t relative; /* half-width wanted, percent of the mean */
    int64_t least, most;
};

struct limit_spec {
    sim_time time;  /* wall time of a replication, ns; 0: none */
    int64_t memory; /* address space of a replication, bytes; 0: a share of the machine's */
};

enum seed_rule { SEEDS_COMMON, SEEDS_INDEPENDENT };

struct sweep_spec {
    char *title, *question, *scenario;
    struct param_list set;          /* char * */
    struct param_list axes;         /* struct axis_spec */
    struct param_list only;         /* char *: conditions */
    struct sampling_spec *sampling; /* NULL: none */
    int64_t replications;           /* 0: as the scenario says */
    struct param_list metrics;      /* char * */
    struct stop_spec *stop;         /* NULL: a fixed number of replications */
    int seeds;                      /* enum seed_rule */
    struct limit_spec limits;
};

extern const struct config_format sweep_format;

static inline struct axis_spec *sweep_axis(const struct sweep_spec *s, size_t i)
{
    return &((struct axis_spec *)s->axes.item)[i];
}

static inline const char *list_text(const struct param_list *l, size_t i)
{
    return ((char **)l->item)[i];
}

#endif
