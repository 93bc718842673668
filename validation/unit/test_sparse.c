/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sparse histograms: the same bits as full ones, alone, together and with one left out; their text.
 */
#include "sim/sparse.h"

#include "sim/random.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 6 };

static const double quantiles[] = {-1, 0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

struct fixture {
    struct histogram part[PARTS], all, without[PARTS];
    struct sparse sparse[PARTS], sum;
};

/* Log-uniform values, some beyond the range; part 3 stays empty. */
static void make(struct fixture *f, uint64_t seed, unsigned bits, unsigned values)
{
    const struct sparse *list[PARTS];
    struct rng rng;

    rng_init(&rng, seed, 0, "test", "sparse");
    histogram_init(&f->all, bits);
    for (int p = 0; p < PARTS; p++) {
        histogram_init(&f->part[p], bits);
        for (unsigned i = 0; p != 3 && i < values; i++)
            histogram_record_many(&f->part[p],
                                  (sim_time)(rng_u64(&rng) >> (18 + rng_below(&rng, 46))),
                                  1 + rng_below(&rng, 3));
        f->sparse[p] = sparse_of(&f->part[p]);
        histogram_merge(&f->all, &f->part[p]);
        list[p] = &f->sparse[p];
    }
    for (int p = 0; p < PARTS; p++) {
        histogram_init(&f->without[p], bits);
        for (int k = 0; k < PARTS; k++)
            if (k != p)
                histogram_merge(&f->without[p], &f->part[k]);
        f->without[p].min = f->all.min; /* extremes stay */
        f->without[p].max = f->all.max;
    }
    f->sum = sparse_sum(list, PARTS);
}

static void unmake(struct fixture *f)
{
    for (int p = 0; p < PARTS; p++) {
        histogram_free(&f->part[p]);
        histogram_free(&f->without[p]);
        sparse_free(&f->sparse[p]);
    }
    histogram_free(&f->all);
    sparse_free(&f->sum);
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static double dense(const struct histogram *h, double q)
{
    return q < 0 ? histogram_mean(h) : histogram_estimate(h, q);
}

START_TEST(figures_are_the_same_bits)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct fixture f;

        make(&f, seed, seed % 2 ? HISTOGRAM_3_DIGITS : HISTOGRAM_2_DIGITS,
             seed < 4 ? 1 + (unsigned)seed : 300);
        ck_assert_uint_eq(f.sum.count, f.all.count);
        ck_assert_uint_eq(f.sum.clipped, f.all.clipped);
        for (int i = 0; i < QUANTILES; i++) {
            double q = quantiles[i];

            ck_assert(same(sparse_figure(&f.sum, NULL, q), dense(&f.all, q)));
            for (int p = 0; p < PARTS; p++) {
                ck_assert(same(sparse_figure(&f.sparse[p], NULL, q), dense(&f.part[p], q)));
                ck_assert_msg(same(sparse_figure(&f.sum, &f.sparse[p], q), dense(&f.without[p], q)),
                              "seed %d, q %g without part %d: %.17g, %.17g", (int)seed, q, p,
                              sparse_figure(&f.sum, &f.sparse[p], q), dense(&f.without[p], q));
            }
        }
        unmake(&f);
    }
}
END_TEST

static char *text_of(const struct sparse *s)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    sparse_write(s, out);
    fclose(out);
    return text;
}

START_TEST(text_reads_back)
{
    struct fixture f;

    make(&f, 77, HISTOGRAM_3_DIGITS, 500);
    for (int p = 0; p < PARTS; p++) {
        char *text = text_of(&f.sparse[p]), *again;
        const char *at = text;
        struct sparse s;

        ck_assert_int_eq(sparse_read(&s, &at), 0);
        ck_assert_int_eq(*at, 0);
        again = text_of(&s);
        ck_assert_str_eq(text, again);
        for (int i = 0; i < QUANTILES; i++)
            ck_assert(same(sparse_figure(&s, NULL, quantiles[i]),
                           sparse_figure(&f.sparse[p], NULL, quantiles[i])));
        sparse_free(&s);
        free(text);
        free(again);
    }
    unmake(&f);
}
END_TEST

START_TEST(other_text_is_refused)
{
    static const char *const bad[] = {
        "",
        "x",
        "2:1:0:1:1:0:1:1",      /* bits */
        "11:1:0:1:1:0:1",       /* no cells */
        "11:2:0:1:1:0:1:1",     /* one counted, two promised */
        "11:1:0:1:1:0:1:1x2",   /* the other way round */
        "11:2:0:1:1:0:1:1,0",   /* the same bucket again */
        "11:1:0:1:1:0:1:40000", /* beyond the last bucket */
        "11:1:0:1:1:0:1:1x0",
        "11:1:0:1:1:0:1:1x",
        "11:1:0:1:1:0:99999999999999999999:1",
        "11:0:0:1:1:0:1:1",
    };
    struct sparse s;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *at = bad[i];

        ck_assert_msg(sparse_read(&s, &at) == -1, "accepted: %s", bad[i]);
        ck_assert_ptr_null(s.cell);
    }
}
END_TEST

Suite *suite_sparse(void)
{
    Suite *s = suite_create("sparse");
    TCase *tc = tcase_create("sparse");

    tcase_add_test(tc, figures_are_the_same_bits);
    tcase_add_test(tc, text_reads_back);
    tcase_add_test(tc, other_text_is_refused);
    suite_add_tcase(s, tc);
    return s;
}
