/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Paje: a host with its pCPUs (state: which vCPU runs) and its domains' vCPUs (state: runstate),
 * for ViTE and PajeNG. Times in seconds with nanosecond digits.
 */
#include "experiments/traces/traces.h"
#include "sim/error.h"

#include <inttypes.h>
#include <stdlib.h>

struct paje {
    struct observer observer;
    FILE *out;
    bool *made; /* vCPU containers, by index */
    uint32_t vcpus;
};

/* Event definitions: number, name, fields. */
static const char definitions[] = "%EventDef PajeDefineContainerType 0\n"
                                  "%  Alias string\n%  Type string\n%  Name string\n%EndEventDef\n"
                                  "%EventDef PajeDefineStateType 1\n"
                                  "%  Alias string\n%  Type string\n%  Name string\n%EndEventDef\n"
                                  "%EventDef PajeCreateContainer 2\n"
                                  "%  Time date\n%  Alias string\n%  Type string\n"
                                  "%  Container string\n%  Name string\n%EndEventDef\n"
                                  "%EventDef PajeDestroyContainer 3\n"
                                  "%  Time date\n%  Type string\n%  Name string\n%EndEventDef\n"
                                  "%EventDef PajeSetState 4\n"
                                  "%  Time date\n%  Type string\n%  Container string\n"
                                  "%  Value string\n%EndEventDef\n"
                                  "0 H 0 Host\n0 P H pCPU\n0 V H vCPU\n"
                                  "1 R P Running\n1 S V Runstate\n";

static const char *const state_name[] = {"running", "runnable", "blocked", "offline"};

static void begin(struct paje *p, int event, sim_time now)
{
    fprintf(p->out, "%d %" PRId64 ".%09" PRId64 " ", event, now / NS_PER_S, now % NS_PER_S);
}

static void make_vcpu(struct paje *p, const struct vcpu *v, sim_time now)
{
    char name[VCPU_NAME];

    if (v->index >= p->vcpus) {
        p->made = xrealloc(p->made, v->index + 1);
        for (; p->vcpus <= v->index; p->vcpus++)
            p->made[p->vcpus] = false;
    }
    if (p->made[v->index])
        return;
    p->made[v->index] = true;
    begin(p, 2, now);
    fprintf(p->out, "v%" PRIu32 " V h \"%s\"\n", v->index, vcpu_name(v, name));
    begin(p, 4, now);
    fprintf(p->out, "S v%" PRIu32 " %s\n", v->index, state_name[v->runstate]);
}

static void see(struct observer *observer, struct host *h, const struct observation *o)
{
    struct paje *p = container_of(observer, struct paje, observer);
    char name[VCPU_NAME];

    (void)h;
    if (o->kind == OBS_SWITCH_IN) {
        begin(p, 4, o->time);
        fprintf(p->out, "R p%" PRIu32 " \"%s\"\n", o->pcpu, vcpu_name(o->vcpu, name));
    } else if (!o->vcpu->idle) {
        make_vcpu(p, o->vcpu, o->time);
        begin(p, 4, o->time);
        fprintf(p->out, "S v%" PRIu32 " %s\n", o->vcpu->index, state_name[o->arg[1]]);
    }
}

void *paje_attach(struct host *h, FILE *out)
{
    struct paje *p = xcalloc(1, sizeof *p);

    p->out = out;
    p->observer.see = see;
    p->observer.kinds = UINT64_C(1) << OBS_SWITCH_IN | UINT64_C(1) << OBS_RUNSTATE;
    fputs(definitions, out);
    begin(p, 2, 0);
    fprintf(out, "h H 0 \"%s\"\n", h->name);
    for (uint32_t c = 0; c < h->pcpu_count; c++) {
        begin(p, 2, 0);
        fprintf(out, "p%" PRIu32 " P h \"pCPU %" PRIu32 "\"\n", c, c);
        begin(p, 4, 0);
        fprintf(out, "R p%" PRIu32 " \"idle\"\n", c);
    }
    host_observe(h, &p->observer);
    return p;
}

int paje_finish(void *writer, struct host *h)
{
    struct paje *p = writer;
    sim_time now = h->queue->now;
    int failed;

    for (uint32_t i = 0; i < p->vcpus; i++)
        if (p->made[i]) {
            begin(p, 3, now);
            fprintf(p->out, "V v%" PRIu32 "\n", i);
        }
    for (uint32_t c = 0; c < h->pcpu_count; c++) {
        begin(p, 3, now);
        fprintf(p->out, "P p%" PRIu32 "\n", c);
    }
    begin(p, 3, now);
    fprintf(p->out, "H h\n");
    failed = ferror(p->out) ? -1 : 0;
    free(p->made);
    free(p);
    return failed;
}
