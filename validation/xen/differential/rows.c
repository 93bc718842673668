/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-only */
/* Xen's trace records as the rows of a reference schedule, and as the binary trace they are. */
#include "validation/xen/differential/glue.h"

/* ---- rows ------------------------------------------------------------------------------------ */

struct vcpu *vcpus[MAX_VCPUS];
int vcpu_count;
bool rows_on;
FILE *out, *binary;

static int shadow[MAX_VCPUS];

static void look(struct vcpu *v, struct look *l)
{
    *l = (struct look){"-", 0, NULL};
    if (is_idle_vcpu(v))
        l->prio = "IDLE";
    else if (!strcmp(shim_scheduler_of(v->domain), "credit"))
        credit_look(v, l);
    else if (!strcmp(shim_scheduler_of(v->domain), "credit2"))
        credit2_look(v, l);
    else if (!strcmp(shim_scheduler_of(v->domain), "rtds"))
        rt_look(v, l);
}

void row(const char *event, struct vcpu *v)
{
    struct look l;

    fprintf(out, "%ld,%s,%u,", (long)shim_now, event, shim_cpu);
    if (!v) {
        fputs(",,,,,", out);
        return;
    }
    look(v, &l);
    fprintf(out, "%u,%d,%d,%s,%ld,", v->domain->domain_id, v->vcpu_id, v->processor, l.prio,
            l.credit);
}

struct vcpu *find(unsigned int dom, unsigned int id)
{
    if (dom == DOMID_IDLE)
        return idle_vcpu[id];
    for (int i = 0; i < vcpu_count; i++)
        if (vcpus[i]->domain->domain_id == dom && vcpus[i]->vcpu_id == (int)id)
            return vcpus[i];
    BUG();
}

void plain(const char *event, struct vcpu *v)
{
    row(event, v);
    fputc('\n', out);
}

/* ---- the binary trace ------------------------------------------------------------------------ */

static uint32_t *window[NR_CPUS];
static size_t window_used[NR_CPUS], window_size[NR_CPUS];
static s_time_t next_flush = 100000000;
static uint64_t last_tsc;

static void flush_windows(void)
{
    for (unsigned int c = 0; c < nr_cpu_ids; c++) {
        uint32_t head[3] = {0x2001f003, c, (uint32_t)(4 * window_used[c])};

        if (window_used[c]) {
            fwrite(head, sizeof head, 1, binary);
            fwrite(window[c], 4, window_used[c], binary);
        }
        window_used[c] = 0;
    }
}

static void binary_record(uint32_t event, unsigned int extra, const void *data)
{
    unsigned int c = shim_cpu, words = (extra + 3) / 4;
    uint64_t tsc = (uint64_t)shim_now / 5 * 12 + (uint64_t)shim_now % 5 * 12 / 5;
    uint32_t *w;

    if (shim_now >= next_flush) {
        flush_windows();
        while (next_flush <= shim_now)
            next_flush += 100000000;
    }
    if (window_size[c] < window_used[c] + 16)
        window[c] = realloc(window[c], 4 * (window_size[c] = 2 * window_size[c] + 1024));
    last_tsc = tsc > last_tsc ? tsc : last_tsc + 1;
    w = window[c] + window_used[c];
    w[0] = event | words << 28 | 1u << 31;
    w[1] = (uint32_t)last_tsc;
    w[2] = (uint32_t)(last_tsc >> 32);
    for (unsigned int i = 0; i < words; i++)
        w[3 + i] = 0;
    memcpy(w + 3, data, extra);
    window_used[c] += 3 + words;
}

/* Events of schedulers: ids 0 Credit, 1 Credit2, 4 RTDS. */
#define CLASS(id, n) (0x22000u + ((id) << 9) + (n))

