/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/script.h"

#include "workloads/program_start.h"

#include <stdlib.h>
#include <string.h>

enum argument { NOTHING, TIME, INDEX };

static const struct {
    const char *name;
    enum script_kind kind;
    enum argument argument;
} operations[] = {
    {"compute", SCRIPT_COMPUTE, TIME}, /* for so much CPU time */
    {"sleep", SCRIPT_SLEEP, TIME},     /* for so long, from now */
    {"period", SCRIPT_PERIOD, TIME},   /* until the next multiple of it, from `start` on */
    {"wait", SCRIPT_WAIT, NOTHING},    /* for an event */
    {"yield", SCRIPT_YIELD, NOTHING},  /* the pCPU */
    {"jump", SCRIPT_JUMP, INDEX},      /* to the operation with this index, from 0 */
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* ---- reading --------------------------------------------------------------------------------- */

static int refuse(struct json_value v, const char *why, struct errors *e)
{
    char *shown = json_show(v);

    json_error(v, e, "found %s: %s", shown, why);
    free(shown);
    return -1;
}

static int read_argument(enum argument kind, struct json_value v, size_t count, int64_t *arg,
                         struct errors *e)
{
    char why[QUANTITY_WHY], number[JSON_NUMBER_TEXT];
    const char *text = json_string(v);

    if (kind == NOTHING)
        return json_exists(v) ? refuse(v, "this operation takes nothing", e) : 0;
    if (kind == INDEX)
        return json_integer(v, arg) || *arg < 0 || (size_t)*arg >= count
                   ? refuse(v, "the index of an operation of this list is wanted, from 0", e)
                   : 0;
    if (!text)
        text = json_number_text(v, number);
    if (!text)
        return refuse(v, "a duration such as \"30ms\" is wanted", e);
    if (quantity_parse(QUANTITY_DURATION, text, arg, why))
        return refuse(v, why, e);
    return *arg < 0 ? refuse(v, "must not be negative", e) : 0;
}

static int read_operation(struct json_value v, size_t count, struct script_op *op, struct errors *e)
{
    const char *names[OPERATIONS], *nearest;
    const char *name = json_string(json_element(v, 0));

    if (json_kind(v) != JSON_ARRAY || !name || json_length(v) > 2)
        return refuse(v, "an operation such as [\"compute\", \"1ms\"] or [\"wait\"] is wanted", e);
    for (size_t i = 0; i < OPERATIONS; i++) {
        struct json_value arg = json_element(v, 1);

        names[i] = operations[i].name;
        if (strcmp(names[i], name))
            continue;
        op->kind = operations[i].kind;
        if (operations[i].argument != NOTHING && !json_exists(arg))
            return refuse(v, "its argument is missing", e);
        return read_argument(operations[i].argument, arg, count, &op->arg, e);
    }
    nearest = nearest_name(name, names, OPERATIONS);
    if (nearest)
        return json_error(v, e, "no operation \"%s\": did you mean \"%s\"?", name, nearest);
    return json_error(
        v, e, "no operation \"%s\"; there are compute, sleep, period, wait, yield, jump", name);
}

static int list_read(const struct param *p, struct json_value v, void *field, struct errors *e)
{
    struct script_list *l = field;
    size_t count = json_length(v);
    int status = 0;

    if (json_kind(v) != JSON_ARRAY || !count) {
        char *shown = json_show(v);

        json_error(v, e, "found %s: %s is wanted", shown, p->type->accepts);
        free(shown);
        return -1;
    }
    l->op = xcalloc(count, sizeof *l->op);
    JSON_FOR_EACH(one, v)
    status |= read_operation(one, count, &l->op[l->count++], e);
    return status;
}

static void list_write(const struct param *p, const void *field, struct json_writer *w,
                       const char *key)
{
    const struct script_list *l = field;

    (void)p;
    json_begin(w, key, '[');
    for (uint32_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < OPERATIONS; k++) {
            if (operations[k].kind != l->op[i].kind)
                continue;
            json_begin_inline(w, NULL, '[');
            json_put_string(w, NULL, operations[k].name);
            if (operations[k].argument == TIME)
                json_put_quantity(w, NULL, QUANTITY_DURATION, l->op[i].arg);
            else if (operations[k].argument == INDEX)
                json_put_integer(w, NULL, l->op[i].arg);
            json_end(w);
        }
    json_end(w);
}

static void list_schema(const struct param *p, struct json_writer *w, const char *key)
{
    json_begin(w, key, '{');
    if (p->meaning)
        json_put_string(w, "description", p->meaning);
    json_put_string(w, "type", "array");
    json_put_integer(w, "minItems", 1);
    json_begin(w, "items", '{');
    json_put_string(w, "type", "array");
    json_put_integer(w, "minItems", 1);
    json_put_integer(w, "maxItems", 2);
    json_begin(w, "prefixItems", '[');
    json_begin(w, NULL, '{');
    json_begin_inline(w, "enum", '[');
    for (size_t i = 0; i < OPERATIONS; i++)
        json_put_string(w, NULL, operations[i].name);
    json_end(w);
    json_end(w);
    json_end(w);
    json_end(w);
    json_end(w);
}

static void list_release(void *field)
{
    free(((struct script_list *)field)->op);
}

static const struct param_type list_type = {
    .name = "list of operations",
    .accepts = "an array of operations such as [[\"wait\"], [\"compute\", \"1ms\"]]",
    .size = sizeof(struct script_list),
    .read = list_read,
    .write = list_write,
    .schema = list_schema,
    .release = list_release,
};

/* ---- the program ----------------------------------------------------------------------------- */

static const struct param rows[] = {
    {PARAM("ops", CUSTOM, struct script_config, ops), .type = &list_type,
     .meaning =
         "Operations: compute TIME, sleep TIME, period TIME (sleep until the next multiple), "
         "wait (for an event), yield, jump INDEX."},
    {PARAM("start", DURATION, struct script_config, start), .def = "0", .range = PARAM_NO_RANGE,
     .meaning = "Date from which periods are counted.", .status = STATUS_ASSUMED},
};

static const struct param_table table =
    PARAM_TABLE("script", struct script_config, rows,
                .meaning = "Operations from the scenario, one after the other, for ever.");

/* Known to scenarios by this one; the threads run program_script. */
const struct program program_list = {
    .name = "script",
    .meaning = "Operations from the scenario, one after the other, for ever.",
    .params = &table,
};

struct thread *script_start(const void *params, const struct program_site *site)
{
    const struct script_config *c = params;
    const struct script_params script = {
        .op = c->ops.op,
        .count = c->ops.count,
        .start = c->start,
        /* as the reference schedules have it */
        .observe_done = site->guest->domain->host->version < XEN_4_17,
    };

    return guest_add_thread(site_vcpu(site, 0), &program_script, &script, site->entity, site->class,
                            site->priority);
}
