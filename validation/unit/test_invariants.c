/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random hosts, domains and behaviours, with changes at run time, under every scheduler; after each
 * event an observer checks what must always hold:
 *
 *   - no vCPU on two pCPUs, and none where its hard affinity does not allow it;
 *   - who is runnable runs or is queued where the scheduler will find it: nobody is lost;
 *   - no pCPU idles that has promised not to;
 *   - time never goes back, runstate totals add up to the time that passed;
 *   - what the scheduler counts (queue lengths, loads, weights, budgets) is what is there;
 *   - credits charged are the time run, to one credit (Credit) or exactly (Credit2).
 *
 * A scenario is its number: the same on every machine. A failure names the number and the date.
 */
#include "models/hypervisor/operate.h"
#include "models/schedulers/credit.h"
#include "models/schedulers/credit2.h"
#include "models/schedulers/null.h"
#include "models/schedulers/rtds.h"
#include "sim/random.h"
#include "validation/unit/sched_world.h"

#include <check.h>
#include <inttypes.h>
#include <string.h>

enum family { FAMILY_CREDIT, FAMILY_CREDIT2, FAMILY_RTDS, FAMILY_NULL, FAMILY_ARINC, FAMILY_OTHER };

/* What is watched of a vCPU. */
struct watch {
    int64_t burned; /* credits charged (Credit), ns charged (Credit2: in this run) */
    int64_t credit; /* as last seen */
    sim_time most;  /* Credit2: budget of its domain, of the first vCPU */
};

struct scene {
    struct observer observer;
    struct world *world;
    struct rng rng;
    uint64_t number;
    const char *scheduler;
    enum family family;
    bool aligned;
    bool accounted; /* an accounting took place since credits were last looked at */
    sim_time end, last;
    struct watch watch[WORLD_VCPUS];
};

#define REQUIRE(scene, cond, ...)                                                                  \
    do {                                                                                           \
        if (!(cond))                                                                               \
            complain(scene, #cond, __VA_ARGS__);                                                   \
    } while (0)

static void complain(const struct scene *s, const char *cond, const struct vcpu *v, uint32_t cpu)
{
    ck_abort_msg("scenario %" PRIu64 " (%s) at %" PRId64
                 " ns: not (%s); domain %d vcpu %d, pCPU %d",
                 s->number, s->scheduler, s->world->queue.now, cond, v ? (int)v->domain->id : -1,
                 v ? (int)v->id : -1, (int)cpu);
}

/* ---- what every scheduler keeps -------------------------------------------------------------- */

/* Its scheduler does not know it yet, or has let go of it. */
static bool gone(const struct vcpu *v)
{
    if (v->domain->absent)
        return true;
    return v->domain->destroyed && !timer_armed(&v->domain->operation);
}

/* Nothing is under way on this pCPU: what it does now is what its scheduler wants. */
static bool settled(const struct pcpu *p)
{
    return !cpumask_test(&p->host->pending, p->id) && !timer_armed(&p->ipi);
}

static void check_places(const struct scene *s)
{
    const struct host *h = s->world->host;

    for (uint32_t c = 0; c < h->pcpu_count; c++) {
        const struct pcpu *p = &h->pcpu[c];
        const struct vcpu *cur = p->current;

        REQUIRE(s, cur->is_running, cur, c);
        REQUIRE(s, cur->processor == c, cur, c);
        REQUIRE(s, cur->runstate == RUNSTATE_RUNNING, cur, c);
        if (!cur->idle && settled(p) && !(cur->pause_flags & PAUSE_MIGRATING) &&
            s->family != FAMILY_ARINC)
            REQUIRE(s, cpumask_test(&cur->hard, c), cur, c);
    }
    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];

        REQUIRE(s, v->is_running == (vcpu_pcpu(v)->current == v), v, v->processor);
    }
}

static void check_times(struct scene *s)
{
    const struct host *h = s->world->host;

    REQUIRE(s, h->queue->now >= s->last, NULL, 0);
    s->last = h->queue->now;
    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];
        sim_time sum = 0;

        for (int state = 0; state < 4; state++)
            sum += vcpu_runstate_time(v, (enum runstate)state);
        REQUIRE(s, sum == h->queue->now - s->world->vcpu[i].created, v, 0);
        REQUIRE(s, v->runstate != RUNSTATE_BLOCKED || v->pause_flags & PAUSE_BLOCKED, v, 0);
        REQUIRE(s, v->progress <= vcpu_runstate_time(v, RUNSTATE_RUNNING), v, 0);
    }
}

/* ---- Credit ---------------------------------------------------------------------------------- */

