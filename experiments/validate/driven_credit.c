/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Following Credit, whose traces show neither credits nor accountings.
 *
 * What is known: who runs from when to when, so what each vCPU is charged; when ticks charge (each
 * leaves a record); who is active; whom Xen boosted and chose. Guessed, differently by each host
 * that follows the trace: what each vCPU has when the trace begins, and the date of the first
 * accounting unless records show it (ACCOUNT_STOP, parking and unparking under a cap).
 */
#include "experiments/validate/driven_inside.h"

#include "models/schedulers/credit.h"
#include "sim/sample.h"

#include <stdlib.h>

/* Records of one accounting are so near to each other at most; less if slices are short. */
static const sim_time TOGETHER = NS_PER_MS;

/* Xen's timer_slop: so long after it has handled timers a pCPU is not interrupted by further ones.
 */
static const sim_time TIMER_SLOP = 50 * NS_PER_US;

/* Timers are re-armed by the date at which they are handled, so each period is longer than its
 * nominal length by this much at most. */
static const sim_time LATE_MAX = 200 * NS_PER_US;

/* How far from its expected date an accounting may be looked for, in slices: where records date
 * some of them, and where none does; and from how many slices before such a record on it is
 * certain. */
static const double DATED_SPREAD = 0.1, GUESSED_SPREAD = 1;
enum { NEAR_PERIODS = 2 };

/* So many of those that are inactive when a trace begins may owe credits. */
static const double NEVER_ACTIVE = 0.25;

struct credit_follow {
    sim_time next;   /* date of the next accounting */
    sim_time late;   /* so much longer than a slice it takes until the one after */
    sim_time target; /* date of the next one that a record shows; -1: none */
    sim_time shown;  /* that record's, or of the last one; -1: none yet */
    size_t seen;     /* records up to here have been looked at for dates of accountings */
    uint64_t shown_count;
    bool dated;      /* records show some */
    sim_time timers; /* when timers were last handled where accounting is done */
    sim_time last_tick[MAX_PCPUS];
    bool boost_end[MAX_PCPUS];  /* a tick has just recorded the end of its vCPU's BOOST */
    struct credit_vcpu *forced; /* pushed to the head of its queue; NULL: nobody */
    int16_t forced_pri;
    bool no_ratelimit; /* or another one, for a decision */
};

struct credit_follow_vcpu {
    bool accounted; /* since the trace began */
    bool woken;
    bool by_account; /* its priority is that of the last accounting */
    int32_t base;    /* its credit after that */
};

static struct credit *credit_of(const struct pool_follow *pf)
{
    return credit_data(pf->pool->scheduler);
}

static bool is_active(const struct credit_vcpu *cv)
{
    return list_linked(&cv->active);
}

static void set_active(struct credit *c, struct credit_vcpu *cv, bool active)
{
    struct credit_domain *cd = cv->vcpu->domain->sched;

    if (is_active(cv) == active)
        return;
    if (active) {
        cd->active_count++;
        list_insert_head(&cd->active_vcpus, &cv->active);
        c->weight += cd->domain->weight;
        if (!list_linked(&cd->active))
            list_insert_head(&c->active_domains, &cd->active);
    } else {
        cd->active_count--;
        list_remove(&cv->active);
        c->weight -= cd->domain->weight;
        if (list_empty(&cd->active_vcpus))
            list_remove(&cd->active);
    }
}

/* ---- dates of accountings -------------------------------------------------------------------- */

static bool on_pool(const struct driven *d, const struct pool_follow *pf,
                    const struct follow_record *r)
{
    return r->pcpu < d->host->pcpu_count && d->host->pcpu[r->pcpu].pool == pf->pool;
}

