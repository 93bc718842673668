/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "experiments/validate/xen_version.h"

#include <stdio.h>

enum xen_version xen_version_of(const char *text)
{
    unsigned major = 0, minor = 0, patch = 1;

    if (sscanf(text, "%u.%u.%u", &major, &minor, &patch) < 2 || major != 4)
        return XEN_4_17;
    if (minor < 7)
        return XEN_4_6;
    if (minor == 7 && !patch)
        return XEN_4_7_0;
    return minor >= 18 ? XEN_4_18 : minor >= 13 ? XEN_4_17 : XEN_4_7_1;
}
