/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dom0's half of block devices, and the disk's driver: see block.h. */
#include "models/block/block_inside.h"
#include "sim/error.h"

#include <stdlib.h>

static const struct param block_rows[] = {
    {PARAM("disk", OBJECT, struct block_params, disk), .def = "{}", .table = &disk_table,
     .meaning = "The disk that all guests share."},
    {PARAM("irq_vcpu", INTEGER, struct block_params, irq_vcpu), .def = "0", .min = "0",
     .max = "4095", .meaning = "dom0's vCPU that gets the disk's interrupts.",
     .source = "Linux without irqbalance", .status = STATUS_CITED},
    {PARAM("interrupt", DURATION, struct block_params, interrupt), .def = "2us", .max = "1ms",
     .meaning = "dom0: the disk's interrupt.", .status = STATUS_ASSUMED},
    {PARAM("complete", DURATION, struct block_params, complete), .def = "5us", .max = "1ms",
     .meaning = "dom0's softirq: each completed request, with unmapping and the answer.",
     .status = STATUS_ASSUMED},
    {PARAM("request", DURATION, struct block_params, request), .def = "8us", .max = "1ms",
     .meaning = "blkback's thread: each request, with dom0's block layer and driver.",
     .status = STATUS_ASSUMED},
    {PARAM("page", DURATION, struct block_params, page), .def = "0.8us", .max = "1ms",
     .meaning = "blkback's thread: mapping each page.", .status = STATUS_ASSUMED},
    {PARAM("notify", DURATION, struct block_params, notify), .def = "0.6us", .max = "1ms",
     .meaning = "Hypercall that sends an event.",
     .source = "assumed; 1228 cycles of 2.1 GHz for a hypercall are remembered from Dall et al., "
               "ISCA 2016",
     .status = STATUS_ASSUMED},
};

const struct param_table block_table =
    PARAM_TABLE("host block", struct block_params, block_rows,
                .meaning = "The disk of a Xen host and dom0's work for it.");

/* ---- requests to the disk -------------------------------------------------------------------- */

static void request_interrupt(struct evtchn *ch, sim_time now)
{
    thread_wake(container_of(ch, struct vbd, request_event)->thread, now);
}

static struct guest_op blkback_next(struct thread *t, sim_time now)
{
    struct vbd *v = t->user_data;
    const struct block_params *c = &v->host->params;

    if (v->mapping)
        disk_submit(&v->host->disk, v->mapping, now);
    v->mapping = blocks_take(&v->ring);
    if (v->mapping)
        return (struct guest_op){OP_COMPUTE, c->request + block_pages(v->mapping->bytes) * c->page};
    v->back_wanted = true;
    return (struct guest_op){OP_WAIT, 0};
}

static const struct program program_blkback = {
    .name = "blkback", .meaning = "Hands a guest's requests to the disk.", .next = blkback_next};

void blkback_init(struct vbd *v)
{
    blocks_init(&v->ring);
    v->request_event = (struct evtchn){.vcpu = v->back->vcpu, .handler = request_interrupt};
    v->thread = guest_add_thread(v->back, &program_blkback, NULL, "blkback", CLASS_NORMAL, 0);
    v->thread->user_data = v;
}

/* ---- answers from the disk ------------------------------------------------------------------- */

static void disk_done(struct disk *d, struct block_request *r, sim_time now)
{
    struct host_block *b = d->owner;
    struct vcpu *v = b->gv->vcpu;
    struct host *h = vcpu_host(v);
    uint32_t executing = h->executing;

    (void)now;
    blocks_add(&b->done, r);
    h->executing = v->processor;
    evtchn_send(&b->irq, false);
    h->executing = executing;
}

static void disk_interrupt(struct evtchn *ch, sim_time now)
{
    struct host_block *b = container_of(ch, struct host_block, irq);

    (void)now;
    guest_spend(b->gv, b->params.interrupt);
    guest_raise(b->gv, &b->softirq);
}

static sim_time softirq_cost(struct work *w, struct guest_vcpu *gv)
{
    struct host_block *b = container_of(w, struct host_block, softirq);
    sim_time cost = 0;

    (void)gv;
    b->batch = b->done.count;
    for (const struct block_request *r = b->done.first; r; r = r->next)
        cost += b->params.complete + (r->vbd->front_wanted ? b->params.notify : 0);
    return cost;
}

static void softirq_run(struct work *w, struct guest_vcpu *gv, sim_time now)
{
    struct host_block *b = container_of(w, struct host_block, softirq);

    (void)gv;
    (void)now;
    for (; b->batch; b->batch--) {
        struct block_request *r = blocks_take(&b->done);
        struct vbd *v = r->vbd;

        blocks_add(&v->answers, r);
        if (!v->front_wanted)
            continue;
        v->front_wanted = false;
        v->counts.notifications++;
        evtchn_send(&v->answer_event, false);
    }
    if (b->done.count)
        guest_raise(b->gv, &b->softirq);
}

/* ---- building -------------------------------------------------------------------------------- */

struct host_block *host_block_new(struct guest *dom0, const struct block_params *params)
{
    struct host_block *b = xcalloc(1, sizeof *b);

    b->dom0 = dom0;
    b->params = *params;
    b->gv = &dom0->vcpu[(uint32_t)params->irq_vcpu % dom0->domain->vcpu_count];
    b->irq = (struct evtchn){.vcpu = b->gv->vcpu, .handler = disk_interrupt};
    b->softirq = (struct work){.cost = softirq_cost, .run = softirq_run};
    blocks_init(&b->done);
    disk_init(&b->disk, dom0->domain->host->queue, &b->params.disk, disk_done, b);
    return b;
}

struct vbd *host_block_add(struct host_block *b, struct guest *guest,
                           const struct vbd_params *params, const char *entity, uint64_t seed,
                           uint64_t replication)
{
    struct vbd *v = xcalloc(1, sizeof *v);

    v->host = b;
    v->params = *params;
    v->back = &b->dom0->vcpu[b->count++ % b->dom0->domain->vcpu_count];
    v->front = &guest->vcpu[(uint32_t)params->vcpu % guest->domain->vcpu_count];
    rng_init(&v->rng, seed, replication, entity, "service time of the disk");
    blkback_init(v);
    blkfront_init(v);
    v->next = b->vbds;
    b->vbds = v;
    return v;
}

void host_block_measure(struct host_block *b, sim_time from, sim_time until)
{
    b->from = from;
    b->until = until;
}

void host_block_free(struct host_block *b)
{
    disk_release(&b->disk);
    while (b->vbds) {
        struct vbd *v = b->vbds;

        b->vbds = v->next;
        free(v);
    }
    free(b);
}
