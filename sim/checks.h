/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The check registry: every `hvsim validate` is a list of rows, each a simulated value held against
 * a reference with a tolerance fixed before the run, and a verdict. A row that falls short stays
 * visible as falling short; one that cannot be judged says so and why.
 */
#ifndef HVSIM_SIM_CHECKS_H
#define HVSIM_SIM_CHECKS_H

#include "sim/error.h"
#include "sim/json_writer.h"

#include <stddef.h>
#include <stdio.h>

enum verdict { VERDICT_HOLDS, VERDICT_SHORT, VERDICT_NONE, VERDICT_COUNT };

/* One row. Numbers that do not apply are NAN. Texts may be NULL; checks_add() copies them. */
struct check {
    const char *group; /* heading: "credit", "M/M/1" */
    const char *name;  /* what was checked */
    const char *unit;  /* of reference, simulated and interval: "us"; NULL: none */
    double reference, simulated;
    double low, high;           /* interval of the simulated value */
    const char *reference_text; /* shown instead of the numbers, for rows that are none */
    const char *simulated_text;
    double tolerance; /* as the judge used it */
    const char
        *tolerance_text; /* as people read it, with its reason: "5 % (binning of the plot)" */
    enum verdict verdict;
    const char *note;
};

/* All numbers NAN, all texts NULL, no verdict. */
struct check check_row(const char *group, const char *name);

/*
 * Judges. `tolerance` is relative to the reference, or absolute; they return the verdict. With an
 * interval: holds when all of it is within the tolerance, short when all of it is outside, no
 * verdict when it reaches across (a longer run would tell). A NAN anywhere: no verdict.
 */
enum verdict judge_relative(double reference, double simulated, double tolerance);
enum verdict judge_absolute(double reference, double simulated, double tolerance);
enum verdict judge_interval_relative(double reference, double low, double high, double tolerance);
enum verdict judge_interval_absolute(double reference, double low, double high, double tolerance);

struct checks {
    struct check *row;
    size_t count, capacity;
};

#define CHECKS_NONE ((struct checks){0})

void checks_add(struct checks *c, const struct check *row);

/* Rows in one call: the judge applied, the tolerance text made of the number and `why`. */
enum verdict checks_relative(struct checks *c, const char *group, const char *name,
                             const char *unit, double reference, double simulated, double tolerance,
                             const char *why);
enum verdict checks_absolute(struct checks *c, const char *group, const char *name,
                             const char *unit, double reference, double simulated, double tolerance,
                             const char *why);

void checks_free(struct checks *c);

size_t checks_count(const struct checks *c, enum verdict v);
const char *verdict_name(enum verdict v); /* "holds", "falls short", "no verdict" */

/* EXIT_SHORT when any row falls short; rows without verdict do not decide. */
enum exit_code checks_exit_code(const struct checks *c);

/* For people: an aligned table by groups. `last_line` may hold {holds}, {short}, {none} and {rows},
 * which become counts: "schedules: {holds} identical, {short} differ"; NULL: a plain count. */
void checks_print(const struct checks *c, FILE *out, const char *last_line);
/* The same with the rows that fall short only. */
void checks_print_short(const struct checks *c, FILE *out, const char *last_line);
void checks_last_line(const struct checks *c, FILE *out, const char *last_line);

/* For programs: {"rows": [...], "holds": n, "short": n, "none": n}. */
void checks_json(const struct checks *c, struct json_writer *w, const char *key);

/* For pages: whole tables with a heading row, texts escaped. */
void checks_markdown(const struct checks *c, FILE *out);
void checks_html(const struct checks *c, FILE *out);

#endif
