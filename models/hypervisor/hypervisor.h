/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scheduling core of a Xen host: pCPUs, vCPUs, domains, cpupools, runstates, event channels.
 *
 * It plays the part of Xen's sched/core.c: it owns runstates, context switches and their cost,
 * timers, the delivery of reschedules and affinity; a scheduler (models/schedulers) decides who
 * runs, and a guest (models/guest) says what its vCPUs do. Neither knows the other.
 *
 * Rules: facts about Xen 4.17 in docs/models/hypervisor.md (runnable, runstates, entry points,
 * the order of one instant). With all costs zero the core reproduces Xen's own code in virtual
 * time row for row (hvsim validate schedules).
 *
 * Order of one instant, as ranks of the event queue: timers by arming; external events and vCPU
 * starts in the scenario's order; bursts that are complete, by pCPU; then all pending reschedules,
 * pCPUs ascending, until none is pending; then again bursts and reschedules while any is due.
 */
#ifndef HVSIM_HYPERVISOR_HYPERVISOR_H
#define HVSIM_HYPERVISOR_HYPERVISOR_H

#include "models/hypervisor/cpumask.h"
#include "models/hypervisor/observer.h"
#include "sim/queue.h"
#include "sim/random.h"
#include "sim/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcpu;
struct vcpu;
struct domain;
struct cpupool;
struct host;
struct scheduler;
struct param_table;

/* ---- lists: intrusive, circular, with a head ------------------------------------------------ */

struct list {
    struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head;
}

/* Is this element (initialised by list_init) in a list? */
static inline bool list_linked(const struct list *e)
{
    return e->next != e;
}

/* Insert e before `at`; before the head means at the tail. */
static inline void list_insert_before(struct list *at, struct list *e)
{
    e->prev = at->prev;
    e->next = at;
    at->prev->next = e;
    at->prev = e;
}

static inline void list_insert_head(struct list *head, struct list *e)
{
    list_insert_before(head->next, e);
}

static inline void list_insert_tail(struct list *head, struct list *e)
{
    list_insert_before(head, e);
}

static inline void list_remove(struct list *e)
{
    e->prev->next = e->next;
    e->next->prev = e->prev;
    list_init(e);
}

/* ---- objects -------------------------------------------------------------------------------- */

/* Numbers as in Xen's public ABI (and its trace records). */
enum runstate { RUNSTATE_RUNNING, RUNSTATE_RUNNABLE, RUNSTATE_BLOCKED, RUNSTATE_OFFLINE };

/* Why a vCPU is not runnable; any bit set means it is not. */
enum pause_flag {
    PAUSE_BLOCKED = 1,   /* SCHEDOP_block, HLT or poll */
    PAUSE_DOWN = 2,      /* not yet brought up, or unplugged */
    PAUSE_MIGRATING = 4, /* on its way to another pCPU */
    PAUSE_PARKED = 8,    /* out of budget (Credit2's cap) */
};

enum { DOMAIN_IDLE = 0x7fff, DEFAULT_WEIGHT = 256 };

/* What a guest does when the hypervisor calls on it. All calls happen at the host's current time
 * with the vCPU running on its pCPU, except `preempted`. */
struct guest_ops {
    /* The vCPU has no burst left (or never had one): give it one (vcpu_compute), or block, yield,
     * or shut down. Called again at the same instant if it does nothing of these: a bug. */
    void (*act)(struct vcpu *v, sim_time now);
    /* The upcall: events are pending on the vCPU's channels (evtchn_take). Optional. */
    void (*upcall)(struct vcpu *v, sim_time now);
    /* It was switched in / out. Optional. */
    void (*resumed)(struct vcpu *v, sim_time now);
    void (*preempted)(struct vcpu *v, sim_time now);
};

/* One end of an event channel, bound to a vCPU. Sending sets `pending`; nothing more happens while
 * it is set. Embedded in its owner (netfront, netback, a virtual IRQ). */
