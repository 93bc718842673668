/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/testbed_data.h"

#include "experiments/validate/packed_file.h"
#include "sim/stats.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 16, LINE = 1024 };

/* Quantiles of the round trips: the spread, without what a few stalls did. */
static const double base_quantile[] = {0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};
enum { BASE_QUANTILES = sizeof base_quantile / sizeof *base_quantile };

/* ---- cells ----------------------------------------------------------------------------------- */

static void add_point(struct testbed_cell *c, char *name, enum testbed_statistic of, double q,
                      double published)
{
    c->point = xrealloc(c->point, (c->points + 1) * sizeof *c->point);
    c->point[c->points++] =
        (struct testbed_point){.name = name, .of = of, .q = q, .published = published};
}

static char *label_of(const struct testbed_run *r)
{
    if (r->set == TESTBED_IDLE)
        return xstrdup("one server alone");
    if (r->set == TESTBED_JOB)
        return xasprintf("a CPU job beside %d lookbusy VMs, %s", r->servers, r->scheduler);
    return xasprintf("%d VMs, %s%s, %d server%s, %s", r->set == TESTBED_24VM ? 24 : 12,
                     r->service == TESTBED_MEMCACHED ? "memcached"
                     : r->set == TESTBED_24VM        ? "Thrift"
                                                     : "RPC",
                     r->mixed ? " mixed" : "", r->servers, r->servers == 1 ? "" : "s",
                     r->scheduler);
}

static bool same_run(const struct testbed_run *a, const struct testbed_run *b)
{
    return a->set == b->set && a->service == b->service && a->servers == b->servers &&
           a->mixed == b->mixed;
}

static struct testbed_cell *find_cell(const struct testbed_data *d, const struct testbed_run *r)
{
    for (size_t i = 0; i < d->cells; i++)
        if (same_run(&d->cell[i].run, r) && !strcmp(d->cell[i].run.scheduler, r->scheduler))
            return &d->cell[i];
    return NULL;
}

static struct testbed_cell *cell_of(struct testbed_data *d, struct testbed_run r)
{
    struct testbed_cell *c = find_cell(d, &r);

    if (c)
        return c;
    d->cell = xrealloc(d->cell, (d->cells + 1) * sizeof *d->cell);
    d->cell[d->cells] = (struct testbed_cell){.label = label_of(&r), .run = r};
    return &d->cell[d->cells++];
}

struct testbed_cell *testbed_other(const struct testbed_data *d, const struct testbed_cell *c)
{
    struct testbed_run r = c->run;

    r.scheduler = strcmp(r.scheduler, "credit") ? "credit" : "terriertail";
    return find_cell(d, &r);
}

const struct testbed_point *testbed_point_like(const struct testbed_cell *c,
                                               const struct testbed_point *p)
{
    for (size_t i = 0; i < c->points; i++)
        if (c->point[i].of == p->of && c->point[i].q == p->q)
            return &c->point[i];
    return NULL;
}

const char *testbed_unit(enum testbed_statistic of)
{
    static const char *const unit[] = {[LATENCY_MS] = "ms",
                                       [LATENCY_US] = "us",
                                       [CALLS_PER_SECOND] = "1/s",
                                       [THROUGHPUT_RATIO] = "",
                                       [JOB_SECONDS] = "s"};

    return unit[of];
}

/* ---- the files ------------------------------------------------------------------------------- */

/* One CSV line, cut in place. */
static size_t cut(char *line, char *field[COLUMNS])
{
    size_t n = 0;

    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && n < COLUMNS; n++) {
        field[n] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = 0;
    }
    return n;
}

static bool number(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

static size_t column(char *const *head, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(head[i], name))
            return i;
    return SIZE_MAX;
}

static const char *scheduler_in(const char *name)
{
    return strstr(name, "terriertail") ? "terriertail" : strstr(name, "credit") ? "credit" : NULL;
}

/* A line of a file, with what its columns are called. */
struct row {
    struct testbed_data *data;
    char **head, **field;
    size_t n;
    const char *place; /* "FILE:LINE" */
    struct errors *e;
};

