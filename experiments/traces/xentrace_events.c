/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/traces/xentrace_events.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NO XT_TALLY_NONE

/* Sorted by event number, layouts of one event next to each other. */
const struct xt_event_info xt_event_table[] = {
    {XT_LOST_RECORDS, 4, NO, "LOST_RECORDS", "%u records, then d%l v%h%. first TSC %q"},
    {XT_WRAP_BUFFER, 0, NO, "WRAP_BUFFER", ""},
    {XT_CPU_CHANGE, 2, NO, "CPU_CHANGE", "pCPU %u window %u bytes"},

    {XT_RUNSTATE_CHANGE, 1, NO, "RUNSTATE_CHANGE", "%V"},
    {XT_CONTINUE_RUNNING, 1, NO, "CONTINUE_RUNNING", "%V"},

    {XT_CSCHED_SCHED_TASKLET, 0, NO, "CSCHED_SCHED_TASKLET", ""},
    {XT_CSCHED_ACCOUNT_START, 3, XT_TALLY_ACCOUNT_START, "CSCHED_ACCOUNT_START", "%d active %u"},
    {XT_CSCHED_ACCOUNT_STOP, 3, XT_TALLY_ACCOUNT_STOP, "CSCHED_ACCOUNT_STOP", "%d active %u"},
    {XT_CSCHED_STOLEN_UNIT, 3, XT_TALLY_STOLEN, "CSCHED_STOLEN_UNIT", "from pCPU %u %d"},
    {XT_CSCHED_PICKED_CPU, 3, XT_TALLY_PICKED_CPU, "CSCHED_PICKED_CPU", "%d pCPU %u"},
    {XT_CSCHED_TICKLE, 1, NO, "CSCHED_TICKLE", "pCPU %u"},
    {XT_CSCHED_BOOST_START, 2, XT_TALLY_BOOST_START, "CSCHED_BOOST_START", "%d"},
    {XT_CSCHED_BOOST_END, 2, XT_TALLY_BOOST_END, "CSCHED_BOOST_END", "%d"},
    {XT_CSCHED_SCHEDULE, 1, NO, "CSCHED_SCHEDULE", "pCPU %l tasklet %2 idle %3%."},
    {XT_CSCHED_RATELIMIT, 2, XT_TALLY_RATELIMIT, "CSCHED_RATELIMIT", "%V ran %n"},
    {XT_CSCHED_STEAL_CHECK, 2, NO, "CSCHED_STEAL_CHECK", "pCPU %u checked %u"},

    {0x00022201, 0, NO, "CSCHED2_TICK", ""},
    {XT_CSCHED2_RUNQ_POS, 2, NO, "CSCHED2_RUNQ_POS", "%V position %i"},
    {XT_CSCHED2_CREDIT_BURN, 4, NO, "CSCHED2_CREDIT_BURN", "%V credit %i budget %i delta %i"},
    {XT_CSCHED2_CREDIT_BURN, 3, NO, "CSCHED2_CREDIT_BURN", "%V credit %i delta %i"}, /* to 4.9 */
    {0x00022204, 0, NO, "CSCHED2_CREDIT_ADD", ""},
    {XT_CSCHED2_TICKLE_CHECK, 3, NO, "CSCHED2_TICKLE_CHECK", "%V credit %i score %i"},
    {XT_CSCHED2_TICKLE_CHECK, 2, NO, "CSCHED2_TICKLE_CHECK", "%V credit %i"}, /* to 4.9 */
    {XT_CSCHED2_TICKLE, 1, NO, "CSCHED2_TICKLE", "pCPU %l%."},
    {XT_CSCHED2_CREDIT_RESET, 3, XT_TALLY_CREDIT_RESET, "CSCHED2_CREDIT_RESET",
     "%V credit %i to %i"},
    {XT_CSCHED2_CREDIT_RESET, 4, XT_TALLY_CREDIT_RESET, "CSCHED2_CREDIT_RESET",
     "%V credit %i to %i multiplier %u"}, /* to 4.10 */
    {XT_CSCHED2_SCHED_TASKLET, 0, NO, "CSCHED2_SCHED_TASKLET", ""},
    {XT_CSCHED2_UPDATE_LOAD, 0, NO, "CSCHED2_UPDATE_LOAD", ""},
    {XT_CSCHED2_RUNQ_ASSIGN, 2, NO, "CSCHED2_RUNQ_ASSIGN", "%V run queue %l%."},
    {XT_CSCHED2_UPDATE_UNIT_LOAD, 4, NO, "CSCHED2_UPDATE_UNIT_LOAD", "load %q %V shift %u"},
    {XT_CSCHED2_UPDATE_UNIT_LOAD, 3, NO, "CSCHED2_UPDATE_UNIT_LOAD", "load %q %V"},
    {XT_CSCHED2_UPDATE_RUNQ_LOAD, 5, NO, "CSCHED2_UPDATE_RUNQ_LOAD",
     "average %q balance %q load %l run queue %2 shift %3%."},
    {XT_CSCHED2_UPDATE_RUNQ_LOAD, 6, NO, "CSCHED2_UPDATE_RUNQ_LOAD",
     "average %q balance %q load %l run queue %2 shift %3%.%."}, /* from 4.18: padded */
    {XT_CSCHED2_TICKLE_NEW, 3, NO, "CSCHED2_TICKLE_NEW", "%V pCPU %u credit %i"},
    {XT_CSCHED2_RUNQ_MAX_WEIGHT, 1, NO, "CSCHED2_RUNQ_MAX_WEIGHT", "run queue %l weight %h%."},
    {XT_CSCHED2_MIGRATE, 2, XT_TALLY_RUNQ_MIGRATE, "CSCHED2_MIGRATE", "%V run queue %l to %h%."},
    {XT_CSCHED2_LOAD_CHECK, 2, NO, "CSCHED2_LOAD_CHECK", "run queues %l %h%. delta %u"},
    {XT_CSCHED2_LOAD_BALANCE, 5, NO, "CSCHED2_LOAD_BALANCE",
     "average %q other %q run queues %l %h%."},
    {XT_CSCHED2_LOAD_BALANCE, 6, NO, "CSCHED2_LOAD_BALANCE",
     "average %q other %q run queues %l %h%.%."}, /* from 4.18: padded */
    {XT_CSCHED2_PICKED_CPU, 4, XT_TALLY_PICKED_CPU, "CSCHED2_PICKED_CPU",
     "average %q %V run queue %l pCPU %h%."},
    {XT_CSCHED2_RUNQ_CANDIDATE, 3, NO, "CSCHED2_RUNQ_CANDIDATE", "%V tickled %i credit %i"},
    {XT_CSCHED2_SCHEDULE, 2, NO, "CSCHED2_SCHEDULE",
     "pCPU %l run queue %h%. tasklet %0 idle %1 core idle %2 tickled %3%."},
    {XT_CSCHED2_RATELIMIT, 2, XT_TALLY_RATELIMIT, "CSCHED2_RATELIMIT", "%V ran %n"},
    {XT_CSCHED2_RUNQ_CAND_CHECK, 1, NO, "CSCHED2_RUNQ_CAND_CHECK", "%V"},

    {XT_RTDS_TICKLE, 1, NO, "RTDS_TICKLE", "pCPU %l%."},
    {XT_RTDS_RUNQ_PICK, 5, NO, "RTDS_RUNQ_PICK", "%V deadline %q budget %q"},
    {XT_RTDS_BUDGET_BURN, 6, NO, "RTDS_BUDGET_BURN",
     "%V budget %q delta %i level %u extratime %0%."},
    {XT_RTDS_BUDGET_BURN, 5, NO, "RTDS_BUDGET_BURN", "%V budget %q delta %i level %u"},
    {XT_RTDS_BUDGET_BURN, 4, NO, "RTDS_BUDGET_BURN", "%V budget %q delta %i"}, /* to 4.9 */
    {XT_RTDS_BUDGET_REPLENISH, 6, XT_TALLY_REPLENISH, "RTDS_BUDGET_REPLENISH",
     "%V level %u deadline %q budget %q"},
    {XT_RTDS_BUDGET_REPLENISH, 5, XT_TALLY_REPLENISH, "RTDS_BUDGET_REPLENISH",
     "%V deadline %q budget %q"}, /* to 4.9 */
    {XT_RTDS_SCHED_TASKLET, 0, NO, "RTDS_SCHED_TASKLET", ""},
    {XT_RTDS_SCHEDULE, 1, NO, "RTDS_SCHEDULE", "pCPU %l tasklet %2 tickled,idle %3%."},

    {XT_SNULL_PICKED_CPU, 2, XT_TALLY_PICKED_CPU, "SNULL_PICKED_CPU", "%V pCPU %u"},
    {XT_SNULL_UNIT_ASSIGN, 2, NO, "SNULL_UNIT_ASSIGN", "%V pCPU %u"},
    {XT_SNULL_UNIT_DEASSIGN, 2, NO, "SNULL_UNIT_DEASSIGN", "%V pCPU %u"},
    {XT_SNULL_MIGRATE, 2, XT_TALLY_RUNQ_MIGRATE, "SNULL_MIGRATE", "%V pCPU %l to %h%."},
    {XT_SNULL_SCHEDULE, 2, NO, "SNULL_SCHEDULE", "tasklet %l pCPU %h%. %V"},
    {XT_SNULL_TASKLET, 0, NO, "SNULL_TASKLET", ""},

    {XT_DOM_ADD, 1, NO, "DOM_ADD", "d%D"},
    {XT_DOM_REM, 1, NO, "DOM_REM", "d%D"},
    {XT_DOM_REM, 2, NO, "DOM_REM", "%d"},
    {XT_SLEEP, 2, XT_TALLY_SLEEP, "SLEEP", "%d"},
    {XT_WAKE, 2, XT_TALLY_WAKE, "WAKE", "%d"},
    {XT_YIELD, 2, XT_TALLY_YIELD, "YIELD", "%d"},
    {XT_BLOCK, 2, XT_TALLY_BLOCK, "BLOCK", "%d"},
    {XT_SHUTDOWN, 3, NO, "SHUTDOWN", "%d reason %u"},
    {0x00028008, 0, NO, "CTL", ""},
    {XT_ADJDOM, 1, NO, "ADJDOM", "d%D"},
    {XT_SWITCH, 4, NO, "SWITCH", "%d to %d"},
    {0x0002800b, 0, NO, "S_TIMER_FN", ""},
    {0x0002800c, 0, NO, "T_TIMER_FN", ""},
    {0x0002800d, 0, NO, "DOM_TIMER_FN", ""},
    {XT_SWITCH_INFPREV, 3, NO, "SWITCH_INFPREV", "%d ran %n"},
    {XT_SWITCH_INFPREV, 2, NO, "SWITCH_INFPREV", "d%D ran %n"}, /* 4.7 */
    {XT_SWITCH_INFNEXT, 4, NO, "SWITCH_INFNEXT", "%d waited %n slice %n"},
    {XT_SWITCH_INFNEXT, 3, NO, "SWITCH_INFNEXT", "d%D waited %n slice %n"}, /* 4.7 */
    {XT_SHUTDOWN_CODE, 3, NO, "SHUTDOWN_CODE", "%d reason %u"},
    {XT_SWITCH_INFCONT, 4, NO, "SWITCH_INFCONT", "%d running %n slice %n"},

    {0x00041001, 1, NO, "DOM0_DOM_ADD", "d%D"},
    {0x00041002, 1, NO, "DOM0_DOM_REM", "d%D"},

    {XT_HVM_VMENTRY, 0, NO, "HVM_VMENTRY", ""},
    {XT_HVM_VMX_EXIT, 2, NO, "HVM_VMX_EXIT", "reason %u eip %x"},
    {XT_HVM_SVM_EXIT, 2, NO, "HVM_SVM_EXIT", "code %x eip %x"},
    {XT_HVM_VMX_EXIT64, 3, NO, "HVM_VMX_EXIT64", "reason %u rip %x %x"},
    {XT_HVM_SVM_EXIT64, 3, NO, "HVM_SVM_EXIT64", "code %x rip %x %x"},
    {0x00082001, 2, NO, "HVM_PF_XEN", "error %x address %x"},
    {0x00082002, 2, NO, "HVM_PF_INJECT", "error %x address %x"},
    {0x00082003, 2, NO, "HVM_INJ_EXC", "vector %u error %x"},
    {0x00082004, 2, NO, "HVM_INJ_VIRQ", "vector %u fake %u"},
    {0x00082005, 1, NO, "HVM_REINJ_VIRQ", "vector %u"},
    {0x00082008, 2, NO, "HVM_CR_READ", "cr %u %x"},
    {0x00082009, 2, NO, "HVM_CR_WRITE", "cr %u %x"},
    {0x0008200a, 0, NO, "HVM_DR_READ", ""},
    {0x0008200b, 0, NO, "HVM_DR_WRITE", ""},
    {0x0008200c, 3, NO, "HVM_MSR_READ", "msr %x %x %x"},
    {0x0008200d, 3, NO, "HVM_MSR_WRITE", "msr %x %x %x"},
    {0x0008200e, 6, NO, "HVM_CPUID", "leaf %x %x: %x %x %x %x"},
    {0x0008200f, 1, NO, "HVM_INTR", "vector %u"},
    {0x00082010, 0, NO, "HVM_NMI", ""},
    {0x00082011, 0, NO, "HVM_SMI", ""},
    {XT_HVM_VMMCALL, 1, NO, "HVM_VMMCALL", "hypercall %u"},
    {0x00082013, 1, NO, "HVM_HLT", "pending %u"},
    {0x00082014, 2, NO, "HVM_INVLPG", "%x %x"},
    {0x00082015, 0, NO, "HVM_MCE", ""},
    {0x00082016, 1, NO, "HVM_IOPORT_READ", "port %x"},
    {0x00082017, 1, NO, "HVM_IOMEM_READ", "address %x"},
    {0x00082018, 0, NO, "HVM_CLTS", ""},
    {0x00082019, 1, NO, "HVM_LMSW", "%x"},
    {0x0008201a, 2, NO, "HVM_RDTSC", "%x %x"},
    {0x00082020, 3, NO, "HVM_INTR_WINDOW", "vector %u source %u injected %i"},
    {0x00082021, 5, NO, "HVM_NPF", "%x %x %x %x %x"},
    {0x00082022, 0, NO, "HVM_REALMODE_EMULATE", ""},
    {0x00082023, 1, NO, "HVM_TRAP", "vector %u"},
    {0x00082024, 1, NO, "HVM_TRAP_DEBUG", "%x"},
    {0x00082025, 0, NO, "HVM_VLAPIC", ""},
    {0x00082101, 3, NO, "HVM_PF_XEN64", "error %x address %x %x"},
    {0x00082102, 3, NO, "HVM_PF_INJECT64", "error %x address %x %x"},
    {0x00082108, 3, NO, "HVM_CR_READ64", "cr %u %x %x"},
    {0x00082109, 3, NO, "HVM_CR_WRITE64", "cr %u %x %x"},
    {0x00082114, 3, NO, "HVM_INVLPG64", "%x %x %x"},
    {0x00082119, 2, NO, "HVM_LMSW64", "%x %x"},
    {0x00082126, 3, NO, "HVM_XCR_READ64", "xcr %u %x %x"},
    {0x00082127, 3, NO, "HVM_XCR_WRITE64", "xcr %u %x %x"},
    {0x00082216, 1, NO, "HVM_IOPORT_WRITE", "port %x"},
    {0x00082217, 1, NO, "HVM_IOMEM_WRITE", "address %x"},

    {0x0010f001, 1, NO, "MEM_PAGE_GRANT_MAP", "d%D"},
    {0x0010f002, 1, NO, "MEM_PAGE_GRANT_UNMAP", "d%D"},
    {0x0010f003, 1, NO, "MEM_PAGE_GRANT_TRANSFER", "d%D"},
    {0x0010f004, 6, NO, "MEM_SET_P2M_ENTRY", "gfn %q mfn %q %x %x"},
    {0x0010f005, 4, NO, "MEM_DECREASE_RESERVATION", "gfn %q d%l order %h%. %x"},
    {0x0010f010, 5, NO, "MEM_POD_POPULATE", "%x %x %x %x %x"},
    {0x0010f011, 4, NO, "MEM_POD_ZERO_RECLAIM", "%x %x %x %x"},
    {0x0010f012, 3, NO, "MEM_POD_SUPERPAGE_SPLINTER", "%x %x %x"},

    {0x00201001, 2, NO, "PV_HYPERCALL", "eip %x hypercall %u"},
    {0x00201003, 2, NO, "PV_TRAP", "eip %x %x"},
    {0x00201004, 3, NO, "PV_PAGE_FAULT", "eip %x address %x error %x"},
    {0x00201005, 1, NO, "PV_FORCED_INVALID_OP", "eip %x"},
    {0x00201006, 1, NO, "PV_EMULATE_PRIVOP", "eip %x"},
    {0x00201007, 1, NO, "PV_EMULATE_4GB", "eip %x"},
    {0x00201008, 0, NO, "PV_MATH_STATE_RESTORE", ""},
    {0x00201009, 2, NO, "PV_PAGING_FIXUP", "eip %x address %x"},
    {0x0020100a, 2, NO, "PV_GDT_LDT_MAPPING_FAULT", "eip %x offset %x"},
    {0x0020100b, 4, NO, "PV_PTWR_EMULATION", "%x %x %x %x"},
    {0x0020100c, 4, NO, "PV_PTWR_EMULATION_PAE", "%x %x %x %x"},
    {XT_PV_HYPERCALL_V2, 1, NO, "PV_HYPERCALL_V2", "hypercall %l%."},
    {XT_PV_HYPERCALL_V2, 2, NO, "PV_HYPERCALL_V2", "hypercall %l%. %u"},
    {XT_PV_HYPERCALL_V2, 3, NO, "PV_HYPERCALL_V2", "hypercall %l%. %u %u"},
    {0x00201101, 3, NO, "PV_HYPERCALL64", "rip %x %x hypercall %u"},
    {0x00201103, 3, NO, "PV_TRAP64", "rip %x %x %x"},
    {0x00201104, 5, NO, "PV_PAGE_FAULT64", "rip %x %x address %x %x error %x"},
    {0x00201105, 2, NO, "PV_FORCED_INVALID_OP64", "rip %x %x"},
    {0x00201106, 2, NO, "PV_EMULATE_PRIVOP64", "rip %x %x"},
    {0x00201109, 4, NO, "PV_PAGING_FIXUP64", "rip %x %x address %x %x"},
    {0x0020110a, 4, NO, "PV_GDT_LDT_MAPPING_FAULT64", "rip %x %x offset %x %x"},
    {0x0020110b, 6, NO, "PV_PTWR_EMULATION64", "%x %x %x %x %x %x"},
    {XT_PV_HYPERCALL_SUBCALL, 1, NO, "PV_HYPERCALL_SUBCALL", "hypercall %l%."},
    {XT_PV_HYPERCALL_SUBCALL, 2, NO, "PV_HYPERCALL_SUBCALL", "hypercall %l%. %u"},
    {XT_PV_HYPERCALL_SUBCALL, 3, NO, "PV_HYPERCALL_SUBCALL", "hypercall %l%. %u %u"},

    {0x0040f001, 5, NO, "SHADOW_NOT_SHADOW", "%x %x %x %x %x"},
    {0x0040f002, 4, NO, "SHADOW_FAST_PROPAGATE", "%x %x %x %x"},
    {0x0040f003, 2, NO, "SHADOW_FAST_MMIO", "%x %x"},
    {0x0040f004, 4, NO, "SHADOW_FALSE_FAST_PATH", "%x %x %x %x"},
    {0x0040f005, 2, NO, "SHADOW_MMIO", "%x %x"},
    {0x0040f006, 5, NO, "SHADOW_FIXUP", "%x %x %x %x %x"},
    {0x0040f007, 2, NO, "SHADOW_DOMF_DYING", "%x %x"},
    {0x0040f008, 7, NO, "SHADOW_EMULATE", "%x %x %x %x %x %x %x"},
    {0x0040f009, 3, NO, "SHADOW_EMULATE_UNSHADOW_USER", "%x %x %x"},
    {0x0040f00a, 3, NO, "SHADOW_EMULATE_UNSHADOW_EVTINJ", "%x %x %x"},
    {0x0040f00b, 3, NO, "SHADOW_EMULATE_UNSHADOW_UNHANDLED", "%x %x %x"},
    {0x0040f00c, 2, NO, "SHADOW_WRMAP_BF", "gfn %q"},
    {0x0040f00d, 2, NO, "SHADOW_PREALLOC_UNPIN", "gfn %q"},
    {0x0040f00e, 2, NO, "SHADOW_RESYNC_FULL", "gfn %q"},
    {0x0040f00f, 2, NO, "SHADOW_RESYNC_ONLY", "gfn %q"},

    {0x00801001, 2, NO, "PM_FREQ_CHANGE", "from %u to %u"},
    {0x00801002, 4, NO, "PM_IDLE_ENTRY", "C%u time %u expected %u predicted %u"},
    {0x00801003, 6, NO, "PM_IDLE_EXIT", "C%u time %u %x %x %x %x"},
    {0x00802001, 3, NO, "HW_IRQ_MOVE_CLEANUP_DELAY", "irq %i vector %u pCPU %u"},
    {0x00802002, 3, NO, "HW_IRQ_MOVE_CLEANUP", "irq %i vector %u pCPU %u"},
    {0x00802003, 7, NO, "HW_IRQ_BIND_VECTOR", "irq %l vector %h%. mask %x %x %x %x %x %x"},
    {0x00802004, 7, NO, "HW_IRQ_CLEAR_VECTOR", "irq %l vector %h%. mask %x %x %x %x %x %x"},
    {0x00802005, 3, NO, "HW_IRQ_MOVE_FINISH", "irq %i vector %u pCPU %u"},
    {0x00802006, 7, NO, "HW_IRQ_ASSIGN_VECTOR", "irq %l vector %h%. mask %x %x %x %x %x %x"},
    {0x00802007, 1, NO, "HW_IRQ_UNMAPPED_VECTOR", "vector %u"},
    {0x00802008, 3, NO, "HW_IRQ_HANDLED", "irq %i in %u out %u"},
};

