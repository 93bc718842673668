/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate_testbed.h"

#include "experiments/study.h"
#include "experiments/testbed.h"
#include "sim/checks.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICATIONS = 20, COLUMNS = 16, LINE = 1024, QUANTILES_MAX = 8 };

/* Length of a simulated job against the published one: 218 s would be slow to simulate. */
static const double job_scale = 218.0 / 2.0;

/* What one published value is a statistic of. */
enum statistic { LATENCY_MS, LATENCY_US, CALLS_PER_SECOND, JOB_SECONDS };

struct point {
    char *name;
    enum statistic of;
    double q; /* of a latency */
    double published;
    double simulated, low, high; /* median and central 95 % */
};

/* Points of one scenario, so that it is simulated once. */
struct cell {
    char *label;
    struct json *doc;
    struct point *point;
    size_t points;
};

struct testbed {
    struct cell *cell;
    size_t cells;
    bool quiet;
};

/* ---- the files ----------------------------------------------------------------------------------
 */

static struct point *add_point(struct testbed *t, struct cell *c, char *name, enum statistic of,
                               double q, double published)
{
    (void)t;
    c->point = xrealloc(c->point, (c->points + 1) * sizeof *c->point);
    c->point[c->points] = (struct point){.name = name, .of = of, .q = q, .published = published};
    return &c->point[c->points++];
}

static struct cell *find_cell(struct testbed *t, const char *label)
{
    for (size_t i = 0; i < t->cells; i++)
        if (!strcmp(t->cell[i].label, label))
            return &t->cell[i];
    t->cell = xrealloc(t->cell, (t->cells + 1) * sizeof *t->cell);
    t->cell[t->cells] = (struct cell){.label = xstrdup(label)};
    return &t->cell[t->cells++];
}

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
    return end != text && !*end;
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

static struct cell *cell_12vm(struct testbed *t, enum testbed_service service, int servers,
                              const char *scheduler, struct errors *e)
{
    char label[80];
    struct cell *c;

    snprintf(label, sizeof label, "12 VMs, %s, %d server%s, %s",
             service == TESTBED_RPC ? "RPC" : "memcached", servers, servers == 1 ? "" : "s",
             scheduler);
    c = find_cell(t, label);
    if (!c->doc)
        c->doc = testbed_12vm_scenario(&testbed_12vm, service, servers, scheduler, REPLICATIONS, e);
    return c;
}

static struct cell *cell_24vm(struct testbed *t, enum testbed_service service, int servers,
                              const char *scheduler, struct errors *e)
{
    char label[80];
    struct cell *c;

    snprintf(label, sizeof label, "24 VMs, %s, %d server%s, %s",
             service == TESTBED_RPC ? "Thrift" : "memcached", servers, servers == 1 ? "" : "s",
             scheduler);
    c = find_cell(t, label);
    if (!c->doc)
        c->doc = testbed_24vm_scenario(&testbed_24vm, service, servers, scheduler, REPLICATIONS, e);
    return c;
}

static struct cell *cell_job(struct testbed *t, int hogs, const char *scheduler, struct errors *e)
{
    char label[80];
    struct cell *c;

    snprintf(label, sizeof label, "a CPU job beside %d lookbusy VMs, %s", hogs, scheduler);
    c = find_cell(t, label);
    if (!c->doc)
        c->doc = testbed_job_scenario(&testbed_12vm, hogs, scheduler, REPLICATIONS, e);
    return c;
}

/* workload,server_vms,scheduler,q0.99,...: tails in ms. */
static void read_tails(struct testbed *t, char **head, size_t n, char **field, struct errors *e)
{
    size_t workload = column(head, n, "workload"), vms = column(head, n, "server_vms");
    size_t who = column(head, n, "scheduler");
    enum testbed_service service = strcmp(field[workload], "rpc") ? TESTBED_MEMCACHED : TESTBED_RPC;
    struct cell *c = cell_12vm(t, service, atoi(field[vms]), field[who], e);

    for (size_t i = 0; i < n; i++) {
        double q, value;

        if (head[i][0] == 'q' && number(head[i] + 1, &q) && number(field[i], &value))
            add_point(t, c, xasprintf("latency p%g", 100 * q), LATENCY_MS, q, value);
    }
}

/* server_vms,rpc_credit,...: calls per second of the measured client. */
static void read_throughput(struct testbed *t, char **head, size_t n, char **field,
                            struct errors *e)
{
    size_t vms = column(head, n, "server_vms");

    for (size_t i = 0; i < n; i++) {
        double value;

        if (!strncmp(head[i], "rpc_", 4) && scheduler_in(head[i]) && number(field[i], &value))
            add_point(t, cell_12vm(t, TESTBED_RPC, atoi(field[vms]), scheduler_in(head[i]), e),
                      xstrdup("throughput"), CALLS_PER_SECOND, 0, value);
    }
}