/* The number of VMs in a column. -1 with an error. */
static int vms_in(const struct row *r, const char *name, int most)
{
    const char *text = r->field[column(r->head, r->n, name)];
    double value;

    if (number(text, &value) && value == floor(value) && value >= 0 && value <= most)
        return (int)value;
    return error_add(r->e, EXIT_INPUT, "%s: %s is \"%s\", wanted a whole number from 0 to %d",
                     r->place, name, text, most);
}

/* The number in a column, if it is there and positive. */
static bool value_in(const struct row *r, size_t i, double *value)
{
    if (!*r->field[i])
        return false;
    if (number(r->field[i], value) && *value > 0)
        return true;
    error_add(r->e, EXIT_INPUT, "%s: %s is \"%s\", wanted a number above 0 or nothing", r->place,
              r->head[i], r->field[i]);
    return false;
}

static void read_tails(const struct row *r)
{
    const char *workload = r->field[column(r->head, r->n, "workload")];
    const char *scheduler = scheduler_in(r->field[column(r->head, r->n, "scheduler")]);
    int vms = vms_in(r, "server_vms", 12);
    bool rpc = !strcmp(workload, "rpc");

    if (!scheduler || (!rpc && strncmp(workload, "mem", 3)))
        error_add(r->e, EXIT_INPUT,
                  "%s: wanted a workload \"rpc\" or \"mem\" and a scheduler \"credit\" or "
                  "\"terriertail\"",
                  r->place);
    else if (vms > 0)
        for (size_t i = 0; i < r->n; i++) {
            double q, value;

            if (r->head[i][0] == 'q' && number(r->head[i] + 1, &q) && value_in(r, i, &value))
                add_point(cell_of(r->data, (struct testbed_run){.set = TESTBED_12VM,
                                                                .service = rpc ? TESTBED_RPC
                                                                               : TESTBED_MEMCACHED,
                                                                .servers = vms,
                                                                .scheduler = scheduler}),
                          xasprintf("latency p%g", 100 * q), LATENCY_MS, q, value);
        }
}

static void read_throughput(const struct row *r)
{
    int vms = vms_in(r, "server_vms", 12);
    size_t ours = column(r->head, r->n, "memcached_terriertail");
    size_t stock = column(r->head, r->n, "memcached_credit");
    struct testbed_run run = {.set = TESTBED_12VM, .servers = vms, .service = TESTBED_RPC};
    double value, base;

    if (vms <= 0)
        return;
    for (size_t i = 0; i < r->n; i++) {
        run.scheduler = scheduler_in(r->head[i]);
        if (!strncmp(r->head[i], "rpc_", 4) && run.scheduler && value_in(r, i, &value))
            add_point(cell_of(r->data, run), xstrdup("throughput"), CALLS_PER_SECOND, 0, value);
    }
    if (ours == SIZE_MAX || stock == SIZE_MAX || !value_in(r, ours, &value) ||
        !value_in(r, stock, &base))
        return;
    run.service = TESTBED_MEMCACHED;
    run.scheduler = "credit";
    cell_of(r->data, run);
    run.scheduler = "terriertail";
    add_point(cell_of(r->data, run), xstrdup("throughput, over Credit's"), THROUGHPUT_RATIO, 0,
              value / base);
}

static void read_24vm(const struct row *r)
{
    int vms = vms_in(r, "server_vms", 24);

    for (size_t i = 0; i < r->n && vms > 0; i++) {
        const char *name = r->head[i], *scheduler = scheduler_in(name);
        double value;

        if (scheduler && value_in(r, i, &value))
            add_point(cell_of(r->data, (struct testbed_run){.set = TESTBED_24VM,
                                                            .service = strstr(name, "thrift")
                                                                           ? TESTBED_RPC
                                                                           : TESTBED_MEMCACHED,
                                                            .servers = vms,
                                                            .mixed = strstr(name, "mixed") != NULL,
                                                            .scheduler = scheduler}),
                      xstrdup("latency p99.9"), LATENCY_US, 0.999, value);
    }
}

