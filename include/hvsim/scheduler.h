/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The public header for schedulers of one's own, as `make install` puts it in place. */
#include "models/schedulers/scheduler.h"
