/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/* Runs a scenario (JSON as of the reference schedules) on Xen's scheduler code, in virtual time,
 * and prints what happened as CSV rows. */
#include "validation/xen/differential/glue.h"

#include <math.h>

/* ---- the scenario ---------------------------------------------------------------------------- */

extern const struct shim_param __start_shim_params[], __stop_shim_params[];

static void param(const char *name, long value, const char *word)
{
    for (const struct shim_param *p = __start_shim_params; p < __stop_shim_params; p++) {
        if (strcmp(p->name, name))
            continue;
        if (p->parse)
            p->parse(word);
        else if (p->size == 4)
            *(int *)p->var = (int)value;
        else if (p->size == 1)
            *(bool *)p->var = value;
        else
            BUG();
        return;
    }
    fprintf(stderr, "no parameter %s\n", name);
    exit(2);
}

struct source { /* of external events */
    struct vcpu *v;
    s_time_t *date;
    int count, next, irq;
};

static struct source events[MAX_VCPUS];
static int event_count;
static bool started[MAX_VCPUS];

static int by_date(const void *a, const void *b)
{
    s_time_t x = *(const s_time_t *)a, y = *(const s_time_t *)b;

    return (x > y) - (x < y);
}

static void read_events(const cJSON *e, struct vcpu *v, s_time_t duration)
{
    struct source *s = &events[event_count];
    const cJSON *list = cJSON_GetObjectItem(e, "times_us");
    s_time_t start = guest_start(v), period = micros(e, "period_us");

    if (!e)
        return;
    s->v = v;
    s->irq = (int)num(e, "irq_pcpu", -1);
    if (list) {
        const cJSON *t;

        s->date = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *s->date);
        cJSON_ArrayForEach(t, list) s->date[s->count++] = (s_time_t)(t->valuedouble * 1000.0);
        qsort(s->date, (size_t)s->count, sizeof *s->date, by_date);
    } else if (period > 0) {
        s_time_t first = cJSON_GetObjectItem(e, "first_us") ? micros(e, "first_us") : start;

        s->date = calloc((size_t)((duration - (first < duration ? first : duration)) / period + 2),
                         sizeof *s->date);
        for (s_time_t t = first; t < duration; t += period)
            s->date[s->count++] = t;
    }
    event_count++;
}

static bool mask_of(const cJSON *v, const cJSON *d, const char *key, cpumask_t *m)
{
    const cJSON *list = cJSON_GetObjectItem(v, key), *c;

    if (!cJSON_IsArray(list))
        list = cJSON_GetObjectItem(d, key);
    if (!cJSON_IsArray(list))
        return false;
    m->b = 0;
    cJSON_ArrayForEach(c, list)
    {
        if (c->valueint < 0 || c->valueint >= NR_CPUS)
            BUG();
        m->b |= CM(c->valueint);
    }
    return true;
}

static void set_affinity(struct vcpu *v, const cJSON *jv, const cJSON *jd)
{
    cpumask_t m;

    if (mask_of(jv, jd, "hard_affinity", &m))
        vcpu_set_hard_affinity(v, &m);
    if (mask_of(jv, jd, "soft_affinity", &m))
        shim_set_soft_affinity(v, &m);
}

static void adjust_domain(struct domain *d, const cJSON *j)
{
    struct xen_domctl_scheduler_op op = {.cmd = XEN_DOMCTL_SCHEDOP_putinfo};

    if (!strcmp(shim_scheduler_of(d), "credit")) {
        op.u.credit.weight = (uint16_t)num(j, "weight", 256);
        op.u.credit.cap = (uint16_t)num(j, "cap", 0);
    } else if (!strcmp(shim_scheduler_of(d), "credit2")) {
        op.u.credit2.weight = (uint16_t)num(j, "weight", 256);
        op.u.credit2.cap = (uint16_t)num(j, "cap", 0);
    } else {
        return;
    }
    shim_adjust(d, &op, true);
}