struct evtchn {
    struct vcpu *vcpu;
    void (*handler)(struct evtchn *ch, sim_time now); /* called by the guest from its upcall */
    struct evtchn *next; /* in the vCPU's list of pending channels, first raised first */
    bool pending, masked;
};

struct vcpu {
    /* For schedulers. */
    struct domain *domain;
    uint32_t id;        /* within its domain */
    uint32_t processor; /* assigned pCPU: where it runs, last ran, or is queued */
    bool idle;          /* the idle vCPU of its pCPU */
    bool is_running;    /* current on its pCPU, or being switched out */
    uint8_t pause_flags;
    bool soft_effective; /* does soft affinity restrict at all? */
    enum runstate runstate;
    int32_t pause_count;     /* of the vCPU itself; the domain has its own */
    sim_time runstate_entry; /* when the runstate was entered */
    sim_time last_switch;    /* when it was last switched in, or switched out */
    cpumask hard, soft;
    void *sched; /* the scheduler's own data */

    /* The core's. */
    uint32_t index;            /* dense number within the host; idle vCPUs have none */
    uint32_t shadow_processor; /* what observers were last told */
    sim_time runstate_time[4];
    sim_time burst_left;     /* CPU time the guest still wants; SIM_NEVER: without end */
    sim_time burst_since;    /* from when on the current run counts */
    sim_time progress;       /* CPU time the guest has had so far, without the costs of switching */
    struct timer singleshot; /* the guest's timer */
    struct evtchn timer_virq;
    struct evtchn *pending_first, **pending_last;
    bool upcall_pending;
    uint32_t timer_pcpu; /* where the singleshot timer was armed */

    /* The guest's. */
    const struct guest_ops *guest;
    void *guest_data;
};

enum { LATE_TIMERS = 16 };

struct pcpu {
    struct host *host;
    struct cpupool *pool;
    uint32_t id;
    uint32_t core, socket, node;
    cpumask siblings, socket_cpus, node_cpus; /* including itself */
    struct vcpu *current, *idle;
    void *sched;

    uint32_t speed;     /* progress per ns with no busy sibling, in units of 2^-16 */
    uint32_t speed_now; /* the same at present */
    struct timer slice, burst, ipi;
    bool waits_turn;                 /* turns.h: another pCPU has the turn */
    bool asked;                      /* ... and it was asked to reschedule meanwhile */
    struct timer *late[LATE_TIMERS]; /* ... and these timers of its own went off */
    uint32_t lates;
    bool in_late;           /* ... which are being handled now */
    bool kicked;            /* turns.h */
    uint32_t last_tickled;  /* Credit: whom it told last, in whatever pool (last_tickle_cpu) */
    sim_time deadline;      /* turns.h: what it has last set its timer to */
    sim_time timers_begun;  /* it has last begun to handle timers, or set its timer, */
    sim_time timers_set;    /* ... and was done: for timer_slop */
    sim_time slice_granted; /* of the last decision; -1 none */
};

enum { SPEED_ONE = 1 << 16 };

struct domain {
    struct host *host;
    struct cpupool *pool;
    uint32_t id;
    char *name;
    struct vcpu **vcpu;
    uint32_t vcpu_count;
    int32_t pause_count;
    uint32_t weight; /* Credit, Credit2 */
    uint32_t cap;    /* per cent of one pCPU, 0 none */
    void *sched;
    struct timer operation; /* a move or the destruction, waiting for its vCPUs to stop */
    struct cpupool *move_to;
    bool absent; /* described, not created yet: its scheduler does not know it */
    bool destroyed;
};

struct cpupool {
    struct host *host;
    const char *name;
    cpumask cpus;
    struct scheduler *scheduler;
    sim_time overhead; /* of its scheduler, added to each context switch */
};

/* What a context switch, an IPI, ... cost on this host. All zero in exact mode. Defaults, ranges
 * and sources: host_cost_params. */
