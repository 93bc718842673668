/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures of control loops: lateness over the deadline, of one variant or of all; dependence in
 * the upper tail.
 */
#include "experiments/results/control_report.h"
#include "experiments/results/gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVE_POINTS = 60, VARIANTS_DRAWN = 16 };

struct picture {
    const struct variant *variant;
    size_t loop;
    const struct loop_rounds *rounds;
    const char *base;
};

static double ms(sim_time t)
{
    return (double)t / 1e6;
}

static void put_share(double x, FILE *out)
{
    char number[NUMBER_TEXT];

    fprintf(out, " %s", x > 0 ? number_format(x, number) : "nan");
}

/* The beginning of a script, up to its axes. */
static void put_heading(const char *base, const char *title, FILE *out)
{
    fprintf(out,
            "# gnuplot %s.gp draws %s.svg and %s.png from %s.dat\n"
            "set encoding utf8\n"
            "set logscale xy\n"
            "set format x '%%g'\n"
            "set grid\n"
            "set title ",
            base, base, base, base);
    gnuplot_quote(*title ? title : base, out);
    fputs(" noenhanced\n", out);
}

/* ---- lateness over the deadline ----------------------------------------------------------------
 */

/* Shares of rounds that are late after `deadline` ms: mean of the replicas, all, all if they were
 * independent; and P(second late | first late). */
static void shares(const struct loop_rounds *r, double deadline, double share[4])
{
    double pair = 0, product = 1, sum = 0, all = 0, single = 0;
    uint32_t g = r->replicas;

    for (size_t i = 0; i < r->rounds; i++) {
        uint32_t late = 0;

        for (uint32_t j = 0; j < g; j++)
            late += r->delay[i * g + j] > deadline;
        all += late == g;
        pair += (double)late * (late - 1.0);
        single += (double)late * (g - 1.0);
    }
    for (uint32_t j = 0; j < g; j++) {
        double late = 0;

        for (size_t i = 0; i < r->rounds; i++)
            late += r->delay[i * g + j] > deadline;
        product *= late / (double)r->rounds;
        sum += late / (double)r->rounds;
    }
    share[0] = sum / g;
    share[1] = all / (double)r->rounds;
    share[2] = product;
    share[3] = single > 0 ? pair / single : NAN;
}

/* Deadlines from 1 ms to the time after which setpoints are given up: a line of each with what
 * `put` has to say about it. */
static void each_deadline(const struct picture *p, void (*put)(const double share[4], FILE *out),
                          FILE *out)
{
    const struct control_params *c = &p->variant->roster->loop[p->loop].spec->control;
    double last = ms(c->give_up * c->period), deadline = 1;
    double step = det_exp(det_log(last) / CURVE_POINTS);

    for (int i = 0; i <= CURVE_POINTS; i++, deadline *= step) {
        double share[4];
        char number[NUMBER_TEXT];

        shares(p->rounds, deadline, share);
        fprintf(out, "%s", number_format(deadline, number));
        put(share, out);
        fputc('\n', out);
    }
}

static void put_shares(const double share[4], FILE *out)
{
    for (int k = 0; k < 4; k++)
        put_share(share[k], out);
}

static void write_curve(const void *ctx, FILE *out)
{
    fputs("# deadline_ms late all_late all_late_if_independent second_late_if_first\n", out);
    each_deadline(ctx, put_shares, out);
}

static void write_curve_script(const void *ctx, FILE *out)
{
    const struct picture *p = ctx;

    put_heading(p->base, p->variant->scenario->title, out);
    fputs("set xlabel 'deadline (ms)'\n"
          "set ylabel 'share of rounds'\n"
          "set key bottom left\n",
          out);
    for (int picture = 0; picture < 2; picture++) {
        gnuplot_terminal(picture, p->base, out);
        fprintf(out, "plot '%s.dat' using 1:2 with lines linewidth 2 title 'a replica is late'",
                p->base);
        if (p->rounds->replicas > 1)
            fprintf(out, ", \\\n     '' using 1:3 with lines linewidth 2 title 'all are'"
                         ", \\\n     '' using 1:4 with lines dashtype 2 title 'all would be, if "
                         "independent'"
                         ", \\\n     '' using 1:5 with lines title 'a second is, if one is'");
        fputs("\nunset output\n", out);
    }
}

/* ---- dependence in the upper tail --------------------------------------------------------------
 */

/* 1 - q, then for each pair of replicas the dependence at q and its interval. */
static void write_tails(const void *ctx, FILE *out)
{
    const struct picture *p = ctx;
    uint32_t g = p->rounds->replicas;
    double level = percent_fraction(p->variant->scenario->confidence);
    struct interval tail[LOOP_TAILS];
    char number[NUMBER_TEXT];

    fputs("# one_minus_quantile dependence low high; a block for each pair\n", out);
    for (uint32_t j = 0; j < g; j++)
        for (uint32_t k = j + 1; k < g; k++) {
            loop_tails(p->rounds, j, k, level, (uint64_t)p->variant->scenario->seed, tail);
            fprintf(out, "%s# %u and %u\n", k > 1 ? "\n\n" : "", j + 1, k + 1);
            for (size_t i = 0; i < LOOP_TAILS; i++) {
                fprintf(out, "%s", number_format(1 - loop_tail_levels[i], number));
                put_share(interval_given(&tail[i]) ? tail[i].estimate : NAN, out);
                put_share(tail[i].low, out);
                put_share(tail[i].high, out);
                fputc('\n', out);
            }
        }
}

