/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/sweep/sweep_table.h"

#include "sim/json_writer.h"
#include "sim/output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct database {
    sqlite3 *db;
    char *path, *temporary;
    bool failed;
};

struct table {
    struct database *database;
    sqlite3_stmt *insert;
    struct output *csv;
    struct column *column;
    size_t columns, at;
};

/* ---- database ---------------------------------------------------------------------------------
 */

static int failed(struct database *d, const char *what, struct errors *e)
{
    if (!d->failed)
        error_add(e, EXIT_INTERNAL, "%s: cannot %s: %s", d->path, what, sqlite3_errmsg(d->db));
    d->failed = true;
    return -1;
}

int database_run(struct database *d, const char *sql, struct errors *e)
{
    return sqlite3_exec(d->db, sql, NULL, NULL, NULL) ? failed(d, "write", e) : 0;
}

struct database *database_open(const char *path, struct errors *e)
{
    struct database *d = xcalloc(1, sizeof *d);

    d->path = xstrdup(path);
    d->temporary = xasprintf("%s.%ld.tmp", path, (long)getpid());
    unlink(d->temporary);
    if (sqlite3_open(d->temporary, &d->db)) {
        failed(d, "write", e);
        database_close(d, false, e);
        return NULL;
    }
    /* A file that nobody sees before it is whole needs no journal. */
    if (database_run(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", e)) {
        database_close(d, false, e);
        return NULL;
    }
    return d;
}

static int put_in_place(struct database *d, struct errors *e)
{
    int fd = open(d->temporary, O_RDONLY | O_CLOEXEC), status = 0;

    if (fd < 0 || fsync(fd) || rename(d->temporary, d->path))
        status = error_add(e, EXIT_INTERNAL, "%s: cannot write: %s", d->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return status;
}

int database_close(struct database *d, bool keep, struct errors *e)
{
    int status = d->failed ? -1 : 0;

    if (keep && !status)
        status = database_run(d, "COMMIT", e);
    sqlite3_close(d->db);
    if (keep && !status)
        status = put_in_place(d, e);
    unlink(d->temporary);
    free(d->path);
    free(d->temporary);
    free(d);
    return status;
}

/* ---- tables -----------------------------------------------------------------------------------
 */

void column_add(struct column **list, size_t *count, char *name, enum column_type type)
{
    *list = xrealloc(*list, (*count + 1) * sizeof **list);
    (*list)[(*count)++] = (struct column){name, type, false};
}

static void quote_name(const char *name, FILE *out)
{
    fputc('"', out);
    for (; *name; name++)
        fputs(*name == '"' ? "\"\"" : (char[]){*name, 0}, out);
    fputc('"', out);
}

static int create(struct table *t, const char *name, struct errors *e)
{
    static const char *const types[] = {"INTEGER", "REAL", "TEXT"};
    size_t size;
    char *sql, *insert;
    FILE *out = open_memstream(&sql, &size);
    int status;

    fputs("CREATE TABLE ", out);
    quote_name(name, out);
    for (size_t i = 0; i < t->columns; i++) {
        fputs(i ? ", " : " (", out);
        quote_name(t->column[i].name, out);
        fprintf(out, " %s", types[t->column[i].type]);
    }
    fputc(')', out);
    fclose(out);
    out = open_memstream(&insert, &size);
    fputs("INSERT INTO ", out);
    quote_name(name, out);
    for (size_t i = 0; i < t->columns; i++)
        fputs(i ? ", ?" : " VALUES (?", out);
    fputc(')', out);
    fclose(out);
    status = database_run(t->database, sql, e);
    if (!status && sqlite3_prepare_v2(t->database->db, insert, -1, &t->insert, NULL))
        status = failed(t->database, "write", e);
    free(sql);
    free(insert);
    return status;
}

static void put_field(const char *text, FILE *out)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, 0}, out);
    fputc('"', out);
}

/* Before a cell in the CSV: NULL if it is not written there. */
static FILE *csv_cell(struct table *t)
{
    FILE *out = output_stream(t->csv);

    BUG_ON(t->at >= t->columns);
    if (t->column[t->at].database_only)
        return NULL;
    if (t->at)
        fputc(',', out);
    return out;
}

struct table *table_open(struct database *d, const char *name, const char *path,
                         struct column *column, size_t columns, struct errors *e)
{
    struct table *t = xcalloc(1, sizeof *t);

    *t = (struct table){.database = d, .column = column, .columns = columns};
    t->csv = output_open(path, e);
    if (!t->csv || create(t, name, e)) {
        table_close(t, false, e);
        return NULL;
    }
    for (; t->at < columns; t->at++) {
        FILE *out = csv_cell(t);

        if (out)
            put_field(column[t->at].name, out);
    }
    fputc('\n', output_stream(t->csv));
    t->at = 0;
    return t;
}

void table_integer(struct table *t, int64_t value)
{
    FILE *out = csv_cell(t);

    if (out)
        fprintf(out, "%lld", (long long)value);
    sqlite3_bind_int64(t->insert, (int)++t->at, value);
}

void table_real(struct table *t, double value)
{
    FILE *out = csv_cell(t);
    char text[NUMBER_TEXT];

    if (out && !isnan(value))
        fputs(number_format(value, text), out);
    t->at++;
    if (isnan(value))
        sqlite3_bind_null(t->insert, (int)t->at);
    else
        sqlite3_bind_double(t->insert, (int)t->at, value);
}

void table_text(struct table *t, const char *text)
{
    FILE *out = csv_cell(t);

    if (out)
        put_field(text, out);
    sqlite3_bind_text(t->insert, (int)++t->at, text, -1, SQLITE_TRANSIENT);
}

void table_empty(struct table *t)
{
    csv_cell(t);
    sqlite3_bind_null(t->insert, (int)++t->at);
}

int table_end_row(struct table *t, struct errors *e)
{
    int status = 0;

    BUG_ON(t->at != t->columns);
    fputc('\n', output_stream(t->csv));
    t->at = 0;
    if (sqlite3_step(t->insert) != SQLITE_DONE)
        status = failed(t->database, "write", e);
    sqlite3_reset(t->insert);
    return status;
}

int table_close(struct table *t, bool keep, struct errors *e)
{
    int status = 0;

    if (!t)
        return -1;
    sqlite3_finalize(t->insert);
    if (keep && t->csv)
        status = output_commit(t->csv, e);
    else
        output_abort(t->csv);
    for (size_t i = 0; i < t->columns; i++)
        free(t->column[i].name);
    free(t->column);
    free(t);
    return status;
}
