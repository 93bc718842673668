/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a trace hides part of the state, several model hosts follow it, each with its own guess.
 * All take every record and are set back alike; the one that has agreed best so far answers for the
 * model, before it is known whether it is right. Now and then hosts that do worse take over the
 * state of one that does better, with slightly other guesses: a particle filter. When even the best
 * is often wrong, new guesses are tried on the latest stretch of the trace; for that, one more host
 * follows at a distance.
 */
#include "experiments/validate/driven_inside.h"

#include "sim/detmath.h"

#include <stdlib.h>
#include <string.h>

enum {
    HOSTS_MIN = 96,
    HOSTS_MAX = 2000,
    RECORDS_TAKEN = 40000000, /* by all hosts together, if HOSTS_MIN allow it */
    RECORDS_FINE = 100000000, /* ... where slices are so short that single credits decide */
    VCPUS_USUAL = 16,         /* each more costs time at each record */
    SELECT_EVERY = 4,         /* choices between two selections */
    WINDOW = 48               /* choices that a new guess is tried on before it takes part */
};

static const sim_time FINE_SLICE = 3 * NS_PER_MS; /* 30 credits */
static const double FORGET = 0.97; /* what is left of old disagreements at each further choice */
static const double WORSE = 1.5;   /* who disagrees so much more than the best is replaced, */
static const double NEAR = 0.5;    /* by one who disagrees no more than this more than the best */
static const double ADOPTED = 0.01;
static const double VOTE = 2;     /* a host's answer counts by exp(-VOTE x its disagreement) */
static const double LOST = 2;     /* when even the best disagrees so much, */
static const double AFRESH = 0.7; /* so many start anew, from a while ago */

struct ensemble {
    struct driven *host;
    double *before; /* scores of hosts before the record at hand */
    unsigned hosts;
    struct driven behind; /* follows WINDOW choices behind the others */
    size_t behind_at;     /* its next record */
    size_t mark[WINDOW];  /* the records of the latest choices, as a ring */
    struct rng rng;
    uint64_t choices;
    struct driven_report *report;
};

/* ---- counting -------------------------------------------------------------------------------- */

static void count(struct ensemble *n, struct driven *best)
{
    struct driven_step *s = &best->step;
    struct driven_counts *c = &n->report->pool[s->pool].counts;
    struct driven_report *r = n->report;

    c->decisions += s->decided;
    c->judged += s->judged;
    c->same += s->judged && s->same;
    c->choices += s->judged && s->choice;
    c->choices_same += s->judged && s->choice && s->same;
    c->wakes += s->woke;
    c->wakes_same += s->woke_same;
    c->boosts += s->boost;
    c->boosts_same += s->boost_same;
    c->resets += s->reset;
    c->resets_same += s->reset_same;
    if (!s->text || r->differences == DRIVEN_SHOWN)
        return;
    r->difference[r->differences++] = (struct driven_difference){.pool = s->pool, .text = s->text};
    s->text = NULL;
}

/* ---- selection ------------------------------------------------------------------------------- */

static unsigned best_of(const struct ensemble *n)
{
    unsigned best = 0;

    for (unsigned i = 1; i < n->hosts; i++)
        if (n->host[i].score < n->host[best].score)
            best = i;
    return best;
}

static void inherit(struct ensemble *n, struct driven *to, struct driven *from, bool afresh)
{
    for (uint32_t i = 0; i < to->host->pcpu_count; i++) {
        const struct vcpu *prev = from->pcpu[i].prev;

        to->pcpu[i] = from->pcpu[i];
        if (prev)
            to->pcpu[i].prev =
                prev->idle ? to->host->pcpu[prev->id].idle : to->vcpu[prev->index].vcpu;
        if (from->pcpu[i].gone)
            to->pcpu[i].gone = to->vcpu[from->pcpu[i].gone->index].vcpu;
    }
    for (int i = 0; i < 2; i++)
        if (to->pool[i].ops && to->pool[i].ops->inherit)
            to->pool[i].ops->inherit(to, &to->pool[i], from, &from->pool[i], afresh, &n->rng);
    to->score = from->score + ADOPTED;
}

/* VCPU_IDLE first, then vCPUs. */
static size_t vote(const struct driven *d)
{
    return d->step.answer < 0 ? 0 : (size_t)d->step.answer + 1;
}