static bool credit_queued_on(const struct credit_pcpu *cp, const struct credit_vcpu *wanted)
{
    for_each_queued(cv, cp) if (cv == wanted) return true;
    return false;
}

static void check_credit_queues(const struct scene *s)
{
    const struct host *h = s->world->host;
    const struct credit *c = credit_data(s->world->pool->scheduler);
    bool counted = c->rules.runnable_count;

    for (uint32_t i = 0; i < h->pcpu_count; i++) {
        const struct pcpu *p = &h->pcpu[i];
        const struct credit_pcpu *cp = credit_pcpu(p);
        uint32_t waiting = 0;

        for_each_queued(cv, cp)
        {
            REQUIRE(s, cv->vcpu->processor == i, cv->vcpu, i);
            if (cv->vcpu->is_running) /* TerrierTail's micro-slices leave it linked */
                continue;
            REQUIRE(s, cv->vcpu->idle || vcpu_runnable(cv->vcpu), cv->vcpu, i);
            waiting += !cv->vcpu->idle;
        }
        if (counted)
            REQUIRE(s, cp->nr_runnable == waiting + !p->current->idle, NULL, i);
        if (settled(p) && p->current->idle)
            REQUIRE(s, waiting == 0, NULL, i);
        if (cpumask_test(&c->idlers, i) && settled(p))
            REQUIRE(s, p->current->idle, p->current, i);
        if (p->current->idle && settled(p) && s->family == FAMILY_CREDIT && counted)
            REQUIRE(s, cpumask_test(&c->idlers, i), p->current, i);
    }
}

static void check_credit_weights(const struct scene *s)
{
    const struct host *h = s->world->host;
    const struct credit *c = credit_data(s->world->pool->scheduler);
    int64_t weight = 0;

    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct credit_vcpu *cv = credit_vcpu(h->vcpu[i]);
        const struct credit_domain *cd = h->vcpu[i]->domain->sched;

        if (gone(h->vcpu[i]))
            continue;
        if (list_linked(&cv->active)) {
            weight += h->vcpu[i]->domain->weight;
            REQUIRE(s, list_linked(&cd->active), h->vcpu[i], 0);
        }
        REQUIRE(s, cv->pri == PRI_BOOST || cv->pri == PRI_UNDER || cv->pri == PRI_OVER, h->vcpu[i],
                0);
        REQUIRE(s, !cv->parked || h->vcpu[i]->pause_count > 0, h->vcpu[i], 0);
    }
    REQUIRE(s, weight == c->weight, NULL, 0);
}

/* Charged is what was run: within one credit whenever the vCPU does not run. */
static void check_credit_charges(struct scene *s)
{
    const struct host *h = s->world->host;

    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];
        struct watch *w = &s->watch[i];
        sim_time ran = vcpu_runstate_time(v, RUNSTATE_RUNNING);
        int64_t credit = credit_vcpu(v)->credit;

        if (!s->accounted)
            w->burned += w->credit - credit;
        w->credit = credit;
        if (!v->is_running) {
            REQUIRE(s, ran - w->burned * NS_PER_CREDIT <= NS_PER_CREDIT, v, 0);
            REQUIRE(s, w->burned * NS_PER_CREDIT - ran <= NS_PER_CREDIT, v, 0);
        }
    }
    s->accounted = false;
}

static void check_credit(struct scene *s)
{
    const struct host *h = s->world->host;

    check_credit_queues(s);
    check_credit_weights(s);
    check_credit_charges(s);
    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];

        if (vcpu_runnable(v) && !v->is_running)
            REQUIRE(s, credit_queued_on(credit_pcpu(vcpu_pcpu(v)), credit_vcpu(v)), v,
                    v->processor);
    }
}

/* ---- Credit2 --------------------------------------------------------------------------------- */

static void check_c2_vcpu(const struct scene *s, const struct vcpu *v)
{
    const struct c2_vcpu *cv = c2_vcpu(v);
    const struct c2_domain *cd = v->domain->sched;

    REQUIRE(s, cv->rq == c2_pcpu(vcpu_pcpu(v))->rq, v, v->processor);
    REQUIRE(s, cv->scheduled == v->is_running, v, v->processor);
    REQUIRE(s, !cv->delayed_add, v, v->processor);
    REQUIRE(s, cv->credit >= CREDIT_LEAST, v, 0);
    REQUIRE(s, cv->weight == v->domain->weight, v, 0);
    REQUIRE(s, cv->avg >= 0, v, 0);
    if (vcpu_runnable(v) && !v->is_running)
        REQUIRE(s, c2_queued(cv), v, v->processor);
    if (c2_queued(cv))
        REQUIRE(s, vcpu_runnable(v), v, v->processor);
    REQUIRE(s, !(v->pause_flags & PAUSE_PARKED) == !list_linked(&cv->parked), v, 0);
    REQUIRE(s, c2_capped(cv) == (cd->cap != 0), v, 0);
    if (list_linked(&cv->parked))
        REQUIRE(s, cv->budget == 0, v, 0);
    if (!v->is_running && c2_capped(cv))
        REQUIRE(s, cv->budget <= 0, v, 0);
}

