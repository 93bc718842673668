/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histogram: bucket arithmetic, quantiles within a bucket of the exact ones, the .hgrm text. */
#include "sim/histogram.h"

#include "sim/random.h"
#include "sim/sample.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rng stream;

static void setup(void)
{
    rng_init(&stream, 3, 0, "test", "histogram");
}

/* Buckets cover the range without gaps or overlaps, and are as narrow as promised. */
START_TEST(buckets_tile_the_range)
{
    struct histogram h;

    for (unsigned bits = 3; bits <= 16; bits++) {
        sim_time expected = 0;
        bool bad = false;

        histogram_init(&h, bits);
        for (uint32_t i = 0; i < h.buckets; i++) {
            sim_time low = histogram_lowest(&h, i), high = histogram_highest(&h, i);

            bad = bad || low != expected || high < low || histogram_index(&h, low) != i ||
                  histogram_index(&h, high) != i ||
                  (double)(high - low) > ldexp((double)low, 1 - (int)bits);
            expected = high + 1;
        }
        ck_assert(!bad);
        ck_assert_int_eq(expected, INT64_C(1) << HISTOGRAM_RANGE_BITS);
        histogram_free(&h);
    }
    histogram_init(&h, HISTOGRAM_3_DIGITS);
    ck_assert_uint_eq(h.buckets, 33792);
    histogram_free(&h);
    histogram_init(&h, HISTOGRAM_2_DIGITS);
    ck_assert_uint_eq(h.buckets, 4608);
    histogram_free(&h);
}
END_TEST

START_TEST(empty)
{
    struct histogram h;

    histogram_init(&h, HISTOGRAM_2_DIGITS);
    ck_assert_int_eq(histogram_quantile(&h, 0.5), 0);
    ck_assert(isnan(histogram_mean(&h)) && isnan(histogram_estimate(&h, 0.5)));
    ck_assert(h.count == 0 && h.min == SIM_NEVER && h.max == 0);
    histogram_record_many(&h, 5, 0);
    ck_assert(h.count == 0 && h.max == 0);
    histogram_free(&h);
}
END_TEST

START_TEST(small_values_are_exact)
{
    struct histogram h;

    histogram_init(&h, HISTOGRAM_3_DIGITS);
    for (sim_time v = 1; v <= 1000; v++)
        histogram_record(&h, v);
    ck_assert_int_eq(histogram_quantile(&h, 0), 1);
    ck_assert_int_eq(histogram_quantile(&h, 0.5), 500);
    ck_assert_int_eq(histogram_quantile(&h, 0.999), 999);
    ck_assert_int_eq(histogram_quantile(&h, 0.9991), 1000);
    ck_assert_int_eq(histogram_quantile(&h, 1), 1000);
    ck_assert(histogram_mean(&h) == 500.5);
    ck_assert(fabs(histogram_deviation(&h) - sqrt((1000.0 * 1000 - 1) / 12)) < 1e-9);
    ck_assert_uint_eq(histogram_above(&h, 900), 100);
    ck_assert_uint_eq(histogram_above(&h, -1), 1000);
    histogram_free(&h);
}
END_TEST

/* Against the exact quantiles of the same values, over nine decades. */
START_TEST(quantiles_agree_with_samples)
{
    struct histogram h;
    struct samples s = {0};
    static const double q[] = {0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999};
    double sum = 0;

    histogram_init(&h, HISTOGRAM_3_DIGITS);
    for (int i = 0; i < 100000; i++) {
        sim_time v = (sim_time)det_exp(3 + 20 * rng_uniform(&stream));

        histogram_record(&h, v);
        samples_add(&s, (double)v);
        sum += (double)v;
    }
    samples_sort(&s);
    ck_assert(fabs(histogram_mean(&h) - sum / 100000) < 1e-12 * sum / 100000);
    ck_assert(h.min == (sim_time)s.x[0] && h.max == (sim_time)s.x[s.count - 1]);
    for (size_t i = 0; i < sizeof q / sizeof *q; i++) {
        double exact = s.x[quantile_rank(q[i], s.count) - 1], width = exact / 1024;
        double hazen = samples_quantile(&s, q[i]);

        ck_assert((double)histogram_quantile(&h, q[i]) >= exact);
        ck_assert((double)histogram_quantile(&h, q[i]) <= exact + width);
        ck_assert(fabs(histogram_estimate(&h, q[i]) - hazen) <= 2 * hazen / 1024);
    }
    ck_assert(histogram_quantile(&h, 1) == h.max && histogram_quantile(&h, 0) == h.min);
    samples_free(&s);
    histogram_free(&h);
}
END_TEST

