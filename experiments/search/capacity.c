/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/search/capacity.h"

#include "sim/detmath.h"

#include <math.h>
#include <stdlib.h>

struct search {
    const struct capacity_problem *p;
    struct capacity_result *r;
    struct errors *e;
};

void capacity_result_free(struct capacity_result *r)
{
    free(r->item);
    *r = (struct capacity_result){0};
}

static bool one(const struct capacity_problem *p, double a, double b)
{
    if (p->step > 0)
        return fabs(a - b) < p->step * 1.5;
    return fabs(a - b) <= p->tolerance * (fabs(a) > fabs(b) ? fabs(a) : fabs(b));
}

static double middle(const struct capacity_problem *p, double a, double b)
{
    double x = p->log ? det_exp((det_log(a) + det_log(b)) / 2) : a + (b - a) / 2;

    if (p->step > 0)
        x = p->low + floor((x - p->low) / p->step + 0.5) * p->step;
    return x;
}

/* Halvings from one end of the range to the wanted fineness. */
static size_t halvings(const struct capacity_problem *p)
{
    double a = p->low, b = p->high;
    size_t n = 0;

    while (!one(p, a, b) && n < 64) {
        a = middle(p, a, b);
        n++;
    }
    return n;
}

static int decide(struct search *s, double load, enum bound_verdict *verdict)
{
    const struct capacity_problem *p = s->p;
    uint32_t n = 0;

    for (size_t i = 0; i < s->r->tries; i++)
        if (s->r->item[i].load == load) {
            *verdict = s->r->item[i].verdict;
            return 0;
        }
    *verdict = BOUND_OPEN;
    for (size_t next; *verdict == BOUND_OPEN && (next = look_after(n, p->first, p->most));) {
        n = (uint32_t)next;
        if (p->judge(p->ctx, load, n, s->r->level, verdict, s->e))
            return -1;
    }
    s->r->item = xrealloc(s->r->item, (s->r->tries + 1) * sizeof *s->r->item);
    s->r->item[s->r->tries++] = (struct capacity_try){load, n, *verdict};
    return 0;
}

/* Between a load that has a verdict `below` and one that has not: bring them together. */
static int bisect(struct search *s, double a, double b, bool (*is_below)(enum bound_verdict))
{
    while (!one(s->p, a, b)) {
        double x = middle(s->p, a, b);
        enum bound_verdict v;

        if (x <= a || x >= b)
            break;
        if (decide(s, x, &v))
            return -1;
        *(is_below(v) ? &a : &b) = x;
    }
    return 0;
}

static bool is_met(enum bound_verdict v)
{
    return v == BOUND_MET;
}

static bool is_not_broken(enum bound_verdict v)
{
    return v != BOUND_BROKEN;
}

/* The largest load that was met, and the smallest above it that was broken. */
static void conclude(struct capacity_result *r)
{
    r->met = r->broken = NAN;
    for (size_t i = 0; i < r->tries; i++)
        if (r->item[i].verdict == BOUND_MET && !(r->item[i].load <= r->met))
            r->met = r->item[i].load;
    for (size_t i = 0; i < r->tries; i++)
        if (r->item[i].verdict == BOUND_BROKEN && !(r->item[i].load >= r->broken) &&
            !(r->item[i].load < r->met))
            r->broken = r->item[i].load;
}

/* Where what is not broken ends: above the largest load that is not known to break. */
static double last_not_broken(const struct capacity_result *r)
{
    double last = NAN;

    for (size_t i = 0; i < r->tries; i++)
        if (r->item[i].verdict != BOUND_BROKEN && !(r->item[i].load <= last))
            last = r->item[i].load;
    return last;
}

int capacity_search(const struct capacity_problem *p, struct capacity_result *r, struct errors *e)
{
    struct search s = {p, r, e};
    size_t loads = 2 + 2 * halvings(p), looks = looks_until(p->first, p->most);
    enum bound_verdict low, high;

    *r = (struct capacity_result){.met = NAN, .broken = NAN};
    r->level = sequential_level(p->level, looks, loads);
    if (decide(&s, p->low, &low))
        return -1;
    high = low;
    if (p->high > p->low && low != BOUND_BROKEN && decide(&s, p->high, &high))
        return -1;
    if (low == BOUND_MET && high != BOUND_MET && bisect(&s, p->low, p->high, is_met))
        return -1;
    conclude(r);
    if (!isnan(r->broken) && low != BOUND_BROKEN &&
        bisect(&s, last_not_broken(r), r->broken, is_not_broken))
        return -1;
    conclude(r);
    return 0;
}
