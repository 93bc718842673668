/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/control/importance.h"

#include "models/control/path.h"
#include "sim/rare.h"

enum { BATCHES = 20 };

/* Chances of rare things are raised to this; tails are sampled this often, so large a tail. */
static const double EVENT = 0.25, TAIL_SHARE = 0.25, TAIL = 1e-3;

struct sampler {
    struct biased b;
    bool biased;
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

static sim_time draw(struct sampler *s, const struct distribution *d)
{
    struct rng r;

    if (d->kind == DIST_CONSTANT)
        return dist_draw_time(d, s->b.rng);
    r = rng_yielding(biased_uniform(&s->b, TAIL, s->biased ? TAIL_SHARE : 0));
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
    struct rng rng;

    rng_init(&rng, seed, 0, "importance", biased ? "biased" : "plain");
    for (int batch = 0; batch < BATCHES; batch++) {
        double sum = 0;

        for (uint64_t i = 0; i < samples / BATCHES; i++) {
            struct sampler s = {{&rng, 1}, biased};
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