/* Does this record show that an accounting is under way? */
static bool shows_accounting(struct driven *d, struct pool_follow *pf,
                             const struct follow_record *r)
{
    const struct driven_vcpu *dv;

    if (r->vcpu < 0 || !on_pool(d, pf, r))
        return false;
    if (r->event == XT_CSCHED_ACCOUNT_STOP)
        return true;
    dv = driven_member(d, pf, r);
    if (!dv || !dv->vcpu->domain->cap || r->pcpu != credit_of(pf)->master)
        return false;
    return r->event == XT_SLEEP || /* parked, unparked */
           (follow_is_runstate(r) && follow_from(r) == XT_OFFLINE && follow_to(r) == XT_RUNNABLE);
}

/* The next accounting that records show, from the record numbered cf->seen on; NULL: none. */
static const struct follow_record *next_shown(struct driven *d, struct pool_follow *pf)
{
    struct credit_follow *cf = pf->of;
    const struct follow_trace *t = d->trace;
    sim_time period = credit_of(pf)->tslice;

    for (; cf->seen < t->recs; cf->seen++) {
        const struct follow_record *r = &t->rec[cf->seen];
        sim_time step;
        int64_t n;

        if (!shows_accounting(d, pf, r))
            continue;
        if (cf->shown < 0)
            return r;
        if (r->at - cf->shown < period / 2)
            continue; /* the same one */
        n = (r->at - cf->shown + period / 2) / period;
        step = (r->at - cf->shown) / n;
        if (r->event == XT_CSCHED_ACCOUNT_STOP ||
            (step >= period - LATE_MAX && step <= period + LATE_MAX))
            return r; /* else a pause by the toolstack */
    }
    return NULL;
}

/* Look for the next one that is shown. */
static void aim(struct driven *d, struct pool_follow *pf)
{
    struct credit_follow *cf = pf->of;
    sim_time step = credit_of(pf)->tslice + cf->late;
    const struct follow_record *r = next_shown(d, pf);

    if (!r) {
        cf->target = -1;
        return;
    }
    if (!cf->dated)
        cf->next = r->at - NS_PER_US - (r->at - TRACE_BEGIN) / step * step;
    cf->dated = true;
    cf->shown_count++;
    cf->shown = r->at;
    cf->target = r->at - NS_PER_US;
    cf->seen++;
}

/* By how much a tick is late, from those that follow each other on one pCPU: the median.
 * Accounting is taken to be about as late. */
static sim_time lateness(const struct driven *d, const struct pool_follow *pf)
{
    sim_time period = credit_of(pf)->tick_period, last[MAX_PCPUS] = {0}, late;
    struct samples sample = {0};

    for (size_t i = 0; i < d->trace->recs; i++) {
        const struct follow_record *r = &d->trace->rec[i];

        if (r->event != XT_CSCHED_PICKED_CPU || !on_pool(d, pf, r))
            continue;
        late = r->at - last[r->pcpu] - period;
        last[r->pcpu] = r->at;
        if (late >= 0 && late < period / 20)
            samples_add(&sample, (double)late);
    }
    late = sample.count ? (sim_time)samples_quantile(&sample, 0.5) : 0;
    samples_free(&sample);
    return late;
}

/* ---- accounting ------------------------------------------------------------------------------ */

/* Is there such a record of v within an accounting at this date? r: the first that may be it. */
static bool recorded(const struct driven *d, const struct follow_record *r, sim_time at,
                     uint32_t event, const struct driven_vcpu *dv)
{
    const struct follow_record *end = d->trace->rec + d->trace->recs;
    sim_time slice = credit_data(vcpu_scheduler(dv->vcpu))->tslice;
    sim_time until = at + (TOGETHER < slice / 4 ? TOGETHER : slice / 4);

    for (; r < end && r->at < until; r++)
        if (r->event == event && r->vcpu == dv - d->vcpu)
            return true;
    return false;
}

/* ACCOUNT_STOP came, or did not, unlike in the model: it had just more than a slice's credits (half
 * of which are left), or just not. */
static void set_stopped(struct credit *c, struct credit_vcpu *cv, bool stopped)
{
    set_active(c, cv, !stopped);
    cv->credit = (int32_t)(stopped ? (c->credits_per_tslice + 1) / 2 : c->credits_per_tslice);
}

