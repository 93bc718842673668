/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The figures by which a captured run and simulations of it are held against each other: of each
 * vCPU of the guests, from a trace (the simulations write one, too, so that both are counted
 * alike), and of the client's round trips.
 */
#ifndef HVSIM_VALIDATE_CAPTURE_FIGURES_H
#define HVSIM_VALIDATE_CAPTURE_FIGURES_H

#include "experiments/traces/xentrace_summary.h"
#include "experiments/validate/capture.h"

enum figure_kind {
    FIGURE_SHARE, /* per cent of the time */
    FIGURE_TIME,  /* ns */
    FIGURE_COUNT  /* in the whole run */
};

/* One figure of a capture, by its number. */
struct figure_name {
    enum figure_kind kind;
    char name[96];
};

/* How many there are: the vCPUs' in the order of the guests, then the client's. */
size_t capture_figure_count(const struct capture *c);
struct figure_name capture_figure_name(const struct capture *c, size_t i);

/* From a trace: fills the vCPUs' part of value[capture_figure_count]. NaN: too few observations. */
void figures_of_trace(const struct capture *c, const struct xentrace_summary *s, uint64_t hz,
                      double *value);

/* From n round trips (delay -1: lost): the client's part. */
void figures_of_trips(const struct capture *c, const sim_time *delay, size_t n, double *value);

/* What was captured: from its trace and its log, NaN for what there is none of. 0, or -1. */
int figures_captured(const struct capture *c, double *value, struct errors *e);

#endif