struct host_costs {
    sim_time context_switch; /* from the decision to the guest's first instruction */
    sim_time ipi;            /* until a tickled remote pCPU notices */
    sim_time wake;           /* until a pCPU that tickled itself does */
    sim_time timer_slop;     /* once it has set its timer, a pCPU is not interrupted for so long */
    sim_time timer_latency;  /* ... and are handled this much later: periodic ones drift */
    sim_time timer_rearm;    /* ... and by so much more if a tick's handler sets them anew, */
    sim_time tick_sort;      /* ... that sorts the queue, */
    sim_time account;        /* ... or accounting's, */
    sim_time account_vcpu;   /* ... which takes so long for each active vCPU */
    sim_time guest_timer; /* from the date of a guest's timer to its event, beyond timer_latency */
    sim_time slice_latency;  /* from the handling of a slice's end to the decision */
    sim_time timer_jitter;   /* slices end up to this much later, once host_vary() was called */
    sim_time cache_refill;   /* extra work after a full loss of the cache */
    sim_time cache_lifetime; /* others' run time after which the cache is lost entirely */
    sim_time emulator_tick;  /* pCPUs run in turn, see turns.h; 0: at the same time */
    bool emulator_whole;     /* a turn is all that is left until the next deadline */
    int64_t smt_factor;      /* per cent of nominal speed while a sibling is busy; 100: no effect */
};

/* Differences between Xen versions that lie in the core. */
enum xen_version {
    XEN_4_6 = 406,
    XEN_4_7_0 = 470,
    XEN_4_7_1 = 471,
    XEN_4_17 = 4170,
    XEN_4_18 = 4180
};

/* Whose turn it is, where pCPUs run in turn: see turns.h. */
struct turns {
    uint32_t holder;
    sim_time tick;            /* next date of the emulator's periodic timer */
    sim_time until;           /* the holder's turn ends, if it does not before */
    sim_time budget;          /* of each turn in this pass */
    bool due;                 /* timers went off at this instant */
    sim_time *own;            /* room: the first timer of each pCPU */
    sim_time limit, limit_at; /* time until the first deadline, at a date, ... */
    uint64_t limit_armed;     /* ... and the queue's arming number then */
    struct timer end;
};

struct host {
    struct queue *queue;
    const char *name;
    enum xen_version version;
    struct host_costs costs;
    struct pcpu *pcpu;
    uint32_t pcpu_count;
    struct domain **domain; /* in order of creation */
    uint32_t domain_count;
    struct vcpu **vcpu; /* all but the idle ones, in order of creation */
    uint32_t vcpu_count;
    struct cpupool **pool;
    uint32_t pool_count;
    struct domain *idle_domain;

    struct turns turns;
    struct rng rng;     /* of timer_jitter */
    bool varies;        /* host_vary() was called */
    uint32_t executing; /* the pCPU on which the current handler runs */
    cpumask pending;    /* pCPUs with a pending reschedule */
    struct timer settle;

    uint64_t observed; /* union of the observers' kinds */
    struct observer *observers;
    uint32_t soft_vcpus;   /* with effective soft affinity: where there are none nobody need look */
    bool watched_handlers; /* an observer wants `handled` calls or migrations */
    bool watched_switches; /* an observer wants `switched` calls */
    bool in_switch;        /* the switch at hand will be told as a whole */
    uint64_t decisions, switches, migrations;

    char *fault;      /* the first rule that the scheduler broke, in words; NULL: none */
    bool guard;       /* look for vCPUs that the scheduler forgot, too (plug-ins) */
    sim_time instant; /* of the last decision, and the number of decisions in it */
    uint32_t in_instant;
};

/* ---- the scheduler's side: the table of operations ------------------------------------------- */

struct decision {
    struct vcpu *next; /* never NULL; the pCPU's idle vCPU when there is nothing to run */
    sim_time slice;    /* until the next forced decision; -1: no limit */
};

/* One scheduler at work in one cpupool. */
struct scheduler {
    const struct sched_ops *ops;
    struct cpupool *pool;
    struct host *host;
    void *params; /* of type ops->params, filled from the scenario */
    void *data;   /* the scheduler's own */
    uint64_t off; /* rules switched off: bit i is ops->rules[i] (hvsim explain --without) */
    /* Why the last decision was made, in words: set by each call of schedule. NULL: not said. */
    const char *why;
};

