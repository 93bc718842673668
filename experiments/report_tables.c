/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/report_tables.h"

#include <string.h>

const struct report_table report_tables[] = {
    {"Latency from the send, ms", SUBJECT_CLIENT, true, {"latency_", "throughput"}},
    {"Latency from the intended send, ms", SUBJECT_CLIENT, true, {"intended_"}},
    {"Control loops",
     SUBJECT_LOOP,
     true,
     {"unavailable", "all_late", "outages", "outage_mean", "control_cost", "falls"}},
    {"From the start of a round to its implementation, ms", SUBJECT_LOOP, false, {"service_"}},
    {"Between two implemented setpoints, ms", SUBJECT_LOOP, false, {"gap_"}},
    {"Replicas: in % of rounds", SUBJECT_REPLICA, true, {"late", "lost", "crashed"}},
    {"Replicas: delay of setpoints, ms", SUBJECT_REPLICA, true, {"delay_"}},
    {"Hosts", SUBJECT_HOST, true, {"utilisation", "runs", "moves"}},
    {"Domains: time in % of a CPU",
     SUBJECT_GROUP,
     true,
     {"cpu_share", "wake_wait", "preempt_wait", "runs", "moves", "fairness"}},
    {"Domains: from waking up to running, ms", SUBJECT_GROUP, false, {"wake_to_run"}},
    {"Each domain: time in % of a CPU",
     SUBJECT_DOMAIN,
     false,
     {"cpu_share", "wake_wait", "preempt_wait"}},
};
const size_t report_table_count = sizeof report_tables / sizeof *report_tables;

bool report_table_lists(const struct report_table *t, const struct metric *m)
{
    for (size_t i = 0; i < 6 && t->prefix[i]; i++)
        if (!strncmp(m->name, t->prefix[i], strlen(t->prefix[i])))
            return m->subjects >> t->kind & 1;
    return false;
}
