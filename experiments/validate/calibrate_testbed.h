/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim calibrate testbed DIR: what the TerrierTail publication leaves open, fitted to the
 * published points of DIR, all with one set of values (testbed.h).
 *
 * Two parts: the base latency (a lognormal share of client and network) from
 * the counts of round trips, with one server alone; everything else from tails, throughput and job
 * times. The base comes first, and once more at the end, since dom0's costs are part of it.
 *
 * To keep it short, `runs` experiments of each series (a service and scheduler over the number of
 * servers) that have tails or job times take part, spread evenly, and each is simulated for a
 * shorter time than the authors measured. Servers that compute as well take no part: how they did
 * is a guess.
 */
#ifndef HVSIM_VALIDATE_CALIBRATE_TESTBED_H
#define HVSIM_VALIDATE_CALIBRATE_TESTBED_H

#include "experiments/search/calibration_file.h"

struct testbed_calibration {
    size_t budget;  /* settings tried for the larger part; half of it for the base latency */
    size_t profile; /* values of each continuous unknown */
    const char *journal;
    const struct param_list *hold; /* char *: "UNKNOWN=VALUE", not to be fitted */
    int runs, seconds, simulations;
    unsigned jobs;
    bool quiet;
};

int calibrate_testbed(const char *dir, const struct testbed_calibration *o,
                      struct calibration_file *f, struct errors *e);

#endif
