/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/random.h"

#include "sim/error.h"

#include <stdlib.h>
#include <string.h>

uint64_t rng_salt;

/* ---- SipHash-2-4, after its paper: Aumasson, Bernstein, Indocrypt 2012 ---- */

struct siphash {
    uint64_t v0, v1, v2, v3;
};

static void sip_rounds(struct siphash *h, int rounds)
{
    while (rounds--) {
        h->v0 += h->v1;
        h->v2 += h->v3;
        h->v1 = rng_rotl(h->v1, 13) ^ h->v0;
        h->v3 = rng_rotl(h->v3, 16) ^ h->v2;
        h->v0 = rng_rotl(h->v0, 32) + h->v3;
        h->v2 += h->v1;
        h->v3 = rng_rotl(h->v3, 21) ^ h->v0;
        h->v1 = rng_rotl(h->v1, 17) ^ h->v2;
        h->v2 = rng_rotl(h->v2, 32);
    }
}

static void sip_word(struct siphash *h, uint64_t word)
{
    h->v3 ^= word;
    sip_rounds(h, 2);
    h->v0 ^= word;
}

static uint64_t little_endian(const unsigned char *p, size_t n)
{
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)p[i] << 8 * i;
    return word;
}

uint64_t hash_bytes(uint64_t key0, uint64_t key1, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    struct siphash h = {
        key0 ^ UINT64_C(0x736f6d6570736575),
        key1 ^ UINT64_C(0x646f72616e646f6d),
        key0 ^ UINT64_C(0x6c7967656e657261),
        key1 ^ UINT64_C(0x7465646279746573),
    };

    for (size_t i = 0; i < n / 8; i++, p += 8)
        sip_word(&h, little_endian(p, 8));
    sip_word(&h, little_endian(p, n % 8) | (uint64_t)n << 56);
    h.v2 ^= 0xff;
    sip_rounds(&h, 4);
    return h.v0 ^ h.v1 ^ h.v2 ^ h.v3;
}

/* ---- Streams ---- */

/* The hashed message is: entity, 0, purpose, 0, number of the state word. The zeros keep ("ab",
 * "c") and ("a", "bc") apart. */
void rng_init(struct rng *r, uint64_t seed, uint64_t replication, const char *entity,
              const char *purpose)
{
    size_t a = strlen(entity) + 1, b = strlen(purpose) + 1;
    unsigned char *message = xcalloc(a + b + 1, 1);

    memcpy(message, entity, a);
    memcpy(message + a, purpose, b);
    for (unsigned i = 0; i < 4; i++) {
        message[a + b] = (unsigned char)i;
        r->s[i] = hash_bytes(seed, replication, message, a + b + 1);
    }
    free(message);
    if (!(r->s[0] | r->s[1] | r->s[2] | r->s[3]))
        r->s[0] = 1; /* the one state xoshiro cannot leave */
}

__extension__ typedef unsigned __int128 uint128;

/* The high word of a 128-bit product is uniform on 0 .. n - 1 except that some values get one low
 * word too many; rejecting the first 2^64 mod n low words makes it exact (Lemire 2019). */
uint64_t rng_below(struct rng *r, uint64_t n)
{
    uint128 product = (uint128)rng_u64(r) * n;

    BUG_ON(n == 0);
    if ((uint64_t)product < n) {
        uint64_t surplus = -n % n;

        while ((uint64_t)product < surplus)
            product = (uint128)rng_u64(r) * n;
    }
    return (uint64_t)(product >> 64);
}

void rng_permutation(struct rng *r, uint32_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = (uint32_t)rng_below(r, (uint64_t)i + 1);

        order[i] = order[j];
        order[j] = i;
    }
}
