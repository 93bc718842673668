/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Configuration files: JSON with a "version" (and, if wanted, a "$schema"), read by parameter
 * tables (sim/params.h), quantities with units (sim/units.h), overrides by --set. This header is
 * all that readers of a file include.
 */
#ifndef HVSIM_SIM_CONFIG_H
#define HVSIM_SIM_CONFIG_H

#include "sim/json.h"
#include "sim/json_writer.h"
#include "sim/params.h"
#include "sim/units.h"

/* A kind of file: scenario, sweep, calibration. The table says nothing of "version" and "$schema":
 * they are handled here. */
struct config_format {
    const char *name;
    int version;
    const struct param_table *table;
};

/* Read a file and apply `count` overrides. NULL with all errors. */
struct json *config_load(const char *path, const char *const *overrides, size_t count,
                         struct errors *e);

/* Check and read a document into the table's struct. 0 or -1 with all errors; free with params_free
 * in both cases. */
int config_read(const struct config_format *f, const struct json *doc, void *target,
                struct errors *e);

/* The resolved file. */
void config_write(const struct config_format *f, const void *target, struct json_writer *w,
                  const char *key);

/* The JSON Schema of the whole file. */
void config_schema(const struct config_format *f, struct json_writer *w);

#endif
