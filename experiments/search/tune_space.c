/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/search/tune.h"

#include "sim/random.h"

#include <math.h>
#include <string.h>

/* Values of a WHOLE variable. */
static size_t steps_of(const struct variable *v)
{
    return (size_t)floor((v->high - v->low) / v->step + 1e-9) + 1;
}

/* Values of a variable; 0 if they cannot be counted. */
static size_t values_of(const struct variable *v)
{
    if (v->kind == VARIABLE_CHOICE)
        return v->choices;
    if (v->kind == VARIABLE_WHOLE)
        return steps_of(v);
    return v->low == v->high ? 1 : 0;
}

size_t space_size(const struct variable *v, size_t variables, size_t most)
{
    size_t size = 1;

    for (size_t i = 0; i < variables; i++) {
        size_t n = values_of(&v[i]);

        if (!n || n > most / size)
            return 0;
        size *= n;
    }
    return size;
}

void space_setting(const struct variable *v, size_t variables, size_t i, double *x)
{
    for (size_t k = variables; k-- > 0;) {
        size_t n = values_of(&v[k]), value;

        BUG_ON(!n); /* only for spaces that space_size() has counted */
        value = i % n;

        i /= n;
        x[k] = v[k].kind == VARIABLE_CHOICE ? (double)value : v[k].low + (double)value * v[k].step;
    }
}

/* A share of the range, 0 to 1, as a value, and back. */
static double value_at(const struct variable *v, double share)
{
    double x;

    share = share < 0 ? 0 : share > 1 ? 1 : share;
    if (v->kind == VARIABLE_WHOLE && !v->log) {
        double n = (double)steps_of(v), i = floor(share * n);

        return v->low + (i < n ? i : n - 1) * v->step;
    }
    x = v->log ? det_exp(det_log(v->low) + share * (det_log(v->high) - det_log(v->low)))
               : v->low + share * (v->high - v->low);
    if (v->kind == VARIABLE_WHOLE)
        x = v->low + round((x - v->low) / v->step) * v->step;
    return x < v->low ? v->low : x > v->high ? v->high : x;
}

static double share_of(const struct variable *v, double x)
{
    if (v->high == v->low)
        return 0.5;
    if (v->log)
        return (det_log(x) - det_log(v->low)) / (det_log(v->high) - det_log(v->low));
    if (v->kind == VARIABLE_WHOLE) /* the middle of its part */
        return ((x - v->low) / v->step + 0.5) / (double)steps_of(v);
    return (x - v->low) / (v->high - v->low);
}

void space_sample(const struct variable *v, size_t variables, struct rng *rng, double *x)
{
    for (size_t i = 0; i < variables; i++) {
        double u = rng_uniform(rng);

        x[i] = v[i].kind == VARIABLE_CHOICE ? floor(u * (double)v[i].choices) : value_at(&v[i], u);
    }
}

/* A choice is kept unless chance, as large as the spread, picks any. */
void space_near(const struct variable *v, size_t variables, const double *center, double spread,
                struct rng *rng, double *x)
{
    for (size_t i = 0; i < variables; i++) {
        double u = rng_uniform(rng), pick = rng_uniform(rng);

        if (v[i].kind == VARIABLE_CHOICE)
            x[i] = pick < spread ? floor(u * (double)v[i].choices) : center[i];
        else
            x[i] = value_at(&v[i], share_of(&v[i], center[i]) + spread * det_normal_quantile(u));
    }
}
