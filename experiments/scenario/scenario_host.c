/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of hosts, pools, domains and programs. */
#include "experiments/scenario/affinity.h"
#include "experiments/scenario/scenario.h"
#include "models/hypervisor/costs.h"

const enum xen_version xen_versions[] = {XEN_4_6, XEN_4_7_0, XEN_4_7_1, XEN_4_17, XEN_4_18};
static const char *const xen_version_names[] = {"4.6", "4.7.0", "4.7.1", "4.17", "4.18", NULL};

/* ---- programs -------------------------------------------------------------------------------- */

/* In the order of enum thread_class. */
static const char *const thread_classes[] = {"fifo", "normal", "idle", NULL};

static const struct param wake_element = {PARAM_ELEMENT(OBJECT, struct wake_spec),
                                          .table = &wake_table};

static const struct param program_rows[] = {
    {PARAM("run", VARIANT, struct program_spec, run), .choices = &program_choices,
     .meaning = "What runs."},
    {PARAM("name", NAME, struct program_spec, name), .optional = true, .refers = "program",
     .meaning = "Its name; the program's own if it is the only one."},
    {PARAM("vcpu", INTEGER, struct program_spec, vcpu), .def = "all", .min = "0", .max = "1023",
     .word = "all", .word_value = -1,
     .meaning = "The vCPU it runs on; \"all\": one thread on each.", .status = STATUS_ASSUMED},
    {PARAM("class", ENUM, struct program_spec, class), .def = "normal", .names = thread_classes,
     .meaning = "Scheduling class in the guest: SCHED_FIFO, SCHED_NORMAL or SCHED_IDLE.",
     .source = "Linux: threads are SCHED_NORMAL unless told otherwise", .status = STATUS_CITED},
    {PARAM("priority", INTEGER, struct program_spec, priority), .def = "1", .range = PARAM_NO_RANGE,
     .min = "1", .max = "99", .meaning = "Among threads of class fifo: higher goes first.",
     .status = STATUS_ASSUMED},
    {PARAM("events", LIST, struct program_spec, events), .def = "[]", .of = &wake_element,
     .meaning = "Events that come by themselves, for programs that wait for some."},
};

static const struct param_table program_table = PARAM_TABLE(
    "program", struct program_spec, program_rows, .meaning = "A program in a domain's guest.");

static const struct param program_element = {PARAM_ELEMENT(OBJECT, struct program_spec),
                                             .table = &program_table};

/* ---- domains --------------------------------------------------------------------------------- */

static const struct param vcpu_rows[] = {
    {PARAM_CPU_LIST("vcpus", struct vcpu_spec, vcpus), .def = "all", .range = PARAM_NO_RANGE,
     .meaning = "The vCPUs that this is about.", .status = STATUS_ASSUMED},
    {PARAM_CPU_LIST("hard_affinity", struct vcpu_spec, hard), .def = "all",
     .meaning = "pCPUs they may run on, of those of the domain.", .source = "Xen's default",
     .status = STATUS_EXACT},
    {PARAM_CPU_LIST("soft_affinity", struct vcpu_spec, soft), .def = "all",
     .meaning = "pCPUs they rather run on, of those of the domain.", .source = "Xen's default",
     .status = STATUS_EXACT},
    {PARAM("set", VARIANT, struct vcpu_spec, set), .optional = true,
     .choices = &scheduler_vcpu_choices,
     .meaning = "Their parameters, used if this is the scheduler of the domain's pool."},
};

static const struct param_table vcpu_table =
    PARAM_TABLE("vCPUs", struct vcpu_spec, vcpu_rows,
                .meaning = "What is different about some vCPUs of a domain.");

static const struct param vcpu_element = {PARAM_ELEMENT(OBJECT, struct vcpu_spec),
                                          .table = &vcpu_table};