/* A rule that can be switched off to see what it does. */
struct sched_rule {
    const char *name, *meaning;
};

struct sched_ops {
    uint32_t abi;     /* SCHEDULER_ABI */
    const char *name; /* as in scenarios */
    const char *title;
    int trace_id;                            /* scheduler id in xentrace's class word, -1: none */
    const struct param_table *params;        /* of one instance; NULL: none */
    const struct param_table *domain_params; /* per domain, beyond weight and cap; NULL: none */
    const struct param_table *vcpu_params;
    /* Sizes of the private data that the core allocates (zeroed) and frees. */
    size_t data_size, pcpu_size, vcpu_size, domain_size;
    bool ghosts; /* may choose a vCPU that is not runnable (a bug worth keeping) */

    /* Life cycle. All optional except where noted. */
    void (*create)(struct scheduler *s);
    void (*destroy)(struct scheduler *s);
    void (*pcpu_join)(struct scheduler *s, struct pcpu *p);
    void (*pcpu_leave)(struct scheduler *s, struct pcpu *p);
    void (*domain_create)(struct scheduler *s, struct domain *d);
    void (*domain_destroy)(struct scheduler *s, struct domain *d);
    void (*vcpu_create)(struct scheduler *s, struct vcpu *v); /* also for idle vCPUs */
    void (*insert)(struct scheduler *s, struct vcpu *v);
    void (*remove)(struct scheduler *s, struct vcpu *v);
    /* weight or cap of a domain changed: d holds the new values, old ones are given */
    void (*adjust)(struct scheduler *s, struct domain *d, uint32_t old_weight, uint32_t old_cap);
    /* parameters of the scheduler changed at run time: s->params holds the new ones */
    void (*adjust_global)(struct scheduler *s);
    /* parameters of a domain (type ops->domain_params), of a vCPU (type ops->vcpu_params) */
    void (*adjust_domain)(struct scheduler *s, struct domain *d, const void *params);
    void (*adjust_vcpu)(struct scheduler *s, struct vcpu *v, const void *params);
    void (*affinity)(struct scheduler *s, struct vcpu *v);

    /* Scheduling. */
    void (*sleep)(struct scheduler *s, struct vcpu *v);                             /* required */
    void (*wake)(struct scheduler *s, struct vcpu *v);                              /* required */
    void (*yield)(struct scheduler *s, struct vcpu *v);                             /* optional */
    uint32_t (*pick_cpu)(struct scheduler *s, struct vcpu *v);                      /* required */
    void (*migrate)(struct scheduler *s, struct vcpu *v, uint32_t cpu);             /* optional */
    struct decision (*schedule)(struct scheduler *s, struct pcpu *p, sim_time now); /* required */
    /* v was switched out, still marked as running when called */
    void (*context_saved)(struct scheduler *s, struct vcpu *v); /* optional */
    void (*network_event)(struct scheduler *s, struct vcpu *v); /* optional */

    /* For observers: the priority in words ("-" if there is none) and the credit or budget. */
    const char *(*priority)(const struct scheduler *s, const struct vcpu *v);
    int64_t (*credit)(const struct scheduler *s, const struct vcpu *v);
    /* The vCPUs that wait for this pCPU, in the order in which they would be considered, as words:
     * "web/v0 BOOST 12, db/v0 UNDER -3". Optional. */
    void (*queue_text)(const struct scheduler *s, const struct pcpu *p, char *text, size_t size);
    const struct sched_rule *rules; /* up to one without name; NULL: none can be switched off */
    /* Is this the scheduler's periodic tick? (Coinciding ticks are one cause.) Optional. */
    bool (*is_tick)(const struct timer *t);
    /* The state of a vCPU for accounting rows: "active", ...; NULL result: none. Optional. */
    const char *(*account_state)(const struct vcpu *v);
    /* A mark on a vCPU that observers follow (TerrierTail's colour). Optional. */
    char (*color)(const struct vcpu *v);
    /* More of one kind of row: appended to the argument column. Optional. */
    void (*annotate)(const struct scheduler *s, const struct observation *o, char *text,
                     size_t size);
};

