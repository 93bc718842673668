/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/scenario_control.h"

/* ---- replicas -------------------------------------------------------------------------------- */

static const struct param domain_rows[] = {
    {PARAM("domain", STRING, struct replica_domain_spec, domain),
     .meaning = "\"domain\" or \"host/domain\"; an entry with \"count\" stands for all of them."},
};
static const struct param_table domain_table =
    PARAM_TABLE("replica in a domain", struct replica_domain_spec, domain_rows,
                .meaning = "A domain that runs the program \"controller\".");

static const struct param node_rows[] = {
    {PARAM("on", NAME, struct replica_node_spec, on), .refers = "host of the platform",
     .meaning = "The platform's host; with \"count\", numbers are put behind it."},
    {PARAM("count", INTEGER, struct replica_node_spec, count), .def = "1", .range = PARAM_NO_RANGE,
     .min = "1", .max = "16", .meaning = "How many of them there are.", .status = STATUS_ASSUMED},
    {PARAM("node", OBJECT, struct replica_node_spec, node), .def = "{}", .table = &node_table,
     .meaning = "What it does."},
};
static const struct param_table on_node_table =
    PARAM_TABLE("replica on a node", struct replica_node_spec, node_rows,
                .meaning = "A machine of its own, without a hypervisor.");

static const struct param_choice places[] = {
    [REPLICA_IN_DOMAIN] = {.name = "domain", .table = &domain_table},
    [REPLICA_ON_NODE] = {.name = "node", .table = &on_node_table},
    {0},
};
static const struct param_choices place_choices = {.tag = "type", .array = places};

enum replica_place replica_place(const struct replica_spec *r)
{
    return (enum replica_place)(r->where.choice - places);
}

static const struct param replica_element = {PARAM_ELEMENT(VARIANT, struct replica_spec),
                                             .choices = &place_choices};
static const struct param path_element = {PARAM_ELEMENT(OBJECT, struct control_path),
                                          .table = &control_path_table};
static const struct param deadline_element = {PARAM_ELEMENT(DURATION, sim_time), .min = "1us",
                                              .max = "1h"};

/* ---- the loop -------------------------------------------------------------------------------- */

/* In the order of the enums. */
static const char *const orders[] = {"fixed", "rotating", NULL};
static const char *const modes[] = {"active", "passive", NULL};
static const char *const accepts[] = {"valid", "latest", NULL};

