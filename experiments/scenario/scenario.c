/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/scenario.h"

#include "experiments/scenario/datadir.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct param domain_name_element = {PARAM_ELEMENT(STRING, char *)};

static const struct param client_rows[] = {
    {PARAM("name", NAME, struct client_spec, name), .refers = "client",
     .meaning = "Its name; with \"count\", numbers are put behind it."},
    {PARAM("count", INTEGER, struct client_spec, count), .def = "1", .range = PARAM_NO_RANGE,
     .min = "1", .max = "65535", .meaning = "How many of them there are.",
     .status = STATUS_ASSUMED},
    {PARAM("on", NAME, struct client_spec, on), .optional = true, .refers = "host of the platform",
     .meaning = "The platform's host it runs on, which clients may share; the one of its own name "
                "if not given."},
    {PARAM("to", STRING, struct client_spec, to),
     .meaning = "The domain that serves it: \"domain\", or \"host/domain\"."},
    {PARAM("port", INTEGER, struct client_spec, port), .def = "only", .min = "1", .max = "65535",
     .word = "only", .word_value = 0,
     .meaning = "Port of the server program; \"only\": of the domain's only one.",
     .status = STATUS_ASSUMED},
    {PARAM("also", LIST, struct client_spec, also), .def = "[]", .of = &domain_name_element,
     .max = "63",
     .meaning = "Further domains: each request goes to all at once (fan-out), and is complete when "
                "the load's \"wait_for\" of them have replied."},
    {PARAM("start", DURATION, struct client_spec, start), .def = "0", .range = PARAM_NO_RANGE,
     .max = "1000d", .meaning = "When it begins; not before the hosts are up.",
     .status = STATUS_ASSUMED},
    {PARAM("start_spread", DURATION, struct client_spec, start_spread), .def = "100ms",
     .range = PARAM_NO_RANGE, .max = "1h",
     .meaning = "It begins up to this much later, at random; 0 with \"exact\".",
     .status = STATUS_ASSUMED},
    {PARAM("load", OBJECT, struct client_spec, load), .def = "{}", .table = &client_table,
     .meaning = "What it sends, and when."},
    {PARAM("stream", POINTER, struct client_spec, stream), .optional = true, .table = &stream_table,
     .meaning = "Bulk TCP to or from the domain, which needs no server, instead of requests."},
    {PARAM("ping", POINTER, struct client_spec, ping), .optional = true, .table = &ping_table,
     .meaning = "ICMP echo requests to the domain, which needs no server, instead of the load."},
};

static const struct param_table client_spec_table =
    PARAM_TABLE("client", struct client_spec, client_rows,
                .meaning = "A program on a machine of its own that sends requests to a domain.");

static const struct param action_rows[] = {
    {PARAM("at", DURATION, struct action_spec, at), .max = "1000d", .meaning = "When."},
    {PARAM("every", DURATION, struct action_spec, every), .def = "once", .min = "1ms",
     .max = "1000d", .word = "once", .word_value = 0,
     .meaning = "And again each time so much later, to the end of the run.",
     .status = STATUS_ASSUMED},
    {PARAM("do", VARIANT, struct action_spec, act), .choices = &action_choices,
     .meaning = "What is done."},
    {PARAM("target", STRING, struct action_spec, target),
     .meaning = "To whom: a host or link of the platform, or a domain (\"domain\" or "
                "\"host/domain\")."},
};

static const struct param outage_rows[] = {
    {PARAM("host", NAME, struct outage_spec, host), .refers = "host of the platform",
     .meaning = "The platform's host that fails."},
    {PARAM("mttf", DURATION, struct outage_spec, mttf), .min = "1ms", .max = "100000d",
     .meaning = "Mean time from being up to a failure."},
    {PARAM("mttr", DURATION, struct outage_spec, mttr), .min = "1ms", .max = "1000d",
     .meaning = "Mean time from a failure to the next boot."},
    {PARAM("up_shape", NUMBER, struct outage_spec, up_shape), .def = "1", .min = "0.1", .max = "20",
     .meaning = "Shape of the Weibull times up; 1: exponential.", .status = STATUS_ASSUMED},
    {PARAM("down_shape", NUMBER, struct outage_spec, down_shape), .def = "1", .min = "0.1",
     .max = "20", .meaning = "The same of times down.", .status = STATUS_ASSUMED},
};

static const struct param_table outage_table =
    PARAM_TABLE("outages", struct outage_spec, outage_rows,
                .meaning = "Random failures of a host, with all that runs on it.");

static const struct param_table action_table = PARAM_TABLE(
    "action", struct action_spec, action_rows, .meaning = "Something done during the run.");

static const struct param host_element = {PARAM_ELEMENT(OBJECT, struct host_spec),
                                          .table = &host_table};
static const struct param client_element = {PARAM_ELEMENT(OBJECT, struct client_spec),
                                            .table = &client_spec_table};
static const struct param loop_element = {PARAM_ELEMENT(OBJECT, struct loop_spec),
                                          .table = &loop_table};
static const struct param action_element = {PARAM_ELEMENT(OBJECT, struct action_spec),
                                            .table = &action_table};

static const struct param outage_element = {PARAM_ELEMENT(OBJECT, struct outage_spec),
                                            .table = &outage_table};

static const struct param pointer_element = {PARAM_ELEMENT(STRING, char *)};

/* In the order of enum fleet_network. */
static const char *const networks[] = {"wires", "simgrid", NULL};

