/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/replication_capture.h"

#include "experiments/validate/capture_machine.h"
#include "sim/json_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double capture_deadlines_ms[CAPTURE_DEADLINES] = {5, 8, 10, 20};
const double capture_quantiles[CAPTURE_QUANTILES] = {0.5, 0.9, 0.99};

/* The guests settle for so long before the first round, as in the captures. */
#define SETTLE (1100 * NS_PER_MS)
#define PHASES (100 * NS_PER_MS) /* random part of all starts */

/* Of the guests' kernels' timers (assumed): between the phases of one in two guests, and of two in
 * one guest. */
#define TIMERS_STEP (197 * NS_PER_MS)
#define TIMERS_OWN_STEP (89 * NS_PER_MS)

unsigned capture_replicas(const struct capture *c)
{
    unsigned n = 0;

    for (size_t i = 0; i < c->guests; i++)
        n += (c->guest[i].programs & CAPTURE_REPLICA) != 0;
    return n;
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* A part of the machine's description, or nothing. */
static void put_machine(struct json_writer *w, const char *key, const struct json *machine,
                        const char *pointer)
{
    struct json_value v = json_at(machine, pointer);

    if (json_exists(v))
        json_put_value(w, key, v);
}

static void put_cpus(struct json_writer *w, const char *key, const cpumask *cpus, uint32_t count)
{
    char text[MAX_PCPUS * 5], *at = text;

    for (uint32_t c = 0; c < count; c++)
        if (cpumask_test(cpus, c))
            at += sprintf(at, "%s%u", at == text ? "" : ",", c);
    *at = 0;
    json_put_string(w, key, text);
}

static void put_scheduler(struct json_writer *w, const char *name, const struct capture *c)
{
    bool credit = !strcmp(name, "credit");

    json_begin_inline(w, "scheduler", '{');
    json_put_string(w, "type", name);
    if (credit && c->tslice > 0)
        json_put_quantity(w, "tslice", QUANTITY_DURATION, c->tslice);
    if ((credit || !strcmp(name, "credit2")) && c->ratelimit >= 0)
        json_put_quantity(w, "ratelimit", QUANTITY_DURATION, c->ratelimit);
    json_end(w);
}

/* dom0's pCPUs, if the guests have a pool of their own; empty: they have not. */
static cpumask dom0_pool(const struct capture *c)
{
    cpumask all = cpumask_first_n(c->pcpus), rest = cpumask_andnot(&all, &c->guest_cpus);

    return c->placement == PLACED_POOL ? cpumask_and(&rest, &c->dom0_cpus) : (cpumask){{0}};
}

static bool has_pools(const struct capture *c)
{
    cpumask own = dom0_pool(c);

    return !cpumask_empty(&own);
}

static void put_pools(struct json_writer *w, const struct capture *c, const struct json *machine)
{
    cpumask own = dom0_pool(c);
    char *overhead;

    if (!has_pools(c)) {
        put_scheduler(w, c->dom0_scheduler, c);
        return;
    }
    overhead = xasprintf("/overhead/%s", c->scheduler);
    json_put_string(w, "scheduler", c->dom0_scheduler);
    json_begin(w, "pools", '[');
    json_begin_inline(w, NULL, '{');
    json_put_string(w, "name", "Pool-0");
    put_cpus(w, "cpus", &own, c->pcpus);
    json_end(w);
    json_begin_inline(w, NULL, '{');
    json_put_string(w, "name", "P1");
    put_cpus(w, "cpus", &c->guest_cpus, c->pcpus);
    put_machine(w, "overhead", machine, overhead);
    put_scheduler(w, c->scheduler, c);
    json_end(w);
    json_end(w);
    free(overhead);
}

/* ---- guests ---------------------------------------------------------------------------------- */

static void put_controller(struct json_writer *w, const struct capture_guest *g)
{
    json_begin_inline(w, NULL, '{');
    json_begin_inline(w, "run", '{');
    json_put_string(w, "type", "controller");
    json_begin_inline(w, "compute", '{');
    json_put_quantity(w, "time", QUANTITY_DURATION, g->compute);
    json_end(w);
    json_end(w);
    json_end(w);
}

/* As long as its loop takes, see capture.h. */
static void put_lookbusy(struct json_writer *w, const struct capture *c,
                         const struct capture_guest *g)
{
    sim_time burst = capture_burst(c, g->lookbusy_burst);
    sim_time cycle = burst + g->lookbusy_sleep;

    json_begin_inline(w, NULL, '{');
    json_begin_inline(w, "run", '{');
    json_put_string(w, "type", "lookbusy");
    json_put_quantity(w, "busy", QUANTITY_PERCENT, (int64_t)((int128)burst * PERCENT_ALL / cycle));
    json_put_quantity(w, "cycle", QUANTITY_DURATION, cycle);
    json_put_quantity(w, "slack", QUANTITY_DURATION, 0);
    json_put_boolean(w, "feedback", false);
    json_end(w);
    json_end(w);
}

static void put_hog(struct json_writer *w, const char *class)
{
    json_begin_inline(w, NULL, '{');
    json_put_string(w, "run", "hog");
    json_put_string(w, "class", class);
    json_end(w);
}

/* Guest i's kernel's own timers. */
static void put_kernel_timers(struct json_writer *w, size_t i)
{
    for (size_t k = 0; k < CAPTURE_KERNEL_TIMERS; k++) {
        const struct capture_kernel_timer *t = &capture_kernel_timers[k];
        sim_time phase = (sim_time)i * TIMERS_STEP + (sim_time)k * TIMERS_OWN_STEP;

        json_begin_inline(w, NULL, '{');
        json_begin_inline(w, "run", '{');
        json_put_string(w, "type", "periodic");
        json_put_quantity(w, "period", QUANTITY_DURATION, t->period);
        json_put_quantity(w, "compute", QUANTITY_DURATION, t->work);
        json_put_quantity(w, "phase", QUANTITY_DURATION, phase % t->period);
        json_put_boolean(w, "deferrable", t->deferrable);
        json_end(w);
        json_end(w);
    }
}

static void put_rtds(struct json_writer *w, const struct capture_guest *g)
{
    json_begin(w, "per_vcpu", '[');
    json_begin_inline(w, NULL, '{');
    json_begin_inline(w, "set", '{');
    json_put_string(w, "scheduler", "rtds");
    json_put_quantity(w, "period", QUANTITY_DURATION, g->rtds_period);
    json_put_quantity(w, "budget", QUANTITY_DURATION, g->rtds_budget);
    json_put_boolean(w, "extratime", g->rtds_extratime);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void put_guest(struct json_writer *w, const struct capture *c, const struct capture_guest *g,
                      const struct json *machine)
{
    cpumask pinned = has_pools(c) ? g->pinned : c->guest_cpus;
    cpumask all = cpumask_all();

    if (!has_pools(c) && !cpumask_equal(&g->pinned, &all))
        pinned = g->pinned;
    json_begin(w, NULL, '{');
    json_put_string(w, "name", g->name);
    json_put_integer(w, "vcpus", g->vcpus);
    json_put_integer(w, "weight", g->weight);
    json_put_integer(w, "cap", g->cap);
    if (has_pools(c))
        json_put_string(w, "pool", "P1");
    if (!cpumask_equal(&pinned, &all))
        put_cpus(w, "hard_affinity", &pinned, c->pcpus);
    json_put_quantity(w, "start_spread", QUANTITY_DURATION, PHASES);
    put_machine(w, "costs", machine, "/guest/costs");
    put_machine(w, "network", machine, "/guest/network");
    if (g->rtds_period)
        put_rtds(w, g);
    json_begin(w, "programs", '[');
    put_kernel_timers(w, (size_t)(g - c->guest));
    if (g->programs & CAPTURE_REPLICA)
        put_controller(w, g);
    if (g->programs & CAPTURE_LOOKBUSY)
        put_lookbusy(w, c, g);
    if (g->programs & CAPTURE_HOG)
        put_hog(w, "normal");
    if (g->programs & CAPTURE_IDLE_HOG)
        put_hog(w, "idle");
    json_end(w);
    json_end(w);
}

static void put_dom0(struct json_writer *w, const struct capture *c, const struct json *machine)
{
    json_begin(w, "dom0", '{');
    json_put_integer(w, "vcpus", c->dom0_vcpus);
    if (!has_pools(c))
        put_cpus(w, "hard_affinity", &c->dom0_cpus, c->pcpus);
    put_machine(w, "costs", machine, "/dom0/costs");
    json_end(w);
}

static void put_host(struct json_writer *w, const struct capture *c, const struct json *machine)
{
    json_begin(w, NULL, '{');
    json_put_string(w, "name", "xen");
    json_put_integer(w, "pcpus", c->pcpus);
    put_machine(w, "costs", machine, "/host/costs");
    put_machine(w, "network", machine, "/host/network");
    put_pools(w, c, machine);
    put_dom0(w, c, machine);
    json_begin(w, "domains", '[');
    for (size_t i = 0; i < c->guests; i++)
        put_guest(w, c, &c->guest[i], machine);
    json_end(w);
    json_end(w);
}

static void put_loop(struct json_writer *w, const struct capture *c)
{
    json_begin(w, NULL, '{');
    json_put_string(w, "name", "rounds");
    json_put_string(w, "in", "xen/dom0");
    json_put_quantity(w, "start", QUANTITY_DURATION, SETTLE);
    json_put_quantity(w, "start_spread", QUANTITY_DURATION, PHASES);
    json_put_quantity(w, "period", QUANTITY_DURATION, c->client.period);
    json_put_quantity(w, "horizon", QUANTITY_DURATION, c->client.period);
    json_put_string(w, "order", c->client.rotate ? "rotating" : "fixed");
    json_begin(w, "replicas", '[');
    for (size_t i = 0; i < c->guests; i++)
        if (c->guest[i].programs & CAPTURE_REPLICA) {
            json_begin_inline(w, NULL, '{');
            json_put_string(w, "type", "domain");
            json_put_string(w, "domain", c->guest[i].name);
            json_end(w);
        }
    json_end(w);
    json_end(w);
}

struct json *replication_scenario(const struct capture *c, const struct json *machine,
                                  struct errors *e)
{
    sim_time rounds = (sim_time)c->client.requests * c->client.period;
    struct json_writer w;
    struct json *doc;
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    w = json_writer(out, JSON_LINES);
    json_begin(&w, NULL, '{');
    json_put_integer(&w, "version", 1);
    json_put_string(&w, "title", c->capture);
    json_put_quantity(&w, "warmup", QUANTITY_DURATION, 20 * NS_PER_MS);
    json_put_quantity(&w, "duration", QUANTITY_DURATION, SETTLE + PHASES + rounds);
    json_put_quantity(&w, "drain", QUANTITY_DURATION, 6 * c->client.period);
    json_begin(&w, "hosts", '[');
    put_host(&w, c, machine);
    json_end(&w);
    json_begin(&w, "control", '[');
    put_loop(&w, c);
    json_end(&w);
    json_end(&w);
    fclose(out);
    doc = json_parse(c->capture, text, size, e);
    free(text);
    return doc;
}

/* ---- figures --------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    sim_time x = *(const sim_time *)a, y = *(const sim_time *)b;

    return (x > y) - (x < y);
}

/* As the captures' own statistics: the value of rank floor(q n) of the sorted ones, from 0. */
static void quantiles(const sim_time *delay, size_t n, unsigned replicas, unsigned j,
                      double quantile[CAPTURE_QUANTILES])
{
    sim_time *came = xcalloc(n, sizeof *came);
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (delay[i * replicas + j] >= 0)
            came[count++] = delay[i * replicas + j];
    qsort(came, count, sizeof *came, by_size);
    for (size_t k = 0; k < CAPTURE_QUANTILES; k++) {
        size_t rank = (size_t)((double)count * capture_quantiles[k]);

        quantile[k] =
            count ? (double)came[rank < count ? rank : count - 1] / (double)NS_PER_MS : NAN;
    }
    free(came);
}

void replication_figures(const sim_time *delay, size_t n, unsigned replicas,
                         struct replication_figures *f)
{
    *f = (struct replication_figures){0};
    for (unsigned j = 0; j < replicas; j++)
        quantiles(delay, n, replicas, j, f->quantile[j]);
    for (size_t d = 0; d < CAPTURE_DEADLINES; d++) {
        double deadline = capture_deadlines_ms[d] * (double)NS_PER_MS, product = 1;
        size_t late[CAPTURE_REPLICAS] = {0}, all = 0;

        for (size_t i = 0; i < n; i++) {
            unsigned count = 0;

            for (unsigned j = 0; j < replicas; j++) {
                sim_time x = delay[i * replicas + j];
                bool is = x < 0 || (double)x > deadline;

                late[j] += is;
                count += is;
            }
            all += count == replicas;
        }
        for (unsigned j = 0; j < replicas; j++) {
            f->late[j][d] = (double)late[j] / (double)n;
            product *= f->late[j][d];
        }
        f->all_late[d] = (double)all / (double)n;
        f->lift[d] = product > 0 ? f->all_late[d] / product : -1;
    }
}
