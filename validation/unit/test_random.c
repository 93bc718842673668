/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random streams: published reference values, independence of streams, uniformity. */
#include "sim/random.h"

#include <check.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#define ALPHA 1e-3 /* of each goodness-of-fit test; seeds are fixed, so a pass stays a pass */

static struct rng stream;

static void setup(void)
{
    rng_init(&stream, 7, 0, "test", "random");
}

/* Outputs of the authors' program for the state 1, 2, 3, 4 (also in the tests of rand_xoshiro). */
START_TEST(xoshiro_reference)
{
    static const uint64_t expected[] = {
        UINT64_C(11520),
        UINT64_C(0),
        UINT64_C(1509978240),
        UINT64_C(1215971899390074240),
        UINT64_C(1216172134540287360),
        UINT64_C(607988272756665600),
        UINT64_C(16172922978634559625),
        UINT64_C(8476171486693032832),
        UINT64_C(10595114339597558777),
        UINT64_C(2904607092377533576),
    };
    struct rng r = {{1, 2, 3, 4}};

    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_uint_eq(rng_u64(&r), expected[i]);
}
END_TEST

/* Key and message bytes 0, 1, 2, ...: the test vectors of SipHash's paper and reference code. */
START_TEST(siphash_reference)
{
    unsigned char message[16];
    const uint64_t key0 = UINT64_C(0x0706050403020100), key1 = UINT64_C(0x0f0e0d0c0b0a0908);

    for (unsigned i = 0; i < sizeof message; i++)
        message[i] = (unsigned char)i;
    ck_assert_uint_eq(hash_bytes(key0, key1, message, 0), UINT64_C(0x726fdb47dd0e0e31));
    ck_assert_uint_eq(hash_bytes(key0, key1, message, 1), UINT64_C(0x74f839c593dc67fd));
    ck_assert_uint_eq(hash_bytes(key0, key1, message, 15), UINT64_C(0xa129ca6149be45e5));
}
END_TEST

/* Every part of the key matters, and so does where one part ends. */
START_TEST(key_parts)
{
    static const struct {
        uint64_t seed, replication;
        const char *entity, *purpose;
    } keys[] = {
        {1, 0, "ab", "c"}, {2, 0, "ab", "c"}, {1, 1, "ab", "c"}, {0, 1, "ab", "c"},
        {1, 0, "a", "bc"}, {1, 0, "ab", "d"}, {1, 0, "aa", "c"}, {1, 0, "", "abc"},
        {1, 0, "abc", ""}, {1, 0, "c", "ab"},
    };
    const size_t n = sizeof keys / sizeof *keys;
    uint64_t first[sizeof keys / sizeof *keys];

    for (size_t i = 0; i < n; i++) {
        struct rng a, b;

        rng_init(&a, keys[i].seed, keys[i].replication, keys[i].entity, keys[i].purpose);
        rng_init(&b, keys[i].seed, keys[i].replication, keys[i].entity, keys[i].purpose);
        first[i] = rng_u64(&a);
        ck_assert_uint_eq(first[i], rng_u64(&b));
        for (size_t j = 0; j < i; j++)
            ck_assert_uint_ne(first[i], first[j]);
    }
}
END_TEST

/* Streams of neighbouring keys: correlation of their numbers below 4 / sqrt(n). */
START_TEST(streams_are_uncorrelated)
{
    enum { STREAMS = 24, N = 20000 };
    static double u[STREAMS][N];

    for (int s = 0; s < STREAMS; s++) {
        struct rng r;

        rng_init(&r, 1, (uint64_t)s, "vm0", "demand");
        for (int i = 0; i < N; i++)
            u[s][i] = rng_uniform(&r) - 0.5;
    }
    for (int s = 0; s < STREAMS; s++)
        for (int t = 0; t < s; t++) {
            double sum = 0;

            for (int i = 0; i < N; i++)
                sum += u[s][i] * u[t][i];
            ck_assert_msg(fabs(12 * sum / N) < 4 / sqrt(N), "streams %d and %d: %g", s, t,
                          12 * sum / N);
        }
}
END_TEST

static double chi_square(const double *seen, size_t n, double expected)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (seen[i] - expected) * (seen[i] - expected) / expected;
    return gsl_cdf_chisq_Q(sum, (double)(n - 1));
}

/* First numbers of many streams: what a scenario with many entities sees. */
START_TEST(first_numbers_are_uniform)
{
    double seen[64] = {0};

    for (uint64_t seed = 0; seed < 64000; seed++) {
        struct rng r;

        rng_init(&r, seed, 0, "vm0", "demand");
        seen[(size_t)(rng_uniform(&r) * 64)]++;
    }
    ck_assert(chi_square(seen, 64, 1000) > ALPHA);
}
END_TEST

