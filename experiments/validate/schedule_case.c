/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/schedule_case.h"

#include "experiments/validate/schedule_actions.h"
#include "models/schedulers/credit.h"
#include "sim/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys of the external events of one instant: events in file order, then starts in file order. */
#define KEY_START (UINT64_C(1) << 40)

/* ---- reading numbers ------------------------------------------------------------------------- */

static double number(struct json_value v, double otherwise)
{
    double d;

    return json_exists(v) && json_double(v, &d) == 0 ? d : otherwise;
}

int64_t schedule_integer(struct json_value object, const char *key, int64_t otherwise)
{
    int64_t i;
    struct json_value v = json_member(object, key);

    return json_exists(v) && json_integer(v, &i) == 0 ? i : otherwise;
}

struct cpupool *schedule_pool(const struct host *h, struct json_value object, struct errors *e)
{
    int64_t number = schedule_integer(object, "pool", 0);

    if (number >= 0 && number < h->pool_count)
        return h->pool[number];
    json_error(json_member(object, "pool"), e, "the host has no such pool");
    return NULL;
}

/* Microseconds, rounded to ns. */
static sim_time micros(struct json_value object, const char *key, double otherwise)
{
    return llround(number(json_member(object, key), otherwise) * 1000.0);
}

static bool mask(struct json_value list, cpumask *m)
{
    if (!json_exists(list) || json_kind(list) != JSON_ARRAY)
        return false;
    *m = (cpumask){{0}};
    JSON_FOR_EACH(v, list)
    {
        int64_t cpu;

        if (json_integer(v, &cpu) == 0 && cpu >= 0 && cpu < MAX_PCPUS)
            cpumask_set(m, (uint32_t)cpu);
    }
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void event_channel(struct evtchn *ch, sim_time now)
{
    struct event_source *s = container_of(ch, struct event_source, channel);

    if (s->thread && s->thread->program->event)
        s->thread->program->event(s->thread, s->since, now);
}

static void event_fire(struct timer *t, sim_time now)
{
    struct event_source *s = container_of(t, struct event_source, timer);

    s->host->executing = s->irq_pcpu >= 0 ? (uint32_t)s->irq_pcpu : s->channel.vcpu->processor;
    if (++s->next < s->count)
        queue_arm_key(s->host->queue, t, s->date[s->next], RANK_EXTERNAL, s->key);
    if (!s->channel.pending)
        s->since = now;
    evtchn_send(&s->channel, s->network);
}

static void start_fire(struct timer *t, sim_time now)
{
    struct vcpu_start *s = container_of(t, struct vcpu_start, timer);

    (void)now;
    vcpu_host(s->vcpu)->executing = s->vcpu->processor;
    vcpu_start(s->vcpu);
}

static int by_date(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;

    return (x > y) - (x < y);
}

/* {period_us, first_us} or {times_us}, irq_pcpu. */
static void read_source(struct schedule_world *w, struct json_value v, bool network,
                        struct thread *thread, struct vcpu *vcpu, sim_time start)
{
    struct event_source *s = &w->source[w->source_count];
    struct json_value times = json_member(v, "times_us");
    sim_time period = micros(v, "period_us", 0);
    int64_t net = schedule_integer(v, "network", 0);

    if (json_exists(json_member(v, "network")))
        network = net || json_boolean(json_member(v, "network"));
    timer_init(&s->timer, event_fire);
    s->channel = (struct evtchn){.vcpu = vcpu, .handler = event_channel};
    s->thread = thread;
    s->host = w->host;
    s->network = network;
    s->irq_pcpu = schedule_integer(v, "irq_pcpu", -1);
    s->key = w->source_count;
    if (json_exists(times)) {
        s->date = xcalloc(json_length(times), sizeof *s->date);
        JSON_FOR_EACH(t, times)
        s->date[s->count++] = (sim_time)(number(t, 0) * 1000.0);
        qsort(s->date, s->count, sizeof *s->date, by_date);
    } else if (period > 0) {
        sim_time first = json_exists(json_member(v, "first_us")) ? micros(v, "first_us", 0) : start;
        sim_time n = first < w->duration ? (w->duration - first + period - 1) / period : 0;

        s->date = xcalloc((size_t)n, sizeof *s->date);
        for (sim_time t = first; t < w->duration; t += period)
            s->date[s->count++] = t;
    }
    if (s->count)
        queue_arm_key(&w->queue, &s->timer, s->date[0], RANK_EXTERNAL, s->key);
    w->source_count++;
}

/* ---- behaviours ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum script_kind kind;
    bool time;
} script_names[] = {
    {"compute_us", SCRIPT_COMPUTE, true}, {"sleep_us", SCRIPT_SLEEP, true},
    {"period_us", SCRIPT_PERIOD, true},   {"wait", SCRIPT_WAIT, false},
    {"yield", SCRIPT_YIELD, false},       {"jump", SCRIPT_JUMP, false},
};

static int read_script(struct schedule_world *w, struct json_value list, struct script_params *p,
                       struct errors *e)
{
    struct script_op *op = xcalloc(json_length(list), sizeof *op);

    w->script = xrealloc(w->script, (w->script_count + 1) * sizeof *w->script);
    w->script[w->script_count++] = op;
    p->op = op;
    JSON_FOR_EACH(v, list)
    {
        const char *name = json_string(json_element(v, 0));
        double arg = number(json_element(v, 1), 0);
        bool known = false;

        for (size_t i = 0; name && i < sizeof script_names / sizeof *script_names; i++)
            if (!strcmp(script_names[i].name, name)) {
                op[p->count++] =
                    (struct script_op){script_names[i].kind,
                                       /* in lists, times are truncated */
                                       (sim_time)(script_names[i].time ? arg * 1000.0 : arg)};
                known = true;
            }
        if (!known)
            return json_error(v, e,
                              "unknown operation; known are compute_us, sleep_us, "
                              "period_us, wait, yield and jump");
    }
    if (!p->count)
        return json_error(list, e, "an empty program");
    return 0;
}