/* Parked: it had less than minus its cap, in credits of a slice. Unparked: it had at least 0, and
 * so it was if it was not parked. */
static void set_parked(struct driven *d, struct pool_follow *pf, struct driven_vcpu *dv,
                       bool parked, sim_time at)
{
    struct credit_vcpu *cv = credit_vcpu(dv->vcpu);
    struct vcpu *v = dv->vcpu;
    int32_t bound =
        (int32_t)(credit_of(pf)->credits_per_tslice * v->domain->cap / 100 / v->domain->vcpu_count);

    if (parked) {
        cv->parked = true; /* the runstate follows from records */
        cv->pri = PRI_OVER;
        if (cv->credit >= -bound)
            cv->credit = -bound - 1;
        return;
    }
    if (cv->credit < -bound)
        cv->credit = -bound;
    if (!list_linked(&cv->runq) && !v->is_running && v->pause_count) {
        cv->migrating = true; /* no boost */
        driven_wake(d, dv, at);
    }
    v->pause_count = 0;
    cv->parked = false;
}

static void compare_parked(struct driven *d, struct pool_follow *pf, struct driven_vcpu *dv,
                           bool was_parked, const struct follow_record *r, sim_time at)
{
    struct credit_vcpu *cv = credit_vcpu(dv->vcpu);
    struct scheduler *s = pf->pool->scheduler;

    if (cv->parked && !was_parked && !recorded(d, r, at, XT_SLEEP, dv)) {
        set_parked(d, pf, dv, false, at);
    } else if (!cv->parked && recorded(d, r, at, XT_SLEEP, dv)) {
        set_parked(d, pf, dv, true, at);
    } else if (!cv->parked && was_parked && !recorded(d, r, at, XT_WAKE, dv)) {
        cv->parked = true;
        cv->pri = PRI_OVER;
        if (cv->credit >= 0)
            cv->credit = -1;
        dv->vcpu->pause_count = 1;
        s->ops->sleep(s, dv->vcpu);
    }
}

/* The model has accounted dv: what does the trace say? */
static void compare_accounted(struct driven *d, struct pool_follow *pf, struct driven_vcpu *dv,
                              bool was_parked, const struct follow_record *r, sim_time at)
{
    struct credit *c = credit_of(pf);
    struct credit_vcpu *cv = credit_vcpu(dv->vcpu);
    struct credit_follow_vcpu *fv = dv->of;

    if (recorded(d, r, at, XT_CSCHED_ACCOUNT_STOP, dv) == is_active(cv))
        set_stopped(c, cv, is_active(cv));
    if (dv->vcpu->domain->cap)
        compare_parked(d, pf, dv, was_parked, r, at);
    fv->accounted = fv->by_account = true;
    fv->base = cv->credit;
}

static void account(struct driven *d, struct pool_follow *pf, const struct follow_record *r,
                    sim_time at)
{
    struct credit *c = credit_of(pf);
    bool *was = xcalloc(2 * d->trace->vcpus + 1, sizeof *was);

    for_each_followed(dv, d, pf)
    {
        struct credit_vcpu *cv = credit_vcpu(dv->vcpu);

        if (!dv->vcpu->pause_count) /* damaged records woke it */
            cv->parked = false;
        was[2 * (dv - d->vcpu)] = is_active(cv);
        was[2 * (dv - d->vcpu) + 1] = cv->parked;
    }
    d->host->executing = c->master;
    driven_fire(d, &c->acct, at);
    for_each_followed(dv, d, pf) if (was[2 * (dv - d->vcpu)])
        compare_accounted(d, pf, dv, was[2 * (dv - d->vcpu) + 1], r, at);
    free(was);
}

