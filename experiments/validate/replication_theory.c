/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Closed forms of independent replicas, and a third party's simulation of Quarts (facts: papers.md
 * B3): period 20 ms, network delay uniform up to 0.5 ms, 10 sensors, delay faults with chance 1e-3
 * a cycle, crashes with long-run chance 1e-4 and a mean repair of 1 s.
 */
#include "experiments/validate/validate_replication.h"
#include "models/control/agent.h"
#include "models/control/importance.h"
#include "sim/pool.h"
#include "sim/rare.h"
#include "sim/wire.h"

#include <math.h>
#include <stdlib.h>

#define PERIOD (20 * NS_PER_MS)
#define DEADLINE (8 * NS_PER_MS)
#define DELAY_FAULT 1e-3
#define CRASHED 1e-4
#define REPAIR NS_PER_S
#define LEVEL 0.95

enum { SENSORS = 10, SAMPLES = 400000 };

static int64_t percent(double p)
{
    return (int64_t)(p * (double)PERCENT_ALL + 0.5);
}

static struct control_params parameters(void)
{
    return (struct control_params){
        .period = PERIOD,
        .horizon = DEADLINE,
        .give_up = 1,
        .votes = 1,
        .bytes = 130,
        .sensors = {.count = 1, .jitter = dist_make(DIST_CONSTANT, 0, 0, 0)}};
}

/* ---- independent replicas: importance sampling against the closed form ------------------------
 */

static struct node_params independent_node(void)
{
    double mean = (double)DEADLINE / -det_log(DELAY_FAULT);
    double mttf = (double)REPAIR * (1 - CRASHED) / CRASHED;

    return (struct node_params){
        .compute = {.time = dist_make(DIST_EXPONENTIAL, mean, 0, 0),
                    .slow = dist_make(DIST_CONSTANT, 0, 0, 0),
                    .mttf = (sim_time)(mttf + 0.5),
                    .repair = dist_make(DIST_EXPONENTIAL, (double)REPAIR, 0, 0)},
        .jitter = dist_make(DIST_CONSTANT, 0, 0, 0)};
}

/* A closed form against an interval: holds if it is inside, which may be no wider than `relative`
 * of it. */
static void add_closed_form(struct checks *c, const char *group, char *name, double reference,
                            const struct interval *i, double relative)
{
    struct check row = check_row(group, name);
    char *tolerance = xasprintf(
        "closed form inside the 99.9 %% interval, its half-width below %g %%", 100 * relative);

    row.reference = reference;
    row.simulated = i->estimate;
    row.low = i->low;
    row.high = i->high;
    row.tolerance_text = tolerance;
    row.verdict = !interval_given(i) || interval_half(i) > relative * reference ? VERDICT_NONE
                  : reference >= i->low && reference <= i->high                 ? VERDICT_HOLDS
                                                                                : VERDICT_SHORT;
    checks_add(c, &row);
    free(tolerance);
    free(name);
}

static void check_independent(struct checks *c)
{
    struct node_params node = independent_node();
    struct control_params p = parameters();
    struct importance_replica replica[3];
    double single = 1 - (1 - CRASHED) * (1 - DELAY_FAULT), all = 1;
    struct interval i;

    for (int k = 0; k < 3; k++)
        replica[k] = (struct importance_replica){&node, 0};
    for (uint32_t g = 1; g <= 3; g++) {
        all *= single;
        i = importance_unavailable(&p, replica, g, g < 3 ? SAMPLES : 8 * SAMPLES, true, 1, 0.999);
        add_closed_form(c, "independent replicas, importance sampling",
                        xasprintf("P(all of %u faulty in a cycle)", g), all, &i, 0.1);
    }
    i = importance_unavailable(&p, replica, 1, 4 * SAMPLES, false, 1, 0.999);
    add_closed_form(c, "independent replicas, importance sampling",
                    xasprintf("P(all of 1 faulty in a cycle), plain sampling"), single, &i, 0.2);
}

/* ---- missing measurements ---------------------------------------------------------------------
 */

/* A measurement is missing if it was lost, and so was the question or the answer of each other
 * replica. */
static bool measurement_missing(struct biased *b, double loss, uint32_t g)
{
    bool missing = biased_event(b, loss, 0.3);

    for (uint32_t k = 1; k < g && missing; k++) {
        bool asked = !biased_event(b, loss, 0.3), answered = !biased_event(b, loss, 0.3);

        missing = !(asked && answered);
    }
    return missing;
}

static struct interval any_missing(double loss, uint32_t g)
{
    enum { BATCHES = 20 };
    double mean[BATCHES];
    struct rng rng;