/* What vCPUs hold and what the domain has left: a replenishment may come while they hold all of the
 * last one, but no more. */
static void check_c2_budget(struct scene *s, const struct domain *d)
{
    const struct c2_domain *cd = d->sched;
    struct watch *w = &s->watch[d->vcpu[0]->index];
    sim_time held = cd->budget, most = cd->total;

    if (!cd->cap)
        return;
    for (uint32_t i = 0; i < d->vcpu_count; i++) {
        held += c2_vcpu(d->vcpu[i])->budget;
        most += c2_vcpu(d->vcpu[i])->quota;
    }
    if (most > w->most) /* the cap may have been lowered since */
        w->most = most;
    REQUIRE(s, held <= w->most, d->vcpu[0], 0);
}

/* Does an idle pCPU neglect cv? Not if it left it to a pCPU that was told; and one with very little
 * credit is not worth its cache, so that it is not taken over and, after a reset, nobody is told.
 */
static bool c2_neglected(const struct c2_vcpu *cv, const struct pcpu *p)
{
    return cv->vcpu->processor == p->id && cpumask_test(&cv->vcpu->hard, p->id) &&
           cv->tickled_cpu == CPU_NONE;
}

static void check_c2_runq(const struct scene *s, const struct c2_runq *rq)
{
    const struct host *h = s->world->host;
    uint32_t weight = 1;
    int64_t load = 0, before = INT64_MAX;

    for_each_member(cv, rq)
    {
        REQUIRE(s, cv->rq == rq, cv->vcpu, rq->id);
        load += c2_queued(cv) || cv->vcpu->is_running;
        if (cv->weight > weight)
            weight = cv->weight;
    }
    REQUIRE(s, rq->load == load, NULL, rq->id);
    REQUIRE(s, rq->max_weight == weight, NULL, rq->id);
    REQUIRE(s, rq->avg >= 0 && rq->bavg >= 0, NULL, rq->id);
    for (struct list *at = rq->queue.next; at != &rq->queue; at = at->next) {
        const struct c2_vcpu *cv = container_of(at, struct c2_vcpu, queue);

        REQUIRE(s, cv->credit <= before, cv->vcpu, rq->id);
        before = cv->credit;
        for_each_cpu(cpu, &rq->idle)
        {
            const struct pcpu *p = &h->pcpu[cpu];

            if (settled(p) && cpumask_empty(&rq->tickled) && !c2_capped(cv))
                REQUIRE(s, !c2_neglected(cv, p), cv->vcpu, cpu);
        }
    }
    for_each_cpu(cpu, &rq->active)
    {
        const struct pcpu *p = &h->pcpu[cpu];

        REQUIRE(s, cpumask_test(&rq->idle, cpu) == p->current->idle, p->current, cpu);
        REQUIRE(s, !cpumask_test(&rq->tickled, cpu) == settled(p) || !settled(p), NULL, cpu);
        if (cpumask_test(&rq->idle_cores, cpu))
            REQUIRE(s, cpumask_test(&rq->idle, cpu) && !cpumask_test(&rq->tickled, cpu), NULL, cpu);
    }
}

static void check_credit2(struct scene *s)
{
    const struct host *h = s->world->host;
    const struct credit2 *c = c2_data(s->world->pool->scheduler);

    for (uint32_t i = 0; i < h->vcpu_count; i++)
        if (!gone(h->vcpu[i]))
            check_c2_vcpu(s, h->vcpu[i]);
    for (uint32_t i = 0; i < h->domain_count; i++)
        if (!gone(h->domain[i]->vcpu[0]))
            check_c2_budget(s, h->domain[i]);
    for_each_runq(rq, c) check_c2_runq(s, rq);
}

/* ---- RTDS ------------------------------------------------------------------------------------ */

