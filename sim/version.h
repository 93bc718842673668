/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the build knows about itself. The Makefile generates the definitions, so that a new commit
 * recompiles one small file.
 */
#ifndef HVSIM_SIM_VERSION_H
#define HVSIM_SIM_VERSION_H

/* `git describe` at the time of building, the VERSION file of a release, or "unknown". */
extern const char hvsim_version[];

/* Where `make install` puts the library of scenarios (in its subdirectory library/). */
extern const char hvsim_data_dir[];

#endif
