/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The time is told from a pilot: the first replication of some points spread over the sweep, each
 * for a second at most; what is not done by then is extrapolated from the simulated time it
 * reached.
 */
#include "experiments/sweep/sweep_plan.h"

#include "experiments/results/grid.h"
#include "sim/json_writer.h"
#include "sim/pool.h"
#include "sim/progress.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PILOT_S 1.0

enum { PILOTS = 8 };

struct pilot {
    const struct sweep *sweep;
    size_t point[PILOTS];
    size_t points;
    int64_t *reached; /* by pilot; shared with the workers */
    double seconds[PILOTS];
    double sum;
    size_t told;
    char *reason; /* of the first that failed */
};

/* ---- pilot ------------------------------------------------------------------------------------
 */

static int simulate(void *ctx, size_t index, FILE *out, struct errors *e)
{
    struct pilot *p = ctx;
    struct sweep_time took;
    char *text;

    (void)out;
    if (sweep_replicate(p->sweep, p->point[index], 0, &p->reached[index], &text, &took, e))
        return -1;
    free(text);
    return 0;
}

/* Simulated time of a replication of this point. */
static double span_of(const struct sweep *s, size_t point)
{
    struct errors none = ERRORS_NONE;
    struct json *doc = sweep_scenario(s, point, &none);
    struct scenario *scenario = doc ? scenario_read(doc, s->dir, &none) : NULL;
    double span = 1;

    if (scenario)
        span = (double)(scenario->warmup + scenario->duration +
                        (scenario->clients.count ? scenario->drain : 0));
    scenario_free(scenario);
    json_free(doc);
    errors_free(&none);
    return span;
}

static int take(void *ctx, const struct pool_result *result)
{
    struct pilot *p = ctx;
    double share = (double)p->reached[result->index] / span_of(p->sweep, p->point[result->index]);

    if (result->outcome == POOL_DONE)
        share = 1;
    else if (result->outcome != POOL_TIMED_OUT && !p->reason)
        p->reason = xstrdup(result->reason);
    if (share <= 0 || (result->outcome != POOL_DONE && result->outcome != POOL_TIMED_OUT))
        return 0;
    p->sum += result->seconds / (share < 1 ? share : 1);
    p->told++;
    return 0;
}

/* Mean seconds of a replication; below 0 if it cannot be told. */
static double pilot(const struct sweep *s, const struct plan_options *o, char **reason,
                    struct errors *e)
{
    struct pilot p = {.sweep = s};
    struct pool pool = {
        .jobs = o->jobs, .seconds = PILOT_S, .ctx = &p, .work = simulate, .completed = take};
    size_t size = PILOTS * sizeof *p.reached;

    if (sweep_prepare(s, o->jobs, e))
        return -1;
    p.reached = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p.reached == MAP_FAILED)
        return -1;
    p.points = s->points < PILOTS ? s->points : PILOTS;
    for (size_t i = 0; i < p.points; i++) /* the middle of each of so many parts */
        p.point[i] = (2 * i + 1) * s->points / (2 * p.points);
    pool.tasks = p.points;
    if (pool_run(&pool, e) == POOL_INTERRUPTED)
        error_add(e, EXIT_INTERRUPTED, "interrupted");
    munmap(p.reached, size);
    *reason = p.reason;
    return p.told ? p.sum / (double)p.told : -1;
}

/* ---- words ------------------------------------------------------------------------------------
 */

static char *duration_text(double s)
{
    if (s < 0.1)
        return xasprintf("%.3g ms", s * 1e3);
    if (s < 90)
        return xasprintf("%.3g s", s);
    if (s < 5400)
        return xasprintf("%.0f min", s / 60);
    if (s < 172800)
        return xasprintf("%.1f h", s / 3600);
    return xasprintf("%.1f days", s / 86400);
}

static uint64_t replications_of(const struct sweep *s, bool least)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < s->points; i++)
        sum += least && s->spec.stop ? (uint64_t)s->spec.stop->least : s->point[i].replications;
    return sum;
}

