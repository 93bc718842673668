/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hvsim validate replication [DIR]: replicated controllers held against closed forms, a third
 * party's simulation, the founding study's findings, and (DIR) captured runs on real Xen.
 */
#ifndef HVSIM_VALIDATE_VALIDATE_REPLICATION_H
#define HVSIM_VALIDATE_VALIDATE_REPLICATION_H

#include "sim/checks.h"

#include <stdbool.h>

/* Rows for all captures with replicas in the directory and below it. 0, or -1 with errors. */
int replication_check_captures(const char *dir, unsigned jobs, struct checks *c, struct errors *e);

/* Rows of closed forms and published figures. */
int replication_check_theory(unsigned jobs, struct checks *c, struct errors *e);

/* Rows of the founding study's findings, and of multilevel splitting against plain runs. */
int replication_check_study(unsigned jobs, struct checks *c, struct errors *e);

/* All rows and a last line "replication: N hold, M do not"; `dir` may be NULL. */
enum exit_code validate_replication(const char *dir, bool quiet, FILE *out, struct errors *e);

#endif