static void check_rt_vcpu(const struct scene *s, const struct vcpu *v)
{
    const struct rt_vcpu *rv = rt_vcpu(v);
    const struct rtds *r = rt_data(s->world->pool->scheduler);

    REQUIRE(s, rv->scheduled == v->is_running, v, v->processor);
    REQUIRE(s, !rv->delayed_add, v, v->processor);
    if (vcpu_runnable(v) && !v->is_running)
        REQUIRE(s, rt_queued(rv), v, v->processor);
    if (rt_queued(rv))
        REQUIRE(s, vcpu_runnable(v) && !v->is_running, v, v->processor);
    REQUIRE(s, list_linked(&rv->replen) == (rt_queued(rv) || v->is_running), v, 0);
    REQUIRE(s, list_empty(&r->replenishments) == !timer_armed(&r->timer), v, 0);
}

/* Events are in order where none is misplaced, which is when insertion begins at the tail. */
static void check_rt_events(const struct scene *s, const struct rtds *r)
{
    const struct rt_vcpu *before = NULL;
    uint32_t misplaced = 0;

    for (struct list *at = r->replenishments.next; at != &r->replenishments; at = at->next) {
        const struct rt_vcpu *rv = container_of(at, struct rt_vcpu, replen);

        misplaced += rv->misplaced;
        if (before && !r->misplaced)
            REQUIRE(s,
                    before->level < rv->level ||
                        (before->level == rv->level && before->deadline <= rv->deadline),
                    rv->vcpu, 0);
        before = rv;
    }
    REQUIRE(s, misplaced == r->misplaced, NULL, 0);
}

static void check_rtds(struct scene *s)
{
    const struct host *h = s->world->host;
    const struct rtds *r = rt_data(s->world->pool->scheduler);

    for (uint32_t i = 0; i < h->vcpu_count; i++)
        if (!gone(h->vcpu[i]))
            check_rt_vcpu(s, h->vcpu[i]);
    check_rt_events(s, r);
    for (struct list *at = r->runq.next; at != &r->runq; at = at->next) {
        const struct rt_vcpu *rv = container_of(at, struct rt_vcpu, queue);

        REQUIRE(s, rv->budget > 0 || rv->params.extratime, rv->vcpu, 0);
        if (at->next != &r->runq) {
            const struct rt_vcpu *next = container_of(at->next, struct rt_vcpu, queue);

            REQUIRE(s,
                    rv->level < next->level ||
                        (rv->level == next->level && rv->deadline <= next->deadline),
                    rv->vcpu, 0);
        }
        /* Its own pCPU does not idle. Another may: the one that was told for it took somebody else.
         */
        if (cpumask_empty(&r->tickled) && settled(vcpu_pcpu(rv->vcpu)) &&
            cpumask_test(&rv->vcpu->hard, rv->vcpu->processor))
            REQUIRE(s, !vcpu_pcpu(rv->vcpu)->current->idle, rv->vcpu, rv->vcpu->processor);
    }
    for (struct list *at = r->depleted.next; at != &r->depleted; at = at->next)
        REQUIRE(s, container_of(at, struct rt_vcpu, queue)->budget <= 0, NULL, 0);
}

/* ---- null and ARINC653 ----------------------------------------------------------------------- */

static void check_null(struct scene *s)
{
    const struct host *h = s->world->host;
    const struct null *n = null_data(s->world->pool->scheduler);

    for (uint32_t c = 0; c < h->pcpu_count; c++) {
        const struct pcpu *p = &h->pcpu[c];
        const struct vcpu *v = null_pcpu(p)->assigned;

        REQUIRE(s, !v == cpumask_test(&n->free, c), v, c);
        if (v)
            REQUIRE(s, v->processor == c, v, c);
        if (v && settled(p))
            REQUIRE(s, vcpu_runnable(v) == (p->current == v), v, c);
        if (!v && settled(p))
            for (struct list *at = n->waiting.next; at != &n->waiting; at = at->next) {
                const struct vcpu *w = container_of(at, struct null_vcpu, waiting)->vcpu;

                REQUIRE(s, !cpumask_test(&w->hard, c), w, c);
            }
    }
    for (uint32_t i = 0; i < h->vcpu_count; i++) {
        const struct vcpu *v = h->vcpu[i];
        bool has = null_pcpu(vcpu_pcpu(v))->assigned == v;

        if (gone(v))
            continue;
        REQUIRE(s, !(has && list_linked(&null_vcpu(v)->waiting)), v, 0);
        if (vcpu_runnable(v) && !v->is_running)
            REQUIRE(s, has || list_linked(&null_vcpu(v)->waiting), v, 0);
    }
}

/* ---- the observer ---------------------------------------------------------------------------- */

