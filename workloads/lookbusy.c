/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/lookbusy.h"

#include "sim/random.h"
#include "workloads/program_start.h"

enum lookbusy_state { LOOKBUSY_NEW, LOOKBUSY_SPINS, LOOKBUSY_SLEEPS };

struct lookbusy {
    struct lookbusy_params params;
    enum lookbusy_state state;
    sim_time phase;             /* before the first burst */
    sim_time spin;              /* length of the bursts, as corrected */
    sim_time began;             /* of the burst under way */
    sim_time seen_cpu, seen_at; /* CPU time and date at the last correction */
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

/* Lengthen or shorten the bursts by `gain` of what the last cycle had too little or too much. */
static void correct(struct lookbusy *s, const struct thread *t, sim_time now)
{
    sim_time wanted = share(now - s->seen_at, s->params.busy), had = t->cpu_time - s->seen_cpu;

    if (s->params.feedback && s->seen_at < now && s->bursts > 1)
        s->spin += share(wanted - had, s->params.gain);
    if (s->spin < s->params.cycle / 1000)
        s->spin = s->params.cycle / 1000;
    if (s->spin > s->params.cycle)
        s->spin = s->params.cycle;
    s->seen_at = now;
    s->seen_cpu = t->cpu_time;
}

static struct guest_op lookbusy_next(struct thread *t, sim_time now)
{
    struct lookbusy *s = t->state;
    sim_time rest;

    if (s->state == LOOKBUSY_NEW && s->phase > 0) {
        s->state = LOOKBUSY_SLEEPS;
        return (struct guest_op){OP_SLEEP, now + s->phase};
    }
    if (s->state != LOOKBUSY_SPINS) {
        correct(s, t, now);
        s->state = LOOKBUSY_SPINS;
        return (struct guest_op){OP_COMPUTE, s->spin};
    }
    s->bursts++;
    rest = s->params.cycle - s->spin;
    if (rest <= 0) {
        correct(s, t, now);
        return (struct guest_op){OP_COMPUTE, s->spin};
    }
    s->state = LOOKBUSY_SLEEPS;
    return (struct guest_op){OP_SLEEP, now + rest};
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
    {PARAM("feedback", BOOLEAN, struct lookbusy_params, feedback), .def = "false",
     .meaning = "Correct the length of the bursts so that the wanted part of wall time comes out.",
     .status = STATUS_ASSUMED},
    {PARAM("gain", PERCENT, struct lookbusy_params, gain), .def = "10%", .max = "100%",
     .meaning = "Part of the last cycle's error that one correction makes up for.",
     .status = STATUS_ASSUMED},
    {PARAM("random_phase", BOOLEAN, struct lookbusy_params, random_phase), .def = "true",
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