static void read_job(const struct row *r)
{
    int vms = vms_in(r, "lookbusy_vms", 64);

    for (size_t i = 0; i < r->n && vms >= 0; i++) {
        const char *scheduler = scheduler_in(r->head[i]);
        double value;

        if (scheduler && value_in(r, i, &value))
            add_point(cell_of(r->data, (struct testbed_run){.set = TESTBED_JOB,
                                                            .servers = vms,
                                                            .scheduler = scheduler}),
                      xstrdup("job time"), JOB_SECONDS, 0, value);
    }
}

/* Which files are known, by the columns they have. */
static const struct kind {
    const char *with[3];
    void (*read)(const struct row *r);
} kinds[] = {
    {{"workload", "server_vms", "scheduler"}, read_tails},
    {{"server_vms", "rpc_credit", NULL}, read_throughput},
    {{"server_vms", "rpc_terriertail", NULL}, read_throughput},
    {{"server_vms", "thrift_credit", NULL}, read_24vm},
    {{"server_vms", "thrift_terriertail", NULL}, read_24vm},
    {{"server_vms", "memcached_credit", NULL}, read_24vm},
    {{"server_vms", "memcached_terriertail", NULL}, read_24vm},
    {{"server_vms", "memcached_mixed_credit", NULL}, read_24vm},
    {{"server_vms", "memcached_mixed_terriertail", NULL}, read_24vm},
    {{"lookbusy_vms", "credit", NULL}, read_job},
    {{"lookbusy_vms", "terriertail", NULL}, read_job},
};

static const struct kind *kind_of(char **head, size_t n)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bool all = true;

        for (int i = 0; i < 3 && kinds[k].with[i]; i++)
            all = all && column(head, n, kinds[k].with[i]) != SIZE_MAX;
        if (all)
            return &kinds[k];
    }
    return NULL;
}

static void remember(struct testbed_data *d, const char *path)
{
    d->file = xrealloc(d->file, (d->files + 1) * sizeof *d->file);
    d->file[d->files++] = xstrdup(path);
}

static void read_file(struct testbed_data *d, const char *path, struct errors *e)
{
    char first[LINE], line[LINE], *head[COLUMNS], *field[COLUMNS];
    FILE *f = fopen(path, "r");
    const struct kind *kind = NULL;
    size_t n = 0, lines = 0, found;

    if (!f) {
        error_add(e, EXIT_INPUT, "%s: %s", path, strerror(errno));
        return;
    }
    while (fgets(line, sizeof line, f)) {
        lines++;
        if (*line == '#' || *line == '\n')
            continue;
        if (!n) {
            strcpy(first, line);
            n = cut(first, head);
            kind = kind_of(head, n);
            if (!kind)
                break; /* something else */
            remember(d, path);
        } else if ((found = cut(line, field)) != n) {
            error_add(e, EXIT_INPUT, "%s:%zu: %zu columns, wanted %zu as in its first line", path,
                      lines, found, n);
        } else {
            char *place = xasprintf("%s:%zu", path, lines);
            struct row r = {d, head, field, n, place, e};

            kind->read(&r);
            free(place);
        }
    }
    fclose(f);
}

/* ---- counts of round trips ------------------------------------------------------------------- */

struct counts {
    long run;
    struct {
        double us, count;
    } * row; /* ascending, as in the file */
    size_t rows;
    double sum;
};

static double counts_quantile(const struct counts *c, double q)
{
    double seen = 0;

    for (size_t i = 0; i < c->rows; i++) {
        seen += c->row[i].count;
        if (seen >= q * c->sum)
            return c->row[i].us;
    }
    return NAN;
}

static void take_counts(struct testbed_data *d, const struct counts *c)
{
    struct testbed_cell *cell =
        cell_of(d, (struct testbed_run){.set = TESTBED_IDLE, .servers = 1, .scheduler = "credit"});

    for (size_t i = 0; i < BASE_QUANTILES; i++)
        add_point(cell, xasprintf("base latency p%g", 100 * base_quantile[i]), LATENCY_US,
                  base_quantile[i], counts_quantile(c, base_quantile[i]));
}

