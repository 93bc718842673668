/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/lookbusy.h"

#include "sim/random.h"
#include "workloads/program_start.h"

enum { CLOCK_TICK = 10 * NS_PER_MS }; /* of the times that Linux shows in /proc/stat */
enum {
    BURST_MIN = 30 * NS_PER_US
}; /* lookbusy: 10000 turns of its loop, of about 3 ns (assumed) */
#define BURST_MAX (INT64_C(1) << 50) /* 13 days: for ever */

enum lookbusy_state { LOOKBUSY_NEW, LOOKBUSY_SPINS, LOOKBUSY_SLEEPS };

struct lookbusy {
    struct lookbusy_params params;
    enum lookbusy_state state;
    sim_time phase; /* before the first burst */
    sim_time spin;  /* length of the burst, as corrected */
    sim_time began; /* date of the cycle */
    sim_time busy;  /* the guest's CPU time then, in whole ticks */
    uint64_t bursts;
};

/* `cycle` times a percentage, rounded down. */
static sim_time share(sim_time cycle, int64_t percent)
{
    return (sim_time)((int128)cycle * percent / PERCENT_ALL);
}

static void lookbusy_init(struct thread *t, const void *params)
{
    struct lookbusy *s = t->state;

    s->params = *(const struct lookbusy_params *)params;
    s->spin = share(s->params.cycle, s->params.busy);
}

static sim_time busy_time(const struct guest *g)
{
    return guest_busy_time(g) / CLOCK_TICK * CLOCK_TICK;
}

/* A cycle is over, the next begins. */
static void correct(struct lookbusy *s, const struct guest *g, sim_time now)
{
    sim_time busy = busy_time(g), wall = now - s->began;
    uint32_t vcpus = g->domain->vcpu_count;

    if (s->params.feedback && s->bursts && wall > 0) {
        int64_t seen = 100 * (busy - s->busy) / vcpus / wall;
        int64_t missing = s->params.busy - seen * (PERCENT_ALL / 100);

        s->spin += (sim_time)((int128)s->spin * missing / PERCENT_ALL / vcpus);
        if (s->spin < BURST_MIN)
            s->spin = BURST_MIN;
        if (s->spin > BURST_MAX)
            s->spin = BURST_MAX;
    }
    s->began = now;
    s->busy = busy;
}

static struct guest_op lookbusy_next(struct thread *t, sim_time now)
{
    struct lookbusy *s = t->state;
    sim_time rest = s->params.cycle - share(s->params.cycle, s->params.busy);

    if (s->state == LOOKBUSY_NEW && s->phase > 0) {
        s->state = LOOKBUSY_SLEEPS;
        return (struct guest_op){OP_SLEEP, now + s->phase};
    }
    if (s->state == LOOKBUSY_SPINS) {
        s->bursts++;
        if (rest > 0) {
            s->state = LOOKBUSY_SLEEPS;
            return (struct guest_op){OP_SLEEP, now + rest + s->params.slack};
        }
    }
    correct(s, t->gv->guest, now);
    s->state = LOOKBUSY_SPINS;
    return (struct guest_op){OP_COMPUTE, s->spin};
}

struct thread *lookbusy_start(const void *params, const struct program_site *site)
{
    struct thread *t = guest_add_thread(site_vcpu(site, 0), &program_lookbusy, params, site->entity,
                                        site->class, site->priority);
    struct lookbusy *s = t->state;
    struct rng r;

    if (s->params.random_phase) {
        rng_init(&r, site->seed, site->replication, site->entity, "phase");
        s->phase = (sim_time)rng_below(&r, (uint64_t)s->params.cycle);
    }
    return t;
}

struct program_counts lookbusy_counts(const struct thread *first)
{
    return (struct program_counts){.jobs = ((const struct lookbusy *)first->state)->bursts};
}

static const struct param lookbusy_rows[] = {
    {PARAM("busy", PERCENT, struct lookbusy_params, busy), .def = "30%", .min = "0.1%",
     .max = "100%", .meaning = "Part of each cycle that it spins.",
     .source = "TerrierTail's scripts: lookbusy -c 30", .status = STATUS_CITED},
    {PARAM("cycle", DURATION, struct lookbusy_params, cycle), .def = "100ms", .min = "1ms",
     .max = "1h", .meaning = "Length of a cycle that nothing delays.",
     .source = "lookbusy's source", .status = STATUS_CITED},
    {PARAM("slack", DURATION, struct lookbusy_params, slack), .def = "50us", .max = "10ms",
     .meaning = "How late the timer is that ends each sleep.",
     .source = "Linux: default timer slack of a thread", .status = STATUS_CITED},
    {PARAM("feedback", BOOLEAN, struct lookbusy_params, feedback), .def = "true",
     .meaning = "Correct the length of the bursts after each cycle; shares that cannot be had make "
                "them grow without end.",
     .source = "lookbusy's source", .status = STATUS_CITED},
    {PARAM("random_phase", BOOLEAN, struct lookbusy_params, random_phase), .def = "true",
     .range = PARAM_NO_RANGE,
     .meaning = "Begin after a random part of a cycle, rather than at once.",
     .status = STATUS_ASSUMED},
};
static const struct param_table lookbusy_table =
    PARAM_TABLE("lookbusy", struct lookbusy_params, lookbusy_rows,
                .meaning = "Spins for a part of each cycle, sleeps for the rest.");

const struct program program_lookbusy = {.name = "lookbusy",
                                         .meaning = "Spins for a part of each cycle, then sleeps.",
                                         .params = &lookbusy_table,
                                         .state_size = sizeof(struct lookbusy),
                                         .init = lookbusy_init,
                                         .next = lookbusy_next};
