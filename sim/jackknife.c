/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/jackknife.h"

#include "sim/detmath.h"
#include "sim/sample.h"

#include <math.h>

struct interval interval_jackknife(double estimate, const double *without, size_t n, double level)
{
    struct interval i = {.estimate = estimate, .low = NAN, .high = NAN, .level = level, .n = n};
    double mean = mean_of(without, n), sum = 0, half;

    for (size_t k = 0; k < n; k++)
        sum += (without[k] - mean) * (without[k] - mean);
    if (n < 2 || isnan(sum) || isnan(estimate)) {
        i.none = INTERVAL_FEW_VALUES;
        i.need = 2;
        return i;
    }
    half = det_t_quantile((1 + level) / 2, (double)(n - 1)) *
           sqrt(sum * ((double)(n - 1) / (double)n));
    i.low = estimate - half;
    i.high = estimate + half;
    return i;
}
