/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hvsim validate schedules, and nothing else of hvsim: quick to link with each mutant. */
#include "experiments/validate/validate_schedules.h"

int main(int argc, char **argv)
{
    struct errors e = ERRORS_NONE;
    int worst = EXIT_OK;

    for (int i = 1; i < argc; i++) {
        int code = validate_schedules(argv[i], true, stdout, &e);

        if (code > worst)
            worst = code;
    }
    for (size_t i = 0; i < e.count; i++)
        fprintf(stderr, "%s\n", e.item[i].text);
    errors_free(&e);
    return worst;
}
