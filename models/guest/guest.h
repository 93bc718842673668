/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guest kernel of a domain: upcalls, interrupt work, threads and the programs they run.
 *
 * On each vCPU, interrupt work (softirq) goes first, then the threads. Interrupt work that goes on
 * for too long without a break while threads wait becomes a thread itself, until there is none left
 * (ksoftirqd). A vCPU with neither sets its timer and blocks. The hypervisor may take the pCPU away
 * at any time; the kernel does not notice.
 *
 * Threads are scheduled in three classes as in Linux: SCHED_FIFO by priority, SCHED_NORMAL by
 * virtual run time with wake-up preemption (the rules of Linux's CFS before 6.6, see guest.c), and
 * SCHED_IDLE when there is nothing else.
 *
 * A program is a state machine: asked for its next operation whenever the last one is complete.
 * Adding one is a row in the table of workloads/programs.c.
 */
#ifndef HVSIM_GUEST_GUEST_H
#define HVSIM_GUEST_GUEST_H

#include "models/hypervisor/hypervisor.h"
#include "sim/params.h"
#include "sim/random.h"

struct guest;
struct guest_vcpu;
struct thread;
struct work;

enum guest_op_kind {
    OP_COMPUTE, /* for arg ns of CPU time; SIM_NEVER: without end */
    OP_SLEEP,   /* until the date arg */
    OP_DEFER,   /* until the first tick that comes from the date arg on: Linux's deferrable timers,
                   which wake no idle CPU. Where ticks do not interrupt it is an OP_SLEEP. */
    OP_WAIT,    /* until thread_wake(), or until the date arg if that is above 0 */
    OP_YIELD,   /* SCHEDOP_yield: give up the pCPU, stay runnable */
    OP_EXIT     /* the thread ends */
};

struct guest_op {
    enum guest_op_kind kind;
    sim_time arg;
};

struct program {
    const char *name;
    const char *meaning;
    const struct param_table *params; /* of the `params` that init gets; NULL: none */
    size_t state_size;                /* zeroed memory at thread->state */
    void (*init)(struct thread *t, const void *params); /* may be NULL */
    struct guest_op (*next)(struct thread *t, sim_time now);
    /* An event for the thread, first sent at `since`; may be NULL. */
    void (*event)(struct thread *t, sim_time since, sim_time now);
    void (*release)(struct thread *t); /* free what its state points to; may be NULL */
};

enum thread_class { CLASS_FIFO, CLASS_NORMAL, CLASS_IDLE };

struct thread {
    struct list run; /* in its vCPU's queue while runnable and not current */
    struct list sleep;
    struct guest_vcpu *gv;
    const struct program *program;
    void *state;
    const char *name;
    struct guest_op op; /* the operation it is in */
    sim_time left;      /* of an OP_COMPUTE, up to date while the thread is not current */
    sim_time wake_at;   /* of an OP_SLEEP or OP_DEFER, or of an OP_WAIT with a date */
    sim_time vruntime;
    sim_time cpu_time; /* received so far, up to date while not current */
    enum thread_class class;
    uint8_t priority;       /* CLASS_FIFO: higher first */
    bool ready;             /* its operation is complete, or it computes */
    struct thread *next;    /* in the guest's list of all */
    struct thread *sibling; /* next of the same program's threads */
    uint32_t user;          /* for the program's owner */
    void *user_data;
};

/* Interrupt work: `cost` of CPU time, then `run`. Embedded in its owner; queued at most once. */
struct work {
    struct work *next;
    bool queued;
    sim_time (*cost)(struct work *w, struct guest_vcpu *gv); /* asked for when it begins */
    void (*run)(struct work *w, struct guest_vcpu *gv, sim_time now);
};

struct guest_costs {
    sim_time upcall;        /* from the upcall to the first handler, paid once per upcall */
    sim_time timer;         /* timer interrupt */
    sim_time thread_switch; /* between threads */
    sim_time idle_enter;    /* from the last thread's block to the hypercall */
    sim_time idle_exit;     /* from being switched in after a block to the first work */
    sim_time
        softirq_limit;  /* interrupt work that goes on for longer is left to a thread; 0: never */
    int64_t jitter;     /* of the kernel's costs, in units of sim/units.h's percent */
    sim_time tick;      /* the guest's own tick: granularity of preemption between threads */
    bool idle_tick;     /* one tick more comes after the vCPU has gone idle */
    bool busy_tick;     /* the tick interrupts the vCPU while it is not idle, and counts its time */
    sim_time tick_work; /* ... and does so much beyond */
    sim_time tick_restart; /* leaving idle when the tick has stopped */
};

extern const struct param_table guest_cost_table;

struct guest_vcpu {
    struct guest *guest;
    struct vcpu *vcpu;
    struct thread *current;
    struct list runq;     /* runnable threads that wait for this vCPU */
    struct list sleepers; /* by wake_at, then by arrival */
    struct list lazy;     /* the same, of those in OP_DEFER */
    struct work *work_first, **work_last;
    struct work *working;     /* whose cost is being paid */
    sim_time work_time;       /* of interrupt work without a break */
    struct thread *ksoftirqd; /* NULL until it is first needed */
    bool deferred;            /* it has the interrupt work now */
    sim_time kernel_left;     /* time of the kernel's own still to be paid before anything else */
    sim_time working_left;    /* of the work's cost, while interrupted */
    sim_time timer_set;       /* what the singleshot timer is set to; SIM_NEVER off */
    sim_time tick_at;         /* the next tick, if idle_tick or busy_tick; SIM_NEVER: none */
    sim_time tick_phase; /* its dates are this plus multiples of costs.tick; -1: not known yet */
    uint64_t busy_ticks; /* that found a thread running */
    sim_time min_vruntime;
    sim_time progress;   /* of the vCPU, as far as it is booked */
    sim_time slice_left; /* of the current thread's turn */
    uint8_t doing;       /* what the vCPU's burst is for */
    bool idling;         /* on its way to block */
    bool tick_stopped;   /* it has gone idle without a tick to come */
    bool halted;         /* it has blocked, and no upcall has come since */
    struct rng rng;      /* for costs that vary */
    bool inside;         /* the kernel is at work on it at this moment of the simulation */
    struct evtchn ipi;   /* from the guest's other vCPUs */
    uint32_t runnable;   /* threads in runq */
};

struct guest {
    struct domain *domain;
    struct guest_vcpu *vcpu;
    struct thread *threads;
    struct guest_costs costs;
    bool varies; /* guest_vary() was called */
};

/* CPU time of all its threads as the guest's own kernel knows it: as many ticks as found one
 * running, if costs.busy_tick; else what its vCPUs have really run. */
sim_time guest_busy_time(const struct guest *g);

/* The operations that a guest's vCPUs are created with; guest_data is its struct guest_vcpu. */
extern const struct guest_ops guest_ops;

/* A kernel for a domain that will have `vcpus` vCPUs; create them with guest_add_vcpu. */
struct guest *guest_new(struct domain *d, uint32_t vcpus);
struct vcpu *guest_add_vcpu(struct guest *g);
void guest_free(struct guest *g);

/* Let the kernel's costs vary by costs.jitter, drawn from streams of this key. After its vCPUs were
 * added; without this call they are constant. */
void guest_vary(struct guest *g, uint64_t seed, uint64_t replication, const char *entity);

/* A thread on a vCPU, ready to run when the vCPU starts. params: what program->params describes. */
struct thread *guest_add_thread(struct guest_vcpu *gv, const struct program *program,
                                const void *params, const char *name, enum thread_class class,
                                uint8_t priority);

/* The same for one that waits already (OP_WAIT), as a daemon that has started long before. */
struct thread *guest_add_sleeper(struct guest_vcpu *gv, const struct program *program,
                                 const void *params, const char *name, enum thread_class class,
                                 uint8_t priority);

/* End an OP_WAIT; harmless if the thread is in none. From programs, handlers and work. */
void thread_wake(struct thread *t, sim_time now);

/* Queue interrupt work; if it is already queued nothing happens. From handlers, work, programs. */
void guest_raise(struct guest_vcpu *gv, struct work *w);

/* From a handler: it costs this much kernel time, paid before anything else. */
static inline void guest_spend(struct guest_vcpu *gv, sim_time cost)
{
    gv->kernel_left += cost;
}

/* The kernel's data of a vCPU that was made by guest_add_vcpu. */
static inline struct guest_vcpu *guest_vcpu_of(const struct vcpu *v)
{
    return v->guest_data;
}

static inline struct vcpu *thread_vcpu(const struct thread *t)
{
    return t->gv->vcpu;
}

#endif
