/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the latency of requests was spent: the mean of each part, for every range of latencies, so
 * that "of the requests above p99.9, 71 % of the time is vCPU wait" can be said afterwards, and of
 * several runs together (merging is exact).
 */
#ifndef HVSIM_WORKLOADS_BREAKDOWN_H
#define HVSIM_WORKLOADS_BREAKDOWN_H

#include "models/net/packet.h"
#include "sim/json_writer.h"

#include <stdint.h>

/* X(NAME, name, meaning) in the order of the way */
#define BREAKDOWN_PARTS(X)                                                                         \
    X(CLIENT, "client", "the client's own work and delays, both ways")                             \
    X(WIRE, "wire", "lines and latency of the network, both ways")                                 \
    X(NIC, "NIC", "held back by interrupt moderation")                                             \
    X(DOM0_WAIT, "dom0 wait", "dom0's vCPUs wait for a pCPU, on the way in")                       \
    X(DOM0, "dom0", "dom0's work and queues, on the way in")                                       \
    X(VCPU_WAIT, "vCPU wait", "the guest's vCPU waits for a pCPU, before and in the service")      \
    X(GUEST, "guest", "the guest's interrupts, queues and other threads, before the service")      \
    X(SERVICE, "service", "the server's thread, system calls included")                            \
    X(BACK_WAIT, "back: dom0 wait", "dom0's vCPUs wait for a pCPU, on the way back")               \
    X(BACK, "back: dom0", "dom0's work and queues, on the way back")                               \
    X(LOST, "lost", "time until the copy that got through was sent")

enum part {
#define X(name, ...) PART_##name,
    BREAKDOWN_PARTS(X)
#undef X
        PARTS
};

struct part_name {
    const char *name, *meaning;
};
extern const struct part_name part_names[PARTS];

/* "parts": [{name, meaning} ...], for pages that show them. */
void parts_put_names(struct json_writer *w);

/* Ranges of latencies are the buckets of a histogram of 2^-4 relative width. */
struct breakdown_cell {
    uint64_t count;
    int64_t sum[PARTS]; /* ns */
};

struct breakdown {
    struct breakdown_cell *cell;
    uint32_t cells;
};

void breakdown_init(struct breakdown *b);
void breakdown_free(struct breakdown *b);
void breakdown_reset(struct breakdown *b);

/* The parts of a complete request, ns; they add up to the latency (DONE - SEND) exactly. */
void breakdown_of(const struct packet *p, sim_time part[PARTS]);

void breakdown_record(struct breakdown *b, sim_time latency, const sim_time part[PARTS]);
void breakdown_merge(struct breakdown *b, const struct breakdown *from);

/* Mean of each part (ns) over the requests of rank above low and up to high (0 <= low < high <= 1),
 * by whole cells: a cell belongs to the range its middle rank lies in (the last cell always to
 * high = 1). Returns the number of requests; 0: means are 0. */
uint64_t breakdown_between(const struct breakdown *b, double low, double high, double mean[PARTS]);

#endif