static const struct param loop_rows[] = {
    {PARAM("name", NAME, struct loop_spec, name), .refers = "control loop", .meaning = "Its name."},
    {PARAM("on", NAME, struct loop_spec, on), .optional = true, .refers = "host of the platform",
     .meaning = "The platform's host that sensors, masker and actuator are on; the one of the "
                "loop's name if neither this nor \"in\" is given."},
    {PARAM("in", STRING, struct loop_spec, in), .optional = true,
     .meaning = "Or the domain they are a program in: \"xen/dom0\"."},
    {PARAM("port", INTEGER, struct loop_spec, port), .def = "5100", .range = PARAM_NO_RANGE,
     .min = "1", .max = "65535", .meaning = "Port at which setpoints are received.",
     .status = STATUS_ASSUMED},
    {PARAM("start", DURATION, struct loop_spec, start), .def = "0", .range = PARAM_NO_RANGE,
     .max = "1000d", .meaning = "When its first round begins; not before the hosts are up.",
     .status = STATUS_ASSUMED},
    {PARAM("start_spread", DURATION, struct loop_spec, start_spread), .def = "100ms",
     .range = PARAM_NO_RANGE, .max = "1h",
     .meaning = "It begins up to this much later, at random, so that all phases against the hosts' "
                "timers come up; 0 with \"exact\".",
     .status = STATUS_ASSUMED},
    {PARAM("period", DURATION, struct loop_spec, control.period), .def = "20ms", .min = "1ms",
     .max = "1h", .meaning = "Between two rounds.",
     .source = "phasor measurement on EPFL's campus grid, T-RECS: 20 ms", .status = STATUS_CITED},
    {PARAM("horizon", DURATION, struct loop_spec, control.horizon), .def = "10ms",
     .range = PARAM_NO_RANGE, .min = "10us", .max = "1h",
     .meaning = "Validity of a setpoint, from the start of its round.", .status = STATUS_ASSUMED},
    {PARAM("deadlines", LIST, struct loop_spec, deadlines), .def = "[]", .of = &deadline_element,
     .max = "64", .meaning = "Deadlines for which lateness is reported, besides the horizon."},
    {PARAM("give_up", INTEGER, struct loop_spec, control.give_up), .def = "5",
     .range = PARAM_NO_RANGE, .min = "1", .max = "1000",
     .meaning = "Periods after which a setpoint counts as lost.", .status = STATUS_ASSUMED},
    {PARAM("order", ENUM, struct loop_spec, control.order), .def = "fixed", .range = PARAM_NO_RANGE,
     .names = orders,
     .meaning = "Order in which a measurement is sent to the replicas; rotating: each round the "
                "next one is first.",
     .status = STATUS_ASSUMED},
    {PARAM("mode", ENUM, struct loop_spec, control.mode), .def = "active", .range = PARAM_NO_RANGE,
     .names = modes,
     .meaning = "active: all replicas compute; passive: one does, and is replaced when its "
                "heartbeats stay away.",
     .status = STATUS_ASSUMED},
    {PARAM("accept", ENUM, struct loop_spec, control.accept), .def = "valid",
     .range = PARAM_NO_RANGE, .names = accepts,
     .meaning = "valid: a setpoint within its validity; latest: it must have been caused by the "
                "latest measurement, too (intentionality).",
     .status = STATUS_ASSUMED},
    {PARAM("votes", INTEGER, struct loop_spec, control.votes), .def = "1", .range = PARAM_NO_RANGE,
     .min = "1", .max = "16",
     .meaning = "Replicas that must have sent a round's setpoint before it is implemented.",
     .status = STATUS_ASSUMED},
    {PARAM("bytes", SIZE, struct loop_spec, control.bytes), .def = "130B", .min = "64B",
     .max = "9000B", .meaning = "Size of a message on the wire, framing included.",
     .source = "64 bytes of payload in the captures, and 66 of UDP, IP and Ethernet",
     .status = STATUS_CITED},
    {PARAM("heartbeat", DURATION, struct loop_spec, control.heartbeat), .def = "20ms",
     .range = PARAM_NO_RANGE, .min = "1ms", .max = "1h",
     .meaning = "Passive: between two heartbeats of the primary.", .status = STATUS_ASSUMED},
    {PARAM("missed", INTEGER, struct loop_spec, control.missed), .def = "2",
     .range = PARAM_NO_RANGE, .min = "1", .max = "1000",
     .meaning = "Passive: heartbeats missed before a backup takes over; each further one in line "
                "waits for one more.",
     .status = STATUS_ASSUMED},
    {PARAM("sensors", OBJECT, struct loop_spec, control.sensors), .def = "{}",
     .table = &sensor_table, .meaning = "What measures."},
    {PARAM("agreement", OBJECT, struct loop_spec, control.agreement), .def = "{}",
     .table = &agreement_table, .meaning = "Agreement on measurements before computing."},
    {PARAM("detector", OBJECT, struct loop_spec, control.detector), .def = "{}",
     .table = &detector_table, .meaning = "Detection and recovery of late replicas."},
    {PARAM("paths", LIST, struct loop_spec, path), .def = "[]", .of = &path_element, .max = "4",
     .meaning = "Each message takes all of these, and the first copy counts (iPRP); none: the "
                "network as it is."},
    {PARAM("replicas", LIST, struct loop_spec, replicas), .of = &replica_element, .min = "1",
     .max = "16", .meaning = "The controller's replicas, in their order."},
    {PARAM("plant", VARIANT, struct loop_spec, plant), .def = "none", .choices = &plant_choices,
     .meaning = "What is controlled."},
};

static int check(void *target, struct json_value v, struct errors *e)
{
    struct loop_spec *l = target;
    size_t before = e->count;

    l->control.path = l->path.item;
    l->control.paths = (uint32_t)l->path.count;
    if (l->on && l->in)
        json_error_in(v, "in", e, "\"on\" and \"in\" are both given; say where the agent is once");
    if (l->control.horizon > l->control.give_up * l->control.period)
        json_error_in(v, "horizon", e,
                      "it is longer than \"give_up\" periods, after which setpoints are lost");
    if (l->control.agreement.on && l->control.mode == CONTROL_PASSIVE)
        json_error_in(v, "agreement", e, "a passive replica does not agree on anything");
    return e->count > before ? -1 : 0;
}

const struct param_table loop_table = PARAM_TABLE(
    "control loop", struct loop_spec, loop_rows,
    .meaning = "Sensors, replicas of a controller, a masker and an actuator.", .check = check);
