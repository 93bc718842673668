/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/* The hypervisor around Xen's scheduler sources: clock, timers, softirqs, domains. */
#include "validation/xen/differential/glue.h"

s_time_t shim_now;
unsigned int shim_cpu, nr_cpu_ids;
unsigned int shim_threads = 1, shim_cores = NR_CPUS, shim_nodes_sockets = 64;
cpumask_t cpu_online_map, shim_cpumask_of[NR_CPUS], cpupool_free_cpus, shim_node_cpus[MAX_NUMNODES];
const cpumask_t cpumask_all = {~UINT64_C(0)}, cpumask_none = {0};
DEFINE_PER_CPU(cpumask_var_t, cpu_sibling_mask);
DEFINE_PER_CPU(cpumask_var_t, cpu_core_mask);
DEFINE_PER_CPU(unsigned long, tasklet_work_to_do);
nodemask_t node_online_map;
int system_state = SYS_STATE_boot, tb_init_done;
bool opt_dom0_vcpus_pin;
struct domain *shim_domains;
spinlock_t domlist_update_lock;
rcu_read_lock_t domlist_read_lock;
struct vcpu *idle_vcpu[NR_CPUS], *shim_current[NR_CPUS];
bool in_accounting, moving;

void shim_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s at %ld on pCPU %u\n", file, line, what, (long)shim_now, shim_cpu);
    fflush(stdout);
    abort();
}

/* Xen as it is shipped goes on. */
void shim_assert(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: ASSERT %s at %ld on pCPU %u\n", file, line, what, (long)shim_now,
            shim_cpu);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static struct timer *armed[MAX_TIMERS];
static int armed_count;
static uint64_t orders;

void init_timer(struct timer *t, void (*fn)(void *), void *data, unsigned int cpu)
{
    memset(t, 0, sizeof *t);
    t->function = fn;
    t->data = data;
    t->cpu = cpu;
    t->slot = -1;
    t->in_4_17 = t->in_4_18 = KERNEL_ADDRESS;
    t->status = TIMER_STATUS_inactive;
}

void stop_timer(struct timer *t)
{
    if (t->status != TIMER_STATUS_in_heap)
        return;
    armed[t->slot] = armed[--armed_count];
    armed[t->slot]->slot = t->slot;
    t->slot = -1;
    t->status = TIMER_STATUS_inactive;
}

void set_timer(struct timer *t, s_time_t expires)
{
    if (t->status == TIMER_STATUS_invalid || t->status == TIMER_STATUS_killed)
        return;
    stop_timer(t);
    t->expires = expires;
    t->order = ++orders;
    t->slot = armed_count;
    t->status = TIMER_STATUS_in_heap;
    if (armed_count == MAX_TIMERS)
        BUG();
    armed[armed_count++] = t;
}

void kill_timer(struct timer *t)
{
    stop_timer(t);
    t->status = TIMER_STATUS_killed;
}

void migrate_timer(struct timer *t, unsigned int cpu)
{
    t->cpu = cpu;
}

struct timer *first_timer(void)
{
    struct timer *best = NULL;

    for (int i = 0; i < armed_count; i++) {
        struct timer *t = armed[i];

        if (!best || t->expires < best->expires ||
            (t->expires == best->expires && t->order < best->order))
            best = t;
    }
    return best;
}

void count_timers(s_time_t date, int *ticks, int *others)
{
    for (int i = 0; i < armed_count; i++)
        if (armed[i]->expires == date)
            *(armed[i]->function == credit_tick_fn ? ticks : others) += 1;
}

/* ---- softirqs -------------------------------------------------------------------------------- */

static void (*softirq[NR_SOFTIRQS])(void);
static uint32_t pending[NR_CPUS];

void open_softirq(int nr, void (*fn)(void))
{
    softirq[nr] = fn;
}

void cpu_raise_softirq(unsigned int cpu, unsigned int nr)
{
    pending[cpu] |= 1u << nr;
}

void cpumask_raise_softirq(const struct cpumask *m, unsigned int nr)
{
    unsigned int c;

    for_each_cpu(c, m) cpu_raise_softirq(c, nr);
}

void register_cpu_notifier(struct notifier_block *nb)
{
    (void)nb;
}

static void softirqs(unsigned int c)
{
    shim_cpu = c;
    while (pending[c])
        for (int n = 0; n < NR_SOFTIRQS; n++)
            if (pending[c] >> n & 1) {
                pending[c] &= ~(1u << n);
                softirq[n]();
                handled();
            }
}

bool settle(void)
{
    bool any = false, again = true;

    while (again) {
        again = false;
        for (unsigned int c = 0; c < nr_cpu_ids; c++)
            if (pending[c]) {
                softirqs(c);
                again = any = true;
            }
    }
    return any;
}

void context_switch(struct vcpu *prev, struct vcpu *next)
{
    guest_switched(prev, next);
    shim_current[shim_cpu] = next;
    sched_context_switched(prev, next);
}

/* ---- domains --------------------------------------------------------------------------------- */

struct domain *domain_create(domid_t id, void *config, unsigned int flags)
{
    struct domain *d = calloc(1, sizeof *d), **at = &shim_domains;

    (void)config;
    (void)flags;
    d->domain_id = id;
    d->node_affinity = node_online_map;
    if (id != DOMID_IDLE) {
        while (*at)
            at = &(*at)->next_in_list;
        *at = d;
    }
    return d;
}

struct vcpu *vcpu_create(struct domain *d, unsigned int id)
{
    struct vcpu *v = calloc(1, sizeof *v);

    v->domain = d;
    v->vcpu_id = (int)id;
    if (is_idle_domain(d)) {
        v->runstate.state = RUNSTATE_running;
        v->new_state = RUNSTATE_running;
    } else {
        v->runstate.state = RUNSTATE_offline;
        v->runstate.state_entry_time = NOW();
        set_bit(_VPF_down, &v->pause_flags);
    }
    if (sched_init_vcpu(v))
        BUG();
    d->vcpu[id] = v;
    if (id) {
        v->next_in_list = d->vcpu[id - 1]->next_in_list;
        d->vcpu[id - 1]->next_in_list = v;
    }
    if (is_idle_domain(d))
        shim_current[id] = v;
    return v;
}

void vcpu_pause_nosync(struct vcpu *v)
{
    if (in_accounting)
        plain("park", v);
    atomic_inc(&v->pause_count);
    vcpu_sleep_nosync(v);
}

void vcpu_pause(struct vcpu *v)
{
    vcpu_pause_nosync(v);
}

void vcpu_unpause(struct vcpu *v)
{
    if (in_accounting)
        plain("unpark", v);
    if (atomic_dec_and_test(&v->pause_count))
        vcpu_wake(v);
}

void domain_pause(struct domain *d)
{
    struct vcpu *v;

    atomic_inc(&d->pause_count);
    for_each_vcpu(d, v) vcpu_sleep_nosync(v);
    if (moving) { /* waits until they are off their pCPUs */
        handled();
        settle();
    }
}

void domain_unpause(struct domain *d)
{
    struct vcpu *v;

    if (!atomic_dec_and_test(&d->pause_count))
        return;
    for_each_vcpu(d, v)
    {
        if (moving) /* assumed: where they go on */
            shim_cpu = (unsigned int)v->processor;
        vcpu_wake(v);
    }
}