    rng_init(&rng, g, 0, "missing measurements", "biased");
    for (int batch = 0; batch < BATCHES; batch++) {
        double none = 1; /* sensors are independent: 1 - prod (1 - P(one missing)) */
        double sum = 0;

        for (int i = 0; i < SAMPLES / BATCHES; i++) {
            struct biased b = {&rng, 1};

            if (measurement_missing(&b, loss, g))
                sum += b.weight;
        }
        sum /= SAMPLES / BATCHES;
        for (int s = 0; s < SENSORS; s++)
            none *= 1 - sum;
        mean[batch] = 1 - none;
    }
    return interval_weighted(mean, BATCHES, 0.999);
}

static void check_missing(struct checks *c)
{
    const double loss = 1e-3;

    for (uint32_t g = 1; g <= 3; g++) {
        double one = loss;
        struct interval i = any_missing(loss, g);

        for (uint32_t k = 1; k < g; k++)
            one *= 1 - (1 - loss) * (1 - loss);
        add_closed_form(c, "agreement: measurements missing after collecting",
                        xasprintf("P(any of %d missing), %u replicas", SENSORS, g),
                        -det_expm1(SENSORS * det_log(1 - one)), &i, 0.1);
    }
}

/* ---- a third party's simulation of Quarts -----------------------------------------------------
 */

/* As published: cycles of which so many were unavailable. */
static const struct published {
    uint32_t g;
    double loss;
    uint64_t cycles, unavailable;
    bool judged; /* the rule of the vote is given for two replicas at most */
} published[] = {
    {1, 1e-3, 10000, 10, true},  {2, 1e-3, 10000, 3, true},   {2, 1e-2, 10000, 5, true},
    {2, 1e-2, 3000, 1, true},    {2, 0.1, 10000, 61, true},   {2, 0.1, 3000, 20, true},
    {2, 0.2, 3000, 198, true},   {2, 0.4, 3000, 1127, true},  {3, 0.1, 3000, 2, false},
    {3, 0.2, 3000, 117, false},  {3, 0.4, 3000, 2074, false}, {4, 0.2, 3000, 1, false},
    {4, 0.4, 3000, 1893, false}, {5, 0.2, 3000, 1, false},    {5, 0.4, 3000, 1547, false},
};
enum { PUBLISHED = sizeof published / sizeof *published, CYCLES = 40000 };

/* Crashes are rare and long: they are made so much more likely, and what they add scaled down
 * again (to first order: two crashes at a time do not count). */
#define MORE_CRASHES 100

struct quarts {
    struct control_params params;
    struct control_path path;
    struct node_params node;
    struct control_loop loop;
    struct plant_params plant;
    struct fleet fleet;
    struct machine agent_machine, machine[CONTROL_REPLICAS];
    struct agent agent;
    struct control_node *replica[CONTROL_REPLICAS];
    struct replica_counts counts[CONTROL_REPLICAS];
};

static void quarts_build(struct quarts *q, const struct published *p, bool crashes, uint64_t seed)
{
    double mttf = (double)REPAIR / (CRASHED * MORE_CRASHES);
    sim_time end = (sim_time)CYCLES * PERIOD;

    q->params = parameters();
    q->params.horizon = PERIOD - 1;
    q->params.sensors.count = SENSORS;
    q->params.agreement =
        (struct agreement_params){true, NS_PER_MS / 2, NS_PER_MS, 3 * NS_PER_MS / 2};
    q->path = (struct control_path){percent(p->loss),
                                    dist_make(DIST_UNIFORM, 0, (double)NS_PER_MS / 2, 0)};
    q->params.path = &q->path;
    q->params.paths = 1;
    q->node = (struct node_params){
        .compute = {.time = dist_make(DIST_CONSTANT, 1000, 0, 0),
                    .slow = dist_make(DIST_CONSTANT, 0, 0, 0),
                    .fault = percent(DELAY_FAULT),
                    .mttf = crashes ? (sim_time)mttf : 0,
                    .repair = dist_make(DIST_EXPONENTIAL, (double)REPAIR, 0, 0)},
        .jitter = dist_make(DIST_CONSTANT, 0, 0, 0)};
    fleet_init(&q->fleet);
    q->loop = (struct control_loop){.params = &q->params,
                                    .name = "quarts",
                                    .seed = seed,
                                    .start = NS_PER_MS,
                                    .until = end,
                                    .replicas = p->g};
    machine_init(&q->agent_machine, "agent", &agent_machine_ops, NULL);
    fleet_add(&q->fleet, &q->agent_machine);
    q->loop.agent.machine = &q->agent_machine;
    for (uint32_t i = 0; i < p->g; i++) {
        machine_init(&q->machine[i], "node", &control_node_ops, NULL);
        fleet_add(&q->fleet, &q->machine[i]);
        q->loop.replica[i].machine = &q->machine[i];
    }
    fleet_connect_all(&q->fleet);
    for (uint32_t i = 0; i < q->fleet.count; i++)
        for (uint32_t k = 0; k < q->fleet.count; k++)
            if (i != k)
                path_set(machine_path(q->fleet.machine[i], q->fleet.machine[k]), NS_PER_US, 0);
    fleet_rewire(&q->fleet);
    agent_init(&q->agent, &q->loop, &q->plant, 0, end, end + PERIOD);
    agent_on_machine(&q->agent, &q->agent_machine);
    for (uint32_t i = 0; i < p->g; i++) {
        char *name = xasprintf("node%u", i + 1);

        q->replica[i] =
            control_node_new(&q->machine[i], &q->loop, i, &q->node, &q->counts[i], name, 0);
        free(name);
    }
}

