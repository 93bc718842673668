/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/control/importance.h"

#include "models/control/path.h"
#include "sim/error.h"
#include "sim/rare.h"

enum { BATCHES = 20 };

/* Chances of rare things are raised to this; tails are sampled this often. */
static const double EVENT = 0.25, TAIL_SHARE = 0.5;

enum { KNOWN = 4 * CONTROL_REPLICAS + CONTROL_PATHS + 1 };

struct known {
    const struct distribution *of[KNOWN];
    double tail[KNOWN];
    uint32_t count;
};

struct sampler {
    struct biased b;
    bool biased;
    double limit;        /* what is late, roughly */
    struct known *known; /* tails found so far */
};

bool importance_applies(const struct control_params *p)
{
    return p->mode == CONTROL_ACTIVE && !p->agreement.on && !p->detector.misses;
}

static bool event(struct sampler *s, double p)
{
    if (p <= 0 || p >= 1)
        return p >= 1;
    return biased_event(&s->b, p, s->biased && p < EVENT ? EVENT : p);
}

/* ---- how rare a distribution's part in being late is ------------------------------------------
 */

static double at(const struct distribution *d, double u)
{
    struct rng r = rng_yielding(u);

    return dist_draw(d, &r);
}

/* The chance of a draw above the limit, roughly: the part of (0, 1) at the end where large values
 * are. Between 1e-9 and 1/2. */
static double chance_beyond(const struct distribution *d, double limit)
{
    bool upper = at(d, 1 - 1e-9) >= at(d, 1e-9);
    double low = -9, high = -0.30103; /* decimal logarithms */

    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2, tail = det_pow(10, middle);

        if (at(d, upper ? 1 - tail : tail) > limit)
            low = middle;
        else
            high = middle;
    }
    return det_pow(10, low);
}

static double tail_of(struct sampler *s, const struct distribution *d)
{
    for (uint32_t i = 0; i < s->known->count; i++)
        if (s->known->of[i] == d)
            return s->known->tail[i];
    BUG_ON(s->known->count == KNOWN);
    s->known->of[s->known->count] = d;
    s->known->tail[s->known->count] = chance_beyond(d, s->limit);
    return s->known->tail[s->known->count++];
}

static sim_time draw(struct sampler *s, const struct distribution *d)
{
    struct rng r;

    if (d->kind == DIST_CONSTANT || d->kind == DIST_GAMMA || d->kind == DIST_POINTS)
        return dist_draw_time(d, s->b.rng); /* nothing to bias, or not drawn from one number */
    r = rng_yielding(biased_uniform(&s->b, s->biased ? TAIL_SHARE : 0, tail_of(s, d)));
    return dist_draw_time(d, &r);
}

/* Long-run chance of being in a slow phase. */
static double slow_share(const struct compute_params *c)
{
    double enter = percent_fraction(c->slow_enter), leave = percent_fraction(c->slow_leave);

    return enter > 0 ? enter / (enter + leave) : 0;
}

static double crashed_share(const struct compute_params *c)
{
    double repair = dist_mean(&c->repair);

    return c->mttf ? repair / ((double)c->mttf + repair) : 0;
}

/* The fastest copy that gets through; SIM_NEVER: none does. */
static sim_time on_paths(struct sampler *s, const struct control_params *p)
{
    sim_time first = p->paths ? SIM_NEVER : 0;

    for (uint32_t i = 0; i < p->paths; i++) {
        bool lost = event(s, percent_fraction(p->path[i].loss));
        sim_time delay = draw(s, &p->path[i].delay);

        if (!lost && delay < first)
            first = delay;
    }
    return first;
}

/* The measurements of all sensors are there. */
static sim_time measured(struct sampler *s, const struct control_params *p)
{
    sim_time last = 0;

    for (int64_t i = 0; i < p->sensors.count; i++) {
        sim_time jitter = draw(s, &p->sensors.jitter), way = on_paths(s, p);

        if (way == SIM_NEVER)
            return SIM_NEVER;
        if (jitter + way > last)
            last = jitter + way;
    }
    return last;
}

static bool in_time(struct sampler *s, const struct control_params *p,
                    const struct importance_replica *r)
{
    const struct compute_params *c = &r->node->compute;
    sim_time there, back, jitter, time;
    bool slow;

    if (event(s, crashed_share(c)) || event(s, percent_fraction(c->fault)))
        return false;
    there = measured(s, p);
    if (there == SIM_NEVER)
        return false;
    slow = event(s, slow_share(c));
    jitter = draw(s, &r->node->jitter);
    time = draw(s, slow ? &c->slow : &c->time);
    back = on_paths(s, p);
    return back != SIM_NEVER && there + jitter + time + back + r->wire <= p->horizon;
}

/* Do all sensors take their measurement? */
static bool all_taken(struct sampler *s, const struct control_params *p)
{
    bool all = true;

    for (int64_t i = 0; i < p->sensors.count; i++)
        all &= !event(s, percent_fraction(p->sensors.loss));
    return all;
}

struct interval importance_unavailable(const struct control_params *p,
                                       const struct importance_replica *replica, uint32_t replicas,
                                       uint64_t samples, bool biased, uint64_t seed, double level)
{
    double mean[BATCHES];
    struct known known = {.count = 0};
    struct rng rng;

    rng_init(&rng, seed, 0, "importance", biased ? "biased" : "plain");
    for (int batch = 0; batch < BATCHES; batch++) {
        double sum = 0;

        for (uint64_t i = 0; i < samples / BATCHES; i++) {
            struct sampler s = {{&rng, 1}, biased, (double)p->horizon, &known};
            bool taken = all_taken(&s, p);
            uint32_t valid = 0;

            for (uint32_t k = 0; k < replicas && taken; k++)
                valid += in_time(&s, p, &replica[k]);
            if (valid < p->votes)
                sum += s.b.weight;
        }
        mean[batch] = sum / (double)(samples / BATCHES);
    }
    return interval_weighted(mean, BATCHES, level);
}
