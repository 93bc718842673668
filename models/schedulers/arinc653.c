/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ARINC653, Xen's scheduler for avionics: a fixed table of time windows.
 *
 * Design
 *   A table of entries (vCPU, run time) is gone through once per major frame. In its window a vCPU
 *   has the pCPU, to use it or leave it idle; outside it does not run, however idle the host is.
 *
 * Rules
 *   Those of Xen 4.17; docs/models/arinc653.md says them in words.
 *   - Without a table every vCPU of dom0 gets a window of 10 ms, and nobody else any.
 *   - Frames follow each other, but not at fixed dates: one begins when a decision finds that the
 *     last one is over. Time after the last window of a frame is idle.
 *   - A vCPU that wakes makes its pCPU decide; that changes nothing unless it is its window.
 *   - The position in the table is one for all pCPUs of the pool, and an entry's vCPU runs only on
 *     the pCPU it is assigned to: use pools of one pCPU. Affinity is not looked at.
 *
 * Constants
 *   WINDOW           10 ms: of the default table, and how often a host without a table decides.
 *   ARINC653_ENTRIES 64: the most that Xen's interface takes.
 */
#include "models/schedulers/arinc653.h"

#include "models/schedulers/schedulers.h"

#include <string.h>

static const sim_time WINDOW = 10 * NS_PER_MS;

struct arinc653_params {
    sim_time major_frame;
    struct param_list entries; /* struct entry_params */
};

struct entry_params {
    char *domain;
    int64_t vcpu;
    sim_time runtime;
};

struct arinc_vcpu {
    bool awake;
};

struct arinc {
    struct arinc653_entry entry[ARINC653_ENTRIES];
    struct vcpu *vcpu[ARINC653_ENTRIES]; /* of that entry; NULL: there is none yet */
    uint32_t count;
    bool given;          /* the table is not the default one */
    uint32_t at;         /* the entry whose window it is; count: past the last one */
    sim_time frame;      /* length */
    sim_time next_frame; /* when it begins, if somebody decides then */
    sim_time next_switch;
};

static struct arinc *arinc_data(const struct scheduler *s)
{
    return s->data;
}

static struct arinc_vcpu *arinc_vcpu(const struct vcpu *v)
{
    return v->sched;
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool is_of(const struct arinc653_entry *e, const struct vcpu *v)
{
    return v->id == e->vcpu &&
           (e->domain ? !strcmp(v->domain->name, e->domain) : v->domain->id == e->id);
}

static void find_vcpus(struct scheduler *s)
{
    struct arinc *a = arinc_data(s);
    const struct host *h = s->host;

    for (uint32_t i = 0; i < a->count; i++) {
        a->vcpu[i] = NULL;
        for (uint32_t k = 0; k < h->vcpu_count && !a->vcpu[i]; k++)
            if (h->vcpu[k]->domain->pool == s->pool && !domain_gone(h->vcpu[k]->domain) &&
                is_of(&a->entry[i], h->vcpu[k]))
                a->vcpu[i] = h->vcpu[k];
    }
}

void arinc653_set_table(struct scheduler *s, const struct arinc653_entry *entry, uint32_t count,
                        sim_time frame)
{
    struct arinc *a = arinc_data(s);
    sim_time total = 0;

    BUG_ON(count > ARINC653_ENTRIES);
    for (uint32_t i = 0; i < count; i++) {
        if (entry[i].runtime <= 0)
            return;
        total += entry[i].runtime;
    }
    if (!count || frame <= 0 || total > frame)
        return;
    memcpy(a->entry, entry, count * sizeof *entry);
    a->count = count;
    a->frame = frame;
    a->given = true;
    a->next_frame = s->host->queue->now;
    find_vcpus(s);
}

/* A further vCPU of dom0, at the end of the default table. */
static void append(struct arinc *a, const struct vcpu *v)
{
    if (a->count == ARINC653_ENTRIES)
        return;
    a->entry[a->count++] = (struct arinc653_entry){.id = 0, .vcpu = v->id, .runtime = WINDOW};
    a->frame += WINDOW;
}

/* ---- the decision ---------------------------------------------------------------------------- */

/* Whose window is it now, and until when? */
static void advance(struct arinc *a, sim_time now)
{
    if (!a->count) {
        a->next_frame = now + WINDOW;
    } else if (now >= a->next_frame) {
        a->at = 0;
        a->next_frame = now + a->frame;
        a->next_switch = now + a->entry[0].runtime;
    } else {
        while (now >= a->next_switch && a->at < a->count)
            if (++a->at < a->count)
                a->next_switch += a->entry[a->at].runtime;
    }
    if (a->at >= a->count)
        a->next_switch = a->next_frame;
}

static struct decision schedule(struct scheduler *s, struct pcpu *p, sim_time now)
{
    struct arinc *a = arinc_data(s);
    struct vcpu *v = NULL;

