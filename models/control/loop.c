/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a control loop's parts. */
#include "models/control/loop.h"

#include "sim/distribution_params.h"

static const struct param path_rows[] = {
    {PARAM("loss", PERCENT, struct control_path, loss), .def = "0%", .range = "0%..0.1%",
     .max = "100%", .meaning = "Chance for each message to be lost.", .status = STATUS_ASSUMED},
    {PARAM("delay", CUSTOM, struct control_path, delay), .def = "0ns", .range = "0ns..500us",
     .type = &dist_time_type, .meaning = "Delay of each message.", .status = STATUS_ASSUMED},
};
const struct param_table control_path_table = PARAM_TABLE(
    "path", struct control_path, path_rows,
    .meaning = "What happens to messages besides what the simulated network does to them.");

static const struct param sensor_rows[] = {
    {PARAM("count", INTEGER, struct sensor_params, count), .def = "1", .range = PARAM_NO_RANGE,
     .min = "1", .max = "64",
     .meaning = "Sensors; a replica needs the measurements of all for a setpoint.",
     .status = STATUS_ASSUMED},
    {PARAM("jitter", CUSTOM, struct sensor_params, jitter), .def = "0ns", .range = "0ns..500us",
     .type = &dist_time_type,
     .meaning = "By how much a measurement is sent after its round began; less than a period.",
     .status = STATUS_ASSUMED},
    {PARAM("loss", PERCENT, struct sensor_params, loss), .def = "0%", .range = "0%..0.1%",
     .max = "100%", .meaning = "Chance that a sensor sends no measurement in a round.",
     .status = STATUS_ASSUMED},
};
const struct param_table sensor_table = PARAM_TABLE("sensors", struct sensor_params, sensor_rows,
                                                    .meaning = "What measures the process.");

static const struct param agreement_rows[] = {
    {PARAM("on", BOOLEAN, struct agreement_params, on), .def = "false", .range = PARAM_NO_RANGE,
     .meaning = "Replicas agree on the measurements before they compute, after Quarts.",
     .status = STATUS_ASSUMED},
    {PARAM("receive", DURATION, struct agreement_params, receive), .def = "0.5ms", .min = "1us",
     .max = "10s", .meaning = "Time for the measurements to come in.",
     .source = "a third party's simulation of Quarts: the network's largest delay",
     .status = STATUS_CITED},
    {PARAM("collect", DURATION, struct agreement_params, collect), .def = "1ms", .min = "1us",
     .max = "10s", .meaning = "Time to ask other replicas for what is missing.",
     .source = "the same: twice the network's largest delay", .status = STATUS_CITED},
    {PARAM("vote", DURATION, struct agreement_params, vote), .def = "1.5ms", .min = "1us",
     .max = "10s", .meaning = "Time to agree on what is used.",
     .source = "the same: three times the network's largest delay", .status = STATUS_CITED},
};
const struct param_table agreement_table =
    PARAM_TABLE("agreement", struct agreement_params, agreement_rows,
                .meaning = "Agreement on the measurements.");

static const struct param detector_rows[] = {
    {PARAM("misses", INTEGER, struct detector_params, misses), .def = "off", .min = "1",
     .max = "1000000", .word = "off", .word_value = 0,
     .meaning = "Rounds in a row without a valid setpoint of a replica after which it is "
                "restarted.",
     .status = STATUS_ASSUMED},
    {PARAM("restart", DURATION, struct detector_params, restart), .def = "1s",
     .range = PARAM_NO_RANGE, .max = "1h", .meaning = "Time that a restart takes.",
     .status = STATUS_ASSUMED},
};
const struct param_table detector_table =
    PARAM_TABLE("detector", struct detector_params, detector_rows,
                .meaning = "Detection and recovery of replicas that are late, after Axo.");
