/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/sequential.h"

#include <math.h>

#define LEAST_REPLICATIONS 10

size_t look_after(size_t n, size_t least, size_t most)
{
    size_t next = least < LEAST_REPLICATIONS ? LEAST_REPLICATIONS : least;

    while (next <= n)
        next += next / 10;
    if (next < most)
        return next;
    return n < most ? most : 0;
}

size_t looks_until(size_t least, size_t most)
{
    size_t looks = 0;

    for (size_t n = 0; (n = look_after(n, least, most));)
        looks++;
    return looks;
}

bool stopping_reached(double relative, const struct interval *i)
{
    return interval_given(i) && interval_half(i) <= relative / (1 + relative) * fabs(i->estimate);
}

struct stopping_state stopping_begin(size_t least, size_t most)
{
    return (struct stopping_state){look_after(0, least, most), false};
}

/* Twice as many replications narrow an interval by sqrt(2); some more, as its width is a guess. */
#define GOOD_FOR_TWICE (0.85 * 1.4142135623730951)

bool stopping_decide(struct stopping_state *s, double relative, const struct interval *i,
                     size_t most)
{
    struct interval narrower = *i;

    if (s->n >= most || (s->confirming && stopping_reached(relative, i)))
        return true;
    if (s->confirming) {
        s->n += s->n / 4;
    } else {
        narrower.low = i->estimate - interval_half(i) / GOOD_FOR_TWICE;
        narrower.high = i->estimate + interval_half(i) / GOOD_FOR_TWICE;
        s->confirming = stopping_reached(relative, &narrower);
        s->n = s->confirming ? 2 * s->n : s->n + s->n / 10;
    }
    if (s->n > most)
        s->n = most;
    return false;
}

enum bound_verdict bound_verdict(const struct interval *i, double limit, bool most)
{
    if (!interval_given(i))
        return BOUND_OPEN;
    if (most ? i->high <= limit : i->low >= limit)
        return BOUND_MET;
    return (most ? i->low > limit : i->high < limit) ? BOUND_BROKEN : BOUND_OPEN;
}

double sequential_level(double level, size_t looks, size_t settings)
{
    return bonferroni_level(level, (looks ? looks : 1) * (settings ? settings : 1));
}