enum { SCHEDULER_ABI = 1 };

static inline bool rule_off(const struct scheduler *s, int rule)
{
    return __builtin_expect(s->off >> rule & 1, 0);
}

static inline bool vcpu_runnable(const struct vcpu *v)
{
    return !v->pause_flags && !v->pause_count && !v->domain->pause_count;
}

static inline struct scheduler *vcpu_scheduler(const struct vcpu *v)
{
    return v->domain->pool->scheduler;
}

static inline struct host *vcpu_host(const struct vcpu *v)
{
    return v->domain->host;
}

static inline struct pcpu *vcpu_pcpu(const struct vcpu *v)
{
    return &vcpu_host(v)->pcpu[v->processor];
}

/* How long the current vCPU has run since it was switched in: the run time of ratelimits and of
 * trace records. */
static inline sim_time vcpu_ran(const struct vcpu *v, sim_time now)
{
    return now - (vcpu_host(v)->version < XEN_4_17 ? v->runstate_entry : v->last_switch);
}

/* Ask a pCPU to decide anew, as soon as it has handled what is due now; several requests before
 * it gets to it are one. From another pCPU it takes an IPI. */
void pcpu_reschedule(struct pcpu *p);

/* Change its speed now, in units of 2^-16 of nominal; at any time. */
void pcpu_set_speed(struct pcpu *p, uint32_t speed);

/* Arm a hypervisor timer of the pCPU that executes: fires at `when`, or later by the host's timer
 * latency and slop; at once, but after all else of the present date, if `when` has passed. */
void host_arm(struct host *h, struct timer *t, sim_time when);

/* The same from the timer's own handler, which takes `work` after those before it; the present is
 * taken at its end, so that `when` is later by that. */
void host_rearm(struct host *h, struct timer *t, sim_time when, sim_time work);

/* Let costs that vary do so: the stream of random numbers is keyed by (seed, replication, entity).
 */
void host_vary(struct host *h, uint64_t seed, uint64_t replication, const char *entity);

/* At the start of a timer's handler: must it wait, for its pCPU's turn (turns.h) or for the end of
 * the host's timer slop? It is called again then. */
bool pcpu_defers(struct pcpu *p, struct timer *t);

