/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tableau: a table-driven dispatcher after Tableau (M. Vanga, A. Gujarati, B. Brandenburg, EuroSys
 * 2018; tableau.mpi-sws.org). Tableau's planner, which makes the table, is not part of it: the
 * table is given in the scenario.
 *
 * Design
 *   Each pCPU has a table of slots that repeats. In its slot a vCPU has the pCPU, if it is runnable
 *   and not still running elsewhere. What slots leave goes to a second level: round robin over the
 *   vCPUs that have a slot on this pCPU, or none anywhere and live here.
 *
 * Sourced: table per core, second-level round robin in idle slots with 1 ms turns, slots below
 *   50 us are not used (coalesced by the planner).
 * Assumed: a table repeats from time 0; second-level turns end with the slot; a waking vCPU
 * preempts only in its own slot, or an idle pCPU; second-level budgets per epoch are left out.
 */
#include "models/schedulers/schedulers.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    char *domain;
    int64_t vcpu, pcpu;
    sim_time start, length;
};

struct tableau_params {
    sim_time period, level2_slice;
    struct param_list slots; /* of struct slot */
};

struct tableau_vcpu {
    struct list level2;
    struct vcpu *vcpu;
    cpumask homes; /* pCPUs with a slot for it; empty: none */
};

struct entry {
    sim_time start, end;
    struct vcpu *vcpu;
};

struct tableau_pcpu {
    struct list level2;
    struct entry *entry; /* by start */
    uint32_t count;
};

static struct tableau_vcpu *tv_of(const struct vcpu *v)
{
    return v->sched;
}

static struct tableau_pcpu *tp_of(const struct pcpu *p)
{
    return p->sched;
}

static const struct tableau_params *params_of(const struct scheduler *s)
{
    return s->params;
}

/* The slot that is on now (NULL: none) and when it, or the gap, ends. */
static const struct entry *slot_now(const struct scheduler *s, const struct pcpu *p, sim_time now,
                                    sim_time *end)
{
    const struct tableau_pcpu *tp = tp_of(p);
    sim_time period = params_of(s)->period, at = now % period, begin = now - at;

    *end = begin + period;
    for (uint32_t i = 0; i < tp->count; i++) {
        const struct entry *e = &tp->entry[i];

        if (at < e->start) {
            *end = begin + e->start;
            return NULL;
        }
        if (at < e->end) {
            *end = begin + e->end;
            return e;
        }
    }
    return NULL;
}

/* ---- the second level ---------------------------------------------------------------------------
 */

static void level2_add(struct vcpu *v)
{
    if (!list_linked(&tv_of(v)->level2))
        list_insert_tail(&tp_of(vcpu_pcpu(v))->level2, &tv_of(v)->level2);
}

static struct vcpu *level2_take(struct pcpu *p)
{
    struct list *queue = &tp_of(p)->level2;
    struct vcpu *v;

    if (list_empty(queue))
        return NULL;
    v = container_of(queue->next, struct tableau_vcpu, level2)->vcpu;
    list_remove(&tv_of(v)->level2);
    return v;
}

/* ---- operations ---------------------------------------------------------------------------------
 */

static void wake(struct scheduler *s, struct vcpu *v)
{
    struct pcpu *home = vcpu_pcpu(v);
    sim_time now = s->host->queue->now, end;

    if (home->current == v || list_linked(&tv_of(v)->level2))
        return;
    level2_add(v);
    for_each_cpu(c, &tv_of(v)->homes)
    {
        struct pcpu *p = &s->host->pcpu[c];
        const struct entry *e = slot_now(s, p, now, &end);

        if (e && e->vcpu == v) {
            pcpu_reschedule(p);
            return;
        }
    }
    if (home->current->idle)
        pcpu_reschedule(home);
}

static void sleep_vcpu(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    if (vcpu_pcpu(v)->current == v)
        pcpu_reschedule(vcpu_pcpu(v));
    else
        list_remove(&tv_of(v)->level2);
}

static struct decision schedule(struct scheduler *s, struct pcpu *p, sim_time now)
{
    struct vcpu *prev = p->current, *next;
    const struct entry *e;
    sim_time end, turn = params_of(s)->level2_slice;

    if (!prev->idle && vcpu_runnable(prev))
        level2_add(prev);
    e = slot_now(s, p, now, &end);
    if (e && vcpu_runnable(e->vcpu) && (!e->vcpu->is_running || e->vcpu == prev)) {
        list_remove(&tv_of(e->vcpu)->level2);
        e->vcpu->processor = p->id;
        s->why = "its slot in the table";
        return (struct decision){e->vcpu, end - now};
    }
    next = level2_take(p);
    s->why = next ? "second level: its turn in what the slots leave" : "nothing to run";
    if (!next)
        return (struct decision){p->idle, end - now};
    return (struct decision){next, turn < end - now ? turn : end - now};
}

static uint32_t pick_cpu(struct scheduler *s, struct vcpu *v)
{
    cpumask allowed = cpumask_and(&v->hard, &s->pool->cpus);
    cpumask homes = cpumask_and(&allowed, &tv_of(v)->homes);

    if (!cpumask_empty(&homes))
        allowed = homes;
    return cpumask_test(&allowed, v->processor) ? v->processor
                                                : cpumask_cycle(v->processor, &allowed);
}

/* ---- life cycle ---------------------------------------------------------------------------------
 */

static void pcpu_join(struct scheduler *s, struct pcpu *p)
{
    (void)s;
    list_init(&tp_of(p)->level2);
}

static void vcpu_create(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    tv_of(v)->vcpu = v;
    list_init(&tv_of(v)->level2);
}

