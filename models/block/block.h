/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Block devices of guests: blkfront in the guest, blkback in dom0, a disk that they share.
 *
 * A program submits a request (its cost in the program's context); blkfront puts it on the ring of
 * its device and sends an event unless blkback is awake; blkback, a kernel thread of dom0 for each
 * device, scheduled like any other, maps its pages and hands it to the disk; the disk's interrupt
 * has dom0's softirq answer it; the answer's event, an ordinary one, has blkfront complete it.
 * Requests that find the ring full wait in the guest.
 *
 *     struct host_block *b = host_block_new(dom0, &params);       // struct block_params:
 * block_table struct vbd *v = host_block_add(b, guest, &vbd_params, "xen1/vm3/disk", seed,
 * replication);
 *     ... program_site.vbd = v for programs that use a disk
 *     host_block_free(b) before the guests
 */
#ifndef HVSIM_BLOCK_BLOCK_H
#define HVSIM_BLOCK_BLOCK_H

#include "models/block/disk.h"
#include "models/guest/guest.h"
#include "sim/histogram.h"
#include "sim/random.h"

/* The host's side. */
struct block_params {
    struct disk_params disk;
    int64_t irq_vcpu;   /* dom0's vCPU that gets the disk's interrupts */
    sim_time interrupt; /* dom0: the disk's interrupt */
    sim_time complete;  /* dom0's softirq: each completed request, unmapping included */
    sim_time request;   /* blkback's thread: each request */
    sim_time page;      /* blkback's thread: mapping each page */
    sim_time notify;    /* event-channel hypercall */
};
extern const struct param_table block_table;

/* A guest's side. */
struct vbd_params {
    int64_t ring;       /* requests */
    int64_t vcpu;       /* the guest's vCPU that gets its interrupts */
    sim_time submit;    /* in the program's context: file system, block layer, ring */
    sim_time page;      /* and for each page */
    sim_time interrupt; /* handling of an event */
    sim_time complete;  /* interrupt: each completed request */
};
extern const struct param_table vbd_table;

struct vbd_counts {
    uint64_t reads, writes, bytes_read, bytes_written; /* completed */
    uint64_t bytes_measured; /* both, within the time of host_block_measure() */
    uint64_t events;         /* to dom0 */
    uint64_t notifications;  /* to the guest */
};

struct vbd {
    struct host_block *host;
    struct guest_vcpu *back, *front;
    struct vbd_params params;
    struct vbd_counts counts;
    struct histogram *latency; /* takes the time of each request completed within the time of
                                  host_block_measure(); the owner's; NULL: nobody wants it */
    struct rng rng;            /* service times */

    struct block_list waiting; /* for room in the ring */
    struct block_list ring;    /* for blkback */
    struct block_list answers; /* for blkfront */
    uint32_t used;             /* places of the ring */
    struct thread *thread;     /* blkback's */
    struct block_request *mapping;
    bool back_wanted, front_wanted; /* events */
    struct evtchn request_event;    /* to dom0 */
    struct evtchn answer_event;     /* to the guest */
    struct vbd *next;
};

struct host_block {
    struct guest *dom0;
    struct block_params params;
    struct disk disk;
    struct guest_vcpu *gv;
    struct evtchn irq;
    struct work softirq;
    struct block_list done; /* by the disk */
    uint32_t batch;
    struct vbd *vbds;
    uint32_t count;
    sim_time from, until; /* measured */
};

/* params' distributions are the caller's and must live as long. */
struct host_block *host_block_new(struct guest *dom0, const struct block_params *params);
struct vbd *host_block_add(struct host_block *b, struct guest *guest,
                           const struct vbd_params *params, const char *entity, uint64_t seed,
                           uint64_t replication);
void host_block_measure(struct host_block *b, sim_time from, sim_time until);
void host_block_free(struct host_block *b);

/* Submit a request from a program: bytes, write, done and user are set. The request is the
 * caller's memory; it must not be touched until `done`. */
void vbd_submit(struct vbd *v, struct block_request *r, sim_time now);
sim_time vbd_submit_cost(const struct vbd *v, uint32_t bytes);

#endif
