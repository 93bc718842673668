/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/capture_figures.h"

#include "sim/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OF_SHARE,
    OF_RUN_50,
    OF_RUN_90,
    OF_RUN_99,
    OF_WAKE_50,
    OF_WAKE_90,
    OF_WAKE_99,
    OF_PREEMPT_50,
    OF_PREEMPT_90,
    OF_PREEMPT_99,
    OF_BOOSTS,
    OF_MIGRATIONS,
    OF_VCPU
};

enum { OF_TRIP_50, OF_TRIP_90, OF_TRIP_99, OF_TRIP_999, OF_RATE, OF_LOST, OF_CLIENT };

static const struct {
    const char *name;
    enum figure_kind kind;
} of_vcpu[OF_VCPU] = {
    {"share", FIGURE_SHARE},
    {"run length p50", FIGURE_TIME},
    {"run length p90", FIGURE_TIME},
    {"run length p99", FIGURE_TIME},
    {"wake to run p50", FIGURE_TIME},
    {"wake to run p90", FIGURE_TIME},
    {"wake to run p99", FIGURE_TIME},
    {"preempted wait p50", FIGURE_TIME},
    {"preempted wait p90", FIGURE_TIME},
    {"preempted wait p99", FIGURE_TIME},
    {"boosts", FIGURE_COUNT},
    {"migrations", FIGURE_COUNT},
};

static const struct {
    const char *name;
    enum figure_kind kind;
} of_client[OF_CLIENT] = {
    {"round trip p50", FIGURE_TIME}, {"round trip p90", FIGURE_TIME},
    {"round trip p99", FIGURE_TIME}, {"round trip p99.9", FIGURE_TIME},
    {"requests sent", FIGURE_COUNT}, {"requests lost", FIGURE_SHARE},
};

/* Observations behind a quantile: at least so many beyond it, or it says nothing. */
static const double BEYOND_LEAST = 2;

static size_t vcpu_count(const struct capture *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->guests; i++)
        n += c->guest[i].vcpus;
    return n;
}

size_t capture_figure_count(const struct capture *c)
{
    return vcpu_count(c) * OF_VCPU + OF_CLIENT;
}

struct figure_name capture_figure_name(const struct capture *c, size_t i)
{
    struct figure_name f = {0};
    size_t vcpu = i / OF_VCPU, which = i % OF_VCPU;
    char number[24] = "";

    if (i >= vcpu_count(c) * OF_VCPU) {
        which = i - vcpu_count(c) * OF_VCPU;
        f.kind = of_client[which].kind;
        snprintf(f.name, sizeof f.name, "client: %s", of_client[which].name);
        return f;
    }
    for (size_t g = 0; g < c->guests; vcpu -= c->guest[g++].vcpus)
        if (vcpu < c->guest[g].vcpus) {
            f.kind = of_vcpu[which].kind;
            if (c->guest[g].vcpus > 1)
                snprintf(number, sizeof number, "/v%zu", vcpu);
            snprintf(f.name, sizeof f.name, "%.20s (%.20s)%s: %s", c->guest[g].name,
                     c->guest[g].role, number, of_vcpu[which].name);
            break;
        }
    return f;
}

/* ---- vCPUs ----------------------------------------------------------------------------------- */

static double quantile(const struct xt_stat *s, double q, uint64_t hz)
{
    bool known;
    uint64_t cycles;

    if ((double)s->count * (q > 0.5 ? 1 - q : q) < BEYOND_LEAST)
        return NAN;
    cycles = xt_stat_quantile(s, q, &known);
    return known ? (double)xentrace_ns(cycles, hz) : NAN;
}

static void quantiles(const struct xt_stat *s, uint64_t hz, double *value)
{
    value[0] = quantile(s, 0.5, hz);
    value[1] = quantile(s, 0.9, hz);
    value[2] = quantile(s, 0.99, hz);
}

