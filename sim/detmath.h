/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deterministic mathematics: the same argument gives the same bits on every x86-64 machine,
 * compiler and optimisation level.
 *
 * Why not libm: glibc chooses its log, exp and pow by the processor (with or without FMA), and the
 * variants differ in the last bit. One such bit moves an arrival by a nanosecond, and from there
 * on two machines simulate different worlds. Everything here is built from IEEE 754 + - * / and
 * sqrt, which are correctly rounded everywhere, and from integer operations. Compile with
 * -ffp-contract=off.
 *
 * Accuracy: relative error below 1e-14 for the elementary functions (at most 5e-15 in
 * validation/unit/test_detmath.c); stated at each of the others. Methods: argument
 * reduction and Taylor series (derived here, no tables); other sources at each function.
 */
#ifndef HVSIM_SIM_DETMATH_H
#define HVSIM_SIM_DETMATH_H

/* Natural logarithm. log(0) = -inf, log(x < 0) = NaN, log(inf) = inf. */
double det_log(double x);

/* e^x, with inf and 0 (through the subnormal numbers) beyond the range of double. */
double det_exp(double x);

/* e^x - 1 without cancellation near 0. */
double det_expm1(double x);

/* x^y for x >= 0. 0^0 = 1; NaN for x < 0 whatever y is. */
double det_pow(double x, double y);

/* Gamma function for x > 0 (NaN otherwise), relative error below 1e-13; inf above 171.6. */
double det_gamma(double x);

/* log Gamma(x) for x > 0, absolute error below 1e-13 max(1, |result|). */
double det_log_gamma(double x);

/* Standard normal distribution: P(Z <= z), absolute error below 1e-14; and its inverse,
 * relative error below 1e-14 (p = 0 and 1 give -inf and inf). */
double det_normal_cdf(double z);
double det_normal_quantile(double p);

/* Beta(a, b), a and b > 0: P(X <= x) and its inverse. Absolute error of the probability below
 * 1e-12 for a and b up to 1e7, relative error below 1e-10 (against 30-digit arithmetic; GSL's is no
 * better, and its inverse can abort with "no convergence"). The quantile is as good as that. */
double det_beta_cdf(double x, double a, double b);
double det_beta_quantile(double p, double a, double b);

/* Student's t with df > 0 degrees of freedom (a real number): P(T <= t) and its inverse. */
double det_t_cdf(double t, double df);
double det_t_quantile(double p, double df);

#endif
