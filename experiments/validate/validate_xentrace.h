/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim validate xentrace: captured runs of real Xen, in two ways (docs/validation-xen.md):
 *
 *   driven    the trace is followed one step ahead: of the decisions that Xen made, how many would
 *             the model have made alike? (driven.h)
 *   modelled  the same scenario is simulated with other phases, and figures are compared.
 */
#ifndef HVSIM_VALIDATE_VALIDATE_XENTRACE_H
#define HVSIM_VALIDATE_VALIDATE_XENTRACE_H

#include "sim/error.h"

#include <stdbool.h>
#include <stdio.h>

/* All captures in `dir` and below. `quiet`: rows that fall short and the last line only.
 * `calibration`: a file of costs, or NULL; captures that it was made from are not simulated. */
enum exit_code validate_xentrace(const char *dir, const char *calibration, bool quiet, FILE *out,
                                 struct errors *e);

#endif
