/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TerrierTail: Credit of Xen 4.7 that knows which vCPUs have network packets waiting.
 * (E. Asyabi et al., IEEE TPDS 29(10), 2018; rules from the authors' published scheduler.)
 *
 * Design
 *   netback's notification of received packets colours the target vCPU red. Only a red vCPU is
 * boosted when it wakes. And after each ordinary turn a pCPU goes through two phases of
 * micro-slices: first for red vCPUs (their interrupt work), then for the ones that just had such a
 * turn, now blue, and their siblings (the application). Only a vCPU that is no worse than the head
 * of the queue qualifies, and micro-slices are charged as any run time: that is all the fairness
 * there is.
 *
 * Three mechanisms, each of which can be switched off: boost_filter, micro_slices, migration_lock
 *   (a pCPU in its phases neither gives vCPUs away nor has its own pushed away).
 *
 * as-coded and as-intended
 *   A vCPU picked for a micro-slice stays linked in the queue. If it blocks, the authors' code
 * leaves it linked, so that a blocked vCPU can be picked (a "ghost") and wakes can be lost.
 * as-intended takes it out, and turns a blue vCPU that blocks green, since its work is done.
 *
 * Constants
 *   micro-slices 1 ms each, compile-time in the original; parameters here.
 */
#include "models/schedulers/credit.h"
#include "models/schedulers/schedulers.h"

#include <stdio.h>

enum { GREEN, RED, BLUE };
enum { STATE_NORMAL, STATE_IO_I, STATE_IO_A };
enum { REPAIRED, AS_INTENDED, AS_CODED };

struct terriertail_params {
    struct credit_params credit; /* first: Credit's functions read it */
    int policy;
    sim_time slice_interrupt, slice_application;
    bool boost_filter, boost_dom0, micro_slices, migration_lock;
};

static const struct terriertail_params *params_of(const struct credit *c)
{
    return c->sched->params;
}

static bool coded(const struct credit *c)
{
    return params_of(c)->policy == AS_CODED;
}

/* netback has put packets into v's receive ring and tells it. Done even if the event is already
 * pending. Blue absorbs it: the vCPU has been served and is at it. */
static void network_event(struct scheduler *s, struct vcpu *v)
{
    struct credit_vcpu *cv = credit_vcpu(v);

    (void)s;
    if (cv->color != BLUE)
        cv->color = RED;
}

static bool may_boost(const struct credit_vcpu *cv)
{
    return cv->color == RED;
}

static bool may_boost_dom0(const struct credit_vcpu *cv)
{
    return cv->color == RED || !cv->vcpu->domain->id;
}

/* First of the queue with this colour that has not been served in this round and is no worse than
 * the head. */
static struct credit_vcpu *find(struct credit_pcpu *cp, int color, int16_t least)
{
    for_each_queued(cv, cp) if (cv->color == color &&
                                !(color == RED ? cv->red_served : cv->blue_served) &&
                                cv->pri >= least && cv->pri > PRI_IDLE) return cv;
    return NULL;
}

static void turn_domain_blue(struct credit_vcpu *cv)
{
    struct credit_domain *cd = cv->vcpu->domain->sched;

    cv->color = BLUE;
    for (struct list *at = cd->active_vcpus.next; at != &cd->active_vcpus; at = at->next)
        container_of(at, struct credit_vcpu, active)->color = BLUE;
}

static struct credit_vcpu *interrupt_phase(struct credit *c, struct credit_pcpu *cp, int16_t least)
{
    struct credit_vcpu *cv;

    cp->no_migration = params_of(c)->migration_lock;
    cv = find(cp, RED, least);
    if (cv) {
        cv->red_served = true;
        turn_domain_blue(cv);
        c->sched->why = "interrupt phase: first red vCPU in the queue no worse than its head";
        return cv;
    }
    cp->state = STATE_IO_A;
    for_each_queued(q, cp) q->blue_served = false;
    return NULL;
}

static struct credit_vcpu *application_phase(struct credit *c, struct credit_pcpu *cp,
                                             int16_t least)
{
    struct credit_vcpu *cv = find(cp, BLUE, least);

    if (cv) {
        cv->blue_served = true;
        cv->color = GREEN;
        c->sched->why = "application phase: first blue vCPU in the queue no worse than its head";
        return cv;
    }
    cp->no_migration = false;
    cp->state = STATE_NORMAL;
    return NULL;
}

static struct credit_vcpu *normal(struct credit *c, struct credit_pcpu *cp,
                                  struct credit_vcpu *head, sim_time now)
{
    struct credit_vcpu *next;

    for_each_queued(q, cp) q->red_served = false;
    next = credit_choose(c, cp, head, now);
    credit_update_idlers(c, cp, next);
    if (!params_of(c)->micro_slices)
        next->color = GREEN;
    else if (next->pri != PRI_IDLE)
        cp->state = STATE_IO_I;
    return next;
}

static struct decision choose(struct credit *c, struct credit_pcpu *cp, struct vcpu *prev,
                              struct credit_vcpu *head, sim_time now)
{
    const struct terriertail_params *p = params_of(c);
    int16_t least = head->pri;
    struct credit_vcpu *next = NULL;
    sim_time slice = c->tslice;

    (void)prev;
    if (cp->state == STATE_IO_I) {
        next = interrupt_phase(c, cp, least);
        slice = p->slice_interrupt;
    }
    if (!next && cp->state == STATE_IO_A) {
        next = application_phase(c, cp, least);
        slice = p->slice_application;
    }
    if (next) {
        next->phase = cp->state;
    } else {
        next = normal(c, cp, head, now);
        next->phase = STATE_NORMAL;
        slice = c->tslice;
    }
    return (struct decision){next->vcpu, slice};
}

/* The running vCPU is no longer runnable: as intended, it leaves the queue it is still linked in,
 * and one that blocked has done its work. */
static void stopped(struct credit *c, struct credit_vcpu *cv)
{
    if (coded(c))
        return;
    if (list_linked(&cv->runq))
        runq_remove(c, cv);
    if (params_of(c)->policy == REPAIRED)
        cv->red_served = cv->blue_served = false;
    if (cv->color == BLUE && cv->vcpu->pause_flags & PAUSE_BLOCKED)
        cv->color = GREEN;
}

static void create(struct scheduler *s)
{
    struct credit *c = credit_data(s);
    const struct terriertail_params *p = s->params;

    credit_create(s);
    c->rules = credit_rules_of(XEN_4_7_0); /* its base, whatever the host's version */
    c->may_boost = !p->boost_filter ? NULL : p->boost_dom0 ? may_boost_dom0 : may_boost;
    c->choose = choose;
    c->stopped = stopped;
}

/* ---- for observers ----------------------------------------------------------------------------
 */

static char color(const struct vcpu *v)
{
    return "grb"[credit_vcpu(v)->color];
}

static void annotate(const struct scheduler *s, const struct observation *o, char *text,
                     size_t size)
{
    static const char *const state[] = {"NORMAL", "IO_I", "IO_A"};
    const struct vcpu *v = o->vcpu;
    const struct credit_vcpu *cv = credit_vcpu(v);
    const char *ghost = "";

    (void)s;
    if (o->kind == OBS_SWITCH_IN || o->kind == OBS_CONT) {
        if (!vcpu_runnable(v))
            ghost = v->pause_flags & PAUSE_BLOCKED ? " ghost=blocked"
                    : v->pause_count               ? " ghost=paused"
                                                   : " ghost=other";
        snprintf(text, size, "%s color=%c phase=%s state=%s", ghost, color(v), state[cv->phase],
                 state[credit_pcpu(vcpu_pcpu(v))->state]);
    } else if (o->kind == OBS_EVENT || o->kind == OBS_NETEVENT) {
        if (v->pause_flags & PAUSE_BLOCKED && list_linked(&cv->runq))
            ghost = " ghost=queued";
        snprintf(text, size, " color=%c%s", color(v), ghost);
    }
}

/* ---- parameters and operations -----------------------------------------------------------------
 */

static const char *const policies[] = {"repaired", "as-intended", "as-coded", NULL};

static const struct param rows[] = {
    {PARAM("policy", ENUM, struct terriertail_params, policy), .def = "as-intended",
     .names = policies,
     .meaning = "as-coded keeps a vCPU that blocks in a micro-slice in the queue, as the authors' "
                "prototype does.",
     .status = STATUS_EXACT, .source = "the authors' sched_credit.c"},
    {PARAM("slice_interrupt", DURATION, struct terriertail_params, slice_interrupt), .def = "1ms",
     .min = "100us", .max = "100ms", .meaning = "Micro-slice of a red vCPU.",
     .source = "the authors' sched_credit.c", .status = STATUS_EXACT},
    {PARAM("slice_application", DURATION, struct terriertail_params, slice_application),
     .def = "1ms", .min = "100us", .max = "100ms", .meaning = "Micro-slice of a blue vCPU.",
     .source = "the authors' sched_credit.c", .status = STATUS_EXACT},
    {PARAM("boost_filter", BOOLEAN, struct terriertail_params, boost_filter), .def = "true",
     .meaning = "Mechanism 1: only red vCPUs are boosted when they wake.",
     .source = "the authors' sched_credit.c", .status = STATUS_EXACT},
    {PARAM("boost_dom0", BOOLEAN, struct terriertail_params, boost_dom0), .def = "false",
     .meaning =
         "The filter lets dom0 pass: it is boosted as under Credit, which the code does not do.",
     .source = "the authors' sched_credit.c", .status = STATUS_EXACT},
    {PARAM("micro_slices", BOOLEAN, struct terriertail_params, micro_slices), .def = "true",
     .meaning = "Mechanism 2: the two phases of micro-slices.",
     .source = "the authors' sched_credit.c", .status = STATUS_EXACT},
    {PARAM("migration_lock", BOOLEAN, struct terriertail_params, migration_lock), .def = "true",
     .meaning = "Mechanism 3: no migration to or from a pCPU in its phases.",
     .source = "the authors' sched_credit.c", .status = STATUS_EXACT},
    CREDIT_PARAM_ROWS(struct terriertail_params, credit.),
};

static const struct param_table table =
    PARAM_TABLE("terriertail", struct terriertail_params, rows, .meaning = "TerrierTail.",
                .check = credit_params_check);

const struct sched_ops sched_terriertail = {
    CREDIT_OPERATIONS,
    .name = "terriertail",
    .title = "TerrierTail: Credit that knows which vCPUs have packets waiting",
    .params = &table,
    .domain_size = sizeof(struct credit_domain),
    .ghosts = true, /* as coded */
    .create = create,
    .network_event = network_event,
    .color = color,
    .annotate = annotate,
};