static int read_behaviour(struct schedule_world *w, struct json_value b, struct guest_vcpu *gv,
                          sim_time start, struct errors *e)
{
    const char *type = json_string(json_member(b, "type"));
    sim_time compute = micros(b, "compute_us", 0);
    struct burst_sleep_params burst_sleep = {compute, micros(b, "sleep_us", 0)};
    struct server_params server = {compute, w->done_rows};
    struct json_value events = json_member(b, "events"), net = json_member(b, "net_events");
    struct thread *t = NULL;

    if (!type) {
        return json_error(b, e, "a behaviour needs a \"type\"");
    } else if (!strcmp(type, "hog") || !strcmp(type, "mixed")) {
        t = guest_add_thread(gv, &program_hog, NULL, type, CLASS_NORMAL, 0);
    } else if (!strcmp(type, "burst_sleep")) {
        t = guest_add_thread(gv, &program_burst_sleep, &burst_sleep, type, CLASS_NORMAL, 0);
    } else if (!strcmp(type, "periodic")) {
        struct periodic_params p = {compute, micros(b, "period_us", 0), micros(b, "phase_us", 0),
                                    start};

        t = guest_add_thread(gv, &program_periodic, &p, type, CLASS_NORMAL, 0);
    } else if (!strcmp(type, "server")) {
        t = guest_add_thread(gv, &program_server, &server, type, CLASS_NORMAL, 0);
    } else if (!strcmp(type, "lookbusy_server")) {
        server.compute = micros(b, "service_us", 0);
        guest_add_thread(gv, &program_burst_sleep, &burst_sleep, "lookbusy", CLASS_NORMAL, 0);
        t = guest_add_thread(gv, &program_server, &server, type, CLASS_FIFO, 1);
    } else if (!strcmp(type, "yielder")) {
        struct yielder_params p = {compute};

        t = guest_add_thread(gv, &program_yielder, &p, type, CLASS_NORMAL, 0);
    } else if (!strcmp(type, "program")) {
        struct script_params p = {.start = start, .observe_done = w->done_rows};

        if (read_script(w, json_member(b, "ops"), &p, e))
            return -1;
        t = guest_add_thread(gv, &program_script, &p, type, CLASS_NORMAL, 0);
    } else {
        return json_error(json_member(b, "type"), e, "unknown behaviour \"%s\"", type);
    }
    if (json_exists(events))
        read_source(w, events, false, t, gv->vcpu, start);
    if (json_exists(net))
        read_source(w, net, true, t, gv->vcpu, start);
    return 0;
}

/* ---- the host -------------------------------------------------------------------------------- */

static enum xen_version version_of(struct json_value root)
{
    const char *version = json_string(json_member(root, "xen_version"));
    const char *scheduler = json_string(json_member(root, "scheduler"));

    if (version)
        return !strcmp(version, "4.7.1")   ? XEN_4_7_1
               : !strcmp(version, "4.7.0") ? XEN_4_7_0
               : !strcmp(version, "4.18")  ? XEN_4_18
                                           : XEN_4_17;
    return scheduler && !strcmp(scheduler, "terriertail") ? XEN_4_7_0 : XEN_4_17;
}

