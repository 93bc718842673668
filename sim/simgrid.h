/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SimGrid behind one door: platform files, routes, the clock, flows and host failures. No other
 * file includes <simgrid/...>.
 *
 * SimGrid cannot be reset, ends the process on a bad platform file and crashes on a missing route.
 * Hence the order of use:
 *   1. simgrid_probe() in the parent: loads the platform and asks for everything in a child, and
 *      turns whatever happens to that child into errors;
 *   2. simgrid_load() in the parent, once, for a platform that passed;
 *   3. fork() for each replication; there build the world, simgrid_bind(), simgrid_run(), exit by
 *      simgrid_exit().
 */
#ifndef HVSIM_SIM_SIMGRID_H
#define HVSIM_SIM_SIMGRID_H

#include "sim/error.h"
#include "sim/faults.h"
#include "sim/machine.h"

#include <signal.h>

struct simgrid_options {
    const char *platform;    /* path of the XML file */
    const char *driver_host; /* host that never goes off; NULL: the first one without a machine,
                                else the first one that no action switches off */
    bool thread_contexts;    /* for valgrind and sanitizers; slow */
    bool lockstep;           /* force the lookahead to zero: one date at a time */
    sim_time end;            /* nothing at or after this date is run */
    const volatile sig_atomic_t *interrupted;  /* NULL, or a flag that ends the run */
    void (*progress)(void *arg, sim_time now); /* NULL, or called between windows */
    void *progress_arg;
};

struct simgrid_report {
    enum fleet_end why;
    sim_time date;       /* reached: the end date, the last event, the stop */
    bool lockstep;       /* was run in lockstep */
    const char *because; /* why, if not asked for; NULL otherwise */
    uint64_t windows;
    uint64_t flows; /* bulk transfers and packets given to SimGrid */
};

/* Check that the platform can be loaded and has all hosts and routes of the fleet, with a latency
 * above zero; 0, or -1 with errors (EXIT_INPUT). Leaves this process without SimGrid. */
int simgrid_probe(const struct simgrid_options *o, const struct fleet *f, struct errors *e);

/* Load the platform into this process; once. After a successful probe only. */
void simgrid_load(const struct simgrid_options *o);

/* Fill in the machines (cores, speed, line rate) and paths of a fleet from the loaded platform. */
int simgrid_bind(struct fleet *f, struct errors *e);

/* Run a bound fleet with a bound timeline (may be NULL). Once per process. */
struct simgrid_report simgrid_run(const struct simgrid_options *o, struct fleet *f,
                                  struct timeline *t);

/* Leave a forked child without running SimGrid's and the C library's farewells; flushes stdio. */
_Noreturn void simgrid_exit(int status);

/* "3.32.0", of the library in use at compile time. */
const char *simgrid_version_text(void);

#endif