static void check_all(struct observer *o, struct host *h)
{
    struct scene *s = container_of(o, struct scene, observer);

    REQUIRE(s, !h->fault, NULL, 0);
    check_places(s);
    check_times(s);
    switch (s->family) {
    case FAMILY_CREDIT:
        check_credit(s);
        break;
    case FAMILY_CREDIT2:
        check_credit2(s);
        break;
    case FAMILY_RTDS:
        check_rtds(s);
        break;
    case FAMILY_NULL:
        check_null(s);
        break;
    default:
        break;
    }
}

static void see(struct observer *o, struct host *h, const struct observation *obs)
{
    struct scene *s = container_of(o, struct scene, observer);
    struct vcpu *v = obs->vcpu;
    struct watch *w = v && !v->idle ? &s->watch[v->index] : NULL;

    REQUIRE(s, obs->time == h->queue->now, v, obs->pcpu);
    REQUIRE(s, obs->pcpu < h->pcpu_count, v, obs->pcpu);
    switch (obs->kind) {
    case OBS_ACCT_START: /* before the credits of an accounting change, too: harmless */
        break;
    case OBS_ACCT:
        s->accounted = true;
        break;
    case OBS_SWITCH_IN:
        REQUIRE(s, obs->arg[0] >= 0 && obs->arg[1] >= -1, v, obs->pcpu);
        if (w && s->family == FAMILY_CREDIT2)
            w->burned = 0;
        break;
    case OBS_C2_BURN:
        w->burned += obs->arg[2];
        break;
    case OBS_SWITCH_OUT:
        REQUIRE(s, obs->arg[0] >= 0, v, obs->pcpu);
        if (w && s->family == FAMILY_CREDIT2) /* a run is charged from its first to its last ns */
            REQUIRE(s, w->burned == obs->arg[0], v, obs->pcpu);
        break;
    default:
        break;
    }
}

/* ---- random scenarios ------------------------------------------------------------------------ */

static uint32_t draw(struct scene *s, uint32_t below)
{
    return (uint32_t)rng_below(&s->rng, below);
}

static bool chance(struct scene *s, uint32_t percent)
{
    return draw(s, 100) < percent;
}

/* A time between least and most, more often short; in aligned scenarios a multiple of 0.5 ms. */
static sim_time span(struct scene *s, sim_time least, sim_time most)
{
    sim_time range = most - least;

    if (chance(s, 50))
        range /= 10;
    least += (sim_time)rng_below(&s->rng, (uint64_t)range + 1);
    if (s->aligned)
        least = (least + MS / 2) / (MS / 2) * (MS / 2);
    return least;
}

static cpumask some_cpus(struct scene *s)
{
    uint32_t n = s->world->host->pcpu_count;
    cpumask m = cpumask_of(draw(s, n));

    for (uint32_t k = draw(s, n); k > 0; k--)
        cpumask_set(&m, draw(s, n));
    return m;
}

static sim_time pick_time(struct scene *s, const sim_time *times, uint32_t count)
{
    return times[draw(s, count)];
}

static void draw_credit_params(struct scene *s, struct credit_params *p)
{
    static const sim_time slices[] = {1 * MS, 2 * MS, 5 * MS, 10 * MS, 30 * MS};
    static const sim_time limits[] = {0, 100 * US, 1 * MS, 5 * MS};
    static const sim_time delays[] = {0, 0, 100 * US, 5 * MS};

    p->tslice = pick_time(s, slices, 5);
    p->ratelimit = pick_time(s, limits, 4);
    p->migration_delay = pick_time(s, delays, 4);
    p->tickle_one_idle = !chance(s, 15);
    p->smt_power_savings = chance(s, 15);
    p->idle_ticks = chance(s, 15);
}

static void draw_params(void *params, void *ctx)
{
    struct scene *s = ctx;

    if (s->family == FAMILY_CREDIT) { /* the first member of its descendants' parameters too */
        draw_credit_params(s, params);
    } else if (s->family == FAMILY_CREDIT2) {
        struct credit2_params *p = params;
        static const sim_time limits[] = {0, 100 * US, 1 * MS, 5 * MS};

        p->ratelimit = pick_time(s, limits, 4);
        p->runqueue = (int)draw(s, 5);
        p->smt_power_savings = chance(s, 15);
        p->max_cpus_runqueue = chance(s, 20) ? 2 : 16;
        if (chance(s, 20))
            p->migrate_resist = 0;
    }
}

