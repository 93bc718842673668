/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other programs, run for what they print. */
#ifndef HVSIM_SWEEP_PROGRAM_H
#define HVSIM_SWEEP_PROGRAM_H

#include "sim/error.h"

struct program_result {
    int status;        /* its exit status; 127: it is not there; 128 + n: killed by signal n */
    char *out, *error; /* all it printed; owned */
};

/* `argument` ends with NULL; its first is the program, looked for along PATH. No shell is involved.
 * 0, or -1 with an error when the system refuses. */
int program_run(const char *const *argument, struct program_result *r, struct errors *e);
void program_result_free(struct program_result *r);

#endif