/* Is it a record of a tick, or of the end of a slice? */
static bool by_timer(const struct driven *d, const struct follow_record *r)
{
    const struct follow_record *before = r;

    if (r->event == XT_CSCHED_PICKED_CPU || r->event == XT_CSCHED_ACCOUNT_START)
        return true;
    if (r->event != XT_CSCHED_SCHEDULE)
        return false;
    do
        if (before == d->trace->rec)
            return false;
    while ((--before)->pcpu != r->pcpu);
    return r->at - before->at > TIMER_SLOP; /* else a wake, a block, a pause went before */
}

/* The date of the next accounting. */
static sim_time next_date(struct pool_follow *pf)
{
    struct credit_follow *cf = pf->of;
    sim_time at = cf->next, half = credit_of(pf)->tslice / 2;

    if (cf->target >= 0 && at > cf->target - half && at < cf->target + half)
        return cf->target;
    return at > cf->timers && at < cf->timers + TIMER_SLOP ? cf->timers + TIMER_SLOP : at;
}

static void advance(struct driven *d, struct pool_follow *pf, const struct follow_record *r)
{
    struct credit_follow *cf = pf->of;

    for (sim_time at; at = next_date(pf), at <= r->at;) {
        account(d, pf, r, at);
        cf->timers = at;
        cf->next = at + credit_of(pf)->tslice + cf->late;
        if (cf->target >= 0 && at >= cf->target)
            aim(d, pf);
    }
    if (on_pool(d, pf, r) && r->pcpu == credit_of(pf)->master && by_timer(d, r))
        cf->timers = r->at;
}

/* ---- ticks ----------------------------------------------------------------------------------- */

static void tell_boost(struct driven *d, struct pool_follow *pf, bool same)
{
    d->step.pool = (uint32_t)(pf - d->pool);
    d->step.boost = true;
    d->step.boost_same = same;
}

static void tick(struct driven *d, struct pool_follow *pf, const struct follow_record *r,
                 struct driven_vcpu *dv)
{
    struct credit_follow *cf = pf->of;
    struct vcpu *v = dv->vcpu;
    struct credit_vcpu *cv = credit_vcpu(v);
    bool ended = cf->boost_end[r->pcpu], was = cv->pri == PRI_BOOST;

    cf->boost_end[r->pcpu] = false;
    cf->last_tick[r->pcpu] = r->at;
    if (ended || was)
        tell_boost(d, pf, ended == was);
    if (ended)
        cv->pri = PRI_BOOST;
    else if (was)
        cv->pri = is_active(cv) && cv->credit < 0 ? PRI_OVER : PRI_UNDER;
    set_active(credit_of(pf), cv, r->event != XT_CSCHED_ACCOUNT_START);
    driven_fire(d, &credit_pcpu(&d->host->pcpu[r->pcpu])->tick, r->at);
    if (ended)
        ((struct credit_follow_vcpu *)dv->of)->by_account = false;
    if (r->event != XT_CSCHED_PICKED_CPU)
        return;
    if (r->word[2] == r->pcpu)
        v->pause_flags &= (uint8_t)~PAUSE_MIGRATING;
    else
        v->pause_flags |= PAUSE_MIGRATING;
}

/* A pCPU is picked for a vCPU that does not run: its migration ends. */
static void migrates(struct pool_follow *pf, struct vcpu *v, uint32_t cpu)
{
    struct credit_vcpu *cv = credit_vcpu(v);

    if (v->is_running || list_linked(&cv->runq) || cpu >= MAX_PCPUS /* a damaged record */ ||
        !cpumask_test(&pf->pool->cpus, cpu))
        return;
    v->processor = cpu;
    cv->migrating = true;
}

