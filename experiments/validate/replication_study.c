/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The founding study's findings, asked of the simulator (facts: papers.md B1; the study's figures
 * are not known, its three findings are): delays of virtual replicas are above those of physical
 * ones; high delays of replicas on one host are hardly correlated; replication makes the service
 * more available. And multilevel splitting against plain runs of the same scenario.
 *
 * Each task is a study in a process of its own, since each loads a platform.
 */
#include "experiments/results/control_report.h"
#include "experiments/scenario/datadir.h"
#include "experiments/study/rare_run.h"
#include "experiments/validate/validate_replication.h"
#include "sim/pool.h"
#include "sim/sample.h"
#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.95
#define SPLIT_LEVEL 0.99
#define HIGH_DELAY_MS 5.0 /* about one round in 27 is later */
#define LIFT_RELEVANT 1.5 /* more than this would matter */

enum { REPLICAS = 2, SPLIT_LEVELS = 4 };

/* ---- in the child: the study's scenario ------------------------------------------------------ */

struct findings {
    struct interval mean, tail; /* virtual minus physical, ms */
    double physical_mean, physical_tail, virtual_mean, virtual_tail;
    struct interval lift, improvement; /* unavailability of two over that of one */
    double smallest_lift, one, both;
};

static int add_variant(struct study *s, const char *label, const char *replicas, struct errors *e)
{
    char *set[] = {xstrdup("/duration=100s"), xstrdup("/control/0/horizon=5ms"),
                   xasprintf("/control/0/replicas=%s", replicas)};
    const struct param_list none = {0};
    int status = study_add(s, label, &none, (const char *const *)set, 3, e);

    for (int i = 0; i < 3; i++)
        free(set[i]);
    return status;
}

#define NODE(host)                                                                                 \
    "{\"type\": \"node\", \"on\": \"" host                                                         \
    "\", \"node\": {\"compute\": {\"time\": \"lognormal(2ms, 0.5)\"}}}"
#define DOMAIN(name) "{\"type\": \"domain\", \"domain\": \"" name "\"}"

/* Mean or quantile of all replicas' delays in one replication. */
static double delay_of(const struct loop_rounds *r, size_t replication, double q)
{
    size_t n = r->each * r->replicas, count = 0;
    const double *delay = r->delay + replication * n;
    double *came = xcalloc(n, sizeof *came), x;

    for (size_t i = 0; i < n; i++)
        if (!isinf(delay[i]))
            came[count++] = delay[i];
    sort_doubles(came, count);
    if (q >= 0) {
        x = sorted_quantile(came, count, q);
    } else {
        x = 0;
        for (size_t i = 0; i < count; i++)
            x += came[i] / (double)count;
    }
    free(came);
    return x;
}

static struct interval difference(const struct loop_rounds *a, const struct loop_rounds *b,
                                  double q, double *mean_a, double *mean_b)
{
    size_t n = a->replications;
    double *x = xcalloc(n, sizeof *x), *y = xcalloc(n, sizeof *y);
    struct interval i;

    *mean_a = *mean_b = 0;
    for (size_t k = 0; k < n; k++) {
        x[k] = delay_of(a, k, q);
        y[k] = delay_of(b, k, q);
        *mean_a += x[k] / (double)n;
        *mean_b += y[k] / (double)n;
    }
    i = interval_paired_difference(y, x, n, LEVEL);
    free(x);
    free(y);
    return i;
}

/* Rounds in which both are late over rounds in which the first is, replication by replication. */
static struct interval improvement(const struct loop_rounds *r, double *one, double *both)
{
    double *x = xcalloc(r->replications, sizeof *x), *y = xcalloc(r->replications, sizeof *y);
    struct interval i;

    for (size_t k = 0; k < r->replications; k++)
        for (size_t at = k * r->each; at < (k + 1) * r->each; at++) {
            bool first = r->delay[at * r->replicas] > HIGH_DELAY_MS;
            bool second = r->delay[at * r->replicas + 1] > HIGH_DELAY_MS;

            x[k] += (double)first / (double)r->each;
            y[k] += (double)(first && second) / (double)r->each;
        }
    i = interval_ratio(y, x, r->replications, LEVEL);
    *one = *both = 0;
    for (size_t k = 0; k < r->replications; k++) {
        *one += x[k] / (double)r->replications;
        *both += y[k] / (double)r->replications;
    }
    free(x);
    free(y);
    return i;
}

