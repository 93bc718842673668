/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/* What Xen's scheduler sources need from the rest of a hypervisor, for a process that plays all
 * pCPUs in virtual time. Own code: nothing of Xen's is in here. */
#ifndef DIFFERENTIAL_SHIM_H
#define DIFFERENTIAL_SHIM_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __XEN_TOOLS__ 1
#define __XEN_INTERFACE_VERSION__ 0x00041100
#include <public/xen.h>

#include <public/domctl.h>
#include <public/sched.h>
#include <public/sysctl.h>
#include <public/trace.h>
#include <public/vcpu.h>

/* ---- language -------------------------------------------------------------------------------- */

#define cf_check
#define __init
#define __initdata
#define __initconst
#define __read_mostly
#define __ro_after_init
#define __maybe_unused __attribute__((unused))
#define __used __attribute__((used))
#define __must_check
#define noinline __attribute__((noinline))
#define always_inline inline __attribute__((always_inline))
#define likely(x) (x)
#define unlikely(x) (x)
#define __packed __attribute__((packed))
#define fallthrough __attribute__((fallthrough))
#define __used_section(s) __attribute__((used, section("schedulers_array")))
#define __end_schedulers_array __stop_schedulers_array

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef s64 s_time_t;
#define PRI_stime "ld"
#define STIME_MAX ((s_time_t)((uint64_t)~0ull >> 1))
#define STIME_DELTA_MAX ((s_time_t)((uint64_t)~0ull >> 2))

#define NR_CPUS 64
#define BITS_PER_LONG 64
#define KERN_INFO ""
#define XENLOG_INFO ""
#define XENLOG_DEBUG ""
#define XENLOG_WARNING ""
#define XENLOG_ERR ""
#define XENLOG_G_WARNING ""

#define min(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) _a = (a);                                                                    \
        __typeof__(b) _b = (b);                                                                    \
        _a < _b ? _a : (__typeof__(a))_b;                                                          \
    })
#define max(a, b)                                                                                  \
    ({                                                                                             \
        __typeof__(a) _a = (a);                                                                    \
        __typeof__(b) _b = (b);                                                                    \
        _a > _b ? _a : (__typeof__(a))_b;                                                          \
    })
#define min_t(t, a, b)                                                                             \
    ({                                                                                             \
        t _a = (a);                                                                                \
        t _b = (b);                                                                                \
        _a < _b ? _a : _b;                                                                         \
    })
#define max_t(t, a, b)                                                                             \
    ({                                                                                             \
        t _a = (a);                                                                                \
        t _b = (b);                                                                                \
        _a > _b ? _a : _b;                                                                         \
    })
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(p, t, m) ((t *)(void *)((char *)(p)-offsetof(t, m)))
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))
#define count_args_(dot, a1, a2, a3, a4, a5, a6, a7, a8, x, ...) x
#define count_args(args...) count_args_(., ##args, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define ACCESS_ONCE(x) (x)
#define read_atomic(p) (*(p))
#define write_atomic(p, v) (*(p) = (v))

