/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Results of a study, in files and on the terminal. Nothing in them tells when, where or how fast
 * they were computed: the same scenario and seed give the same bytes.
 */
#ifndef HVSIM_RESULTS_RESULTS_H
#define HVSIM_RESULTS_RESULTS_H

#include "experiments/study/study.h"

/* results.json. */
void results_json(const struct study *s, FILE *out);

/* All files of a study into a directory, which is made: results.json, scenario.json (resolved),
 * clients.csv, hosts.csv, groups.csv, domains.csv, replications.csv,
 * breakdown.csv, *.hgrm. Files that have nothing to say are left out. results.json comes last: it
 * is there if all are. */
int results_write(const struct study *s, const char *dir, struct errors *e);

/* One file, whole or not at all; `write` fills it. */
typedef void results_fn(const void *ctx, FILE *out);
int results_file(const char *dir, const char *name, results_fn *write, const void *ctx,
                 struct errors *e);

/* For people. */
void results_print(const struct study *s, FILE *out);

/* ---- pieces, for compare ------------------------------------------------------------------------
 */

/* "hvsim": versions and the platform's digest; "scenario", "rests_on", "subjects" of a variant. */
void results_put_versions(struct json_writer *w);
void results_put_variant(const struct study *s, const struct variant *v, struct json_writer *w);
void results_put_completeness(const struct study *s, struct json_writer *w);
void results_put_interval(struct json_writer *w, const struct interval *i);

void results_write_tables(const struct study *s, const char *dir, struct errors *e);

/* Notes under a table: what the stars mean, what was lost. */
void results_print_notes(const struct study *s, bool starred, FILE *out);

/* Fields of CSV: a comma and a number, or nothing after it for NAN; a text, in quotes if need be.
 */
void results_put_cell(double x, FILE *out);
void results_put_text(const char *text, FILE *out);

/* "1/s" as part of a column's name: "per_s". */
const char *unit_in_header(const char *unit);

#endif