/* Rank interpolation does not lean to one side, as HdrHistogram's upper ends do. */
START_TEST(estimate_is_unbiased_in_coarse_buckets)
{
    struct histogram h;

    histogram_init(&h, 3); /* buckets of 25 % */
    for (int i = 0; i < 100000; i++)
        histogram_record(&h, 1000000 + i);
    ck_assert(fabs(histogram_estimate(&h, 0.5) - 1050000) < 100);
    ck_assert(fabs(histogram_estimate(&h, 0.9) - 1090000) < 100);
    histogram_reset(&h);
    histogram_record(&h, 100);
    histogram_record(&h, 1000); /* alone in 896 .. 1023: taken as the middle */
    histogram_record(&h, 9000);
    ck_assert(histogram_estimate(&h, 0.5) == 960);
    histogram_free(&h);
}
END_TEST

START_TEST(merging_is_exact)
{
    struct histogram all, part[3];

    histogram_init(&all, HISTOGRAM_2_DIGITS);
    for (int p = 0; p < 3; p++)
        histogram_init(&part[p], HISTOGRAM_2_DIGITS);
    for (int i = 0; i < 30000; i++) {
        sim_time v = (sim_time)rng_exponential(&stream, 1e6);

        histogram_record(&all, v);
        histogram_record(&part[i % 3], v);
    }
    histogram_merge(&part[2], &part[0]);
    histogram_merge(&part[2], &part[1]);
    ck_assert(memcmp(all.bucket, part[2].bucket, all.buckets * sizeof *all.bucket) == 0);
    ck_assert(all.count == part[2].count && all.min == part[2].min && all.max == part[2].max &&
              all.sum_low == part[2].sum_low && all.sum_high == part[2].sum_high);
    histogram_reset(&part[2]);
    histogram_merge(&part[2], &all);
    ck_assert(histogram_mean(&part[2]) == histogram_mean(&all));
    for (int p = 0; p < 3; p++)
        histogram_free(&part[p]);
    histogram_free(&all);
}
END_TEST

START_TEST(values_beyond_the_range)
{
    struct histogram h, sum;
    const sim_time day = 24 * 3600 * NS_PER_S;

    histogram_init(&h, HISTOGRAM_2_DIGITS);
    histogram_record(&h, 10);
    histogram_record(&h, day);
    histogram_record_many(&h, INT64_MAX - 1, 3);
    ck_assert_uint_eq(h.clipped, 4);
    histogram_init(&sum, HISTOGRAM_2_DIGITS);
    histogram_merge(&sum, &h);
    histogram_merge(&sum, &h);
    ck_assert(sum.clipped == 8 && sum.count == 10 && histogram_mean(&sum) == histogram_mean(&h));
    histogram_free(&sum);
    ck_assert(h.max == INT64_MAX - 1);
    ck_assert(histogram_quantile(&h, 1) == INT64_MAX - 1);
    ck_assert(histogram_mean(&h) == (10 + (double)day + 3 * (double)(INT64_MAX - 1)) / 5);
    histogram_free(&h);
}
END_TEST

static char *hgrm(const struct histogram *h, double unit)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    ck_assert_int_eq(histogram_write_hgrm(h, out, 5, unit), 0);
    fclose(out);
    return text;
}

/* The lines that HdrHistogram prints for 1 .. 16 ns, by hand: each level asked for (0, 0.1, ...
 * 0.5, 0.55, ...), the first value at or above it and the count up to that; at last the maximum. */