void shim_bug(const char *file, int line, const char *what) __attribute__((noreturn));
#define BUG() shim_bug(__FILE__, __LINE__, "BUG")
#define BUG_ON(c)                                                                                  \
    do {                                                                                           \
        if (c)                                                                                     \
            shim_bug(__FILE__, __LINE__, #c);                                                      \
    } while (0)
#define ASSERT(c)                                                                                  \
    do {                                                                                           \
        if (!(c))                                                                                  \
            shim_assert(__FILE__, __LINE__, #c);                                                   \
    } while (0)
void shim_assert(const char *file, int line, const char *what);
#define ASSERT_UNREACHABLE() BUG()
#define ASSERT_NOT_IN_ATOMIC() ((void)0)
#define BUILD_BUG_ON(c) ((void)sizeof(char[1 - 2 * !!(c)]))
#define WARN_ON(c) (c)
#define panic(...) BUG()
#define printk(...) ((void)0)
#define dprintk(...) ((void)0)
#define printk_once(...) ((void)0)

#define IS_ERR(p) ((unsigned long)(p) >= (unsigned long)-4095L)
#define IS_ERR_OR_NULL(p) (!(p) || IS_ERR(p))
#define PTR_ERR(p) ((long)(p))
#define ERR_PTR(e) ((void *)(long)(e))
#define ZERO_BLOCK_PTR ((void *)-1L)

#define xzalloc(t) ((t *)calloc(1, sizeof(t)))
#define xmalloc(t) ((t *)calloc(1, sizeof(t)))
#define xzalloc_array(t, n) ((t *)calloc((n), sizeof(t)))
#define xmalloc_array(t, n) ((t *)calloc((n), sizeof(t)))
#define xfree(p) free((void *)(p))
#define XFREE(p)                                                                                   \
    do {                                                                                           \
        free(p);                                                                                   \
        (p) = NULL;                                                                                \
    } while (0)

/* ---- boot parameters: a table that the driver looks names up in ------------------------------ */

struct shim_param {
    const char *name;
    void *var;
    size_t size;
    int (*parse)(const char *s);
};
#define SHIM_PARAM(n, v, s, f)                                                                     \
    static const struct shim_param shim_param_##v                                                  \
        __attribute__((used, section("shim_params"), aligned(8))) = {n, s ? (void *)&v : NULL, s,  \
                                                                     f}
#define integer_param(n, v) SHIM_PARAM(n, v, sizeof(v), NULL)
#define boolean_param(n, v) SHIM_PARAM(n, v, sizeof(v), NULL)
#define size_param(n, v) SHIM_PARAM(n, v, sizeof(v), NULL)
#define string_param(n, v) SHIM_PARAM(n, v, sizeof(v), NULL)
#define custom_param(n, f)                                                                         \
    static const struct shim_param shim_param_##f                                                  \
        __attribute__((used, section("shim_params"), aligned(8))) = {n, NULL, 0, f}

/* ---- time, timers, softirqs ------------------------------------------------------------------ */

extern s_time_t shim_now;
extern unsigned int shim_cpu;
#define NOW() (shim_now)
#define smp_processor_id() (shim_cpu)
#define SECONDS(x) ((s_time_t)((x)*1000000000ULL))
#define MILLISECS(x) ((s_time_t)((x)*1000000ULL))
#define MICROSECS(x) ((s_time_t)((x)*1000ULL))

/* Credit looks at the priority of what is behind the last in a queue, where there is none: at the
 * bytes that are 60 behind the beginning of its per-pCPU data. Those are the upper half of a kernel
 * address in the timer, in Xen 4.17 as in 4.18: negative, and below all priorities. */
enum { KERNEL_ADDRESS = -30000 };

struct timer {
    s_time_t expires;
    unsigned int cpu;
    int in_4_18; /* at offset 12: KERNEL_ADDRESS */
    int slot;    /* in machine.c's table of armed ones, -1 */
    int status;
    int unused;
    int in_4_17;    /* at offset 28: KERNEL_ADDRESS */
    uint64_t order; /* of arming */
    void (*function)(void *);
    void *data;
};
enum { TIMER_STATUS_invalid, TIMER_STATUS_inactive, TIMER_STATUS_killed, TIMER_STATUS_in_heap };
void init_timer(struct timer *t, void (*fn)(void *), void *data, unsigned int cpu);
void set_timer(struct timer *t, s_time_t expires);
void stop_timer(struct timer *t);
void kill_timer(struct timer *t);
void migrate_timer(struct timer *t, unsigned int cpu);
static inline bool timer_is_active(const struct timer *t)
{
    return t->slot >= 0;
}
static inline bool active_timer(const struct timer *t)
{
    return t->slot >= 0;
}
static inline bool timer_expires_before(const struct timer *t, s_time_t when)
{
    return t->slot >= 0 && t->expires < when;
}

enum { TIMER_SOFTIRQ, RCU_SOFTIRQ, SCHED_SLAVE_SOFTIRQ, SCHEDULE_SOFTIRQ, NR_SOFTIRQS };
void open_softirq(int nr, void (*fn)(void));
void cpu_raise_softirq(unsigned int cpu, unsigned int nr);
#define raise_softirq(nr) cpu_raise_softirq(smp_processor_id(), nr)
struct cpumask;
void cpumask_raise_softirq(const struct cpumask *m, unsigned int nr);
#define cpu_relax() BUG()

/* ---- locks: who holds them matters to try-locks only ----------------------------------------- */

typedef struct spinlock {
    int held;
} spinlock_t;
typedef struct rwlock {
    int writer, readers;
} rwlock_t;
#define DEFINE_SPINLOCK(l) spinlock_t l
#define spin_lock_init(l) ((l)->held = 0)
static inline void _spin_lock(spinlock_t *l)
{
    ASSERT(!l->held);
    l->held = 1;
}
static inline unsigned long _spin_lock_irqsave(spinlock_t *l)
{
    _spin_lock(l);
    return 0;
}
static inline void _spin_lock_irq(spinlock_t *l)
{
    _spin_lock(l);
}
#define spin_lock(l) _spin_lock(l)
#define spin_lock_irq(l) _spin_lock(l)
#define spin_lock_irqsave(l, f) ((f) = _spin_lock_irqsave(l))
static inline void spin_unlock(spinlock_t *l)
{
    ASSERT(l->held);
    l->held = 0;
}
#define spin_unlock_irq(l) spin_unlock(l)
#define spin_unlock_irqrestore(l, f) ((void)(f), spin_unlock(l))
static inline int spin_trylock(spinlock_t *l)
{
    return l->held ? 0 : (l->held = 1);
}
#define spin_is_locked(l) ((l)->held)
#define rwlock_init(l) (*(l) = (rwlock_t){0, 0})
static inline void write_lock(rwlock_t *l)
{
    ASSERT(!l->writer && !l->readers);
    l->writer = 1;
}
static inline void write_unlock(rwlock_t *l)
{
    ASSERT(l->writer);
    l->writer = 0;
}
static inline void read_lock(rwlock_t *l)
{
    ASSERT(!l->writer);
    l->readers++;
}
static inline void read_unlock(rwlock_t *l)
{
    ASSERT(l->readers);
    l->readers--;
}
static inline int read_trylock(rwlock_t *l)
{
    return l->writer ? 0 : ++l->readers;
}
#define write_lock_irqsave(l, f) ((f) = 0, write_lock(l))
#define write_lock_irq(l) write_lock(l)
#define write_unlock_irq(l) write_unlock(l)
#define write_unlock_irqrestore(l, f) ((void)(f), write_unlock(l))
#define read_lock_irqsave(l, f) ((f) = 0, read_lock(l))
#define read_unlock_irqrestore(l, f) ((void)(f), read_unlock(l))
#define rw_is_write_locked(l) ((l)->writer)
#define rw_is_locked(l) ((l)->writer || (l)->readers)
#define block_lock_speculation() ((void)0)
#define block_speculation() ((void)0)
#define local_irq_is_enabled() 0
#define local_irq_disable() ((void)0)
#define local_irq_enable() ((void)0)
#define local_irq_save(f) ((f) = 0)
#define local_irq_restore(f) ((void)(f))
#define in_irq() 0

typedef struct {
    int dummy;
} rcu_read_lock_t;
struct rcu_head {
    void *p;
};
#define DEFINE_RCU_READ_LOCK(x) rcu_read_lock_t x
#define rcu_read_lock(x) ((void)(x))
#define rcu_read_unlock(x) ((void)(x))
#define rcu_dereference(p) (p)
#define rcu_assign_pointer(p, v) ((p) = (v))
#define rcu_pending(cpu) 0
#define call_rcu(head, fn) ((void)(head), (void)(fn))

struct seqcount {
    int n;
};
#define SEQCNT_ZERO() ((struct seqcount){0})
#define with_seq_write(s) for (int _once = ((void)(s), 1); _once; _once = 0)
#define until_seq_read(s) for (int _once = ((void)(s), 1); _once; _once = 0)

#define smp_mb() ((void)0)
#define smp_rmb() ((void)0)
#define smp_wmb() ((void)0)
#define smp_mb__after_atomic() ((void)0)
#define barrier() ((void)0)
#define prefetch(x) ((void)(x))

typedef struct {
    int counter;
} atomic_t;
#define ATOMIC_INIT(i)                                                                             \
    {                                                                                              \
        (i)                                                                                        \
    }
#define atomic_read(a) ((a)->counter)
#define _atomic_read(a) ((a).counter)
#define atomic_set(a, v) ((void)((a)->counter = (v)))
#define atomic_inc(a) ((void)(a)->counter++)
#define atomic_dec(a) ((void)(a)->counter--)
#define atomic_add(v, a) ((void)((a)->counter += (v)))
#define atomic_sub(v, a) ((void)((a)->counter -= (v)))
#define atomic_dec_return(a) (--(a)->counter)
#define atomic_inc_return(a) (++(a)->counter)
#define atomic_dec_and_test(a) (--(a)->counter == 0)
#define add_sized(p, v) (*(p) += (v))

/* ---- bits ------------------------------------------------------------------------------------ */

#define BITOP(n, p) ((((uint32_t *)(void *)(p))[(n) / 32]))
#define BITVAL(n) (1u << ((n) % 32))
#define test_bit(n, p) (!!((((const uint32_t *)(const void *)(p))[(n) / 32]) & BITVAL(n)))
#define set_bit(n, p) ((void)(BITOP(n, p) |= BITVAL(n)))
#define clear_bit(n, p) ((void)(BITOP(n, p) &= ~BITVAL(n)))
#define __set_bit set_bit
#define __clear_bit clear_bit
#define __test_bit test_bit
#define test_and_set_bit(n, p)                                                                     \
    ({                                                                                             \
        uint32_t *_w = &BITOP(n, p);                                                               \
        int _o = !!(*_w & BITVAL(n));                                                              \
        *_w |= BITVAL(n);                                                                          \
        _o;                                                                                        \
    })
#define test_and_clear_bit(n, p)                                                                   \
    ({                                                                                             \
        uint32_t *_w = &BITOP(n, p);                                                               \
        int _o = !!(*_w & BITVAL(n));                                                              \
        *_w &= ~BITVAL(n);                                                                         \
        _o;                                                                                        \
    })
#define __test_and_set_bit test_and_set_bit
#define __test_and_clear_bit test_and_clear_bit
#define fls(x) ((x) ? 32 - __builtin_clz((unsigned)(x)) : 0)
#define ffs(x) __builtin_ffs(x)
#define flsl(x) ((x) ? 64 - __builtin_clzl(x) : 0)
#define DECLARE_BITMAP(n, b) unsigned long n[((b) + 63) / 64]
#define do_div(n, base)                                                                            \
    ({                                                                                             \
        uint32_t _r = (uint64_t)(n) % (uint32_t)(base);                                            \
        (n) = (uint64_t)(n) / (uint32_t)(base);                                                    \
        _r;                                                                                        \
    })

/* ---- cpumasks -------------------------------------------------------------------------------- */

typedef struct cpumask {
    uint64_t b;
} cpumask_t;
typedef cpumask_t cpumask_var_t[1];
extern unsigned int nr_cpu_ids;
extern cpumask_t cpu_online_map, shim_cpumask_of[NR_CPUS];
extern const cpumask_t cpumask_all, cpumask_none;
#define nr_cpumask_bits nr_cpu_ids
#define CM(c) (UINT64_C(1) << (c))
#define cpumask_test_cpu(c, m) (!!((m)->b & CM(c)))
#define cpumask_set_cpu(c, m) ((void)((m)->b |= CM(c)))
#define cpumask_clear_cpu(c, m) ((void)((m)->b &= ~CM(c)))
#define __cpumask_set_cpu cpumask_set_cpu
#define __cpumask_clear_cpu cpumask_clear_cpu
static inline bool cpumask_test_and_clear_cpu(unsigned c, cpumask_t *m)
{
    bool o = m->b & CM(c) ? 1 : 0;
    m->b &= ~CM(c);
    return o;
}
static inline bool cpumask_test_and_set_cpu(unsigned c, cpumask_t *m)
{
    bool o = m->b & CM(c) ? 1 : 0;
    m->b |= CM(c);
    return o;
}
#define __cpumask_test_and_clear_cpu cpumask_test_and_clear_cpu
#define __cpumask_test_and_set_cpu cpumask_test_and_set_cpu
#define cpumask_clear(m) ((void)((m)->b = 0))
#define cpumask_setall(m) ((void)((m)->b = ~UINT64_C(0)))
#define cpumask_copy(d, s) ((void)((d)->b = (s)->b))
#define cpumask_and(d, x, y) ((void)((d)->b = (x)->b & (y)->b))
#define cpumask_or(d, x, y) ((void)((d)->b = (x)->b | (y)->b))
#define cpumask_andnot(d, x, y) ((void)((d)->b = (x)->b & ~(y)->b))
#define cpumask_xor(d, x, y) ((void)((d)->b = (x)->b ^ (y)->b))
static inline uint64_t shim_valid(void)
{
    return nr_cpu_ids == 64 ? ~UINT64_C(0) : CM(nr_cpu_ids) - 1;
}
#define cpumask_empty(m) (!((m)->b & shim_valid()))
#define cpumask_full(m) (((m)->b & shim_valid()) == shim_valid())
#define cpumask_equal(x, y) (!(((x)->b ^ (y)->b) & shim_valid()))
#define cpumask_intersects(x, y) (!!((x)->b & (y)->b & shim_valid()))
#define cpumask_subset(x, y) (!((x)->b & ~(y)->b & shim_valid()))
#define cpumask_weight(m) ((unsigned)__builtin_popcountll((m)->b & shim_valid()))
static inline unsigned cpumask_first(const cpumask_t *m)
{
    uint64_t v = m->b & shim_valid();
    return v ? (unsigned)__builtin_ctzll(v) : nr_cpu_ids;
}
static inline unsigned cpumask_next(int n, const cpumask_t *m)
{
    uint64_t v = m->b & shim_valid();
    if (n >= 63)
        return nr_cpu_ids;
    v &= ~UINT64_C(0) << (n + 1);
    return v ? (unsigned)__builtin_ctzll(v) : nr_cpu_ids;
}
static inline unsigned cpumask_last(const cpumask_t *m)
{
    uint64_t v = m->b & shim_valid();
    return v ? 63u - (unsigned)__builtin_clzll(v) : nr_cpu_ids;
}
static inline unsigned cpumask_cycle(int n, const cpumask_t *m)
{
    unsigned c = cpumask_next(n, m);
    return c >= nr_cpu_ids ? cpumask_first(m) : c;
}
static inline unsigned cpumask_test_or_cycle(int n, const cpumask_t *m)
{
    return cpumask_test_cpu(n, m) ? (unsigned)n : cpumask_cycle(n, m);
}
#define cpumask_any(m) cpumask_first(m) /* random in Xen */
#define cpumask_of(c) (&shim_cpumask_of[c])
#define cpumask_bits(m) ((unsigned long *)&(m)->b)
#define for_each_cpu(c, m)                                                                         \
    for ((c) = cpumask_first(m); (c) < nr_cpu_ids; (c) = cpumask_next((int)(c), m))
#define alloc_cpumask_var(v) ((void)(v), true)
#define zalloc_cpumask_var(v) (memset((v), 0, sizeof(cpumask_t)), true)
#define cond_zalloc_cpumask_var zalloc_cpumask_var
#define free_cpumask_var(v) ((void)(v))
#define FREE_CPUMASK_VAR(v) ((void)(v))
#define for_each_present_cpu(c) for_each_cpu(c, &cpu_online_map)
#define for_each_online_cpu(c) for_each_cpu(c, &cpu_online_map)
#define num_online_cpus() cpumask_weight(&cpu_online_map)
#define cpu_online(c) cpumask_test_cpu(c, &cpu_online_map)
#define CPUMASK_PR(m) 0, m

#define DEFINE_PER_CPU(t, n) __typeof__(t) per_cpu__##n[NR_CPUS]
#define DEFINE_PER_CPU_READ_MOSTLY DEFINE_PER_CPU
#define DECLARE_PER_CPU(t, n) extern __typeof__(t) per_cpu__##n[NR_CPUS]
#define per_cpu(n, c) (per_cpu__##n[c])
#define this_cpu(n) (per_cpu__##n[smp_processor_id()])

/* ---- topology -------------------------------------------------------------------------------- */

extern unsigned int shim_threads, shim_cores,
    shim_nodes_sockets; /* per core, per socket, sockets per node */
#define cpu_to_core(c) ((int)((c) / shim_threads % shim_cores))
#define cpu_to_socket(c) ((int)((c) / (shim_threads * shim_cores)))
#define cpu_to_node(c) ((nodeid_t)(cpu_to_socket(c) / shim_nodes_sockets))
#define cpu_nr_siblings(c) cpumask_weight(per_cpu(cpu_sibling_mask, c))
DECLARE_PER_CPU(cpumask_var_t, cpu_sibling_mask);
DECLARE_PER_CPU(cpumask_var_t, cpu_core_mask);
#define XEN_INVALID_SOCKET_ID (~0u)
#define XEN_INVALID_CORE_ID (~0u)
#define XEN_INVALID_NODE_ID (~0u)
typedef uint8_t nodeid_t;
#define MAX_NUMNODES 8
#define NUMA_NO_NODE 0xff
typedef struct {
    unsigned long bits;
} nodemask_t;
extern nodemask_t node_online_map;
extern cpumask_t shim_node_cpus[MAX_NUMNODES];
#define node_to_cpumask(n) (shim_node_cpus[n])
#define for_each_node_mask(n, m)                                                                   \
    for ((n) = 0; (n) < MAX_NUMNODES; (n)++)                                                       \
        if ((m).bits >> (n)&1)
#define for_each_online_node(n) for_each_node_mask(n, node_online_map)
#define nodes_clear(m) ((m).bits = 0)
#define node_set(n, m) ((m).bits |= 1ul << (n))
#define node_isset(n, m) ((m).bits >> (n)&1)
static inline nodeid_t cycle_node(unsigned n, nodemask_t m)
{
    for (unsigned i = 1; i <= MAX_NUMNODES; i++)
        if (m.bits >> ((n + i) % MAX_NUMNODES) & 1)
            return (nodeid_t)((n + i) % MAX_NUMNODES);
    return MAX_NUMNODES;
}
#define first_node(m) cycle_node(MAX_NUMNODES - 1, m)
#define num_online_nodes() __builtin_popcountl(node_online_map.bits)
enum {
    SYS_STATE_early_boot,
    SYS_STATE_boot,
    SYS_STATE_smp_boot,
    SYS_STATE_active,
    SYS_STATE_suspend,
    SYS_STATE_resume
};
extern int system_state;

/* ---- vCPUs, units, domains ------------------------------------------------------------------- */

#include <xen/list.h>

#define _VPF_blocked 0
#define VPF_blocked (1ul << _VPF_blocked)
#define _VPF_down 1
#define VPF_down (1ul << _VPF_down)
#define _VPF_blocked_in_xen 2
#define VPF_blocked_in_xen (1ul << 2)
#define _VPF_migrating 3
#define VPF_migrating (1ul << _VPF_migrating)
#define _VPF_parked 8
#define VPF_parked (1ul << _VPF_parked)

struct sched_unit;
struct cpupool;

struct vcpu {
    int vcpu_id;
    int processor;
    struct domain *domain;
    struct vcpu *next_in_list;
    spinlock_t periodic_timer_lock;
    s_time_t periodic_period, periodic_last_event;
    struct timer periodic_timer, singleshot_timer, poll_timer;
    struct sched_unit *sched_unit;
    struct vcpu_runstate_info runstate;
    struct seqcount runstate_seq;
    unsigned int new_state;
    bool is_initialised, is_running, is_urgent, force_context_switch;
    uint8_t affinity_broken;
    int poll_evtchn;
    unsigned long pause_flags;
    atomic_t pause_count;
    void *guest; /* the driver's */
};
#define VCPU_AFFINITY_OVERRIDE 1
#define VCPU_AFFINITY_WAIT 2

struct sched_unit {
    struct domain *domain;
    struct vcpu *vcpu_list;
    void *priv;
    struct sched_unit *next_in_list;
    struct sched_resource *res;
    unsigned int unit_id;
    bool is_running, soft_aff_effective, migrated;
    uint64_t state_entry_time;
    unsigned int runstate_cnt[4];
    cpumask_var_t cpu_hard_affinity, cpu_hard_affinity_saved, cpu_soft_affinity;
    struct sched_unit *next_task;
    s_time_t next_time;
    unsigned int rendezvous_in_cnt;
    atomic_t rendezvous_out_cnt;
};
#define for_each_sched_unit(d, u) for ((u) = (d)->sched_unit_list; (u); (u) = (u)->next_in_list)
#define for_each_sched_unit_vcpu(u, v)                                                             \
    for ((v) = (u)->vcpu_list;                                                                     \
         (v) && (!(u)->next_in_list || (unsigned)(v)->vcpu_id < (u)->next_in_list->unit_id);       \
         (v) = (v)->next_in_list)

struct domain {
    domid_t domain_id;
    unsigned int max_vcpus;
    struct vcpu **vcpu;
    void *sched_priv;
    struct sched_unit *sched_unit_list;
    struct cpupool *cpupool;
    struct domain *next_in_list;
    DECLARE_BITMAP(poll_mask, 64);
    atomic_t pause_count;
    xen_domain_handle_t handle;
    nodemask_t node_affinity;
    spinlock_t node_affinity_lock;
    bool auto_node_affinity, is_dying, is_shutting_down;
};
extern struct domain *shim_domains;
#define for_each_domain(d) for ((d) = shim_domains; (d); (d) = (d)->next_in_list)
#define for_each_domain_in_cpupool(d, c) for_each_domain(d) if ((d)->cpupool == (c))
#define for_each_vcpu(d, v)                                                                        \
    for ((v) = (d)->vcpu ? (d)->vcpu[0] : NULL; (v); (v) = (v)->next_in_list)
extern spinlock_t domlist_update_lock;
extern rcu_read_lock_t domlist_read_lock;
extern struct vcpu *idle_vcpu[NR_CPUS], *shim_current[NR_CPUS];
#define current (shim_current[smp_processor_id()])
#define get_cpu_current(c) (shim_current[c])
#define is_idle_domain(d) ((d)->domain_id == DOMID_IDLE)
#define is_idle_vcpu(v) is_idle_domain((v)->domain)
#define is_vcpu_online(v) (!test_bit(_VPF_down, &(v)->pause_flags))
#define is_hardware_domain(d) ((d)->domain_id == 0)
static inline bool vcpu_runnable(const struct vcpu *v)
{
    return !(v->pause_flags | (unsigned)v->pause_count.counter |
             (unsigned)v->domain->pause_count.counter);
}
struct domain *domain_create(domid_t id, void *config, unsigned int flags);
struct vcpu *vcpu_create(struct domain *d, unsigned int id);
int sched_init_vcpu(struct vcpu *v);
int sched_init_domain(struct domain *d, unsigned int poolid);
void sched_destroy_domain(struct domain *d);
void sched_destroy_vcpu(struct vcpu *v);
void vcpu_wake(struct vcpu *v);
void vcpu_unblock(struct vcpu *v);
void vcpu_block(void);
long vcpu_yield(void);
void vcpu_sleep_nosync(struct vcpu *v);
void vcpu_sleep_sync(struct vcpu *v);
int vcpu_set_hard_affinity(struct vcpu *v, const cpumask_t *m);
void vcpu_runstate_get(const struct vcpu *v, struct vcpu_runstate_info *r);
void sched_context_switched(struct vcpu *prev, struct vcpu *next);
void context_switch(struct vcpu *prev, struct vcpu *next);
void scheduler_init(void);
void vcpu_pause(struct vcpu *v);
void vcpu_pause_nosync(struct vcpu *v);
void vcpu_unpause(struct vcpu *v);
void domain_pause(struct domain *d);
void domain_unpause(struct domain *d);
#define CDF_privileged 1
#define continue_running(v) ((void)0)
#define sync_vcpu_execstate(v) ((void)0)
#define domain_update_node_affinity(d) ((void)0)
#define send_timer_event(v) vcpu_unblock(v)
#define local_events_need_delivery() 0
#define local_event_delivery_enable() ((void)0)
#define arch_vcpu_block(v) ((void)0)
#define arch_move_irqs(v) ((void)0)
#define evtchn_move_pirqs(v) ((void)0)
#define rcu_lock_domain_by_id(x) NULL
#define rcu_unlock_domain(d) ((void)0)
#define domain_shutdown(d, r) BUG()
#define hypercall_preempt_check() 0
#define wake_up_nr(...) ((void)0)
#define test_and_clear_bool(b)                                                                     \
    ({                                                                                             \
        bool _o = (b);                                                                             \
        (b) = false;                                                                               \
        _o;                                                                                        \
    })
extern bool opt_dom0_vcpus_pin;
extern bool sched_smt_power_savings;

struct notifier_block {
    int (*notifier_call)(struct notifier_block *, unsigned long, void *);
};
#define NOTIFY_DONE 0
#define notifier_from_errno(e) (e)
void register_cpu_notifier(struct notifier_block *nb);
enum {
    CPU_UP_PREPARE = 1,
    CPU_UP_CANCELED,
    CPU_STARTING,
    CPU_ONLINE,
    CPU_DOWN_PREPARE,
    CPU_DOWN_FAILED,
    CPU_DYING,
    CPU_DEAD,
    CPU_RESUME_FAILED
};

#define _TASKLET_enqueued 0
#define _TASKLET_scheduled 1
#define TASKLET_enqueued 1ul
#define TASKLET_scheduled 2ul
DECLARE_PER_CPU(unsigned long, tasklet_work_to_do);

#define copy_from_guest_offset(d, h, o, n) (memcpy((d), (h).p + (o), sizeof(*(d)) * (n)), 0)
#define copy_to_guest_offset(h, o, s, n) (memcpy((h).p + (o), (s), sizeof(*(s)) * (n)), 0)
#define copy_from_guest(d, h, n) copy_from_guest_offset(d, h, 0, n)
#define copy_to_guest(h, s, n) copy_to_guest_offset(h, 0, s, n)
#define guest_handle_is_null(h) (!(h).p)

/* ---- trace ----------------------------------------------------------------------------------- */

extern int tb_init_done;
void shim_trace(uint32_t event, unsigned int extra, const void *data);
#define __trace_var(e, c, n, d) shim_trace(e, n, d)
#define trace_var(e, c, n, d) shim_trace(e, n, d)
#define TRACE_ND(e, ...)                                                                           \
    do {                                                                                           \
        uint32_t _w[] = {__VA_ARGS__};                                                             \
        shim_trace(e, sizeof _w, _w);                                                              \
    } while (0)
#define TRACE_0D(e) shim_trace(e, 0, NULL)
#define TRACE_1D(e, a) TRACE_ND(e, (uint32_t)(a))
#define TRACE_2D(e, a, b) TRACE_ND(e, (uint32_t)(a), (uint32_t)(b))
#define TRACE_3D(e, a, b, c) TRACE_ND(e, (uint32_t)(a), (uint32_t)(b), (uint32_t)(c))
#define TRACE_4D(e, a, b, c, d)                                                                    \
    TRACE_ND(e, (uint32_t)(a), (uint32_t)(b), (uint32_t)(c), (uint32_t)(d))
#define SCHED_STAT_CRANK(x) ((void)0)
#define perfc_incr(x) ((void)0)
#define perfc_incra(x, y) ((void)0)
#define parse_bool(a, b) 0
#define CONFIG_SCHED_DEFAULT "credit"

#endif
