/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Quantile functions and means, by kind ---- */

static double constant_draw(const struct distribution *d, struct rng *r)
{
    (void)r;
    return d->p[0];
}

static double constant_mean(const struct distribution *d)
{
    return d->p[0];
}

static double uniform_draw(const struct distribution *d, struct rng *r)
{
    return d->p[0] + (d->p[1] - d->p[0]) * rng_uniform(r);
}

static double uniform_mean(const struct distribution *d)
{
    return (d->p[0] + d->p[1]) / 2;
}

static double exponential_draw(const struct distribution *d, struct rng *r)
{
    return rng_exponential(r, d->p[0]);
}

static double normal_draw(const struct distribution *d, struct rng *r)
{
    return d->p[0] + d->p[1] * rng_normal(r);
}

static double lognormal_draw(const struct distribution *d, struct rng *r)
{
    return d->p[0] * det_exp(d->p[1] * rng_normal(r));
}

static double lognormal_mean(const struct distribution *d)
{
    return d->p[0] * det_exp(d->p[1] * d->p[1] / 2);
}

/* (e^(k x) - 1) / k, which is x for k = 0: what a shape parameter does to an exponential. */
static double stretched(double x, double k)
{
    return k == 0 ? x : det_expm1(k * x) / k;
}

static double pareto_draw(const struct distribution *d, struct rng *r)
{
    return d->p[0] + d->p[1] * stretched(-det_log(rng_uniform(r)), d->p[2]);
}

static double pareto_mean(const struct distribution *d)
{
    return d->p[2] < 1 ? d->p[0] + d->p[1] / (1 - d->p[2]) : INFINITY;
}

static double gev_draw(const struct distribution *d, struct rng *r)
{
    return d->p[0] + d->p[1] * stretched(-det_log(-det_log(rng_uniform(r))), d->p[2]);
}

#define EULER_GAMMA 0x1.2788cfc6fb619p-1

static double gev_mean(const struct distribution *d)
{
    double k = d->p[2];

    if (k >= 1)
        return INFINITY;
    if (k > -1e-6 && k < 1e-6) /* Gumbel; the next term of the expansion is 2 k */
        return d->p[0] + d->p[1] * (EULER_GAMMA + 0.98905599532797255539 * k);
    return d->p[0] + d->p[1] * (det_gamma(1 - k) - 1) / k;
}

static double weibull_draw(const struct distribution *d, struct rng *r)
{
    return d->p[0] * det_pow(-det_log(rng_uniform(r)), 1 / d->p[1]);
}

static double weibull_mean(const struct distribution *d)
{
    return d->p[0] * det_gamma(1 + 1 / d->p[1]);
}

/*
 * Marsaglia, Tsang, "A simple method for generating gamma variables", ACM TOMS 26(3), 2000, for
 * shape >= 1; below, a draw with shape + 1 times U^(1 / shape). Without their squeeze step: one
 * more logarithm, fewer branches.
 */
static double gamma_draw(const struct distribution *d, struct rng *r)
{
    double shape = d->p[1] < 1 ? d->p[1] + 1 : d->p[1];
    double a = shape - 1.0 / 3, c = 1 / sqrt(9 * a), x, v, u;

    do {
        do {
            x = rng_normal(r);
            v = 1 + c * x;
        } while (v <= 0);
        v = v * v * v;
        u = rng_uniform(r);
    } while (det_log(u) >= x * x / 2 + a * (1 - v + det_log(v)));
    v *= a * d->p[0];
    return d->p[1] < 1 ? v * det_pow(rng_uniform(r), 1 / d->p[1]) : v;
}

static double gamma_mean(const struct distribution *d)
{
    return d->p[0] * d->p[1];
}

/* One uniform number both chooses and, stretched to (0, 1) again, draws. */
static double hyperexponential_draw(const struct distribution *d, struct rng *r)
{
    double u = rng_uniform(r), p = d->p[2];

    return u < p ? -d->p[1] * det_log((p - u) / p) : -d->p[0] * det_log((1 - u) / (1 - p));
}

static double mixed_mean(const struct distribution *d)
{
    return (1 - d->p[2]) * d->p[0] + d->p[2] * d->p[1];
}

