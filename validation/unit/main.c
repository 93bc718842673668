/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs the unit and theory tests: all suites, or those named as arguments.
 *
 *   unit [--slow | --all] [--list] [SUITE...]
 *
 * Each test runs in a process of its own (CK_FORK), so a crash or a hang is one failed test.
 * Without --slow or --all the test cases whose name starts with "slow" are left out, and listed
 * as `skip` lines. Every check is printed on a line by Check; each suite ends with
 *
 *   suite NAME: N passed, N failed
 *
 * which validation/run-tests.sh adds up: a suite without that line died, and counts as failed.
 * Exit: 0 all passed, 1 some failed, 2 unknown suite.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST_TIMEOUT_S 60 /* per test; a test case may set its own */

#ifdef ONLY_SUITE /* `make test-NAME`: this one suite, when others do not compile */
#define SUITES_1(name) SUITE(name)
#define SUITES SUITES_1(ONLY_SUITE)
#endif

#define SUITE(name) Suite *suite_##name(void);
#ifdef SUITES
SUITES
#else
#include "suites.h"
#endif
#undef SUITE

static const struct {
    const char *name;
    Suite *(*create)(void);
} suites[] = {
#define SUITE(name) {#name, suite_##name},
#ifdef SUITES
    SUITES
#else
#include "suites.h"
#endif
    {NULL, NULL},
};

static enum { FAST, SLOW, ALL } chosen = FAST;

/* The linker sends every tcase_create here (--wrap): Check has no way to list a suite's test cases
 * afterwards. */
TCase *__real_tcase_create(const char *name);
TCase *__wrap_tcase_create(const char *name);

TCase *__wrap_tcase_create(const char *name)
{
    TCase *tc = __real_tcase_create(name);
    bool slow = strncmp(name, "slow", 4) == 0;

    tcase_set_timeout(tc, TEST_TIMEOUT_S);
    tcase_set_tags(tc, slow ? "slow" : "fast");
    if (slow && chosen == FAST)
        printf("skip %s: slow, runs in make check-all\n", name);
    return tc;
}

static int run(const char *name, Suite *(*create)(void))
{
    static const char *const tag[] = {[FAST] = "fast", [SLOW] = "slow", [ALL] = NULL};
    SRunner *runner;
    int failed, total;

    runner = srunner_create(create());
    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_tagged(runner, NULL, NULL, tag[chosen], NULL, CK_VERBOSE);
    total = srunner_ntests_run(runner);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    printf("suite %s: %d passed, %d failed\n", name, total - failed, failed);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0, named = 0;
    bool list = false;

    /* Children inherit unwritten output and would write it again. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--slow") == 0)
            chosen = SLOW;
        else if (strcmp(argv[i], "--all") == 0)
            chosen = ALL;
        else if (strcmp(argv[i], "--list") == 0)
            list = true;
        else
            argv[++named] = argv[i];
    }
    for (int i = 1; i <= named; i++) {
        bool known = false;

        for (size_t s = 0; suites[s].name; s++)
            known = known || strcmp(suites[s].name, argv[i]) == 0;
        if (!known) {
            fprintf(stderr, "unit: no suite \"%s\"; --list names them\n", argv[i]);
            return 2;
        }
    }
    for (size_t s = 0; suites[s].name; s++) {
        bool wanted = named == 0;

        for (int i = 1; i <= named; i++)
            wanted = wanted || strcmp(suites[s].name, argv[i]) == 0;
        if (wanted && list)
            puts(suites[s].name);
        else if (wanted)
            failed += run(suites[s].name, suites[s].create);
    }
    return failed ? 1 : 0;
}