static void write_tails_script(const void *ctx, FILE *out)
{
    const struct picture *p = ctx;
    const struct roster_loop *l = &p->variant->roster->loop[p->loop];
    const struct roster_replica *r = &p->variant->roster->replica[l->first_replica];
    uint32_t g = p->rounds->replicas;
    int block = 0;

    put_heading(p->base, p->variant->scenario->title, out);
    fputs("set xlabel 'slowest part of the rounds of each'\n"
          "set ylabel 'P(one is among its slowest | the other is)'\n"
          "set xrange [0.6:0.0008] reverse\n"
          "set yrange [0.0005:1.2]\n"
          "set key bottom left\n",
          out);
    for (int picture = 0; picture < 2; picture++) {
        gnuplot_terminal(picture, p->base, out);
        fputs("plot x with lines dashtype 2 title 'if independent'", out);
        block = 0;
        for (uint32_t j = 0; j < g; j++)
            for (uint32_t k = j + 1; k < g; k++) {
                char *pair = xasprintf("%s and %s", r[j].name, r[k].name);

                fprintf(out,
                        ", \\\n     '%s.dat' index %d using 1:2:3:4 with yerrorlines linewidth 2 "
                        "title ",
                        p->base, block++);
                gnuplot_quote(pair, out);
                fputs(" noenhanced", out);
                free(pair);
            }
        fputs("\nunset output\n", out);
    }
}

void control_pictures(const struct variant *v, size_t loop, const struct loop_rounds *r,
                      const char *dir, bool quiet, struct errors *e)
{
    const char *name = v->roster->loop[loop].spec->name;
    char *lateness = xasprintf("lateness-%s", name), *tails = xasprintf("tails-%s", name);

    gnuplot_picture(dir, lateness, write_curve, write_curve_script,
                    &(struct picture){v, loop, r, lateness}, quiet, e);
    if (r->replicas > 1)
        gnuplot_picture(dir, tails, write_tails, write_tails_script,
                        &(struct picture){v, loop, r, tails}, quiet, e);
    free(lateness);
    free(tails);
}

/* ---- all variants ------------------------------------------------------------------------------
 */

struct comparison_picture {
    const struct study *study;
    size_t loop; /* of the first variant */
    const char *base;
};

/* The loop in another variant; SIZE_MAX: it has none. */
static size_t same_loop(const struct comparison_picture *p, const struct variant *v)
{
    const char *name = p->study->variant[0].roster->loop[p->loop].spec->name;

    for (size_t i = 0; i < v->roster->loops; i++)
        if (!strcmp(v->roster->loop[i].spec->name, name))
            return i;
    return SIZE_MAX;
}

static void put_all_late(const double share[4], FILE *out)
{
    put_share(share[1], out);
}

static void write_curves(const void *ctx, FILE *out)
{
    const struct comparison_picture *p = ctx;

    fputs("# deadline_ms all_late; a block for each variant\n", out);
    for (size_t i = 0; i < p->study->variants; i++) {
        const struct variant *v = &p->study->variant[i];
        size_t loop = same_loop(p, v);

        fprintf(out, "%s# %s\n", i ? "\n\n" : "", v->label);
        if (loop != SIZE_MAX) {
            struct loop_rounds r = loop_rounds_of(v, loop);

            each_deadline(&(struct picture){v, loop, &r, p->base}, put_all_late, out);
            loop_rounds_free(&r);
        } else {
            fputs("1 nan\n", out);
        }
    }
}

static void write_curves_script(const void *ctx, FILE *out)
{
    const struct comparison_picture *p = ctx;

    put_heading(p->base, p->study->variant[0].scenario->title, out);
    fputs("set xlabel 'deadline (ms)'\n"
          "set ylabel 'share of rounds in which all replicas are late'\n"
          "set key outside below center vertical maxrows 8\n",
          out);
    gnuplot_variants(p->study, p->base, "using 1:2 with lines", out);
}

void control_compare_pictures(const struct study *s, const char *dir, bool quiet, struct errors *e)
{
    const struct roster *r = s->variant[0].roster;

    for (size_t i = 0; i < r->loops && s->variants <= VARIANTS_DRAWN && s->variant[0].tally.count;
         i++) {
        char *base = xasprintf("lateness-%s", r->loop[i].spec->name);

        gnuplot_picture(dir, base, write_curves, write_curves_script,
                        &(struct comparison_picture){s, i, base}, quiet, e);
        free(base);
    }
}
