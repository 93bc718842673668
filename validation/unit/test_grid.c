/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for people, and the words of their figures. */
#include "experiments/results/grid.h"
#include "sim/error.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

START_TEST(columns_are_aligned)
{
    struct grid g;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    grid_init(&g, 3);
    grid_row(&g);
    grid_put(&g, "who");
    grid_put(&g, "x");
    grid_put(&g, "long");
    grid_row(&g);
    grid_put(&g, "somebody");
    grid_put(&g, "1 ±2");
    grid_row(&g);
    grid_put(&g, "a");
    grid_put(&g, "%s", "");
    grid_put(&g, "3");
    grid_print(&g, out);
    fclose(out);
    ck_assert_str_eq(text, "who          x  long\n"
                           "somebody  1 ±2\n"
                           "a                  3\n");
    grid_free(&g);
    free(text);
}
END_TEST

START_TEST(figures)
{
    static const struct {
        struct interval i;
        const char *text;
        bool star;
    } cases[] = {
        {{.estimate = 59.44, .low = 57.34, .high = 61.54}, "59.4 ±2.1", false},
        {{.estimate = 0.1866, .low = 0.1865, .high = 0.1867}, "0.1866 ±0.0001", false},
        {{.estimate = 0.1866, .low = 0.18659, .high = 0.18661}, "0.1866", false},
        {{.estimate = 1234567, .low = 1234467, .high = 1234667}, "1234567 ±100", false},
        {{.estimate = 5, .low = 5, .high = 5}, "5.000", false},
        {{.estimate = 0, .low = 0, .high = 0}, "0", false},
        {{.estimate = 88.8, .none = INTERVAL_FEW_BEYOND, .low = NAN, .high = NAN}, "88.80 *", true},
        {{.estimate = 117, .none = INTERVAL_MAXIMUM, .low = NAN, .high = NAN}, "117.0", false},
        {{.estimate = NAN, .none = INTERVAL_FEW_VALUES, .low = NAN, .high = NAN}, "-", false},
        {{.estimate = -3.21, .low = -3.31, .high = -3.11}, "-3.21 ±0.10", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool star = false;
        char *text = figure_text(&cases[i].i, &star);

        ck_assert_str_eq(text, cases[i].text);
        ck_assert_int_eq(star, cases[i].star);
        free(text);
    }
}
END_TEST

Suite *suite_grid(void)
{
    Suite *s = suite_create("grid");
    TCase *c = tcase_create("grid");

    tcase_add_test(c, columns_are_aligned);
    tcase_add_test(c, figures);
    suite_add_tcase(s, c);
    return s;
}