/* What dom0 and other domains have in common. */
#define DOMAIN_ROWS                                                                                \
    {PARAM("vcpus", INTEGER, struct domain_spec, vcpus),                                           \
     .def = "1",                                                                                   \
     .range = PARAM_NO_RANGE,                                                                      \
     .min = "1",                                                                                   \
     .max = "1024",                                                                                \
     .meaning = "Number of virtual CPUs.",                                                         \
     .status = STATUS_ASSUMED},                                                                    \
        {PARAM("weight", INTEGER, struct domain_spec, weight),                                     \
         .def = "256",                                                                             \
         .min = "1",                                                                               \
         .max = "65535",                                                                           \
         .meaning = "Share of CPU time relative to other domains, where the scheduler has "        \
                    "weights.",                                                                    \
         .source = "Xen's default",                                                                \
         .status = STATUS_EXACT},                                                                  \
        {PARAM("cap", INTEGER, struct domain_spec, cap),                                           \
         .def = "0",                                                                               \
         .min = "0",                                                                               \
         .max = "102400",                                                                          \
         .meaning = "Most CPU time, in per cent of one pCPU; 0: no limit.",                        \
         .source = "Xen's default",                                                                \
         .status = STATUS_EXACT},                                                                  \
        {PARAM_CPU_LIST("hard_affinity", struct domain_spec, hard), .def = "all",                  \
         .meaning = "pCPUs its vCPUs may run on.", .source = "Xen's default",                      \
         .status = STATUS_EXACT},                                                                  \
        {PARAM_CPU_LIST("soft_affinity", struct domain_spec, soft), .def = "all",                  \
         .meaning = "pCPUs they rather run on.", .source = "Xen's default",                        \
         .status = STATUS_EXACT},                                                                  \
        {PARAM("pool", NAME, struct domain_spec, pool), .optional = true, .refers = "pool",        \
         .meaning = "Its cpupool; the host's first if not given."},                                \
        {PARAM("start", DURATION, struct domain_spec, start),                                      \
         .def = "0",                                                                               \
         .range = PARAM_NO_RANGE,                                                                  \
         .max = "1000d",                                                                           \
         .meaning = "When its vCPUs start; not before the host is up.",                            \
         .status = STATUS_ASSUMED},                                                                \
        {PARAM("start_spread", DURATION, struct domain_spec, start_spread),                        \
         .def = "100ms",                                                                           \
         .range = PARAM_NO_RANGE,                                                                  \
         .max = "1h",                                                                              \
         .meaning = "They start up to this much later, at random, so that domains are not in "     \
                    "step; 0 with \"exact\".",                                                     \
         .status = STATUS_ASSUMED},                                                                \
        {PARAM("costs", OBJECT, struct domain_spec, costs), .def = "{}",                           \
         .table = &guest_cost_table, .meaning = "What the guest kernel's own work costs."},        \
        {PARAM("programs", LIST, struct domain_spec, programs), .def = "[]",                       \
         .of = &program_element, .meaning = "What runs in it."},                                   \
        {PARAM("set", VARIANT, struct domain_spec, set), .optional = true,                         \
         .choices = &scheduler_domain_choices,                                                     \
         .meaning = "A scheduler's parameters of the domain, used if it is that of its pool."},    \
    {                                                                                              \
        PARAM("per_vcpu", LIST, struct domain_spec, per_vcpu),                                     \
            .def = "[]", .of = &vcpu_element,                                                      \
            .meaning = "What is different about some of its vCPUs."                                \
    }

static const struct param domain_rows[] = {
    {PARAM("name", NAME, struct domain_spec, name), .refers = "domain",
     .meaning = "Its name; with \"count\", numbers are put behind it."},
    {PARAM("count", INTEGER, struct domain_spec, count), .def = "1", .range = PARAM_NO_RANGE,
     .min = "1", .max = "10000", .meaning = "How many of them there are.",
     .status = STATUS_ASSUMED},
    {PARAM("network", POINTER, struct domain_spec, network), .optional = true, .table = &vif_table,
     .meaning = "Its network interface; none if not given."},
    {PARAM("disk", POINTER, struct domain_spec, disk), .optional = true, .table = &vbd_table,
     .meaning = "Its block device, on the host's disk; none if not given."},
    DOMAIN_ROWS,
};

const struct param_table domain_table = PARAM_TABLE("domain", struct domain_spec, domain_rows,
                                                    .meaning = "Virtual machines of one kind.");

static const struct param dom0_rows[] = {DOMAIN_ROWS};

const struct param_table dom0_table =
    PARAM_TABLE("dom0", struct domain_spec, dom0_rows,
                .meaning = "The control domain, which also serves the other domains' devices.");

/* ---- hosts ----------------------------------------------------------------------------------- */

static const struct param pool_rows[] = {
    {PARAM("name", NAME, struct pool_spec, name), .refers = "pool", .meaning = "Its name."},
    {PARAM_CPU_LIST("cpus", struct pool_spec, cpus), .meaning = "Its pCPUs."},
    {PARAM("scheduler", VARIANT, struct pool_spec, scheduler), .optional = true,
     .choices = &scheduler_choices, .meaning = "Its scheduler; the host's if not given."},
    {PARAM("overhead", DURATION, struct pool_spec, overhead), .def = "0", .range = "0ns..5us",
     .max = "1ms", .meaning = "What its scheduler's own work adds to each context switch.",
     .status = STATUS_ASSUMED},
};

static const struct param_table pool_table =
    PARAM_TABLE("pool", struct pool_spec, pool_rows,
                .meaning = "A cpupool: pCPUs with a scheduler of their "
                           "own.");

