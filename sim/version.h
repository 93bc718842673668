/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The version of this build: `git describe` at the time of building, or the VERSION file of a
 * release tarball, or "unknown". The Makefile generates the definition, so that a new commit
 * recompiles one small file.
 */
#ifndef HVSIM_SIM_VERSION_H
#define HVSIM_SIM_VERSION_H

extern const char hvsim_version[];

#endif