static const struct program *draw_program(struct scene *s, struct world_vcpu *wv, void *params)
{
    struct burst_sleep_params *bs = params;
    struct periodic_params *per = params;
    struct server_params *srv = params;
    struct yielder_params *y = params;
    struct script_params *sc = params;

    switch (draw(s, 7)) {
    case 0:
        return &program_hog;
    case 1:
        bs->compute = span(s, 1, 20 * MS);
        bs->sleep = span(s, 1, 20 * MS);
        return &program_burst_sleep;
    case 2:
        per->start = s->world->queue.now;
        per->phase = span(s, 0, 5 * MS);
        per->period = span(s, 500 * US, 20 * MS);
        per->compute = span(s, 1, 10 * MS);
        return &program_periodic;
    case 3:
        y->compute = span(s, 10 * US, 5 * MS);
        return &program_yielder;
    case 4:
        *sc = (struct script_params){.op = wv->script, .start = s->world->queue.now};
        sc->count = 2 + draw(s, WORLD_SCRIPT - 2);
        wv->script[0] = (struct script_op){SCRIPT_COMPUTE, span(s, 1, 5 * MS)};
        for (uint32_t i = 1; i < sc->count; i++) {
            enum script_kind kind = (enum script_kind)draw(s, SCRIPT_YIELD + 1);

            wv->script[i] = (struct script_op){kind, span(s, 100 * US, 10 * MS)};
        }
        return &program_script;
    default:
        srv->compute = span(s, 1, 2 * MS);
        return &program_server;
    }
}

/* What an operator, or the world, does to a vCPU. */
static sim_time act_at_random(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    struct scene *s = (struct scene *)(uintptr_t)arg;
    static const uint32_t weights[] = {1, 64, 256, 512, 1024, 65535};
    cpumask m = some_cpus(s);

    if (v->domain->destroyed)
        return 0;
    if (v->domain->absent)
        return now + span(s, 1, 10 * MS);
    switch (draw(s, 9)) {
    case 0:
        vcpu_pause(v);
        break;
    case 1:
        if (v->pause_count > (s->family == FAMILY_CREDIT && credit_vcpu(v)->parked))
            vcpu_unpause(v);
        break;
    case 2:
        vcpu_set_affinity(v, &m, NULL);
        break;
    case 3:
        vcpu_set_affinity(v, NULL, &m);
        break;
    case 4:
        domain_set(v->domain, weights[draw(s, 6)], v->domain->cap);
        break;
    case 5:
        domain_set(v->domain, v->domain->weight, chance(s, 40) ? 0 : 10 * (1 + draw(s, 20)));
        break;
    case 6:
        if (v->pause_flags & PAUSE_DOWN)
            vcpu_start(v);
        else
            vcpu_stop(v);
        break;
    case 7:
        if (s->family == FAMILY_RTDS) {
            struct rtds_vcpu_params p = {.period = span(s, 100 * US, 20 * MS)};

            p.budget = 10 * US + (sim_time)rng_below(&s->rng, (uint64_t)(p.period - 10 * US + 1));
            p.extratime = chance(s, 50);
            w->pool->scheduler->ops->adjust_vcpu(w->pool->scheduler, v, &p);
        }
        break;
    default:
        if (chance(s, 20))
            domain_destroy(v->domain);
        else
            evtchn_send(&w->vcpu[v->index].channel, chance(s, 30));
        break;
    }
    return now + span(s, 1, 10 * MS);
}

static sim_time send_again(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    struct scene *s = (struct scene *)(uintptr_t)arg;

    evtchn_send(&w->vcpu[v->index].channel, chance(s, 30));
    return now + span(s, 1, 8 * MS);
}

/* Of a vCPU that is not there yet: noted, for its creation. */
static void set_masks(struct vcpu *v, const cpumask *hard, const cpumask *soft)
{
    if (!v->domain->absent) {
        vcpu_set_affinity(v, hard, soft);
        return;
    }
    v->hard = hard ? *hard : v->hard;
    v->soft = soft ? *soft : v->soft;
}

static void draw_vcpu(struct scene *s, struct domain *d)
{
    struct world *w = s->world;
    union {
        struct burst_sleep_params a;
        struct periodic_params b;
        struct server_params c;
        struct yielder_params d;
        struct script_params e;
    } params = {{0, 0}};
    struct world_vcpu *wv = &w->vcpu[w->host->vcpu_count];
    const struct program *program = draw_program(s, wv, &params);
    struct vcpu *v = world_vcpu(w, d, program, &params);
    cpumask m;

    s->watch[v->index].credit = s->family == FAMILY_CREDIT ? credit_vcpu(v)->credit : 0;
    m = some_cpus(s);
    if (chance(s, 30))
        set_masks(v, &m, NULL);
    m = some_cpus(s);
    if (chance(s, 30))
        set_masks(v, NULL, &m);
    if (!d->absent)
        world_start(w, v, w->built + span(s, 0, 20 * MS));
    if (program == &program_server || chance(s, 20))
        world_at(w, w->built + span(s, 1, 10 * MS), send_again, v, s);
}