/* A scheduler broke a rule: note it (the first counts) and stop the host's queue for good. */
void host_fault(struct host *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* At the end of a run: is a vCPU runnable and has not run for `limit`? Then that is a fault too. */
void host_check_forgotten(struct host *h, sim_time limit);

/* ---- building a host --------------------------------------------------------------------------*/

/* A host with pcpu_count pCPUs of nominal speed on the given queue (a machine's). Nothing is
 * scheduled yet. threads_per_core and cores_per_socket (0: all in one socket) set the topology. */
struct host *host_new(struct queue *q, const char *name, uint32_t pcpu_count,
                      uint32_t threads_per_core, uint32_t cores_per_socket,
                      uint32_t sockets_per_node);
void host_free(struct host *h);

/* A pool of no pCPUs yet; params (of the type that ops->params describes, or NULL if the scheduler
 * has none) is copied. */
struct cpupool *host_add_pool(struct host *h, const char *name, const struct sched_ops *ops,
                              const void *params, size_t params_size);

/* The pCPU joins a pool now; its idle vCPU runs. It decides with the next events of this date, or
 * in host_settle(), which carries out all pending reschedules now. */
void pool_add_pcpu(struct cpupool *pool, struct pcpu *p);
void host_settle(struct host *h);

/* A domain of vcpu_count vCPUs, all down, created now. weight 0 stands for the default, 256. */
struct domain *domain_create(struct cpupool *pool, uint32_t id, const char *name, uint32_t weight,
                             uint32_t cap);
struct vcpu *domain_add_vcpu(struct domain *d, const struct guest_ops *guest, void *guest_data);

/* A domain that is created later, at run time: guests, networks and clients may be put together
 * around it and its vCPUs now, but until domain_appear() it is absent, as after its destruction:
 * it has no place with its scheduler, events to it are lost. Then vcpu_appear() for each of its
 * vCPUs in their order; they are down, with the default affinities. */
struct domain *domain_describe(struct cpupool *pool, uint32_t id, const char *name, uint32_t weight,
                               uint32_t cap);
void domain_appear(struct domain *d);
void vcpu_appear(struct vcpu *v);

/* Not there now: not created yet, or destroyed. */
static inline bool domain_gone(const struct domain *d)
{
    return d->absent || d->destroyed;
}

/* Set affinities, first the hard one, as xl does; either may be NULL for no change. Each is a
 * migration, to the same pCPU perhaps, and a wake without boost. */
void vcpu_set_affinity(struct vcpu *v, const cpumask *hard, const cpumask *soft);

/* Recompute soft_effective after the pool's pCPUs changed. */
void vcpu_update_soft_effective(struct vcpu *v);

/* Change weight and cap now (domain_set(d, d->weight, 50) caps at half a pCPU). */
void domain_set(struct domain *d, uint32_t weight, uint32_t cap);

/* ---- entry points at run time ----------------------------------------------------------------*/

void vcpu_start(struct vcpu *v);   /* bring it up */
void vcpu_stop(struct vcpu *v);    /* take it down (unplug, shutdown) */
void vcpu_wake(struct vcpu *v);    /* something that made it not runnable may have ended */
void vcpu_unblock(struct vcpu *v); /* end of a block, if it is in one */
void vcpu_pause(struct vcpu *v);
void vcpu_unpause(struct vcpu *v);
/* All its vCPUs, on the operator's behalf: counted apart from their own pauses. Unpausing what is
 * not paused does nothing. */
void domain_pause(struct domain *d);
void domain_unpause(struct domain *d);
void vcpu_migrate_start(struct vcpu *v);
void vcpu_migrate_finish(struct vcpu *v);

/* Send an event, from host->executing; `network` marks netback's notification of received packets,
 * the only kind that a scheduler is told of (network_event). */
void evtchn_send(struct evtchn *ch, bool network);

/* For guests, from their callbacks: */
void vcpu_compute(struct vcpu *v, sim_time work); /* replaces the burst; SIM_NEVER: for ever */
void vcpu_burst_stop(struct vcpu *v); /* end the burst; v->progress is then up to date */
bool vcpu_block(struct vcpu *v);      /* false: an event is pending, it goes on */
void vcpu_yield(struct vcpu *v);
void vcpu_set_timer(struct vcpu *v, sim_time when); /* SIM_NEVER: off */
struct evtchn *evtchn_take(struct vcpu *v);         /* next pending channel, no longer pending */

/* Totals of a runstate including the running part. */
sim_time vcpu_runstate_time(const struct vcpu *v, enum runstate state);

/* ---- observing -------------------------------------------------------------------------------*/

void host_see(struct host *h, enum observation_kind kind, struct vcpu *v, int64_t a, int64_t b,
              int64_t c, int64_t d);

/* observe(host, KIND, vcpu, up to four arguments): one test when nobody watches. */
#define observe4(h, kind, v, a, b, c, d)                                                           \
    do {                                                                                           \
        if (__builtin_expect((h)->observed >> OBS_##kind & 1, 0))                                  \
            host_see(h, OBS_##kind, v, a, b, c, d);                                                \
    } while (0)
#define observe(h, kind, v) observe4(h, kind, v, 0, 0, 0, 0)
#define observe1(h, kind, v, a) observe4(h, kind, v, a, 0, 0, 0)
#define observe2(h, kind, v, a, b) observe4(h, kind, v, a, b, 0, 0)
#define observe3(h, kind, v, a, b, c) observe4(h, kind, v, a, b, c, 0)

#endif