static int find(struct study *s, struct findings *f, struct errors *e)
{
    struct loop_rounds physical, virtual;
    struct loop_deadline d;

    if (add_variant(s, "physical", "[" NODE("plc1") ", " NODE("plc2") "]", e) ||
        add_variant(s, "virtual", "[" DOMAIN("xen1/r1") ", " DOMAIN("xen1/r2") "]", e) ||
        study_prepare(s, e) || study_run(s, e))
        return -1;
    physical = loop_rounds_of(&s->variant[0], 0);
    virtual = loop_rounds_of(&s->variant[1], 0);
    f->mean = difference(&physical, &virtual, -1, &f->physical_mean, &f->virtual_mean);
    f->tail = difference(&physical, &virtual, 0.99, &f->physical_tail, &f->virtual_tail);
    d = loop_deadline_of(&virtual, HIGH_DELAY_MS, LEVEL, 1);
    f->lift = d.joint.lift;
    f->smallest_lift = d.smallest_lift;
    f->improvement = improvement(&virtual, &f->one, &f->both);
    loop_rounds_free(&physical);
    loop_rounds_free(&virtual);
    return 0;
}

/* ---- in the child: splitting ----------------------------------------------------------------- */

struct shares {
    struct interval share[SPLIT_LEVELS];
    uint64_t seen[SPLIT_LEVELS];
};

