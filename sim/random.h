/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random streams. Each use of chance has its own stream, keyed by (seed, replication, entity,
 * purpose), for instance (1, 0, "web1/client3", "think time"). So adding a virtual machine or a
 * metric shifts nobody else's numbers, and two schedulers under the same key see the same
 * requests (common random numbers).
 *
 * The generator is xoshiro256** (Blackman, Vigna, "Scrambled linear pseudorandom number
 * generators", ACM TOMS 47(4), 2021): period 2^256 - 1, about 1 ns per number. Its 256 bits of
 * state come from SipHash-2-4 (Aumasson, Bernstein, 2012) of the key, so any two streams start
 * at unrelated points; for 2^20 streams of 2^40 numbers each the chance that two overlap is
 * below 2^-170.
 *
 * A struct rng is 32 bytes, embedded in its owner; nothing is allocated. Copying one copies
 * the stream from that point on. All results are bit-identical everywhere (see sim/detmath.h),
 * if each draw is a statement of its own: C leaves the order of two draws in one
 * expression or argument list open, and gcc and clang do differ.
 */
#ifndef HVSIM_SIM_RANDOM_H
#define HVSIM_SIM_RANDOM_H

#include "sim/detmath.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t s[4];
};

/* Start the stream of this key. The strings are read, not kept. */
void rng_init(struct rng *r, uint64_t seed, uint64_t replication, const char *entity,
              const char *purpose);

static inline uint64_t rng_rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

/* 0, or a number that changes what all streams of this process give from here on, which stays as
 * random as before: for copies of a simulation that are to go other ways (sim/splitting.h). */
extern uint64_t rng_salt;

/* A bijection in which every bit of the result depends on every bit of x (SplitMix64's finaliser:
 * Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t rng_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* 64 uniform bits. */
static inline uint64_t rng_u64(struct rng *r)
{
    uint64_t *s = r->s, out = rng_rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotl(s[3], 45);
    return rng_salt ? rng_mix(out ^ rng_salt) : out;
}

/* Uniform on the open interval (0, 1): an odd multiple of 2^-53, each equally likely. Never 0 or
 * 1, and 1 - u has the same distribution exactly, so log(u) and log(1 - u) are always finite. */
static inline double rng_uniform(struct rng *r)
{
    return ((double)(rng_u64(r) >> 12) + 0.5) * 0x1p-52;
}

/* Uniform on 0 .. n - 1, exactly (no modulo bias); n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* True with probability p; p <= 0 never, p >= 1 always. Always draws one number. */
static inline bool rng_bernoulli(struct rng *r, double p)
{
    return rng_uniform(r) < p;
}

/* Exponential with the given mean; one number per draw, by inversion. */
static inline double rng_exponential(struct rng *r, double mean)
{
    return -mean * det_log(rng_uniform(r));
}

/* Standard normal; one number per draw, by inversion. */
static inline double rng_normal(struct rng *r)
{
    return det_normal_quantile(rng_uniform(r));
}

/* Fisher-Yates shuffle of 0 .. n - 1 into `order`. */
void rng_permutation(struct rng *r, uint32_t *order, uint32_t n);

/* SipHash-2-4 of some bytes under a 128-bit key: a hash for which collisions cannot be steered. */
uint64_t hash_bytes(uint64_t key0, uint64_t key1, const void *bytes, size_t n);

#endif