/* server_vms,memcached_credit,thrift_credit,...: p99.9 in us. Servers that compute as well
 * ("memcached_mixed_*") are another experiment. */
static void read_24vm(struct testbed *t, char **head, size_t n, char **field, struct errors *e)
{
    size_t vms = column(head, n, "server_vms");

    for (size_t i = 0; i < n; i++) {
        enum testbed_service service = strstr(head[i], "thrift") ? TESTBED_RPC : TESTBED_MEMCACHED;
        double value;

        if (i == vms || strstr(head[i], "mixed") || !scheduler_in(head[i]) ||
            !number(field[i], &value))
            continue;
        add_point(t, cell_24vm(t, service, atoi(field[vms]), scheduler_in(head[i]), e),
                  xstrdup("latency p99.9"), LATENCY_US, 0.999, value);
    }
}

/* lookbusy_vms,credit,terriertail: seconds of a job. */
static void read_job(struct testbed *t, char **head, size_t n, char **field, struct errors *e)
{
    size_t vms = column(head, n, "lookbusy_vms");

    for (size_t i = 0; i < n; i++) {
        double value;

        if (i != vms && scheduler_in(head[i]) && number(field[i], &value))
            add_point(t, cell_job(t, atoi(field[vms]), scheduler_in(head[i]), e),
                      xstrdup("job time"), JOB_SECONDS, 0, value);
    }
}

/* Which files are known, by the columns they have. */
static const struct {
    const char *with[3];
    void (*read)(struct testbed *t, char **head, size_t n, char **field, struct errors *e);
} kinds[] = {
    {{"workload", "server_vms", "scheduler"}, read_tails},
    {{"server_vms", "rpc_credit", NULL}, read_throughput},
    {{"server_vms", "thrift_credit", NULL}, read_24vm},
    {{"server_vms", "memcached_credit", NULL}, read_24vm},
    {{"lookbusy_vms", NULL, NULL}, read_job},
};

static bool has_columns(char **head, size_t n, const char *const with[3])
{
    for (int i = 0; i < 3 && with[i]; i++)
        if (column(head, n, with[i]) == SIZE_MAX)
            return false;
    return true;
}

static void read_file(struct testbed *t, const char *path, struct errors *e)
{
    char first[LINE], line[LINE], *head[COLUMNS], *field[COLUMNS];
    FILE *f = fopen(path, "r");
    size_t n = 0, kind = SIZE_MAX;

    if (!f) {
        error_add(e, EXIT_INPUT, "%s: %s", path, strerror(errno));
        return;
    }
    while (fgets(line, sizeof line, f)) {
        if (*line == '#')
            continue;
        if (!n) {
            strcpy(first, line);
            n = cut(first, head);
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds && kind == SIZE_MAX; k++)
                if (has_columns(head, n, kinds[k].with))
                    kind = k;
            if (kind == SIZE_MAX)
                break; /* something else */
        } else if (cut(line, field) == n) {
            kinds[kind].read(t, head, n, field, e);
        }
    }
    fclose(f);
}

/* ---- simulating ---------------------------------------------------------------------------------
 */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static const struct subject *subject_named(const struct layout *l, enum subject_kind kind,
                                           const char *name)
{
    for (size_t i = 0; i < l->subjects; i++)
        if (l->subject[i].kind == kind && !strcmp(l->subject[i].name, name))
            return &l->subject[i];
    return NULL;
}

/* The statistic in each replication. */
static size_t values_of(const struct variant *v, const struct point *p, double *value)
{
    const struct tally *t = &v->tally;
    bool job = p->of == JOB_SECONDS;
    const struct subject *s = subject_named(v->layout, job ? SUBJECT_GROUP : SUBJECT_CLIENT,
                                            job ? "xen/sysbench" : "measured");
    const struct metric *m = metric_by_name(job ? "job_time" : "throughput");
    const struct pooled *pool = s && !job ? tally_pool(t, s, OF_LATENCY) : NULL;
    size_t n = 0;

    for (size_t r = 0; s && r < t->count; r++) {
        double x = NAN;

        if (p->of == LATENCY_MS || p->of == LATENCY_US)
            x = pool ? pooled_figure_of(pool, r, p->q) / (p->of == LATENCY_MS ? 1e6 : 1e3) : NAN;
        else
            x = tally_samples(t, layout_cell(s, m))[r].value * (job ? job_scale : 1);
        if (!isnan(x))
            value[n++] = x;
    }
    qsort(value, n, sizeof *value, ascending);
    return n;
}

