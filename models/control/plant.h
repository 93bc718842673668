/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes under control, so that a late setpoint costs something.
 *
 * A plant has a state; the actuator holds its last setpoint; a disturbance, drawn once a round,
 * acts on it. Measurement, feedback law and integration are in here, since a replica's setpoint
 * follows from the round's measurement: u = -k x, x as measured. The state between two dates is
 * the exact solution for a constant input (with det_exp, bit-identical everywhere); the cost is the
 * integral of x^2 + effort u^2 by Simpson's rule over the same pieces.
 *
 *   first-order      x' = growth x + u + w               x: dimensionless, growth in 1/s
 *   pendulum         a'' = (g / length) a + u + w        a: angle in rad, linear around upright
 *
 * A state beyond `limit` is a fall: it is counted, and the plant set upright again.
 */
#ifndef HVSIM_CONTROL_PLANT_H
#define HVSIM_CONTROL_PLANT_H

#include "sim/params.h"
#include "sim/random.h"
#include "sim/time.h"

#include <stdbool.h>

enum plant_kind { PLANT_NONE, PLANT_FIRST_ORDER, PLANT_PENDULUM };

struct plant_params {
    enum plant_kind kind;
    double growth;     /* first-order: 1/s, negative for a stable one */
    double length;     /* pendulum: m */
    double gain, rate; /* of the feedback: of x; pendulum: of the angular speed; 0: chosen */
    double noise;      /* deviation of the disturbance, per second (per second^2) */
    double effort;     /* weight of u^2 in the cost */
    double limit;      /* of |x|; 0: none */
    bool hold;         /* the last setpoint; else u is 0 without one within its validity */
};

/* Variants of "plant": data is a struct plant_params, without its kind. */
extern const struct param_choices plant_choices;
enum plant_kind plant_choice_kind(const struct param_choice *choice);

struct plant {
    struct plant_params params;
    double x, v, u, w;
    double cost; /* integral so far, times seconds */
    uint64_t falls;
    sim_time at;
    struct rng rng;
};

/* Fills in gains that are 0. */
void plant_init(struct plant *p, const struct plant_params *params, const char *entity,
                uint64_t seed, uint64_t replication, sim_time start);

void plant_advance(struct plant *p, sim_time now);

/* A new round begins: another disturbance. Returns the setpoint that this measurement causes. */
double plant_measure(struct plant *p, sim_time now);

/* The actuator is given a setpoint. */
void plant_apply(struct plant *p, double u, sim_time now);

#endif