const size_t xt_event_table_size = sizeof xt_event_table / sizeof *xt_event_table;

const char *const xt_class_name[XT_CLASS_COUNT] = {
    [XT_CLASS_GEN] = "gen",       [XT_CLASS_SCHED] = "sched", [XT_CLASS_DOM0OP] = "dom0op",
    [XT_CLASS_HVM] = "hvm",       [XT_CLASS_MEM] = "mem",     [XT_CLASS_PV] = "pv",
    [XT_CLASS_SHADOW] = "shadow", [XT_CLASS_HW] = "hw",       [XT_CLASS_GUEST] = "guest",
};

const char *const xt_runstate_name[4] = {"running", "runnable", "blocked", "offline"};

const char *const xt_tally_name[XT_TALLY_COUNT] = {
    [XT_TALLY_NONE] = "none",
    [XT_TALLY_WAKE] = "wakes",
    [XT_TALLY_BLOCK] = "blocks",
    [XT_TALLY_YIELD] = "yields",
    [XT_TALLY_SLEEP] = "pauses",
    [XT_TALLY_BOOST_START] = "boosts",
    [XT_TALLY_BOOST_END] = "unboosts",
    [XT_TALLY_ACCOUNT_START] = "account_starts",
    [XT_TALLY_ACCOUNT_STOP] = "account_stops",
    [XT_TALLY_STOLEN] = "stolen",
    [XT_TALLY_PICKED_CPU] = "picks",
    [XT_TALLY_RATELIMIT] = "ratelimited",
    [XT_TALLY_CREDIT_RESET] = "credit_resets",
    [XT_TALLY_RUNQ_MIGRATE] = "runqueue_moves",
    [XT_TALLY_REPLENISH] = "replenishments",
};

