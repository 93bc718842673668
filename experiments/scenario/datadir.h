/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that come with hvsim: the library of scenarios and platforms, and reference data. They are
 * in the source tree the program was built in, or where `make install` put them.
 */
#ifndef HVSIM_SCENARIO_DATADIR_H
#define HVSIM_SCENARIO_DATADIR_H

/* Path of a file or directory of one of the kinds "library", "validation" and "docs", or NULL if
 * there is none; caller frees. HVSIM_DATA in the environment, if set, is looked at first. */
char *data_file(const char *kind, const char *name);

#endif
