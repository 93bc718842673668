/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SimGrid behind one door: platform files, routes, the clock, flows, host failures. No other file
 * includes <simgrid/...>.
 *
 * SimGrid cannot be reset, and a platform file that is wrong, or lacks a host, ends the process.
 * Hence the order of use:
 *   1. platform_probe() in the parent: a child loads the platform and asks for everything that
 *      the fleet needs; whatever happens to it becomes errors;
 *   2. platform_load() in the parent, once, for a platform that passed;
 *   3. fork() for each replication; the child builds its world, calls platform_bind(),
 *      timeline_bind(), platform_run(), and leaves by platform_exit().
 *
 * How machines and SimGrid go together: see the head of sim/simgrid.c.
 */
#ifndef HVSIM_SIM_SIMGRID_H
#define HVSIM_SIM_SIMGRID_H

#include "sim/error.h"
#include "sim/faults.h"
#include "sim/machine.h"

struct platform_options {
    const char *file;        /* the platform's XML */
    const char *driver_host; /* a host that never goes off; NULL: the first without a machine, else
                                the first that no action switches off */
    bool lockstep;           /* force the lookahead to zero: one date at a time */
    bool thread_contexts;    /* for valgrind and sanitizers: slow */
    sim_time end;            /* nothing at or after this date is run */
    void (*progress)(void *arg, sim_time now); /* NULL, or called between windows */
    void *progress_arg;
};

struct platform_report {
    enum fleet_end why;
    sim_time date;       /* reached: the end, or the last event if the world went idle */
    bool lockstep;       /* it was run in lockstep */
    const char *because; /* why, when options.lockstep did not ask for it; else NULL */
    uint64_t windows;
    uint64_t flows; /* bulk transfers and packets that SimGrid carried */
};

/* Check that the platform can be loaded and has a host for each machine, a route for each connected
 * pair with a latency above zero, and no profiles of links. Needs of the fleet the hosts and
 * connections only. 0, or -1 with errors (EXIT_INPUT). This process stays without SimGrid. */
int platform_probe(const struct platform_options *o, const struct fleet *f, struct errors *e);

/* Load the platform into this process: once, and only after it passed the probe. */
void platform_load(const struct platform_options *o);

/* Cores and speed (flop/s) of a host of the loaded platform; -1 if there is no such host. */
int platform_host(const char *name, int *cores, double *speed);

/* Fill in machines (cores, speed, NIC) and paths from the loaded platform. 0, or -1 with errors. */
int platform_bind(struct fleet *f, struct errors *e);

/* Run. `t` (may be NULL) is bound to the same fleet. Once per process. 0 with *report, or -1 with
 * errors found before the start (no host for the driver). */
int platform_run(const struct platform_options *o, struct fleet *f, struct timeline *t,
                 struct platform_report *report, struct errors *e);

/* Leave a forked child without SimGrid's farewells; flushes stdio. */
_Noreturn void platform_exit(int status);

/* SimGrid's version, "3.32.0". */
const char *platform_version(void);

#endif
