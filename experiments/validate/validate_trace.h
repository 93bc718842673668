/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two binary traces held against each other, record for record: the events, their payloads, pCPUs
 * and time stamps must agree; how the records are cut into windows does not matter.
 */
#ifndef HVSIM_VALIDATE_VALIDATE_TRACE_H
#define HVSIM_VALIDATE_VALIDATE_TRACE_H

#include "sim/error.h"

#include <stdint.h>
#include <stdio.h>

/* The reference file (.xentrace, may be gzipped) against a trace in memory. Returns the number of
 * records if they agree; -1, having printed the first difference, if not, or if an error was added.
 */
int64_t compare_traces(const char *name, const char *reference, const void *data, size_t size,
                       FILE *out, struct errors *e);

#endif