static const struct param pool_element = {PARAM_ELEMENT(OBJECT, struct pool_spec),
                                          .table = &pool_table};
static const struct param domain_element = {PARAM_ELEMENT(OBJECT, struct domain_spec),
                                            .table = &domain_table};
static const struct param speed_element = {PARAM_ELEMENT(INTEGER, int64_t), .min = "1",
                                           .max = "1000"};

static const struct param host_rows[] = {
    {PARAM("name", NAME, struct host_spec, name), .refers = "host",
     .meaning = "Its name; with \"count\", numbers are put behind it."},
    {PARAM("on", NAME, struct host_spec, on), .optional = true, .refers = "host of the platform",
     .meaning = "The platform's host that it is; the one of the same name if not given. With "
                "\"count\", numbers are put behind it."},
    {PARAM("count", INTEGER, struct host_spec, count), .def = "1", .range = PARAM_NO_RANGE,
     .min = "1", .max = "100000", .meaning = "How many of them there are.",
     .status = STATUS_ASSUMED},
    {PARAM("xen", ENUM, struct host_spec, xen), .def = "4.17", .names = xen_version_names,
     .meaning = "Version of Xen whose rules are followed.", .source = "Debian 12 ships 4.17",
     .status = STATUS_CITED},
    {PARAM("pcpus", INTEGER, struct host_spec, pcpus), .def = "platform", .min = "1", .max = "256",
     .word = "platform", .word_value = 0,
     .meaning = "Physical CPUs (hardware threads); \"platform\": the cores of the platform's host.",
     .status = STATUS_ASSUMED},
    {PARAM("threads_per_core", INTEGER, struct host_spec, threads_per_core), .def = "1",
     .range = PARAM_NO_RANGE, .min = "1", .max = "8", .meaning = "Hardware threads of one core.",
     .status = STATUS_ASSUMED},
    {PARAM("cores_per_socket", INTEGER, struct host_spec, cores_per_socket), .def = "all",
     .min = "1", .max = "256", .word = "all", .word_value = 0, .meaning = "Cores of one socket.",
     .status = STATUS_ASSUMED},
    {PARAM("sockets_per_node", INTEGER, struct host_spec, sockets_per_node), .def = "all",
     .min = "1", .max = "256", .word = "all", .word_value = 0,
     .meaning = "Sockets of one NUMA node.", .status = STATUS_ASSUMED},
    {PARAM("speeds", LIST, struct host_spec, speeds), .def = "[]", .of = &speed_element,
     .max = "256",
     .meaning = "Speed of each pCPU in per cent of nominal; one number stands for all.",
     .status = STATUS_ASSUMED},
    {PARAM("boot_spread", DURATION, struct host_spec, boot_spread), .def = "10ms",
     .range = PARAM_NO_RANGE, .max = "1s",
     .meaning = "pCPUs come up at random dates within this time, so that their ticks are not in "
                "step; not used with \"exact\".",
     .status = STATUS_ASSUMED},
    {PARAM("costs", OBJECT, struct host_spec, costs), .def = "{}", .table = &host_cost_params,
     .meaning = "What the hypervisor's own work costs."},
    {PARAM("scheduler", VARIANT, struct host_spec, scheduler), .def = "credit",
     .choices = &scheduler_choices, .meaning = "The scheduler.", .status = STATUS_ASSUMED},
    {PARAM("pools", LIST, struct host_spec, pools), .def = "[]", .of = &pool_element, .max = "256",
     .meaning = "Its cpupools; none: Pool-0 with all pCPUs."},
    {PARAM("line_rate", BITRATE, struct host_spec, line_rate), .def = "platform", .min = "1kbps",
     .word = "platform", .word_value = 0,
     .meaning = "Rate of its NIC, both ways; \"platform\": of the first link of its routes.",
     .status = STATUS_ASSUMED},
    {PARAM("network", OBJECT, struct host_spec, network), .def = "{}", .table = &net_table,
     .meaning = "Its NIC, bridge and back ends."},
    {PARAM("block", OBJECT, struct host_spec, block), .def = "{}", .table = &block_table,
     .meaning = "Its disk, and dom0's work for it."},
    {PARAM("dom0", POINTER, struct host_spec, dom0), .optional = true, .table = &dom0_table,
     .meaning = "The control domain; none if not given."},
    {PARAM("domains", LIST, struct host_spec, domains), .def = "[]", .of = &domain_element,
     .meaning = "The virtual machines."},
};

const struct param_table host_table =
    PARAM_TABLE("host", struct host_spec, host_rows, .meaning = "A Xen host.");
