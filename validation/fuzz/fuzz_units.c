/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as each quantity: what is accepted is written shortest and reads back to the same. */
#include "sim/error.h"
#include "sim/units.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xcalloc(size + 1, 1);

    if (size)
        memcpy(text, data, size);
    for (enum quantity q = 0; q < QUANTITY_COUNT; q++) {
        char why[QUANTITY_WHY] = "", out[QUANTITY_TEXT];
        int64_t value, again;

        if (quantity_parse(q, text, &value, why) != 0) {
            BUG_ON(!why[0]);
            continue;
        }
        quantity_format(q, value, out);
        BUG_ON(quantity_parse(q, out, &again, why) != 0);
        BUG_ON(again != value);
    }
    free(text);
    return 0;
}