static void record(struct driven *d, struct pool_follow *pf, const struct follow_record *r)
{
    struct credit_follow *cf = pf->of;
    struct driven_vcpu *dv = driven_member(d, pf, r);

    switch (r->event) {
    case XT_CSCHED_TICKLE:
        if (r->word[0] < d->host->pcpu_count)
            cpumask_clear(&credit_of(pf)->idlers, r->word[0]);
        return;
    case XT_CSCHED_RATELIMIT:
        d->pcpu[r->pcpu].ratelimited = true;
        return;
    case XT_CSCHED_PICKED_CPU:
    case XT_CSCHED_ACCOUNT_START:
    case XT_CSCHED_BOOST_END:
        break;
    default:
        return;
    }
    if (!dv)
        return;
    if (d->host->pcpu[r->pcpu].current != dv->vcpu) {
        if (r->event == XT_CSCHED_PICKED_CPU)
            migrates(pf, dv->vcpu, r->word[2]);
    } else if (r->event == XT_CSCHED_BOOST_END) {
        cf->boost_end[r->pcpu] = true;
    } else if (r->at - cf->last_tick[r->pcpu] > TIMER_SLOP / 2) {
        tick(d, pf, r, dv);
    }
}

/* ---- wakes ----------------------------------------------------------------------------------- */

/* Without BOOST_START it is BOOST from before, or OVER. Whom it outranked tells which. */
static int16_t priority_unboosted(const struct credit_vcpu *cv, bool told)
{
    const struct credit_vcpu *cur = credit_vcpu(vcpu_pcpu(cv->vcpu)->current);

    if (cur->pri == PRI_UNDER || cur->pri == PRI_OVER)
        return told ? PRI_BOOST : PRI_OVER;
    if (cv->pri != PRI_UNDER)
        return cv->pri;
    return is_active(cv) && cv->credit < 0 ? PRI_OVER : PRI_BOOST;
}

static void wakes(struct driven *d, struct pool_follow *pf, struct driven_vcpu *dv,
                  const struct follow_record *r)
{
    struct credit_follow_vcpu *fv = dv->of;
    struct credit_vcpu *cv = credit_vcpu(dv->vcpu);
    bool quiet = cv->migrating || cv->parked, model = cv->pri == PRI_UNDER && !quiet;

    if (fv->woken && (fv->accounted || !is_active(cv)))
        tell_boost(d, pf, r->boosted == model);
    fv->woken = true;
    if (r->boosted) {
        cv->pri = PRI_UNDER;
        cv->migrating = cv->parked = false;
        fv->by_account = false;
    } else if (!quiet) {
        cv->pri = priority_unboosted(cv, r->told >= 0);
        fv->by_account &= cv->pri == PRI_OVER;
    }
    if (cv->parked && follow_from(r) == XT_OFFLINE) { /* unparked: no boost */
        cv->migrating = true;
        cv->parked = false;
        cv->pri = PRI_UNDER;
        if (cv->credit < 0)
            cv->credit = 0;
    }
}

static void tickled(struct driven *d, struct pool_follow *pf, uint32_t cpu, bool told)
{
    if (!told && d->host->pcpu[cpu].current->idle)
        cpumask_set(&credit_of(pf)->idlers, cpu);
}

/* ---- choices --------------------------------------------------------------------------------- */

static bool known(struct driven *d, struct pool_follow *pf)
{
    for_each_followed(dv, d, pf)
    {
        const struct credit_follow_vcpu *fv = dv->of;

        if (!vcpu_runnable(dv->vcpu))
            continue;
        if (!dv->ran && !fv->woken)
            return false;
        if (!fv->accounted && (is_active(credit_vcpu(dv->vcpu)) || !fv->woken))
            return false;
    }
    return true;
}

/* Whatever the reasons: put it first, or let the running one go on. */
static bool persuade(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                     unsigned attempt, sim_time at)
{
    struct credit *c = credit_of(pf);
    struct credit_follow *cf = pf->of;
    struct credit_vcpu *cv = credit_vcpu(next);

    (void)d;
    (void)at;
    if (attempt)
        return false;
    cf->no_ratelimit = true;
    c->ratelimit = next == p->current ? INT64_MAX : 0;
    if (next == p->current)
        return true;
    if (!list_linked(&cv->runq))
        return false;
    if (next->processor != p->id) {
        credit_pcpu(vcpu_pcpu(next))->nr_runnable--;
        credit_pcpu(p)->nr_runnable++;
        next->processor = p->id;
    }
    runq_remove(c, cv);
    cf->forced = cv;
    cf->forced_pri = cv->pri;
    cv->pri = PRI_BOOST;
    list_insert_head(&credit_pcpu(p)->runq, &cv->runq);
    return true;
}