START_TEST(hgrm_text)
{
    static const char expected[] = "       Value     Percentile TotalCount 1/(1-Percentile)\n"
                                   "\n"
                                   "       1.000 0.000000000000          1           1.00\n"
                                   "       2.000 0.100000000000          2           1.11\n"
                                   "       4.000 0.200000000000          4           1.25\n"
                                   "       5.000 0.300000000000          5           1.43\n"
                                   "       7.000 0.400000000000          7           1.67\n"
                                   "       8.000 0.500000000000          8           2.00\n"
                                   "       9.000 0.550000000000          9           2.22\n"
                                   "      10.000 0.600000000000         10           2.50\n"
                                   "      11.000 0.650000000000         11           2.86\n"
                                   "      12.000 0.700000000000         12           3.33\n"
                                   "      12.000 0.750000000000         12           4.00\n"
                                   "      13.000 0.775000000000         13           4.44\n"
                                   "      13.000 0.800000000000         13           5.00\n"
                                   "      14.000 0.825000000000         14           5.71\n"
                                   "      14.000 0.850000000000         14           6.67\n"
                                   "      14.000 0.875000000000         14           8.00\n"
                                   "      15.000 0.887500000000         15           8.89\n"
                                   "      15.000 0.900000000000         15          10.00\n"
                                   "      15.000 0.912500000000         15          11.43\n"
                                   "      15.000 0.925000000000         15          13.33\n"
                                   "      15.000 0.937500000000         15          16.00\n"
                                   "      16.000 0.943750000000         16          17.78\n"
                                   "      16.000 1.000000000000         16\n"
                                   "#[Mean    =        8.500, StdDeviation   =        4.610]\n"
                                   "#[Max     =       16.000, Total count    =           16]\n"
                                   "#[Buckets =           32, SubBuckets     =         2048]\n";
    struct histogram h;
    char *text;

    histogram_init(&h, HISTOGRAM_3_DIGITS);
    for (sim_time v = 1; v <= 16; v++)
        histogram_record(&h, v);
    text = hgrm(&h, 1);
    ck_assert_str_eq(text, expected);
    free(text);
    histogram_free(&h);
}
END_TEST

/* Every line of a large table says the truth about the values, in other units too. */
START_TEST(hgrm_lines)
{
    struct histogram h;
    char *text, *line, *rest;
    size_t lines = 0;
    double last = 0;

    histogram_init(&h, HISTOGRAM_3_DIGITS);
    for (int i = 0; i < 200000; i++)
        histogram_record(&h, (sim_time)rng_exponential(&stream, 1e6));
    text = hgrm(&h, 1000);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        double value, percentile, inverse;
        unsigned long long total;

        if (sscanf(line, "%lf %lf %llu %lf", &value, &percentile, &total, &inverse) != 4)
            continue;
        lines++;
        ck_assert(fabs(histogram_quantile(&h, percentile) / 1000.0 - value) < 1e-3);
        ck_assert(total == h.count - histogram_above(&h, (sim_time)(value * 1000 + 0.5)));
        ck_assert(percentile >= last && fabs(inverse * (1 - percentile) - 1) < 5e-3);
        last = percentile;
    }
    ck_assert(lines > 80 && lines < 100 && last > 1 - 1e-5);
    free(text);
    histogram_reset(&h);
    text = hgrm(&h, 1);
    ck_assert(strstr(text, "Total count    =            0]") != NULL);
    free(text);
    histogram_free(&h);
}
END_TEST

Suite *suite_histogram(void);

Suite *suite_histogram(void)
{
    Suite *s = suite_create("histogram");
    TCase *tc = tcase_create("buckets");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, buckets_tile_the_range);
    tcase_add_test(tc, empty);
    tcase_add_test(tc, small_values_are_exact);
    tcase_add_test(tc, quantiles_agree_with_samples);
    tcase_add_test(tc, estimate_is_unbiased_in_coarse_buckets);
    tcase_add_test(tc, merging_is_exact);
    tcase_add_test(tc, values_beyond_the_range);
    suite_add_tcase(s, tc);
    tc = tcase_create("hgrm");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, hgrm_text);
    tcase_add_test(tc, hgrm_lines);
    suite_add_tcase(s, tc);
    return s;
}