START_TEST(uniform_pairs)
{
    static double seen[32 * 32];
    const int n = 1000000;
    double low = 1, high = 0;

    for (int i = 0; i < n; i++) {
        double x = rng_uniform(&stream), y = rng_uniform(&stream);

        seen[(int)(x * 32) * 32 + (int)(y * 32)]++;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    ck_assert(low > 0 && high < 1 && low < 1e-5 && high > 1 - 1e-5);
    ck_assert(chi_square(seen, 32 * 32, n / 1024.0) > ALPHA);
}
END_TEST

/* The inverse of an odd number modulo 2^64. */
static uint64_t inverse(uint64_t x)
{
    uint64_t y = x;

    for (int i = 0; i < 6; i++)
        y *= 2 - x * y;
    return y;
}

/* The ends of the range, from states made for the purpose: 0 and 1 themselves never come. */
START_TEST(uniform_ends)
{
    struct rng zeros = {{1, 0, 0, 0}}, ones = {{1, 0, 0, 0}};

    ones.s[1] = rng_rotl(~UINT64_C(0) * inverse(9), 57) * inverse(5);
    ck_assert_uint_eq(rng_u64(&(struct rng){{1, ones.s[1], 0, 0}}), ~UINT64_C(0));
    ck_assert(rng_uniform(&zeros) == 0x1p-53);
    ck_assert(rng_uniform(&ones) == 1 - 0x1p-53);
}
END_TEST

START_TEST(below_is_unbiased)
{
    static const uint64_t limits[] = {1, 2, 3, 7, 10, 100, 1000};

    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        double seen[1000] = {0};
        uint64_t n = limits[l];

        for (uint64_t i = 0; i < 1000 * n; i++) {
            uint64_t x = rng_below(&stream, n);

            if (x >= n)
                ck_abort_msg("%llu is not below %llu", (unsigned long long)x,
                             (unsigned long long)n);
            seen[x]++;
        }
        if (n > 1)
            ck_assert(chi_square(seen, n, 1000) > ALPHA);
    }
}
END_TEST

/* With n = 3 2^62 four random words share three values: without rejection every third value would
 * come twice as often. */
START_TEST(below_large)
{
    const uint64_t n = UINT64_C(3) << 62;
    double third[3] = {0}, residue[3] = {0};

    for (int i = 0; i < 30000; i++) {
        uint64_t x = rng_below(&stream, n);

        third[x >> 62]++;
        residue[x % 3]++;
    }
    ck_assert(chi_square(third, 3, 10000) > ALPHA);
    ck_assert(chi_square(residue, 3, 10000) > ALPHA);
}
END_TEST

START_TEST(bernoulli)
{
    double hits = 0, never = 0, always = 0;

    for (int i = 0; i < 100000; i++) {
        never += rng_bernoulli(&stream, 0);
        always += rng_bernoulli(&stream, 1);
        hits += rng_bernoulli(&stream, 0.1);
    }
    ck_assert(never == 0 && always == 100000);
    ck_assert(fabs(hits - 10000) < 4 * sqrt(9000));
}
END_TEST

START_TEST(permutations)
{
    double seen[24] = {0};
    uint32_t all = 15;

    for (int i = 0; i < 24000; i++) {
        uint32_t order[4], used = 0;
        int code = 0;

        rng_permutation(&stream, order, 4);
        for (int k = 0; k < 4; k++) {
            int smaller = 0;

            for (int j = k + 1; j < 4; j++)
                smaller += order[j] < order[k];
            code = code * (4 - k) + smaller;
            used |= 1u << order[k];
        }
        all &= used;
        seen[code]++;
    }
    ck_assert_uint_eq(all, 15);
    ck_assert(chi_square(seen, 24, 1000) > ALPHA);
}
END_TEST

Suite *suite_random(void);

Suite *suite_random(void)
{
    Suite *s = suite_create("random");
    TCase *tc = tcase_create("reference");

    tcase_add_test(tc, xoshiro_reference);
    tcase_add_test(tc, siphash_reference);
    suite_add_tcase(s, tc);
    tc = tcase_create("streams");
    tcase_add_test(tc, key_parts);
    tcase_add_test(tc, streams_are_uncorrelated);
    tcase_add_test(tc, first_numbers_are_uniform);
    suite_add_tcase(s, tc);
    tc = tcase_create("draws");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, uniform_pairs);
    tcase_add_test(tc, uniform_ends);
    tcase_add_test(tc, below_is_unbiased);
    tcase_add_test(tc, below_large);
    tcase_add_test(tc, bernoulli);
    tcase_add_test(tc, permutations);
    suite_add_tcase(s, tc);
    return s;
}
