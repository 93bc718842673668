/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/hypervisor/costs.h"

static const struct param rows[] = {
    {PARAM("context_switch", DURATION, struct host_costs, context_switch), .def = "1.4us",
     .max = "1ms",
     .meaning = "From the scheduler's decision to the first instruction of the vCPU switched to.",
     .source = "Denali, OSDI 2002: 1.4 us between virtual machines with warm caches",
     .status = STATUS_CITED},
    {PARAM("ipi", DURATION, struct host_costs, ipi), .def = "2us", .max = "1ms",
     .meaning = "Until another pCPU that was told to reschedule (tickled) notices.",
     .status = STATUS_ASSUMED},
    {PARAM("wake", DURATION, struct host_costs, wake), .def = "0", .range = "0ns..5us",
     .max = "1ms",
     .meaning =
         "Until a pCPU that told itself to reschedule does so: mostly because it has woken a "
         "vCPU.",
     .status = STATUS_ASSUMED},
    {PARAM("timer_slop", DURATION, struct host_costs, timer_slop), .def = "0", .range = "0ns..50us",
     .max = "1ms",
     .meaning = "So long after it has set its timer (or handled those that were due) a pCPU is not "
                "interrupted by timers; one due before is handled then. Xen's default is 50us.",
     .source = "the rule: Xen, xen/common/timer.c; the default: assumed", .status = STATUS_ASSUMED},
    {PARAM("timer_latency", DURATION, struct host_costs, timer_latency), .def = "0",
     .range = "0ns..10us", .max = "1ms",
     .meaning =
         "From the date of a timer of the hypervisor to its handler; timers that are set anew "
         "by their handlers (ticks, accounting) drift by it, so that the phases of a busy "
         "pCPU do not last for ever.",
     .status = STATUS_ASSUMED},
    {PARAM("timer_rearm", DURATION, struct host_costs, timer_rearm), .def = "0",
     .range = PARAM_NO_RANGE, .max = "1ms",
     .meaning =
         "What a tick's handler has taken when it sets its timer anew: ticks drift by so much more "
         "than slices, which are counted from the decision on.",
     .status = STATUS_ASSUMED},
    {PARAM("tick_sort", DURATION, struct host_costs, tick_sort), .def = "0",
     .range = PARAM_NO_RANGE, .max = "1ms",
     .meaning = "What it takes more when it sorts the queue: after each accounting.",
     .status = STATUS_ASSUMED},
    {PARAM("account", DURATION, struct host_costs, account), .def = "0", .range = PARAM_NO_RANGE,
     .max = "1ms",
     .meaning =
         "What accounting's handler has taken then, without its vCPUs: accountings drift by it.",
     .status = STATUS_ASSUMED},
    {PARAM("account_vcpu", DURATION, struct host_costs, account_vcpu), .def = "0",
     .range = PARAM_NO_RANGE, .max = "1ms", .meaning = "What each active vCPU adds to that.",
     .status = STATUS_ASSUMED},
    {PARAM("guest_timer", DURATION, struct host_costs, guest_timer), .def = "0",
     .range = PARAM_NO_RANGE, .max = "1ms",
     .meaning = "What a guest's timer takes beyond timer_latency until its vCPU is woken.",
     .status = STATUS_ASSUMED},
    {PARAM("slice_latency", DURATION, struct host_costs, slice_latency), .def = "0",
     .range = PARAM_NO_RANGE, .max = "1ms",
     .meaning = "From the handler of a slice's end to the scheduler's decision, by whose date the "
                "next slice is counted.",
     .status = STATUS_ASSUMED},
    {PARAM("timer_jitter", DURATION, struct host_costs, timer_jitter), .def = "0",
     .range = "0ns..1us", .max = "1ms",
     .meaning =
         "Slices end up to this much later, at random: how far the path from the timer to the "
         "decision is varies, which decides between vCPUs that would else have the same "
         "credit.",
     .status = STATUS_ASSUMED},
    {PARAM("cache_refill", DURATION, struct host_costs, cache_refill), .def = "10us",
     .range = "2us..1ms", .max = "10ms",
     .meaning = "Work that a vCPU has on top when its cache contents are gone entirely.",
     .source = "assumed; Li, Ding, Shen, ExpCS 2007 measured some us to over 1 ms by working set",
     .status = STATUS_ASSUMED},
    {PARAM("cache_lifetime", DURATION, struct host_costs, cache_lifetime), .def = "1ms", .min = "0",
     .max = "10s",
     .meaning = "Time off the pCPU after which they are gone; less time loses less, in proportion.",
     .status = STATUS_ASSUMED},
    {PARAM("emulator_tick", DURATION, struct host_costs, emulator_tick), .def = "0",
     .range = PARAM_NO_RANGE, .max = "1s",
     .meaning =
         "The machine is emulated in one thread: pCPUs run in turn, and the emulator's clock "
         "has a deadline this often; 0: a real machine.",
     .status = STATUS_ASSUMED},
    {PARAM("emulator_whole", BOOLEAN, struct host_costs, emulator_whole), .def = "false",
     .meaning =
         "With emulator_tick: a turn is all that is left until the next deadline, not divided by "
         "the number of pCPUs.",
     .source = "QEMU before 8.1", .status = STATUS_CITED},
    {PARAM("smt_factor", INTEGER, struct host_costs, smt_factor), .def = "69", .min = "1",
     .max = "100",
     .meaning = "Per cent of its speed that a hardware thread keeps while a sibling is busy.",
     .source = "Xen commit ebce2d83: sysbench in 2 and in 10 VMs of 2 vCPUs on 16 threads takes "
               "49.67 and 90.40 s",
     .status = STATUS_CALIBRATED},
};

const struct param_table host_cost_params = PARAM_TABLE(
    "host costs", struct host_costs, rows, .meaning = "What the hypervisor's own work costs.");
