/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/detmath.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts; the first has 11 trailing zero bits, so that k * LN2_HIGH is exact. */
#define LN2_HIGH 0x1.62e42fefa3800p-1
#define LN2_LOW 0x1.ef35793c76730p-45
#define LOG2_E 0x1.71547652b82fep+0
#define SQRT_2 0x1.6a09e667f3bcdp+0
#define SQRT_2PI 0x1.40d931ff62706p+1
#define HALF_LOG_2PI 0x1.d67f1c864beb5p-1

static inline uint64_t bits_of(double x)
{
    uint64_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double double_of(uint64_t u)
{
    double x;

    memcpy(&x, &u, sizeof x);
    return x;
}

static double polynomial(const double *c, int n, double x)
{
    double y = c[n - 1];

    for (int i = n - 2; i >= 0; i--)
        y = y * x + c[i];
    return y;
}

/* ---- Pairs of doubles: exact sums and products (Dekker 1971; no fused operations) ---- */

struct pair {
    double high, low;
};

static inline struct pair two_sum(double a, double b)
{
    double s = a + b, bb = s - a;

    return (struct pair){s, (a - (s - bb)) + (b - bb)};
}

static inline struct pair split(double a)
{
    double c = 0x1.0000002p+27 * a, high = c - (c - a);

    return (struct pair){high, a - high};
}

static inline struct pair two_product(double a, double b)
{
    double p = a * b;
    struct pair x = split(a), y = split(b);

    return (struct pair){p,
                         ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

/* ---- Logarithm ---- */

/*
 * x = 2^k m with m in [sqrt 1/2, sqrt 2). With f = m - 1 and s = f / (2 + f),
 * log m = 2 artanh s = 2 s + s z T(z), z = s^2 <= 0.0295, T(z) = 2/3 + 2/5 z + 2/7 z^2 + ...
 * Twelve terms leave out less than 2^-68 of the result.
 */
static inline double artanh_tail(double z)
{
    double z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
    double a = (2.0 / 3 + 2.0 / 5 * z) + (2.0 / 7 + 2.0 / 9 * z) * z2;
    double b = (2.0 / 11 + 2.0 / 13 * z) + (2.0 / 15 + 2.0 / 17 * z) * z2;
    double c = (2.0 / 19 + 2.0 / 21 * z) + (2.0 / 23 + 2.0 / 25 * z) * z2;

    return a + b * z4 + c * z8;
}

/* k and m of a positive finite x. */
static inline double reduce(double x, int *k)
{
    uint64_t u = bits_of(x);
    int e = 0;
    double m;

    if (u < UINT64_C(1) << 52) { /* subnormal */
        u = bits_of(x * 0x1p54);
        e = -54;
    }
    e += (int)(u >> 52) - 1023;
    m = double_of((u & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000));
    if (m >= SQRT_2) {
        m *= 0.5;
        e++;
    }
    *k = e;
    return m;
}

/* Arguments without an ordinary logarithm: 0, negative, infinite, NaN. */
static inline int special_log(double x, double *result)
{
    if (x > 0 && x < INFINITY)
        return 0;
    *result = x == 0 ? -INFINITY : x > 0 ? x : NAN;
    return 1;
}

double det_log(double x)
{
    double f, s, z, result;
    int k;

    if (special_log(x, &result))
        return result;
    f = reduce(x, &k) - 1;
    s = f / (2 + f);
    z = s * s;
    return k * LN2_HIGH + (2 * s + (s * z * artanh_tail(z) + k * LN2_LOW));
}

/* The logarithm with about 2^-58 relative error, for pow. */
static struct pair log_pair(double x)
{
    double f, s, z, rest;
    struct pair d, p, sum;
    int k;

    f = reduce(x, &k) - 1; /* exact, as the next sum is in two parts */
    d = two_sum(2, f);
    s = f / d.high;
    p = two_product(s, d.high);
    rest = ((f - p.high) - p.low - s * d.low) / d.high; /* what s lacks of f / (2 + f) */
    z = s * s;
    sum = two_sum(k * LN2_HIGH, 2 * s);
    sum.low += 2 * rest + (s * z * artanh_tail(z) + k * LN2_LOW);
    return two_sum(sum.high, sum.low);
}

/* log(ratio) - u without cancellation, ratio = 1 + u. With s = u / (2 + u): 2 s - u = -u s. */
static double log_minus(double ratio, double u)
{
    double s, z;

    if (u < -0.29 || u > 0.41)
        return det_log(ratio) - u;
    s = u / (2 + u);
    z = s * s;
    return s * z * artanh_tail(z) - u * s;
}

/* ---- Exponential ---- */

/* (e^r - 1 - r) / r^2 for |r| <= 0.35, Taylor: leaves out less than 2^-57. */
static inline double exp_tail(double r)
{
    double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    double a = (1.0 / 2 + 1.0 / 6 * r) + (1.0 / 24 + 1.0 / 120 * r) * r2;
    double b = (1.0 / 720 + 1.0 / 5040 * r) + (1.0 / 40320 + 1.0 / 362880 * r) * r2;
    double c = (1.0 / 3628800 + 1.0 / 39916800 * r) + (1.0 / 479001600 + 1.0 / 6227020800 * r) * r2;

    return a + b * r4 + c * r8;
}

static inline double power_of_2(int k)
{
    return double_of((uint64_t)(k + 1023) << 52);
}

double det_exp(double x)
{
    double r, y;
    int k;

    if (!(x < 710) || !(x > -746))
        return x > 0 ? INFINITY : x < 0 ? 0 : x; /* the last: NaN */
    k = (int)(x * LOG2_E + (x < 0 ? -0.5 : 0.5));
    r = (x - k * LN2_HIGH) - k * LN2_LOW;
    y = 1 + (r + r * r * exp_tail(r));
    if (k >= -1022 && k <= 1023)
        return y * power_of_2(k);
    return y * power_of_2(k / 2) * power_of_2(k - k / 2); /* only the last step can round */
}

double det_expm1(double x)
{
    if (x > -0.34 && x < 0.34)
        return x + x * x * exp_tail(x);
    return det_exp(x) - 1;
}

double det_pow(double x, double y)
{
    struct pair l = {0, 0}, p;
    double t;

    if (x < 0)
        return NAN;
    if (y == 0 || x == 1)
        return 1;
    if (special_log(x, &t)) {
        t *= y;
    } else {
        l = log_pair(x);
        t = l.high * y;
    }
    if (!(t < 710) || !(t > -746))
        return det_exp(t);
    p = two_product(l.high, y);
    t = det_exp(p.high);
    return t + t * (p.low + l.low * y);
}

/* ---- Gamma function ---- */

/* Stirling's series (DLMF 5.11.1) from where seven terms leave out less than 1e-16. */
#define STIRLING_FROM 12.0

static double stirling_series(double x)
{
    static const double c[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360, 1.0 / 156};
    double y = 1 / x;

    return y * polynomial(c, 7, y * y);
}

/* x (x + 1) ... up to, not including, STIRLING_FROM or a little more; moves x there. */
static double shift_up(double *x)
{
    double product = 1;

    for (; *x < STIRLING_FROM; *x += 1)
        product *= *x;
    return product;
}

double det_gamma(double x)
{
    double product, half;

    if (!(x > 0))
        return NAN;
    if (x > 172)
        return INFINITY;
    product = shift_up(&x);
    half = det_pow(x, (x - 0.5) / 2); /* in halves: x^(x - 1/2) overflows before the result */
    return SQRT_2PI * half * det_exp(-x) * half * det_exp(stirling_series(x)) / product;
}

double det_log_gamma(double x)
{
    double product;

    if (!(x > 0))
        return NAN;
    product = shift_up(&x);
    return ((x - 0.5) * det_log(x) - x) + HALF_LOG_2PI + stirling_series(x) - det_log(product);
}

/* log Gamma(x) less the leading part of Stirling's formula, for all x > 0. */
static double stirling_rest(double x)
{
    if (x >= STIRLING_FROM)
        return stirling_series(x);
    return det_log_gamma(x) - (((x - 0.5) * det_log(x) - x) + HALF_LOG_2PI);
}

/* ---- Normal distribution ---- */

/* Phi(z) = 1/2 + phi(z) (z + z^3/3 + z^5/(3 5) + ...) (DLMF 7.6.2); all terms have one sign. */
double det_normal_cdf(double z)
{
    double term = z, sum = z;

    if (!(z > -39) || !(z < 39))
        return z > 0 ? 1 : z < 0 ? 0 : z;
    for (int i = 3; i < 5000; i += 2) {
        double before = sum;

        term *= z * z / i;
        sum += term;
        if (sum == before)
            break;
    }
    sum = 0.5 + sum * det_exp(-z * z / 2) / SQRT_2PI;
    return sum < 0 ? 0 : sum > 1 ? 1 : sum;
}

/*
 * Wichura, Algorithm AS 241, Applied Statistics 37(3), 1988, routine PPND16: rational functions of
 * degree 7 in the middle, the near tail and the far tail. Coefficients as published.
 */
static const struct {
    double numerator[8], denominator[8];
} ppnd16[3] = {
    {{3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
      1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
      3.3430575583588128105e+4, 2.5090809287301226727e+3},
     {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
      2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
      5.2264952788528545610e+3}},
    {{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
      3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
      2.27238449892691845833e-2, 7.74545014278341407640e-4},
     {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
      1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
      1.05075007164441684324e-9}},
    {{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
      2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
      2.71155556874348757815e-5, 2.01033439929228813265e-7},
     {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
      7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
      2.04426310338993978564e-15}},
};

static double ppnd16_ratio(int region, double r)
{
    return polynomial(ppnd16[region].numerator, 8, r) /
           polynomial(ppnd16[region].denominator, 8, r);
}

double det_normal_quantile(double p)
{
    double q = p - 0.5, r;

    if (!(p > 0 && p < 1))
        return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
    if (q >= -0.425 && q <= 0.425)
        return q * ppnd16_ratio(0, 0.180625 - q * q);
    r = sqrt(-det_log(q < 0 ? p : 1 - p));
    r = r <= 5 ? ppnd16_ratio(1, r - 1.6) : ppnd16_ratio(2, r - 5);
    return q < 0 ? -r : r;
}

/* ---- Beta distribution ---- */

/*
 * x^a y^b / B(a, b) with y = 1 - x. Written around the mode (as Loader 2000 does for the binomial):
 * with d = b x - a y = (a + b) x - a the terms linear in d cancel exactly, so large a and b lose
 * nothing.
 */
static double beta_front(double x, double y, double a, double b)
{
    double d = b * x - a * y, n = a + b;
    double exponent = a * log_minus(n / a * x, d / a) + b * log_minus(n / b * y, -d / b) +
                      stirling_rest(n) - stirling_rest(a) - stirling_rest(b);

    return sqrt(a / n * b) / SQRT_2PI * det_exp(exponent);
}

/* The continued fraction 1 / (1 + d1 / (1 + d2 / (1 + ...))) of DLMF 8.17.22, by Lentz's method. It
 * converges fast for x < (a + 1) / (a + b + 2), in some sqrt(a + b) steps. */
static double beta_fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (double m = 1; m < 1e6; m += 1) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        f *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        step = d * c;
        f *= step;
        if (fabs(step - 1) < 4e-16)
            break;
    }
    return f;
}

/* 1 + (a+b)/(a+1) x + (a+b)(a+b+1)/((a+1)(a+2)) x^2 + ... (DLMF 8.17.8): all terms are positive, so
 * nothing cancels. The terms grow for the first ((a + b) x - a) / (1 - x) ones. */
static double beta_series(double x, double a, double b)
{
    double term = 1, sum = 1;

    for (double m = 0; m < 1e8; m += 1) {
        double before = sum;

        term *= (a + b + m) / (a + 1 + m) * x;
        sum += term;
        if (sum == before)
            break;
    }
    return sum;
}

/*
 * P(X <= x) for x left of the middle. Near x = 1 the continued fraction loses the digits that y
 * lacks of 1 (think of b = 10 and a = 10^9); there the other side's series is taken, as long as the
 * result is not so small that 1 - (...) would lose more.
 */
static double beta_left(double x, double y, double a, double b)
{
    double front = beta_front(x, y, a, b);

    if (y < 1e-3 && (a + b) * y - b < 4 * sqrt(b) + 4)
        return 1 - front * beta_series(y, b, a) / b;
    return front * beta_fraction(x, a, b) / a;
}

/* P(X <= x), 0 < x < 1, y = 1 - x given apart so that neither tail loses digits. */
static double beta_lower(double x, double y, double a, double b)
{
    if (x < (a + 1) / (a + b + 2))
        return beta_left(x, y, a, b);
    return 1 - beta_left(y, x, b, a);
}

double det_beta_cdf(double x, double a, double b)
{
    if (!(a > 0 && b > 0) || x != x)
        return NAN;
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    return beta_lower(x, 1 - x, a, b);
}

/* Newton's method kept inside a shrinking bracket. */
double det_beta_quantile(double p, double a, double b)
{
    double low = 0, high = 1, x;

    if (!(a > 0 && b > 0) || !(p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p;
    x = a / (a + b);
    for (int i = 0; i < 400; i++) {
        double error = beta_lower(x, 1 - x, a, b) - p, next;

        if (error == 0)
            break;
        if (error > 0)
            high = x;
        else
            low = x;
        next = x - error / (beta_front(x, 1 - x, a, b) / x / (1 - x));
        if (!(next > low && next < high))
            next = low > 0 ? (low + high) / 2 : high / 16; /* quickly down to a tiny quantile */
        if (fabs(next - x) <= 1e-15 * x || next <= low || next >= high)
            return next;
        x = next;
    }
    return x;
}

/* ---- Student's t ---- */

/* P(T > t) for t > 0 (DLMF 8.17; x = df / (df + t^2)). */
static double t_upper(double t, double df)
{
    double s = t * t / df, x = 1 / (1 + s), y = s / (1 + s);

    if (x == 0)
        return 0;
    if (y == 0)
        return 0.5;
    return beta_lower(x, y, df / 2, 0.5) / 2;
}

double det_t_cdf(double t, double df)
{
    if (!(df > 0) || t != t)
        return NAN;
    if (t == 0)
        return 0.5;
    return t > 0 ? 1 - t_upper(t, df) : t_upper(-t, df);
}

/* The upper tail is convex and the normal quantile lies left of the t quantile, so Newton's method
 * climbs to it without ever passing it. */
double det_t_quantile(double p, double df)
{
    double tail = p < 0.5 ? p : 1 - p, t;

    if (!(df > 0) || !(p >= 0 && p <= 1))
        return NAN;
    if (p == 0.5)
        return 0;
    if (tail == 0)
        return p < 0.5 ? -INFINITY : INFINITY;
    t = -det_normal_quantile(tail);
    for (int i = 0; i < 2000; i++) {
        double s = t * t / df, x = 1 / (1 + s), y = s / (1 + s);
        double density = beta_front(x, y, df / 2, 0.5) / t; /* dP/dt, by the chain rule */
        double next = t + (t_upper(t, df) - tail) / density;

        if (!(next > t * (1 + 1e-15)))
            break;
        t = next;
    }
    return p < 0.5 ? -t : t;
}