/* Who answers for all at a decision: the best of those whose answer has most weight behind it. */
static unsigned spokesman(const struct ensemble *n, unsigned best)
{
    const struct driven_step *s = &n->host[best].step;
    double *weight, most = 0;
    unsigned of = best;

    if (!s->decided || !s->choice || n->hosts == 1)
        return best;
    weight = xcalloc(n->host->trace->vcpus + 1, sizeof *weight); /* idle's first */
    for (unsigned i = 0; i < n->hosts; i++) {
        const struct driven *d = &n->host[i];

        if (d->step.decided)
            weight[vote(d)] += det_exp(-VOTE * (n->before[i] - n->before[best]));
    }
    for (unsigned i = 0; i < n->hosts; i++) {
        const struct driven *d = &n->host[i];
        double w = d->step.decided ? weight[vote(d)] : 0;

        if (w > most || (w == most && n->before[i] < n->before[of])) {
            most = w;
            of = i;
        }
    }
    free(weight);
    return of;
}

static void add_score(struct driven *d)
{
    const struct driven_step *s = &d->step;

    if (s->decided && s->choice)
        d->score = d->score * FORGET + !s->same;
    if (s->boost)
        d->score += !s->boost_same;
}

/* New guesses, tried from where the host behind is up to record i. */
static void try_afresh(struct ensemble *n, struct driven *d, size_t i)
{
    inherit(n, d, &n->behind, true);
    d->score = 0;
    for (size_t k = n->behind_at; k <= i; k++) {
        driven_take(d, k);
        add_score(d);
    }
}

static void select_hosts(struct ensemble *n, size_t record)
{
    double least = n->host[best_of(n)].score;
    struct driven **good = xcalloc(n->hosts, sizeof *good);
    uint64_t goods = 0;

    for (unsigned i = 0; i < n->hosts; i++)
        if (n->host[i].score <= least + NEAR)
            good[goods++] = &n->host[i];
    for (unsigned i = 0; i < n->hosts; i++) {
        if (n->host[i].score <= least + WORSE)
            continue;
        if (least > LOST && rng_bernoulli(&n->rng, AFRESH))
            try_afresh(n, &n->host[i], record);
        else
            inherit(n, &n->host[i], good[rng_below(&n->rng, goods)], false);
    }
    free(good);
}

/* Note the choice at this record; let the host behind follow. */
static void mark_choice(struct ensemble *n, size_t record)
{
    size_t *mark = &n->mark[n->choices++ % WINDOW];
    size_t until = n->choices > WINDOW ? *mark : 0;

    *mark = record;
    for (; n->behind_at < until; n->behind_at++)
        driven_take(&n->behind, n->behind_at);
}

static void score(struct ensemble *n, size_t record)
{
    bool choice = false;

    for (unsigned i = 0; i < n->hosts; i++) {
        choice |= n->host[i].step.decided && n->host[i].step.choice;
        add_score(&n->host[i]);
    }
    if (!choice)
        return;
    mark_choice(n, record);
    if (n->choices % SELECT_EVERY == 0)
        select_hosts(n, record);
}

/* ---- following ------------------------------------------------------------------------------- */

static void follow(struct ensemble *n, const struct follow_trace *t)
{
    for (size_t i = 0; i < t->recs; i++) {
        unsigned best = best_of(n);

        for (unsigned k = 0; k < n->hosts; k++) {
            n->before[k] = n->host[k].score;
            n->host[k].speaks = k == best && n->report->differences < DRIVEN_SHOWN;
            driven_take(&n->host[k], i);
        }
        count(n, &n->host[spokesman(n, best)]);
        if (n->hosts > 1)
            score(n, i);
    }
}

/* One will do where nothing is hidden, or there is nothing to choose. */
static unsigned hosts_wanted(struct driven *d)
{
    bool fine = d->capture->tslice > 0 && d->capture->tslice < FINE_SLICE;
    size_t by_effort = (fine ? RECORDS_FINE : RECORDS_TAKEN) / d->trace->recs /
                       (1 + d->trace->vcpus / VCPUS_USUAL);

    for (int i = 0; i < 2; i++) {
        unsigned members = 0;

        if (!d->pool[i].ops)
            continue;
        for_each_followed(dv, d, &d->pool[i]) members += d->trace->vcpu[dv - d->vcpu].seen;
        if (members > 1 && d->pool[i].ops->guesses)
            return (unsigned)(by_effort < HOSTS_MIN   ? HOSTS_MIN
                              : by_effort > HOSTS_MAX ? HOSTS_MAX
                                                      : by_effort);
    }
    return 1;
}