static void decided(struct driven *d, struct pool_follow *pf, struct pcpu *p, struct vcpu *next,
                    sim_time at)
{
    struct credit *c = credit_of(pf);
    struct credit_follow *cf = pf->of;
    const struct credit_params *params = pf->pool->scheduler->params;

    (void)d;
    (void)p;
    (void)next;
    (void)at;
    if (cf->no_ratelimit)
        c->ratelimit = params->ratelimit;
    cf->no_ratelimit = false;
    if (cf->forced)
        cf->forced->pri = cf->forced_pri;
    cf->forced = NULL;
}

/* ---- guesses --------------------------------------------------------------------------------- */

/* It has so many credits more: its priority, if it is that of the last accounting, follows, and
 * with it its place in the queue. */
static void add_credit(struct credit *c, struct credit_vcpu *cv, struct credit_follow_vcpu *fv,
                       int32_t by)
{
    int16_t pri;

    cv->credit += by;
    fv->base += by;
    c->balance += by;
    pri = fv->base < 0 ? PRI_OVER : PRI_UNDER;
    if (!fv->by_account || (cv->pri != PRI_UNDER && cv->pri != PRI_OVER) || pri == cv->pri)
        return;
    cv->pri = pri;
    if (!list_linked(&cv->runq))
        return;
    runq_remove(c, cv);
    if (pri == PRI_UNDER) {
        runq_insert(cv);
    } else { /* before those that have been OVER for longer */
        struct list *at = credit_pcpu(vcpu_pcpu(cv->vcpu))->runq.next;

        while (container_of(at, struct credit_vcpu, runq)->pri > PRI_OVER)
            at = at->next;
        list_insert_before(at, &cv->runq);
    }
}

/* Any credit that it can have. An inactive one was left with half of more than a slice's credits
 * and has run since without being charged by ticks; one in four was never active, or for long
 * not. */
static void guess_vcpu(struct credit *c, struct credit_vcpu *cv, struct credit_follow_vcpu *fv,
                       struct rng *rng)
{
    int32_t most = (int32_t)c->credits_per_tslice;

    if (!is_active(cv)) {
        if (!fv->accounted && !fv->woken)
            cv->credit = (int32_t)rng_below(rng, (uint64_t)most + 1) -
                         (rng_bernoulli(rng, NEVER_ACTIVE) ? most : 0);
        return;
    }
    cv->residual = (int64_t)rng_below(rng, NS_PER_MS);
    cv->start_time += (sim_time)rng_below(rng, 2 * NS_PER_CREDIT) - NS_PER_CREDIT;
    add_credit(c, cv, fv, (int32_t)rng_below(rng, 2 * (uint64_t)most + 1) - most - cv->credit);
}

/* What has been charged too much or too little, less than a credit, is hidden too. */
static void vary_charged(struct credit_vcpu *cv, double by, struct rng *rng)
{
    double share = 3 * by < 1 ? 3 * by : 1;

    cv->residual += (int64_t)(rng_normal(rng) * share * NS_PER_MS);
    cv->residual = (cv->residual % NS_PER_MS + NS_PER_MS) % NS_PER_MS;
    cv->start_time += (sim_time)(rng_normal(rng) * share * NS_PER_CREDIT);
}