static double bimodal_draw(const struct distribution *d, struct rng *r)
{
    return rng_uniform(r) < 1 - d->p[2] ? d->p[0] : d->p[1];
}

/* The first index whose cumulative probability is above u; `points` if there is none. */
static size_t find(const struct distribution *d, double u)
{
    size_t low = 0, high = d->points;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (d->probability[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double empirical_draw(const struct distribution *d, struct rng *r)
{
    double u = rng_uniform(r), share;
    size_t i = find(d, u);

    if (i == 0)
        return d->value[0];
    if (i == d->points) /* the last probability is 1, so only by its rounding */
        return d->value[d->points - 1];
    share = (u - d->probability[i - 1]) / (d->probability[i] - d->probability[i - 1]);
    return d->value[i - 1] + (d->value[i] - d->value[i - 1]) * share;
}

static double empirical_mean(const struct distribution *d)
{
    double mean = d->probability[0] * d->value[0];

    for (size_t i = 1; i < d->points; i++)
        mean += (d->probability[i] - d->probability[i - 1]) * (d->value[i] + d->value[i - 1]) / 2;
    return mean;
}

static double points_draw(const struct distribution *d, struct rng *r)
{
    size_t i = find(d, rng_uniform(r));

    if (i < d->points)
        return d->value[i];
    return d->rest ? dist_draw(d->rest, r) : d->value[d->points - 1];
}

static double points_mean(const struct distribution *d)
{
    double mean = d->probability[0] * d->value[0];

    for (size_t i = 1; i < d->points; i++)
        mean += (d->probability[i] - d->probability[i - 1]) * d->value[i];
    if (d->rest)
        mean += (1 - d->probability[d->points - 1]) * dist_mean(d->rest);
    return mean;
}

/* ---- The table ---- */

#define ANY -INFINITY, INFINITY, false
#define AT_LEAST_0 0, INFINITY, false
#define ABOVE_0 0, INFINITY, true

const struct dist_kind_info dist_kinds[DIST_KINDS] = {
    [DIST_CONSTANT] = {"constant",
                       "always the same value",
                       "x = value",
                       "value",
                       false,
                       {{"value", DIST_QUANTITY, ANY, "the value"}}},
    [DIST_UNIFORM] = {"uniform",
                      "every value between two limits equally likely",
                      "x = low + (high - low) u",
                      "(low + high) / 2",
                      false,
                      {{"low", DIST_QUANTITY, ANY, "lower limit"},
                       {"high", DIST_QUANTITY, ANY, "upper limit, at least low"}}},
    [DIST_EXPONENTIAL] = {"exponential",
                          "memoryless: the gaps of a Poisson process",
                          "x = -mean log u",
                          "mean",
                          false,
                          {{"mean", DIST_QUANTITY, ABOVE_0, "mean, and standard deviation"}}},
    [DIST_NORMAL] = {"normal",
                     "the Gaussian bell; negative draws of a duration count as 0",
                     "x = mean + deviation Phi^-1(u)",
                     "mean",
                     false,
                     {{"mean", DIST_QUANTITY, ANY, "mean"},
                      {"deviation", DIST_QUANTITY, AT_LEAST_0, "standard deviation"}}},
    [DIST_LOGNORMAL] = {"lognormal",
                        "the logarithm is normal: many small factors multiplied",
                        "x = median exp(sigma Phi^-1(u))",
                        "median exp(sigma^2 / 2)",
                        false,
                        {{"median", DIST_QUANTITY, ABOVE_0, "median"},
                         {"sigma", DIST_NUMBER, AT_LEAST_0, "standard deviation of log x"}}},
    [DIST_PARETO] = {"pareto",
                     "generalised Pareto: a power-law tail for shape > 0",
                     "x = location + scale (u^-shape - 1) / shape",
                     "location + scale / (1 - shape), infinite for shape >= 1",
                     false,
                     {{"location", DIST_QUANTITY, ANY, "smallest value"},
                      {"scale", DIST_QUANTITY, ABOVE_0, "scale"},
                      {"shape", DIST_NUMBER, -10, 10, false,
                       "tail index; 0 exponential, below 0 a bounded range"}}},
    [DIST_GEV] = {"gev",
                  "generalised extreme value: the largest of many",
                  "x = location + scale ((-log u)^-shape - 1) / shape",
                  "location + scale (Gamma(1 - shape) - 1) / shape, infinite for shape >= 1",
                  false,
                  {{"location", DIST_QUANTITY, ANY, "location"},
                   {"scale", DIST_QUANTITY, ABOVE_0, "scale"},
                   {"shape", DIST_NUMBER, -10, 10, false, "tail index; 0 is Gumbel's"}}},
    [DIST_WEIBULL] = {"weibull",
                      "life times: the rate of ending rises (shape > 1) or falls with age",
                      "x = scale (-log u)^(1 / shape)",
                      "scale Gamma(1 + 1 / shape)",
                      false,
                      {{"scale", DIST_QUANTITY, ABOVE_0, "scale; 63.2 % are below it"},
                       {"shape", DIST_NUMBER, 0.05, 1000, false, "shape; 1 is exponential"}}},
    [DIST_GAMMA] = {"gamma",
                    "gamma: sum of `shape` exponentials if that is whole (Erlang)",
                    "density x^(shape - 1) exp(-x / scale) / (scale^shape Gamma(shape))",
                    "scale shape",
                    false,
                    {{"scale", DIST_QUANTITY, ABOVE_0, "scale"},
                     {"shape", DIST_NUMBER, 1e-3, 1e9, false, "shape; 1 is exponential"}}},
    [DIST_HYPEREXPONENTIAL] =
        {"hyperexponential",
         "exponential of one of two means: more variable than exponential",
         "x exponential of mean usual, with probability p_other of mean other",
         "(1 - p_other) usual + p_other other",
         false,
         {{"usual", DIST_QUANTITY, ABOVE_0, "mean of the one kind"},
          {"other", DIST_QUANTITY, ABOVE_0, "mean of the other kind"},
          {"p_other", DIST_PROBABILITY, 0, 1, false, "share of the other kind"}}},
    [DIST_BIMODAL] = {"bimodal",
                      "one of two values, for instance GET and SCAN",
                      "x = usual, with probability p_other other",
                      "(1 - p_other) usual + p_other other",
                      false,
                      {{"usual", DIST_QUANTITY, ANY, "the one value"},
                       {"other", DIST_QUANTITY, ANY, "the other value"},
                       {"p_other", DIST_PROBABILITY, 0, 1, false, "share of the other value"}}},
    [DIST_EMPIRICAL] = {"empirical",
                        "measured: straight lines between points (probability of being at most "
                        "value, value)",
                        "x = interpolated at u; values[0] below the first probability",
                        "area under the quantile function",
                        true,
                        {{0}}},
    [DIST_POINTS] = {"points",
                     "given values with given probabilities, and a distribution for the rest",
                     "x = value i with probability i, else a draw of rest",
                     "sum of probability i value i, plus what is left times the mean of rest",
                     true,
                     {{0}}},
};

static const struct {
    double (*draw)(const struct distribution *d, struct rng *r);
    double (*mean)(const struct distribution *d);
} functions[DIST_KINDS] = {
    [DIST_CONSTANT] = {constant_draw, constant_mean},
    [DIST_UNIFORM] = {uniform_draw, uniform_mean},
    [DIST_EXPONENTIAL] = {exponential_draw, constant_mean},
    [DIST_NORMAL] = {normal_draw, constant_mean},
    [DIST_LOGNORMAL] = {lognormal_draw, lognormal_mean},
    [DIST_PARETO] = {pareto_draw, pareto_mean},
    [DIST_GEV] = {gev_draw, gev_mean},
    [DIST_WEIBULL] = {weibull_draw, weibull_mean},
    [DIST_GAMMA] = {gamma_draw, gamma_mean},
    [DIST_HYPEREXPONENTIAL] = {hyperexponential_draw, mixed_mean},
    [DIST_BIMODAL] = {bimodal_draw, mixed_mean},
    [DIST_EMPIRICAL] = {empirical_draw, empirical_mean},
    [DIST_POINTS] = {points_draw, points_mean},
};

int dist_kind_by_name(const char *name)
{
    for (int k = 0; k < DIST_KINDS; k++)
        if (strcmp(dist_kinds[k].name, name) == 0)
            return k;
    return -1;
}

size_t dist_parameters(enum dist_kind kind)
{
    size_t n = 0;

    while (n < DIST_PARAMETERS && dist_kinds[kind].parameter[n].name)
        n++;
    return n;
}

double dist_draw(const struct distribution *d, struct rng *r)
{
    return functions[d->kind].draw(d, r);
}

sim_time dist_draw_time(const struct distribution *d, struct rng *r)
{
    double x = dist_draw(d, r);

    if (!(x > 0))
        return 0;
    return x < 0x1p53 ? (sim_time)(x + 0.5) : INT64_C(1) << 53;
}

double dist_mean(const struct distribution *d)
{
    return functions[d->kind].mean(d);
}

/* ---- Making, checking, copying ---- */

struct distribution dist_make(enum dist_kind kind, double p0, double p1, double p2)
{
    return (struct distribution){.kind = kind, .p = {p0, p1, p2}};
}

static int check_parameter(const struct distribution *d, size_t i, struct errors *e)
{
    const struct dist_kind_info *kind = &dist_kinds[d->kind];
    const struct dist_parameter *p = &kind->parameter[i];
    double x = d->p[i];

    if (x >= p->low && x <= p->high && !(p->low_open && x == p->low) && isfinite(x))
        return 0;
    if (p->high == INFINITY)
        return error_add(e, EXIT_INPUT, "%s: %s is %g; it must be %s", kind->name, p->name, x,
                         p->low == -INFINITY ? "a finite number"
                         : p->low_open       ? "above 0"
                                             : "at least 0");
    return error_add(e, EXIT_INPUT, "%s: %s is %g; it must be %g to %g", kind->name, p->name, x,
                     p->low, p->high);
}

static int check_empirical(const struct distribution *d, struct errors *e)
{
    int result = 0;

    for (size_t i = 0; i < d->points; i++) {
        double before = i ? d->probability[i - 1] : 0;

        if (!(d->probability[i] >= before && d->probability[i] <= 1))
            result = error_add(e, EXIT_INPUT,
                               "empirical: probability %zu is %g; they must rise from 0 to 1", i,
                               d->probability[i]);
        if (!isfinite(d->value[i]) || (i && d->value[i] < d->value[i - 1]))
            result = error_add(e, EXIT_INPUT, "empirical: value %zu is %g; values must not fall", i,
                               d->value[i]);
    }
    if (d->probability[d->points - 1] != 1)
        result = error_add(e, EXIT_INPUT, "empirical: the last probability is %g; it must be 1",
                           d->probability[d->points - 1]);
    return result;
}

#define SUM_TOLERANCE 1e-6 /* of probabilities written with few digits */

static int check_points(const struct distribution *d, struct errors *e)
{
    double total = d->probability[d->points - 1];
    int result = 0;

    for (size_t i = 0; i < d->points; i++) {
        if (!(d->probability[i] >= (i ? d->probability[i - 1] : 0)))
            result = error_add(e, EXIT_INPUT, "points: probability %zu must not be negative", i);
        if (!isfinite(d->value[i]))
            result = error_add(e, EXIT_INPUT, "points: value %zu is not a finite number", i);
    }
    if (!(total <= 1 + SUM_TOLERANCE))
        result = error_add(e, EXIT_INPUT, "points: probabilities add up to %g; at most 1 is left",
                           total);
    if (!d->rest && total < 1 - SUM_TOLERANCE)
        result = error_add(e, EXIT_INPUT,
                           "points: probabilities add up to %g; give the missing ones, or a "
                           "distribution \"rest\" for what is left",
                           total);
    return d->rest && dist_check(d->rest, e) ? -1 : result;
}

static int check_limits(const struct distribution *d, struct errors *e)
{
    if (d->kind == DIST_UNIFORM && d->p[0] > d->p[1])
        return error_add(e, EXIT_INPUT, "uniform: low is %g, above high, which is %g", d->p[0],
                         d->p[1]);
    return 0;
}

int dist_check(const struct distribution *d, struct errors *e)
{
    size_t n = dist_parameters(d->kind);
    int result = 0;

    for (size_t i = 0; i < n; i++)
        if (check_parameter(d, i, e))
            result = -1;
    if (dist_kinds[d->kind].table) {
        if (!d->points)
            return error_add(e, EXIT_INPUT, "%s: needs at least one point",
                             dist_kinds[d->kind].name);
        return d->kind == DIST_EMPIRICAL ? check_empirical(d, e) : check_points(d, e);
    }
    return result ? result : check_limits(d, e);
}

static double *copy_of(const double *x, size_t n)
{
    double *copy = xcalloc(n, sizeof *copy);

    if (n)
        memcpy(copy, x, n * sizeof *copy);
    return copy;
}

struct distribution dist_copy(const struct distribution *d)
{
    struct distribution copy = *d;

    if (d->points) {
        copy.probability = copy_of(d->probability, d->points);
        copy.value = copy_of(d->value, d->points);
    }
    if (d->rest) {
        copy.rest = xcalloc(1, sizeof *copy.rest);
        *copy.rest = dist_copy(d->rest);
    }
    return copy;
}

void dist_free(struct distribution *d)
{
    free(d->probability);
    free(d->value);
    if (d->rest)
        dist_free(d->rest);
    free(d->rest);
    *d = (struct distribution){0};
}

int dist_make_empirical(struct distribution *d, const double *cumulative, const double *value,
                        size_t n, struct errors *e)
{
    *d = (struct distribution){.kind = DIST_EMPIRICAL, .points = n};
    d->probability = copy_of(cumulative, n);
    d->value = copy_of(value, n);
    return dist_check(d, e);
}

int dist_make_points(struct distribution *d, const double *mass, const double *value, size_t n,
                     const struct distribution *rest, struct errors *e)
{
    double sum = 0;

    *d = (struct distribution){.kind = DIST_POINTS, .points = n};
    d->probability = copy_of(mass, n);
    d->value = copy_of(value, n);
    for (size_t i = 0; i < n; i++) {
        sum += mass[i];
        d->probability[i] = sum;
    }
    if (rest) {
        d->rest = xcalloc(1, sizeof *d->rest);
        *d->rest = dist_copy(rest);
    }
    return dist_check(d, e);
}

void dist_scale(struct distribution *d, double factor)
{
    BUG_ON(!(factor > 0));
    for (size_t i = 0; i < dist_parameters(d->kind); i++)
        if (dist_kinds[d->kind].parameter[i].dimension == DIST_QUANTITY)
            d->p[i] *= factor;
    for (size_t i = 0; i < d->points; i++)
        d->value[i] *= factor;
    if (d->rest)
        dist_scale(d->rest, factor);
}

/* ---- Distributions with a source ---- */

static void etc_key_size(struct distribution *d)
{
    *d = dist_make(DIST_GEV, 30.7984, 8.20449, 0.078688);
}

static void etc_value_size(struct distribution *d)
{
    static const double value[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    static const double mass[] = {.00536, .00047, .17820, .09239, .00018, .02740, .00065, .00606,
                                  .00023, .00837, .00837, .08989, .00092, .00326, .01980};
    struct distribution rest = dist_make(DIST_PARETO, 15, 214.476, 0.348238);
    struct errors e = ERRORS_NONE;
    int bad = dist_make_points(d, mass, value, sizeof value / sizeof *value, &rest, &e);

    BUG_ON(bad);
}

static void etc_gap(struct distribution *d)
{
    *d = dist_make(DIST_PARETO, 0, 16.0292 * NS_PER_US, 0.154971);
}

static const char etc_source[] =
    "mutilate, Generator.cc (github.com/leverich/mutilate), after Atikoglu et al., SIGMETRICS 2012";

const struct dist_preset dist_presets[] = {
    {"facebook-etc-key-size", "bytes of a key in Facebook's ETC pool", etc_source, 1, etc_key_size},
    {"facebook-etc-value-size", "bytes of a value in Facebook's ETC pool", etc_source, 1,
     etc_value_size},
    {"facebook-etc-gap", "time between requests to one server of Facebook's ETC pool", etc_source,
     NS_PER_US, etc_gap},
};
const size_t dist_preset_count = sizeof dist_presets / sizeof *dist_presets;

int dist_make_preset(struct distribution *d, const char *name)
{
    for (size_t i = 0; i < dist_preset_count; i++)
        if (strcmp(dist_presets[i].name, name) == 0) {
            dist_presets[i].make(d);
            return 0;
        }
    return -1;
}