static void adjust_rtds(struct vcpu *v, const cJSON *jd, const cJSON *jv)
{
    struct xen_domctl_schedparam_vcpu p = {.vcpuid = (uint32_t)v->vcpu_id};
    struct xen_domctl_scheduler_op op = {.cmd = XEN_DOMCTL_SCHEDOP_putvcpuinfo};
    const cJSON *r = cJSON_GetObjectItem(jv, "rtds");

    if (!r)
        r = cJSON_GetObjectItem(jd, "rtds");
    if (!r || strcmp(shim_scheduler_of(v->domain), "rtds"))
        return;
    p.u.rtds.period = (uint32_t)num(r, "period_us", 10000);
    p.u.rtds.budget = (uint32_t)num(r, "budget_us", 4000);
    p.u.rtds.flags = num(r, "extratime", 1) ? XEN_DOMCTL_SCHEDRT_extra : 0;
    op.u.v.nr_vcpus = 1;
    op.u.v.vcpus.p = &p;
    shim_adjust(v->domain, &op, true);
}

static void arinc653_table(unsigned int pool, const cJSON *j)
{
    struct xen_sysctl_arinc653_schedule table = {0};
    struct xen_sysctl_scheduler_op op = {.cmd = XEN_SYSCTL_SCHEDOP_putinfo};
    const cJSON *t = cJSON_GetObjectItem(j, "arinc653"), *e;

    if (!t || strcmp(shim_pool_scheduler(pool), "arinc653"))
        return;
    table.major_frame = (uint64_t)micros(t, "major_frame_us");
    cJSON_ArrayForEach(e, cJSON_GetObjectItem(t, "entries"))
    {
        unsigned int n = table.num_sched_entries++;

        if (n >= ARRAY_SIZE(table.sched_entries))
            break;
        table.sched_entries[n].dom_handle[0] = (uint8_t)cJSON_GetArrayItem(e, 0)->valueint;
        table.sched_entries[n].vcpu_id = (unsigned)cJSON_GetArrayItem(e, 1)->valueint;
        table.sched_entries[n].runtime = (uint64_t)cJSON_GetArrayItem(e, 2)->valueint * 1000;
    }
    op.u.sched_arinc653.schedule.p = &table;
    shim_adjust_pool(pool, &op);
}

