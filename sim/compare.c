/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/compare.h"

#include "sim/detmath.h"
#include "sim/error.h"
#include "sim/sample.h"

#include <math.h>
#include <stdlib.h>

/* From the probabilities of what was seen or anything smaller, or larger. */
static double p_value(double at_most, double at_least, enum alternative alternative)
{
    double p;

    switch (alternative) {
    case GREATER:
        return at_least;
    case LESS:
        return at_most;
    default:
        p = 2 * (at_most < at_least ? at_most : at_least);
        return p > 1 ? 1 : p;
    }
}

double paired_t_test(const double *a, const double *b, size_t n, enum alternative alternative)
{
    struct running d = {0};
    double error, t, df;

    for (size_t i = 0; i < n; i++)
        running_add(&d, a[i] - b[i]);
    if (n < 2)
        return NAN;
    if (d.min == d.max) { /* no spread: the sign is certain */
        if (d.mean == 0)
            return 1;
        return p_value(d.mean < 0 ? 0 : 1, d.mean > 0 ? 0 : 1, alternative);
    }
    error = sqrt(running_variance(&d) / (double)n);
    t = d.mean / error;
    df = (double)(n - 1);
    return p_value(det_t_cdf(t, df), det_t_cdf(-t, df), alternative);
}

/* P(at most k of n) for fair coins. */
static double coin_cdf(size_t k, size_t n)
{
    return k >= n ? 1 : det_beta_cdf(0.5, (double)(n - k), (double)k + 1);
}

double paired_sign_test(const double *a, const double *b, size_t n, enum alternative alternative)
{
    size_t above = 0, below = 0;

    for (size_t i = 0; i < n; i++) {
        above += a[i] > b[i];
        below += a[i] < b[i];
    }
    if (above + below == 0)
        return 1;
    return p_value(coin_cdf(above, above + below), coin_cdf(below, above + below), alternative);
}

struct indexed {
    double p;
    size_t index;
};

static int by_p(const void *a, const void *b)
{
    const struct indexed *x = a, *y = b;

    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

void holm_adjust(const double *p, double *adjusted, size_t m)
{
    struct indexed *order = xcalloc(m, sizeof *order);
    double highest = 0;

    for (size_t i = 0; i < m; i++)
        order[i] = (struct indexed){p[i], i};
    if (m > 1)
        qsort(order, m, sizeof *order, by_p);
    for (size_t i = 0; i < m; i++) {
        double x = order[i].p * (double)(m - i);

        highest = x > highest ? x : highest;
        adjusted[order[i].index] = highest > 1 ? 1 : highest;
    }
    free(order);
}

/* ---- Race ---- */

size_t race_best(const struct race *r, const double *const *score, const bool *alive,
                 size_t variants, size_t n)
{
    size_t best = variants;
    double best_mean = 0;

    for (size_t v = 0; v < variants; v++) {
        double mean;

        if (!alive[v])
            continue;
        mean = mean_of(score[v], n);
        if (best == variants || (r->larger_is_better ? mean > best_mean : mean < best_mean)) {
            best = v;
            best_mean = mean;
        }
    }
    return best;
}

size_t race_against(const struct race *r, const double *const *score, bool *alive, size_t variants,
                    size_t n, size_t reference)
{
    enum alternative worse = r->larger_is_better ? LESS : GREATER;
    double *p, alpha = r->alpha / (double)(r->looks ? r->looks : 1);
    size_t *rival, rivals = 0, dropped = 0;

    if (n < r->first || n < RACE_LEAST)
        return 0;
    p = xcalloc(variants, sizeof *p);
    rival = xcalloc(variants, sizeof *rival);
    for (size_t v = 0; v < variants; v++) {
        if (!alive[v] || v == reference)
            continue;
        p[rivals] = (r->test == RACE_SIGN ? paired_sign_test
                                          : paired_t_test)(score[v], score[reference], n, worse);
        rival[rivals++] = v;
    }
    /* The best variant is compared with whichever rival looks best by chance. The union bound over
     * its rivals holds whatever that is; Holm's gentler steps would not. */
    for (size_t i = 0; i < rivals; i++)
        if (p[i] * (double)rivals <= alpha) {
            alive[rival[i]] = false;
            dropped++;
        }
    free(p);
    free(rival);
    return dropped;
}

size_t race_look(const struct race *r, const double *const *score, bool *alive, size_t variants,
                 size_t n)
{
    size_t best = race_best(r, score, alive, variants, n);

    return best < variants ? race_against(r, score, alive, variants, n, best) : 0;
}
