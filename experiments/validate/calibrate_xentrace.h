/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim calibrate xentrace DIR: costs of the machine that recorded the captures in DIR and below
 * (experiments/library/emulated-xen.json holds those it starts from): context switch, IPI, what
 * delays a timer, and the guest kernel's work about a wake-up.
 *
 * Those captures calibrate whose name says so (capture_calibrates(): one in four), all others are
 * for judging. The points are the times that Xen's trace or the client's log gives.
 */
#ifndef HVSIM_VALIDATE_CALIBRATE_XENTRACE_H
#define HVSIM_VALIDATE_CALIBRATE_XENTRACE_H

#include "experiments/search/calibration_file.h"
#include "experiments/validate/capture_machine.h"

struct xentrace_calibration {
    size_t budget;
    size_t profile; /* values of each continuous unknown */
    const char *journal;
    const struct param_list *hold; /* char *: "UNKNOWN=VALUE", not to be fitted */
    int simulations;               /* of each capture */
    unsigned jobs;
    bool quiet;
};

int calibrate_xentrace(const char *dir, const struct xentrace_calibration *o,
                       struct calibration_file *f, struct errors *e);

/* Decided by the name alone, before anything is simulated: the 32-bit FNV-1a hash of the capture's
 * name is a multiple of 4. */
bool capture_calibrates(const char *capture);

/* Put the file's values into the machine. 0, or -1 with errors. */
int calibrate_machine(struct capture_machine *m, const struct calibration_file *f, const char *path,
                      struct errors *e);

/* The library's machine. 0, or -1 with errors. */
int machine_of_captures(struct capture_machine *m, struct errors *e);

#endif
