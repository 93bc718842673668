/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of sim/params share with each other and with sim/config.c, and nobody else. */
#ifndef HVSIM_SIM_PARAMS_INSIDE_H
#define HVSIM_SIM_PARAMS_INSIDE_H

#include "sim/params.h"

/* params_read() that leaves out the members named in `except` (NULL-terminated, or NULL). */
int params_read_except(const struct param_table *t, struct json_value v, const char *const *except,
                       void *target, struct errors *e);

/* Members only, without the braces. */
void params_write_members(const struct param_table *t, const void *target, struct json_writer *w);
void params_schema_properties(const struct param_table *t, struct json_writer *w);
void params_schema_required(const struct param_table *t, struct json_writer *w);

/* A value by itself: a field of a struct or an element of a list. */
int param_read_value(const struct param *p, struct json_value v, void *field, struct errors *e);
int param_read_default(const struct param *p, void *field, struct errors *e);
void param_write_value(const struct param *p, const void *field, struct json_writer *w,
                       const char *key);
void param_free_value(const struct param *p, void *field);

/* One value in one piece of text: a number, a string, an enumeration. */
bool param_is_scalar(const struct param *p);

/* A field as one piece of compact JSON or text, for comparing and showing; the same of the row's
 * default (NULL: it has none). Caller frees. */
char *param_as_text(const struct param *p, const void *field);
char *param_default_as_text(const struct param *p);

/* Does it stand for "not given"? Such values of optional rows are not written. */
bool param_is_absent(const struct param *p, const void *field);

/* The quantity of a kind; QUANTITY_COUNT for kinds that are none. */
enum quantity param_quantity(const struct param *p);

/* The i-th choice of a variant, NULL past the last. */
const struct param_choice *param_nth_choice(const struct param *p, size_t i);
const struct param_choice *param_find_choice(const struct param *p, const char *name);

/* The size of the C type of a kind; 0 where the row alone knows. */
size_t param_kind_size(const struct param *p);

/* "a duration (100us to 1s)": what a row accepts, for messages and help. Caller frees. */
char *param_accepts(const struct param *p);

/* The range in words, "" when there is none. Caller frees. */
char *param_range(const struct param *p);

static inline void *param_field(const struct param *p, void *target)
{
    return (char *)target + p->offset;
}

static inline const void *param_field_const(const struct param *p, const void *target)
{
    return (const char *)target + p->offset;
}

#endif