static int by_start(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void insert(struct scheduler *s, struct vcpu *v)
{
    const struct slot *slot = params_of(s)->slots.item;

    for (size_t i = 0; i < params_of(s)->slots.count; i++) {
        struct tableau_pcpu *tp;

        if (strcmp(slot[i].domain, v->domain->name) || slot[i].vcpu != v->id ||
            slot[i].pcpu >= s->host->pcpu_count ||
            !cpumask_test(&s->pool->cpus, (uint32_t)slot[i].pcpu))
            continue;
        tp = tp_of(&s->host->pcpu[slot[i].pcpu]);
        tp->entry = xrealloc(tp->entry, (tp->count + 1) * sizeof *tp->entry);
        tp->entry[tp->count++] = (struct entry){slot[i].start, slot[i].start + slot[i].length, v};
        qsort(tp->entry, tp->count, sizeof *tp->entry, by_start);
        cpumask_set(&tv_of(v)->homes, (uint32_t)slot[i].pcpu);
    }
    v->processor = pick_cpu(s, v);
}

static void remove_vcpu(struct scheduler *s, struct vcpu *v)
{
    list_remove(&tv_of(v)->level2);
    for_each_cpu(c, &tv_of(v)->homes)
    {
        struct tableau_pcpu *tp = tp_of(&s->host->pcpu[c]);
        uint32_t kept = 0;

        for (uint32_t i = 0; i < tp->count; i++)
            if (tp->entry[i].vcpu != v)
                tp->entry[kept++] = tp->entry[i];
        tp->count = kept;
    }
}

static void pcpu_leave(struct scheduler *s, struct pcpu *p)
{
    (void)s;
    free(tp_of(p)->entry);
    tp_of(p)->entry = NULL;
    tp_of(p)->count = 0;
}

static void destroy(struct scheduler *s)
{
    for_each_cpu(c, &s->pool->cpus) pcpu_leave(s, &s->host->pcpu[c]);
}

/* ---- parameters ---------------------------------------------------------------------------------
 */

static const struct param slot_rows[] = {
    {PARAM("domain", NAME, struct slot, domain), .refers = "domain", .meaning = "Whose slot it is.",
     .status = STATUS_GIVEN},
    {PARAM("vcpu", INTEGER, struct slot, vcpu), .def = "0", .range = PARAM_NO_RANGE, .min = "0",
     .max = "255", .meaning = "Which of its vCPUs.", .status = STATUS_ASSUMED},
    {PARAM("pcpu", INTEGER, struct slot, pcpu), .min = "0", .max = "255",
     .meaning = "On which pCPU.", .status = STATUS_GIVEN},
    {PARAM("start", DURATION, struct slot, start), .meaning = "Offset in the period.",
     .status = STATUS_GIVEN},
    {PARAM("length", DURATION, struct slot, length), .min = "50us",
     .meaning = "Length of the slot.", .status = STATUS_GIVEN},
};
static const struct param_table slot_table =
    PARAM_TABLE("slot", struct slot, slot_rows, .meaning = "A slot of Tableau's table.");
static const struct param slot_element = {PARAM_ELEMENT(OBJECT, struct slot), .table = &slot_table,
                                          .meaning = "A slot."};

static const struct param rows[] = {
    {PARAM("period", DURATION, struct tableau_params, period), .def = "100ms",
     .range = PARAM_NO_RANGE, .min = "1ms", .max = "100s",
     .meaning = "Length of the table, after which it repeats.", .status = STATUS_ASSUMED},
    {PARAM("level2_slice", DURATION, struct tableau_params, level2_slice), .def = "1ms",
     .min = "50us", .max = "1s", .meaning = "Turn in the second-level round robin.",
     .source = "Tableau's dispatcher: level-2 slice", .status = STATUS_CITED},
    {PARAM("slots", LIST, struct tableau_params, slots), .of = &slot_element, .optional = true,
     .meaning = "The table.", .status = STATUS_GIVEN},
};

/* Slots of one pCPU must fit in the period and not overlap. */
static int check_slots(void *target, struct json_value v, struct errors *e)
{
    const struct tableau_params *p = target;
    const struct slot *slot = p->slots.item;
    struct json_value list = json_member(v, "slots");
    int result = 0;

    for (size_t i = 0; i < p->slots.count; i++) {
        if (slot[i].start + slot[i].length > p->period)
            result = json_error(json_element(list, i), e,
                                "the slot ends after the period; shorten it or raise \"period\"");
        for (size_t k = 0; k < i; k++)
            if (slot[i].pcpu == slot[k].pcpu && slot[i].start < slot[k].start + slot[k].length &&
                slot[k].start < slot[i].start + slot[i].length)
                result = json_error(json_element(list, i), e,
                                    "overlaps slot %zu on the same pCPU; move one of them", k);
    }
    return result;
}

static const struct param_table table =
    PARAM_TABLE("tableau", struct tableau_params, rows, .meaning = "A table-driven dispatcher.",
                .check = check_slots);

const struct sched_ops sched_tableau = {
    .abi = SCHEDULER_ABI,
    .name = "tableau",
    .title = "Tableau's dispatcher: a table of slots, round robin in what they leave",
    .trace_id = -1,
    .params = &table,
    .pcpu_size = sizeof(struct tableau_pcpu),
    .vcpu_size = sizeof(struct tableau_vcpu),
    .destroy = destroy,
    .pcpu_join = pcpu_join,
    .pcpu_leave = pcpu_leave,
    .vcpu_create = vcpu_create,
    .insert = insert,
    .remove = remove_vcpu,
    .sleep = sleep_vcpu,
    .wake = wake,
    .pick_cpu = pick_cpu,
    .schedule = schedule,
};
