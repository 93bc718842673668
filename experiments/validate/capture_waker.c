/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/capture_waker.h"

#include "sim/error.h"

#include <stdlib.h>

struct capture_waker {
    sim_time compute, sleep; /* of a cycle */
    uint32_t report_every;   /* cycles; 0: never */
    sim_time report;         /* its cost to the guest */
    sim_time daemon;         /* ... and to dom0 */
    uint32_t cycles;
    struct evtchn to_dom0, to_guest;
    struct work reading; /* in dom0 */
};

struct waker_thread {
    struct capture_waker *waker;
    bool slept, reports;
};

static struct guest_op waker_next(struct thread *t, sim_time now)
{
    struct waker_thread *s = t->state;
    struct capture_waker *w = s->waker;

    s->slept = !s->slept;
    if (s->slept) {
        if (s->reports)
            evtchn_send(&w->to_dom0, false);
        return (struct guest_op){OP_SLEEP, now + w->sleep};
    }
    s->reports = w->report_every && ++w->cycles % w->report_every == 0;
    return (struct guest_op){OP_COMPUTE, w->compute + (s->reports ? w->report : 0)};
}

static void waker_init(struct thread *t, const void *params)
{
    struct waker_thread *s = t->state;

    s->waker = *(struct capture_waker *const *)params;
    s->slept = true;
}

static const struct program program_waker = {.name = "waker",
                                             .meaning = "Sleeps, computes, now and then reports.",
                                             .state_size = sizeof(struct waker_thread),
                                             .init = waker_init,
                                             .next = waker_next};

/* ---- the console ----------------------------------------------------------------------------- */

static void dom0_told(struct evtchn *ch, sim_time now)
{
    struct capture_waker *w = container_of(ch, struct capture_waker, to_dom0);

    (void)now;
    guest_raise(guest_vcpu_of(ch->vcpu), &w->reading);
}

static sim_time reading_cost(struct work *work, struct guest_vcpu *gv)
{
    (void)gv;
    return container_of(work, struct capture_waker, reading)->daemon;
}

static void have_read(struct work *work, struct guest_vcpu *gv, sim_time now)
{
    (void)gv;
    (void)now;
    evtchn_send(&container_of(work, struct capture_waker, reading)->to_guest, false);
}

/* There is room in the console's ring again: nobody waits for it. */
static void guest_told(struct evtchn *ch, sim_time now)
{
    (void)ch;
    (void)now;
}

struct capture_waker *capture_waker_start(struct guest *g, struct guest *dom0,
                                          const struct capture_guest *cg,
                                          const struct waker_costs *costs)
{
    struct capture_waker *w = xcalloc(1, sizeof *w);

    w->compute = cg->waker_burst + costs->overhead + (cg->waker_reports ? costs->clock : 0);
    w->sleep = cg->waker_sleep;
    w->report_every = cg->waker_reports;
    w->report = costs->report;
    w->daemon = costs->daemon;
    w->to_dom0 = (struct evtchn){.vcpu = dom0->vcpu[0].vcpu, .handler = dom0_told};
    w->to_guest = (struct evtchn){.vcpu = g->vcpu[0].vcpu, .handler = guest_told};
    w->reading = (struct work){.cost = reading_cost, .run = have_read};
    guest_add_thread(&g->vcpu[0], &program_waker, &w, "waker", CLASS_NORMAL, 0);
    return w;
}

void capture_waker_free(struct capture_waker *w)
{
    free(w);
}