static void quarts_free(struct quarts *q)
{
    agent_free(&q->agent);
    for (uint32_t i = 0; i < q->loop.replicas; i++)
        control_node_free(q->replica[i]);
    fleet_free(&q->fleet);
    machine_free(&q->agent_machine);
    for (uint32_t i = 0; i < q->loop.replicas; i++)
        machine_free(&q->machine[i]);
}

/* The actuator's own losses are not part of the published figures: a cycle is available if a
 * replica issues a setpoint in it. */
static double unavailable(const struct published *p, bool crashes, uint64_t seed)
{
    struct quarts *q = xcalloc(1, sizeof *q);
    uint64_t out = 0;
    double share;

    quarts_build(q, p, crashes, seed);
    q->agent.issued = xcalloc(q->agent.record.capacity, 1);
    fleet_run_to(&q->fleet, (sim_time)(CYCLES + 1) * PERIOD);
    for (size_t k = 0; k < CYCLES; k++)
        out += !q->agent.issued[k];
    share = (double)out / CYCLES;
    free(q->agent.issued);
    quarts_free(q);
    free(q);
    return share;
}

static int simulate(void *ctx, size_t index, FILE *out, struct errors *e)
{
    const struct published *p = &published[index];
    double calm = unavailable(p, false, 1), share;

    (void)ctx;
    (void)e;
    share = calm + (unavailable(p, true, 2) - calm) / MORE_CRASHES;
    fwrite(&share, sizeof share, 1, out);
    return 0;
}

struct theory_checks {
    struct checks *checks;
    struct errors *e;
};

static int take(void *ctx, const struct pool_result *r)
{
    const struct theory_checks *t = ctx;
    const struct published *p = &published[r->index];
    struct interval i = interval_proportion(p->unavailable, p->cycles, PROPORTION_JEFFREYS, LEVEL);
    char *name = xasprintf("unavailable, %u replicas, loss %g (%llu of %llu cycles)", p->g, p->loss,
                           (unsigned long long)p->unavailable, (unsigned long long)p->cycles);
    struct check row = check_row("a third party's simulation of Quarts", name);

    if (r->outcome == POOL_DONE && r->size == sizeof(double))
        row.simulated = *(const double *)r->data;
    else
        error_add(t->e, EXIT_INTERNAL, "%s: the simulation was lost: %s", name,
                  r->reason ? r->reason : "no result");
    row.reference = i.estimate;
    row.tolerance_text = "inside their 95 % interval";
    row.low = i.low;
    row.high = i.high;
    if (p->judged && !isnan(row.simulated))
        row.verdict =
            row.simulated >= i.low && row.simulated <= i.high ? VERDICT_HOLDS : VERDICT_SHORT;
    row.note = p->judged ? "the interval is theirs (Jeffreys)"
                         : "the facts do not give the rule of the vote from 3 replicas on";
    checks_add(t->checks, &row);
    free(name);
    return 0;
}

int replication_check_theory(unsigned jobs, struct checks *c, struct errors *e)
{
    struct theory_checks t = {c, e};
    struct pool pool = {
        .tasks = PUBLISHED, .jobs = jobs, .ctx = &t, .work = simulate, .in_order = take};
    size_t before = e->count;

    check_independent(c);
    check_missing(c);
    if (pool_run(&pool, e) == POOL_INTERRUPTED)
        error_add(e, EXIT_INTERRUPTED, "interrupted");
    return e->count > before ? -1 : 0;
}
