/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/*
 * Between the parts of the harness: what plays the hypervisor (machine.c), what the vCPUs do
 * (guest.c), what is written down (rows.c), the scenario (scenario.c), and the files that include
 * Xen's (wrap_*.c), which alone see the schedulers' own data.
 */
#ifndef DIFFERENTIAL_GLUE_H
#define DIFFERENTIAL_GLUE_H

#include "validation/xen/differential/shim.h"

#include <cjson/cJSON.h>

enum { MAX_POOLS = 8, MAX_VCPUS = 256, MAX_TIMERS = 4 * MAX_VCPUS };

/* ---- wrap_*.c -------------------------------------------------------------------------------- */

/* Of a vCPU: priority, credit, and what accounting thinks of it. */
struct look {
    const char *prio;
    long credit;
    const char *acct;
};
void credit_look(struct vcpu *v, struct look *l);
void credit2_look(struct vcpu *v, struct look *l);
void rt_look(struct vcpu *v, struct look *l);

/* balance, weight, credit; of the instance that accounting is told */
void credit_acct_numbers(const void *instance, long numbers[3]);
extern void (*const credit_tick_fn)(void *), (*const credit_acct_fn)(void *);

void shim_select(const char *scheduler);
const char *shim_scheduler_of(const struct domain *d);
const char *shim_pool_scheduler(unsigned int pool);
void shim_cpu_up(unsigned int cpu);
void shim_pool_init(unsigned int pool, const char *scheduler);
void shim_pool_add(unsigned int pool, unsigned int cpu);
void shim_move(struct domain *d, unsigned int pool);
int shim_set_soft_affinity(struct vcpu *v, const cpumask_t *m);
int shim_adjust(struct domain *d, struct xen_domctl_scheduler_op *op, bool record);
int shim_adjust_pool(unsigned int pool, struct xen_sysctl_scheduler_op *op);

/* ---- machine.c ------------------------------------------------------------------------------- */

extern bool in_accounting, moving;
extern cpumask_t cpupool_free_cpus;

/* The first timer, or NULL. */
struct timer *first_timer(void);
/* Timers due at a date: Credit's ticks, and others. */
void count_timers(s_time_t date, int *ticks, int *others);

/* Handle pending reschedules until there is none. False: there was none. */
bool settle(void);

/* ---- guest.c --------------------------------------------------------------------------------- */

double num(const cJSON *o, const char *k, double otherwise);
s_time_t micros(const cJSON *o, const char *k); /* rounded to ns */
const char *text(const cJSON *o, const char *k);

void guest_new(struct vcpu *v, s_time_t start, const cJSON *behaviour);
s_time_t guest_start(const struct vcpu *v);
void guest_event(struct vcpu *v);
/* It is taken off, or put on, a pCPU now. */
void guest_switched(struct vcpu *prev, struct vcpu *next);
/* When its burst ends, if it goes on running. */
s_time_t guest_burst_end(const struct vcpu *v);
/* If its burst is complete, it does what comes next. False: it is not. */
bool guest_acts(struct vcpu *v);

/* ---- rows.c ---------------------------------------------------------------------------------- */

extern struct vcpu *vcpus[MAX_VCPUS]; /* of all domains, in order of creation */
extern int vcpu_count;
extern bool rows_on;
extern FILE *out, *binary; /* binary may be NULL */

struct vcpu *find(unsigned int dom, unsigned int id);
/* The columns up to the last but one. */
void row(const char *event, struct vcpu *v);
void plain(const char *event, struct vcpu *v);
void account_rows(const void *instance);
void final_rows(void);
/* A handler is done: who has been moved? */
void handled(void);
void rows_begin(void); /* all vCPUs exist */
void binary_finish(void);

#endif
