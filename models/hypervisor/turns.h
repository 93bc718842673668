/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pCPUs that run in turn: the machine is an emulator that executes all its CPUs in one thread, as
 * QEMU's TCG does with -icount (the machine on which the reference captures were recorded).
 *
 * One pCPU executes at a time, at full speed; the clock is that of its instructions. A turn ends
 * when the pCPU goes idle, or after its budget: at the start of each pass through the pCPUs, the
 * time to the next deadline of the emulator's clock divided by their number. Deadlines are all
 * timers of the machine, among them a periodic one; a pCPU that is busy alone so gets turns of half
 * the rest, a quarter, ... What a pCPU is told meanwhile (an IPI, an event) it notices when
 * its turn comes (and then takes the time of an IPI to act on it); so it does timers of its own, of
 * which periodic ones are set anew from then on.
 *
 * Source: QEMU 10.0.2, accel/tcg/tcg-accel-ops-rr.c and -icount.c, restated; seen in the captures
 * as dom0's wake-to-run times (docs/models/control.md).
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

/* ---- core.c's part --------------------------------------------------------------------------- */

void core_turn_lost(struct pcpu *p, sim_time now);
void core_turn_won(struct pcpu *p, sim_time now);

#endif
