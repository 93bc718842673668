/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pCPUs that run in turn: the machine is an emulator that executes all its CPUs in one thread, as
 * QEMU's TCG does with -icount (the machine on which the reference captures were recorded).
 *
 * One pCPU executes at a time, at full speed; the clock is that of its instructions. The rules:
 *
 *   pass     In order of their numbers, each pCPU that is not halted has a turn; a turn ends when
 *            it halts, or after its budget: what was left until the next deadline of the machine's
 *            timers when the pass began, divided by the number of all pCPUs (not divided with
 *            emulator_whole, as in QEMU before 8.1). One that is halted, and has timers to handle
 *            but nothing to run, halts again when it has handled them.
 *
 *   timers   are handled when their date has come, in place of the turn of the pCPU that is next in
 *            this pass, or between two passes. Deadlines are those of the pCPUs' own timers (each
 *            has one, set to the first date that it waits for, whenever that becomes another one,
 *            and set anew once it has handled the last interrupt), and of a periodic one that keeps
 *            turns short.
 *
 *   kicks    When timers have been handled, and when the pCPU that has the turn sets its own to a
 *            date before all other deadlines, all pCPUs are kicked: the turn ends, and each pCPU
 *            that is kicked begins a new pass with itself, and a new budget, when it comes up.
 *
 * What a pCPU is told meanwhile (an IPI, an event) it notices when its turn comes (and then takes
 * the time of an IPI to act on it); so it does timers of its own, of which periodic ones are set
 * anew from then on.
 *
 * Source: QEMU 10.0.2, accel/tcg/tcg-accel-ops-rr.c (passes), tcg-accel-ops-icount.c (budgets),
 * util/qemu-timer.c and system/cpu-timers.c (a timer that becomes the first kicks); Xen 4.17,
 * common/timer.c (add_entry, remove_entry: only a change at the head sets the hardware), restated;
 * held against the captures in docs/models/control.md.
 */
#ifndef HVSIM_HYPERVISOR_TURNS_H
#define HVSIM_HYPERVISOR_TURNS_H

#include "models/hypervisor/hypervisor.h"

/* Once, when the host's costs are known, before pCPUs come up. `phase`: of the periodic timer. */
void turns_init(struct host *h, sim_time phase);

/* May p act now? If nobody has the turn it is given it. Always true without turns. */
bool turns_hold(struct pcpu *p);

/* p has gone idle, or found nothing to do: its turn ends when it has switched to its idle loop. */
void turns_idle(struct pcpu *p);

/* One of p's timers goes off: must it wait until p has the turn? False without turns. */
bool turns_defer(struct pcpu *p, struct timer *t);

/* p has armed one of its timers, or handled those that were due. */
void turns_timer_set(struct pcpu *p);

/* ---- core.c's part --------------------------------------------------------------------------- */

void core_turn_lost(struct pcpu *p, sim_time now);
void core_turn_won(struct pcpu *p, sim_time now);

#endif
