/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/validate_schedules.h"

#include "experiments/traces/csv.h"
#include "experiments/traces/xentrace_write.h"
#include "experiments/validate/packed_file.h"
#include "experiments/validate/schedule_case.h"
#include "experiments/validate/validate_trace.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONTEXT = 5, SHOWN = CONTEXT + 3 };

/* Compares the simulated rows with the reference as they come. */
struct comparison {
    gzFile reference;
    FILE *out;
    uint64_t row;                  /* number of the row compared last, the header being 0 */
    char recent[CONTEXT][CSV_ROW]; /* the rows before, identical in both */
    bool differs, has_end, exhausted;
    int after; /* rows still to show after a difference */
    const char *name;
};

static bool next_reference(struct comparison *c, char *row)
{
    size_t n;

    if (c->exhausted || !gzgets(c->reference, row, CSV_ROW)) {
        c->exhausted = true;
        return false;
    }
    n = strlen(row);
    while (n && (row[n - 1] == '\n' || row[n - 1] == '\r'))
        row[--n] = 0;
    return true;
}

static void show_difference(struct comparison *c, const char *simulated, const char *reference)
{
    fprintf(c->out, "%s: differs at row %llu\n", c->name, (unsigned long long)c->row);
    for (uint64_t i = c->row > CONTEXT ? c->row - CONTEXT : 0; i < c->row; i++)
        fprintf(c->out, "      both %s\n", c->recent[i % CONTEXT]);
    fprintf(c->out, " reference %s\n", reference ? reference : "(ends here)");
    fprintf(c->out, " simulated %s\n", simulated ? simulated : "(ends here)");
    c->differs = true;
    c->after = SHOWN - CONTEXT;
}

static void compare(void *ctx, const char *simulated)
{
    struct comparison *c = ctx;
    char reference[CSV_ROW];
    bool some;

    if (c->differs && !c->after)
        return;
    some = next_reference(c, reference);
    if (c->differs) {
        c->after--;
        fprintf(c->out, " reference %s\n simulated %s\n", some ? reference : "(ends here)",
                simulated);
        return;
    }
    if (!some && (strstr(simulated, ",final,") || strstr(simulated, ",end,")))
        return; /* files without these rows */
    if (!some || strcmp(simulated, reference))
        show_difference(c, simulated, some ? reference : NULL);
    snprintf(c->recent[c->row % CONTEXT], CSV_ROW, "%s", simulated);
    c->row++;
}

/* The binary trace of the run, if there is a reference for it. */
struct binary {
    char *reference;
    struct xentrace_writer writer;
    FILE *stream;
    char *data;
    size_t size;
};

static void binary_begin(struct binary *b, const char *dir, const char *name)
{
    *b = (struct binary){.reference = xasprintf("%s/%s.xentrace", dir, name)};
    if (access(b->reference, R_OK)) {
        free(b->reference);
        b->reference = xasprintf("%s/%s.xentrace.gz", dir, name);
    }
    if (access(b->reference, R_OK)) {
        free(b->reference);
        b->reference = NULL;
        return;
    }
    b->stream = open_memstream(&b->data, &b->size);
    if (!b->stream)
        BUG("no memory stream");
}

static void binary_watch(void *ctx, struct host *h)
{
    struct binary *b = ctx;

    if (b->stream)
        xentrace_writer_attach(&b->writer, h, b->stream, XENTRACE_DEFAULT_KHZ);
}

static void binary_free(struct binary *b)
{
    if (b->stream)
        fclose(b->stream);
    free(b->data);
    free(b->reference);
}

/* The number of records, 0 without a reference, -1 if they differ. */
static int64_t binary_compare(struct binary *b, const char *name, FILE *out, struct errors *e)
{
    if (!b->stream)
        return 0;
    xentrace_writer_finish(&b->writer);
    fflush(b->stream);
    return compare_traces(name, b->reference, b->data, b->size, out, e);
}

static int validate_one(const char *dir, const char *name, const char *csv, bool quiet, FILE *out,
                        struct errors *e)
{
    char *json = xasprintf("%s/%s.json", dir, name);
    struct comparison c = {.out = out, .name = name};
    struct schedule_world *w;
    struct schedule_counts n;
    struct csv_trace trace;
    struct binary binary;
    char rest[CSV_ROW];
    int64_t records;

    binary_begin(&binary, dir, name);
    w = schedule_world_load(json, binary_watch, &binary, e);
    free(json);
    c.reference = w ? packed_open(csv, e) : NULL;
    if (!c.reference) {
        xentrace_writer_finish(&binary.writer);
        binary_free(&binary);
        if (w)
            schedule_world_free(w);
        return -1;
    }
    csv_trace_attach(&trace, w->host, compare, &c);
    compare(&c, csv_header);
    csv_trace_placed(&trace, w->host);
    n = schedule_world_run(w);
    csv_trace_end(&trace, w->host, n.instants, n.ties);
    if (w->host->fault)
        fprintf(out, "%s: %s\n", name, w->host->fault);
    if (!c.differs && next_reference(&c, rest))
        show_difference(&c, NULL, rest);
    csv_trace_free(&trace);
    records = binary_compare(&binary, name, out, e);
    binary_free(&binary);
    schedule_world_free(w);
    if (packed_close(c.reference, csv, e))
        return -1;
    if (c.differs || records < 0)
        return 1;
    if (!quiet && records)
        fprintf(out, "%s: identical (%llu rows, %lld records of the binary trace)\n", name,
                (unsigned long long)c.row, (long long)records);
    else if (!quiet)
        fprintf(out, "%s: identical (%llu rows)\n", name, (unsigned long long)c.row);
    return 0;
}

static int json_only(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 5 && !strcmp(d->d_name + n - 5, ".json");
}

enum exit_code validate_schedules(const char *dir, bool quiet, FILE *out, struct errors *e)
{
    struct dirent **entry;
    int count = scandir(dir, &entry, json_only, alphasort);
    unsigned identical = 0, differ = 0;
    bool failed = false;

    if (count < 0) {
        error_add(e, EXIT_INPUT, "%s: %s; give a directory with reference schedules", dir,
                  strerror(errno));
        return EXIT_INPUT;
    }
    for (int i = 0; i < count; i++) {
        char *name = entry[i]->d_name, *csv;
        int result;

        name[strlen(name) - 5] = 0;
        csv = xasprintf("%s/%s.csv", dir, name);
        if (access(csv, R_OK)) {
            free(csv);
            csv = xasprintf("%s/%s.csv.gz", dir, name);
        }
        if (!access(csv, R_OK)) {
            result = validate_one(dir, name, csv, quiet, out, e);
            failed |= result < 0;
            identical += result == 0;
            differ += result > 0;
        }
        free(csv);
        free(entry[i]);
    }
    free(entry);
    if (!identical && !differ && !failed)
        error_add(e, EXIT_INPUT,
                  "%s: no reference schedule (NAME.json with NAME.csv or "
                  "NAME.csv.gz) in it",
                  dir);
    fprintf(out, "schedules: %u identical, %u differ\n", identical, differ);
    if (e->count)
        return errors_exit_code(e);
    return differ ? EXIT_SHORT : EXIT_OK;
}
