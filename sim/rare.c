/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/rare.h"

#include <math.h>

bool biased_event(struct biased *b, double p, double q)
{
    bool happens = rng_bernoulli(b->rng, q);

    b->weight *= happens ? p / q : (1 - p) / (1 - q);
    return happens;
}

double biased_uniform(struct biased *b, double share, double tail)
{
    bool from_tail = rng_bernoulli(b->rng, share), upper = rng_bernoulli(b->rng, 0.5);
    bool wide = rng_bernoulli(b->rng, 0.5);
    double narrow_tail = tail < 0.5 ? tail : 0.5, wide_tail = tail < 0.05 ? 10 * tail : 0.5;
    double u = rng_uniform(b->rng), size = wide ? wide_tail : narrow_tail, end;
    double density = 1 - share;

    if (from_tail)
        u = upper ? 1 - size * u : size * u;
    end = u < 0.5 ? u : 1 - u;
    if (end < narrow_tail)
        density += share / (4 * narrow_tail);
    if (end < wide_tail)
        density += share / (4 * wide_tail);
    b->weight /= density;
    return u;
}

struct rng rng_yielding(double u)
{
    /* The generator's output is rotl(s1 * 5, 7) * 9: undone step by step, with the inverses of 9
     * and 5 modulo 2^64. rng_uniform() takes the upper 52 bits. */
    double scaled = u * 0x1p52;
    uint64_t top = scaled < 0x1p52 - 1 ? (uint64_t)scaled : (UINT64_C(1) << 52) - 1;
    uint64_t out = top << 12, s1 = out * UINT64_C(0x8e38e38e38e38e39);

    s1 = (s1 >> 7 | s1 << 57) * UINT64_C(0xcccccccccccccccd);
    return (struct rng){{1, s1, 2, 3}};
}

struct interval interval_weighted(const double *batch_mean, size_t batches, double level)
{
    struct interval i = interval_mean(batch_mean, batches, level);

    if (batches < 10) {
        i.none = INTERVAL_FEW_VALUES;
        i.need = 10;
        i.low = i.high = NAN;
    }
    if (interval_given(&i) && i.low < 0)
        i.low = 0;
    return i;
}
