/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control loops of all variants of a study in one table: on the terminal, and as control.csv. */
#include "experiments/results/control_report.h"
#include "experiments/results/grid.h"
#include "experiments/results/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The loop of that name in a variant; SIZE_MAX: it has none. */
static size_t loop_named(const struct variant *v, const char *name)
{
    for (size_t i = 0; i < v->roster->loops; i++)
        if (!strcmp(v->roster->loop[i].spec->name, name))
            return i;
    return SIZE_MAX;
}

static double level_of(const struct variant *v)
{
    return percent_fraction(v->scenario->confidence);
}

static double mean_late(const struct loop_rounds *r, const struct loop_deadline *d)
{
    double sum = 0;

    for (uint32_t j = 0; j < r->replicas; j++)
        sum += d->late[j].estimate;
    return sum / r->replicas;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_row(struct grid *g, const struct variant *v, size_t loop, size_t at)
{
    const struct loop_spec *spec = v->roster->loop[loop].spec;
    struct loop_rounds r = loop_rounds_of(v, loop);
    struct loop_service s = loop_service_of(&r, (double)spec->control.period / 1e9, level_of(v));
    size_t count;
    double *deadline = control_deadlines(spec, &count);

    if (at < count) {
        struct loop_deadline d =
            loop_deadline_of(&r, deadline[at], level_of(v), (uint64_t)v->scenario->seed);

        grid_row(g);
        grid_put(g, "  %s", v->label);
        grid_put_value(g, deadline[at]);
        if (deadline[at] * 1e6 == (double)spec->control.horizon)
            grid_put_range(g, &s.unavailable, 100);
        else
            grid_put(g, "%s", "");
        grid_put_value(g, 100 * mean_late(&r, &d));
        if (r.replicas > 1) {
            grid_put_range(g, &d.joint.all_late, 100);
            grid_put_value(g, 100 * d.joint.independent);
            grid_put_range(g, &d.joint.lift, 1);
            grid_put_value(g, d.smallest_lift);
            grid_put_range(g, &d.joint.phi, 1);
        }
    }
    free(deadline);
    loop_rounds_free(&r);
}

static size_t most_deadlines(const struct study *s, const char *name)
{
    size_t most = 0;

    for (size_t i = 0; i < s->variants; i++) {
        size_t loop = loop_named(&s->variant[i], name), count;

        if (loop == SIZE_MAX)
            continue;
        free(control_deadlines(s->variant[i].roster->loop[loop].spec, &count));
        most = count > most ? count : most;
    }
    return most;
}

static void print_loop(const struct study *s, const char *name, FILE *out)
{
    static const char *const heads[] = {
        "late after, ms", "unavailable, %", "one of them, %", "all, %",
        "if independent", "lift",           "found from",     "phi"};
    struct grid g;

    grid_init(&g, 1 + sizeof heads / sizeof *heads);
    grid_row(&g);
    grid_put(&g, "%s", "");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        grid_put(&g, "%s", heads[i]);
    for (size_t at = 0; at < most_deadlines(s, name); at++)
        for (size_t i = 0; i < s->variants; i++) {
            size_t loop = loop_named(&s->variant[i], name);

            if (loop != SIZE_MAX && s->variant[i].tally.count)
                print_row(&g, &s->variant[i], loop, at);
        }
    fprintf(out, "\n%s: lateness of replicas\n", name);
    grid_print(&g, out);
    grid_free(&g);
}

void control_compare(const struct study *s, FILE *out)
{
    const struct roster *r = s->variant[0].roster;

    for (size_t i = 0; i < r->loops; i++)
        print_loop(s, r->loop[i].spec->name, out);
}

/* ---- control.csv ----------------------------------------------------------------------------- */

static void put_interval(const struct interval *i, double scale, FILE *out)
{
    results_put_cell(i->estimate * scale, out);
    results_put_cell(interval_given(i) ? i->low * scale : NAN, out);
    results_put_cell(interval_given(i) ? i->high * scale : NAN, out);
}

static void write_deadline(const struct loop_rounds *r, const struct loop_deadline *d, FILE *out)
{
    static const struct interval none = {.estimate = NAN, .low = NAN, .high = NAN};
    bool joint = r->replicas > 1;

    results_put_cell(100 * mean_late(r, d), out);
    put_interval(joint ? &d->joint.all_late : &d->late[0], 100, out);
    results_put_cell(joint ? 100 * d->joint.independent : NAN, out);
    put_interval(joint ? &d->joint.lift : &none, 1, out);
    results_put_cell(d->smallest_lift, out);
    put_interval(joint ? &d->joint.conditional : &none, 1, out);
    put_interval(joint ? &d->joint.phi : &none, 1, out);
}

static void write_loop(const struct variant *v, size_t loop, bool several, FILE *out)
{
    static const struct interval none = {.estimate = NAN, .low = NAN, .high = NAN};
    const struct loop_spec *spec = v->roster->loop[loop].spec;
    struct loop_rounds r = loop_rounds_of(v, loop);
    struct loop_service s = loop_service_of(&r, (double)spec->control.period / 1e9, level_of(v));
    struct interval rare = none;
    size_t count;
    double *deadline = control_deadlines(spec, &count);

    loop_rare(v, loop, &rare);
    for (size_t i = 0; i < count; i++) {
        struct loop_deadline d =
            loop_deadline_of(&r, deadline[i], level_of(v), (uint64_t)v->scenario->seed);
        bool horizon = deadline[i] * 1e6 == (double)spec->control.horizon;

        if (several) {
            results_put_text(v->label, out);
            fputc(',', out);
        }
        fprintf(out, "%s,%u,%zu", spec->name, r.replicas, r.rounds);
        results_put_cell(deadline[i], out);
        put_interval(horizon ? &s.unavailable : &none, 100, out);
        results_put_cell(horizon ? s.mttf : NAN, out);
        results_put_cell(horizon ? s.mttr : NAN, out);
        put_interval(horizon ? &rare : &none, 100, out);
        write_deadline(&r, &d, out);
        fputc('\n', out);
    }
    free(deadline);
    loop_rounds_free(&r);
}

static void write_csv(const void *ctx, FILE *out)
{
    const struct study *s = ctx;
    bool several = s->variants > 1 || *s->variant[0].label;

    fprintf(out,
            "%sloop,replicas,rounds,deadline_ms,unavailable_percent,unavailable_low,"
            "unavailable_high,mttf_s,mttr_s,sampled_percent,sampled_low,sampled_high,"
            "late_percent,all_late_percent,all_late_low,all_late_high,independent_percent,"
            "lift,lift_low,lift_high,smallest_lift,second_late,second_late_low,"
            "second_late_high,phi,phi_low,phi_high\n",
            several ? "variant," : "");
    for (size_t i = 0; i < s->variants; i++)
        for (size_t k = 0; k < s->variant[i].roster->loops && s->variant[i].tally.count; k++)
            write_loop(&s->variant[i], k, several, out);
}

void control_csv(const struct study *s, const char *dir, struct errors *e)
{
    bool any = false;

    for (size_t i = 0; i < s->variants; i++)
        any = any || s->variant[i].roster->loops;
    if (any)
        results_file(dir, "control.csv", write_csv, s, e);
}