static void boot_options(const cJSON *j)
{
    static const struct {
        const char *key, *option;
    } numbers[] = {
        {"tslice_ms", "sched_credit_tslice_ms"},
        {"ratelimit_us", "sched_ratelimit_us"},
        {"migration_delay_us", "vcpu_migration_delay"},
        {"smt_power_savings", "sched_smt_power_savings"},
        {"tickle_one_idle", "tickle_one_idle_cpu"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        if (cJSON_GetObjectItem(j, numbers[i].key))
            param(numbers[i].option, (long)num(j, numbers[i].key, 0), NULL);
    if (text(j, "credit2_runqueue"))
        param("credit2_runqueue", 0, text(j, "credit2_runqueue"));
}

static void topology(const cJSON *j)
{

    nr_cpu_ids = (unsigned)num(j, "pcpus", 1);
    shim_threads = (unsigned)num(j, "threads_per_core", 1);
    shim_cores = (unsigned)num(j, "cores_per_socket", 0);
    if (!shim_cores)
        shim_cores = (nr_cpu_ids + shim_threads - 1) / shim_threads;
    shim_nodes_sockets = (unsigned)num(j, "sockets_per_node", 0);
    if (!shim_nodes_sockets)
        shim_nodes_sockets = NR_CPUS;
    for (unsigned int c = 0; c < NR_CPUS; c++)
        shim_cpumask_of[c].b = CM(c);
    for (unsigned int c = 0; c < nr_cpu_ids; c++) {
        cpumask_set_cpu(c, &cpu_online_map);
        cpumask_set_cpu(c, &cpupool_free_cpus);
        node_set(cpu_to_node(c), node_online_map);
        cpumask_set_cpu(c, &shim_node_cpus[cpu_to_node(c)]);
        for (unsigned int o = 0; o < nr_cpu_ids; o++) {
            if (cpu_to_socket(o) != cpu_to_socket(c))
                continue;
            cpumask_set_cpu(o, per_cpu(cpu_core_mask, c));
            if (cpu_to_core(o) == cpu_to_core(c))
                cpumask_set_cpu(o, per_cpu(cpu_sibling_mask, c));
        }
    }
}

static unsigned int pool_count; /* besides the first */

/* The pool that has this pCPU in its list, or else the first, which has none. */
static unsigned int pool_of(const cJSON *j, unsigned int cpu)
{
    const cJSON *pool;
    unsigned int k = 0;
    cpumask_t m;

    cJSON_ArrayForEach(pool, cJSON_GetObjectItem(j, "pools"))
    {
        k++;
        if (mask_of(pool, NULL, "pcpus", &m) && cpumask_test_cpu(cpu, &m))
            return k;
    }
    return 0;
}

static void boot(const cJSON *j)
{
    const cJSON *pool;
    s_time_t init = (s_time_t)num(j, "pool_init_ns", 137000);
    s_time_t stagger = (s_time_t)num(j, "stagger_ns", 1000);

    topology(j);
    boot_options(j);
    shim_now = init;
    shim_select(text(j, "scheduler"));
    scheduler_init();
    shim_pool_init(0, NULL);
    cJSON_ArrayForEach(pool, cJSON_GetObjectItem(j, "pools"))
        shim_pool_init(++pool_count, text(pool, "scheduler"));
    for (unsigned int c = 1; c < nr_cpu_ids; c++)
        shim_cpu_up(c);
    for (unsigned int c = 0; c < nr_cpu_ids; c++) {
        shim_now = init + c * stagger;
        shim_cpu = 0;
        shim_pool_add(pool_of(j, c), c);
    }
    settle();
    system_state = SYS_STATE_active;
}

static void create(const cJSON *j, s_time_t duration)
{
    const cJSON *jd, *jv;

    shim_now = (s_time_t)num(j, "create_ns", 1000000);
    shim_cpu = 0;
    cJSON_ArrayForEach(jd, cJSON_GetObjectItem(j, "domains"))
    {
        const cJSON *list = cJSON_GetObjectItem(jd, "vcpus");
        struct domain *d = domain_create((domid_t)num(jd, "id", 0), NULL, 0);
        unsigned int id = 0;

        d->handle[0] = (uint8_t)d->domain_id;
        d->max_vcpus = (unsigned)cJSON_GetArraySize(list);
        d->vcpu = calloc(d->max_vcpus, sizeof *d->vcpu);
        if (sched_init_domain(d, (unsigned)num(jd, "pool", 0)))
            BUG();
        if (strcmp(shim_scheduler_of(d), "credit2"))
            adjust_domain(d, jd);
        cJSON_ArrayForEach(jv, list)
        {
            struct vcpu *v = vcpu_create(d, id++);
            const cJSON *behaviour = cJSON_GetObjectItem(jv, "behaviour");

            if (vcpu_count == MAX_VCPUS)
                BUG();
            vcpus[vcpu_count] = v;
            guest_new(v, (s_time_t)num(jv, "start_ns", (double)shim_now), behaviour);
            set_affinity(v, jv, jd);
            adjust_rtds(v, jd, jv);
            read_events(cJSON_GetObjectItem(behaviour, "events"), v, duration);
            vcpu_count++;
        }
        if (!strcmp(shim_scheduler_of(d), "credit2"))
            adjust_domain(d, jd);
    }
    for (unsigned int k = 0; k <= pool_count; k++)
        arinc653_table(k, j);
    settle(); /* nothing is expected here */
    shim_cpu = 0;
}

static void fire(struct timer *t)
{
    shim_cpu = t->cpu;
    stop_timer(t);
    in_accounting = t->function == credit_acct_fn;
    t->function(t->data);
    in_accounting = false;
    if (t->function == credit_tick_fn)
        plain("tick", current);
    if (t->function == credit_acct_fn)
        account_rows(t->data);
    handled();
}

static void event(struct source *s)
{
    struct vcpu *v = s->v;

    shim_cpu = s->irq >= 0 ? (unsigned)s->irq : (unsigned)v->processor;
    row("event", v);
    fprintf(out, "%s\n",
            shim_current[v->processor] == v           ? "running"
            : test_bit(_VPF_blocked, &v->pause_flags) ? "blocked"
            : vcpu_runnable(v)                        ? "queued"
                                                      : "paused");
    guest_event(v);
    handled();
}

static void start(struct vcpu *v)
{
    plain("start", v);
    clear_bit(_VPF_down, &v->pause_flags);
    vcpu_wake(v);
    handled();
}

/* ---- actions --------------------------------------------------------------------------------- */

struct action {
    s_time_t at;
    const cJSON *json;
    bool done;
};
static struct action actions[256];
static int action_count;

static void read_actions(const cJSON *j)
{
    const cJSON *a;

    cJSON_ArrayForEach(a, cJSON_GetObjectItem(j, "actions"))
    {
        if (action_count == (int)ARRAY_SIZE(actions))
            BUG();
        actions[action_count++] = (struct action){llround(num(a, "at_us", 0) * 1000.0), a, false};
    }
}

static bool has_weights(const char *scheduler)
{
    return !strcmp(scheduler, "credit") || !strcmp(scheduler, "credit2");
}

/* What is not given stays. */
static void set(const cJSON *a, struct domain *d)
{
    struct xen_domctl_scheduler_op op = {.cmd = XEN_DOMCTL_SCHEDOP_getinfo};
    const char *scheduler = shim_scheduler_of(d);

    if (!has_weights(scheduler))
        return;
    shim_adjust(d, &op, false);
    op.cmd = XEN_DOMCTL_SCHEDOP_putinfo;
    if (!strcmp(scheduler, "credit")) {
        op.u.credit.weight = (uint16_t)num(a, "weight", op.u.credit.weight);
        op.u.credit.cap = (uint16_t)num(a, "cap", op.u.credit.cap);
    } else {
        op.u.credit2.weight = (uint16_t)num(a, "weight", op.u.credit2.weight);
        op.u.credit2.cap = (uint16_t)num(a, "cap", op.u.credit2.cap);
    }
    shim_adjust(d, &op, true);
}

static void set_scheduler(const cJSON *a)
{
    struct xen_sysctl_scheduler_op op = {.cmd = XEN_SYSCTL_SCHEDOP_getinfo};
    unsigned int pool = (unsigned)num(a, "pool", 0);
    const char *scheduler = shim_pool_scheduler(pool);

    if (!has_weights(scheduler))
        return;
    shim_adjust_pool(pool, &op);
    op.cmd = XEN_SYSCTL_SCHEDOP_putinfo;
    if (!strcmp(scheduler, "credit")) {
        struct xen_sysctl_credit_schedule *c = &op.u.sched_credit;

        c->tslice_ms = (unsigned)num(a, "tslice_ms", c->tslice_ms);
        c->ratelimit_us = (unsigned)num(a, "ratelimit_us", c->ratelimit_us);
        c->vcpu_migr_delay_us = (unsigned)num(a, "migration_delay_us", c->vcpu_migr_delay_us);
    } else {
        struct xen_sysctl_credit2_schedule *c = &op.u.sched_credit2;

        c->ratelimit_us = (unsigned)num(a, "ratelimit_us", c->ratelimit_us);
    }
    shim_adjust_pool(pool, &op);
}

static void do_action(const cJSON *a)
{
    const char *what = text(a, "action");
    struct vcpu *v = NULL;

    shim_cpu = (unsigned)num(a, "pcpu", 0);
    if (strcmp(what, "scheduler"))
        v = find((unsigned)num(a, "domain", 0), (unsigned)num(a, "vcpu", 0));
    if (!strcmp(what, "set")) {
        set(a, v->domain);
    } else if (!strcmp(what, "affinity")) {
        set_affinity(v, a, NULL);
    } else if (!strcmp(what, "pause")) {
        domain_pause(v->domain);
    } else if (!strcmp(what, "unpause")) {
        if (atomic_read(&v->domain->pause_count))
            domain_unpause(v->domain);
    } else if (!strcmp(what, "unplug")) {
        set_bit(_VPF_down, &v->pause_flags);
        vcpu_sleep_nosync(v);
    } else if (!strcmp(what, "plug")) {
        start(v);
        return;
    } else if (!strcmp(what, "move")) {
        moving = true;
        shim_move(v->domain, (unsigned)num(a, "pool", 0));
        moving = false;
    } else if (!strcmp(what, "vcpu")) {
        adjust_rtds(v, NULL, a);
    } else {
        set_scheduler(a);
    }
    handled();
}

static s_time_t next_date(void)
{
    struct timer *t = first_timer();
    s_time_t next = t ? t->expires : STIME_MAX;

    if (t && next < shim_now)
        next = shim_now;
    for (int i = 0; i < event_count; i++)
        if (events[i].next < events[i].count)
            next = min(next, events[i].date[events[i].next]);
    for (int i = 0; i < action_count; i++)
        if (!actions[i].done)
            next = min(next, actions[i].at);
    for (int i = 0; i < vcpu_count; i++)
        if (!started[i])
            next = min(next, guest_start(vcpus[i]));
    for (unsigned int c = 0; c < nr_cpu_ids; c++)
        next = min(next, guest_burst_end(shim_current[c]));
    return next;
}

static unsigned long instants, ties;

static void count_causes(void)
{
    int ticks = 0, others = 0;

    count_timers(shim_now, &ticks, &others);
    for (int i = 0; i < event_count; i++)
        for (int k = events[i].next; k < events[i].count && events[i].date[k] == shim_now; k++)
            others++;
    for (int i = 0; i < vcpu_count; i++)
        others += !started[i] && guest_start(vcpus[i]) == shim_now;
    for (int i = 0; i < action_count; i++)
        others += !actions[i].done && actions[i].at == shim_now;
    for (unsigned int c = 0; c < nr_cpu_ids; c++)
        others += guest_burst_end(shim_current[c]) == shim_now;
    instants++;
    ties += (ticks > 0) + others > 1;
}

static bool act_all(void)
{
    bool any = false;

    for (unsigned int c = 0; c < nr_cpu_ids; c++) {
        unsigned int before = shim_cpu;

        shim_cpu = c;
        if (!guest_acts(shim_current[c])) {
            shim_cpu = before;
            continue;
        }
        handled();
        any = true;
    }
    return any;
}

static void instant(void)
{
    struct timer *t;
    bool any;

    while ((t = first_timer()) && t->expires <= shim_now)
        fire(t);
    for (int i = 0; i < event_count; i++)
        while (events[i].next < events[i].count && events[i].date[events[i].next] <= shim_now) {
            events[i].next++;
            event(&events[i]);
        }
    for (int i = 0; i < vcpu_count; i++)
        if (!started[i] && guest_start(vcpus[i]) <= shim_now) {
            started[i] = true;
            shim_cpu = (unsigned)vcpus[i]->processor;
            start(vcpus[i]);
        }
    for (int i = 0; i < action_count; i++)
        if (!actions[i].done && actions[i].at <= shim_now) {
            actions[i].done = true;
            do_action(actions[i].json);
        }
    do {
        any = act_all();
        any |= settle();
    } while (any);
}

/* Of a scenario's text. */
enum { ROOM = 1 << 22 };

int main(int argc, char **argv)
{
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    char *json = calloc(1, ROOM + 1);
    s_time_t duration;
    cJSON *j;

    out = argc > 2 ? fopen(argv[2], "w") : stdout;
    if (!f || !out || !fread(json, 1, ROOM, f) || !(j = cJSON_Parse(json))) {
        fprintf(stderr, "usage: xensched SCENARIO.json [OUT.csv [OUT.xentrace]]\n");
        return 2;
    }
    tb_init_done = 1;
    binary = argc > 3 ? fopen(argv[3], "w") : NULL;
    if (argc > 3 && !binary) {
        perror(argv[3]);
        return 2;
    }
    duration = (s_time_t)num(j, "duration_ms", 0) * 1000000;
    boot(j);
    create(j, duration);
    read_actions(j);
    rows_begin();
    for (s_time_t next; (next = next_date()) <= duration;) {
        bool late = next == shim_now;

        shim_now = next;
        if (late && instants)
            instants++;
        else
            count_causes();
        instant();
    }
    shim_now = duration;
    for (unsigned int c = 0; c < nr_cpu_ids; c++)
        if (!is_idle_vcpu(shim_current[c]))
            shim_cpu = c;
    final_rows();
    row("end", NULL);
    fprintf(out, "instants=%lu with_ties=%lu\n", instants, ties);
    fclose(out);
    binary_finish();
    return 0;
}
