/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/control/plant.h"

#include <math.h>

#define GRAVITY 9.80665 /* m/s^2, standard */

#define COMMON_ROWS                                                                                \
    {PARAM("gain", NUMBER, struct plant_params, gain),                                             \
     .def = "0",                                                                                   \
     .range = PARAM_NO_RANGE,                                                                      \
     .min = "0",                                                                                   \
     .max = "1e6",                                                                                 \
     .meaning = "Of the feedback, of x; 0: poles at twice the plant's own speed.",                 \
     .status = STATUS_ASSUMED},                                                                    \
        {PARAM("effort", NUMBER, struct plant_params, effort),                                     \
         .def = "0",                                                                               \
         .range = PARAM_NO_RANGE,                                                                  \
         .min = "0",                                                                               \
         .max = "1e9",                                                                             \
         .meaning = "Weight of u^2 in the cost.",                                                  \
         .status = STATUS_ASSUMED},                                                                \
    {                                                                                              \
        PARAM("hold", BOOLEAN, struct plant_params, hold),                                         \
            .def = "true", .range = PARAM_NO_RANGE,                                                \
            .meaning =                                                                             \
                "Without a valid setpoint the actuator holds the last one; false: it goes to "     \
                "0.",                                                                              \
            .status = STATUS_ASSUMED                                                               \
    }

static const struct param first_order_rows[] = {
    {PARAM("growth", NUMBER, struct plant_params, growth), .def = "5", .range = PARAM_NO_RANGE,
     .min = "-1e6", .max = "1e6",
     .meaning = "Rate at which a deviation grows if nothing is done, per second; negative: it "
                "dies out.",
     .status = STATUS_ASSUMED},
    {PARAM("noise", NUMBER, struct plant_params, noise), .def = "1", .range = PARAM_NO_RANGE,
     .min = "0", .max = "1e6",
     .meaning = "Deviation of the disturbance, which is drawn once a round.",
     .status = STATUS_ASSUMED},
    {PARAM("limit", NUMBER, struct plant_params, limit), .def = "10", .range = PARAM_NO_RANGE,
     .min = "0", .max = "1e9",
     .meaning = "Deviation that counts as a fall, after which it begins at 0 again; 0: none.",
     .status = STATUS_ASSUMED},
    COMMON_ROWS,
};
static const struct param_table first_order_table =
    PARAM_TABLE("first-order", struct plant_params, first_order_rows,
                .meaning = "x' = growth x + u + disturbance.");

static const struct param pendulum_rows[] = {
    {PARAM("length", NUMBER, struct plant_params, length), .def = "0.25", .range = PARAM_NO_RANGE,
     .min = "0.001", .max = "1000", .meaning = "To its centre of mass, in metres.",
     .status = STATUS_ASSUMED},
    {PARAM("rate_gain", NUMBER, struct plant_params, rate), .def = "0", .range = PARAM_NO_RANGE,
     .min = "0", .max = "1e6",
     .meaning = "Of the feedback, of the angular speed; 0: chosen with gain.",
     .status = STATUS_ASSUMED},
    {PARAM("noise", NUMBER, struct plant_params, noise), .def = "2", .range = PARAM_NO_RANGE,
     .min = "0", .max = "1e6",
     .meaning = "Deviation of the disturbance in rad/s^2, which is drawn once a round.",
     .status = STATUS_ASSUMED},
    {PARAM("limit", NUMBER, struct plant_params, limit), .def = "0.5", .range = PARAM_NO_RANGE,
     .min = "0", .max = "3",
     .meaning = "Angle in rad that counts as a fall, after which it is set up again; 0: none.",
     .status = STATUS_ASSUMED},
    COMMON_ROWS,
};
static const struct param_table pendulum_table =
    PARAM_TABLE("pendulum", struct plant_params, pendulum_rows,
                .meaning = "An inverted pendulum, linear around upright.");

static const struct param_choice choices[] = {
    {.name = "none", .meaning = "Nothing is controlled; delays are all that is of interest."},
    {.name = "first-order", .table = &first_order_table},
    {.name = "pendulum", .table = &pendulum_table},
    {0},
};
const struct param_choices plant_choices = {.tag = "type", .array = choices};

enum plant_kind plant_choice_kind(const struct param_choice *choice)
{
    return (enum plant_kind)(choice - choices);
}

static double square(double x)
{
    return x * x;
}

/* Poles of the closed loop are chosen at -2 times the plant's own time constant. */
static void choose_gains(struct plant_params *c)
{
    double w2;

    if (c->kind == PLANT_FIRST_ORDER && c->gain == 0)
        c->gain = c->growth + 2 * (c->growth > 0 ? c->growth : -c->growth);
    if (c->kind != PLANT_PENDULUM)
        return;
    w2 = GRAVITY / c->length;
    if (c->gain == 0)
        c->gain = 5 * w2; /* (s + 2 w)^2 = s^2 + 4 w s + 4 w^2 */
    if (c->rate == 0)
        c->rate = 4 * sqrt(w2);
}

void plant_init(struct plant *p, const struct plant_params *params, const char *entity,
                uint64_t seed, uint64_t replication, sim_time start)
{
    *p = (struct plant){.params = *params, .at = start};
    choose_gains(&p->params);
    rng_init(&p->rng, seed, replication, entity, "disturbance");
}

/* x' = a x + f for t seconds. */
static void first_order(struct plant *p, double t)
{
    double a = p->params.growth, f = p->u + p->w;

    if (a == 0)
        p->x += f * t;
    else
        p->x += det_expm1(a * t) * (p->x + f / a);
}

/* x'' = w2 x + f for t seconds. */
static void pendulum(struct plant *p, double t)
{
    double w2 = GRAVITY / p->params.length, w = sqrt(w2), c = (p->u + p->w) / w2;
    double up = det_exp(w * t), down = 1 / up, x = p->x + c, v = p->v / w;

    p->x = (x * (up + down) + v * (up - down)) / 2 - c;
    p->v = w * (x * (up - down) + v * (up + down)) / 2;
}

static void step(struct plant *p, double t)
{
    if (p->params.kind == PLANT_FIRST_ORDER)
        first_order(p, t);
    else
        pendulum(p, t);
}

void plant_advance(struct plant *p, sim_time now)
{
    double t = (double)(now - p->at) / 1e9, before = square(p->x), middle;

    p->at = now;
    if (p->params.kind == PLANT_NONE || t <= 0)
        return;
    step(p, t / 2);
    middle = square(p->x);
    step(p, t / 2);
    p->cost += t * ((before + 4 * middle + square(p->x)) / 6 + p->params.effort * square(p->u));
    if (p->params.limit > 0 && fabs(p->x) > p->params.limit) {
        p->falls++;
        p->x = p->v = p->u = 0;
    }
}

double plant_measure(struct plant *p, sim_time now)
{
    plant_advance(p, now);
    p->w = p->params.noise * rng_normal(&p->rng);
    return -(p->params.gain * p->x + p->params.rate * p->v);
}

void plant_apply(struct plant *p, double u, sim_time now)
{
    plant_advance(p, now);
    p->u = u;
}