/* The run with the least p99 is what an unhindered server gives. */
static void read_counts(struct testbed_data *d, const char *path, struct errors *e)
{
    gzFile f = packed_open(path, e);
    struct counts now = {0}, best = {0};
    char line[LINE];
    bool ours = false;
    size_t lines = 0;
    long run;
    double us, count;

    while (f && gzgets(f, line, sizeof line)) {
        lines++;
        if (*line == '#' || *line == '\n')
            continue;
        if (!ours && strncmp(line, "run,rtt_us,count", 16))
            break;
        if (!ours) {
            ours = true;
            continue;
        }
        if (sscanf(line, "%ld,%lf,%lf", &run, &us, &count) != 3 || !(us > 0 && us < 1e12) ||
            !(count > 0 && count < 1e15)) {
            error_add(e, EXIT_INPUT, "%s:%zu: wanted a run, a time and a count above 0", path,
                      lines);
            break;
        }
        if (now.rows && run != now.run) {
            if (!best.rows || counts_quantile(&now, 0.99) < counts_quantile(&best, 0.99)) {
                free(best.row);
                best = now;
                now = (struct counts){0};
            }
            now.rows = 0;
            now.sum = 0;
        }
        if (now.rows && us < now.row[now.rows - 1].us) {
            error_add(e, EXIT_INPUT, "%s:%zu: rtt_us must rise within run %ld", path, lines, run);
            break;
        }
        now.run = run;
        now.row = xrealloc(now.row, (now.rows + 1) * sizeof *now.row);
        now.row[now.rows].us = us;
        now.row[now.rows++].count = count;
        now.sum += count;
    }
    if (now.rows && (!best.rows || counts_quantile(&now, 0.99) < counts_quantile(&best, 0.99))) {
        free(best.row);
        best = now;
        now.row = NULL;
    }
    if (best.rows) {
        take_counts(d, &best);
        remember(d, path);
    }
    free(best.row);
    free(now.row);
    if (f)
        packed_close(f, path, e);
}

/* ---- a directory ----------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), k = strlen(end);

    return n > k && !strcmp(name + n - k, end);
}

static int tables(const struct dirent *d)
{
    return ends_with(d->d_name, ".csv") || ends_with(d->d_name, ".csv.gz");
}

int testbed_read(const char *dir, bool base, struct testbed_data *d, struct errors *e)
{
    struct dirent **entry;
    int count = scandir(dir, &entry, tables, alphasort);
    size_t before = e->count;

    *d = (struct testbed_data){0};
    if (count < 0)
        return error_add(e, EXIT_INPUT, "%s: %s; give a directory with published figures", dir,
                         strerror(errno));
    for (int i = 0; i < count; i++) {
        char *path = xasprintf("%s/%s", dir, entry[i]->d_name);

        if (ends_with(path, ".csv"))
            read_file(d, path, e);
        if (base)
            read_counts(d, path, e);
        free(path);
        free(entry[i]);
    }
    free(entry);
    if (!d->cells && e->count == before)
        error_add(e, EXIT_INPUT,
                  "%s: no published figures in it (CSV files with a column "
                  "\"server_vms\" or \"lookbusy_vms\")",
                  dir);
    return e->count > before ? -1 : 0;
}

void testbed_forget(struct testbed_data *d, size_t keep)
{
    for (; d->cells > keep; d->cells--) {
        struct testbed_cell *c = &d->cell[d->cells - 1];

        for (size_t k = 0; k < c->points; k++) {
            free(c->point[k].name);
            free(c->point[k].value);
        }
        free(c->point);
        free(c->label);
        free(c->throughput);
    }
}

void testbed_free(struct testbed_data *d)
{
    testbed_forget(d, 0);
    for (size_t i = 0; i < d->files; i++)
        free(d->file[i]);
    free(d->file);
    free(d->cell);
    *d = (struct testbed_data){0};
}

double testbed_median(const double *value, size_t n)
{
    double *x = xcalloc(n + 1, sizeof *x), median;

    for (size_t i = 0; i < n; i++) /* value may be NULL then */
        x[i] = value[i];
    sort_doubles(x, n);
    median = n ? (x[(n - 1) / 2] + x[n / 2]) / 2 : NAN;
    free(x);
    return median;
}
