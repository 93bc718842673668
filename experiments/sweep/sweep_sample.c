/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points that fill a space: the Latin hypercube (McKay, Beckman, Conover, Technometrics 21(2),
 * 1979) and Sobol's sequence, from GSL, of which the first point (all zero) is left out as usual.
 * Both give the middle of a cell, never 0 or 1.
 */
#include "experiments/sweep/sweep_design.h"

#include "sim/random.h"

#include <gsl/gsl_qrng.h>
#include <stdlib.h>

enum { SOBOL_DIMENSIONS = 40 }; /* gsl_qrng_sobol has no more */

static void latin_hypercube(const struct sampling_spec *s, size_t dimensions, double *u)
{
    uint32_t n = (uint32_t)s->points, *order = xcalloc(n, sizeof *order);

    for (size_t k = 0; k < dimensions; k++) {
        struct rng rng;
        char *axis = xasprintf("axis %zu", k);

        rng_init(&rng, (uint64_t)s->seed, 0, axis, "latin hypercube");
        free(axis);
        rng_permutation(&rng, order, n);
        for (uint32_t i = 0; i < n; i++)
            u[i * dimensions + k] = ((double)order[i] + 0.5) / n;
    }
    free(order);
}

static int sobol(const struct sampling_spec *s, size_t dimensions, double *u, struct errors *e)
{
    gsl_qrng *q;
    double *skipped;

    if (dimensions > SOBOL_DIMENSIONS)
        return error_add(
            e, EXIT_INPUT,
            "Sobol's sequence has at most %d dimensions, and %zu axes are sampled: use "
            "\"latin_hypercube\"",
            SOBOL_DIMENSIONS, dimensions);
    q = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)dimensions);
    skipped = xcalloc(dimensions, sizeof *skipped);
    gsl_qrng_get(q, skipped);
    if (skipped[0] > 0) /* GSL leaves the zero out by itself */
        gsl_qrng_init(q);
    for (int64_t i = 0; i < s->points; i++)
        gsl_qrng_get(q, &u[(size_t)i * dimensions]);
    gsl_qrng_free(q);
    free(skipped);
    return 0;
}

int design_sample(const struct sampling_spec *s, size_t dimensions, double *u, struct errors *e)
{
    if (s->method == SAMPLE_SOBOL)
        return sobol(s, dimensions, u, e);
    latin_hypercube(s, dimensions, u);
    return 0;
}
