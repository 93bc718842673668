/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host as Linux would trace itself, pCPUs as CPUs and vCPUs as threads: ftrace text with
 * sched_switch and sched_wakeup, for Perfetto's scheduler view and for trace-cmd users.
 */
#include "experiments/traces/traces.h"
#include "sim/error.h"

#include <inttypes.h>
#include <stdlib.h>

struct ftrace {
    struct observer observer;
    FILE *out;
    const struct vcpu **prev; /* per pCPU: who is being switched out */
};

enum { PRIO = 120 }; /* of a normal thread */

/* Thread ids: idle is 0, as in Linux; vCPUs from 1. */
static uint32_t pid_of(const struct vcpu *v)
{
    return v->idle ? 0 : v->index + 1;
}

static const char *comm(const struct vcpu *v, char name[VCPU_NAME])
{
    if (v->idle)
        snprintf(name, VCPU_NAME, "swapper");
    else
        vcpu_name(v, name);
    return name;
}

static void stamp(const struct ftrace *f, const struct observation *o, const struct vcpu *who)
{
    char name[VCPU_NAME];

    fprintf(f->out, "%16.16s-%-5" PRIu32 " [%03" PRIu32 "] d... %5" PRId64 ".%09" PRId64 ": ",
            who->idle ? "<idle>" : vcpu_name(who, name), pid_of(who), o->pcpu, o->time / NS_PER_S,
            o->time % NS_PER_S);
}

static char state_of(const struct vcpu *v)
{
    return v->pause_flags & PAUSE_BLOCKED ? 'S' : vcpu_runnable(v) ? 'R' : 'D';
}

static void see(struct observer *observer, struct host *h, const struct observation *o)
{
    struct ftrace *f = container_of(observer, struct ftrace, observer);
    const struct vcpu *v = o->vcpu, *prev;
    char a[VCPU_NAME], b[VCPU_NAME];

    (void)h;
    switch (o->kind) {
    case OBS_SWITCH_OUT:
        f->prev[o->pcpu] = v;
        break;
    case OBS_SWITCH_IN:
        prev = f->prev[o->pcpu] ? f->prev[o->pcpu] : v;
        stamp(f, o, prev);
        fprintf(f->out,
                "sched_switch: prev_comm=%s prev_pid=%" PRIu32
                " prev_prio=%d prev_state=%c ==> next_comm=%s next_pid=%" PRIu32 " next_prio=%d\n",
                comm(prev, a), pid_of(prev), PRIO, state_of(prev), comm(v, b), pid_of(v), PRIO);
        break;
    default: /* a wake */
        if (vcpu_runnable(v)) {
            stamp(f, o, h->pcpu[o->pcpu].current ? h->pcpu[o->pcpu].current : v);
            fprintf(f->out,
                    "sched_wakeup: comm=%s pid=%" PRIu32 " prio=%d target_cpu=%03" PRIu32 "\n",
                    comm(v, a), pid_of(v), PRIO, v->processor);
        }
    }
}

void *ftrace_attach(struct host *h, FILE *out)
{
    struct ftrace *f = xcalloc(1, sizeof *f);

    f->out = out;
    f->prev = xcalloc(h->pcpu_count, sizeof(struct vcpu *));
    f->observer.see = see;
    f->observer.kinds =
        UINT64_C(1) << OBS_SWITCH_OUT | UINT64_C(1) << OBS_SWITCH_IN | UINT64_C(1) << OBS_WAKE;
    fputs("# tracer: nop\n#\n#           TASK-PID    CPU#  ||||   TIMESTAMP  FUNCTION\n", out);
    host_observe(h, &f->observer);
    return f;
}

int ftrace_finish(void *writer, struct host *h)
{
    struct ftrace *f = writer;
    int failed = ferror(f->out) ? -1 : 0;

    (void)h;
    free(f->prev);
    free(f);
    return failed;
}