static void begin(struct driven *d, struct pool_follow *pf, struct rng *rng)
{
    struct credit_follow *cf = pf->of;
    struct credit *c = credit_of(pf);
    sim_time late = lateness(d, pf);

    for_each_followed(dv, d, pf)
    {
        struct credit_vcpu *cv = credit_vcpu(dv->vcpu);

        cv->migrating = false;
        cv->parked = dv->vcpu->domain->cap && dv->vcpu->runstate == RUNSTATE_OFFLINE;
        set_active(c, cv, d->trace->vcpu[dv - d->vcpu].active);
        ((struct credit_follow_vcpu *)dv->of)->by_account = is_active(cv);
        guess_vcpu(c, cv, dv->of, rng);
    }
    cf->shown = cf->target = -1;
    cf->late = (sim_time)((0.4 + 0.6 * rng_uniform(rng)) * (double)late);
    cf->next = TRACE_BEGIN + (sim_time)rng_below(rng, (uint64_t)c->tslice);
    aim(d, pf);
}

/* Another date for the next accounting, unless a record near to it shows it. */
static void shift_accounting(struct credit_follow *cf, const struct credit *c, double spread,
                             struct rng *rng)
{
    double by = rng_normal(rng) * spread * (double)c->tslice;

    if (cf->target < 0 || cf->target > cf->next + NEAR_PERIODS * c->tslice)
        cf->next += (sim_time)by;
}

/* All anew. */
static void guess(struct driven *d, struct pool_follow *pf, struct rng *rng)
{
    struct credit_follow *cf = pf->of;
    struct credit *c = credit_of(pf);

    shift_accounting(cf, c, cf->dated ? DATED_SPREAD : GUESSED_SPREAD, rng);
    for_each_followed(dv, d, pf) guess_vcpu(c, credit_vcpu(dv->vcpu), dv->of, rng);
}

/* The spread of changes is itself drawn: fine ones to get exact, coarse ones to get away. */
static double spread(struct rng *rng)
{
    static const double of[] = {0.003, 0.01, 0.03, 0.1, 0.3};

    return of[rng_below(rng, sizeof of / sizeof *of)];
}

static void vary(struct driven *d, struct pool_follow *pf, struct rng *rng)
{
    struct credit_follow *cf = pf->of;
    struct credit *c = credit_of(pf);
    double by = spread(rng);

    shift_accounting(cf, c, cf->dated ? by * DATED_SPREAD : by, rng);
    cf->late += (sim_time)(rng_normal(rng) * by * (double)(cf->late + NS_PER_US));
    if (cf->late < 0)
        cf->late = 0;
    for_each_followed(dv, d, pf) if (is_active(credit_vcpu(dv->vcpu)) && rng_bernoulli(rng, 0.5))
    {
        vary_charged(credit_vcpu(dv->vcpu), by, rng);
        add_credit(c, credit_vcpu(dv->vcpu), dv->of,
                   (int32_t)(rng_normal(rng) * (by * (double)c->credits_per_tslice + 0.5)));
    }
}

/* ---- taking over another host's state
 * -------------------------------------------------------------------
 */

static struct credit_vcpu *same_in(struct driven *to, const struct credit_vcpu *cv)
{
    const struct vcpu *v = cv->vcpu;

    return credit_vcpu(v->idle ? to->host->pcpu[v->id].idle : to->vcpu[v->index].vcpu);
}

static void copy_core(struct driven *to, struct vcpu *v, const struct vcpu *from)
{
    (void)to;
    v->processor = from->processor;
    v->is_running = from->is_running;
    v->pause_flags = from->pause_flags;
    v->runstate = from->runstate;
    v->pause_count = from->pause_count;
    v->runstate_entry = from->runstate_entry;
    v->last_switch = from->last_switch;
}

static void copy_credit_vcpu(struct credit_vcpu *cv, const struct credit_vcpu *from)
{
    cv->start_time = from->start_time;
    cv->last_sched = from->last_sched;
    cv->residual = from->residual;
    cv->credit = from->credit;
    cv->pri = from->pri;
    cv->yield = from->yield;
    cv->parked = from->parked;
    cv->migrating = from->migrating;
    if (list_linked(&cv->runq))
        list_remove(&cv->runq);
}