/* Central 95 %: with so few values, all but the outermost part of one. */
static void judge(const struct variant *v, struct point *p)
{
    double value[REPLICATIONS];
    size_t n = values_of(v, p, value), cut_off = (size_t)(0.025 * (double)n);

    p->simulated = n ? (value[(n - 1) / 2] + value[n / 2]) / 2 : NAN;
    p->low = n ? value[cut_off] : NAN;
    p->high = n ? value[n - 1 - cut_off] : NAN;
}

static int simulate(struct testbed *t, struct errors *e)
{
    struct study s;
    int status = 0;

    study_init(&s, "(testbed)");
    s.quiet = t->quiet;
    for (size_t i = 0; i < t->cells && !status; i++) {
        status = t->cell[i].doc ? study_add_doc(&s, t->cell[i].label, t->cell[i].doc, ".", e) : -1;
        t->cell[i].doc = NULL; /* the study's */
    }
    if (!status)
        status = study_prepare(&s, e) || study_run(&s, e) ? -1 : 0;
    for (size_t i = 0; i < t->cells && !status; i++)
        for (size_t k = 0; k < t->cell[i].points; k++)
            judge(&s.variant[i], &t->cell[i].point[k]);
    study_free(&s);
    return status;
}

/* ---- the report ---------------------------------------------------------------------------------
 */

static const char *const unit_of[] = {
    [LATENCY_MS] = "ms", [LATENCY_US] = "us", [CALLS_PER_SECOND] = "1/s", [JOB_SECONDS] = "s"};

static enum exit_code report(const struct testbed *t, FILE *out)
{
    struct checks checks = CHECKS_NONE;
    double *error = NULL, worst = 0, median;
    size_t n = 0, inside = 0;
    enum exit_code code;

    for (size_t i = 0; i < t->cells; i++)
        for (size_t k = 0; k < t->cell[i].points; k++) {
            const struct point *p = &t->cell[i].point[k];
            struct check row = check_row(t->cell[i].label, p->name);
            double off = fabs(p->simulated - p->published) / p->published;
            char note[40];

            snprintf(note, sizeof note, "error %+.0f %%",
                     100 * (p->simulated - p->published) / p->published);
            row.unit = unit_of[p->of];
            row.reference = p->published;
            row.simulated = p->simulated;
            row.low = p->low;
            row.high = p->high;
            row.tolerance_text = "central 95 % of the simulated runs";
            row.note = note;
            row.verdict = isnan(p->simulated)                                 ? VERDICT_NONE
                          : p->published >= p->low && p->published <= p->high ? VERDICT_HOLDS
                                                                              : VERDICT_SHORT;
            inside += row.verdict == VERDICT_HOLDS;
            checks_add(&checks, &row);
            if (!isnan(off)) {
                error = xrealloc(error, (n + 1) * sizeof *error);
                error[n++] = off;
                worst = fmax(worst, off);
            }
        }
    if (error)
        qsort(error, n, sizeof *error, ascending);
    median = n ? (error[(n - 1) / 2] + error[n / 2]) / 2 : NAN;
    checks_print(&checks, out, "{holds} of {rows} points inside the central 95 %");
    fprintf(out, "testbed: %zu points, median |error| %.0f %%, worst %.0f %%\n", n, 100 * median,
            100 * worst);
    code = inside == n ? EXIT_OK : EXIT_SHORT;
    checks_free(&checks);
    free(error);
    return code;
}

static int csv_only(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 4 && !strcmp(d->d_name + n - 4, ".csv");
}

enum exit_code validate_testbed(const char *dir, bool quiet, FILE *out, struct errors *e)
{
    struct testbed t = {.quiet = quiet};
    struct dirent **entry;
    int count = scandir(dir, &entry, csv_only, alphasort);
    enum exit_code code = EXIT_INPUT;

    if (count < 0) {
        error_add(e, EXIT_INPUT, "%s: %s; give a directory with published figures", dir,
                  strerror(errno));
        return EXIT_INPUT;
    }
    for (int i = 0; i < count; i++) {
        char *path = xasprintf("%s/%s", dir, entry[i]->d_name);

        read_file(&t, path, e);
        free(path);
        free(entry[i]);
    }
    free(entry);
    if (!t.cells && !e->count)
        error_add(e, EXIT_INPUT,
                  "%s: no published figures in it (CSV files with a column "
                  "\"server_vms\" or \"lookbusy_vms\")",
                  dir);
    if (!e->count && !simulate(&t, e))
        code = report(&t, out);
    for (size_t i = 0; i < t.cells; i++) {
        for (size_t k = 0; k < t.cell[i].points; k++)
            free(t.cell[i].point[k].name);
        free(t.cell[i].point);
        free(t.cell[i].label);
        if (t.cell[i].doc)
            json_free(t.cell[i].doc);
    }
    free(t.cell);
    return e->count ? errors_exit_code(e) : code;
}
