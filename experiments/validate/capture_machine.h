/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the machine that recorded captures costs: the parameters of the models, as a JSON file gives
 * them (experiments/library/emulated-xen.json), single ones changed by calibration.
 *
 *     {"version": 1,
 *      "host": {"costs": ..., "network": ...},      tables of models/hypervisor, models/net
 *      "emulator": {"kick": ...},                   where captures do not shorten its turns
 *      "dom0": {"costs": ...},                      models/guest
 *      "guest": {"costs": ..., "network": ...},
 *      "overhead": {"credit2": ..., ...},           of schedulers, added to each context switch
 *      "echo": {"overhead": ...},                   of the echo server, for each request
 *      "waker": {"overhead": ..., ...}}             of a waker, for each cycle or report
 */
#ifndef HVSIM_VALIDATE_CAPTURE_MACHINE_H
#define HVSIM_VALIDATE_CAPTURE_MACHINE_H

#include "models/guest/guest.h"
#include "models/hypervisor/hypervisor.h"
#include "models/net/net.h"
#include "sim/error.h"
#include "sim/json.h"

struct capture_machine {
    struct host_costs host;
    struct emulator_costs {
        sim_time kick;
    } emulator;
    struct net_params network;
    struct guest_costs dom0, guest;
    struct vif_params vif;
    struct scheduler_overheads {
        sim_time credit, credit2, rtds, null, arinc653;
    } overhead;
    struct echo_costs {
        sim_time overhead, plain;
    } echo;
    struct waker_costs {
        sim_time overhead, clock, report, daemon;
    } waker;
};

/* The guests' kernel's own timers. They come with its ticks; deferrable ones with those that come
 * anyway. In all guests' traces: the clocksource watchdog's, 0.5 s and rounded up by the timer
 * wheel (lb30x3's guests wake at multiples of 512 ms, for 40 us more than a tick takes); and three
 * more, of 1 s and twice 2 s and rounded up likewise, whose work comes with ticks of vCPUs that are
 * awake or were just now (b1, b4: what they are a trace does not tell; kernels of this version
 * gather statistics and reap caches so). */
enum { CAPTURE_KERNEL_TIMERS = 4 };
extern const struct capture_kernel_timer {
    sim_time period, work;
    bool deferrable;
} capture_kernel_timers[CAPTURE_KERNEL_TIMERS];

/* What that scheduler adds to each context switch. */
sim_time capture_machine_overhead(const struct capture_machine *m, const char *scheduler);

/* 0, or -1 with errors. */
int capture_machine_read(struct capture_machine *m, const struct json *doc, struct errors *e);

/* The duration that a JSON pointer names ("/guest/costs/timer"); NULL: there is none. */
sim_time *capture_machine_duration(struct capture_machine *m, const char *pointer);

/* Its meaning, as the models' tables say it. */
const char *capture_machine_meaning(const char *pointer);

#endif