static void print_time(const struct sweep *s, unsigned jobs, double seconds, FILE *out)
{
    char *each = duration_text(seconds);
    char *least = duration_text(seconds * (double)replications_of(s, true) / jobs);
    char *most = duration_text(seconds * (double)replications_of(s, false) / jobs);

    fprintf(out, "About %s a replication: ", each);
    if (s->spec.stop)
        fprintf(out, "%s to %s in all on %u workers.\n", least, most, jobs);
    else
        fprintf(out, "%s in all on %u worker%s.\n", most, jobs, jobs > 1 ? "s" : "");
    free(each);
    free(least);
    free(most);
}

static void print_counts(const struct sweep *s, FILE *out)
{
    uint64_t most = replications_of(s, false);

    fprintf(out, "%zu point%s: ", s->points, s->points > 1 ? "s" : "");
    for (size_t i = 0; i < s->design.axes; i++)
        fprintf(out, "%s%s (%zu)", i ? ", " : "", s->design.axis[i].name, s->design.axis[i].levels);
    if (s->spec.only.count)
        fprintf(out, ", under %zu condition%s", s->spec.only.count,
                s->spec.only.count > 1 ? "s" : "");
    if (s->spec.stop)
        fprintf(out, ".\n%llu to %llu replications, until %s is known within %g%%.\n",
                (unsigned long long)replications_of(s, true), (unsigned long long)most,
                s->spec.stop->metric, percent_fraction(s->spec.stop->relative) * 100);
    else
        fprintf(out, ".\n%llu replications.\n", (unsigned long long)most);
}

static void print_first(const struct sweep *s, size_t first, FILE *out)
{
    struct grid g;

    grid_init(&g, s->design.axes + 2);
    grid_row(&g);
    grid_put(&g, "point");
    for (size_t i = 0; i < s->design.axes; i++)
        grid_put(&g, "%s", s->design.axis[i].name);
    grid_put(&g, "replications");
    for (size_t p = 0; p < s->points && p < first; p++) {
        grid_row(&g);
        grid_put(&g, "%zu", p);
        for (size_t i = 0; i < s->design.axes; i++)
            grid_put(&g, "%s", design_level(&s->design, p, i)->text);
        grid_put(&g, "%s%u", s->spec.stop ? "up to " : "", s->point[p].replications);
    }
    fputc('\n', out);
    grid_print(&g, out);
    if (s->points > first)
        fprintf(out, "... and %zu more\n", s->points - first);
    grid_free(&g);
}

static void print_json(const struct sweep *s, size_t first, unsigned jobs, double seconds,
                       FILE *out)
{
    struct json_writer w = json_writer(out, JSON_LINES);

    json_begin(&w, NULL, '{');
    json_put_integer(&w, "points", (int64_t)s->points);
    json_put_integer(&w, "least_replications", (int64_t)replications_of(s, true));
    json_put_integer(&w, "most_replications", (int64_t)replications_of(s, false));
    if (seconds >= 0) {
        json_put_number(&w, "seconds_per_replication", seconds);
        json_put_number(&w, "seconds_at_most", seconds * (double)replications_of(s, false) / jobs);
    }
    json_begin(&w, "first", '[');
    for (size_t p = 0; p < s->points && p < first; p++) {
        json_begin_inline(&w, NULL, '{');
        for (size_t i = 0; i < s->design.axes; i++)
            json_put_string(&w, s->design.axis[i].name, design_level(&s->design, p, i)->text);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
}

int sweep_plan(const struct sweep *s, const struct plan_options *o, FILE *out, struct errors *e)
{
    unsigned jobs = o->jobs ? o->jobs : pool_cpus();
    size_t before = e->count;
    double seconds = -1;
    char *reason = NULL;

    if (o->pilot)
        seconds = pilot(s, o, &reason, e);
    if (e->count > before) {
        free(reason);
        return -1;
    }
    if (o->json) {
        print_json(s, o->first, jobs, seconds, out);
        free(reason);
        return 0;
    }
    if (*s->spec.title)
        fprintf(out, "%s\n", s->spec.title);
    print_counts(s, out);
    if (seconds >= 0)
        print_time(s, jobs, seconds, out);
    if (reason)
        fprintf(out, "A point failed in a trial: %s\n", reason);
    print_first(s, o->first, out);
    free(reason);
    return 0;
}