void schedule_set_affinity(struct vcpu *v, struct json_value domain, struct json_value vcpu)
{
    cpumask m;

    if ((mask(json_member(vcpu, "hard_affinity"), &m) ||
         mask(json_member(domain, "hard_affinity"), &m)) &&
        cpumask_intersects(&m, &v->domain->pool->cpus)) /* else Xen refuses it */
        vcpu_set_affinity(v, &m, NULL);
    if (mask(json_member(vcpu, "soft_affinity"), &m) ||
        mask(json_member(domain, "soft_affinity"), &m))
        vcpu_set_affinity(v, NULL, &m);
}

static const struct schedule_dialect *dialect_of(const struct cpupool *pool)
{
    return schedule_dialect(pool->scheduler->ops->name);
}

static int read_domain(struct schedule_world *w, struct json_value d, struct errors *e)
{
    struct json_value vcpus = json_member(d, "vcpus");
    struct cpupool *pool = schedule_pool(w->host, d, e);
    const struct schedule_dialect *dialect;
    struct domain *dom;
    struct guest *g;
    uint32_t weight = (uint32_t)schedule_integer(d, "weight", DEFAULT_WEIGHT);
    uint32_t cap = (uint32_t)schedule_integer(d, "cap", 0);
    uint32_t k = 0;

    if (!pool)
        return -1;
    dialect = dialect_of(pool);
    dom = domain_create(pool, (uint32_t)schedule_integer(d, "id", 0), NULL, DEFAULT_WEIGHT, 0);
    g = guest_new(dom, (uint32_t)json_length(vcpus));
    w->guest[w->guest_count++] = g;
    if (!dialect->weights_last)
        domain_set(dom, weight, cap);
    JSON_FOR_EACH(jv, vcpus)
    {
        struct vcpu *v = guest_add_vcpu(g);
        sim_time start = schedule_integer(jv, "start_ns", w->host->queue->now);
        struct vcpu_start *s = &w->start[v->index];

        schedule_set_affinity(v, d, jv);
        if (dialect->vcpu)
            dialect->vcpu(v, d, jv);
        if (read_behaviour(w, json_member(jv, "behaviour"), &g->vcpu[k++], start, e))
            return -1;
        timer_init(&s->timer, start_fire);
        s->vcpu = v;
        queue_arm_key(&w->queue, &s->timer, start, RANK_EXTERNAL, KEY_START + v->index);
    }
    if (dialect->weights_last)
        domain_set(dom, weight, cap);
    return 0;
}

static size_t count_vcpus(struct json_value domains)
{
    size_t n = 0;

    JSON_FOR_EACH(d, domains)
    n += json_length(json_member(d, "vcpus"));
    return n;
}

/* A pool whose scheduler `v` names; the other parameters are boot options, the same for all. */
static int add_pool(struct host *h, struct json_value root, struct json_value v, struct errors *e)
{
    const char *name = json_string(json_member(v, "scheduler"));
    const struct sched_ops *ops = name ? scheduler_by_name(name) : NULL;
    const struct schedule_dialect *dialect;
    void *params;

    if (!ops)
        return json_error(json_member(v, "scheduler"), e, "unknown scheduler \"%s\"",
                          name ? name : "");
    dialect = schedule_dialect(name);
    params = xcalloc(1, ops->params ? ops->params->size : 1);
    if (ops->params)
        params_defaults(ops->params, params);
    if (dialect->params)
        dialect->params(params, root);
    host_add_pool(h, name, ops, params, ops->params ? ops->params->size : 0);
    free(params);
    return 0;
}

static int add_pools(struct host *h, struct json_value root, struct errors *e)
{
    if (add_pool(h, root, root, e))
        return -1;
    JSON_FOR_EACH(v, json_member(root, "pools"))
    if (add_pool(h, root, v, e))
        return -1;
    return 0;
}

/* The pool that has this pCPU in its list, or else the first, which has none. */
static struct cpupool *pool_of(struct host *h, struct json_value root, uint32_t cpu)
{
    uint32_t k = 0;

    JSON_FOR_EACH(v, json_member(root, "pools"))
    {
        cpumask cpus;

        k++;
        if (mask(json_member(v, "pcpus"), &cpus) && cpumask_test(&cpus, cpu))
            return h->pool[k];
    }
    return h->pool[0];
}