static void of_trace(const struct capture *c, const struct xt_vcpu *v, uint64_t cycles, uint64_t hz,
                     double *value)
{
    const struct xt_vcpu_summary *s = xentrace_summary_vcpu(v);
    bool blocks;

    if (!s || !cycles)
        return;
    blocks = s->wait[XT_WAIT_WAKE].count > s->wait[XT_WAIT_PREEMPT].count / 50;
    value[OF_SHARE] =
        100 * ((double)s->state[XT_RUNNING].cycles + (double)s->began) / (double)cycles;
    quantiles(&s->run, hz, value + OF_RUN_50);
    if (blocks)
        quantiles(&s->wait[XT_WAIT_WAKE], hz, value + OF_WAKE_50);
    else
        quantiles(&s->wait[XT_WAIT_PREEMPT], hz, value + OF_PREEMPT_50);
    if (!strcmp(c->scheduler, "credit") && blocks)
        value[OF_BOOSTS] = (double)s->tally[XT_TALLY_BOOST_START];
    if (cpumask_weight(&c->guest_cpus) > 1)
        value[OF_MIGRATIONS] = (double)v->migrations;
}

void figures_of_trace(const struct capture *c, const struct xentrace_summary *s, uint64_t hz,
                      double *value)
{
    uint64_t cycles = xt_track_cycles(s->track);

    for (size_t i = 0; i < capture_figure_count(c); i++)
        value[i] = NAN;
    for (size_t i = 0; i < c->guests; i++)
        for (uint32_t k = 0; k < c->guest[i].vcpus; k++, value += OF_VCPU) {
            const struct xt_vcpu *v = xt_track_find(s->track, c->guest[i].domain, k);

            if (v)
                of_trace(c, v, cycles, hz, value);
        }
}

/* ---- round trips ----------------------------------------------------------------------------- */

void figures_of_trips(const struct capture *c, const sim_time *delay, size_t n, double *value)
{
    static const double q[] = {0.5, 0.9, 0.99, 0.999};
    struct samples s = {0};

    value += vcpu_count(c) * OF_VCPU;
    for (size_t i = 0; i < n; i++)
        if (delay[i] >= 0)
            samples_add(&s, (double)delay[i]);
    for (size_t k = 0; k < sizeof q / sizeof *q; k++)
        value[OF_TRIP_50 + k] =
            (double)s.count * (1 - q[k]) < BEYOND_LEAST ? NAN : samples_quantile(&s, q[k]);
    if (c->client.loop == CLIENT_CLOSED || c->client.loop == CLIENT_OPEN)
        value[OF_RATE] = (double)n;
    value[OF_LOST] = n ? 100 * (double)(n - s.count) / (double)n : NAN;
    samples_free(&s);
}

static int captured_trips(const struct capture *c, double *value, struct errors *e)
{
    struct capture_log log;
    sim_time *delay;

    if (capture_read_log(c, &log, e))
        return -1;
    delay = xcalloc(log.rows, sizeof *delay);
    for (size_t i = 0; i < log.rows; i++)
        delay[i] = log.row[i].delay[0];
    figures_of_trips(c, delay, log.rows, value);
    free(delay);
    capture_free_log(&log);
    return 0;
}

int figures_captured(const struct capture *c, double *value, struct errors *e)
{
    for (size_t i = 0; i < capture_figure_count(c); i++)
        value[i] = NAN;
    if (c->trace) {
        struct xentrace_reader *r = xentrace_open(c->trace, e);
        struct xentrace_summary *s;
        struct xentrace_record rec;

        if (!r)
            return -1;
        s = xentrace_summary_new();
        while (xentrace_next(r, &rec))
            xentrace_summary_record(s, &rec);
        xentrace_summary_end(s);
        figures_of_trace(c, s, c->tsc_hz, value);
        xentrace_summary_free(s);
        xentrace_close(r);
    }
    return c->log && c->client.loop != CLIENT_ROUNDS ? captured_trips(c, value, e) : 0;
}