static void begin(struct driven *d, struct rng *rng)
{
    for (int i = 0; i < 2; i++)
        if (d->pool[i].ops && d->pool[i].ops->begin)
            d->pool[i].ops->begin(d, &d->pool[i], rng);
}

static void set_up(struct ensemble *n, const struct capture *c, const struct follow_trace *t)
{
    struct driven first;

    rng_init(&n->rng, 1, 0, "driven", "guesses");
    driven_build(&first, c, t);
    n->hosts = hosts_wanted(&first);
    driven_free(&first);
    driven_build(&n->behind, c, t);
    begin(&n->behind, &n->rng);
    n->host = xcalloc(n->hosts, sizeof *n->host);
    n->before = xcalloc(n->hosts, sizeof *n->before);
    for (unsigned i = 0; i < n->hosts; i++) {
        driven_build(&n->host[i], c, t);
        begin(&n->host[i], &n->rng);
    }
}

static void describe(struct ensemble *n)
{
    struct driven *d = &n->host[0];
    struct driven_report *r = n->report;

    r->pools = d->host->pool_count;
    r->pool = xcalloc(2, sizeof *r->pool);
    for (uint32_t i = 0; i < r->pools; i++)
        r->pool[i] =
            (struct driven_pool){.name = xstrdup(d->pool[i].pool->name),
                                 .scheduler = xstrdup(d->pool[i].pool->scheduler->ops->name),
                                 .followed = d->pool[i].ops};
}

static void remark_strangers(const struct capture *c, const struct follow_trace *t,
                             struct driven_report *r)
{
    for (size_t i = 0; i < t->vcpus; i++) {
        bool named = !t->vcpu[i].domain;

        for (size_t k = 0; k < c->guests; k++)
            named |= c->guest[k].domain == t->vcpu[i].domain;
        if (named)
            continue;
        r->remark = xrealloc(r->remark, (r->remarks + 1) * sizeof *r->remark);
        r->remark[r->remarks++] =
            xasprintf("domain %u of the trace is not in %s.json; taken for one of weight %d",
                      t->vcpu[i].domain, c->name, DEFAULT_WEIGHT);
    }
}

int driven_follow(const struct capture *c, struct driven_report *r, struct errors *e)
{
    struct follow_trace t;
    struct ensemble n = {.report = r};

    *r = (struct driven_report){0};
    for (int i = 0; i < 2; i++) {
        const char *scheduler = i ? c->dom0_scheduler : c->scheduler;

        if (!scheduler_by_name(scheduler))
            return error_add(e, EXIT_INPUT, "%s.json: scheduler \"%s\" is not known", c->name,
                             scheduler);
    }
    if (follow_read(c, &t, e))
        return -1;
    set_up(&n, c, &t);
    describe(&n);
    remark_strangers(c, &t, r);
    follow(&n, &t);
    r->lost = t.lost;
    r->resyncs = n.host[best_of(&n)].resyncs;
    for (uint32_t i = 0; i < r->pools; i++) {
        struct pool_follow *pf = &n.host[best_of(&n)].pool[i];

        if (pf->ops && pf->ops->inference)
            r->pool[i].inference = pf->ops->inference(&n.host[best_of(&n)], pf);
    }
    for (unsigned i = 0; i < n.hosts; i++)
        driven_free(&n.host[i]);
    driven_free(&n.behind);
    free(n.host);
    free(n.before);
    follow_free(&t);
    return 0;
}

void driven_free_report(struct driven_report *r)
{
    for (size_t i = 0; i < r->pools; i++) {
        free(r->pool[i].name);
        free(r->pool[i].scheduler);
        free(r->pool[i].inference);
    }
    free(r->pool);
    for (size_t i = 0; i < r->differences; i++)
        free(r->difference[i].text);
    for (size_t i = 0; i < r->remarks; i++)
        free(r->remark[i]);
    free(r->remark);
    *r = (struct driven_report){0};
}
