/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of Xen that a capture or a reference schedule was recorded with. */
#ifndef HVSIM_VALIDATE_XEN_VERSION_H
#define HVSIM_VALIDATE_XEN_VERSION_H

#include "models/hypervisor/hypervisor.h"

/* "4.17.7": the version whose rules apply; 4.17's if it cannot be told. */
enum xen_version xen_version_of(const char *text);

#endif