static const struct param scenario_rows[] = {
    {PARAM("title", STRING, struct scenario, title), .def = "", .meaning = "One line for people."},
    {PARAM("question", STRING, struct scenario, question), .def = "",
     .meaning = "What the scenario is to answer."},
    {PARAM("seed", INTEGER, struct scenario, seed), .def = "1", .range = PARAM_NO_RANGE, .min = "0",
     .meaning = "Of all random streams: the same seed gives the same results.",
     .status = STATUS_ASSUMED},
    {PARAM("replications", INTEGER, struct scenario, replications), .def = "10",
     .range = PARAM_NO_RANGE, .min = "1", .max = "100000",
     .meaning = "Independent runs; intervals are computed from what they differ.",
     .status = STATUS_ASSUMED},
    {PARAM("confidence", PERCENT, struct scenario, confidence), .def = "95%",
     .range = PARAM_NO_RANGE, .min = "50%", .max = "99.99%", .meaning = "Of the intervals.",
     .status = STATUS_ASSUMED},
    {PARAM("warmup", DURATION, struct scenario, warmup), .def = "1s", .range = PARAM_NO_RANGE,
     .min = "20ms", .max = "1000d", .meaning = "Start of each run that is not measured.",
     .status = STATUS_ASSUMED},
    {PARAM("duration", DURATION, struct scenario, duration), .def = "10s", .range = PARAM_NO_RANGE,
     .min = "1ms", .max = "1000d", .meaning = "Time that is measured, after the warm-up.",
     .status = STATUS_ASSUMED},
    {PARAM("drain", DURATION, struct scenario, drain), .def = "1s", .range = PARAM_NO_RANGE,
     .max = "1h",
     .meaning =
         "With clients or control loops, the run goes on for this long, so that what was sent "
         "late in the measured time is answered.",
     .status = STATUS_ASSUMED},
    {PARAM("platform", STRING, struct scenario, platform), .def = "one-host.platform.xml",
     .meaning = "SimGrid's platform file: beside the scenario, or one that comes with hvsim.",
     .status = STATUS_ASSUMED},
    {PARAM("network", ENUM, struct scenario, network), .def = "wires", .range = PARAM_NO_RANGE,
     .names = networks,
     .meaning = "wires: packets queue at the two NICs only; simgrid: each is a SimGrid "
                "communication, slower, right where links in the middle are contended.",
     .status = STATUS_ASSUMED},
    {PARAM("exact", BOOLEAN, struct scenario, exact), .def = "false", .range = PARAM_NO_RANGE,
     .meaning = "All costs are zero and free choices take the lowest number: Xen's own schedule.",
     .status = STATUS_ASSUMED},
    {PARAM("hosts", LIST, struct scenario, hosts), .of = &host_element, .min = "1",
     .meaning = "The Xen hosts."},
    {PARAM("clients", LIST, struct scenario, clients), .def = "[]", .of = &client_element,
     .meaning = "Who sends requests to them."},
    {PARAM("control", LIST, struct scenario, loops), .def = "[]", .of = &loop_element,
     .meaning = "Replicated control loops."},
    {PARAM("actions", LIST, struct scenario, actions), .def = "[]", .of = &action_element,
     .meaning = "What is done to them during the run."},
    {PARAM("outages", LIST, struct scenario, outages), .def = "[]", .of = &outage_element,
     .meaning = "Hosts that fail at random."},
    {PARAM("calibrated", LIST, struct scenario, calibrated), .def = "[]", .of = &pointer_element,
     .meaning = "JSON pointers (\"-\" for each element of a list) of values that a calibration "
                "gave: results list them, and what is below, as calibrated."},
};

static void release(void *target)
{
    struct scenario *s = target;

    free(s->platform_file);
}

static const struct param_table scenario_table = PARAM_TABLE(
    "scenario", struct scenario, scenario_rows,
    .meaning = "Hosts, what runs on them and who asks them for what.", .release = release);

const struct config_format scenario_format = {"scenario", 1, &scenario_table};

/* ---- reading --------------------------------------------------------------------------------- */

char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return xstrdup(".");
    return slash == path ? xstrdup("/") : xasprintf("%.*s", (int)(slash - path), path);
}

char *counted_name(const char *name, int64_t count, int64_t k)
{
    return count > 1 ? xasprintf("%s%lld", name, (long long)k + 1) : xstrdup(name);
}

static int find_platform(struct scenario *s, const struct json *doc, const char *dir,
                         struct errors *e)
{
    char *beside =
        *s->platform == '/' ? xstrdup(s->platform) : xasprintf("%s/%s", dir, s->platform);

    if (!access(beside, R_OK)) {
        s->platform_file = beside;
        return 0;
    }
    s->platform_file = data_file("library", s->platform);
    if (!s->platform_file)
        json_error_at(
            doc, "/platform", e,
            "no such file: neither %s nor in hvsim's library; \"one-host.platform.xml\" is",
            beside);
    free(beside);
    return s->platform_file ? 0 : -1;
}

struct scenario *scenario_read(const struct json *doc, const char *dir, struct errors *e)
{
    struct scenario *s = xcalloc(1, sizeof *s);
    size_t before = e->count;

    config_read(&scenario_format, doc, s, e);
    if (json_kind(json_root(doc)) == JSON_OBJECT) {
        if (s->platform)
            find_platform(s, doc, dir, e);
        scenario_check(s, doc, e);
    }
    if (e->count > before) {
        scenario_free(s);
        return NULL;
    }
    scenario_apply_exact(s);
    return s;
}

void scenario_free(struct scenario *s)
{
    if (!s)
        return;
    params_free(&scenario_table, s);
    free(s);
}