static sim_time create(struct world *w, struct vcpu *v, const void *arg, sim_time now)
{
    struct scene *s = (struct scene *)(uintptr_t)arg;
    struct domain *d = v->domain;

    domain_appear(d);
    for (uint32_t i = 0; i < d->vcpu_count; i++) {
        struct vcpu *new = d->vcpu[i];
        cpumask hard = new->hard, soft = new->soft;

        new->hard = new->soft = cpumask_all();
        vcpu_appear(new);
        vcpu_set_affinity(new, &hard, &soft);
        w->vcpu[new->index].created = now;
        world_start(w, new, now + span(s, 0, 5 * MS));
    }
    return 0;
}

static void draw_domains(struct scene *s)
{
    static const uint32_t weights[] = {64, 256, 256, 512, 1024};
    uint32_t most = s->family == FAMILY_NULL ? s->world->host->pcpu_count + 3 : 18, n = 0;

    for (uint32_t k = 1 + draw(s, 6); k > 0 && n < most; k--) {
        uint32_t vcpus = 1 + draw(s, 4);
        struct domain *d;
        bool later;

        if (vcpus > most - n)
            vcpus = most - n;
        later = k > 1 && chance(s, 25); /* one at least is there at once */
        d = later ? world_domain_later(s->world, weights[draw(s, 5)], vcpus)
                  : world_domain(s->world, weights[draw(s, 5)], vcpus);
        for (uint32_t i = 0; i < vcpus; i++)
            draw_vcpu(s, d);
        n += vcpus;
        if (later)
            world_at(s->world, s->world->built + span(s, 1, 30 * MS), create, d->vcpu[0], s);
        else if (chance(s, 25))
            domain_set(d, d->weight, 10 * (1 + draw(s, 10 * vcpus)));
    }
}

static void draw_costs(struct scene *s)
{
    struct host_costs *c = &s->world->host->costs;

    c->context_switch = span(s, 0, 5 * US);
    c->ipi = chance(s, 50) ? 2 * US : 0;
    c->timer_slop = chance(s, 50) ? 50 * US : 0;
    c->cache_refill = chance(s, 50) ? 100 * US : 0;
    c->cache_lifetime = 1 * MS;
    c->smt_factor = 60 + draw(s, 41);
}

static const struct {
    const char *name;
    enum family family;
    enum xen_version version;
    uint32_t share;
} kinds[] = {
    {"credit", FAMILY_CREDIT, XEN_4_17, 20}, {"credit", FAMILY_CREDIT, XEN_4_18, 8},
    {"credit", FAMILY_CREDIT, XEN_4_7_1, 6}, {"credit", FAMILY_CREDIT, XEN_4_7_0, 4},
    {"credit", FAMILY_CREDIT, XEN_4_6, 4},   {"credit2", FAMILY_CREDIT2, XEN_4_17, 26},
    {"rtds", FAMILY_RTDS, XEN_4_17, 14},     {"null", FAMILY_NULL, XEN_4_17, 8},
    {"arinc653", FAMILY_ARINC, XEN_4_17, 2}, {"terriertail", FAMILY_CREDIT, XEN_4_7_0, 4},
    {"vslicer", FAMILY_CREDIT, XEN_4_17, 2}, {"rr", FAMILY_OTHER, XEN_4_17, 2},
};

static void draw_host(struct scene *s)
{
    uint32_t k = 0, share = draw(s, 100), pcpus, threads, cores, sockets;

    while (share >= kinds[k].share)
        share -= kinds[k++].share;
    s->scheduler = kinds[k].name;
    s->family = kinds[k].family;
    s->aligned = chance(s, 25);
    threads = chance(s, 30) ? 2 : 1;
    pcpus = threads == 2 ? 2 + 2 * draw(s, 4) : 1 + draw(s, 8);
    cores = chance(s, 40) ? 1 + draw(s, 2) : 0;
    sockets = cores && chance(s, 50) ? 1 + draw(s, 2) : 0;
    if (s->family == FAMILY_ARINC)
        pcpus = threads = 1;
    s->world = world_new(kinds[k].version, pcpus, threads, cores, sockets);
    if (chance(s, 20))
        draw_costs(s);
    world_pool(s->world, s->scheduler, draw_params, s, 137 * US, 1 * MS);
}

struct counts {
    uint64_t decisions, switches, migrations, events;
};

static struct counts run_scene(uint64_t number, bool watched)
{
    struct scene *s = xcalloc(1, sizeof *s);
    struct counts n;
    const struct host *h;