void shim_trace(uint32_t event, unsigned int extra, const void *data)
{
    const uint32_t *w = data;

    if (binary)
        binary_record(event, extra, data);
    if (!rows_on)
        return;
    switch (event) {
    case TRC_SCHED_WAKE:
        plain("wake", find(w[0], w[1]));
        return;
    case TRC_SCHED_BLOCK:
        plain("block", find(w[0], w[1]));
        return;
    case TRC_SCHED_YIELD:
        plain("yield", find(w[0], w[1]));
        return;
    case TRC_SCHED_SLEEP:
        plain("sleep", find(w[0], w[1]));
        return;
    case TRC_SCHED_SWITCH_INFPREV: {
        struct vcpu *v = find(w[0], w[1]);

        row("switch_out", v);
        fprintf(out, "ran=%ld\n", (long)(shim_now - (s_time_t)v->sched_unit->state_entry_time));
        return;
    }
    case TRC_SCHED_SWITCH_INFNEXT: {
        struct vcpu *v = find(w[0], w[1]);

        row("switch_in", v);
        fprintf(out, "waited=%ld slice=%ld\n",
                v->runstate.state == RUNSTATE_runnable
                    ? (long)(shim_now - (s_time_t)v->sched_unit->state_entry_time)
                    : 0,
                (long)(int32_t)w[3]);
        return;
    }
    case TRC_SCHED_SWITCH_INFCONT: {
        struct vcpu *v = find(w[0], w[1]);

        if (is_idle_vcpu(v))
            return;
        row("cont", v);
        fprintf(out, "ran=%ld slice=%ld\n",
                (long)(shim_now - (s_time_t)v->runstate.state_entry_time), (long)(int32_t)w[3]);
        return;
    }
    case CLASS(0, 2):
        row("acct_start", find(w[0], w[1]));
        fprintf(out, "active=%u\n", w[2]);
        return;
    case CLASS(0, 3):
        row("acct_stop", find(w[0], w[1]));
        fprintf(out, "active=%u\n", w[2]);
        return;
    case CLASS(0, 4):
        row("steal", find(w[1], w[2]));
        fprintf(out, "from=%u\n", w[0]);
        return;
    case CLASS(0, 7):
        plain("boost", find(w[0], w[1]));
        return;
    case CLASS(0, 8):
        plain("unboost", find(w[0], w[1]));
        return;
    case CLASS(0, 6):
    case CLASS(1, 6):
    case CLASS(4, 1):
        row("tickle", NULL);
        fprintf(out, "cpu=%u\n", w[0]);
        return;
    }
    switch (event) {
    case CLASS(0, 10):
    case CLASS(1, 22):
        row("ratelimit", find(w[0] >> 16, w[0] & 0xffff));
        fprintf(out, "ran=%u\n", w[1]);
        return;
    case CLASS(1, 7):
        row("reset", find(w[0] >> 16, w[0] & 0xffff));
        fprintf(out, "from=%d to=%d\n", (int)w[1], (int)w[2]);
        return;
    case CLASS(1, 15):
        row("rq_migrate", find(w[0] >> 16, w[0] & 0xffff));
        fprintf(out, "rq=%u to=%u\n", w[1] & 0xffff, w[1] >> 16);
        return;
    case CLASS(4, 4):
        plain("replenish", find(w[0] >> 16, w[0] & 0xffff));
        return;
    }
}

void handled(void)
{
    for (int i = 0; i < vcpu_count; i++)
        if (vcpus[i]->processor != shadow[i]) {
            row("migrate", vcpus[i]);
            fprintf(out, "from=%d to=%d\n", shadow[i], vcpus[i]->processor);
            shadow[i] = vcpus[i]->processor;
        }
}

void account_rows(const void *instance)
{
    long n[3];

    credit_acct_numbers(instance, n);
    row("acct", NULL);
    fprintf(out, "balance=%ld weight=%ld credit=%ld\n", n[0], n[1], n[2]);
    for (int i = 0; i < vcpu_count; i++) {
        struct look l;

        look(vcpus[i], &l);
        if (test_bit(_VPF_down, &vcpus[i]->pause_flags) || !l.acct)
            continue;
        row("acct_v", vcpus[i]);
        fprintf(out, "%s\n", l.acct);
    }
}

void final_rows(void)
{
    for (int i = 0; i < vcpu_count; i++) {
        struct vcpu_runstate_info r;

        vcpu_runstate_get(vcpus[i], &r);
        row("final", vcpus[i]);
        fprintf(out, "running=%lu runnable=%lu blocked=%lu offline=%lu\n", (unsigned long)r.time[0],
                (unsigned long)r.time[1], (unsigned long)r.time[2], (unsigned long)r.time[3]);
    }
}

void rows_begin(void)
{
    fputs("time_ns,event,pcpu,dom,vcpu,vproc,prio,credit,arg\n", out);
    for (int i = 0; i < vcpu_count; i++) {
        shadow[i] = vcpus[i]->processor;
        plain("placed", vcpus[i]);
    }
    rows_on = true;
}

void binary_finish(void)
{
    if (!binary)
        return;
    flush_windows();
    fclose(binary);
}
