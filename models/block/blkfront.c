/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guest's half of the block device: see block.h. */
#include "models/block/block_inside.h"

static const struct param vbd_rows[] = {
    {PARAM("ring", INTEGER, struct vbd_params, ring), .def = "32", .min = "1", .max = "4096",
     .meaning = "Requests that the ring holds.",
     .source = "Xen's blkif.h: as many as fit on a page", .status = STATUS_EXACT},
    {PARAM("vcpu", INTEGER, struct vbd_params, vcpu), .def = "0", .min = "0", .max = "4095",
     .meaning = "The guest's vCPU that gets its interrupts (modulo their number).",
     .source = "Linux without irqbalance", .status = STATUS_CITED},
    {PARAM("submit", DURATION, struct vbd_params, submit), .def = "10us", .max = "1ms",
     .meaning = "Submitting a request: system call, file system, block layer, ring.",
     .status = STATUS_ASSUMED},
    {PARAM("page", DURATION, struct vbd_params, page), .def = "0.5us", .max = "1ms",
     .meaning = "The same for each page.", .status = STATUS_ASSUMED},
    {PARAM("interrupt", DURATION, struct vbd_params, interrupt), .def = "1us", .max = "1ms",
     .meaning = "Handling of an event, after the upcall.", .status = STATUS_ASSUMED},
    {PARAM("complete", DURATION, struct vbd_params, complete), .def = "4us", .max = "1ms",
     .meaning = "Interrupt: completing a request and waking who waits.", .status = STATUS_ASSUMED},
};

const struct param_table vbd_table =
    PARAM_TABLE("vbd", struct vbd_params, vbd_rows, .meaning = "A guest's block device.");

/* Move what fits to the ring, and tell blkback. */
static void to_ring(struct vbd *v)
{
    while (v->waiting.count && v->used < v->params.ring) {
        v->used++;
        blocks_add(&v->ring, blocks_take(&v->waiting));
    }
    if (!v->ring.count || !v->back_wanted)
        return;
    v->back_wanted = false;
    v->counts.events++;
    evtchn_send(&v->request_event, false);
}

void vbd_submit(struct vbd *v, struct block_request *r, sim_time now)
{
    const struct disk_params *d = &v->host->params.disk;

    r->vbd = v;
    r->submitted = now;
    r->service = dist_draw_time(r->write ? &d->write : &d->read, &v->rng);
    blocks_add(&v->waiting, r);
    to_ring(v);
}

sim_time vbd_submit_cost(const struct vbd *v, uint32_t bytes)
{
    return v->params.submit + block_pages(bytes) * v->params.page +
           (v->back_wanted ? v->host->params.notify : 0);
}

static void complete(struct vbd *v, struct block_request *r, sim_time now)
{
    v->used--;
    r->completed = now;
    if (now >= v->host->from && now < v->host->until) {
        v->counts.bytes_measured += r->bytes;
        if (v->latency)
            histogram_record(v->latency, now - r->submitted);
    }
    if (r->write) {
        v->counts.writes++;
        v->counts.bytes_written += r->bytes;
    } else {
        v->counts.reads++;
        v->counts.bytes_read += r->bytes;
    }
    r->done(r, now);
}

static void answer_interrupt(struct evtchn *ch, sim_time now)
{
    struct vbd *v = container_of(ch, struct vbd, answer_event);

    guest_spend(v->front, v->params.interrupt + v->answers.count * v->params.complete);
    for (struct block_request *r; (r = blocks_take(&v->answers));)
        complete(v, r, now);
    v->front_wanted = true;
    to_ring(v);
}

void blkfront_init(struct vbd *v)
{
    blocks_init(&v->waiting);
    blocks_init(&v->answers);
    v->answer_event = (struct evtchn){.vcpu = v->front->vcpu, .handler = answer_interrupt};
    v->front_wanted = true;
}