    s->number = number;
    rng_init(&s->rng, number, 0, "scenario", "invariants");
    draw_host(s);
    h = s->world->host;
    s->observer =
        (struct observer){.kinds = UINT64_MAX, .see = see, .handled = check_all, .next = NULL};
    if (watched)
        host_observe(s->world->host, &s->observer);
    draw_domains(s);
    for (uint32_t i = draw(s, 4); i > 0; i--) {
        sim_time date = span(s, 2 * MS, 30 * MS);

        world_at(s->world, date, act_at_random, h->vcpu[draw(s, h->vcpu_count)], s);
    }
    s->end = span(s, 40 * MS, 160 * MS);
    world_run(s->world, s->end);
    REQUIRE(s, !h->fault, NULL, 0);
    REQUIRE(s, h->decisions > 0, NULL, 0);
    n = (struct counts){h->decisions, h->switches, h->migrations, s->world->queue.fired};
    world_free(s->world);
    free(s);
    return n;
}

enum { BATCH = 100 };

START_TEST(some_scenarios)
{
    for (int i = 0; i < BATCH; i++)
        run_scene((uint64_t)(_i * BATCH + i), true);
}
END_TEST

START_TEST(watching_changes_nothing)
{
    for (uint64_t i = 0; i < 100; i++) {
        struct counts watched = run_scene(i, true), alone = run_scene(i, false);

        if (memcmp(&watched, &alone, sizeof alone))
            ck_abort_msg("scenario %" PRIu64 " takes another course when nobody watches", i);
    }
}
END_TEST

/* ---- between pools --------------------------------------------------------------------------- */

static struct cpupool *pool_of(struct host *h, const char *scheduler, uint32_t first, uint32_t last)
{
    const struct sched_ops *ops = scheduler_by_name(scheduler);
    void *params = ops->params ? xcalloc(1, ops->params->size) : NULL;
    struct cpupool *pool;

    if (params)
        params_defaults(ops->params, params);
    pool = host_add_pool(h, scheduler, ops, params, ops->params ? ops->params->size : 0);
    free(params);
    for (uint32_t c = first; c <= last; c++)
        pool_add_pcpu(pool, &h->pcpu[c]);
    return pool;
}

static sim_time ran(const struct domain *d)
{
    sim_time sum = 0;

    for (uint32_t i = 0; i < d->vcpu_count; i++)
        sum += vcpu_runstate_time(d->vcpu[i], RUNSTATE_RUNNING);
    return sum;
}

/* A domain with two vCPUs goes from one pool to another and back, by each pair of schedulers, caps
 * and all. It must run in both. */
static void move_between(const char *from, const char *to)
{
    struct world *w = world_new(XEN_4_17, 4, 1, 0, 0);
    struct cpupool *pool[2];
    struct domain *d;
    sim_time before = 0;

    pool[0] = w->pool = pool_of(w->host, from, 0, 1);
    pool[1] = pool_of(w->host, to, 2, 3);
    host_settle(w->host);
    d = world_domain(w, 512, 2);
    world_start(w, world_vcpu(w, d, &program_hog, NULL), 1 * MS);
    world_sleeper(w, d, 300 * US, 700 * US, 1 * MS);
    domain_set(d, 512, 80);
    for (int turn = 1; turn <= 4; turn++) {
        world_run(w, turn * 50 * MS);
        ck_assert_msg(!w->host->fault, "%s to %s: %s", from, to, w->host->fault);
        ck_assert_msg(ran(d) - before > 25 * MS, "from %s to %s: ran for %" PRId64 " ns in turn %d",
                      from, to, ran(d) - before, turn);
        before = ran(d);
        for (int i = 0; i < 2; i++)
            ck_assert(cpumask_test(&d->pool->cpus, d->vcpu[i]->processor));
        domain_move(d, pool[turn % 2]);
    }
    world_free(w);
}

START_TEST(domains_move_between_all_schedulers)
{
    static const char *const names[] = {"credit", "credit2", "rtds",       "null",
                                        "rr",     "vslicer", "terriertail"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            move_between(names[i], names[k]);
}
END_TEST

Suite *suite_invariants(void)
{
    Suite *suite = suite_create("invariants");
    TCase *fast = tcase_create("random scenarios");
    TCase *slow = tcase_create("slow: many random scenarios");

    tcase_add_loop_test(fast, some_scenarios, 0, 10);
    tcase_add_test(fast, watching_changes_nothing);
    tcase_add_test(fast, domains_move_between_all_schedulers);
    suite_add_tcase(suite, fast);
    tcase_add_loop_test(slow, some_scenarios, 10, 200);
    suite_add_tcase(suite, slow);
    return suite;
}
