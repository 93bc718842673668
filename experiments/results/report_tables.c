/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/results/report_tables.h"

#include <string.h>

const struct report_table report_tables[] = {
    {"Latency from the send, ms", SUBJECT_CLIENT, true, true, {"latency_", "throughput"}},
    {"Latency from the intended send, ms", SUBJECT_CLIENT, true, true, {"intended_"}},
    {"Streams", SUBJECT_CLIENT, true, true, {"goodput"}},
    {"Control loops",
     SUBJECT_LOOP,
     true,
     false,
     {"unavailable", "all_late", "outages", "outage_mean", "control_cost", "falls"}},
    {"From the start of a round to its implementation, ms",
     SUBJECT_LOOP,
     false,
     false,
     {"service_"}},
    {"Between two implemented setpoints, ms", SUBJECT_LOOP, false, false, {"gap_"}},
    {"Replicas: in % of rounds", SUBJECT_REPLICA, true, false, {"late", "lost", "crashed"}},
    {"Replicas: delay of setpoints, ms", SUBJECT_REPLICA, true, false, {"delay_"}},
    {"Hosts", SUBJECT_HOST, true, false, {"utilisation", "runs", "moves", "deviation"}},
    {"Domains: time in % of a CPU",
     SUBJECT_GROUP,
     true,
     false,
     {"cpu_share", "entitled", "wake_wait", "preempt_wait", "runs", "moves", "fairness",
      "deviation"}},
    {"Domains: from waking up to running, ms",
     SUBJECT_GROUP,
     false,
     false,
     {"wake_to_run", "late_wakes"}},
    {"Jobs and disks", SUBJECT_GROUP, true, true, {"job_time", "disk_rate"}},
    {"Disk requests, ms", SUBJECT_GROUP, true, true, {"disk_latency"}},
    {"Each domain: time in % of a CPU",
     SUBJECT_DOMAIN,
     false,
     false,
     {"cpu_share", "wake_wait", "preempt_wait"}},
};
const size_t report_table_count = sizeof report_tables / sizeof *report_tables;

bool report_table_lists(const struct report_table *t, const struct metric *m)
{
    for (size_t i = 0; i < sizeof t->prefix / sizeof *t->prefix && t->prefix[i]; i++)
        if (!strncmp(m->name, t->prefix[i], strlen(t->prefix[i])))
            return m->subjects >> t->kind & 1;
    return false;
}