static int build(struct schedule_world *w, struct json_value root,
                 void (*watch)(void *ctx, struct host *h), void *ctx, struct errors *e)
{
    struct json_value domains = json_member(root, "domains");
    size_t vcpus = count_vcpus(domains);
    sim_time init = schedule_integer(root, "pool_init_ns", 137000);
    sim_time stagger = schedule_integer(root, "stagger_ns", 1000);
    int64_t pcpus = schedule_integer(root, "pcpus", 1),
            threads = schedule_integer(root, "threads_per_core", 1);

    if (pcpus < 1 || pcpus > MAX_PCPUS || threads < 1)
        return json_error(json_member(root, "pcpus"), e, "pcpus must be 1 to %d", MAX_PCPUS);
    w->duration = schedule_integer(root, "duration_ms", 0) * NS_PER_MS;
    w->done_rows = version_of(root) < XEN_4_17;
    w->host = host_new(&w->queue, "xen", (uint32_t)pcpus, (uint32_t)threads,
                       (uint32_t)schedule_integer(root, "cores_per_socket", 0),
                       (uint32_t)schedule_integer(root, "sockets_per_node", 0));
    w->host->version = version_of(root);
    if (watch)
        watch(ctx, w->host);
    w->guest = xcalloc(json_length(domains), sizeof *w->guest);
    w->source = xcalloc(2 * vcpus, sizeof *w->source);
    w->start = xcalloc(vcpus, sizeof *w->start);
    if (add_pools(w->host, root, e))
        return -1;
    for (uint32_t c = 0; c < pcpus; c++) {
        w->queue.now = init + c * stagger;
        pool_add_pcpu(pool_of(w->host, root, c), &w->host->pcpu[c]);
        w->host->pcpu[c].idle->last_switch = init; /* idle vCPUs are all created at once */
    }
    host_settle(w->host);
    w->queue.now = schedule_integer(root, "create_ns", NS_PER_MS);
    w->host->executing = 0;
    JSON_FOR_EACH(d, domains)
    if (read_domain(w, d, e))
        return -1;
    for (uint32_t i = 0; i < w->host->pool_count; i++) {
        const struct schedule_dialect *dialect = dialect_of(w->host->pool[i]);

        if (dialect->finish)
            dialect->finish(w->host->pool[i]->scheduler, root);
    }
    return schedule_actions_read(w, root, e);
}

struct schedule_world *schedule_world_load(const char *path,
                                           void (*watch)(void *ctx, struct host *h), void *ctx,
                                           struct errors *e)
{
    struct json *doc = json_read(path, e);
    struct schedule_world *w;
    int failed;

    if (!doc)
        return NULL;
    w = xcalloc(1, sizeof *w);
    queue_init(&w->queue);
    w->document = doc;
    failed = build(w, json_root(doc), watch, ctx, e);
    if (failed) {
        schedule_world_free(w);
        return NULL;
    }
    return w;
}

void schedule_world_free(struct schedule_world *w)
{
    if (w->host)
        host_free(w->host);
    for (uint32_t i = 0; i < w->guest_count; i++)
        guest_free(w->guest[i]);
    free(w->guest);
    for (size_t i = 0; i < w->script_count; i++)
        free(w->script[i]);
    free(w->script);
    free(w->action);
    if (w->document)
        json_free(w->document);
    free(w->start);
    /* Last, for their timers are still in the queue while the host takes its own out. */
    for (size_t i = 0; i < w->source_count; i++)
        free(w->source[i].date);
    free(w->source);
    queue_free(&w->queue);
    free(w);
}

/* ---- running --------------------------------------------------------------------------------- */

struct causes {
    struct host *host;
    uint32_t ticks, others;
};

static bool is_tick(const struct host *h, const struct timer *t)
{
    for (uint32_t i = 0; i < h->pool_count; i++) {
        const struct sched_ops *ops = h->pool[i]->scheduler->ops;

        if (ops->is_tick && ops->is_tick(t))
            return true;
    }
    return false;
}

static void count_cause(const struct timer *t, void *ctx)
{
    struct causes *c = ctx;

    if (is_tick(c->host, t)) {
        c->ticks++;
    } else if (t->fire == event_fire) {
        const struct event_source *s = container_of(t, struct event_source, timer);

        for (size_t i = s->next; i < s->count && s->date[i] == t->when; i++)
            c->others++;
    } else {
        c->others++;
    }
}

struct schedule_counts schedule_world_run(struct schedule_world *w)
{
    struct schedule_counts n = {0};
    struct queue *q = &w->queue;

    while (queue_next(q) <= w->duration) {
        struct causes c = {.host = w->host};
        sim_time now = queue_next(q);

        queue_due(q, now, count_cause, &c);
        n.instants++;
        n.ties += (c.ticks > 0) + c.others > 1;
        while (queue_next(q) == now) {
            if (timer_rank(queue_first(q)) == RANK_LATE)
                n.instants++; /* of its own, though at the same date */
            queue_step(q);
        }
    }
    q->now = w->duration;
    for (uint32_t c = 0; c < w->host->pcpu_count; c++)
        if (!w->host->pcpu[c].current->idle)
            w->host->executing = c; /* the guests are looked at last, pCPUs ascending */
    return n;
}
