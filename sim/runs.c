/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/runs.h"

#include "sim/detmath.h"

#include <math.h>

void runs_add(struct runs *r, const bool *bad, size_t n, size_t stride)
{
    uint64_t length = 0;
    bool before = false;

    r->series += n > 0;
    for (size_t i = 0; i < n; i++) {
        bool now = bad[i * stride];

        r->steps++;
        r->bad += now;
        if (now && !before) {
            r->bad_runs++;
            r->failures += i > 0;
            length = 0;
        }
        r->repairs += before && !now;
        length += now;
        if (length > r->longest)
            r->longest = length;
        before = now;
    }
}

double runs_to_failure(const struct runs *r)
{
    return r->failures ? (double)(r->steps - r->bad) / (double)r->failures : NAN;
}

double runs_to_repair(const struct runs *r)
{
    return r->repairs ? (double)r->bad / (double)r->repairs : NAN;
}

double runs_mean(const struct runs *r)
{
    return r->bad_runs ? (double)r->bad / (double)r->bad_runs : NAN;
}

/* P(N >= k) for N Poisson of that mean. */
static double at_least(double mean, uint64_t k)
{
    double term = det_exp(-mean), below = 0;

    if (mean > 600) { /* towards the end of exp's range: the normal distribution is exact enough */
        double z = ((double)k - 0.5 - mean) / sqrt(mean);

        return 1 - det_normal_cdf(z);
    }
    for (uint64_t i = 0; i < k; i++) {
        below += term;
        term *= mean / (double)(i + 1);
    }
    return below < 1 ? 1 - below : 0;
}

double smallest_factor(double expected, double design, double level, double power)
{
    double mean = expected / (design > 1 ? design : 1), low = 1, high = 1;
    uint64_t critical;

    if (!(mean > 0))
        return INFINITY;
    critical = (uint64_t)mean + 1; /* no lower: half of the counts reach the mean */
    while (at_least(mean, critical) > (1 - level) / 2)
        critical++;
    while (at_least(mean * high, critical) < power)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        if (at_least(mean * middle, critical) < power)
            low = middle;
        else
            high = middle;
    }
    return high;
}