/* Shares of rounds without a setpoint for 4, 6, 8 and 10 ms, from copies or plainly. */
static int split(struct study *s, bool plain, struct shares *result, struct errors *e)
{
    struct rare_plan p = {.levels = SPLIT_LEVELS, .copies = plain ? 1 : 3};
    char *set[] = {xstrdup(plain ? "/duration=50s" : "/duration=10s"),
                   xstrdup(plain ? "/seed=3" : "/seed=2"), xstrdup("/replications=40"),
                   xstrdup("/confidence=99%")};
    const struct param_list none = {0};
    struct rare_outcome r;
    int status = study_add(s, "", &none, (const char *const *)set, 4, e);

    for (int i = 0; i < 4; i++)
        free(set[i]);
    for (uint32_t i = 0; i < SPLIT_LEVELS; i++)
        p.level[i] = (4 + 2 * (sim_time)i) * NS_PER_MS;
    if (status || study_prepare(s, e) || rare_run(s, &p, &r, e))
        return -1;
    if (r.lost)
        return error_add(e, EXIT_INTERNAL, "copies of the simulation were lost");
    for (uint32_t i = 0; i < SPLIT_LEVELS; i++) {
        result->share[i] = r.level[i].share;
        result->seen[i] = r.level[i].reached;
    }
    return 0;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

enum { TASK_FINDINGS, TASK_PLAIN, TASK_SPLITTING, TASKS };

struct study_checks {
    unsigned jobs;
    struct checks *checks;
    struct shares plain;
    struct errors *e;
};

static int simulate(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct study_checks *c = ctx;
    const char *file = index == TASK_FINDINGS ? "replicas-study.json" : "replicas-rare.json";
    char *path = data_file("library", file);
    struct findings f;
    struct shares shares;
    struct study s;
    int status;

    if (!path)
        return error_add(e, EXIT_INPUT, "%s is not in hvsim's library", file);
    study_init(&s, path);
    s.quiet = true;
    s.jobs = c->jobs;
    if (index == TASK_FINDINGS) {
        status = find(&s, &f, e);
        fwrite(&f, sizeof f, 1, out);
    } else {
        status = split(&s, index == TASK_PLAIN, &shares, e);
        fwrite(&shares, sizeof shares, 1, out);
    }
    study_free(&s);
    free(path);
    return status;
}

static void add_delay(struct checks *c, const char *name, double physical, double virtual,
                      const struct interval *i)
{
    struct check row = check_row("the study's findings, two replicas", name);

    row.unit = "ms";
    row.reference = physical;
    row.simulated = virtual;
    row.low = physical + i->low;
    row.high = physical + i->high;
    row.tolerance_text = "above that of physical replicas: 95 % interval of the difference above "
                         "0; no verdict across it";
    row.verdict = !interval_given(i) || (i->low <= 0 && i->high > 0) ? VERDICT_NONE
                  : i->low > 0                                       ? VERDICT_HOLDS
                                                                     : VERDICT_SHORT;
    checks_add(c, &row);
}

static void add_findings(struct checks *c, const struct findings *f)
{
    struct check row = check_row("the study's findings, two replicas",
                                 "lift of delays above 5 ms, virtual on one host");
    char *note =
        xasprintf("a lift of %.3g would have been found with 80 %% power", f->smallest_lift);

    add_delay(c, "mean delay, physical and virtual", f->physical_mean, f->virtual_mean, &f->mean);
    add_delay(c, "p99 of the delay, physical and virtual", f->physical_tail, f->virtual_tail,
              &f->tail);
    row.reference = 1;
    row.simulated = f->lift.estimate;
    row.low = f->lift.low;
    row.high = f->lift.high;
    row.tolerance_text = "insignificant: the 95 % interval contains 1 and ends below 1.5";
    row.note = note;
    row.verdict = !interval_given(&f->lift) ? VERDICT_NONE
                  : f->lift.low <= 1 && f->lift.high >= 1 && f->lift.high < LIFT_RELEVANT
                      ? VERDICT_HOLDS
                      : VERDICT_SHORT;
    checks_add(c, &row);
    free(note);
    row = check_row("the study's findings, two replicas",
                    "rounds late after 5 ms: both virtual replicas over one");
    row.reference = 1;
    row.simulated = f->improvement.estimate;
    row.low = f->improvement.low;
    row.high = f->improvement.high;
    row.tolerance_text = "more available: the 95 % interval is below 1";
    row.verdict = !interval_given(&f->improvement) ? VERDICT_NONE
                  : f->improvement.high < 1        ? VERDICT_HOLDS
                                                   : VERDICT_SHORT;
    checks_add(c, &row);
}

static void add_splitting(struct checks *c, const struct shares *plain, const struct shares *copies)
{
    for (uint32_t i = 0; i < SPLIT_LEVELS; i++) {
        const struct interval *a = &plain->share[i], *b = &copies->share[i];
        char *name = xasprintf("P(no setpoint for %u ms)", 4 + 2 * i);
        struct check row = check_row("multilevel splitting against plain runs", name);
        char *note =
            xasprintf("seen %llu times in plain runs, %llu times in copies",
                      (unsigned long long)plain->seen[i], (unsigned long long)copies->seen[i]);
        double half =
            sqrt(interval_half(a) * interval_half(a) + interval_half(b) * interval_half(b));

        row.reference = a->estimate;
        row.simulated = b->estimate;
        row.low = b->low;
        row.high = b->high;
        row.tolerance_text = "the 99 % interval of their difference contains 0";
        row.note = note;
        row.verdict = !interval_given(a) || !interval_given(b)  ? VERDICT_NONE
                      : fabs(a->estimate - b->estimate) <= half ? VERDICT_HOLDS
                                                                : VERDICT_SHORT;
        checks_add(c, &row);
        free(name);
        free(note);
    }
}

static int take(void *ctx, const struct pool_result *r)
{
    struct study_checks *c = ctx;
    size_t size = r->index == TASK_FINDINGS ? sizeof(struct findings) : sizeof(struct shares);

    if (r->outcome != POOL_DONE || r->size != size)
        return error_add(c->e, r->outcome == POOL_FAILED ? r->code : EXIT_INTERNAL,
                         "the study's scenario: %s", r->reason ? r->reason : "no result"),
               0;
    if (r->index == TASK_FINDINGS) {
        struct findings f;

        memcpy(&f, r->data, sizeof f);
        add_findings(c->checks, &f);
    } else {
        struct shares s;

        memcpy(&s, r->data, sizeof s);
        if (r->index == TASK_PLAIN)
            c->plain = s;
        else
            add_splitting(c->checks, &c->plain, &s);
    }
    return 0;
}

int replication_check_study(unsigned jobs, struct checks *c, struct errors *e)
{
    struct study_checks k = {.jobs = jobs, .checks = c, .e = e};
    struct pool pool = {.tasks = TASKS, .jobs = 1, .ctx = &k, .work = simulate, .in_order = take};
    size_t before = e->count;

    if (pool_run(&pool, e) == POOL_INTERRUPTED)
        error_add(e, EXIT_INTERRUPTED, "interrupted");
    return e->count > before ? -1 : 0;
}
