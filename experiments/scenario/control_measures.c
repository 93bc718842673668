/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/scenario/control_measures.h"

#include "sim/error.h"

#include <stdlib.h>

static void measure_replica(struct loop_measures *m, const struct agent *a, uint32_t replica,
                            bool *late)
{
    const struct control_record *r = &a->record;

    histogram_init(&m->delay[replica], HISTOGRAM_3_DIGITS);
    for (size_t i = 0; i < m->rounds; i++) {
        sim_time delay = r->delay[(r->first + i) * r->replicas + replica];

        late[i * r->replicas + replica] = delay < 0 || delay > a->loop->params->horizon;
        m->lost[replica] += delay < 0;
        if (delay >= 0)
            histogram_record(&m->delay[replica], delay);
    }
    runs_add(&m->late[replica], late + replica, m->rounds, r->replicas);
}

static void measure_service(struct loop_measures *m, const struct agent *a)
{
    const struct control_record *r = &a->record;
    bool *out = xcalloc(m->rounds, sizeof *out);
    sim_time before = -1;

    for (size_t i = 0; i < m->rounds; i++) {
        sim_time took = r->accepted[r->first + i], date = r->sent[r->first + i] + took;

        out[i] = took < 0;
        if (took < 0)
            continue;
        histogram_record(&m->service, took);
        if (before >= 0)
            histogram_record(&m->gap, date - before);
        before = date;
    }
    runs_add(&m->outage, out, m->rounds, 1);
    free(out);
}

void loop_measures_init(struct loop_measures *m, const struct agent *a)
{
    const struct control_record *r = &a->record;
    bool *late;

    *m = (struct loop_measures){.rounds = r->end - r->first, .replicas = r->replicas};
    histogram_init(&m->service, HISTOGRAM_3_DIGITS);
    histogram_init(&m->gap, HISTOGRAM_3_DIGITS);
    late = xcalloc(m->rounds * r->replicas, sizeof *late);
    for (uint32_t i = 0; i < r->replicas; i++)
        measure_replica(m, a, i, late);
    for (size_t i = 0; i < m->rounds; i++) {
        bool all = true;

        for (uint32_t k = 0; k < r->replicas; k++)
            all &= late[i * r->replicas + k];
        m->all_late += all;
    }
    measure_service(m, a);
    free(late);
}

void loop_measures_free(struct loop_measures *m)
{
    if (!m->service.bucket)
        return;
    for (uint32_t i = 0; i < m->replicas; i++)
        histogram_free(&m->delay[i]);
    histogram_free(&m->service);
    histogram_free(&m->gap);
}
