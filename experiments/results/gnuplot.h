/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures: data and gnuplot's script stay beside them, to be changed and drawn again. */
#ifndef HVSIM_RESULTS_GNUPLOT_H
#define HVSIM_RESULTS_GNUPLOT_H

#include "experiments/results/results.h"

/* Write BASE.dat and BASE.gp into the directory and draw BASE.svg and BASE.png. When there is no
 * gnuplot (told on stderr unless quiet), no older pictures are left. 0, or -1 with an error. */
int gnuplot_picture(const char *dir, const char *base, results_fn *data, results_fn *script,
                    const void *ctx, bool quiet, struct errors *e);

/* A text in gnuplot's single quotes. */
void gnuplot_quote(const char *text, FILE *out);

/* The lines that choose the terminal and file of picture 0 (svg) or 1 (png). */
void gnuplot_terminal(int picture, const char *base, FILE *out);

/* Both pictures of a script, with a curve for each variant: the blocks of BASE.dat, drawn `how`. */
void gnuplot_variants(const struct study *s, const char *base, const char *how, FILE *out);

#endif