    advance(a, now);
    s->why = "no window: the table is empty, or past its last window";
    if (a->at < a->count) {
        v = a->vcpu[a->at];
        s->why = "its window";
    }
    if (!v || !arinc_vcpu(v)->awake || !vcpu_runnable(v) || v->processor != p->id) {
        if (v)
            s->why = "the vCPU whose window it is does not want to run, or belongs elsewhere";
        v = p->idle;
    }
    return (struct decision){v, a->next_switch - now};
}

/* ---- operations ------------------------------------------------------------------------------ */

static void wake(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    arinc_vcpu(v)->awake = true;
    pcpu_reschedule(vcpu_pcpu(v));
}

static void sleep_vcpu(struct scheduler *s, struct vcpu *v)
{
    (void)s;
    arinc_vcpu(v)->awake = false;
    if (vcpu_pcpu(v)->current == v)
        pcpu_reschedule(vcpu_pcpu(v));
}

static uint32_t pick_cpu(struct scheduler *s, struct vcpu *v)
{
    return cpumask_test(&s->pool->cpus, v->processor) ? v->processor
                                                      : cpumask_first(&s->pool->cpus);
}

static void insert(struct scheduler *s, struct vcpu *v)
{
    struct arinc *a = arinc_data(s);

    v->processor = pick_cpu(s, v);
    if (v->domain->id == 0 && !a->given)
        append(a, v);
    find_vcpus(s);
}

static void remove_vcpu(struct scheduler *s, struct vcpu *v)
{
    struct arinc *a = arinc_data(s);

    for (uint32_t i = 0; i < a->count; i++)
        if (a->vcpu[i] == v)
            a->vcpu[i] = NULL;
}

static void adjust_global(struct scheduler *s)
{
    const struct arinc653_params *p = s->params;
    const struct entry_params *from = p->entries.item;
    struct arinc653_entry entry[ARINC653_ENTRIES];

    for (size_t i = 0; i < p->entries.count; i++)
        entry[i] = (struct arinc653_entry){
            .domain = from[i].domain, .vcpu = (uint32_t)from[i].vcpu, .runtime = from[i].runtime};
    arinc653_set_table(s, entry, (uint32_t)p->entries.count, p->major_frame);
}

static void create(struct scheduler *s)
{
    const struct arinc653_params *p = s->params;

    if (p && p->entries.count)
        adjust_global(s);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static const struct param entry_rows[] = {
    {PARAM("domain", NAME, struct entry_params, domain), .refers = "domain",
     .meaning = "Whose window it is.", .status = STATUS_GIVEN},
    {PARAM("vcpu", INTEGER, struct entry_params, vcpu), .def = "0", .range = PARAM_NO_RANGE,
     .min = "0", .max = "255", .meaning = "Which of its vCPUs.", .status = STATUS_ASSUMED},
    {PARAM("runtime", DURATION, struct entry_params, runtime), .min = "1us",
     .meaning = "Length of the window.", .status = STATUS_GIVEN},
};
static const struct param_table entry_table = PARAM_TABLE(
    "window", struct entry_params, entry_rows, .meaning = "A window of ARINC653's table.");
static const struct param entry_element = {PARAM_ELEMENT(OBJECT, struct entry_params),
                                           .table = &entry_table, .meaning = "A window."};

static const struct param rows[] = {
    {PARAM("major_frame", DURATION, struct arinc653_params, major_frame), .def = "100ms",
     .range = PARAM_NO_RANGE, .min = "1us",
     .meaning = "The table repeats after this time; at least the sum of its windows.",
     .status = STATUS_ASSUMED},
    {PARAM("entries", LIST, struct arinc653_params, entries), .of = &entry_element,
     .optional = true, .max = "64",
     .meaning = "Windows in order; none: 10 ms for each vCPU of dom0, whatever the frame.",
     .source = "Xen: the default table", .status = STATUS_EXACT},
};

static int check(void *target, struct json_value v, struct errors *e)
{
    const struct arinc653_params *p = target;
    const struct entry_params *entry = p->entries.item;
    sim_time sum = 0;

    for (size_t i = 0; i < p->entries.count; i++)
        sum += entry[i].runtime;
    if (sum > p->major_frame)
        return json_error(json_member(v, "entries"), e,
                          "the windows together are longer than \"major_frame\"; raise it");
    return 0;
}

static const struct param_table table =
    PARAM_TABLE("arinc653", struct arinc653_params, rows, .meaning = "Xen's ARINC653 scheduler.",
                .check = check);

const struct sched_ops sched_arinc653 = {
    .abi = SCHEDULER_ABI,
    .name = "arinc653",
    .title = "ARINC653: a fixed table of time windows",
    .trace_id = 3,
    .params = &table,
    .data_size = sizeof(struct arinc),
    .vcpu_size = sizeof(struct arinc_vcpu),
    .create = create,
    .insert = insert,
    .remove = remove_vcpu,
    .adjust_global = adjust_global,
    .sleep = sleep_vcpu,
    .wake = wake,
    .pick_cpu = pick_cpu,
    .schedule = schedule,
};