static void copy_queue(struct driven *to, uint32_t cpu, const struct driven *from)
{
    struct credit_pcpu *cp = credit_pcpu(&to->host->pcpu[cpu]);
    const struct credit_pcpu *f = credit_pcpu(&from->host->pcpu[cpu]);
    const struct vcpu *cur = from->host->pcpu[cpu].current;

    for_each_queued(cv, f) list_insert_tail(&cp->runq, &same_in(to, cv)->runq);
    to->host->pcpu[cpu].current =
        cur->idle ? to->host->pcpu[cur->id].idle : to->vcpu[cur->index].vcpu;
    cp->sort_epoch = f->sort_epoch;
    cp->idle_bias = f->idle_bias;
    to->host->pcpu[cpu].last_tickled = from->host->pcpu[cpu].last_tickled;
    cp->nr_runnable = f->nr_runnable;
    cp->last_balance = f->last_balance;
}

/* Last ones first, so that the lists come out in the same order. */
static void copy_active(struct driven *to, struct credit *c, const struct credit *from)
{
    for (const struct list *d = from->active_domains.prev; d != &from->active_domains;
         d = d->prev) {
        const struct credit_domain *cd = container_of(d, struct credit_domain, active);

        for (const struct list *at = cd->active_vcpus.prev; at != &cd->active_vcpus; at = at->prev)
            set_active(c, same_in(to, container_of(at, struct credit_vcpu, active)), true);
    }
}

static void inherit(struct driven *d, struct pool_follow *pf, struct driven *from,
                    struct pool_follow *pf_from, bool afresh, struct rng *rng)
{
    struct credit *c = credit_of(pf);
    const struct credit *f = credit_of(pf_from);
    struct credit_follow *cf = pf->of;

    for_each_followed(dv, d, pf)
    {
        size_t i = (size_t)(dv - d->vcpu);

        set_active(c, credit_vcpu(dv->vcpu), false);
        copy_core(d, dv->vcpu, from->vcpu[i].vcpu);
        copy_credit_vcpu(credit_vcpu(dv->vcpu), credit_vcpu(from->vcpu[i].vcpu));
        *(struct credit_follow_vcpu *)dv->of = *(struct credit_follow_vcpu *)from->vcpu[i].of;
        dv->ran = from->vcpu[i].ran;
    }
    for_each_cpu(cpu, &pf->pool->cpus)
    {
        copy_core(d, d->host->pcpu[cpu].idle, from->host->pcpu[cpu].idle);
        copy_credit_vcpu(credit_vcpu(d->host->pcpu[cpu].idle),
                         credit_vcpu(from->host->pcpu[cpu].idle));
    }
    for_each_cpu(cpu, &pf->pool->cpus) copy_queue(d, cpu, from);
    copy_active(d, c, f);
    c->balance = f->balance;
    c->idlers = f->idlers;
    c->sort_epoch = f->sort_epoch;
    for (uint32_t i = 0; i < MAX_PCPUS; i++)
        c->node_bias[i] = f->node_bias[i];
    *cf = *(const struct credit_follow *)pf_from->of;
    cf->forced = NULL;
    if (afresh)
        guess(d, pf, rng);
    else
        vary(d, pf, rng);
}

static char *inference(struct driven *d, struct pool_follow *pf)
{
    const struct credit_follow *cf = pf->of;

    (void)d;
    if (cf->shown_count)
        return xasprintf("accounting dated by %llu records", (unsigned long long)cf->shown_count);
    return xasprintf("dates of accounting guessed");
}

const struct follower follower_credit = {
    .scheduler = "credit",
    .pool_size = sizeof(struct credit_follow),
    .vcpu_size = sizeof(struct credit_follow_vcpu),
    .guesses = true,
    .begin = begin,
    .inherit = inherit,
    .advance = advance,
    .record = record,
    .wakes = wakes,
    .known = known,
    .persuade = persuade,
    .decided = decided,
    .tickled = tickled,
    .inference = inference,
    .schedule_event = XT_CSCHED_SCHEDULE,
};