static uint32_t table_number(uint32_t event)
{
    if ((event & ~0xff0u) == XT_RUNSTATE_CHANGE)
        return XT_RUNSTATE_CHANGE;
    return event;
}

const struct xt_event_info *xt_event_find(uint32_t event, unsigned words)
{
    size_t low = 0, high = xt_event_table_size;
    const struct xt_event_info *first;

    event = table_number(event);
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (xt_event_table[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    first = &xt_event_table[low];
    if (low == xt_event_table_size || first->event != event)
        return NULL;
    for (; low < xt_event_table_size && xt_event_table[low].event == event; low++)
        if (xt_event_table[low].words == words)
            return &xt_event_table[low];
    return first;
}

/* Words of the payload that a field takes. */
static int field_words(char field)
{
    switch (field) {
    case 'd':
    case 'q':
        return 2;
    case 'V':
    case 'D':
    case 'u':
    case 'i':
    case 'x':
    case 'n':
    case '.':
        return 1;
    default:
        return 0;
    }
}

struct xt_vcpu_at xt_event_vcpu(const struct xt_event_info *info)
{
    int word = 0;

    for (const char *at = info->layout; (at = strchr(at, '%')); at += 2) {
        if (at[1] == 'd' || at[1] == 'V')
            return (struct xt_vcpu_at){.word = (int8_t)word, .packed = at[1] == 'V'};
        word += field_words(at[1]);
    }
    return (struct xt_vcpu_at){.word = -1};
}

/* An output that stops at its end. */
struct text {
    char *out;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->out + t->length, t->size - t->length, fmt, ap);
    va_end(ap);
    if (n > 0)
        t->length += (size_t)n;
    if (t->length > t->size - 1)
        t->length = t->size - 1;
}

static void put_field(struct text *t, char field, const uint32_t *word)
{
    switch (field) {
    case 'd':
        put(t, "d%" PRIu32 "v%" PRIu32, word[0], word[1]);
        break;
    case 'V':
        put(t, "d%" PRIu32 "v%" PRIu32, word[0] >> 16, word[0] & 0xffff);
        break;
    case 'D':
    case 'u':
        put(t, "%" PRIu32, word[0]);
        break;
    case 'i':
        put(t, "%" PRIi32, (int32_t)word[0]);
        break;
    case 'x':
        put(t, "%08" PRIx32, word[0]);
        break;
    case 'n':
        if (word[0] == UINT32_MAX)
            put(t, "none");
        else
            put(t, "%" PRIu32 " ns", word[0]);
        break;
    case 'q':
        put(t, "%" PRIi64, (int64_t)((uint64_t)word[1] << 32 | word[0]));
        break;
    case 'l':
        put(t, "%" PRIu32, word[0] & 0xffff);
        break;
    case 'h':
        put(t, "%" PRIu32, word[0] >> 16);
        break;
    case '0':
    case '1':
    case '2':
    case '3':
        put(t, "%" PRIu32, word[0] >> 8 * (field - '0') & 0xff);
        break;
    default:
        break;
    }
}

size_t xt_event_format(uint32_t event, const uint32_t *word, unsigned words, char *out, size_t size)
{
    const struct xt_event_info *info = xt_event_find(event, words);
    struct text t = {.out = out, .size = size};
    unsigned at = 0;

    out[0] = '\0';
    if (event == XT_WRAP_BUFFER)
        return 0;
    if (!info || info->words != words) {
        for (unsigned i = 0; i < words; i++)
            put(&t, "%s%08" PRIx32, i ? " " : "", word[i]);
        return t.length;
    }
    for (const char *c = info->layout; *c; c++) {
        if (*c != '%') {
            put(&t, "%c", *c);
            continue;
        }
        c++;
        put_field(&t, *c, word + at);
        at += (unsigned)field_words(*c);
    }
    if (info->event == XT_RUNSTATE_CHANGE)
        put(&t, " %s to %s", xt_runstate_name[event >> 8 & 3], xt_runstate_name[event >> 4 & 3]);
    return t.length;
}
