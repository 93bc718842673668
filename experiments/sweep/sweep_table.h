/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables that are written twice: as a CSV file and into a SQLite database, row by row. Both appear
 * under their names when they are complete, and the same rows give the same bytes.
 */
#ifndef HVSIM_SWEEP_SWEEP_TABLE_H
#define HVSIM_SWEEP_SWEEP_TABLE_H

#include "sim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct database;

/* A new database beside `path`. NULL with an error. */
struct database *database_open(const char *path, struct errors *e);
int database_run(struct database *d, const char *sql, struct errors *e);
/* Put it under its name, or drop it when `keep` is false or something failed before. */
int database_close(struct database *d, bool keep, struct errors *e);

enum column_type { COLUMN_INTEGER, COLUMN_REAL, COLUMN_TEXT };

struct column {
    char *name; /* owned */
    enum column_type type;
    bool database_only;
};

struct table;

/* Takes the columns over. `path` is that of the CSV file. NULL with an error. */
struct table *table_open(struct database *d, const char *name, const char *path,
                         struct column *column, size_t columns, struct errors *e);

/* The cells of a row from left to right, then its end. */
void table_integer(struct table *t, int64_t value);
void table_real(struct table *t, double value); /* NAN: empty */
void table_text(struct table *t, const char *text);
void table_empty(struct table *t);
int table_end_row(struct table *t, struct errors *e);

int table_close(struct table *t, bool keep, struct errors *e);

/* Add a column to a growing list; takes the name over. */
void column_add(struct column **list, size_t *count, char *name, enum column_type type);

#endif
